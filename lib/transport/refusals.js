// What a server's refusal asks for: one table for both drivers.
import { addressOf, endpointOf } from '../servers/address.js'

/**
 * there: the slot has moved, send it to `address` and learn the new map
 * asking: send it once to `address` with ASKING
 * later: the server cannot now; wait and retry at the owner of the slot
 * load: the script is not there; load it and send it again
 * give-up: it will not work; count the cause
 * @typedef {'there' | 'asking' | 'later' | 'load' | 'give-up'} Action
 * @typedef {{ action: Action, cause: string, slot?: number, address?: string }} Rule
 */

/** @type {ReadonlyMap<string, Action>} */
const redirects = new Map([
  ['MOVED', 'there'],
  ['ASK', 'asking'],
])
/** Whether a refusal names another server. @param {string} cause */
export const isRedirect = (cause) => redirects.has(cause)

/** @type {ReadonlyMap<string, Action>} */
const actions = new Map([
  ['TRYAGAIN', 'later'],
  ['CLUSTERDOWN', 'later'],
  ['MASTERDOWN', 'later'],
  ['LOADING', 'later'],
  ['BUSY', 'later'],
  ['READONLY', 'later'],
  ['NOSCRIPT', 'load'],
])

/**
 * The host of a redirect may be missing ('MOVED 5 :7001', 'MOVED 5 ?:7001'): then it is the host that answered.
 * IPv6 comes without brackets.
 * @param {string} text host:port
 * @param {string} from the address that answered
 */
const redirectAddress = (text, from) => {
  const { host, port } = endpointOf(text)
  return addressOf({ host: host === '' || host === '?' ? endpointOf(from).host : host, port })
}

/**
 * A refusal always means 'not executed', so whatever it asks for may be done to any command.
 * @param {string} line the error without its leading minus
 * @param {string} from the address that answered
 * @returns {Rule}
 */
export const ruleOf = (line, from) => {
  const [cause, slot, address] = line.split(' ', 3)
  const redirect = redirects.get(cause)
  if (redirect !== undefined && address !== undefined) {
    return {
      action: redirect,
      cause,
      slot: Number(slot),
      address: redirectAddress(address, from),
    }
  }
  return { action: actions.get(cause) ?? 'give-up', cause: causeOf(line) }
}

/** The line with which a server refused; null where something else went wrong. @param {unknown} error */
export const refusalIn = (error) =>
  error instanceof Error && error.name === 'ReplyError' ? error.message : null

/** A short name to count by: the code in capitals, or for a bare ERR its first words. @param {string} line */
export const causeOf = (line) => {
  const [word] = line.split(' ', 1)
  if (word !== 'ERR') return /^[A-Z][A-Z0-9_-]{1,30}$/.test(word) ? word : 'ERR'
  if (/unknown command/i.test(line)) return 'ERR unknown command'
  if (/max number of clients/i.test(line)) return 'ERR max clients'
  return 'ERR'
}
