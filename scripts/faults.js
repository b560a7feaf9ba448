#!/usr/bin/env node
// Faults under load, one after the other, for both drivers, and a table of what each of them cost.
import { script } from '../lib/cli/script.js'
import { ExitCode, OptionError } from '../lib/errors.js'
import { alignedTable } from '../lib/report/layout.js'
import { count, dash, period } from '../lib/report/units.js'
import { faultCases, longPace, shortPace } from './faults/cases.js'
import { playPlain } from './faults/plain.js'
import { play } from './faults/play.js'

/** @typedef {import('./faults/play.js').Outcome} Outcome */

const usage = `Usage: node scripts/faults.js [options] [words of the faults...]

  --short          low rates and short faults
  --scale N        rates times N, for a machine that cannot hold them (1)
  --driver NAME    socket or ioredis; without it both, and ioredis without our handling beside them
  --json           the outcomes as JSON, events included
  --list           the faults
  -h, --help       this text`

/** @param {import('./faults/cases.js').Pace} pace @param {number} scale */
const scaled = (pace, scale) => ({
  ...pace,
  quantity: {
    socket: Math.round(pace.quantity.socket * scale),
    ioredis: Math.round(pace.quantity.ioredis * scale),
  },
  outageQuantity: Math.round(pace.outageQuantity * scale),
})

/** @param {Outcome} outcome */
const causes = ({ items }) => {
  const list = Object.entries(items.failed_by ?? {}).map(([cause, n]) => `${cause} ${count(Number(n))}`)
  const lost = items.failed + items.uncertain
  return lost === 0 ? '0' : `${count(lost)} (${list.join(', ')})`
}

/** @param {Outcome} outcome */
const verdict = ({ driver, complaints, items, lost }) => {
  if (complaints.length > 0) return complaints.join('; ')
  if (items.failed + items.uncertain + items.dropped + items.unsettled === 0 && !lost) return 'nothing lost'
  return driver === 'ioredis alone' ? 'loses' : 'every item accounted for'
}

/** @type {import('../lib/report/layout.js').Column<Outcome>[]} */
const columns = [
  { title: 'fault', left: true, cell: ({ fault }) => fault },
  { title: 'driver', left: true, cell: ({ driver }) => driver },
  { title: 'took', cell: ({ tookMs }) => period(Math.round(tookMs)) },
  { title: 'offered', cell: ({ items }) => count(items.offered) },
  { title: 'acked', cell: ({ items }) => count(items.acked) },
  { title: 'failed or uncertain', cell: causes },
  { title: 'dropped', cell: ({ items }) => count(items.dropped) },
  { title: 'unsettled', cell: ({ items }) => count(items.unsettled) },
  { title: 'lost after ack', cell: ({ lost }) => (lost === null ? dash : count(lost)) },
  { title: 'sent again', cell: ({ repeated }) => count(repeated) },
  { title: 'longest wait', cell: ({ longestMs }) => period(Math.round(longestMs)) },
  { title: 'RSS', cell: ({ rssMb }) => `${Math.round(rssMb)} MB` },
  { title: 'verdict', left: true, cell: verdict },
]

await script({
  usage,
  options: {
    short: { type: 'boolean' },
    scale: { type: 'string', default: '1' },
    driver: { type: 'string' },
    json: { type: 'boolean' },
    list: { type: 'boolean' },
  },
  work: async ({ short, scale, driver, json, list }, words) => {
    if (driver !== undefined && driver !== 'socket' && driver !== 'ioredis')
      throw new OptionError(`--driver must be socket or ioredis, not '${driver}'`)
    const cases = faultCases.filter(
      ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
    )
    if (list || cases.length === 0) {
      process.stdout.write(`${faultCases.map(({ name }) => name).join('\n')}\n`)
      return list ? ExitCode.done : ExitCode.options
    }
    if (!(Number(scale) > 0)) throw new OptionError(`--scale must be a number above 0, not '${scale}'`)
    const pace = scaled(short ? shortPace : longPace, Number(scale))
    const drivers = /** @type {('socket' | 'ioredis')[]} */ (driver ? [driver] : ['socket', 'ioredis'])
    /** @type {Outcome[]} */
    const outcomes = []
    const tell = (/** @type {Outcome} */ outcome) => {
      outcomes.push(outcome)
      process.stderr.write(`${outcome.fault}, ${outcome.driver}: ${verdict(outcome)}\n`)
    }
    for (const fault of cases) {
      for (const each of drivers) tell(await play(fault, each, pace))
      if (fault.name === 'slots moved' && !driver) tell(await playPlain(pace))
    }
    process.stdout.write(
      json
        ? `${JSON.stringify(outcomes, null, 2)}\n`
        : `${alignedTable(columns, outcomes, Number.MAX_SAFE_INTEGER).join('\n')}\n`,
    )
    return outcomes.some(({ complaints }) => complaints.length > 0) ? ExitCode.threshold : ExitCode.done
  },
})
