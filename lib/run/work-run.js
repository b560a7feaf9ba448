// One run of the workers of a queue: put together, started, ended, and accounted for job by job.

import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { TargetError } from '../base/errors.js'
import { unlessInterrupted, untilStopped } from '../base/interrupts.js'
import { alarm, deferred } from '../base/timers.js'
import { withUndo } from '../base/undo.js'
import { queueOwner } from '../loads/jobs/producer.js'
import { contentsOf } from '../loads/workers/contents.js'
import { workResultOf } from '../loads/workers/result.js'
import { openStages } from '../loads/workers/stages.js'
import { onesIn } from '../measure/bits.js'
import { steadyClock } from '../measure/clocks.js'
import { ofWorkers, waitingIn } from '../measures/index.js'
import { accountsBeside, boxAccount, signs } from '../servers/queue-accounts.js'
import { strategyOf } from '../workloads/strategy-of-plan.js'
import { watchedClocks } from './clock.js'
import { frameOf } from './frame.js'
import { withoutRepeats } from './journal.js'
import { changesOf } from './second.js'

/**
 * @import { Redis } from 'ioredis'
 * @import { Sets } from '../measure/jobs.js'
 * @import { AnnouncedPlan } from '../plan/announced-plan.js'
 * @import { WorkPlan } from '../loads/workers/plan.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Target } from '../servers/open.js'
 * @import { Frame, FrameNeeds, Undo } from './frame.js'
 *
 * @typedef {FrameNeeds & { plan: WorkPlan, announced: AnnouncedPlan | null, warn: (warning: Warning) => void }} WorkNeeds
 */

// How long a server that is away is waited for.
const goneMs = 60_000
// Boxes that drain a queue see within about a second of each other that it is empty.
const othersEndMs = 5000
const lookEveryMs = 100
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

/** @param {Sets} sets */
const jobsOf = (sets) => Object.values(sets).reduce((sum, set) => sum + onesIn(set), 0)

/** When the run is over: at its time, with `drain` when nothing is left, or when its server has gone. */
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
    /** @param {number | null} waiting null: the server does not say */
    async look(waiting) {
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
      // A second queue that these workers do not drain is none of theirs.
      const others = plan.work.outputs === null ? jobsOf(passed) : 0
      if (jobsOf(queued) + jobsOf(taken) === others) finish()
    },
  }
}

/**
 * What is written and shown of each second.
 * @param {WorkPlan} plan
 * @param {Frame} frame
 * @param {Awaited<ReturnType<typeof openStages>>['stages']} stages
 * @param {{ renew: () => Promise<void> }} account
 * @param {(waiting: number | null) => Promise<void>} look whether the run is over; null: the server does not say
 */
const secondsOf = (plan, { elapsed }, stages, account, look) => {
  const { records } = stages[stages.length - 1]
  // With two stages, what the first has done too.
  const filtered = changesOf(() => stages[0].records.jobs.counts, 'done', elapsed)
  return {
    totalMs: plan.durationMs,
    moment: changesOf(() => records.jobs.counts, 'done', elapsed),
    ask: () => account.renew().catch(() => {}),
    async line(/** @type {any} */ { perS: achieved }, /** @type {any} */ line) {
      const { perS } = filtered()
      await look(waitingIn(line)).catch(() => {})
      return { achieved, ...(stages.length > 1 && { filtered: perS }), ...line }
    },
    shown: (/** @type {any} */ { perS, now }, /** @type {any} */ line) => ({
      achievedRate: perS,
      lost: { waiting: waitingIn(line) ?? 0, again: now.duplicates },
    }),
  }
}

/** @param {WorkNeeds} needs @param {Undo} undo */
const setUp = async (needs, undo) => {
  const { plan, target, results, warn } = needs
  const strategy = strategyOf(plan)
  await checkServer(strategy, target)
  const frame = frameOf(needs, undo)
  const { clock, elapsed, journal } = frame
  const owner = queueOwner(target, strategy)
  const client = () => target.control(owner())
  let startMs = 0
  let startUs = 0
  let endMs = 0
  const steady = steadyClock()
  const { masters } = target.topology
  const clocks = await watchedClocks({
    ...{ target, warn, steady, servers: () => masters },
    effect: 'latencies of jobs are wrong',
  })
  const offsetMs = clocks.offsetMs()
  const box = boxName()
  const crew = await openStages({
    ...{ plan, target, owner, box, offsetMs, clock },
    epochMs: steady.epochMs,
    onEvent: withoutRepeats(journal.event, elapsed),
  })
  undo(crew.close)
  const { stages } = crew
  const [{ records: last }] = stages.slice(-1)
  const account = boxAccount(client, strategy.accounts(), box, last.jobs.done)
  const instruments = await frame.measure(ofWorkers, {
    ...{ plan, stages },
    waiting: () => crew.waiting(client()),
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
      crew.stop()
      return crew.settle(limitMs, atOnce)
    },
  })
  const seconds = secondsOf(plan, frame, stages, account, ending.look)
  return {
    ...{ plan, announced: needs.announced, strategy, client, last, crew, account, box },
    ...{ frame, instruments, clocks, journal, elapsed },
    /** When the run began, by the clock of the queue's server. */
    startUs: () => startUs,
    begin: () =>
      frame.begin({ ...seconds, time: clocks, write: results.interval }, () => {
        startMs = clock()
        startUs = (steady.epochMs() + offsetMs) * 1000
        crew.start()
        ending.start()
      }),
    end() {
      endMs = clock()
    },
  }
}

/** @typedef {Awaited<ReturnType<typeof setUp>>} WorkRun */

/** @param {readonly Uint8Array[]} sets */
const jobsIn = (sets) => sets.reduce((sum, set) => sum + onesIn(set), 0)

/** What became of every job, as the accounts and the queue have it now. @param {WorkRun} run */
const accountNow = async ({ client, strategy, last, crew, box }) => {
  const beside = await accountsBeside(client(), strategy.accounts(), box)
  const contents = await contentsOf(client(), strategy)
  const { makersAtWork, boxesAtWork, boxesSilent, acked, doubt } = beside
  const others = beside.others.map(({ sets }) => sets)
  const atOnce = beside.others.filter((other) => other.atOnce)
  const { foreign, ...standing } = contents
  return {
    ...last.jobs.account({ acked, others, ...standing, foreign, doubt }),
    foreign: crew.stages.reduce((sum, { records }) => sum + records.jobs.counts.foreign, foreign),
    makers_at_work: makersAtWork,
    boxes_at_work: boxesAtWork,
    boxes_silent: boxesSilent,
    ...(atOnce.length > 0 && {
      boxes: [
        { host: hostname(), done: jobsIn([...last.jobs.done.values()].map((bits) => bits.bytes())) },
        ...atOnce.map(({ host, sets }) => ({ host, done: jobsIn(Object.values(sets)) })),
      ],
    }),
  }
}

/**
 * The same, read when none of our workers takes jobs any more. Boxes that end together wait for each other's last account.
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
    await sleep(lookEveryMs)
    if (!(await areTaking())) break
  }
  return accountNow(run)
}

/** @param {WorkNeeds} needs @param {Undo} undo */
const played = async (needs, undo) => {
  const { stop, stopNow } = needs
  const run = await unlessInterrupted(stop, setUp(needs, undo))
  const { frame, instruments, journal } = run
  // Workers of a queue that has filled the memory make room; the account is stored as soon as there is some.
  await run.account.begin().catch((error) => {
    if (!isOutOfMemory(error)) throw error
  })
  await instruments.startWindow()
  const startedEpochMs = run.begin()
  const whole = await frame.settled()
  run.end()
  instruments.end()
  await frame.endSeconds()
  const account = await untilStopped(
    stopNow,
    accounted(run, stopNow).catch((error) => {
      journal.note('account', error.message)
      return null
    }),
    null,
  )
  await untilStopped(
    stopNow,
    run.account.end().catch(() => {}),
    undefined,
  )
  return workResultOf(run, { startedEpochMs, interrupted: stop.aborted, whole, account })
}

/** @param {WorkNeeds} needs */
export const workRun = (needs) => withUndo((undo) => played(needs, undo))
