// What plays share: a simulated cluster that breaks as its seed says, virtual time, and the target that a load is given of both.
import { TargetError } from '../../lib/base/errors.js'
import { endpointOf } from '../../lib/servers/address.js'
import { confirmedServersOf } from '../../lib/servers/confirmed-servers.js'
import { dial } from '../../lib/servers/dial.js'
import { seeded } from '../helpers/random.js'
import { virtualClock } from './clock.js'
import { simulatedCluster } from './cluster.js'
import { drawFaults, playFault } from './faults.js'

/**
 * @import { clientsFlow } from '../../lib/loads/clients/flow.js'
 * @import { operationsOf } from '../../lib/probes/operations.js'
 * @import { Fault } from './faults.js'
 * @import { Told } from './cluster.js'
 *
 * @typedef {{ seed: number, keep?: number[] }} Which keep: which of the seed's faults are played; all of them
 * @typedef {Omit<Parameters<typeof simulatedCluster>[0], 'clock' | 'random'> & { faultsToMs: number, faults?: Fault[] }} Scene
 * faults: instead of those that the seed draws
 */

/** @param {ReturnType<typeof import('./network.js').networkOf>} network @returns {(address: string, events: any) => ReturnType<typeof dial>} */
export const dialOf =
  ({ connect }) =>
  (address, events) =>
    dial(endpointOf(address), {}, { ...events, connect })

/** Latencies, and what is wrong about them. @param {number} [earlyMs] so much may be sent before it is due */
export const recordedLatencies = (earlyMs = 0) => {
  const lists = { problems: /** @type {string[]} */ ([]), serviceMs: /** @type {number[]} */ ([]) }
  const recorded = { items: 0, longestMs: 0, ...lists }
  /** @param {number} dueMs @param {number} sentMs @param {number} doneMs @param {number} items */
  const record = (dueMs, sentMs, doneMs, items) => {
    recorded.items += items
    recorded.serviceMs.push(doneMs - sentMs)
    recorded.longestMs = Math.max(recorded.longestMs, doneMs - dueMs)
    if (!(dueMs <= sentMs + earlyMs && sentMs <= doneMs))
      recorded.problems.push(`due ${dueMs}, sent ${sentMs}, answered ${doneMs}`)
  }
  return { recorded, record }
}

const reconnectsForMs = 2500
const silenceMs = 7500 // of a half-open connection, until it is given up
const offersForMs = 1000 // when all is well again
const longestMs = 90_000

/**
 * Operations from the first until all is well again, and for a while after it.
 * @template {Pick<Awaited<ReturnType<typeof clientsFlow>>, 'start' | 'stop' | 'offered' | 'watch' | 'waitingBytes' | 'settle' | 'abandon' | 'close'>} Flow
 * @param {ReturnType<typeof stageOf>} stage
 * @param {object} load
 * @param {() => Promise<Flow>} load.open
 * @param {(flow: Flow) => void} load.onOpen
 * @param {ReturnType<typeof operationsOf>} load.ledger
 * @param {() => number} [load.excused] of those that were not acknowledged
 * @param {{ maxBehindMs: number, isCutShort: boolean }} load.scene
 */
export const playedOperations = (stage, { open, onOpen, ledger, excused = () => 0, scene }) => {
  const { clock, faults, lastFaultMs } = stage
  const recoversMs = faults.some(({ kind }) => kind === 'half-open') ? silenceMs : reconnectsForMs
  const wellMs = lastFaultMs + recoversMs + scene.maxBehindMs
  const outcomes = () => {
    const { offered, ...counts } = ledger.whole
    return Object.values(counts).reduce((sum, n) => sum + n, 0)
  }
  const lost = () => outcomes() - ledger.whole.acked - excused()
  let mostOpenOperations = 0
  let mostWaiting = 0
  const run = async () => {
    const flow = await open()
    onOpen(flow)
    stage.begin()
    const look = () => {
      mostOpenOperations = Math.max(mostOpenOperations, ledger.whole.offered - outcomes())
      mostWaiting = Math.max(mostWaiting, flow.waitingBytes())
    }
    stage.every(20, look, true)
    stage.every(1000, flow.watch)
    let lostBefore = 0
    clock.after(wellMs, () => {
      lostBefore = lost()
    })
    flow.start()
    clock.after(scene.isCutShort ? lastFaultMs / 2 : wellMs + offersForMs, flow.stop)
    await flow.offered
    const whole = await stage.settled(flow, scene.isCutShort)
    const lostAfter = lost() - lostBefore
    if (!whole) flow.abandon()
    flow.close()
    // Those that were being opened end too.
    await clock.wait(10_000)
    return { flow, whole, lostAfter, mostOpenOperations, mostWaiting }
  }
  return clock.runUntil(run(), longestMs)
}

/** @param {Which} which @param {Scene} scene @param {() => void} stop ends the load */
export const stageOf = ({ seed, keep }, scene, stop) => {
  const drawn = () => drawFaults(seeded(seed + 0x5eed), { ...scene, fromMs: 100, toMs: scene.faultsToMs })
  const faults = (scene.faults ?? drawn()).filter((_, i) => !keep || keep.includes(i))
  const random = seeded(seed + 0xc1)
  const clock = virtualClock({ random })
  const cluster = simulatedCluster({ clock, random, ...scene })
  const topology = cluster.topology()
  const ended = /** @type {string[]} */ ([])
  const unconfirmed = /** @type {string[]} */ ([])
  let isOver = false

  // The product's own rule of which servers may be used; what it lets through nevertheless is written down.
  const confirmed = confirmedServersOf({ clock: clock.now })
  confirmed.checkWith(async (address) => {
    const { foreign } = await cluster.reached(address, 2)
    if (foreign) throw new TargetError(`${address} holds keys of others`, { code: 'FOREIGN' })
  })
  confirmed.endWith((reason) => {
    ended.push(reason)
    stop()
  })
  /** @param {Told} told */
  const layoutOf = ({ masters, owners, others }) => {
    const own = { role: /** @type {const} */ ('master'), shard: 1 }
    const nodes = masters.map((address) => ({ address, ...endpointOf(address), ...own }))
    return { masters: [...masters], owners, nodes, others }
  }
  confirmed.begin(layoutOf(topology))
  const dialed = dialOf(cluster.network)

  return {
    faults,
    clock,
    cluster,
    random,
    ended,
    unconfirmed,
    lastFaultMs: Math.max(0, ...faults.map(({ atMs, forMs }) => atMs + forMs)),
    target: {
      topology,
      access: {},
      dial: (/** @type {string} */ address, /** @type {any} */ events) => {
        if (!confirmed.isAdmitted(address)) unconfirmed.push(address)
        return dialed(address, events)
      },
      refresh: async () => {
        const told = await cluster.refresh()
        await confirmed.review(layoutOf(told))
        return told
      },
      follows: confirmed.follows,
      loadScripts: cluster.loadScripts,
    },
    begin() {
      for (const fault of faults)
        clock.after(
          fault.atMs,
          () => playFault(fault, { clock, random, cluster, masters: scene.masters }),
          true,
        )
    },
    /** Until the load has settled. @param {number} periodMs @param {() => void} act @param {boolean} [inner] */
    every(periodMs, act, inner) {
      const next = () => {
        if (isOver) return
        act()
        clock.after(periodMs, next, inner)
      }
      clock.after(periodMs, next, inner)
    },
    /**
     * Whether nothing is open when a load has settled.
     * @param {{ settle: (limitMs: number, atOnce: AbortSignal) => Promise<boolean> }} load
     * @param {boolean} isCutShort it is given no time
     */
    async settled({ settle }, isCutShort) {
      const whole = await settle(isCutShort ? 0 : 20_000, new AbortController().signal)
      isOver = true
      return whole
    },
    /** What there is to see when it is over. */
    seen: () => ({
      mostOpen: cluster.network.mostOpen(),
      mostUnanswered: cluster.network.mostUnanswered(),
      unasked: cluster.unasked,
      endMs: clock.now(),
    }),
  }
}
