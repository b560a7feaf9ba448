// Counts and latencies of the workers of a queue.
import { jobsOf } from '../../probes/jobs.js'
import { series } from '../../probes/latency.js'

/** @import { WorkSink } from './work-sink.js' */

// A difference between clocks that is not reported.
const aheadUs = 100_000

/** @param {number} workers */
export const workRecords = (workers) => {
  const jobs = jobsOf()
  const times = {
    whole: series(),
    service: series(),
    waiting: series(),
    work: series(),
    take: series(),
    confirm: series(),
    connect: series(),
  }
  const byWorker = new Float64Array(workers)
  const lostReplies = { take: 0, confirm: 0, other: 0 }
  const whole = { batches: 0, busyMs: 0, workUs: 0, processesLost: 0, renewed: 0 }
  // When the first job was taken and the last one done, by the clock of the queue's server.
  const span = { fromUs: Number.POSITIVE_INFINITY, toUs: 0 }
  let ahead = { jobs: 0, maxUs: 0 }
  /** @type {Record<string, number>} */
  const refusedBy = {}

  /** @type {WorkSink} */
  const sink = {
    done(worker, maker, number, { waitUs, wholeUs, workUs, doneUs }) {
      jobs.add({ maker, number, dueUs: 0 })
      byWorker[worker]++
      span.fromUs = Math.min(span.fromUs, doneUs - (wholeUs - waitUs))
      span.toUs = Math.max(span.toUs, doneUs)
      whole.workUs += workUs
      if (waitUs < -aheadUs) {
        ahead = { jobs: ahead.jobs + 1, maxUs: Math.max(ahead.maxUs, -waitUs) }
      } else {
        times.whole.record(Math.max(0, wholeUs))
        times.waiting.record(Math.max(0, waitUs))
        times.service.record(Math.max(0, wholeUs - waitUs))
      }
      times.work.record(workUs)
    },
    foreign: () => {
      jobs.counts.foreign++
    },
    took(n, tookMs) {
      jobs.counts.taken += n
      whole.batches++
      times.take.record(tookMs * 1000)
    },
    confirmed: (_, tookMs) => times.confirm.record(tookMs * 1000),
    busy: (_, ms) => {
      whole.busyMs += ms
    },
    refused: (cause) => {
      refusedBy[cause] = (refusedBy[cause] ?? 0) + 1
    },
    lostReply: (what) => {
      lostReplies[what]++
    },
    reclaimed: (n) => {
      jobs.counts.reclaimed += n
    },
    renewed(tookMs) {
      whole.renewed++
      times.connect.record(tookMs * 1000)
    },
    event: () => {},
  }
  return {
    jobs,
    times,
    byWorker,
    lostReplies,
    whole,
    span,
    /** Jobs with a time in the future since the last call. */
    aheadTurn() {
      const found = ahead
      ahead = { jobs: 0, maxUs: 0 }
      return found
    },
    refusedBy,
    sink,
    close: () => {
      for (const one of Object.values(times)) one.close()
    },
  }
}

/** @typedef {ReturnType<typeof workRecords>} WorkRecords */
