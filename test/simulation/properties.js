// What must hold after every play of ticks or of clients, whatever went wrong in it. Each returns what is broken, in words.
import { isDeepStrictEqual } from 'node:util'
import { noCounts } from '../../lib/probes/ledger.js'
import { writeBytes } from '../../lib/transport/batch-bytes.js'
import { askingBytes } from '../../lib/wire/encode.js'
import { slotCount } from '../../lib/wire/slot.js'
import { areLossy, areMisleading, mayEnd } from './faults.js'

/** @import { Played } from './play.js' */
/** @import { PlayedOperations } from './play-clients.js' */
/** @import { Counts } from '../../lib/probes/ledger.js' */

const longestRepeatMs = 4000

/** The words of what is so. @param {[isBroken: boolean, words: string][]} rows */
const wordsOf = (...rows) => rows.filter(([isBroken]) => isBroken).map(([, words]) => words)

/** @param {Played} played */
const accounting = ({ ledger, ticks, recorded }) => {
  const whole = noCounts()
  const byAgent = new Map([...ledger.byAgent.keys()].map((agent) => [agent, noCounts()]))
  for (const { agent, count, lost } of ticks)
    for (const counts of [whole, byAgent.get(agent) ?? noCounts()]) {
      counts.offered += count
      for (let i = 0; i < count; i++) counts[lost[i] ?? 'acked']++
    }
  /** @param {string} who @param {Counts} told @param {Counts} was @returns {[boolean, string]} */
  const differ = (who, told, was) => [
    !isDeepStrictEqual(told, was),
    `${who}: the ledger has ${JSON.stringify(told)}, and it was ${JSON.stringify(was)}`,
  ]
  return [
    ...recorded.problems,
    ...ticks
      .filter(({ closed, account }) => closed !== 1 || account.open !== 0)
      .map(
        ({ dueMs, closed, account: { open } }) => `tick of ${dueMs} ms: ${closed} times closed, ${open} open`,
      ),
    ...wordsOf(
      [!ledger.isBalanced(), 'the ledger is not balanced'],
      differ('the whole', ledger.whole, whole),
      ...[...ledger.byAgent].map(([agent, counts]) =>
        differ(`writer ${agent}`, counts, byAgent.get(agent) ?? noCounts()),
      ),
      [recorded.items !== whole.acked, `${recorded.items} latencies of ${whole.acked} items`],
    ),
  ]
}

/** How often each command carried each item, by name and tick; the tick is '' where the command has none or several. */
const countsOf = new WeakMap()

/** @param {Played} played @returns {(name: string, stamp: number | '') => ReadonlyMap<number, number>} */
export const countExecuted = ({ executed }) => {
  /** @type {Map<string, Map<number, number>>} */
  const counts = countsOf.get(executed) ?? new Map()
  if (!countsOf.has(executed)) {
    countsOf.set(executed, counts)
    for (const { name, items, stamps } of executed) {
      const key = `${name} ${stamps.length === 1 ? stamps[0] : ''}`
      const byItem = counts.get(key) ?? new Map()
      counts.set(key, byItem)
      for (const item of items) byItem.set(item, (byItem.get(item) ?? 0) + 1)
    }
  }
  return (name, stamp) => counts.get(`${name} ${stamp}`) ?? new Map()
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

const acknowledged = (/** @type {Played} */ played) => {
  const { ticks } = played
  const problems = /** @type {string[]} */ ([])
  const executed = countExecuted(played)
  const all = carriers(played)
  const byItem = /** @type {Map<number, { acked: number, offered: number }>} */ (new Map())
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
  const { windowBytes, connections, masters, valueBytes } = plan
  const most = masters * connections * (windowBytes + writeBytes + valueBytes)
  return wordsOf(
    [mostUnanswered >= windowBytes, `written with ${mostUnanswered} bytes unanswered of ${windowBytes}`],
    [mostWaiting > 4 * most, `${mostWaiting} bytes wait`],
    // A probe of a silent connection is one more.
    [mostOpen > connections + 1, `${mostOpen} connections to one address at once`],
  )
}

/** When all is well again, nothing is lost; and what loses nothing loses nothing. @param {Played} played */
const recovery = (played) => {
  const { plan, ticks, lastFaultMs, whole, faults, steps, ledger } = played
  if (played.isCutShort) return []
  if (!whole) return ['it did not settle']
  const wellMs = lastFaultMs + plan.maxBehindMs + longestRepeatMs
  const late = ticks
    .filter(({ dueMs, lost }) => plan.schedule !== 'none' && dueMs > wellMs && lost.some(Boolean))
    .map(({ dueMs, lost }) => `an item of ${dueMs} ms is ${lost.find(Boolean)}, and all was well again`)
  const harmless = !areLossy(faults) && (plan.maxBehindMs >= 4000 || plan.schedule === 'none')
  const repeatable = steps.every((step) => step.repeatable !== false)
  const { acked, offered, uncertain } = ledger.whole
  const words = `${offered - acked} items are lost to what need lose none: ${JSON.stringify(ledger.whole)}`
  return [...late, ...wordsOf([harmless && acked + (repeatable ? 0 : uncertain) !== offered, words])]
}

/** Nothing goes to a server that was not confirmed, and a run does not end for another reason. @param {Played | PlayedOperations} played */
const confirmed = ({ unconfirmed, ended, faults }) => [
  ...unconfirmed.map((address) => `${address} was connected to, and nobody has confirmed it`),
  ...(mayEnd(faults) ? [] : ended).map((reason) => `the run was ended for no reason: ${reason}`),
]

/** Who is asked for with ASKING is asked so: without it the receiver sends the command back. @param {Played | PlayedOperations} played */
const asked = ({ unasked, faults }) =>
  areMisleading(faults) ? [] : unasked.map((key) => `${key} came to the receiver of its slot without ASKING`)

/** Every operation is counted exactly once. @param {PlayedOperations} played */
const operations = ({ ledger, drawn, recorded, whole: settled }) => {
  const { whole, measured } = ledger
  const { offered, ...outcomes } = measured
  const known = Object.values(outcomes).reduce((sum, n) => sum + n, 0)
  const areOffered = whole.offered >= drawn && whole.offered - drawn <= whole.dropped
  return [
    ...recorded.problems,
    ...wordsOf(
      [!ledger.isBalanced(), `the ledger is not balanced: ${JSON.stringify(ledger)}`],
      [!areOffered, `${whole.offered} are offered, ${drawn} were drawn, ${whole.dropped} are dropped`],
      [recorded.items !== measured.acked, `${recorded.items} latencies of ${measured.acked} operations`],
      [known !== offered, `${offered} operations are measured, and ${known} outcomes of them`],
      [settled && whole.unsettled > 0, `it is settled, and ${whole.unsettled} are not`],
    ),
  ]
}

/** Nothing counts as done that was not executed. @param {PlayedOperations} played */
const execution = ({ ledger, executed, drawn, odd, scene, tally }) => {
  const { acked, uncertain, unsettled } = ledger.whole
  const done = new Set(executed)
  const again = scene.repeatable ? 0 : executed.length - done.size
  const most = scene.repeatable ? Number.POSITIVE_INFINITY : acked + uncertain + unsettled
  const refused = ledger.failedBy.WRONGTYPE ?? 0
  const nil = executed.filter((n) => n % 10 === 7).length
  return [
    ...[...done].filter((n) => !(n >= 1 && n <= drawn)).map((n) => `${n} was executed, and never drawn`),
    ...wordsOf(
      [acked > done.size, `${acked} are acked, and ${done.size} were executed`],
      [again > 0, `${again} were executed again, and must not be repeated`],
      [done.size > most, `${done.size} were executed, and ${most} may have been`],
      [refused > odd, `${refused} were refused for their type, and ${odd} could be`],
      [acked > drawn - odd, `${acked} are acked of ${drawn - odd} that can be`],
      [tally.nil > nil, `${tally.nil} misses were counted, and ${nil} were answered`],
    ),
  ]
}

/** @param {PlayedOperations} played */
const boundsOfClients = ({ scene, most, leftOpen, ...played }) => {
  const { mostOpenOperations, mostWaiting, mostOpen, mostUnanswered } = played
  const { clients, pipeline } = scene
  const bytes = 2 * pipeline * (most + askingBytes.length)
  return wordsOf(
    [mostOpenOperations > clients * pipeline, `${mostOpenOperations} of ${clients} x ${pipeline} in flight`],
    [mostUnanswered > bytes, `${mostUnanswered} bytes were unanswered on a connection`],
    [mostWaiting > clients * bytes, `${mostWaiting} bytes wait`],
    // One more looks whether a silent server answers.
    [mostOpen > clients + 1, `${mostOpen} connections to one address at once, of ${clients} clients`],
    [leftOpen > 0, `${leftOpen} connections are left open`],
  )
}

/** As `recovery`. @param {PlayedOperations} played */
const recoveryOfClients = ({ scene, ledger, whole, lostAfter, faults, odd }) => {
  if (scene.isCutShort) return []
  if (!whole) return ['it did not settle']
  const harmless = !areLossy(faults) && scene.maxBehindMs >= 3000
  const { acked, uncertain, offered } = ledger.whole
  const known = acked + odd + (scene.repeatable ? 0 : uncertain)
  return wordsOf(
    [lostAfter > 0, `${lostAfter} operations are lost, and all was well again`],
    [
      harmless && known < offered,
      `lost, and need not be: ${JSON.stringify([ledger.whole, ledger.failedBy])}`,
    ],
  )
}

/** At most three of each. @template P @param {((played: P) => string[])[]} properties */
const broken =
  (...properties) =>
  (/** @type {P} */ played) =>
    properties.flatMap((property) => property(played).slice(0, 3))

/** Where the servers cannot do all, some of it is lost. */
export const brokenInOverload = broken(accounting, acknowledged, order, bounds, confirmed, asked)
export const brokenIn = broken(accounting, acknowledged, order, bounds, confirmed, asked, recovery)
export const brokenInClients = broken(
  operations,
  execution,
  boundsOfClients,
  confirmed,
  asked,
  recoveryOfClients,
)
