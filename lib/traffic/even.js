// Whether a schedule is even; the page's scripts ask it too, so nothing is imported.

/** Whether what is due comes at equal intervals. @param {{ arrivals?: string }} schedule of settings, a plan or an announcement of one */
export const isEven = ({ arrivals = 'constant' }) => arrivals === 'constant'

/** Whether it comes at random moments. @param {{ arrivals?: string }} schedule */
export const isRandom = ({ arrivals = 'constant' }) => arrivals.startsWith('poisson')
