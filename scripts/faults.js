#!/usr/bin/env node
// Faults under load, one after the other, for both drivers, and a table of what each of them cost.
import { availableParallelism } from 'node:os'
import { ExitCode, OptionError } from '../lib/base/errors.js'
import { isLibrary, libraries } from '../lib/base/libraries.js'
import { count, dash, period } from '../lib/base/units.js'
import { repositoryScript } from '../lib/cli/script.js'
import { markdownText } from '../lib/report/markdown.js'
import { faultCases, longPace, shortPace } from './faults/cases.js'
import { playPlain } from './faults/plain.js'
import { play } from './faults/play.js'

/**
 * @import { Outcome } from './faults/play.js'
 * @import { Pace } from './faults/cases.js'
 */

const usage = `Usage: node scripts/faults.js [options] [words of the faults...]

  --short          low rates and short faults
  --scale N        multiply the rates by N, for a machine that cannot sustain them (1)
  --driver NAME    socket, ioredis, iovalkey, node-redis or valkey-glide; default: the first two, and ioredis without
                   Millrace's retries
  --json           print the outcomes as JSON, events and memory included, instead of a Markdown table
  --list           list the faults
  -h, --help       this text`

/** @param {Pace} pace @param {number} scale */
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
const lostAfterAck = ({ lost, lostAtMost }) =>
  lost === null ? dash : `${lostAtMost && lost > 0 ? 'at most ' : ''}${count(lost)}`

/** @param {Outcome} outcome */
const verdict = (outcome) => {
  const { driver, complaints, items, lost } = outcome
  if (complaints.length > 0) return complaints.join('; ')
  const unacked = items.failed + items.uncertain + items.dropped + items.unsettled
  if (driver === 'ioredis alone' && unacked > 0)
    return `loses ${((100 * unacked) / items.offered).toFixed(1)} %`
  const told = unacked === 0 ? 'all acknowledged' : 'every item accounted for'
  if (lost) return `${told}; ${lostAfterAck(outcome)} lost after ack`
  return unacked === 0 ? 'nothing lost' : told
}

/** @type {{ title: string, left?: boolean, cell: (outcome: Outcome) => string }[]} */
const columns = [
  { title: 'fault', left: true, cell: ({ fault }) => fault },
  { title: 'driver', left: true, cell: ({ driver }) => driver },
  { title: 'took', cell: ({ tookMs }) => period(Math.round(tookMs)) },
  { title: 'offered', cell: ({ items }) => count(items.offered) },
  { title: 'acked', cell: ({ items }) => count(items.acked) },
  { title: 'failed or uncertain', cell: causes },
  { title: 'dropped', cell: ({ items }) => count(items.dropped) },
  { title: 'lost after ack', cell: lostAfterAck },
  { title: 'sent again', cell: ({ repeated }) => count(repeated) },
  { title: 'longest wait', cell: ({ longestMs }) => period(Math.round(longestMs)) },
  { title: 'verdict', left: true, cell: verdict },
]

/** @param {string[]} cells */
const row = (cells) => `| ${cells.join(' | ')} |`

/** What was played, and a table of it, as Markdown. @param {Outcome[]} outcomes @param {Pace} pace */
const report = (outcomes, { quantity, outageQuantity, slots }) => [
  `${count(quantity.socket)} items/s (socket; in the outage ${count(outageQuantity)}) and ${count(quantity.ioredis)} (ioredis), ${count(slots)} slots, on ${availableParallelism()} cores; *lost after ack* is what \`scripts/verify.js\` did not find of a \`--once --ttl 600\` run.`,
  '',
  row(columns.map(({ title }) => title)),
  row(columns.map(({ left }) => (left ? '---' : '---:'))),
  ...outcomes.map((outcome) => row(columns.map(({ cell }) => markdownText(cell(outcome))))),
]

await repositoryScript({
  usage,
  options: {
    short: { type: 'boolean' },
    scale: { type: 'string', default: '1' },
    driver: { type: 'string' },
    json: { type: 'boolean' },
    list: { type: 'boolean' },
  },
  work: async ({ short, scale, driver, json, list }, words) => {
    if (driver !== undefined && driver !== 'socket' && !isLibrary(driver))
      throw new OptionError(
        `--driver must be one of socket, ${Object.keys(libraries).join(', ')}, not '${driver}'`,
      )
    const cases = faultCases.filter(
      ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
    )
    if (list || cases.length === 0) {
      process.stdout.write(`${faultCases.map(({ name }) => name).join('\n')}\n`)
      return list ? ExitCode.done : ExitCode.options
    }
    if (!(Number(scale) > 0)) throw new OptionError(`--scale must be a number above 0, not '${scale}'`)
    const pace = scaled(short ? shortPace : longPace, Number(scale))
    const drivers = driver === undefined ? /** @type {const} */ (['socket', 'ioredis']) : [driver]
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
      json ? `${JSON.stringify(outcomes, null, 2)}\n` : `${report(outcomes, pace).join('\n')}\n`,
    )
    return outcomes.some(({ complaints }) => complaints.length > 0) ? ExitCode.threshold : ExitCode.done
  },
})
