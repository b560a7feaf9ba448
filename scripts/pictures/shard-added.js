import { axisStyle, chart, legendOf, lyingAxis, marksAlone, uprightAxis } from '../../lib/chart/parts.js'

/**
 * @typedef {{ address: string, shard: number, role: string, engine_cpu_pct: number | null }} NodeSecond
 * @typedef {{ at_ms: number, nodes: NodeSecond[] }} NodesSecond
 * @typedef {{ seconds: NodesSecond[], events: { at_ms: number, kind: string, text: string }[], warm_up_s: number, items: { offered: number, acked: number } }} Run
 */

/** Addresses of a role in the order in which they appear. @param {Run} run @param {string} role */
const addressesOf = ({ seconds }, role) => [
  ...new Set(seconds.flatMap(({ nodes }) => nodes.filter((node) => node.role === role)).map(nodeAddress)),
]
const nodeAddress = (/** @type {NodeSecond} */ { address }) => address

/** From the first slot that moved to the last. @param {Run} run */
const moveOf = ({ events }) => {
  const moves = events.filter(({ kind }) => kind === 'slots-moved')
  // Moves of a second are reported at its end.
  return { fromS: (moves[0]?.at_ms ?? 0) / 1000 - 1, toS: (moves.at(-1)?.at_ms ?? 0) / 1000 }
}

/** The most that a master took while slots moved. @param {Run} run @param {{ fromS: number, toS: number }} move */
const mostOf = ({ seconds }, { fromS, toS }) =>
  Math.max(
    ...seconds
      .filter(({ at_ms: atMs }) => atMs / 1000 >= fromS && atMs / 1000 <= toS)
      .flatMap(({ nodes }) => nodes.filter(({ role }) => role === 'master'))
      .map(({ engine_cpu_pct: pct }) => pct ?? 0),
  )

/** @param {Run} run */
const lossWords = ({ items: { offered, acked } }) =>
  offered === acked
    ? 'no item is lost'
    : `${(offered - acked).toLocaleString('en')} items are not acknowledged`

/** CPU of the masters while a shard joins, with what happens in words. @param {Run} run */
export const shardAddedChart = (run) => {
  const move = moveOf(run)
  const { fromS, toS } = move
  const wholeS = (run.seconds.at(-1)?.at_ms ?? 1000) / 1000
  const masters = addressesOf(run, 'master')
  const startNodes = new Set(run.seconds.find(({ nodes }) => nodes.length > 0)?.nodes.map(nodeAddress))
  const series = masters.map((address, at) => {
    const color = `@c${(at % 6) + 1}`
    return {
      type: 'line',
      name: startNodes.has(address) ? `master ${at + 1}` : `master ${at + 1}, added`,
      data: run.seconds.flatMap(({ at_ms: atMs, nodes }) => {
        const node = nodes.find((one) => one.address === address && one.role === 'master')
        return typeof node?.engine_cpu_pct === 'number' ? [[atMs / 1000, node.engine_cpu_pct]] : []
      }),
      symbol: 'none',
      color,
      lineStyle: { color, width: startNodes.has(address) ? 2 : 3, type: 'solid' },
      itemStyle: { color },
    }
  })
  const label = { show: true, color: '@muted', fontSize: 12 }
  return {
    title: `A fourth shard joins: up to ${mostOf(run, move).toFixed(0)} % of a core per master for ${(toS - fromS).toFixed(0)} s, and ${lossWords(run)}`,
    height: 400,
    option: chart({
      legend: legendOf(series),
      xAxis: lyingAxis('time, min:s', 'clock', {
        min: 0,
        max: Math.floor(wholeS),
        splitLine: { show: false },
        axisLine: { show: true, lineStyle: { color: '@line' } },
        interval: 10,
        axisLabel: { ...axisStyle.axisLabel, formatter: '@clock' },
      }),
      yAxis: { ...uprightAxis('engine CPU, % of one core', 'pct', { min: 0 }), nameGap: 14 },
      series: [
        ...series,
        {
          ...marksAlone,
          markLine: {
            silent: true,
            symbol: 'none',
            lineStyle: { color: '@muted', type: [2, 3], width: 1 },
            data: [
              {
                xAxis: fromS,
                label: { ...label, formatter: 'the new shard joins', position: 'end', align: 'right' },
              },
              {
                xAxis: toS,
                label: { ...label, formatter: 'it has its slots', position: 'end', align: 'left' },
              },
            ],
          },
          markArea: {
            silent: true,
            itemStyle: { color: '@shade' },
            label: { ...label, position: 'insideBottom', lineHeight: 14 },
            data: [
              ...(run.warm_up_s > 0
                ? [
                    [
                      { xAxis: 0, name: 'warm-up', label: { ...label, position: 'insideTop' } },
                      { xAxis: run.warm_up_s },
                    ],
                  ]
                : []),
              [{ xAxis: fromS, name: 'a quarter of the slots moves' }, { xAxis: toS }],
            ],
          },
        },
      ],
    }),
  }
}
