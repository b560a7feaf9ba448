// Clients at an open rate whose connections are all in use: by Little's law they achieve at most the operations in flight
// divided by the service time, whatever the rate. Pure.
import { micros, rate, several } from '../../base/units.js'
import { ownWorkIn } from '../../workloads/index.js'

/**
 * @import { Plan } from '../plan.js'
 * @import { Evidence } from '../writer-reasons.js'
 */

// Below this share of the operations that connections can have in flight, something else was the limit.
const leastInUse = 0.5
// Connections are never all in use all the time.
const spare = 1.3
// Highest value of --pipeline, and of --connections that is advised.
const most = 10_000
const leastShare = 0.99

/**
 * @param {object} seen
 * @param {Pick<Plan, 'strategy' | 'clients' | 'querying' | 'nominalHz'>} seen.plan
 * @param {number | null} seen.achieved operations/s
 * @param {number | null | undefined} seen.meanUs service time; a median leaves out what few long answers cost
 * @returns {string} advice, with the number of connections that would do; '' where they are not the limit
 */
export const inFlightWords = ({ plan: { strategy, clients, querying, nominalHz }, achieved, meanUs }) => {
  if (!clients || !nominalHz || !achieved || !meanUs) return ''
  if (achieved >= nominalHz * leastShare) return ''
  const { connections, pipeline } = clients
  const inFlight = connections * pipeline
  if ((achieved * meanUs) / 1e6 < leastInUse * inFlight) return ''
  // Between an answer and the next operation a connection waits for the client.
  const eachS = Math.max(meanUs / 1e6, inFlight / achieved)
  const needed = spare * nominalHz * eachS
  const clientsOwn = querying || ownWorkIn(strategy)
  const each = pipeline > 1 ? `, ${several(pipeline, 'operation')} in flight on each,` : ''
  const advice = [
    ['--connections', Math.ceil(needed / pipeline)],
    ['--pipeline', clientsOwn ? Number.POSITIVE_INFINITY : Math.ceil(needed / connections)],
  ].flatMap(([name, n]) => (Number(n) <= most ? [`${name} ${n}`] : []))
  const set = advice.length > 0 ? `: set ${advice.join(' or ')}` : '; take a lower rate'
  return `${several(connections, 'connection')}${each} can do no more than ${rate(achieved)} operations/s at a mean service time of ${micros(meanUs)}${set}`
}

/** Why a run fell behind its rate. @param {Evidence} run */
export const behind = ({ plan, rate: { nominal, achieved }, latency_us: latency }) =>
  inFlightWords({ plan: { ...plan, nominalHz: nominal }, achieved, meanUs: latency?.service?.mean })
