// Ids as fields of 2^n hashes.
import { each, strategy } from '../declare.js'
import { bareBytes, restOfId } from './ids.js'
import { added, exact, structures } from './parts.js'

export const membershipHash = strategy({
  ...exact,
  name: 'membership-hash',
  title: 'HSETNX in hashes by partition',
  keys: (t) => ({
    key: structures(t, {
      name: 'hash',
      type: 'hash',
      bytes: 100,
      bytesAnId: 70 + bareBytes[/** @type {'hex'} */ (t.ids)],
    }),
  }),
  operations: (t, k) => ({ add: [each('HSETNX', [k.key, restOfId(t.ids, t.bits), '1'], added)] }),
})
