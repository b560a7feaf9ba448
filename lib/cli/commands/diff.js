// `millrace diff`: what differs between finished runs or experiments, how sure that is, and what thresholds make of it.

import { ownOptions } from '../../../settings.js'
import { OptionError } from '../../base/errors.js'
import { comparisonOf } from '../../compare/comparison.js'
import { compareDocument } from '../../compare/document.js'
import { gateExitCode } from '../../compare/gates.js'
import { comparisonOfFinished } from '../../compare/many.js'
import { compare as kit } from '../../compare/report.js'
import { sidesOf } from '../../compare/sides.js'
import { printData } from '../answer.js'
import { gateOptions, readGate } from '../gate-options.js'

/**
 * @import { Side } from '../../compare/sides.js'
 * @import { Command } from '../commands.js'
 */

/** @param {readonly string[]} words @param {number | null} separator @returns {string[][]} patterns of each side */
const patternsOf = (words, separator) => {
  const sides =
    separator === null ? words.map((word) => [word]) : [words.slice(0, separator), words.slice(separator)]
  if (sides.length < 2 || sides.some((side) => side.length === 0))
    throw new OptionError('diff takes at least two sides: millrace diff A B (--help explains more)')
  return sides
}

/** @param {Side} side */
const isOneRun = ({ series }) => series.every(({ label, repeats }) => label === '' && repeats === 1)

/** @param {Side} side */
const isRepeated = ({ series }) => series.every(({ label, repeats }) => label === '' && repeats > 1)

/** @type {Command} */
export const command = {
  about: {
    words: 'A B [...]',
    does: 'Compares finished runs or experiments: what differs, how sure that is, and whether thresholds hold.',
    examples: [
      ['two runs, or two experiments', 'results/before results/after'],
      ['several runs of each side', "'results/set-*' 'results/list-*'"],
    ],
    more: `Each of A, B ... is a side: the folder of a run, of an experiment, or one that contains the runs of several repeats, such as cells/CELL of an experiment; or a pattern in quotes. The first is the baseline. Several sides of repeated runs are ranked, as millrace compare does. Where the shell expands a pattern into several words, put -- between two sides:  millrace diff results/set-* -- results/list-*
Runs of one side after runs of the other also measure what changed on the machine in between: 'millrace compare' runs both, in turn.`,
  },
  options: [
    ...gateOptions,
    ...ownOptions('Output', [
      {
        name: 'verbose',
        aliases: ['v'],
        was: { all: '--verbose' },
        type: 'flag',
        help: 'metrics without a verdict too',
      },
      { name: 'invalid', type: 'flag', help: 'compare runs that are not valid as well' },
      { name: 'json', type: 'flag', help: 'print the comparison as JSON' },
    ]),
  ],
  isPrivate: true,
  takesWords: true,
  work: async ({ settings: values, typed: { words, separator } }) => {
    const { thresholds, gate, effect } = readGate(values)
    const [baseline, ...others] = await sidesOf(patternsOf(words, separator))
    const asked = { effect, allowInvalid: values.invalid }
    const comparisons =
      others.length > 1 && [baseline, ...others].every(isRepeated)
        ? [comparisonOfFinished([baseline, ...others], thresholds, asked)]
        : others.map((other) => comparisonOf(baseline, other, thresholds, asked))
    if (others.length > 1 && [baseline, ...others].every(isOneRun))
      process.stderr.write(
        `each of the ${others.length + 1} runs is a side of its own; to compare series, put -- between them or patterns in quotes\n`,
      )
    const documents = comparisons.map((comparison) => compareDocument(comparison))
    const layout = { columns: process.stdout.columns, verbose: values.verbose }
    printData(values.json, documents, () => documents.map((one) => kit.text(one, layout)).join('\n'))
    return gateExitCode(
      comparisons.flatMap(({ rulings }) => rulings),
      gate,
    )
  },
}
