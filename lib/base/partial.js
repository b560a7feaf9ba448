// Seconds of a run that are too short for figures of their own, as the last one is while a run drains.

/** In milliseconds: a rate over a shorter time, or a percentile of it, says nothing of a second. */
export const shortestMs = 500

/** @param {{ over_ms?: number }} second or the row of a node in it */
export const isPartial = ({ over_ms: overMs }) => overMs !== undefined && overMs < shortestMs
