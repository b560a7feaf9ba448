// The jobs of workers: how many were taken and done, and how long each waited, a take that found some, the work itself and a
// confirmation took, in us. Jobs and their waits are those of the last stage, the rest of the first. A job of a maker whose clock
// is ahead of the server's has no known wait, and is counted apart.

import * as S from '../base/shape.js'
import { exactly, keysOf } from '../base/typed.js'
import { amount, namedFields, timesOfEach, worst } from './fields.js'
import { sectionOf } from './fold.js'
import {
  counter,
  histogram,
  measure,
  metric,
  percentileMetrics,
  percentilesIn,
  someTimes,
} from './measure.js'
import { section } from './section.js'

/**
 */

const counted = exactly(['taken', 'done', 'duplicates', 'foreign', 'reclaimed'])
const spans = {
  waiting: { title: 'time in the queue', row: 'production to taken' },
  work: { title: 'work of a job', row: 'work of a job' },
  take: { title: 'take', row: 'a take that found jobs' },
  confirm: { title: 'confirmation', row: 'a confirmation' },
}
const names = keysOf(spans)

export const jobs = measure({
  name: 'jobs',
  of: ['workers'],
  record: {
    ...namedFields('jobs', counted, amount('count')),
    ...timesOfEach(names),
    'ahead.jobs': amount('count'),
    'ahead.max_us': worst('us'),
  },
  by: 'each',

  open({ stages }) {
    const [first, last] = [stages[0].records, stages[stages.length - 1].records]
    const now = () => ({
      ...last.jobs.counts,
      reclaimed: stages.reduce((sum, { records }) => sum + records.jobs.counts.reclaimed, 0),
    })
    let before = now()
    return {
      second() {
        const all = now()
        const found = Object.fromEntries(counted.map((name) => [`jobs.${name}`, all[name] - before[name]]))
        before = all
        const { jobs: ahead, maxUs } = last.aheadTurn()
        return {
          ...found,
          waiting_us: last.times.waiting.endSecond(),
          work_us: first.times.work.endSecond(),
          take_us: first.times.take.endSecond(),
          confirm_us: first.times.confirm.endSecond(),
          ...(ahead > 0 && { 'ahead.jobs': ahead, 'ahead.max_us': maxUs }),
        }
      },
    }
  },

  summary({ window }) {
    const { foreign, ...found } = sectionOf(window, 'jobs')
    const ahead = sectionOf(window, 'ahead')
    return {
      jobs: { ...found, ...(ahead.jobs > 0 && { from_future: ahead }) },
      ...Object.fromEntries(names.map((name) => [`${name}_us`, percentilesIn(window[`${name}_us`])])),
    }
  },
  result: Object.fromEntries(names.map((name) => [`${name}_us`, someTimes])),
  metrics: {
    'jobs.done': metric('jobs done', 'count', 'more'),
    ...Object.assign(
      {},
      ...names.map((name) =>
        percentileMetrics(
          name,
          spans[name].title,
          name === 'waiting' ? ['p50', 'p90', 'p99', 'max'] : ['p50', 'p99', 'max'],
        ),
      ),
    ),
  },
  prometheus: [
    ...counted.map((outcome) =>
      counter('jobs_total', 'jobs of workers, by what became of them', `jobs.${outcome}`, { outcome }),
    ),
    ...names.map((part) =>
      histogram(
        'job_seconds',
        'of jobs: how long they waited, the work, a take that found some, a confirmation',
        `${part}_us`,
        { part },
      ),
    ),
  ],
  done: 'jobs.done',
  times: names.map((name) => ({
    name: spans[name].row,
    path: `${name}_us`,
    /** @type {'us'} */
    unit: 'us',
  })),
})

/** Times of jobs, as run.json has them. */
export const timesOfJobs = names.map((name) => section(`${name}_us`, S.nullable(someTimes), {}))
