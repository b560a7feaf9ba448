// Filter queries, from the experiments `queries-clients` and `queries-selectivity`: the time of a query by the number of
// clients, without writers and with them, ours beside the published; and by documents and how many of them match.
import { chart, lyingAxis, uprightAxis } from '../../lib/chart/parts.js'
import { figureOf, line } from './counters.js'

/** @import { ExperimentDocument, ExperimentRow } from '../../lib/result/experiment-document.js' */

/** A line each, in the same colour in both pictures. */
const ways = Object.freeze([
  { name: 'scan', color: '@c2', symbol: 'circle' },
  { name: 'scan-chunked', color: '@c4', symbol: 'rect' },
  { name: 'index', color: '@c1', symbol: 'diamond' },
  { name: 'index-json', color: '@c5', symbol: 'triangle' },
  { name: 'search', color: '@c3', symbol: 'circle' },
])
const time = 'queries.avg'

/** Milliseconds. @param {ExperimentDocument} document @param {string} label */
export const timeOf = (document, label) => {
  const us = figureOf(document, label, time)
  return us === null ? null : us / 1000
}

/** Of 'search, 10 clients, 10 writers'. @param {string} label */
const clientsIn = (label) => {
  const [, way, clients, writers] = /^([\w-]+), (\d+) clients(, 10 writers)?$/.exec(label) ?? []
  return way ? { way, clients: Number(clients), isChanging: writers !== undefined } : null
}

const panelLeft = [62, 502]
const panels = panelLeft.map((left) => ({ left, width: 358, top: 84, bottom: 56 }))
const markLook = { color: '@surface', borderColor: '@ink', borderWidth: 2 }

/** Time by clients; the second panel has 10 writers beside them. @param {ExperimentDocument} document */
export const queriesByClients = (document) => {
  const rows = document.rows.flatMap((row) => {
    const terms = clientsIn(row.label)
    return terms ? [{ ...terms, row }] : []
  })
  const shown = ways.filter(({ name }) => rows.some(({ way }) => way === name))
  /** @param {boolean} isChanging @param {(at: typeof rows[number]) => number | null | undefined} figureAt */
  const points = (isChanging, figureAt) =>
    rows
      .filter((at) => at.isChanging === isChanging)
      .sort((a, b) => a.clients - b.clients)
      .map((at) => /** @type {[number, number | null]} */ ([at.clients, figureAt(at) ?? null]))
      .filter(([, value]) => value !== null)
  const series = [false, true].flatMap((isChanging, panel) => {
    const axes = { xAxisIndex: panel, yAxisIndex: panel }
    return [
      ...shown.map((way) =>
        line(
          way,
          points(isChanging, (at) => (at.way === way.name ? timeOf(document, at.row.label) : null)),
          axes,
        ),
      ),
      {
        type: 'scatter',
        name: 'search, published',
        data: points(isChanging, ({ row }) => row.published?.[time] && row.published[time] / 1000),
        symbol: 'diamond',
        symbolSize: 12,
        itemStyle: markLook,
        silent: true,
        ...axes,
      },
    ]
  })
  const values = series.flatMap(({ data }) => /** @type {[number, number][]} */ (data).map(([, ms]) => ms))
  return {
    title: 'Time of a query by the number of clients',
    height: 400,
    option: chart({
      tooltip: { show: false },
      legend: { ...chart({}).legend, data: [...shown.map(({ name }) => name), 'search, published'] },
      grid: panels,
      xAxis: ['clients', 'clients, with 10 writers beside them'].map((name, gridIndex) =>
        lyingAxis(`${name}, log scale`, 'count', { type: 'log', gridIndex, splitLine: { show: false } }),
      ),
      yAxis: panels.map((_, gridIndex) =>
        uprightAxis('time of a query, log scale', 'ms', { type: 'log', gridIndex, ...sameScale(values) }),
      ),
      series,
    }),
  }
}

/** Panels beside each other are compared by height. @param {number[]} values */
const sameScale = (values) => ({
  min: 10 ** Math.floor(Math.log10(Math.min(...values))),
  max: 10 ** Math.ceil(Math.log10(Math.max(...values))),
})

/** Of 'index-json, 100000 documents, 0.01 %'. @param {string} label */
const termsIn = (label) => {
  const [, way, documents, share] = /^([\w-]+), (\d+) documents, ([\d.]+) %$/.exec(label) ?? []
  return way ? { way, documents: Number(documents), percent: Number(share) } : null
}

/** Numbers of documents and shares that match, as they were measured. @param {ExperimentDocument} document */
export const selectivityTerms = ({ rows }) => {
  const all = rows.flatMap(({ label }) => termsIn(label) ?? [])
  const distinct = (/** @type {number[]} */ values) => [...new Set(values)].sort((a, b) => a - b)
  return {
    documents: distinct(all.map(({ documents }) => documents)),
    percents: distinct(all.map(({ percent }) => percent)),
  }
}

/** @param {string} way @param {number} documents @param {number} percent */
export const selectivityLabel = (way, documents, percent) => `${way}, ${documents} documents, ${percent} %`

/** Time by documents, a panel for each share that matches. @param {ExperimentDocument} document */
export const queriesBySelectivity = (document) => {
  const { documents, percents } = selectivityTerms(document)
  const gap = 58
  const width = Math.floor((900 - 30) / percents.length) - gap
  const grid = percents.map((_, i) => ({ left: gap + i * (width + gap), width, top: 84, bottom: 56 }))
  const series = percents.flatMap((percent, panel) =>
    ways.map((way) =>
      line(
        way,
        documents
          .map(
            (count) =>
              /** @type {[number, number | null]} */ ([
                count,
                timeOf(document, selectivityLabel(way.name, count, percent)),
              ]),
          )
          .filter(([, ms]) => ms !== null),
        { xAxisIndex: panel, yAxisIndex: panel },
      ),
    ),
  )
  const values = series.flatMap(({ data }) => /** @type {[number, number][]} */ (data).map(([, ms]) => ms))
  return {
    title: 'Time of a query by documents, and by the share of them that matches',
    height: 400,
    option: chart({
      tooltip: { show: false },
      legend: { ...chart({}).legend, data: ways.map(({ name }) => name) },
      grid,
      xAxis: percents.map((percent, gridIndex) =>
        lyingAxis(`documents, ${percent} % match`, 'count', {
          type: 'log',
          gridIndex,
          min: documents[0],
          max: documents.at(-1),
          splitLine: { show: false },
        }),
      ),
      yAxis: percents.map((_, gridIndex) =>
        uprightAxis(gridIndex === 0 ? 'time of a query, log scale' : '', 'ms', {
          type: 'log',
          gridIndex,
          ...sameScale(values),
        }),
      ),
      series,
    }),
  }
}
