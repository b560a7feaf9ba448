// Ticks that wait to be sent by a library, oldest first: the next command of each chunk, so that no repeat passes a
// later tick of its chunk.

/**
 * @import { Loss, ledgerOf } from '../measure/ledger.js'
 * @import { TickValues } from '../wire/encode.js'
 * @import { Tick } from './connection.js'
 * @import { EncodedBatch } from './encoded-batch.js'
 *
 * @typedef {{ encoded: EncodedBatch, values: TickValues }} Job
 * @typedef {{ tick: Tick, jobs: Job[], j: number, i: number }} Turn
 */

/** @param {ReturnType<typeof ledgerOf>} ledger */
export const libraryTurnsOf = (ledger) => {
  /** @type {Turn[]} */
  let turns = []
  // Ticks of a chunk without an outcome: its next waits, so that no repeat passes a later one.
  /** @type {Map<number, Tick>} */
  const underWay = new Map()

  const finished = (/** @type {Tick} */ tick) => {
    if (tick.account.open === 0 && underWay.get(tick.chunk) === tick) underWay.delete(tick.chunk)
  }
  /** @param {Turn} turn @param {Loss} outcome */
  const loseTurn = ({ tick, jobs, j, i }, outcome) => {
    for (let k = j; k < jobs.length; k++) {
      const from = k === j ? i : 0
      ledger.lose(tick.account, jobs[k].encoded, from, jobs[k].encoded.count, outcome, '')
    }
    finished(tick)
  }

  return {
    finished,
    /** @param {Tick} tick @param {Job[]} jobs */
    add: (tick, jobs) => turns.push({ tick, jobs, j: 0, i: 0 }),
    count: () => turns.length,
    /** @returns {{ tick: Tick, job: Job, i: number } | null} one command, which is no longer here */
    next() {
      for (const turn of turns) {
        const { tick, jobs } = turn
        const busy = underWay.get(tick.chunk)
        if (busy && busy !== tick && busy.account.open > 0) continue
        underWay.set(tick.chunk, tick)
        const job = jobs[turn.j]
        const i = turn.i++
        if (turn.i === job.encoded.count) {
          turn.i = 0
          turn.j++
        }
        if (turn.j === jobs.length) turns = turns.filter((other) => other !== turn)
        return { tick, job, i }
      }
      return null
    },
    /** @param {(turn: Turn) => boolean} test @param {Loss} outcome */
    lose(test, outcome) {
      const gone = turns.filter(test)
      if (gone.length === 0) return
      turns = turns.filter((turn) => !test(turn))
      for (const turn of gone) loseTurn(turn, outcome)
    },
  }
}
