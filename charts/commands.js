import { count, micros } from '../lib/base/units.js'
import { stackedBars } from '../lib/chart/parts.js'
import { commandCosts } from '../lib/result/cost-parts.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { RunRecord } from '../lib/result/record.js'
 */

const shown = 8

/** @type {Chart<RunRecord>} */
export const commands = {
  name: 'commands',
  title: 'Execution time per command',
  note: 'Execution time of each command on the masters, per item; below its name the time of one call and the number of calls.',
  fold: 'cost',
  option: ({ run }) => {
    const costs = commandCosts(run).slice(0, shown)
    if (costs.length === 0) return null
    return stackedBars({
      axis: 'execution time per item',
      unit: 'us',
      rows: costs.map(({ name, usPerCall, calls }) => `${name}\n${micros(usPerCall)} × ${count(calls)}`),
      parts: [{ name: 'execution on the masters', color: '@c1', values: costs.map(({ us }) => us) }],
    })
  },
}
