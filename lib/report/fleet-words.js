// What a report says of a fleet: the boxes of a run, a row each.
import { boxTrouble } from '../base/box-trouble.js'
import { rangesText } from '../base/ranges.js'
import { count, micros, percent, several } from '../base/units.js'
import { reading } from '../measures/index.js'
import { cell } from './cells.js'

/**
 * @import { WriteRun } from '../result/document.js'
 * @import { Table } from './sections.js'
 */

/** More boxes than this are folded away. */
const mostShown = 16
const foldedBoxes = (/** @type {readonly unknown[]} */ boxes) =>
  boxes.length <= mostShown ? {} : { fold: 'Boxes' }

/** `writer 1-4`, of a box that reads `reader 2` @param {{ writers: readonly number[], readers: readonly number[] }} box */
export const whoIs = ({ writers, readers }) =>
  writers.length > 0 ? `writer ${rangesText(writers)}` : `reader ${rangesText(readers)}`

/** How far another clock is ahead: `+0.3 ms`, `−21 µs` @param {number} ms */
export const aheadText = (ms) => `${ms < 0 ? '−' : '+'}${micros(Math.abs(ms) * 1000)}`

/** @param {{ from_s: number, to_s: number }} box */
const timeOf = ({ from_s: fromS, to_s: toS }) => `${fromS.toFixed(0)}–${toS.toFixed(0)} s`

/** `8 boxes on 8 hosts; clocks ±0.3 ms, event loops up to 2.1 ms at the start` @param {WriteRun} run @returns {{ label: string, text: string }[]} */
export const boxesRow = ({ fleet, readers }) => {
  if (!fleet) return []
  const { boxes, start } = fleet
  const hosts = new Set(boxes.map(({ host }) => host)).size
  const trouble = boxTrouble(boxes.map(({ state, to_s: lastS }) => ({ state, last_s: lastS })))
  const skew = `began within ${micros((start.clock_skew_ms + start.loop_skew_ms) * 1000)} of each other (clocks ${micros(start.clock_skew_ms * 1000)}, event loops ${micros(start.loop_skew_ms * 1000)})`
  const parts = [
    `${boxes.length === 1 ? '1 box' : `${count(boxes.length)} boxes`} on ${several(hosts, 'host')}`,
    ...(trouble ? [trouble] : []),
    ...(readers ? [`${readers.boxes.length} more ${readers.boxes.length === 1 ? 'reads' : 'read'}`] : []),
    ...(boxes.length > 1 ? [skew] : []),
  ]
  return [{ label: 'fleet', text: parts.join(' · ') }]
}

/** @param {WriteRun} run @returns {Table[]} */
export const boxesTable = ({ fleet }) => {
  if (!fleet) return []
  return [
    {
      title: 'Boxes',
      ...foldedBoxes(fleet.boxes),
      note: 'Busy and CPU are of one core. The clock is how far that of the control is ahead of the box.',
      columns: [
        { title: 'box' },
        { title: 'host', left: true },
        { title: 'writers' },
        { title: 'rate' },
        { title: 'p99' },
        { title: 'busy' },
        { title: 'CPU' },
        { title: 'clock' },
        { title: 'there', left: true },
      ],
      rows: fleet.boxes.map((box) => [
        cell(String(box.box), box.box),
        cell(box.host),
        cell(rangesText(box.writers), box.writers[0]),
        cell(box.achieved == null ? '–' : count(Math.round(box.achieved)), box.achieved),
        cell(micros(box.latency_us?.p99), box.latency_us?.p99),
        cell(percent(box.busy_pct), box.busy_pct),
        cell(percent(box.cpu_pct), box.cpu_pct),
        cell(
          `${aheadText(box.clock.offset_ms)} ± ${micros(box.clock.uncertainty_ms * 1000)}`,
          box.clock.offset_ms,
        ),
        cell(box.state === 'done' ? timeOf(box) : `${timeOf(box)}, ${box.state}`, box.from_s),
      ]),
    },
  ]
}

/** @param {WriteRun} run @returns {Table[]} */
export const readerBoxesTable = ({ readers }) => {
  if (!readers) return []
  return [
    {
      title: 'Boxes that read',
      ...foldedBoxes(readers.boxes),
      note: `${reading.note} Busy is of one core.`,
      columns: [
        { title: 'box' },
        { title: 'host', left: true },
        { title: 'readers' },
        ...reading.columns.map(({ title }) => ({ title })),
        { title: 'busy' },
        { title: 'there', left: true },
      ],
      rows: readers.boxes.map((box) => [
        cell(String(box.box), box.box),
        cell(box.host),
        cell(rangesText(box.readers), box.readers[0]),
        ...reading.columns.map((column) => cell(...column.cell(box))),
        cell(percent(box.busy_pct), box.busy_pct),
        cell(box.state === 'done' ? timeOf(box) : `${timeOf(box)}, ${box.state}`, box.from_s),
      ]),
    },
  ]
}
