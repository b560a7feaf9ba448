// One clock for all threads of the process: performance.now() starts at 0 in each of them.

/** ms, from an origin that all threads share. */
export const monotonicMs = () => Number(process.hrtime.bigint()) / 1e6
