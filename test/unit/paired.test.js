import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normals } from '../../lib/base/random.js'
import { comparisonOfRounds, driftIn, orderWarnings } from '../../lib/compare/comparison.js'
import { conclusionOf } from '../../lib/compare/conclusion.js'
import { gateExitCode, rulingOf } from '../../lib/compare/gates.js'
import { separateOf } from '../../lib/compare/separate.js'
import { pairedOf } from '../../lib/result/paired.js'
import { criticalsOf, looksBetween } from '../../lib/result/rounds-plan.js'
import { thresholdOf } from '../../lib/result/thresholds.js'
import { valuesOf } from '../helpers/table.js'

/** @import { Pair } from '../../lib/result/paired.js' */
/** @import { Difference } from '../../lib/result/verdict.js' */

/** @param {number} at */
const firstOf = (at) => /** @type {'a' | 'b'} */ (at % 4 === 0 || at % 4 === 3 ? 'a' : 'b')

/**
 * Rounds in ABBA order, each with its own level.
 * @param {number} rounds
 * @param {{ change?: number, noise?: number, level?: (at: number) => number, later?: number, next: () => number }} how
 * @returns {Pair[]}
 */
const pairsOf = (rounds, { change = 0, noise = 0.02, level = () => 0, later = 0, next }) =>
  Array.from({ length: rounds }, (_, at) => {
    const first = firstOf(at)
    const value = (/** @type {'a' | 'b'} */ side) =>
      10 * Math.exp(level(at) + noise * next() + (side === first ? 0 : later))
    const [a, b] = [value('a'), value('b') * (1 + change)]
    return { a, b, first }
  })

test('what a round has in common falls out of its pair', () => {
  const pairs = pairsOf(8, { change: 0.1, noise: 0.01, level: (at) => (at % 3) * 0.5, next: normals(1) })
  const paired = pairedOf(pairs)
  assert.equal(paired.verdict, 'worse')
  assert.ok(paired.low !== null && paired.high !== null && paired.low > 0.07 && paired.high < 0.13)
  assert.equal(pairedOf(pairs, { better: 'more' }).verdict, 'better')
  const separate = separateOf(valuesOf(pairs, 'a'), valuesOf(pairs, 'b'))
  assert.equal(separate.verdict, 'unclear')
  assert.ok(Math.abs(separate.change - paired.change) < 1e-9)
})

test('the verdicts: better, worse, no difference beyond 3 %, cannot tell, and what would have shown', () => {
  const changed = (/** @type {number[]} */ changes, /** @type {{ effect?: number }} */ asked = {}) =>
    pairedOf(
      changes.map((change) => ({ a: 10, b: 10 * (1 + change), first: 'a' })),
      asked,
    )
  const little = [0.01, 0.011, 0.009, 0.01]
  assert.equal(changed([0.1, 0.11, 0.09, 0.1]).verdict, 'worse')
  assert.equal(changed([-0.1, -0.11, -0.09, -0.1]).verdict, 'better')
  // A change that is there, and too small to matter.
  const small = changed(little)
  assert.equal(small.verdict, 'same')
  assert.ok(small.low !== null && small.low > 0)
  assert.equal(changed(little, { effect: 0.005 }).verdict, 'worse')
  const unclear = changed([0.1, -0.1, 0.05, -0.06])
  assert.equal(unclear.verdict, 'unclear')
  assert.ok(unclear.high !== null && unclear.detectable !== null && unclear.detectable > unclear.high)
  assert.equal(changed([0.5]).low, null)
  const zero = pairedOf([0, 1, 2].map((b) => ({ a: 0, b, first: 'a' })))
  assert.deepEqual([zero.relative, zero.change], [false, 1])
})

/** The part of so many tries in which something happens. @param {number} tries @param {() => boolean} happens */
const shareOf = (tries, happens) => Array.from({ length: tries }, happens).filter(Boolean).length / tries

test('four of five series of rounds show the change that they are said to show', () => {
  const next = normals(2)
  const { detectable } = pairedOf(pairsOf(2000, { noise: 0.03, next }))
  assert.ok(detectable !== null)
  // Of six rounds with the spread that 2,000 have shown.
  const six = 0.03 * Math.SQRT2 * ((2.5706 + 0.9195) / Math.sqrt(6))
  const change = Math.expm1(six)
  const shown = shareOf(400, () => pairedOf(pairsOf(6, { change, noise: 0.03, next })).verdict === 'worse')
  assert.ok(shown > 0.7 && shown < 0.9, String(shown))
})

test('looks at every second round err together no more often than one look', () => {
  const looks = looksBetween(6, 20)
  assert.deepEqual(looks, [6, 8, 10, 12, 14, 16, 18, 20])
  assert.deepEqual(looksBetween(6, 6), [6])
  const criticals = criticalsOf(looks)
  const next = normals(3)
  const played = () => pairsOf(20, { noise: 0.04, next })
  const at = (/** @type {Pair[]} */ pairs, /** @type {number} */ look) =>
    pairedOf(pairs.slice(0, looks[look]), { criticals: criticals[look] })
  const isDecided = (/** @type {Difference} */ { low, high }) =>
    low !== null && high !== null && (low > 0 || high < 0)
  // Twice the standard error above 5 %; without the rule twice as many err.
  const tries = 700
  const limit = 0.05 + 2 * Math.sqrt((0.05 * 0.95) / tries)
  const wrong = { sequential: 0, same: 0 }
  for (let one = 0; one < tries; one++) {
    const pairs = played()
    const bounded = pairs.map((pair) => ({ ...pair, b: pair.b * 1.03 }))
    if (looks.some((_, look) => isDecided(at(pairs, look)))) wrong.sequential++
    if (looks.some((_, look) => at(bounded, look).verdict === 'same')) wrong.same++
  }
  assert.ok(wrong.sequential / tries < limit, `differences: ${wrong.sequential / tries}`)
  assert.ok(wrong.same / tries < limit, `no difference where it is 3 %: ${wrong.same / tries}`)
  // What the rule is for.
  const repeated = shareOf(300, () => {
    const pairs = played()
    return looks.some((n) => isDecided(pairedOf(pairs.slice(0, n))))
  })
  assert.ok(repeated > 0.09, `without it: ${repeated}`)
})

test('a slow first round, an outlier, a trend and an effect of the order are named, with advice', () => {
  const next = normals(4)
  const about = { title: 'server CPU per item' }
  const codes = (/** @type {Pair[]} */ pairs) => driftIn(pairs, about).map(({ code }) => code)
  const calm = { noise: 0.005, next }
  for (const [rounds, more, found] of /** @type {[number, object, string[]][]} */ ([
    [8, {}, []],
    [4, {}, []],
    [8, { level: (/** @type {number} */ at) => (at === 0 ? 0.3 : 0) }, ['first-round']],
    [8, { level: (/** @type {number} */ at) => at * 0.02 }, ['trend']],
    [8, { later: 0.06 }, ['order']],
  ]))
    assert.deepEqual(codes(pairsOf(rounds, { ...calm, ...more })), found)
  const outlier = pairsOf(8, calm).map((pair, at) => (at === 4 ? { ...pair, b: pair.b * 1.4 } : pair))
  const [found] = driftIn(outlier, about)
  assert.equal(found.code, 'outlier')
  assert.match(found.message, /^server CPU per item: round 5 differs .* or run more rounds$/)
})

test('drift over the rounds and an effect of the order cancel in ABBA', () => {
  const level = (/** @type {number} */ at) => at * 0.05
  const drifting = { noise: 0.005, level, later: 0.04, next: normals(6) }
  const { change } = pairedOf(pairsOf(12, { change: 0.1, ...drifting }))
  assert.ok(Math.abs(change - 0.1) < 0.01, String(change))
})

const limit = 'server.cpu_us_per_item<+5%'

const ruling = (/** @type {Pair[]} */ pairs, /** @type {string} */ text = limit) =>
  rulingOf(thresholdOf(text), '', pairs.length > 0 ? pairedOf(pairs) : null, valuesOf(pairs, 'b'))

test('a gate fails only when the whole interval lies beyond its limit', () => {
  const next = normals(8)
  const six = (/** @type {number} */ change, /** @type {number} */ noise) =>
    pairsOf(6, { change, noise, next })
  const [failed, passed] = [ruling(six(0.3, 0.01)), ruling(six(0, 0.005))]
  const unclear = ruling(six(0, 0.2), 'server.cpu_us_per_item<11us')
  const outcomes = [failed, passed, ruling(six(0.05, 0.05)), unclear, ruling([])]
  assert.deepEqual(valuesOf(outcomes, 'outcome'), ['failed', 'passed', 'unclear', 'unclear', 'unclear'])
  const one = ruling(pairsOf(1, { change: 0.3, next }))
  assert.deepEqual([one.outcome, one.low], ['failed', null])
  assert.equal(gateExitCode([passed, unclear, failed], 'lenient'), 99)
  assert.equal(gateExitCode([passed, unclear], 'strict'), 98)
  assert.equal(gateExitCode([passed, unclear], 'lenient'), 0)
  assert.equal(gateExitCode([passed], 'strict'), 0)
})

test('at most one in twenty comparisons of a version with itself fails a gate of +5 %', () => {
  const next = normals(9)
  const failing = (/** @type {number} */ rounds, /** @type {number} */ change) =>
    shareOf(400, () => ruling(pairsOf(rounds, { change, noise: 0.08, next })).outcome === 'failed')
  const [itself, worse] = [failing(6, 0), failing(12, 0.25)]
  assert.ok(itself <= 0.05 && worse >= 0.9, `${itself}, and ${worse} of those that are worse`)
})

test('runs in blocks are no interleaved ones', () => {
  const at = (/** @type {number[]} */ minutes) => minutes.map((minute) => Date.UTC(2026, 0, 1, 10, minute))
  assert.deepEqual(orderWarnings('a', at([0, 3, 4, 7]), 'b', at([1, 2, 5, 6])), [])
  assert.deepEqual(orderWarnings('a', at([0]), 'b', at([1])), [])
  const [found] = orderWarnings('a', at([0, 1, 2]), 'b', at([20, 21, 22]))
  assert.equal(found.code, 'not-interleaved')
  const expected =
    /a started from 10:00:00 to 10:02:00, b from 10:20:00 to 10:22:00 UTC.*'millrace compare' alternates/
  assert.match(found.message, expected)
  assert.match(orderWarnings('a', at([0, 1, 2, 9]), 'b', at([3, 4, 5, 6]))[0].message, /hardly interleaved/)
})

/** @param {number} rounds @param {Record<string, (at: number) => [number, number]>} metrics */
const roundsOf = (rounds, metrics) =>
  Array.from({ length: rounds }, (_, at) => {
    const side = (/** @type {0 | 1} */ which) =>
      Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, value(at)[which]]))
    return { round: at + 1, first: firstOf(at), a: side(0), b: side(1) }
  })

test('verdicts are for few metrics, and an alias of one has none of its own', () => {
  const wobble = (/** @type {number} */ at) => 1 + 0.001 * (at % 3)
  const rounds = roundsOf(6, {
    'server.cpu_us_per_item': (at) => [10 * wobble(at), 8 * wobble(at + 1)],
    'server.memory_bytes_per_item': (at) => [300 * wobble(at), 301 * wobble(at + 1)],
    'master.cpu_pct': (at) => [50 + at, 40 + at],
    'hottest_master.cpu_pct': (at) => [50 + at, 40 + at],
    'bystander.p99': (at) => [100 * (1 + (at % 2)), 100 * (1 + ((at >> 1) % 2))],
    'latency.intended.p99': (at) => [100 + at, 300 + at],
  })
  const comparison = comparisonOfRounds({
    ...{ baseline: 'sorted set', other: 'list', rounds, settings: [] },
    gate: { thresholds: ['master.cpu_pct<+5%', 'rate.achieved>-1%'].map(thresholdOf), effect: 0.03 },
  })
  const primary = comparison.rows.filter(({ primary }) => primary)
  const verdicts = primary.map(({ figure, difference }) => `${figure.name} ${difference.verdict}`)
  assert.deepEqual(verdicts, [
    ...['server.cpu_us_per_item better', 'server.memory_bytes_per_item same'],
    ...['hottest_master.cpu_pct better', 'bystander.p99 unclear'],
  ])
  assert.ok(!comparison.rows.some(({ figure }) => figure.name === 'master.cpu_pct'))
  // A threshold on the alias still has its change; one on what was not measured fails.
  assert.deepEqual(valuesOf(comparison.rulings, 'outcome'), ['passed', 'unclear'])
  const expected =
    /^list is better than sorted set: server CPU per item, idle included −20 % \(95 % interval .*\)\. Also better: CPU of the busiest master −19 %\. No difference beyond 3 %: memory per item\. Cannot tell: other clients p99\.$/
  assert.match(conclusionOf(comparison, ''), expected)
})
