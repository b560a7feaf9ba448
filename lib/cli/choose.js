// Runs the blocks of a choice in this process: servers for each run, a reader beside it, and the measurements.
import { costMetrics, costOf, idleSecondsOf, metrics, weightWords } from '../answers/choose/cost.js'
import { choosing, leastRounds, roundsPlan } from '../answers/choose/procedure.js'
import { InterruptedError, MillraceError } from '../base/errors.js'
import { rate as perSecond, several } from '../base/units.js'
import { clientWasTheLimit } from '../experiments/runner.js'
import { localBench, modelOption, remoteBench } from './calibration.js'

/**
 * @import { RunOptions, RunResult, WriteResult } from '../index.js'
 * @import { RunRecord } from '../answers/choose/answer.js'
 * @import { Idle, Metric } from '../answers/choose/cost.js'
 * @import { Outcome } from '../answers/choose/procedure.js'
 * @import { RoundsPlan } from '../result/rounds-plan.js'
 *
 * @typedef {object} Asked
 * @property {number} rate
 * @property {number} items
 * @property {Record<string, string | number>} load further options of a run
 * @property {{ perS: number, limit: number } | null} reads
 * @property {Partial<Record<Metric, number>>} weigh
 * @property {number} seconds measured
 * @property {number} budgetS
 * @property {number} effect
 * @property {number} seed
 * @property {RunOptions | null} where url and cluster; null: local servers
 * @property {Record<string, string>} files of own models
 *
 * @typedef {import('../answers/choose/answer.js').Candidate & { serverBin?: string }} Candidate
 */

export const prefix = 'millrace-choose:'
// Time in which servers start, are asked about their state, and end.
const besideS = 1.2
const settleS = 0.5
const idleS = 3
// Servers differ in their idle use, and each varies by a tenth: measured in each round, this is part of the intervals.
const againS = 2
const slowerBy = 0.6
const slowerAttempts = 3

/** @param {Pick<Asked, 'items' | 'rate' | 'seconds'>} asked @param {number} servers */
const secondsOfRun = (asked, servers) =>
  warmUpOf(asked) + asked.seconds + besideS + (servers > 1 ? againS + besideS : 0)

/** Every item is written once before the measurement. @param {{ items: number, rate: number }} load */
const warmUpOf = ({ items, rate }) => Math.ceil((items / rate + settleS) * 10) / 10

/** @param {Asked} asked @param {number} servers */
export const runsOf = (asked, servers) =>
  Math.floor((asked.budgetS - servers * (idleS + besideS)) / secondsOfRun(asked, servers))

/** What the fewest rounds take. @param {Pick<Asked, 'items' | 'rate' | 'seconds'>} asked @param {number} candidates @param {number} servers */
export const leastSecondsOf = (asked, candidates, servers) =>
  leastRounds * candidates * secondsOfRun(asked, servers) + servers * (idleS + besideS)

/** @param {RunResult} run */
const reasonsOf = (run) =>
  run.warnings.filter(({ invalidates }) => invalidates).map(({ code }) => String(code))

/** @param {Asked} asked @param {Candidate} candidate */
const openFor = ({ where }, { serverBin }) =>
  where === null ? localBench(serverBin) : remoteBench(where, prefix)

/** A run that measures the idle servers: two items a second. @param {Asked} asked @param {Candidate} candidate @param {AbortSignal} stop @param {number} [seconds] */
export const measuredIdle = async (asked, candidate, stop, seconds = idleS) => {
  const bench = await openFor(asked, candidate)
  try {
    const load = { items: 2, rate: 2, ttl: '30s', valueSize: '16', duration: `${seconds}s`, prefix }
    const run = await bench.run(
      { ...modelOption(candidate.model, asked.files), ...load, idleCost: 'never' },
      { signal: stop, onProgress: () => {} },
    )
    return { idle: idleSecondsOf(/** @type {WriteResult} */ (run)), version: String(run.versions.servers[0]) }
  } finally {
    await bench.close()
  }
}

/**
 * A run, with a reader beside it from before its measured seconds to their end.
 * @param {Asked} asked
 * @param {Candidate} candidate
 * @param {AbortSignal} stop
 * @returns {Promise<{ run: WriteResult, reader: RunResult | null }>}
 */
export const playOf = async (asked, candidate, stop) => {
  const { rate, items, load, reads, seconds, files } = asked
  const model = modelOption(candidate.model, files)
  const warmUpS = warmUpOf(asked)
  const bench = await openFor(asked, candidate)
  const ends = new AbortController()
  const signal = AbortSignal.any([stop, ends.signal])
  /** @type {Promise<RunResult> | null} */
  let reading = null
  const read = () =>
    bench.run(
      {
        command: 'read',
        ...model,
        prefix,
        limit: reads?.limit,
        period: `${Math.round(1000 / (reads?.perS ?? 1))}ms`,
        duration: `${Math.ceil(warmUpS + seconds)}s`,
      },
      { signal, onProgress: () => {} },
    )
  try {
    const run = await bench.run(
      {
        ...model,
        ...load,
        prefix,
        items,
        rate,
        idleCost: 'never',
        warmUp: `${warmUpS}s`,
        duration: `${warmUpS + seconds}s`,
      },
      {
        signal: stop,
        onProgress: (event) => {
          if (reads === null || reading !== null || event.type !== 'second') return
          reading = read()
          reading.catch(() => {})
        },
      },
    )
    ends.abort()
    return { run: /** @type {WriteResult} */ (run), reader: await reading }
  } finally {
    ends.abort()
    await Promise.resolve(reading).catch(() => {})
    await bench.close()
  }
}

/**
 * @param {object} needs
 * @param {Asked} needs.asked
 * @param {readonly Candidate[]} needs.candidates
 * @param {(line: string) => void} needs.say
 * @param {AbortSignal} needs.stop
 * @param {() => number} needs.clock ms
 */
export const playChoice = async ({ asked: wanted, candidates, say, stop, clock }) => {
  const startedMs = clock()
  /** @type {Map<string, { idle: Idle, version: string }>} */
  const facts = new Map()
  const serverOf = (/** @type {Candidate} */ { server }) => server ?? ''
  /** @type {MillraceError | null} */
  let refused = null
  for (const candidate of candidates) {
    if (facts.has(serverOf(candidate))) continue
    // A model that one server lacks may work on another, as may the next candidate on this one.
    const found = await unlessRefused(() => measuredIdle(wanted, candidate, stop), stop)
    if (!('refused' in found)) facts.set(serverOf(candidate), found)
    else refused = found.refused
  }
  if (facts.size === 0 && refused !== null) throw refused
  const servers = facts.size
  const plan = roundsPlan(candidates.length, runsOf(wanted, servers))
  let asked = wanted
  for (let attempt = 0; ; attempt++) {
    const beside = { candidates, facts, serverOf, plan, servers, say, stop }
    const found = await blocksOf({ asked, mayBeSlower: attempt < slowerAttempts, ...beside })
    if (!('limited' in found))
      return { ...found, rate: asked.rate, versions: versionsIn(facts), tookS: (clock() - startedMs) / 1000 }
    const slower = Math.max(1, Math.round(asked.rate * slowerBy))
    say(
      `the client was the limit at ${perSecond(asked.rate)} items/s: all candidates again at ${perSecond(slower)}`,
    )
    asked = { ...asked, rate: slower, items: Math.max(1, Math.round((asked.items * slower) / asked.rate)) }
  }
}

/** @param {ReadonlyMap<string, { version: string }>} facts */
const versionsIn = (facts) => [...new Set([...facts.values()].map(({ version }) => version))]

/** @template T @param {() => Promise<T>} work @param {AbortSignal} stop @returns {Promise<T | { refused: MillraceError }>} */
const unlessRefused = async (work, stop) => {
  if (stop.aborted) throw new InterruptedError()
  try {
    return await work()
  } catch (error) {
    if (stop.aborted) throw new InterruptedError()
    if (error instanceof MillraceError) return { refused: error }
    throw error
  }
}

/** @param {WriteResult} run @param {number} rate */
const isUnsustained = (run, rate) => Number(run.rate.achieved) < 0.99 * rate

/**
 * @param {object} needs
 * @param {Asked} needs.asked
 * @param {readonly Candidate[]} needs.candidates
 * @param {ReadonlyMap<string, { idle: Idle }>} needs.facts
 * @param {(candidate: Candidate) => string} needs.serverOf
 * @param {RoundsPlan} needs.plan
 * @param {number} needs.servers
 * @param {boolean} needs.mayBeSlower
 * @param {(line: string) => void} needs.say
 * @param {AbortSignal} needs.stop
 */
const blocksOf = async ({ asked, candidates, facts, serverOf, plan, servers, mayBeSlower, say, stop }) => {
  const machine = choosing({
    count: candidates.length,
    simplicity: candidates.map(({ simplicity }) => simplicity),
    runs: runsOf(asked, servers),
    effect: asked.effect,
    seed: asked.seed,
    plan,
  })
  /** @type {RunRecord[]} */
  const runs = []
  let step = machine.next()
  while (!step.done) {
    const { round, order } = step.value
    /** @type {Outcome[]} */
    const outcomes = []
    for (const at of order) {
      const candidate = candidates[at]
      const found = await unlessRefused(async () => {
        const again = servers > 1 ? await measuredIdle(asked, candidate, stop, againS) : null
        const idle = (again ?? facts.get(serverOf(candidate)))?.idle
        return { ...(await playOf(asked, candidate, stop)), idle }
      }, stop)
      if ('refused' in found || found.idle === undefined) {
        const why = 'refused' in found ? found.refused.message : 'its server does not start'
        say(`round ${round}: ${candidate.name} cannot run here: ${why}`)
        outcomes.push({ cost: null, why, final: true })
        continue
      }
      const { run, reader, idle } = found
      if (mayBeSlower && clientWasTheLimit(run)) return { limited: true }
      const { record, outcome, words } = recordOfChoice({ asked, at, round, run, reader, idle })
      runs.push(record)
      outcomes.push(outcome)
      say(`round ${round}: ${candidate.name}: ${words}`)
    }
    step = machine.next(outcomes)
  }
  return { decision: step.value, runs }
}

/** @param {{ asked: Asked, at: number, round: number, run: WriteResult, reader: RunResult | null, idle: Idle }} played */
export const recordOfChoice = ({ asked, at, round, run, reader, idle }) => {
  const values = costMetrics(run, idle)
  const reasons = [...reasonsOf(run), ...(reader ? reasonsOf(reader).map((code) => `reader: ${code}`) : [])]
  const cost = costOf(values, asked.weigh)
  const why =
    reasons.length === 0
      ? 'missing' in cost
        ? `no ${metrics[cost.missing].title} could be told: ${weightWords(asked.weigh)} needs it`
        : null
      : isUnsustained(run, asked.rate)
        ? `it sustained ${perSecond(run.rate.achieved)} of ${perSecond(asked.rate)} items/s`
        : `its runs are not valid (${reasons.join(', ')})`
  const counts = why === null && 'cost' in cost
  return {
    record: { candidate: at, round, metrics: values, counts, reasons, achieved: run.rate?.achieved ?? null },
    outcome: { cost: counts ? cost.cost : null, why, final: false },
    words: why ?? `${values.cpu?.toFixed(2) ?? '?'} µs, ${Math.round(values.memory ?? 0)} B an item`,
  }
}

/** @param {number} left s @param {number} candidates */
export const promiseWords = (left, candidates) =>
  `${several(candidates, 'candidate')}: about ${several(Math.max(1, Math.round(left / 60)), 'minute')} at most`
