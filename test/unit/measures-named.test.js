// How many modules of lib name a measure: its file, the list, its probe, and modules that need that one alone. A number may
// only fall; what deals with all measures goes through lib/measures/index.js.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const lib = fileURLToPath(new URL('../../lib', import.meta.url))
const modules = readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'))
const texts = modules.map(
  (name) =>
    /** @type {const} */ ([name, readFileSync(join(lib, name), 'utf8').replaceAll('loads/fetches/', '')]),
)

/** A kind of load is called fetches as well. @param {string} measure */
const naming = (measure) =>
  texts
    .filter(([name]) => measure !== 'fetches' || !name.startsWith('loads'))
    .filter(([, text]) => new RegExp(`\\b${measure}\\b`, 'i').test(text))
    .map(([name]) => name)

const limits = { bystander: 9, fetches: 6, backlog: 8, collection: 3, reconnects: 9 }

for (const [measure, limit] of Object.entries(limits))
  test(`${measure} is named in ${limit} modules at most`, () => {
    const found = naming(measure)
    assert.ok(found.length <= limit, `${found.length}, the limit is ${limit}: ${found.join(', ')}`)
  })
