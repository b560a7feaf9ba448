// The announced time of experiments and comparisons, against what recorded ones took.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seriesProgress, serverStartsMs, spanWords, turnMs } from '../../lib/experiments/progress.js'

/** @import { Cell } from '../../lib/experiments/matrix.js' */

/** @param {Record<string, unknown>} [change] @returns {Cell} */
const cellOf = (change = {}) =>
  /** @type {any} */ ({
    ...{ id: 'a', processes: 1, legs: [{ options: { ttl: '3s' }, consumer: null, action: null }] },
    place: { cluster: false, shards: 1, replicas: 0, server: null, own: false },
    ...change,
  })

// Of a machine with two cores under much other load and under little; startMs is that of `--dry-run` then.
const recorded = [
  { what: 'compare, 6 rounds, little load', turns: 12, seconds: 2, warmUpS: 1, startMs: 1000, tookS: 64.6 },
  { what: 'compare, 4 rounds, much load', turns: 8, seconds: 3, warmUpS: 1, startMs: 3900, tookS: 79 },
  { what: 'list, 3 rounds, much load', turns: 12, seconds: 8, warmUpS: 3, startMs: 3900, tookS: 274.4 },
]

for (const { what, turns, seconds, warmUpS, startMs, tookS } of recorded)
  test(`the announced time is within 25 % of the time taken: ${what}`, () => {
    const timing = { seconds, warmUpS, startMs }
    const [leg] = cellOf().legs
    // Those of less than 10 s did not measure the idle cost.
    const options = seconds + warmUpS < 10 ? { ...leg.options, 'idle-cost': 'never' } : leg.options
    const cell = cellOf({ legs: [{ ...leg, options }] })
    const announcedS = (turns * turnMs(cell, timing, false) + serverStartsMs([cell], timing)) / 1000
    assert.ok(Math.abs(announcedS / tookS - 1) < 0.25, `${announcedS} of ${tookS}`)
  })

test('phases, readers, own servers and targets take their time', () => {
  const timing = { seconds: 10, warmUpS: 3, startMs: 400 }
  const alone = turnMs(cellOf(), timing, false)
  const place = { ...cellOf().place, own: true }
  assert.ok(turnMs(cellOf({ place }), timing, false) > alone)
  assert.ok(turnMs(cellOf({ processes: 4 }), timing, false) > alone)
  // A target is waited for until the items of the run before have expired.
  assert.equal(turnMs(cellOf(), timing, true) - alone, 4000)
  const [leg] = cellOf().legs
  const phases = turnMs(cellOf({ legs: [leg, leg] }), timing, false)
  assert.ok(phases > alone + 10_000 && phases < 2 * alone, `${phases}`)
  const never = turnMs(cellOf({ legs: [{ ...leg, options: { 'idle-cost': 'never' } }] }), timing, false)
  assert.ok(never < alone - 3000)
  assert.equal(serverStartsMs([cellOf({ place })], timing), 0)
})

test('what turns took more than was expected is expected of the others', () => {
  const said = /** @type {string[]} */ ([])
  const fixed = { seconds: 2, warmUpS: 1, repeat: 2 }
  const plan = [{ experiment: { id: 'x' }, cells: [cellOf()] }]
  const say = (/** @type {string} */ line) => said.push(line)
  const progress = seriesProgress({ plan, fixed, onTarget: false, startMs: 400, say })
  const expectedMs = turnMs(cellOf(), { ...fixed, startMs: 400 }, false)
  const turn = /** @type {any} */ ({ cell: cellOf(), round: 1 })
  const leg = { figures: {}, valid: true, reasons: [] }
  progress.turn(turn, /** @type {any} */ ({ legs: [leg], factor: 1 }), expectedMs + 5000)
  assert.equal(Math.round(progress.leftMs()), Math.round(expectedMs + 5000))
  assert.match(said[0], /^\[1\/2\] .* - \d+ s left$/)
})

test('times in words', () => {
  assert.deepEqual([44_600, 139_000, 4_320_000].map(spanWords), ['45 s', '2 min 19 s', '1 h 12 min'])
})
