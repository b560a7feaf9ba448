// A running fleet in a terminal: one screen of at most `columns` and `rows`. Pure.

import { boxTrouble } from '../base/box-trouble.js'
import { alignedTable, painter, shortened, wrapped } from '../base/layout.js'
import { bytes, clockTime, count, dash, micros, percent, plainText, rate, several } from '../base/units.js'
import { others, reading } from '../measures/index.js'
import { aheadText, whoIs } from './words.js'

/**
 * @import { Status } from '../fleet/status.js'
 * @import { NodeRow } from '../probes/node-sampler.js'
 */

// Boxes in trouble come first.
const order = ['silent', 'lost', 'joining', 'ready', 'writing', 'reading', 'done']

/** @param {Status} status */
const stateWords = ({ state, refused, stopped_by: by, boxes, writers }) => {
  if (refused) return `refused: ${refused}`
  if (state === 'joining') {
    const ready = boxes.filter((box) => box.state === 'ready').flatMap((box) => box.writers).length
    return `${ready} of ${several(writers, 'writer')} ready`
  }
  return by ? `${state}, stopped by ${plainText(by)}` : state
}

/** The busiest node of a role. @param {readonly Pick<NodeRow, 'role' | 'engine_cpu_pct'>[]} nodes @param {string} role */
const busiestOf = (nodes, role) => {
  const all = nodes.flatMap((node) => (node.role === role ? (node.engine_cpu_pct ?? []) : []))
  return all.length === 0 ? null : Math.max(...all)
}

/** @param {Status} status */
const readLines = (status) => {
  const { readers, boxes } = status
  if (readers === 0) return []
  const numbersOf = (/** @type {string} */ state) =>
    boxes.filter((box) => box.state === state).flatMap((box) => box.readers).length
  // In the last second, boxes may have ended already.
  const there = numbersOf('reading') || numbersOf('done')
  return reading.screen(status, `${there} of ${several(readers, 'reader')}`)
}

/** @param {Status} status */
const headLines = (status) => {
  const { second, items, nominal } = status
  const lost = ['failed', 'uncertain', 'dropped', 'unsettled'].flatMap((name) =>
    items[name] > 0 && name !== 'unsettled' ? [`${count(items[name])} ${name}`] : [],
  )
  const elapsed = status.elapsed_s === null ? dash : clockTime(status.elapsed_s * 1000)
  const whole = status.duration_s === null ? '' : ` of ${clockTime(status.duration_s * 1000)}`
  const latency = second?.latency_us.intended
  const master = busiestOf(second?.nodes ?? [], 'master')
  const replica = busiestOf(second?.nodes ?? [], 'replica')
  return [
    `${status.run}: ${status.strategy}, ${stateWords(status)}, ${elapsed}${whole}`,
    `rate      ${rate(second?.achieved)}${nominal ? ` of ${rate(nominal)}` : ''} items/s by ${second?.writers ?? 0} of ${several(status.writers, 'writer')}`,
    `latency   p50 ${micros(latency?.p50)}  p99 ${micros(latency?.p99)}  max ${micros(latency?.max)}  PING p99 ${micros(second?.[others.path]?.p99)}`,
    `nodes     busiest master ${percent(master)}${replica === null ? '' : `  busiest replica ${percent(replica)}`} of a core`,
    `items     ${count(items.acked ?? 0)} acknowledged${lost.length > 0 ? `, ${lost.join(', ')}` : boxTrouble(status.boxes) ? '' : ', none lost'}`,
    ...readLines(status),
    `control   ${bytes(Object.values(status.control_bytes).reduce((sum, n) => sum + n, 0))} kept there`,
  ]
}

/** @param {number} ms */
const silence = (ms) => `the control has not answered for ${Math.round(ms / 1000)} s`

/** @param {Status} status @param {{ columns?: number, rows?: number, color?: boolean, silentMs?: number }} [layout] silentMs: how old the status is */
export const fleetScreen = (
  status,
  { columns = 80, rows = Number.POSITIVE_INFINITY, color = false, silentMs = 0 } = {},
) => {
  const paint = painter(color)
  const [first, ...facts] = headLines(status)
  const title = wrapped(first, columns)
  const trouble = boxTrouble(status.boxes)
  const gone = trouble ? wrapped(`${trouble}: what they had to write is absent`, columns) : []
  const old = silentMs > 0 ? wrapped(`${silence(silentMs)}: what is below is old`, columns) : []
  const head = facts.flatMap((line) => wrapped(line, columns))
  const sorted = status.boxes.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
  // A blank line, the titles, the line of those that have no room, and the one that the cursor is in.
  const room = Math.max(1, rows - title.length - gone.length - old.length - head.length - 4)
  const shown = sorted.slice(0, room)
  const stateOf = (/** @type {Status['boxes'][number]} */ { state, silent_s: s }) =>
    state === 'silent' ? `silent ${s.toFixed(0)} s` : state
  const table = alignedTable(
    [
      { title: 'box', left: true, cell: whoIs },
      { title: 'host', left: true, rank: 1, cell: (box) => shortened(plainText(box.host), 20) },
      { title: 'state', left: true, cell: stateOf },
      { title: 'items/s', cell: (box) => rate(box.achieved) },
      { title: 'p99', rank: 2, cell: (box) => micros(box.p99_us) },
      { title: 'busy', rank: 3, cell: (box) => percent(box.busy_pct) },
      {
        title: 'clock',
        rank: 4,
        cell: (box) => aheadText(box.offset_ms),
      },
    ],
    shown,
    columns,
  )
  const [titles, ...lines] = table
  const inked = lines.map((line, at) =>
    ['silent', 'lost'].includes(shown[at].state) ? paint.red(line) : line,
  )
  const more = sorted.length - shown.length
  return [
    ...title.map(paint.bold),
    ...gone.map(paint.yellow),
    ...old.map(paint.red),
    ...head,
    '',
    ...(shown.length > 0 ? [paint.dim(titles), ...inked] : ['no box has joined']),
    ...(more > 0 ? [paint.dim(`and ${count(more)} more`)] : []),
  ].slice(0, rows - 1)
}

/** One line, for output that is no terminal. @param {Status} status @param {number} [silentMs] */
export const fleetLine = (status, silentMs = 0) => {
  if (silentMs > 0) return silence(silentMs)
  const { second, elapsed_s: elapsedS, boxes, items } = status
  const trouble = boxTrouble(boxes)
  const lost = (items.failed ?? 0) + (items.uncertain ?? 0) + (items.dropped ?? 0)
  return [
    elapsedS === null ? stateWords(status) : clockTime(elapsedS * 1000),
    `${rate(second?.achieved)} items/s`,
    `p99 ${micros(second?.latency_us.intended?.p99)}`,
    `${second?.writers ?? 0} of ${several(status.writers, 'writer')}`,
    ...(trouble ? [trouble] : []),
    ...(lost > 0 ? [`${count(lost)} lost`] : []),
  ].join('  ')
}
