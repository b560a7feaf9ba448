// What runs of consumers have besides their measures: structures that count unique items, side by side, and the commands that the
// nodes ran.
import * as S from '../base/shape.js'
import { count } from '../base/units.js'
import { section } from './section.js'
import { commandsShape } from './server.js'

const row = S.object({
  ...S.each(['structure', 'nature'], S.text),
  ...S.each(['samples', 'empty', 'last'], S.number),
  ...S.each(['truth', 'error_pct', 'error_pct_worst'], S.figure),
})

/** 'PFCOUNT 1,012,000 (+1.2 %)' @param {import('../base/shape-types.js').Shaped<typeof row>} of */
const words = ({ structure, last, error_pct: error }) =>
  `${structure} ${count(last)}${error === null ? '' : ` (${error < 0 ? '' : '+'}${error.toFixed(1)} %)`}`

export const uniqueness = section('uniqueness', S.nullable(S.list(row)), {
  empty: null,
  brief: (rows) => ({ 'unique items': rows.map(words).join(', ') }),
})

export const consumers = section('consumers', S.number, { empty: null })

/** Commands by the role of the nodes that ran them. */
export const commandsOfReaders = section(
  'commands',
  S.object(S.each(['master', 'replica'], S.maybe(commandsShape))),
  { isNeeded: true, empty: null },
)
