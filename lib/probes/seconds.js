// What a run has of each of its seconds, and what was counted since the last.

/**
 * @import { instrumentsOf } from '../measures/index.js'
 * @import { Amounts, Line } from '../measures/fold.js'
 *
 * What a second of a run came to, of each kind.
 * @typedef {object} Snapshot
 * @property {number} elapsedMs
 * @property {number | null} totalMs null: until interrupted
 * @property {'warm-up' | 'measuring' | 'draining'} phase
 * @property {number | null} nominalRate items/s
 * @property {number | null} achievedRate items/s
 * @property {number | null} p50Us of a command, or of a whole fetch
 * @property {number | null} p99Us
 * @property {number | null} [masterCpuPct] the busiest engine, of one core; not there where another box samples the nodes
 * @property {number | null} replicaCpuPct
 * @property {Record<string, number>} lost so far, by what became of it; errors are of commands without items
 * @property {{ done: number, unit: string, ageUs: number | null, checked?: number | null }} [reading] of the second, the
 *   median age of the newest item, and how many values were verified so far (null: none are)
 *
 * @typedef {object} Moment
 * @property {number} atMs
 * @property {number} epochMs
 * @property {number} overS
 *
 * @typedef {ReturnType<ReturnType<typeof changesOf>> & { phase?: string }} Changes of counts, within a second
 */

/**
 * @template [M=any] when it is, with what was counted
 * @template [A=any] what servers answered
 * @typedef {object} Seconds what a run has of each second
 * @property {Pick<Awaited<ReturnType<typeof instrumentsOf>>, 'second'>} instruments
 * @property {() => M & Moment} moment when it is, and what was counted since the last
 * @property {() => void} [watch] before all else
 * @property {(last?: AbortSignal) => Promise<void>} [gather] then: what other threads have counted; last: there is no other second, and until
 *   this signal they have more time
 * @property {(error: Error) => void} [onFailed] amounts of a second are lost
 * @property {(atMs: number) => Promise<A>} [ask] of servers, beside the instruments
 * @property {(moment: M, line: Amounts, answers: A) => Amounts | Promise<Amounts>} line of intervals.ndjson
 * @property {(moment: M, line: Amounts) => Partial<Snapshot>} shown in the live line
 * @property {() => Snapshot['phase']} [phase]
 * @property {number | null} totalMs how long the run will take
 * @property {() => number} elapsed
 * @property {(line: Line) => void} write
 * @property {(snapshot: Snapshot) => void} show
 */

/** The time, and how long it is since the last call. @param {() => number} elapsed */
export const momentsOf = (elapsed) => {
  let beforeMs = 0
  return () => {
    const [atMs, epochMs] = [elapsed(), Date.now()]
    const overS = (atMs - beforeMs) / 1000
    beforeMs = atMs
    return { atMs, epochMs, overS }
  }
}

/**
 * The changes of counts since the last call.
 * @template {Record<string, number>} Counts
 * @param {() => Counts} totals
 * @param {keyof Counts & string} main whose change a second is the rate
 * @param {() => number} elapsed
 */
export const changesOf = (totals, main, elapsed) => {
  const moment = momentsOf(elapsed)
  let before = { ...totals() }
  return () => {
    const { overS, ...when } = moment()
    const now = { ...totals() }
    const perS = overS > 0 ? (now[main] - before[main]) / overS : null
    const counts = Object.fromEntries(Object.keys(now).map((name) => [name, now[name] - before[name]]))
    before = now
    return { ...when, now, overS, perS, counts }
  }
}
