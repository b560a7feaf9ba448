// The value of an item as arguments of a command have it: its parts, with the stamp as a hole.
import { payloadBody, stampBytes } from '../../lib/traffic/payload.js'

/** @import { PayloadFields } from '../../lib/traffic/payload.js' */
/** @import { Part } from '../../lib/wire/encode.js' */

const bodyOf = (/** @type {PayloadFields} */ fields) => {
  const { widthOf, put } = payloadBody(fields)
  return (/** @type {number} */ n) => {
    const body = Buffer.alloc(widthOf(n))
    put(n, body, 0, body.length)
    return body
  }
}

/** @param {PayloadFields} fields @returns {(n: number) => Part[]} */
export const payloadOf = (fields) => {
  const body = bodyOf(fields)
  return (n) => [
    ...(fields.stamp ? [{ hole: /** @type {const} */ ('stamp'), width: stampBytes }] : []),
    body(n),
  ]
}

/** What is behind the stamp, as text. @param {PayloadFields} fields */
export const plainPayload = (fields) => {
  const body = bodyOf(fields)
  return (/** @type {number} */ n) => body(n).toString('latin1')
}
