// A comparison from what was asked to its files, without running anything.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { forest, runsInOrder } from '../../charts/comparison.js'
import { answerFilesIn } from '../../lib/answers/index.js'
import { faultIn } from '../../lib/base/json-schema.js'
import { formatted } from '../../lib/chart/theme.js'
import { benchmarkData, junit } from '../../lib/compare/ci.js'
import { comparisonOfRounds } from '../../lib/compare/comparison.js'
import { compareDocument, comparisonIn } from '../../lib/compare/document.js'
import { compare } from '../../lib/compare/report.js'
import {
  cellOf,
  commonRequest,
  idOf,
  placeOfSide,
  requestedDifferences,
  sideRequest,
} from '../../lib/compare/request.js'
import { roundsOf } from '../../lib/compare/rounds.js'
import { shownTarget } from '../../lib/experiments/experiment-servers.js'
import { typedLine } from '../../lib/options/command-line.js'
import { fixedRounds, isDecided, untilSure } from '../../lib/result/rounds-plan.js'
import { thresholdOf } from '../../lib/result/thresholds.js'
import { optionsOf } from '../../settings.js'
import { ownFolder } from '../helpers/programs.js'
import { valuesOf } from '../helpers/table.js'

const limit = 'server.cpu_us_per_item<+5%'
const plain = sideRequest('default', 'A')

test('a side is its options, servers and version, by name', () => {
  const side = sideRequest('strategy=list c=4 config.appendonly=yes name=ours', 'B')
  const { options, config, name } = side
  assert.deepEqual([options, name], [{ strategy: 'list', chunks: '4' }, 'ours'])
  assert.deepEqual(config, [['appendonly', 'yes']])
  assert.equal(sideRequest('strategy=list chunks=4', 'A').name, 'strategy=list chunks=4')
  assert.equal(plain.name, 'default')
  const [difference] = requestedDifferences(plain, side)
  assert.deepEqual(difference, { name: 'strategy', baseline: ['default'], other: ['list'] })
  assert.match(idOf(plain, side), /^[a-z0-9-]+$/)
  const model = sideRequest('list chunks=4', 'A')
  assert.deepEqual([model.options, model.name], [options, 'list chunks=4'], 'a data model alone is a side')
})

for (const [text, message] of /** @type {[string, RegExp][]} */ ([
  ['', /^B is empty: write 'default'/],
  ['--strategy list', /^B: write strategy=VALUE instead of --strategy$/],
  ['strategy', /^B: 'strategy' is neither a data model nor NAME=VALUE$/],
  ['lists', /^B: 'lists' is neither a data model nor NAME=VALUE; did you mean list\?$/],
  ['nonsense=1', /^B: 'nonsense' is not an option in which two sides can differ/],
  ['duration=5s', /^B: 'duration' is not an option in which two sides can differ/],
  ['millrace=/nowhere', /the folder has no producer\.js/],
  ['server-bin=/nowhere', /^--server-bin \/nowhere: no such program/],
]))
  test(`no side: ${text}`, () => assert.throws(() => sideRequest(text, 'B'), { message }))

const commonIn = (/** @type {string} */ line) =>
  commonRequest(typedLine(line.split(' '), optionsOf('producer')).options)

test('common options are those of the producer; where it goes is apart, and a side keeps to local servers', () => {
  const common = commonIn('-q 20k -t 2 --cluster --shards 2 --ttl 2m')
  assert.deepEqual(common.load, { quantity: '20k', 'total-agents': '2', ttl: '2m' })
  const { place, target } = placeOfSide(common.where)
  assert.deepEqual(place, { cluster: true, shards: 2, replicas: 1, server: null, own: false })
  assert.equal(target, null)
  const cell = cellOf(sideRequest('strategy=list config.io-threads=2', 'A'), 'a', common)
  const { quantity, ttl } = cell.legs[0].options
  assert.deepEqual([cell.id, quantity, ttl, cell.place.config], ['a', 20_000, '120s', [['io-threads', '2']]])
  const away = commonIn('--host 127.0.0.1 --port 7000')
  assert.deepEqual(placeOfSide(away.where).target, { host: '127.0.0.1', port: '7000' })
  assert.throws(() => cellOf(sideRequest('config.appendonly=yes', 'A'), 'a', away), /are for local servers/)
  assert.deepEqual(shownTarget({ port: '7000' }, {}), ['--port', '7000'])
  assert.throws(() => commonIn('--duration 5s'), /^OptionError: --duration behind --: compare sets it/)
  assert.throws(() => commonIn('--password hidden'), { message: /^(?!.*hidden)/s })
  assert.throws(() => cellOf(sideRequest('strategy=nonsense', 'A'), 'a', common), { code: 'OPTION' })
})

/** @param {string} cell @param {number} round @param {number} cpu @param {any} [change] */
const turn = (cell, round, cpu, { valid = true, factor = 1, ...more } = {}) => {
  const figures = {
    ...{ 'server.cpu_us_per_item': cpu, 'bystander.p99': 100 + cpu },
    ...{ 'rate.achieved': 1000, 'latency.intended.p99': 500 + cpu },
  }
  const folder = `cells/${cell}/round-${round}/run`
  const reasons = valid ? [] : ['rate']
  const legs = [{ row: cell, folder, figures, valid, reasons, clientLimited: false, span: null }]
  return { cell, round, factor, timeline: null, legs, ...more }
}

test('rounds count that are whole, valid, and at the lowest rate', () => {
  const whole = [1, 2, 3].flatMap((round) => {
    const pair = [turn('a', round, 10), turn('b', round, 8)]
    return round % 2 ? pair : pair.reverse()
  })
  /** With a fourth round of these. @param {object} [a] @param {object} [b] */
  const with4 = (a, b) => roundsOf([...whole, turn('a', 4, 9, a), ...(b ? [turn('b', 4, 8, b)] : [])])
  assert.deepEqual(valuesOf(with4().rounds, 'round', 'first'), [1, 'a', 2, 'b', 3, 'a'])
  const invalid = with4({ valid: false }, {})
  assert.deepEqual([invalid.rounds.length, invalid.isValid], [3, true])
  assert.match(invalid.warnings[0].message, /1 of 4 rounds not valid \(rate\); they do not count/)
  const slower = with4({ factor: 0.6 }, { factor: 0.6 })
  assert.deepEqual([valuesOf(slower.rounds, 'round'), slower.factor], [[4], 0.6])
  assert.match(slower.warnings[0].message, /round 1 ran at a higher rate/)
  const failed = with4({}, { legs: [], failed: 'it broke' })
  assert.match(failed.warnings[0].message, /round 4: B came to no result: it broke/)
  assert.equal(roundsOf([turn('a', 1, 9, { valid: false }), turn('b', 1, 9)]).isValid, false)
})

test('a comparison until sure looks at even rounds, and lost rounds make it no surer', () => {
  const plan = untilSure(6, 10)
  assert.deepEqual([plan.rounds, plan.looks], [10, [6, 8, 10]])
  const differenceAt = (/** @type {number} */ rounds) => plan.criticals(rounds).difference
  assert.ok(differenceAt(6) > fixedRounds(6).criticals(6).difference)
  assert.ok(differenceAt(3) >= fixedRounds(3).criticals(3).difference)
  assert.equal(differenceAt(7), Math.max(differenceAt(6), 2.4469118511449692))
})

/** @param {number} times @param {string[]} limits */
const comparisonOf = (times, ...limits) => {
  const turns = [1, 2, 3, 4, 5, 6].flatMap((round) => [
    turn('a', round, 10 + ((round - 1) % 3) / 10),
    turn('b', round, times * (10 + (round % 3) / 10)),
  ])
  const settings = [{ name: 'strategy', baseline: ['default'], other: ['list'] }]
  return comparisonOfRounds({
    ...{ baseline: 'a & b', other: '<list>', rounds: roundsOf(turns).rounds, settings },
    gate: { thresholds: limits.map(thresholdOf), effect: 0.03 },
  })
}

test('a comparison is decided by its thresholds, or by its first metric', () => {
  const decided = (/** @type {number} */ times) => isDecided(comparisonOf(times))
  const byLimit = (/** @type {number} */ times) => isDecided(comparisonOf(times, limit))
  assert.deepEqual([decided(0.8), decided(1.005), byLimit(1.05), byLimit(1.3)], [true, true, false, true])
})

test('compare.json is as its schema says', () => {
  const comparison = comparisonOf(1.3, limit, 'rate.achieved>-1%')
  const data = JSON.parse(JSON.stringify(compareDocument(comparison)))
  assert.equal(faultIn(data, compare.schema), null)
  assert.match(String(faultIn({ ...data, effect: 'much' }, compare.schema)), /'effect' must be number/)
  assert.deepEqual(compareDocument(comparisonIn(data)), data)
})

test('the page is made again from compare.json alone; what is no answer is refused in a line', async (t) => {
  const folder = ownFolder(t, 'answer')
  const data = compareDocument(comparisonOf(1.3, limit), { rounds: ranIn(['a', 'b']) })
  const path = join(folder, 'compare.json')
  writeFileSync(path, JSON.stringify(data))
  const again = await answerFilesIn(folder)
  assert.equal(again?.name, 'compare.html')
  const files = await compare.files(JSON.parse(JSON.stringify(data)))
  assert.deepEqual(Object.keys(again?.files ?? {}), Object.keys(files))
  assert.ok(again?.files['compare.html'] === files['compare.html'], 'another page')
  const refused = { code: 'OPTION', message: /compare\.json is not an answer that can be read: / }
  for (const text of ['{', 'null', '{"kind":"nothing"}', JSON.stringify({ ...data, schema: 2 })]) {
    writeFileSync(path, text)
    await assert.rejects(answerFilesIn(folder), refused, text)
  }
  assert.equal(await answerFilesIn(join(folder, 'none')), null)
})

test('JUnit has a test a threshold: failed, cannot tell, passed', () => {
  const limits = [limit, 'rate.achieved>-1%', 'server.cpu_us_per_item<13.1us']
  const strict = junit(comparisonOf(1.3, ...limits), 'strict')
  assert.match(strict, /<testsuites tests="3" failures="1" errors="1" skipped="0">/)
  assert.match(strict, /name="server.cpu_us_per_item&lt;\+5%"><failure message="threshold FAILED/)
  assert.match(strict, /name="rate.achieved&gt;-1%"><\/testcase>/)
  assert.match(strict, /classname="&lt;list&gt; against a &amp; b"/)
  assert.match(junit(comparisonOf(1.3, ...limits), 'lenient'), /failures="1" errors="0" skipped="1"/)
  assert.match(junit(comparisonOf(0.8), 'strict'), /tests="3" .*[\s\S]*<system-out>better \(/)
})

test('the JSON of github-action-benchmark has the values of the other side, by what is better', () => {
  const [first] = benchmarkData(comparisonOf(0.8), 'less')
  assert.deepEqual([first.name, first.unit], ['server CPU per item, idle included', 'us'])
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
  const comparison = comparisonOf(1.3, limit)
  const option = forest.option(comparison) ?? assert.fail()
  const named = (/** @type {string} */ name) =>
    option.series.find((/** @type {any} */ each) => each.name === name)
  assert.ok(Math.abs(named('change').data[0].value[0] - Math.log(1.3)) < 0.001)
  assert.match(named('change').data[0].detail, /^\+\d+ % to \+\d+ %$/)
  assert.equal(named('round').data.length, 6 * 3)
  const value = [+Math.log(1.05).toFixed(5), 0]
  assert.deepEqual(named('threshold').data, [{ value, detail: limit }])
  const { centreA, centreB } = comparison.rows[0].difference
  const both = [centreA, centreB].map((value) => formatted('us', value)).join(' → ')
  assert.ok(option.yAxis.data[0].endsWith(`\n${both}`), option.yAxis.data[0])
  assert.equal(option.xAxis.min, -option.xAxis.max)
  for (const [low, high] of named('change').markLine.data)
    for (const { coord } of [low, high]) assert.ok(Math.abs(coord[0]) <= option.xAxis.max)
  const rounds = ranIn(['a', 'b', 'b', 'a', 'a', 'b'])
  const order = runsInOrder.option({ figure: comparison.rows[0].figure, sides: ['a & b', '<list>'], rounds })
  const places = valuesOf(order?.series ?? [], 'data').map((data) =>
    data.map((/** @type {number[]} */ [at]) => at).join(' '),
  )
  assert.deepEqual(places, ['1 4 6 7 9 12', '2 3 5 8 10 11'])
})

test('rounds beyond the forest plot are an arrow at its edge, with their number', () => {
  const comparison = comparisonOf(1)
  const [row] = comparison.rows
  row.b = row.a.map((value, at) => value * [50, 40, 1, 1, 1, 1 / 30][at])
  const { series, xAxis } = forest.option(comparison) ?? assert.fail()
  const { data } = series.find((/** @type {any} */ each) => each.name === 'round')
  const own = data.filter((/** @type {any} */ { value }) => value[1] === 0)
  assert.equal(own.length, 5)
  const [left, right] = own.filter((/** @type {any} */ { symbol }) => symbol === 'triangle')
  assert.ok(left.value[0] > xAxis.min && left.value[0] < 0 && right.value[0] < xAxis.max)
  assert.deepEqual([left.detail, left.label.show], ['round 6: −97 %', false])
  assert.equal(right.detail, 'round 1: ×50, round 2: ×40')
  assert.deepEqual([right.label.show, right.label.formatter], [true, '2'])
})

test('the page says first what was found, then shows it, and folds the rest', () => {
  const rounds = ranIn(['a', 'b'])
  const facts = { command: 'millrace compare', method: '6 rounds', where: '7.0.15', rounds, valid: true }
  const failed = compare.sections(compareDocument(comparisonOf(1.3, limit), facts)).verdict
  assert.deepEqual([failed.good, failed.word], [false, 'Threshold failed'])
  assert.match(failed.sentence, /^<list> is worse than a & b: server CPU per item, idle included \+30 %/)
  const { verdict, tables } = compare.sections(compareDocument(comparisonOf(0.8), facts))
  assert.deepEqual([verdict.good, verdict.word, verdict.neutral], [true, 'Better', false])
  const titles = tables.map(({ title, fold, more }) => `${title} | ${fold} | ${more === true}`)
  assert.deepEqual(titles, [
    'Metrics with a verdict | Metrics with a verdict | false',
    'Rounds | Rounds | true',
    '1 more metric | 1 more metric | true',
  ])
  const [first, second] = tables[1].rows
  const links = ['a', 'b'].map((side) => `cells/${side}/round-1/run/report.html`)
  assert.deepEqual(valuesOf(first, 'link').filter(Boolean), links)
  assert.deepEqual(valuesOf(second.slice(0, 2), 'text'), ['2', '<list>'])
  const invalid = compare.sections(compareDocument(comparisonOf(0.8), { ...facts, valid: false }))
  assert.equal(invalid.verdict.word, 'Not valid')
})

test('an address is taken from either side of --, and both keep their other words', () => {
  for (const line of ['a b -- redis://h c', 'a redis://h b -- c']) {
    const { words, separator, options } = typedLine(line.split(' '), optionsOf('producer'))
    assert.deepEqual([words, separator, options.get('url')], [['a', 'b', 'c'], 2, 'redis://h'])
  }
})
