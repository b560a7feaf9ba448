// The limit of a queue that jobs are put into: how many it refused, and when it was full, as predicted and as it was.
import * as S from '../base/shape.js'
import { count, facts, period, several } from '../base/units.js'
import { metric } from './measure.js'
import { section } from './section.js'
import { note } from './warnings.js'

const shape = S.object(
  S.each(['limit', 'refused', 'predicted_ms', 'predicted_at_ms', 'full_ms'], S.maybe(S.figure)),
)

/** @typedef {import('../base/shape-types.js').Shaped<typeof shape>} Queue */

/** @param {number} ms */
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`

/** Jobs that the queue had no room for. @param {Queue} queue */
const fullWords = ({ full_ms: fullMs, predicted_ms: predictedMs, predicted_at_ms: atMs, refused }) =>
  fullMs != null &&
  facts([
    `full after ${period(fullMs)}`,
    predictedMs != null && `predicted for ${period(predictedMs)} when ${period(atMs ?? 0)} had passed`,
    `${count(refused)} jobs refused`,
  ])

export const queue = section('queue', S.nullable(shape), {
  metrics: {
    'queue.refused': metric('jobs refused by a full queue', 'count'),
    'queue.full_ms': metric('time until the queue was full', 'ms', 'more'),
    'queue.predicted_ms': metric('time until the queue would be full, as predicted', 'ms', 'neither'),
  },
  rows: (found) => ({ queue: fullWords(found) }),
  brief: (found) => ({ queue: fullWords(found) }),
  reasons: (
    { limit, refused, full_ms: fullMs, predicted_ms: predictedMs, predicted_at_ms: atMs },
    { items },
  ) => {
    if (fullMs == null) return {}
    const what = items.failed_by.OOM ? "the server's memory" : `the queue of ${count(limit)} jobs`
    const predicted =
      predictedMs == null
        ? ''
        : `, as predicted for ${seconds(predictedMs)} when ${seconds(atMs ?? 0)} had passed`
    const then =
      (refused ?? 0) > 0
        ? `${count(refused)} of ${several(items.offered, 'job')} were refused`
        : 'from then on jobs waited for room'
    return { full: note(`${what} was full after ${seconds(fullMs)}${predicted}: ${then}`) }
  },
})
