// The parts of a run of workers, how it ends, and what became of every job.

import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { TargetError } from '../../base/errors.js'
import { untilStopped } from '../../base/interrupts.js'
import { waitingIn } from '../../measures/index.js'
import { steadyClock } from '../../probes/clocks.js'
import { watchedClocks } from '../../probes/run-clock.js'
import { changesOf } from '../../probes/seconds.js'
import { accountsBeside, boxAccount, signs } from '../../servers/queue-accounts.js'
import { strategyOf } from '../../workloads/bound-strategy.js'
import { queueOwner } from '../jobs/producer.js'
import { contentsOf } from './contents.js'
import { endingOf, goneMs, onesOf, withoutRepeats } from './ending.js'
import { workResultOf } from './result.js'
import { openStages } from './stages.js'

/**
 * @import { Target } from '../../servers/open.js'
 * @import { LoadNeeds } from '../index.js'
 * @import { WorkPlan } from './plan.js'
 * @import { Line } from '../../measures/fold.js'
 * @import { Changes } from '../../probes/seconds.js'
 */

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
    async line(/** @type {Changes} */ { perS: achieved }, /** @type {Line} */ line) {
      const { perS } = filtered()
      await checkEnd(waitingIn(line)).catch(() => {})
      return { achieved, ...(stages.length > 1 && { filtered: perS }), ...line }
    },
    shown: (/** @type {Changes} */ { perS, now }, /** @type {Line} */ line) => ({
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
