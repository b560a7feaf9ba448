// The batches of a plan: one for each step of each portion of a chunk, kept as far as memory allows.
import { chunkRange } from '../base/ranges.js'
import { exactly } from '../base/typed.js'
import { tickValues } from '../plan/tick-values.js'
import { turnsOf } from '../plan/turns.js'
import { isDrawn } from '../traffic/items.js'
import { encode, encodedSize, plainArgument } from '../wire/encode.js'
import { slotCount, slotOf } from '../wire/slot.js'
import { estimateBytes, withBytes } from './batch-bytes.js'

/**
 * @import { Range } from '../base/ranges.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { TickValues, Argument } from '../wire/encode.js'
 * @import { Step, EachStep, Key, Note } from '../workloads/bind/writer.js'
 * @import { Tick } from './send-queue.js'
 * @import { EncodedBytes } from './batch-bytes.js'
 *
 * @typedef {Batch & { part: TickPart }} TickBatch
 *
 * @typedef {{ at: number, of: number }} TickPart which of the portions of a tick that a step is sent with
 */

// A batch is what goes to a server together: the commands of one step for one range of items, as numbers (which items each
// command carries, and their order) and, where they are kept, as bytes.

/**
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
const numberAt = ({ first, items }, place) => (items ? items[place] : first + place)

const isMoving = (/** @type {Argument} */ key) =>
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
  const moving = cluster && count > 0 && isMoving(step.key(numberAt(range, 0)))
  const slotIn = (/** @type {number} */ n, /** @type {TickValues} */ at) =>
    slotOf(String(plainArgument(step.key(n), at)))
  const unsorted = cluster && !moving ? new Uint16Array(count) : null
  if (unsorted) for (let i = 0; i < count; i++) unsorted[i] = slotIn(numberAt(range, i), values)
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
    moving,
    args: (i) => step.args(numberAt(range, members[i])),
    size: (i) => step.size(numberAt(range, members[i])),
    put: (i, out, at, tick, note) => step.put(numberAt(range, members[i]), out, at, tick, note),
    slotAt: (i, at) => (slots ? slots[i] : moving ? slotIn(numberAt(range, members[i]), at) : 0),
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

// An item is stored when all of its commands are: a server slower than the rate must not get the first command of every
// item and the second of none. Commands of one step alone may have four times as many items, so that they are as full as
// those of a whole chunk.
const portionItems = 4096
// There are fewer keys than this in an interval, or its portions are larger than they need be.
const sampledItems = 4096

const whole = Object.freeze({ at: 0, of: 1 })

/** Above this the commands of batches are encoded as they are sent: 0.5 us more an item, and no memory. */
const ceilingBytes = 256 << 20

/** Items that make full commands of all of the step's keys. @param {Step} step @param {Range} range */
const fullItems = (step, range) => {
  const { count } = range
  if (step.kind !== 'gather') return 0
  const keys = new Set()
  for (let i = 0; i < Math.min(count, sampledItems); i++) keys.add(step.key(numberAt(range, i)))
  return step.max === 0 ? count : step.max * keys.size
}

/**
 * Into how many parts a chunk's items are divided, so that all steps of one part go before those of the next.
 * @param {Step[]} steps
 * @param {Range} range
 * @param {number} connections each has a portion at least
 * @param {number} items of a portion
 */
const portionsOf = (steps, range, connections, items) => {
  const least = Math.min(connections, range.count)
  return Math.max(least, fullPortions(steps, range, items))
}

/** @param {Step[]} steps @param {Range} range @param {number} items */
const fullPortions = (steps, range, items) => {
  const carriers = steps.filter(({ kind }) => kind !== 'once').length
  if (carriers === 0) return 1
  const full = Math.max(...steps.map((step) => fullItems(step, range)))
  if (carriers > 1) return Math.max(1, Math.floor(range.count / Math.max(items, full)))
  const alone = 4 * items
  return Math.max(1, Math.ceil(range.count / (full === 0 ? alone : full * Math.ceil(alone / full))))
}

/** @param {Range} range @param {number} parts @param {number} p @returns {Range} */
const partOf = (range, parts, p) => {
  const part = chunkRange(range, parts, p)
  const from = part.first - range.first
  return range.items ? { ...part, items: range.items.subarray(from, from + part.count) } : part
}

/**
 * What goes for a chunk, in its order. Steps that carry no item go once: before the first that does, or with the last
 * portion; those that are paced go with every portion, a part of them with each.
 * @param {Step[]} steps
 * @param {Range} range
 * @param {number} connections
 * @param {number} items
 * @returns {{ step: Step, range: Range, part: TickPart, connection: number }[][]} by portion
 */
const passesOf = (steps, range, connections, items) => {
  const portions = portionsOf(steps, range, connections, items)
  const lead = steps.findIndex(({ kind }) => kind !== 'once')
  return Array.from({ length: portions }, (_, p) =>
    steps
      .filter((step, s) => step.kind !== 'once' || step.paced || (s < lead ? p === 0 : p === portions - 1))
      .map((step) => ({
        step,
        range: partOf(range, portions, p),
        part: step.kind === 'once' && step.paced ? { at: p, of: portions } : whole,
        connection: Math.floor((p * connections) / portions),
      })),
  )
}

/**
 * What of a chunk is begun together: a portion of each connection.
 * @param {TickBatch[][]} portions in their order
 * @returns {TickBatch[][]}
 */
const byTurns = (portions) => {
  /** @type {TickBatch[][]} */
  const together = []
  /** @type {number[]} */
  const rounds = []
  for (const batches of portions) {
    if (batches.length === 0) continue
    const [{ connection }] = batches
    const round = rounds[connection] ?? 0
    rounds[connection] = round + 1
    together[round] ??= []
    together[round].push(...batches)
  }
  return together
}

/**
 * @param {Plan} plan
 * @param {Step[]} steps
 * @param {{ keep?: boolean, items?: number, onEncoding?: (share: number) => void }} [options] `items` of a portion
 */
export const tickBatchesOf = async (
  plan,
  steps,
  { keep = true, items: least = portionItems, onEncoding } = {},
) => {
  const values = tickValues(0, 0)
  for (const name of exactly(['score', 'stamp', 'floor'])) values[name] = '0'.repeat(13)
  values.minute = '0'.repeat(8)
  /** @type {TickBatch[][][]} */
  const byChunk = []
  let bytes = 0
  const isFresh = plan.once || isDrawn(plan)
  /** @param {Range} range @param {TickValues} at @param {(batch: Batch) => boolean} isKept */
  const batchesIn = (range, at, isKept) => {
    const portions = passesOf(steps, range, plan.connections, least).map((passes) =>
      passes.map(({ step, range: items, part, connection }) => {
        const batch = batchOf(step, items, { cluster: plan.cluster, values: at })
        return Object.assign(withBytes(batch, at, isKept(batch), connection), { part })
      }),
    )
    return byTurns(portions)
  }
  const isKept = (/** @type {Batch} */ batch) => {
    if (!keep || batch.step.kind === 'once') return false
    const size = estimateBytes(batch)
    if (bytes + size > ceilingBytes) return false
    bytes += size
    return true
  }
  if (!isFresh) {
    const { rangeOf } = turnsOf(plan)
    for (let a = 0; a < plan.agents.length; a++) {
      for (let k = 0; k < plan.chunks; k++) {
        const chunk = a * plan.chunks + k
        const range = rangeOf(a, k)
        if (range) byChunk[chunk] = batchesIn(range, values, isKept)
        onEncoding?.((chunk + 1) / (plan.agents.length * plan.chunks))
        // Encoding a long plan must not keep timers and signals waiting.
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
  }
  /** Batches for items that are written only this once. @param {Range} range @param {TickValues} at */
  const fresh = (range, at) => batchesIn(range, at, () => false)
  const carrier = steps.find(({ kind }) => kind !== 'once')
  return {
    bytes,
    fresh,
    /** @param {number} chunk */
    batchesOf: (chunk) => byChunk[chunk],
    /** What is begun of a tick together, each. @param {Tick} tick */
    portionsOf: (tick) => {
      const { chunk, items, values: at } = tick
      if (!isFresh) return byChunk[chunk]
      tick.portions ??= fresh({ first: tick.account.first, count: tick.account.count, items }, at)
      return tick.portions
    },
    /** The commands by which the items of a portion are known. @param {TickBatch[]} portion */
    carriersOf: (portion) => portion.filter(({ step }) => step === carrier),
  }
}
