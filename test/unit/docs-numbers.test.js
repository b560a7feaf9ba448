// Numbers that the pages state by hand, computed again from docs/data; what a program writes is checked with the pages.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { timeOf } from '../../charts/counters.js'
import { documents } from '../../scripts/readme/data.js'
import { answersPart, modelsPart } from '../../scripts/readme/models.js'
import { questionsPart } from '../../scripts/readme/questions.js'

const docs = new URL('../../docs/', import.meta.url)
const experiments = documents()
const generated = /<!-- (\S+):start -->[\s\S]*?<!-- \1:end -->/g
const namesData = /data\/[\w-]+\.(nd)?json|results\.md#/
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
/** @param {string} id @param {string} label @param {string} figure */
const median = (id, label, figure) =>
  Number(of(id).rows.find((row) => row.label === label)?.figures[figure]?.median)
const cpu = 'server.cpu_us_per_item'
const memory = 'server.memory_bytes_per_item'
const sparing = (/** @type {string} */ pair) => saved('latest-popularity', memory, pair)[0]
const bytesSaved = (/** @type {string} */ id, /** @type {string} */ pair) =>
  median(id, `sorted set, ${pair}`, memory) - median(id, `list, ${pair}`, memory)
const hundreds = (/** @type {number} */ n) => Math.round(n / 50) * 50
const p99 = (/** @type {number} */ n) =>
  Number(
    (
      median('latest-connections', `sorted set, ${n} connection${n > 1 ? 's' : ''}`, 'bystander.p99') / 1000
    ).toPrecision(1),
  )

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
const chunksMs = (/** @type {string} */ label) => median('counters', label, 'chunks.time_ms.whole')
const atOnce = ['pipeline', 'transaction', 'script', 'function'].map((way) =>
  chunksMs(`${way} of 10,000, 5 ms`),
)
const [quickestMs, slowestMs] = [Math.min(...atOnce), Math.max(...atOnce)]
const loopS = Number(timeOf(of('counters'), 'loop, 5 ms')) / 1000

/** What a page says, from the data. @type {Record<string, string[]>} */
const said = {
  'lookups.md': [
    `within ${Math.round(100 * engines.toSorted((a, b) => b - a)[1])} % of redis-1 except for one cell`,
    `another client's PING takes up to ${Math.round(longestWaitMs)} ms at p99`,
    `two shards answer ${Math.round(hz('threads-or-shards', '2 shards, pipeline 1') / hz('threads-or-shards', '1 server, 2 threads, pipeline 1'))} times as many operations`,
    `50 connections with one operation in flight reach ${thousands(lookups('50 x 1'))} GET/s, with 10 in flight ${thousands(lookups('50 x 10'))}, and 4 connections with 1,000 in flight ${thousands(lookups('4 x 1000'))}, ${Math.round(lookups('4 x 1000') / lookups('50 x 1'))} times as many`,
    `the rate is ${lower('50 x 10, each as likely')} % lower with equally likely keys than with keys in order, and ${lower('50 x 10, zipf 0.99')} % lower with zipf`,
    `for ${snapshotS('8 shards', 'load.longest').toFixed(2)} s instead of ${Math.round(snapshotS('1 server', 'load.longest'))} s. All eight, one after the other, take ${snapshotS('8 shards', 'save.total').toFixed(1)} s to save; one server takes ${snapshotS('1 server', 'save.total').toFixed(1)} s. Another client waits ${Math.min(...waitsMs)} to ${Math.max(...waitsMs)} ms at most`,
  ],
  'counters.md': [
    `the loop takes ${Math.round(loopS)} s at 5 ms and a script ${(chunksMs('script of 10,000, 5 ms') / 1000).toFixed(2)} s`,
    `within ${Math.round(100 * (slowestMs / quickestMs - 1))} % of each other at 5 ms (${Math.round(quickestMs)} to ${Math.round(slowestMs)} ms)`,
    `a pipeline is the fastest (${(chunksMs('1M, pipeline of 10,000, 5 ms') / 1000).toFixed(1)} s, a script ${(chunksMs('1M, script of 10,000, 5 ms') / 1000).toFixed(1)} s)`,
  ],
  'traffic.md': [
    `${range(saved('latest-popularity', cpu))} less by popularity, ${range(saved('latest-value-spread', cpu))} by sizes, ${range(saved('latest-connections', cpu))} by connections`,
    `${sparing('in order')} % when items are written in order, ${sparing('each as likely')} % when all are equally likely, ${sparing('zipf')} % with zipf and ${sparing('hot')} % with a hot tenth`,
    `the list saves about ${hundreds(bytesSaved('latest-popularity', 'in order'))} B of ${hundreds(median('latest-popularity', 'sorted set, in order', memory))}, or of ${hundreds(median('latest-value-spread', 'sorted set, all 455 B', memory))}`,
    `grows from ${p99(1)} ms to ${p99(32)} ms (p99) with a sorted set`,
  ],
}

for (const name of readdirSync(docs).filter((one) => one.endsWith('.md')))
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

test('ratios of CPU are net of the idle cost where the data have it, and else called gross', () => {
  const models = of('models')
  const shownWith = (/** @type {string} */ figure) =>
    answersPart(
      new Map([
        [
          'models',
          {
            ...models,
            ratios: models.ratios.map((ratio) =>
              ratio.figure === `${cpu}_net`
                ? { ...ratio, figure, ours: { ratio: 0.5, low: 0.4, high: 0.6 } }
                : ratio,
            ),
          },
        ],
      ]),
    )
  assert.match(shownWith(cpu), /\*\*List\*\*: 50 % less gross server CPU \(40 to 60 %\)/)
  assert.match(shownWith(cpu), /Gross CPU has the idle cost of the servers in it/)
  const net = shownWith(`${cpu}_net`)
  assert.match(net, /\*\*List\*\*: 50 % less server CPU \(40 to 60 %\)/)
  assert.doesNotMatch(net, /gross/i)
  assert.match(modelsPart(models), /server CPU is net of the idle cost/)
})

test('what comes from runs that are not valid has a mark', () => {
  assert.match(questionsPart(experiments), /in 156 ms † \|/)
  const resilience = of('resilience')
  const rows = resilience.rows.map((row) => ({ ...row, marks: [] }))
  const shown = questionsPart(new Map([['resilience', { ...resilience, rows }]]))
  assert.match(shown, /in 156 ms \|/)
  assert.doesNotMatch(shown, /†/)
})
