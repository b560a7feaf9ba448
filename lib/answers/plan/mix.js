// A mix in calibrations and plans. It is measured as a whole, with its keys and at several rates, so the cost of an operation
// depends on the rate alone. A command's part of it follows from the time that the server counts for each command, and
// memory from that of the keys after the fill. Pure.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { mix as hashed } from '../../base/random.js'
import { mean } from '../../base/sums.js'
import { count } from '../../base/units.js'
import { familiesOf } from '../../workloads/derive.js'
import { strategyNamed } from '../../workloads/index.js'
import { sampleFields } from '../../workloads/own/model.js'
import { memoryFeatures, predicted } from './model.js'

/**
 * @import { CalibratedModel } from './calibration.js'
 * @import { Measured, MeasuredCell } from './calibrate.js'
 * @import { Cell } from './cells.js'
 * @import { Memory } from './memory.js'
 * @import { Model, Prediction } from './model.js'
 * @import { Demand } from './nodes.js'
 *
 * @typedef {object} MixFacts what a calibration stores about the file
 * @property {string} digest of its keys and commands
 * @property {number | null} rate operations a second that were profiled
 * @property {number} connections
 * @property {number} pipeline
 * @property {readonly { pattern: string, keys: number, bytes: number, expires: boolean }[]} keys bytes: of a key, as forecast
 * @property {readonly { name: string, share: number, pattern: string, reads: boolean }[]} commands
 *
 * @typedef {Pick<CalibratedModel, 'memory' | 'cpu'> & { mix: MixFacts, cells: readonly { measured: Measured }[] }} MixModel of a calibration
 * @typedef {{ items: number, valueBytes: number, members: number, connections: number, rate: number }} MixCell items: its keys
 */

const usualConnections = 50
const referenceHz = 5000
const leastHz = 500
const fastestHz = 50_000
const busiest = 0.4
// Cells have rates from the highest down to this part of it.
const slowest = 1 / 16
// A pattern with fewer keys is on few shards.
const fewKeys = 100
const kilobyte = 1024

const sum = (/** @type {readonly number[]} */ all) => all.reduce((total, one) => total + one, 0)

/** @param {string} strategy @returns {MixFacts | null} null: it is no mix */
export const mixFactsOf = (strategy) => {
  const { mix, model, keys } = strategyNamed(strategy)
  if (!mix?.file) return null
  const { rate = null, connections = usualConnections, pipeline = 1 } = mix.file.run
  return {
    digest: String(model?.digest),
    rate,
    connections,
    pipeline,
    keys: familiesOf(keys(sampleFields())).map(({ pattern, keys: there, bytes, lifetimeS }) => ({
      pattern,
      keys: there,
      bytes: Math.round(bytes),
      expires: lifetimeS !== null,
    })),
    commands: mix.file.commands,
  }
}

/** Seconds that a cell takes, about, most of them for its keys if these are many. @param {MixFacts | null} mix */
export const cellSecondsOf = (mix) =>
  mix ? 11 + sum(mix.keys.map(({ keys, bytes }) => keys * (1 + bytes / 1000))) / 60_000 : undefined

/** Keys at a rate: expiring keys are as many as are created in their lifetime. @param {MixFacts} mix @param {number} share of the rate that was profiled */
export const keysAt = ({ keys }, share) =>
  keys.map((one) => ({ ...one, keys: one.expires ? Math.max(1, Math.round(one.keys * share)) : one.keys }))

/** The memory of its keys by forecast. @param {MixFacts['keys']} patterns @returns {Memory & { items: number }} */
const memoryOf = (patterns) => {
  const items = sum(patterns.map(({ keys }) => keys))
  const meanBytes = (/** @type {boolean} */ areFew) =>
    sum(patterns.filter(({ keys }) => keys < fewKeys === areFew).map(({ keys, bytes }) => keys * bytes)) /
    items
  return { items, spread: meanBytes(false), fixed: meanBytes(true), keys: 1, unknown: [] }
}

/** Terms of CPU of an operation: a command, and what a second takes at any rate. */
export const mixTerms = /** @type {const} */ (['command', 'second'])
/** @param {{ rate: number, measured?: Measured | null }} cell of what was reached, where it is known */
export const mixFeatures = ({ rate, measured }) => ({ command: 1, second: 1 / (measured?.rate ?? rate) })

/**
 * Cells of a mix, for a calibration.
 * @param {MixFacts} mix
 * @param {{ seed: number, cells: number, proofs: number, windowS: number, isCluster: boolean }} needs
 */
export const cellsOfMix = (mix, { seed, cells, proofs, windowS, isCluster }) => {
  const memory = memoryOf(mix.keys)
  const names = [...new Set(mix.commands.map(({ name }) => name.toLowerCase()))]
  const cellAt = (/** @type {number} */ rate) => ({
    items: memory.items,
    valueBytes: 1,
    members: 1,
    connections: mix.connections,
    rate: Math.round(rate),
  })
  const features = memoryFeatures(memory, memory.items, isCluster)
  return {
    terms: mixTerms,
    features: mixFeatures,
    reference: cellAt(referenceHz),
    // The rates follow from the cost of the reference cell.
    cells: (/** @type {Measured} */ { cpu_us: { master } }) => {
      const random = xoroshiro128plus(hashed(seed))
      const next = () => (random.next() >>> 0) / 2 ** 32
      const most = Math.min(fastestHz, Math.max(2 * leastHz, (busiest * 1e6) / master))
      const least = Math.max(leastHz, most * slowest)
      const at = (/** @type {number} */ share) => cellAt(least * (most / least) ** share)
      const designed = Array.from({ length: cells }, (_, i) => ({ order: next(), cell: at(i / (cells - 1)) }))
      return {
        designed: designed.sort((a, b) => a.order - b.order).map(({ cell }) => cell),
        held: Array.from({ length: proofs }, () => at(next())),
      }
    },
    options: (/** @type {MixCell} */ { rate, connections }) => ({
      fill: 'keys',
      rate,
      connections,
      pipeline: mix.pipeline,
      warmUp: '2s',
      duration: `${2 + windowS}s`,
      idleCost: /** @type {const} */ ('never'),
    }),
    amounts: async () => ({
      commands: 1,
      members: 0,
      bytesIn: 0,
      bytesOut: 0,
      kilobytes: 1,
      unknown: [],
      memory: features,
      computed_bytes: features.computed,
      counted: { name: names, commands: 1 },
    }),
    // An operation sends the same bytes at any rate.
    foretold: async (
      /** @type {string} */ _,
      /** @type {MixCell} */ __,
      /** @type {null} */ ___,
      /** @type {readonly MeasuredCell<Cell>[]} */ measured,
    ) => ({
      ...measured[0].amounts,
      bytesIn: mean(measured.map(({ amounts }) => amounts.bytesIn)),
      bytesOut: mean(measured.map(({ amounts }) => amounts.bytesOut)),
    }),
    words: (/** @type {MixCell} */ { rate }) => `${count(rate)} operations/s`,
    each: 'an operation',
  }
}

/** Bytes, calls and time of commands of a mix, as the servers counted them. @param {readonly { bytes_in: number, bytes_out: number, calls: Record<string, number>, usec: Record<string, number> }[]} seconds @param {readonly string[]} names @param {number} netBytes an operation @param {string} prefix that its keys have beside */
export const saidOfMix = (seconds, names, netBytes, prefix) => {
  const [into, out] = [sum(seconds.map((one) => one.bytes_in)), sum(seconds.map((one) => one.bytes_out))]
  const all = (/** @type {'calls' | 'usec'} */ what, /** @type {string} */ name) =>
    sum(seconds.map((one) => one[what][name] ?? 0))
  return {
    bytes_in: (netBytes * into) / (into + out) - prefix.length,
    bytes_out: (netBytes * out) / (into + out),
    command_us: Object.fromEntries(
      names.flatMap((name) => {
        const calls = all('calls', name)
        return calls > 0 ? [[name, all('usec', name) / calls]] : []
      }),
    ),
  }
}

/** Each command's share of the operations, and its main thread time: its own, and an equal share of the time outside commands. @param {MixModel} model */
const workOf = ({ mix, cells }) => {
  const measured = cells.map((cell) => cell.measured)
  const whole = sum(mix.commands.map(({ share }) => share))
  const own = (/** @type {string} */ name) => {
    const all = measured.flatMap(({ command_us: us }) => us?.[name.toLowerCase()] ?? [])
    // No cell sent this command, as its share is small.
    return all.length > 0 ? mean(all) : 0
  }
  const commands = mix.commands.map((one) => ({
    ...one,
    share: one.share / whole,
    us: own(one.name),
  }))
  const cpu = mean(measured.map(({ cpu_us: { master } }) => master))
  const beside = Math.max(0, cpu - sum(commands.map(({ share, us }) => share * us)))
  return commands.map((one) => ({ ...one, us: beside + one.us }))
}

/** @param {Pick<MixModel, 'cells'>} model @returns {[least: number, most: number]} */
const ratesOf = ({ cells }) => {
  const all = cells.map(({ measured }) => measured.rate)
  return [Math.ceil(Math.min(...all)), Math.floor(Math.max(...all))]
}

/** @param {Pick<MixModel, 'cells'>} model @param {number} rate */
export const outsideOfMix = (model, rate) => {
  const [least, most] = ratesOf(model)
  if (rate >= least && rate <= most) return []
  return [
    `${count(Math.round(rate))} operations/s; calibrated: ${count(least)} to ${count(most)}, beyond which an operation is taken to cost as much`,
  ]
}

/**
 * The demand of a mix at a rate.
 * @param {{ model: MixModel, isCluster?: boolean }} planned
 * @param {{ rate: number }} asked
 * @param {'value' | 'low' | 'high'} bound
 * @returns {Demand & { cpu: Prediction }}
 */
export const demandOfMix = ({ model, isCluster = false }, { rate }, bound) => {
  const { mix, cells } = model
  const [least, most] = ratesOf(model)
  const features = mixFeatures({ rate: Math.min(most, Math.max(least, rate)) })
  const patterns = keysAt(mix, mix.rate === null ? 1 : rate / mix.rate)
  const memory = memoryOf(patterns)
  const computed = memory.spread + memory.fixed
  const size =
    model.memory === null
      ? 1
      : predicted(model.memory, memoryFeatures(memory, memory.items, isCluster))[bound] / computed
  const commands = workOf(model)
  const work = (/** @type {typeof commands} */ some) => sum(some.map(({ share, us }) => share * us))
  // If a pattern has few keys, the busiest key limits the number of shards.
  const few = patterns.filter(({ keys }) => keys < fewKeys)
  const each = few.map(({ pattern, keys }) => work(commands.filter((one) => one.pattern === pattern)) / keys)
  const fewWork = sum(each.map((one, i) => one * few[i].keys))
  const fixed = fewWork / work(commands)
  const split = (/** @type {number} */ whole) => ({ spread: whole * (1 - fixed), fixed: whole * fixed })
  const usOf = (/** @type {Model} */ role) => split(predicted(role, features)[bound])
  const measured = (/** @type {'bytes_in' | 'bytes_out'} */ name) =>
    mean(cells.map((cell) => Number(cell.measured[name])))
  const [bytesIn, bytesOut] = [measured('bytes_in'), measured('bytes_out')]
  const kilobytes = Math.max(1, (bytesIn + bytesOut) / kilobyte)
  const simpleUs = Math.min(...commands.map(({ us }) => us))
  return {
    cpu: predicted(model.cpu.master, features),
    rate,
    items: memory.items,
    keys:
      fewWork > 0 ? Math.max(1, Math.floor(fewWork / Math.max(...each))) : sum(few.map(({ keys }) => keys)),
    writes: sum(commands.filter(({ reads }) => !reads).map(({ share }) => share)),
    cpuUs: usOf(model.cpu.master),
    replicaUs: model.cpu.replica ? usOf(model.cpu.replica) : null,
    memory: { spread: memory.spread * size, fixed: memory.fixed * size },
    bytesIn: split(bytesIn),
    bytesOut: split(bytesOut),
    ecpu: split(sum(commands.map(({ share, us }) => share * Math.max(kilobytes, us / simpleUs)))),
  }
}
