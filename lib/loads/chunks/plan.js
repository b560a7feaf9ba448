// What a client that sends in chunks adds to the plan of clients.
import { playsPasses, strategyNamed } from '../../workloads/index.js'
import { plan as clientsPlan } from '../clients/plan.js'

/**
 * @import { Settings } from '../../../settings.js'
 * @import { Delivery } from '../../workloads/declare.js'
 * @import { Facts } from '../plan.js'
 *
 * @typedef {ReturnType<typeof sendingOf>} SendingPart
 */

/** @param {Settings} settings */
const sendingOf = (settings) => {
  const { options, play } = strategyNamed(settings.strategy)
  return {
    delivery: /** @type {Delivery} */ (play.delivery),
    /** Most operations of a chunk. */ chunkSize: options.includes('chunkSize') ? settings.chunkSize : 1,
    delayMs: settings.delayMs ?? null,
    loseEvery: settings.loseEvery ?? null,
    /** All numbers once, in whole chunks; else what is due. */ isWhole: playsPasses(settings),
  }
}

/** @param {Settings} settings @param {Facts} facts */
export const plan = (settings, facts) => {
  const ofClients = clientsPlan(settings, facts)
  return {
    ...ofClients,
    flow: /** @type {const} */ ('chunks'),
    clients: { ...ofClients.clients, connections: 1 },
    sending: sendingOf(settings),
  }
}
