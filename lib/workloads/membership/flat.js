// A key for each id.
import { each, family, strategy } from '../declare.js'
import { bareBytes, wholeId } from './ids.js'
import { added, exact } from './parts.js'

export const membershipFlat = strategy({
  ...exact,
  name: 'membership-flat',
  title: 'SETNX of a key for each id',
  options: exact.options.filter((option) => option !== 'partitions'),
  keys: (t) => ({
    key: family('bench:flat:xx:{id}', 'string', {
      of: { id: wholeId(t.ids) },
      keys: t.quantity,
      bytes: 63 + bareBytes[/** @type {'hex'} */ (t.ids)],
      shape: { head: 'bench:flat:', rest: /^xx:.+$/s },
    }),
  }),
  operations: (_, k) => ({ add: [each('SETNX', [k.key, '1'], added)] }),
})
