// The contents of the page and the summary of a comparison. Pure.
import { forest, runsInOrder } from '../../charts/comparison.js'
import { dash, plainData, several } from '../base/units.js'
import { differenceWords, effectWords, intervalWords, verdictWords } from '../chart/change-words.js'
import { cell, shownFigure } from '../report/cells.js'
import { bestWords, rankCells } from './ranked.js'
import { conclusionOf, rulingWords } from './text.js'

/**
 * @import { NamedPicture } from '../report/charts.js'
 * @import { Sections, Table } from '../report/sections.js'
 * @import { Comparison, Row } from './comparison.js'
 * @import { Rank } from './many.js'
 *
 * @typedef {object} Facts of a comparison whose rounds were run for it
 * @property {string} command
 * @property {string} method how many rounds, and when it stopped
 * @property {string} where
 * @property {Ran[]} rounds that count
 * @property {boolean} isValid
 *
 * @typedef {object} Ran a round
 * @property {number} round
 * @property {{ side: string, folder: string, figures: Record<string, number> }[]} runs in their order
 */

/** @param {Comparison} comparison @param {Row[]} rows @param {string} title @param {boolean} more without verdicts @returns {Table} */
const metricsTable = ({ effect, baseline, other }, rows, title, more) => ({
  title,
  fold: title,
  ...(more && { more: true }),
  note: more
    ? 'Without verdicts: of twenty metrics, one differs by chance.'
    : `Geometric means. 'Would show' is the smallest change that this many runs detect in four of five comparisons.`,
  columns: [
    { title: 'metric', left: true },
    { title: baseline.name },
    { title: other.name },
    { title: 'change' },
    { title: '95 % interval' },
    ...(more ? [] : [{ title: 'would show' }, { title: 'verdict', left: true }]),
  ],
  rows: rows.map((row) => {
    const { figure, label, difference } = row
    return [
      cell(label ? `${label}: ${figure.title}` : figure.title),
      cell(shownFigure(figure, difference.centreA), difference.centreA),
      cell(shownFigure(figure, difference.centreB), difference.centreB),
      cell(differenceWords(row, difference.change), difference.change),
      cell(intervalWords(row), difference.low),
      ...(more
        ? []
        : [
            cell(differenceWords(row, difference.detectable).replace('+', ''), difference.detectable),
            cell(verdictWords(row, effect)),
          ]),
    ]
  }),
})

/** The sides by a metric, the best first. @param {Comparison} comparison @param {Rank} rank @returns {Table} */
const rankTable = (comparison, rank) => {
  const best = bestWords(comparison, rank)
  return {
    title: rank.figure.title,
    fold: rank.figure.title,
    ...(!rank.primary && { more: true }),
    note: `${rank.figure.name}${best && `. Best: ${best}`}`,
    columns: [
      { title: 'side', left: true },
      { title: 'value' },
      { title: 'change' },
      { title: '95 % interval' },
      { title: 'would show' },
      { title: 'verdict', left: true },
    ],
    rows: rankCells(comparison, rank).map(
      ({ name, centre, value, change, interval, detectable, verdict, row }) => [
        cell(name),
        cell(value, centre),
        cell(change, row?.difference.change ?? null),
        cell(interval, row?.difference.low ?? null),
        cell(detectable, row?.difference.detectable ?? null),
        cell(verdict),
      ],
    ),
  }
}

const words = { better: 'Better', worse: 'Worse', same: 'No difference', unclear: 'Cannot tell' }

/** @param {boolean} isValid @param {boolean} failed @param {Row | undefined} first metric */
const wordOf = (isValid, failed, first) => {
  if (!isValid) return 'Not valid'
  if (failed) return 'Threshold failed'
  return first && first.difference.low !== null ? words[first.difference.verdict] : 'Answer'
}

/** @param {Comparison} comparison @param {Facts} facts @returns {Sections} */
export const comparisonSections = (comparison, facts) => {
  const shown = /** @type {Comparison} */ (plainData(comparison))
  const { rows, rulings, settings, warnings, baseline, other, effect, ranks } = shown
  const failed = rulings.some(({ outcome }) => outcome === 'failed')
  const first = rows.find(({ primary }) => primary)
  const good =
    facts.isValid &&
    !failed &&
    (rulings.length > 0 || ranks !== undefined || first?.difference.verdict !== 'worse')
  const hidden = rows.filter(({ primary }) => !primary)
  return {
    title: `${other.name} against ${baseline.name}`,
    question: ranks
      ? `Which of ${baseline.name}, ${other.name} costs least?`
      : `Does ${other.name} cost more or less than ${baseline.name}?`,
    verdict: {
      good,
      neutral: good && rulings.length === 0 && (ranks ? true : first?.difference.verdict !== 'better'),
      word: wordOf(facts.isValid, failed, ranks ? undefined : first),
      sentence: conclusionOf(comparison, ''),
    },
    highlights: [],
    facts: [
      {
        label: 'differs in',
        text:
          settings
            .map(
              (each) =>
                `${each.name}: ${each.baseline.join(', ')} → ${each.other.join(ranks ? ' / ' : ', ')}`,
            )
            .join('; ') || 'nothing: both sides are the same',
      },
      { label: 'method', text: `${facts.method}; smallest effect that matters ${effectWords(effect)}` },
      { label: 'servers', text: facts.where },
      { label: 'again', text: facts.command },
    ],
    tables: [
      ...(ranks
        ? ranks.filter(({ primary }) => primary).map((rank) => rankTable(shown, rank))
        : [
            metricsTable(
              shown,
              rows.filter(({ primary }) => primary),
              'Metrics with a verdict',
              false,
            ),
          ]),
      ...(rulings.length > 0
        ? [
            {
              title: 'Thresholds',
              columns: [{ title: 'result', left: true }],
              rows: rulings.map((ruling) => [cell(rulingWords(ruling))]),
            },
          ]
        : []),
      ...(facts.rounds.length > 0 ? [ranks ? ranRoundsTable(shown, facts) : roundsTable(shown, facts)] : []),
      ...(ranks ?? []).filter(({ primary }) => !primary).map((rank) => rankTable(shown, rank)),
      ...(hidden.length > 0 && !ranks
        ? [metricsTable(shown, hidden, `${several(hidden.length, 'more metric')}`, true)]
        : []),
    ],
    remarksLast: true,
    warnings: warnings.map(({ message, code }) => ({
      text: message,
      serious: code === 'invalid' && !facts.isValid,
    })),
  }
}

/** @param {string} folder */
const pageIn = (folder) => ({ link: `${folder}/report.html` })

/** @param {Comparison} comparison @param {Facts} facts @returns {Table} */
const roundsTable = ({ rows, baseline, other }, { rounds }) => {
  const shown = rows.filter(({ primary }) => primary).slice(0, 3)
  return {
    title: 'Rounds',
    fold: 'Rounds',
    more: true,
    note: 'Each round has a run of each side, in ABBA order.',
    columns: [
      { title: 'round', left: true },
      { title: 'first', left: true },
      { title: baseline.name, left: true },
      { title: other.name, left: true },
      ...shown.map(({ figure }) => ({ title: figure.title })),
    ],
    rows: rounds.map(({ round, runs }) => {
      const [a, b] = [baseline, other].map(({ name }) => runs.find(({ side }) => side === name))
      return [
        cell(String(round), round),
        cell(runs[0].side),
        ...[a, b].map((run) => (run ? { ...cell('run'), ...pageIn(run.folder) } : cell(dash))),
        ...shown.map(({ figure, ...row }) => {
          const [ofA, ofB] = [a?.figures[figure.name] ?? NaN, b?.figures[figure.name] ?? NaN]
          const change = row.difference.relative ? ofB / ofA - 1 : ofB - ofA
          return {
            ...cell(differenceWords({ figure, ...row }, change), change),
            detail: `${shownFigure(figure, ofA)} → ${shownFigure(figure, ofB)}`,
          }
        }),
      ]
    }),
  }
}

/** For more than two sides: the runs in their order, by the first metric. @param {Comparison} comparison @param {Facts} facts @returns {Table} */
const ranRoundsTable = ({ ranks = [] }, { rounds }) => {
  const figure = ranks.find(({ primary }) => primary)?.figure
  const most = Math.max(...rounds.map(({ runs }) => runs.length))
  return {
    title: 'Rounds',
    fold: 'Rounds',
    more: true,
    note: `Each round has a run of each side; odd rounds in random order, even ones in the reverse of it.${figure ? ` Values: ${figure.title}.` : ''}`,
    columns: [
      { title: 'round', left: true },
      ...Array.from({ length: most }, (_, at) => ({
        title: `run ${at + 1}`,
        left: true,
      })),
    ],
    rows: rounds.map(({ round, runs }) => [
      cell(String(round), round),
      ...Array.from({ length: most }, (_, at) => {
        const run = runs[at]
        return run
          ? {
              ...cell(run.side),
              ...pageIn(run.folder),
              ...(figure && { detail: shownFigure(figure, run.figures[figure.name]) }),
            }
          : cell('')
      }),
    ]),
  }
}

/** @param {Comparison} comparison @param {Facts} facts @returns {NamedPicture[]} */
export const comparisonPictures = (comparison, { rounds }) => {
  const { rows, baseline, ranks } = comparison
  const primary = rows.filter((row) => row.primary)
  const sides = [baseline.name, ...(ranks ? Object.keys(comparison.runs) : [comparison.other.name])]
  const figures = ranks ? [...new Set(primary.map(({ figure }) => figure))] : []
  const forests = ranks
    ? figures.map((figure, at) => ({
        ...forest,
        name: at === 0 ? forest.name : `${forest.name}-${at + 1}`,
        note: at === 0 ? forest.note : '',
        title: `${figure.title}, against ${baseline.name}`,
        option: forest.option({ ...comparison, rows: primary.filter((row) => row.figure === figure) }),
      }))
    : [{ ...forest, option: forest.option(comparison) }]
  const order = primary[0] && { figure: primary[0].figure, sides, rounds }
  const charts = [...forests, { ...runsInOrder, option: order ? runsInOrder.option(order) : null }]
  return charts.flatMap(({ option, ...named }) => (option ? [{ ...named, option, wide: true }] : []))
}
