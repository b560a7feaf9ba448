// A run as it goes: six lines that stay in place on a terminal, one where it is narrow, and elsewhere a line each ten seconds.

import { painter } from '../base/layout.js'
import { exactly, pair } from '../base/typed.js'
import { clockTime, count, dash, micros, percent, rate, several } from '../base/units.js'

/**
 * @import { Snapshot } from '../probes/seconds.js'
 *
 * A part of the line, in full and in short; the lower its rank, the sooner it gets room.
 * @typedef {{ rank: number, long: string, short: string, alarm?: boolean }} LiveField
 */

const logEveryMs = 10_000
const redrawMs = 250
// The block needs this much of a terminal.
const fewestColumns = 60
const fewestRows = 10
const sparkSeconds = 30
const logColumns = 160
const bars = '▁▂▃▄▅▆▇█'

/** Failures so far, in full and in short; empty if there are none. @param {Snapshot} snapshot */
const troubleWords = ({ lost: { errors = 0, ...outcomes }, reading }) => {
  const kinds = Object.entries(outcomes).filter(([, n]) => n !== 0)
  const sum = kinds.reduce((total, [, n]) => total + n, 0)
  const failures = errors > 0 ? [several(errors, 'error')] : []
  const long = [...kinds.map(([kind, n]) => `${count(n)} ${kind}`), ...failures].join(', ')
  return { long, short: reading ? long : sum > 0 ? `${count(sum)} lost` : failures.join() }
}

/** Elapsed and remaining time, as wide at the end as at the start. @param {Snapshot} snapshot */
const timeWords = ({ elapsedMs, totalMs }) => {
  if (totalMs === null) return clockTime(elapsedMs)
  const { length } = clockTime(totalMs)
  const padded = (/** @type {number} */ ms) => clockTime(ms).padStart(length)
  // Both add up to the whole: the remaining time is never less than shown.
  const leftMs = Math.ceil((totalMs - elapsedMs) / 1000) * 1000
  return `${padded(elapsedMs)}, ${padded(leftMs)} left`
}

/**
 * The fields in the order of the line. Numbers are padded, so that the line stays in place while they change.
 * @param {Snapshot} snapshot
 * @returns {LiveField[]}
 */
const liveFields = (snapshot) => {
  const { phase, nominalRate, replicaCpuPct, reading } = snapshot
  const time = timeWords(snapshot)
  const target = nominalRate === null ? '' : rate(nominalRate)
  const achieved = rate(snapshot.achievedRate).padStart(target.length || 9) + (target && ` of ${target}`)
  const us = (/** @type {number | null} */ value) => micros(value).padStart(7)
  const cpu = (/** @type {number | null} */ pct) => (pct === null ? dash : `${Math.round(pct)}`).padStart(3)
  const [p50, p99] = [us(snapshot.p50Us), us(snapshot.p99Us)]
  const samples = snapshot.masterCpuPct !== undefined
  const [master, replica] = [cpu(snapshot.masterCpuPct ?? null), cpu(replicaCpuPct)]
  // Padded as a whole: '  1/  1' reads badly.
  const cores = replicaCpuPct === null ? master : `${master.trim()}/${replica.trim()}`.padStart(7)
  const trouble = troubleWords(snapshot)
  const steady = phase === 'measuring'
  const well =
    reading === undefined
      ? 'none lost'
      : reading.checked == null
        ? 'on time'
        : `${count(reading.checked)} right`
  return [
    { rank: 2, long: time, short: time },
    ...(reading ? [] : [{ rank: steady ? 6 : 3, long: phase.padEnd(9), short: steady ? '' : phase }]),
    { rank: 0, long: `${achieved} items/s`, short: `${achieved}/s` },
    ...(reading ? [{ rank: 6, long: `${String(reading.done).padStart(4)} ${reading.unit}`, short: '' }] : []),
    { rank: 4, long: `${reading ? 'fetch ' : ''}p50 ${p50}  p99 ${p99}`, short: `p99 ${p99}` },
    ...(reading ? [{ rank: 5, long: `age ${us(reading.ageUs)}`, short: '' }] : []),
    ...(samples
      ? [
          {
            rank: 5,
            long: `master ${master} %${replicaCpuPct === null ? '' : `  replica ${replica} %`}`,
            short: `cpu ${cores} %`,
          },
        ]
      : []),
    trouble.long ? { rank: 1, ...trouble, alarm: true } : { rank: 7, long: well, short: '' },
  ]
}

/**
 * One line of at most `columns`: what matters most gets its place first, then its long form.
 * @param {Snapshot} snapshot
 * @param {number} columns
 * @param {boolean} [color]
 */
export const liveLine = (snapshot, columns, color = false) => {
  const fields = liveFields(snapshot).map((field) => ({ ...field, text: '' }))
  const line = (ink = (/** @type {string} */ text) => text) =>
    fields
      .filter(({ text }) => text)
      .map(({ text, alarm }) => (alarm ? ink(text) : text))
      .join('  ')
  for (const form of exactly(['short', 'long'])) {
    for (const field of fields.toSorted((a, b) => a.rank - b.rank)) {
      const { text } = field
      field.text = field[form]
      if (line().length > columns) field.text = text
    }
  }
  return line(painter(color).red)
}

/** The last half minute, the highest as a full bar; a second without a value is a space. @param {readonly (number | null)[]} values */
export const sparkline = (values) => {
  const highest = Math.max(0, ...values.map((value) => value ?? 0))
  return values
    .map((value) =>
      value === null ? ' ' : bars[highest > 0 ? Math.round((value / highest) * (bars.length - 1)) : 0],
    )
    .join('')
}

/**
 * The lines that stay in place: a fact a line, its last half minute behind it.
 * @param {Snapshot} snapshot
 * @param {{ rates: (number | null)[], p99s: (number | null)[] }} course
 * @param {number} columns
 * @param {boolean} [color]
 */
export const liveBlock = (snapshot, { rates, p99s }, columns, color = false) => {
  const { phase, nominalRate, achievedRate, masterCpuPct, replicaCpuPct, reading, p50Us, p99Us } = snapshot
  const paint = painter(color)
  const trouble = troubleWords(snapshot).long
  const target = nominalRate === null ? '' : ` of ${rate(nominalRate)}`
  const cpu = [
    ...(masterCpuPct == null ? [] : [`busiest master ${percent(masterCpuPct)} of a core`]),
    ...(replicaCpuPct === null ? [] : [`replica ${percent(replicaCpuPct)}`]),
  ]
  /** @type {[label: string, text: string, more?: string][]} */
  const rows = [
    ['rate', `${rate(achievedRate)}${target} items/s`, sparkline(rates)],
    [reading ? 'fetch' : 'latency', `p50 ${micros(p50Us)}  p99 ${micros(p99Us)}`, sparkline(p99s)],
    ...(reading
      ? [pair(reading.unit, `${reading.done} in this second, newest item ${micros(reading.ageUs)} old`)]
      : []),
    ['CPU', cpu.join(', ') || dash],
    ['lost', trouble || 'none'],
    ['time', `${timeWords(snapshot)}${phase === 'measuring' ? '' : `, ${phase}`}`],
  ]
  return rows.map(([label, text, more = '']) => {
    const line = `  ${label.padEnd(10)}${more ? text.padEnd(36) : text}`.slice(0, columns)
    const room = columns - line.length - 1
    const ink = label === 'lost' && trouble ? paint.red(line) : line
    return more && room > 0 ? `${ink} ${paint.dim(more.slice(-room))}`.trimEnd() : ink
  })
}

/** For a log that programs read. @param {Snapshot} snapshot */
const logFields = ({ lost, reading, ...snapshot }) => ({
  elapsed_s: Math.round(snapshot.elapsedMs / 1000),
  phase: snapshot.phase,
  nominal: snapshot.nominalRate,
  achieved: snapshot.achievedRate,
  p50_us: snapshot.p50Us,
  p99_us: snapshot.p99Us,
  master_cpu_pct: snapshot.masterCpuPct,
  replica_cpu_pct: snapshot.replicaCpuPct,
  ...lost,
  ...(reading && { [reading.unit]: reading.done, age_us: reading.ageUs, checked: reading.checked ?? null }),
})

/**
 * @typedef {object} LiveView
 * @property {(snapshot: Snapshot) => void} update
 * @property {(write: () => void) => void} above runs `write` with the line out of the way
 * @property {() => void} done takes the line away
 */

/**
 * Without a terminal: a log line every 10 s, and log lines as they come.
 * @param {(fields: Record<string, unknown>, line: string) => void} log
 * @returns {LiveView}
 */
const loggedView = (log) => {
  let dueMs = logEveryMs
  return {
    update(snapshot) {
      if (snapshot.elapsedMs < dueMs) return
      dueMs = (Math.floor(snapshot.elapsedMs / logEveryMs) + 1) * logEveryMs
      log(logFields(snapshot), liveLine(snapshot, logColumns))
    },
    above: (write) => write(),
    done() {},
  }
}

/** @param {NodeJS.WriteStream} stream @param {boolean} color @returns {LiveView} */
const terminalView = (stream, color) => {
  /** @type {Snapshot | null} */
  let latest = null
  /** @type {{ rates: (number | null)[], p99s: (number | null)[] }} */
  const course = { rates: [], p99s: [] }
  /** How wide the lines are that are on the screen. @type {number[]} */
  let drawn = []
  let drawnAtMs = Number.NEGATIVE_INFINITY
  /** @type {NodeJS.Timeout | null} */
  let later = null

  const columns = () => stream.columns || 80
  const lines = (/** @type {Snapshot} */ snapshot, /** @type {boolean} */ inColor) => {
    // A line that filled the last column would leave the cursor between two rows.
    const room = Math.max(1, columns() - 1)
    return columns() >= fewestColumns && (stream.rows || 24) >= fewestRows
      ? liveBlock(snapshot, course, room, inColor)
      : [liveLine(snapshot, room, inColor)]
  }
  const clear = () => {
    if (drawn.length === 0) return
    // A terminal that became narrower has broken lines into several rows.
    const rowsUp = drawn.reduce((rows, width) => rows + Math.max(1, Math.ceil(width / columns())), 0) - 1
    stream.write(`${rowsUp > 0 ? `\x1b[${rowsUp}A` : ''}\r\x1b[J`)
    drawn = []
  }
  const draw = () => {
    if (later) clearTimeout(later)
    later = null
    clear()
    if (!latest) return
    stream.write(lines(latest, color).join('\n'))
    drawn = lines(latest, false).map(({ length }) => length)
    drawnAtMs = performance.now()
  }
  /** At most four times a second, however many log lines come. */
  const drawSoon = () => {
    const waitMs = drawnAtMs + redrawMs - performance.now()
    if (waitMs <= 0) draw()
    else later ??= setTimeout(draw, waitMs).unref()
  }
  const above = (/** @type {() => void} */ write) => {
    clear()
    write()
    drawSoon()
  }
  stream.on('resize', draw)
  return {
    update(snapshot) {
      latest = snapshot
      course.rates = [...course.rates, snapshot.achievedRate].slice(-sparkSeconds)
      course.p99s = [...course.p99s, snapshot.p99Us].slice(-sparkSeconds)
      drawSoon()
    },
    above,
    done() {
      stream.off('resize', draw)
      latest = null
      draw()
    },
  }
}

/**
 * Shows a run as it goes. The cursor is never hidden, so nothing is left behind however the run ends.
 * @param {object} options
 * @param {NodeJS.WriteStream} options.stream
 * @param {(fields: Record<string, unknown>, line: string) => void} options.log used where the stream is no terminal
 * @param {boolean} [options.isTTY]
 * @param {boolean} [options.color]
 * @returns {LiveView}
 */
export const liveView = ({ stream, log, isTTY = stream.isTTY, color = false }) =>
  isTTY ? terminalView(stream, color) : loggedView(log)
