// What must hold after every play, whatever went wrong in it. Each returns what is broken, in words.

import { isDeepStrictEqual } from 'node:util'
import { noCounts } from '../../lib/measure/ledger.js'
import { isScheduled } from '../../lib/plan/pacer.js'
import { writeBytes } from '../../lib/transport/encoded-batch.js'
import { slotCount } from '../../lib/wire/slot.js'
import { lossy, mayEnd } from './faults.js'

/** @typedef {import('./play.js').Played} Played */
/** @typedef {import('../../lib/measure/ledger.js').Counts} Counts */

const longestRepeatMs = 4000

/** @param {Played} played */
const accounting = ({ ledger, ticks, recorded, steps }) => {
  const problems = [...recorded.problems]
  if (!ledger.isBalanced()) problems.push('the ledger is not balanced')
  const whole = noCounts()
  const byAgent = new Map([...ledger.byAgent.keys()].map((agent) => [agent, noCounts()]))
  for (const { agent, closed, account, count, lost, dueMs } of ticks) {
    if (closed !== 1 || account.open !== 0)
      problems.push(
        `the tick of ${dueMs.toFixed()} ms was closed ${closed} times, ${account.open} commands open`,
      )
    for (const counts of [whole, byAgent.get(agent) ?? noCounts()]) {
      counts.offered += count
      for (let i = 0; i < count; i++) counts[lost[i] ?? 'acked']++
    }
  }
  const compare = (/** @type {string} */ who, /** @type {Counts} */ told, /** @type {Counts} */ was) => {
    if (!isDeepStrictEqual(told, was))
      problems.push(`${who}: the ledger has ${JSON.stringify(told)}, and it was ${JSON.stringify(was)}`)
  }
  compare('the whole', ledger.whole, whole)
  for (const [agent, counts] of ledger.byAgent)
    compare(`writer ${agent}`, counts, byAgent.get(agent) ?? noCounts())
  const carried = whole.acked * steps.filter(({ kind }) => kind !== 'once').length
  if (whole.acked === whole.offered && ledger.commands.itemsCarried !== carried)
    problems.push(`${ledger.commands.itemsCarried} items were carried, and it was ${carried}`)
  if (recorded.items !== whole.acked) problems.push(`${recorded.items} latencies of ${whole.acked} items`)
  return problems
}

/** How often each command carried each item, by name and tick; the tick is '' where the command has none or several. */
const countsOf = new WeakMap()

/** @param {Played} played @returns {(name: string, stamp: number | '') => ReadonlyMap<number, number>} */
export const countExecuted = ({ executed }) => {
  /** @type {Map<string, Map<number | '', Map<number, number>>>} */
  const counts = countsOf.get(executed) ?? new Map()
  if (!countsOf.has(executed)) {
    countsOf.set(executed, counts)
    for (const { name, items, stamps } of executed) {
      const stamp = stamps.length === 1 ? stamps[0] : ''
      const byStamp = counts.get(name) ?? new Map()
      if (byStamp.size === 0) counts.set(name, byStamp)
      const byItem = byStamp.get(stamp) ?? new Map()
      if (byItem.size === 0) byStamp.set(stamp, byItem)
      for (const item of items) byItem.set(item, (byItem.get(item) ?? 0) + 1)
    }
  }
  return (name, stamp) => counts.get(name)?.get(stamp) ?? new Map()
}

/** The commands of the workload that carry an item, and which of them tell the tick. @param {Played} played */
const carriers = ({ steps, executed }) => {
  const names = steps.flatMap((step) => {
    if (step.kind === 'once') return []
    const [name] = step.kind === 'each' ? step.args(1) : step.args(step.key(1), [1])
    const own = executed.filter((each) => each.name === name && each.items.length > 0)
    return {
      name: String(name),
      isStamped: own.some(({ stamps }) => stamps.length > 0),
      isOnce: step.repeatable === false,
    }
  })
  // HSET and EXPIRE of hashes: steps with the same command are one.
  return [...new Map(names.map((each) => [each.name, each])).values()]
}

/** @param {Played} played */
const acknowledged = (played) => {
  const { ticks } = played
  const problems = /** @type {string[]} */ ([])
  const executed = countExecuted(played)
  const all = carriers(played)
  /** @type {Map<number, { acked: number, offered: number }>} */
  const byItem = new Map()
  const stamped = all.filter(({ isStamped }) => isStamped)
  for (const { first, count, lost, stamp } of ticks) {
    const counted = stamped.map((each) => ({ ...each, times: executed(each.name, stamp) }))
    for (let i = 0; i < count; i++) {
      const item = first + i
      const own = byItem.get(item) ?? { acked: 0, offered: 0 }
      byItem.set(item, own)
      own.offered++
      if (lost[i] === undefined) own.acked++
      for (const { name, isOnce, times } of counted) {
        const n = times.get(item) ?? 0
        if (lost[i] === undefined && n === 0)
          problems.push(`item ${item} of ${stamp} is acked, and no ${name} was executed`)
        if (isOnce && n > 1) problems.push(`${name} of item ${item} of ${stamp} was executed ${n} times`)
        if (all.length === 1 && n > 0 && (lost[i] === 'failed' || lost[i] === 'dropped') && isOnce)
          problems.push(`item ${item} of ${stamp} is ${lost[i]}, and ${name} was executed`)
      }
    }
  }
  for (const { name, isStamped, isOnce } of all) {
    if (isStamped) continue
    const times = executed(name, '')
    for (const [item, { acked, offered }] of byItem) {
      const n = times.get(item) ?? 0
      if (n < acked)
        problems.push(`item ${item} is acked ${acked} times, and ${name} was executed ${n} times`)
      if (isOnce && n > offered)
        problems.push(`item ${item} was offered ${offered} times, and ${name} executed ${n} times`)
    }
  }
  return problems
}

/** Per slot and chunk no older tick after a newer; no command of two ticks. @param {Played} played */
const order = ({ executed, ticks }) => {
  const problems = /** @type {string[]} */ ([])
  const chunks = new Map()
  // A tick that was dropped as a whole has none.
  for (const { first, count, chunk } of ticks.filter((tick) => tick.chunk >= 0))
    for (let i = 0; i < count; i++) chunks.set(first + i, chunk)
  const newest = new Map()
  for (const { name, key, slot, items, stamps } of executed) {
    if (items.length === 0 || stamps.length === 0) continue
    if (stamps.length > 1) problems.push(`${name} ${key} carries ${stamps.join(' and ')}`)
    const place = slot + slotCount * (chunks.get(items[0]) ?? -1)
    const last = newest.get(place) ?? 0
    if (stamps[0] < last)
      problems.push(`${name} ${key} of ${stamps[0]} was executed after ${last} in slot ${slot}`)
    else newest.set(place, stamps[0])
  }
  return problems
}

/** @param {Played} played */
const bounds = ({ plan, mostOpen, mostUnanswered, mostWaiting }) => {
  const problems = /** @type {string[]} */ ([])
  if (mostUnanswered >= plan.windowBytes)
    problems.push(
      `more was written when ${mostUnanswered} bytes were unanswered; the window is ${plan.windowBytes}`,
    )
  const most = plan.masters * plan.connections * (plan.windowBytes + writeBytes + plan.valueBytes)
  if (mostWaiting > 4 * most) problems.push(`${mostWaiting} bytes wait`)
  // A probe of a silent connection is one more.
  if (mostOpen > plan.connections + 1) problems.push(`${mostOpen} connections to one address at once`)
  return problems
}

/** When all is well again, nothing is lost; and what loses nothing loses nothing. @param {Played} played */
const recovery = (played) => {
  const { plan, ticks, lastFaultMs, whole, faults, steps, ledger } = played
  if (played.isCutShort) return []
  if (!whole) return ['it did not settle']
  const problems = /** @type {string[]} */ ([])
  if (isScheduled(plan)) {
    const wellMs = lastFaultMs + plan.maxBehindMs + longestRepeatMs
    for (const { dueMs, lost } of ticks) {
      const [outcome] = lost.filter(Boolean)
      if (dueMs > wellMs && outcome)
        problems.push(`an item of ${dueMs.toFixed()} ms is ${outcome}, and all was well again`)
    }
  }
  const harmless =
    faults.every(({ kind }) => !lossy.has(kind)) && (plan.maxBehindMs >= 4000 || !isScheduled(plan))
  const repeatable = steps.every((step) => step.repeatable !== false)
  const { acked, offered, uncertain } = ledger.whole
  if (harmless && acked + (repeatable ? 0 : uncertain) !== offered)
    problems.push(
      `${offered - acked} of ${offered} items are lost to what need lose none: ${JSON.stringify(ledger.whole)}`,
    )
  return problems
}

/** Nothing goes to a server that nobody has confirmed, and a run does not end for another reason. @param {Played} played */
const confirmed = ({ unconfirmed, ended, faults }) => [
  ...unconfirmed.map((address) => `${address} was connected to, and nobody has confirmed it`),
  ...ended
    .filter(() => !faults.some(({ kind }) => mayEnd.has(kind)))
    .map((reason) => `the run was ended for no reason: ${reason}`),
]

const always = [accounting, acknowledged, order, bounds, confirmed]

/** @param {Played} played @param {boolean} [isOverloaded] then what the servers cannot do is lost @returns {string[]} */
export const brokenIn = (played, isOverloaded = false) =>
  (isOverloaded ? always : [...always, recovery]).flatMap((property) => property(played).slice(0, 3))
