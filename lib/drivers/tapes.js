// The tapes of a plan: one for each step of each chunk, kept as far as memory allows.

import { chunkRange } from '../plan/ranges.js'
import { tickValues } from '../plan/tick-values.js'
import { batchOf } from './batch.js'
import { estimateBytes, tapeOf } from './tape.js'

/**
 * @typedef {import('../plan/plan.js').Plan} Plan
 * @typedef {import('../strategies/declare.js').Step} Step
 * @typedef {import('./tape.js').Tape} Tape
 */

/** Above this the tapes' commands are encoded as they are sent: 0.5 us an item more, and no memory. */
export const ceilingBytes = 256 << 20

/** The chunk's place among all chunks of all agents. @param {Plan} plan @param {number} agentIndex @param {number} k */
export const chunkId = (plan, agentIndex, k) => agentIndex * plan.chunks + k

/**
 * @param {Plan} plan
 * @param {Step[]} steps
 * @param {{ keep?: boolean, onEncoding?: (share: number) => void }} [options]
 */
export const tapesOf = async (plan, steps, { keep = true, onEncoding } = {}) => {
  const values = tickValues(0, 0)
  for (const name of /** @type {const} */ (['score', 'stamp', 'floor', 'since']))
    values[name] = '0'.repeat(13)
  values.minute = '0'.repeat(8)
  /** @type {Tape[][]} */
  const byChunk = []
  let bytes = 0
  if (!plan.once) {
    for (const [a, share] of plan.agents.entries()) {
      for (let k = 0; k < plan.chunks; k++) {
        const range = chunkRange(share, plan.chunks, k)
        byChunk[chunkId(plan, a, k)] = steps.map((step) => {
          const batch = batchOf(step, range, { cluster: plan.cluster, values })
          const size = estimateBytes(batch)
          const kept = keep && step.kind !== 'once' && bytes + size <= ceilingBytes
          if (kept) bytes += size
          return tapeOf(batch, values, kept)
        })
        onEncoding?.((a * plan.chunks + k + 1) / (plan.agents.length * plan.chunks))
        // Encoding a long plan must not keep timers and signals waiting.
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
  }
  return {
    bytes,
    /** @param {number} chunk @returns {Tape[]} */
    of: (chunk) => byChunk[chunk],
    /**
     * Tapes for items that are written only this once.
     * @param {import('../plan/ranges.js').Range} range
     * @param {import('../wire/encode.js').TickValues} at
     */
    fresh: (range, at) =>
      steps.map((step) => tapeOf(batchOf(step, range, { cluster: plan.cluster, values: at }), at, false)),
  }
}
