// Ids as members of 2^n sorted sets, all with the same score.
import { each, strategy } from '../declare.js'
import { bareBytes, restOfId } from './ids.js'
import { added, exact, structures } from './parts.js'

export const membershipZset = strategy({
  ...exact,
  name: 'membership-zset',
  title: 'ZADD NX to sorted sets by partition',
  keys: (t) => ({
    key: structures(t, {
      name: 'zset',
      type: 'zset',
      bytes: 100,
      bytesAnId: 122 + bareBytes[/** @type {'hex'} */ (t.ids)],
    }),
  }),
  operations: (t, k) => ({ add: [each('ZADD', [k.key, 'NX', '0', restOfId(t.ids, t.bits)], added)] }),
})
