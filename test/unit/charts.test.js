import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RUN_CHARTS } from '../../charts/index.js'
import { ratioSteps } from '../../charts/ratios.js'
import { alignedTable } from '../../lib/base/layout.js'
import { formatted, placedLabels, themedOption } from '../../lib/chart/theme.js'
import { joinedLines } from '../../lib/experiments/cell-run.js'
import { experimentText } from '../../lib/experiments/text.js'
import { experimentPictures, picturesOf, runPictures } from '../../lib/report/charts.js'
import { pngOf, svgOf } from '../../lib/report/draw.js'
import { experimentSections } from '../../lib/report/experiment-sections.js'
import { sectionsText } from '../../lib/report/text.js'
import { runRecord } from '../../lib/result/record.js'
import { sampleExperiment, sampleRecord } from '../helpers/sample-record.js'
import { valuesOf } from '../helpers/table.js'

const record = sampleRecord()
const pictures = runPictures(record)
const byName = (/** @type {string} */ name) => {
  const found = pictures.find((picture) => picture.name === name)
  assert.ok(found, name)
  return found
}
const named = (/** @type {any} */ option) => option.series.filter((/** @type {any} */ { name }) => name)
const unit = /%|µs|bytes|items\/s|time|latency|percentile/

test('every chart of a writer yields series with figures, and axes with units', () => {
  const notOfWriters = ['items-read', 'fetches', 'backlog', 'rate-latency']
  assert.deepEqual(
    valuesOf(pictures, 'name'),
    RUN_CHARTS.map(({ name }) => name).filter((name) => !notOfWriters.includes(name)),
  )
  for (const { name, title, note, option } of pictures) {
    assert.ok(title && note, name)
    assert.ok(named(option).length > 0, name)
    for (const series of named(option))
      assert.ok(
        series.data
          .flatMap((/** @type {any} */ one) => one?.value ?? one)
          .flat()
          .some(Number.isFinite),
        `${name}: ${series.name}`,
      )
    // The panels of the overview have one axis of time, the last.
    for (const axis of [[option.xAxis].flat().at(-1), option.yAxis].flat())
      if (axis.type !== 'category') assert.match(axis.name, unit, name)
    assert.deepEqual(
      option.legend.data,
      named(option).map((/** @type {any} */ series) => series.name),
      name,
    )
  }
})

test('masters are solid, replicas dashed in the colour of their shard', () => {
  const lines = named(byName('cpu').option)
  assert.equal(lines.length, 4)
  const [master, replica, other] = lines
  assert.match(master.name, /^master 1 · 40001$/)
  assert.match(replica.name, /^replica 1 · 40002$/)
  assert.equal(master.lineStyle.type, 'solid')
  assert.ok(Array.isArray(replica.lineStyle.type))
  assert.equal(master.color, replica.color)
  assert.notEqual(master.color, other.color)
})

/**
 * The record with what CloudWatch would say of it, in steps of three seconds.
 * @param {(Partial<import('../../lib/cloudwatch/fetch.js').CacheFigures> & { id: string })[]} caches
 */
const withCaches = (caches) => {
  const told = sampleRecord()
  told.run.cloudwatch = {
    region: 'eu-west-1',
    period_s: 3,
    from: '',
    to: '',
    settled: true,
    read_at: '',
    notes: [],
    nodes: caches.map((cache) => ({
      kind: 'node',
      address: null,
      role: null,
      means: {},
      points: {},
      ...cache,
    })),
  }
  return told
}
const bothCpus = (/** @type {number} */ pct) => ({
  EngineCPUUtilization: /** @type {[number, number][]} */ ([
    [1000, pct],
    [4000, pct + 1],
  ]),
  CPUUtilization: /** @type {[number, number][]} */ ([[1000, pct / 2]]),
})
const ofCloudWatch = (/** @type {import('../../lib/result/record.js').RunRecord} */ told) =>
  runPictures(told).filter(({ title }) => title.startsWith('CloudWatch'))

test('CloudWatch: its minutes as steps over our own seconds of the same node', () => {
  const [{ address }, { address: replica }] = record.run.nodes
  const [{ name, option }, ...others] = ofCloudWatch(
    withCaches([
      { id: 'items-001', address, points: bothCpus(20) },
      { id: 'items-002', address: replica, points: bothCpus(30) },
    ]),
  )
  assert.deepEqual([name, others], ['cloudwatch', []])
  const lines = named(option)
  assert.deepEqual(option.legend.data, [
    'items-001: engine, each second',
    'items-002: engine, each second',
    'items-001: EngineCPUUtilization',
    'items-001: CPUUtilization',
    'items-002: EngineCPUUtilization',
    'items-002: CPUUtilization',
  ])
  const [ours, , engine, host] = lines
  assert.deepEqual(ours.data, named(byName('cpu').option)[0].data)
  assert.deepEqual(
    engine.data.map((/** @type {number[]} */ [, pct]) => pct),
    [null, 20, 20, 20, 21, 21, 21, null],
  )
  assert.deepEqual(
    host.data.map((/** @type {number[]} */ [, pct]) => pct),
    [null, 10, 10, 10, null, null, null, null],
  )
  for (const steps of [engine, host]) {
    assert.equal(steps.step, 'start')
    assert.equal(steps.color, ours.color)
  }
  assert.ok(Array.isArray(host.lineStyle.type) && engine.lineStyle.type === 'solid')
  assert.match(option.yAxis.name, /engine: % of one core, host: % of all vCPUs/)
  assert.match(option.xAxis.name, /min:s/)
  assert.deepEqual(option.series.at(-1).markLine.data, [
    { xAxis: 4.2, name: 'failover', names: ['failover'] },
  ])
})

test('CloudWatch: a chart a shard, and one of the caches that no address tells', () => {
  const [first, , second] = record.run.nodes
  const told = withCaches([
    { id: 'items-0001-001', address: first.address, points: bothCpus(20) },
    { id: 'items-0002-001', address: second.address, points: bothCpus(30) },
    { id: 'items-0003-001', points: bothCpus(40) },
  ])
  const shown = ofCloudWatch(told)
  assert.deepEqual(valuesOf(shown, 'name', 'title'), [
    'cloudwatch-1',
    'CloudWatch beside our own figures, shard 1',
    'cloudwatch-2',
    'CloudWatch beside our own figures, shard 2',
    'cloudwatch-others',
    'CloudWatch beside our own figures',
  ])
  assert.deepEqual(shown[2].option.legend.data, [
    'replica 40002: engine, each second',
    'replica 40004: engine, each second',
    'items-0003-001: EngineCPUUtilization',
    'items-0003-001: CPUUtilization',
  ])
  assert.equal(new Set(runPictures(told).map(({ name }) => name)).size, runPictures(told).length)
})

test('CloudWatch: no chart of what has no minutes, no seconds, or no CPU', () => {
  const [{ address }] = record.run.nodes
  assert.deepEqual(ofCloudWatch(record), [])
  assert.deepEqual(ofCloudWatch(withCaches([{ id: 'items-001', address }])), [])
  assert.deepEqual(
    ofCloudWatch(
      withCaches([
        { id: 'items', kind: 'serverless', points: { ElastiCacheProcessingUnits: [[1000, 500]] } },
      ]),
    ),
    [],
  )
  const bare = withCaches([{ id: 'items-001', address, points: bothCpus(20) }])
  bare.seconds = []
  assert.deepEqual(ofCloudWatch(bare), [])
})

test('a silent node leaves a gap, and events and the warm-up are marked', () => {
  const { series } = byName('cpu').option
  assert.deepEqual(series[0].data[3], [4, null])
  const marks = series.at(-1)
  assert.deepEqual(marks.markLine.data, [{ xAxis: 4.2, name: 'failover', names: ['failover'] }])
  const [[from, to], ...more] = marks.markArea.data
  assert.deepEqual([from.xAxis, from.name, to, more], [0, 'warm-up', { xAxis: 1 }, []])
})

test('events that lie close together are one mark', () => {
  const events = Array.from({ length: 40 }, (_, at) => ({ at_ms: 2000 + at, kind: 'moved', text: 'slot' }))
  const { series } = /** @type {any} */ (runPictures(sampleRecord({ events }))[0].option)
  assert.deepEqual(
    series.at(-1).markLine.data.map((/** @type {any} */ { xAxis, name }) => [xAxis, name]),
    [[2, 'moved +39']],
  )
})

test('a mark names its node, has a shorter name on a phone, and none before the first item', () => {
  const { nodes: [, { address }] = [] } = sampleRecord().seconds[0]
  const events = [
    { at_ms: -3000, kind: 'disconnected', text: `${address}: before the first item` },
    { at_ms: 2000, kind: 'disconnected', text: `${address}: closed the connection` },
    { at_ms: 2001, kind: 'disconnected', text: `${address}: closed the connection` },
    { at_ms: 6000, kind: 'new-master', text: `${address} is a master now` },
  ]
  const option = runPictures(sampleRecord({ events })).find(({ name }) => name === 'cpu')?.option
  const labels = (/** @type {number} */ plotPx) =>
    placedLabels(option, plotPx)
      .series.at(-1)
      .markLine.data.map((/** @type {any} */ { name, label }) => (label.show ? name : ''))
  const port = address.split(':').at(-1)
  assert.deepEqual(labels(1200), [`disconnected ${port} +1`, `new-master ${port}`])
  assert.deepEqual(labels(220), ['disconnected +1', 'new-master'])
  assert.deepEqual(labels(90), ['', ''])
})

test('a point between two gaps is a dot, so that no legend has a name without a line', () => {
  const record = sampleRecord()
  for (const [at, { latency_us: found }] of record.seconds.entries())
    if (found?.intended && at !== 3) found.intended.samples = 1
  const option = /** @type {any} */ (runPictures(record).find(({ name }) => name === 'latency')?.option)
  const p90 = option.series.find((/** @type {any} */ { name }) => name === 'p90')
  const dots = p90.data.filter((/** @type {any} */ point) => point.symbol === 'circle')
  assert.equal(dots.length, 1)
})

test('a node that changes its role goes on as another line', () => {
  const changed = sampleRecord()
  for (const { nodes = [], at_ms: atMs } of changed.seconds) if (atMs > 4000) nodes[1].role = 'master'
  const lines = named(runPictures(changed)[0].option).filter((/** @type {any} */ { name }) =>
    name.includes('40002'),
  )
  assert.deepEqual(
    lines.flatMap((/** @type {any} */ { name, data }) => [
      name.split(' ')[0],
      data.filter((/** @type {any} */ p) => p[1] !== null).length,
    ]),
    ['master', 4, 'replica', 4],
  )
})

test('the distribution merges all seconds, rises, and ends where the counts do', () => {
  const { intended, service } = record.distribution
  assert.equal(intended[0].beyond, 1)
  assert.ok((intended.at(-1)?.beyond ?? 0) <= 7 * 1000)
  for (const curve of [intended, service])
    for (let at = 1; at < curve.length; at++) assert.ok(curve[at].us >= curve[at - 1].us)
  const median = intended.find(({ beyond }) => beyond > 2)
  assert.ok(median && Math.abs(median.us - 8800) < 500, String(median?.us))
  assert.equal(byName('distribution').option.xAxis.type, 'log')
})

test('six hours of seconds are thinned: a peak stays, and a heat map has no more columns than a picture shows', () => {
  const long = sampleRecord()
  const [, second] = long.seconds
  const [{ buckets }] = long.heat
  long.seconds = Array.from({ length: 21_600 }, (_, at) => ({ ...second, at_ms: (at + 1) * 1000 }))
  long.heat = long.seconds.map(({ at_ms: ms }) => ({ fromS: ms / 1000 - 1, toS: ms / 1000, buckets }))
  const peak = { ...long.seconds[12_345], bystander_us: { ...second.bystander_us, max: 5_000_000 } }
  long.seconds[12_345] = /** @type {any} */ (peak)
  const pictures = runPictures(long)
  const optionOf = (/** @type {string} */ of) => pictures.find(({ name }) => name === of)?.option
  const max = named(optionOf('bystander')).find((/** @type {any} */ { name }) => name === 'max').data
  assert.ok(max.length <= 1200, String(max.length))
  assert.ok(max.some((/** @type {any} */ [, us]) => us === 5_000_000))
  const cells = optionOf('heat-map')?.series[0].data
  const columns = new Set(cells.map((/** @type {any} */ { value }) => value[0]))
  assert.ok(columns.size >= 75 && columns.size <= 81, String(columns.size))
})

test('a chart of zeros is left out, and an interval that hides the bars is cut', () => {
  const experiment = sampleExperiment()
  const [{ name }] = experiment.columns
  const drawn = (
    /** @type {(at: number) => import('../../lib/result/experiment-document.js').FigureOfRow} */ figure,
  ) => {
    const rows = experiment.rows.map((row, at) => ({
      ...row,
      published: null,
      figures: { [name]: figure(at) },
    }))
    const columns = [{ name }]
    return experimentPictures({ ...experiment, rows, columns, ratios: [] }).find(
      (picture) => picture.name === name.replaceAll('.', '-').replaceAll('_', '-'),
    )
  }
  assert.equal(
    drawn(() => ({ median: 0, samples: [0, 0, 0], low: 0, high: 0 })),
    undefined,
  )
  const wide = drawn((at) => ({ median: 10, samples: [10, 10, 10], low: 1, high: at === 0 ? 9000 : 12 }))
  assert.match(wide?.note ?? '', /the longest intervals are cut at the edge\.$/)
  assert.ok(!JSON.stringify(wide?.option).includes('"coord":[9000'))
  assert.match(JSON.stringify(wide?.option), /"coord":\[40,0\]/)
  assert.doesNotMatch(drawn(() => ({ median: 10, samples: [10, 10], low: 9, high: 12 }))?.note ?? '', /cut/)
})

test('a run without seconds has the charts of its figures', () => {
  const bare = sampleRecord()
  bare.seconds = []
  bare.distribution = { intended: [], service: [] }
  bare.heat = []
  assert.deepEqual(valuesOf(runPictures(bare), 'name'), ['item-cost', 'commands', 'item-bytes'])
})

/** @param {number} ours @param {number} theirs */
const atRates = (ours, theirs) => {
  const experiment = sampleExperiment()
  const rate = { median: ours, low: ours, high: ours, samples: [ours] }
  return {
    ...experiment,
    rows: experiment.rows.map((row) => ({
      ...row,
      figures: { ...row.figures, 'rate.nominal': rate },
      published: { ...row.published, 'rate.nominal': theirs },
    })),
  }
}

test('published CPU of another rate is not drawn beside ours, and all texts say what it is', () => {
  const scaled = atRates(4000, 200_000)
  const chart = experimentPictures(scaled).find(({ name }) => name === 'master-cpu-pct')
  assert.deepEqual(valuesOf(named(chart?.option), 'name'), ['measured'])
  const said =
    /ublished CPU is CloudWatch's CPUUtilization of nodes with 2 vCPUs, where one busy core reads 50/
  const other = /and at other rates than ours: only ratios can be compared/
  const sections = experimentSections(scaled)
  for (const text of [
    chart?.note ?? '',
    sections.tables[0].note ?? '',
    sectionsText(sections).replaceAll('\n', ' '),
    experimentText(scaled).replaceAll('\n', ' '),
  ]) {
    assert.match(text, said)
    assert.match(text, other)
  }
  const [table] = experimentSections(atRates(4000, 4000)).tables
  assert.match(table.note ?? '', /one busy core reads 50\.$/)
  const [unknown] = experimentSections(sampleExperiment()).tables
  assert.match(unknown.note ?? '', /where its rate was another than ours, only ratios can be compared/)
})

test('a chart for each figure of an experiment, beside what was published', () => {
  const charts = experimentPictures(atRates(200_000, 200_000))
  assert.deepEqual(valuesOf(charts, 'title'), [
    'Ratios within the experiment',
    'Gross server CPU per item',
    'CPU of the masters',
  ])
  const [, ours, both] = charts.map(({ option }) => option)
  assert.deepEqual(named(ours)[0].data, [
    { value: 4.8, detail: '4.6 µs to 5 µs' },
    { value: 3.1, detail: '2.9 µs to 3.3 µs' },
  ])
  assert.deepEqual(valuesOf(named(both), 'name'), ['measured', 'published'])
  assert.deepEqual(named(both)[1].data, [
    [44.5, 0],
    [36, 1],
  ])
  assert.match(both.xAxis.name, /% of one core/)
})

test('names that begin alike are whole in the pictures, over as many lines as they need', () => {
  const long = ['on', 'off'].map(
    (end) => `on and off / a list with a HyperLogLog of each of its minutes beside it, switched ${end}`,
  )
  const experiment = sampleExperiment()
  const { rows, ratios } = experiment
  const pictures = experimentPictures({
    ...experiment,
    rows: long.map((label, at) => ({ ...rows[at], label })),
    ratios: long.map((label) => ({ ...ratios[0], label })),
  })
  for (const picture of pictures) {
    const svg = svgOf(picture)
    const texts = [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text.trim())
    for (const label of long)
      assert.ok(texts.join(' ').includes(label), `${picture.name}: ${texts.join('|')}`)
    const height = Number(/viewBox="0 0 900 (\d+)"/.exec(svg)?.[1])
    const lines = texts.filter((text) => text.length > 3 && long.some((label) => label.includes(text)))
    assert.ok(height > 150 + lines.length * 16, `${picture.name}: ${height} for ${lines.length} lines`)
  }
})

test('in the terminal columns leave before the names of rows, and names that look alike are numbered', () => {
  const long = ['HyperLogLog on', 'HyperLogLog off', 'HyperLogLog on again'].map(
    (phase) => `a list, on and off / ${phase} (target rate)`,
  )
  const { rows, ...experiment } = sampleExperiment()
  const told = (/** @type {number} */ columns) =>
    experimentText(
      { ...experiment, ratios: [], rows: long.map((label) => ({ ...rows[0], marks: [], label })) },
      { columns },
    )
  for (const label of long) assert.ok(told(80).includes(label), told(80))
  const longer = long.map((label) => label.replace('list', 'list that is called by a much longer name'))
  const narrow = alignedTable(
    [{ title: '', left: true, whole: true, cell: (/** @type {string} */ name) => name }],
    longer,
    30,
  )
  assert.ok(narrow.every((line) => line.length <= 30))
  assert.equal(new Set(narrow).size, narrow.length, narrow.join('\n'))
})

test('the ratios of an experiment, with their intervals and what was published', () => {
  const experiment = sampleExperiment()
  const [{ option }] = experimentPictures(experiment)
  const [measured, published] = named(option)
  const { ratios } = experiment
  assert.deepEqual(
    measured.data.map((/** @type {any} */ { value: [log, row] }) => [+Math.exp(log).toFixed(3), row]),
    ratios.map(({ ours }, row) => [+ours.ratio.toFixed(3), row]),
  )
  assert.equal(measured.data[0].detail, '0.61 to 0.68')
  // Half and twice are equally far from 1.
  assert.equal(formatted('logratio', Math.log(0.5)), '0.5')
  const whole = ratios.filter(({ ours }) => ours.low !== null)
  assert.equal(measured.markLine.data.length, whole.length)
  assert.deepEqual(
    published.data.map((/** @type {number[]} */ [log, row]) => [+Math.exp(log).toFixed(3), row]),
    ratios.flatMap((ratio, row) => (ratio.published === null ? [] : [[ratio.published, row]])),
  )
  assert.equal(experimentPictures({ ...experiment, ratios: [] }).length, 2)
})

/** @param {string[]} labels of phases of two seconds each */
const phased = (labels) => {
  const phases = labels.map((label, at) => ({ label, from_ms: at * 2000 + 200, to_ms: at * 2000 + 2000 }))
  const shown = picturesOf({
    kind: 'experiment',
    experiment: sampleExperiment(),
    timeline: { ...record, phases },
    pages: ['cells/list/1'],
  })
  const picture = shown.find(({ name }) => name === 'cpu')
  assert.ok(picture)
  return { picture, areas: picture.option.series.at(-1).markArea.data }
}
const namesOf = (/** @type {any} */ areas) => areas.map((/** @type {any} */ [from]) => from.name)

test('phases of a continuous run are areas of its charts, by what tells them apart', () => {
  const names = ['list', 'with a HyperLogLog']
  assert.deepEqual(namesOf(phased(names.map((name) => `writing / ${name}`)).areas), names)
  assert.deepEqual(namesOf(phased(names.map((name) => `writing / ${name} (target rate)`)).areas), names)
  assert.deepEqual(namesOf(phased(['writing / list (a)', 'writing / list (b)']).areas), [
    'list (a)',
    'list (b)',
  ])
})

test('the name of a phase stays within its area, and the last within the picture', () => {
  const long = 'a list with a HyperLogLog of each minute beside it'
  const { picture } = phased(['zset', 'set', 'hash', long].map((name) => `writing / ${name}`))
  const areas = placedLabels(picture.option, 810).series.at(-1).markArea.data
  for (const [{ label }] of areas) assert.ok(label.width < 900 / 4 && label.overflow === 'break', label.width)
  const drawnLines = [...svgOf(picture).matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) =>
    text.trim(),
  )
  const parts = drawnLines.filter((text) => text.length > 2 && long.includes(text))
  assert.ok(parts.length > 1, drawnLines.join('|'))
  assert.equal(parts.join(' '), long)
})

test('no label is broken within a word, nor drawn over the axis', () => {
  const marked = sampleRecord({
    events: [
      { at_ms: 10, kind: 'leftovers', text: 'keys of an earlier run' },
      { at_ms: 4000, kind: 'failover', text: 'shard 1' },
      { at_ms: 7900, kind: 'moved', text: 'slot' },
    ],
  })
  const marksIn = (/** @type {number} */ plotPx) => {
    const found = runPictures(marked).find(({ name }) => name === 'cpu')
    return placedLabels(found?.option, plotPx).series.at(-1)
  }
  const { markLine, markArea } = marksIn(810)
  assert.deepEqual(
    markLine.data.flatMap((/** @type {any} */ { name, label }) => [name, label.align]),
    ['leftovers', 'left', 'failover', 'center', 'moved', 'right'],
  )
  const [[{ label }]] = markArea.data
  assert.ok(label.show && label.width >= 7 * 6.9, label.width)
  // On a phone too: an eighth of 300 px is narrower than the word.
  const [[{ label: small }]] = marksIn(300).markArea.data
  assert.ok(small.show && small.width >= 7 * 6.9, small.width)
  const svg = svgOf({ title: '', note: '', option: runPictures(marked)[1].option }, { width: 390 })
  const texts = [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text.trim())
  assert.ok(texts.includes('warm-up'), texts.join('|'))
})

test('a phase without room for its name has none', () => {
  const { picture } = phased(['short', 'a-very-long-name'].map((name) => `writing / ${name}`))
  const [[first], [second]] = placedLabels(picture.option, 200).series.at(-1).markArea.data
  assert.deepEqual([first.label.show, second.label.show], [false, false])
})

test('the line of a second is that second in a tooltip', () => {
  assert.equal(formatted('clock', 5.97), '0:06')
  assert.equal(formatted('clock', 6.01), '0:06')
  assert.equal(formatted('clock', 0), '0:00')
  assert.equal(formatted('clock', 3599.97), '1:00:00')
})

test('percentiles are drawn as far as ten samples reach', () => {
  const few = sampleRecord()
  for (const { latency_us: latency } of few.seconds)
    for (const found of [latency?.intended, latency?.service]) if (found) found.samples = 160
  const names = (/** @type {import('../../lib/result/record.js').RunRecord} */ one) =>
    named(runPictures(one).find(({ name }) => name === 'latency')?.option).map(
      (/** @type {any} */ series) => series.name,
    )
  assert.deepEqual(names(few), ['p50', 'p90', 'max'])
  for (const { latency_us: latency } of few.seconds) if (latency?.intended) latency.intended.samples = 1000
  assert.deepEqual(names(few), ['p50', 'p90', 'p99', 'max'])
  const curveOf = (/** @type {number} */ samples) => {
    const one = sampleRecord()
    for (const { latency_us: latency } of one.seconds)
      for (const found of [latency?.intended, latency?.service]) if (found) found.samples = samples
    return named(runPictures(one).find(({ name }) => name === 'distribution')?.option)[0].data
  }
  // 7 seconds of 160 samples: the last point is that which 10 of 1,120 exceed.
  assert.equal(curveOf(160).at(-1)[0], 100)
  assert.ok(curveOf(16).at(-1)[0] < 11.3)
})

test('the overview has CPU, rate and latency over one axis of time', () => {
  const { option } = byName('overview')
  assert.deepEqual(
    option.panels.map((/** @type {any} */ { title }) => title.split(',')[0]),
    ['engine CPU', 'items/s', 'latency from the due time'],
  )
  assert.equal(new Set(option.xAxis.map((/** @type {any} */ { max }) => max)).size, 1)
  assert.deepEqual(option.axisPointer.link, [{ xAxisIndex: 'all' }])
  assert.equal(new Set(option.grid.map((/** @type {any} */ { left, right }) => `${left} ${right}`)).size, 1)
  for (const series of option.series) assert.equal(series.xAxisIndex, series.yAxisIndex)
  const svg = svgOf(byName('overview'))
  assert.doesNotMatch(svg, /NaN|undefined/)
  assert.equal(svg.match(/failover/g)?.length, 1)
})

test('between writers that follow each other nothing was measured, and nothing is drawn', () => {
  const { run, seconds } = sampleRecord()
  const lines = seconds.map(({ over_ms: _, ...line }) => line)
  const later = { ...run, started: new Date(Date.parse(run.started) + 13_000).toISOString() }
  const joined = runRecord(
    run,
    joinedLines(
      /** @type {any} */ ([
        { document: run, lines },
        { document: later, lines },
      ]),
    ),
  )
  assert.deepEqual(
    joined.seconds.map(({ at_ms: atMs }) => atMs / 1000),
    [1, 2, 3, 4, 5, 6, 7, 8, 13, 14, 15, 16, 17, 18, 19, 20, 21],
  )
  assert.equal(joined.seconds[9].over_ms, 1000)
  for (const name of ['cpu', 'rate', 'latency', 'bystander', 'memory']) {
    // The first second of the sample is a warm-up, without latencies.
    const next = ['latency', 'bystander'].includes(name) ? 2 : 1
    const [drawnLine] = named(runPictures(joined).find((picture) => picture.name === name)?.option)
    const at = drawnLine.data.findIndex((/** @type {number[]} */ [atS]) => atS === 13)
    assert.deepEqual(drawnLine.data[at], [13, null], name)
    assert.ok(drawnLine.data[at - 1][1] !== null && drawnLine.data[at + next][1] !== null, name)
  }
})

test('names of others are never taken for colours or formats', () => {
  const option = { series: [{ name: '@us', data: ['@c1'], color: '@c1' }], yAxis: { data: ['@ink'] } }
  assert.deepEqual(themedOption(option, 'light'), {
    series: [{ name: '@us', data: ['@c1'], color: '#0072b2' }],
    yAxis: { data: ['@ink'] },
  })
})

test('SVG and PNG, light and dark, with every unit drawn and nothing unresolved', async () => {
  for (const picture of pictures)
    for (const look of /** @type {const} */ (['light', 'dark'])) {
      const svg = svgOf(picture, { theme: look })
      assert.match(svg, /^<svg [^>]*viewBox/)
      assert.ok(svg.includes(look === 'light' ? '#ffffff' : '#171c21'))
      assert.doesNotMatch(svg, /@c\d|@us|NaN|undefined/)
    }
  const png = await pngOf(svgOf(byName('cpu')), 1)
  assert.equal(png.subarray(1, 4).toString(), 'PNG')
  assert.equal(png.readUInt32BE(16), 900)
})

test('hostile names are text in an SVG', () => {
  const hostile = sampleRecord()
  for (const { nodes = [] } of hostile.seconds) nodes[0].address = '<script>alert(1)</script>:1'
  for (const { option, ...picture } of runPictures(hostile))
    assert.doesNotMatch(svgOf({ ...picture, option }), /<script/)
})

test('the heat map: a column a second, rows by latency, shares of each column that sum to all', () => {
  const { option } = byName('heat-map')
  const [{ data, cellPx }] = option.series
  assert.equal(data.length > 0 && cellPx > 0, true)
  /** @type {Map<number, number>} */
  const shares = new Map()
  for (const { value, spanS, detail } of data) {
    assert.equal(spanS, 1)
    shares.set(value[0], (shares.get(value[0]) ?? 0) + Number.parseFloat(detail))
    // 100 latencies from 160 µs on, spread evenly up to 16 ms and a little more.
    assert.ok(value[1] > 100 && value[1] < 20_000, String(value[1]))
  }
  assert.equal(shares.size, 7)
  for (const sum of shares.values()) assert.ok(Math.abs(sum - 100) < 1.5, String(sum))
  const [cell] = placedLabels(option, 800).series[0].data
  assert.deepEqual(cell.symbolSize, [100, cellPx])
})

test('workers of a queue have their backlog, second by second', () => {
  const waits = record.seconds.map((second, at) => ({ ...second, backlog: at * 10 }))
  const shown = runPictures({ ...record, seconds: waits }).find(({ name }) => name === 'backlog')
  assert.equal(shown?.fold, undefined, 'seen without opening anything')
  const points = named(shown?.option)[0].data
  assert.deepEqual(
    points.map((/** @type {[number, number]} */ [, n]) => n),
    waits.map(({ backlog }) => backlog),
  )
})

test('in the terminal no line of an experiment is wider than its columns, nor broken within a word', () => {
  const experiment = sampleExperiment({
    verdict:
      'These rounds show no clear difference in CPU of the masters between list (target rate) and sorted set (target rate).',
  })
  for (const columns of [60, 80, 120]) {
    const text = experimentText(experiment, { columns })
    for (const line of text.split('\n')) assert.ok(line.length <= columns, `${columns}: ${line}`)
    assert.ok(text.replace(/\s+/g, ' ').includes(experiment.verdict))
  }
})

test('ratios have round steps, with 1 among them and no more than can be read', () => {
  const stepsOf = (/** @type {number} */ low, /** @type {number} */ high) =>
    ratioSteps(Math.log(low), Math.log(high)).map((log) => +Math.exp(log).toPrecision(2))
  assert.deepEqual(stepsOf(0.9, 2.8), [0.9, 1, 1.2, 1.4, 1.7, 2, 2.5])
  assert.deepEqual(stepsOf(0.89, 1.12), [0.9, 0.95, 1, 1.1])
  assert.deepEqual(stepsOf(0.06, 9), [0.1, 0.2, 0.5, 1, 2, 5])
  assert.deepEqual(stepsOf(0.01, 2000), [0.01, 0.1, 1, 10, 100, 1000])
})
