// Whether ids are where readers look for them: in a set of their minute, or in a list.
import { count, several } from '../base/units.js'
import { tickValues } from '../plan/tick-values.js'
import { noValues, plainCommand } from '../wire/encode.js'

/**
 * @import { ReadDriver } from '../transport/read-driver.js'
 * @import { TickValues } from '../wire/encode.js'
 * @import { GatherStep } from '../workloads/step.js'
 * @import { strategyOf } from '../workloads/bound-strategy.js'
 *
 * @typedef {NonNullable<ReturnType<ReturnType<typeof strategyOf>['checks']>>[number]} Bound
 */

const membersInCommand = 1000
const entriesInCommand = 10_000
const minuteMs = 60_000
const nothing = () => {}

/**
 * Asks for many members of a key in one command; the reply has an element for each: bytes, or 1 or 0 for present.
 * @param {ReadDriver} driver
 * @param {readonly number[]} ns
 * @param {GatherStep} step
 * @param {(i: number, bytes: Buffer | null, from: number, to: number) => void} answered
 * @param {TickValues} [values]
 */
export const askMany = async (driver, ns, step, answered, values = noValues) => {
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
        open: nothing,
        error: nothing,
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
      open: nothing,
      error: nothing,
      number: nothing,
      nil: nothing,
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
export const indexOf = async ({ checks, driver, numberOf, now }) => {
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
