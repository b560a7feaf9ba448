// Why a fleet's run may be incomplete: boxes that were lost or late, clocks, and seconds that the control server lost.
import { count, several } from '../base/units.js'
import { reading } from '../measures/index.js'
import { absentCode, absentReadersCode, note } from '../measures/warnings.js'
import { reasons as readerReasons } from './fetches/index.js'

/**
 * @import { WriteRun } from '../result/document.js'
 * @import { Reasons } from '../measures/warnings.js'
 *
 * @import { Evidence } from './fetches/index.js'
 *
 * @typedef {Omit<NonNullable<WriteRun['readers']>, 'plan'> & Pick<Evidence, 'plan' | 'client' | 'fetches'>} Readers
 * @typedef {Pick<WriteRun, 'fleet' | 'items' | 'duration_s' | 'plan'> & { readers?: Readers }} Fleet
 * @typedef {{ box: number, host: string, writers?: readonly number[], readers?: readonly number[], intervals_lost: number, version?: string,
 *   state: string, from_s: number, to_s: number }} Box
 */

const shown = 3

/** @param {Box} box */
const nameOf = ({ box, host, writers, readers }) => {
  const who = writers ? 'writer' : 'reader'
  const numbers = writers ?? readers ?? []
  return `${writers ? '' : 'reader '}box ${box} (${host}, ${numbers.length === 1 ? who : `${who}s`} ${numbers.join(', ')})`
}

/** @param {readonly Box[]} boxes @param {(box: Box) => string} words */
const listed = (boxes, words) => {
  const more = boxes.length > shown ? ` and ${several(boxes.length - shown, 'other')}` : ''
  return `${boxes.slice(0, shown).map(words).join('; ')}${more}`
}

/** @param {Fleet} run @returns {Reasons} */
export const absentBoxes = ({ fleet, items, duration_s: durationS, plan }) => {
  if (!fleet || (fleet.absent.items === 0 && fleet.boxes.every((box) => box.state !== 'lost'))) return {}
  const lost = fleet.boxes.filter((box) => box.state === 'lost')
  const late = fleet.boxes.filter((box) => box.from_s > 0.5 && box.state !== 'lost')
  const there = new Set(fleet.boxes.flatMap((box) => box.writers))
  const never = plan.totalAgents - there.size
  const parts = [
    lost.length > 0 && listed(lost, (box) => `${nameOf(box)} was lost at ${box.to_s.toFixed(1)} s`),
    late.length > 0 && listed(late, (box) => `${nameOf(box)} joined at ${box.from_s.toFixed(1)} s`),
    never > 0 && `${several(never, 'writer')} never came`,
  ].filter(Boolean)
  const absentPct = items.offered > 0 ? (fleet.absent.items / items.offered) * 100 : 0
  return {
    [absentCode]: `${parts.join('; ') || 'boxes were missing'}: ${several(fleet.absent.items, 'item')} (${absentPct < 0.1 && absentPct > 0 ? 'under 0.1' : absentPct.toFixed(1)} %) of ${durationS.toFixed(1)} s are absent, and no other box wrote them; repeat with all boxes`,
  }
}

/** @param {Fleet} run @returns {Reasons} */
export const lostIntervals = ({ fleet, readers }) => {
  const boxes = [...(fleet?.boxes ?? []), ...(readers?.boxes ?? [])].filter((box) => box.intervals_lost > 0)
  const lost = boxes.reduce((sum, box) => sum + box.intervals_lost, 0)
  return {
    'fleet-intervals':
      boxes.length > 0 &&
      `the control lost ${several(lost, 'interval')} of ${listed(boxes, nameOf)}: latencies leave those seconds out, while items are counted (${count(lost)} s); keep its data on disk (appendfsync always), and repeat`,
  }
}

/** @param {Fleet} run @returns {Reasons} */
export const mixedVersions = ({ fleet, readers }) => {
  const boxes = [...(fleet?.boxes ?? []), ...(readers?.boxes ?? [])]
  const versions = [...new Set(boxes.map((/** @type {Box} */ { version }) => version))]
  return {
    'fleet-versions':
      versions.length > 1 &&
      note(`boxes run different versions of Millrace: ${versions.join(', ')}; install one on all`),
  }
}

/** @param {Readers} readers @returns {Reasons} */
const absentReaders = ({ boxes, plan }) => {
  const inState = (/** @type {string} */ state) => boxes.filter((box) => box.state === state)
  const late = boxes.filter((box) => box.from_s > 0.5)
  const [lost, left] = [inState('lost'), inState('interrupted')]
  const never = plan.totalAgents - plan.agents.length
  const reasons = [
    lost.length > 0 && listed(lost, (box) => `${nameOf(box)} was lost at ${box.to_s.toFixed(1)} s`),
    never > 0 && `${several(never, 'reader')} never came`,
  ].filter(Boolean)
  const remarks = [
    late.length > 0 && listed(late, (box) => `${nameOf(box)} began at ${box.from_s.toFixed(0)} s`),
    left.length > 0 &&
      listed(left, (box) => `${nameOf(box)} was stopped by hand at ${box.to_s.toFixed(0)} s`),
  ].filter(Boolean)
  return {
    [absentReadersCode]:
      reasons.length > 0 && `${reasons.join('; ')}: it read less than was asked; repeat with all boxes`,
    'readers-part': remarks.length > 0 && note(`${remarks.join('; ')}: reads cover that part of the run`),
  }
}

/** Readers are judged as those of one process; a run counts only if both its writers and its readers do. @param {Fleet} run @returns {Reasons} */
export const fleetReaders = ({ readers, duration_s }) => {
  if (!readers) return {}
  const evidence = { ...readers, nodes: [], clocks: [], interrupted: false, duration_s }
  const own = readerReasons
    .flatMap((reason) => reason(evidence))
    .map(({ code, message, ...more }) => [`read-${code}`, { ...more, message: `readers: ${message}` }])
  return {
    ...absentReaders(readers),
    ...Object.fromEntries(own),
    'reads-included': note(
      `what an item costs the servers includes ${reading.did(readers)} of ${several(readers.consumers, 'consumer')}; a run without readers has the writes alone`,
    ),
  }
}
