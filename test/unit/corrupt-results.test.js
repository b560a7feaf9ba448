// Files of a result that were cut or changed in any place: one line that names the file, never an internal error.
import assert from 'node:assert/strict'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { MillraceError } from '../../lib/base/errors.js'
import { runText } from '../../lib/report/text.js'
import { readRecord, remadeIn } from '../../lib/result/record.js'
import { ownFolder } from '../helpers/programs.js'

const released = new URL('../data/corrupt-run/', import.meta.url)
// Undefined: it is taken out.
const values = [null, 5, 'x', [], {}, undefined, 1e308, true, [null], '<script>', {}]

const keysOf = (/** @type {object} */ value) =>
  Object.keys(value).slice(0, Array.isArray(value) ? 1 : undefined)

/** The places in a document; of what is repeated in a list, those of the first. @param {any} value @param {string[]} [path] @returns {string[][]} */
const placesIn = (value, path = []) =>
  typeof value !== 'object' || value === null || path.length > 4
    ? [path]
    : [path, ...keysOf(value).flatMap((key) => placesIn(value[key], [...path, key]))]

/** @param {any} value @param {string[]} path @param {unknown} put @returns {any} */
const changed = (value, [key, ...rest], put) => {
  if (key === undefined) return put
  const copy = Array.isArray(value) ? [...value] : { ...value }
  copy[key] = changed(copy[key], rest, put)
  return copy
}

/** @param {string} text */
const cuts = (text) => [0, 1, 10, text.length >> 1, text.length - 3].map((at) => text.slice(0, at))

/** @param {string} name @returns {string[]} */
const versionsOf = (name) => {
  const text = readFileSync(new URL(name, released), 'utf8')
  const isLines = name.endsWith('.ndjson')
  const [first, ...more] = isLines ? text.split('\n') : [text]
  const whole = JSON.parse(first)
  let turn = 0
  const texts = placesIn(whole).map((path) =>
    [JSON.stringify(changed(whole, path, values[turn++ % values.length])) ?? '', ...more].join('\n'),
  )
  const odd = ['null\n', '\0\0\0', '5\nnull\n', '['.repeat(100_000), '{"__proto__":{"schema":1}}\n{}\n']
  return [...texts, ...cuts(text), ...odd]
}

for (const name of ['facts.json', 'run.json', 'intervals.ndjson', 'events.ndjson'])
  test(`${name}, in every place`, async (t) => {
    const own = ownFolder(t, 'corrupt')
    /** @type {string[]} */
    const faults = []
    cpSync(released, own, { recursive: true })
    for (const text of versionsOf(name)) {
      // Without the one the other is what counts.
      rmSync(join(own, name === 'run.json' ? 'facts.json' : 'run.json'), { force: true })
      writeFileSync(join(own, name), text)
      try {
        await remadeIn(own)
        const record = await readRecord(own)
        if (record.kind === 'run') runText(record.run)
      } catch (error) {
        if (!(error instanceof MillraceError)) faults.push(/** @type {Error} */ (error).stack ?? '')
      }
    }
    assert.deepEqual(faults.slice(0, 3), [])
  })
