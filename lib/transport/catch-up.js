// How long a due tick may wait for room: about an interval, or --max-behind after a change of the cluster or a pause.

/** A server that does not answer for longer pauses. */
export const pausedMs = 250

/** @param {{ plan: { maxBehindMs: number, chunks: number, spacingMs: number }, clock: () => number }} needs */
export const catchUpOf = ({ plan, clock }) => {
  let disturbedMs = Number.NEGATIVE_INFINITY
  // A pause must be noticed before a tick of a short interval is dropped because of it, and a core that others took comes back.
  const usualMs = Math.min(plan.maxBehindMs, Math.max(plan.chunks * plan.spacingMs, 4 * pausedMs))
  return {
    /** A server paused, or slots or connections changed hands. */
    disturbed: () => {
      disturbedMs = clock()
    },
    /** Call while a tick waits. @param {boolean} isDisturbed now */
    limitMs: (isDisturbed) => {
      if (isDisturbed) disturbedMs = clock()
      return disturbedMs > clock() - plan.maxBehindMs ? plan.maxBehindMs : usualMs
    },
  }
}
