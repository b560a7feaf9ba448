// Makes what a reader asks of a declaration and the fields of a plan: the commands of a fetch, for each of its keys at a
// moment.
import { certain } from '../../base/typed.js'
import { argumentParts, isAll, keyIn, listedKeys, rangeOf, textOfParts } from './arguments.js'

/**
 * @import { Binding } from './arguments.js'
 * @import { Ask, Declaration, Family, Fetch, Fields, Shape, Slot, Variable } from '../declare.js'
 *
 * @typedef {object} BoundAsk
 * @property {'ids' | 'number' | 'newest'} kind
 * @property {string} name of its number
 * @property {string} key
 * @property {string[]} args
 * @property {Shape} shape
 *
 * @typedef {Omit<Fetch, 'asks'> & { asks: (moment: { nowMs: number }) => BoundAsk[], command: string }} Reader
 *   `command`: the one that brings the values, as commandstats names it
 */

/** What a variable is worth to a fetch. @param {Variable} variable @param {{ oldestMs: number, nowMs: number }} at */
const atFetch = ({ variable, shift = 0 }, { oldestMs, nowMs }) => {
  if (variable === 'oldest') return String(oldestMs)
  if (variable === 'minute') return String(Math.floor(nowMs / 60_000) - shift)
  throw new TypeError(`a fetch knows no ${variable}`)
}

/**
 * @param {readonly Slot[]} args
 * @param {{ key: string, at: { oldestMs: number, nowMs: number }, binding: Binding }} known
 */
const askArgs = (args, { key, at, binding }) => {
  const keyAt = keyIn(args, '').at
  return args.flatMap((slot, i) => {
    if (isAll(slot)) return listedKeys([slot.all], binding.prefix)
    if (i === keyAt) return [key]
    return [textOfParts(argumentParts(slot, binding), (variable) => atFetch(variable, at))]
  })
}

/** The keys of a family when a fetch begins. @param {Family} family @param {{ oldestMs: number, nowMs: number }} at @param {string} prefix */
const keysAtFetch = (family, at, prefix) => {
  if (rangeOf(family)) return listedKeys([family], prefix)
  return [prefix + textOfParts(family.parts, (variable) => atFetch(variable, at))]
}

/**
 * A structure's commands at a moment, for each of its keys.
 * @param {{ name: string, args: readonly Slot[], keys?: number }} command
 * @param {{ oldestMs: number, nowMs: number }} at
 * @param {Binding} binding
 */
export const commandsAt = ({ name, args, keys }, at, binding) => {
  const family = certain(keyIn(args, name).family)
  const slot = args[keyIn(args, name).at]
  const all = keysAtFetch(family, at, binding.prefix)
  const chosen = isAll(slot) ? all.slice(0, 1) : all.slice(0, keys ?? all.length)
  return chosen.map((key) => ({ key, args: [name, ...askArgs(args, { key, at, binding })] }))
}

/** The commands of each key together: its length, then its members. @param {readonly Ask[]} asks */
const byFamily = (asks) => {
  /** @type {Ask[][]} */
  const groups = []
  for (const ask of asks) {
    const last = groups.at(-1)
    const same = last && keyIn(last[0].args, '').family === keyIn(ask.args, '').family
    if (last && same) last.push(ask)
    else groups.push([ask])
  }
  return groups
}

/** When the oldest item alive was written, by the time: 0 where items do not expire. @param {Fields} planFields @returns {(nowMs: number) => number} */
export const oldestIn = (planFields) => ('oldestMs' in planFields ? planFields.oldestMs : () => 0)

/** @param {Declaration} declared @param {Fields} planFields @param {Binding} binding @returns {Reader} */
export const readerOf = (declared, planFields, binding) => {
  if (!declared.read) throw new TypeError(`${declared.name} has no fetch`)
  const { asks, ...rest } = declared.read.fetch(planFields, declared.keys(planFields))
  const groups = byFamily(asks)
  const oldestMs = oldestIn(planFields)
  const ids = asks.find(({ ask }) => ask === 'ids')
  return {
    ...rest,
    command: (rest.value?.name ?? ids?.name ?? '').toLowerCase(),
    asks({ nowMs }) {
      const at = { nowMs, oldestMs: oldestMs(nowMs) }
      return groups.flatMap((group) => {
        const rows = group.map((ask) => commandsAt(ask, at, binding))
        return rows[0].flatMap((_, i) =>
          group.map((ask, g) => ({
            kind: ask.ask,
            name: ask.number ?? '',
            key: rows[g][i].key,
            args: rows[g][i].args,
            shape: /** @type {Shape} */ (ask.shape),
          })),
        )
      })
    },
  }
}
