import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forecastOfPlan } from '../../lib/servers/preflight.js'
import { slotCount, slotOf } from '../../lib/wire/slot.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { fieldsIn } from '../helpers/table.js'

const single = { masters: ['a:1'], owners: null }
const three = {
  masters: ['a:1', 'b:1', 'c:1'],
  owners: Uint16Array.from({ length: slotCount }, (_, slot) => Math.floor((slot * 3) / slotCount)),
}
const big = { quantity: 1_000_000, valueBytes: 100 }
const buffers = 4e6

/** @param {Parameters<typeof samplePlan>[0]} settings @param {Parameters<typeof forecastOfPlan>[1]} [topology] */
const forecast = (settings, topology = single) =>
  forecastOfPlan(samplePlan(settings, { masters: topology.masters.length }), topology).map((n) => n - buffers)

const sum = (/** @type {number[]} */ parts) => parts.reduce((total, part) => total + part, 0)
const near = (/** @type {number} */ a, /** @type {number} */ b) =>
  assert.ok(Math.abs(a / b - 1) < 0.02, `${a} ${b}`)

test('items lie evenly over the masters, one sorted set on one of them', () => {
  const [whole] = forecast(big)
  const parts = forecast(big, three)
  near(sum(parts), whole)
  const heaviest = three.owners[slotOf('latest-ids')]
  parts.forEach((bytes, i) => {
    if (i !== heaviest) near(bytes, parts[(heaviest + 1) % 3])
  })
  assert.ok(parts[heaviest] > 1.8 * parts[(heaviest + 1) % 3])
})

test('the rule of shares: it counts the items of all agents, whichever are here', () =>
  assert.deepEqual(forecast({ ...big, totalAgents: 8 }), forecast(big)))

test('more of anything takes more', () => {
  const [base] = forecast(big)
  const changes =
    'quantity=2000000, valueBytes=200, extraSortedSets=1, prefix="a-long-prefix:", once=true, strategy="hash"'
  for (const more of changes.split(', '))
    assert.ok(forecast({ ...big, ...fieldsIn(more) })[0] > 1.05 * base, more)
})

test('items written once live for the ttl, and ten seconds more in the set', () => {
  const [short] = forecast({ ...big, once: true, ttlS: 100 })
  const [long] = forecast({ ...big, once: true, ttlS: 1000 })
  assert.ok(long > 8 * short && long < 10 * short)
  const [cutShort] = forecast({ ...big, once: true, ttlS: 1000, durationMs: 100_000 })
  assert.ok(cutShort < short && cutShort > 0.9 * short)
})

test('a set a minute: as many as live at once', () => {
  const strategy = /** @type {const} */ ('set')
  const [brief] = forecast({ ...big, strategy, durationMs: 10_000 })
  const [lasting] = forecast({ ...big, strategy })
  assert.ok(lasting > 1.2 * brief)
  assert.deepEqual(forecast({ ...big, strategy, durationMs: 3_600_000 }), [lasting])
})

test('a list and a stream hold what lives of items that are written once', () => {
  for (const strategy of /** @type {const} */ (['list', 'stream'])) {
    const [rewritten] = forecast({ ...big, strategy, ttlS: 100 })
    const [once] = forecast({ ...big, strategy, ttlS: 100, once: true })
    assert.ok(once > 90 * rewritten, `${strategy}: ${once} of ${rewritten}`)
    const [brief] = forecast({ ...big, strategy, ttlS: 100, once: true, durationMs: 1000 })
    assert.ok(brief < 3 * rewritten, `${strategy}: ${brief} of ${rewritten}`)
  }
})

test('a table for each slot that is used, where the server takes one', () => {
  const sumsOf = (/** @type {Parameters<typeof samplePlan>[0]} */ settings) =>
    [0, 2680].map((table) => sum(forecastOfPlan(samplePlan(settings), three, table)))
  const more = (/** @type {Parameters<typeof samplePlan>[0]} */ settings) =>
    sumsOf(settings)[1] - sumsOf(settings)[0]
  const [without, withTables] = [0, 2680].map((table) => forecastOfPlan(samplePlan(big), three, table))
  for (const [i, bytes] of withTables.entries()) near(bytes - without[i], (2680 * slotCount) / 3)
  near(more({ quantity: 100 }), 2680 * 101)
  near(more({ ...big, strategy: 'script-batch', placement: 'spread' }), 2680)
})

test('items of a spread script lie with their set', () => {
  const settings = /** @type {const} */ ({ ...big, strategy: 'script-batch', placement: 'spread' })
  const parts = forecast({ ...settings, sortedSets: 3 }, three)
  for (const part of parts) near(part, parts[0])
  const isUsed = forecast(settings, three).map((bytes) => bytes > 0)
  assert.deepEqual(isUsed, [false, true, false])
})
