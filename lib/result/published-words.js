// Words for the published numbers of an experiment, next to which ours are shown.

/** @import { ExperimentDocument, ExperimentRow } from './experiment-document.js' */

const cpuOfNodes = /(^|_)(master|replica)\.cpu_pct$/

/** @param {ExperimentRow} row @returns {boolean | null} null: not known */
const isAtOurRate = ({ published, figures }) => {
  const [theirs, ours] = [published?.['rate.nominal'], figures['rate.nominal']?.median]
  return theirs === undefined || ours === undefined ? null : Math.abs(ours / theirs - 1) < 0.01
}

/** Whether the published figure can be drawn on the axis of ours: CPU follows the rate. @param {string} name @param {ExperimentRow} row */
export const isComparable = (name, row) => !cpuOfNodes.test(name) || isAtOurRate(row) === true

/** @param {ExperimentDocument} experiment @param {string} [only] name of a column @returns {string} '' where no CPU was published */
export const publishedWords = ({ columns, rows }, only) => {
  const names = columns
    .map(({ name }) => name)
    .filter((name) => cpuOfNodes.test(name) && (only ?? name) === name)
  const known = rows.filter(({ published }) => names.some((name) => published?.[name] !== undefined))
  if (known.length === 0) return ''
  const rates = known.map(isAtOurRate)
  const doubt = rates.includes(false)
    ? ', and at other rates than ours: only ratios can be compared'
    : rates.includes(null)
      ? '; where its rate was another than ours, only ratios can be compared'
      : ''
  return `published CPU is CloudWatch's CPUUtilization of nodes with 2 vCPUs, where one busy core reads 50${doubt}`
}

/** @param {string} words */
export const asSentence = (words) => (words ? ` ${words.replace(/^./, (first) => first.toUpperCase())}.` : '')
