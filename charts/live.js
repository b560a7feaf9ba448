// The charts that a live page can draw: those whose figures a run has before its end.
import { bystander } from '../../charts/bystander.js'
import { distribution } from '../../charts/distribution.js'
import { heatMap } from '../../charts/heat-map.js'
import { memory } from '../../charts/memory.js'
import { overview } from '../../charts/overview.js'

export const LIVE_CHARTS = Object.freeze([overview, heatMap, bystander, distribution, memory])
