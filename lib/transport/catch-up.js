// How long a tick that is due may wait for room at the servers: about an interval where they are slower than the rate,
// but as long as --max-behind allows where the cluster changed or a server paused, for that is caught up with.

/** Longer without an answer, and a server pauses. */
export const pausedMs = 250

/** @param {{ plan: { maxBehindMs: number, chunks: number, spacingMs: number }, clock: () => number }} needs */
export const catchUpOf = ({ plan, clock }) => {
  let disturbedMs = Number.NEGATIVE_INFINITY
  // A pause must have been noticed before a tick of a short interval is dropped for it.
  const usualMs = Math.min(plan.maxBehindMs, Math.max(plan.chunks * plan.spacingMs, 2 * pausedMs))
  return {
    /** A server paused, or slots or connections changed hands. */
    disturbed: () => {
      disturbedMs = clock()
    },
    /** Asked while some tick waits. @param {boolean} isDisturbed now */
    limitMs: (isDisturbed) => {
      if (isDisturbed) disturbedMs = clock()
      return disturbedMs > clock() - plan.maxBehindMs ? plan.maxBehindMs : usualMs
    },
  }
}
