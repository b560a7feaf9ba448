// Runs in the live page: follows the stream of the run, and draws what it says with the charts of the report.

import { LIVE_CHARTS } from '../../../../charts/live.js'
import { boxTrouble } from '../../../base/box-trouble.js'
import { clockTime, count, micros, partedAtOptions, percent, rate } from '../../../base/units.js'
import { clientLimit } from '../../../measures/client-limit.js'
import { element, elementById } from './element.js'
import { chartIn } from './figures.js'
import { drawTables } from './live-tables.js'
import { themed } from './theme.js'

/**
 * @import { About, Latest, Message, Shown } from '../../../dashboard/state.js'
 * @import { RunRecord } from '../../../result/record.js'
 * @import { Library } from './figures.js'
 */

const silentMs = 5000
const { echarts } = /** @type {{ echarts?: Library }} */ (/** @type {unknown} */ (window))

/** All that is known of the run. @type {Shown} */
let state = {
  about: null,
  verdict: null,
  latest: null,
  earlierEvents: 0,
  sums: {},
  beside: {},
  events: [],
  warnings: [],
  points: [],
  boxes: [],
  distribution: { intended: [], service: [] },
  whole: { p99: null, max: null, rate: null, cpuUs: null },
}
let isConnected = false
let heardMs = 0

/** @type {Map<string, ReturnType<typeof chartIn>>} by the name of the chart */
const drawnCharts = new Map()

/** What the charts of a report are made of, as far as there is some. @param {About} about @param {Shown} known */
const recordOf = (about, { events, points, distribution }) => ({
  kind: 'run',
  run: {
    kind: about.kind,
    plan: { durationMs: about.totalMs, ...about.plan },
    rate: { nominal: about.nominal },
    warm_up_s: about.warmUpS,
    events,
    thresholds: (about.thresholds ?? []).map((threshold) => ({ threshold })),
  },
  seconds: points,
  distribution,
  heat: points.flatMap(({ at_ms: atMs, over_ms: overMs, latency_us: latency, duration_us: fetch }) => {
    const found = latency?.intended ?? fetch
    return found ? [{ fromS: (atMs - overMs) / 1000, toS: atMs / 1000, buckets: found.buckets }] : []
  }),
  phases: [],
})

const drawCharts = () => {
  if (!echarts || !state.about || state.points.length === 0 || document.hidden) return
  const record = /** @type {RunRecord} */ (/** @type {unknown} */ (recordOf(state.about, state)))
  for (const { name, option } of LIVE_CHARTS) {
    const raw = option(record)
    const figure = elementById(`figure-${name}`)
    figure.hidden = raw === null
    if (raw === null) continue
    const chart = drawnCharts.get(name)
    if (chart) chart.show(raw)
    else drawnCharts.set(name, chartIn(echarts, figure, raw))
  }
}

/** @param {string} word @param {string} sentence @param {string} [tone] */
const showState = (word, sentence, tone = 'neutral') => {
  const place = elementById('state')
  place.className = `verdict ${tone}`
  const [strong, span] = place.children
  if (strong.textContent !== word) strong.textContent = word
  if (span.textContent !== sentence) span.textContent = sentence
}

/** Elapsed, and what is left. */
const timeWords = () => {
  const atMs = Math.round((state.latest?.at_ms ?? 0) / 1000) * 1000
  const totalMs = state.about?.totalMs ?? null
  return totalMs === null ? clockTime(atMs) : `${clockTime(atMs)} of ${clockTime(totalMs)}`
}

/** What of the items has another outcome than an answer. */
const lostWords = () => {
  const { failed = 0, uncertain = 0, dropped = 0, unsettled = 0, overrun = 0 } = state.sums
  const kinds = Object.entries({
    failed,
    uncertain,
    dropped,
    unsettled,
    missed: overrun,
    ...state.beside,
  }).filter(([, n]) => n > 0)
  return kinds.map(([kind, n]) => `${count(n)} ${kind}`).join(', ')
}

const drawState = () => {
  if (heardMs === 0) return
  const { verdict, about, latest } = state
  if (verdict) {
    const tone = verdict.good ? (verdict.neutral ? 'neutral' : '') : 'bad'
    return showState(
      `${verdict.word}.`,
      verdict.sentence.replace(/^./, (/** @type {string} */ sign) => sign.toUpperCase()),
      tone,
    )
  }
  if (!isConnected) return showState('Not connected.', 'Trying again: what is below may be old.', 'bad')
  if (!latest)
    return showState('Starting.', about ? 'No second is over yet.' : 'The servers are being checked.')
  const silent = performance.now() - heardMs
  if (silent > silentMs)
    return showState('Silent.', `No news of the run for ${Math.round(silent / 1000)} s.`, 'bad')
  const lost = lostWords()
  const phase = latest.phase && latest.phase !== 'measuring' ? `${latest.phase}, ` : ''
  const trouble = boxTrouble(state.boxes)
  const words = [lost, trouble].filter(Boolean).join('; ')
  showState(
    'Running.',
    `${phase}${timeWords()}${words ? `: ${words}` : ', nothing lost'}`,
    lost ? 'bad' : trouble ? 'warn' : '',
  )
}

/** The busiest node of a role. @param {Latest} latest @param {string} role */
const busiestPct = ({ nodes }, role) =>
  nodes
    .flatMap((row) => (row.role === role ? (row.engine_cpu_pct ?? []) : []))
    .reduce((/** @type {number | null} */ most, pct) => Math.max(most ?? 0, pct), null)

/** @param {About} about @param {Latest} latest @returns {[string, string][]} */
const tilesOf = (about, latest) => {
  const { whole } = state
  const units = { clients: 'operations/s', jobs: 'jobs/s', workers: 'jobs/s' }
  const unit = units[/** @type {keyof typeof units} */ (about.plan.flow)] ?? 'items/s'
  const times = latest.latency_us?.intended ?? latest.duration_us
  const what = latest.latency_us ? 'latency' : 'fetch'
  const limit = clientLimit(latest.client ?? {})
  const target = about.nominal === null ? '' : `, target ${rate(about.nominal)}`
  const sustained = [`${unit} sustained${target}`, rate(whole.rate)]
  const wholeTime = [
    `${what} ${whole.p99 === null ? 'max' : 'p99'}, whole run`,
    micros(whole.p99 ?? whole.max),
  ]
  const cost = [`server CPU per ${unit.replace(/s\/s$/, '')}, idle included`, micros(whole.cpuUs)]
  // A run that ended without a result.
  if (state.verdict) return /** @type {[string, string][]} */ ([cost, sustained, wholeTime])
  return /** @type {[string, string][]} */ ([
    cost,
    sustained,
    ['last second', rate(latest.achieved ?? latest.items_per_s)],
    [`${what} p50, last second`, micros(times?.p50)],
    wholeTime,
    ...(latest.latency_us && 'items_per_s' in latest
      ? [
          ['items/s read, last second', rate(latest.items_per_s)],
          ['fetch p50, last second', micros(latest.duration_us?.p50)],
        ]
      : []),
    ['busiest master', percent(busiestPct(latest, 'master'))],
    ...(latest.bystander_us ? [['other clients, max', micros(latest.bystander_us.max)]] : []),
    [`sending thread${limit ? ', the limit' : ''}`, percent(latest.client?.busy_pct)],
  ])
}

const drawTiles = () => {
  if (!state.latest || !state.about) return
  const place = elementById('tiles')
  const { good, isQuotable = good, highlights = [] } = state.verdict ?? { good: true }
  const tiles =
    highlights.length > 0
      ? highlights.map(({ label, text }) => [label, text])
      : tilesOf(state.about, state.latest)
  place.hidden = false
  place.classList.toggle('stale', !isQuotable)
  place.replaceChildren(
    ...tiles.map(([label, text]) =>
      element('div', {}, element('dt', { textContent: label }), element('dd', { textContent: text })),
    ),
  )
}

const drawWarnings = () => {
  const place = elementById('warnings')
  place.hidden = state.warnings.length === 0
  place.replaceChildren(
    ...state.warnings.map((/** @type {string} */ text) => element('li', { textContent: text })),
  )
}

const drawTitle = () => {
  if (!state.about) return
  elementById('title').textContent = state.about.title
  elementById('question').replaceChildren(
    ...partedAtOptions(state.about.question).map((part, at) =>
      at % 2 === 1 ? element('span', { className: 'option', textContent: part }) : part,
    ),
  )
  document.title = state.about.title
}

const drawAll = () => {
  drawTitle()
  drawWarnings()
  drawState()
  drawTiles()
  drawTables(state)
  drawCharts()
}

/** What a message changes. @type {{ [Kind in Message['kind']]: (message: Extract<Message, { kind: Kind }>) => void }} */
const taken = {
  whole({ kind, ...given }) {
    state = given
    drawAll()
  },
  about({ about }) {
    state.about = about
    drawAll()
  },
  second({ kind, point, merged, ...now }) {
    Object.assign(state, now)
    if (point) state.points.push(point)
    if (merged) state.points.splice(merged.at, merged.count, merged.point)
    drawState()
    drawTiles()
    drawTables(state)
    drawCharts()
  },
  boxes({ boxes }) {
    state.boxes = boxes
    drawState()
    drawTables(state)
  },
  event({ event, earlierEvents }) {
    state.events.push(event)
    if (earlierEvents > state.earlierEvents) state.events.shift()
    state.earlierEvents = earlierEvents
  },
  warning({ text }) {
    state.warnings.push(text)
    drawWarnings()
  },
  end({ verdict }) {
    state.verdict = verdict
    source.close()
    drawAll()
  },
}

const source = new EventSource('events')
source.onopen = () => {
  isConnected = true
}
source.onerror = () => {
  isConnected = false
  drawState()
}
source.onmessage = ({ data }) => {
  isConnected = true
  heardMs = performance.now()
  /** @type {Message} */
  const message = JSON.parse(data)
  const take = /** @type {(message: Message) => void} */ (taken[message.kind])
  take(message)
  // For those who wait until there is something to see.
  document.documentElement.dataset.points = String(state.points.length)
}
setInterval(drawState, 1000)
document.addEventListener('visibilitychange', drawCharts)
themed([
  () => {
    for (const { draw } of drawnCharts.values()) draw()
  },
])
document.documentElement.dataset.ready = 'true'
