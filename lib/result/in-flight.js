// Clients in open loop whose connections are all in use: by Little's law, they do no more than what is in flight divided by
// the service time, whatever the rate. Pure.
import { micros, period, rate, several } from '../base/units.js'

/** @import { Plan } from '../plan/plan.js' */

// Below this part of the operations that connections can have in flight, something else was the limit.
const leastInUse = 0.5
// Connections are not all in use all the time.
const spare = 1.3
const leastShare = 0.99

/**
 * @param {object} seen
 * @param {Pick<Plan, 'clients' | 'nominalHz'>} seen.plan
 * @param {number | null} seen.achieved operations/s
 * @param {{ p50: number | null } | null} seen.serviceUs
 * @returns {string} advice, with the number of connections that would do; '' where they are not the limit
 */
export const inFlightWords = ({ plan: { clients, nominalHz }, achieved, serviceUs }) => {
  if (!clients || clients.passes || clients.delivery || !nominalHz || !achieved || !serviceUs?.p50) return ''
  if (achieved >= nominalHz * leastShare) return ''
  const { connections, pipeline } = clients
  const inFlight = connections * pipeline
  if ((achieved * serviceUs.p50) / 1e6 < leastInUse * inFlight) return ''
  const needed = Math.ceil((spare * nominalHz * connections) / achieved)
  const each = pipeline > 1 ? `, ${several(pipeline, 'operation')} in flight on each,` : ''
  return `${several(connections, 'connection')}${each} can do no more than ${rate(achieved)} operations/s at a service time of ${micros(serviceUs.p50)}: set --connections ${needed}`
}

/**
 * Of batches: an item is written again when its last write was answered, as an old value must not overtake a new one.
 * @param {Pick<Plan, 'quantity' | 'periodMs'>} plan
 * @param {{ nominal: number | null, achieved: number | null }} rate items/s
 * @param {{ p50: number | null } | null | undefined} serviceUs
 * @returns {string} advice; '' where something else was the limit
 */
export const againWords = ({ quantity, periodMs }, { nominal, achieved }, serviceUs) => {
  const tookS = Number(serviceUs?.p50) / 1e6
  const isLimit = tookS * 1000 >= periodMs && Number(achieved) * tookS >= leastInUse * quantity
  if (!isLimit || !nominal) return ''
  const items = Math.ceil(spare * nominal * tookS)
  const more = `set -q ${items} at the same rate (--period ${Math.round((1000 * items) / nominal)}ms)`
  return `an item is due again after ${period(periodMs)}, and to store it takes ${period(tookS * 1000)}: ${more}, or raise --window if it is smaller than a batch`
}
