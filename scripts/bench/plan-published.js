// Published CPU of ElastiCache nodes, predicted from the ratios of a calibration here and one published point of each node
// type. What was published is the mean of 2 vCPUs; only ratios to the anchor of the same type are used.
import { bothOf, partsUs } from '../../lib/answers/plan/answer.js'
import { wireOf } from '../../lib/answers/plan/wire.js'
import { plannedRun } from '../../lib/cli/calibration.js'

/**
 * @typedef {object} Point of the published study: value 128 B, ttl 3 s
 * @property {string} id
 * @property {string} node
 * @property {string} strategy
 * @property {number} writers
 * @property {number} each nominal items a writer and interval
 * @property {number} [intervalMs]
 * @property {number} [chunks]
 * @property {number} [shards] the published CPU is that of the busiest
 * @property {number} [extra] further sorted sets
 * @property {number} cpuPct published, of the master
 * @property {true} [anchor]
 */

// Its writers sent a batch, waited for every reply and only then slept the whole interval: about so long an item.
const clientUs = 16

/** Items a second that such writers really send. @param {Point} point */
export const trueRate = ({ writers, each, intervalMs = 1000 }) =>
  (writers * each * 1000) / (intervalMs + (each * clientUs) / 1000)

const r6g = { node: 'r6g.large', strategy: 'sorted-set' }
const r5 = { node: 'r5.large', strategy: 'sorted-set' }

/** @type {readonly Point[]} */
export const published = [
  { id: 'increasing-load-r6g', ...r6g, writers: 4, each: 50_000, cpuPct: 36, anchor: true },
  { id: 'increasing-load-r6g', ...r6g, writers: 4, each: 10_000, cpuPct: 11 },
  { id: 'increasing-load-r6g', ...r6g, writers: 6, each: 50_000, cpuPct: 50 },
  { id: 'instance-types', ...r6g, writers: 8, each: 25_000, cpuPct: 40 },
  { id: 'more-writers', ...r6g, writers: 8, each: 25_000, cpuPct: 45 },
  { id: 'extra-sorted-set', ...r6g, writers: 8, each: 25_000, extra: 1, cpuPct: 52 },
  { id: 'batch-interval', ...r6g, writers: 4, each: 50_000, intervalMs: 1500, cpuPct: 28.5 },
  { id: 'batch-interval', ...r6g, writers: 4, each: 50_000, intervalMs: 2000, cpuPct: 22.5 },
  { id: 'chunks', ...r6g, writers: 4, each: 50_000, chunks: 2, cpuPct: 36 },
  { id: 'chunks', ...r6g, writers: 4, each: 50_000, chunks: 4, cpuPct: 36 },
  { id: 'list', ...r6g, writers: 8, each: 25_000, cpuPct: 44.5 },
  { id: 'list', ...r6g, strategy: 'list', writers: 8, each: 25_000, cpuPct: 36 },
  { id: 'shards', ...r6g, shards: 3, writers: 8, each: 25_000, cpuPct: 25 },
  { id: 'shards', ...r6g, shards: 3, writers: 8, each: 37_500, cpuPct: 32 },
  { id: 'shards', ...r6g, shards: 3, writers: 8, each: 50_000, cpuPct: 37.5 },
  { id: 'increasing-load-r5', ...r5, writers: 4, each: 50_000, cpuPct: 30, anchor: true },
  { id: 'increasing-load-r5', ...r5, writers: 4, each: 10_000, cpuPct: 9.5 },
  { id: 'increasing-load-r5', ...r5, writers: 6, each: 50_000, cpuPct: 44 },
  { id: 'increasing-load-r5', ...r5, writers: 8, each: 50_000, cpuPct: 53 },
  { id: 'instance-types', ...r5, writers: 8, each: 25_000, cpuPct: 37 },
  { id: 'more-writers', ...r5, writers: 8, each: 37_500, cpuPct: 48 },
  { id: 'more-writers', ...r5, writers: 5, each: 48_000, cpuPct: 42 },
  { id: 'more-writers', ...r5, writers: 6, each: 40_000, cpuPct: 42 },
  { id: 'more-writers', ...r5, writers: 8, each: 30_000, cpuPct: 42 },
  { id: 'actual-value', ...r5, strategy: 'actual-value', writers: 6, each: 50_000, cpuPct: 26 },
]

/** Seconds of a main thread each second, on the machine of the calibration. @param {any} model @param {Point} point */
const busyOf = async (model, point) => {
  const { strategy, writers, each, intervalMs = 1000, chunks = 1, shards = 1, extra = 0 } = point
  const items = writers * each
  const load = {
    strategy,
    quantity: items,
    valueSize: '128',
    ttl: '30s',
    maxMembers: Math.ceil(each / chunks),
    ...(extra > 0 && { extraSortedSets: extra }),
  }
  const plan = plannedRun({ ...load, period: `${intervalMs}ms`, chunks: writers * chunks }, null)
  const wire = await wireOf(plan)
  const rate = trueRate(point)
  const { spread, fixed } = bothOf(partsUs(model.cpu.master, wire, rate, items), ({ us }) => us)
  return (rate * (fixed + spread / shards)) / 1e6
}

/** @param {readonly any[]} models of calibrations */
export const publishedRows = async (models) => {
  /** @type {Map<string, number>} */
  const scales = new Map()
  const rows = []
  for (const point of published) {
    const model = models.find(({ strategy }) => strategy === point.strategy)
    if (!model) continue
    const busy = await busyOf(model, point)
    if (point.anchor) scales.set(point.node, point.cpuPct / busy)
    const scale = scales.get(point.node)
    if (scale === undefined) continue
    rows.push({
      ...point,
      rate: trueRate(point),
      predictedPct: busy * scale,
      errorPct: 100 * ((busy * scale) / point.cpuPct - 1),
    })
  }
  return rows
}
