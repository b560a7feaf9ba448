// All data saved, emptied and loaded again after the load, and how long another client waited meanwhile.

import * as S from '../base/shape.js'
import { exactly } from '../base/typed.js'
import { bytes, count, facts, micros } from '../base/units.js'
import { metric } from './measure.js'
import { section } from './section.js'

const names = exactly(['save', 'flush', 'load'])
const step = S.object(S.each(['total_ms', 'longest_ms', 'bystander_max_us'], S.number))

/** @typedef {import('../base/shape-types.js').Shaped<typeof step>} Step */

/** @param {string} name @param {Step} of */
const stepWords = (name, { total_ms: ms, bystander_max_us: us }) =>
  `${name} ${micros(ms * 1000)} (another client waits ${micros(us)} at most)`

export const snapshot = section(
  'snapshot',
  S.nullable(
    S.object({ ...S.each(['masters', 'keys'], S.number), data_bytes: S.figure, ...S.each(names, step) }),
  ),
  {
    metrics: Object.fromEntries(
      names.flatMap((name) => [
        [`snapshot.${name}.total_ms`, metric(`time to ${name} all data`, 'ms')],
        [`snapshot.${name}.longest_ms`, metric(`time to ${name} one master's data`, 'ms')],
        [`snapshot.${name}.bystander_max`, metric(`longest wait of another client, ${name}`, 'us')],
      ]),
    ),
    brief: ({ keys, save, load }) => ({
      snapshot: `${count(keys)} keys, saved in ${micros(save.total_ms * 1000)}, loaded in ${micros(load.total_ms * 1000)}`,
    }),
    rows: ({ masters, keys, data_bytes: data, save, flush, load }) => ({
      snapshot: facts([
        `${count(keys)} keys${data === null ? '' : `, ${bytes(data)}`}${masters > 1 ? ` on ${masters} masters, one after the other` : ''}`,
        stepWords('saved in', save),
        stepWords('emptied in', flush),
        stepWords('loaded in', load),
      ]),
    }),
  },
)
