// Arguments of a declaration for a role: what they are made of, the key among them, and the keys of a family.
import { pair } from '../../base/typed.js'
import { inlineScript, scriptSha } from '../lua.js'

/**
 * @import { Argument as Encoded, Part } from '../../wire/encode.js'
 * @import { All, Argument, Family, Many, Script, Slot, Variable } from '../declare.js'
 * @import { Key } from './writer.js'
 *
 * @typedef {{ prefix: string, scriptText: (script: Script) => string }} Binding scriptText: what a command has for a script
 */

/** @param {Slot} slot @returns {slot is Family} */
export const isFamily = (slot) => typeof slot === 'object' && 'family' in slot && slot.family === 'key'
/** @param {Slot} slot @returns {slot is Many} */
export const isMany = (slot) => typeof slot === 'object' && 'many' in slot
/** @param {Slot} slot @returns {slot is All} */
export const isAll = (slot) => typeof slot === 'object' && 'all' in slot
/** @param {Slot} slot @returns {slot is Variable} */
export const isVariable = (slot) => typeof slot === 'object' && 'variable' in slot
/** @param {Slot} slot @returns {slot is Script} */
export const isScript = (slot) => typeof slot === 'object' && 'script' in slot

/** The value of an argument, for every role. @param {Slot} slot @param {Binding} binding @returns {(string | number | Variable)[]} */
export const argumentParts = (slot, binding) => {
  if (Array.isArray(slot)) return slot.flatMap((one) => argumentParts(one, binding))
  if (typeof slot !== 'object') return [slot]
  const { prefix, scriptText } = binding
  if ('family' in slot) return prefix === '' ? slot.parts : [prefix, ...slot.parts]
  if (isScript(slot)) return [scriptText(slot)]
  if (isVariable(slot)) return [slot]
  throw new TypeError('what is repeated is not one argument')
}

/** An argument as text. @param {readonly (string | number | Variable)[]} parts @param {(variable: Variable) => unknown} valueFor */
export const textOfParts = (parts, valueFor) =>
  parts.map((part) => (typeof part === 'object' ? String(valueFor(part)) : part)).join('')

/** Scripts as writers and readers name them. @type {Binding['scriptText']} */
export const shaOrInline = ({ script, inline }) => (inline ? inlineScript(script) : scriptSha(script))

/** Merges neighbouring texts. @param {(string | number | Variable)[]} parts */
const joined = (parts) => {
  /** @type {(string | number | Variable)[]} */
  const out = []
  for (const part of parts) {
    const last = out.at(-1)
    if (typeof part === 'string' && typeof last === 'string') out[out.length - 1] = last + part
    else out.push(part)
  }
  return out
}

/** The parts of an argument. @param {Argument} argument @param {Binding} binding */
export const partsOfArgument = (argument, binding) => joined(argumentParts(argument, binding))

/**
 * An argument as a constant, or as a function of the item.
 * @param {Argument} argument
 * @param {Binding} binding
 * @returns {{ forItem: ((n: number) => Encoded) | null, constant: Encoded }}
 */
export const argumentOf = (argument, binding) => {
  const parts = partsOfArgument(argument, binding)
  if (parts.every((part) => typeof part !== 'object' || part.hole)) {
    const encoded = parts.map((part) => (typeof part === 'object' ? /** @type {Part} */ (part.hole) : part))
    return { forItem: null, constant: encoded.length === 1 ? encoded[0] : encoded }
  }
  return { forItem: madeOf(parts), constant: '' }
}

/** @param {(string | number | Variable)[]} parts @returns {(n: number) => Encoded} */
const madeOf = (parts) => {
  const [head, variable] = parts
  const ofItem = typeof variable === 'object' ? variable.forItem : undefined
  if (parts.length === 2 && typeof head === 'string' && ofItem)
    return (n) => {
      const value = ofItem(n)
      return typeof value === 'object' ? [head, ...value] : head + value
    }
  if (parts.length === 1 && typeof head === 'object' && head.forItem) return head.forItem
  return (n) => {
    const values = parts.flatMap((part) =>
      typeof part !== 'object' ? [part] : (part.forItem?.(n) ?? [/** @type {Part} */ (part.hole)]),
    )
    return values.every((value) => typeof value !== 'object') ? values.join('') : values
  }
}

/** @param {Slot} slot */
const familyIn = (slot) => {
  if (isAll(slot)) return slot.all
  return isFamily(slot) ? slot : null
}

/** The first family among a command's arguments: its key. @param {readonly Slot[]} args @param {string} where */
export const keyIn = (args, where) => {
  const at = args.findIndex((arg) => isFamily(arg) || isAll(arg))
  if (at < 0 && args.some((arg) => isMany(arg) && arg.many.some(isFamily)))
    throw new TypeError(`${where}: the key of a gathered command is outside of many()`)
  return { at, family: at < 0 ? null : familyIn(args[at]) }
}

/** Text of a family for a number that each of its variables is given. @param {Family} family @param {number} i @param {string} prefix */
export const textOf = ({ parts }, i, prefix) => {
  let text = prefix
  for (const part of parts)
    text += typeof part === 'string' ? part : String((part.drawn ? undefined : part.forItem?.(i)) ?? i)
  return text
}

/** The numbers of a family that can be listed; null: they depend on the item, the minute, or several numbers. @param {Family} family */
export const rangeOf = ({ parts }) => {
  const variables = parts.filter((part) => typeof part === 'object')
  if (variables.length === 0) return pair(0, 1)
  if (variables.some(({ variable }) => variable === 'n' || variable === 'minute')) return null
  const ranges = new Map(variables.flatMap(({ variable, range }) => (range ? [[variable, range]] : [])))
  return ranges.size === 1 ? [...ranges.values()][0] : null
}

/**
 * All keys of a family; of those that change with time, the one of the tick.
 * @param {Family} family
 * @param {string} prefix
 * @returns {Key[]}
 */
export const keysIn = (family, prefix) => {
  const range = rangeOf(family)
  if (range)
    return Array.from({ length: range[1] - range[0] }, (_, i) => textOf(family, range[0] + i, prefix))
  const { forItem, constant } = argumentOf(family, { prefix, scriptText: () => '' })
  if (forItem) throw new TypeError(`${family.pattern}: keys of an item cannot be listed`)
  return [/** @type {Key} */ (constant)]
}

/**
 * The first item from n on that goes into the key.
 * @param {Family} family
 * @param {Key} key
 * @param {number} n
 * @param {string} prefix
 */
export const itemIn = (family, key, n, prefix) => {
  const [from, to] = rangeOf(family) ?? [0, 1]
  for (let i = n; i < n + to - from; i++) if (textOf(family, i, prefix) === key) return i
  return n
}

/** @param {readonly Family[]} families @param {string} prefix @returns {string[]} */
export const listedKeys = (families, prefix) =>
  families.flatMap((family) => /** @type {string[]} */ (keysIn(family, prefix)))
