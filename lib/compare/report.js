// The answer of `millrace compare` and `millrace diff`: its shape, its sentence, and its report.
import { forest, runsInOrder } from '../../charts/comparison.js'
import { OPTIONS } from '../../settings.js'
import { bytes, dash, period, several } from '../base/units.js'
import { differenceWords, effectWords, intervalWords, verdictWords } from '../chart/parts.js'
import { shownFigure } from '../report/cells.js'
import { answer, figure, only, table, words } from '../report/kit.js'
import { bestWords, rowOfSide, rulingWords } from './conclusion.js'
import { comparisonIn, schema } from './document.js'

/**
 * @import { Column, Text } from '../report/kit.js'
 * @import { Comparison, Row } from './comparison.js'
 * @import { CompareAnswer, Round } from './document.js'
 * @import { Rank } from './many.js'
 */

const shownSettings = 6

/** A setting as it is typed, where it is an option. @param {string} key */
const settingName = (key) => OPTIONS.find((option) => option.key === key)?.name ?? key

/** A value with the unit that its key names. @param {string} key */
const settingText = (key) => (/** @type {string} */ value) => {
  const n = Number(value)
  if (!Number.isFinite(n)) return value
  if (/Ms$/.test(key)) return period(n)
  if (/[a-z]S$/.test(key)) return period(n * 1000)
  return /Bytes$/.test(key) ? bytes(n) : value
}

/** @param {CompareAnswer} answer */
const settingsWords = ({ settings, ranks }) => {
  const all = settings.map(({ name, baseline, other }) => {
    const [first, others] = [baseline, other].map((values) => values.map(settingText(name)))
    return `${settingName(name)}: ${first.join(', ')} → ${others.join(ranks ? ' / ' : ', ')}`
  })
  const more = all.length > shownSettings ? `, and ${all.length - shownSettings} more` : ''
  return all.length > 0
    ? `${all.slice(0, shownSettings).join('; ')}${more}`
    : 'nothing: all settings are the same'
}

/** @param {CompareAnswer} answer */
const sidesWords = ({ ranks, runs, baseline, other, design }) => {
  const each = design === 'paired' ? 'round' : 'run'
  if (ranks)
    return `${Object.entries(runs)
      .map(([name, { b }]) => `${name} (${several(b, each)})`)
      .join(', ')}, each against ${baseline}`
  return Object.entries(runs).map(
    ([label, { a, b }]) =>
      `${label ? `${label}: ` : ''}${other} (${several(b, each)}) against ${baseline} (${several(a, each)})`,
  )
}

const intervals = { separate: "Welch's, of the logarithms", paired: 'of the changes within the rounds' }
const judgedTitle = 'Metrics with a verdict'
const moreNote = 'Without verdicts: of twenty metrics, one differs by chance.'
const detectableNote =
  "'Would show' is the smallest change that this many runs detect in four of five comparisons."

/** @param {Row} row */
const detectableWords = (row) => differenceWords(row, row.difference.detectable).replace('+', '')

const longestTitle = 14
const titled = (/** @type {string} */ name, /** @type {string} */ otherwise) =>
  name.length > longestTitle ? otherwise : name

/** Metrics by the names that thresholds have, on a page by their titles. @param {Comparison} comparison @param {string} title @param {readonly Row[]} rows @param {boolean} isMore without verdicts */
const metricsTable = ({ design, baseline, other, effect }, title, rows, isMore) =>
  table(
    title,
    rows,
    [
      words('metric', ({ figure }) => figure.name, { only: 'text' }),
      words('metric', ({ figure }) => figure.title, { only: 'page' }),
      {
        title: titled(baseline.name, 'baseline'),
        left: false,
        cell: ({ figure, difference }) => shownFigure(figure, difference.centreA),
        sort: ({ difference }) => difference.centreA,
      },
      {
        title: titled(other.name, 'other'),
        left: false,
        cell: ({ figure, difference }) => shownFigure(figure, difference.centreB),
        sort: ({ difference }) => difference.centreB,
      },
      {
        title: 'change',
        left: false,
        cell: (row) => differenceWords(row, row.difference.change),
        sort: ({ difference }) => difference.change,
      },
      {
        title: '95 % interval',
        left: false,
        cell: intervalWords,
        sort: ({ difference }) => difference.low,
        rank: 1,
      },
      ...(isMore
        ? []
        : [
            {
              title: 'would show',
              left: false,
              cell: detectableWords,
              sort: (/** @type {Row} */ { difference }) => difference.detectable,
              rank: 2,
            },
            words('verdict', (/** @type {Row} */ row) => verdictWords(row, effect)),
          ]),
    ],
    {
      stacks: true,
      notes: isMore
        ? [moreNote]
        : [`Geometric means; the intervals are ${intervals[design]}.`, detectableNote],
      ...(isMore ? { more: true } : { folded: true }),
    },
  )

/** @typedef {Rank['order'][number] & { rank: Rank, row: Row | undefined }} Placed a side by a metric */

/** The sides by a metric, the best first. @param {Comparison} comparison @param {Rank} rank @returns {Placed[]} */
const placedBy = (comparison, rank) =>
  rank.order.map((one) => ({ ...one, rank, row: rowOfSide(comparison, rank, one.name) }))

/** @param {(row: Row) => string} shown @param {string} [otherwise] @returns {(one: Placed) => string} */
const ofRow =
  (shown, otherwise = '') =>
  ({ row }) =>
    row ? shown(row) : otherwise

/** @param {number} effect @returns {Column<Placed>[]} */
const sideColumns = (effect) => [
  words('side', ({ name }) => name),
  {
    title: 'value',
    left: false,
    cell: ({ centre, rank }) => shownFigure(rank.figure, centre),
    sort: ({ centre }) => centre,
  },
  {
    title: 'change',
    left: false,
    cell: ofRow((row) => differenceWords(row, row.difference.change)),
    sort: ({ row }) => row?.difference.change ?? null,
  },
  {
    title: '95 % interval',
    left: false,
    cell: ofRow(intervalWords),
    sort: ({ row }) => row?.difference.low ?? null,
    rank: 1,
  },
  {
    title: 'would show',
    left: false,
    cell: ofRow(detectableWords),
    sort: ({ row }) => row?.difference.detectable ?? null,
    rank: 2,
  },
  words(
    'verdict',
    ofRow((row) => verdictWords(row, effect), 'baseline'),
  ),
]

/** Of a text, a table a metric. @param {Comparison} comparison @param {Rank} rank */
const rankTable = (comparison, rank) => {
  const { figure: shown, primary } = rank
  const best = bestWords(comparison, rank)
  return table(shown.title, placedBy(comparison, rank), sideColumns(comparison.effect), {
    only: 'text',
    notes: [`${shown.name}${best && `. Best: ${best}`}`],
    ...(!primary && { more: true }),
  })
}

/** Of a page, all metrics in one. @param {Comparison} comparison @param {readonly Rank[]} ranks @param {string} title @param {boolean} isMore without verdicts */
const ranksTable = (comparison, ranks, title, isMore) =>
  table(
    title,
    ranks.flatMap((rank) => placedBy(comparison, rank)),
    [
      words('metric', ({ rank }) => rank.figure.title, {
        detail: ({ rank, name }) => {
          const best = name === rank.order[0].name && bestWords(comparison, rank)
          return best && `best: ${best}`
        },
      }),
      ...sideColumns(comparison.effect),
    ],
    {
      only: 'page',
      notes: [isMore ? moreNote : detectableNote],
      ...(isMore ? { more: true } : { folded: true }),
    },
  )

const page = (/** @type {string} */ folder) => `${folder}/report.html`

/** The rounds of two sides, with their first three changes. @param {Comparison} comparison @param {readonly Round[]} rounds */
const roundsTable = ({ rows, baseline, other }, rounds) => {
  const shown = rows.filter(({ primary }) => primary).slice(0, 3)
  const runOf = (/** @type {Round} */ { runs }, /** @type {string} */ name) =>
    runs.find(({ side }) => side === name)
  /** @param {string} name */
  const linkTo = (name) =>
    words(name, (/** @type {Round} */ round) => (runOf(round, name) ? 'run' : dash), {
      link: (round) => {
        const run = runOf(round, name)
        return run && page(run.folder)
      },
    })
  /** @param {Row} row */
  const changeIn = (row) => {
    const { name } = row.figure
    const valuesOf = (/** @type {Round} */ round) =>
      [baseline, other].map((side) => runOf(round, side.name)?.figures[name] ?? Number.NaN)
    const change = (/** @type {Round} */ round) => {
      const [a, b] = valuesOf(round)
      return row.difference.relative ? b / a - 1 : b - a
    }
    return figure(row.figure.title, change, (value) => differenceWords(row, value), {
      detail: (round) =>
        valuesOf(round)
          .map((value) => shownFigure(row.figure, value))
          .join(' → '),
    })
  }
  return table(
    'Rounds',
    rounds,
    [
      words('round', ({ round }) => String(round), { sort: ({ round }) => round }),
      words('first', ({ runs }) => runs[0].side),
      linkTo(baseline.name),
      linkTo(other.name),
      ...shown.map(changeIn),
    ],
    { only: 'page', more: true, notes: ['In the order in which they ran.'] },
  )
}

/** For more than two sides: the runs in their order, by the first metric. @param {Comparison} comparison @param {readonly Round[]} rounds */
const orderTable = ({ ranks = [] }, rounds) => {
  const shown = ranks.find(({ primary }) => primary)?.figure
  const most = Math.max(0, ...rounds.map(({ runs }) => runs.length))
  return table(
    'Rounds',
    rounds,
    [
      words('round', ({ round }) => String(round), { sort: ({ round }) => round }),
      ...Array.from({ length: most }, (_, at) =>
        words(`run ${at + 1}`, (/** @type {Round} */ { runs }) => runs[at]?.side ?? '', {
          link: ({ runs }) => runs[at] && page(runs[at].folder),
          detail: ({ runs }) => shown && runs[at] && shownFigure(shown, runs[at].figures[shown.name]),
        }),
      ),
    ],
    {
      only: 'page',
      more: true,
      notes: [
        'Each round has a run of each side; odd rounds in random order, even ones in the reverse of it.',
        shown && `Values: ${shown.title}.`,
      ],
    },
  )
}

/** Those without a verdict, under their number. @param {Comparison} comparison @param {readonly Row[]} rows @param {string} title */
const tablesOfRows = (comparison, rows, title) => {
  const hidden = rows.filter(({ primary }) => !primary)
  return [
    metricsTable(
      comparison,
      title,
      rows.filter(({ primary }) => primary),
      false,
    ),
    metricsTable(comparison, several(hidden.length, 'more metric'), hidden, true),
  ]
}

const wordOf = { better: 'Better', worse: 'Worse', same: 'No difference', unclear: 'Answer' }

/** @param {CompareAnswer['conclusions'][number]} conclusion */
const concluded = ({ label, text }) => `${label ? `${label}: ` : ''}${text}`

/** @param {CompareAnswer} answer */
const verdictOf = ({ valid = true, thresholds, ranks, metrics, conclusions }) => {
  const failed = thresholds.some(({ outcome }) => outcome === 'failed')
  const [first] = ranks ? [] : metrics.filter(({ primary }) => primary)
  const good = valid && !failed && (thresholds.length > 0 || first?.verdict !== 'worse')
  const word = first?.verdict && first.low !== null ? wordOf[first.verdict] : 'Answer'
  return {
    good,
    neutral: good && thresholds.length === 0 && first?.verdict !== 'better',
    word: !valid ? 'Not valid' : failed ? 'Threshold failed' : word,
    sentence: conclusions.slice(0, 1).map(concluded).join(''),
  }
}

/** @param {CompareAnswer} answer */
const pictures = (answer) => {
  const comparison = comparisonIn(answer)
  const { rows, baseline, ranks, runs, other } = comparison
  const primary = rows.filter((row) => row.primary)
  const sides = [baseline.name, ...(ranks ? Object.keys(runs) : [other.name])]
  const chief = primary[0]?.figure.name
  // Sides of a metric stand below each other.
  const byMetric = [...new Set(primary.map(({ figure }) => figure.name))].flatMap((name) =>
    primary.filter(({ figure }) => figure.name === name),
  )
  const forestOf = (/** @type {boolean} */ isChief) =>
    forest.option({
      ...comparison,
      rows: byMetric.filter(({ figure }) => (figure.name === chief) === isChief),
    })
  const against = `against ${baseline.name}`
  const forests = ranks
    ? [
        { ...forest, title: `Changes: ${primary[0]?.figure.title}, ${against}`, option: forestOf(true) },
        {
          ...{ ...forest, name: `${forest.name}-2`, note: '' },
          ...{ title: `Other metrics, ${against}`, option: forestOf(false) },
        },
      ]
    : [{ ...forest, option: forest.option(comparison) }]
  const order =
    primary.length > 0 &&
    runsInOrder.option({ figure: primary[0].figure, sides, rounds: answer.rounds ?? [] })
  return [...forests, { ...runsInOrder, option: order || null }].flatMap(({ option, ...named }) =>
    option ? [{ ...named, option, wide: true }] : [],
  )
}

/** @param {CompareAnswer} answer @returns {Text[]} */
const remarksOf = ({ settings, ranks, unmatched, invalid }) => {
  const mixed = ranks ? [] : settings.filter(({ baseline, other }) => baseline.length > 1 || other.length > 1)
  return [
    mixed.length > 0 &&
      `not repeats of one thing: a side has runs of more than one ${mixed.map(({ name }) => settingName(name)).join(', ')}`,
    unmatched.length > 0 && `only on one side: ${unmatched.join(', ')}`,
    invalid.length > 0 && `compared although they are not valid: ${invalid.join(', ')}`,
  ]
}

export const compare = answer({
  kind: 'comparison',
  file: 'compare',
  schema,
  pictures,
  remarksLast: true,
  verdict: (/** @type {CompareAnswer} */ one) => ({
    title: `${one.other} against ${one.baseline}`,
    question: one.ranks
      ? `Which of ${one.baseline}, ${one.other} costs least?`
      : `Does ${one.other} cost more or less than ${one.baseline}?`,
    ...verdictOf(one),
  }),
  // Of the sides of an experiment each row has its own.
  prose: ({ conclusions, ranks }) => [ranks ? [] : conclusions.slice(1).map(concluded)],
  rows: (one) => ({
    sides: only('text', sidesWords(one)),
    'differs in': settingsWords(one),
    method: only(
      'page',
      one.method && `${one.method}; smallest effect that matters ${effectWords(one.effect)}`,
    ),
    intervals:
      one.ranks &&
      `${intervals[one.design]}, against ${one.baseline}; those of a metric hold together for all sides`,
    servers: only('page', one.where),
    again: only('page', one.command),
    thresholds: comparisonIn(one).rulings.map(rulingWords),
  }),
  tables: (one) => {
    const { rounds = [] } = one
    const comparison = comparisonIn(one)
    const { ranks, rows } = comparison
    if (ranks) {
      const judged = ranks.filter(({ primary }) => primary)
      const others = ranks.filter(({ primary }) => !primary)
      return [
        ...judged.map((each) => rankTable(comparison, each)),
        ranksTable(comparison, judged, judgedTitle, false),
        orderTable(comparison, rounds),
        ...others.map((each) => rankTable(comparison, each)),
        ranksTable(comparison, others, several(others.length, 'more metric'), true),
      ]
    }
    const labels = [...new Set(rows.map(({ label }) => label))]
    const [first, hidden, ...more] = labels.flatMap((label) =>
      tablesOfRows(
        comparison,
        rows.filter((row) => row.label === label),
        label || judgedTitle,
      ),
    )
    return [first, roundsTable(comparison, rounds), hidden, ...more]
  },
  warnings: (one) => [
    ...one.warnings.map(({ code, message }) => ({
      text: message,
      serious: code === 'invalid' && one.valid === false,
    })),
    ...remarksOf(one).filter((text) => typeof text === 'string'),
  ],
})
