// Everything that is known of a strategy is in its own file: no other module asks for one by name.
import assert from 'node:assert/strict'
import test from 'node:test'
import { strategyNames } from '../../lib/workloads/index.js'
import { modulesIn, sourceOf } from '../helpers/sources.js'

const modules = ['settings.js', ...modulesIn('lib').filter((name) => !name.startsWith('lib/workloads/'))]
// As TYPE names them, these are types of keys as well.
const types = new Set(['list', 'set', 'hash', 'stream'])
const names = strategyNames()
const quoted = new RegExp(`(['"\`])(${names.join('|')})['"\`]`, 'g')

const namesIn = (/** @type {string} */ line) => {
  const code = line.replace(/^\s*(\/\/|\*|\/\*\*).*$/, '').replace(/\/\*\*.*?\*\//g, '')
  const found = [...code.matchAll(quoted)].map(([, , name]) => name)
  return found.filter((name) => !types.has(name) || /strateg/i.test(code))
}

test('no module of lib/ but the workloads, nor settings.js, names a strategy', () => {
  assert.ok(modules.length > 100)
  const found = modules.flatMap((name) =>
    sourceOf(name)
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
