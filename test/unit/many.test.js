// More than two sides: what they may claim, and what they print.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { faultIn } from '../../lib/base/json-schema.js'
import { normals } from '../../lib/base/random.js'
import { junit } from '../../lib/compare/ci.js'
import { comparisonData } from '../../lib/compare/data.js'
import { gateExitCode } from '../../lib/compare/gates.js'
import { comparisonOfMany } from '../../lib/compare/many.js'
import { cellIdOf, idOf, requestedDifferences, sideRequests } from '../../lib/compare/request.js'
import { comparisonPictures, comparisonSections } from '../../lib/compare/sections.js'
import { comparisonText } from '../../lib/compare/text.js'
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
  Array.from({ length: rounds }, (_, round) => {
    const level = Math.exp(0.2 * next())
    const turns = costs.map((cost, at) => {
      const cpu = cost * level * Math.exp(noise * next())
      const valid = !broken(cellIdOf(at), round + 1)
      return {
        cell: cellIdOf(at),
        round: round + 1,
        factor: 1,
        timeline: null,
        legs: [
          {
            row: cellIdOf(at),
            folder: `cells/${cellIdOf(at)}/round-${round + 1}/run`,
            figures: {
              'server.cpu_us_per_item': cpu,
              'rate.achieved': 1000,
              'latency.intended.p99': 500 + cpu,
            },
            valid,
            reasons: valid ? [] : ['rate'],
            clientLimited: false,
            span: null,
          },
        ],
      }
    })
    return round % 2 ? turns.reverse() : turns
  }).flat()

/** @param {ReturnType<typeof turnsOf>} turns @param {{ thresholds?: string[], rounds?: number, of?: typeof sides }} [asked] */
const compared = (turns, { thresholds = [], rounds = 6, of = sides } = {}) =>
  comparisonOfMany({
    sides: of,
    turns,
    settings: requestedDifferences(requests[0], ...requests.slice(1)),
    thresholds: thresholds.map(thresholdOf),
    effect: 0.03,
    criticals: fixedRounds(rounds, of.length).criticals,
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
  const tries = 200
  const wrong = { change: 0, best: 0 }
  for (let one = 0; one < tries; one++) {
    const { comparison } = compared(turnsOf([10, 10, 10, 10], { noise: 0.05, next }))
    const cpu = comparison.rows.filter(({ figure }) => figure.name === 'server.cpu_us_per_item')
    if (cpu.some(({ difference: { low, high } }) => Number(low) > 0 || Number(high) < 0)) wrong.change++
    const near = compared(turnsOf([10.2, 10, 10.3, 10.5], { noise: 0.05, next })).comparison
    if (!near.ranks?.[0].best.includes('list')) wrong.best++
  }
  const limit = 0.05 + 2 * Math.sqrt((0.05 * 0.95) / tries)
  assert.ok(wrong.change / tries <= limit, `changes: ${wrong.change / tries}`)
  assert.ok(wrong.best / tries <= limit, `best: ${wrong.best / tries}`)
  // Without the correction three comparisons err in far more.
  const alone = { wrong: 0 }
  for (let one = 0; one < tries; one++) {
    const { comparison } = comparisonOfMany({
      sides,
      turns: turnsOf([10, 10, 10, 10], { noise: 0.05, next }),
      settings: [],
      thresholds: [],
      effect: 0.03,
      criticals: fixedRounds(6).criticals,
    })
    if (comparison.rows.some(({ difference: { low, high } }) => Number(low) > 0 || Number(high) < 0))
      alone.wrong++
  }
  assert.ok(alone.wrong / tries > 0.08, String(alone.wrong / tries))
})

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
  assert.match(
    comparisonText(noisy).replace(/\n/g, ' '),
    /The best of 4 by gross server CPU per item is list or stream: .*; these runs cannot tell which\. More or longer/,
  )
  const one = compared(turnsOf([10, 7, 9, 12], { noise: 0.002, next: normals(3) })).comparison
  assert.match(
    comparisonText(one).replace(/\n/g, ' '),
    /list is the best of 4 by gross server CPU per item: .* µs, −30 % \(95 % interval −\d+ % to −\d+ %\) against sorted-set\. Best by rate achieved: none, no two differ by more than 3 %\./,
  )
})

test('the text is a table a metric by its threshold name, best first, in 80 columns too', () => {
  for (const columns of [80, 110]) {
    const text = comparisonText(compared(clear()).comparison, { columns })
    for (const line of text.split('\n')) assert.ok(line.length <= columns, line)
    assert.match(text, /^server\.cpu_us_per_item +value +change +95 % interval/m)
    assert.match(text, /^ {2}1 list +\S+ µs +−30 % +−\d+.* to .* better$/m)
    assert.match(text, /^ {2}3 sorted-set +\S+ µs +baseline$/m)
    assert.match(text, /^ {4}best: list and stream, which do not differ by more than 3 %$/m)
    assert.match(text, /^settings that differ: strategy sorted-set → list \/ stream \/ default/m)
    assert.doesNotMatch(text, /not repeats of one thing/)
  }
})

test('thresholds hold for every side but the first, each by its name', () => {
  const { comparison } = compared(clear(), { thresholds: ['server.cpu_us_per_item<+5%'] })
  assert.deepEqual(valuesOf(comparison.rulings, 'label', 'outcome'), [
    'list',
    'passed',
    'stream',
    'passed',
    'chunks=4',
    'failed',
  ])
  assert.equal(gateExitCode(comparison.rulings, 'strict'), 99)
  assert.match(junit(comparison, 'strict'), /<testsuites tests="3" failures="1"/)
})

test('a side without valid rounds has no place, and the comparison is not valid; the others are ranked', () => {
  const turns = turnsOf([10, 5, 7, 12], { noise: 0.002, next: normals(5), broken: (side) => side === 'b' })
  const { comparison, isValid } = compared(turns)
  assert.equal(isValid, false)
  assert.deepEqual(valuesOf(comparison.ranks?.[0].order ?? [], 'name'), ['stream', 'sorted-set', 'chunks=4'])
  assert.deepEqual(comparison.ranks?.[0].best, ['stream'])
  assert.ok(
    comparison.warnings.some(({ message }) =>
      /^list and sorted-set: 6 of 6 rounds not valid \(rate\)/.test(message),
    ),
  )
  // One round of one side is no loss for the others.
  const once = compared(turnsOf([10, 5, 7, 12], { broken: (side, round) => side === 'b' && round === 2 }))
  assert.equal(once.isValid, true)
  assert.deepEqual(once.comparison.runs, {
    list: { a: 5, b: 5 },
    stream: { a: 6, b: 6 },
    'chunks=4': { a: 6, b: 6 },
  })
})

test('compare.json of several sides is as its schema says, and the page has a table and a picture a metric', () => {
  const schema = JSON.parse(
    readFileSync(new URL('../../lib/compare/compare.schema.json', import.meta.url), 'utf8'),
  )
  const turns = clear()
  const { comparison } = compared(turns)
  const data = { ...comparisonData(comparison), rounds: [{ round: 1, order: sides.map(({ name }) => name) }] }
  assert.equal(faultIn(data, schema), null)
  assert.deepEqual(data.ranks?.[0].best, ['list', 'stream'])
  assert.deepEqual(
    data.conclusions.map((/** @type {{ label: string }} */ { label }) => label),
    ['', 'list', 'stream', 'chunks=4'],
  )
  const facts = {
    command: 'millrace compare',
    method: '6 rounds',
    where: '7.0.15',
    isValid: true,
    rounds: [1, 2].map((round) => ({
      round,
      runs: turns
        .filter((turn) => turn.round === round)
        .map(({ cell, legs: [{ folder, figures }] }) => ({
          side: sides.find(({ id }) => id === cell)?.name ?? '',
          folder,
          figures,
        })),
    })),
  }
  const sections = comparisonSections(comparison, facts)
  assert.deepEqual(valuesOf(sections.tables, 'title'), [
    'gross server CPU per item',
    'rate achieved',
    'Rounds',
    'latency p99',
  ])
  assert.match(String(sections.tables[0].note), /^server\.cpu_us_per_item\. Best: list and stream, which/)
  assert.match(
    sections.verdict.sentence,
    /^By gross server CPU per item, list and stream do not differ by more than 3 %, and are/,
  )
  const pictures = comparisonPictures(comparison, facts)
  assert.deepEqual(valuesOf(pictures, 'name'), ['changes', 'changes-2', 'order'])
  assert.deepEqual(pictures[0].option.yAxis.data, ['list', 'stream', 'chunks=4'])
  assert.equal(pictures[2].option.series.length, 4)
})
