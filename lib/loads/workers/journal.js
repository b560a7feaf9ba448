// A file of what a worker process has done. A job is recorded as soon as it is done, before it is confirmed, so that
// nothing is lost if the process is killed. Records are eight numbers.
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { exactly } from '../../base/typed.js'

/** @import { WorkSink } from './flow.js' */

const fields = 8
const recordBytes = fields * 8
const kinds = Object.freeze({
  maker: 0,
  done: 1,
  took: 2,
  confirmed: 3,
  busy: 4,
  lost: 5,
  reclaimed: 6,
  foreign: 7,
  renewed: 8,
})
const losses = exactly(['take', 'confirm', 'other'])
const mostKept = 500

/**
 * Writes records. Records other than the end of a job may be written with the next one.
 * @param {string} path
 * @returns {Omit<WorkSink, 'refused' | 'event'> & { flush: () => void }}
 */
export const journalWriter = (path) => {
  const file = openSync(path, 'a')
  const buffer = Buffer.alloc(recordBytes * (mostKept + 2))
  const numbers = new Float64Array(buffer.buffer, buffer.byteOffset, buffer.length / 8)
  let records = 0
  /** @type {Map<string, number>} */
  const makers = new Map()

  const flush = () => {
    if (records > 0) writeSync(file, buffer, 0, records * recordBytes)
    records = 0
  }
  const note = (/** @type {number[]} */ ...values) => {
    numbers.fill(0, records * fields, (records + 1) * fields)
    numbers.set(values, records * fields)
    if (++records > mostKept) flush()
  }
  /** @param {string} maker */
  const numberOf = (maker) => {
    const known = makers.get(maker)
    if (known !== undefined) return known
    const number = makers.size
    makers.set(maker, number)
    note(kinds.maker, number)
    buffer.write(maker, (records - 1) * recordBytes + 16, 'latin1')
    return number
  }
  return {
    flush,
    done(worker, maker, number, { waitUs, wholeUs, workUs, doneUs }) {
      const by = numberOf(maker)
      note(kinds.done, worker, by, number, waitUs, wholeUs, workUs, doneUs)
      flush()
    },
    foreign: (worker) => note(kinds.foreign, worker),
    took: (jobs, tookMs) => note(kinds.took, jobs, tookMs),
    confirmed: (jobs, tookMs) => note(kinds.confirmed, jobs, tookMs),
    busy: (worker, ms) => note(kinds.busy, worker, ms),
    lostReply: (what) => note(kinds.lost, losses.indexOf(what)),
    reclaimed: (jobs) => note(kinds.reclaimed, jobs),
    renewed: (tookMs) => note(kinds.renewed, tookMs),
  }
}

/** Reads the records added since the last call, and passes them on. @param {string} path @param {WorkSink} sink */
export const journalReader = (path, sink) => {
  const file = openSync(path, 'a+')
  const buffer = Buffer.alloc(recordBytes * 1024)
  const numbers = new Float64Array(buffer.buffer, buffer.byteOffset, buffer.length / 8)
  /** @type {string[]} */
  const makers = []
  let at = 0
  let isOpen = true

  /** @param {number} from */
  const tell = (from) => {
    const [kind, a, b, c, d, e, f, g] = numbers.subarray(from, from + fields)
    if (kind === kinds.maker) {
      const name = buffer.toString('latin1', from * 8 + 16, from * 8 + recordBytes)
      makers[a] = name.slice(0, name.indexOf('\0'))
    } else if (kind === kinds.done)
      sink.done(a, makers[b], c, { waitUs: d, wholeUs: e, workUs: f, doneUs: g })
    else if (kind === kinds.took) sink.took(a, b)
    else if (kind === kinds.confirmed) sink.confirmed(a, b)
    else if (kind === kinds.busy) sink.busy(a, b)
    else if (kind === kinds.lost) sink.lostReply(losses[a])
    else if (kind === kinds.reclaimed) sink.reclaimed(a)
    else if (kind === kinds.renewed) sink.renewed(a)
    else sink.foreign(a)
  }
  return {
    /** Nothing after its end is read: a process may outlive a run that has given up. */
    read() {
      while (isOpen) {
        const got = readSync(file, buffer, 0, buffer.length, at)
        // The last record may be incomplete.
        const whole = Math.floor(got / recordBytes)
        for (let i = 0; i < whole; i++) tell(i * fields)
        at += whole * recordBytes
        if (got < buffer.length) return
      }
    },
    close() {
      if (isOpen) closeSync(file)
      isOpen = false
    },
  }
}
