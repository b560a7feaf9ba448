// The charts that a live page can draw: those whose figures a run has before its end.
import { bystander } from './bystander.js'
import { distribution } from './distribution.js'
import { heatMap } from './heat-map.js'
import { memory } from './memory.js'
import { overview } from './overview.js'

export const LIVE_CHARTS = Object.freeze([overview, heatMap, bystander, distribution, memory])
