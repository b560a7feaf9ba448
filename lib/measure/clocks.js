// The servers' clocks beside ours: cut-offs and ages are told by TIME of the node that is asked.

/**
 * @typedef {{ address: string, offset_ms: number, rtt_ms: number }} ClockFigures
 */

const samples = 3

/**
 * @param {object} needs
 * @param {(address: string) => Promise<[seconds: number | string, micros: number | string]>} needs.time
 * @param {() => number} needs.epochMs ours; must not jump between two measurements
 */
export const clocksOf = ({ time, epochMs }) => {
  /** @type {Map<string, { offsetMs: number, rttMs: number }>} */
  const known = new Map()

  const measure = async (/** @type {string} */ address) => {
    let best = { offsetMs: 0, rttMs: Number.POSITIVE_INFINITY }
    for (let i = 0; i < samples; i++) {
      const sentMs = epochMs()
      const [seconds, micros] = await time(address)
      const rttMs = epochMs() - sentMs
      // The answer was written in the middle, give or take half the way.
      const offsetMs = Number(seconds) * 1000 + Number(micros) / 1000 - (sentMs + rttMs / 2)
      if (rttMs < best.rttMs) best = { offsetMs, rttMs }
    }
    known.set(address, best)
  }

  return {
    /** A node that does not answer keeps what was known of it. @param {readonly string[]} addresses */
    measure: async (addresses) => {
      await Promise.all(addresses.map((address) => measure(address).catch(() => {})))
    },
    /** Epoch by the clock of that node. @param {string} address */
    now: (address) => epochMs() + (known.get(address)?.offsetMs ?? 0),
    /** @returns {ClockFigures[]} */
    figures: () =>
      [...known].map(([address, { offsetMs, rttMs }]) => ({ address, offset_ms: offsetMs, rtt_ms: rttMs })),
  }
}

/**
 * How far the servers' clocks are ahead of ours; null: none told its time.
 * @param {{ servers: readonly string[], time: Parameters<typeof clocksOf>[0]['time'], epochMs: () => number }} needs
 */
export const serversAheadMs = async ({ servers, ...needs }) => {
  const clocks = clocksOf(needs)
  await clocks.measure(servers)
  const offsets = clocks.figures().map(({ offset_ms: offsetMs }) => offsetMs)
  // Of two that differ the later one: an item may have expired by it.
  return offsets.length > 0 ? Math.max(...offsets) : null
}
