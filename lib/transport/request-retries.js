// Requests that are tried again: those that were refused or lost, and those whose lane is not up. They wait by client, and go
// before new ones.
import { policyOf } from './policy.js'

/**
 * @import { Lane } from './lane.js'
 * @import { Net } from './net.js'
 * @import { Ruling } from './policy.js'
 * @import { Routed, RouterNeeds } from './router.js'
 */

/**
 * @template {Routed} R
 * @param {RouterNeeds<R>} needs
 * @param {object} way
 * @param {Net} way.net
 * @param {(request: R, nowMs: number) => boolean} way.send over the lane to its server; false: that is not up
 * @param {(client: number, waitMs: number) => void} way.lookLater
 */
export const requestRetriesOf = (needs, { net, send, lookLater }) => {
  const { kind, maxBehindMs, waitsFor = [], loadScripts, ledger, machine } = needs
  const { clock, random } = machine
  const { again = (request) => request, lose } = kind
  const policy = policyOf({ maxBehindMs, clock, follows: needs.target.follows })
  /** @type {R[][]} by client */
  const waiting = Array.from({ length: needs.clients }, () => [])

  /** @param {R} request @param {string | null} goTo @param {number} [waitMs] */
  const wait = (request, goTo = null, waitMs = 0) => {
    request.goTo = goTo
    request.notBeforeMs = waitMs > 0 ? clock() + waitMs : 0
    waiting[request.client].push(request)
    if (waitMs > 0) lookLater(request.client, waitMs)
  }
  /** @param {number} attempts */
  const backOffMs = (attempts) => policy.waitFor(attempts) * (0.5 + random())

  /** Tries it again: at the owner by the map, at the address that the refusal named, or later. @param {R} request @param {Ruling} ruling @param {string} from */
  const follow = (request, { action, cause, slot, address, waitMs }, from) => {
    net.events.refused(cause)
    // An address that the map does not know is not followed: first the cluster must confirm it.
    const isKnown = address !== null && net.isOwner(address)
    const againMs = waitMs > 0 ? backOffMs(request.attempts) : 0
    if (action === 'there' && isKnown && slot !== null) {
      net.moved(slot, address)
      return wait(request, null, againMs)
    }
    if (action === 'asking' && isKnown) return wait(request, address, againMs)
    const later = () => wait(request, null, backOffMs(request.attempts))
    if (action === 'load') return void loadScripts?.(from).then(later, later)
    net.refresh()
    later()
  }

  return {
    wait,
    ruling: policy.refused,
    follow,
    /** A server refused it: it was not executed. @param {R} request @param {string} line @param {Lane<R>} lane */
    refused(request, line, { address }) {
      request.attempts++
      ledger.commands.refused++
      const ruling = policy.refused(line, address, request.dueMs, request.attempts)
      const { action, cause, lost } = ruling
      needs.onRefused?.(cause)
      if (waitsFor.includes(cause)) {
        if (clock() - request.dueMs > maxBehindMs) return lose(request, 'dropped', '')
        ledger.retried(cause)
        return wait(request, null, backOffMs(1))
      }
      if (lost || (action === 'load' && !loadScripts)) return lose(request, 'failed', cause)
      ledger.retried(cause)
      follow(request, ruling, address)
    },
    /** The requests in flight of a lane that is lost. @param {Lane<R>} lane */
    laneLost(lane) {
      const cause = lane.givenUp()
      for (const request of lane.drain()) {
        const one = again(request)
        if (one === null) continue
        if (cause !== null) lose(one, 'failed', cause)
        else if (!one.repeatable) lose(one, 'uncertain', 'CLOSED')
        else {
          one.attempts++
          ledger.retried('CLOSED')
          wait(one)
        }
      }
    },
    hasWaiting: (/** @type {number} */ client) => waiting[client].length > 0,
    /** Sends what waits; what finds no lane for too long is dropped. @param {number} client @param {number} nowMs */
    resend(client, nowMs) {
      const list = waiting[client]
      waiting[client] = []
      for (const request of list) {
        if (request.notBeforeMs > nowMs) waiting[client].push(request)
        else if (!send(request, nowMs)) {
          if (nowMs - request.dueMs > maxBehindMs) lose(request, 'dropped', '')
          else waiting[client].push(request)
        }
      }
    },
    /** The run has ended: requests without an outcome are unsettled. @param {readonly Lane<R>[]} lanes */
    abandon(lanes) {
      const inFlight = lanes.flatMap((lane) => lane.drain())
      const left = inFlight.flatMap((request) => again(request) ?? [])
      for (const request of [...left, ...waiting.flat()]) lose(request, 'unsettled', '')
    },
  }
}
