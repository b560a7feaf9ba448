// Fields with a lifetime of their own, a hundred or so in a hash.
import { gather } from './declare.js'

/**
 * @typedef {import('./declare.js').Argument} Argument
 * @typedef {import('./declare.js').Key} Key
 */

/** @param {import('./context.js').Context} context */
export const hashTtl = ({ plan, keys, value, ttlS, maxMembers }) => {
  if (plan.fieldExpiry === 'HSETEX') {
    return [
      gather(maxMembers, keys.bucket, (bucket, ns) => {
        const args = /** @type {Argument[]} */ (['HSETEX', bucket, 'EX', ttlS, 'FIELDS', ns.length])
        for (const n of ns) args.push(keys.item(n), value(n))
        return args
      }),
    ]
  }
  return [
    gather(maxMembers, keys.bucket, (bucket, ns) => {
      const args = /** @type {Argument[]} */ (['HSET', bucket])
      for (const n of ns) args.push(keys.item(n), value(n))
      return args
    }),
    gather(maxMembers, keys.bucket, (bucket, ns) => {
      const args = /** @type {Argument[]} */ (['HEXPIRE', bucket, ttlS, 'FIELDS', ns.length])
      for (const n of ns) args.push(keys.item(n))
      return args
    }),
  ]
}
