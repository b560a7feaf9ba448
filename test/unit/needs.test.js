// What each data model declares to meet follows from its commands, and its words are complete.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { oldest } from '../../lib/workloads/declare.js'
import { allStrategies } from '../../lib/workloads/index.js'
import { planFieldsOf } from '../../lib/workloads/latest/fields.js'
import { givenUpBy, needNames, unmetBy } from '../../lib/workloads/needs.js'
import { modelOfYaml } from '../../lib/workloads/own/from-text.js'
import { modelOfJs } from '../../lib/workloads/own/load.js'
import { isSafeToRetry } from '../../scripts/readme/reference.js'
import { ownFolder } from '../helpers/programs.js'
import { samplePlan } from '../helpers/sample-plan.js'

const chosen = allStrategies().filter(({ choice }) => choice !== null)
const inOrder = ['ZREVRANGEBYSCORE', 'LRANGE', 'XREVRANGE']

const facts = (/** @type {any} */ declared) => {
  const t = planFieldsOf(/** @type {any} */ ({ ...samplePlan({ strategy: declared.name }), limit: 10 }))
  const k = declared.keys(t)
  const commands = declared.operations(t, k).store
  const { asks, value, unique } = declared.read.fetch(t, k)
  const reads = asks.filter((/** @type {any} */ { ask }) => ask === 'ids')
  const named = (/** @type {string} */ name) => commands.some((/** @type {any} */ one) => one.name === name)
  const isCut = named('LTRIM') || commands.some((/** @type {any} */ { args }) => args.includes('MAXLEN'))
  const isDated = reads.some((/** @type {any} */ { args }) => args.includes(oldest)) || named('HSETEX')
  return {
    'newest-n': reads.every((/** @type {any} */ { name }) => inOrder.includes(name)),
    'exact-expiry': isDated && !isCut,
    'expiry-by-length': isCut,
    'unique-ids': !unique,
    'values-included': value === null,
    'safe-to-retry': isSafeToRetry(declared.name),
  }
}

for (const declared of chosen)
  test(`${declared.name} meets what its commands can do`, () => {
    const found = facts(declared)
    for (const need of needNames)
      assert.equal(unmetBy(declared, [need]).length === 0, found[need], `${declared.name}: ${need}`)
  })

test('nine models are candidates; each has a label of its own', () => {
  assert.equal(chosen.length, 9)
  assert.equal(new Set(chosen.map(({ choice }) => choice?.label)).size, 9)
})

test('what a choice gives up', () => {
  const of = (/** @type {string} */ name) =>
    givenUpBy(/** @type {any} */ (chosen.find((one) => one.name === name)))
  assert.deepEqual(of('sorted-set'), ['reads ids first, then each value by its id'])
  assert.ok(of('list').includes('keeps the newest n, not the last t seconds'))
  assert.ok(of('set').includes('expires by minute, not by the lifetime of each item'))
  assert.deepEqual(of('actual-value'), ['a changed value is a new member'])
})

test('an own model declares what it meets, and a need that is none is refused', (t) => {
  const yaml = (/** @type {string} */ meets) => {
    const lines = ['keys: {"a:{n}": string}', 'write: ["SETEX a:{n} {ttl} {value}"]', '']
    return modelOfYaml('feed.yaml', [`meets: ${meets}`, ...lines].join('\n'), 'feed')
  }
  const { declared } = yaml('[exact-expiry, unique-ids]')
  assert.deepEqual(unmetBy(declared, ['newest-n', 'exact-expiry']), ['newest-n'])
  assert.throws(() => yaml('[newest]'), /feed\.yaml:1:9: .*newest-n/)
  const file = join(ownFolder(t, 'needs'), 'feed.mjs')
  const js = (/** @type {string} */ meets) => {
    const text = `export default ({ family, each, value }) => ({\n  title: 'feed',\n  meets: ${meets},\n  keys: () => ({ a: family('a:{n}', 'string', { lifetimeS: 60 }) }),\n  operations: (t, { a }) => ({ store: [each('SETEX', [a, 60, value(t)])] }),\n})\n`
    writeFileSync(file, text)
    return modelOfJs(file, text, 'feed')
  }
  assert.throws(() => js("['newest']"), /feed\.mjs:3: meets: .*newest-n/)
})
