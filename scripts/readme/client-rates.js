// docs/studies/clients.md: the highest rate of one process of each client, from docs/data/clients-find-*.json, which npm run readme
// takes from folders of `millrace find sorted-set --driver NAME`.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rounded } from '../../lib/answers/find/report.js'
import { libraries, libraryOf } from '../../lib/base/libraries.js'
import { percent } from '../../lib/base/units.js'
import { hardware } from '../../lib/experiments/summary.js'
import { dataFolder } from './data.js'
import { table } from './reference.js'

/**
 * @typedef {{ rate: number, low: number, middle: number, high: number }} Point the share of the seconds that a rate passes
 * @typedef {Record<string, any> & { driver: string, version: string | null, curve: Point[], share: number }} Search
 */

const drivers = ['socket', ...Object.keys(libraries)]
const fileOf = (/** @type {string} */ driver) => `clients-find-${driver}.json`

/**
 * A search without its seconds, as a file of docs/data.
 * @param {Record<string, any>} find find.json
 * @returns {Record<string, string>}
 */
export const searchData = ({ seconds: _, path: _path, ...find }) => {
  const driver = /--driver[ =](\S+)/.exec(find.command_line)?.[1] ?? 'socket'
  const version = libraryOf({ driver, driverOptions: [] })?.version ?? null
  const typed = find.command_line.replace(/ --out[ =]\S+/, '')
  const search = { driver, version, hardware: hardware(), ...find, command_line: typed }
  const digits = (/** @type {string} */ _name, /** @type {unknown} */ value) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
  return { [fileOf(driver)]: `${JSON.stringify(search, digits)}\n` }
}

/** The rate at which a line of the curve comes to the share that is asked for. @param {Search} search @param {'low' | 'middle' | 'high'} line */
const rateAt = ({ curve, share }, line) => {
  const k = curve.findIndex((point) => point[line] < share)
  if (k < 1) return null
  const [a, b] = [curve[k - 1], curve[k]]
  return a.rate * (b.rate / a.rate) ** ((a[line] - share) / (a[line] - b[line]))
}

/** Where the client was the limit, the answer has no upper end, as the servers could have done more; the process has one. @param {Search} search */
export const rateOfProcess = (search) => {
  const { find, state } = search
  if (state === 'none' || find.low === null) return 'none'
  const [middle, high] = [find.middle ?? rateAt(search, 'middle'), find.high ?? rateAt(search, 'high')]
  if (high === null) return `at least ${rounded(find.low)}`
  const words = `${rounded(middle)} (${rounded(find.low)} to ${rounded(high)})`
  return state === 'unsteady' ? `${words}, not steady` : words
}

const limits = /** @type {Record<string, string>} */ ({
  client: 'the sending thread',
  server: 'the main thread of a server',
  unknown: 'not known',
})

export const clientRatesPart = (folder = dataFolder) => {
  const searches = drivers
    .map((driver) => join(folder, fileOf(driver)))
    .filter((path) => existsSync(path))
    .map((path) => /** @type {Search} */ (JSON.parse(readFileSync(path, 'utf8'))))
  if (searches.length === 0) return 'These searches were not measured yet.'
  const rows = searches.map((search) => [
    search.driver === 'socket' ? 'plain sockets' : `${search.driver} ${search.version}`,
    rateOfProcess(search),
    search.confirmed === null
      ? '–'
      : `${rounded(search.confirmed.rate)} in ${search.confirmed.passed} of ${search.confirmed.seconds} s`,
    percent(search.confirmation?.client.thread_cpu_pct ?? null),
    limits[search.limit?.part] ?? search.limit?.part ?? '–',
  ])
  const [{ versions, hardware: machine }] = searches
  return [
    table(['client', 'highest rate, items/s', 'sustained', 'CPU of the sending thread', 'the limit'], rows),
    `\nNode ${versions.node}, server ${versions.servers.join(', ')}; ${machine}. Data: ${searches.map(({ driver }) => `[${driver}](docs/data/${fileOf(driver)})`).join(', ')}.`,
  ].join('\n')
}
