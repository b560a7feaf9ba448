// `millrace calibrate`: a few cells of each model are measured, in random order and with a reference cell between them; then
// a model is fitted, further cells are predicted, and only then measured.
import { median } from 'simple-statistics'
import { studentQuantile } from '../../base/distributions.js'
import { TargetError } from '../../base/errors.js'
import { series } from '../../base/series.js'
import { mean } from '../../base/sums.js'
import { several } from '../../base/units.js'
import { designedCells, heldOut, optionsOfCell, referenceCell } from './cells.js'
import { memoryOf } from './memory.js'
import { cellsOfMix, saidOfMix } from './mix.js'
import { cpuFeatures, cpuTerms, memoryFeatures, memoryTerms, modelOf, predicted, weightOf } from './model.js'
import { sumOfParts, wireOf } from './wire.js'

/**
 * @import { ProgressEvent } from '../../index.js'
 * @import { Plan } from '../../loads/plan.js'
 * @import { NodeRow } from '../../probes/node-sampler.js'
 * @import { WriteRun } from '../../result/document.js'
 * @import { Features } from './model.js'
 * @import { Cell, Ranges } from './cells.js'
 * @import { Allocator } from './memory.js'
 * @import { MixFacts } from './mix.js'
 *
 * @typedef {object} Measured
 * @property {number} rate items a second
 * @property {Record<string, number>} cpu_us an item, net of the idle cost, of the main threads of a role
 * @property {number | null} half_pct half of the interval of the masters' CPU, by its seconds
 * @property {number | null} memory_bytes an item
 * @property {number | null} net_bytes an item, without what the probes send
 * @property {number} runs
 * @property {number} [bytes_in] an operation of a mix, as the two that follow
 * @property {number} [bytes_out]
 * @property {Record<string, number>} [command_us] of a call, as servers count it
 *
 * @typedef {object} Idle what servers use without items
 * @property {Record<string, number>} cpu_pct of a core, by role
 * @property {number} net_bytes_per_s
 * @property {number} data_bytes of the masters, and their keys
 * @property {number} keys
 *
 * @typedef {{ strategy: string, after: number, cpu_us: Record<string, number> }} Reference
 * @typedef {ReturnType<typeof modelsOfCells> & Predicted} Fitted
 * @typedef {object} Predicted
 * @property {string} strategy
 * @property {string | null} variant
 * @property {MixFacts} [mix]
 * @property {readonly MeasuredCell<Cell>[]} cells
 * @property {readonly (OfCell<Cell> & { predicted: ReturnType<typeof predictionOf>, measured: Measured | null })[]} proof
 *
 * @typedef {Pick<NodeRow, 'role'> & Partial<NodeRow>} SampledRow
 * @typedef {Record<string, unknown>} RunOptions
 * @typedef {{ signal: AbortSignal, onProgress: (event: ProgressEvent) => void }} RunHooks
 *
 * @typedef {object} Bench servers for one cell
 * @property {(options: RunOptions, hooks: RunHooks) => Promise<WriteRun>} run
 * @property {() => Promise<void>} close removes what was written
 *
 * @typedef {object} Needs
 * @property {() => Promise<Bench>} open
 * @property {(strategy: string, cell: Cell, variant: string | null) => Plan} planOf a cell, without a server
 * @property {(strategy: string) => object} optionsOf it in a run: its name, or the file of an own model
 * @property {(strategy: string) => MixFacts | null} [mixOf] null: items are written
 * @property {string} [mixPrefix] in front of a mix's keys; none on servers started for it
 * @property {Allocator} allocator
 * @property {boolean} isCluster
 * @property {number} seed
 * @property {number} cells of a model
 * @property {number} proofs further cells of a model
 * @property {Ranges} within what cells are drawn from
 * @property {number} windowS seconds that are measured in each run
 * @property {number} limitS longest time in which a cell is repeated
 * @property {(line: string) => void} say
 * @property {() => void} [onCell] a cell was measured
 * @property {(models: Fitted[], idle: Idle[], references: Reference[]) => Promise<void>} save what is known so far
 * @property {AbortSignal} stop
 */

const wantedPct = 5
// Above this spread a cell is repeated once, whatever its time.
const uselessPct = 15
const leastRuns = 2
const idleMs = 1000
const leastDataBytes = 1e6
const prefix = 'millrace-calibrate:'
const referenceEvery = 5
// Skips the first second of a mix, in which a part of the fill may fall.
const filledMs = 900

/** Half of the interval of a mean, in percent of it. @param {readonly number[]} values */
const halfPct = (values) => {
  if (values.length < 2) return Number.POSITIVE_INFINITY
  const middle = mean(values)
  const spread = Math.sqrt(values.reduce((sum, x) => sum + (x - middle) ** 2, 0) / (values.length - 1))
  return (100 * studentQuantile(0.025, values.length - 1) * spread) / Math.sqrt(values.length) / middle
}

/** CPU of the main threads in a second by role, and the masters' counters of bytes and commands. @param {readonly SampledRow[]} nodes */
export const sumsOfSecond = (nodes) => {
  const second = {
    cpu_us: /** @type {Record<string, number>} */ ({}),
    us: 0,
    bytes: 0,
    calls: /** @type {Record<string, number>} */ ({}),
    usec: /** @type {Record<string, number>} */ ({}),
    bytes_in: 0,
    bytes_out: 0,
    data_bytes: 0,
    keys: 0,
    from_ms: Number.POSITIVE_INFINITY,
  }
  for (const node of nodes) {
    const { role, over_ms: overMs = Number.NaN, engine_cpu_pct: engine, cpu_pct: all } = node
    second.cpu_us[role] = (second.cpu_us[role] ?? 0) + Number(engine ?? all ?? Number.NaN) * overMs * 10
    if (role !== 'master') continue
    second.us = overMs * 1000
    second.from_ms = Math.min(second.from_ms, Number(node.at_ms) - overMs)
    second.bytes_in += Number(node.net_in_bytes)
    second.bytes_out += Number(node.net_out_bytes) - (node.info_bytes ?? 0)
    second.bytes = second.bytes_in + second.bytes_out
    second.data_bytes += Number(node.data_bytes)
    second.keys += Number(node.keys)
    for (const [name, one] of Object.entries(node.commands ?? {})) {
      second.calls[name] = (second.calls[name] ?? 0) + one.calls
      second.usec[name] = (second.usec[name] ?? 0) + one.usec
    }
  }
  return second
}

/** @param {Bench} bench @param {RunOptions} options @param {AbortSignal} stop */
const watchedRun = async (bench, options, stop) => {
  /** @type {ReturnType<typeof sumsOfSecond>[]} */
  const seconds = []
  /** @type {RunHooks['onProgress']} */
  const onProgress = (event) => {
    if (event.type === 'second' && event.phase === 'measuring' && event.nodes.length > 0)
      seconds.push(sumsOfSecond(/** @type {NodeRow[]} */ (event.nodes)))
  }
  const result = await bench.run(options, { signal: stop, onProgress })
  return { result, seconds: seconds.filter(({ cpu_us: cpu }) => cpu.master >= 0) }
}

/** @param {Needs} needs @param {string} strategy @returns {Promise<Idle>} */
export const measureIdle = async ({ open, optionsOf, mixOf, stop }, strategy) => {
  const bench = await open()
  try {
    // So few items cost nothing compared with the probes.
    const options = { quantity: 2, period: `${idleMs}ms`, duration: '3s', ttl: '30s', valueSize: '16' }
    const { seconds } = await watchedRun(
      bench,
      {
        // The reference cell for a mix: items of the default model.
        ...(mixOf?.(strategy) ? {} : optionsOf(strategy)),
        prefix,
        idleCost: 'never',
        warmUp: '0s',
        ...options,
      },
      stop,
    )
    const us = seconds.reduce((sum, second) => sum + second.us, 0)
    const roles = Object.keys(seconds[0]?.cpu_us ?? {})
    return {
      cpu_pct: Object.fromEntries(
        roles.map((role) => [
          role,
          (100 * seconds.reduce((sum, { cpu_us: cpu }) => sum + cpu[role], 0)) / us,
        ]),
      ),
      net_bytes_per_s: (seconds.reduce((sum, { bytes }) => sum + bytes, 0) * 1e6) / us,
      data_bytes: seconds[0].data_bytes,
      keys: seconds[0].keys,
    }
  } finally {
    await bench.close()
  }
}

/**
 * Costs of an item in each second, by the items that the servers counted between the same two answers.
 * @param {readonly ReturnType<typeof sumsOfSecond>[]} seconds
 * @param {{ name: string | readonly string[], commands: number } | null} counted
 * @param {number} rate where they do not count them
 * @param {Idle} idle
 */
export const calibratedCosts = (seconds, counted, rate, idle) =>
  seconds.flatMap(({ cpu_us: cpu, us, bytes, calls }) => {
    const names = [counted?.name ?? []].flat()
    const items =
      counted === null
        ? (rate * us) / 1e6
        : names.reduce((sum, name) => sum + (calls[name] ?? 0), 0) / counted.commands
    const cpuUs = Object.fromEntries(
      Object.entries(cpu).map(([role, value]) => [
        role,
        (value - ((idle.cpu_pct[role] ?? 0) * us) / 100) / items,
      ]),
    )
    return items > 0 ? [{ cpu_us: cpuUs, items, bytes: bytes - (idle.net_bytes_per_s * us) / 1e6 }] : []
  })

/** Cells of a model that writes items. @param {Needs} needs */
const cellsOfItems = (needs) => {
  const { seed, cells, proofs, within } = needs
  return {
    terms: cpuTerms,
    features: (/** @type {OfCell<Cell>} */ { amounts, items }) => cpuFeatures(amounts, items),
    reference: referenceCell,
    cells: () => ({ designed: designedCells(seed, cells, within), held: heldOut(seed, proofs, within) }),
    options: (/** @type {Cell} */ cell) => optionsOfCell(cell, needs),
    amounts: (/** @type {Plan} */ plan) => amountsOf(plan, needs),
    foretold: (
      /** @type {string} */ strategy,
      /** @type {Cell} */ cell,
      /** @type {string | null} */ variant,
    ) => amountsOf(needs.planOf(strategy, cell, variant), needs),
    words: cellWords,
    each: 'an item',
  }
}

/** @typedef {Awaited<ReturnType<typeof amountsOf>>} AmountsOfCell */
/** @template C @typedef {C & { amounts: AmountsOfCell, measured?: Measured | null }} OfCell */
/** @template C @typedef {C & { amounts: AmountsOfCell, measured: Measured }} MeasuredCell */
/**
 * How the cells of a model are drawn, measured and predicted.
 * @template {Cell} C
 * @typedef {object} Kind
 * @property {readonly string[]} terms of its CPU
 * @property {(cell: OfCell<C>) => Features} features
 * @property {C} reference
 * @property {(first: Measured) => { designed: C[], held: C[] }} cells
 * @property {(cell: C) => object} options
 * @property {(plan: Plan) => Promise<AmountsOfCell>} amounts
 * @property {(strategy: string, cell: C, variant: string | null, measured: readonly MeasuredCell<C>[]) => Promise<AmountsOfCell>} foretold
 * @property {(cell: C) => string} words
 * @property {string} each
 */

/** @param {Needs} needs @param {string} strategy @param {Cell} cell @param {Idle} idle @param {Kind<Cell>} [kind] */
export const measureCell = async (needs, strategy, cell, idle, kind = cellsOfItems(needs)) => {
  const isMix = Boolean(needs.mixOf?.(strategy))
  const { mixPrefix = '' } = needs
  const startedMs = performance.now()
  /** @type {WriteRun[]} */
  const runs = []
  /** @type {ReturnType<typeof calibratedCosts>} */
  let costs = []
  /** @type {ReturnType<typeof sumsOfSecond>[]} */
  const all = []
  /** @type {Awaited<ReturnType<typeof amountsOf>> | null} */
  let amounts = null
  const half = () => halfPct(costs.map(({ cpu_us: cpu }) => cpu.master))
  for (;;) {
    needs.stop.throwIfAborted()
    const bench = await needs.open()
    try {
      const watched = await watchedRun(
        bench,
        { ...needs.optionsOf(strategy), prefix: isMix ? mixPrefix : prefix, ...kind.options(cell) },
        needs.stop,
      )
      const { result } = watched
      // Where a server answered late, its first second includes the fill.
      const seconds = watched.seconds.filter(({ from_ms: fromMs }) => !isMix || fromMs > filledMs)
      const achieved = result.rate.achieved ?? 0
      if (achieved > 0 && result.items.failed === 0) {
        amounts ??= await kind.amounts(result.plan)
        runs.push(result)
        all.push(...seconds)
        costs = [...costs, ...calibratedCosts(seconds, amounts.counted, achieved, idle)]
      }
    } finally {
      await bench.close()
    }
    const passedS = (performance.now() - startedMs) / 1000
    const isLate = passedS * (1 + 1 / Math.max(1, runs.length)) > needs.limitS
    if (half() < wantedPct || (isLate && (half() < uselessPct || runs.length >= leastRuns))) break
  }
  if (amounts === null || costs.length === 0)
    throw new TargetError(`no item of ${strategy} was stored in a cell of ${cell.items} items`, {
      code: 'CELL',
    })
  // The tables of a server may grow by a tenth of smaller data.
  const memory = (
    isMix
      ? all.map(
          ({ data_bytes: data, keys }) => (data - idle.data_bytes) / (keys - idle.keys) - mixPrefix.length,
        )
      : runs.flatMap(({ server }) => server.memory_bytes_per_item ?? [])
  ).filter((each) => each * cell.items >= leastDataBytes)
  // Masters that feed replicas send more than replies.
  const feeds = Object.keys(costs[0].cpu_us).length > 1
  const total = (/** @type {'items' | 'bytes'} */ name) => costs.reduce((sum, one) => sum + one[name], 0)
  /** @type {Measured} */
  const measured = {
    rate: mean(runs.map((run) => Number(run.rate.achieved))),
    cpu_us: Object.fromEntries(
      Object.keys(costs[0].cpu_us).map((role) => [role, median(costs.map(({ cpu_us: cpu }) => cpu[role]))]),
    ),
    half_pct: half(),
    memory_bytes: memory.length > 0 ? mean(memory) : null,
    net_bytes: feeds ? null : total('bytes') / total('items'),
    runs: runs.length,
    ...(isMix &&
      saidOfMix(all, [amounts.counted?.name ?? []].flat(), total('bytes') / total('items'), mixPrefix)),
  }
  const sent = isMix && { bytesIn: measured.bytes_in, bytesOut: measured.bytes_out }
  return { amounts: { ...amounts, ...sent }, measured, variant: runs[0].plan.variant ?? null }
}

/** Amounts of a plan that are computed before it is measured. @param {Plan} plan @param {Pick<Needs, 'allocator' | 'isCluster'>} needs */
const amountsOf = async (plan, { allocator, isCluster }) => {
  const wire = await wireOf(plan)
  const amounts = sumOfParts(wire, (plan.quantity * 1000) / plan.periodMs)
  const memory = memoryFeatures(memoryOf(plan, allocator), plan.items, isCluster)
  return { ...amounts, memory, computed_bytes: memory.computed, unknown: wire.unknown, counted: wire.counted }
}

/** @param {readonly MeasuredCell<Cell>[]} cells @param {Kind<Cell>} kind */
const modelsOfCells = (cells, kind) => {
  const roles = [...new Set(cells.flatMap(({ measured }) => Object.keys(measured.cpu_us)))]
  const cpu = Object.fromEntries(
    roles.map((role) => {
      const those = cells.filter(({ measured }) => measured.cpu_us[role] > 0)
      const features = those.map(kind.features)
      return [
        role,
        modelOf(
          features,
          those.map(({ measured }) => measured.cpu_us[role]),
          kind.terms,
          those.map(({ measured }) => weightOf(measured.half_pct)),
        ),
      ]
    }),
  )
  const sized = cells.filter(({ measured }) => measured.memory_bytes !== null)
  const memory =
    sized.length < 3
      ? null
      : modelOf(
          sized.map(({ amounts }) => amounts.memory),
          sized.map(({ measured }) => Number(measured.memory_bytes)),
          memoryTerms,
        )
  return { cpu, memory }
}

/** @param {ReturnType<typeof modelsOfCells>} models @param {AmountsOfCell} amounts @param {Cell} cell @param {Pick<Kind<Cell>, 'features'>} [kind] */
export const predictionOf = (
  { cpu, memory },
  amounts,
  cell,
  { features } = { features: ({ items }) => cpuFeatures(amounts, items) },
) => ({
  cpu_us: Object.fromEntries(
    Object.entries(cpu).map(([role, model]) => [role, predicted(model, features({ ...cell, amounts }))]),
  ),
  memory_bytes: memory && predicted(memory, amounts.memory),
  net_bytes: amounts.bytesIn + amounts.bytesOut,
})

/** Seconds that a calibration of so many models takes, about. @param {number} models @param {number} cells @param {number} proofs @param {number} [eachS] */
export const secondsOf = (models, cells, proofs, eachS = 6.5) =>
  Math.ceil(models * ((cells + proofs) * eachS + 15) + 4)

/**
 * @typedef {{ what: 'reference' | 'cell' | 'held-out', at: number, cell: Cell }} Turn
 * @typedef {Pick<Awaited<ReturnType<typeof measureCell>>, 'amounts' | 'measured' | 'variant'>} Played
 */

/**
 * The cells of a model in their order: the reference again and again, those that the model is fitted to, and when it has predicted
 * the held-out ones, these.
 * @param {object} needs
 * @param {string} needs.strategy
 * @param {Kind<Cell>} needs.kind
 * @param {MixFacts | null} needs.mix
 * @param {(model: Fitted) => Promise<void>} needs.save
 * @returns {AsyncGenerator<Turn, void, Played>}
 */
async function* cellsInOrder({ strategy, kind, mix, save }) {
  const reference = (/** @type {number} */ at) =>
    /** @type {const} */ ({ what: 'reference', at, cell: kind.reference })
  const { measured: first, variant } = yield reference(0)
  const { designed, held } = kind.cells(first)
  /** @type {MeasuredCell<Cell>[]} */
  const cells = []
  for (const [i, cell] of designed.entries()) {
    const { amounts, measured } = yield { what: 'cell', at: i, cell }
    cells.push({ ...cell, amounts, measured })
    if ((i + 1) % referenceEvery === 0 || i === designed.length - 1) yield reference(i + 1)
  }
  const fitted = modelsOfCells(cells, kind)
  const proof = await Promise.all(
    held.map(async (cell) => {
      const amounts = await kind.foretold(strategy, cell, variant, cells)
      const predicted = predictionOf(fitted, amounts, cell, kind)
      return { ...cell, amounts, predicted, measured: /** @type {Measured | null} */ (null) }
    }),
  )
  const model = { strategy, variant, ...(mix && { mix }), cells, ...fitted, proof }
  // The predictions are on disk before any of them is measured.
  await save(model)
  for (const [i, one] of proof.entries())
    one.measured = (yield { what: 'held-out', at: i, cell: one }).measured
  await save(model)
}

/** @param {readonly string[]} strategies @param {Needs} needs */
export const calibration = async (strategies, needs) => {
  const { seed, cells: count, proofs, say, save, stop } = needs
  /** @type {Fitted[]} */
  const models = []
  /** @type {Reference[]} */
  const references = []
  /** @type {Idle[]} */
  const idles = []
  for (const [k, strategy] of strategies.entries()) {
    const idle = await measureIdle(needs, strategy)
    idles.push(idle)
    const mix = needs.mixOf?.(strategy) ?? null
    const seeded = { ...needs, seed: seed + k }
    const kind = /** @type {Kind<Cell>} */ (mix ? cellsOfMix(mix, seeded) : cellsOfItems(seeded))
    await series({
      order: cellsInOrder({
        strategy,
        kind,
        mix,
        save: (model) => {
          if (!models.includes(model)) models.push(model)
          return save(models, idles, references)
        },
      }),
      play: ({ what, cell }) =>
        measureCell(
          { ...needs, limitS: what === 'reference' ? 0 : needs.limitS },
          strategy,
          cell,
          idle,
          kind,
        ),
      store: {
        add({ what, at, cell }, { measured }) {
          if (what !== 'reference') needs.onCell?.()
          const us = measured.cpu_us.master.toFixed(2)
          if (what === 'reference') references.push({ strategy, after: at, cpu_us: measured.cpu_us })
          else if (what === 'cell')
            say(`${strategy}: cell ${at + 1} of ${count}, ${kind.words(cell)}: ${us} µs ${kind.each}`)
          else
            say(
              `${strategy}: held-out cell ${at + 1} of ${proofs}, ${kind.words(cell)}: predicted ${predictedUs(models, at)}, measured ${us} µs ${kind.each}`,
            )
        },
      },
      stop,
    })
    stop.throwIfAborted()
  }
  return { models, idle: idles, references }
}

/** What the last model predicted of a held-out cell. @param {readonly Fitted[]} models @param {number} at */
const predictedUs = (models, at) => models.at(-1)?.proof[at].predicted.cpu_us.master.value.toFixed(2)

/** @param {Cell} cell */
export const cellWords = ({ items, valueBytes, members, connections }) =>
  `${several(items, 'item')} of ${valueBytes} B, ${members} a command, ${several(connections, 'connection')}`
