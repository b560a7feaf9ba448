// The commands of a bundle of numbers: one for each, or one that carries all of them. As bytes, and as arguments for a
// client library.
import { noValues } from '../../wire/encode.js'
import { textOfParts } from './arguments.js'
import { clientCommandOf, partsOfSlot } from './client.js'
import { gatheredBytes, templatesOf } from './template.js'

/**
 * @import { Command, Slot, Variable } from '../declare.js'
 *
 * @typedef {object} BundleCommands
 * @property {string} name
 * @property {boolean} isOne a command carries the bundle
 * @property {(ns: ArrayLike<number>, count: number) => number} size of the commands in bytes, or more
 * @property {(ns: ArrayLike<number>, count: number, out: Buffer, at: number) => number} put returns where they end
 * @property {(ns: ArrayLike<number>, count: number) => string[][]} commands with their names
 */

/** @param {readonly (string | number | Variable)[]} parts @param {number} n */
const textOf = (parts, n) => textOfParts(parts, ({ forItem }) => forItem?.(n))

/** @param {Command} command @param {string} prefix @returns {BundleCommands} */
const eachOf = (command, prefix) => {
  const { most, put } = clientCommandOf(command, prefix)
  const args = command.args.map((arg) => partsOfSlot(arg, prefix))
  return {
    name: command.name,
    isOne: false,
    size: (_, count) => count * most,
    put(ns, count, out, begin) {
      let at = begin
      for (let i = 0; i < count; i++) at = put(ns[i], out, at)
      return at
    },
    commands: (ns, count) =>
      Array.from({ length: count }, (_, i) => [command.name, ...args.map((parts) => textOf(parts, ns[i]))]),
  }
}

/** @param {Slot} slot @param {string} prefix */
const pieceOf = (slot, prefix) => {
  if (typeof slot === 'object' && 'many' in slot) {
    const list = slot.many.map((argument) => partsOfSlot(argument, prefix))
    const templateFor = templatesOf(null, list)
    if (!templateFor) throw new TypeError('what a bundle repeats has numbers of the item only')
    return { many: list, templateFor, repeated: list.length, isCount: false, text: '', value: () => '' }
  }
  const isCount = typeof slot === 'object' && 'variable' in slot && slot.variable === 'count'
  const text = isCount ? '' : textOf(partsOfSlot(slot, prefix), 0)
  const value = (/** @type {number} */ count) => (isCount ? count : text)
  return { many: null, templateFor: null, repeated: 0, isCount, text, value }
}

/** @param {Command} command @param {string} prefix @returns {BundleCommands} */
const gatherOf = ({ name, args }, prefix) => {
  const pieces = args.map((arg) => pieceOf(arg, prefix))
  const { size, put } = gatheredBytes(name, pieces)
  return {
    name,
    isOne: true,
    size: (ns, count) => size(ns, count, ''),
    put: (ns, count, out, at) => put(ns, count, '', out, at, noValues),
    commands(ns, count) {
      const out = [name]
      for (const { many, isCount, text } of pieces) {
        if (many) for (let i = 0; i < count; i++) for (const parts of many) out.push(textOf(parts, ns[i]))
        else out.push(isCount ? String(count) : text)
      }
      return [out]
    },
  }
}

/** @param {Command} command of the kind each or gather @param {string} prefix */
export const bundleCommandsOf = (command, prefix) =>
  command.kind === 'each' ? eachOf(command, prefix) : gatherOf(command, prefix)
