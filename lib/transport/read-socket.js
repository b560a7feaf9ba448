// The read driver on plain sockets: one connection a server for all consumers of the process; what is redirected,
// refused for now, or lost with a connection is asked again.
import { fetchScript } from '../target/scripts.js'
import { slotOf } from '../wire/slot.js'
import { readAgain } from './read-again.js'
import { ReadError } from './read-driver.js'
import { readShare, sendOne } from './read-exchange.js'
import { readLanesOf } from './read-lanes.js'
import { sharesOf } from './read-order.js'
import { verdictOf } from './verdict.js'

/**
 * @typedef {import('./read-driver.js').ReadDriver} ReadDriver
 * @typedef {import('./read-driver.js').ReplySink} ReplySink
 * @typedef {import('./read-lane.js').ReadLane} ReadLane
 * @typedef {import('./read-order.js').Share} Share
 */

/**
 * How large values are, as a mean that follows them.
 * @param {number | null} first
 */
const sizesSeen = (first) => {
  // An array, since a variable with a fraction in it is allocated anew each time. NaN: none seen.
  const mean = Float64Array.of(first ?? Number.NaN)
  return {
    mean: () => (Number.isNaN(mean[0]) ? null : mean[0]),
    seen: (/** @type {number} */ bytes) => {
      mean[0] = Number.isNaN(mean[0]) ? bytes : mean[0] + (bytes - mean[0]) / 16
    },
  }
}

/**
 * @param {import('./read-driver.js').ReadDriverOptions} options
 * @returns {Promise<ReadDriver>}
 */
export const socketReadDriver = async (options) => {
  const { plan, target, clock, random } = options
  const lanes = readLanesOf(options)
  const { laneAt, serverAt, map, isClosed, refresh } = lanes
  const patience = readAgain({ clock, random, isClosed, refresh })
  const sizes = sizesSeen(plan.knowsBytes ? plan.valueBytes : null)
  const slotFor = (/** @type {string} */ key) => (plan.cluster ? slotOf(key) : 0)

  /**
   * @param {string[]} args
   * @param {string} key
   * @param {ReplySink} sink
   * @param {(slot: number) => ReadLane} laneFor
   */
  const askUntil = (args, key, sink, laneFor) => {
    const slot = slotFor(key)
    /** @type {string | null} */
    let goTo = null
    let asking = false
    return patience.untilAnswered(async (attempt) => {
      const lane = goTo ? laneAt(goTo, false) : laneFor(slot)
      const { line, closed: lost } = await sendOne(lane, args, sink, asking)
      if (line === null && lost === null) return null
      // Part of a lost reply may have been handed out: whoever asked must begin anew.
      if (lost !== null) throw new ReadError(lost, `${lane.address} closed the connection`)
      const verdict = verdictOf(line ?? '', lane.address)
      const { cause, address } = verdict
      const isStray = address !== undefined && !target.follows(lane.address, address)
      const action = isStray ? 'later' : verdict.action
      asking = action === 'asking'
      // A replica that has lost the slot names the new master; its own replicas are known after a refresh.
      goTo = asking || (attempt > 0 && action === 'there') ? (address ?? null) : null
      return {
        action,
        cause,
        words: `${lane.address} refuses ${args[0]} ${key}: ${line}`,
        loadScript: () => target.loadScripts(lane.address, [fetchScript]),
      }
    })
  }

  /** @type {ReadDriver['values']} */
  const values = (list, places, command, sink, consumer) =>
    patience.untilRead(places, async (wanted, { attempt, given, isLate }) => {
      /** @type {import('./read-exchange.js').Unread} */
      const unread = { there: [], later: [], asking: new Map(), given, cause: '' }
      const readAt = (
        /** @type {ReadLane} */ lane,
        /** @type {Share} */ share,
        /** @type {boolean} */ asking,
      ) => readShare(lane, share, { list, command, values: sink, sizes, asking }, unread, target.follows)
      const shares = sharesOf({
        list,
        places: wanted,
        cluster: plan.cluster,
        many: plan.fetch === 'mget' && command.many && attempt === 0,
        // What was redirected twice is read where the slot's master is.
        serverOf: attempt < 2 ? (slot) => serverAt(slot, consumer) : map().masterOf,
      })
      await Promise.all(
        [...shares].map(([address, share]) => readAt(laneAt(address, attempt < 2), share, false)),
      )
      while (unread.asking.size > 0) {
        const asked = [...unread.asking]
        unread.asking = new Map()
        await Promise.all(
          asked.map(([address, there]) =>
            readAt(laneAt(address, false), { places: Uint32Array.from(there), cuts: null }, true),
          ),
        )
        if (isLate()) break
      }
      const { there, later, asking, cause } = unread
      return {
        again: [...there, ...later, ...[...asking.values()].flat()],
        later: later.length > 0 || attempt > 1,
        cause,
      }
    })

  await lanes.connectAll()
  return {
    ask: (args, key, sink, consumer) =>
      askUntil(args, key, sink, (slot) => laneAt(serverAt(slot, consumer), true)),
    askMaster: (args, key, sink) => askUntil(args, key, sink, (slot) => laneAt(map().masterOf(slot), false)),
    values,
    serverOf: (key, consumer) => serverAt(slotFor(key), consumer),
    servers: () => map().servers,
    bare: () => map().bare,
    figures: lanes.figures,
    watch: lanes.watch,
    close: lanes.close,
  }
}
