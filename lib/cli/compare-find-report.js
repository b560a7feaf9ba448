// The answer of `millrace compare A B --find`: the ratio, and the answer of every search.
import { find, rounded } from '../answers/find/report.js'
import { answer, only, table } from '../answers/kit.js'
import * as S from '../base/shape.js'
import { plainText } from '../base/units.js'
import { undecidedWords } from '../compare/find-ratio.js'
import { capital } from '../report/page/page.js'

/** @import { Shaped } from '../base/shape-types.js' */
/** @import { FindRound, ratioAnswer } from '../compare/find-ratio.js' */

const searched = S.object({
  state: find.schema.properties.state,
  find: find.schema.properties.find,
  sentence: S.text,
  folder: S.text,
})

const schema = S.document('compare.json of millrace compare A B --find', {
  schema: S.just(1),
  kind: S.just('compare-find'),
  started: S.text,
  duration_s: S.number,
  command: S.text,
  versions: S.object({ millrace: S.text, node: S.text }),
  hardware: S.text,
  ...S.each(['baseline', 'other', 'sentence'], S.text),
  ratio: S.said(
    'of the most likely rates, b to a, with a 95 % interval over the rounds in which both sides have one',
    S.object({
      rounds: S.number,
      ...S.each(['a', 'b', 'ratio', 'low', 'high'], S.figure),
      unsteady: S.said('searches in these rounds that were not steady', S.number),
    }),
  ),
  rounds: S.list(S.object({ round: S.number, first: S.oneOf('a', 'b'), a: searched, b: searched })),
})

const times = (/** @type {number | null} */ value) => value !== null && `${value.toFixed(3)} times`

export const compareFind = answer({
  kind: 'compare-find',
  file: 'compare',
  schema,
  /** @param {ReturnType<typeof ratioAnswer> & { command: string, hardware: string }} one */
  verdict: ({ baseline, other, sentence, ratio }) => {
    const undecided = undecidedWords(ratio)
    const names = [baseline, other].map((name) => plainText(name))
    return {
      title: `The highest rates of ${names.join(' and ')}`,
      question: `How much more does ${names[1]} sustain than ${names[0]}?`,
      good: undecided === null,
      neutral: undecided !== null,
      sentence,
      word: undecided ? capital(undecided) : 'Different',
      ...(undecided && { short: sentence.slice(`${undecided}: `.length) }),
    }
  },
  highlights: ({ ratio: { ratio, low, high } }) => ({
    ratio: times(ratio),
    'sure to be at least': times(low),
    'at most': times(high),
  }),
  rows: ({ hardware, command }) => ({ machine: only('page', hardware), again: only('page', command) }),
  tables: ({ rounds, baseline, other }) => {
    const searches = rounds.flatMap(({ round, first, a, b }) => {
      const both = [
        { round, name: baseline, search: a },
        { round, name: other, search: b },
      ]
      return first === 'a' ? both : both.reverse()
    })
    return [
      table(
        'Searches',
        searches,
        [
          ['round', ({ round }) => round, String],
          ['side', ({ name }) => plainText(name)],
          ['most likely', ({ search }) => search.find.middle, (rate) => (rate === null ? '' : rounded(rate))],
          ['answer', ({ search }) => search.sentence],
        ],
        { only: 'page', notes: ['In the order in which they ran; the most likely rate a second.'] },
      ),
    ]
  },
})
