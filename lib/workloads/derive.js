// Facts about a strategy that follow from its key families and commands alone.

import { claimedTwice } from '../base/claims.js'
import { exactly } from '../base/typed.js'
import { slotCount, slotOf } from '../wire/slot.js'
import { slotsUsed } from '../wire/slot-tables.js'
import { isScript, keyIn, listedKeys, rangeOf, textOf } from './bind/arguments.js'

/** @import { Command, Declaration, Family, Fields, Keys, Script, Slot } from './declare.js' */

/** @param {Keys} keys @returns {Family[]} */
export const familiesOf = (keys) => Object.values(keys).flat()

/**
 * Keys with two meanings, a line each: two families of a strategy have one pattern, or of two workloads, unless one says that
 * they are the other's.
 * @param {readonly { name: string, workload: string, families: readonly Family[] }[]} strategies
 */
export const keyFaults = (strategies) => [
  ...strategies.flatMap(({ name, families }) =>
    claimedTwice(
      `key pattern of ${name}`,
      families.map(({ pattern, type }) => [pattern, type]),
    ),
  ),
  ...claimedTwice('key pattern', [
    ...new Map(
      strategies.flatMap(({ workload, families }) =>
        families.map(({ pattern, owner = workload }) => [`${pattern} ${owner}`, exactly([pattern, owner])]),
      ),
    ).values(),
  ]),
]

/** @param {Family} family @param {string} variable */
const varies = ({ parts }, variable) =>
  parts.some((part) => typeof part === 'object' && part.variable === variable)

/** @param {Family} family */
const isNumbered = ({ parts }) => parts.some((part) => typeof part === 'object')

// Keys of a minute live three more.
const minutesKept = 5
// More keys than this are evenly distributed, and their slots need not be counted.
const mostPlaced = 1024

/** How many keys a family has when it is full. @param {Family} family */
const keysOf = (family) => {
  const range = rangeOf(family)
  return range ? Math.max(range[1] - range[0], family.keys) : family.keys
}

/** @param {Family} family */
const bytesOf = (family) => keysOf(family) * family.bytes + family.holds * family.bytesAnItem

/**
 * Bytes of data on each master when the families are full.
 * @param {Declaration} declared
 * @param {Fields} planFields
 * @param {{ masters: readonly string[], owners: Uint16Array | null }} topology
 * @param {number} slotTable bytes that a server takes for each slot that holds a key
 */
export const forecastOf = (declared, planFields, { masters, owners }, slotTable) => {
  const perMaster = masters.map(() => 0)
  /** @type {Set<number>} */
  const placed = new Set()
  let anywhere = 0
  const place = (/** @type {string} */ key, /** @type {number} */ bytes) => {
    const slot = slotOf(key)
    placed.add(slot)
    perMaster[owners ? owners[slot] : 0] += bytes
  }
  for (const family of familiesOf(declared.keys(planFields))) {
    const range = rangeOf(family)
    const keys = keysOf(family)
    const bytes = bytesOf(family)
    const tags = tagsIn(family, planFields.prefix)
    if (range && keys <= mostPlaced)
      for (const key of listedKeys([family], planFields.prefix)) place(key, bytes / keys)
    else if (tags) for (const tag of tags) place(tag, bytes / tags.length)
    // The slot of a minute's key is another one each minute, so any master may get it.
    else {
      if (!varies(family, 'minute')) anywhere += keys
      for (const i of perMaster.keys())
        perMaster[i] += varies(family, 'minute') ? bytes : bytes / masters.length
    }
  }
  if (!owners || slotTable === 0) return perMaster
  const slots = new Float64Array(masters.length)
  for (const owner of owners) slots[owner]++
  for (const slot of placed) perMaster[owners[slot]] += slotTable
  return perMaster.map((bytes, i) => bytes + slotTable * slotsUsed(slots[i], anywhere))
}

/** Slots that the strategy's keys fall into, where they are not few, when it holds so many items. @param {Declaration} declared @param {Fields} planFields @param {number} items */
export const slotsOf = (declared, planFields, items) => {
  const families = familiesOf(declared.keys(planFields)).filter(
    (family) => !tagsIn(family, planFields.prefix),
  )
  const keys = families.map((family) => {
    if (varies(family, 'n')) return items
    const range = rangeOf(family)
    return range ? range[1] - range[0] : 0
  })
  return Math.round(slotsUsed(slotCount, Math.max(0, ...keys)))
}

/** @type {Record<string, string>} */
const countedBy = {
  zset: 'ZCARD',
  list: 'LLEN',
  stream: 'XLEN',
  hash: 'HLEN',
  set: 'SCARD',
}

/** Families with a key for each item. @param {Family} family */
const isOfItem = (family) => varies(family, 'n') && !varies(family, 'minute')

/** Whether the number of its keys is unknown and may be large. @param {Family} family @param {number} quantity */
const isUncounted = (family, quantity) => {
  if (isOfItem(family)) return false
  const range = rangeOf(family)
  if (range === null) return !isMinutely(family)
  const isDrawn = family.parts.some((part) => typeof part === 'object' && part.drawn)
  return isDrawn && (range[1] - range[0]) * uncountedShare > quantity
}

/** Families with a key for each minute. @param {Family} family */
const isMinutely = ({ parts }) =>
  parts.every((part) => typeof part === 'string' || part.variable === 'minute') && parts.length > 1

// Fewer keys than one for so many items do not matter.
const uncountedShare = 100

// Commands that may remove a key.
const removing = new Set(
  (
    'DEL UNLINK GETDEL RENAME RENAMENX MOVE LPOP RPOP LMOVE RPOPLPUSH LREM SPOP SMOVE SREM ZPOPMIN ZPOPMAX ZREM ' +
    'HDEL HGETDEL'
  ).split(' '),
)

/** Whether items' own keys are removed by the commands themselves, so that fewer are left than were written. @param {readonly Command[]} commands */
export const removesItemKeys = (commands) =>
  commands.some(({ name, args }) => {
    const { family } = removing.has(name) ? keyIn(args, name) : { family: null }
    return Boolean(family && varies(family, 'n'))
  })

/**
 * The keys that gather items, with the commands that count them, and what else there is to know before an item's memory
 * is known.
 * @param {Declaration} declared
 * @param {Fields & { quantity?: number }} planFields counters have no number of items
 * @param {readonly Command[]} stored
 */
export const holdersOf = (declared, planFields, stored) => {
  const families = familiesOf(declared.keys(planFields))
  const holders = families.filter(
    (family) => family.holds > 0 && family.type in countedBy && (rangeOf(family) || isMinutely(family)),
  )
  const minutes = families.filter((family) => varies(family, 'minute'))
  const own = families.filter(isOfItem)
  const keysAnItem = own.length
  const most = Math.max(...(keysAnItem > 0 ? own.map(({ keys }) => keys) : holders.map(({ holds }) => holds)))
  const isRemoving = keysAnItem > 1 && removesItemKeys(stored)
  const isCertain =
    !isRemoving && !families.some((family) => isUncounted(family, Number(planFields.quantity)))
  return {
    /** How items are counted: by their own keys, or by what gathers them; null: not at all. */
    countedBy: keysAnItem > 0 && isCertain ? 'keys' : holders.length > 0 ? 'holders' : null,
    keysAnItem,
    /** Whether a key may be an item's own, by its name. @param {string} key */
    isItem: (key) =>
      own.some(({ parts: [head] }) =>
        key.startsWith(planFields.prefix + (typeof head === 'string' ? head : '')),
      ),
    /** Items that are there at once, at most, and what one of them takes by the forecast; a user's own model has none. */
    most,
    bytes: declared.model ? null : families.reduce((sum, family) => sum + bytesOf(family), 0) / most,
    /** Keys of the first of these hold every item once. @param {number} minute */
    counts: (minute) =>
      holders.map((family) => ({
        command: countedBy[family.type],
        isMinutely: isMinutely(family),
        keys: rangeOf(family)
          ? listedKeys([family], planFields.prefix)
          : Array.from({ length: minutesKept }, (_, before) =>
              textOf(family, minute - before, planFields.prefix),
            ),
      })),
    /** Keys that exist once, and keys for each minute that is kept. */
    others: families
      .filter((family) => rangeOf(family))
      .reduce((sum, family) => sum + listedKeys([family], planFields.prefix).length, 0),
    aMinute: minutes.length,
    /** Seconds after which the minutes hold no more items than before. */
    minutesS: Math.max(
      0,
      ...minutes.filter(({ holds }) => holds > 0).map(({ lifetimeS }) => (lifetimeS ?? 0) + 60),
    ),
  }
}

/** Keys of an item that carry a tag of few: the place of each tag. @param {Family} family @param {string} prefix */
const tagsIn = (family, prefix) => {
  const tag = family.parts.find((part) => typeof part === 'object' && part.variable === 'tag')
  if (typeof tag !== 'object' || !tag.range) return null
  const [from, to] = tag.range
  return Array.from({ length: to - from }, (_, j) => textOf(family, from + j, prefix))
}

const canonical = /^(0|[1-9]\d{0,15})/

/**
 * The type that a key of this name has in the strategy; null: it has no such key.
 * @param {Declaration} declared
 * @param {Fields} planFields
 * @param {{ isItem: (n: number) => boolean, isMinute: (n: number) => boolean }} covers
 * @returns {(key: string) => string | null}
 */
export const typesOf = (declared, planFields, { isItem, isMinute }) => {
  const { prefix } = planFields
  /** @type {Map<string, string>} */
  const exact = new Map()
  /** @type {{ head: string, rest: RegExp, type: string }[]} */
  const shaped = []
  /** @type {{ head: string, family: Family, holds: (n: number) => boolean }[]} */
  const numbered = []
  for (const family of familiesOf(declared.keys(planFields))) {
    if (!isNumbered(family)) {
      exact.set(textOf(family, 0, prefix), family.type)
      continue
    }
    const { shape } = family
    if (shape) {
      shaped.push({ head: prefix + shape.head, rest: shape.rest, type: family.type })
      continue
    }
    const range = rangeOf(family)
    const holds = varies(family, 'n')
      ? isItem
      : range
        ? (/** @type {number} */ i) => i >= range[0] && i < range[1]
        : isMinute
    numbered.push({ head: prefix + headOf(family), family, holds })
  }
  return (key) => {
    const known = exact.get(key)
    if (known) return known
    for (const { head, rest, type } of shaped)
      if (key.startsWith(head) && rest.test(key.slice(head.length))) return type
    for (const { head, family, holds } of numbered) {
      if (!key.startsWith(head)) continue
      const digits = canonical.exec(key.slice(head.length))?.[0]
      if (digits === undefined) continue
      const i = Number(digits)
      if (holds(i) && nameOf(family, i, prefix) === key) return family.type
    }
    return null
  }
}

/** The text before the first variable of a pattern. @param {Family} family */
export const headOf = ({ parts: [first], shape }) => shape?.head ?? (typeof first === 'string' ? first : '')

/** As textOf, where a minute is the number itself. @param {Family} family @param {number} i @param {string} prefix */
const nameOf = (family, i, prefix) => textOf(family, i, prefix)

/**
 * From an id back to its item; -1 where the strategy would not name an item so.
 * @param {Family} family what ids are made of
 * @param {string} prefix
 * @returns {(bytes: Buffer, from: number, to: number) => number}
 */
export const itemNumberOf = (family, prefix) => {
  const base = Buffer.from(prefix + headOf(family))
  const tail = family.parts.slice(2)
  /** @type {Map<string, Buffer>} */
  const tails = new Map()
  const tailOf = (/** @type {number} */ n) => {
    let text = ''
    for (const part of tail) text += typeof part === 'string' ? part : part.forItem?.(n)
    const known = tails.get(text)
    if (known) return known
    const bytes = Buffer.from(text)
    tails.set(text, bytes)
    return bytes
  }
  return (bytes, from, to) => {
    let at = from + base.length
    if (at >= to || bytes[at] < 49) return -1
    for (let i = 0; i < base.length; i++) if (bytes[from + i] !== base[i]) return -1
    let n = 0
    for (; at < to && bytes[at] >= 48 && bytes[at] <= 57; at++) n = n * 10 + bytes[at] - 48
    if (!Number.isSafeInteger(n)) return -1
    if (tail.length === 0) return at === to ? n : -1
    return tailOf(n).compare(bytes, at, to) === 0 ? n : -1
  }
}

/** @typedef {{ name: string, args: readonly Slot[] }} Named a command of whatever role */

/** @param {Pick<Named, 'args'>} command @returns {Script | null} */
const scriptIn = ({ args }) => args.find(isScript) ?? null

/** The scripts of an operation that servers must have loaded, by name. @param {readonly Command[]} commands */
export const scriptsIn = (commands) => [
  ...new Set(
    commands.flatMap((command) => (scriptIn(command)?.inline ? [] : (scriptIn(command)?.script ?? []))),
  ),
]

/** The command that stores exactly one item, as commandstats names it; null: none does. @param {readonly Command[]} commands */
const countingCommand = (commands) => {
  const [first] = commands.filter(({ kind }) => kind !== 'every')
  if (!first) return null
  const name = scriptIn(first)?.counts ?? (first.kind === 'each' ? first.name : null)
  // If another command of the item runs it as well, it does not stand for an item.
  const others = commandNames(commands.filter((command) => command !== first))
  return name === null || others.has(name.toLowerCase()) ? null : name.toLowerCase()
}

/**
 * The commands of which each operation runs exactly one, as commandstats names them, of operations that are played one or the other;
 * none: they do not count operations.
 * @param {readonly (readonly Command[])[]} operations
 */
export const countingCommands = (operations) => {
  const counts = operations.map(countingCommand)
  const names = new Set(counts.flatMap((name) => name ?? []))
  const runsOne = ([...commands]) => {
    const [first] = commands.filter(({ kind }) => kind !== 'every')
    const others = commandNames(commands.filter((command) => command !== first))
    return [...names].every((name) => !others.has(name))
  }
  return counts.includes(null) || !operations.every(runsOne) ? [] : [...names]
}

/** The names that commandstats may show for the operation: its commands, and those that its scripts run. @param {readonly Named[]} commands */
export const commandNames = (commands) =>
  new Set(
    commands.flatMap((command) =>
      // Leases and plans use EVAL too.
      [...(scriptIn(command)?.inline ? [] : [command.name]), ...(scriptIn(command)?.calls ?? [])].map(
        (name) => name.toLowerCase(),
      ),
    ),
  )

const scriptCalls = /^(eval|evalsha|eval_ro|evalsha_ro|fcall|fcall_ro)$/i

/** Whether a script runs commands that are not declared. @param {readonly Command[]} commands */
export const runsUnknown = (commands) =>
  commands.some((command) => scriptCalls.test(command.name) && !scriptIn(command)?.calls.length)
