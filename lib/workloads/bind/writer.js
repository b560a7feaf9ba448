// Makes what the drivers play of a declaration and the fields of a plan: steps that make a command's arguments.

import { encode, encodedSize } from '../../wire/encode.js'
import {
  argumentOf,
  isAll,
  isMany,
  isVariable,
  itemIn,
  keyIn,
  keysIn,
  listedKeys,
  partsOfArgument,
} from './arguments.js'
import { gatheredBytes, putTemplate, templatesOf } from './template.js'

/**
 * @import { Argument as Encoded, Hole, Part, TickValues } from '../../wire/encode.js'
 * @import { Argument, Atom, Command, Declaration, Fields, Repeat, Variable } from '../declare.js'
 * @import { Binding } from './arguments.js'
 *
 * @typedef {{ prefix: string }} PlanFields what a workload's strategies read; the rest is the workload's own
 */

// A bound command of an operation: what the drivers play.

/**
 * @typedef {(hole: Hole, at: number) => void} Note
 * @typedef {string | Part[]} Key
 *
 * @typedef {object} StepOptions
 * @property {string} [name] of the command; else its first argument
 * @property {number} [keyAt] which argument is the key (1)
 * @property {boolean} [repeatable] false: a command whose reply was lost must not be retried
 * @property {Readonly<Record<string, string>>} [counts] names of what is counted of its replies
 * @property {string} [number] name of the number in them
 *
 * @typedef {object} EachBytes the same command as bytes
 * @property {(n: number) => number} size
 * @property {(n: number, out: Buffer, at: number, values: TickValues, note?: Note) => number} put returns where it ends
 *
 * @typedef {object} GatherBytes
 * @property {(key: Key, ns: number[]) => number} size
 * @property {(key: Key, ns: number[], out: Buffer, at: number, values: TickValues, note?: Note) => number} put
 *
 * @typedef {StepOptions & EachBytes & { kind: 'each', args: (n: number) => Encoded[], key: (n: number) => Encoded }} EachStep
 * @typedef {StepOptions & GatherBytes & { kind: 'gather', key: (n: number) => Key, args: (key: Key, ns: number[]) => Encoded[], max: number }} GatherStep
 * @typedef {StepOptions & { kind: 'once', keys: Key[], args: (key: Key, n: number) => Encoded[], everyMs: number, paced: boolean }} OnceStep
 * @typedef {EachStep | GatherStep | OnceStep} Step
 */

/**
 * A command an item.
 * @param {(n: number) => Encoded[]} args
 * @param {StepOptions & Partial<EachBytes> & { key?: (n: number) => Encoded }} [options] key: without the other arguments
 * @returns {EachStep}
 */
export const eachStep = (args, options) => ({
  kind: 'each',
  args,
  key: (n) => args(n)[options?.keyAt ?? 1],
  size: (n) => encodedSize(args(n)),
  put: (n, out, at, values, note) => encode(args(n), out, at, values, note),
  ...options,
})

/**
 * Many items in one command, one key each, cut at `max` items (0: never).
 * @param {number} max
 * @param {(n: number) => Key} key
 * @param {(key: Key, ns: number[]) => Encoded[]} args
 * @param {StepOptions & Partial<GatherBytes>} [options]
 * @returns {GatherStep}
 */
export const gatherStep = (max, key, args, options) => ({
  kind: 'gather',
  max,
  key,
  args,
  size: (name, ns) => encodedSize(args(name, ns)),
  put: (name, ns, out, at, values, note) => encode(args(name, ns), out, at, values, note),
  ...options,
})

/**
 * A command for each key that carries no item; `n` is the first item of what it goes with. Every writer sends it at
 * each of its ticks; with `everyMs` one writer a process does, and not before so much time has passed.
 * `paced`: as many times as `everyMs` has passed since, spread over the portions of a tick, and not at the start.
 * @param {Key[]} keys
 * @param {(key: Key, n: number) => Encoded[]} args
 * @param {StepOptions & { everyMs?: number, paced?: boolean }} [options]
 * @returns {OnceStep}
 */
export const once = (keys, args, { everyMs = 0, paced = false, ...options } = {}) => ({
  kind: 'once',
  keys,
  args,
  everyMs,
  paced,
  ...options,
})

/** @param {Command} command @param {Binding} binding @param {string} where */
const argsOf = ({ name, args }, binding, where) => {
  const { at, family } = keyIn(args, where)
  const slots = args.map((slot, i) => {
    const list = isMany(slot) ? slot.many : isAll(slot) ? [slot.all] : [slot]
    return {
      isKey: i === at,
      count: isVariable(slot) && slot.variable === 'count' ? slot : null,
      many: isMany(slot),
      list,
      encoders: list.map((argument) => argumentOf(argument, binding)),
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
  const pieces = slots.map(({ isKey, count, many, encoders, list }) => ({
    templateFor: many
      ? templatesOf(
          null,
          list.map((argument) => partsOfArgument(argument, binding)),
        )
      : null,
    repeated: many ? encoders.length : 0,
    value: (/** @type {number} */ items, /** @type {Key} */ key) =>
      isKey ? key : count ? items * (count.times ?? 1) + (count.plus ?? 0) : encoders[0].constant,
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
    name,
    keyAt: at + 1,
    repeatable: (command.repeat ?? repeat) !== 'never',
    ...(counts && { counts }),
    ...(number && { number }),
  }
  if (command.kind === 'each') {
    const makers = slots.map(({ encoders: [one] }) => one)
    const { forItem: ofKey, constant: onlyKey } = makers[at] ?? { forItem: null, constant: name }
    return eachStep(
      (n) => {
        /** @type {Encoded[]} */
        const args = [name]
        for (const { forItem, constant } of makers) args.push(forItem ? forItem(n) : constant)
        return args
      },
      { ...options, key: ofKey ?? (() => onlyKey), ...eachBytes(command, binding) },
    )
  }
  if (family === null) throw new TypeError(`${where}: ${name} has no key`)
  /** @param {Key} key @param {number[]} ns */
  const args = (key, ns) => {
    /** @type {Encoded[]} */
    const out = [name]
    for (const { isKey, count, many, encoders } of slots) {
      if (isKey) out.push(key)
      else if (count) out.push(ns.length * (count.times ?? 1) + (count.plus ?? 0))
      else if (!many) out.push(encoders[0].constant)
      else
        for (const n of ns) for (const one of encoders) out.push(one.forItem ? one.forItem(n) : one.constant)
    }
    return out
  }
  if (command.kind === 'gather') {
    const { forItem, constant } = argumentOf(family, binding)
    const key = /** @type {(n: number) => Key} */ (forItem ?? (() => constant))
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
 * @param {Fields} planFields
 * @param {Binding} binding
 * @returns {Step[]}
 */
export const boundStepsOf = (declared, operation, planFields, binding) => {
  const commands = declared.operations(planFields, declared.keys(planFields))[operation]
  if (!commands) throw new TypeError(`${declared.name}: no operation ${operation}`)
  return commands.map((command) => stepOf(command, declared.repeat, binding, declared.name))
}

/**
 * How acknowledged items are checked; null where they cannot be.
 * @param {Declaration} declared
 * @param {Fields} planFields
 * @param {Binding} binding
 */
export const checksOf = (declared, planFields, binding) => {
  const checks = declared.check?.items(planFields, declared.keys(planFields)) ?? null
  return (
    checks?.map(({ check, name, args, most = 0, dated = false }) => {
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
      return { check, dated, ...index, list, step: /** @type {GatherStep | null} */ (step) }
    }) ?? null
  )
}
