// The live line: one line, redrawn in place on a terminal, and now and then a log line elsewhere.
import { Writable } from 'node:stream'
import { clockTime, count, dash, micros, rate, several } from '../base/units.js'
import { fetchFields, fetchLogFields } from './fetch-live.js'
import { painter } from './layout.js'

/**
 * @typedef {import('./fetch-live.js').FetchSnapshot} FetchSnapshot
 * @typedef {import('./fetch-live.js').LiveField} LiveField
 *
 * @typedef {object} Snapshot
 * @property {number} elapsedMs
 * @property {number | null} totalMs null: until interrupted
 * @property {'warm-up' | 'measuring' | 'draining'} phase
 * @property {number | null} nominalRate items/s
 * @property {number | null} achievedRate items/s
 * @property {number | null} p50Us
 * @property {number | null} p99Us
 * @property {number | null} masterCpuPct the busiest engine, of one core
 * @property {number | null} replicaCpuPct
 * @property {{ failed: number, uncertain: number, dropped: number }} lost
 * @property {number} errors of commands without items
 */

const logEveryMs = 10_000

/**
 * What went wrong so far, in full and in short; empty while nothing did.
 * @param {Snapshot} snapshot
 */
const troubleWords = ({ lost, errors }) => {
  const kinds = Object.entries(lost).filter(([, n]) => n !== 0)
  const failures = errors > 0 ? [several(errors, 'error')] : []
  const items = lost.failed + lost.uncertain + lost.dropped
  return {
    long: [...kinds.map(([kind, n]) => `${count(n)} ${kind}`), ...failures].join(', '),
    short: items > 0 ? `${count(items)} lost` : failures.join(),
  }
}

/**
 * The fields as they stand in the line; the lower its rank, the sooner a field gets room. Figures are padded, so
 * that the line stands still while they change.
 * @param {Snapshot} snapshot
 */
const liveFields = (snapshot) => {
  const { totalMs, phase, nominalRate, replicaCpuPct } = snapshot
  const total = totalMs === null ? '' : `/${clockTime(totalMs)}`
  const elapsed = clockTime(snapshot.elapsedMs).padStart(Math.max(0, total.length - 1)) + total
  const asked = nominalRate === null ? '' : rate(nominalRate)
  const achieved = rate(snapshot.achievedRate).padStart(asked.length || 9) + (asked && ` of ${asked}`)
  const time = (/** @type {number | null} */ us) => micros(us).padStart(7)
  const cpu = (/** @type {number | null} */ pct) => (pct === null ? dash : `${Math.round(pct)}`).padStart(3)
  const [p50, p99] = [time(snapshot.p50Us), time(snapshot.p99Us)]
  const [master, replica] = [cpu(snapshot.masterCpuPct), cpu(replicaCpuPct)]
  const trouble = troubleWords(snapshot)
  const steady = phase === 'measuring'
  return [
    { rank: 2, long: elapsed, short: elapsed },
    { rank: steady ? 6 : 3, long: phase.padEnd(9), short: steady ? '' : phase },
    { rank: 0, long: `${achieved} items/s`, short: `${achieved}/s` },
    { rank: 4, long: `p50 ${p50}  p99 ${p99}`, short: `p99 ${p99}` },
    {
      rank: 5,
      long: `master ${master} %${replicaCpuPct === null ? '' : `  replica ${replica} %`}`,
      short: `cpu ${master}${replicaCpuPct === null ? '' : `/${replica}`} %`,
    },
    trouble.long
      ? { rank: 1, ...trouble, alarm: true }
      : { rank: 7, long: 'none lost', short: '', alarm: false },
  ]
}

/**
 * One line of at most `columns`: what matters most gets its place first, then its long form.
 * @param {Snapshot | FetchSnapshot} snapshot
 * @param {number} columns
 * @param {boolean} [color]
 */
export const liveLine = (snapshot, columns, color = false) => {
  /** @type {LiveField[]} */
  const given = 'fetches' in snapshot ? fetchFields(snapshot) : liveFields(snapshot)
  const fields = given.map((field) => ({ ...field, text: '' }))
  const line = (ink = (/** @type {string} */ text) => text) =>
    fields
      .filter(({ text }) => text)
      .map(({ text, alarm }) => (alarm ? ink(text) : text))
      .join('  ')
  for (const form of /** @type {const} */ (['short', 'long'])) {
    for (const field of fields.toSorted((a, b) => a.rank - b.rank)) {
      const { text } = field
      field.text = field[form]
      if (line().length > columns) field.text = text
    }
  }
  return line(painter(color).red)
}

/** For a log that programs read. @param {Snapshot} snapshot */
const logFields = ({ elapsedMs, phase, nominalRate, achievedRate, lost, errors, ...seen }) => ({
  elapsed_s: Math.round(elapsedMs / 1000),
  phase,
  nominal: nominalRate,
  achieved: achievedRate,
  p50_us: seen.p50Us,
  p99_us: seen.p99Us,
  master_cpu_pct: seen.masterCpuPct,
  replica_cpu_pct: seen.replicaCpuPct,
  ...lost,
  errors,
})

/**
 * @typedef {object} LiveView
 * @property {(snapshot: Snapshot | FetchSnapshot) => void} update
 * @property {(write: () => void) => void} above runs `write` with the line out of the way
 * @property {Writable} logStream whole log lines, written above the line: a destination for pino
 * @property {() => void} done takes the line away
 */

/**
 * Where nobody watches: a log line every 10 s, and log lines as they come.
 * @param {NodeJS.WriteStream} stream
 * @param {(fields: Record<string, unknown>) => void} log
 * @returns {LiveView}
 */
const loggedView = (stream, log) => {
  let dueMs = logEveryMs
  return {
    update(snapshot) {
      if (snapshot.elapsedMs < dueMs) return
      dueMs = (Math.floor(snapshot.elapsedMs / logEveryMs) + 1) * logEveryMs
      log('fetches' in snapshot ? fetchLogFields(snapshot) : logFields(snapshot))
    },
    above: (write) => write(),
    logStream: writableTo((text) => stream.write(text)),
    done() {},
  }
}

/** @param {(text: string | Buffer) => void} write */
const writableTo = (write) =>
  new Writable({
    decodeStrings: false,
    write(chunk, _encoding, settled) {
      write(chunk)
      settled()
    },
  })

/**
 * @param {NodeJS.WriteStream} stream
 * @param {boolean} color
 * @returns {LiveView}
 */
const terminalView = (stream, color) => {
  /** @type {Snapshot | FetchSnapshot | null} */
  let latest = null
  let drawnWidth = 0

  // A line that filled the last column would leave the cursor between two rows.
  const room = () => Math.max(1, (stream.columns || 80) - 1)
  const clear = () => {
    if (drawnWidth === 0) return
    // A terminal that became narrower has broken the line into several rows.
    const rowsUp = Math.ceil(drawnWidth / (stream.columns || 80)) - 1
    stream.write(`${rowsUp > 0 ? `\x1b[${rowsUp}A` : ''}\r\x1b[J`)
    drawnWidth = 0
  }
  const draw = () => {
    clear()
    if (!latest) return
    stream.write(liveLine(latest, room(), color))
    drawnWidth = liveLine(latest, room()).length
  }
  const above = (/** @type {() => void} */ write) => {
    clear()
    write()
    draw()
  }
  stream.on('resize', draw)
  return {
    update(snapshot) {
      latest = snapshot
      draw()
    },
    above,
    logStream: writableTo((text) => above(() => stream.write(text))),
    done() {
      stream.off('resize', draw)
      clear()
      latest = null
    },
  }
}

/**
 * Shows a run as it goes. The cursor is never hidden, so nothing is left behind however the run ends.
 * @param {object} options
 * @param {NodeJS.WriteStream} options.stream
 * @param {(fields: Record<string, unknown>) => void} options.log used where the stream is no terminal
 * @param {boolean} [options.isTTY]
 * @param {boolean} [options.color]
 * @returns {LiveView}
 */
export const liveView = ({ stream, log, isTTY = stream.isTTY, color = false }) =>
  isTTY ? terminalView(stream, color) : loggedView(stream, log)
