// More than two sides: what they may claim, and what they print.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultIn } from '../../lib/base/json-schema.js'
import { normals } from '../../lib/base/random.js'
import { junit } from '../../lib/compare/ci.js'
import { compareDocument } from '../../lib/compare/document.js'
import { gateExitCode } from '../../lib/compare/gates.js'
import { comparisonOfMany } from '../../lib/compare/many.js'
import { compare } from '../../lib/compare/report.js'
import { cellIdOf, idOf, requestedDifferences, sideRequests } from '../../lib/compare/request.js'
import { pairedCriticals } from '../../lib/result/paired.js'
import { fixedRounds, isDecided, untilSure } from '../../lib/result/rounds-plan.js'
import { thresholdOf } from '../../lib/result/thresholds.js'
import { valuesOf } from '../helpers/table.js'

const requests = sideRequests(['sorted-set', 'list', 'stream', 'chunks=4'])
const sides = requests.map(({ id, name }) => ({ id, name }))

/**
 * Turns of rounds whose sides cost these, all with their round's level and a noise of their own.
 * @param {readonly number[]} costs a side each
 * @param {{ rounds?: number, noise?: number, next?: () => number, broken?: (side: string, round: number) => boolean }} [how]
 */
const turnsOf = (costs, { rounds = 6, noise = 0, next = () => 0, broken = () => false } = {}) =>
  Array.from({ length: rounds }, (_, at) => {
    const round = at + 1
    const level = Math.exp(0.2 * next())
    const turns = costs.map((cost, side) => {
      const cell = cellIdOf(side)
      const cpu = cost * level * Math.exp(noise * next())
      const latency = { 'latency.intended.p99': 500 + cpu }
      const figures = { 'server.cpu_us_per_item': cpu, 'rate.achieved': 1000, ...latency }
      const valid = !broken(cell, round)
      const outcome = { valid, reasons: valid ? [] : ['rate'], clientLimited: false, span: null }
      const leg = { row: cell, folder: `cells/${cell}/round-${round}/run`, figures, ...outcome }
      return { cell, round, factor: 1, timeline: null, legs: [leg] }
    })
    return at % 2 ? turns.reverse() : turns
  }).flat()

/** @param {ReturnType<typeof turnsOf>} turns @param {{ thresholds?: string[], criticals?: ReturnType<typeof fixedRounds>['criticals'] }} [asked] */
const compared = (turns, { thresholds = [], criticals = fixedRounds(6, sides.length).criticals } = {}) =>
  comparisonOfMany({
    ...{ sides, turns, settings: requestedDifferences(requests[0], ...requests.slice(1)), effect: 0.03 },
    ...{ thresholds: thresholds.map(thresholdOf), criticals },
  })

const clear = () => turnsOf([10, 7, 7.05, 12], { noise: 0.002, next: normals(5) })

test('sides have letters as cells, and a letter more where their names are the same', () => {
  assert.deepEqual([0, 25, 26, 51, 52].map(cellIdOf), ['a', 'z', 'aa', 'az', 'ba'])
  assert.deepEqual(valuesOf(sideRequests(['list', 'set', 'list']), 'name'), ['list (A)', 'set', 'list (C)'])
  const twenty = sideRequests(Array.from({ length: 20 }, (_, at) => `name=${'long'.repeat(9)}-${at} list`))
  assert.ok(idOf(...twenty).length < 230)
  assert.throws(() => sideRequests(['list', 'set', 'lists']), /^OptionError: C: 'lists' is neither/)
})

test('more sides make it harder to be sure; two are judged as before', () => {
  assert.ok(Math.abs(pairedCriticals(6).difference - 2.5706) < 1e-3)
  assert.ok(Math.abs(pairedCriticals(6).equivalence - 2.015) < 1e-3)
  // A 60th of each side of Student's t with five degrees of freedom, by a table.
  assert.ok(Math.abs(pairedCriticals(6, 4).difference - 3.534) < 1e-2)
  const [two, four] = [untilSure(6, 8), untilSure(6, 8, 4)]
  assert.ok(four.criticals(6).difference > two.criticals(6).difference)
  assert.ok(four.criticals(6).difference >= pairedCriticals(6, 4).difference)
})

test('with four sides one in twenty comparisons errs at most: a change that is none, or the best one left out', () => {
  const next = normals(11)
  const tries = 100
  const shareOf = (/** @type {() => boolean | undefined} */ isWrong) =>
    Array.from({ length: tries }, isWrong).filter(Boolean).length / tries
  const findsChange = (/** @type {ReturnType<typeof fixedRounds>['criticals'] | undefined} */ criticals) => {
    const { comparison } = compared(turnsOf([10, 10, 10, 10], { noise: 0.05, next }), { criticals })
    const rows = comparison.rows.filter(({ figure }) => figure.name === 'server.cpu_us_per_item')
    return rows.some(({ difference: { low, high } }) => Number(low) > 0 || Number(high) < 0)
  }
  const changes = shareOf(() => findsChange(undefined))
  const best = shareOf(() => {
    const { comparison } = compared(turnsOf([10.2, 10, 10.3, 10.5], { noise: 0.05, next }))
    return !comparison.ranks?.[0].best.includes('list')
  })
  const limit = 0.05 + 2 * Math.sqrt((0.05 * 0.95) / tries)
  assert.ok(changes <= limit && best <= limit, `changes: ${changes}, best: ${best}`)
  // Without the correction three comparisons err in far more.
  const alone = shareOf(() => findsChange(fixedRounds(6).criticals))
  assert.ok(alone > 0.08, String(alone))
})

/** @param {Parameters<typeof compareDocument>[0]} comparison */
const lineOf = (comparison) => compare.sentence(compareDocument(comparison))

test('the best are named, with those that cannot be told from them or are as good', () => {
  const { comparison, isValid, counted } = compared(clear())
  assert.deepEqual([isValid, counted], [true, [1, 2, 3, 4, 5, 6]])
  const [cpu] = comparison.ranks ?? []
  assert.deepEqual(valuesOf(cpu.order, 'name'), ['list', 'stream', 'sorted-set', 'chunks=4'])
  assert.deepEqual([cpu.best, cpu.alike], [['list', 'stream'], true])
  assert.equal(isDecided(comparison), true)
  const noisy = compared(turnsOf([10, 7, 7.2, 12], { noise: 0.03, next: normals(3) })).comparison
  assert.deepEqual([noisy.ranks?.[0].best, noisy.ranks?.[0].alike], [['list', 'stream'], false])
  assert.equal(isDecided(noisy), false)
  const expected =
    /The best of 4 by server CPU per item, idle included is list or stream, cannot tell which: .*\. More or longer/
  assert.match(lineOf(noisy), expected)
  const one = compared(turnsOf([10, 7, 9, 12], { noise: 0.002, next: normals(3) })).comparison
  const wanted =
    /list is the best of 4 by server CPU per item, idle included: .* µs, −30 % \(95 % interval −\d+ % to −\d+ %\) against sorted-set\. Best by rate achieved: none, no two differ by more than 3 %\./
  assert.match(lineOf(one), wanted)
})

test('the text is a table a metric by its threshold name, best first, in 80 columns too', () => {
  for (const columns of [80, 110]) {
    const text = compare.text(compareDocument(compared(clear()).comparison), { columns })
    for (const line of text.split('\n')) assert.ok(line.length <= columns, line)
    assert.match(text, /^side +value +change +95 % interval/m)
    assert.match(text, /^list +\S+ µs +−30 % +−\d+.* to .* better$/m)
    assert.match(text, /^sorted-set +\S+ µs +baseline$/m)
    const best =
      /^server\.cpu_us_per_item\. Best: list and stream, which do not differ by more\s+than\s+3 %$/m
    assert.match(text, best)
    assert.match(text, /^differs in +strategy: sorted-set → list \/ stream \/ default/m)
    assert.doesNotMatch(text, /not repeats of one thing/)
  }
})

test('thresholds hold for every side but the first, each by its name', () => {
  const { comparison } = compared(clear(), { thresholds: ['server.cpu_us_per_item<+5%'] })
  const outcomes = valuesOf(comparison.rulings, 'label', 'outcome').join(' ')
  assert.equal(outcomes, 'list passed stream passed chunks=4 failed')
  assert.equal(gateExitCode(comparison.rulings, 'strict'), 99)
  assert.match(junit(comparison, 'strict'), /<testsuites tests="3" failures="1"/)
})

test('a side without valid rounds has no place, and the comparison is not valid; the others are ranked', () => {
  const turns = turnsOf([10, 5, 7, 12], { noise: 0.002, next: normals(5), broken: (side) => side === 'b' })
  const { comparison, isValid } = compared(turns)
  assert.equal(isValid, false)
  assert.deepEqual(valuesOf(comparison.ranks?.[0].order ?? [], 'name'), ['stream', 'sorted-set', 'chunks=4'])
  assert.deepEqual(comparison.ranks?.[0].best, ['stream'])
  const warning = /^list and sorted-set: 6 of 6 rounds not valid \(rate\)/
  assert.ok(comparison.warnings.some(({ message }) => warning.test(message)))
  // One round of one side is no loss for the others.
  const once = compared(turnsOf([10, 5, 7, 12], { broken: (side, round) => side === 'b' && round === 2 }))
  assert.equal(once.isValid, true)
  const whole = { a: 6, b: 6 }
  assert.deepEqual(once.comparison.runs, { list: { a: 5, b: 5 }, stream: whole, 'chunks=4': whole })
})

test('compare.json of several sides is as its schema says, and the page has a table and two pictures', () => {
  const turns = clear()
  const { comparison } = compared(turns)
  const runsOf = (/** @type {number} */ round) =>
    turns
      .filter((turn) => turn.round === round)
      .map(({ cell, legs: [{ folder, figures }] }) => {
        const side = sides.find(({ id }) => id === cell)?.name ?? ''
        return { side, folder, figures }
      })
  const data = compareDocument(comparison, {
    ...{ command: 'millrace compare', method: '6 rounds', where: '7.0.15', valid: true },
    rounds: [1, 2].map((round) => ({ round, runs: runsOf(round) })),
  })
  assert.equal(faultIn(data, compare.schema), null)
  assert.deepEqual(data.ranks?.[0].best, ['list', 'stream'])
  assert.deepEqual(valuesOf(data.conclusions, 'label'), ['', 'list', 'stream', 'chunks=4'])
  const sections = compare.sections(data)
  const titles = ['Metrics with a verdict', 'Rounds', '1 more metric']
  assert.deepEqual(valuesOf(sections.tables, 'title'), titles)
  const [judged, , more] = sections.tables.map(({ rows }) => rows)
  assert.match(String(judged[0][0].detail), /^best: list and stream, which/)
  assert.deepEqual([judged.length, more.length], [8, 4])
  const expected =
    /^By server CPU per item, idle included, list and stream do not differ by more than 3 %, and are/
  assert.match(sections.verdict.sentence, expected)
  const pictures = compare.pictures(data)
  assert.deepEqual(valuesOf(pictures, 'name'), ['changes', 'changes-2', 'order'])
  assert.deepEqual(pictures[0].option.yAxis.data, [
    'list\n10.4 µs → 7.31 µs',
    'stream\n10.4 µs → 7.36 µs',
    'chunks=4\n10.4 µs → 12.5 µs',
  ])
  assert.equal(pictures[2].option.series.length, 4)
})
