// Connections with up to so many operations in flight each, in a closed loop or at an open rate.

import { names } from '../names.js'
import { operationsLoad } from '../operations.js'
import { byClients } from '../parts.js'
import { writerReasons } from '../writer-reasons.js'
import { behind } from './in-flight.js'
import { plan } from './plan.js'
import { words } from './words.js'

/** @import { WriterRun } from '../ticks/open.js' */

export const clients = operationsLoad({
  names: names.clients,
  plan,
  sharing: byClients,
  open: async (/** @type {WriterRun} */ run) => (await import('./open.js')).clientsWriting(run),
  words,
  reasons: writerReasons(behind),
})
