// Connections with up to so many operations in flight each, in a closed loop or at an open rate.

import { ofWriters, SECTIONS } from '../../measures/index.js'
import { operationsOf } from '../../probes/operations.js'
import { names } from '../names.js'
import { writerReasons } from '../writer-reasons.js'
import { behind } from './in-flight.js'
import { plan } from './plan.js'
import { words } from './words.js'

/** @import { FlowNeeds } from '../ticks/open.js' */

export const clients = Object.freeze({
  document: /** @type {const} */ ('producer'),
  names: names.clients,
  plan,
  ledger: (/** @type {unknown} */ _, /** @type {() => boolean} */ isMeasured) => operationsOf({ isMeasured }),
  open: async (/** @type {FlowNeeds} */ needs) => (await import('./open.js')).clientsWriting(needs),
  measures: ofWriters,
  sections: SECTIONS.producer,
  words,
  reasons: writerReasons(behind),
})
