// Lines of charts, most of them over the time of a run: its seconds, its nodes, its events and phases.
import { shortened } from '../base/layout.js'
import { isPartial, shortestMs } from '../base/partial.js'
import { isSupported } from '../base/samples.js'
import { mean } from '../base/sums.js'
import { axisStyle, chart, colour, legendOf, lyingAxis, marksAlone } from './parts.js'

/**
 * @import { NodeRow } from '../probes/node-sampler.js'
 * @import { Times } from '../measures/fold.js'
 * @import { RunRecord, Second } from '../result/record.js'
 * @import { Option } from './parts.js'
 *
 * @typedef {(number | null)[]} Point
 */

// Short names of nodes, without what all have in common.

/** The common ending of all names, from a dot on: '.cache.example.com:6379'. @param {string[]} names */
const sharedEnding = ([first, ...others]) => {
  const endings = [...first.matchAll(/\./g)].map(({ index }) => first.slice(index))
  const named = endings.filter((ending) => /^\.[a-z]/i.test(ending))
  return (others.length > 0 && named.find((ending) => others.every((name) => name.endsWith(ending)))) || ''
}

/**
 * Nodes of one host are known by their ports, those of one domain by their names.
 * @param {string[]} addresses
 * @returns {(address: string) => string}
 */
export const shortNames = (addresses) => {
  if (addresses.length === 0) return (address) => address
  const ending = sharedEnding(addresses)
  const host = /^(.*):\d+$/.exec(addresses[0])?.[1]
  const oneHost =
    addresses.length > 1 && addresses.every((address) => /^(.*):\d+$/.exec(address)?.[1] === host)
  return (address) => {
    if (oneHost) return address.slice(address.lastIndexOf(':') + 1)
    return ending && address.endsWith(ending) ? address.slice(0, -ending.length) : address
  }
}

// A screen shows no more points; a day of seconds would make a page of megabytes.
const maxPoints = 1200

// Width of a node's name in a legend.
const nameWidth = 40

/**
 * @typedef {(values: number[]) => number} Merge how neighbouring seconds become one point
 * @typedef {(second: Second, at: number) => number | null | undefined} FigureOf null: a gap; undefined: no point here
 */

/** @type {Merge} what must not be averaged away */
export const highest = (values) => Math.max(...values)

/**
 * A figure over time, thinned to what a screen can show. Partial seconds have no point.
 * @param {Second[]} seconds
 * @param {FigureOf} figure
 * @param {Merge} [merge]
 * @returns {Point[]} seconds and the figure
 */
export const overTime = (seconds, figure, merge = mean) => {
  const width = Math.ceil(seconds.length / maxPoints) || 1
  /** @type {Point[]} */
  const points = []
  for (let from = 0; from < seconds.length; from += width) {
    const part = seconds.slice(from, from + width)
    const figures = part.map((second, at) => (isPartial(second) ? undefined : figure(second, from + at)))
    if (figures.every((value) => value === undefined)) continue
    const known = figures.filter((value) => typeof value === 'number').filter(Number.isFinite)
    const atS = part[part.length - 1].at_ms / 1000
    points.push([+atS.toFixed(2), known.length ? +merge(known).toPrecision(4) : null])
  }
  return points
}

/**
 * A maximum or a count, of which nothing may be lost: that of a partial second is in the point before it.
 * @param {Second[]} seconds
 * @param {FigureOf} figure
 * @param {Merge} merge
 * @returns {FigureOf}
 */
export const withPartial = (seconds, figure, merge) => (second, at) => {
  const after = seconds.slice(at + 1, at + 2).filter(isPartial)
  const known = [second, ...after]
    .map((one, by) => figure(one, at + by))
    .filter((value) => typeof value === 'number')
  return known.length > 0 ? merge(known) : figure(second, at)
}

/**
 * The figure from the end of the warm-up on: a second that ends within half a second after it has none.
 * @param {RunRecord} record
 * @param {(second: Second) => number | null | undefined} figure
 * @returns {typeof figure}
 */
const sinceWarmUp =
  ({ run }, figure) =>
  (second) =>
    second.at_ms - (run.warm_up_s ?? 0) * 1000 < shortestMs ? undefined : figure(second)

/**
 * A percentile of a second, null where too few samples are beyond it. The median and the maximum need no such number.
 * @param {Times | null | undefined} found
 * @param {'p50' | 'p90' | 'p99' | 'p999' | 'max'} key
 */
export const supported = (found, key) =>
  found && (key === 'p50' || isSupported({ count: found.samples }, key)) ? found[key] : null

/**
 * A percentile over time, or the maximum, from the end of the warm-up on.
 * @param {RunRecord} record
 * @param {(second: Second) => Times | null | undefined} timesIn
 * @param {Parameters<typeof supported>[1]} key
 */
export const latencyOverTime = (record, timesIn, key) => {
  const { seconds } = record
  const figure = sinceWarmUp(record, (second) => supported(timesIn(second), key))
  return overTime(seconds, key === 'max' ? withPartial(seconds, figure, highest) : figure, highest)
}

/** @param {Point[]} points */
const hasFigures = (points) => points.some(([, value]) => value !== null)

/** A point between two gaps has no line, so it is drawn as a dot. @param {Point[]} points @returns {(Point | { value: Point, symbol: string })[]} */
const withDots = (points) =>
  points.map((point, at) => {
    const isGap = (/** @type {number} */ other) => (points[other]?.[1] ?? null) === null
    return point[1] !== null && isGap(at - 1) && isGap(at + 1) ? { value: point, symbol: 'circle' } : point
  })

/**
 * @param {string} name
 * @param {Point[]} data
 * @param {{ color: string, dashed?: boolean, width?: number, step?: boolean, unit: string }} style
 * @returns {Option[]} none without a figure
 */
export const line = (name, data, { color, dashed = false, width = 2, step = false, unit }) =>
  hasFigures(data)
    ? [
        {
          type: 'line',
          name,
          data: withDots(data),
          showSymbol: true,
          symbol: 'none',
          symbolSize: 5,
          // A value holds for the time before its point.
          ...(step && { step: 'start' }),
          color,
          lineStyle: { color, width, type: dashed ? [6, 4] : 'solid' },
          itemStyle: { color },
          emphasis: { disabled: true },
          tooltip: { valueFormatter: `@${unit}` },
        },
      ]
    : []

/**
 * A figure of one node over time.
 * @param {Second[]} seconds
 * @param {(row: NodeRow) => boolean} isIt
 * @param {(row: NodeRow) => number | null | undefined} figure
 */
export const nodePoints = (seconds, isIt, figure) =>
  overTime(seconds, ({ nodes = [] }) => {
    const row = nodes.find(isIt)
    if (row && isPartial(row)) return undefined
    return row ? (figure(row) ?? null) : null
  })

/**
 * A line for each node and role: a node that changes its role continues as another line.
 * @param {Second[]} seconds
 * @param {(row: NodeRow) => number | null | undefined} figure
 * @param {string} unit
 */
export const nodeLines = (seconds, figure, unit) => {
  const all = seconds.flatMap(({ nodes = [] }) => nodes)
  const shortName = shortNames([...new Set(all.map(({ address }) => address))])
  const kinds = new Map(all.map((row) => [`${row.shard} ${row.role} ${row.address}`, row]))
  return [...kinds.values()]
    .sort((a, b) => a.shard - b.shard || a.role.localeCompare(b.role))
    .flatMap(({ address, shard, role }) => {
      const isIt = (/** @type {NodeRow} */ row) => row.address === address && row.role === role
      const points = nodePoints(seconds, isIt, figure)
      const masters = role === 'master'
      const style = { color: colour(shard - 1), dashed: !masters, width: masters ? 2 : 1.5, unit }
      return line(
        `${role} ${shardCount(all) > 1 ? `${shard} ` : ''}· ${shortened(shortName(address), nameWidth)}`,
        points,
        style,
      )
    })
}

/** @param {{ shard: number }[]} rows */
const shardCount = (rows) => new Set(rows.map(({ shard }) => shard)).size

/** The node of an event. @param {string} text @param {(address: string) => string} shortName @param {readonly string[]} addresses */
const nodeIn = (text, shortName, addresses) => {
  const address = addresses.find((one) => text.startsWith(one))
  return address ? ` ${shortName(address)}` : ''
}

/**
 * Events as vertical lines, each with the name of its node. Events too close to be read are one mark, and those before the
 * first item are in the table only.
 * @param {RunRecord} record
 */
const eventMarks = ({ run, seconds }) => {
  const endMs = seconds.at(-1)?.at_ms ?? 0
  const addresses = [...new Set(seconds.flatMap(({ nodes = [] }) => nodes.map(({ address }) => address)))]
  const shortName = shortNames(addresses)
  /** @type {{ fromMs: number, toMs: number, kinds: string[], node: string }[]} */
  const marks = []
  for (const { at_ms: atMs, kind, text } of run.events) {
    // Phases and the warm-up have their own areas.
    if (kind === 'phase' || kind === 'warm-up' || atMs < 0) continue
    const last = marks.at(-1)
    const again = last?.kinds.every((one) => one === kind) && atMs - last.toMs < endMs * 0.15
    if (last && (again || atMs - last.fromMs < endMs * 0.1)) {
      last.kinds.push(kind)
      last.toMs = atMs
    } else marks.push({ fromMs: atMs, toMs: atMs, kinds: [kind], node: nodeIn(text, shortName, addresses) })
  }
  return marks.map(({ fromMs, kinds: [kind, ...others], node }) => {
    const more = others.length > 0 ? ` +${others.length}` : ''
    const names = [...new Set([`${kind}${node}${more}`, `${kind}${node}`, `${kind}${more}`, kind])]
    return { xAxis: +(fromMs / 1000).toFixed(2), name: names[0], names }
  })
}

/** Names of phases, without the case and without a variant that all of them have. @param {string[]} labels */
const phaseNames = (labels) => {
  const group = labels[0]?.split(' / ').slice(0, -1).join(' / ') ?? ''
  const shared = labels.every((label) => label.startsWith(`${group} / `)) ? group.length + 3 : 0
  const [variant = ''] = / \([^()]*\)$/.exec(labels[0] ?? '') ?? []
  const end = variant && labels.every((label) => label.endsWith(variant)) ? -variant.length : undefined
  return labels.map((label) => label.slice(shared, end) || label)
}

/** The warm-up, and the phases of an experiment. @param {RunRecord} record */
const spans = ({ run, phases }) => {
  const warmUpS = run.warm_up_s ?? 0
  const names = phaseNames(phases.map(({ label }) => label))
  return [
    ...(warmUpS > 0 && phases.length === 0 ? [{ label: 'warm-up', fromS: 0, toS: warmUpS }] : []),
    ...phases.map(({ from_ms: fromMs, to_ms: toMs }, at) => ({
      label: names[at],
      fromS: fromMs / 1000,
      toS: toMs / 1000,
    })),
  ]
}

/** @param {RunRecord} record */
const areas = (record) =>
  spans(record).map(({ label, fromS, toS }) => [{ xAxis: fromS, name: label }, { xAxis: toS }])

/** @param {RunRecord} record */
const marksOver = (record) => {
  const labels = { show: true, color: '@muted', fontSize: 11 }
  return {
    ...marksAlone,
    id: 'marks',
    markLine: {
      symbol: 'none',
      silent: true,
      lineStyle: { color: '@muted', type: [2, 3], width: 1 },
      label: { ...labels, formatter: '{b}', position: 'end', distance: 3 },
      data: eventMarks(record),
    },
    markArea: {
      silent: true,
      itemStyle: { color: '@shade' },
      label: { ...labels, position: 'insideTopLeft', lineHeight: 13 },
      data: areas(record),
    },
  }
}

/**
 * Lines over the time of a run, with its events.
 * @param {RunRecord} record
 * @param {{ axis: Option, series: Option[] }} parts
 * @returns {Option | null}
 */
export const timeChart = (record, { axis, series }) =>
  series.length === 0
    ? null
    : chart({
        legend: legendOf(series),
        xAxis: timeAxis(record),
        yAxis: { ...axis, nameGap: 24 },
        series: [...series, marksOver(record)],
      })

/** @param {RunRecord} record */
export const timeAxis = (record) =>
  lyingAxis('time, min:s', 'clock', {
    min: 0,
    splitLine: { show: false },
    axisLine: { show: true, lineStyle: { color: '@line' } },
    ...timeSpan(record),
  })

/** An axis of the whole run, in steps of usual units of time. @param {RunRecord} record */
const timeSpan = ({ seconds }) => {
  const wholeS = (seconds.at(-1)?.at_ms ?? 1000) / 1000
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200]
  const interval = steps.find((step) => wholeS / step <= 10) ?? 86_400
  const ends = wholeS % interval < interval / 100
  return {
    max: +wholeS.toFixed(2),
    interval,
    axisLabel: { ...axisStyle.axisLabel, formatter: '@clock', showMaxLabel: ends },
  }
}
