// The thread of the live page: with any number of browsers, the sender's event loop handles one message a second.
import { parentPort, workerData } from 'node:worker_threads'
import { errorOf } from '../base/errors.js'
import { endThread } from '../base/thread-end.js'
import { certain } from '../base/typed.js'
import { dashboardService } from './service.js'
import { stateOf } from './state.js'

/**
 * @import { MessagePort } from 'node:worker_threads'
 * @import { Place } from '../fleet/control.js'
 * @import { Line } from '../measures/fold.js'
 * @import { DashboardService, Listener } from './service.js'
 * @import { About, BoxRow, Event, RunState } from './state.js'
 *
 * @typedef {{ about: About } | { second: Line } | { boxes: readonly BoxRow[] } | { event: Event }
 *   | { warning: string } | { end: RunState } | { password: string } | 'close'} Order
 */

const port = certain(parentPort)
/** @type {{ listener: Listener, limits?: object, size?: object, fleet?: { place: Place, run: string } }} */
const { listener, limits, size, fleet } = workerData
const state = stateOf(size)

/** @param {DashboardService} service @param {Exclude<Order, 'close'>} order */
const follow = (service, order) => {
  if ('password' in order) {
    if (fleet) fleet.place.access.password = order.password
  } else if ('second' in order) service.send(state.second(order.second))
  else if ('event' in order) service.send(state.event(order.event))
  else if ('warning' in order) service.send(state.warning(order.warning))
  else if ('boxes' in order) service.send(state.boxes(order.boxes))
  else if ('about' in order) service.send(state.about(order.about))
  else service.send(state.end(order.end))
}

/** The end of a fleet's run if the control does not report it before this process ends. @type {RunState | null} */
let otherwise = null

/** In a fleet, this thread asks the control server. @param {DashboardService} service */
const feeding = async (service) => {
  if (!fleet) return async () => {}
  const { fleetFeed } = await import('./fleet-feed.js')
  return fleetFeed({ ...fleet, tell: (order) => follow(service, order) })
}

try {
  const service = await dashboardService({ listener, limits, whole: state.all })
  const endFeed = await feeding(service)
  port.postMessage({ port: service.port, token: service.token })
  port.on('message', async (/** @type {Order} */ order) => {
    if (order !== 'close') {
      if (fleet && 'end' in order) otherwise = order.end
      else follow(service, order)
      return
    }
    await endFeed()
    if (otherwise && !state.hasEnded()) follow(service, { end: otherwise })
    await service.close()
    endThread(port)
  })
} catch (error) {
  const { code, message } = errorOf(error)
  port.postMessage({ failed: code ?? message, message })
  endThread(port)
}
