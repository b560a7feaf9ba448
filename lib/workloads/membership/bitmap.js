// A bit for each id, where ids are dense: the numbers 1 to N.
import { each, family, n, strategy } from '../declare.js'
import { exact } from './parts.js'

export const membershipBitmap = strategy({
  ...exact,
  name: 'membership-bitmap',
  title: 'SETBIT of one bitmap, ids being the numbers 1 to N',
  options: exact.options.filter((option) => option !== 'partitions' && option !== 'ids'),
  keys: (t) => ({ key: family('bench:bits', 'string', { keys: 1, bytes: t.quantity / 8 + 100 }) }),
  // The reply is the bit as it was.
  operations: (_, k) => ({
    add: [each('SETBIT', [k.key, n, '1'], { counts: { zero: 'new', one: 'known' } })],
  }),
})
