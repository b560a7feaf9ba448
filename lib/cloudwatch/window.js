// The minutes of a run that CloudWatch can speak of. Pure.

const minuteMs = 60_000

/**
 * Whole minutes that lie within the measured time: the edge minutes hold something else besides.
 * @param {{ started: string, duration_s: number, warm_up_s?: number | null }} run
 * @returns {{ fromMs: number, toMs: number, minutes: number[] } | null} null: there is none
 */
export const wholeMinutes = ({ started, duration_s: durationS, warm_up_s: warmUpS }) => {
  const beginMs = Date.parse(started)
  const fromMs = Math.ceil((beginMs + (warmUpS ?? 0) * 1000) / minuteMs) * minuteMs
  const toMs = Math.floor((beginMs + durationS * 1000) / minuteMs) * minuteMs
  if (!(toMs > fromMs)) return null
  return {
    fromMs,
    toMs,
    minutes: Array.from({ length: (toMs - fromMs) / minuteMs }, (_, i) => fromMs + i * minuteMs),
  }
}
