// Clients in open loop whose connections are all in use: by Little's law, they do no more than what is in flight divided by
// the service time, whatever the rate. Pure.
import { micros, rate, several } from '../base/units.js'

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
