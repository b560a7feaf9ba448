// A run of clients, in words.
import { count, rate, several } from '../../base/units.js'
import { askedWords } from '../../measures/queries.js'
import { arrivalsWords } from '../../traffic/arrivals.js'
import { itemsWords } from '../../traffic/items.js'
import { rhythmWords } from '../rhythm.js'
import { goodOfWriters, nodesWords, unitOf, valueWords, writingWords } from '../words.js'

/**
 * @import { AnyPlan as Plan } from '../../measures/measure.js'
 * @import { Loaded } from '../index.js'
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
const plan = (plan) => {
  const { ratio } = plan.clients
  return writingWords(plan, {
    first: [plan.order && itemsWords(plan), filledWords(plan), readWords(plan)],
    data: [
      ratio && `${ratio[0]} writes to ${ratio[1]} reads${ratio[2] ? ` and ${ratio[2]} deletes` : ''}`,
      valueWords(plan),
    ],
  })
}

export const words = {
  does: 'writes',
  load,
  plan,
  good: goodOfWriters,
}
