// The page of `millrace compare A B --find`: the ratio, and the answer of every search.
import { rounded } from '../answers/find/text.js'
import { plainText } from '../base/units.js'
import { millraceVersion } from '../base/version.js'
import { undecidedWords } from '../compare/find-ratio.js'
import { cell } from '../report/cells.js'
import { capital, pageOf } from '../report/page/page.js'

/** @import { ratioAnswer } from '../compare/find-ratio.js' */

/** @param {ReturnType<typeof ratioAnswer> & { command: string, hardware: string }} answer */
export const compareFindPage = ({ baseline, other, sentence, ratio, rounds, command, hardware }) => {
  const { low, high } = ratio
  const undecided = undecidedWords(ratio)
  const times = (/** @type {number | null} */ value) => (value === null ? '' : `${value.toFixed(3)} times`)
  const names = [baseline, other].map((name) => plainText(name))
  return pageOf(
    {
      title: `The highest rates of ${names.join(' and ')}`,
      question: `How much more does ${names[1]} sustain than ${names[0]}?`,
      verdict: {
        ...{ good: undecided === null, neutral: undecided !== null },
        word: undecided ? capital(undecided) : 'Different',
        sentence: undecided ? sentence.slice(`${undecided}: `.length) : sentence,
      },
      highlights: [
        { label: 'ratio', text: times(ratio.ratio) },
        { label: 'sure to be at least', text: times(low) },
        { label: 'at most', text: times(high) },
      ].filter(({ text }) => text !== ''),
      facts: [
        { label: 'machine', text: hardware },
        { label: 'again', text: command },
      ],
      tables: [
        {
          title: 'Searches',
          note: 'In the order in which they ran; the most likely rate a second.',
          columns: [
            { title: 'round' },
            { title: 'side', left: true },
            { title: 'most likely' },
            { title: 'answer', left: true },
          ],
          rows: rounds.flatMap(({ round, first, ...sides }) =>
            (first === 'a' ? /** @type {const} */ (['a', 'b']) : /** @type {const} */ (['b', 'a'])).map(
              (id) => {
                const { find, sentence: words } = sides[id]
                return [
                  cell(String(round), round),
                  cell(names[id === 'a' ? 0 : 1]),
                  cell(find.middle === null ? '' : rounded(find.middle), find.middle),
                  cell(words),
                ]
              },
            ),
          ),
        },
      ],
      warnings: [],
    },
    [],
    millraceVersion(),
  )
}
