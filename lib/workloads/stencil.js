// Commands about a drawn item, as clients send them: where the same mould lies already, only its digits change.
import { slotOf } from '../wire/slot.js'
import { keyIn } from './bind.js'
import { mouldsOf, numberOf, putDigits } from './mould.js'

/**
 * @typedef {import('./declare.js').Command} Command
 * @typedef {import('./declare.js').Variable} Variable
 * @typedef {{ bytes: Buffer, laid: Uint32Array, renew: () => void }} OutBuffer
 *
 * @typedef {object} Stencilled
 * @property {string} name
 * @property {number} most bytes that one command takes
 * @property {(n: number, out: OutBuffer, at: number) => number} put returns where the next command begins
 * @property {(n: number) => number} slotOf
 */

/** A buffer that remembers which stencil lies where, so that mostly digits change. @param {number} size @returns {OutBuffer} */
export const outBuffer = (size) => {
  const out = {
    bytes: Buffer.allocUnsafeSlow(size),
    laid: new Uint32Array(size),
    /** The socket keeps the bytes. */
    renew() {
      out.bytes = Buffer.allocUnsafeSlow(size)
      out.laid.fill(0)
    },
  }
  return out
}

/**
 * @param {Command} command of the kind `each`, whose variables are numbers or of fixed width
 * @param {string} prefix
 * @returns {Stencilled}
 */
export const stencilOf = ({ name, args }, prefix) => {
  const parts = args.map((arg) => partsOf(arg, prefix))
  const mouldFor = mouldsOf(name, parts)
  if (!mouldFor)
    throw new TypeError(`${name}: a command of a client has few numbers and no texts of the item`)
  const keyAt = keyIn(args, name)
  const keyParts = keyAt.family ? partsOf(keyAt.family, prefix) : []
  let most = 64 + name.length
  for (const part of parts.flat())
    most += 16 + (typeof part === 'object' ? (part.width ?? 20) : String(part).length)
  return {
    name,
    most,
    put(n, out, at) {
      const { id, bytes, places, size } = mouldFor(n)
      const { laid } = out
      if (laid[at] !== id) {
        out.bytes.set(bytes, at)
        laid.fill(0, at, at + size)
        laid[at] = id
      }
      for (let h = 0; h < places.length; h++) {
        const { variable, at: place, end } = places[h]
        if (variable.put) variable.put(n, out.bytes, at + place)
        else putDigits(out.bytes, at + end, numberOf(variable, n))
      }
      return at + size
    },
    slotOf: (n) =>
      slotOf(keyParts.map((part) => (typeof part === 'object' ? String(part.of?.(n)) : part)).join('')),
  }
}

/** @param {import('./declare.js').Slot} slot @param {string} prefix @returns {(string | number | Variable)[]} */
const partsOf = (slot, prefix) => {
  if (Array.isArray(slot)) return slot.flatMap((one) => partsOf(one, prefix))
  if (typeof slot !== 'object') return [slot]
  if ('family' in slot) return [prefix, ...slot.parts]
  if ('variable' in slot && slot.scope === 'item') return [slot]
  throw new TypeError('a command of a client has constants, keys and variables of its item only')
}
