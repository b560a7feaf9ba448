// Ticks that wait to be sent by a library, oldest first, one command of each chunk: no retry passes a later tick.

/**
 * @import { Loss, ledgerOf } from '../probes/ledger.js'
 * @import { TickValues } from '../wire/encode.js'
 * @import { Tick } from './send-queue.js'
 * @import { Batch } from './tick-batches.js'
 *
 * @typedef {{ batch: Batch, values: TickValues }} Job
 * @typedef {{ tick: Tick, jobs: Job[], j: number, i: number }} WaitingTick
 */

/** @param {ReturnType<typeof ledgerOf>} ledger */
export const waitingTicksOf = (ledger) => {
  /** @type {WaitingTick[]} */
  let all = []
  // A chunk has an unsettled tick: its next one waits, so that no retry passes a later one.
  /** @type {Map<number, Tick>} */
  const underWay = new Map()

  const finished = (/** @type {Tick} */ tick) => {
    if (tick.account.open === 0 && underWay.get(tick.chunk) === tick) underWay.delete(tick.chunk)
  }
  /** @param {WaitingTick} waiting @param {Loss} outcome */
  const loseTick = ({ tick, jobs, j, i }, outcome) => {
    for (let k = j; k < jobs.length; k++) {
      const from = k === j ? i : 0
      ledger.lose(tick.account, jobs[k].batch, from, jobs[k].batch.count, outcome, '')
    }
    finished(tick)
  }

  return {
    finished,
    /** @param {Tick} tick @param {Job[]} jobs */
    add: (tick, jobs) => all.push({ tick, jobs, j: 0, i: 0 }),
    count: () => all.length,
    /** @returns {{ tick: Tick, job: Job, i: number } | null} one command, which is no longer here */
    next() {
      for (const waiting of all) {
        const { tick, jobs } = waiting
        const busy = underWay.get(tick.chunk)
        if (busy && busy !== tick && busy.account.open > 0) continue
        underWay.set(tick.chunk, tick)
        const job = jobs[waiting.j]
        const i = waiting.i++
        if (waiting.i === job.batch.count) {
          waiting.i = 0
          waiting.j++
        }
        if (waiting.j === jobs.length) all = all.filter((other) => other !== waiting)
        return { tick, job, i }
      }
      return null
    },
    /** @param {(waiting: WaitingTick) => boolean} test @param {Loss} outcome */
    lose(test, outcome) {
      const gone = all.filter(test)
      if (gone.length === 0) return
      all = all.filter((waiting) => !test(waiting))
      for (const waiting of gone) loseTick(waiting, outcome)
    },
  }
}
