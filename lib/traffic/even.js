// How what is due comes. Of a plan its field `schedule` says it; the page's scripts ask this file too, so nothing is imported.

/** @typedef {'none' | 'even' | 'uneven'} Schedule none: nothing is due at a time, so nothing can be late or be dropped for it */

/** @param {{ rate?: unknown, pacing: string, arrivals: string }} fields of a plan @returns {Schedule} */
export const scheduleIn = ({ rate, pacing, arrivals }) => {
  if (rate === 'max' || pacing === 'closed') return 'none'
  return isEven(arrivals) ? 'even' : 'uneven'
}

/** Whether arrivals are at equal intervals. @param {string} arrivals */
export const isEven = (arrivals) => arrivals === 'constant'

/** Whether what is due comes at random moments. @param {{ arrivals?: string }} schedule */
export const isRandom = ({ arrivals = 'constant' }) => arrivals.startsWith('poisson')
