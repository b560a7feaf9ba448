#!/usr/bin/env node
// Faults for all client libraries at once: a line of JSON for each driver and fault, and a table of them as Markdown.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { ExitCode, OptionError } from '../lib/base/errors.js'
import { libraries, libraryOf } from '../lib/base/libraries.js'
import { count, dash } from '../lib/base/units.js'
import { script } from '../lib/cli/script.js'
import { markdownText } from '../lib/report/markdown.js'
import { clientFaults, driverIn, largeReplies, playForClients } from './faults/clients.js'

const usage = `Usage: node scripts/client-faults.js [options] [words of the faults...]

  --file PATH      results, a line for each driver and fault; new ones are added (clients-faults.ndjson)
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
  return found ? playForClients(found, drivers, { quantity }) : []
}

/** @type {[title: string, cell: (line: any) => string][]} */
const columns = [
  ['fault', ({ fault }) => fault],
  ['driver', ({ driver, version }) => (version ? driver.replace(/^\S+/, `$& ${version}`) : driver)],
  ['seconds without service', ({ withoutS }) => withoutS?.toFixed(1) ?? dash],
  ['seconds below 80 %', ({ shortS }) => shortS?.toFixed(1) ?? dash],
  ['offered', ({ items }) => (items ? count(items.offered) : dash)],
  ['failed', ({ items }) => (items ? count(items.failed) : dash)],
  ['uncertain', ({ items }) => (items ? count(items.uncertain) : dash)],
  ['dropped or unsettled', ({ items }) => (items ? count(items.dropped + items.unsettled) : dash)],
  ['lost', ({ lost, verify }) => String(lost ?? (verify ? verify.missing + verify.corrupt : dash))],
  ['written twice', ({ twice }) => String(twice ?? dash)],
  [
    'goes on',
    ({ goesOn, fetches, crashed }) => ((goesOn ?? fetches?.failed === 0) && !crashed ? 'yes' : 'no'),
  ],
  [
    'fetch of 50 MB, p50',
    ({ fetches }) => (fetches?.duration_ms ? `${Math.round(fetches.duration_ms.p50)} ms` : dash),
  ],
]

/** @param {string} file */
const tableOf = (file) => {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  const row = (/** @type {string[]} */ cells) => `| ${cells.map(markdownText).join(' | ')} |`
  return [
    row(columns.map(([title]) => title)),
    row(columns.map((_, i) => (i < 2 ? '---' : '---:'))),
    ...lines.map((line) => row(columns.map(([, cell]) => cell(line)))),
  ]
}

await script({
  usage,
  options: {
    file: { type: 'string', default: 'clients-faults.ndjson' },
    quantity: { type: 'string', default: '200' },
    table: { type: 'boolean' },
  },
  work: async ({ file, quantity, table }, words) => {
    if (!/^[1-9]\d{0,5}$/.test(quantity))
      throw new OptionError(`--quantity must be a whole number from 1, not '${quantity}'`)
    if (table && !existsSync(file)) throw new OptionError(`--table: ${file} is not there`)
    const names = [...clientFaults.map(({ name }) => name), reply].filter(
      (name) => words.length === 0 || words.some((word) => name.includes(word)),
    )
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
  },
})
