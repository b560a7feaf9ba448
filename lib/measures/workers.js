// The workers of a queue, and those of two stages: how busy they were, how evenly jobs were spread, and whether they or what
// is around them was the limit.

import * as S from '../base/shape.js'
import { exactly } from '../base/typed.js'
import { asPercent, count, facts, micros, percent, rate, several } from '../base/units.js'
import { clientLimit, contendedWords } from './client-limit.js'
import { metric, partMetric, percentileMetrics, someTimes } from './measure.js'
import { section } from './section.js'
import { note } from './warnings.js'

/**
 * @import { Shaped } from '../base/shape-types.js'
 * @import { Metric } from './measure.js'
 * @import { Run } from './section.js'
 *
 * @typedef {{ us: number, kind: 'cpu' | 'sleep', take: number }} Work asked for
 */

const figures = exactly([
  'busy_share',
  'jobs_a_take',
  'work_us_mean',
  'fewest',
  'most',
  'fairness',
  'busiest',
])
const shape = { count: S.number, ...S.each(figures, S.maybe(S.figure)) }
const stage = S.object({
  ...shape,
  ...S.each(['rate', 'done'], S.figure),
  ...S.each(['duplicates', 'reclaimed'], S.maybe(S.figure)),
  latency_us: S.maybe(S.nullable(someTimes)),
  backlog: S.maybe(S.object(S.each(['first', 'last', 'max'], S.maybe(S.figure)))),
})
const all = S.object({ ...shape, ...S.each(['rate', 'boxes_fairness'], S.maybe(S.figure)) })

/** @param {Shaped<typeof all>} workers @param {Work} work */
const busyWords = (workers, { take, us }) => {
  const {
    busy_share: busy,
    jobs_a_take: each,
    work_us_mean: mean,
    fewest,
    most,
    count: n,
    rate: hz,
  } = workers
  return facts([
    `${several(n, 'worker')}${busy == null ? '' : `, jobs in hand ${percent(100 * busy)} of the time`}`,
    each != null && take > 1 && `${each.toFixed(1)} jobs a take`,
    us > 0 && mean != null && `work of a job ${micros(mean)}`,
    n > 1 && `${count(fewest)} to ${count(most)} jobs each`,
    hz ? `${rate(hz)} jobs/s` : '',
  ])
}

// Computing takes longer while others use the core; a timer of Node fires up to a millisecond late, and later on a busy
// machine.
const workShare = 0.2
const timerUs = 2000
const starvedShare = 0.5

/** The work asked for and the work measured. @param {Work} work @param {number | null | undefined} mean @param {{ busy_pct: number }} client */
const missed = ({ us, kind }, mean, client) => {
  const most = us * (1 + workShare) + (kind === 'sleep' ? timerUs : 0)
  const why =
    kind === 'sleep'
      ? `the event loop of this process was ${percent(client.busy_pct)} busy: run fewer workers a process (--with processes)`
      : 'other processes or workers took the cores: run no more processes than the box has free cores'
  return us > 0 && (mean ?? 0) > most && `the work of a job took ${micros(mean)}, not ${micros(us)}: ${why}`
}

/** What was the limit. @param {Shaped<typeof all>} workers @param {Run} run */
const limits = ({ busy_share: busy, count: n }, { client, plan: { work }, backlog }) => {
  const limit = clientLimit(client)
  const computes = [work, work.outputs].some((one) => one?.kind === 'cpu' && one.us > 0)
  const idles = busy != null && busy < starvedShare && backlog.max !== null && backlog.last < n * work.take
  return {
    'client-contended':
      limit === 'contended' &&
      `this process was ${contendedWords(client)}: other processes took the CPU; end them`,
    'client-saturated':
      limit === 'saturated' &&
      (computes
        ? note(
            `the workers' own core was the limit: ${percent(client.busy_pct)} busy, mostly with the work itself; more workers need more cores (--with processes, more boxes)`,
          )
        : `this process was ${percent(client.busy_pct)} busy, so the workers' event loop was the limit and not the queue: run more processes (--with processes) or boxes`),
    starved:
      limit === null &&
      idles &&
      note(
        `the workers had jobs in hand for ${asPercent(busy)} of the time: the rate is that of the producers, not what these workers can do`,
      ),
  }
}

export const working = section('workers', all, {
  isNeeded: true,
  empty: null,
  metrics: {
    'workers.count': metric('workers', 'count', 'neither'),
    'workers.busy_share': partMetric('time with jobs in hand', 'ratio', 'neither'),
    'workers.work_us_mean': metric('work of a job', 'us', 'neither'),
    'workers.jobs_a_take': metric('jobs a take', 'count', 'neither'),
    'workers.fairness': partMetric("fairness of the workers' jobs", 'ratio', 'more'),
    'workers.boxes_fairness': partMetric("fairness of the boxes' jobs", 'ratio', 'more'),
    'workers.busiest': metric('jobs of the busiest worker, by those of the median one', 'ratio'),
  },
  rows: (workers, { stages, plan: { work } }) => ({ workers: !stages && busyWords(workers, work) }),
  reasons: (workers, run) => ({
    work: [
      missed(run.plan.work, workers.work_us_mean, run.client),
      run.stages && missed(run.plan.work.outputs, run.stages.output.work_us_mean, run.client),
    ],
    ...limits(workers, run),
  }),
})

/** @param {'filter' | 'output'} name @returns {Record<string, Metric>} */
const metricsOfStage = (name) => {
  const of = `stages.${name}`
  return {
    [`${of}.count`]: metric(`${name} workers`, 'count', 'neither'),
    [`${of}.rate`]: metric(`rate of the ${name} workers`, 'rate', 'more'),
    [`${of}.busy_share`]: partMetric(`time of the ${name} workers with jobs in hand`, 'ratio', 'neither'),
    [`${of}.duplicates`]: metric(`jobs done again by ${name} workers`, 'count'),
    [`${of}.backlog.max`]: metric(`longest queue of the ${name} workers`, 'count'),
    ...percentileMetrics(`${of}.latency`, `latency up to the ${name} workers' end`, ['p50', 'p99']),
  }
}

export const stages = section('stages', S.nullable(S.object({ filter: stage, output: stage })), {
  empty: null,
  metrics: { ...metricsOfStage('filter'), ...metricsOfStage('output') },
  rows: ({ filter, output }, { plan: { work } }) => ({
    filters: busyWords(filter, work),
    outputs: busyWords(output, { ...work, ...work.outputs }),
  }),
})

/** @param {{ p50?: number | null, max?: number | null } | null | undefined} us */
const connectWords = (us) => (us?.max == null ? '' : `p50 ${micros(us.p50)}, max ${micros(us.max)}`)

/** Connections of workers that were replaced. */
export const connections = section(
  'connections',
  S.nullable(S.object({ stated: S.text, renewed: S.number, connect_us: S.nullable(someTimes) })),
  {
    empty: null,
    rows: ({ renewed, stated, connect_us: us }) => ({
      reconnects: `${several(renewed, 'connection')} opened anew (${stated} asked for), ${connectWords(us)}`,
    }),
  },
)

/** What the servers refused workers, and replies that were lost. */
export const commandsOfWorkers = section(
  'commands',
  S.object({ refused_by: S.byName(S.number), lost_replies: S.byName(S.number) }),
  { isNeeded: true, empty: null },
)
