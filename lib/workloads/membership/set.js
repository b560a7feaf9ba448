// Ids as members of 2^n sets.
import { each, strategy } from '../declare.js'
import { bareBytes, restOfId } from './ids.js'
import { added, exact, structures } from './parts.js'

export const membershipSet = strategy({
  ...exact,
  name: 'membership-set',
  title: 'SADD to sets by partition',
  keys: (t) => ({
    key: structures(t, {
      name: 'set_',
      type: 'set',
      bytes: 100,
      bytesAnId: 70 + bareBytes[/** @type {'hex'} */ (t.ids)],
    }),
  }),
  operations: (t, k) => ({ add: [each('SADD', [k.key, restOfId(t.ids, t.bits)], added)] }),
})
