// What a client that sends in bundles adds to the plan of clients.
import { certain } from '../../base/typed.js'
import { playsPasses, strategyNamed } from '../../workloads/index.js'
import { plan as clientsPlan } from '../clients/plan.js'

/**
 * @import { Settings } from '../../../settings.js'
 * @import { Delivery } from '../../workloads/declare.js'
 *
 * @typedef {ReturnType<typeof sendingOf>} SendingPart
 */

/** @param {Settings} settings */
const sendingOf = (settings) => {
  const { options, play } = strategyNamed(settings.strategy)
  return {
    delivery: certain(play.delivery),
    /** Most operations of a bundle. */ bundleSize: options.includes('bundleSize') ? settings.bundleSize : 1,
    delayMs: settings.delayMs ?? null,
    loseEvery: settings.loseEvery ?? null,
    /** All numbers once, in whole bundles; else what is due. */ isWhole: playsPasses(settings),
  }
}

/** @param {Settings} settings */
export const plan = (settings) => {
  const ofClients = clientsPlan(settings)
  const sending = sendingOf(settings)
  /** @param {readonly number[]} numbers of the writers of this process */
  return (numbers) => {
    const own = ofClients(numbers)
    /** @type {'bundles'} */
    const flow = 'bundles'
    return { ...own, flow, clients: { ...own.clients, connections: 1 }, sending }
  }
}
