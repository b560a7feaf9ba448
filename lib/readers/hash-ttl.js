// Buckets of fields with a lifetime of their own: whole buckets, as many as the limit needs.
import { ids, number } from './declare.js'

/** @param {import('./context.js').ReadContext} context @returns {import('./declare.js').Declaration} */
export const hashTtl = ({ plan, keys, limit, buckets }) => {
  const perBucket = Math.max(1, Math.floor(plan.quantity / buckets))
  const wanted = limit > 0 ? Math.min(buckets, Math.ceil(limit / perBucket) + 1) : buckets
  return {
    asks: () =>
      Array.from({ length: wanted }, (_, b) => keys.bucket(b)).flatMap((bucket) => [
        number('cardinality', ['HLEN', bucket]),
        ids(['HGETALL', bucket], 'pairs'),
      ]),
    value: null,
    dated: false,
    unique: false,
  }
}
