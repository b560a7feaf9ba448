// The batches of a plan: one for each step of each portion of a chunk, kept as far as memory allows.

import { chunkRange } from '../base/ranges.js'
import { exactly } from '../base/typed.js'
import { tickValues } from '../plan/tick-values.js'
import { isDrawn } from '../traffic/items.js'
import { batchOf, numberAt } from './batch.js'
import { estimateBytes, withBytes } from './batch-bytes.js'

/**
 * @import { Range } from '../base/ranges.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { TickValues } from '../wire/encode.js'
 * @import { Step } from '../workloads/step.js'
 * @import { Tick } from './tick-entry.js'
 * @import { Batch } from './batch.js'
 *
 * @typedef {Batch & { part: TickPart }} TickBatch
 *
 * @typedef {{ at: number, of: number }} TickPart which of the portions of a tick that a step is sent with
 */

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
    for (const [a, range] of plan.agents.entries()) {
      for (let k = 0; k < plan.chunks; k++) {
        const chunk = a * plan.chunks + k
        byChunk[chunk] = batchesIn(chunkRange(range, plan.chunks, k), values, isKept)
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
