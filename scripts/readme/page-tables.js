// Tables of experiments on the pages that explain them: a row a cell, the figures that the text speaks of.
import { measureNamed } from '../../lib/result/metrics.js'
import { centreOf } from '../../lib/result/statistics.js'
import { figureText, invalidNote, isInvalid } from './findings.js'
import { table } from './reference.js'

/** @import { ExperimentDocument } from '../../lib/result/experiment-document.js' */

const memory = 'passes.memory_bytes_per_item'

/** @type {readonly { page: string, id: string, figures: readonly string[] }[]} */
const tables = Object.freeze([
  {
    page: 'docs/studies/membership.md',
    id: 'membership-thresholds',
    figures: [memory, 'passes.misses.server_cpu_us', 'passes.hits.server_cpu_us'],
  },
  {
    page: 'docs/studies/membership.md',
    id: 'membership-restore',
    figures: [memory, 'snapshot.save.total_ms', 'snapshot.flush.total_ms', 'snapshot.load.total_ms'],
  },
  {
    page: 'docs/studies/membership.md',
    id: 'membership-large',
    figures: [memory, 'passes.misses.server_cpu_us', 'passes.hits.server_cpu_us', 'passes.false_positives'],
  },
  {
    page: 'docs/studies/traffic.md',
    id: 'traffic-cost',
    figures: ['client.cpu_us_per_item', 'rate.achieved'],
  },
  ...['latest-popularity', 'latest-value-spread', 'latest-connections'].map((id) => ({
    page: 'docs/studies/traffic.md',
    id,
    figures: ['server.cpu_us_per_item', 'server.memory_bytes_per_item', 'bystander.p99'],
  })),
  {
    page: 'docs/studies/queries.md',
    id: 'queries',
    figures: ['queries.min', 'queries.avg', 'queries.max', 'server.cpu_us_per_item', 'bystander.max'],
  },
  {
    page: 'docs/studies/queue-workers.md',
    id: 'queues',
    figures: ['rate.achieved', 'workers.work_us_mean', 'workers.busy_share', 'server.cpu_us_per_job'],
  },
  {
    page: 'docs/studies/queue-workers.md',
    id: 'queues-stages',
    figures: [
      'rate.achieved',
      'stages.filter.busy_share',
      'stages.output.busy_share',
      'latency.intended.p50',
    ],
  },
  {
    page: 'docs/studies/queries.md',
    id: 'queries-index',
    figures: ['load.seconds', 'load.data_bytes', 'load.index_seconds', 'load.index_bytes'],
  },
  {
    page: 'docs/studies/queries.md',
    id: 'queries-busy',
    figures: ['queries.avg', 'queries.max', 'queries.busy_pct', 'bystander.max'],
  },
  {
    page: 'docs/studies/documents.md',
    id: 'documents',
    figures: [
      'rate.achieved',
      'documents.lost_pct',
      'documents.conflicts_pct',
      'server.cpu_us_per_item',
      'server.net_bytes_per_item',
      'server.memory_bytes_per_item',
    ],
  },
  {
    page: 'docs/studies/lookups.md',
    id: 'lookups',
    figures: ['rate.achieved', 'server.operations_per_core'],
  },
  {
    page: 'docs/studies/lookups.md',
    id: 'resilience',
    figures: ['save', 'flush', 'load'].flatMap((step) => [
      `snapshot.${step}.longest_ms`,
      `snapshot.${step}.bystander_max`,
    ]),
  },
])

/** @param {ExperimentDocument} document @param {readonly string[]} names */
const tableOf = ({ rows, id }, names) => {
  const figures = names.filter((name) => rows.some((row) => row.figures[name]))
  const made = table(
    [id, ...figures.map((name) => measureNamed(name).title)],
    rows.map((row) => [
      row.label + (isInvalid(row) ? ' †' : ''),
      ...figures.map((name) => figureText(name, row.figures[name] && centreOf(row.figures[name]))),
    ]),
  )
  return rows.some(isInvalid) ? `${made}\n\n${invalidNote(`docs/reference/results/${id}.md`)}` : made
}

/** @param {Map<string, ExperimentDocument>} experiments @returns {[file: string, mark: string, part: string][]} */
export const pageTables = (experiments) =>
  tables.flatMap(({ page, id, figures }) => {
    const document = experiments.get(id)
    return document === undefined ? [] : [[page, id, tableOf(document, figures)]]
  })
