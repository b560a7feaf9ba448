// The answer of `millrace plan`: its shape, its sentence, and its report.
import { planCost, planProof } from '../../../charts/plan.js'
import * as S from '../../base/shape.js'
import { bytes, count, micros, percent, rate as perSecond, several } from '../../base/units.js'
import { answer, answerSchema, figure, only, table, words } from '../../report/kit.js'
import { proofWords } from './proof.js'

/**
 * @import { Shaped } from '../../base/shape-types.js'
 * @import { Column } from '../../report/kit.js'
 */

const interval = S.object(S.each(['value', 'low', 'high'], S.number))
const score = S.orNull(
  S.object(S.each(['median_pct', 'p90_pct', 'largest_pct', 'inside', 'count'], S.number)),
)

const candidate = S.object({
  node: S.text,
  shards: S.figure,
  nodes: S.number,
  binds: S.text,
  used: S.byName(S.number),
  monthly: S.figure,
  next: S.orNull(S.object(S.each(['months', 'shards'], S.figure))),
  why: S.note,
})

const schema = answerSchema('plan', {
  asked: S.object({
    rate: S.said('items a second, or operations of a mix', S.number),
    part: S.said('of the rate that was profiled, of a mix', S.figure),
    value_bytes: S.figure,
    ttl_s: S.figure,
    items: S.number,
    headroom: S.number,
    replicas: S.number,
    growth: S.number,
    survive: S.text,
  }),
  region: S.text,
  currency: S.text,
  prices: S.list(S.object({ what: S.text, dated: S.text, source: S.text })),
  calibration: S.object({ started: S.text, server: S.text, machine: S.text }),
  models: S.list(
    S.object({
      strategy: S.text,
      per_item: S.object({
        cpu_us: interval,
        memory_bytes: S.number,
        bytes_in: S.number,
        bytes_out: S.number,
      }),
      outside: S.list(S.text),
      candidates: S.list(candidate),
      serverless: S.list(
        S.object({
          engine: S.text,
          ecpu_per_s: S.number,
          slot_ecpu_per_s: S.number,
          gb: S.number,
          monthly: S.figure,
          why: S.note,
          note: S.note,
        }),
      ),
      best: S.orNull(candidate),
      proof: S.object({
        cpu: score,
        memory: score,
        network: score,
        points: S.said('held-out cells', S.list(S.object(S.each(['predicted_us', 'measured_us'], S.number)))),
      }),
      curve: S.list(
        S.object({ rate: S.number, low: S.figure, monthly: S.figure, high: S.figure, shards: S.figure }),
      ),
    }),
  ),
  warnings: S.list(S.text),
})

/** @typedef {Shaped<typeof schema>} PlanAnswer */
/** @typedef {PlanAnswer['models'][number]} PlannedModel */
/** @typedef {PlannedModel['candidates'][number]} Candidate */

const three = (/** @type {number} */ n) => String(+n.toPrecision(3))

/** `$ 368 a month`, with the currency where it is another. @param {number} amount @param {string} currency */
const moneyWords = (amount, currency) =>
  `${currency === 'USD' ? '$' : currency} ${amount < 100 ? amount.toFixed(2) : count(amount)} a month`

/** @param {PlannedModel} model @param {string} currency */
const bestWords = ({ strategy, best, candidates }, currency) => {
  if (best === null || best.shards === null)
    return `${strategy} fits none of these nodes: ${candidates[0].why}`
  const busy = percent(100 * Number(best.used['main thread']))
  const money = best.monthly === null ? 'no price is known' : moneyWords(best.monthly, currency)
  const shards = best.shards > 1 ? ` (${best.shards} shards)` : ''
  return `${strategy} on ${best.nodes} x ${best.node}${shards}, ${busy} of the busiest main thread, ${money}`
}

/** @param {Candidate['next']} next */
const nextWords = (next) => {
  if (next === null) return ''
  if (next.months === null) return '> 10 years'
  const size = next.shards === null ? 'none' : several(next.shards, 'shard')
  return `${next.months === 0 ? 'now' : several(next.months, 'month')}: ${size}`
}

const mostRows = 8
const last = Number.POSITIVE_INFINITY

/** The cheapest that are possible. @param {readonly Candidate[]} candidates */
const cheapest = (candidates) =>
  candidates
    .filter(({ shards }) => shards !== null)
    .toSorted((a, b) => (a.monthly ?? last) - (b.monthly ?? last))
    .slice(0, mostRows)

/** A part of a limit. @param {string} limit @param {number} rank @returns {Column<Candidate>} */
const partOf = (limit, rank) =>
  figure(
    limit,
    ({ used }) => used[limit],
    (part) => (part === undefined ? '' : percent(100 * part)),
    { rank },
  )

/** @type {Column<Candidate>} */
const nextSize = words('next size', ({ next }) => nextWords(next), { sort: ({ next }) => next?.months })

/** @param {PlanAnswer} answer @param {PlannedModel} model */
const nodesTable = ({ asked, currency }, { strategy, candidates, serverless, proof, best }) =>
  table(
    strategy,
    candidates,
    [
      words('node', ({ node }) => node),
      figure(
        'shards',
        ({ shards }) => shards,
        (shards) => (shards === null ? 'none' : count(shards)),
      ),
      figure('nodes', ({ nodes }) => nodes, count),
      partOf('main thread', 1),
      partOf('memory', 2),
      partOf('network', 3),
      figure(
        `${currency} a month`,
        ({ monthly }) => monthly,
        (money) => (money === null ? '' : money.toFixed(2)),
      ),
      words('binds', ({ binds }) => binds),
      ...(asked.growth > 0 ? [nextSize] : []),
    ],
    {
      short: cheapest(candidates),
      notes: [best === null && `No node: ${candidates[0].why}.`, `${proofWords(proof)}.`],
      foot: serverless.map(
        ({ engine, monthly, ecpu_per_s: ecpu, gb, why, note }) =>
          `serverless ${engine}: ${why ?? `${moneyWords(Number(monthly), currency)}, ${perSecond(ecpu)} ECPU/s and ${three(gb)} GB${note ? `; ${note}` : ''}`}`,
      ),
    },
  )

/** The load that is planned for. @param {PlanAnswer['asked']} asked */
const loadWords = ({ rate, part, value_bytes: valueBytes, items }) =>
  valueBytes === null
    ? `${perSecond(rate)} operations/s${part === null ? '' : ` (${percent(part * 100)} of what was profiled)`}, ${several(items, 'key')}`
    : `${perSecond(rate)} items/s of ${bytes(valueBytes)}, ${count(items)} of them alive`

/** @param {PlanAnswer} answer */
const askedWords = ({ asked, region, currency }) =>
  `${loadWords(asked)}; ${percent(asked.headroom * 100)} headroom, ${several(asked.replicas, 'replica')} per shard; ${region}, ${currency}.`

/** What an item costs. @param {PlannedModel} model @param {boolean} isMix */
const costWords = (
  { per_item: { cpu_us: cpu, memory_bytes: memory, bytes_in: into, bytes_out: out } },
  isMix,
) =>
  `an ${isMix ? 'operation' : 'item'} takes ${micros(cpu.value)} of a main thread (${micros(cpu.low)} to ${micros(cpu.high)}), ${isMix ? '' : `${bytes(memory)} of memory, `}${bytes(into)} in and ${bytes(out)} out${isMix ? `, and a key ${bytes(memory)} of memory` : ''}`

/** @param {PlanAnswer} answer */
const cheapestWords = ({ models: [{ best, strategy }], currency }) =>
  best === null
    ? 'no candidate keeps all limits.'
    : `${strategy} is the cheapest${best.monthly === null ? '' : `, ${currency} ${best.monthly.toFixed(2)} a month`}.`

export const plan = answer({
  kind: 'plan',
  schema,
  charts: [
    { ...planCost, wide: true },
    { ...planProof, wide: true },
  ],
  verdict: (/** @type {PlanAnswer} */ one) => {
    const { models, currency, asked } = one
    const [{ best }] = models
    return {
      title: `Plan for ${perSecond(asked.rate)} ${asked.value_bytes === null ? 'operations' : 'items'}/s`,
      question: askedWords(one),
      good: best !== null,
      neutral: true,
      word: best === null ? 'None of these nodes' : `${best.nodes} x ${best.node}`,
      sentence: `${models.map((model) => bestWords(model, currency)).join('; ')}.`,
      short: cheapestWords(one),
    }
  },
  highlights: ({ models, asked }) =>
    Object.fromEntries(
      models.map(({ strategy, per_item: { cpu_us: cpu } }) => [
        strategy,
        `${micros(cpu.value)} an ${asked.value_bytes === null ? 'operation' : 'item'}`,
      ]),
    ),
  rows: (one) => ({
    asked: only('text', askedWords(one)),
    cost: one.models.map((model) => `${model.strategy}: ${costWords(model, one.asked.value_bytes === null)}`),
    calibration: `of ${one.calibration.started.slice(0, 10)} on server ${one.calibration.server}, ${one.calibration.machine}`,
    prices: one.prices.map(({ what, dated, source }) => `${what}: ${dated}, ${source}; 730 hours a month`),
  }),
  tables: (one) => one.models.map((model) => nodesTable(one, model)),
  warnings: ({ models, warnings }) => [
    ...models.flatMap(({ strategy, outside }) =>
      outside.map((line) => ({ text: `${strategy}: outside the calibrated range: ${line}`, first: true })),
    ),
    ...warnings,
  ],
})
