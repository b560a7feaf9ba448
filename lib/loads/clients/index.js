// Connections with up to so many operations in flight each, in a closed loop or at an open rate.
import { count, rate, several } from '../../base/units.js'
import { askedWords } from '../../measures/queries.js'
import { arrivalsWords } from '../../traffic/arrivals.js'
import { itemsWords } from '../../traffic/items.js'
import { names } from '../names.js'
import { operationsLoad } from '../operations.js'
import { byClients } from '../parts.js'
import { rhythmWords } from '../rhythm.js'
import { goodOfWriters, nodesWords, unitOf, valueWords, writingWords } from '../words.js'
import { writerReasons } from '../writer-reasons.js'
import { behind } from './in-flight.js'
import { plan } from './plan.js'

/**
 * @import { AnyPlan as Plan } from '../../measures/measure.js'
 * @import { Loaded } from '../index.js'
 * @import { WriterRun } from '../ticks/open.js'
 */

/** What connections have in flight, and how often. @param {Plan} plan */
export const connectionsWords = (plan) => {
  const { nominalHz, clients, schedule, arrivals } = plan
  const { connections, pipeline } = clients
  const unit = unitOf(plan)
  const each = pipeline === 1 ? `one ${unit}` : `up to ${count(pipeline)} ${unit}s`
  const load =
    nominalHz === null
      ? 'closed loop'
      : plan.rates
        ? rhythmWords(plan)
        : `${rate(nominalHz)} ${unit}s/s${schedule === 'even' ? ' at an even rate (--rate)' : `, ${arrivalsWords(arrivals)}`}`
  return `${several(connections, 'connection')} with ${each} in flight each, ${load}`
}

/** What clients ask. @param {Plan} plan */
const queriesWords = ({ quantity, nominalHz, clients, querying, own }) => {
  const load = nominalHz === null ? 'closed loop' : `${rate(nominalHz)} queries/s`
  const beside =
    querying.updateWriters > 0
      ? `, ${several(querying.updateWriters, 'writer')} beside ${querying.updateWriters === 1 ? 'it' : 'them'}`
      : ''
  return `${several(clients.connections, 'client')}, ${load}, ${askedWords(own, quantity)}${beside}`
}

/** @param {Loaded} run */
const load = ({ plan }) =>
  plan.querying ? queriesWords(plan) : `${connectionsWords(plan)}, over ${count(plan.quantity)} keys`

/** @param {Plan} plan */
export const filledWords = ({ clients: { fill } }) => fill && fill !== 'none' && 'keys filled before the run'

/** @param {Plan} plan */
const readWords = ({ reads = 'master' }) => reads !== 'master' && `reads from ${nodesWords[reads]}`

/** @param {Plan} plan */
const planned = (plan) => {
  const { ratio } = plan.clients
  return writingWords(plan, {
    first: [plan.order && itemsWords(plan), filledWords(plan), readWords(plan)],
    data: [
      ratio && `${ratio[0]} writes to ${ratio[1]} reads${ratio[2] ? ` and ${ratio[2]} deletes` : ''}`,
      valueWords(plan),
    ],
  })
}

export const words = Object.freeze({
  does: 'writes',
  load,
  plan: planned,
  good: goodOfWriters,
})

export const clients = operationsLoad({
  names: names.clients,
  plan,
  sharing: byClients,
  open: async (/** @type {WriterRun} */ run) => (await import('./open.js')).clientsWriting(run),
  words,
  reasons: writerReasons(behind),
})
