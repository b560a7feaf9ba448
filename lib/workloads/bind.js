// Declaration + terms = what the drivers play: steps that make a command's arguments.
import { gatheredBytes, putTemplate, templatesOf } from './command-template.js'
import { inlineScript } from './lua.js'
import { eachStep, gatherStep, once } from './step.js'

/**
 * @import { Argument as Encoded, Part } from '../wire/encode.js'
 * @import { Argument, Atom, Command, Declaration, Family, Repeat, Slot, Variable } from './declare.js'
 * @import { EachBytes, GatherBytes, GatherStep, Key, Step } from './step.js'
 *
 * @typedef {{ prefix: string, shaOf: (script: string) => string }} Binding
 * @typedef {{ prefix: string }} Terms what a workload's strategies read; the rest is the workload's own
 */

const isFamily = (/** @type {unknown} */ slot) => /** @type {Family} */ (slot)?.family === 'key'
const isMany = (/** @type {any} */ slot) => slot?.many !== undefined
export const isAll = (/** @type {any} */ slot) => slot?.all !== undefined
const isCount = (/** @type {any} */ slot) => slot?.variable === 'count'

/** What an atom is made of. @param {Atom} atom @param {Binding} binding @returns {(string | number | Variable)[]} */
export const partsIn = (atom, { prefix, shaOf }) => {
  if (typeof atom !== 'object') return [atom]
  if ('family' in atom) return prefix === '' ? atom.parts : [prefix, ...atom.parts]
  if ('script' in atom) return [atom.inline ? inlineScript(atom.script) : shaOf(atom.script)]
  return [atom]
}

/** Neighbouring texts as one. @param {(string | number | Variable)[]} parts */
const joined = (parts) => {
  const out = /** @type {(string | number | Variable)[]} */ ([])
  for (const part of parts) {
    const last = out.at(-1)
    if (typeof part === 'string' && typeof last === 'string') out[out.length - 1] = last + part
    else out.push(part)
  }
  return out
}

/** What an argument is made of. @param {Argument} argument @param {Binding} binding */
const partsOfArgument = (argument, binding) =>
  joined((Array.isArray(argument) ? argument : [argument]).flatMap((atom) => partsIn(atom, binding)))

/**
 * An argument as a constant, or as a function of the item.
 * @param {Argument} argument
 * @param {Binding} binding
 * @returns {{ of: ((n: number) => Encoded) | null, constant: Encoded }}
 */
const argumentOf = (argument, binding) => {
  const parts = partsOfArgument(argument, binding)
  if (parts.every((part) => typeof part !== 'object' || part.hole)) {
    const encoded = parts.map((part) => (typeof part === 'object' ? /** @type {Part} */ (part.hole) : part))
    return { of: null, constant: encoded.length === 1 ? encoded[0] : encoded }
  }
  return { of: madeOf(parts), constant: '' }
}

/** @param {(string | number | Variable)[]} parts @returns {(n: number) => Encoded} */
const madeOf = (parts) => {
  const [head, variable] = parts
  const ofItem = typeof variable === 'object' ? variable.of : undefined
  if (parts.length === 2 && typeof head === 'string' && ofItem)
    return (n) => {
      const value = ofItem(n)
      return typeof value === 'object' ? [head, ...value] : head + value
    }
  if (parts.length === 1 && typeof head === 'object' && head.of) return head.of
  return (n) => {
    const values = parts.flatMap((part) =>
      typeof part !== 'object' ? [part] : (part.of?.(n) ?? [/** @type {Part} */ (part.hole)]),
    )
    return values.every((value) => typeof value !== 'object') ? values.join('') : values
  }
}

/** The first family among a command's arguments: its key. @param {readonly Slot[]} args @param {string} where */
export const keyIn = (args, where) => {
  const at = args.findIndex((arg) => isFamily(arg) || isAll(arg))
  if (at < 0 && args.some((arg) => isMany(arg) && /** @type {any} */ (arg).many.some(isFamily)))
    throw new TypeError(`${where}: the key of a gathered command is outside of many()`)
  const slot = /** @type {any} */ (args[at])
  return { at, family: /** @type {Family | null} */ (isAll(slot) ? slot.all : (slot ?? null)) }
}

/** Text of a family for a number that each of its variables is given. @param {Family} family @param {number} i @param {string} prefix */
export const textOf = ({ parts }, i, prefix) => {
  let text = prefix
  for (const part of parts)
    text += typeof part === 'string' ? part : String((part.drawn ? undefined : part.of?.(i)) ?? i)
  return text
}

/** The numbers of a family that can be listed; null: they go by item, by the minute, or by several numbers. @param {Family} family */
export const rangeOf = ({ parts }) => {
  const variables = parts.filter((part) => typeof part === 'object')
  if (variables.length === 0) return /** @type {[number, number]} */ ([0, 1])
  if (variables.some(({ variable }) => variable === 'n' || variable === 'minute')) return null
  const ranges = new Map(variables.flatMap(({ variable, range }) => (range ? [[variable, range]] : [])))
  return ranges.size === 1 ? [...ranges.values()][0] : null
}

/**
 * All keys of a family, of those that move with time the one of the tick.
 * @param {Family} family
 * @param {string} prefix
 * @returns {Key[]}
 */
const keysIn = (family, prefix) => {
  const range = rangeOf(family)
  if (range)
    return Array.from({ length: range[1] - range[0] }, (_, i) => textOf(family, range[0] + i, prefix))
  const { of, constant } = argumentOf(family, { prefix, shaOf: () => '' })
  if (of) throw new TypeError(`${family.pattern}: keys of an item cannot be listed`)
  return [/** @type {Key} */ (constant)]
}

/**
 * The first item from n on that goes into the key.
 * @param {Family} family
 * @param {Key} key
 * @param {number} n
 * @param {string} prefix
 */
const itemIn = (family, key, n, prefix) => {
  const [from, to] = rangeOf(family) ?? [0, 1]
  for (let i = n; i < n + to - from; i++) if (textOf(family, i, prefix) === key) return i
  return n
}

/** @param {readonly Family[]} families @param {string} prefix @returns {string[]} */
export const listedKeys = (families, prefix) =>
  families.flatMap((family) => /** @type {string[]} */ (keysIn(family, prefix)))

/**
 * @param {Command} command
 * @param {Binding} binding
 * @param {string} where
 */
const argsOf = ({ name, args }, binding, where) => {
  const { at, family } = keyIn(args, where)
  const slots = args.map((slot, i) => {
    const list = /** @type {Argument[]} */ (isMany(slot) ? /** @type {any} */ (slot).many : [slot])
    return {
      isKey: i === at,
      count: isCount(slot) ? /** @type {Variable} */ (slot) : null,
      many: isMany(slot),
      list,
      of: list.map((argument) => argumentOf(argument, binding)),
    }
  })
  return { name, at, family, slots }
}

/**
 * A command an item as bytes; nothing where a text of the item is in it.
 * @param {Command} command
 * @param {Binding} binding
 * @returns {Partial<EachBytes>}
 */
const eachBytes = ({ name, args }, binding) => {
  const templateFor = templatesOf(
    name,
    args.map((slot) => partsOfArgument(/** @type {Atom} */ (slot), binding)),
  )
  return templateFor
    ? {
        size: (n) => templateFor(n).size,
        put: (n, out, at, values, note) => putTemplate(templateFor(n), n, out, at, values, note),
      }
    : {}
}

/**
 * A gathered command as bytes; nothing where a text of the item is repeated in it.
 * @param {ReturnType<typeof argsOf>} command
 * @param {Binding} binding
 * @returns {Partial<GatherBytes>}
 */
const gatherBytes = ({ name, slots }, binding) => {
  const pieces = slots.map(({ isKey, count, many, of, list }) => ({
    templateFor: many
      ? templatesOf(
          null,
          list.map((argument) => partsOfArgument(argument, binding)),
        )
      : null,
    repeated: many ? of.length : 0,
    value: (/** @type {number} */ items, /** @type {Key} */ key) =>
      isKey ? key : count ? items * (count.times ?? 1) + (count.plus ?? 0) : of[0].constant,
  }))
  if (pieces.some(({ repeated, templateFor }) => repeated > 0 && templateFor === null)) return {}
  const { size, put } = gatheredBytes(name, pieces)
  return {
    size: (key, ns) => size(ns, ns.length, key),
    put: (key, ns, out, at, values, note) => put(ns, ns.length, key, out, at, values, note),
  }
}

/** @param {Command} command @param {Repeat} repeat @param {Binding} binding @param {string} where @returns {Step} */
const stepOf = (command, repeat, binding, where) => {
  const { name, at, family, slots } = argsOf(command, binding, `${where}: ${command.name}`)
  const { counts, number } = command
  const options = {
    ...{ name, keyAt: at + 1, repeatable: (command.repeat ?? repeat) !== 'never' },
    ...(counts && { counts }),
    ...(number && { number }),
  }
  if (command.kind === 'each') {
    const makers = slots.map(({ of: [one] }) => one)
    const { of: ofKey, constant: onlyKey } = makers[at] ?? { of: null, constant: name }
    return eachStep(
      (n) => {
        const args = /** @type {Encoded[]} */ ([name])
        for (const { of, constant } of makers) args.push(of ? of(n) : constant)
        return args
      },
      { ...options, key: ofKey ?? (() => onlyKey), ...eachBytes(command, binding) },
    )
  }
  if (family === null) throw new TypeError(`${where}: ${name} has no key`)
  /** @param {Key} key @param {number[]} ns */
  const args = (key, ns) => {
    const out = /** @type {Encoded[]} */ ([name])
    for (const { isKey, count, many, of } of slots) {
      if (isKey) out.push(key)
      else if (count) out.push(ns.length * (count.times ?? 1) + (count.plus ?? 0))
      else if (!many) out.push(of[0].constant)
      else for (const n of ns) for (const one of of) out.push(one.of ? one.of(n) : one.constant)
    }
    return out
  }
  if (command.kind === 'gather') {
    const { of, constant } = argumentOf(family, binding)
    const key = /** @type {(n: number) => Key} */ (of ?? (() => constant))
    return gatherStep(command.max ?? 0, key, args, {
      ...options,
      ...gatherBytes({ name, at, family, slots }, binding),
    })
  }
  const { everyMs, paced } = command
  const keyed = (/** @type {Key} */ key, /** @type {number} */ n) =>
    args(key, [itemIn(family, key, n, binding.prefix)])
  return once(keysIn(family, binding.prefix), keyed, { ...options, everyMs, paced })
}

/**
 * The commands of an operation.
 * @param {Declaration} declared
 * @param {string} operation
 * @param {any} terms
 * @param {Binding} binding
 * @returns {Step[]}
 */
export const boundStepsOf = (declared, operation, terms, binding) => {
  const commands = declared.operations(terms, declared.keys(terms))[operation]
  if (!commands) throw new TypeError(`${declared.name}: no operation ${operation}`)
  return commands.map((command) => stepOf(command, declared.repeat, binding, declared.name))
}

/**
 * How acknowledged items are looked for; null where they cannot be.
 * @param {Declaration} declared
 * @param {any} terms
 * @param {Binding} binding
 */
export const checksOf = (declared, terms, binding) => {
  const checks = declared.check?.(terms, declared.keys(terms)) ?? null
  return (
    checks?.map(({ check, name, args, most = 0 }) => {
      const { family } = keyIn(args, declared.name)
      const index = {
        /** Seconds that its key lives after a write; null: for ever. */
        lifetimeS: family?.lifetimeS ?? null,
        /** Its key is that of the minute in which the item was written. */
        byMinute:
          family?.parts.some((part) => typeof part === 'object' && part.variable === 'minute') ?? false,
      }
      const list =
        check === 'listed' && family ? { key: listedKeys([family], binding.prefix)[0], most } : null
      const step =
        check === 'id' || check === 'listed'
          ? null
          : stepOf({ kind: 'gather', name, args, everyMs: 0 }, 'safe', binding, declared.name)
      return { check, ...index, list, step: /** @type {GatherStep | null} */ (step) }
    }) ?? null
  )
}
