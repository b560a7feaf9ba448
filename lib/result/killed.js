// What is known of a run that was killed: how many items it may have stored besides those of its seconds.
import { count, several } from '../base/units.js'
import { loadOf } from '../loads/index.js'
import { namesOfKind } from '../loads/names.js'
import { duesOf } from '../traffic/arrivals.js'

/**
 * @import { Plan } from '../loads/plan.js'
 * @import { Run } from '../measures/section.js'
 */

// A line comes a second after the one before, and waits up to 0.9 s for the servers.
const unwrittenMs = 2000
// To draw more would take seconds.
const mostDraws = 5_000_000

/**
 * How many events are due by then; null: too many to draw.
 * @param {Pick<Plan, 'schedule' | 'arrivals' | 'spacingMs' | 'seed'>} dues
 * @param {number} toMs
 */
const eventsDue = (dues, toMs) => {
  if (dues.schedule === 'even') return Math.floor(toMs / dues.spacingMs) + 1
  const due = duesOf(dues)
  let n = 0
  while (n < mostDraws && due(n) <= toMs) n++
  return n < mostDraws ? n : null
}

/**
 * The most that a plan offers by then.
 * @param {Plan} plan
 * @param {number} toMs
 * @returns {number | null} null: as many as the servers take
 */
export const mostOffered = (plan, toMs) => {
  const { items, quantity, chunks, ticks, rates, nominalHz, schedule, arrivals, seed, clients } = plan
  const { inBatches } = namesOfKind(plan)
  const batch = inBatches ? plan.agents.reduce((sum, agent) => sum + Math.ceil(agent.count / chunks), 0) : 1
  const whole = inBatches
    ? (ticks ?? Number.POSITIVE_INFINITY) * batch
    : (clients?.requests ?? Number.POSITIVE_INFINITY)
  /** @type {number | null} */
  let due = null
  if (rates) {
    const share = inBatches ? items / quantity : 1
    const each = rates.map(({ fromMs, toMs: endMs, rateHz }) =>
      Math.ceil((Math.max(0, Math.min(endMs, toMs) - fromMs) / 1000) * rateHz * share + batch),
    )
    due = each.reduce((sum, n) => sum + n, 0)
  } else if (schedule !== 'none' && nominalHz !== null) {
    const spacingMs = inBatches ? plan.spacingMs : 1000 / nominalHz
    const events = eventsDue({ schedule, arrivals, seed, spacingMs }, toMs)
    due = events === null ? null : events * batch
  }
  const most = Math.min(whole, due ?? Number.POSITIVE_INFINITY)
  return Number.isFinite(most) ? most : null
}

/**
 * @param {Plan} plan
 * @param {number | null} lastMs of its last line; null: there is none
 * @param {number} stored by its lines
 */
const storedWords = (plan, lastMs, stored) => {
  const { unit, isAsked } = namesOfKind(plan)
  const did = unit === 'operation' && isAsked ? 'done' : 'stored'
  const most = mostOffered(plan, (lastMs ?? 0) + unwrittenMs)
  return most === null
    ? `${several(stored, unit)} or more were ${did}`
    : `between ${count(stored)} and ${several(Math.max(most, stored), unit)} were ${did}`
}

/**
 * @param {Run} parts
 * @param {number | null} lastMs of its last line; null: there is none
 * @param {number} done by its lines: items stored, jobs done
 */
export const killedWords = (parts, lastMs, done) => {
  const { document } = loadOf(parts)
  const more = {
    producer: () => storedWords(parts.plan, lastMs, done),
    workers: () =>
      lastMs === null ? 'how many jobs were done is not known' : `${several(done, 'job')} or more were done`,
    consumer: () => 'it stores nothing',
  }
  return lastMs === null
    ? `the run was killed before its first second: ${more[document]()}; nothing was measured`
    : `the run was ended by a kill, or its disk was full: this is the result of its first ${(lastMs / 1000).toFixed(1)} s; ${more[document]()}`
}
