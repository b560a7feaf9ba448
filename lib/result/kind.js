// What a run is: of a producer, of a consumer that fetches, or of the workers of a queue, which consume jobs.

/** @param {Record<string, any>} run run.json @returns {'producer' | 'consumer' | 'workers'} */
export const kindOf = ({ kind, jobs, plan }) => (jobs || plan?.flow === 'workers' ? 'workers' : kind)
