// Clients over all numbers, one pass after the other.
import { playsPasses } from '../../workloads/index.js'
import { words } from '../clients/index.js'
import { plan as clientsPlan } from '../clients/plan.js'
import { names } from '../names.js'
import { operationsLoad } from '../operations.js'
import { undivided } from '../parts.js'
import { writerReasons } from '../writer-reasons.js'

/**
 * @import { Settings } from '../../../settings.js'
 * @import { WriterRun } from '../ticks/open.js'
 */

/** At a rate, the commands of its passes are played by clients. @param {Settings} settings */
const plan = (settings) => {
  const ofClients = clientsPlan(settings)
  /** @type {'passes' | 'clients'} */
  const flow = playsPasses(settings) ? 'passes' : 'clients'
  /** @param {readonly number[]} numbers of the writers of this process */
  return (numbers) => ({ ...ofClients(numbers), flow })
}

export const passes = operationsLoad({
  names: names.passes,
  plan,
  sharing: undivided('its passes are measured one after the other'),
  open: async (/** @type {WriterRun} */ run) => (await import('../clients/open.js')).clientsWriting(run),
  words,
  reasons: writerReasons(() => ''),
})
