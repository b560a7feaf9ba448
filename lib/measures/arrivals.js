// Whether random arrivals were sent as they were due: how unevenly both came. Where a timer was late, what had become due
// meanwhile was sent at once.
import { dispersionOf } from '../probes/bunching.js'
import { isRandom } from '../traffic/even.js'
import { counts } from './fields.js'
import { figure, measure } from './measure.js'

export const arrivals = measure({
  name: 'arrivals',
  of: ['writers'],
  record: { 'arrivals.due': counts(), 'arrivals.sent': counts() },
  by: 'each',
  applies: isRandom,
  open: ({ records }) => ({ second: records.arrivalsOfSecond }),
  summary: ({ window }) => ({
    'ticks.due_dispersion': dispersionOf(window['arrivals.due']),
    'ticks.sent_dispersion': dispersionOf(window['arrivals.sent']),
  }),
  result: { 'ticks.due_dispersion': figure, 'ticks.sent_dispersion': figure },
  metrics: {},
})

// Of both the same arrivals, so their ratio varies less than each of them.
const clearly = 1.3

/**
 * How many items came at once, as an item sees it, and how many were to; null: as they were due, or not known.
 * @param {{ ticks?: { due_dispersion?: number | null, sent_dispersion?: number | null } }} run
 */
export const bunchesIn = ({ ticks }) => {
  const { due_dispersion: due, sent_dispersion: sent } = ticks ?? {}
  if (typeof due !== 'number' || typeof sent !== 'number' || sent < due * clearly) return null
  return { due: Math.max(1, due), sent }
}
