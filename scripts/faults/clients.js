// The same faults, one after the other, for several drivers at once: each writes items of its own to the same servers, and what
// the servers have afterwards is compared with the replies to each driver.
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { noCounts } from '../../lib/probes/ledger.js'
import { stageOf } from './stage.js'
import { wayTo } from './way.js'

/**
 * @import { Counts } from '../../lib/probes/ledger.js'
 * @import { Stage, Writer } from './stage.js'
 *
 * @typedef {object} ClientFault
 * @property {string} name
 * @property {boolean} cluster
 * @property {string} [heard] the kind of event by which a run reports it
 * @property {readonly string[]} [hangs] drivers whose libraries do not notice it as they are by default
 * @property {readonly string[]} [variants] drivers with an option that makes them notice it: 'node-redis socketTimeout=5000'
 * @property {string} [maxBehind] where nothing may be lost: what is late because of other work on the machine is not dropped
 * @property {(stage: Stage, way: Awaited<ReturnType<typeof wayTo>>) => Promise<unknown>} act
 *
 * @typedef {object} Outcome of a fault for a driver
 * @property {string} fault
 * @property {string} driver with its option, where it is a variant
 * @property {number} tookMs the fault itself
 * @property {any} items of the whole run, as it counts them
 * @property {Counts} meanwhile items since the fault began, until its drivers were back
 * @property {string[]} kinds of events in that time
 * @property {number} acked offered, and not in the ranges of the result that were not acknowledged
 * @property {number} lost acknowledged, and not in the servers
 * @property {number} twice executed more often than once
 * @property {number} unknown neither acknowledged nor given up, and yet in the servers: the account cannot know of them
 * @property {number} withoutS intervals since the fault began in which nothing was acknowledged, in seconds
 * @property {number} shortS those in which less than 80 % of their items was acknowledged
 * @property {boolean} goesOn items were acknowledged again before the run was ended
 * @property {boolean} crashed its process ended by itself, or without a result
 * @property {number | null} code
 * @property {string[]} warnings codes of those that make the run invalid
 */

const pauseMs = 5000
const refuseMs = 3000
const silentMs = 12_000 // a connection that has been silent for 5 s is looked at
const leadMs = 1000
const catchUpMs = 90_000 // on a machine with much other work
const batchesAS = 10
const valueBytes = 128
const short = 0.8

/** Waits until the replicas have all that the master has acknowledged, so that only a client can lose items. @param {Redis} master */
const caughtUpReplicas = async (master) => {
  await master.call('CLIENT', 'PAUSE', '60000', 'WRITE')
  for (;;) {
    const info = String(await master.info('replication'))
    const at = /master_repl_offset:(\d+)/.exec(info)?.[1]
    if (info.includes(`offset=${at},`)) return
    await sleep(5)
  }
}

/** @type {ClientFault[]} */
export const clientFaults = [
  {
    name: 'a slot moves',
    cluster: true,
    heard: 'slots-moved',
    maxBehind: '60s',
    act: (stage) =>
      stage.change.move(
        Array.from({ length: 200 }, (_, slot) => slot),
        3,
      ),
  },
  {
    name: 'a master dies',
    cluster: true,
    heard: 'new-master',
    maxBehind: '60s',
    variants: ['valkey-glide batchCommands=1000'],
    act: async (stage) => {
      const { master } = await stage.shard(1)
      await caughtUpReplicas(stage.control(master))
      stage.kill(master)
      await stage.replaced(master)
    },
  },
  {
    name: 'connections hang half-open',
    hangs: ['node-redis', 'valkey-glide'],
    variants: ['node-redis socketTimeout=5000'],
    cluster: false,
    act: async (_, way) => {
      way.forget()
      await sleep(silentMs)
    },
  },
  {
    name: 'the network pauses 5 s',
    cluster: false,
    act: async (_, way) => {
      way.pause()
      await sleep(pauseMs)
      way.resume()
    },
  },
  {
    name: 'maxmemory refuses for 3 s',
    cluster: false,
    act: async (stage) => {
      const control = stage.control(stage.servers[0])
      await control.config('SET', 'maxmemory', 1)
      await sleep(refuseMs)
      await control.config('SET', 'maxmemory', 0)
    },
  },
]

/** Without its option. @param {string} variant */
export const driverIn = (variant) => variant.split(' ')[0]

/** How often the servers have executed the writing of each item. @param {Stage} stage @param {string} prefix */
const timesWritten = async (stage, prefix) => {
  const addresses = stage.isCluster ? (await stage.masters()).map(({ address }) => address) : null
  const servers = addresses ? addresses.map((address) => stage.serverAt(address)) : [stage.servers[0]]
  /** @type {Map<number, number>} */
  const times = new Map()
  for (const server of servers) {
    const { host, port } = server
    const client = new Redis({ host, port, password: stage.embedded.access.password, lazyConnect: true })
    await client.connect()
    try {
      const keys = await client.keys(`${prefix}item:*`)
      const pipeline = client.pipeline()
      for (const key of keys) pipeline.strlen(key)
      const lengths = (await pipeline.exec()) ?? []
      for (const [i, key] of keys.entries())
        times.set(Number(key.slice(prefix.length + 5)), Number(lengths[i][1]) / valueBytes)
    } finally {
      client.disconnect()
    }
  }
  return times
}

/** @param {any} document @param {Map<number, number>} times */
const againstServers = ({ written, items }, times) => {
  const notAcked = new Set()
  for (const [first, last] of written.not_acked) for (let n = first; n <= last; n++) notAcked.add(n)
  let lost = 0
  for (let n = 1; n <= items.offered; n++) if (!notAcked.has(n) && !times.has(n)) lost++
  const twice = [...times.values()].filter((each) => each > 1).length
  const unknown = [...times.keys()].filter((n) => n > items.offered).length
  return { lost, twice, unknown, acked: items.offered - notAcked.size }
}

/** @param {any} items */
const outcomesOf = ({ acked, failed, uncertain, dropped, unsettled }) =>
  acked + failed + uncertain + dropped + unsettled

/**
 * Intervals are a second, and longer where the machine was busy: their lengths count, not how many they are.
 * @param {readonly any[]} intervals of a run
 * @param {number} fromMs epoch
 * @param {number} quantity items a second
 */
export const serviceOf = (intervals, fromMs, quantity) => {
  const seconds = intervals
    .map(({ epoch_ms: epochMs, phase, items, at_ms: atMs }, i) => ({
      isAfter: phase === 'measuring' && epochMs > fromMs + 500,
      acked: Number(items.acked),
      lengthS: (atMs - (intervals[i - 1]?.at_ms ?? 0)) / 1000,
    }))
    .filter(({ isAfter }) => isAfter)
  /** @param {(second: typeof seconds[number]) => boolean} holds */
  const lengthOf = (holds) =>
    Math.round(10 * seconds.filter(holds).reduce((sum, { lengthS }) => sum + lengthS, 0)) / 10
  return {
    withoutS: lengthOf(({ acked }) => acked === 0),
    shortS: lengthOf(({ acked, lengthS }) => acked < short * quantity * lengthS),
    goesOn: seconds.slice(-3).some(({ acked }) => acked > 0),
  }
}
/** @param {Writer} writer @param {number} fromMs @param {number} quantity */
const service = (writer, fromMs, quantity) => serviceOf(writer.intervals(), fromMs, quantity)

/** @param {readonly any[]} intervals */
const itemsOf = (intervals) => {
  const sums = noCounts()
  for (const { items } of intervals)
    for (const name of /** @type {(keyof Counts)[]} */ (Object.keys(sums))) sums[name] += items[name]
  return sums
}

/** Items are acknowledged, and no more are under way than a second has. @param {Writer} writer @param {number} fromMs @param {number} quantity */
const caughtUp = (writer, fromMs, quantity) => {
  const items = itemsOf(writer.intervals())
  return service(writer, fromMs, quantity).goesOn && items.offered - outcomesOf(items) <= quantity
}

/** @typedef {{ driver: string, prefix: string, writer: Writer }} Run */

/**
 * Plays a fault, and waits until the drivers that notice it are back.
 * @param {ClientFault} fault
 * @param {Stage} stage
 * @param {Awaited<ReturnType<typeof wayTo>>} way
 * @param {readonly Run[]} runs
 * @param {number} quantity
 */
const playOne = async (fault, stage, way, runs, quantity) => {
  const earlier = runs.map(({ writer }) => [writer.intervals().length, writer.events().length])
  const fromMs = Date.now()
  await fault.act(stage, way)
  const endMs = Date.now()
  // Where a library reports nothing, the topology is asked for each 10 s.
  const hasHeard = (/** @type {Run} */ { writer }) =>
    !writer.isRunning() || writer.events().some(({ kind }) => kind === fault.heard)
  if (fault.heard) await stage.until(`${fault.heard} in all runs`, async () => runs.every(hasHeard))
  const waitedFor = runs.filter(({ driver }) => !fault.hangs?.includes(driver))
  const isBack = (/** @type {Run} */ { writer }) => !writer.isRunning() || caughtUp(writer, endMs, quantity)
  for (const limit = Date.now() + catchUpMs; Date.now() < limit; await sleep(200))
    if (waitedFor.every(isBack)) break
  return runs.map(({ writer }, i) => {
    const [seconds, events] = earlier[i]
    const kinds = writer
      .events()
      .slice(events)
      .map(({ kind }) => kind)
    return {
      fault: fault.name,
      tookMs: endMs - fromMs,
      ...service(writer, fromMs, quantity),
      goesOn: service(writer, endMs, quantity).goesOn,
      meanwhile: itemsOf(writer.intervals().slice(seconds)),
      kinds: [...new Set(kinds)],
    }
  })
}

/**
 * @param {readonly ClientFault[]} faults of the same servers, in their order: after one that some drivers do not notice, these stay silent
 * @param {readonly string[]} drivers
 * @param {number} quantity items a second of each driver
 * @param {Stage} [given] new servers, which stay; without them the play has its own
 * @returns {Promise<Outcome[]>}
 */
export const playForClients = async (faults, drivers, quantity, given) => {
  const [{ cluster, maxBehind }] = faults
  const stage = given ?? (await stageOf({ cluster }))
  const way = await wayTo(stage.embedded.endpoints[0])
  const line = `-q ${quantity} -c ${batchesAS} --once --guard off --allow memory --idle-cost never --no-report`
  const behind = maxBehind ? ` --max-behind ${maxBehind}` : ''
  const there = (/** @type {string} */ variant) => drivers.includes(driverIn(variant))
  const all = [...drivers, ...faults.flatMap(({ variants = [] }) => variants).filter(there)]
  const runs = all.map((driver, i) => {
    const [name, option] = driver.split(' ')
    const choice = `--driver ${name}${option ? ` --driver-option ${option}` : ''}`
    const prefix = `${i}-${name}:`
    const writer = stage.startWriter(
      `${line}${behind} ${choice} --prefix ${prefix}`,
      cluster ? undefined : way,
      { model: 'APPEND item:{n} {value}', own: `${i}-${name}` },
    )
    return { driver, prefix, writer }
  })
  try {
    const writes = (/** @type {Run} */ { writer, driver }) => {
      if (!writer.isRunning()) throw new Error(`${driver} does not begin: ${writer.log()}`)
      return writer.intervals().some(({ items }) => items.acked > 0)
    }
    await stage.until('all drivers write', async () => runs.every(writes))
    await sleep(leadMs)
    const played = /** @type {Awaited<ReturnType<typeof playOne>>[]} */ ([])
    for (const fault of faults) played.push(await playOne(fault, stage, way, runs, quantity))
    const outcomes = await Promise.all(
      runs.map(async ({ driver, prefix, writer }, i) => {
        const crashed = !writer.isRunning()
        const document = await writer.end().catch(() => null)
        const times = await timesWritten(stage, prefix)
        const account = {
          items: document?.items ?? null,
          ...(document
            ? againstServers(document, times)
            : { lost: 0, twice: 0, unknown: times.size, acked: 0 }),
          crashed: crashed || document === null,
          code: await writer.ended,
          warnings: (document?.warnings ?? [])
            .filter((/** @type {any} */ { invalidates }) => invalidates)
            .map((/** @type {any} */ { code }) => code),
        }
        return played.map((each) => ({ driver, ...each[i], ...account }))
      }),
    )
    return outcomes.flat().filter(({ fault, driver }) => {
      const { variants = [] } = /** @type {ClientFault} */ (faults.find(({ name }) => name === fault))
      return drivers.includes(driver) || variants.includes(driver)
    })
  } finally {
    for (const { writer } of runs) writer.kill()
    await way.close()
    if (!given) await stage.close()
  }
}

/**
 * A reply of 50 MB: 50 items in a sorted set are read by one command, once a second by one driver after the other.
 * @param {readonly string[]} drivers
 * @param {Stage} [given] a new server, which stays; without it the play has its own
 * @returns {Promise<{ driver: string, code: number | null, fetches: any, verify: any, rssMb: number, log: string }[]>}
 */
export const largeReplies = async (drivers, given) => {
  const stage = given ?? (await stageOf({ cluster: false }))
  const kept = '-p 60000 --ttl 600 --guard off --allow memory --idle-cost never --no-report'
  const writer = stage.startWriter(`-q 50 -t 1 -c 1 --actual-value --value-size 1MB ${kept}`)
  const [server] = stage.servers
  try {
    await stage.until('all is written', async () => (await stage.control(server).zcard('latest-ids')) === 50)
    const outcomes = []
    for (const driver of drivers) {
      const reader = stage.startReader(`--driver ${driver} -p 1000 --verify`, driver)
      const hasRead = async () =>
        !reader.isRunning() || reader.intervals().some(({ fetches }) => fetches.count > 0)
      await stage.until(`${driver} has read all`, hasRead)
      reader.kill('SIGINT')
      const code = await reader.ended
      const { fetches = null, verify = null, client = {} } = JSON.parse(reader.text() || '{}')
      outcomes.push({ driver, code, fetches, verify, rssMb: client.rss_mb_max, log: reader.log() })
    }
    return outcomes
  } finally {
    writer.kill()
    if (!given) await stage.close()
  }
}
