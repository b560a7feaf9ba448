// All charts of a run, in the order in which a report shows them.
import { backlog } from './backlog.js'
import { bystander } from './bystander.js'
import { commands } from './commands.js'
import { cpu } from './cpu.js'
import { distribution } from './distribution.js'
import { fetches } from './fetches.js'
import { heatMap } from './heat-map.js'
import { itemBytes } from './item-bytes.js'
import { itemCost } from './item-cost.js'
import { itemsRead } from './items-read.js'
import { latency } from './latency.js'
import { memory } from './memory.js'
import { missCurve } from './miss-curve.js'
import { overview } from './overview.js'
import { rate } from './rate.js'
import { rateLatency } from './rate-latency.js'

export const RUN_CHARTS = Object.freeze([
  ...[overview, missCurve, cpu, rate, itemsRead, fetches, backlog, latency, rateLatency],
  ...[heatMap, distribution, bystander, itemCost, commands, itemBytes, memory],
])
