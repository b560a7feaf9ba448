// Everything that is known of a strategy is in its own file: no other module asks for one by name.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { strategyNames } from '../../lib/workloads/index.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const elsewhere = join('lib', 'workloads')
const modules = [
  'settings.js',
  ...readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' })
    .map((name) => join('lib', name))
    .filter((name) => name.endsWith('.js') && !name.startsWith(elsewhere)),
]
// As TYPE names them, these are types of keys as well.
const types = new Set(['list', 'set', 'hash', 'stream'])

/** @param {string} line */
const namesIn = (line) => {
  const code = line.replace(/^\s*(\/\/|\*|\/\*\*).*$/, '').replace(/\/\*\*.*?\*\//g, '')
  return strategyNames().filter(
    (name) =>
      (types.has(name) ? /strateg/i.test(code) : true) && new RegExp(`['"\`]${name}['"\`]`).test(code),
  )
}

test('no module of lib/ but the workloads, nor settings.js, names a strategy', () => {
  assert.ok(modules.length > 100)
  const found = modules.flatMap((name) =>
    readFileSync(join(root, name), 'utf8')
      .split('\n')
      .flatMap((line, i) => (namesIn(line).length > 0 ? [`${name}:${i + 1}: ${line.trim()}`] : [])),
  )
  assert.deepEqual(found, [])
})

test('a name would be found', () => {
  assert.deepEqual(namesIn("  if (plan.strategy === 'list') return"), ['list'])
  assert.deepEqual(namesIn("const ranked = new Set(['sorted-set'])"), ['sorted-set'])
  assert.deepEqual(namesIn("  if (type === 'list') return"), [])
})
