// The value of an item as arguments of a command have it: its parts, with the stamp as a hole.
import { payloadBody, stampBytes } from '../../lib/traffic/payload.js'

/** @param {import('../../lib/traffic/payload.js').PayloadFields} fields @returns {(n: number) => import('../../lib/wire/encode.js').Part[]} */
export const payloadOf = (fields) => {
  const { widthOf, put } = payloadBody(fields)
  return (n) => {
    const body = Buffer.alloc(widthOf(n))
    put(n, body, 0, body.length)
    return fields.stamp ? [{ hole: 'stamp', width: stampBytes }, body] : [body]
  }
}
