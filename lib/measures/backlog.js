// Jobs that wait for workers, and with two stages between them; and the memory of the queue. Sampled once a second.
import { bytes, count } from '../base/units.js'
import { level } from './fields.js'
import { figure, measure, metric } from './measure.js'

/**
 * @import { Level } from './fields.js'
 * @import { Folded, Amounts } from './fold.js'
 */

/** @param {Level | null} [sum] */
const spanOf = (sum) => ({ first: sum?.first ?? null, last: sum?.last ?? null, max: sum?.max ?? 0 })

/** The sum of both stages; null: the server did not say. @param {Amounts} line */
export const waitingIn = ({ backlog: first = null, between }) =>
  first === null ? null : first + (between ?? 0)

/** @param {Folded} span */
const wordsOf = ({ first, last, max, queue_bytes_max: most = 0 }) =>
  first === null || first === undefined
    ? ''
    : `${count(first)} jobs at first, ${count(last)} at the end, ${count(max)} at most${most > 0 ? ` (${bytes(most)})` : ''}`

export const backlog = measure({
  name: 'backlog',
  of: ['workers'],
  record: { backlog: level('count'), between: level('count'), queue_bytes: level('bytes') },
  by: 'one',

  /** Jobs wait by stage. */
  open: ({ waiting, queueBytes }) => ({
    second: () => ({}),
    async sample() {
      const [found, size] = await Promise.all([waiting().catch(() => []), queueBytes().catch(() => null)])
      const [first = null, between] = found
      return { backlog: first, ...(between !== undefined && { between }), queue_bytes: size }
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

  answers: {
    queue: ({ backlog: span, stages }) => [
      { label: 'backlog', text: wordsOf(span) },
      { label: 'between', text: stages ? wordsOf(stages.output.backlog) : '' },
    ],
  },
})
