// The answer of `millrace choose` as text. Pure.
import { alignedTable, blocksText, wrapped } from '../../base/layout.js'
import { bytes, count, micros, rate as perSecond, plainText, several, times } from '../../base/units.js'
import { metricNames, metrics } from './cost.js'

/**
 * @import { CandidateAnswer } from './answer.js'
 * @import { Metric } from './cost.js'
 * @import { ChooseAnswer } from './document.js'
 */

/** 1.06 (1.02 to 1.10) @param {{ ratio: number, low: number | null, high: number | null } | null} found */
export const ratioWords = (found) => {
  if (found === null) return ''
  const { ratio, low, high } = found
  return low === null || high === null || low === high
    ? times(ratio)
    : `${times(ratio)} (${times(low)} to ${times(high)})`
}

/** @param {Metric} metric @param {number | undefined} value */
export const candidateWords = (metric, value) =>
  value === undefined ? '' : metrics[metric].unit === 'us' ? micros(value) : bytes(value)

const placeWords = /** @type {const} */ ({
  chosen: 'chosen',
  alike: 'not told apart',
  left: 'not told apart',
  worse: 'costs more',
  halved: 'costs more so far',
  'not-counted': 'does not count',
  refused: 'cannot run here',
})

/** @param {CandidateAnswer} candidate */
export const standingWords = ({ place, rounds, why }) =>
  why === null
    ? `${placeWords[place]} after ${several(rounds, 'round')}`
    : `${placeWords[place]}: ${plainText(why)}`

/** One sentence. @param {Omit<ChooseAnswer, 'sentence'>} answer */
export const chooseSentence = ({ state, chosen, candidates, asked: { weigh } }) => {
  const [first, ...others] = candidates
  const weighed = Object.keys(weigh).length > 1 || weigh.cpu === undefined
  const what = weighed ? 'by the weighed cost' : 'by net server CPU'
  if (state === 'none' || chosen === null)
    return `No candidate can be chosen: ${candidates.map(({ name, why }) => `${plainText(name)} ${plainText(why ?? 'has too few rounds that count')}`).join('; ')}`
  const name = plainText(first.name)
  const alike = others.filter(({ place }) => place === 'alike').map((one) => plainText(one.name))
  if (state === 'best') {
    const [next] = others.filter(({ cost, place }) => cost !== null && place !== 'not-counted')
    return next
      ? `${name} is best ${what}: ${plainText(next.name)} costs ${ratioWords(next.cost)} times as much`
      : `${name} is the only candidate that can be chosen`
  }
  return state === 'same'
    ? `${name} is chosen, the simplest of those that differ by less than 3 % ${what}: also ${alike.join(', ')}`
    : `Cannot tell which is best ${what}: ${[name, ...alike].join(', ')}, the simplest first`
}

/** @param {ChooseAnswer} answer @returns {string[]} */
const excludedLines = ({ excluded }) =>
  excluded.map(({ name, unmet }) => `not a candidate: ${plainText(name)} does not meet ${unmet.join(', ')}`)

/** @param {ChooseAnswer} answer @returns {string[]} */
export const turnoverLines = ({ turnovers }) => {
  if (turnovers === null) return []
  const { found, unknown } = turnovers
  return [
    ...found.map(
      ({ other, rate, items, cheaper_above: above, cheaper_below: below }) =>
        `by the calibration the order of CPU turns over at about ${perSecond(Number(rate.toPrecision(2)))} items/s (${count(Number(items.toPrecision(2)))} alive): below it ${below} is cheaper, above it ${above} (against ${other})`,
    ),
    ...(found.length === 0 && unknown.length === 0
      ? [
          'by the calibration the order of CPU does not turn over between a hundredth and a hundred times the rate, as far as it reaches',
        ]
      : []),
    ...(unknown.length > 0
      ? [`the calibration does not know ${unknown.map((name) => plainText(name)).join(', ')} at this load`]
      : []),
  ]
}

/** @param {ChooseAnswer} answer */
export const askedWords = ({ asked: { rate, items, ttl, value_size: size, reads, weigh, needs } }) =>
  [
    `${perSecond(rate)} items/s of ${plainText(size)}, ttl ${plainText(ttl)}, ${perSecond(items)} items alive`,
    reads ? `${reads.per_s} reads/s of the newest ${reads.limit}` : 'no readers',
    `weighed ${Object.entries(weigh)
      .map(([name, weight]) => `${name}=${weight}`)
      .join(', ')}`,
    ...(needs.length > 0 ? [`needs ${needs.join(', ')}`] : []),
  ].join('; ')

/** @param {ChooseAnswer} answer @param {{ columns?: number, page?: string }} layout */
export const chooseText = (answer, { columns = 110, page } = {}) => {
  const { candidates, sentence, warnings, rounds, runs, duration_s: took, gives_up: gives } = answer
  const width = columns
  const whole = (/** @type {string[]} */ lines) => lines.flatMap((line) => wrapped(line, width))
  return blocksText([
    whole([`${sentence}.`]),
    whole(gives.map((words) => `gives up: ${plainText(words)}`)),
    alignedTable(
      [
        { title: 'candidate', left: true, cell: ({ name }) => plainText(name) },
        { title: 'cost', cell: ({ cost }) => ratioWords(cost) },
        ...metricNames.map((metric, rank) => ({
          title: metrics[metric].short,
          rank: rank + 1,
          cell: (/** @type {CandidateAnswer} */ one) => candidateWords(metric, one.metrics[metric]?.value),
        })),
        { title: '', left: true, cell: (one) => shortStanding(one) },
      ],
      candidates,
      width,
    ),
    whole([
      `costs against the best, with intervals that hold together for all candidates and looks (95 %)`,
      askedWords(answer),
      `${several(rounds, 'round')}, ${several(runs, 'run')}, ${Math.round(took)} s`,
    ]),
    whole([
      ...candidates
        .filter(({ why }) => why !== null)
        .map((one) => `${plainText(one.name)} ${standingWords(one)}`),
      ...excludedLines(answer),
      ...turnoverLines(answer),
    ]),
    whole(warnings.map((message) => `! ${plainText(message)}`)),
    page === undefined ? [] : [`page: ${page}`],
  ])
}

/** @param {CandidateAnswer} candidate */
const shortStanding = (candidate) =>
  candidate.why === null ? standingWords(candidate) : placeWords[candidate.place]
