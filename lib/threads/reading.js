// A load of consumers in threads, as its run sees it: the same as one in its own thread.
import { exactly } from '../base/typed.js'
import { clockEffect, shownBy, verifyLimitMs } from '../loads/fetches/open.js'
import { counts } from '../measures/fields.js'
import { commandsOfRole } from '../measures/nodes.js'
import { watchedClocks } from '../probes/run-clock.js'
import { momentsOf } from '../probes/seconds.js'
import { besideOf, threadSeconds } from './seconds.js'
import { followerOf, startThreads } from './threads.js'
import { eventsOfThreads, sharedClock } from './writing.js'

/**
 * @import { LiveShare } from '../loads/fetches/verifying.js'
 * @import { ReaderRun } from '../loads/fetches/open.js'
 * @import { ReadPlan } from '../loads/fetches/plan.js'
 * @import { End, Second } from './seconds.js'
 * @import { Run } from '../measures/section.js'
 * @import { Amounts } from '../measures/fold.js'
 *
 * @typedef {End & { overMs: number, live: LiveShare | null, uniqueness: Run, reads: Run }} ReadEnd
 */

const added = counts()

/** A thread for each part. @param {ReadPlan} plan */
const recordsOf = (plan) => {
  const { threads: of = 1 } = plan
  return Array.from({ length: of }, (_, number) => {
    /** @type {ReturnType<typeof threadSeconds<Second, ReadEnd>>} */
    const seconds = threadSeconds()
    // Uniqueness is counted of all.
    const part = { ...plan, count: plan.count && number === 0, part: { number, of } }
    return Object.assign(seconds, { part })
  })
}

const unsaid = {
  code: 'thread',
  message: 'a thread did not say in time what it found: the counts of what was verified are not complete',
  invalidates: true,
}

/** What all of them found, under the names of run.json. @param {readonly ReadEnd[]} ends */
const foundBy = (ends) => ({
  // The thread that found the least of what is alive.
  live: ends.flatMap(({ live }) => live ?? []).toSorted((a, b) => a.share - b.share)[0] ?? null,
  uniqueness: ends.find(({ uniqueness }) => uniqueness)?.uniqueness ?? null,
  reads: ends.reduce((sum, { reads }) => added.acrossSources(sum, reads), {}),
})

/** @param {ReaderRun & { onLost: (text: string) => void }} needs onLost: a thread has ended by itself */
export const readingInThreads = async ({ plan, announced, announcements, target, frame, ...needs }) => {
  const { say, warn, results, undo, onLost } = needs
  const records = recordsOf(plan)
  const { clock, journal } = frame
  const beside = besideOf(records)
  const servers = () => target.nodes().map(({ address }) => address)
  const clocks = await watchedClocks({ target, warn, servers, effect: clockEffect })
  const instruments = await frame.measure('readers', { plan, target, verifier: null, beside })
  const onEvent = eventsOfThreads(journal.event)
  const onText = eventsOfThreads((_, text) => say(text))
  const onWarning = new Set()
  const follower = followerOf(target)
  let isOpen = false
  const place = target.place()
  const ordersOf = (/** @type {{ part: object }} */ { part }) => ({
    kind: 'reading',
    plan: part,
    ...{ announced, announcements, place },
  })
  const threads = await startThreads(records, ordersOf, {
    onSaid({ event, said, warning, failed }, number) {
      if (event) {
        follower.saw()
        onEvent(number, ...event)
      }
      if (said) onText(number, '', said)
      if (failed) onLost(failed)
      if (warning && !onWarning.has(warning.message)) warn(warning)
      if (warning) onWarning.add(warning.message)
    },
    onLost(number, cause) {
      records[number].isLost = true
      if (isOpen) onLost(`thread ${number + 1} of ${records.length} ended: ${cause}`)
    },
    warn,
  })
  undo(threads.close)
  isOpen = true
  target.access.renewed?.((password) => threads.tell({ password }))
  let startMs = 0
  let durationS = 0
  const elapsed = () => (startMs === 0 ? 0 : clock() - startMs)
  frame.hang({
    elapsed,
    over: threads.offered,
    stop: () => threads.tell({ stop: true }),
    async settle(limitMs, atOnce) {
      const now = () => threads.tell({ now: true })
      if (atOnce.aborted) now()
      atOnce.addEventListener('abort', now, { once: true })
      const whole = await threads.settle(limitMs, plan.verify ? verifyLimitMs : 0)
      if (records.some(({ end, isLost }) => !end && !isLost)) warn(unsaid)
      return whole
    },
  })
  return {
    /** When, epoch. */
    async begin() {
      await instruments.start()
      await instruments.startWindow()
      const seconds = {
        time: clocks,
        totalMs: plan.durationMs,
        moment: momentsOf(elapsed),
        async gather(/** @type {AbortSignal | undefined} */ last) {
          follower.second()
          await threads.second(last)
          beside.add()
        },
        line: (/** @type {unknown} */ _, /** @type {Amounts} */ line) => line,
        shown: shownBy(instruments),
        write: results.interval,
      }
      return frame.begin(seconds, () => {
        startMs = clock()
        threads.tell({ beginAtMs: sharedClock(clock)(startMs) })
      })
    },
    drained() {
      const ends = records.flatMap(({ end }) => end ?? [])
      durationS = (ends.length > 0 ? Math.max(...ends.map(({ overMs }) => overMs)) : elapsed()) / 1000
    },
    /** Under the names of run.json. @param {number} startedEpochMs @param {{ interrupted: boolean }} ending */
    result: (startedEpochMs, { interrupted }) => ({
      kind: exactly('consumer'),
      ...{ startedEpochMs, durationS, interrupted, plan, writing: announced },
      consumers: plan.agents.length * plan.consumers,
      clocks: clocks.figures(),
      ...foundBy(records.flatMap(({ end }) => end ?? [])),
      commands: {
        master: commandsOfRole(instruments.sofar.nodes, 'master'),
        replica: commandsOfRole(instruments.sofar.nodes, 'replica'),
      },
      events: journal.events,
      ...instruments.result({ stored: 0, overS: durationS }),
    }),
  }
}
