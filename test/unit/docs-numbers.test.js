// Numbers that the pages state by hand, computed again from docs/data; what a program writes is checked with the pages.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { timeOf } from '../../scripts/pictures/counters.js'
import { documents } from '../../scripts/readme/data.js'
import { answersPart, modelsPart } from '../../scripts/readme/models.js'
import { questionsPart } from '../../scripts/readme/questions.js'

const docs = new URL('../../docs/', import.meta.url)
const experiments = documents()
const generated = /<!-- (\S+):start -->[\s\S]*?<!-- \1:end -->/g
const namesData = /data\/[\w-]+\.(nd)?json|results\/[\w-]+\.md/
const isNumber = /\d (%|µs|ms|B)(?!\w)/

const of = (/** @type {string} */ id) => {
  const found = experiments.get(id)
  if (!found) throw new Error(`docs/data/${id}.ndjson is missing`)
  return found
}
/** Percent that a list saves, of each pair. @param {string} id @param {string} figure @param {string} [pair] */
const saved = (id, figure, pair = '') =>
  of(id)
    .ratios.filter((ratio) => ratio.figure === figure && ratio.label.includes(pair))
    .map(({ ours }) => Math.round((1 - ours.ratio) * 100))
const range = (/** @type {number[]} */ all) => `${Math.min(...all)} to ${Math.max(...all)} %`
const median = (/** @type {string} */ id, /** @type {string} */ label, /** @type {string} */ figure) =>
  Number(of(id).rows.find((row) => row.label === label)?.figures[figure]?.median)
const cpu = 'server.cpu_us_per_item'
const memory = 'server.memory_bytes_per_item'
const sparing = (/** @type {string} */ pair) => saved('latest-popularity', memory, pair)[0]
const bytesSaved = (/** @type {string} */ id, /** @type {string} */ pair) =>
  median(id, `sorted set, ${pair}`, memory) - median(id, `list, ${pair}`, memory)
const hundreds = (/** @type {number} */ n) => Math.round(n / 50) * 50
const p99 = (/** @type {number} */ n) => {
  const us = median('latest-connections', `sorted set, ${n} connection${n > 1 ? 's' : ''}`, 'bystander.p99')
  return Number((us / 1000).toPrecision(1))
}

const cells = readFileSync(new URL('data/cache-cells.ndjson', docs), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
/** Percent, rounded to tens. @param {string} field @param {number} to @param {(...all: number[]) => number} [end] */
const cellsOf = (field, to, end = Math.min) =>
  to * Math.round((100 * end(...cells.map((cell) => cell[field]))) / to)
/** How far the curve is from what was measured. @param {string} title @param {(policy: string) => boolean} holds */
const cellsRow = (title, holds) => {
  const apart = cells
    .filter(({ policy }) => holds(policy))
    .map((cell) => Math.abs(cell.predicted_pct - cell.measured_pct))
    .sort((a, b) => a - b)
  const n = apart.length
  const shown = [(apart[(n - 1) >> 1] + apart[n >> 1]) / 2, apart[Math.ceil(0.95 * n) - 1], apart[n - 1]]
  return `| ${title} (${n}) | ${shown.map((points) => points.toFixed(2)).join(' | ')} |`
}

const hz = (/** @type {string} */ id, /** @type {string} */ label) => median(id, label, 'rate.achieved')
const lookups = (/** @type {string} */ label) => hz('lookups', label)
const thousands = (/** @type {number} */ n) => (1000 * Math.round(n / 1000)).toLocaleString('en')
const lower = (/** @type {string} */ label) => Math.round(100 * (1 - lookups(label) / lookups('50 x 10')))
const engines = ['1', '10'].flatMap((depth) =>
  ['Redis 6.2', 'Redis 8.2', 'Valkey 8.0', 'Valkey 9.1'].map((name) =>
    Math.abs(hz('engines', `${name}, pipeline ${depth}`) / hz('engines', `redis-1, pipeline ${depth}`) - 1),
  ),
)
const longestWaitMs = Math.max(
  ...['redis-2', 'redis-4', 'Valkey 8.0, 2 threads', 'Valkey 9.1, 2 threads'].flatMap((name) =>
    ['1', '10'].map((depth) => median('engines', `${name}, pipeline ${depth}`, 'bystander.p99') / 1000),
  ),
)
const snapshotS = (/** @type {string} */ label, /** @type {string} */ figure) =>
  median('resilience', label, `snapshot.${figure}_ms`) / 1000
const waitsMs = ['1 server', '2 shards', '4 shards', '8 shards'].map((label) =>
  Math.round(median('resilience', label, 'snapshot.save.bystander_max') / 1000),
)
const bundlesMs = (/** @type {string} */ label) => median('counters', label, 'bundles.time_ms.whole')
const atOnce = ['pipeline', 'transaction', 'script', 'function'].map((way) =>
  bundlesMs(`${way} of 10,000, 5 ms`),
)
const [quickestMs, slowestMs] = [Math.min(...atOnce), Math.max(...atOnce)]
const loopS = Number(timeOf(of('counters'), 'loop, 5 ms')) / 1000

/** @param {string} figure @param {string} id */
const figuresOf =
  (figure, id = 'membership') =>
  (/** @type {string} */ label) =>
    median(id, label, figure)
const known = figuresOf('passes.memory_bytes_per_item')
const beside = (/** @type {string} */ label) => Math.round(known(label) - 32)
const bits = (/** @type {string} */ label) => known(label).toFixed(1)
const hit = figuresOf('passes.hits.server_cpu_us')
const miss = figuresOf('passes.misses.server_cpu_us')
/** Of a flat key. @param {string} label @param {(label: string) => number} of @param {string} [flat] */
const times = (label, of, flat = 'flat') => (of(label) / of(flat)).toFixed(1)
const less = (/** @type {string} */ label) => Math.round(100 * (1 - known(label) / known('flat')))
const versions = ['Redis 6.2', 'Redis 7.0', 'Redis 8.2', 'Valkey 8.0', 'Valkey 9.1']
const inVersion = figuresOf('passes.memory_bytes_per_item', 'membership-versions')
const aVersion = (/** @type {string} */ name, /** @type {string} */ version) =>
  inVersion(`${name} (${version})`)
const rowOf = (/** @type {[string, string]} */ [words, name]) =>
  `| ${words} | ${versions.map((version) => aVersion(name, version).toFixed(1)).join(' | ')} |`
const inVersions = /** @type {[string, string][]} */ ([
  ['flat keys', 'flat'],
  ['one hash', 'one hash'],
  ['hashes of 98', 'hashs of 98'],
  ['one set', 'one set'],
  ['sets of 98', 'sets of 98'],
  ['one sorted set', 'one zset'],
  ['sorted sets of 98', 'zsets of 98'],
])

const large = (/** @type {string} */ label, figure = 'memory_bytes_per_item') =>
  median('membership-large', `${label} (Redis 8.2)`, `passes.${figure}`)
const largeTimes = (/** @type {string} */ figure) =>
  (large('hash 2^17', figure) / large('flat', figure)).toFixed(1)
const oneInAMillion = 'Bloom filter, 1 in a million'
const limited = (/** @type {string} */ label) =>
  Math.round(median('membership-thresholds', label, 'passes.memory_bytes_per_item'))
const restored = (/** @type {string} */ label, /** @type {string} */ step) =>
  median('membership-restore', label, `snapshot.${step}.total_ms`)

const jobs = (/** @type {string} */ label, unit = ' / sleep 2 ms') => hz('queues', label + unit)
const ofOne = [1, 10].map((take) =>
  Math.round(jobs(`32 workers, take ${take}`) / jobs(`1 worker, take ${take}`)),
)
const more = (/** @type {string} */ workers) =>
  Math.round(100 * (jobs(`${workers}, take 10`) / jobs(`${workers}, take 1`) - 1))
const staged = (/** @type {string} */ upper, /** @type {string} */ lower) =>
  of('queues-stages').ratios.find(
    ({ figure, label }) =>
      figure === 'rate.achieved' && label === `${upper} / cpu 500 us / ${lower} / cpu 500 us`,
  )?.ours ?? { ratio: Number.NaN, low: Number.NaN, high: Number.NaN }
const stagedHz = (/** @type {string} */ label) => hz('queues-stages', `${label} / cpu 500 us`)
const secondFilter = staged('2 filters, 1 output', '1 filter, 1 output')
const peers = JSON.parse(readFileSync(new URL('data/queue-peers.json', docs), 'utf8')).rows
const peer = (/** @type {string} */ name) => peers.find((/** @type {any} */ row) => row.name.startsWith(name))

/** What a page says, from the data. @type {Record<string, string[]>} */
const said = {
  'studies/lookups.md': [
    `within ${Math.round(100 * engines.toSorted((a, b) => b - a)[1])} % of redis-1 except for one cell`,
    `another client's PING takes up to ${Math.round(longestWaitMs)} ms at p99`,
    `two shards answer ${Math.round(hz('threads-or-shards', '2 shards, pipeline 1') / hz('threads-or-shards', '1 server, 2 threads, pipeline 1'))} times as many operations`,
    `50 connections with one operation in flight reach ${thousands(lookups('50 x 1'))} GET/s, with 10 in flight ${thousands(lookups('50 x 10'))}, and 4 connections with 1,000 in flight ${thousands(lookups('4 x 1000'))}, ${Math.round(lookups('4 x 1000') / lookups('50 x 1'))} times as many`,
    `the rate is ${lower('50 x 10, each as likely')} % lower with equally likely keys than with keys in order, and ${lower('50 x 10, zipf 0.99')} % lower with zipf`,
    `for ${snapshotS('8 shards', 'load.longest').toFixed(2)} s instead of ${Math.round(snapshotS('1 server', 'load.longest'))} s. All eight, one after the other, take ${snapshotS('8 shards', 'save.total').toFixed(1)} s to save; one server takes ${snapshotS('1 server', 'save.total').toFixed(1)} s. Another client waits ${Math.min(...waitsMs)} to ${Math.max(...waitsMs)} ms at most`,
  ],
  'studies/counters.md': [
    `the loop takes ${Math.round(loopS)} s at 5 ms and a script ${(bundlesMs('script of 10,000, 5 ms') / 1000).toFixed(2)} s`,
    `within ${Math.round(100 * (slowestMs / quickestMs - 1))} % of each other at 5 ms (${Math.round(quickestMs)} to ${Math.round(slowestMs)} ms)`,
    `a pipeline is the fastest (${(bundlesMs('1M, pipeline of 10,000, 5 ms') / 1000).toFixed(1)} s, a script ${(bundlesMs('1M, script of 10,000, 5 ms') / 1000).toFixed(1)} s)`,
  ],
  'studies/membership.md': [
    `A hash takes ${beside('hash 2^0')} bytes in addition to the id and a set ${beside('set 2^0')} (published: 70 each), a sorted set ${beside('zset 2^0')} (`,
    `**Flat keys** take ${beside('flat')} bytes in addition to the id`,
    `those take ${less('hash 2^0')} to ${less('set 2^0')} % less`,
    `Hashes of 244 ids take ${bits('hash 2^12')} bytes per id, ${beside('hash 2^12')} more than the id itself`,
    `a hit takes ${times('hash 2^12', hit)} times and a miss ${times('hash 2^12', miss)} times the CPU of a flat key, since the list is searched from its front; with 61 it is ${times('hash 2^14', hit)} and ${times('hash 2^14', miss)} times`,
    `A miss in one large sorted set takes ${times('zset 2^0', miss)} times the CPU of a flat key`,
    `an id alone in a hash takes ${Math.round(known('hash 2^24'))} bytes, in a set ${Math.round(known('set 2^24'))} (`,
    `Binary ids take ${bits('hash 2^14, binary')} bytes in hashes of 61. Integers of 48 bits in sets of 61 take ${bits('set 2^14, integer')}.`,
    `By SETBIT they take ${bits('Bloom filter, 1 %')} and ${bits(oneInAMillion)} bytes per id`,
    `by module ${bits('Bloom filter by module, 1 %')} and ${bits('Bloom filter by module, 1 in a million')} bytes`,
    `${hit('Bloom filter by module, 1 %').toFixed(1)} µs of server CPU for a hit where the script needs ${hit('Bloom filter, 1 %').toFixed(1)} (7 hashes), and ${hit('Bloom filter by module, 1 in a million').toFixed(1)} where it needs ${Math.round(hit(oneInAMillion))} (20 hashes)`,
    `${bits('Bloom filter by module, 1 in a million')} bytes are ${less('Bloom filter by module, 1 in a million')} % less than a flat key`,
    ...inVersions.map(rowOf),
    `${aVersion('sets of 98', 'Redis 8.2').toFixed(1)} bytes per id, the least of all structures of text`,
    `**One large set** takes ${aVersion('one set', 'Redis 8.2').toFixed(1)} bytes on Redis 8.2, ${Math.round(100 * (1 - aVersion('one set', 'Redis 8.2') / aVersion('one set', 'Redis 7.0')))} % less than on 7.0`,
    `one set takes ${Math.round(100 * (1 - aVersion('one set', 'Redis 8.2') / aVersion('flat', 'Redis 8.2')))} % less than flat keys`,
    `**One sorted set** takes ${Math.round(aVersion('one zset', 'Redis 7.0'))} bytes on Redis 7.0 and Valkey 8.0, ${Math.round(aVersion('one zset', 'Redis 8.2'))} on Redis 8.2 and ${Math.round(aVersion('one zset', 'Valkey 9.1'))} on Valkey 9.1`,
    `hashes fall from ${limited('hash, limit 512, 1,024 ids each')} to ${limited('hash, limit 2,048, 1,024 ids each')} bytes per id and sorted sets from ${limited('zset, limit 512, 1,024 ids each')} to ${limited('zset, limit 2,048, 1,024 ids each')}`,
    `hashes of 76 ids take ${(large('hash 2^17') - 32).toFixed(1)} bytes per id in addition to the id, sets ${(large('set 2^17') - 32).toFixed(1)}`,
    `Flat keys take ${Math.round(large('flat'))} bytes`,
    `A hit in a hash of 76 costs ${largeTimes('hits.server_cpu_us')} times and a miss ${largeTimes('misses.server_cpu_us')} times the CPU of a flat key`,
    `A Bloom filter of one in a million takes ${large(oneInAMillion).toFixed(1)} bytes, since SETBIT doubles its string, and had ${Math.round(1e7 * large(oneInAMillion, 'false_positives'))} false positives among 10 million ids`,
    `2^20 sets take ${(restored('set 2^20', 'load') / restored('flat', 'load')).toFixed(1)} times as long to load as flat keys`,
  ],
  'validation/caches.md': [
    `8,000 to 32,000 keys and memory for ${cellsOf('part', 10)} to ${cellsOf('part', 10, Math.max)} % of them`,
    cellsRow('LFU', (policy) => policy.endsWith('lfu')),
    cellsRow('other policies', (policy) => !policy.endsWith('lfu')),
    cellsRow('all', () => true),
  ],
  'studies/queue-workers.md': [
    `32 of them do ${Math.min(...ofOne)} to ${Math.max(...ofOne)} times the work of one`,
    `which is ${more('1 worker')} % more for one worker and ${more('32 workers')} % for 32`,
    `a second filter on the same core brings nothing (${secondFilter.ratio.toFixed(2)}, ${Number(secondFilter.low).toFixed(2)} to ${Number(secondFilter.high).toFixed(2)})`,
    `a second output doubles the rate (${staged('1 filter, 2 outputs', '1 filter, 1 output').ratio.toFixed(2)} with one filter, ${staged('2 filters, 2 outputs', '2 filters, 1 output').ratio.toFixed(2)} with two)`,
    `An output that waits 1 ms does about ${hundreds(stagedHz('1 filter, 1 output'))} jobs a second, asking and confirming included, and a core about ${hundreds(stagedHz('8 filters, 4 outputs')).toLocaleString('en')} of 500 µs`,
  ],
  'studies/queues.md': [
    `BullMQ's ${Math.round(peer('BullMQ').done_commands)} commands a job cost it ${(peer('BullMQ').done_cpu_us / peer('queue-stream').done_cpu_us).toFixed(1)} times what \`queue-stream\` costs`,
  ],
  'studies/traffic.md': [
    `${range(saved('latest-popularity', cpu))} less by popularity, ${range(saved('latest-value-spread', cpu))} by sizes, ${range(saved('latest-connections', cpu))} by connections`,
    `${sparing('in order')} % when items are written in order, ${sparing('each as likely')} % when all are equally likely, ${sparing('zipf')} % with zipf and ${sparing('hot')} % with a hot tenth`,
    `the list saves about ${hundreds(bytesSaved('latest-popularity', 'in order'))} B of ${hundreds(median('latest-popularity', 'sorted set, in order', memory))}, or of ${hundreds(median('latest-value-spread', 'sorted set, all 455 B', memory))}`,
    `grows from ${p99(1)} ms to ${p99(32)} ms (p99) with a sorted set`,
  ],
}

for (const name of readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((one) =>
  one.endsWith('.md'),
))
  test(`numbers by hand in docs/${name}`, () => {
    const text = readFileSync(new URL(name, docs), 'utf8')
    const claims = said[name] ?? []
    const plain = text.replace(/\s+/g, ' ')
    for (const claim of claims) assert.ok(plain.includes(claim), `the data say: ${claim}`)
    for (const part of text.replace(generated, '').split(/\n\s*\n/)) {
      if (!namesData.test(part) || !isNumber.test(part)) continue
      const words = part.replace(/\s+/g, ' ')
      const rest = claims.reduce((left, claim) => left.replace(claim, ''), words)
      assert.doesNotMatch(rest, isNumber, 'it names data, and no test computes these numbers')
    }
  })

test('ratios of CPU are without the idle cost where the data have it, and else say so', () => {
  const models = of('models')
  const ours = { ratio: 0.5, low: 0.4, high: 0.6 }
  const shownWith = (/** @type {string} */ figure) => {
    const ratios = models.ratios.map((one) => (one.figure === `${cpu}_net` ? { ...one, figure, ours } : one))
    return answersPart(new Map([['models', { ...models, ratios }]]))
  }
  assert.match(shownWith(cpu), /\*\*List\*\*: 50 % less server CPU \(idle included\) \(40 to 60 %\)/)
  assert.match(shownWith(cpu), /The idle cost of the servers is in their CPU/)
  const net = shownWith(`${cpu}_net`)
  assert.match(net, /\*\*List\*\*: 50 % less server CPU \(40 to 60 %\)/)
  assert.doesNotMatch(net, /idle included|is in their CPU/)
  assert.match(modelsPart(models), /without the idle cost of the servers/)
})

test('what comes from runs that are not valid has a mark', () => {
  assert.match(questionsPart(experiments), /in 156 ms † \|/)
  const resilience = of('resilience')
  const rows = resilience.rows.map((row) => ({ ...row, marks: [] }))
  const shown = questionsPart(new Map([['resilience', { ...resilience, rows }]]))
  assert.match(shown, /in 156 ms \|/)
  assert.doesNotMatch(shown, /†/)
})
