// A sorted set by when a job may begin: ZADD, and a script that takes what is due. Nothing blocks, so workers ask again and
// again. Where workers confirm, a job is in a second set until it is done, and comes back from there after a while.
import { due, family, handle, jobText, many, reclaimMs, script, strategy, take, work } from '../declare.js'
import { accountsOf, holding, jobOf, ofBoth, ofQueues, placed, putJobs, queueOf } from './parts.js'

const head = '{jobs}:due'
// A member of 128 bytes, on Redis 7.0.15.
const bytesBesideJob = 90
const pollMs = 10

export const queueZset = strategy({
  ...ofQueues,
  name: 'queue-zset',
  title: 'a queue of delayed jobs in a sorted set: ZADD, and a script that takes what is due',
  options: Object.freeze([...ofQueues.options, 'delayMs']),
  keys: (t) => ({
    key: family('{{jobs}}:due', 'zset', holding(t, bytesBesideJob)),
    taken: family('{{jobs}}:due:taken', 'zset'),
    out: family('{{jobs}}:due:out', 'zset'),
    outTaken: family('{{jobs}}:due:out:taken', 'zset'),
    ...accountsOf(head),
  }),
  operations: (t, k) => ({ produce: [putJobs(t, 'ZCARD', 'ZADD', k.key, ['NX', due, jobOf(t)])] }),
  // The same job is the same member.
  repeat: 'safe',
  queue: (t, k) => {
    const { key, taken } = queueOf(t, k)
    return {
      promise: t.confirm ? 'at-least-once' : 'at-most-once',
      needs: [],
      open: [],
      take: work(
        'EVALSHA',
        [
          script('queue-take-due', { calls: ['TIME', 'ZRANGE', 'ZREM', 'ZADD'] }),
          2,
          key,
          taken,
          take,
          t.confirm ? 1 : 0,
        ],
        { jobs: 'values' },
      ),
      wait: null,
      pollMs,
      own: null,
      confirm: [
        // It may begin at once.
        ...(t.stage === 'filter' ? [work('ZADD', [k.out, 'NX', many('0', jobText)])] : []),
        ...(t.confirm ? [work('ZREM', [taken, many(handle)])] : []),
      ],
      alive: null,
      reclaim: t.confirm
        ? work('EVALSHA', [
            script('queue-return-due', { calls: ['TIME', 'ZRANGE', 'ZADD', 'ZREM'] }),
            2,
            taken,
            key,
            reclaimMs,
          ])
        : null,
      leave: [],
      waiting: [{ ...work('ZCARD', [key]), sign: 1 }],
      contents: ofBoth(k, (queue, stage) => [
        placed(stage, 'queued', 'ZRANGE', queue.key),
        placed(stage, 'taken', 'ZRANGE', queue.taken),
      ]),
    }
  },
})
