// A comparison from what was asked to its files, without running anything.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { forest, runsInOrder } from '../../charts/comparison.js'
import { faultIn } from '../../lib/base/json-schema.js'
import { benchmarkData, junit } from '../../lib/compare/ci.js'
import { comparisonOfRounds } from '../../lib/compare/comparison.js'
import { comparisonData } from '../../lib/compare/data.js'
import {
  cellOf,
  commonRequest,
  idOf,
  placeOfSide,
  requestedDifferences,
  sideRequest,
} from '../../lib/compare/request.js'
import { roundsOf } from '../../lib/compare/rounds.js'
import { comparisonSections } from '../../lib/compare/sections.js'
import { typedLine } from '../../lib/options/command-line.js'
import { fixedRounds, isDecided, untilSure } from '../../lib/result/rounds-plan.js'
import { thresholdOf } from '../../lib/result/thresholds.js'
import { optionsOf } from '../../settings.js'
import { valuesOf } from '../helpers/table.js'

test('a side is its options, servers and version, by name', () => {
  const side = sideRequest('strategy=list c=4 config.appendonly=yes name=ours', 'B')
  assert.deepEqual(side.options, { strategy: 'list', chunks: '4' })
  assert.deepEqual(side.config, [['appendonly', 'yes']])
  assert.equal(side.name, 'ours')
  assert.equal(sideRequest('strategy=list chunks=4', 'A').name, 'strategy=list chunks=4')
  assert.equal(sideRequest('default', 'A').name, 'default')
  assert.deepEqual(requestedDifferences(sideRequest('default', 'A'), side)[0], {
    name: 'strategy',
    baseline: ['default'],
    other: ['list'],
  })
  assert.match(idOf(sideRequest('default', 'A'), side), /^[a-z0-9-]+$/)
})

for (const [text, message] of /** @type {[string, RegExp][]} */ ([
  ['', /^B is empty: write 'default'/],
  ['--strategy list', /^B: write strategy=VALUE instead of --strategy$/],
  ['strategy', /^B: 'strategy' is neither a data model nor NAME=VALUE$/],
  ['lists', /^B: 'lists' is neither a data model nor NAME=VALUE; did you mean list\?$/],
  ['nonsense=1', /^B: 'nonsense' is no option in which two sides can differ/],
  ['duration=5s', /^B: 'duration' is no option in which two sides can differ/],
  ['millrace=/nowhere', /there is no producer\.js/],
  ['server-bin=/nowhere', /^--server-bin \/nowhere: no such program/],
]))
  test(`no side: ${text}`, () => assert.throws(() => sideRequest(text, 'B'), { message }))

/** @param {string[]} argv */
const commonIn = (argv) => commonRequest(typedLine(argv, optionsOf('producer')).options)

test('a data model alone is a side', () => {
  const { options, name } = sideRequest('list chunks=4', 'A')
  assert.deepEqual([options, name], [{ strategy: 'list', chunks: '4' }, 'list chunks=4'])
})

test('common options are those of the producer; where it goes is apart, and a side keeps to local servers', () => {
  const common = commonIn(['-q', '20k', '-t', '2', '--cluster', '--shards', '2', '--ttl', '2m'])
  assert.deepEqual(common.load, { quantity: '20k', 'total-agents': '2', ttl: '2m' })
  assert.deepEqual(placeOfSide(common.where).place, {
    cluster: true,
    shards: 2,
    replicas: 1,
    server: null,
    own: false,
  })
  assert.equal(placeOfSide(common.where).target, null)
  const cell = cellOf(sideRequest('strategy=list config.io-threads=2', 'A'), 'a', common)
  assert.deepEqual(
    [cell.id, cell.legs[0].options.quantity, cell.legs[0].options.ttl, cell.place.config],
    ['a', 20_000, '120s', [['io-threads', '2']]],
  )
  const away = commonIn(['--host', '127.0.0.1', '--port', '7000'])
  assert.deepEqual(placeOfSide(away.where).target, { host: '127.0.0.1', port: '7000' })
  assert.throws(() => cellOf(sideRequest('config.appendonly=yes', 'A'), 'a', away), /are for local servers/)
  assert.throws(
    () => commonIn(['--duration', '5s']),
    /^OptionError: --duration behind --: compare decides that/,
  )
  assert.throws(
    () => commonIn(['--password', 'hidden']),
    (error) => !/hidden/.test(String(error)),
  )
  assert.throws(() => cellOf(sideRequest('strategy=nonsense', 'A'), 'a', common), { code: 'OPTION' })
})

/** @param {string} cell @param {number} round @param {number} cpu @param {any} [change] */
const turn = (cell, round, cpu, { valid = true, factor = 1, ...more } = {}) => ({
  cell,
  round,
  factor,
  timeline: null,
  legs: [
    {
      row: cell,
      folder: `cells/${cell}/round-${round}/run`,
      figures: {
        'server.cpu_us_per_item': cpu,
        'bystander.p99': 100 + cpu,
        'rate.achieved': 1000,
        'latency.intended.p99': 500 + cpu,
      },
      valid,
      reasons: valid ? [] : ['rate'],
      clientLimited: false,
      span: null,
    },
  ],
  ...more,
})

test('rounds count that are whole, valid, and at the lowest rate', () => {
  const whole = [1, 2, 3].flatMap((round) => {
    const pair = [turn('a', round, 10), turn('b', round, 8)]
    return round % 2 ? pair : pair.reverse()
  })
  const found = roundsOf([...whole, turn('a', 4, 10)])
  assert.deepEqual(valuesOf(found.rounds, 'round', 'first'), [1, 'a', 2, 'b', 3, 'a'])
  const invalid = roundsOf([...whole, turn('a', 4, 90, { valid: false }), turn('b', 4, 8)])
  assert.deepEqual([invalid.rounds.length, invalid.isValid], [3, true])
  assert.match(invalid.warnings[0].message, /1 of 4 rounds not valid \(rate\); they do not count/)
  const slower = roundsOf([...whole, turn('a', 4, 9, { factor: 0.6 }), turn('b', 4, 8, { factor: 0.6 })])
  assert.deepEqual([slower.rounds.map(({ round }) => round), slower.factor], [[4], 0.6])
  assert.match(slower.warnings[0].message, /round 1 ran at a higher rate/)
  const failed = roundsOf([...whole, turn('a', 4, 9), turn('b', 4, 9, { legs: [], failed: 'it broke' })])
  assert.match(failed.warnings[0].message, /round 4: B came to no result: it broke/)
  assert.equal(roundsOf([turn('a', 1, 9, { valid: false }), turn('b', 1, 9)]).isValid, false)
})

test('a comparison until sure looks at even rounds, and lost rounds make it no surer', () => {
  const plan = untilSure(6, 10)
  assert.deepEqual([plan.rounds, plan.looks], [10, [6, 8, 10]])
  assert.ok(plan.criticals(6).difference > fixedRounds(6).criticals(6).difference)
  assert.ok(plan.criticals(3).difference >= fixedRounds(3).criticals(3).difference)
  assert.deepEqual(plan.criticals(7), {
    ...plan.criticals(7),
    difference: Math.max(plan.criticals(6).difference, 2.4469118511449692),
  })
})

/** @param {number} times @param {string[]} [limits] */
const comparisonOf = (times, limits = []) =>
  comparisonOfRounds({
    baseline: 'a & b',
    other: '<list>',
    rounds: roundsOf(
      Array.from({ length: 6 }, (_, at) => [
        turn('a', at + 1, 10 + (at % 3) / 10),
        turn('b', at + 1, times * (10 + ((at + 1) % 3) / 10)),
      ]).flat(),
    ).rounds,
    settings: [{ name: 'strategy', baseline: ['default'], other: ['list'] }],
    thresholds: limits.map(thresholdOf),
    effect: 0.03,
  })

test('a comparison is decided by its thresholds, or by its first metric', () => {
  assert.equal(isDecided(comparisonOf(0.8)), true)
  assert.equal(isDecided(comparisonOf(1.005)), true)
  assert.equal(isDecided(comparisonOf(1.05, ['server.cpu_us_per_item<+5%'])), false)
  assert.equal(isDecided(comparisonOf(1.3, ['server.cpu_us_per_item<+5%'])), true)
})

test('compare.json is as its schema says', () => {
  const schema = JSON.parse(
    readFileSync(new URL('../../lib/compare/compare.schema.json', import.meta.url), 'utf8'),
  )
  const data = comparisonData(comparisonOf(1.3, ['server.cpu_us_per_item<+5%', 'rate.achieved>-1%']))
  assert.equal(faultIn(data, schema), null)
  assert.match(String(faultIn({ ...data, more: 1 }, schema)), /^unknown 'more'$/)
  assert.match(String(faultIn({ ...data, effect: 'much' }, schema)), /'effect' must be number/)
})

test('JUnit has a test a threshold: failed, cannot tell, passed', () => {
  const limits = ['server.cpu_us_per_item<+5%', 'rate.achieved>-1%', 'server.cpu_us_per_item<13.1us']
  const strict = junit(comparisonOf(1.3, limits), 'strict')
  assert.match(strict, /<testsuites tests="3" failures="1" errors="1" skipped="0">/)
  assert.match(strict, /name="server.cpu_us_per_item&lt;\+5%"><failure message="threshold FAILED/)
  assert.match(strict, /name="rate.achieved&gt;-1%"><\/testcase>/)
  assert.match(strict, /classname="&lt;list&gt; against a &amp; b"/)
  assert.match(junit(comparisonOf(1.3, limits), 'lenient'), /failures="1" errors="0" skipped="1"/)
  assert.match(junit(comparisonOf(0.8), 'strict'), /tests="3" .*[\s\S]*<system-out>better \(/)
})

test('the JSON of github-action-benchmark has the values of the other side, by what is better', () => {
  const [first] = benchmarkData(comparisonOf(0.8), 'less')
  assert.deepEqual([first.name, first.unit], ['gross server CPU per item', 'us'])
  assert.ok(Math.abs(first.value - 8.08) < 0.01, String(first.value))
  assert.match(String(first.range), /^± 0\.0\d+$/)
  assert.deepEqual(valuesOf(benchmarkData(comparisonOf(0.8), 'more'), 'name'), ['rate achieved'])
})

/** @param {string[]} firsts the side that ran first in each round */
const ranIn = (firsts) =>
  firsts.map((first, at) => ({
    round: at + 1,
    runs: (first === 'a' ? ['a', 'b'] : ['b', 'a']).map((side) => ({
      side: side === 'a' ? 'a & b' : '<list>',
      folder: `cells/${side}/round-${at + 1}/run`,
      figures: turn(side, at + 1, side === 'a' ? 10 : 8).legs[0].figures,
    })),
  }))

test('the forest plot is logarithmic, with a dot a round, the limit, and whiskers that end in the picture', () => {
  const comparison = comparisonOf(1.3, ['server.cpu_us_per_item<+5%'])
  const option = forest.option(comparison)
  assert.ok(option)
  const named = (/** @type {string} */ name) =>
    option.series.find((/** @type {any} */ each) => each.name === name)
  assert.ok(Math.abs(named('change').data[0].value[0] - Math.log(1.3)) < 0.001)
  assert.match(named('change').data[0].detail, /^\+\d+ % to \+\d+ %$/)
  assert.equal(named('round').data.length, 6 * 3)
  assert.deepEqual(named('threshold').data, [
    { value: [+Math.log(1.05).toFixed(5), 0], detail: 'server.cpu_us_per_item<+5%' },
  ])
  assert.equal(option.xAxis.min, -option.xAxis.max)
  for (const [low, high] of named('change').markLine.data)
    for (const { coord } of [low, high]) assert.ok(Math.abs(coord[0]) <= option.xAxis.max)
  const order = runsInOrder.option({
    figure: comparison.rows[0].figure,
    sides: ['a & b', '<list>'],
    rounds: ranIn(['a', 'b', 'b', 'a', 'a', 'b']),
  })
  assert.ok(order)
  assert.deepEqual(
    order.series.map((/** @type {any} */ { data }) => data.map((/** @type {number[]} */ [at]) => at)),
    [
      [1, 4, 6, 7, 9, 12],
      [2, 3, 5, 8, 10, 11],
    ],
  )
})

test('the page says first what was found, then shows it, and folds the rest', () => {
  const facts = {
    command: 'millrace compare',
    method: '6 rounds',
    where: '7.0.15',
    rounds: ranIn(['a', 'b']),
    isValid: true,
  }
  const failed = comparisonSections(comparisonOf(1.3, ['server.cpu_us_per_item<+5%']), facts)
  assert.deepEqual([failed.verdict.good, failed.verdict.word], [false, 'Threshold failed'])
  assert.match(failed.verdict.sentence, /^<list> is worse than a & b: gross server CPU per item \+30 %/)
  const sections = comparisonSections(comparisonOf(0.8), facts)
  assert.equal(sections.verdict.good, true)
  assert.deepEqual(
    sections.tables.flatMap(({ title, fold, more }) => [title, fold, more === true]),
    [
      'Metrics with a verdict',
      'Metrics with a verdict',
      false,
      'Rounds',
      'Rounds',
      true,
      '1 more metric',
      '1 more metric',
      true,
    ],
  )
  assert.deepEqual(sections.tables[1].rows[0].map(({ link }) => link).filter(Boolean), [
    'cells/a/round-1/run/report.html',
    'cells/b/round-1/run/report.html',
  ])
  assert.deepEqual(valuesOf(sections.tables[1].rows[1].slice(0, 2), 'text'), ['2', '<list>'])
  assert.deepEqual([sections.verdict.word, sections.verdict.neutral], ['Better', false])
  assert.deepEqual(
    comparisonSections(comparisonOf(0.8), { ...facts, isValid: false }).verdict.word,
    'Not valid',
  )
})
