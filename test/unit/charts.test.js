import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RUN_CHARTS } from '../../charts/index.js'
import { planCost } from '../../charts/plan.js'
import { ratioSteps } from '../../charts/ratios.js'
import { alignedTable } from '../../lib/base/layout.js'
import { formatted, placedLabels, themedOption } from '../../lib/chart/theme.js'
import { joinedLines } from '../../lib/experiments/cell-run.js'
import { experimentPictures, picturesOf, runPictures } from '../../lib/report/charts.js'
import { pngOf, svgOf } from '../../lib/report/draw.js'
import { experiment as kit } from '../../lib/report/experiment.js'
import { runRecord } from '../../lib/result/record.js'
import { sampleExperiment, sampleRecord } from '../helpers/sample-record.js'
import { rowsOf, valuesOf } from '../helpers/table.js'

/** @import { RunRecord } from '../../lib/result/record.js' */
/** @import { CacheFigures } from '../../lib/cloudwatch/fetch.js' */

const record = sampleRecord()
const pictures = runPictures(record)
const drawn = new WeakMap([[record, pictures]])
const chartOf = (/** @type {string} */ name, /** @type {RunRecord} */ of = record) => {
  const own = drawn.get(of) ?? runPictures(of)
  drawn.set(of, own)
  return own.find((picture) => picture.name === name) ?? assert.fail(name)
}
/** The series that have a name. @param {any} option @returns {any[]} */
const named = (option) => valuesOf(option.series, 'name').flatMap((name, i) => (name ? option.series[i] : []))
const linesOf = (/** @type {string} */ name, of = record) => named(chartOf(name, of).option)
const column = (/** @type {any[][]} */ rows, /** @type {number} */ at) => rows.map((row) => row[at])
const textsIn = (/** @type {string} */ svg) =>
  [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text.trim())

test('every chart of a writer yields series with figures, and axes with units', () => {
  const notOfWriters = ['items-read', 'fetches', 'backlog', 'rate-latency', 'miss-curve']
  const names = valuesOf(RUN_CHARTS, 'name').filter((name) => !notOfWriters.includes(name))
  assert.deepEqual(valuesOf(pictures, 'name'), names)
  for (const { name, title, note, option } of pictures) {
    assert.ok(title && note, name)
    const lines = named(option)
    assert.ok(lines.length > 0, name)
    for (const { name: line, data } of lines) {
      const values = data.flatMap((/** @type {any} */ one) => one?.value ?? one).flat()
      assert.ok(values.some(Number.isFinite), `${name}: ${line}`)
    }
    // The panels of the overview have one axis of time, the last.
    for (const axis of [[option.xAxis].flat().at(-1), option.yAxis].flat())
      if (axis.type !== 'category')
        assert.match(axis.name, /%|µs|bytes|items\/s|time|latency|percentile/, name)
    assert.deepEqual(option.legend.data, valuesOf(lines, 'name'), name)
  }
})

test('the cost of an item: each row has a bar and a name in the legend', () => {
  const { option } = chartOf('item-cost')
  for (const [row, name] of option.yAxis.data.entries()) {
    const parts = named(option).filter(({ data }) => data[row] > 0)
    assert.ok(parts.length > 0, name)
    const [role] = name.split('\n')
    for (const part of parts) assert.ok(part.name.startsWith(role) && option.legend.data.includes(part.name))
  }
  assert.equal(option.yAxis.data.length, 3)
})

test('masters are solid, replicas dashed in the colour of their shard', () => {
  const [master, replica, other, ...more] = linesOf('cpu')
  assert.equal(more.length, 1)
  assert.deepEqual([master.name, replica.name], ['master 1 · 40001', 'replica 1 · 40002'])
  assert.equal(master.lineStyle.type, 'solid')
  assert.ok(Array.isArray(replica.lineStyle.type))
  assert.equal(master.color, replica.color)
  assert.notEqual(master.color, other.color)
})

/** The record with what CloudWatch would say of it, in steps of three seconds. @param {(Partial<CacheFigures> & { id: string })[]} caches */
const withCaches = (caches) => {
  const told = sampleRecord()
  const none = { kind: /** @type {const} */ ('node'), address: null, role: null, means: {}, points: {} }
  const nodes = caches.map((cache) => ({ ...none, ...cache }))
  const read = { from: '', to: '', settled: true, read_at: '', notes: [] }
  told.run.cloudwatch = { region: 'eu-west-1', period_s: 3, ...read, nodes }
  return told
}
/** @param {number} pct @returns {Record<string, [number, number][]>} */
const bothCpus = (pct) => ({
  EngineCPUUtilization: [pct, pct + 1].map((value, at) => [1000 + 3000 * at, value]),
  CPUUtilization: [[1000, pct / 2]],
})
const ofCloudWatch = (/** @type {RunRecord} */ told) =>
  runPictures(told).filter(({ title }) => title.startsWith('CloudWatch'))

test('CloudWatch: its minutes as steps over our own seconds of the same node', () => {
  const [{ address }, { address: replica }] = record.run.nodes
  const one = { id: 'items-001', address, points: bothCpus(20) }
  const two = { id: 'items-002', address: replica, points: bothCpus(30) }
  const [{ name, option }, ...others] = ofCloudWatch(withCaches([one, two]))
  assert.deepEqual([name, others], ['cloudwatch', []])
  const ids = ['items-001', 'items-002']
  assert.deepEqual(option.legend.data, [
    ...ids.map((id) => `${id}: engine, each second`),
    ...ids.flatMap((id) => [`${id}: EngineCPUUtilization`, `${id}: CPUUtilization`]),
  ])
  const [ours, , engine, host] = named(option)
  assert.deepEqual(ours.data, linesOf('cpu')[0].data)
  assert.deepEqual(column(engine.data, 1), [null, 20, 20, 20, 21, 21, 21, null])
  assert.deepEqual(column(host.data, 1), [null, 10, 10, 10, null, null, null, null])
  for (const { step, color } of [engine, host]) assert.deepEqual([step, color], ['start', ours.color])
  assert.ok(Array.isArray(host.lineStyle.type) && engine.lineStyle.type === 'solid')
  assert.match(option.yAxis.name, /engine: % of one core, host: % of all vCPUs/)
  assert.match(option.xAxis.name, /min:s/)
  const failover = { xAxis: 4.2, name: 'failover', names: ['failover'] }
  assert.deepEqual(option.series.at(-1).markLine.data, [failover])
})

test('CloudWatch: a chart a shard, and one of the caches that no address tells', () => {
  const [first, , second] = record.run.nodes
  const told = withCaches([
    { id: 'items-0001-001', address: first.address, points: bothCpus(20) },
    { id: 'items-0002-001', address: second.address, points: bothCpus(30) },
    { id: 'items-0003-001', points: bothCpus(40) },
  ])
  const shown = ofCloudWatch(told)
  const title = 'CloudWatch beside our own figures'
  assert.deepEqual(valuesOf(shown, 'name'), ['cloudwatch-1', 'cloudwatch-2', 'cloudwatch-others'])
  assert.deepEqual(valuesOf(shown, 'title'), [`${title}, shard 1`, `${title}, shard 2`, title])
  const seconds = ['40002', '40004'].map((port) => `replica ${port}: engine, each second`)
  const minutes = ['EngineCPUUtilization', 'CPUUtilization'].map((metric) => `items-0003-001: ${metric}`)
  assert.deepEqual(shown[2].option.legend.data, [...seconds, ...minutes])
  const names = valuesOf(runPictures(told), 'name')
  assert.equal(new Set(names).size, names.length)
})

test('CloudWatch: no chart of what has no minutes, no seconds, or no CPU', () => {
  const [{ address }] = record.run.nodes
  const units = { ElastiCacheProcessingUnits: /** @type {[number, number][]} */ ([[1000, 500]]) }
  const serverless = withCaches([{ id: 'items', kind: 'serverless', points: units }])
  const bare = { ...withCaches([{ id: 'items-001', address, points: bothCpus(20) }]), seconds: [] }
  for (const told of [record, withCaches([{ id: 'items-001', address }]), serverless, bare])
    assert.deepEqual(ofCloudWatch(told), [])
})

test('a silent node leaves a gap, and events and the warm-up are marked', () => {
  const { series } = chartOf('cpu').option
  assert.deepEqual(series[0].data[3], [4, null])
  const marks = series.at(-1)
  assert.deepEqual(marks.markLine.data, [{ xAxis: 4.2, name: 'failover', names: ['failover'] }])
  const [[from, to], ...more] = marks.markArea.data
  assert.deepEqual([from.xAxis, from.name, to, more], [0, 'warm-up', { xAxis: 1 }, []])
})

test('the end of the warm-up is the end of its area, without a mark of its own', () => {
  const events = [{ at_ms: 900, kind: 'warm-up', text: 'the warm-up of 1 s is left out' }]
  const { series } = /** @type {any} */ (runPictures(sampleRecord({ events }))[0].option)
  assert.deepEqual(series.at(-1).markLine.data, [])
  assert.deepEqual(series.at(-1).markArea.data[0][1], { xAxis: 1 })
})

test('events that lie close together are one mark', () => {
  const events = Array.from({ length: 40 }, (_, at) => ({ at_ms: 2000 + at, kind: 'moved', text: 'slot' }))
  const { series } = /** @type {any} */ (runPictures(sampleRecord({ events }))[0].option)
  assert.deepEqual(valuesOf(series.at(-1).markLine.data, 'xAxis', 'name'), [2, 'moved +39'])
})

test('a mark names its node, has a shorter name on a phone, and none before the first item', () => {
  const { nodes: [, { address }] = [] } = sampleRecord().seconds[0]
  const closed = (/** @type {number} */ ms, text = 'closed the connection') => {
    return { at_ms: ms, kind: 'disconnected', text: `${address}: ${text}` }
  }
  const later = { at_ms: 6000, kind: 'new-master', text: `${address} is a master now` }
  const events = [closed(-3000, 'before the first item'), closed(2000), closed(2001), later]
  const { option } = chartOf('cpu', sampleRecord({ events }))
  const labels = (/** @type {number} */ plotPx) => {
    /** @type {any[]} */
    const marks = placedLabels(option, plotPx).series.at(-1).markLine.data
    return marks.map(({ name, label }) => (label.show ? name : ''))
  }
  const port = address.split(':').at(-1)
  assert.deepEqual(labels(1200), [`disconnected ${port} +1`, `new-master ${port}`])
  assert.deepEqual(labels(220), ['disconnected +1', 'new-master'])
  assert.deepEqual(labels(90), ['', ''])
})

test('a point between two gaps is a dot, so that no legend has a name without a line', () => {
  const record = sampleRecord()
  for (const [at, { latency_us: found }] of record.seconds.entries())
    if (found?.intended && at !== 3) found.intended.samples = 1
  const p90 = linesOf('latency', record).find(({ name }) => name === 'p90')
  const symbols = valuesOf(p90.data, 'symbol')
  assert.equal(symbols.filter((symbol) => symbol === 'circle').length, 1)
})

test('a node that changes its role goes on as another line', () => {
  const changed = sampleRecord()
  for (const { nodes = [], at_ms: atMs } of changed.seconds) if (atMs > 4000) nodes[1].role = 'master'
  const lines = named(runPictures(changed)[0].option).filter(({ name }) => name.includes('40002'))
  const roles = lines.map(({ name }) => name.split(' ')[0])
  const points = lines.map(({ data }) => column(data, 1).filter((pct) => pct !== null).length)
  assert.equal([...roles, ...points].join(' '), 'master replica 4 4')
})

/** The usual record with one more second, of this length, with numbers unlike those before. @param {number} ms */
const drainedFor = (ms) => {
  const drained = sampleRecord()
  const [last] = drained.seconds.slice(-1)
  const p = 40_000
  const times = /** @type {any} */ ({ p50: p, p90: p, p99: p, p999: p, max: 45_000, samples: 2000 })
  drained.seconds.push({
    ...{ ...last, at_ms: last.at_ms + ms, over_ms: ms, phase: 'draining', achieved: 30, bystander_us: times },
    items: { ...last.items, failed: 7, uncertain: 0, dropped: 0, unsettled: 0 },
    latency_us: { intended: times, service: times },
    nodes: last.nodes?.map((row) => ({ ...row, over_ms: ms, engine_cpu_pct: 99 })),
  })
  return drained
}

test('a partial second has no point; its maximum and what it lost are in the point before it', () => {
  const partial = drainedFor(499)
  const ends = (/** @type {string} */ chart, of = partial) =>
    linesOf(chart, of).map(({ name, data }) => [name, ...(data.at(-1).value ?? data.at(-1))].join(' '))
  assert.deepEqual(ends('bystander'), ['p50 8 210', 'max 8 45000'])
  assert.deepEqual(ends('latency').slice(0, 1), ['p50 8 8007'])
  assert.deepEqual(ends('latency').slice(-1), ['max 8 45000'])
  assert.deepEqual(ends('rate'), ['achieved 8 1000', 'target 8 1000', 'lost 8 7'])
  for (const end of ends('cpu')) assert.match(end, / 8 [1-9]7$/)
  assert.equal(ends('bystander', drainedFor(500))[0], 'p50 8.5 40000')
})

test('the distribution merges all seconds, rises, and ends where the counts do', () => {
  const { intended, service } = record.distribution
  assert.equal(intended[0].beyond, 1)
  assert.ok((intended.at(-1)?.beyond ?? 0) <= 7 * 1000)
  for (const curve of [intended, service])
    for (let at = 1; at < curve.length; at++) assert.ok(curve[at].us >= curve[at - 1].us)
  const median = intended.find(({ beyond }) => beyond > 2)
  assert.ok(median && Math.abs(median.us - 8800) < 500, String(median?.us))
  assert.equal(chartOf('distribution').option.xAxis.type, 'log')
})

test('six hours of seconds are thinned: a peak stays, and a heat map has no more columns than a picture shows', () => {
  const long = sampleRecord()
  const [, second] = long.seconds
  const [{ buckets }] = long.heat
  long.seconds = Array.from({ length: 21_600 }, (_, at) => ({ ...second, at_ms: (at + 1) * 1000 }))
  long.heat = long.seconds.map(({ at_ms: ms }) => ({ fromS: ms / 1000 - 1, toS: ms / 1000, buckets }))
  const peak = { ...long.seconds[12_345], bystander_us: { ...second.bystander_us, max: 5_000_000 } }
  long.seconds[12_345] = /** @type {any} */ (peak)
  const max = linesOf('bystander', long).find(({ name }) => name === 'max').data
  assert.ok(max.length <= 1200, String(max.length))
  assert.ok(column(max, 1).includes(5_000_000))
  const columns = new Set(column(valuesOf(chartOf('heat-map', long).option.series[0].data, 'value'), 0))
  assert.ok(columns.size >= 75 && columns.size <= 81, String(columns.size))
})

test('a chart of zeros is left out, and an interval that hides the bars is cut', () => {
  const experiment = sampleExperiment()
  const [{ name }] = experiment.columns
  /** @param {number} median @param {number} low @param {number[]} highs of the rows, or of all */
  const drawn = (median, low, ...highs) => {
    const rows = experiment.rows.map((row, at) => {
      const figure = { median, samples: [median, median, median], low, high: highs[at] ?? highs[0] }
      return { ...row, published: null, figures: { [name]: figure } }
    })
    const id = name.replaceAll(/[._]/g, '-')
    const charts = experimentPictures({ ...experiment, rows, columns: [{ name }], ratios: [] })
    return charts.find((picture) => picture.name === id)
  }
  assert.equal(drawn(0, 0, 0), undefined)
  const wide = drawn(10, 1, 9000, 12)
  assert.match(wide?.note ?? '', /the longest intervals are cut at the edge\.$/)
  assert.ok(!JSON.stringify(wide?.option).includes('"coord":[9000'))
  assert.match(JSON.stringify(wide?.option), /"coord":\[40,0\]/)
  assert.doesNotMatch(drawn(10, 9, 12)?.note ?? '', /cut/)
})

test('a run without seconds has the charts of its figures', () => {
  const bare = { ...sampleRecord(), seconds: [], distribution: { intended: [], service: [] }, heat: [] }
  assert.deepEqual(valuesOf(runPictures(bare), 'name'), ['item-cost', 'commands', 'item-bytes'])
})

const atRates = (/** @type {number} */ ours, /** @type {number} */ theirs) => {
  const experiment = sampleExperiment()
  const rate = { median: ours, low: ours, high: ours, samples: [ours] }
  const rows = experiment.rows.map(({ figures, published, ...row }) => ({
    ...{ ...row, figures: { ...figures, 'rate.nominal': rate } },
    published: { ...published, 'rate.nominal': theirs },
  }))
  return { ...experiment, rows }
}

test('published CPU of another rate is not drawn beside ours, and all texts say what it is', () => {
  const scaled = atRates(4000, 200_000)
  const chart = experimentPictures(scaled).find(({ name }) => name === 'master-cpu-pct')
  assert.deepEqual(valuesOf(named(chart?.option), 'name'), ['measured'])
  const said =
    /ublished CPU is CloudWatch's CPUUtilization of nodes with 2 vCPUs, where one busy core reads 50/
  const texts = [chart?.note, kit.sections(scaled).tables[0].note, kit.text(scaled)]
  for (const text of texts.map((one = '') => one.replaceAll('\n', ' '))) {
    assert.match(text, said)
    assert.match(text, /and at other rates than ours: only ratios can be compared/)
  }
  const [table] = kit.sections(atRates(4000, 4000)).tables
  assert.match(table.note ?? '', /one busy core reads 50\.$/)
  const [unknown] = kit.sections(sampleExperiment()).tables
  assert.match(unknown.note ?? '', /where its rate was another than ours, only ratios can be compared/)
})

test('a chart for each figure of an experiment, beside what was published', () => {
  const charts = experimentPictures(atRates(200_000, 200_000))
  const titles = ['Ratios within the experiment', 'Server CPU per item, idle included', 'CPU of the masters']
  assert.deepEqual(valuesOf(charts, 'title'), titles)
  const [, ours, both] = charts.map(({ option }) => option)
  const bars = valuesOf(named(ours)[0].data, 'value', 'detail')
  assert.deepEqual(bars, [4.8, '4.6 µs to 5 µs', 3.1, '2.9 µs to 3.3 µs'])
  assert.deepEqual(valuesOf(named(both), 'name'), ['measured', 'published'])
  assert.equal(named(both)[1].data.join(' '), '44.5,0 36,1')
  assert.match(both.xAxis.name, /% of one core/)
})

test('names that begin alike are whole in the pictures, over as many lines as they need', () => {
  const start = 'on and off / a list with a HyperLogLog of each of its minutes beside it, switched'
  const long = [`${start} on`, `${start} off`]
  const experiment = sampleExperiment()
  const rows = long.map((label, at) => ({ ...experiment.rows[at], label }))
  const ratios = long.map((label) => ({ ...experiment.ratios[0], label }))
  for (const picture of experimentPictures({ ...experiment, rows, ratios })) {
    const svg = svgOf(picture)
    const texts = textsIn(svg)
    const whole = texts.join(' ')
    for (const label of long) assert.ok(whole.includes(label), `${picture.name}: ${whole}`)
    const height = Number(/viewBox="0 0 900 (\d+)"/.exec(svg)?.[1])
    const lines = texts.filter((text) => text.length > 3 && long.some((label) => label.includes(text)))
    assert.ok(height > 150 + lines.length * 16, `${picture.name}: ${height} for ${lines.length} lines`)
  }
})

test('in the terminal columns leave before the names of rows, and names that look alike are numbered', () => {
  const phases = ['HyperLogLog on', 'HyperLogLog off', 'HyperLogLog on again']
  const long = phases.map((phase) => `a list, on and off / ${phase} (target rate)`)
  const experiment = sampleExperiment()
  const rows = long.map((label) => ({ ...experiment.rows[0], marks: [], label }))
  const told = kit.text({ ...experiment, ratios: [], rows }, { columns: 80 })
  for (const label of long) assert.ok(told.includes(label), told)
  const longer = long.map((label) => label.replace('list', 'list that is called by a much longer name'))
  const names = { title: '', left: true, whole: true, cell: (/** @type {string} */ name) => name }
  const narrow = alignedTable([names], longer, 30)
  assert.ok(narrow.every((line) => line.length <= 30))
  assert.equal(new Set(narrow).size, narrow.length, narrow.join('\n'))
})

test('the ratios of an experiment, with their intervals and what was published', () => {
  const experiment = sampleExperiment()
  const [{ option }] = experimentPictures(experiment)
  const [measured, published] = named(option)
  const { ratios } = experiment
  const drawn = (/** @type {number[][]} */ points) =>
    points.map(([log, row]) => [+Math.exp(log).toFixed(3), row])
  const ours = ratios.map((ratio, row) => [+ratio.ours.ratio.toFixed(3), row])
  assert.deepEqual(drawn(valuesOf(measured.data, 'value')), ours)
  assert.equal(measured.data[0].detail, '0.61 to 0.68')
  // Half and twice are equally far from 1.
  const ratioWords = [0.5, 0.25, 0.9, 1, 1.5, 20].map((ratio) => formatted('logratio', Math.log(ratio)))
  assert.deepEqual(ratioWords, ['×1/2', '×1/4', '×0.9', '×1', '×1.5', '×20'])
  const whole = ratios.filter(({ ours }) => ours.low !== null)
  assert.equal(measured.markLine.data.length, whole.length)
  const theirs = ratios.flatMap((ratio, row) => (ratio.published === null ? [] : [[ratio.published, row]]))
  assert.deepEqual(drawn(published.data), theirs)
  assert.equal(experimentPictures({ ...experiment, ratios: [] }).length, 2)
})

/** @param {string[]} labels of phases of two seconds each */
const phased = (labels) => {
  const phases = labels.map((label, at) => ({ label, from_ms: at * 2000 + 200, to_ms: at * 2000 + 2000 }))
  const timeline = { ...record, phases }
  const experiment = sampleExperiment()
  const shown = picturesOf({ kind: 'experiment', experiment, timeline, pages: ['cells/list/1'] })
  return shown.find(({ name }) => name === 'cpu')?.option ?? assert.fail()
}

test('phases of a continuous run are areas of its charts, by what tells them apart', () => {
  for (const [labels, names] of rowsOf(`
writing / list | writing / with a HyperLogLog -> list | with a HyperLogLog
writing / list (target rate) | writing / with a HyperLogLog (target rate) -> list | with a HyperLogLog
writing / list (a) | writing / list (b) -> list (a) | list (b)
`)) {
    const areas = phased(labels.split(' | ')).series.at(-1).markArea.data
    assert.equal(valuesOf(column(areas, 0), 'name').join(' | '), names)
  }
})

test('the name of a phase stays within its area, and the last within the picture', () => {
  const long = 'a list with a HyperLogLog of each minute beside it'
  const option = phased(['zset', 'set', 'hash', long].map((name) => `writing / ${name}`))
  const areas = placedLabels(option, 810).series.at(-1).markArea.data
  for (const [{ label }] of areas) assert.ok(label.width < 900 / 4 && label.overflow === 'break', label.width)
  const drawnLines = textsIn(svgOf({ title: '', note: '', option }))
  const parts = drawnLines.filter((text) => text.length > 2 && long.includes(text))
  assert.ok(parts.length > 1, drawnLines.join('|'))
  assert.equal(parts.join(' '), long)
})

test('no label is broken within a word, nor drawn over the axis', () => {
  const events = [
    { at_ms: 10, kind: 'leftovers', text: 'keys of an earlier run' },
    { at_ms: 4000, kind: 'failover', text: 'shard 1' },
    { at_ms: 7900, kind: 'moved', text: 'slot' },
  ]
  const marked = sampleRecord({ events })
  const { option } = chartOf('cpu', marked)
  const marksIn = (/** @type {number} */ plotPx) => placedLabels(option, plotPx).series.at(-1)
  /** @type {any[]} */
  const marks = marksIn(810).markLine.data
  const aligned = marks.map(({ name, label }) => `${name} ${label.align}`)
  assert.deepEqual(aligned, ['leftovers left', 'failover center', 'moved right'])
  // On a phone too: an eighth of 300 px is narrower than the word.
  for (const plotPx of [810, 300]) {
    const [[{ label }]] = marksIn(plotPx).markArea.data
    assert.ok(label.show && label.width >= 7 * 6.9, label.width)
  }
  const narrow = { title: '', note: '', option: runPictures(marked)[1].option }
  const texts = textsIn(svgOf(narrow, { width: 390 }))
  assert.ok(texts.includes('warm-up'), texts.join('|'))
})

test('a phase without room for its name has none', () => {
  const option = phased(['short', 'a-very-long-name'].map((name) => `writing / ${name}`))
  const [[first], [second]] = placedLabels(option, 200).series.at(-1).markArea.data
  assert.deepEqual([first.label.show, second.label.show], [false, false])
})

test('the line of a second is that second in a tooltip', () => {
  const said = [5.97, 6.01, 0, 3599.97].map((second) => formatted('clock', second))
  assert.deepEqual(said, ['0:06', '0:06', '0:00', '1:00:00'])
})

test('percentiles are drawn as far as ten samples reach', () => {
  const sampled = (/** @type {number} */ samples, service = samples) => {
    const one = sampleRecord()
    for (const { latency_us: latency } of one.seconds) {
      if (latency?.intended) latency.intended.samples = samples
      if (latency?.service) latency.service.samples = service
    }
    return one
  }
  assert.deepEqual(valuesOf(linesOf('latency', sampled(160)), 'name'), ['p50', 'p90', 'max'])
  assert.deepEqual(valuesOf(linesOf('latency', sampled(1000, 160)), 'name'), ['p50', 'p90', 'p99', 'max'])
  const endOf = (/** @type {number} */ samples) => linesOf('distribution', sampled(samples))[0].data.at(-1)[0]
  // 7 seconds of 160 samples: the last point is that which 10 of 1,120 exceed.
  assert.equal(endOf(160), 100)
  assert.ok(endOf(16) < 11.3)
})

test('the overview has CPU, rate and latency over one axis of time', () => {
  const { option } = chartOf('overview')
  const titles = valuesOf(option.panels, 'title').map((title) => title.split(',')[0])
  assert.deepEqual(titles, ['engine CPU', 'items/s', 'latency from the due time'])
  assert.equal(new Set(valuesOf(option.xAxis, 'max')).size, 1)
  assert.deepEqual(option.axisPointer.link, [{ xAxisIndex: 'all' }])
  for (const side of ['left', 'right']) assert.equal(new Set(valuesOf(option.grid, side)).size, 1)
  for (const series of option.series) assert.equal(series.xAxisIndex, series.yAxisIndex)
  const svg = svgOf(chartOf('overview'))
  assert.doesNotMatch(svg, /NaN|undefined/)
  assert.equal(svg.match(/failover/g)?.length, 1)
})

test('between writers that follow each other nothing was measured, and nothing is drawn', () => {
  const { run, seconds } = sampleRecord()
  const lines = seconds.map(({ over_ms: _, ...line }) => line)
  const later = { ...run, started: new Date(Date.parse(run.started) + 13_000).toISOString() }
  const both = [run, later].map((document) => ({ document, lines }))
  const joined = runRecord(run, joinedLines(/** @type {any} */ (both)))
  const times = joined.seconds.map(({ at_ms: atMs }) => atMs / 1000)
  assert.deepEqual(times, [1, 2, 3, 4, 5, 6, 7, 8, 13, 14, 15, 16, 17, 18, 19, 20, 21])
  assert.equal(joined.seconds[9].over_ms, 1000)
  for (const name of ['cpu', 'rate', 'latency', 'bystander', 'memory']) {
    // The first second of the sample is a warm-up, without latencies.
    const next = ['latency', 'bystander'].includes(name) ? 2 : 1
    const [{ data }] = linesOf(name, joined)
    const at = column(data, 0).indexOf(13)
    assert.deepEqual(data[at], [13, null], name)
    assert.ok(data[at - 1][1] !== null && data[at + next][1] !== null, name)
  }
})

test('names of others are never taken for colours or formats', () => {
  const series = { name: '@us', data: ['@c1'], color: '@c1' }
  const option = { series: [series], yAxis: { data: ['@ink'] } }
  assert.deepEqual(themedOption(option, 'light'), { ...option, series: [{ ...series, color: '#0072b2' }] })
})

test('SVG and PNG, light and dark, with every unit drawn and nothing unresolved', async () => {
  for (const picture of pictures)
    for (const theme of /** @type {const} */ (['light', 'dark'])) {
      const svg = svgOf(picture, { theme })
      assert.match(svg, /^<svg [^>]*viewBox/)
      assert.ok(svg.includes({ light: '#ffffff', dark: '#171c21' }[theme]))
      assert.doesNotMatch(svg, /@c\d|@us|NaN|undefined/)
    }
  const png = await pngOf(svgOf(chartOf('cpu')), 1)
  assert.deepEqual([png.subarray(1, 4).toString(), png.readUInt32BE(16)], ['PNG', 900])
})

test('hostile names are text in an SVG', () => {
  const hostile = sampleRecord()
  for (const { nodes = [] } of hostile.seconds) nodes[0].address = '<script>alert(1)</script>:1'
  for (const picture of runPictures(hostile)) assert.doesNotMatch(svgOf(picture), /<script/)
})

test('the heat map: a column a second, rows by latency, shares of each column that sum to all', () => {
  const { option } = chartOf('heat-map')
  const [{ data, cellPx }] = option.series
  assert.equal(data.length > 0 && cellPx > 0, true)
  const shares = /** @type {Map<number, number>} */ (new Map())
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
  const seconds = record.seconds.map((second, at) => ({ ...second, backlog: at * 10 }))
  const { fold, option } = chartOf('backlog', { ...record, seconds })
  assert.equal(fold, undefined, 'seen without opening anything')
  assert.deepEqual(column(named(option)[0].data, 1), valuesOf(seconds, 'backlog'))
})

test('in the terminal no line of an experiment is wider than its columns, nor broken within a word', () => {
  const verdict =
    'These rounds show no clear difference in CPU of the masters between list (target rate) and sorted set (target rate).'
  const experiment = sampleExperiment({ verdict })
  for (const columns of [60, 80, 120]) {
    const text = kit.text(experiment, { columns })
    for (const line of text.split('\n')) assert.ok(line.length <= columns, `${columns}: ${line}`)
    assert.ok(text.replace(/\s+/g, ' ').includes(experiment.verdict))
  }
})

test('ratios have round steps, with 1 among them and no more than can be read', () => {
  const stepsOf = (/** @type {number} */ low, /** @type {number} */ high) =>
    ratioSteps(Math.log(low), Math.log(high)).map((log) => +Math.exp(log).toPrecision(2))
  assert.deepEqual(stepsOf(0.9, 2.8), [0.9, 1, 1.2, 1.4, 1.7, 2, 2.5])
  assert.deepEqual(stepsOf(0.89, 1.12), [0.9, 0.95, 1, 1.1])
  assert.deepEqual(stepsOf(0.955, 1.047), [0.96, 0.98, 1, 1, 1])
  assert.deepEqual(stepsOf(0.06, 9), [0.1, 0.2, 0.5, 1, 2, 5])
  assert.deepEqual(stepsOf(0.01, 2000), [0.01, 0.1, 1, 10, 100, 1000])
})

test('a limit of a latency is a line in its chart, in microseconds; limits of others are not', () => {
  const limits = 'latency.p99<20ms latency.intended.max<=1s latency.p50>1ms bystander.p99<900us'
  const thresholds = limits.split(' ').map((threshold) => ({ threshold, name: '', value: 1, passed: true }))
  const limited = { ...record, run: { ...record.run, thresholds } }
  const limitsIn = (/** @type {string} */ name) =>
    linesOf(name, limited)
      .filter(({ name: line }) => line.startsWith('limit '))
      .map(({ name: line, data }) => [line, data[0].at(1)])
  assert.deepEqual(limitsIn('latency'), [
    ['limit p99<20ms', 20_000],
    ['limit max<=1s', 1_000_000],
  ])
  assert.deepEqual(limitsIn('bystander'), [['limit p99<900us', 900]])
  assert.ok(!valuesOf(linesOf('latency'), 'name').some((line) => line.startsWith('limit')))
})

test('a plan draws prices as steps', () => {
  const curve = [1000, 10_000].map((rate, at) => ({ rate, low: 1, monthly: 2 + at, high: 5, shards: 1 + at }))
  const models = [{ strategy: 'list', curve }]
  const option = planCost.option({ asked: { value_bytes: 1 }, currency: '$', models })
  assert.deepEqual([...new Set(valuesOf(option?.series, 'step'))], ['start'])
})
