// The live line of a consumer.
import { clockTime, count, dash, micros, rate, several } from '../base/units.js'

/**
 * A part of the line, in full and in short; the lower its rank, the sooner it gets room.
 * @typedef {{ rank: number, long: string, short: string, alarm?: boolean }} LiveField
 *
 * @typedef {object} FetchSnapshot
 * @property {number} elapsedMs
 * @property {number | null} totalMs null: until interrupted
 * @property {number} fetches of the last second
 * @property {number | null} itemsPerS
 * @property {number | null} p50Us of a whole fetch
 * @property {number | null} p99Us
 * @property {number | null} ageUs of the newest item seen, at the median
 * @property {number | null} masterCpuPct the busiest engine, of one core
 * @property {number | null} replicaCpuPct
 * @property {number} overrun so far
 * @property {number} failed so far
 * @property {number} wrong values that verification found wrong so far
 * @property {number | null} checked values compared so far; null: nothing is verified
 */

/** @param {FetchSnapshot} snapshot */
const troubleWords = ({ overrun, failed, wrong }) =>
  [
    wrong > 0 && `${count(wrong)} wrong`,
    failed > 0 && `${several(failed, 'fetch').replace(/fetchs/, 'fetches')} failed`,
    overrun > 0 && `${count(overrun)} overrun`,
  ]
    .filter(Boolean)
    .join(', ')

/** Figures are padded, so that the line stands still while they change. @param {FetchSnapshot} snapshot @returns {LiveField[]} */
export const fetchFields = (snapshot) => {
  const { totalMs, checked, replicaCpuPct } = snapshot
  const total = totalMs === null ? '' : `/${clockTime(totalMs)}`
  const elapsed = clockTime(snapshot.elapsedMs).padStart(Math.max(0, total.length - 1)) + total
  const time = (/** @type {number | null} */ us) => micros(us).padStart(7)
  const cpu = (/** @type {number | null} */ pct) => (pct === null ? dash : `${Math.round(pct)}`).padStart(3)
  const items = rate(snapshot.itemsPerS).padStart(9)
  const trouble = troubleWords(snapshot)
  const [master, replica] = [cpu(snapshot.masterCpuPct), cpu(replicaCpuPct)]
  return [
    { rank: 2, long: elapsed, short: elapsed },
    { rank: 0, long: `${items} items/s`, short: `${items}/s` },
    { rank: 6, long: `${String(snapshot.fetches).padStart(4)} fetches`, short: '' },
    {
      rank: 3,
      long: `fetch p50 ${time(snapshot.p50Us)}  p99 ${time(snapshot.p99Us)}`,
      short: `p99 ${time(snapshot.p99Us)}`,
    },
    { rank: 5, long: `age ${time(snapshot.ageUs)}`, short: '' },
    {
      rank: 4,
      long: `master ${master} %${replicaCpuPct === null ? '' : `  replica ${replica} %`}`,
      short: `cpu ${master}${replicaCpuPct === null ? '' : `/${replica}`} %`,
    },
    trouble
      ? { rank: 1, long: trouble, short: trouble, alarm: true }
      : { rank: 7, long: checked === null ? 'on time' : `${count(checked)} right`, short: '' },
  ]
}

/** For a log that programs read. @param {FetchSnapshot} snapshot */
export const fetchLogFields = ({ elapsedMs, totalMs, ...seen }) => ({
  elapsed_s: Math.round(elapsedMs / 1000),
  fetches: seen.fetches,
  items_per_s: seen.itemsPerS,
  p50_us: seen.p50Us,
  p99_us: seen.p99Us,
  age_us: seen.ageUs,
  master_cpu_pct: seen.masterCpuPct,
  replica_cpu_pct: seen.replicaCpuPct,
  overrun: seen.overrun,
  failed: seen.failed,
  wrong: seen.wrong,
  checked: seen.checked,
})
