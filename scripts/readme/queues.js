// What docs/studies/queues.md and queue-workers.md say of the measurements in docs/data: pictures of the experiment and of a run, and other tools.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { workersFor } from '../../lib/base/scalability.js'
import { count, micros, rate } from '../../lib/base/units.js'
import { queueBacklog, queueRates, sweepsOf } from '../pictures/queues.js'
import { dataFolder, runNamed } from './data.js'
import { table } from './reference.js'

/**
 * @import { ExperimentDocument } from '../../lib/result/experiment-document.js'
 * @import { Interval } from '../../lib/base/scalability.js'
 * @import { Peers } from '../queue-peers.js'
 */

/** The run whose backlog is drawn. */
const backlogRun = 'queue-backlog'

/** @param {Map<string, ExperimentDocument>} experiments @returns {Record<string, { title: string, height: number, option: Record<string, any> }>} */
export const queuesPictures = (experiments) => {
  const sweep = experiments.get('queues')
  const run = runNamed(backlogRun)
  const rates = sweep ? queueRates(sweep) : null
  return { ...(rates && { 'queues-rate': rates }), ...(run && { [backlogRun]: queueBacklog(run) }) }
}

/** What a box runs, as many as were measured. */
const boxWorkers = 32
const rates = [5000, 30_000]

/** @param {Interval} interval @param {(n: number) => string} shown */
const between = ([low, high], shown) => `(${shown(low)} to ${shown(high)})`

/** The workers that a rate needs, by the law of one take. @param {ExperimentDocument} document @param {string} label @param {number} jobs a second */
export const workersNeeded = (document, label, jobs) => {
  const fit = sweepsOf(document).find((one) => one.label === label)?.fit
  if (!fit) throw new Error(`docs/data/queues.ndjson has no law of '${label}'`)
  return workersFor(fit.law, jobs, boxWorkers)
}

/** The laws of the sweep, and what they say of rates. @param {ExperimentDocument} document */
const lawsPart = (document) =>
  table(
    [
      'workers that wait 2 ms a job',
      'jobs/s of one',
      'serial share',
      'R²',
      'worst point',
      'knee',
      ...rates.map((jobs) => `for ${count(jobs)}/s`),
    ],
    sweepsOf(document).flatMap(({ label, fit }) => {
      if (!fit) return []
      const { law, intervals, r2, worst, knee } = fit
      const small = (/** @type {number} */ n) => n.toFixed(4)
      return [
        [
          label.replace(', sleep 2 ms', ''),
          `${rate(law.lambda)} ${between(intervals.lambda, rate)}`,
          `${small(law.sigma)} ${between(intervals.sigma, small)}`,
          r2.toFixed(4),
          `${(worst * 100).toFixed(1)} %`,
          knee === null ? 'none' : `${Math.round(knee)} workers`,
          ...rates.map((jobs) => {
            const { workers, boxes } = workersFor(law, jobs, boxWorkers)
            return `${workers} on ${boxes} ${boxes === 1 ? 'box' : 'boxes'}`
          }),
        ],
      ]
    }),
  )

/** @param {readonly [string, number][]} commands */
const commandsWords = (commands) =>
  commands
    .map(([name, n]) => `${name.toUpperCase()}${n === 1 ? '' : ` × ${n.toFixed(2).replace(/\.?0+$/, '')}`}`)
    .join(', ')

/** Our queues and BullMQ, as scripts/queue-peers.js --record measured them; null: it has not. */
const queuePeersPart = () => {
  const file = join(dataFolder, 'queue-peers.json')
  if (!existsSync(file)) return null
  /** @type {Peers} */
  const peers = JSON.parse(readFileSync(file, 'utf8'))
  return [
    table(
      [
        'queue',
        'jobs/s',
        'latency p50',
        'p99',
        'server CPU, put',
        'server CPU, done',
        'client CPU, done',
        'commands, done',
        'lost',
        'done again',
      ],
      peers.rows.map((row) => [
        row.name,
        rate(row.rate),
        micros(row.p50_us),
        micros(row.p99_us),
        micros(row.put_cpu_us),
        micros(row.done_cpu_us),
        micros(row.client_cpu_us),
        row.done_commands.toFixed(1),
        count(row.lost),
        count(row.again),
      ]),
    ),
    '',
    `${peers.hardware}, Redis ${peers.server}, Node ${peers.node}, ${peers.recorded}: ${count(peers.workers)} workers, one job of ${peers.jobBytes} bytes at a time that waits ${peers.workMs} ms, ${peers.seconds} s; latencies from due to done at ${rate(peers.rate)} jobs/s; ${peers.rounds === 1 ? 'one round' : `medians of ${peers.rounds} rounds`}.`,
    '',
    ...peers.rows.map(
      ({ name, commands }) => `- ${name}: ${commandsWords(Object.entries(commands))} a job done`,
    ),
  ].join('\n')
}

/**
 * @param {Map<string, ExperimentDocument>} experiments
 * @param {(path: string, words: string) => string} markup of a picture
 * @returns {[file: string, mark: string, part: string][]}
 */
export const queuesParts = (experiments, markup) => {
  const page = 'docs/studies/queue-workers.md'
  const peers = queuePeersPart()
  const sweep = experiments.get('queues')
  return [
    ...(sweep ? [/** @type {[string, string, string]} */ ([page, 'queues-laws', lawsPart(sweep)])] : []),
    ...Object.entries(queuesPictures(experiments)).map(
      ([name, { title }]) =>
        /** @type {[string, string, string]} */ ([page, name, markup(`charts/measured/${name}`, title)]),
    ),
    ...(peers === null
      ? []
      : /** @type {[string, string, string][]} */ ([['docs/studies/queues.md', 'queue-peers', peers]])),
  ]
}
