// Clients over all numbers, one pass after the other.
import { playsPasses } from '../../workloads/index.js'
import { plan as clientsPlan } from '../clients/plan.js'
import { words } from '../clients/words.js'
import { names } from '../names.js'
import { operationsLoad } from '../operations.js'
import { undivided } from '../parts.js'
import { writerReasons } from '../writer-reasons.js'

/**
 * @import { Settings } from '../../../settings.js'
 * @import { Facts } from '../plan.js'
 * @import { FlowNeeds } from '../ticks/open.js'
 */

/** At a rate, the commands of its passes are played by clients. @param {Settings} settings @param {Facts} facts */
const plan = (settings, facts) => ({
  ...clientsPlan(settings, facts),
  flow: playsPasses(settings) ? /** @type {const} */ ('passes') : /** @type {const} */ ('clients'),
})

export const passes = operationsLoad({
  names: names.passes,
  plan,
  sharing: undivided('its passes are measured one after the other'),
  open: async (/** @type {FlowNeeds} */ needs) => (await import('../clients/open.js')).clientsWriting(needs),
  words,
  reasons: writerReasons(() => ''),
})
