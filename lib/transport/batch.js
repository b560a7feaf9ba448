// A batch is what goes to a server together: the commands of one step for one range of items, as numbers (which items each
// command carries, and their order) and, where they are kept, as bytes.
import { encode, encodedSize, plainArgument } from '../wire/encode.js'
import { slotCount, slotOf } from '../wire/slot.js'

/**
 * @import { Range } from '../base/ranges.js'
 * @import { Argument, TickValues } from '../wire/encode.js'
 * @import { EachStep, Key, Note, Step } from '../workloads/step.js'
 * @import { EncodedBytes } from './batch-bytes.js'
 *
 * @typedef {object} Batch
 * @property {Step} step
 * @property {number} first the range's first item; members count from it
 * @property {number} count commands
 * @property {Uint32Array} members every command's items, one command after the other
 * @property {Uint32Array} from where each command's items begin in members; one more than commands
 * @property {boolean} inOrder each item is in its own place of members
 * @property {Uint16Array | null} slots ascending; null where there is one server, or the keys move with time
 * @property {boolean} moving its keys hold the minute, so its slots change with it
 * @property {(i: number) => Argument[]} args
 * @property {(i: number) => number} size bytes of command i
 * @property {(i: number, out: Buffer, at: number, values: TickValues, note?: Note) => number} put
 *   writes command i and returns where it ends
 * @property {(i: number, values: TickValues) => number} slotAt
 * @property {EncodedBytes | null} encodedBytes null: they are not kept
 * @property {number} connection by which of those to its server it goes
 */

/** The item in a place of a range. @param {Range} range @param {number} place */
export const numberAt = ({ first, items }, place) => (items ? items[place] : first + place)

const isMoving = (/** @type {Key} */ key) =>
  Array.isArray(key) && key.some((part) => typeof part === 'object')

/** The places 0..n-1 in the order of their slots (a counting sort: 16,384 slots, many items). @param {Uint16Array} slots */
const bySlot = (slots) => {
  const starts = new Uint32Array(slotCount + 1)
  for (const slot of slots) starts[slot + 1]++
  for (let s = 0; s < slotCount; s++) starts[s + 1] += starts[s]
  const order = new Uint32Array(slots.length)
  for (let i = 0; i < slots.length; i++) order[starts[slots[i]]++] = i
  return order
}

/** Into how many commands so many items are divided; `max` 0 means one. */
const pieces = (/** @type {number} */ total, /** @type {number} */ max) =>
  max === 0 ? 1 : Math.max(1, Math.ceil(total / max))

/** @param {Exclude<Step, { kind: 'each' }>} step @param {Range} range @returns {[Key, number[]][]} */
const groupsOf = (step, range) => {
  const { count } = range
  if (step.kind === 'once') return step.keys.map((key) => [key, []])
  /** @type {Map<Key, number[]>} */
  const groups = new Map()
  /** @type {Key | null} */
  let last = null
  /** @type {number[]} */
  let group = []
  for (let i = 0; i < count; i++) {
    const key = step.key(numberAt(range, i))
    if (key !== last) {
      last = key
      group = groups.get(key) ?? []
      if (group.length === 0) groups.set(key, group)
    }
    group.push(i)
  }
  return [...groups]
}

/** @param {[Key, number[]][]} groups @param {TickValues} values */
const inSlotOrder = (groups, values) =>
  groups
    .map((group) => ({ group, slot: slotOf(String(plainArgument(group[0], values))) }))
    .sort((a, b) => a.slot - b.slot)
    .map(({ group }) => group)

/** @param {EachStep} step @param {Range} range @param {boolean} cluster @param {TickValues} values @returns {Batch} */
const eachBatch = (step, range, cluster, values) => {
  const { first, count } = range
  const from = new Uint32Array(count + 1)
  for (let i = 0; i <= count; i++) from[i] = i
  const unsorted = cluster ? new Uint16Array(count) : null
  if (unsorted) {
    for (let i = 0; i < count; i++)
      unsorted[i] = slotOf(String(plainArgument(step.key(numberAt(range, i)), values)))
  }
  const members = unsorted ? bySlot(unsorted) : from.slice(0, count)
  const slots = unsorted ? unsorted.map((_, i) => unsorted[members[i]]) : null
  return {
    step,
    first,
    count,
    members,
    from,
    inOrder: unsorted === null,
    slots,
    moving: false,
    args: (i) => step.args(numberAt(range, members[i])),
    size: (i) => step.size(numberAt(range, members[i])),
    put: (i, out, at, tick, note) => step.put(numberAt(range, members[i]), out, at, tick, note),
    slotAt: (i) => (slots ? slots[i] : 0),
    encodedBytes: null,
    connection: 0,
  }
}

/**
 * @param {Exclude<Step, { kind: 'each' }>} step
 * @param {Range} range
 * @param {boolean} cluster
 * @param {TickValues} values
 * @returns {Batch}
 */
const keyedBatch = (step, range, cluster, values) => {
  const { first } = range
  const groups = groupsOf(step, range)
  const moving = groups.some(([key]) => isMoving(key))
  /** @type {Key[]} */
  const keys = []
  const starts = [0]
  const members = new Uint32Array(step.kind === 'once' ? 0 : range.count)
  let filled = 0
  for (const [key, group] of cluster && !moving ? inSlotOrder(groups, values) : groups) {
    const cuts = step.kind === 'once' ? 1 : pieces(group.length, step.max)
    for (let k = 0; k < cuts; k++) {
      // Even parts: 1,001 members with at most 1,000 a command go as 501 and 500.
      const part = group.slice(
        Math.floor((k * group.length) / cuts),
        Math.floor(((k + 1) * group.length) / cuts),
      )
      members.set(part, filled)
      filled += part.length
      keys.push(key)
      starts.push(filled)
    }
  }
  const from = Uint32Array.from(starts)
  const itemsOf = (/** @type {number} */ i) => {
    /** @type {number[]} */
    const ns = []
    for (let m = from[i]; m < from[i + 1]; m++) ns.push(numberAt(range, members[m]))
    return ns
  }
  const args = (/** @type {number} */ i) =>
    step.kind === 'once' ? step.args(keys[i], first) : step.args(keys[i], itemsOf(i))
  /** @type {Pick<Batch, 'size' | 'put'>} */
  const bytes =
    step.kind === 'once'
      ? {
          size: (i) => encodedSize(args(i)),
          put: (i, out, at, tick, note) => encode(args(i), out, at, tick, note),
        }
      : {
          size: (i) => step.size(keys[i], itemsOf(i)),
          put: (i, out, at, tick, note) => step.put(keys[i], itemsOf(i), out, at, tick, note),
        }
  const read = (/** @type {number} */ i, /** @type {TickValues} */ at) =>
    slotOf(String(plainArgument(keys[i], at)))
  const slots = cluster && !moving ? Uint16Array.from(keys, (_, i) => read(i, values)) : null
  const slotAt = !cluster ? () => 0 : slots ? (/** @type {number} */ i) => slots[i] : read
  const inOrder = members.every((member, place) => member === place)
  const carried = { first, count: keys.length, members, from, inOrder }
  return { step, ...carried, slots, moving, args, ...bytes, slotAt, encodedBytes: null, connection: 0 }
}

/** @param {Step} step @param {Range} range @param {{ cluster: boolean, values: TickValues }} options @returns {Batch} */
export const batchOf = (step, range, { cluster, values }) =>
  step.kind === 'each' ? eachBatch(step, range, cluster, values) : keyedBatch(step, range, cluster, values)
