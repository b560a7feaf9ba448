import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { runSections } from '../../lib/report/run-sections.js'
import { headline, textReport } from '../../lib/report/text.js'
import { runDocument } from '../../lib/result/document.js'
import { sampleParts } from '../helpers/sample-run.js'

/** @typedef {import('../../lib/result/document.js').RunParts} RunParts */

const { plan } = sampleParts()
const text = (
  /** @type {Partial<RunParts>} */ change = {},
  /** @type {Parameters<typeof textReport>[1]} */ look = { columns: 140 },
) => textReport(runDocument(sampleParts(change)), look)
const entryOf = (/** @type {string} */ report, /** @type {string} */ label) =>
  report.match(new RegExp(`^${label} +(.*(?:\n {11}.*)*)`, 'm'))?.[1].replace(/\n +/g, ' · ')

const badParts = {
  kind: /** @type {const} */ ('producer'),
  items: {
    offered: 1000,
    acked: 800,
    failed: 90,
    uncertain: 10,
    dropped: 60,
    unsettled: 40,
    failed_by: { OOM: 90, CLOSED: 10 },
  },
  rate: { nominal: 1000, achieved: 800 },
  events: Array.from({ length: 25 }, (_, at) => ({
    at_ms: at * 1000,
    kind: 'reconnect',
    text: `to \x1b[31m127.0.0.1:${at}`,
  })),
  interrupted: true,
}

test('run.json has the keys of the design in their order', () => {
  const run = runDocument(sampleParts())
  const extra = ['measured_s', 'warm_up_s', 'interrupted', 'target', 'agents', 'writers', 'clocks', 'state']
  const designed =
    'schema run kind started duration_s plan versions items commands rate latency_us bystander_us ticks client server nodes events valid warnings'
  assert.deepEqual(
    Object.keys(run).filter((key) => !extra.includes(key)),
    designed.split(' '),
  )
  assert.deepEqual(Object.keys(run.latency_us.intended), ['p50', 'p90', 'p99', 'p999', 'max'])
  assert.deepEqual(Object.keys(run.client).slice(0, 5), [
    'cpu_s',
    'cpu_pct',
    'cpu_us_per_item',
    'rss_mb_max',
    'loop_delay_ms_p99',
  ])
  assert.deepEqual(Object.keys(run.server).slice(0, 4), [
    'share',
    'cpu_us_per_item',
    'memory_bytes_per_item',
    'net_bytes_per_item',
  ])
  assert.deepEqual([run.schema, run.started, run.duration_s], [1, '2026-11-21T07:30:05.000Z', 65.0123])
  assert.deepEqual(JSON.parse(JSON.stringify(run)), run)
})

test('an agent whose account does not close makes the run invalid', () => {
  const own = { agent: 3, offered: 10, acked: 9, failed: 0, uncertain: 0, dropped: 0, unsettled: 0 }
  const { valid, warnings } = runDocument(sampleParts({ agents: [{ ...own, acked: 10 }, own] }))
  assert.equal(valid, false)
  const told = warnings.filter(({ code }) => code === 'accounting').map(({ message }) => message)
  assert.equal(told.length, 1)
  assert.match(told[0], /^agent 3 was offered 10 items, but 9 have an outcome/)
})

test('what was not measured is null in the document and a dash in the table', () => {
  const run = runDocument(
    sampleParts({
      rate: { nominal: 1000, achieved: Number.NaN },
      latency: { intended: null },
      bystander: null,
      ticks: { count: 0, late: null, lateness_us: null },
      client: {},
      server: { cpu_us_per_item: undefined },
      nodes: [],
      target: undefined,
    }),
  )
  assert.equal(run.rate.achieved, null)
  assert.deepEqual(run.latency_us.service, { p50: null, p90: null, p99: null, p999: null, max: null })
  assert.equal(run.server.cpu_us_per_item, null)
  const report = textReport(run)
  assert.match(report, /– items\/s achieved/)
  assert.match(report, /server CPU – · client CPU – · network – · memory –/)
  assert.doesNotMatch(report, /NaN|undefined|null|bystander/)
})

test('the cost of an item is told without the idle cost where that is known, else why it is not', () => {
  const { server } = sampleParts()
  const idle = { cpu_pct: 0.6, uncertainty_pct: 0.03, probes_pct: 0.02, samples: 3, by_node: { m: 0.6 } }
  const net = { cpu_us_per_item_net: 4.2, cpu_us_per_item_net_uncertainty: 0.1, idle }
  const known = runDocument(sampleParts({ server: { ...server, ...net } }))
  assert.match(textReport(known), /per item +server CPU 4\.20 µs ± 0\.100 µs \(4\.81 µs with the idle cost\)/)
  assert.match(textReport(known), /idle cost +0\.6 % ± 0\.03 % of a core before the first write/)
  const first = (/** @type {any} */ run) =>
    runSections(run).highlights.find(({ label }) => label.startsWith('server CPU'))
  assert.deepEqual(first(known), { label: 'server CPU per item, net of the idle cost', text: '4.2 µs' })

  const unknown = runDocument(sampleParts({ server: { ...server, idle: { why: 'not steady' } } }))
  assert.match(textReport(unknown), /per item +server CPU 4\.81 µs \(idle cost included\)/)
  assert.match(textReport(unknown), /idle cost +not measured: not steady/)
  assert.deepEqual(first(unknown), { label: 'server CPU per item', text: '4.81 µs' })
})

/** @type {[string, Record<string, any>, string][]} */
const plans = [
  ['all agents', {}, '1,000 items/s as 2 agents'],
  ['one agent', { totalAgents: 1, agents: [{ agent: 1 }] }, '1,000 items/s as 1 agent'],
  [
    'one of many',
    { totalAgents: 8, agents: [{ agent: 3 }], items: 125, nominalHz: 125 },
    '125 of 1,000 items/s as agent 3 of 8',
  ],
  [
    'a range',
    { totalAgents: 8, agents: [{ agent: 2 }, { agent: 3 }], items: 250, nominalHz: 250 },
    '250 of 1,000 items/s as agent 2-3 of 8',
  ],
  [
    'scattered',
    { totalAgents: 8, agents: [{ agent: 2 }, { agent: 5 }], items: 250, nominalHz: 250 },
    '250 of 1,000 items/s as agent 2, 5 of 8',
  ],
  ['another period', { periodMs: 2000, nominalHz: 500 }, '500 items/s (1,000 every 2 s) as 2 agents'],
  [
    'saturating',
    { rate: 'max', nominalHz: null },
    '1,000 items over and over, as fast as possible, as 2 agents',
  ],
  ['closed', { pacing: 'closed' }, '1,000 items, then 1 s of rest, as 2 agents'],
  ['chunks', { chunks: 10 }, '10 chunks'],
  ['stamp and once', { stamp: true, once: true }, 'value 128 B random stamped · ttl 3 s · every item once'],
  ['several sets', { sets: ['a', 'b'], placement: 'spread' }, '2 sorted sets spread over the slots'],
  ['one slot', { sets: ['a', 'b'], placement: 'same-slot' }, '2 sorted sets in one slot'],
  ['plain sets and extra', { sets: ['a', 'b'], extraSets: ['c'] }, '2 sorted sets · 1 extra sorted set'],
  ['cut', {}, 'at most 1,000 members a command'],
  ['uncut', { maxMembers: 0 }, 'commands not cut'],
  ['script', { strategy: 'script-batch', scriptMembers: 0 }, 'script-batch'],
  ['prefix', { prefix: 'test:' }, 'driver socket · prefix test:'],
]
for (const [name, change, words] of plans) {
  test(`the plan in plain words: ${name}`, () => {
    assert.ok(
      entryOf(text({ plan: { ...plan, ...change } }), 'plan')?.includes(words),
      entryOf(text({ plan: { ...plan, ...change } }), 'plan'),
    )
  })
}

test('items by outcome, rates, costs and commands', () => {
  const good = text()
  assert.equal(entryOf(good, 'items'), '1,000 offered · all acknowledged')
  assert.equal(entryOf(good, 'rate'), '1,000 items/s asked · 1,000 items/s achieved (99.998 %)')
  assert.equal(
    entryOf(good, 'target'),
    'embedded cluster · 2 masters, 2 replicas · server 7.0.15 · millrace 0.1.0, node 20.20.2',
  )
  assert.equal(
    entryOf(good, 'per item'),
    'server CPU 4.81 µs · client CPU 0.228 µs · network 402 B · memory 262 B',
  )
  assert.equal(entryOf(good, 'commands'), 'SETEX 0.712 µs x 60,000 · ZADD 333 µs x 60')
  assert.match(good, /^VALID: every item acknowledged, at the rate asked$/m)
  const bad = text(badParts)
  assert.equal(
    entryOf(bad, 'items'),
    '1,000 offered · 800 acknowledged · 90 failed · 10 uncertain · 60 dropped · 40 unsettled · by cause: OOM 90, CLOSED 10',
  )
  assert.match(bad, /^NOT VALID: /m)
  assert.match(bad, /^ {2}✗ 90 of 1,000 items failed$/m)
  assert.match(bad, /^ {2}! stopped by hand/m)
})

test('a row a node, then what the roles come to', () => {
  const lines = text().split('\n')
  const cells = (/** @type {string} */ start) => lines.find((line) => line.startsWith(start))?.split(/ {2,}/)
  assert.deepEqual(cells('127.0.0.1:40001'), [
    '127.0.0.1:40001',
    '1',
    'master',
    '51.2 %',
    '64.0 %',
    '100,123',
    '61.2 MB',
    '0',
  ])
  assert.deepEqual(cells('busiest master'), ['busiest master', '51.2 %', '64.0 %', '100,123', '61.2 MB'])
  assert.deepEqual(cells('mean of replicas'), ['mean of replicas', '23.6 %', '29.5 %', '100,123', '61.2 MB'])
})

test('long names of nodes are told apart by what they do not share', () => {
  const nodes = sampleParts().nodes.map((node, at) => ({
    ...node,
    address: `group-000${at}.x1.cache.example.com:6379`,
  }))
  const report = text({ nodes }, { columns: 80 })
  for (const at of [0, 1, 2, 3]) assert.match(report, new RegExp(`^group-000${at} `, 'm'))
  assert.match(report, /<node>\.x1\.cache\.example\.com:6379/)
})

test('events are shown up to twenty', () => {
  const report = text(badParts)
  assert.match(report, /^0\.0 s {6}reconnect: to 127\.0\.0\.1:0$/m)
  assert.match(report, /and 5 events more in events\.ndjson/)
})

for (const columns of [60, 80, 100, 140]) {
  test(`no line is wider than ${columns} columns, with and without colour`, () => {
    for (const change of [{}, badParts]) {
      const plain = text(change, { columns })
      for (const line of plain.split('\n')) assert.ok(line.length <= columns, line)
      assert.doesNotMatch(plain, /\p{Cc}(?<!\n)| $/mu)
      const coloured = stripVTControlCharacters(
        textReport(runDocument(sampleParts(change)), { columns, color: true }),
      )
      assert.equal(coloured.replace(/ +$/gm, ''), plain)
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
  const run = runDocument(parts)
  for (const shown of [textReport(run), JSON.stringify(run), headline(run)]) {
    assert.doesNotMatch(shown.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]|owned/u)
  }
  const readBack = {
    ...run,
    events: parts.events,
    nodes: parts.nodes,
    warnings: [{ code: 'a', message: hostile, invalidates: true }],
  }
  assert.doesNotMatch(textReport(readBack).replaceAll('\n', ''), /[\p{Cc}\p{Cf}]|owned/u)
})

test('colour is there when asked for, and marks the verdict', () => {
  const coloured = (/** @type {Partial<RunParts>} */ change) => text(change, { columns: 100, color: true })
  assert.ok(coloured({}).includes('\x1b[32m\x1b[1mVALID'))
  assert.ok(coloured(badParts).includes('\x1b[31m\x1b[1mNOT VALID'))
})

test('headline', () => {
  assert.equal(headline(runDocument(sampleParts())), '2026-11-21T07-30-05-sorted-set · 1,000 items/s · valid')
})
