// A list: LPUSH, and BRPOP or BLMPOP; where workers confirm, LMOVE to a list of the worker's own, from which a job is taken when it is
// done. What the list of a silent worker holds is put back by the others.
import {
  family,
  handle,
  jobText,
  many,
  reclaimMs,
  script,
  strategy,
  take,
  waitS,
  work,
  worker,
} from '../declare.js'
import { accountsOf, byWorker, holding, jobOf, ofBoth, ofQueues, placed, putJobs, queueOf } from './parts.js'

/**
 * @import { Family, Workers } from '../declare.js'
 * @import { QueueKeys } from './parts.js'
 * @import { PlanFields } from './fields.js'
 */

const head = '{jobs}:list'
// A list keeps short elements in nodes of 8 kB: on Redis 7.0.15 3 bytes beside a job of 128.
const bytesBesideJob = 3

const lengthOf = (/** @type {Family} */ queue) => ({
  ...work('LLEN', [queue]),
  /** @type {1} */
  sign: 1,
})

/** @param {QueueKeys} k */
const contentsOf = (k) =>
  ofBoth(k, ({ key, taken, workers }, stage) => [
    placed(stage, 'queued', 'LRANGE', key),
    placed(stage, 'taken', 'LRANGE', taken, work('ZRANGE', [workers, '0', '-1'])),
  ])

/** What a filter does before it lets go of its jobs. @param {PlanFields} t @param {QueueKeys} k */
const handOver = ({ stage }, { out }) => (stage === 'filter' ? [work('LPUSH', [out, many(jobText)])] : [])

/** @param {PlanFields} t @param {QueueKeys} k @returns {Workers} */
const popping = (t, k) => {
  const { key: queue } = queueOf(t, k)
  return {
    promise: 'at-most-once',
    needs: t.takesMany ? [{ command: 'BLMPOP', since: 'Redis 7.0' }] : [],
    open: [],
    take: null,
    wait: t.takesMany
      ? work('BLMPOP', [waitS, 1, queue, 'RIGHT', 'COUNT', take], { jobs: 'popped-many' })
      : work('BRPOP', [queue, waitS], { jobs: 'popped' }),
    pollMs: 0,
    own: null,
    confirm: handOver(t, k),
    alive: null,
    reclaim: null,
    leave: [],
    waiting: [lengthOf(queue)],
    contents: contentsOf(k),
  }
}

/** @param {PlanFields} t @param {QueueKeys} k @returns {Workers} */
const moving = (t, k) => {
  const { key: queue, taken, workers } = queueOf(t, k)
  const alive = work('EVALSHA', [script('queue-alive', { calls: ['TIME', 'ZADD'] }), 1, workers, worker])
  const putBack = script('queue-put-back', { calls: ['TIME', 'LMOVE', 'ZRANGE', 'ZREM'] })
  return {
    promise: 'at-least-once',
    needs: [{ command: 'BLMOVE', since: 'Redis 6.2' }],
    // Known before it has a job.
    open: [alive],
    take: t.takesMany
      ? work('LMOVE', [queue, taken, 'RIGHT', 'LEFT'], { jobs: 'values', repeat: 'take' })
      : null,
    wait: work('BLMOVE', [queue, taken, 'RIGHT', 'LEFT', waitS], { jobs: 'values' }),
    pollMs: 0,
    own: work('LRANGE', [taken, '0', '-1'], { jobs: 'values' }),
    confirm: [...handOver(t, k), work('LREM', [taken, '-1', handle])],
    alive,
    reclaim: work('EVALSHA', [putBack, 3, queue, workers, taken, worker, reclaimMs]),
    leave: [work('ZREM', [workers, worker])],
    waiting: [lengthOf(queue)],
    contents: contentsOf(k),
  }
}

export const queueList = strategy({
  ...ofQueues,
  name: 'queue-list',
  title: 'a queue in a list: LPUSH, and BRPOP or LMOVE',
  keys: (t) => ({
    key: family('{{jobs}}:list', 'list', holding(t, bytesBesideJob)),
    taken: byWorker(`${head}:taken:`, 'list'),
    workers: family('{{jobs}}:list:workers', 'zset'),
    out: family('{{jobs}}:list:out', 'list'),
    outTaken: byWorker(`${head}:out:taken:`, 'list'),
    outWorkers: family('{{jobs}}:list:out:workers', 'zset'),
    ...accountsOf(head),
  }),
  operations: (t, k) => ({ produce: [putJobs(t, 'LLEN', 'LPUSH', k.key, [jobOf(t)])] }),
  queue: (t, k) => (t.confirm ? moving(t, k) : popping(t, k)),
})
