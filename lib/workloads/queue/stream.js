// A stream with a group: XADD, XREADGROUP, and when a job is done XACK and XDEL; XAUTOCLAIM takes over what a silent worker has.
import {
  family,
  handle,
  jobText,
  many,
  pageFrom,
  pageSize,
  reclaimMs,
  strategy,
  take,
  waitMs,
  work,
  worker,
} from '../declare.js'
import { accountsOf, holding, jobOf, ofBoth, ofQueues, putJobs, queueOf } from './parts.js'

const head = '{jobs}:stream'
const group = 'workers'
// An entry of one field, on Redis 7.0.15.
const bytesBesideJob = 14

export const queueStream = strategy({
  ...ofQueues,
  name: 'queue-stream',
  title: 'a queue in a stream: XADD, XREADGROUP, XACK, XAUTOCLAIM',
  keys: (t) => ({
    key: family('{{jobs}}:stream', 'stream', holding(t, bytesBesideJob)),
    out: family('{{jobs}}:stream:out', 'stream'),
    ...accountsOf(head),
  }),
  operations: (t, k) => ({ produce: [putJobs(t, 'XLEN', 'XADD', k.key, ['*', 'job', jobOf(t)])] }),
  queue: (t, k) => {
    const { key } = queueOf(t, k)
    return {
      promise: 'at-least-once',
      needs: [{ command: 'XAUTOCLAIM', since: 'Redis 6.2' }],
      open: [work('XGROUP', ['CREATE', key, group, '0', 'MKSTREAM'], { mayFail: /^BUSYGROUP/ })],
      take: null,
      wait: work(
        'XREADGROUP',
        ['GROUP', group, worker, 'COUNT', take, 'BLOCK', waitMs, 'STREAMS', key, '>'],
        {
          jobs: 'entries-by-key',
        },
      ),
      pollMs: 0,
      own: work('XREADGROUP', ['GROUP', group, worker, 'STREAMS', key, '0'], { jobs: 'entries-by-key' }),
      confirm: [
        ...(t.stage === 'filter' ? [work('XADD', [k.out, '*', 'job', jobText])] : []),
        work('XACK', [key, group, many(handle)]),
        work('XDEL', [key, many(handle)]),
      ],
      alive: null,
      reclaim: work('XAUTOCLAIM', [key, group, worker, reclaimMs, '0', 'COUNT', take], { jobs: 'claimed' }),
      leave: [],
      waiting: [
        { ...work('XLEN', [key]), sign: 1 },
        { ...work('XPENDING', [key, group]), sign: -1 },
      ],
      contents: ofBoth(k, (queue, stage) => [
        {
          state: 'queued',
          stage,
          each: null,
          read: work('XRANGE', [queue.key, pageFrom, '+', 'COUNT', pageSize], { jobs: 'entries' }),
          by: 'id',
          bodies: true,
        },
        {
          state: 'taken',
          stage,
          each: null,
          read: work('XPENDING', [queue.key, group, pageFrom, '+', pageSize], {
            jobs: 'ids',
            mayFail: /^NOGROUP/,
          }),
          by: 'id',
          bodies: false,
        },
      ]),
    }
  },
})
