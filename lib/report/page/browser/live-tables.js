// The tables of the live page: boxes and their health, nodes, events.
import { bytes, count, dash, micros, percent, rate } from '../../../base/units.js'
import { clientLimit } from '../../../measures/client-limit.js'
import { element, elementById } from './element.js'

/** @import { BoxRow, Shown } from '../../../dashboard/state.js' */

/**
 * @param {string} id
 * @param {{ title: string, left?: boolean }[]} columns
 * @param {string[][]} rows
 * @param {boolean[]} [inTrouble] rows
 */
const drawTable = (id, columns, rows, inTrouble = []) => {
  const section = elementById(id)
  section.hidden = rows.length === 0
  if (rows.length === 0) return
  const cell = (/** @type {string} */ tag, /** @type {string} */ text, /** @type {number} */ at) =>
    element(tag, { textContent: text, className: columns[at].left ? 'left' : '' })
  const [head] = section.getElementsByTagName('thead')
  const titles = columns.map(({ title }) => title).join('\t')
  if (head.dataset.titles !== titles)
    head.replaceChildren(element('tr', {}, ...columns.map(({ title }, at) => cell('th', title, at))))
  head.dataset.titles = titles
  const [body] = section.getElementsByTagName('tbody')
  const rowOf = (/** @type {string[]} */ row, /** @type {number} */ at) =>
    element(
      'tr',
      { className: inTrouble[at] ? 'trouble' : '' },
      ...row.map((text, to) => cell('td', text, to)),
    )
  body.replaceChildren(...rows.map(rowOf))
}

const column = (/** @type {string} */ title) => ({ title })
const leftColumn = (/** @type {string} */ title) => ({ title, left: true })

/** @param {BoxRow} box */
const troubleOf = (box) => {
  if (box.trouble) return box.trouble
  if (box.stopped_ms) return `did not run for ${(box.stopped_ms / 1000).toFixed(1)} s`
  const limit = clientLimit(box)
  return limit ? `the limit: ${limit}` : null
}

const inMs = (/** @type {number | null | undefined} */ ms) =>
  micros(typeof ms === 'number' ? ms * 1000 : null)

/** The columns of a box; one that no box has is left out. @type {{ title: string, left?: boolean, key: keyof BoxRow, text: (box: BoxRow) => string }[]} */
const boxColumns = [
  { title: 'box', left: true, key: 'name', text: ({ name }) => name },
  { title: 'role', left: true, key: 'role', text: ({ role = '' }) => role },
  { title: 'health', left: true, key: 'name', text: (box) => troubleOf(box) ?? box.health ?? 'fine' },
  { title: 'items/s', key: 'achieved', text: ({ achieved }) => rate(achieved) },
  { title: 'p99', key: 'p99_us', text: ({ p99_us: us }) => micros(us) },
  { title: 'CPU', key: 'cpu_pct', text: ({ cpu_pct: pct }) => percent(pct) },
  { title: 'sending thread', key: 'busy_pct', text: ({ busy_pct: pct }) => percent(pct) },
  { title: 'loop delay p99', key: 'loop_delay_ms_p99', text: ({ loop_delay_ms_p99: ms }) => inMs(ms) },
  {
    title: 'clock',
    key: 'clock_ms',
    text: ({ clock_ms: ms = 0 }) => `${ms < 0 ? '−' : '+'}${inMs(Math.abs(ms))}`,
  },
  { title: 'waiting', key: 'waiting_bytes', text: ({ waiting_bytes: waiting }) => bytes(waiting) },
  {
    title: 'memory',
    key: 'rss_mb',
    text: ({ rss_mb: mb }) => bytes(typeof mb === 'number' ? mb * 1e6 : null),
  },
]

/** Boxes in trouble come first. @param {readonly BoxRow[]} boxes */
const drawBoxes = (boxes) => {
  const columns = boxColumns.filter(({ key }) => boxes.some((box) => box[key] !== undefined))
  const sorted = boxes.toSorted((a, b) => Number(troubleOf(b) !== null) - Number(troubleOf(a) !== null))
  drawTable(
    'boxes',
    columns,
    sorted.map((box) => columns.map(({ text }) => text(box))),
    sorted.map((box) => troubleOf(box) !== null),
  )
}

/** @param {Shown | null} state */
export const drawTables = (state) => {
  if (!state) return
  drawBoxes(state.boxes)
  if (!state.latest) return
  const { latest, events, earlierEvents } = state
  drawTable(
    'nodes',
    [
      leftColumn('node'),
      column('shard'),
      leftColumn('role'),
      ...['engine', 'process', 'commands/s', 'memory', 'clients'].map(column),
      leftColumn(''),
    ],
    latest.nodes.map((node) => [
      node.address,
      String(node.shard),
      node.role,
      percent(node.engine_cpu_pct),
      percent(node.cpu_pct),
      count(node.commands_per_s),
      bytes(node.memory_bytes),
      count(node.clients),
      node.gap ?? (node.link === 'down' ? 'not replicating' : ''),
    ]),
  )
  const older =
    earlierEvents > 0 ? [[dash, '', `${count(earlierEvents)} earlier ones are in events.ndjson`]] : []
  drawTable(
    'events',
    [column('at'), leftColumn('kind'), leftColumn('what')],
    [
      ...events.map((event) => [`${(event.at_ms / 1000).toFixed(1)} s`, event.kind, event.text]).reverse(),
      ...older,
    ],
  )
}
