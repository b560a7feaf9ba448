import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normals } from '../../lib/base/random.js'
import { comparisonOfRounds, orderWarnings } from '../../lib/compare/comparison.js'
import { driftIn } from '../../lib/compare/drift.js'
import { gateExitCode, rulingOf } from '../../lib/compare/gates.js'
import { separateOf } from '../../lib/compare/separate.js'
import { conclusionOf } from '../../lib/compare/text.js'
import { pairedOf } from '../../lib/result/paired.js'
import { criticalsOf, looksBetween } from '../../lib/result/sequential.js'
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
      10 *
      Math.exp(level(at) + noise * next() + (side === first ? 0 : later)) *
      (side === 'b' ? 1 + change : 1)
    return { a: value('a'), b: value('b'), first }
  })

test('what a round has in common falls out of its pair', () => {
  const next = normals(1)
  const pairs = pairsOf(8, { change: 0.1, noise: 0.01, level: (at) => (at % 3) * 0.5, next })
  const paired = pairedOf(pairs)
  assert.equal(paired.verdict, 'worse')
  assert.ok(paired.low !== null && paired.high !== null && paired.low > 0.07 && paired.high < 0.13)
  assert.equal(pairedOf(pairs, { better: 'more' }).verdict, 'better')
  const separate = separateOf(
    pairs.map(({ a }) => a),
    pairs.map(({ b }) => b),
  )
  assert.equal(separate.verdict, 'unclear')
  assert.ok(Math.abs(separate.change - paired.change) < 1e-9)
})

test('the verdicts: better, worse, no difference beyond 3 %, cannot tell, and what would have shown', () => {
  const exact = (/** @type {number[]} */ changes) =>
    changes.map((change) => ({ a: 10, b: 10 * (1 + change), first: /** @type {const} */ ('a') }))
  assert.equal(pairedOf(exact([0.1, 0.11, 0.09, 0.1])).verdict, 'worse')
  assert.equal(pairedOf(exact([-0.1, -0.11, -0.09, -0.1])).verdict, 'better')
  // A change that is there, and too small to matter.
  const small = pairedOf(exact([0.01, 0.011, 0.009, 0.01]))
  assert.equal(small.verdict, 'same')
  assert.ok(small.low !== null && small.low > 0)
  assert.equal(pairedOf(exact([0.01, 0.011, 0.009, 0.01]), { effect: 0.005 }).verdict, 'worse')
  const unclear = pairedOf(exact([0.1, -0.1, 0.05, -0.06]))
  assert.equal(unclear.verdict, 'unclear')
  assert.ok(unclear.high !== null && unclear.detectable !== null && unclear.detectable > unclear.high)
  assert.equal(pairedOf(exact([0.5])).low, null)
  const zero = pairedOf([0, 1, 2].map((b) => ({ a: 0, b, first: 'a' })))
  assert.deepEqual([zero.relative, zero.change], [false, 1])
})

test('four of five series of rounds show the change that they are said to show', () => {
  const next = normals(2)
  const { detectable } = pairedOf(pairsOf(2000, { noise: 0.03, next }))
  assert.ok(detectable !== null)
  // Of six rounds with the spread that 2,000 have shown.
  const six = 0.03 * Math.SQRT2 * ((2.5706 + 0.9195) / Math.sqrt(6))
  let shown = 0
  for (let at = 0; at < 400; at++)
    if (pairedOf(pairsOf(6, { change: Math.expm1(six), noise: 0.03, next })).verdict === 'worse') shown++
  assert.ok(shown / 400 > 0.7 && shown / 400 < 0.9, String(shown / 400))
})

test('looks at every second round err together no more often than one look', () => {
  const looks = looksBetween(6, 20)
  assert.deepEqual(looks, [6, 8, 10, 12, 14, 16, 18, 20])
  assert.deepEqual(looksBetween(6, 6), [6])
  const criticals = criticalsOf(looks)
  const next = normals(3)
  const series = 1500
  const wrong = { sequential: 0, repeated: 0, same: 0 }
  for (let one = 0; one < series; one++) {
    const pairs = pairsOf(20, { noise: 0.04, next })
    const bounded = pairs.map((pair) => ({ ...pair, b: pair.b * 1.03 }))
    const at = (/** @type {(rounds: number, look: number) => boolean} */ isWrong) => looks.some(isWrong)
    const decided = (/** @type {import('../../lib/result/verdict.js').Difference} */ { low, high }) =>
      low !== null && high !== null && (low > 0 || high < 0)
    if (at((n, look) => decided(pairedOf(pairs.slice(0, n), { criticals: criticals[look] }))))
      wrong.sequential++
    if (one < 300 && at((n) => decided(pairedOf(pairs.slice(0, n))))) wrong.repeated++
    if (at((n, look) => pairedOf(bounded.slice(0, n), { criticals: criticals[look] }).verdict === 'same'))
      wrong.same++
  }
  // Twice the standard error above 5 %.
  const limit = 0.05 + 2 * Math.sqrt((0.05 * 0.95) / series)
  assert.ok(wrong.sequential / series < limit, `differences: ${wrong.sequential / series}`)
  assert.ok(wrong.same / series < limit, `no difference where it is 3 %: ${wrong.same / series}`)
  // What the rule is for.
  assert.ok(wrong.repeated / 300 > 0.09, `without it: ${wrong.repeated / 300}`)
})

test('a slow first round, an outlier, a trend and an effect of the order are named, with advice', () => {
  const next = normals(4)
  const about = { title: 'server CPU per item' }
  const codes = (/** @type {Pair[]} */ pairs) => driftIn(pairs, about).map(({ code }) => code)
  const calm = { noise: 0.005, next }
  assert.deepEqual(codes(pairsOf(8, calm)), [])
  assert.deepEqual(codes(pairsOf(8, { ...calm, level: (at) => (at === 0 ? 0.3 : 0) })), ['first-round'])
  assert.deepEqual(codes(pairsOf(8, { ...calm, level: (at) => at * 0.02 })), ['trend'])
  assert.deepEqual(codes(pairsOf(8, { ...calm, later: 0.06 })), ['order'])
  const outlier = pairsOf(8, calm).map((pair, at) => (at === 4 ? { ...pair, b: pair.b * 1.4 } : pair))
  const [found] = driftIn(outlier, about)
  assert.equal(found.code, 'outlier')
  assert.match(found.message, /^server CPU per item: round 5 differs .* or run more rounds$/)
  assert.deepEqual(codes(pairsOf(4, calm)), [])
})

test('drift over the rounds and an effect of the order cancel in ABBA', () => {
  const next = normals(6)
  const paired = pairedOf(
    pairsOf(12, { change: 0.1, noise: 0.005, level: (at) => at * 0.05, later: 0.04, next }),
  )
  assert.ok(Math.abs(paired.change - 0.1) < 0.01, String(paired.change))
})

/** @param {string} text @param {Pair[]} pairs */
const ruling = (text, pairs) =>
  rulingOf(
    thresholdOf(text),
    '',
    pairs.length > 0 ? pairedOf(pairs) : null,
    pairs.map(({ b }) => b),
  )

test('a gate fails only when the whole interval lies beyond its limit', () => {
  const next = normals(8)
  const limit = 'server.cpu_us_per_item<+5%'
  const outcome = (/** @type {number} */ change, /** @type {number} */ noise) =>
    ruling(limit, pairsOf(6, { change, noise, next })).outcome
  assert.equal(outcome(0.3, 0.01), 'failed')
  assert.equal(outcome(0, 0.005), 'passed')
  assert.equal(outcome(0.05, 0.05), 'unclear')
  assert.equal(ruling(limit, []).outcome, 'failed')
  const [one] = pairsOf(1, { change: 0.3, next })
  assert.deepEqual([ruling(limit, [one]).outcome, ruling(limit, [one]).low], ['failed', null])
  const absolute = ruling('server.cpu_us_per_item<11us', pairsOf(6, { noise: 0.2, next }))
  assert.equal(absolute.outcome, 'unclear')
  const [failed, unclear, passed] = [
    ruling(limit, pairsOf(6, { change: 0.3, noise: 0.01, next })),
    absolute,
    ruling(limit, pairsOf(6, { noise: 0.005, next })),
  ]
  assert.equal(gateExitCode([passed, unclear, failed], 'lenient'), 99)
  assert.equal(gateExitCode([passed, unclear], 'strict'), 98)
  assert.equal(gateExitCode([passed, unclear], 'lenient'), 0)
  assert.equal(gateExitCode([passed], 'strict'), 0)
})

test('at most one in twenty comparisons of a version with itself fails a gate of +5 %', () => {
  const next = normals(9)
  const tries = 400
  const found = { failed: 0, injected: 0 }
  for (let one = 0; one < tries; one++) {
    const pairs = pairsOf(6, { noise: 0.08, next })
    if (ruling('server.cpu_us_per_item<+5%', pairs).outcome === 'failed') found.failed++
    const worse = pairsOf(12, { change: 0.25, noise: 0.08, next })
    if (ruling('server.cpu_us_per_item<+5%', worse).outcome === 'failed') found.injected++
  }
  assert.ok(found.failed / tries <= 0.05, String(found.failed / tries))
  assert.ok(found.injected / tries >= 0.9, String(found.injected / tries))
})

test('runs in blocks are no interleaved ones', () => {
  const at = (/** @type {number[]} */ minutes) => minutes.map((minute) => Date.UTC(2026, 0, 1, 10, minute))
  assert.deepEqual(orderWarnings('a', at([0, 3, 4, 7]), 'b', at([1, 2, 5, 6])), [])
  assert.deepEqual(orderWarnings('a', at([0]), 'b', at([1])), [])
  const [found] = orderWarnings('a', at([0, 1, 2]), 'b', at([20, 21, 22]))
  assert.equal(found.code, 'not-interleaved')
  assert.match(
    found.message,
    /a started from 10:00:00 to 10:02:00, b from 10:20:00 to 10:22:00 UTC.*'millrace compare' alternates/,
  )
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
    baseline: 'sorted set',
    other: 'list',
    rounds,
    settings: [],
    thresholds: ['master.cpu_pct<+5%', 'rate.achieved>-1%'].map(thresholdOf),
    effect: 0.03,
  })
  assert.deepEqual(
    comparison.rows
      .filter(({ primary }) => primary)
      .flatMap(({ figure, difference }) => [figure.name, difference.verdict]),
    [
      'server.cpu_us_per_item',
      'better',
      'server.memory_bytes_per_item',
      'same',
      'hottest_master.cpu_pct',
      'better',
      'bystander.p99',
      'unclear',
    ],
  )
  assert.ok(!comparison.rows.some(({ figure }) => figure.name === 'master.cpu_pct'))
  // A threshold on the alias still has its change; one on what was not measured fails.
  assert.deepEqual(valuesOf(comparison.rulings, 'outcome'), ['passed', 'failed'])
  assert.match(
    conclusionOf(comparison, ''),
    /^list is better than sorted set: gross server CPU per item −20 % \(95 % interval .*\)\. Also better: CPU of the busiest master −19 %\. No difference beyond 3 %: memory per item\. Cannot tell: bystander p99\.$/,
  )
})
