// What the strategies of 'membership' read of a plan.

/** @import { IdForm } from './ids.js' */

/**
 * @param {{ prefix: string, quantity: number, own?: { partitions?: number, ids?: IdForm, falsePositives?: number } }} plan
 */
export const planFieldsOf = ({ prefix, quantity, own = {} }) => {
  const { partitions = 1, ids = 'hex', falsePositives = 0.01 } = own
  return { prefix, quantity, partitions, bits: Math.round(Math.log2(partitions)), ids, falsePositives }
}
