// What clients are put together of: the flow over the target and what it draws. It has the same face as a writer in ticks
// and its driver, so that everything that watches a run watches both.
import { clientsFlow } from '../flow/clients.js'
import { drawsOf, eachOnce, picksOf, scheduleOf } from '../plan/draws.js'
import { noTally } from '../wire/decode.js'
import { slotOf } from '../wire/slot.js'
import { encodingsOf, playPasses } from './passes.js'
import { longestTimerMs } from './settlement.js'

/**
 * @typedef {import('../plan/plan.js').Plan} Plan
 * @typedef {import('../target/open.js').Target} Target
 * @typedef {ReturnType<typeof import('../workloads/of-plan.js').strategyOf>} Strategy
 * @typedef {NonNullable<Plan['clients']>} Clients
 * @typedef {import('../wire/decode.js').Tally} Tally
 */

/** Replies by what they mean. @param {Partial<Record<keyof Tally, string>>} names @param {Tally} tally @returns {Record<string, number>} */
const named = (names, tally) =>
  Object.fromEntries(
    Object.entries(names).map(([reply, name]) => [name, tally[/** @type {keyof Tally} */ (reply)]]),
  )

/** The first of a ratio's numbers weighs the writes. @param {Strategy} strategy @param {Clients} clients */
const weightsOf = ({ declared: { roles, passes } }, { ratio }) =>
  roles.writer.play.length === 1 || passes ? [1] : /** @type {number[]} */ ([...ratio])

/**
 * @param {object} needs
 * @param {Plan} needs.plan
 * @param {Strategy} needs.strategy
 * @param {Target} needs.target
 * @param {import('./write-records.js').Records} needs.records
 * @param {() => number} needs.clock
 * @param {(kind: string, text: string) => void} needs.onEvent
 */
export const clientsWriting = async ({ plan, strategy, target, records, clock, onEvent }) => {
  const clients = /** @type {Clients} */ (plan.clients)
  const tally = noTally()
  const { seed, nominalHz, durationMs, items, cluster, maxBehindMs } = plan
  const flow = await clientsFlow({
    plan: { clients: clients.connections, pipeline: clients.pipeline, cluster, maxBehindMs },
    operations: strategy.stencils(),
    pick: picksOf(weightsOf(strategy, clients), seed),
    draw: strategy.declared.passes
      ? eachOnce(items)
      : drawsOf({ order: clients.order, count: items, seed, clients: clients.connections }),
    schedule:
      nominalHz === null
        ? null
        : scheduleOf({ rateHz: nominalHz, arrivals: clients.arrivals, seed, durationMs }),
    target,
    ledger: /** @type {import('../measure/operations.js').Operations} */ (
      /** @type {unknown} */ (records.ledger)
    ),
    latency: records.latency,
    onSent: records.sent,
    tally,
    clock,
    random: Math.random,
    onEvent,
  })
  const { play } = strategy.declared.roles.writer
  /** @param {import('../workloads/declare.js').Pass} pass @param {boolean} isFirst */
  const playPass = ({ play: operation, beyond }, isFirst) => {
    if (isFirst) flow.start()
    const kind = play.indexOf(operation)
    return isFirst ? flow.offered : flow.again(eachOnce(plan.items, beyond ? plan.items : 0), () => kind)
  }
  const passing =
    strategy.declared.passes &&
    passesOf({ plan, strategy, target, records, flow, play: playPass, tally, onEvent })
  const counts = () => passing?.counts() ?? named(strategy.replyNames, tally)
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const endBy = (/** @type {number} */ endMs) => {
    const leftMs = endMs - flow.elapsed()
    if (leftMs <= 0) stop()
    else timer = setTimeout(endBy, Math.min(leftMs, longestTimerMs), endMs)
  }
  const offered = passing?.over ?? flow.offered
  offered.then(() => clearTimeout(timer))
  const { elapsed, settle, lastSettledMs, watch, abandon, close, waitingBytes } = flow
  const stop = () => {
    passing?.stop()
    flow.stop()
  }
  return {
    driver: { encodeMs: 0, tapeBytes: 0, watch, abandon, close, waitingBytes },
    writing: {
      elapsed,
      offered,
      settle,
      stop,
      lastSettledMs,
      measuredTicks: () => 0,
      firstMeasuredMs: () => null,
      /** @param {number | null} unpreparedBytes of data on the masters before anything was prepared; null: nothing was */
      start(unpreparedBytes) {
        if (passing) passing.start(unpreparedBytes)
        else flow.start()
        if (durationMs !== null) endBy(durationMs)
      },
      progress: () => {},
    },
    /** Replies by what they mean. */
    counts,
    passes: () => passing?.results() ?? null,
    finish: async () => null,
  }
}

/**
 * The passes of a strategy, one after the other.
 * @param {object} needs
 * @param {Plan} needs.plan
 * @param {Strategy} needs.strategy
 * @param {Target} needs.target
 * @param {import('./write-records.js').Records} needs.records
 * @param {Pick<Awaited<ReturnType<typeof clientsFlow>>, 'settle' | 'lastSettledMs' | 'elapsed'>} needs.flow
 * @param {(pass: import('../workloads/declare.js').Pass, isFirst: boolean) => Promise<unknown>} needs.play resolves when all of it is offered
 * @param {Tally} needs.tally
 * @param {(kind: string, text: string) => void} needs.onEvent
 */
export const passesOf = ({ plan, strategy, target, records, flow, play, tally, onEvent }) => {
  const passes = /** @type {import('../workloads/declare.js').Pass[]} */ (strategy.declared.passes)
  const never = new AbortController().signal
  const ownerOf = (/** @type {Buffer} */ key) => {
    const { masters, owners } = target.topology
    return masters[owners ? owners[slotOf(key)] : 0]
  }
  let stopped = false
  /** @type {Awaited<ReturnType<typeof playPasses>>} */
  let results = []
  /** @type {Record<string, number>} */
  let encodings = {}
  /** @type {() => void} */
  let finish = () => {}
  const over = new Promise((resolve) => {
    finish = () => resolve(undefined)
  })
  const all = async (/** @type {number | null} */ dataBytes) => {
    results = await playPasses({
      passes,
      dataBytes,
      target,
      play,
      settle: (limitMs) => flow.settle(limitMs, never),
      lastSettledMs: flow.lastSettledMs,
      tally: () => ({ ...tally }),
      named: ({ play: operation }, replies) => named(strategy.replyNamesOf(operation), replies),
      acked: () => records.ledger.whole.acked,
      elapsed: flow.elapsed,
      isStopped: () => stopped,
    })
    encodings = await encodingsOf(target, { keyBytes: strategy.keyBytes, ownerOf, numbers: plan.items })
  }
  return {
    over,
    /** Without an answer of the servers a pass cannot be measured: the run has fewer passes then. */
    start: (/** @type {number | null} */ dataBytes) =>
      all(dataBytes)
        .catch((error) => onEvent('passes', `the passes ended: ${error.message}`))
        .finally(finish),
    stop: () => {
      stopped = true
    },
    results: () => ({ passes: results, encodings }),
    counts: () => {
      /** @type {Record<string, number>} */
      const sums = {}
      for (const { counts } of results)
        for (const [name, n] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + n
      return sums
    },
  }
}
