#!/usr/bin/env node
// `millrace diff`: what differs between finished runs or experiments, how sure that is, and what thresholds make of it.
import { gateOptions, gateUsage, readGate } from '../lib/cli/gate-options.js'
import { script } from '../lib/cli/script.js'
import { comparisonOf } from '../lib/compare/comparison.js'
import { comparisonData } from '../lib/compare/data.js'
import { exitCodeOf } from '../lib/compare/gates.js'
import { sidesOf } from '../lib/compare/sides.js'
import { comparisonText } from '../lib/compare/text.js'
import { OptionError } from '../lib/errors.js'

const usage = `Usage: millrace diff [options] A B [...]

Each of A, B ... is a side: the folder of a run, of an experiment, or one that holds the runs of several repeats,
such as cells/CELL of an experiment;
or a pattern in quotes ('results/list-*'). The first is the baseline. Where the shell spreads a pattern over several
words, -- parts two sides:  millrace diff results/set-* -- results/list-*
Runs of one side after runs of the other also measure what changed on the machine in between: 'millrace compare'
runs both, in turn.

${gateUsage}
  --all              metrics without a verdict too
  --invalid          compares runs that are not valid as well
  --json             print the comparison as JSON
  -h, --help         this text`

/** @param {string[]} words @param {number | null} separator @returns {string[][]} patterns of each side */
const patternsOf = (words, separator) => {
  const sides =
    separator === null ? words.map((word) => [word]) : [words.slice(0, separator), words.slice(separator)]
  if (sides.length < 2 || sides.some((side) => side.length === 0))
    throw new OptionError('two sides at least are compared: millrace diff A B (--help explains more)')
  return sides
}

/** @param {import('../lib/compare/sides.js').Side} side */
const isOneRun = ({ series }) => series.every(({ label, repeats }) => label === '' && repeats === 1)

const flag = /** @type {const} */ ({ type: 'boolean' })

await script({
  usage,
  options: { ...gateOptions, all: flag, invalid: flag, json: flag },
  work: async (values, words, { separator }) => {
    const { thresholds, gate, effect } = readGate(values)
    const [baseline, ...others] = await sidesOf(patternsOf(words, separator))
    const comparisons = others.map((other) =>
      comparisonOf(baseline, other, thresholds, { effect, allowInvalid: values.invalid === true }),
    )
    if (others.length > 1 && [baseline, ...others].every(isOneRun))
      process.stderr.write(
        `each of the ${others.length + 1} runs is a side of its own; to compare series, put -- between them or patterns in quotes\n`,
      )
    const look = { columns: process.stdout.columns ?? 110, all: values.all === true }
    const text = values.json
      ? `${JSON.stringify(comparisons.map(comparisonData), null, 2)}\n`
      : comparisons.map((comparison) => comparisonText(comparison, look)).join('\n')
    process.stdout.write(text)
    return exitCodeOf(
      comparisons.flatMap(({ rulings }) => rulings),
      gate,
    )
  },
})
