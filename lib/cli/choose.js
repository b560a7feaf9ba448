// Runs the blocks of a choice in this process: servers for each run, a reader beside it, and the measurements.
import { costMetrics, costOf, idleSecondsOf, metrics } from '../answers/choose/cost.js'
import { choosing, leastRounds, roundsPlan, runsOfBlocks } from '../answers/choose/procedure.js'
import { InterruptedError, MillraceError } from '../base/errors.js'
import { series, slowerWhileLimited } from '../base/series.js'
import { percent, rate as perSecond, several } from '../base/units.js'
import { clientWasTheLimit } from '../experiments/runner.js'
import { localBench, modelOption, remoteBench } from './calibration.js'

/**
 * @import { RunOptions, RunResult, WriteResult } from '../index.js'
 * @import { Known, RunRecord } from '../answers/choose/report.js'
 * @import { Idle, Metric } from '../answers/choose/cost.js'
 * @import { Decision } from '../answers/choose/procedure.js'
 * @import { RoundsPlan } from '../result/rounds-plan.js'
 * @import { ConfigLine } from '../servers/embedded-servers.js'
 *
 * @typedef {object} Asked
 * @property {number} rate
 * @property {number} items
 * @property {Record<string, string | number | boolean>} load further options of a run
 * @property {{ perS: number, limit: number } | null} reads
 * @property {Partial<Record<Metric, number>>} weigh
 * @property {number} seconds measured
 * @property {number} budgetS
 * @property {number} effect
 * @property {number} seed
 * @property {RunOptions | null} where url and cluster; null: local servers
 * @property {Record<string, string>} files of own models
 * @property {Readonly<Record<string, readonly ConfigLine[]>>} [configs] of a cache: the configuration of the servers, by policy
 *
 * @typedef {Known & { serverBin?: string }} Candidate
 */

/** Weights as they are typed. @param {Partial<Record<Metric, number>>} weights */
const weightWords = (weights) =>
  Object.entries(weights)
    .map(([name, weight]) => `${name}=${weight}`)
    .join(',')

export const prefix = 'millrace-choose:'
// Time in which servers start, are asked about their state, and end.
const besideS = 1.2
const settleS = 0.5
const idleS = 3
// Servers differ in their idle use, and each varies by a tenth: measured in each round, this is part of the intervals.
const againS = 2
// A cache is filled before a run, and its curve computed after it.
const [filledPerS, curveS] = [50_000, 3]
const requestsOfKey = 3

/** @typedef {Pick<Asked, 'items' | 'rate' | 'seconds' | 'configs'>} Length */

/** @param {Length} asked @param {number} servers */
const secondsOfRun = (asked, servers) =>
  warmUpOf(asked) +
  asked.seconds +
  besideS +
  (servers > 1 ? againS + besideS : 0) +
  (asked.configs ? curveS + asked.items / filledPerS : 0)

/** Every item is written once before the measurement; policies keep other keys than the fill after some requests for each. @param {Length} load */
const warmUpOf = ({ items, rate, configs }) =>
  configs
    ? Math.ceil((items * requestsOfKey) / rate + settleS)
    : Math.ceil((items / rate + settleS) * 10) / 10

/** @param {Asked} asked @param {number} servers */
export const runsOf = (asked, servers) =>
  Math.floor((asked.budgetS - servers * (idleS + besideS)) / secondsOfRun(asked, servers))

/** What the fewest rounds take. @param {Length} asked @param {number} candidates @param {number} servers */
export const leastSecondsOf = (asked, candidates, servers) =>
  leastRounds * candidates * secondsOfRun(asked, servers) + servers * (idleS + besideS)

/** @param {RunResult} run */
const reasonsOf = (run) =>
  run.warnings.filter(({ invalidates }) => invalidates).map(({ code }) => String(code))

/** @param {Asked} asked @param {Candidate} candidate */
const openFor = ({ where, configs }, { serverBin, name }) =>
  where === null ? localBench(serverBin, configs?.[name]) : remoteBench(where, prefix)

/** A run that measures the idle servers: two items a second. @param {Asked} asked @param {Candidate} candidate @param {AbortSignal} stop @param {number} [seconds] */
export const measuredIdle = async (asked, candidate, stop, seconds = idleS) => {
  const bench = await openFor({ ...asked, configs: undefined }, candidate)
  try {
    const ttl = !asked.configs ? '30s' : asked.load.ttl === undefined ? undefined : String(asked.load.ttl)
    const load = { items: 2, rate: 2, ttl, valueSize: '16', duration: `${seconds}s`, prefix }
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
 * @typedef {ReadonlyMap<string, { idle: Idle, version: string }>} ServerFacts by server
 * @typedef {{ runs: number, round: number }} Done complete runs, and the round of the last
 * @typedef {{ candidates: readonly Candidate[], facts: ServerFacts, plan: RoundsPlan, say: (line: string) => void, done: Done, stop: AbortSignal }} Bench
 */

const serverOf = (/** @type {Candidate} */ { server }) => server ?? ''

/** What each server uses by itself. @param {Asked} asked @param {readonly Candidate[]} candidates @param {AbortSignal} stop @returns {Promise<ServerFacts>} */
const factsOf = async (asked, candidates, stop) => {
  /** @type {Map<string, { idle: Idle, version: string }>} */
  const facts = new Map()
  /** @type {MillraceError | null} */
  let refused = null
  for (const candidate of candidates) {
    if (facts.has(serverOf(candidate))) continue
    // A model that one server lacks may work on another, as may the next candidate on this one.
    const found = await unlessRefused(() => measuredIdle(asked, candidate, stop), stop)
    if (!('refused' in found)) facts.set(serverOf(candidate), found)
    else refused = found.refused
  }
  if (facts.size === 0 && refused !== null) throw refused
  return facts
}

/** As much of what was asked; a cache has as many keys at any rate. @param {Asked} asked @param {number} factor @returns {Asked} */
const slowed = (asked, factor) => ({
  ...asked,
  rate: Math.max(1, Math.round(asked.rate * factor)),
  items: asked.configs ? asked.items : Math.max(1, Math.round(asked.items * factor)),
})

/** All candidates of a round have the same requests of a cache, and those of another round are others. @param {Asked} asked @param {number} round @returns {Asked} */
const inRound = (asked, round) => (asked.configs ? { ...asked, load: { ...asked.load, seed: round } } : asked)

const interruptedWords = (/** @type {Done} */ { runs, round }) =>
  runs === 0
    ? 'interrupted before a run was complete: nothing is kept'
    : `interrupted after ${several(runs, 'run')} (round ${round}): an unfinished choice has no answer, so nothing is kept`

/** @param {Parameters<typeof playedChoice>[0]} needs */
export const playChoice = async (needs) => {
  const done = { runs: 0, round: 0 }
  try {
    return await playedChoice(needs, done)
  } catch (error) {
    throw error instanceof InterruptedError ? new InterruptedError(interruptedWords(done)) : error
  }
}

/**
 * @param {object} needs
 * @param {Asked} needs.asked
 * @param {readonly Candidate[]} needs.candidates
 * @param {(line: string) => void} needs.say
 * @param {AbortSignal} needs.stop
 * @param {() => number} needs.clock ms
 * @param {Done} done
 */
const playedChoice = async ({ asked: wanted, candidates, say, stop, clock }, done) => {
  const startedMs = clock()
  const facts = await factsOf(wanted, candidates, stop)
  const plan = roundsPlan(candidates.length, runsOf(wanted, facts.size))
  const bench = { candidates, facts, plan, say, done, stop }
  let asked = wanted
  const found = await slowerWhileLimited({
    play: (_, mayBeSlower) => blocksOf(asked, bench, mayBeSlower),
    isLimited: ({ decision }) => decision === null && !stop.aborted,
    onSlower(factor) {
      const slower = slowed(wanted, factor)
      say(
        `the load generator was the limit at ${perSecond(asked.rate)} items/s: all candidates again at ${perSecond(slower.rate)}`,
      )
      asked = slower
    },
  })
  const { decision, runs } = found
  if (decision === null) throw new InterruptedError()
  return {
    decision,
    runs,
    rate: asked.rate,
    items: asked.items,
    versions: versionsIn(facts),
    tookS: (clock() - startedMs) / 1000,
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
 * A run of a candidate; null: its server does not start.
 * @param {Asked} asked
 * @param {Bench} bench
 * @param {number} at
 */
const playedOf = async (asked, { candidates, facts, stop }, at) => {
  const candidate = candidates[at]
  const again = facts.size > 1 ? await measuredIdle(asked, candidate, stop, againS) : null
  const idle = (again ?? facts.get(serverOf(candidate)))?.idle
  return idle ? { ...(await playOf(asked, candidate, stop)), idle } : null
}

/**
 * All blocks at a rate.
 * @param {Asked} asked
 * @param {Bench} bench
 * @param {boolean} mayBeSlower
 * @returns {Promise<{ decision: Decision | null, runs: RunRecord[] }>} no decision: the client was the limit
 */
const blocksOf = async (asked, bench, mayBeSlower) => {
  const { candidates, facts, plan, say, done, stop } = bench
  /** @type {RunRecord[]} */
  const runs = []
  const decision = await series({
    order: runsOfBlocks(
      choosing({
        count: candidates.length,
        simplicity: candidates.map(({ simplicity }) => simplicity),
        runs: runsOf(asked, facts.size),
        effect: asked.effect,
        seed: asked.seed,
        plan,
      }),
    ),
    play: async ({ at, round }) => {
      const found = await unlessRefused(() => playedOf(inRound(asked, round), bench, at), stop)
      if (found === null || 'refused' in found) {
        const why = found === null ? 'its server does not start' : found.refused.message
        return { outcome: { cost: null, why, final: true }, record: null, words: `cannot run here: ${why}` }
      }
      if (mayBeSlower && clientWasTheLimit(found.run)) return null
      return recordOfChoice({ asked, at, round, ...found })
    },
    store: {
      add({ at, round }, { record, words }) {
        if (record) {
          runs.push(record)
          done.runs++
          done.round = round
        }
        say(`round ${round}: ${candidates[at].name}: ${words}`)
      },
    },
    stop,
  })
  return { decision, runs }
}

/** @param {{ asked: Asked, at: number, round: number, run: WriteResult, reader: RunResult | null, idle: Idle }} played */
export const recordOfChoice = ({ asked, at, round, run, reader, idle }) => {
  const values = costMetrics(run, idle)
  const reasons = [...reasonsOf(run), ...(reader ? reasonsOf(reader).map((code) => `reader: ${code}`) : [])]
  const cost = costOf(values, asked.weigh)
  const why =
    reasons.length === 0
      ? 'missing' in cost
        ? (metrics[cost.missing].none ??
          `no ${metrics[cost.missing].title} could be told: ${weightWords(asked.weigh)} needs it`)
        : null
      : isUnsustained(run, asked.rate)
        ? `it sustained ${perSecond(run.rate.achieved)} of ${perSecond(asked.rate)} items/s`
        : `its runs are not valid (${reasons.join(', ')})`
  const counts = why === null && 'cost' in cost
  return {
    record: { candidate: at, round, metrics: values, counts, reasons, achieved: run.rate?.achieved ?? null },
    outcome: { cost: counts ? cost.cost : null, why, final: false },
    words:
      why ??
      `${values.cpu?.toFixed(2) ?? '?'} µs an item, ${values.misses === undefined ? `${Math.round(values.memory ?? 0)} B` : `${percent(values.misses)} misses`}`,
  }
}
