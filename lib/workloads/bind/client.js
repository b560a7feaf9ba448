// Commands about a drawn item, as clients send them.
import { noValues } from '../../wire/encode.js'
import { slotOf, slotOfBytes } from '../../wire/slot.js'
import { scriptSha } from '../lua.js'
import { argumentParts, isVariable, keyIn } from './arguments.js'
import { putTemplate, templatesOf } from './template.js'

/**
 * @import { TickValues } from '../../wire/encode.js'
 * @import { Command, Slot, Variable } from '../declare.js'
 *
 * @typedef {object} ClientCommand
 * @property {string} name
 * @property {number} most bytes that one command takes
 * @property {boolean} timed it carries when it was due
 * @property {(n: number, out: Buffer, at: number, values?: TickValues) => number} put returns where
 *   the next command begins
 * @property {(n: number) => number} slotOf
 */

/**
 * The first of several that are made as they are sent.
 * @param {string} name
 * @param {ClientCommand['slotOf']} slotOf
 * @returns {ClientCommand}
 */
export const leadingCommand = (name, slotOf) => ({
  name,
  most: 0,
  timed: false,
  put: (_, __, at) => at,
  slotOf,
})

/**
 * @param {Command} command of the kind `each`, whose variables are numbers or of fixed width
 * @param {string} prefix
 * @returns {ClientCommand}
 */
export const clientCommandOf = ({ name, args }, prefix) => {
  const parts = args.map((arg) => partsOfSlot(arg, prefix))
  const templateFor = templatesOf(name, parts)
  if (!templateFor)
    throw new TypeError(`${name}: a command of a client has few numbers and no texts of the item`)
  const keyAt = keyIn(args, name)
  const keyParts = keyAt.family ? partsOfSlot(keyAt.family, prefix) : []
  let most = 64 + name.length
  for (const part of parts.flat())
    most +=
      16 + (typeof part === 'object' ? (part.most ?? part.width ?? 20) : Buffer.byteLength(String(part)))
  return {
    name,
    most,
    timed: parts.flat().some((part) => typeof part === 'object' && part.hole !== undefined),
    put: (n, out, at, values = noValues) => putTemplate(templateFor(n), n, out, at, values),
    slotOf: slotsOf(keyParts, most),
  }
}

const newline = 10

/**
 * The slot of n's key, without a string or a buffer of its own where a template makes it: a twelfth of the time.
 * @param {readonly (string | number | Variable)[]} parts of the key
 * @param {number} most bytes
 * @returns {ClientCommand['slotOf']}
 */
const slotsOf = (parts, most) => {
  const templateFor = parts.some((part) => isVariable(part) && part.hole) ? null : templatesOf(null, [parts])
  if (templateFor === null) return (n) => slotOf(bytesOf(parts, n))
  const bytes = Buffer.alloc(most)
  return (n) => {
    const end = putTemplate(templateFor(n), n, bytes, 0, noValues) - '\r\n'.length
    let from = 1
    while (bytes[from++] !== newline);
    return slotOfBytes(bytes, from, end)
  }
}

/** The key of n as bytes. @param {Command} command @param {string} prefix @returns {(n: number) => Buffer} */
export const keyBytesOf = ({ name, args }, prefix) => {
  const { family } = keyIn(args, name)
  const parts = family ? partsOfSlot(family, prefix) : []
  return (n) => bytesOf(parts, n)
}

/** @param {readonly (string | number | Variable)[]} parts @param {number} n */
const bytesOf = (parts, n) =>
  Buffer.concat(
    parts.flatMap((part) => {
      const made = typeof part === 'object' ? (part.forItem?.(n) ?? '') : part
      return Array.isArray(made) ? made.filter(Buffer.isBuffer) : [Buffer.from(String(made))]
    }),
  )

const ofClients = ['due', 'stamp']
/** @param {Variable} variable */
const isTimed = ({ hole }) => hole !== undefined && ofClients.includes(hole.hole)

/** Variables that follow from the item's number, alone or as keys of a family. @param {Slot} slot @returns {boolean} */
const isOfItem = (slot) =>
  Array.isArray(slot) ? slot.every(isOfItem) : !isVariable(slot) || slot.scope === 'item' || isTimed(slot)

/** @param {Slot} slot @param {string} prefix */
export const partsOfSlot = (slot, prefix) => {
  if (!isOfItem(slot) || (typeof slot === 'object' && ('many' in slot || 'all' in slot)))
    throw new TypeError('a command of a client has constants, keys and variables of its item only')
  return argumentParts(slot, { prefix, scriptText: ({ script, called }) => called ?? scriptSha(script) })
}
