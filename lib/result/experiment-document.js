// experiment.json: what a runner of experiments writes and reports read, and words for published numbers beside ours.

/**
 * @import { Warning } from '../measures/warnings.js'
 *
 * @typedef {object} FigureOfRow a figure over the repeats of a row
 * @property {number} median
 * @property {number} [mean] geometric where all samples are above 0; documents of earlier versions lack it
 * @property {number} low ends of the 95 % interval, or of the range where there is none
 * @property {number} high
 * @property {number[]} samples one a repeat, in the order of the runs
 *
 * @typedef {object} ExperimentColumn a figure that is in the table
 * @property {string} name as figures.js knows it: server.cpu_us_per_item, master.engine_cpu_pct
 * @property {string} [title] instead of that of figures.js
 * @property {boolean} [chart] false: in the table only
 *
 * @typedef {object} ExperimentRow
 * @property {string} label unique within the experiment
 * @property {Record<string, string | number | boolean>} factors what varies
 * @property {Record<string, FigureOfRow>} figures by name of a column
 * @property {Record<string, number> | null} published by name of a column
 * @property {string[]} runs folders of its runs, relative to that of the experiment
 * @property {{ code: string, text: string }[]} marks what must be known of the row: the client was the limit, ...
 *
 * @typedef {object} ExperimentRatio what travels between machines
 * @property {string} label 'list / sorted set'
 * @property {string} figure name of a column
 * @property {string} numerator label of a row
 * @property {string} denominator label of a row
 * @property {{ ratio: number, low: number | null, high: number | null }} ours with its 95 % interval
 * @property {number | null} published
 * @property {string | null} [contradicts] why ours contradicts the published conclusion
 * @property {string} [denominator_figure] where it is another than the numerator's
 * @property {number[]} [samples] of ours, one a round
 * @property {'agrees' | 'differs' | 'contradicts' | 'undecided' | null} [standing] of ours to what was published
 * @property {string | null} [claim] what was published, in words
 * @property {string | null} [why] what explains the difference
 *
 * @typedef {{ label: string, from_ms: number, to_ms: number }} ExperimentPhase of one continuous run
 *
 * @typedef {object} ExperimentDocument
 * @property {1} schema
 * @property {'experiment'} kind
 * @property {string} id
 * @property {string} question
 * @property {string} setup what was fixed, in words
 * @property {string} started ISO time
 * @property {number} [duration_s] of the whole
 * @property {string} [command] that reproduces it
 * @property {{ millrace: string, node: string, servers: string[] }} versions
 * @property {string} [hardware]
 * @property {ExperimentColumn[]} columns
 * @property {ExperimentRow[]} rows
 * @property {ExperimentRatio[]} ratios
 * @property {ExperimentPhase[]} phases
 * @property {string} [timeline] folder of that run, relative to that of the experiment: run.json and intervals.ndjson
 * @property {string} verdict one sentence
 * @property {Warning[]} warnings
 */

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
