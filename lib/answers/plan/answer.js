// The answer of `millrace plan`: what each model costs at the rate by a calibration, on which nodes, and for how much
// money. Pure except for the encoder.

import { OptionError } from '../../base/errors.js'
import { oldPrices } from '../../base/prices.js'
import { count } from '../../base/units.js'
import { memoryOf } from './memory.js'
import { demandOfMix, outsideOfMix } from './mix.js'
import { cpuFeatures, memoryFeatures, predicted } from './model.js'
import { candidateOf, cheapest, serverlessOf } from './nodes.js'
import { scoresOf } from './proof.js'
import { partsAt, sumOfParts, wireOf } from './wire.js'

/**
 * @import { CalibratedModel, Calibration } from './calibration.js'
 * @import { Plan } from '../../loads/plan.js'
 * @import { Memory } from './memory.js'
 * @import { Model, Prediction } from './model.js'
 * @import { PlanAnswer } from './report.js'
 * @import { Candidate, Demand, Wishes } from './nodes.js'
 * @import { NodeType, Prices } from '../../base/prices.js'
 * @import { Wire } from './wire.js'
 *
 * @typedef {Wishes & { rate: number, part?: number | null, ttlS: number | null, items: number, members: number }} Asked
 *
 * @typedef {object} Planned a model at the rate
 * @property {CalibratedModel} model of the calibration
 * @property {Plan} plan
 * @property {Wire} wire
 * @property {Memory} memory
 * @property {boolean} [isCluster] the calibrated servers
 */

/** The assumptions of a plan of a mix. */
const assumedOfMix =
  'a mix is planned as a whole: the keys of a pattern are taken to be used alike and to be spread over all shards, those with a lifetime to be as many more as the rate is higher, and others to stay as many as the file has'

// The units of serverless ECPU: time of a simple command, and its bytes.
const simple = Object.freeze({ commands: 1, members: 0, bytesIn: 150, bytesOut: 5 })

/**
 * What is beyond the calibrated range. Numbers of items are compared by their doublings, which is how they enter the cost: a plan
 * extrapolates up to the square of the calibrated number, but values up to twice the size only.
 * @param {Calibration['ranges']} ranges
 * @param {Planned} planned
 * @param {Asked} asked
 */
const outsideOf = (ranges, { plan }, { items, members }) => {
  const scales = /** @type {const} */ ([
    ['items', items, Math.log2],
    ['valueBytes', plan.valueBytes, (/** @type {number} */ x) => x],
    ['members', members, Math.log2],
  ])
  const names = { items: 'items', valueBytes: 'bytes of a value', members: 'items in a command' }
  const options = { items: 'items', valueBytes: 'value-size', members: 'max-members' }
  return scales.flatMap(([name, value, scale]) => {
    const [least, most] = ranges[name]
    if (value >= least && value <= most) return []
    if (scale(value) > 2 * scale(most))
      throw new OptionError(
        `${Math.round(value)} ${names[name]} are too far beyond what was calibrated (${most}): millrace calibrate --${options[name]} ${Math.round(value)}`,
      )
    return [`${count(Math.round(value))} ${names[name]}; calibrated: ${count(least)} to ${count(most)}`]
  })
}

/**
 * The cost of each kind of command of an item. Lookups among many are divided between the item's own key and its place in
 * ordered structures.
 * @param {Model} model
 * @param {Wire} wire
 * @param {number} rate
 * @param {number} items
 */
export const partsUs = ({ terms }, wire, rate, items) => {
  const parts = partsAt(wire, rate)
  const lookups = parts.map(({ spread, timed, amounts: { commands, members } }) =>
    timed ? 0 : spread ? commands : wire.ordered ? members : 0,
  )
  const all = lookups.reduce((sum, one) => sum + one, 0)
  const ofMain = parts.map(({ timed }) => (timed ? 0 : 1))
  const shares = all > 0 ? lookups.map((one) => one / all) : ofMain.map((one) => one / sumUp(ofMain))
  return parts.map((part, i) => {
    const whole = cpuFeatures(part.amounts, items)
    const features = /** @type {Record<string, number>} */ ({
      ...whole,
      log2_items: whole.log2_items * shares[i],
    })
    return { ...part, us: terms.reduce((sum, { name, value }) => sum + value * features[name], 0) }
  })
}

const sumUp = (/** @type {readonly number[]} */ numbers) => numbers.reduce((sum, one) => sum + one, 0)

/** The parts of an item: those on keys of its own, and those on keys that hold all items. @template {{ spread: boolean }} T @param {readonly T[]} parts @param {(part: T) => number} pick */
export const bothOf = (parts, pick) => ({
  spread: sumUp(parts.filter(({ spread }) => spread).map(pick)),
  fixed: sumUp(parts.filter(({ spread }) => !spread).map(pick)),
})

/** ECPU: the kilobytes of each command or, if more, the time of one that is not simple in units of a simple one. @param {ReturnType<typeof partsUs>[number]} part @param {number} simpleUs */
const ecpuOf = ({ amounts: { commands, kilobytes }, spread, script, us }, simpleUs) =>
  commands === 0 ? 0 : Math.max(kilobytes, spread && !script ? 0 : us / simpleUs)

/**
 * The demand at a rate: `bound` takes the value, or an end of the interval.
 * @param {Planned} planned
 * @param {Pick<Asked, 'rate' | 'items'>} asked
 * @param {'value' | 'low' | 'high'} [bound]
 * @returns {Demand & { cpu: Prediction }}
 */
export const demandOf = (planned, asked, bound = 'value') => {
  const { mix } = planned.model
  return mix
    ? demandOfMix({ ...planned, model: { ...planned.model, mix } }, asked, bound)
    : demandOfItems(planned, asked, bound)
}

/** @param {Planned} planned @param {Pick<Asked, 'rate' | 'items'>} asked @param {'value' | 'low' | 'high'} bound */
const demandOfItems = ({ model, wire, memory, isCluster = false }, { rate, items }, bound) => {
  const features = cpuFeatures(sumOfParts(wire, rate), items)
  const usOf = (/** @type {Model} */ role) => {
    const cpu = predicted(role, features)
    const parts = partsUs(role, wire, rate, items)
    const scale = cpu[bound] / sumUp(parts.map(({ us }) => us))
    return { cpu, parts, us: bothOf(parts, ({ us }) => us * scale) }
  }
  const { cpu, parts, us } = usOf(model.cpu.master)
  const computed = memory.spread + memory.fixed
  const size =
    model.memory === null
      ? 1
      : predicted(model.memory, memoryFeatures(memory, items, isCluster))[bound] / computed
  const simpleUs = predicted(model.cpu.master, cpuFeatures(simple, items)).value
  return {
    cpu,
    rate,
    items,
    keys: wire.keys,
    cpuUs: us,
    replicaUs: model.cpu.replica ? usOf(model.cpu.replica).us : null,
    memory: { spread: memory.spread * size, fixed: memory.fixed * size },
    bytesIn: bothOf(parts, ({ amounts }) => amounts.bytesIn),
    bytesOut: bothOf(parts, ({ amounts }) => amounts.bytesOut),
    ecpu: bothOf(parts, (part) => ecpuOf(part, simpleUs)),
  }
}

const curvePoints = 40

/** Cost from a tenth to four times the rate, by the value and both ends of its interval. @param {Planned} planned @param {Asked} asked @param {readonly NodeType[]} types */
const curveOf = (planned, asked, types) =>
  Array.from({ length: curvePoints }, (_, i) => {
    const rate = Math.round((asked.rate / 10) * 40 ** (i / (curvePoints - 1)))
    const at = { ...asked, rate, items: Math.max(1, Math.round((asked.items * rate) / asked.rate)) }
    const best = (/** @type {'value' | 'low' | 'high'} */ bound) =>
      cheapest(types.map((type) => candidateOf(demandOf(planned, at, bound), type, { ...asked, growth: 0 })))
    const middle = best('value')
    return {
      rate,
      low: best('low')?.monthly ?? null,
      monthly: middle?.monthly ?? null,
      high: best('high')?.monthly ?? null,
      shards: middle?.shards ?? null,
    }
  })

/**
 * @param {object} needs
 * @param {Asked} needs.asked
 * @param {Calibration} needs.calibration
 * @param {readonly { model: CalibratedModel, plan: Plan | null }[]} needs.plans of each model, at the rate; null: of a mix
 * @param {Prices} needs.prices
 * @param {readonly NodeType[]} needs.types that are considered
 * @param {number} needs.nowMs
 * @returns {Promise<PlanAnswer>}
 */
export const planAnswer = async ({ asked, calibration, plans, prices, types, nowMs }) => {
  const { server, machine } = calibration
  const models = []
  const warnings = oldPrices(prices, nowMs)
  for (const { model, plan } of plans) {
    const planned = /** @type {Planned} */ ({
      model,
      isCluster: server.masters > 1,
      ...(plan && {
        plan,
        wire: await wireOf(plan),
        memory: memoryOf(plan, server.allocator),
      }),
    })
    const outside = plan ? outsideOf(calibration.ranges, planned, asked) : outsideOfMix(model, asked.rate)
    if (!plan) warnings.push(assumedOfMix)
    const demand = demandOf(planned, asked)
    const candidates = types.map((type) => candidateOf(demand, type, asked))
    const { cpu, memory, bytesIn, bytesOut } = demand
    models.push({
      strategy: model.strategy,
      per_item: {
        cpu_us: cpu,
        memory_bytes: memory.spread + memory.fixed,
        bytes_in: bytesIn.spread + bytesIn.fixed,
        bytes_out: bytesOut.spread + bytesOut.fixed,
      },
      outside,
      candidates,
      serverless: prices.serverless?.engines.map((one) => serverlessOf(demand, one)) ?? [],
      best: cheapest(candidates),
      proof: scoresOf(model.proof),
      curve: curveOf(planned, asked, types),
    })
  }
  if (asked.replicas > 0 && server.replicas === 0)
    warnings.push(
      'the calibration has no replicas: a master with replicas costs more than planned here, and the cost of a replica is not known',
    )
  if (asked.replicas === 0 && server.replicas > 0)
    warnings.push(
      'masters of the calibration have replicas: without them a master costs less than planned here',
    )
  if (machine.where === 'local' && asked.speed === 1)
    warnings.push(
      `main threads are taken to be as fast as this machine's (${machine.cpu}): calibrate on the node type (--url), or give its --speed`,
    )
  if (!calibration.complete) warnings.push('the calibration was stopped before its end')
  models.sort(
    (a, b) => (a.best?.monthly ?? Number.POSITIVE_INFINITY) - (b.best?.monthly ?? Number.POSITIVE_INFINITY),
  )
  return {
    schema: 1,
    kind: 'plan',
    asked: {
      rate: asked.rate,
      part: asked.part ?? null,
      value_bytes: plans[0].plan?.valueBytes ?? null,
      ttl_s: asked.ttlS,
      items: asked.items,
      headroom: asked.headroom,
      replicas: asked.replicas,
      growth: asked.growth,
      survive: asked.survive,
    },
    region: prices.region,
    currency: prices.currency,
    prices: [
      {
        what: `nodes of ${prices.nodes.engine}, not durable`,
        dated: prices.nodes.dated,
        source: prices.nodes.source,
      },
      ...(prices.serverless
        ? [{ what: 'serverless', dated: prices.serverless.dated, source: prices.serverless.source }]
        : []),
    ],
    calibration: { started: calibration.started, server: server.version, machine: machine.cpu },
    models,
    warnings,
  }
}
