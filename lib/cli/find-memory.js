// The search for a cache's least memory as a program: runs on servers of its own, each with the memory that the search asks for.
import { findMemory as kit } from '../answers/find/memory-report.js'
import { memorySearch } from '../answers/find/memory-search.js'
import { ExitCode } from '../base/errors.js'
import { series } from '../base/series.js'
import { exactly } from '../base/typed.js'
import { withUndo } from '../base/undo.js'
import { bytes, plainData, several } from '../base/units.js'
import { planOf } from '../loads/plan.js'
import { movedPoints } from '../measures/cache.js'
import { openResults } from '../result/files.js'
import { judgedBy } from '../result/thresholds.js'
import { drawnCurve } from '../run/cache-curve.js'
import { startEmbedded } from '../servers/embedded.js'
import { limitOf } from '../servers/open.js'
import { risingOf, shareOver } from '../traffic/share-by-memory.js'
import { commandLineOf } from './again.js'
import { thresholdCode } from './ending.js'
import { concludeSearch, judgedThresholds } from './find.js'
import { runOf } from './run-here.js'
import { screenOf } from './screen.js'

/**
 * @import { MemoryFound } from '../answers/find/memory-report.js'
 * @import { Curve } from '../answers/find/memory-search.js'
 * @import { memoryRequest } from './find-options.js'
 * @import { Guidance } from './signals.js'
 * @import { WriteRun } from '../result/document.js'
 */
/** @typedef {ReturnType<typeof memoryRequest>} Request */

// What a server takes without a key, and for each connection, until a run says it.
const [usualBase, connectionBytes] = [2e6, 4e4]
const usualConnections = 50
const usualBytes = 200
const leastBytes = 2e6
const besideKeys = 1.1
// With more than all keys take, none is evicted; tables double, and buffers come and go.
const ample = 1.25

/** A run with so much memory. @param {Request} request @param {{ memory: number, n: number, signal: AbortSignal }} trial */
const played = async ({ settings, seed }, { memory, n, signal }) => {
  const { cluster, shards, serverBin, serverConfig, policy } = settings
  const limit = limitOf({ maxmemoryBytes: Math.round(memory / (cluster ? shards : 1)), policy })
  const own = { cluster, shards, replicas: 0, serverBin, stateDir: null, log: () => {} }
  const started = await startEmbedded({ ...own, config: [...serverConfig, ...limit] })
  try {
    const [{ host, port }] = started.endpoints
    const there = { host, port, password: started.access.password, maxmemoryBytes: undefined }
    return await runOf(
      { program: 'producer', settings: { ...settings, ...there, seed: seed + n } },
      { signal },
    )
  } finally {
    await started.close()
  }
}

/** A run with one of these says nothing of its memory. */
const spoils = new Set(['cache-swap', 'cache-limit', 'failed', 'uncertain'])
/** @typedef {WriteRun & { cache: NonNullable<WriteRun['cache']> }} Run of a cache */

// Less of the rate is another load.
const leastOfRate = 0.8

/** Why a run says nothing of its memory. @param {Run} run @param {number} rate @returns {{ code: string, message: string } | undefined} */
const faultOf = ({ warnings, rate: { achieved } }, rate) =>
  warnings.find(({ code }) => spoils.has(code) || (code === 'rate' && Number(achieved) < leastOfRate * rate))

/** @param {Run} run @param {readonly string[]} slos @param {{ bytes: number, phase: 'first' | 'measure' | 'confirm' }} step @returns {MemoryFound['trials'][number]} */
const trialOf = (run, slos, { bytes: memory_bytes, phase }) => {
  const { hit_pct, hit_pct_low, hit_pct_high, source_per_s, evicted_per_s } = run.cache
  const checks = judgedBy(slos, run)
  return {
    phase,
    memory_bytes,
    hit_pct: hit_pct ?? 0,
    seconds: Math.round(Number(run.measured_s)),
    hit_pct_low,
    hit_pct_high,
    p99_us: run.latency_us?.intended?.p99 ?? null,
    source_per_s,
    evicted_per_s,
    checks,
    passed: checks.every(({ passed }) => passed),
  }
}

/** @param {Run} run @returns {Curve | null} */
const curveIn = ({ miss_curve: curve }) =>
  curve ? { points: risingOf(curve.points), ceiling: curve.ceiling_pct } : null

/** The memory with which the search begins. @param {Pick<Request, 'settings' | 'checks'>} request @param {AbortSignal} stop @param {typeof drawnCurve} draw */
export const startOf = async ({ settings, checks }, stop, draw = drawnCurve) => {
  const plan = planOf(settings, {
    agents: [1],
    masters: settings.cluster ? settings.shards : 1,
    cluster: settings.cluster,
    variant: null,
  })
  const { policy = 'allkeys-lru', connections = usualConnections } = settings
  const curve = await draw(plan, { policy, stopNow: stop })
  if (!curve) return null
  const wanted = Math.max(
    50,
    ...checks.flatMap((one) => (one.figure.name === 'cache.hit_pct' ? one.limit : [])),
  )
  const at = curve.points.find(({ policy_pct, lru_pct }) => (policy_pct ?? lru_pct) >= wanted)
  return {
    whole: curve.footprint_bytes,
    start: (at?.memory_bytes ?? curve.footprint_bytes * 0.9) + usualBase + connectionBytes * connections,
  }
}

/**
 * Plays the runs of the search.
 * @param {Request} request
 * @param {AbortSignal} stop
 * @param {(line: string) => void} say
 * @param {typeof played} play
 * @param {typeof startOf} begins
 */
export const searched = async (request, stop, say, play = played, begins = startOf) => {
  const { settings, slos, trials: count, checks } = request
  say(`drawing requests for ${several(settings.quantity, 'key')}: where to begin`)
  const begin = await begins(request, stop)
  const whole = begin?.whole ?? settings.quantity * usualBytes
  /** @type {Run[]} */
  const runs = []
  /** @type {MemoryFound['trials'][number][]} */
  const trials = []
  const search = memorySearch({
    start: Math.max(leastBytes * besideKeys, begin?.start ?? whole / 2),
    trials: count,
    learn: () => {
      const { cache, miss_curve: curve } = runs[0]
      const base = (cache.memory_bytes ?? usualBase) - (cache.data_bytes ?? 0)
      const least = Math.max(leastBytes, base * besideKeys)
      const most = Math.max((curve?.footprint_bytes ?? whole + base) * ample, 2 * least)
      return { curve: curveIn(runs[0]), least, most }
    },
  })
  /** @type {ReturnType<typeof faultOf>} */
  let fault
  const found = await series({
    order: search,
    play: async (step) => {
      const doing = step.phase === 'confirm' ? 'confirming' : 'measuring'
      say(`${trials.length + 1} of ${count}: ${doing} with ${bytes(step.bytes)}`)
      const run = await play(request, { memory: step.bytes, n: runs.length, signal: stop })
      if (stop.aborted) return null
      const trial = trialOf(run, slos, step)
      runs.push(run)
      trials.push(trial)
      fault = faultOf(run, Number(settings.rate))
      return fault
        ? null
        : {
            bytes: step.bytes,
            hit_pct: trial.hit_pct,
            passed: trial.passed,
            checks: trial.checks.map((one, i) => ({ ...one, text: one.threshold, limit: checks[i].limit })),
          }
    },
    store: {
      add: (_, { hit_pct: hits, passed }) => say(`hits ${hits.toFixed(2)} %${passed ? '' : ': fails'}`),
    },
    stop,
  })
  return { found, fault, runs, trials }
}

// Without a curve it is not known what the interval is in hits.
const usualWidth = 0.5

/** How far apart the shares of hits at both ends of the answer are, in points. @param {Awaited<ReturnType<typeof searched>>} search */
const widthOf = ({ found, runs }) => {
  const curve = runs[0] && curveIn(runs[0])
  const { low, high } = found?.find ?? {}
  if (!curve || !low || !high) return usualWidth
  const over = shareOver(curve)
  return over.at(high) - over.at(low)
}

/** A movement within the interval of the answer is no remark. @param {Awaited<ReturnType<typeof searched>>} search @returns {MemoryFound['warnings']} */
export const warningsOf = (search) => {
  const { found, fault, runs } = search
  const width = widthOf(search)
  const moving = runs.filter(
    ({ cache, measured_s: measuredS }) => movedPoints(cache, Number(measuredS)) > width,
  ).length
  const all = [
    fault !== undefined && { code: fault.code, message: fault.message },
    moving > runs.length / 3 && {
      code: 'cache-moving',
      message: `in ${moving} of ${several(runs.length, 'run')} the hits still moved: a longer --time warms the caches`,
    },
    found?.confirmed === false && {
      code: 'not-held',
      message: 'the run with the high end did not meet the limits: give more --time',
    },
  ]
  return all.filter((one) => one !== false)
}

const [stopped, unsteady] = exactly(['stopped', 'unsteady'])

/** @param {Request} request @param {Guidance & { as: string }} guidance */
export const findMemory = (request, { stop, redact, as }) =>
  withUndo(async (undo) => {
    const { settings, slos, thresholds } = request
    const screen = screenOf(settings)
    undo(screen.done)
    const results = await openResults({
      ...settings,
      strategy: `find-${settings.strategy}`,
      epochMs: Date.now(),
      onWarning: screen.warn,
      redact: redact.data,
    })
    undo(results.discard)
    const started = new Date().toISOString()
    const search = await searched(request, stop, screen.say)
    const { found, runs, trials } = search
    const { miss_curve: curve, versions = null } = runs[0] ?? {}
    const { policy = 'allkeys-lru', cluster, shards } = settings
    const answer = {
      schema: exactly(1),
      kind: exactly('find-memory'),
      run: results.run,
      started,
      command_line: commandLineOf(as, process.argv),
      versions,
      strategy: settings.strategy,
      policy,
      items: settings.quantity,
      rate: Number(settings.rate),
      servers: cluster ? shards : 1,
      objectives: slos,
      state: found?.state ?? (stop.aborted ? stopped : unsteady),
      find: found?.find ?? { low: null, middle: null, high: null },
      binds: found?.binds ?? null,
      confirmed: found?.confirmed ?? null,
      ceiling_pct: curve?.ceiling_pct ?? null,
      footprint_bytes: curve?.footprint_bytes ?? null,
      curve: curve?.points ?? [],
      trials,
      warnings: warningsOf(search),
    }
    const judged = judgedThresholds(thresholds, answer)
    const document = plainData({ ...answer, sentence: kit.sentence(answer), thresholds: judged })
    await concludeSearch(kit, document, { settings, results, screen })
    if (answer.state === 'stopped') return ExitCode.interrupted
    if (answer.state === 'unsteady') return ExitCode.unclear
    return answer.state === 'none' ? ExitCode.invalid : thresholdCode(judged)
  })
