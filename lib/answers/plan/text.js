// A calibration and a plan as text. Pure.
import { alignedTable, blocksText, wrapped } from '../../base/layout.js'
import { bytes, count, micros, percent, rate as perSecond, plainText, several } from '../../base/units.js'
import { scoresOf } from './proof.js'

/**
 * @import { CalibratedModel, Calibration } from '../../result/plan-schemas.js'
 * @import { Column } from '../../base/layout.js'
 * @import { Candidate } from './nodes.js'
 * @import { PlanAnswer } from './answer.js'
 * @import { Score } from './proof.js'
 */

const three = (/** @type {number} */ n) => String(+n.toPrecision(3))

/** 'CPU: median error 4 %, largest 11 %, 6 of 6 inside the interval' @param {string} what @param {Score | null} score @param {boolean} [bounded] */
const scoreWords = (what, score, bounded = true) =>
  score === null
    ? `${what}: not measured`
    : `${what}: median error ${percent(score.median_pct)}, largest ${percent(score.largest_pct)}${bounded ? `, ${score.inside} of ${score.count} inside the interval` : ''}`

/** @param {ReturnType<typeof scoresOf>} scores */
export const proofWords = ({ cpu, memory, network }) =>
  `predicted against measured: ${[scoreWords('CPU', cpu), scoreWords('memory', memory), scoreWords('network', network, false)].join('; ')}`

const termNames = /** @type {Record<string, string>} */ ({
  command: 'a command',
  byte: 'a kilobyte',
  log2_items: 'a doubling of the items',
  member: 'an item in a command',
  byte_log2: 'a kilobyte for each doubling of the items',
  first_byte: 'an extra for each of the first two kilobytes',
  second: 'a second, whatever its rate,',
})
const ofKilobyte = new Set(['byte', 'byte_log2', 'first_byte'])

/** @param {string} role @param {CalibratedModel['cpu'][string]} model @param {boolean} isMix */
const cpuWords = (role, { terms, left_out: leftOut }, isMix) => {
  const words = terms.map(({ name, value, low, high }) => {
    const [one, from, to] = [value, low, high].map((n) => (ofKilobyte.has(name) ? n * 1000 : n))
    return `${termNames[name]} ${three(one)} µs (${three(from)} to ${three(to)})`
  })
  const out = leftOut.map(({ name, why }) => `${termNames[name]} (${why})`)
  return [
    `CPU of a ${role} per ${isMix ? 'operation' : 'item'}: ${words.join(' + ')}.`,
    ...(out.length > 0 ? [`Left out: ${out.join('; ')}.`] : []),
  ]
}

/** By how much the reference cells of a model differ. @param {Calibration['references']} references @param {string} strategy */
const driftWords = (references, strategy) => {
  const costs = references.filter((one) => one.strategy === strategy).map(({ cpu_us: cpu }) => cpu.master)
  if (costs.length < 2) return []
  const apart = (Math.max(...costs) / Math.min(...costs) - 1) * 100
  return [`The reference cell was measured ${several(costs.length, 'time')}: up to ${percent(apart)} apart.`]
}

/** @param {Calibration} document @param {{ columns?: number }} [layout] */
export const calibrationText = ({ server, machine, references, models, complete }, { columns = 80 } = {}) =>
  blocksText([
    wrapped(
      `Server ${plainText(server.version)} (${server.allocator}) on ${machine.where === 'local' ? plainText(machine.cpu) : 'the target'}.`,
      columns,
    ),
    ...models.map(({ strategy, mix, cells, cpu, memory, proof }) =>
      [
        `${plainText(strategy).toUpperCase()}, ${several(cells.length, 'cell')}`,
        ...Object.entries(cpu).flatMap(([role, model]) => cpuWords(role, model, Boolean(mix))),
        ...(memory === null
          ? ['Memory was computed, not measured.']
          : [
              `Memory: ${memory.terms.map(({ name, value }) => (name === 'computed' ? `${value.toFixed(3)} times what was computed` : `${three(value)} B ${name}`)).join(' + ')}.`,
            ]),
        ...driftWords(references, strategy),
        `${proofWords(scoresOf(proof))}.`,
      ].flatMap((line) => wrapped(line, columns)),
    ),
    ...(complete ? [] : [['The calibration was stopped before its end.']]),
  ])

/** `$ 368 a month`, with the currency where it is another. @param {number} amount @param {string} currency */
const moneyWords = (amount, currency) =>
  `${currency === 'USD' ? '$' : currency} ${amount < 100 ? amount.toFixed(2) : count(amount)} a month`

/** @param {PlanAnswer['models'][number]} model @param {string} currency */
const bestWords = ({ strategy, best, candidates }, currency) => {
  if (best === null || best.shards === null) {
    const [first] = candidates
    return `${plainText(strategy)} fits none of these nodes: ${first.why}`
  }
  const busy = percent(100 * Number(best.used['main thread']))
  const money = best.monthly === null ? 'no price is known' : moneyWords(best.monthly, currency)
  const shards = best.shards > 1 ? ` (${best.shards} shards)` : ''
  return `${plainText(strategy)} on ${best.nodes} x ${plainText(best.node)}${shards}, ${busy} of the busiest main thread, ${money}`
}

/** @param {Candidate['next']} next */
export const nextWords = (next) => {
  if (next === null) return ''
  if (next.months === null) return '> 10 years'
  const size = next.shards === null ? 'none' : several(next.shards, 'shard')
  return `${next.months === 0 ? 'now' : several(next.months, 'month')}: ${size}`
}

const mostRows = 8

/** @param {readonly Candidate[]} candidates */
const listed = (candidates) =>
  candidates
    .filter(({ shards }) => shards !== null)
    .toSorted((a, b) => (a.monthly ?? Number.POSITIVE_INFINITY) - (b.monthly ?? Number.POSITIVE_INFINITY))
    .slice(0, mostRows)

/** @param {PlanAnswer['asked']} asked @returns {Column<Candidate>[]} */
const columnsOf = ({ growth }) => {
  const cellOf = (/** @type {number | undefined} */ used) => (used === undefined ? '' : percent(100 * used))
  return [
    { title: 'node', left: true, whole: true, cell: ({ node }) => plainText(node) },
    { title: 'shards', cell: ({ shards }) => count(Number(shards)) },
    { title: 'nodes', cell: ({ nodes }) => count(nodes) },
    { title: 'main thread', rank: 1, cell: ({ used }) => cellOf(used['main thread']) },
    { title: 'memory', rank: 2, cell: ({ used }) => cellOf(used.memory) },
    { title: 'network', rank: 3, cell: ({ used }) => cellOf(used.network) },
    { title: 'a month', cell: ({ monthly }) => (monthly === null ? '' : monthly.toFixed(2)) },
    { title: 'binds', left: true, cell: ({ binds }) => binds },
    ...(growth > 0
      ? [{ title: 'next size', left: true, cell: (/** @type {Candidate} */ { next }) => nextWords(next) }]
      : []),
  ]
}

/** @param {PlanAnswer} answer @param {number} columns */
const tableOf = ({ models, currency, region, asked }, columns) =>
  models.flatMap(({ strategy, best, candidates, serverless }) => [
    '',
    `${plainText(strategy).toUpperCase()}, ${region}, ${currency}`,
    ...(best === null ? [] : alignedTable(columnsOf(asked), listed(candidates), columns)),
    ...serverless.flatMap(({ engine, monthly, ecpu_per_s: ecpu, gb, why, note }) =>
      wrapped(
        `serverless ${engine}: ${why ?? `${moneyWords(Number(monthly), currency)}, ${perSecond(ecpu)} ECPU/s and ${three(gb)} GB${note ? `; ${note}` : ''}`}`,
        columns,
      ),
    ),
  ])

/** @param {PlanAnswer} answer @param {number} columns */
const surenessOf = ({ asked, models, calibration, prices, warnings }, columns) => {
  const isMix = asked.value_bytes === null
  return [
    `Predicted from a calibration of ${calibration.started.slice(0, 10)} on server ${plainText(calibration.server)}, ${plainText(calibration.machine)}.`,
    ...models.flatMap(
      ({
        strategy,
        per_item: { cpu_us: cpu, memory_bytes: memory, bytes_in: into, bytes_out: out },
        proof,
        outside,
      }) => [
        `${plainText(strategy)}: an ${isMix ? 'operation' : 'item'} takes ${micros(cpu.value)} of a main thread (${micros(cpu.low)} to ${micros(cpu.high)}), ${isMix ? '' : `${bytes(memory)} of memory, `}${bytes(into)} in and ${bytes(out)} out${isMix ? `, and a key ${bytes(memory)} of memory` : ''}; ${proofWords(proof)}.`,
        ...outside.map((line) => `${plainText(strategy)}: outside the calibrated range: ${line}.`),
      ],
    ),
    ...prices.map(
      ({ what, dated, source }) => `Prices of ${what}: ${dated}, ${plainText(source)}; 730 hours a month.`,
    ),
    ...warnings.map((line) => `! ${plainText(line)}`),
  ].flatMap((line) => wrapped(line, columns))
}

/** The load that is planned for. @param {PlanAnswer['asked']} asked */
export const plannedLoadWords = ({ rate, part, value_bytes: valueBytes, items }) =>
  valueBytes === null
    ? `${perSecond(rate)} operations/s${part === null ? '' : ` (${percent(part * 100)} of what was profiled)`}, ${several(items, 'key')}`
    : `${perSecond(rate)} items/s of ${bytes(valueBytes)}, ${count(items)} of them alive`

/** @param {PlanAnswer} answer @param {{ columns?: number }} [layout] */
export const planText = (answer, { columns = 100 } = {}) => {
  const { models, currency, asked } = answer
  return blocksText([
    wrapped(`${models.map((model) => bestWords(model, currency)).join('; ')}.`, columns),
    wrapped(
      `${plannedLoadWords(asked)}; ${percent(asked.headroom * 100)} headroom, ${several(asked.replicas, 'replica')} per shard.`,
      columns,
    ),
    tableOf(answer, columns).slice(1),
    surenessOf(answer, columns),
  ])
}
