// A producer's account of its jobs, stored beside the queue once a second and at the end.
import { setTimeout as sleep } from 'node:timers/promises'
import { untilStopped } from '../../base/interrupts.js'
import { certain } from '../../base/typed.js'
import { bitsOf } from '../../probes/bits.js'
import { makerAccount, signs } from '../../servers/queue-accounts.js'
import { ownerOf } from '../../servers/topology.js'
import { parseInfo } from '../../wire/info.js'
import { strategyOf } from '../../workloads/bound-strategy.js'
import { waitingOf } from '../workers/contents.js'

/**
 * @import { Plan } from '../plan.js'
 * @import { Target } from '../../servers/open.js'
 * @import { WriterRun } from '../ticks/open.js'
 *
 * @typedef {ReturnType<typeof strategyOf>} Strategy
 */

/**
 * When a queue will be full: a straight line through its lengths until a quarter of it is used; and when the first job was
 * refused. The caller passes the time, in milliseconds of the run.
 * @typedef {object} Filling
 * @property {number | null} predicted_ms when it would be full
 * @property {number | null} predicted_at_ms when that was known
 * @property {number | null} full_ms the first refusal
 */

const enough = 0.25
const leastSamples = 3

export const fillingOf = () => {
  /** @type {{ atMs: number, full: number }[]} */
  const samples = []
  /** @type {Filling} */
  const filling = { predicted_ms: null, predicted_at_ms: null, full_ms: null }

  const predict = () => {
    const mean = (/** @type {(one: typeof samples[number]) => number} */ pick) =>
      samples.reduce((sum, one) => sum + pick(one), 0) / samples.length
    const [midMs, midPart] = [mean(({ atMs }) => atMs), mean(({ full }) => full)]
    const slope =
      mean(({ atMs, full }) => (atMs - midMs) * (full - midPart)) / mean(({ atMs }) => (atMs - midMs) ** 2)
    return slope > 0 ? midMs + (1 - midPart) / slope : null
  }
  return {
    filling,
    /** @param {number} atMs @param {number} full of its limit */
    addSample(atMs, full) {
      if (filling.predicted_at_ms !== null || filling.full_ms !== null) return
      samples.push({ atMs, full })
      if (full < enough || samples.length < leastSamples) return
      filling.predicted_ms = predict()
      filling.predicted_at_ms = atMs
    },
    /** @param {number} atMs */
    refused(atMs) {
      filling.full_ms ??= atMs
    },
  }
}

const everyMs = 1000
// The end waits for a silent server at most this long.
const endLimitMs = 4000
// Workers of an empty queue end once they have read the account; others would wait for jobs that never come.
const idleLimitMs = 10_000
/** Refusals for a full queue or full memory. */
export const noRoom = Object.freeze(['FULL', 'OOM'])

/**
 * Keeps a local server running for the workers of its queue: until they have ended, the queue has been empty for a while,
 * or it is stopped.
 * @param {Target} target
 * @param {Plan} plan
 * @param {{ say: (line: string) => void, stop: AbortSignal }} needs
 */
export const workersHaveLeft = async (target, plan, { say, stop }) => {
  const strategy = strategyOf(plan)
  const client = target.control(queueOwner(target, strategy)())
  const areThere = async () => {
    const { boxes } = await signs(client, strategy.accounts())
    return boxes.some(({ atWork }) => atWork)
  }
  let leftAtMs = performance.now()
  const hasJobs = async () => {
    if ((await waitingOf(client, strategy)) > 0) leftAtMs = performance.now()
    return performance.now() - leftAtMs < idleLimitMs
  }
  const isNeeded = async () => (await areThere()) && (await hasJobs())
  for (let isSaid = false; !stop.aborted && (await isNeeded().catch(() => false)); isSaid = true) {
    if (!isSaid)
      say('workers take from the queue: its local server stays until they have ended; Ctrl-C ends it')
    await sleep(everyMs, undefined, { signal: stop }).catch(() => {})
  }
}

/** The server that has the queue. @param {Target} target @param {Strategy} strategy */
export const queueOwner = (target, strategy) => () => ownerOf(target.topology, strategy.keyOf(1))

/**
 * @param {Pick<WriterRun, 'plan' | 'strategy' | 'target' | 'onEvent'>} run
 * @param {() => number} elapsed
 * @param {() => Record<string, number>} failedBy
 */
export const queueProducerOf = ({ plan, strategy, target, onEvent }, elapsed, failedBy) => {
  const { maker, limit } = certain(plan.queue)
  const acked = bitsOf()
  const owner = queueOwner(target, strategy)
  const client = () => target.control(owner())
  const { filling, addSample, refused } = fillingOf()
  /** How full the queue is: of its limit, or of the memory of its server. */
  const fullness = async () => {
    const { fields } = parseInfo(await client().info('memory'))
    const [used, most] = [Number(fields.used_memory), Number(fields.maxmemory)]
    const byMemory = most > 0 ? used / most : 0
    return Math.max(byMemory, limit === null ? 0 : (await waitingOf(client(), strategy)) / limit)
  }
  const account = makerAccount(client, strategy.accounts(), maker, acked)
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  let underWay = Promise.resolve()
  let isUnderWay = false
  /** @param {() => Promise<unknown>} work */
  const begin = (work) => {
    isUnderWay = true
    underWay = work()
      .catch(() => {})
      .then(() => {
        isUnderWay = false
      })
  }
  const renew = () => {
    // A server that is away answers none of these; a later call, or the end, stores what this one could not.
    if (isUnderWay) return
    begin(async () => {
      addSample(elapsed(), await fullness())
      await account.renew()
    })
  }
  return {
    acked: acked.add,
    refused,
    /** How the queue filled, and what it had no room for. */
    figures: () => ({
      limit,
      refused: noRoom.reduce((sum, cause) => sum + (failedBy()[cause] ?? 0), 0),
      ...filling,
    }),
    start() {
      begin(account.begin)
      timer = setInterval(renew, everyMs)
    },
    /** Stores the account, so that consumers know what was produced. */
    async end() {
      clearInterval(timer)
      const fault = await untilStopped(
        AbortSignal.timeout(endLimitMs),
        underWay.then(account.end).then(
          () => null,
          (error) => error.message,
        ),
        'the server does not answer',
      )
      if (fault !== null) onEvent('account', `the jobs produced could not be stored: ${fault}`)
    },
  }
}
