// The control server's clock on a box: by the box's monotonic clock, so that nothing jumps when the box's own clock is set.

const firstSamples = 16
const laterSamples = 4
// Oscillators drift by 0.1 s an hour, so older measurements are less certain.
const driftMs = 0.3
// A clock with a larger uncertainty, in ms, cannot align ticks that are close together.
const uncertainMs = 5

/** The box's own clock. `Date.now()` is cut to the millisecond; what the process began with is not, until the clock is set. */
const ownClock = () => {
  const preciseMs = performance.timeOrigin + performance.now()
  const middleMs = Date.now() + 0.5
  return Math.abs(middleMs - preciseMs) < 1 ? preciseMs : middleMs
}

/**
 * @param {object} needs
 * @param {() => Promise<number>} needs.time epoch milliseconds by the control
 * @param {() => number} needs.clock monotonic milliseconds
 * @param {() => number} [needs.wall] the box's own clock
 */
export const fleetClock = ({ time, clock, wall = ownClock }) => {
  /** @type {{ zeroMs: number, rttMs: number } | null} zeroMs: the control's epoch at the zero of our clock */
  let best = null
  const measure = async (/** @type {number} */ samples) => {
    for (let i = 0; i < samples; i++) {
      const sentMs = clock()
      const theirsMs = await time()
      const rttMs = clock() - sentMs
      // The answer was written in the middle of the round trip, plus or minus half of it.
      if (!best || rttMs < best.rttMs) best = { zeroMs: theirsMs - sentMs - rttMs / 2, rttMs }
    }
  }
  const zeroMs = () => best?.zeroMs ?? wall() - clock()
  return {
    first: () => measure(firstSamples),
    /** Measured again each ten seconds; if answers are slow just then, the old measurement is kept. */
    again: async () => {
      const before = best && { ...best, rttMs: best.rttMs + 2 * driftMs }
      best = null
      await measure(laterSamples).catch(() => {})
      const found = /** @type {{ rttMs: number } | null} */ (best)
      if (before && (!found || found.rttMs > before.rttMs)) best = before
    },
    /** Epoch milliseconds by the control server. */
    now: () => clock() + zeroMs(),
    /** When it is that time, by our monotonic clock. @param {number} epochMs */
    clockAt: (epochMs) => epochMs - zeroMs(),
    /** How far the control's clock is ahead of this box's. */
    offsetMs: () => clock() + zeroMs() - wall(),
    uncertaintyMs: () => (best ? best.rttMs / 2 : Number.POSITIVE_INFINITY),
  }
}

/**
 * Why ticks so close together cannot be aligned by that clock; null: they can.
 * @param {number} uncertaintyMs
 * @param {number} spacingMs
 */
export const clockRefusal = (uncertaintyMs, spacingMs) =>
  uncertaintyMs > uncertainMs && uncertaintyMs > spacingMs / 4
    ? `the control's clock is known to ±${uncertaintyMs.toFixed(1)} ms here, and ticks are ${spacingMs.toFixed(1)} ms apart: they would not be aligned; put the control nearer to the boxes, end what keeps this box busy, or send larger batches (-c)`
    : null
