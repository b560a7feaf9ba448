// The servers' clocks compared with ours, by TIME: scores, cut-offs and ages use the servers' time, so that boxes whose
// clocks differ write and read one load. Milliseconds; an offset is how far a server is ahead of us.
import { epochIn } from '../wire/time.js'

/**
 * @typedef {{ address: string, offset_ms: number, rtt_ms: number }} ClockFigures
 * @typedef {{ offsetMs: number, rttMs: number }} Measured the offset is known to half of the way there and back
 */

/** A larger offset makes a clock wrong, and all that is computed with it. */
export const clockLimitMs = 1000

const samples = 3

/**
 * This box's time, which does not jump when its clock is set.
 * @param {{ wall?: () => number, monotonic?: () => number }} [clocks]
 */
export const steadyClock = ({ wall = Date.now, monotonic = () => performance.now() } = {}) => {
  // The process may be paused between two readings: the closest of several pairs counts.
  const apartMs = () => {
    let best = { apartMs: 0, tookMs: Number.POSITIVE_INFINITY }
    for (let i = 0; i < samples && best.tookMs > 0; i++) {
      const beforeMs = monotonic()
      const wallMs = wall()
      const tookMs = monotonic() - beforeMs
      if (tookMs < best.tookMs) best = { apartMs: wallMs - beforeMs, tookMs }
    }
    return best.apartMs
  }
  const startMs = apartMs()
  return {
    epochMs: () => startMs + monotonic(),
    /** How far the box's clock was set since the last call. */
    jumpMs: () => apartMs() - startMs,
  }
}

/** The least by which two measurements differ. @param {Measured} a @param {Measured} b */
const differenceMs = (a, b) => {
  const sureMs = Math.abs(b.offsetMs - a.offsetMs) - (a.rttMs + b.rttMs) / 2
  return sureMs > 0 ? Math.sign(b.offsetMs - a.offsetMs) * sureMs : 0
}

/**
 * @param {object} needs
 * @param {(address: string) => Promise<[seconds: number | string, micros: number | string]>} needs.time
 * @param {() => number} needs.epochMs ours; must not jump between two measurements
 */
export const clocksOf = ({ time, epochMs }) => {
  /** @type {Map<string, { first: Measured, best: Measured }>} */
  const measured = new Map()

  const sampled = async (/** @type {string} */ address) => {
    const sentMs = epochMs()
    const theirsMs = epochIn(address, await time(address))
    const rttMs = epochMs() - sentMs
    // The answer was written in the middle of the round trip, plus or minus half of it.
    return { offsetMs: theirsMs - (sentMs + rttMs / 2), rttMs }
  }
  const measure = async (/** @type {string} */ address, /** @type {number} */ times) => {
    let best = await sampled(address)
    for (let i = 1; i < times; i++) {
      const next = await sampled(address)
      if (next.rttMs < best.rttMs) best = next
    }
    const before = measured.get(address)
    if (!before) measured.set(address, { first: best, best })
    // A measurement that contradicts a better one is a change; otherwise it is only less exact.
    else if (best.rttMs < before.best.rttMs || differenceMs(before.best, best) !== 0) before.best = best
  }

  return {
    /** A node that does not answer keeps its last offset. @param {readonly string[]} addresses @param {number} [times] */
    measure: async (addresses, times = samples) => {
      await Promise.all(addresses.map((address) => measure(address, times).catch(() => {})))
    },
    /** Epoch by the clock of that node. @param {string} address */
    now: (address) => epochMs() + (measured.get(address)?.best.offsetMs ?? 0),
    /** The median offset of those nodes. @param {readonly string[]} addresses */
    offsetMs: (addresses) => {
      const offsets = addresses.flatMap((address) => measured.get(address)?.best.offsetMs ?? [])
      offsets.sort((a, b) => a - b)
      return offsets.length > 0 ? offsets[Math.floor((offsets.length - 1) / 2)] : 0
    },
    /** The nodes whose offset is certainly above the limit. */
    wrong: () =>
      [...measured].flatMap(([address, { best }]) =>
        Math.abs(best.offsetMs) - best.rttMs / 2 > clockLimitMs ? [{ address, offsetMs: best.offsetMs }] : [],
      ),
    /** The nodes whose clock has certainly moved since it was first measured. */
    moved: () =>
      [...measured].flatMap(([address, { first, best }]) => {
        const byMs = differenceMs(first, best)
        return Math.abs(byMs) > clockLimitMs ? [{ address, byMs }] : []
      }),
    /** @returns {ClockFigures[]} */
    figures: () =>
      [...measured].map(
        ([
          address,
          {
            best: { offsetMs, rttMs },
          },
        ]) => ({
          address,
          offset_ms: offsetMs,
          rtt_ms: rttMs,
        }),
      ),
  }
}

/**
 * How far the servers' clocks are ahead of ours; null: none reported its time.
 * @param {{ servers: readonly string[], time: Parameters<typeof clocksOf>[0]['time'], epochMs: () => number }} needs
 */
export const serversAheadMs = async ({ servers, ...needs }) => {
  const clocks = clocksOf(needs)
  await clocks.measure(servers)
  const offsets = clocks.figures().map(({ offset_ms: offsetMs }) => offsetMs)
  // If two differ, the later one counts: by that clock an item may have expired.
  return offsets.length > 0 ? Math.max(...offsets) : null
}
