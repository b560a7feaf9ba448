// What clients are put together of: the flow over the target, what it draws, and the fill before it. It has the same
// face as a writer in ticks and its driver, so that everything that watches a run watches both.
import { TargetError } from '../errors.js'
import { clientsFlow } from '../flow/clients.js'
import { operationsOf } from '../measure/operations.js'
import { payloadMatcher } from '../plan/payload.js'
import { scheduleOf } from '../traffic/arrivals.js'
import { drawsOf, eachOnce } from '../traffic/items.js'
import { picksOf } from '../traffic/operations.js'
import { noTally } from '../wire/decode.js'
import { slotOf } from '../wire/slot.js'
import { encodingsOf, playPasses } from './passes.js'
import { longestTimerMs } from './settlement.js'

/**
 * @typedef {import('../plan/plan.js').Plan} Plan
 * @typedef {import('../target/open.js').Target} Target
 * @typedef {ReturnType<typeof import('../workloads/of-plan.js').strategyOf>} Strategy
 * @typedef {NonNullable<Plan['clients']>} Clients
 */

// A fill is no measurement: few connections with much in flight are the fastest.
const fillers = 2
const fillPipeline = 500
const progressMs = 1000

/** Of the operations that are played. @param {Strategy} strategy @param {Clients} clients */
const weightsOf = ({ declared: { roles, passes } }, { ratio }) =>
  roles.writer.play.length === 1 || passes ? [1] : ratio.filter((weight) => weight > 0)

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
    plan: {
      clients: clients.connections,
      pipeline: clients.pipeline,
      reconnectHz: clients.reconnectHz,
      cluster,
      maxBehindMs,
    },
    onRenewed: (tookMs) => records.renewals.record(tookMs * 1000),
    operations: strategy.stencils(),
    pick: picksOf(weightsOf(strategy, clients), seed),
    draw: strategy.declared.passes ? eachOnce(items) : drawsOf({ ...plan, count: items }),
    schedule: nominalHz === null ? null : scheduleOf({ ...plan, rateHz: nominalHz }),
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
  const counts = () =>
    Object.fromEntries(
      Object.entries(strategy.replyNames).map(([reply, name]) => [name, tally[/** @type {'nil'} */ (reply)]]),
    )
  const { play } = strategy.declared.roles.writer
  /** @param {import('../workloads/declare.js').Pass} pass @param {boolean} isFirst */
  const playPass = ({ play: operation, beyond }, isFirst) => {
    if (isFirst) flow.start()
    const kind = play.indexOf(operation)
    return isFirst ? flow.offered : flow.again(eachOnce(plan.items, beyond ? plan.items : 0), () => kind)
  }
  const passing =
    strategy.declared.passes &&
    passesOf({ plan, strategy, target, records, flow, play: playPass, counts, onEvent })
  // What is due by chance shortly before the end is sent before it is over.
  const graceMs = nominalHz === null || plan.arrivals === 'constant' ? 0 : maxBehindMs
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
      start() {
        if (passing) passing.start()
        else flow.start()
        if (durationMs !== null) endBy(durationMs + graceMs)
      },
      progress: () => {},
    },
    /** Replies by what they mean. */
    counts,
    passes: () => passing?.results() ?? null,
    renewals: flow.renewals,
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
 * @param {() => Record<string, number>} needs.counts
 * @param {(kind: string, text: string) => void} needs.onEvent
 */
export const passesOf = ({ plan, strategy, target, records, flow, play, counts, onEvent }) => {
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
  const all = async () => {
    results = await playPasses({
      passes,
      target,
      play,
      settle: (limitMs) => flow.settle(limitMs, never),
      lastSettledMs: flow.lastSettledMs,
      counts,
      acked: () => records.ledger.whole.acked,
      elapsed: flow.elapsed,
      isStopped: () => stopped,
    })
    encodings = await encodingsOf(target, { keyBytes: strategy.keyBytes, ownerOf, numbers: plan.items })
  }
  return {
    over,
    /** Without an answer of the servers a pass cannot be measured: the run has fewer passes then. */
    start: () =>
      all()
        .catch((error) => onEvent('passes', `the passes ended: ${error.message}`))
        .finally(finish),
    stop: () => {
      stopped = true
    },
    results: () => ({ passes: results, encodings }),
  }
}

/**
 * Writes every key once, and counts what is there then.
 * @param {object} needs
 * @param {Plan} needs.plan
 * @param {Strategy} needs.strategy
 * @param {Target} needs.target
 * @param {() => number} needs.clock
 * @param {(line: string) => void} needs.say
 * @param {(kind: string, text: string) => void} needs.onEvent
 * @param {AbortSignal} needs.stop
 */
export const fillKeys = async ({ plan, strategy, target, clock, say, onEvent, stop }) => {
  const operation = strategy.fill()
  if (!operation) return
  const ledger = operationsOf({ isMeasured: () => true })
  const flow = await clientsFlow({
    plan: { clients: fillers, pipeline: fillPipeline, cluster: plan.cluster, maxBehindMs: plan.maxBehindMs },
    operations: [operation],
    pick: () => 0,
    draw: eachOnce(plan.items),
    schedule: null,
    target,
    ledger,
    latency: { record: () => {} },
    onSent: () => {},
    tally: noTally(),
    clock,
    random: Math.random,
    onEvent,
  })
  const startMs = clock()
  const progress = setInterval(() => {
    flow.watch()
    if (clock() - startMs > 2 * progressMs)
      say(
        `filling: ${Math.floor((ledger.whole.acked / plan.items) * 100)} % of ${plan.items.toLocaleString('en')} keys`,
      )
  }, progressMs)
  stop.addEventListener('abort', flow.stop)
  try {
    flow.start()
    await flow.offered
    await flow.settle(10_000, stop)
    flow.abandon()
  } finally {
    stop.removeEventListener('abort', flow.stop)
    clearInterval(progress)
    flow.close()
  }
  const { acked } = ledger.whole
  if (stop.aborted) return
  const seconds = (clock() - startMs) / 1000
  const causes = Object.entries(ledger.failedBy).map(([cause, n]) => `${cause} ${n.toLocaleString('en')}`)
  if (acked < plan.items)
    throw new TargetError(
      `--fill: ${acked.toLocaleString('en')} of ${plan.items.toLocaleString('en')} keys were written (${causes.join(', ') || 'no answer'})`,
    )
  const isCounted = await checkFilled(plan, strategy, target, say)
  say(
    `filled ${plan.items.toLocaleString('en')} keys in ${seconds.toFixed(1)} s, all there by ${isCounted ? 'DBSIZE and ' : ''}a sample`,
  )
}

const sampled = 100

/**
 * The masters have as many keys, and those looked at have the bytes that were written.
 * @param {Plan} plan
 * @param {Strategy} strategy
 * @param {Target} target
 * @param {(line: string) => void} say
 * @returns {Promise<boolean>} whether they were counted
 */
const checkFilled = async (plan, strategy, target, say) => {
  const there = await keysThere(target)
  if (there === null) say(`${target.address} refuses DBSIZE: the keys are not counted after the fill`)
  if (there !== null && there < plan.items)
    throw new TargetError(
      `--fill: ${plan.items.toLocaleString('en')} keys were acknowledged, but the masters have ${there.toLocaleString('en')}`,
    )
  const { masters, owners } = target.topology
  const matches = payloadMatcher({ ...plan, stamp: false })
  const count = Math.min(sampled, plan.items)
  const wrong = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const n = 1 + Math.floor((i * plan.items) / count)
      const key = strategy.keyOf(n)
      const value = await target.control(masters[owners ? owners[slotOf(key)] : 0]).getBuffer(key)
      return value !== null && matches(n, value, 0, value.length) ? [] : [key]
    }),
  )
  const [first] = wrong.flat()
  if (first !== undefined) throw new TargetError(`--fill: ${first} does not have the value that was written`)
  return there !== null
}

/** Keys in the masters; null where one does not say. @param {Target} target */
const keysThere = async (target) => {
  const sizes = await Promise.all(
    target.topology.masters.map((address) =>
      target
        .control(address)
        .dbsize()
        .catch(() => null),
    ),
  )
  return sizes.some((size) => size === null)
    ? null
    : sizes.reduce((sum, size) => Number(sum) + Number(size), 0)
}
