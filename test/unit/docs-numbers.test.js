// Numbers that the pages state by hand, computed again from docs/data; what a program writes is checked with the pages.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
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

/** What a page says, from the data. @type {Record<string, string[]>} */
const said = {
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
      assert.ok(
        claims.some((claim) => words.includes(claim)),
        `it names data, and no test computes its numbers: ${words.slice(0, 200)}`,
      )
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
