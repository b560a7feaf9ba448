// The faults, what is done for each of them, and what must come of it.
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * @import { Stage } from './stage.js'
 * @import { Settings } from '../../settings.js'
 *
 * @typedef {object} Pace how long things last, and how much is sent
 * @property {{ socket: number, ioredis: number }} quantity items/s
 * @property {number} [watched] items whose order is watched
 * @property {string} [maxBehind] of a writer that may lose nothing, where it is not the default
 * @property {number} slots that are moved
 * @property {number} frozenMs
 * @property {number} outageMs
 * @property {number} outageQuantity items/s of the socket driver in the outage
 * @property {number} tailMs the run goes on after the fault
 * @property {number} cuts connections reset
 *
 * @typedef {object} FaultCase
 * @property {string} name
 * @property {'nothing-lost' | 'accounted'} demands nothing-lost: no item failed, uncertain, dropped or unsettled,
 * and every tick in order; accounted: the run goes on, every item has its outcome, and losses are reported
 * @property {boolean} [emptied] masters come back without their data, and the result must say so; else it must not
 * @property {boolean} [single] one server
 * @property {boolean} [proxied] behind a proxy that can cut connections
 * @property {boolean} [verified] items are written once, and scripts/verify.js looks afterwards for what was
 * acknowledged; without it they are written again and again, and the order of their ticks is watched
 * @property {(pace: Pace, driver: Settings['driver']) => number} [quantity]
 * @property {string} [options] of the writer besides
 * @property {(stage: Stage, pace: Pace, proxy: { cut: (bytes: number) => void, cuts: () => number }) => Promise<unknown>} act
 */

/** @type {Pace} */
export const longPace = {
  quantity: { socket: 100_000, ioredis: 25_000 },
  slots: 1500,
  frozenMs: 10_000,
  outageMs: 60_000,
  outageQuantity: 300_000,
  tailMs: 5000,
  cuts: 20,
}

/** @type {Pace} */
export const shortPace = {
  // So few that a machine with other work keeps up.
  quantity: { socket: 1000, ioredis: 1000 },
  watched: 50,
  // What is late because of other work on the machine is not dropped for it.
  maxBehind: '60s',
  slots: 200,
  frozenMs: 3000,
  outageMs: 3000,
  outageQuantity: 2000,
  tailMs: 0,
  cuts: 5,
}

const numbers = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => i)

/** @type {FaultCase[]} */
export const faultCases = [
  {
    name: 'slots moved',
    demands: 'nothing-lost',
    act: (stage, { slots }) => stage.change.move(numbers(slots), 3),
  },
  {
    name: 'shard added',
    demands: 'nothing-lost',
    act: (stage) => stage.addShard(),
  },
  {
    name: 'shard removed (3 to 2)',
    demands: 'nothing-lost',
    act: (stage) => stage.removeShard(3),
  },
  {
    name: 'graceful failover',
    demands: 'nothing-lost',
    act: (stage) => stage.change.failover(2),
  },
  {
    name: 'replica lost',
    demands: 'nothing-lost',
    verified: true,
    act: async (stage) => {
      const { replica } = await stage.shard(2)
      if (replica) stage.kill(replica)
    },
  },
  {
    name: 'connection reset in the middle of a reply',
    demands: 'nothing-lost',
    single: true,
    proxied: true,
    act: async (_, { cuts }, proxy) => {
      for (let n = 1; n <= cuts; n++) {
        // Three bytes into one of the answers of a read.
        proxy.cut(5 * 40 * n + 3)
        while (proxy.cuts() < n) await sleep(10)
        await sleep(400)
      }
    },
  },
  {
    name: 'master killed -9',
    demands: 'accounted',
    verified: true,
    act: async (stage) => {
      const { master } = await stage.shard(1)
      stage.kill(master)
      await stage.replaced(master)
    },
  },
  {
    name: 'node frozen and resumed',
    demands: 'accounted',
    verified: true,
    act: async (stage, { frozenMs }) => {
      const { master } = await stage.shard(1)
      stage.freeze(master)
      await sleep(frozenMs)
      stage.thaw(master)
      await stage.whole()
    },
  },
  {
    name: 'all nodes gone and back, empty',
    demands: 'accounted',
    emptied: true,
    verified: true,
    act: async (stage, { outageMs }) => {
      const servers = stage.living()
      for (const server of servers) stage.kill(server)
      await sleep(Math.min(outageMs, 10_000))
      await Promise.all(servers.map(stage.restart))
      await stage.whole()
    },
  },
  {
    name: 'outage of a minute',
    demands: 'accounted',
    emptied: true,
    single: true,
    quantity: ({ outageQuantity, quantity }, driver) =>
      driver === 'socket' ? outageQuantity : quantity.ioredis,
    act: async (stage, { outageMs }) => {
      for (const server of stage.servers) stage.kill(server)
      await sleep(outageMs)
      await Promise.all(stage.servers.map(stage.restart))
      await stage.whole()
    },
  },
]
