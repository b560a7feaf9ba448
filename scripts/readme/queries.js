// What docs/studies/queries.md says of the experiments in docs/data: their pictures, and when the hand-made index beats the module.

import { micros, rate } from '../../lib/base/units.js'
import { figureOf } from '../pictures/counters.js'
import {
  queriesByClients,
  queriesBySelectivity,
  selectivityLabel,
  selectivityTerms,
  timeOf,
} from '../pictures/queries.js'
import { table } from './reference.js'

/** @import { ExperimentDocument } from '../../lib/result/experiment-document.js' */

const handMade = ['index', 'index-json']
const compared = [...handMade, 'search']
const words = Object.freeze({ index: '`query-index`', 'index-json': '`query-index-json`' })

/** Times by documents and share. @param {ExperimentDocument} document */
const timesIn = (document) => {
  const { documents, percents } = selectivityTerms(document)
  return documents.flatMap((count) =>
    percents.flatMap((percent) => {
      const times = compared.map((way) => timeOf(document, selectivityLabel(way, count, percent)))
      return times.some((ms) => ms === null) ? [] : [{ count, percent, times: times.map(Number) }]
    }),
  )
}

const shown = (/** @type {number} */ ms) => micros(ms * 1000)
const place = (/** @type {{ count: number, percent: number }} */ { count, percent }) =>
  `${percent} % of ${count.toLocaleString('en')}`

/** A sentence for each index made by hand. @param {ReturnType<typeof timesIn>} rows @param {keyof typeof words} way */
const whenWords = (rows, way) => {
  const at = handMade.indexOf(way)
  const isFaster = (/** @type {typeof rows[number]} */ { times }) => times[at] < Number(times.at(-1))
  const faster = rows.filter(isFaster)
  if (faster.length === 0) return `${words[way]} is nowhere faster than the module.`
  if (faster.length === rows.length) return `${words[way]} is faster than the module everywhere.`
  return `${words[way]} is faster than the module where ${faster.map(place).join(', ')} match, and slower where ${rows
    .filter((row) => !isFaster(row))
    .map(place)
    .join(', ')} do.`
}

/** When the index made by hand beats the module. @param {ExperimentDocument} document */
const whenPart = (document) => {
  const rows = timesIn(document)
  return [
    '### When does the hand-made index beat the module?',
    '',
    'Time of a query by one client, on average; 10 documents after the first 10 are asked for. An index made by hand also costs its',
    'writers a script call and two or three commands for each document.',
    '',
    table(
      ['documents', 'match', '`query-index`', '`query-index-json`', '`query-search`'],
      rows.map(({ count, percent, times }) => [
        count.toLocaleString('en'),
        `${percent} %`,
        ...times.map((ms) => (ms === Math.min(...times) ? `**${shown(ms)}**` : shown(ms))),
      ]),
    ),
    '',
    ...handMade.map((way) => whenWords(rows, /** @type {keyof typeof words} */ (way))),
  ].join('\n')
}

/** What the first table comes to. @param {ExperimentDocument} document */
const findingsPart = (document) => {
  const of = (/** @type {string} */ way, /** @type {number} */ clients, /** @type {string} */ figure) =>
    figureOf(document, `${way}, ${clients} clients`, figure) ?? Number.NaN
  const ratio = (/** @type {string} */ way, /** @type {string} */ to) =>
    rate(of(way, 3, 'queries.avg') / of(to, 3, 'queries.avg'))
  const waits = (/** @type {string} */ way, /** @type {number} */ clients) =>
    micros(of(way, clients, 'bystander.max'))
  const cpu = (/** @type {string} */ way) => micros(of(way, 3, 'server.cpu_us_per_item'))
  return [
    `Measured by \`${document.command}\`.`,
    '',
    `- **The published order holds where it matters**: with 3 clients a scan by a script takes ${ratio('scan', 'search')} times as long as RediSearch`,
    '  (published: 243 times, 80.3 s against 0.33 s). Everything is far faster here than in the published tables, whose documents and queries',
    '  were larger.',
    `- **A scan stops everybody**: another client waits up to ${waits('scan', 3)} with 3 clients and ${waits('scan', 8)} with 8. In short calls the same scan`,
    `  takes ${cpu('scan-chunked')} of CPU (${cpu('scan')} in one call), and others wait ${waits('scan-chunked', 3)}.`,
    `- **cjson takes ${ratio('scan-json', 'scan')} times as long** as string matching; published it was a sixth faster.`,
    `- **Indexes**: the server's CPU for a query is ${cpu('index-json')} where the index holds what an answer needs, ${cpu('search')} by RediSearch, and ${cpu('index')}`,
    '  where sets have to be intersected.',
  ].join('\n')
}

/** The pictures by name, of the experiments that were measured. @param {Map<string, ExperimentDocument>} experiments */
export const queriesPictures = (experiments) => {
  const clients = experiments.get('queries-clients')
  const selectivity = experiments.get('queries-selectivity')
  return {
    ...(clients && { 'queries-clients': queriesByClients(clients) }),
    ...(selectivity && { 'queries-selectivity': queriesBySelectivity(selectivity) }),
  }
}

/**
 * @param {Map<string, ExperimentDocument>} experiments
 * @param {(path: string, words: string) => string} markup
 * @returns {[file: string, mark: string, part: string][]}
 */
export const queriesParts = (experiments, markup) => {
  const page = 'docs/studies/queries.md'
  const selectivity = experiments.get('queries-selectivity')
  const queries = experiments.get('queries')
  return [
    ...Object.entries(queriesPictures(experiments)).map(
      ([name, { title }]) =>
        /** @type {[string, string, string]} */ ([page, name, markup(`charts/measured/${name}`, title)]),
    ),
    ...(queries
      ? [/** @type {[string, string, string]} */ ([page, 'queries-findings', findingsPart(queries)])]
      : []),
    ...(selectivity
      ? [/** @type {[string, string, string]} */ ([page, 'queries-when', whenPart(selectivity)])]
      : []),
  ]
}
