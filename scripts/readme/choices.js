// What docs/validation/choosing.md says of the choices in docs/data/choose.json, which npm run bench:choose measured.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { alikeLine, barsOf, regretOf } from '../bench/choose-workloads.js'
import { dataFolder } from './data.js'
import { table } from './reference.js'

/** @import { Alike, Line } from '../bench/choose-workloads.js' */

export const choicesPart = () => {
  /** @type {{ workloads: Line[], alike: Alike[] }} */
  const { workloads, alike } = JSON.parse(readFileSync(join(dataFolder, 'choose.json'), 'utf8'))
  const { median, worst, longestS } = barsOf(workloads)
  return [
    table(
      ['workload', 'candidates', 'answer', 'chosen', 'best', 'regret', 'seconds'],
      workloads.map((line) => [
        `\`${line.options}\``,
        String(line.candidates.length),
        line.state,
        line.chosen,
        regretOf(line).best,
        regretOf(line).regret.toFixed(2),
        line.choose_s.toFixed(0),
      ]),
    ),
    '',
    `${workloads.length} workloads: the regret is ${median.toFixed(2)} at the median and ${worst.toFixed(2)} at most; a choice took ${longestS.toFixed(0)} s at most. ${alikeLine(alike)}.`,
  ].join('\n')
}
