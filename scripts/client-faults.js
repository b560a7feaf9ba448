#!/usr/bin/env node
// Faults for all client libraries at once: a line of JSON for each driver and fault, and a table of them as Markdown.
import { appendFileSync, existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { ExitCode, OptionError } from '../lib/base/errors.js'
import { libraries, libraryOf } from '../lib/base/libraries.js'
import { count, dash } from '../lib/base/units.js'
import { repositoryScript } from '../lib/cli/script.js'
import { markdownText } from '../lib/report/markdown.js'
import { linesIn } from './bench/arguments.js'
import { clientFaults, driverIn, largeReplies, playForClients } from './faults/clients.js'

const usage = `Usage: node scripts/client-faults.js [options] [words of the faults...]

  --file PATH      results, a line for each driver, fault and play; new ones are added (clients-faults.ndjson)
  --quantity N     items a second of each driver (200)
  --table          only print the table of the file
  -h, --help       this text`

const reply = 'a reply of 50 MB'
const drivers = ['socket', ...Object.keys(libraries)]

/** @param {string} driver */
const versionOf = (driver) => libraryOf({ driver: driverIn(driver), driverOptions: [] })?.version ?? null

/** @param {string} fault @param {number} quantity @returns {Promise<any[]>} */
const played = async (fault, quantity) => {
  if (fault === reply)
    return (await largeReplies(drivers)).map(({ log: _, ...outcome }) => ({ fault, ...outcome }))
  const found = clientFaults.find(({ name }) => name === fault)
  return found ? playForClients([found], drivers, quantity) : []
}

/** @type {[title: string, value: (line: any) => number | null | undefined, shown: (value: number) => string][]} */
const numbers = [
  ['seconds without service', ({ withoutS }) => withoutS, (s) => s.toFixed(1)],
  ['seconds below 80 %', ({ shortS }) => shortS, (s) => s.toFixed(1)],
  ['offered', ({ items }) => items?.offered, count],
  ['failed', ({ items }) => items?.failed, count],
  ['uncertain', ({ items }) => items?.uncertain, count],
  ['dropped or unsettled', ({ items }) => items && items.dropped + items.unsettled, count],
  ['lost', ({ lost, verify }) => lost ?? (verify && verify.missing + verify.corrupt), count],
  ['written twice', ({ twice }) => twice, count],
]
const fetchMs = (/** @type {any} */ { fetches }) => fetches?.duration_ms?.p50
const goesOn = (/** @type {any} */ line) =>
  (line.goesOn ?? line.fetches?.failed === 0) && !line.crashed ? 'yes' : 'no'
const titles = [
  ...['fault', 'driver', ...numbers.map(([title]) => title)],
  ...['goes on', 'fetch of 50 MB, p50'],
]

/** Of several plays the one in the middle, with the least and the most. @param {any[]} plays @param {(line: any) => number | null | undefined} value @param {(value: number) => string} shown */
const over = (plays, value, shown) => {
  const found = plays.flatMap((line) => value(line) ?? []).sort((a, b) => a - b)
  if (found.length === 0) return dash
  const [least, middle, most] = [0, (found.length - 1) >> 1, found.length - 1].map((i) => shown(found[i]))
  return least === most ? middle : `${middle} (${least} to ${most})`
}

/** @param {any[]} plays of one fault and driver */
const rowOf = (plays) => {
  const [{ fault, driver, version }] = plays
  const on = plays.map(goesOn).filter((word) => word === 'yes').length
  return [
    ...[fault, version ? driver.replace(/^\S+/, `$& ${version}`) : driver],
    ...numbers.map(([, value, shown]) => over(plays, value, shown)),
    on === plays.length ? 'yes' : on === 0 ? 'no' : `${on} of ${plays.length}`,
    over(plays, fetchMs, (ms) => `${Math.round(ms)} ms`),
  ]
}

/** @param {string} file */
export const tableOf = (file) => {
  const byRow = new Map()
  for (const line of linesIn(file)) {
    const name = `${line.fault}, ${line.driver}`
    byRow.set(name, [...(byRow.get(name) ?? []), line])
  }
  const row = (/** @type {string[]} */ cells) => `| ${cells.map(markdownText).join(' | ')} |`
  return [
    row(titles),
    row(titles.map((_, i) => (i < 2 ? '---' : '---:'))),
    ...[...byRow.values()].map((plays) => row(rowOf(plays))),
  ]
}

/** The faults with one of these words in their names; without words all. @param {readonly string[]} words */
export const faultsWith = (words) => {
  const all = [...clientFaults.map(({ name }) => name), reply]
  const names = all.filter((name) => words.length === 0 || words.some((word) => name.includes(word)))
  if (names.length === 0)
    throw new OptionError(`no fault has one of these words in its name: ${all.join(', ')}`)
  return names
}

/** @param {Record<string, any>} options @param {string[]} words */
const work = async ({ file, quantity, table }, words) => {
  if (!/^[1-9]\d{0,5}$/.test(quantity))
    throw new OptionError(`--quantity must be a whole number from 1, not '${quantity}'`)
  if (table && !existsSync(file)) throw new OptionError(`--table: ${file} is not there`)
  const names = faultsWith(words)
  for (const fault of table ? [] : names)
    for (const outcome of await played(fault, Number(quantity))) {
      const where = {
        version: versionOf(outcome.driver),
        quantity: Number(quantity),
        cores: availableParallelism(),
      }
      appendFileSync(file, `${JSON.stringify({ ...outcome, ...where })}\n`)
      process.stderr.write(`${fault}, ${outcome.driver}\n`)
    }
  process.stdout.write(`${tableOf(file).join('\n')}\n`)
  return ExitCode.done
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await repositoryScript({
    usage,
    options: {
      file: { type: 'string', default: 'clients-faults.ndjson' },
      quantity: { type: 'string', default: '200' },
      table: { type: 'boolean' },
    },
    work,
  })
