// What the strategies of 'queue' share: the job, the accounts beside the queue, and their options. All keys of a queue
// are in one slot, by their tag.
import { exactly } from '../../base/typed.js'
import { due, each, family, fixed, pageFrom, pageTo, script, work } from '../declare.js'
import { valueBody } from '../latest/parts.js'
import { numberWidth } from './job.js'

/**
 * @import { Contents, Family, Rule, Slot, Work, Workers } from '../declare.js'
 * @import { PlanFields } from './fields.js'
 *
 * @typedef {{ key: Family, taken: Family, workers: Family, out: Family, outTaken: Family, outWorkers: Family }} QueueKeys of two stages
 */

/** The shortest job of any producer. */
const leastJobBytes = 64

/**
 * @template {Partial<QueueKeys>} K
 * @template {keyof QueueKeys} Taken
 * @template {keyof QueueKeys} Workers
 * @typedef {{ key: Family, taken: K[Taken], workers: K[Workers] }} OneQueue with what the strategy has of it
 */

const zero = 48

/** Ten digits. */
const jobNumber = fixed('job', numberWidth, (n, out, at, width) => {
  let rest = n
  for (let i = at + width - 1; i >= at; i--) {
    const next = Math.floor(rest / 10)
    out[i] = zero + (rest - next * 10)
    rest = next
  }
})

/** @param {PlanFields} t */
export const jobOf = (t) => [`${t.maker}:`, jobNumber, ':', due, ':', valueBody(t)]

/**
 * Puts a job; where the queue is limited by a script that refuses it when there is no room.
 * @param {PlanFields} t
 * @param {string} count the command that counts jobs
 * @param {string} name of the command that puts one
 * @param {Family} key
 * @param {Slot[]} args
 */
export const putJobs = (t, count, name, key, args) =>
  t.limit === null
    ? each(name, [key, ...args])
    : each('EVALSHA', [
        script('queue-push', { calls: [count, name], counts: name }),
        1,
        key,
        t.limit,
        count,
        name,
        ...args,
      ])

const anyName = /^[\w.-]+$/
const named = (/** @type {string} */ head, /** @type {string} */ type) =>
  family(`${head.replace('{jobs}', '{{jobs}}')}{name}`, type, {
    of: { name: { variable: 'name', scope: 'worker' } },
    keys: 1,
    shape: { head, rest: anyName },
  })

/**
 * The accounts of a queue: a bit for each job of a maker that was acknowledged, and for each that a box has done.
 * @param {string} head of the queue's keys
 */
export const accountsOf = (head) => ({
  makers: family(`${head.replace('{jobs}', '{{jobs}}')}:makers`, 'hash'),
  boxes: family(`${head.replace('{jobs}', '{{jobs}}')}:boxes`, 'hash'),
  acked: named(`${head}:acked:`, 'string'),
  done: named(`${head}:done:`, 'string'),
})

/** A family of keys by worker. @param {string} head @param {string} type */
export const byWorker = (head, type) =>
  family(`${head.replace('{jobs}', '{{jobs}}')}{worker}`, type, {
    of: { worker: { variable: 'worker', scope: 'worker' } },
    shape: { head, rest: anyName },
  })

/** Jobs in a queue without workers. @param {PlanFields} t @param {number} bytes beside the job */
export const holding = (t, bytes) => ({ holds: t.most, bytesAnItem: t.jobBytes + bytes })

/**
 * The two queues of two stages, of which most have one: that of `t.stage` is worked off.
 * @template {Partial<QueueKeys> & { key: Family, out: Family }} K
 * @param {K} k keys; `out`, `outTaken` and `outWorkers` of the second queue
 * @returns {{ filter: OneQueue<K, 'taken', 'workers'>, output: OneQueue<K, 'outTaken', 'outWorkers'> }}
 */
const queuesOf = (k) => ({
  filter: { key: k.key, taken: k.taken, workers: k.workers },
  output: { key: k.out, taken: k.outTaken, workers: k.outWorkers },
})

/**
 * The queue that the workers take from.
 * @template {Partial<QueueKeys> & { key: Family, out: Family }} K
 * @param {PlanFields} t
 * @param {K} k
 */
export const queueOf = (t, k) => queuesOf(k)[t.stage === 'output' ? 'output' : 'filter']

/**
 * What both queues hold.
 * @template {Partial<QueueKeys> & { key: Family, out: Family }} K
 * @param {K} k
 * @param {(queue: ReturnType<typeof queuesOf<K>>['filter' | 'output'], stage: Contents['stage']) => Contents[]} pick
 */
export const ofBoth = (k, pick) => {
  const { filter, output } = queuesOf(k)
  return [...pick(filter, 'filter'), ...pick(output, 'output')]
}

/**
 * Contents that are read by place.
 * @param {Contents['stage']} stage
 * @param {Contents['state']} state
 * @param {string} name of the command
 * @param {Family} key
 * @param {Work | null} each
 * @returns {Contents}
 */
export const placed = (stage, state, name, key, each = null) => ({
  state,
  stage,
  each,
  read: work(name, [key, pageFrom, pageTo], { jobs: 'values' }),
  by: 'place',
  bodies: true,
})

/** @type {readonly Rule[]} */
const rules = [
  (s, named) => s.valueSizes !== null && `${named('valueBytes')}: jobs of a queue have one size`,
  (s, named) =>
    s.valueBytes < leastJobBytes &&
    `${named('valueBytes')}: a job has at least ${leastJobBytes} bytes: its maker, its number and when it was due`,
  (s, named) =>
    typeof s.rate === 'number' &&
    s.given.quantity === 'command line' &&
    `${named('rate')} and ${named('quantity')} exclude each other: both are jobs a second`,
  (s, named) =>
    s.quantity < s.totalAgents &&
    `${named('quantity')}: ${s.quantity} jobs are too few for ${s.totalAgents} writers (${named('totalAgents')})`,
  (s, named) =>
    Array.isArray(s.agent) &&
    s.agent.at(-1) > s.totalAgents &&
    `${named('agent')}: number ${s.agent.at(-1)} is above ${named('totalAgents')} ${s.totalAgents}`,
]

export const ofQueues = Object.freeze({
  /** @type {'queue'} */
  workload: 'queue',
  options: Object.freeze([
    'connections',
    'pipeline',
    'arrivals',
    'reconnectHz',
    'periodMs',
    'totalAgents',
    'agent',
    'maxQueue',
    'whenFull',
  ]),
  play: Object.freeze({ flow: exactly('jobs'), operations: Object.freeze(['produce']) }),
  defaultItems: 1000,
  keepsKeys: true,
  rules,
  // A push that is repeated may be there twice.
  /** @type {'never'} */
  repeat: 'never',
})
