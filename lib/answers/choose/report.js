// The answer of `millrace choose`: its shape, its sentence, and its report.
import { choosePareto } from '../../../charts/choose.js'
import * as S from '../../base/shape.js'
import {
  bytes,
  count,
  micros,
  percent,
  rate as perSecond,
  plainText,
  several,
  times,
} from '../../base/units.js'
import { answer, answerSchema, figure, only, table, words } from '../../report/kit.js'
import { ratioOf } from '../../result/ratio.js'
import { figureOfRow } from '../../result/statistics.js'
import { metricNames, metrics } from './cost.js'

/**
 * @import { Schema, Shaped } from '../../base/shape-types.js'
 * @import { Column } from '../../report/kit.js'
 * @import { Metric, Metrics } from './cost.js'
 * @import { Decision } from './procedure.js'
 */

/** @template {Schema} const T @param {T} schema */
const byMetric = (schema) => S.object(S.each(metricNames, S.orNull(schema)))
const ratio = { ratio: S.number, low: S.figure, high: S.figure }
const places = S.oneOf('chosen', 'alike', 'left', 'worse', 'halved', 'not-counted', 'refused')

const candidate = S.object({
  name: S.text,
  model: S.text,
  server: S.note,
  simplicity: S.number,
  gives_up: S.list(S.text),
  place: places,
  rounds: S.number,
  runs: S.number,
  not_valid: S.number,
  dominated: S.said('another one costs less of CPU or memory, and not more of the other', S.flag),
  cost: S.orNull(S.object({ ...ratio, verdict: S.oneOf('better', 'worse', 'same', 'unclear', null) })),
  metrics: byMetric(S.object({ value: S.number, low: S.number, high: S.number })),
  against_chosen: S.orNull(byMetric(S.object(ratio))),
  why: S.note,
})

const schema = answerSchema('choose', {
  started: S.text,
  duration_s: S.number,
  command_line: S.text,
  versions: S.object({ millrace: S.text, node: S.text, servers: S.list(S.text) }),
  hardware: S.text,
  asked: S.object({
    needs: S.list(S.text),
    rate: S.said('items a second at which the candidates ran', S.number),
    items: S.number,
    ttl: S.text,
    value_size: S.text,
    reads: S.orNull(S.object({ per_s: S.number, limit: S.number })),
    weigh: S.byName(S.number),
    across: S.oneOf('models', 'servers', 'policies'),
    maxmemory: S.maybe(S.text),
  }),
  state: S.oneOf('best', 'same', 'unclear', 'none'),
  chosen: S.note,
  sentence: S.text,
  gives_up: S.list(S.text),
  candidates: S.list(candidate),
  excluded: S.list(S.object({ name: S.text, unmet: S.list(S.text) })),
  turnovers: S.orNull(
    S.object({
      found: S.list(
        S.object({
          other: S.text,
          rate: S.number,
          items: S.number,
          cheaper_above: S.text,
          cheaper_below: S.text,
        }),
      ),
      unknown: S.list(S.text),
    }),
  ),
  rounds: S.number,
  runs: S.number,
  warnings: S.list(S.text),
})

/** @typedef {Shaped<typeof schema>} ChooseAnswer */
/** @typedef {Omit<ChooseAnswer, 'sentence'>} Chosen */
/** @typedef {Chosen['candidates'][number]} Candidate */
/** @typedef {Pick<Candidate, 'name' | 'model' | 'server' | 'simplicity' | 'gives_up'>} Known of a candidate before it runs */
/**
 * @typedef {object} RunRecord
 * @property {number} candidate
 * @property {number} round
 * @property {Metrics} metrics
 * @property {boolean} counts
 * @property {string[]} reasons why it is not valid
 * @property {number | null} achieved items a second
 */

/** Runs of a candidate that are valid, by round. @param {readonly RunRecord[]} runs @param {number} at */
const countedOf = (runs, at) =>
  new Map(
    runs.filter(({ candidate, counts }) => counts && candidate === at).map((run) => [run.round, run.metrics]),
  )

/** @param {ReturnType<typeof countedOf>} own @param {Metric} metric @returns {Candidate['metrics'][Metric]} */
const figureOf = (own, metric) => {
  const samples = [...own.values()].flatMap((values) => values[metric] ?? [])
  if (samples.length === 0) return null
  const { mean, median, low, high } = figureOfRow(samples)
  return { value: mean ?? median, low, high }
}

/** @param {ReturnType<typeof countedOf>} of @param {ReturnType<typeof countedOf>} to @param {Metric} metric @returns {NonNullable<Candidate['against_chosen']>[Metric]} */
const ratioIn = (of, to, metric) => {
  const pairs = [...of].flatMap(([round, values]) => {
    const [a, b] = [values[metric], to.get(round)?.[metric]]
    return a === undefined || b === undefined ? [] : [{ of: a, to: b }]
  })
  const found = ratioOf(pairs)
  return found && { ratio: found.ratio, low: found.low, high: found.high }
}

/** @template T @param {(metric: Metric) => T} make @returns {Record<Metric, T>} */
const ofEach = (make) => ({
  cpu: make('cpu'),
  memory: make('memory'),
  network: make('network'),
  latency: make('latency'),
  misses: make('misses'),
})

/**
 * Whether another candidate costs less CPU or memory, and not more of the other.
 * @param {readonly Pick<Candidate, 'metrics'>[]} all
 * @param {Pick<Candidate, 'metrics'>} one
 */
const isDominated = (all, { metrics: { cpu, memory } }) =>
  cpu !== null &&
  memory !== null &&
  all.some(
    ({ metrics: other }) =>
      other.cpu !== null &&
      other.memory !== null &&
      other.cpu.value <= cpu.value &&
      other.memory.value <= memory.value &&
      (other.cpu.value < cpu.value || other.memory.value < memory.value),
  )

/**
 * What was chosen, and what each candidate costs against it.
 * @param {object} found
 * @param {readonly Known[]} found.candidates
 * @param {Decision} found.decision
 * @param {readonly RunRecord[]} found.runs
 * @returns {Candidate[]}
 */
export const candidatesAnswer = ({ candidates, decision, runs }) => {
  const { standings, chosen, alike } = decision
  const counted = candidates.map((_, at) => countedOf(runs, at))
  const rows = candidates.map((candidate, at) => {
    /** @type {Candidate['place']} */
    const stands = at === chosen ? 'chosen' : alike.includes(at) ? 'alike' : standings[at].place
    const { place, rounds, ratio, low, high, verdict, why } = standings[at]
    const own = runs.filter((run) => run.candidate === at)
    return {
      ...candidate,
      place: stands,
      rounds,
      runs: own.length,
      cost: ratio === null ? null : { ratio, low, high, verdict },
      metrics: ofEach((metric) => figureOf(counted[at], metric)),
      against_chosen:
        chosen === null ? null : ofEach((metric) => ratioIn(counted[at], counted[chosen], metric)),
      why: place === 'refused' || place === 'not-counted' ? why : null,
      not_valid: own.filter(({ counts }) => !counts).length,
    }
  })
  const rank = (/** @type {(typeof rows)[number]} */ { place, cost, name }) => {
    const at = alike.findIndex((one) => candidates[one].name === name)
    return at >= 0 ? at : place === 'refused' || place === 'not-counted' ? 1e9 : 1000 + (cost?.ratio ?? 1e6)
  }
  return rows.map((row) => ({ ...row, dominated: isDominated(rows, row) })).sort((a, b) => rank(a) - rank(b))
}

/**
 * @param {Pick<ChooseAnswer, 'started' | 'duration_s' | 'command_line' | 'versions' | 'hardware' | 'asked' | 'excluded' | 'turnovers' | 'warnings'>} facts
 * @param {Parameters<typeof candidatesAnswer>[0]} found
 * @returns {ChooseAnswer}
 */
export const chooseDocument = (facts, found) => {
  const { state, chosen, rounds, runs } = found.decision
  /** @type {Chosen} */
  const one = {
    schema: 1,
    kind: 'choose',
    ...facts,
    state,
    chosen: chosen === null ? null : found.candidates[chosen].name,
    gives_up: chosen === null ? [] : found.candidates[chosen].gives_up,
    candidates: candidatesAnswer(found),
    rounds,
    runs,
  }
  return { ...one, sentence: chooseSentence(one) }
}

/** 1.06 (1.02 to 1.10) @param {{ ratio: number, low: number | null, high: number | null } | null | undefined} found */
const ratioWords = (found) => {
  if (!found) return ''
  const { ratio, low, high } = found
  const isSure = low === null || high === null || low === high
  return isSure ? times(ratio) : `${times(ratio)} (${times(low)} to ${times(high)})`
}

const valueWords = { us: micros, bytes, pct: percent }

/** @param {Metric} metric @param {number | undefined} value */
const metricWords = (metric, value) => (value === undefined ? '' : valueWords[metrics[metric].unit](value))

/** @type {Record<Candidate['place'], string>} */
const placeWords = {
  chosen: 'chosen',
  alike: 'not told apart',
  left: 'not told apart',
  worse: 'costs more',
  halved: 'costs more so far',
  'not-counted': 'does not count',
  refused: 'cannot run here',
}

/** @param {Candidate} candidate */
const standing = ({ place, rounds, why }) =>
  why === null
    ? `${placeWords[place]} after ${several(rounds, 'round')}`
    : `${placeWords[place]}: ${plainText(why)}`

/** One sentence. @param {Chosen} answer */
const chooseSentence = ({ state, chosen, candidates, asked: { weigh } }) => {
  const [first, ...others] = candidates
  const alone = Object.keys(weigh).length === 1 ? Object.keys(weigh)[0] : ''
  const what = { cpu: 'by server CPU, idle excluded', misses: 'by misses' }[alone] ?? 'by the weighed cost'
  if (state === 'none' || chosen === null)
    return `No candidate can be chosen: ${candidates.map(({ name, why }) => `${plainText(name)} ${plainText(why ?? 'has too few rounds that count')}`).join('; ')}`
  const name = plainText(first.name)
  const alike = others.filter(({ place }) => place === 'alike').map((one) => plainText(one.name))
  if (state === 'best') {
    const next = others.find(({ cost, place }) => cost !== null && place !== 'not-counted')
    return next
      ? `${name} is best ${what}: ${plainText(next.name)} costs ${ratioWords(next.cost)} times as much`
      : `${name} is the only candidate that can be chosen`
  }
  return state === 'same'
    ? `${name} is chosen, the simplest of those that differ by less than 3 % ${what}: also ${alike.join(', ')}`
    : `Cannot tell which is best ${what}: ${[name, ...alike].join(', ')}, the simplest first`
}

/** @param {Chosen} answer @returns {string[]} */
const turnovers = ({ turnovers: all }) => {
  if (all === null) return []
  const { found, unknown } = all
  const none =
    'the order of CPU does not turn over between a hundredth and a hundred times the rate, as far as it reaches'
  return [
    ...found.map(
      ({ other, rate, items, cheaper_above: above, cheaper_below: below }) =>
        `the order of CPU turns over at about ${perSecond(Number(rate.toPrecision(2)))} items/s (${count(Number(items.toPrecision(2)))} alive): below it ${below} is cheaper, above it ${above} (against ${other})`,
    ),
    ...(found.length === 0 && unknown.length === 0 ? [none] : []),
    ...(unknown.length > 0
      ? [`it does not know ${unknown.map((name) => plainText(name)).join(', ')} at this load`]
      : []),
  ]
}

/** @param {Chosen} answer */
const askedWords = ({ asked: { rate, items, ttl, value_size: size, reads, weigh, needs, maxmemory } }) =>
  [
    ...(maxmemory === undefined
      ? [
          `${perSecond(rate)} items/s of ${plainText(size)}, ttl ${plainText(ttl)}, ${perSecond(items)} items alive`,
          reads ? `${reads.per_s} reads/s of the newest ${reads.limit}` : 'no readers',
        ]
      : [
          `${perSecond(rate)} requests/s for ${several(items, 'key')} with values of ${plainText(size)}, ttl ${plainText(ttl)}, ${plainText(maxmemory)} of memory`,
        ]),
    `weighed ${Object.entries(weigh)
      .map(([name, weight]) => `${name}=${weight}`)
      .join(', ')}`,
    ...(needs.length > 0 ? [`needs ${needs.join(', ')}`] : []),
  ].join('; ')

/** @param {string} title @param {(one: Candidate) => { ratio: number, low: number | null, high: number | null } | null | undefined} of @returns {Column<Candidate>} */
const ratios = (title, of) => ({
  title,
  left: false,
  cell: (one) => ratioWords(of(one)),
  sort: (one) => of(one)?.ratio,
})

/** Those that a candidate has. @param {readonly Candidate[]} candidates */
const known = (candidates) =>
  metricNames.filter((metric) => candidates.some(({ metrics: own }) => own[metric] != null))

const stateWords = { best: 'Best', same: 'No difference', unclear: 'Cannot tell', none: 'None' }
/** @type {Column<Candidate>} */
const name = words('candidate', (one) => plainText(one.name))

export const choose = answer({
  kind: 'choose',
  schema,
  charts: [{ ...choosePareto, wide: true }],
  verdict: (/** @type {Chosen} */ one) => ({
    title: one.chosen === null ? 'No choice' : `Choice: ${plainText(one.chosen)}`,
    question: `Which of ${several(one.candidates.length, 'candidate')} costs least? ${askedWords(one)}.`,
    good: one.state === 'best' || one.state === 'same',
    neutral: one.state === 'unclear',
    word: stateWords[one.state],
    sentence: `${chooseSentence(one)}.`,
  }),
  highlights: ({ chosen, candidates: [first] }) =>
    Object.fromEntries(
      metricNames.map((metric) => [
        metrics[metric].title,
        chosen !== null && metricWords(metric, first?.metrics[metric]?.value),
      ]),
    ),
  rows: (one) => ({
    asked: only('text', askedWords(one)),
    took: `${several(one.rounds, 'round')}, ${several(one.runs, 'run')}, ${Math.round(one.duration_s)} s`,
    'gives up': one.gives_up.map((text) => plainText(text)),
    'left out': only(
      'text',
      one.candidates.flatMap((each) =>
        each.why === null ? [] : `${plainText(each.name)} ${standing(each)}`,
      ),
    ),
    'no candidate': one.excluded.map(
      ({ name, unmet }) => `${plainText(name)} does not meet ${unmet.join(', ')}`,
    ),
    calibration: turnovers(one),
    servers: only('page', one.versions.servers.map((name) => plainText(name)).join(', ')),
    machine: only('page', one.hardware),
    again: only('page', one.command_line),
  }),
  tables: ({ candidates }) => [
    table(
      'Candidates',
      candidates,
      [
        name,
        ratios('cost', ({ cost }) => cost),
        ...known(candidates).map((metric, rank) =>
          figure(
            metrics[metric].short,
            (/** @type {Candidate} */ one) => one.metrics[metric]?.value,
            (value) => metricWords(metric, value),
            { rank: rank + 1 },
          ),
        ),
        words('', (one) => (one.why ? placeWords[one.place] : standing(one)), { only: 'text' }),
        words('standing', standing, { only: 'page' }),
      ],
      {
        notes: [
          'Costs against the best, with intervals that hold together for all candidates and looks (95 %).',
        ],
      },
    ),
    table(
      'Against the chosen one',
      candidates,
      [
        name,
        ...known(candidates).map((metric) =>
          ratios(metrics[metric].short, (one) => one.against_chosen?.[metric]),
        ),
      ],
      { only: 'page', notes: ['Ratios within the rounds that both have, each with its own 95 % interval.'] },
    ),
    table(
      'What each gives up',
      candidates,
      [
        name,
        words('gives up', ({ dominated, gives_up: gives }) =>
          [...(dominated ? ['another one costs less CPU and memory'] : []), ...gives]
            .map((text) => plainText(text))
            .join('; '),
        ),
      ],
      { only: 'page' },
    ),
  ],
  warnings: ({ warnings }) => warnings.map((text) => plainText(text)),
})
