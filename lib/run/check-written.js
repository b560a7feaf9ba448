// Whether what a --once run had acknowledged is still there: every item of its ranges is read from the masters and
// compared byte by byte, and its id is looked for in its index.
import { chunkRange } from '../base/ranges.js'
import { count, plainText, several } from '../base/units.js'
import { tickValues } from '../plan/tick-values.js'
import { serversAheadMs } from '../probes/clocks.js'
import { clockSlackMs } from '../probes/value-verifier.js'
import { duesOf } from '../traffic/arrivals.js'
import { lifetimeOf } from '../traffic/lifetimes.js'
import { payloadMatcher } from '../traffic/payload.js'
import { sizesIn } from '../traffic/sizes.js'
import { ReadError } from '../transport/read-driver.js'
import { noValues, plainCommand } from '../wire/encode.js'
import { idList } from '../wire/id-list.js'
import { strategyOf } from '../workloads/bound-strategy.js'
import { isStrategy } from '../workloads/index.js'

/**
 * @import { Written } from '../probes/acked-ranges.js'
 * @import { AgentRange } from '../loads/plan.js'
 * @import { ReadDriver } from '../transport/read-driver.js'
 * @import { AnyPlan } from '../measures/measure.js'
 * @import { Folded } from '../measures/fold.js'
 * @import { TickValues } from '../wire/encode.js'
 * @import { GatherStep } from '../workloads/bind/writer.js'
 *
 * present: there, byte by byte. missing: not stored, though it cannot have expired. expired: not stored, and it may have
 * expired. corrupt: other bytes. unranked: stored, but its id is not in its index.
 * rescored: its score is not the time of its write. lost: items that are missing, corrupt,
 * unranked or rescored, each counted once. not_checked: what was not looked at, in words.
 * @typedef {{ acked: number, present: number, lost: number, missing: number, expired: number, corrupt: number, unranked: number, rescored: number, not_checked: string[], examples: string[] }} Checked
 */

// Whether ids are where readers look for them: in a set of their minute, or in a list.

/**
 * @typedef {NonNullable<ReturnType<ReturnType<typeof strategyOf>['checks']>>[number]} Bound
 */

const membersInCommand = 1000
const entriesInCommand = 10_000
const minuteMs = 60_000
const ignored = () => {}

/**
 * Asks for many members of a key in one command; the reply has an element for each: bytes, or 1 or 0 for present.
 * @param {ReadDriver} driver
 * @param {readonly number[]} ns
 * @param {GatherStep} step
 * @param {(i: number, bytes: Buffer | null, from: number, to: number) => void} answered
 * @param {TickValues} [values]
 */
const askMany = async (driver, ns, step, answered, values = noValues) => {
  /** @type {Map<string, number[]>} */
  const groups = new Map()
  const keyOf = (/** @type {number} */ n) => String(plainCommand([step.key(n)], values)[0])
  for (const [i, n] of ns.entries()) {
    const key = keyOf(n)
    const group = groups.get(key)
    if (group) group.push(i)
    else groups.set(key, [i])
  }
  for (const [key, all] of groups) {
    for (let from = 0; from < all.length; from += membersInCommand) {
      const group = all.slice(from, from + membersInCommand)
      let next = 0
      const sink = {
        open: ignored,
        error: ignored,
        number: (/** @type {number} */ found) => answered(group[next++], found > 0 ? there : null, 0, 0),
        bulk: (/** @type {Buffer} */ bytes, /** @type {number} */ start, /** @type {number} */ end) =>
          answered(group[next++], bytes, start, end),
        nil: () => answered(group[next++], null, 0, 0),
      }
      const members = group.map((i) => ns[i])
      const args = plainCommand(step.args(step.key(members[0]), members), values)
      await driver.ask(/** @type {string[]} */ (args), key, sink, 0)
    }
  }
}

const there = Buffer.alloc(0)

/**
 * All items of a list; null when the list has its greatest length, as it may then have dropped items.
 * @param {ReadDriver} driver
 * @param {{ key: string, most: number }} list
 * @param {(bytes: Buffer, from: number, to: number) => number} numberOf
 */
const itemsListed = async (driver, { key, most }, numberOf) => {
  /** @type {Set<number>} */
  const items = new Set()
  for (let from = 0; ; from += entriesInCommand) {
    let entries = 0
    const sink = {
      open: ignored,
      error: ignored,
      number: ignored,
      nil: ignored,
      bulk: (/** @type {Buffer} */ bytes, /** @type {number} */ start, /** @type {number} */ end) => {
        entries++
        items.add(numberOf(bytes, start, end))
      },
    }
    await driver.ask(['LRANGE', key, String(from), String(from + entriesInCommand - 1)], key, sink, 0)
    if (from + entries >= most) return null
    if (entries < entriesInCommand) return items
  }
}

/**
 * @param {object} needs
 * @param {readonly Bound[]} needs.checks
 * @param {ReadDriver} needs.driver
 * @param {(bytes: Buffer, from: number, to: number) => number} needs.numberOf
 * @param {() => number} needs.now epoch, by the servers' clock
 */
const indexOf = async ({ checks, driver, numberOf, now }) => {
  /** @type {Map<Bound, Set<number> | null>} */
  const lists = new Map()
  for (const one of checks) if (one.list) lists.set(one, await itemsListed(driver, one.list, numberOf))
  let over = 0
  /** @param {Bound} check @param {number} atMs when the item was written, at the earliest */
  const isOver = ({ lifetimeS }, atMs) => lifetimeS !== null && now() >= atMs + (lifetimeS - 1) * 1000

  /**
   * Ids are in the set of the minute in which they were written, which is that of their due time or a later one.
   * @param {Bound} check
   * @param {readonly number[]} ns
   * @param {readonly number[]} times
   */
  const notInMinutes = async (check, ns, times) => {
    const { step } = check
    if (!step) return []
    let left = [...ns.keys()]
    // The writer's clock may differ from the servers'.
    for (let later = -1; left.length > 0; later++) {
      /** @type {Map<number, number[]>} */
      const byMinute = new Map()
      for (const i of left) {
        const minute = Math.floor(times[i] / minuteMs) + later
        byMinute.set(minute, [...(byMinute.get(minute) ?? []), i])
      }
      const missing = []
      for (const [minute, all] of byMinute) {
        const ofMinute = all.map((i) => ns[i])
        /** @type {number[]} */
        const notThere = []
        await askMany(
          driver,
          ofMinute,
          step,
          (at, bytes) => {
            if (!bytes) notThere.push(all[at])
          },
          tickValues(minute * minuteMs, 0),
        )
        missing.push(...notThere)
      }
      left = missing
      const newest = Math.max(...left.map((i) => times[i]))
      if (newest + later * minuteMs > now() + minuteMs) break
    }
    return left
  }
  return {
    /** @param {Bound} check */
    has: (check) => check.list !== null || check.byMinute,
    /**
     * Indexes of the items whose ids are missing.
     * @param {Bound} check
     * @param {readonly number[]} ns
     * @param {readonly number[]} times
     */
    async missing(check, ns, times) {
      const items = lists.get(check)
      if (items === null) return []
      const missing = items
        ? [...ns.keys()].filter((i) => !items.has(ns[i]))
        : await notInMinutes(check, ns, times)
      const lost = missing.filter((i) => !isOver(check, times[i]))
      over += missing.length - lost.length
      return lost
    },
    unchecked: () => [
      ...[...lists].flatMap(([{ list }, items]) =>
        items === null ? [`the ids in ${list?.key}, which is cut to its newest ${count(list?.most)}`] : [],
      ),
      ...(over > 0
        ? [`${several(over, 'id')} whose index is over: it lives for a shorter time than its items`]
        : []),
    ],
  }
}

const batchItems = 10_000
// Of the clocks of writers and servers, and of a tick that began late.
const scoreSlackMs = 1000
const shownExamples = 20
const nothing = () => {}
const wordsOf = {
  missing: 'not there',
  corrupt: 'other bytes',
  unranked: 'its id is not in its index',
  rescored: 'its score is not the time of its write',
}

/**
 * When a run began, and the time now, both by the servers' clocks: its box may have another clock than this one.
 * @param {{ started: string, written: Written }} document
 * @param {Parameters<typeof serversAheadMs>[0]} needs
 */
export const serverTimes = async ({ started, written }, needs) => {
  const aheadMs = (await serversAheadMs(needs)) ?? 0
  return {
    startedMs: Date.parse(started) + (written.servers_ahead_ms ?? aheadMs),
    now: () => needs.epochMs() + aheadMs,
  }
}

/** Items of an agent's first ticks. @param {{ first: number, count: number }} range @param {number} chunks @param {number} ticks */
const itemsIn = (range, chunks, ticks) =>
  Math.floor(ticks / chunks) * range.count + chunkRange(range, chunks, ticks % chunks).first - range.first

/**
 * Why a run.json contradicts itself, so that it cannot be checked; null: it does not.
 * @param {{ plan: Folded & { agents: AgentRange[] }, written: Written, items: { offered: number } }} document of the right shape
 */
export const contradictionIn = ({ plan, written, items }) => {
  const { strategy, chunks, agents, quantity } = plan
  if (plan.model && !isStrategy(strategy))
    return `it is of the model '${plainText(strategy).slice(0, 40)}'; add --model with its file`
  if (!isStrategy(strategy))
    return `its strategy '${plainText(strategy).slice(0, 40)}' is unknown to this version`
  if (plan.valueSizes && !sizesIn(plan.valueSizes))
    return `its sizes of values '${plainText(plan.valueSizes).slice(0, 40)}' are unknown to this version`
  const outside = agents.find(
    ({ first, count }) => first < 1 || count < chunks || first + count - 1 > quantity,
  )
  if (outside) return `the items of writer ${outside.agent} are not within the plan's`
  let offered = 0
  for (const { agent, ticks } of written.agents) {
    const range = agents.find((one) => one.agent === agent)
    if (!range) return `writer ${agent} is in the result, but not in its plan`
    offered += itemsIn(range, chunks, ticks)
  }
  if (offered !== items.offered)
    return `its ticks are of ${count(offered)} items, but ${count(items.offered)} were offered`
  return null
}

/**
 * The acknowledged items, tick by tick: consecutive ones, and when they were written at the earliest.
 * @param {AnyPlan} plan of run.json
 * @param {Written} written
 * @param {number} startedMs
 */
export function* ackedParts(plan, { agents, not_acked: holes }, startedMs) {
  let hole = 0
  const scheduled = plan.rate !== 'max' && plan.pacing !== 'closed'
  const { arrivals = 'constant', spacingMs, seed } = plan
  const dueMs = duesOf({ arrivals, spacingMs, seed })
  const ticks = Math.max(0, ...agents.map(({ ticks: offered }) => offered))
  for (let tick = 0; tick < ticks; tick++) {
    const interval = Math.floor(tick / plan.chunks)
    for (const { agent, ticks: offered } of agents) {
      if (tick >= offered) continue
      const range = plan.agents.find((/** @type {{ agent: number }} */ one) => one.agent === agent)
      const chunk = chunkRange(range, plan.chunks, tick % plan.chunks)
      const first = chunk.first + interval * plan.quantity
      const last = first + chunk.count - 1
      const atMs = startedMs + (scheduled ? dueMs(tick) : 0)
      // The ticks of an agent ascend, but agents and chunks are interleaved: start at the first hole that can overlap.
      while (hole > 0 && holes[hole - 1][1] >= first) hole--
      while (hole < holes.length && holes[hole][1] < first) hole++
      let from = first
      for (let h = hole; h < holes.length && holes[h][0] <= last; h++) {
        if (holes[h][0] > from) yield { first: from, last: holes[h][0] - 1, atMs }
        from = Math.max(from, holes[h][1] + 1)
      }
      if (from <= last) yield { first: from, last, atMs }
    }
  }
}

/**
 * Counts what was found of the items.
 * @param {(n: number, bytes: Buffer, from: number, to: number) => boolean} matches
 * @param {(n: number, atMs: number) => boolean} isOver the time of an item may be over
 */
const tallyOf = (matches, isOver) => {
  const counts = {
    acked: 0,
    present: 0,
    lost: 0,
    missing: 0,
    expired: 0,
    corrupt: 0,
    unranked: 0,
    rescored: 0,
  }
  /** @type {Checked} */
  const checked = { ...counts, not_checked: [], examples: [] }
  /** @type {Set<number>} of the batch */
  const lost = new Set()
  const lose = (/** @type {number} */ n, /** @type {keyof typeof wordsOf} */ what) => {
    checked[what]++
    lost.add(n)
    if (checked.examples.length < shownExamples) checked.examples.push(`item ${n}: ${wordsOf[what]}`)
  }
  return {
    checked,
    /** @param {number} n @param {number} atMs @param {'missing' | 'unranked'} what */
    gone(n, atMs, what) {
      if (!isOver(n, atMs)) lose(n, what)
      // A missing value takes its id with it: the item counts once.
      else if (what === 'missing') checked.expired++
    },
    /** @param {number} n @param {Buffer} bytes @param {number} from @param {number} to */
    found(n, bytes, from, to) {
      if (matches(n, bytes, from, to)) checked.present++
      else lose(n, 'corrupt')
    },
    present() {
      checked.present++
    },
    /** @param {number} n */
    rescored: (n) => lose(n, 'rescored'),
    /** The end of a batch. @param {number} items */
    counted(items) {
      checked.acked += items
      checked.lost += lost.size
      lost.clear()
    },
  }
}

/** Items with their earliest time of writing, in batches that are asked for together. @param {Iterable<{ first: number, last: number, atMs: number }>} parts */
function* batchesOf(parts) {
  /** @type {{ ns: number[], times: number[] }} */
  let batch = { ns: [], times: [] }
  for (const { first, last, atMs } of parts) {
    for (let n = first; n <= last; n++) {
      batch.ns.push(n)
      batch.times.push(atMs)
      if (batch.ns.length < batchItems) continue
      yield batch
      batch = { ns: [], times: [] }
    }
  }
  if (batch.ns.length > 0) yield batch
}

/**
 * Whether a score is a moment at which its item may have been written: from its due time until its tick would have been
 * dropped, or with no schedule at any time of the run.
 * @param {AnyPlan} plan
 * @param {number} startedMs
 * @param {() => number} now
 * @returns {(atMs: number, bytes: Buffer, from: number, to: number) => boolean}
 */
const scoreJudge = ({ rate, rates, pacing, maxBehindMs = Number.POSITIVE_INFINITY }, startedMs, now) => {
  const isDue = rate !== 'max' && pacing !== 'closed' && !rates
  return (atMs, bytes, from, to) => {
    const score = Number(bytes.toString('latin1', from, to))
    const firstMs = isDue ? atMs : startedMs
    const lastMs = isDue ? Math.min(now(), atMs + maxBehindMs) : now()
    return score >= firstMs - scoreSlackMs && score <= lastMs + scoreSlackMs
  }
}

/**
 * @param {object} needs
 * @param {AnyPlan} needs.plan
 * @param {Written} needs.written
 * @param {number} needs.startedMs epoch
 * @param {() => number} needs.now epoch, by the servers' clock
 * @param {ReadDriver} needs.driver reads from masters
 * @returns {Promise<Checked>}
 */
export const checkWritten = async ({ plan, written, startedMs, now, driver }) => {
  const strategy = strategyOf(/** @type {any} */ (plan))
  const checks = strategy.checks() ?? []
  const { value } = strategy.reader()
  const lifetimeS = lifetimeOf(/** @type {any} */ (plan))
  // A generous limit: no item expires earlier.
  const { checked, found, gone, present, rescored, counted } = tallyOf(
    payloadMatcher(/** @type {any} */ (plan)),
    (n, atMs) => now() >= atMs + lifetimeS(n) * 1000 - clockSlackMs,
  )

  /** @param {number[]} ns @param {number[]} times */
  const readById = async (ns, times) => {
    if (!strategy.idOf || !value) throw new TypeError(`${strategy.declared.name}: no id leads to a value`)
    const list = idList()
    for (const n of ns) {
      const id = Buffer.from(strategy.idOf(n))
      list.add(id, 0, id.length)
    }
    const sink = {
      value: (
        /** @type {number} */ i,
        /** @type {Buffer} */ bytes,
        /** @type {number} */ from,
        /** @type {number} */ to,
      ) => found(ns[i], bytes, from, to),
      nil: (/** @type {number} */ i) => gone(ns[i], times[i], 'missing'),
    }
    const places = Uint32Array.from(ns, (_, i) => i)
    const refused = await driver.values(list, places, value, sink, 0)
    const [cause] = Object.keys(refused)
    if (cause) throw new ReadError(cause, `${count(refused[cause])} items could not be read: ${cause}`)
  }

  const isOnTime = scoreJudge(plan, startedMs, now)

  /** @param {number[]} ns @param {number[]} times @param {boolean} dated */
  const answersTo = (ns, times, dated) => ({
    values: (
      /** @type {number} */ i,
      /** @type {Buffer | null} */ bytes,
      /** @type {number} */ from,
      /** @type {number} */ to,
    ) => (bytes ? found(ns[i], bytes, from, to) : gone(ns[i], times[i], 'missing')),
    members: (
      /** @type {number} */ i,
      /** @type {Buffer | null} */ bytes,
      /** @type {number} */ from,
      /** @type {number} */ to,
    ) => {
      if (!bytes) gone(ns[i], times[i], 'unranked')
      else if (dated && !isOnTime(times[i], bytes, from, to)) rescored(ns[i])
    },
    listed: nothing,
    present: (
      /** @type {number} */ i,
      /** @type {Buffer | null} */ bytes,
      /** @type {number} */ from,
      /** @type {number} */ to,
    ) => {
      if (!bytes) gone(ns[i], times[i], 'missing')
      else if (dated && !isOnTime(times[i], bytes, from, to)) rescored(ns[i])
      else present()
    },
  })

  const index = await indexOf({ checks, driver, numberOf: strategy.itemNumberOf, now })
  /** @param {number[]} ns @param {number[]} times */
  const readAll = async (ns, times) => {
    for (const one of checks) {
      if (one.check === 'id') await readById(ns, times)
      else if (index.has(one))
        for (const i of await index.missing(one, ns, times)) gone(ns[i], times[i], 'unranked')
      else if (one.step) await askMany(driver, ns, one.step, answersTo(ns, times, one.dated)[one.check])
    }
  }
  for (const { ns, times } of batchesOf(ackedParts(plan, written, startedMs))) {
    await readAll(ns, times)
    counted(ns.length)
  }
  checked.not_checked = [...strategy.unchecked(), ...index.unchecked()]
  return checked
}
