// The parts of a run of workers, how it ends, and what became of every job.
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { TargetError } from '../../base/errors.js'
import { untilStopped } from '../../base/interrupts.js'
import { sums } from '../../base/sums.js'
import { alarm, deferred } from '../../base/timers.js'
import { waitingIn } from '../../measures/index.js'
import { commandsOfRole } from '../../measures/nodes.js'
import { onesIn } from '../../probes/bits.js'
import { steadyClock } from '../../probes/clocks.js'
import { watchedClocks } from '../../probes/run-clock.js'
import { changesOf } from '../../probes/seconds.js'
import { accountsBeside, boxAccount, signs } from '../../servers/queue-accounts.js'
import { strategyOf } from '../../workloads/bound-strategy.js'
import { queueOwner } from '../jobs/producer.js'
import { contentsOf } from './contents.js'
import { openStages } from './stages.js'

/**
 * @import { Target } from '../../servers/open.js'
 * @import { LoadNeeds } from '../index.js'
 * @import { WorkPlan } from './plan.js'
 * @import { Amounts } from '../../measures/fold.js'
 * @import { Changes } from '../../probes/seconds.js'
 * @import { Redis } from 'ioredis'
 * @import { Sets, Account } from './stages.js'
 */

// The result of the workers of a queue: counts, latencies and the account, under the names of run.json.

/**
 * @typedef {{ host: string, done: number }} Box
 * @typedef {object} Ending
 * @property {number} startedEpochMs
 * @property {boolean} interrupted
 * @property {boolean} whole every job in hand was finished
 * @property {(Account & { foreign: number, makers_at_work: number, boxes_at_work: number, boxes_silent: number, boxes?: Box[] }) | null} account boxes: those that took at once
 */

/** How evenly jobs are spread: 1 where all have as many, 1/n where one has all (Jain). @param {readonly number[]} counts */
const fairness = (counts) => {
  const sum = counts.reduce((a, b) => a + b, 0)
  const squares = counts.reduce((a, b) => a + b * b, 0)
  return squares === 0 ? null : (sum * sum) / (counts.length * squares)
}

/** How far the busiest worker is above the median one. @param {Float64Array} counts */
const busiest = (counts) => {
  const sorted = counts.toSorted()
  const middle = (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
  return middle === 0 ? null : sorted[sorted.length - 1] / middle
}

/** Jobs a second from when the first one was taken to when the last one was done. @param {WorkRun['last']} records of a stage */
const rateOf = ({ jobs: { counts }, span: { fromUs, toUs } }) =>
  counts.done > 1 && toUs > fromUs ? (counts.done * 1e6) / (toUs - fromUs) : null

/** @param {WorkRun['last']} records of a stage @param {number} durationMs */
const workersOf = ({ jobs: { counts }, byWorker, whole }, durationMs) => {
  const { busyMs, batches, processesLost, workUs } = whole
  return {
    count: byWorker.length,
    busy_share: durationMs > 0 ? busyMs / (durationMs * byWorker.length) : null,
    jobs_a_take: batches > 0 ? counts.taken / batches : null,
    work_us_mean: counts.done > 0 ? workUs / counts.done : null,
    fewest: Math.min(...byWorker),
    most: Math.max(...byWorker),
    fairness: fairness([...byWorker]),
    busiest: busiest(byWorker),
    processes_lost: processesLost,
  }
}

/** Filters and outputs, each like a run of its own. @param {WorkRun} run @param {number} durationMs */
const stagesOf = ({ workers: { stages } }, durationMs) =>
  stages.length === 1
    ? null
    : Object.fromEntries(
        stages.map(({ plan, records }) => {
          const { done, duplicates, reclaimed } = records.jobs.counts
          return [
            String(plan.work.stage),
            {
              rate: rateOf(records),
              done,
              duplicates,
              reclaimed,
              latency_us: records.times.whole.whole(),
              ...workersOf(records, durationMs),
            },
          ]
        }),
      )

/** Commands of the workers that the masters ran. @param {WorkRun} run */
const commandsIn = ({ instruments, strategy }) =>
  Object.fromEntries(
    Object.entries(commandsOfRole(instruments.sofar.nodes, 'master')).filter(([name]) =>
      strategy.workCommands.has(name),
    ),
  )

/** @param {WorkRun} run @param {Ending} ending */
const workResultOf = (run, { startedEpochMs, interrupted, whole, account }) => {
  const { plan, announced, workers, last, clocks, journal, elapsed, strategy } = run
  const [{ records: first }] = workers.stages
  const { jobs } = last
  const durationMs = elapsed()
  const { counts } = jobs
  return {
    /** @type {'consumer'} */
    kind: 'consumer',
    startedEpochMs,
    durationS: durationMs / 1000,
    interrupted,
    plan,
    writing: announced,
    jobs: {
      settled: whole,
      ...(counts.done > 0 && {
        first_ms: (last.span.fromUs - run.startUs()) / 1000,
        last_ms: (last.span.toUs - run.startUs()) / 1000,
      }),
      promise: strategy.workers()?.promise,
      account,
    },
    rate: { nominal: null, achieved: rateOf(last) },
    workers: {
      ...workersOf(first, durationMs),
      ...(account?.boxes && { boxes_fairness: fairness(account.boxes.map(({ done }) => done)) }),
    },
    stages: stagesOf(run, durationMs),
    ...(plan.work.reconnectHz !== null && {
      connections: {
        stated: `${plan.work.reconnectHz}/s`,
        renewed: workers.stages.reduce((sum, { records }) => sum + records.whole.renewed, 0),
        connect_us: first.times.connect.whole(),
      },
    }),
    commands: {
      refused_by: sums(workers.stages.map(({ records }) => records.refusedBy)),
      lost_replies: sums(workers.stages.map(({ records }) => records.lostReplies)),
    },
    clocks: clocks.figures(),
    server: { commands: commandsIn(run) },
    events: journal.events,
    ...run.instruments.result({ stored: counts.done, overS: durationMs / 1000 }, workers.measured()),
  }
}

// When a run of workers is over, and events without repeats.

// A server that is away is waited for this long.
const goneMs = 60_000
const repeatedMs = 10_000

/**
 * An event repeated within ten seconds is counted, and the count is reported with the next one.
 * @param {(kind: string, text: string) => void} event
 * @param {() => number} elapsed
 */
export const withoutRepeats = (event, elapsed) => {
  /** @type {Map<string, { shownMs: number, times: number }>} */
  const known = new Map()
  return (/** @type {string} */ kind, /** @type {string} */ text) => {
    const key = `${kind} ${text}`
    const last = known.get(key)
    if (last && elapsed() - last.shownMs < repeatedMs) {
      last.times++
      return
    }
    known.set(key, { shownMs: elapsed(), times: 0 })
    event(kind, last && last.times > 0 ? `${text} (${last.times} more times)` : text)
  }
}

/** @param {readonly Uint8Array[]} sets */
const onesOf = (sets) => sets.reduce((sum, set) => sum + onesIn(set), 0)
/** @param {Sets} sets */
const jobsOf = (sets) => onesOf(Object.values(sets))

/** Ends the run: at its time, with `drain` when nothing is left, or when its server is gone. */
export const endingOf = (
  /** @type {{ plan: WorkPlan, client: () => Redis, strategy: ReturnType<typeof strategyOf>, elapsed: () => number, onGone: () => void }} */ needs,
) => {
  const { plan, client, strategy, elapsed, onGone } = needs
  /** @type {number | null} */
  let silentSinceMs = null
  let cancelEnd = () => {}
  const { over, finish: end } = deferred()
  const finish = () => {
    cancelEnd()
    end()
  }
  return {
    over,
    start: () => {
      if (plan.durationMs !== null) cancelEnd = alarm(plan.durationMs, elapsed, finish)
    },
    stop: () => finish(),
    /** @param {number | null} waiting null: the server did not answer */
    async check(waiting) {
      if (waiting === null) {
        silentSinceMs ??= elapsed()
        if (plan.durationMs !== null || elapsed() - silentSinceMs < goneMs) return
        onGone()
        finish()
        return
      }
      silentSinceMs = null
      if (!plan.work.drain || waiting > 0) return
      const { makers } = await signs(client(), strategy.accounts())
      if (makers.length === 0 || makers.some(({ atWork }) => atWork)) return
      const { queued, taken, passed } = await contentsOf(client(), strategy)
      // Jobs in a second queue that these workers do not drain do not count.
      const others = plan.work.outputs === null ? jobsOf(passed) : 0
      if (jobsOf(queued) + jobsOf(taken) === others) finish()
    },
  }
}

// Boxes that drain a queue see that it is empty within about a second of each other.
const othersEndMs = 5000
const checkEveryMs = 100
const isOutOfMemory = (/** @type {Error} */ { message }) => /\bOOM\b/.test(message)

/** A name that no other run has. */
const boxName = () =>
  Date.now().toString(36) +
  Math.floor(Math.random() * 36 ** 3)
    .toString(36)
    .padStart(3, '0')

/** @param {ReturnType<typeof strategyOf>} strategy @param {Target} target */
const checkServer = async (strategy, { commands, address, versions }) => {
  const needs = strategy.workers()?.needs ?? []
  const known = await commands(needs.map(({ command }) => command))
  const missing = needs.find(({ command }) => !known.has(command))
  if (missing)
    throw new TargetError(
      `${address} (${versions.join(', ')}) has no command ${missing.command} (${missing.since}), which these workers need`,
      { code: 'UNSUPPORTED' },
    )
}

/**
 * How each second is written and shown.
 * @param {WorkPlan} plan
 * @param {() => number} elapsed
 * @param {Awaited<ReturnType<typeof openStages>>['stages']} stages
 * @param {{ renew: () => Promise<void> }} account
 * @param {(waiting: number | null) => Promise<void>} checkEnd whether the run is over; null: the server did not answer
 */
const secondsOf = (plan, elapsed, stages, account, checkEnd) => {
  const { records } = stages[stages.length - 1]
  // With two stages, the jobs done by the first as well.
  const filtered = changesOf(() => stages[0].records.jobs.counts, 'done', elapsed)
  return {
    totalMs: plan.durationMs,
    moment: changesOf(() => records.jobs.counts, 'done', elapsed),
    ask: () => account.renew().catch(() => {}),
    async line(/** @type {Changes} */ { perS: achieved }, /** @type {Amounts} */ line) {
      const { perS } = filtered()
      await checkEnd(waitingIn(line)).catch(() => {})
      return { achieved, ...(stages.length > 1 && { filtered: perS }), ...line }
    },
    shown: (/** @type {Changes} */ { perS, now }, /** @type {Amounts} */ line) => ({
      achievedRate: perS,
      lost: { waiting: waitingIn(line) ?? 0, again: now.duplicates },
    }),
  }
}

/** @param {LoadNeeds & { plan: WorkPlan }} needs */
const setUp = async ({ plan, announced, target, warn, frame, undo }) => {
  const strategy = strategyOf(plan)
  await checkServer(strategy, target)
  const { clock, elapsed, journal } = frame
  const owner = queueOwner(target, strategy)
  const client = () => target.control(owner())
  let startMs = 0
  let startUs = 0
  let endMs = 0
  const steady = steadyClock()
  const { masters } = target.topology
  const clocks = await watchedClocks({
    target,
    warn,
    steady,
    servers: () => masters,
    effect: 'latencies of jobs are wrong',
  })
  const offsetMs = clocks.offsetMs()
  const box = boxName()
  const workers = await openStages({
    plan,
    target,
    owner,
    box,
    offsetMs,
    clock,
    epochMs: steady.epochMs,
    onEvent: withoutRepeats(journal.event, elapsed),
  })
  undo(workers.close)
  const { stages } = workers
  const [{ records: last }] = stages.slice(-1)
  const account = boxAccount(client, strategy.accounts(), box, last.jobs.done)
  const instruments = await frame.measure('workers', {
    plan,
    stages,
    waiting: () => workers.waiting(client()),
    queueBytes: async () => Number(await client().call('MEMORY', 'USAGE', strategy.keyOf(1), 'SAMPLES', '5')),
    records: { latency: { intended: last.times.whole, service: last.times.service } },
  })
  const onGone = () =>
    warn({
      code: 'server-gone',
      message: `${owner()} has not answered for ${goneMs / 1000} s, so the run was ended: start it again, and the workers too`,
    })
  const ending = endingOf({ plan, client, strategy, elapsed, onGone })
  undo(ending.stop)
  frame.hang({
    elapsed: () => (startMs === 0 ? 0 : (endMs || clock()) - startMs),
    over: ending.over,
    stop: ending.stop,
    settle: (limitMs, atOnce) => {
      workers.stop()
      return workers.settle(limitMs, atOnce)
    },
  })
  const seconds = secondsOf(plan, elapsed, stages, account, ending.check)
  return {
    plan,
    announced,
    strategy,
    client,
    last,
    workers,
    account,
    box,
    instruments,
    clocks,
    journal,
    elapsed,
    seconds: { ...seconds, time: clocks },
    /** When the run began, by the clock of the queue's server. */
    startUs: () => startUs,
    start() {
      startMs = clock()
      startUs = (steady.epochMs() + offsetMs) * 1000
      workers.start()
      ending.start()
    },
    end() {
      endMs = clock()
    },
  }
}

/** @typedef {Awaited<ReturnType<typeof setUp>>} WorkRun */

/** What became of every job, by the accounts and the queue as they are now. @param {WorkRun} run */
const accountNow = async ({ client, strategy, last, workers, box }) => {
  const beside = await accountsBeside(client(), strategy.accounts(), box)
  const contents = await contentsOf(client(), strategy)
  const { makersAtWork, boxesAtWork, boxesSilent, acked, doubt } = beside
  const others = beside.others.map(({ sets }) => sets)
  const atOnce = beside.others.filter((other) => other.atOnce)
  const { foreign, ...standing } = contents
  return {
    ...last.jobs.account({ acked, others, ...standing, foreign, doubt }),
    foreign: workers.stages.reduce((sum, { records }) => sum + records.jobs.counts.foreign, foreign),
    makers_at_work: makersAtWork,
    boxes_at_work: boxesAtWork,
    boxes_silent: boxesSilent,
    ...(atOnce.length > 0 && {
      boxes: [
        { host: hostname(), done: onesOf([...last.jobs.done.values()].map((bits) => bits.bytes())) },
        ...atOnce.map(({ host, sets }) => ({ host, done: onesOf(Object.values(sets)) })),
      ],
    }),
  }
}

/**
 * The same at the end, when our workers take no more jobs. Boxes that end together wait for each other's last account.
 * @param {WorkRun} run
 * @param {AbortSignal} atOnce
 */
const accounted = async (run, atOnce) => {
  await run.account.settle()
  const found = await accountNow(run)
  if (found.unknown === 0 || found.boxes_at_work === 0) return found
  const keys = run.strategy.accounts()
  const areTaking = async () =>
    (await signs(run.client(), keys)).boxes.some(({ name, takes }) => takes && name !== run.box)
  for (const untilMs = performance.now() + othersEndMs; performance.now() < untilMs && !atOnce.aborted; ) {
    await sleep(checkEveryMs)
    if (!(await areTaking())) break
  }
  return accountNow(run)
}

/** @param {LoadNeeds & { plan: WorkPlan }} needs */
export const openWorkers = async (needs) => {
  const { frame, results, stopNow } = needs
  const run = await setUp(needs)
  const { account, instruments, journal } = run
  return {
    /** When, epoch. */
    async begin() {
      // Workers of a queue that has filled the memory make room; the account is stored as soon as it fits.
      await account.begin().catch((error) => {
        if (!isOutOfMemory(error)) throw error
      })
      await instruments.startWindow()
      return frame.begin({ ...run.seconds, write: results.interval }, run.start)
    },
    drained: run.end,
    /** Under the names of run.json. @param {number} startedEpochMs @param {{ whole: boolean, interrupted: boolean }} ending */
    async result(startedEpochMs, ending) {
      const found = accounted(run, stopNow).catch((error) => {
        journal.note('account', error.message)
        return null
      })
      const jobs = await untilStopped(stopNow, found, null)
      await untilStopped(
        stopNow,
        account.end().catch(() => {}),
        undefined,
      )
      return workResultOf(run, { startedEpochMs, ...ending, account: jobs })
    },
  }
}
