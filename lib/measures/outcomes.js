// Items under their outcomes, the commands that carried them, and what replies meant: the account of a run of writers.
import * as S from '../base/shape.js'
import { count, facts } from '../base/units.js'
import { metric } from './measure.js'
import { section } from './section.js'

const items = section(
  'items',
  S.object({
    ...S.each(['offered', 'acked'], S.number),
    ...S.each(['failed', 'uncertain', 'dropped', 'unsettled'], S.maybe(S.number)),
    failed_by: S.byName(S.number),
  }),
  {
    isNeeded: true,
    empty: null,
    metrics: {
      'items.failed': metric('items failed', 'count'),
      'items.uncertain': metric('items uncertain', 'count'),
      'items.dropped': metric('items dropped', 'count'),
      'items.unsettled': metric('items unsettled', 'count'),
    },
  },
)

const commands = section(
  'commands',
  S.object({ ...S.each(['sent', 'repeated'], S.maybe(S.number)), errors_by: S.maybe(S.byName(S.number)) }),
  {
    isNeeded: true,
    empty: null,
    metrics: { 'commands.repeated': metric('commands retried', 'count') },
  },
)

/** @param {Record<string, number>} counts */
const words = (counts) => facts(Object.entries(counts).map(([name, n]) => `${name} ${count(n)}`))

/** Replies by what they mean. */
const counts = section('counts', S.nullable(S.byName(S.number)), {
  rows: (found) => ({ replies: words(found) }),
  // The others have rows of their own.
  brief: (found, { passes, bundles, queue }) => ({ replies: !passes && !bundles && !queue && words(found) }),
})

export const outcomes = Object.freeze({ items, commands, counts })
