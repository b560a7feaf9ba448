// How long what was begun is kept when its chunk's next tick is due: not at all where a server is slower than the
// rate, but as long as --max-behind allows where the cluster changed or a server paused, for that is caught up with.

/** Longer without an answer, and a server pauses. */
export const pausedMs = 250

/**
 * Whether a tick is of the same part of an interval as a later one; where items are drawn, at least an interval before.
 * @param {import('./connection.js').Tick} older
 * @param {import('./connection.js').Tick} tick
 * @param {number} chunks of an interval
 */
export const isOvertaken = (older, tick, chunks) =>
  older.chunk === tick.chunk && (tick.items === null || older.index <= tick.index - chunks)

/** @param {{ plan: { maxBehindMs: number }, clock: () => number }} needs */
export const patienceOf = ({ plan, clock }) => {
  let disturbedMs = Number.NEGATIVE_INFINITY
  return {
    /** A server paused, or slots or connections changed hands. */
    disturbed: () => {
      disturbedMs = clock()
    },
    /** What was due earlier is given up. */
    giveUpBefore: () => {
      const now = clock()
      const deadline = now - plan.maxBehindMs
      return disturbedMs > deadline ? deadline : now
    },
  }
}
