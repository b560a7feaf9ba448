// Where a worker's flow reports what it does: the records of the run, or the journal that brings it to them from another process.
import { jobIn } from '../../workloads/queue/job.js'

/**
 * @import { Taken } from '../../workloads/queue/replies.js'
 * @import { WorkersNeeds } from './flow.js'
 *
 * @typedef {object} WorkSink
 * @property {(worker: number, maker: string, number: number, times: JobTimes) => void} done
 * @property {(worker: number) => void} foreign a text that is no job of ours was taken, and confirmed
 * @property {(jobs: number, tookMs: number) => void} took
 * @property {(jobs: number, tookMs: number) => void} confirmed
 * @property {(worker: number, ms: number) => void} busy with jobs in hand
 * @property {(cause: string) => void} refused
 * @property {(lost: 'take' | 'confirm' | 'other') => void} lostReply
 * @property {(jobs: number) => void} reclaimed
 * @property {(tookMs: number) => void} renewed a connection was opened anew, as it was asked for
 * @property {(kind: string, text: string) => void} event
 *
 * @typedef {{ waitUs: number, wholeUs: number, workUs: number, doneUs: number }} JobTimes from when it was due to when it was
 *   taken, and to when it was done; of its work; and when it was done, by the clock of the queue's server
 */

/** Reports a job that a worker has done. @param {WorkersNeeds} needs */
export const doneOf = ({ workers: { names, first }, server: { nowUs }, sink, machine: { clock } }) => {
  const lastMs = new Float64Array(names.length)
  /** @param {number} index @param {Taken} taken @param {number} takenMs @param {number} doneMs both by the clock @param {number} workMs */
  return (index, { text }, takenMs, doneMs, workMs) => {
    const job = jobIn(text)
    const fromMs = Math.max(takenMs, lastMs[index])
    lastMs[index] = doneMs
    sink.busy(first + index, doneMs - fromMs)
    if (job === null) return sink.foreign(first + index)
    const doneUs = nowUs() - (clock() - doneMs) * 1000
    sink.done(first + index, job.maker, job.number, {
      waitUs: doneUs - (doneMs - takenMs) * 1000 - job.dueUs,
      wholeUs: doneUs - job.dueUs,
      workUs: workMs * 1000,
      doneUs,
    })
  }
}
