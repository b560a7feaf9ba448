// docs/studies/clients.md: what each client library costs, from docs/data/clients.ndjson.

import { join } from 'node:path'
import { bytes, count, micros } from '../../lib/base/units.js'
import { shownFigure } from '../../lib/report/cells.js'
import { experimentPictures } from '../../lib/report/charts.js'
import { measureNamed } from '../../lib/result/metrics.js'
import { centreOf, figureOfRow } from '../../lib/result/statistics.js'
import { linesIn } from '../bench/arguments.js'
import { dataFolder } from './data.js'
import { pictureFile } from './picture-file.js'
import { table } from './reference.js'

/** @import { ExperimentDocument } from '../../lib/result/experiment-document.js' */

/** @typedef {{ title: string, row: (client: string) => string, figure: string, shownAs?: string }} Column */

const even = (/** @type {string} */ client) => `10,000 items/s (${client})`
const inFlight = (/** @type {string} */ client) => `100,000 in flight, ${client} (${client})`
const fetched = (/** @type {string} */ client) => `1,000 values, ${client} (${client})`

/** @type {Record<string, Column[]>} */
const tables = {
  cost: [
    { title: 'CPU of the process an item', row: even, figure: 'client.cpu_us_per_item' },
    // At 10,000 items/s, 1 % of a core is 1 µs an item.
    {
      title: 'of the sending thread',
      row: even,
      figure: 'client.thread_cpu_pct',
      shownAs: 'client.cpu_us_per_item',
    },
    { title: 'time in garbage collection', row: even, figure: 'client.gc_pct' },
    { title: 'longest pause', row: even, figure: 'client.gc_ms_max' },
    { title: 'latency p50', row: even, figure: 'latency.intended.p50' },
    { title: 'p99', row: even, figure: 'latency.intended.p99' },
    { title: 'highest rate', row: (client) => `highest rate (${client})`, figure: 'rate.achieved' },
  ],
  more: [
    { title: '100,000 in flight: memory of the process', row: inFlight, figure: 'client.rss_mb_max' },
    { title: 'time in garbage collection', row: inFlight, figure: 'client.gc_pct' },
    { title: 'longest pause', row: inFlight, figure: 'client.gc_ms_max' },
    { title: 'latency p99', row: inFlight, figure: 'latency.intended.p99' },
    { title: 'a fetch of 1,000 values: p50', row: fetched, figure: 'fetches.duration_ms.p50' },
    { title: 'p99', row: fetched, figure: 'fetches.duration_ms.p99' },
  ],
}

/** 21.7 µs (21.2 to 22.3), with 'not valid' where no run of the row was. @param {ExperimentDocument} document @param {string} client @param {Column} column */
const cellOf = ({ rows }, client, { row: labelOf, figure, shownAs = figure }) => {
  const row = rows.find(({ label }) => label === labelOf(client))
  const found = row?.figures[figure]
  if (!row || !found) return '–'
  const shown = (/** @type {number} */ value) => shownFigure(measureNamed(shownAs), value)
  const [value, low, high] = [centreOf(found), found.low, found.high].map(shown)
  const marked = row.marks.length > 0 ? ' ‡' : ''
  return (low === high ? value : `${value} (${low} to ${high})`) + marked
}

/** @param {ExperimentDocument | undefined} document @returns {[file: string, mark: string, part: string][]} */
export const clientsParts = (document) => {
  if (!document) return []
  const clients = [...new Set(document.rows.map(({ factors }) => String(factors.variant)))]
  const marks = [...new Set(document.rows.flatMap((row) => row.marks.map(({ text }) => text)))]
  const parts = Object.entries(tables).map(([name, columns]) => {
    const rows = clients
      .map((client) => [client, ...columns.map((column) => cellOf(document, client, column))])
      .filter((row) => row.slice(1).some((text) => text !== '–'))
    return /** @type {[string, string, string]} */ ([
      'docs/studies/clients.md',
      name,
      table(['client', ...columns.map(({ title }) => title)], rows),
    ])
  })
  const note = [
    `Node ${document.versions.node}, servers ${document.versions.servers.join(', ')}; ${document.hardware ?? ''}.`,
    ...(marks.length > 0 ? [`‡: ${marks.join('; ')}.`] : []),
  ].join(' ')
  return [...parts, ['docs/studies/clients.md', 'versions', note]]
}

/** A mean with its interval over the rounds. @param {number[]} values @param {(value: number) => string} shown */
const within = (values, shown) => {
  const figure = figureOfRow(values)
  const [value, low, high] = [centreOf(figure), Math.max(0, figure.low), figure.high].map(shown)
  return low === high ? value : `${value} (${low} to ${high})`
}

/** A million in flight, by scripts/client-memory.js. @param {string} [file] */
export const clientsMemoryPart = (file = join(dataFolder, 'clients-memory.ndjson')) => {
  const lines = linesIn(file)
  const rows = [...new Set(lines.map(({ client }) => client))].map((client) => {
    const all = lines.filter((line) => line.client === client)
    const done = all.filter(({ crashed }) => crashed === undefined)
    const of = (/** @type {string} */ name) => done.map((line) => line[name])
    if (done.length === 0) return [client, ...'–––'.split(''), `0, crashed: ${all.length}`]
    const acked = done.map(({ items }) => items.acked).sort((a, b) => a - b)
    const ends = [...new Set([acked[0], acked[acked.length - 1]])].map(count).join(' to ')
    return [
      client,
      within(of('rssMb'), (mb) => bytes(mb * 1e6)),
      within(of('gcMs'), (ms) => micros(ms * 1000)),
      within(of('stillS'), (s) => `${s.toFixed(1)} s`),
      `${ends}${all.length > done.length ? `, crashed: ${all.length - done.length} of ${all.length}` : ''}`,
    ]
  })
  const titles = [
    ...['client', 'memory of the process', 'longest pause of garbage collection'],
    ...['longest time between two samples, a second apart', `acknowledged within ${lines[0]?.limitS} s`],
  ]
  const named = (/** @type {string} */ name) =>
    [...new Set(lines.flatMap((line) => line[name] ?? []))].join(', ')
  const note = `Node ${named('node')}, server ${named('servers')}; ${named('cores')} cores.`
  return `${table(titles, rows)}\n\n${note}`
}

/** Commands one by one, and those of a turn in batches, by millrace compare. @param {string} [file] */
export const clientsBatchesPart = (file = join(dataFolder, 'clients-batches.ndjson')) => {
  const lines = linesIn(file)
  const columns = tables.cost.filter(({ figure }) => figure !== 'rate.achieved')
  const rows = ['valkey-glide', 'valkey-glide in batches'].map((client) => [
    client,
    ...columns.map(({ figure, shownAs = figure }) =>
      within(
        lines.filter((line) => line.client === client).map(({ figures }) => figures[figure]),
        (value) => shownFigure(measureNamed(shownAs), value),
      ),
    ),
  ])
  return table(['client', ...columns.map(({ title }) => title)], rows)
}

/** The CPU of an item at one rate. @param {ExperimentDocument | undefined} document @returns {Record<string, string>} */
export const clientsPicture = (document) => {
  if (!document) return {}
  const rows = document.rows.filter(({ label, factors }) => label === even(String(factors.variant)))
  const column = document.columns.filter(({ name }) => name === tables.cost[0].figure)
  const [picture] = experimentPictures({ ...document, rows, columns: column })
  return picture ? { 'charts/measured/clients-cpu.svg': pictureFile(picture) } : {}
}
