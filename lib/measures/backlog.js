// Jobs that wait: for workers, and of two stages between them; and the memory of the queue. Asked for once a second.
import { level } from './fields.js'
import { figure, metric } from './measure.js'

/** @import { Measure } from './measure.js' */

/** @param {any} sum */
const spanOf = (sum) => ({ first: sum?.first ?? null, last: sum?.last ?? null, max: sum?.max ?? 0 })

/** @type {Measure} */
export const backlog = {
  name: 'backlog',
  record: { backlog: level('count'), between: level('count'), queue_bytes: level('bytes') },
  by: 'one',

  /** @param {{ backlogs: () => Promise<number[]>, queueBytes: () => Promise<number | null> }} needs backlogs: by stage */
  open: ({ backlogs, queueBytes }) => ({
    second: () => ({}),
    async sample() {
      const [waiting, bytes] = await Promise.all([backlogs().catch(() => []), queueBytes().catch(() => null)])
      const [first = null, between] = waiting
      return { backlog: first, ...(between !== undefined && { between }), queue_bytes: bytes }
    },
  }),

  summary: ({ window, plan }) => ({
    backlog: { ...spanOf(window.backlog), queue_bytes_max: window.queue_bytes?.max ?? 0 },
    ...(plan.work.outputs && {
      'stages.filter.backlog': spanOf(window.backlog),
      'stages.output.backlog': spanOf(window.between),
    }),
  }),
  result: {
    backlog: {
      type: ['object', 'null'],
      properties: { first: figure, last: figure, max: figure, queue_bytes_max: figure },
      required: [],
    },
  },
  metrics: {
    'backlog.max': metric('longest queue', 'count'),
    'backlog.last': metric('queue at the end', 'count'),
    'backlog.queue_bytes_max': metric('memory of the longest queue', 'bytes'),
  },
}
