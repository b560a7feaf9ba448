// All charts, in the order in which a report shows them.
import { bystander } from '../../charts/bystander.js'
import { commands } from '../../charts/commands.js'
import { cpu } from '../../charts/cpu.js'
import { distribution } from '../../charts/distribution.js'
import { itemBytes } from '../../charts/item-bytes.js'
import { itemCost } from '../../charts/item-cost.js'
import { latency } from '../../charts/latency.js'
import { memory } from '../../charts/memory.js'
import { rate } from '../../charts/rate.js'

export const RUN_CHARTS = Object.freeze([
  cpu,
  rate,
  latency,
  distribution,
  bystander,
  itemCost,
  commands,
  itemBytes,
  memory,
])

/** @typedef {import('./draw.js').Picture & { name: string }} NamedPicture */

/**
 * The charts of a run that have something to show.
 * @param {import('./record.js').RunRecord} record
 * @returns {NamedPicture[]}
 */
export const runPictures = (record) =>
  RUN_CHARTS.flatMap(({ option, ...named }) => {
    const shown = option(record)
    return shown ? [{ ...named, option: shown }] : []
  })
