// What a run is: of a producer, of a consumer that reads items, or of the workers of a queue, which consume jobs.

/** @import { WorkRun } from './document.js' */

/** @param {Record<string, any>} run run.json @returns {'producer' | 'consumer' | 'workers'} */
export const kindOf = ({ kind, jobs, plan }) => (jobs || plan?.flow === 'workers' ? 'workers' : kind)

/** Whether it is a run of workers of a queue. @template {object} T @param {T | WorkRun} run @returns {run is WorkRun} */
export const hasWorkers = (run) => kindOf(run) === 'workers'
