// Fields with a lifetime of their own, a hundred or so in a hash, which goes with the last of them.
import { gather } from './declare.js'

/**
 * @typedef {import('./declare.js').Argument} Argument
 * @typedef {import('./declare.js').Key} Key
 */

/** @param {import('./context.js').Context} context */
export const hashTtl = ({ plan, keys, value, ttlS, lingerS, maxMembers }) => {
  const native = plan.fieldExpiry === 'HSETEX'
  // HSET and HEXPIRE apart would leave fields for ever where a writer is killed between them.
  const options = native ? {} : { keyAt: 3, loaded: true, runs: ['hset', 'hexpire', 'expire'] }
  const fields = (/** @type {Key} */ bucket, /** @type {number[]} */ ns) => {
    const args = /** @type {Argument[]} */ (
      native
        ? ['HSETEX', bucket, 'EX', ttlS, 'FIELDS', ns.length]
        : ['EVALSHA', plan.scripts.storeFields, 1, bucket, ttlS, lingerS]
    )
    for (const n of ns) args.push(keys.item(n), value(n))
    return args
  }
  return [gather(maxMembers, keys.bucket, fields, options)]
}
