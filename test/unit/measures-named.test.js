// How many modules of lib name a measure: its file, the list, its probe, and modules that need that one alone. A number may
// only fall; what deals with all measures goes through lib/measures/index.js.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modulesIn, sourceOf } from '../helpers/sources.js'

const texts = modulesIn('lib').map(
  (name) => /** @type {const} */ ([name, sourceOf(name).replaceAll('loads/fetches/', '')]),
)

/** A kind of load is called fetches as well, and head.js has the list of them. @param {string} measure */
const naming = (measure) =>
  texts
    .filter(([name]) => measure !== 'fetches' || !/^lib\/(loads|measures\/head)/.test(name))
    .filter(([, text]) => new RegExp(`\\b${measure}\\b`, 'i').test(text))
    .map(([name]) => name)

const limits = { bystander: 9, fetches: 6, backlog: 8, collection: 3, reconnects: 9 }

for (const [measure, limit] of Object.entries(limits))
  test(`${measure} is named in ${limit} modules at most`, () => {
    const found = naming(measure)
    assert.ok(found.length <= limit, `${found.length}, the limit is ${limit}: ${found.join(', ')}`)
  })
