// What the strategies of 'counters' read of a plan.

/** @typedef {'zset' | 'hash' | 'string'} Structure as TYPE names it */

/** @param {{ prefix: string, quantity: number, own?: { counters?: number, structure?: Structure, bundleSize?: number } }} plan */
export const planFieldsOf = ({ prefix, quantity, own = {} }) => {
  const { counters = quantity, structure = 'zset', bundleSize = 1 } = own
  return { prefix, increments: quantity, counters: Math.min(counters, quantity), structure, bundleSize }
}
