// A comparison for CI: JUnit, and the JSON of github-action-benchmark. Pure.

import { plainText } from '../base/units.js'
import { intervalWords, verdictWords } from '../chart/parts.js'
import { shownFigure } from '../report/cells.js'
import { escaped } from '../report/page/html.js'
import { conclusionOf, rulingWords } from './conclusion.js'
import { middleOf } from './gates.js'

/**
 * @import { Comparison } from './comparison.js'
 * @import { Gate, Ruling } from './gates.js'
 */

/** plainText also removes the characters that XML 1.0 does not allow. @param {string} text */
const attribute = (text) => escaped(plainText(text))

/** @param {Ruling} ruling @param {Gate} gate */
const outcomeOf = (ruling, gate) => {
  const message = `message="${attribute(rulingWords(ruling))}"`
  if (ruling.outcome === 'failed') return `<failure ${message}/>`
  if (ruling.outcome === 'unclear')
    return gate === 'lenient' ? `<skipped ${message}/>` : `<error ${message}/>`
  return ''
}

/**
 * A test a threshold; without thresholds one a metric with a verdict, which passes.
 * @param {Comparison} comparison
 * @param {Gate} gate
 */
export const junit = (comparison, gate) => {
  const { rows, rulings, baseline, other, effect } = comparison
  const suite = attribute(`${other.name} against ${baseline.name}`)
  const cases =
    rulings.length > 0
      ? rulings.map(
          (ruling) =>
            `    <testcase classname="${suite}" name="${attribute(ruling.threshold)}">${outcomeOf(ruling, gate)}</testcase>`,
        )
      : rows
          .filter(({ primary }) => primary)
          .map(
            (row) =>
              `    <testcase classname="${suite}" name="${attribute(row.figure.name)}"><system-out>${attribute(`${verdictWords(row, effect)} (${intervalWords(row)})`)}</system-out></testcase>`,
          )
  const number = (/** @type {Ruling['outcome']} */ wanted) =>
    rulings.filter(({ outcome }) => outcome === wanted).length
  const unclear = number('unclear')
  const counts = `tests="${cases.length}" failures="${number('failed')}" errors="${gate === 'strict' ? unclear : 0}" skipped="${gate === 'lenient' ? unclear : 0}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${suite}" ${counts}>`,
    ...cases,
    `    <system-out>${attribute(conclusionOf(comparison, ''))}</system-out>`,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

/** Half of the 95 % interval of the mean. @param {readonly number[]} samples */
const rangeOf = (samples) => {
  const { value, high } = middleOf(samples)
  return high === null ? {} : { range: `± ${(high - value).toPrecision(3)}` }
}

/**
 * The other side's values, for github-action-benchmark's customSmallerIsBetter or customBiggerIsBetter.
 * @param {Comparison} comparison
 * @param {'less' | 'more'} better
 */
export const benchmarkData = ({ rows, other }, better) =>
  rows
    .filter(({ primary, figure }) => primary && figure.better === better)
    .map((row) => ({
      name: row.figure.title,
      unit: row.figure.unit,
      value: middleOf(row.b).value,
      ...rangeOf(row.b),
      extra: `${plainText(other.name)}: ${shownFigure(row.figure, row.difference.centreB)}`,
    }))

/** @param {unknown} data */
const json = (data) => `${JSON.stringify(data, null, 2)}\n`

/** By their names. @param {Comparison} comparison @param {Gate} gate @returns {Record<string, string>} */
export const ciFiles = (comparison, gate) => ({
  'junit.xml': junit(comparison, gate),
  'benchmark-smaller.json': json(benchmarkData(comparison, 'less')),
  'benchmark-bigger.json': json(benchmarkData(comparison, 'more')),
})
