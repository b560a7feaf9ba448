// When ticks are due: pure functions of elapsed time, with no clock in them.

/**
 * @param {{ periodMs: number, chunks: number, ticks: number | null }} plan
 */
export const pacerOf = ({ periodMs, chunks, ticks }) => {
  const spacingMs = periodMs / chunks
  const last = ticks ?? Number.POSITIVE_INFINITY
  return {
    spacingMs,
    /** Milliseconds after the start at which tick i is due. @param {number} i */
    dueMs: (i) => i * spacingMs,
    /** How many ticks are due when so much has passed. @param {number} elapsedMs */
    ticksDue: (elapsedMs) => Math.min(last, elapsedMs < 0 ? 0 : Math.floor(elapsedMs / spacingMs + 1e-9) + 1),
    /** @param {number} i */
    chunkOf: (i) => i % chunks,
    /** @param {number} i */
    intervalOf: (i) => Math.floor(i / chunks),
  }
}

/**
 * Only a schedule can be missed: without one nothing is dropped for being late.
 * @param {{ rate: 'max' | null, pacing: string }} plan
 */
export const isScheduled = ({ rate, pacing }) => rate !== 'max' && pacing !== 'closed'
