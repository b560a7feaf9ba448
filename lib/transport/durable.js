// What a write waits for beyond the answer of its master: WAIT for replicas, or WAITAOF for the disk.
import { certain } from '../base/typed.js'
import { commandBytes } from '../wire/encode.js'

/**
 * @import { Reply } from '../wire/values.js'
 *
 * @typedef {object} Durable
 * @property {Buffer} bytes of the command that follows the writes on their connection
 * @property {(reply: Reply) => boolean} isKept as many have it as were asked for
 */

/** The cause of items that were stored, and not kept by enough within the time. */
export const notKept = 'WAIT'

/** @param {string} wait '1': replicas; 'aof': the disk of the master; 'aof:1': that, and of replicas */
const asked = (wait) => {
  const [, aof, replicas = '0'] = certain(/^(aof:?)?(\d?)$/.exec(wait))
  return { aof: aof !== undefined, replicas: Number(replicas) }
}

/** The command by which it is asked for, within a time. @param {string} wait @param {number} limitMs */
export const waitCommand = (wait, limitMs) => {
  const { aof, replicas } = asked(wait)
  return aof ? ['WAITAOF', 1, replicas, limitMs] : ['WAIT', replicas, limitMs]
}

/** Whether its reply names as many as were asked for. @param {string} wait @returns {(reply: unknown) => boolean} */
export const isKeptBy = (wait) => {
  const { aof, replicas } = asked(wait)
  if (!aof) return (reply) => Number(reply) >= replicas
  return (reply) => Array.isArray(reply) && Number(reply[0]) >= 1 && Number(reply[1]) >= replicas
}

/**
 * @param {{ wait?: string, maxBehindMs: number }} plan
 * @returns {Durable | null} null: the answer of the master is enough
 */
export const durableOf = ({ wait, maxBehindMs }) =>
  wait === undefined
    ? null
    : { bytes: commandBytes([waitCommand(wait, Math.ceil(maxBehindMs)).map(String)]), isKept: isKeptBy(wait) }
