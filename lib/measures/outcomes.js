// Items under their outcomes, the commands that carried them, and what replies meant: the account of a run of writers.
import * as S from '../base/shape.js'
import { count, facts, period } from '../base/units.js'
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

/**
 * What is counted from the first second to the last, where the measures leave a part out, as a warm-up; else empty.
 * @param {{ duration_s: number, measured_s?: number | null }} run
 */
export const wholeRunWords = ({ duration_s: durationS, measured_s: measuredS }) => {
  const [whole, part] = [durationS, measuredS ?? durationS].map((seconds) => period(seconds * 1000))
  return part === whole ? '' : `whole run (${whole}; ${part} measured)`
}

/** @param {Record<string, number>} counts @param {Parameters<typeof wholeRunWords>[0]} run */
const words = (counts, run) =>
  facts([...Object.entries(counts).map(([name, n]) => `${name} ${count(n)}`), wholeRunWords(run)])

/** Replies by what they mean. */
const counts = section('counts', S.nullable(S.byName(S.number)), {
  rows: (found, run) => ({ replies: words(found, run) }),
  // The others have rows of their own.
  brief: (found, run) => ({ replies: !run.passes && !run.bundles && !run.queue && words(found, run) }),
})

export const outcomes = Object.freeze({ items, commands, counts })
