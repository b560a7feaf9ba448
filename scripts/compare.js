#!/usr/bin/env node
// What differs between runs or experiments, how sure that is, and whether it keeps its limits.
import { script } from '../lib/cli/script.js'
import { ExitCode, OptionError } from '../lib/errors.js'
import { comparisonData, comparisonOf, comparisonText } from '../lib/report/compare.js'
import { sidesOf } from '../lib/report/sides.js'
import { thresholdOf } from '../lib/report/thresholds.js'

const usage = `Usage: node scripts/compare.js [options] A B [...]

Each of A, B ... is a side: the folder of a run, of an experiment, or one that holds the runs of several repeats,
such as cells/CELL of an experiment;
or a pattern in quotes ('results/list-*'). The first is the baseline. Where the shell spreads a pattern over several
words, -- parts two sides:  node scripts/compare.js results/set-* -- results/list-*

  --threshold LIMIT  'server.cpu_us_per_item<+5%' against the baseline, or 'latency.intended.p99<20ms' of the median
                     of the other side; may be repeated. Exit code 99 when one fails, as it does for a row that
                     stands on one side only
  --json             print the comparison as JSON
  -h, --help         this text`

/** @param {string[]} words @param {number | null} separator @returns {string[][]} patterns of each side */
const patternsOf = (words, separator) => {
  const sides =
    separator === null ? words.map((word) => [word]) : [words.slice(0, separator), words.slice(separator)]
  if (sides.length < 2 || sides.some((side) => side.length === 0))
    throw new OptionError('two sides at least are compared: node scripts/compare.js A B (--help tells more)')
  return sides
}

/** @param {import('../lib/report/sides.js').Side} side */
const isOneRun = ({ series }) => series.every(({ label, repeats }) => label === '' && repeats === 1)

await script({
  usage,
  options: { threshold: { type: 'string', multiple: true }, json: { type: 'boolean' } },
  work: async (values, words, { separator }) => {
    const thresholds = (values.threshold ?? []).map(thresholdOf)
    const [baseline, ...others] = await sidesOf(patternsOf(words, separator))
    const comparisons = others.map((other) => comparisonOf(baseline, other, thresholds))
    if (others.length > 1 && [baseline, ...others].every(isOneRun))
      process.stderr.write(
        `each of the ${others.length + 1} runs is a side of its own; to compare series, put -- between them or patterns in quotes\n`,
      )
    const columns = process.stdout.columns ?? 110
    const text = values.json
      ? `${JSON.stringify(comparisons.map(comparisonData), null, 2)}\n`
      : comparisons.map((comparison) => comparisonText(comparison, { columns })).join('\n')
    process.stdout.write(text)
    const failed = comparisons.some(({ rulings }) => rulings.some(({ passed }) => !passed))
    return failed ? ExitCode.threshold : ExitCode.done
  },
})
