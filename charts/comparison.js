import {
  axisStyle,
  changeWords,
  chart,
  colour,
  intervalWords,
  legendOf,
  lyingAxis,
  namesAxis,
  roundDots,
  uprightAxis,
  valuesBeside,
  verdictWords,
  whiskers,
} from '../lib/chart/parts.js'
import { formatted } from '../lib/chart/theme.js'
import { measureNamed } from '../lib/result/metrics.js'
import { ratioSteps } from './ratios.js'

/**
 * @import { Chart, Option } from '../lib/chart/parts.js'
 * @import { Comparison, Figure, Row } from '../lib/compare/comparison.js'
 * @import { Round } from '../lib/compare/document.js'
 */

/** @param {Comparison} comparison */
const shownRows = ({ rows }) => rows.filter(({ primary, difference }) => primary && difference.relative)

/** @param {number} change */
const logOf = (change) => +Math.log1p(change).toFixed(5)

/** The changes of the rounds; of runs that are no pairs there are none. @param {Comparison} comparison @param {Row} row */
const changesOf = ({ design }, { a, b }) =>
  design === 'paired' ? a.map((value, at) => logOf(b[at] / value - 1)) : []

const withoutEmphasis = { tooltip: { valueFormatter: '@change' }, emphasis: { disabled: true } }

/** @param {Comparison} comparison @param {Row[]} rows @returns {Option[]} */
const limitsOf = ({ rulings }, rows) => {
  const data = rulings.flatMap(({ relative, figure, label, threshold }) => {
    const row = rows.findIndex((each) => each.figure.name === figure.name && each.label === label)
    const [, percent] = /([+-][\d.]+)%\s*$/.exec(threshold) ?? []
    return relative && row >= 0 ? [{ value: [logOf(Number(percent) / 100), row], detail: threshold }] : []
  })
  return data.length === 0
    ? []
    : [
        {
          type: 'scatter',
          name: 'threshold',
          data,
          symbol: 'rect',
          symbolSize: [3, 26],
          itemStyle: { color: '@bad' },
          ...withoutEmphasis,
        },
      ]
}

/** Both sides, as the tables have them: 10.0 µs → 11.0 µs @param {Row} row */
const absoluteWords = ({ figure, difference: { centreA, centreB } }) =>
  [centreA, centreB].map((value) => formatted(figure.unit, value)).join(' → ')

/** @param {Row} row @param {number} effect */
const shortVerdict = (row, effect) => verdictWords(row, effect).replace(/ beyond.*/, '')

// Twice and half.
const widest = Math.LN2

/** Half of the axis, which has no change in its middle. @param {Comparison} comparison @param {Row[]} rows @param {Option[]} limits */
const reachOf = (comparison, rows, limits) => {
  const ends = rows.flatMap((row) => {
    const { low, high, change } = row.difference
    return [...changesOf(comparison, row), ...[low ?? change, high ?? change].map(logOf)]
  })
  const all = [
    ...ends,
    ...limits.flatMap(({ data }) => data.map((/** @type {{ value: number[] }} */ { value }) => value[0])),
  ]
  const least = Math.log1p(comparison.effect) * 1.5
  // One wide interval must not make all others too short to see.
  const most = Math.max(
    widest,
    ...rows.map(({ difference }) => 1.2 * Math.abs(Math.log1p(difference.change))),
  )
  return +(Math.min(most, Math.max(least, ...all.map(Math.abs))) * 1.06).toFixed(4)
}

/** @type {Chart<Comparison>} */
export const forest = {
  name: 'changes',
  title: 'Changes',
  note: 'Large dots are the changes with their 95 % interval, small dots the rounds. Changes within the shaded band are too small to matter. On the scale ×2 and ×1/2 are equally far from ×1. Beyond the picture are the end of an interval without a bar, and rounds at an arrow, which has their number.',
  option: (comparison) => {
    const rows = shownRows(comparison)
    if (rows.length === 0) return null
    const several = new Set(rows.map(({ label }) => label)).size > 1
    const isOne = new Set(rows.map(({ figure }) => figure.name)).size === 1
    const limits = limitsOf(comparison, rows)
    const reach = reachOf(comparison, rows, limits)
    const band = +Math.log1p(comparison.effect).toFixed(5)
    const rounds = rows.flatMap((row, at) => roundsIn(changesOf(comparison, row), at, reach))
    const series = [
      {
        type: 'scatter',
        name: 'change',
        data: rows.map((row, at) => ({
          value: [logOf(row.difference.change), at],
          detail: row.difference.low === null ? 'one run a side' : intervalWords(row),
        })),
        symbolSize: 12,
        itemStyle: { color: '@c1' },
        z: 3,
        ...withoutEmphasis,
        markLine: whiskersOf(rows, reach),
        markArea: {
          silent: true,
          itemStyle: { color: '@shade' },
          data: [[{ xAxis: -band }, { xAxis: band }]],
        },
      },
      ...roundDots(rounds, '@c2', withoutEmphasis),
      ...limits,
    ]
    const names = namesAxis(
      rows.map((row) => {
        const { label, figure } = row
        const name =
          label && (several || comparison.ranks)
            ? isOne
              ? label
              : `${label}\n${figure.title}`
            : figure.title
        return `${name}\n${absoluteWords(row)}`
      }),
    )
    const steps = ratioSteps(-reach, reach)
    const axis = lyingAxis('ratio, log scale', 'logratio', { min: -reach, max: reach })
    return chart({
      tooltip: { trigger: 'item' },
      legend: { ...chart({}).legend, data: series.map(({ name }) => name) },
      grid: { ...chart({}).grid, top: 40, right: 112 },
      xAxis: {
        ...axis,
        axisTick: { ...axis.axisTick, customValues: steps },
        axisLabel: { ...axis.axisLabel, customValues: steps },
      },
      yAxis: { ...names, axisLabel: { ...names.axisLabel, width: 170 } },
      series: [
        ...series,
        valuesBeside(
          reach,
          rows.map((row) => [changeWords(row.difference.change), shortVerdict(row, comparison.effect)]),
        ),
      ],
    })
  },
}

/** The rounds of a row: a dot each, and at an edge one arrow for those beyond. @param {number[]} changes @param {number} at @param {number} reach @returns {Option[]} */
const roundsIn = (changes, at, reach) => {
  const all = changes.map((change, round) => ({ value: [change, at], detail: `round ${round + 1}` }))
  const arrows = [-1, 1].flatMap((side) => {
    const beyond = all.filter(({ value: [change] }) => change * side > reach)
    if (beyond.length === 0) return []
    return [
      {
        value: [side * reach * 0.97, at],
        beyond: 'beyond the picture',
        detail: beyond
          .map(({ value: [change], detail }) => `${detail}: ${changeWords(Math.expm1(change))}`)
          .join(', '),
        symbol: 'triangle',
        symbolSize: 9,
        symbolRotate: -90 * side,
        label: {
          show: beyond.length > 1,
          formatter: String(beyond.length),
          position: side > 0 ? 'left' : 'right',
          color: '@muted',
          fontSize: 11,
        },
      },
    ]
  })
  return [...all.filter(({ value: [change] }) => Math.abs(change) <= reach), ...arrows]
}

/** @param {Row[]} rows @param {number} reach */
const whiskersOf = (rows, reach) => {
  const end = (/** @type {number} */ change, /** @type {number} */ at) => {
    const log = logOf(change)
    return Math.abs(log) > reach
      ? { coord: [Math.sign(log) * reach, at], symbol: 'none' }
      : { coord: [log, at] }
  }
  const data = rows.flatMap(({ difference: { low, high } }, at) =>
    low === null || high === null || low === high ? [] : [[end(low, at), end(high, at)]],
  )
  // For logarithms, which may be below 0.
  return { ...whiskers([], '@c1'), data }
}

/**
 * The runs in the order in which they ran, by the first metric.
 * @type {Chart<{ figure: Figure, sides: string[], rounds: readonly Round[] }>}
 */
export const runsInOrder = {
  name: 'order',
  title: 'The runs in their order',
  note: 'A drift of all sides comes from the machine. The comparison uses the differences within the rounds.',
  option: ({ figure, sides, rounds }) => {
    const runs = rounds.flatMap((round) => round.runs)
    if (runs.length === 0) return null
    const { unit, axis } = measureNamed(figure.name)
    const lines = sides.map((name, at) => ({
      type: 'line',
      name,
      data: runs.flatMap(({ side, figures }, run) =>
        side === name && figures[figure.name] !== undefined ? [[run + 1, figures[figure.name]]] : [],
      ),
      symbol: 'circle',
      symbolSize: 8,
      showSymbol: true,
      color: colour(at),
      itemStyle: { color: colour(at) },
      lineStyle: { color: colour(at), width: 1.5, type: 'solid' },
      emphasis: { disabled: true },
      tooltip: { valueFormatter: `@${unit}` },
    }))
    return chart({
      legend: legendOf(lines),
      xAxis: lyingAxis('run', 'count', {
        min: 1,
        max: runs.length,
        minInterval: 1,
        axisLabel: { ...axisStyle.axisLabel, formatter: '@count' },
      }),
      yAxis: uprightAxis(axis, unit, { nameGap: 24, scale: true }),
      series: lines,
    })
  },
}
