import { shortened } from '../lib/base/layout.js'
import { exactly } from '../lib/base/typed.js'
import { line, nodePoints, overTime, shortNames, timeChart } from '../lib/chart/lines.js'
import { colour, uprightAxis } from '../lib/chart/parts.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { CacheFigures } from '../lib/cloudwatch/fetch.js'
 * @import { RunRecord } from '../lib/result/record.js'
 */

const nameWidth = 28

const metrics = exactly([
  { metric: 'EngineCPUUtilization', style: { width: 3 } },
  { metric: 'CPUUtilization', style: { width: 2, dashed: true } },
])

/** The shard of the node that a cache is; null: no address shows which. @param {RunRecord['run']} run @param {CacheFigures} cache */
const shardOf = ({ nodes }, { address }) => nodes.find((node) => node.address === address)?.shard ?? null

/** The figure of the minute of each moment. @param {[atMs: number, value: number][]} points @param {number} periodMs */
const byMinute = (points, periodMs) => {
  const [firstMs] = points[0]
  const figures = new Map(points.map(([atMs, value]) => [Math.round((atMs - firstMs) / periodMs), value]))
  return (/** @type {number} */ atMs) => figures.get(Math.ceil((atMs - firstMs) / periodMs) - 1) ?? null
}

/** CloudWatch's numbers of a cache. @param {RunRecord} record @param {CacheFigures} cache @param {string} color */
const steps = ({ run, seconds }, { id, points }, color) =>
  metrics.flatMap(({ metric, style }) => {
    if (!points[metric]?.length) return []
    const figureAt = byMinute(points[metric], (run.cloudwatch?.period_s ?? 60) * 1000)
    return line(
      `${shortened(id, nameWidth)}: ${metric}`,
      overTime(seconds, ({ at_ms: atMs }) => figureAt(atMs)),
      { ...style, color, step: true, unit: 'pct' },
    )
  })

/** The numbers of a node that the run measured. @param {RunRecord} record @param {string} address @param {string} name @param {string} color */
const own = ({ seconds }, address, name, color) =>
  line(
    `${shortened(name, nameWidth)}: engine, each second`,
    nodePoints(
      seconds,
      (row) => row.address === address,
      (row) => row.engine_cpu_pct,
    ),
    { color, width: 1.25, unit: 'pct' },
  )

/**
 * @param {number | null} shard null: the caches whose address is not known, beside the nodes that are no other cache
 * @param {boolean} only whether it is the only one
 * @returns {Chart<RunRecord>}
 */
const cloudWatch = (shard, only) => ({
  name: only ? 'cloudwatch' : `cloudwatch-${shard ?? 'others'}`,
  title: `CloudWatch beside our own figures${only || shard === null ? '' : `, shard ${shard}`}`,
  note: `Steps are CloudWatch’s minutes: EngineCPUUtilization (solid) is the main thread, CPUUtilization (dashed) the host over all its vCPUs. Thin lines are the engine as we saw it, second by second${shard === null ? '; which node is which cache no address tells' : ''}.`,
  fold: 'nodes',
  option: (record) => {
    const { run } = record
    const nodes = run.cloudwatch?.nodes ?? []
    const caches = nodes.filter((cache) => shardOf(run, cache) === shard)
    const lines = caches.map((cache, at) => steps(record, cache, colour(at)))
    if (lines.flat().length === 0) return null
    const ownNodes = run.nodes.filter(({ address }) => nodes.every((cache) => cache.address !== address))
    const shortName = shortNames(ownNodes.map(({ address }) => address))
    const ours =
      shard === null
        ? ownNodes.flatMap(({ address, role }) =>
            own(record, address, `${role} ${shortName(address)}`, '@muted'),
          )
        : caches.flatMap(({ id, address }, at) => own(record, address ?? '', id, colour(at)))
    return timeChart(record, {
      axis: uprightAxis('engine: % of one core, host: % of all vCPUs', 'pct', { min: 0 }),
      series: [...ours, ...lines.flat()],
    })
  },
})

/** A chart a shard: the lines of more nodes would hide each other. @param {RunRecord} record */
export const cloudWatchCharts = ({ run }) => {
  const caches = (run.cloudwatch?.nodes ?? []).filter(({ kind }) => kind === 'node')
  const shards = [...new Set(caches.map((cache) => shardOf(run, cache)))]
  return shards
    .sort((a, b) => (a ?? Number.POSITIVE_INFINITY) - (b ?? Number.POSITIVE_INFINITY))
    .map((shard) => cloudWatch(shard, shards.length === 1))
}
