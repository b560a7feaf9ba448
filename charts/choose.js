import { chart, colour, lyingAxis, uprightAxis } from '../lib/chart/parts.js'

/**
 * @import { Candidate as CandidateAnswer } from '../lib/answers/choose/report.js'
 * @import { Chart } from '../lib/chart/parts.js'
 */

/** The intervals of a point, as a cross. @param {CandidateAnswer} candidate */
const crossOf = ({ metrics: { cpu, memory } }) =>
  cpu && memory
    ? [
        [{ coord: [cpu.low, memory.value] }, { coord: [cpu.high, memory.value] }],
        [{ coord: [cpu.value, Math.max(0, memory.low)] }, { coord: [cpu.value, memory.high] }],
      ]
    : []

/** CPU against memory, a point a candidate. @type {Chart<{ candidates: readonly CandidateAnswer[] }>} */
export const choosePareto = {
  name: 'choose-pareto',
  title: 'CPU against memory',
  note: 'A point a candidate, with its 95 % intervals; the nearer to the corner, the cheaper. Pale: another one costs less of both.',
  option: ({ candidates }) => {
    const points = candidates.filter(({ metrics: { cpu, memory } }) => cpu && memory)
    if (points.length === 0) return null
    const most = (/** @type {'cpu' | 'memory'} */ metric) =>
      Math.max(...points.map(({ metrics }) => metrics[metric]?.high ?? 0))
    const [mostCpu, mostMemory] = [most('cpu'), most('memory')]
    return chart({
      tooltip: { trigger: 'item' },
      legend: { show: false },
      xAxis: lyingAxis('server CPU per item, idle excluded', 'us', { min: 0, max: mostCpu * 1.15 }),
      yAxis: uprightAxis('memory of an item', 'bytes', { min: 0, max: mostMemory * 1.15 }),
      series: points.map((candidate) => {
        const { name, metrics, place, dominated } = candidate
        const opacity = dominated ? 0.4 : 1
        const color = colour(place === 'chosen' ? 0 : 1)
        const value = [metrics.cpu?.value, metrics.memory?.value]
        return {
          type: 'scatter',
          name,
          data: [value],
          color,
          symbolSize: place === 'chosen' ? 14 : 10,
          itemStyle: { color, opacity },
          label: {
            show: true,
            formatter: name,
            // Above the whiskers.
            position: 'top',
            distance: 6,
            color: opacity < 1 ? '@muted' : '@ink',
            fontSize: 12,
            fontWeight: place === 'chosen' ? 'bold' : 'normal',
          },
          labelLayout: { moveOverlap: 'shiftY' },
          emphasis: { disabled: true },
          markLine: {
            silent: true,
            symbol: 'none',
            label: { show: false },
            lineStyle: { color, opacity, type: 'solid', width: 1.5 },
            data: crossOf(candidate),
          },
        }
      }),
    })
  },
}
