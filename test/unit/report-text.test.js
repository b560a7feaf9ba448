import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { partedAtOptions } from '../../lib/base/units.js'
import { pageOf } from '../../lib/report/page/page.js'
import { runSections } from '../../lib/report/run-sections.js'
import { runText, summaryOf } from '../../lib/report/text.js'
import { resultDocument } from '../../lib/result/document.js'
import { withThresholds } from '../../lib/result/thresholds.js'
import { sampleRecord } from '../helpers/sample-record.js'
import { sampleParts } from '../helpers/sample-run.js'
import { rowsOf } from '../helpers/table.js'

/** @import { RunDocument, RunParts } from '../../lib/result/document.js' */
/** @import { TextSize } from '../../lib/report/text.js' */

const { plan } = sampleParts()
/** All that -v shows below the first ten lines. @param {RunDocument} run @param {TextSize} [look] */
const detailsOf = (run, look) => {
  const all = runText(run, { columns: 200, ...look, verbose: true })
  return all.slice(all.indexOf('\n\n') + 2)
}
const text = (/** @type {Partial<RunParts>} */ change = {}, /** @type {TextSize} */ look = {}) =>
  detailsOf(resultDocument(sampleParts(change)), look)
/** The end of a run. */
const ending = (/** @type {Partial<RunParts>} */ change = {}, /** @type {TextSize} */ look = {}) =>
  runText(resultDocument(sampleParts(change)), look)
const entryOf = (/** @type {string} */ report, /** @type {string} */ label) =>
  report.match(new RegExp(`^${label} +(.*(?:\\n {16}.*)*)`, 'm'))?.[1].replace(/\n +/g, ' ') ?? ''

/** A report has these entries. @param {string} report @param {Record<string, string | RegExp>} entries */
const shows = (report, entries) => {
  for (const [label, expected] of Object.entries(entries)) {
    if (typeof expected === 'string') assert.equal(entryOf(report, label), expected)
    else assert.match(entryOf(report, label), expected)
  }
}

const few = (/** @type {number} */ count) => {
  const { latency_us: latency } = sampleParts()
  return resultDocument(sampleParts({ latency_us: { ...latency, intended: { ...latency.intended, count } } }))
}

const badItems = { offered: 1000, acked: 800, failed: 90, uncertain: 10, dropped: 60, unsettled: 40 }
const badParts = {
  kind: /** @type {const} */ ('producer'),
  items: { ...badItems, failed_by: { OOM: 90, CLOSED: 10 } },
  rate: { nominal: 1000, achieved: 800 },
  events: Array.from({ length: 25 }, (_, at) => ({
    ...{ at_ms: at * 1000, kind: 'reconnect', text: `to \x1b[31m127.0.0.1:${at}` },
  })),
  interrupted: true,
}

test('run.json has the keys of the design in their order', () => {
  const run = resultDocument(sampleParts())
  const extra = 'measured_s warm_up_s interrupted target agents writers clocks state measures'.split(' ')
  const designed =
    'schema run kind started duration_s plan versions items commands rate latency_us bystander_us ticks client server nodes events valid warnings'
  const keysOf = (/** @type {object | null} */ part, most = 99) =>
    Object.keys(part ?? {})
      .filter((key) => part !== run || !extra.includes(key))
      .slice(0, most)
      .join(' ')
  assert.equal(keysOf(run), designed)
  assert.equal(keysOf(run.latency_us.intended), 'p50 p90 p99 p999 max')
  assert.equal(keysOf(run.client, 5), 'cpu_s cpu_pct cpu_us_per_item rss_mb_max loop_delay_ms_p99')
  assert.equal(keysOf(run.server, 4), 'share cpu_us_per_item memory_bytes_per_item net_bytes_per_item')
  assert.deepEqual([run.schema, run.started, run.duration_s], [1, '2026-11-21T07:30:05.000Z', 65.0123])
  assert.deepEqual(JSON.parse(JSON.stringify(run)), run)
})

test('an agent whose account does not close makes the run invalid', () => {
  const own = { agent: 3, offered: 10, acked: 9, failed: 0, uncertain: 0, dropped: 0, unsettled: 0 }
  const { valid, warnings } = resultDocument(sampleParts({ agents: [{ ...own, acked: 10 }, own] }))
  assert.equal(valid, false)
  const told = warnings.filter(({ code }) => code === 'accounting').map(({ message }) => message)
  assert.equal(told.length, 1)
  assert.match(told[0], /^writer 3 was offered 10 items, but 9 have an outcome/)
})

test('what was not measured is null in the document and a dash in the table', () => {
  const run = resultDocument(
    sampleParts({
      ...{ rate: { nominal: 1000, achieved: Number.NaN }, latency_us: { intended: null } },
      ...{ bystander_us: null },
      ...{ ticks: { count: 0, late: null, lateness_us: null }, client: {}, nodes: [], target: undefined },
      server: { cpu_us_per_item: undefined },
    }),
  )
  assert.equal(run.rate.achieved, null)
  const { mean, ...times } = /** @type {Record<string, unknown>} */ (run.latency_us.service)
  assert.deepEqual([mean, times], [null, { p50: null, p90: null, p99: null, p999: null, max: null }])
  assert.equal(run.server.cpu_us_per_item, null)
  const report = detailsOf(run)
  shows(report, { rate: '– items/s', 'server CPU': '– per item' })
  assert.doesNotMatch(report, /NaN|undefined|null|bystander/)
})

test('the cost of an item leads without the idle cost where that is known, else says why it is not', () => {
  const { server } = sampleParts()
  const idle = { cpu_pct: 0.6, uncertainty_pct: 0.03, probes_pct: 0.02, samples: 3, by_node: { m: 0.6 } }
  const net = { cpu_us_per_item_net: 4.2, cpu_us_per_item_net_uncertainty: 0.1, idle }
  const known = resultDocument(sampleParts({ server: { ...server, ...net } }))
  const all = runText(known, { columns: 200, verbose: true })
  shows(all, {
    'server CPU': '4.20 µs ± 0.100 µs per item, idle excluded; 4.81 µs idle included',
    'idle cost': '0.6 % ± 0.03 % of a core before the first write',
  })
  const first = (/** @type {any} */ run) =>
    runSections(run).highlights.find(({ label }) => label.includes('server CPU'))
  assert.deepEqual(first(known), { label: 'server CPU per item, idle excluded', text: '4.2 µs' })

  const unknown = resultDocument(sampleParts({ server: { ...server, idle: { why: 'not steady' } } }))
  const other = runText(unknown, { columns: 200, verbose: true })
  shows(other, {
    'server CPU': '4.81 µs per item, idle included',
    'idle cost': 'not measured: not steady',
  })
  assert.deepEqual(first(unknown), { label: 'server CPU per item, idle included', text: '4.81 µs' })
})

const published = 'as published (-q, -c, -p)'
for (const [name, change, words] of rowsOf(`
all writers -> {} -> sorted-set: 1,000 items/s in bursts of 1,000 every 1 s, ${published}, by 2 writers, for 65 s on a
one writer -> {"totalAgents":1,"agents":[{"agent":1}]} -> sorted-set: 1,000 items/s in bursts of 1,000 every 1 s, ${published}, for
one of many -> {"totalAgents":8,"agents":[{"agent":3}],"items":125,"nominalHz":125} -> 125 items/s in bursts of 125 every 1 s, ${published}, by writer 3 of 8 (125 of 1,000 items), for
a range -> {"totalAgents":8,"agents":[{"agent":2},{"agent":3}],"items":250,"nominalHz":250} -> by writers 2-3 of 8 (250 of 1,000 items)
scattered -> {"totalAgents":8,"agents":[{"agent":2},{"agent":5}]} -> by writers 2, 5 of 8
another period -> {"periodMs":2000,"spacingMs":2000,"nominalHz":500} -> 500 items/s in bursts of 1,000 every 2 s
smooth -> {"pacing":"smooth"} -> 1,000 items/s at an even rate (--rate)
saturating -> {"rate":"max","nominalHz":null} -> as many items/s as possible (1,000 over and over), by 2 writers, for
closed -> {"pacing":"closed"} -> 1,000 items, then 1 s of rest, by 2 writers, for
`)) {
  test(`the plan and the target in one sentence: ${name}`, () => {
    const [, sentence] = text({ plan: { ...plan, ...JSON.parse(change) } }).split('\n')
    assert.ok(sentence.includes(words), sentence)
  })
}

for (const [name, change, words] of rowsOf(`
batches -> {"chunks":10} -> 10 batches
stamp and once -> {"stamp":true,"once":true} -> value 128 B random stamped · ttl 3 s · every item once
several sets -> {"sets":["a","b"],"placement":"spread"} -> 2 sorted sets spread over the slots
one slot -> {"sets":["a","b"],"placement":"same-slot"} -> 2 sorted sets in one slot
plain sets and extra -> {"sets":["a","b"],"extraSets":["c"]} -> 2 sorted sets · 1 extra sorted set
cut -> {} -> at most 1,000 members per command
uncut -> {"maxMembers":0} -> commands not cut
prefix -> {"prefix":"test:"} -> driver socket · prefix test:
`))
  test(`the plan in plain words: ${name}`, () => {
    const all = text({ plan: { ...plan, ...JSON.parse(change) } }, { columns: 400, verbose: true })
    assert.ok(entryOf(all, 'plan').includes(words), entryOf(all, 'plan'))
  })

test('arrivals that come unevenly are held against what was due', () => {
  const uneven = text({
    plan: { ...plan, arrivals: 'daily:10m', schedule: 'uneven' },
    rate: { nominal: 2400, achieved: 1000 },
  })
  assert.equal(uneven.split('\n')[0], 'VALID: every item acknowledged, all that was due')
  shows(uneven, { rate: /^1,000 items\/s, 100 % of what was due \(.*the target rate is 2,400\)$/ })
})

test('a percentile that is left out says why, and no threshold judges it', () => {
  const { thresholds } = withThresholds(few(310), ['latency.intended.p99<20ms', 'latency.intended.p50<20ms'])
  const found = thresholds?.map(({ value }) => value === null)
  assert.deepEqual(found, [true, false])
  const shown = detailsOf({ ...few(310), thresholds }, { columns: 400 })
  const needed = 'p99 needs 1,000 samples, 310 independent samples taken; run for longer'
  assert.ok(shown.includes(`CANNOT TELL: latency.intended.p99<20ms, too few samples (${needed})\n`), shown)
  assert.match(shown, /^threshold passed: latency\.intended\.p50<20ms, measured 8\.12 ms$/m)
  assert.match(shown, new RegExp(`^latency .*\\n +left out: ${needed}$`, 'm'))
})

test('the details: verdict, sentence, then a row for each question', () => {
  const good = text()
  const [verdict, sentence] = good.split('\n')
  assert.equal(verdict, 'VALID: every item acknowledged, target rate sustained')
  assert.match(sentence, /on a local cluster of 2 masters and 2 replicas \(Redis 7\.0\.15\)$/)
  const rows = [...good.matchAll(/^([a-z][a-zA-Z ]{0,14}?) {2,}\S/gm)].map(([, label]) => label)
  const labels = 'rate, server CPU, memory, network, busiest master, other clients, load generator, latency'
  assert.equal(rows.slice(0, 8).join(', '), labels)
  shows(good, {
    rate: '1,000 items/s, 99.9 % of the target rate',
    network: '402 B per item',
    'busiest master': /^127\.0\.0\.1:40001, main thread 51\.2 % of a core; the others 29\.9 %$/,
    'other clients': 'a PING of another client takes p50 210 µs, p99 4.31 ms, max 9.12 ms',
    'load generator': 'not the limit: sending thread 7.1 % busy, 0.228 µs of CPU per item',
    latency:
      /^p50 8\.12 ms, p90 19\.0 ms, p99 31\.9 ms, max 61\.2 ms from the due time \(service time p50 912 µs, p99 5\.12 ms\) 1,000 items are due at once every 1 s, .* --pacing smooth/,
  })
  const smooth = text({ plan: { ...plan, pacing: 'smooth' } })
  assert.doesNotMatch(smooth, /due at once|--pacing/)
})

test('the busiest master is explained by the keys that its shard has', () => {
  for (const [shards, words] of /** @type {[Record<string, number>, RegExp][]} */ ([
    [{ ids: 1 }, /the others 29\.9 %: its shard has ids, the one key that every item is also written to$/],
    [{ a: 1, b: 2 }, /has a, one of 2 keys/],
    [{ a: 2 }, /the others 29\.9 %$/],
  ])) {
    const shared = Object.entries(shards).map(([key, shard]) => ({ key, shard }))
    const target = { kind: 'cluster', origin: 'embedded', shared_keys: shared }
    shows(text(/** @type {any} */ ({ target })), { 'busiest master': words })
  }
})

test('percentiles with fewer than 10 samples beyond them are left out everywhere', () => {
  const shown = (/** @type {number} */ count) => entryOf(detailsOf(few(count)), 'latency')
  assert.match(shown(1000), /^p50 8\.12 ms, p90 19\.0 ms, p99 31\.9 ms, max/)
  assert.match(shown(999), /^p50 8\.12 ms, p90 19\.0 ms, max/)
  assert.match(shown(19), /^p50 8\.12 ms, max 61\.2 ms/)
  const names = (/** @type {number} */ count) =>
    few(count).measures.flatMap(({ name, count: n }) =>
      name.startsWith('latency.intended') ? [[name, n]] : [],
    )
  const wanted = ['p50', 'p90', 'max'].map((figure) => [`latency.intended.${figure}`, 160])
  assert.deepEqual(names(160), wanted)
  const [, , times] = runSections(few(160)).tables.flatMap(({ title, rows }) =>
    title === 'Latency' ? [title, rows.length, rows[0]] : [],
  )
  const found = /** @type {any[]} */ (times).map((cell) => cell.text)
  assert.deepEqual(found, ['from the due time', '8.12 ms', '19.0 ms', '–', '–', '61.2 ms'])
})

test('a result that could not be stored says so before its verdict', () => {
  const notStored = 'results/x cannot be written (ENOSPC)'
  const [first, second] = ending({}, { columns: 200, notStored }).split('\n')
  assert.equal(first, 'NOT STORED: results/x cannot be written (ENOSPC)')
  assert.match(second, /^✓ VALID {2}sorted-set/)
})

test('PINGs that were sent late are one line below their row, where the p99 is shown', () => {
  const warnings = [{ code: 'bystander-contended', message: '1.8 % were late', invalidates: false }]
  assert.match(text({ warnings }), /^other clients .* max 9\.12 ms\n +1\.8 % were late\n/m)
  assert.equal(text({ warnings }).match(/were late/g)?.length, 1)
  const few = { p50: 210, p99: 4310, max: 9120, count: 200 }
  assert.doesNotMatch(text({ warnings, bystander_us: few }), /were late/)
})

test('a run that is not valid: the first reason in the first line, the others below it', () => {
  const bad = text(badParts)
  assert.match(bad, /^NOT VALID: OOM \(90 items\): /)
  assert.match(bad, /^ {2}✗ 90 of 1,000 items failed$/m)
  assert.match(bad, /^ {2}! stopped by hand/m)
  const expected =
    '1,000 offered · 800 acknowledged · 90 failed · 10 uncertain · 60 dropped · 40 unsettled · by cause: OOM 90, CLOSED 10'
  assert.equal(entryOf(bad, 'items'), expected)
  assert.equal(bad.match(/OOM \(90 items\)/g)?.length, 1)
})

test('limits, the page and the command line that repeats the run', () => {
  const run = {
    ...resultDocument(sampleParts({ commandLine: 'node producer.js -q 1000' })),
    thresholds: [
      { threshold: 'latency.p98<1s', name: 'latency.intended.p99', value: null, passed: false },
      { threshold: 'rate.achieved>9k', name: 'rate.achieved', value: 1000, passed: false },
    ],
  }
  const shown = detailsOf(run, { report: 'results/a/report.html' })
  assert.match(
    shown,
    /^FAILED: rate\.achieved>9k, measured 1,000\nthreshold cannot be told: latency\.p98<1s, not measured$/m,
  )
  shows(shown, { report: 'results/a/report.html', 'run it again': 'node producer.js -q 1000' })
})

test('replies are counted over the whole run, and the row says so where a part is measured', () => {
  const counts = { hit: 78_545, miss: 21_455 }
  const part = ending({ counts, durationS: 20, measuredS: 10 }, { columns: 120 })
  assert.match(part, /^ {2}replies +hit 78,545 · miss 21,455 · whole run \(20 s; 10 s measured\)$/m)
  const whole = ending({ counts, durationS: 20, measuredS: 20 }, { columns: 120 })
  assert.match(whole, /^ {2}replies +hit 78,545 · miss 21,455$/m)
})

test('with -v: commands, ticks, a row a node, events', () => {
  const events = [{ at_ms: 4200, kind: 'reconnect', text: 'to \x1b[31m127.0.0.1:1' }]
  const all = text({ events }, { columns: 200, verbose: true })
  shows(all, {
    items: '1,000 offered · all acknowledged',
    commands: 'SETEX 0.712 µs x 60,000 · ZADD 333 µs x 60',
    ticks: /^60 measured, 3 late · sent p50 210 µs.* · 1,010 commands in the whole run$/,
    events: 'reconnect 1 (listed below)',
  })
  const cells = (/** @type {RegExp} */ start) =>
    String(all.split('\n').find((line) => start.test(line)))
      .trim()
      .split(/ {2,}/)
  assert.deepEqual(cells(/^127\.0\.0\.1:40001/), [
    ...['127.0.0.1:40001', '1', 'master', '51.2 %', '64.0 %', '100,123', '61.2 MB', '0'],
  ])
  assert.deepEqual(cells(/reconnect {2,}to/), ['4.2 s', 'reconnect', 'to 127.0.0.1:1'])
})

test('-v has each row once', () => {
  const shown = ending({}, { columns: 200, verbose: true })
  const [end] = shown.split('\n\n')
  assert.match(end, /^✓ VALID {2}sorted-set, .*\n {2}bottleneck .*$/)
  for (const label of ['server CPU', 'memory', 'network', 'busiest master', 'latency', 'other clients'])
    assert.equal(shown.match(new RegExp(`^ *${label} {2,}`, 'gm'))?.length, 1, label)
})

for (const columns of [40, 60, 80, 100, 140]) {
  test(`no line is wider than ${columns} columns, with and without colour, and nothing is lost`, () => {
    for (const change of [{}, badParts]) {
      for (const verbose of [false, true]) {
        const plain = ending(change, { columns, verbose })
        for (const line of plain.split('\n')) assert.ok(line.length <= columns, line)
        assert.doesNotMatch(plain, /\p{Cc}(?<!\n)/mu)
        assert.equal(stripVTControlCharacters(ending(change, { columns, verbose, color: true })), plain)
      }
      const words = (/** @type {number} */ width) =>
        text(change, { columns: width })
          .split(/\nrun {5}/)[0]
          .replace(/\s+/g, '')
      assert.equal(words(columns), words(400))
    }
  })
}

test('a hostile server or file reaches the terminal as plain text only', () => {
  const hostile = 'x\x1b]0;owned\x07\x9b2J\u202e\n'
  const parts = sampleParts({
    run: hostile,
    events: [{ at_ms: 1, kind: hostile, text: hostile }],
    items: { ...sampleParts().items, acked: 999, failed: 1, failed_by: { [hostile]: 1 } },
    versions: { millrace: '1', node: '2', servers: [hostile] },
    nodes: sampleParts().nodes.map((node) => ({ ...node, address: hostile })),
    warnings: [{ code: 'given', message: hostile }],
  })
  const run = resultDocument(parts)
  const warnings = [{ code: 'a', message: hostile, invalidates: true }]
  const readBack = { ...run, events: parts.events, nodes: parts.nodes, warnings }
  const shownBy = (/** @type {any} */ of) => runText(of, { verbose: true })
  for (const shown of [shownBy(run), JSON.stringify(run), shownBy(readBack)])
    assert.doesNotMatch(shown.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]|owned/u)
})

test('colour is there when asked for, and marks the verdict', () => {
  const coloured = (/** @type {Partial<RunParts>} */ change) => ending(change, { columns: 100, color: true })
  assert.ok(coloured({}).includes('\x1b[32m\x1b[1m✓ VALID'))
  assert.ok(coloured(badParts).includes('\x1b[31m\x1b[1m✗ NOT VALID'))
})

test('the end of a run: the verdict and its costs, a fact a line', () => {
  assert.equal(
    ending({}, { report: 'results/a/report.html' }),
    `✓ VALID  sorted-set, 1,000 items/s, 65 s, local cluster 2+2, Redis 7.0.15
  server CPU      4.81 µs per item, idle included
  memory          262 B per item
  network         402 B per item, in and out
  busiest master  51.2 % of a core, others 29.9 %
  latency         p50 8.12  p90 19.0  p99 31.9  max 61.2 ms, from the due time
  other clients   PING p50 0.210  p99 4.31  max 9.12 ms
  bottleneck      none at this rate; load generator 7.1 % busy
  ! latency is the queue of 1,000 items a burst; --rate spaces them evenly
  report          results/a/report.html  (-v: more)
`,
  )
})

test('cores that were all busy are a limit, even where neither a thread nor a server was at its own', () => {
  const limitOf = (/** @type {number} */ pct) => {
    const client = { ...sampleParts().client, machine_busy_pct: pct }
    return /^ {2}bottleneck +(.*)$/m.exec(ending({ client }, {}))?.[1]
  }
  assert.equal(limitOf(99.2), 'all cores of this machine; load generator 7.1 % busy')
  assert.equal(limitOf(97), 'none at this rate; load generator 7.1 % busy')
  // Neither the load generator nor the servers use half a core.
  const { client, nodes } = sampleParts()
  const idle = nodes.map((/** @type {any} */ node) => ({ ...node, cpu_pct: 5 }))
  const found = ending({ client: { ...client, cpu_pct: 8, machine_busy_pct: 99.2 }, nodes: idle }, {})
  assert.match(found, /bottleneck +all cores of this machine, which others use;/)
})

test('others on the replicas alone leave the cost of the masters, and what of the replicas is replication is not known', () => {
  const { server } = sampleParts()
  const others = { command: 'get', calls: 30_000, calls_per_s: 3000, cpu_share_most: 0.4 }
  const shown = (/** @type {'masters' | 'replicas'} */ on) => {
    const net = { cpu_us_per_item_net: null, masters_cpu_us_per_item_net: 3.14 }
    const parts = sampleParts({ server: { ...server, foreign_calls: { ...others, on }, ...net } })
    return runText(resultDocument(parts), { columns: 200 })
  }
  const [onReplicas, onMasters] = [
    /server CPU +3\.14 µs per item on the masters, idle excluded; others were at work: 3,000 GET\/s on the replicas/,
    /server CPU +at most 4\.81 µs per item; others were at work: 3,000 GET\/s on the masters/,
  ]
  assert.match(shown('replicas'), onReplicas)
  assert.match(shown('masters'), onMasters)
})

test('where replication is known within bounds, that is the cost, beside who else was at work', () => {
  const { server } = sampleParts()
  const figures = { cpu_us_per_item_net: 4.95, cpu_us_per_item_net_uncertainty: 1.05 }
  const foreign = { command: 'get', calls: 30_000, calls_per_s: 3000, cpu_share_most: 0.4, on: 'replicas' }
  const parts = /** @type {any} */ ({ server: { ...server, ...figures, foreign_calls: foreign } })
  const text = runText(resultDocument(sampleParts(parts)), { columns: 200 })
  assert.match(text, /^✓ VALID .*; others were at work/)
  const cost = /server CPU +4\.95 ± 1\.1 µs per item, idle excluded; others were at work: 3,000 GET\/s on the/
  assert.match(text, cost)
})

test('what of a latency is the load generator sending late is told apart, and which of both a threshold judges', () => {
  const late = sampleParts({ ticks: { count: 60, late: 3, lateness_us: { p50: 4000, p99: 4110 } } })
  assert.match(runText(resultDocument(late)), /latency +p50 8\.12 .* max 61\.2 ms, send lag p50 4 ms\n/)
  const failed = (/** @type {string} */ name, /** @type {number} */ value) =>
    runText({
      ...resultDocument(late),
      thresholds: [{ threshold: `${name}<1ms`, name, value, passed: false }],
    }).split('\n  sorted-set')[0]
  const expected = '✗ FAILED latency.intended.p50 is 8.12 ms (912 µs from when it was sent), not <1ms'
  assert.equal(failed('latency.intended.p50', 8120).replace(/\s+/g, ' '), expected)
  assert.doesNotMatch(failed('latency.service.p50', 912), /send lag/)
  assert.doesNotMatch(failed('latency.intended.p99', 31_900), /send lag/, 'little of it')
})

test('a run that failed a threshold, or is not valid, says so first, with the run below', () => {
  const limits = [
    { threshold: 'rate.achieved>9k', name: 'rate.achieved', value: 1000, passed: false },
    { threshold: 'bystander.p99 < 1ms', name: 'bystander.p99', value: 4310, passed: false },
  ]
  const failed = runText({ ...resultDocument(sampleParts()), thresholds: limits }).split('\n')
  assert.equal(failed[0], '✗ FAILED  rate.achieved is 1,000, not >9k; 1 more threshold failed')
  assert.match(failed[1], /^ {2}sorted-set, 1,000 items\/s, 65 s/)
  const untold = ['latency.p99<1us', 'latency.p999 < 1us']
  const headOf = (/** @type {string[]} */ more) => {
    const run = withThresholds(few(310), [...untold, ...more])
    return runText(run, { columns: 300 }).split('\n')[0]
  }
  assert.equal(
    headOf([]),
    '✗ CANNOT TELL  latency.p99: too few samples (p99 needs 1,000 samples, 310 independent samples taken; run for longer), wanted <1us; also latency.p999 < 1us',
  )
  assert.equal(
    headOf(['latency.p50<1us']),
    '✗ FAILED  latency.p50 is 8.12 ms, not <1us; cannot tell latency.p99<1us, latency.p999 < 1us',
  )
  const [first, ...others] = ending(badParts).split('\n')
  assert.match(first, /^✗ NOT VALID {2}OOM \(90 items\): /)
  assert.ok(others.includes('  lost            90 failed, 10 uncertain, 60 dropped, 40 unsettled'))
  assert.match(others.join('\n'), /^ {2}sorted-set, 800 of 1,000 items\/s/m)
})

test('the end of every stored run, and of bad ones, has at most twelve lines', () => {
  const runs = ['add-shard', 'queue-backlog', 'sample'].map((name) =>
    JSON.parse(readFileSync(new URL(`../../docs/data/${name}.run.json`, import.meta.url), 'utf8')),
  )
  for (const run of [...runs, resultDocument(sampleParts(badParts)), { ...runs[0], events: [] }]) {
    const lines = runText(run, { report: 'results/a/report.html' }).trimEnd().split('\n')
    assert.ok(lines.length <= 12, lines.join('\n'))
    assert.deepEqual(summaryOf(run), lines.slice(0, -1))
  }
})

test('options are not broken at their hyphens, in the question too', async () => {
  const parts = partedAtOptions('evenly (--rate), max-behind (-q, --max-behind)')
  const options = parts.filter((_, at) => at % 2 === 1)
  assert.deepEqual(
    [options, parts.join('')],
    [['--rate', '-q', '--max-behind'], 'evenly (--rate), max-behind (-q, --max-behind)'],
  )
  const record = sampleRecord()
  const sections = runSections(record.run)
  for (const answer of [sections.answer, undefined]) {
    const page = await pageOf({ ...sections, answer, question: 'evenly (--rate) <b>' }, [], '1')
    assert.match(page, /<p class="question">evenly \(<span class="option">--rate<\/span>\) &lt;b&gt;<\/p>/)
  }
})
