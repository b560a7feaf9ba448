// The same fault for several drivers at once: each writes items of its own to the same servers, and what the servers have
// afterwards is compared with what each was told.
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { stageOf } from './stage.js'
import { wayTo } from './way.js'

/**
 * @import { Stage, Writer } from './stage.js'
 *
 * @typedef {object} ClientFault
 * @property {string} name
 * @property {boolean} cluster
 * @property {readonly string[]} [hangs] drivers whose libraries do not notice it as they are by default
 * @property {readonly string[]} [variants] drivers with an option that makes them notice it: 'node-redis socketTimeout=5000'
 * @property {string} [maxBehind] where nothing may be lost: what is late because of other work on the machine is not dropped
 * @property {(stage: Stage, way: Awaited<ReturnType<typeof wayTo>>) => Promise<unknown>} act
 *
 * @typedef {object} Outcome of a driver in a play
 * @property {string} fault
 * @property {string} driver with its option, where it is a variant
 * @property {number} tookMs the fault itself
 * @property {any} items as its run counts them
 * @property {number} acked offered, and not in the ranges of the result that were not acknowledged
 * @property {number} lost acknowledged, and not in the servers
 * @property {number} twice executed more often than once
 * @property {number} unknown neither acknowledged nor given up, and yet in the servers: the account cannot know of them
 * @property {number} withoutS intervals since the fault began in which nothing was acknowledged, in seconds
 * @property {number} shortS those in which less than 80 % of their items was acknowledged
 * @property {boolean} goesOn items were acknowledged again before the run was ended
 * @property {boolean} crashed its process ended by itself, or without a result
 * @property {number | null} code
 * @property {string[]} kinds of events
 * @property {string[]} warnings codes of those that make the run invalid
 */

const pauseMs = 5000
const refuseMs = 3000
const silentMs = 12_000 // a connection that has been silent for 5 s is looked at
const leadMs = 2500
// Where a library reports nothing, the topology is asked for each 10 s: once a second it is looked whether it is time.
const heardMs = 15_000
const catchUpMs = 90_000 // on a machine with much other work
const batchesAS = 10
const valueBytes = 128
const short = 0.8

/** What the replicas have is all that the master has acknowledged, so that only a client can lose it. @param {Redis} master */
const caughtUpReplicas = async (master) => {
  await master.call('CLIENT', 'PAUSE', '5000', 'WRITE')
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

/** Items are acknowledged, and no more are under way than a second has. @param {Writer} writer @param {number} fromMs @param {number} quantity */
const caughtUp = (writer, fromMs, quantity) => {
  const open = writer.intervals().reduce((sum, { items }) => sum + items.offered - outcomesOf(items), 0)
  return service(writer, fromMs, quantity).goesOn && open <= quantity
}

/**
 * @param {ClientFault} fault
 * @param {readonly string[]} drivers
 * @param {{ quantity: number }} load items a second of each driver
 * @returns {Promise<Outcome[]>}
 */
export const playForClients = async (fault, drivers, { quantity }) => {
  const stage = await stageOf({ cluster: fault.cluster })
  const way = await wayTo(stage.embedded.endpoints[0])
  const line = `-q ${quantity} -c ${batchesAS} --once --guard off --allow memory --idle-cost never --no-report`
  const behind = fault.maxBehind ? ` --max-behind ${fault.maxBehind}` : ''
  const there = (/** @type {string} */ variant) => drivers.includes(driverIn(variant))
  const all = [...drivers, ...(fault.variants ?? []).filter(there)]
  const runs = all.map((driver, i) => {
    const [name, option] = driver.split(' ')
    const choice = `--driver ${name}${option ? ` --driver-option ${option}` : ''}`
    const prefix = `${i}-${name}:`
    const writer = stage.startWriter(
      `${line}${behind} ${choice} --prefix ${prefix}`,
      fault.cluster ? undefined : way,
      { model: 'APPEND item:{n} {value}', own: `${i}-${name}` },
    )
    return { driver, prefix, writer }
  })
  try {
    const writes = (/** @type {(typeof runs)[number]} */ { writer, driver }) => {
      if (!writer.isRunning()) throw new Error(`${driver} does not begin: ${writer.log()}`)
      return writer.intervals().some(({ items }) => items.acked > 0)
    }
    await stage.until('all drivers write', async () => runs.every(writes))
    await sleep(leadMs)
    const fromMs = Date.now()
    await fault.act(stage, way)
    const endMs = Date.now()
    const tookMs = endMs - fromMs
    if (fault.cluster) await sleep(heardMs)
    const waitedFor = runs.filter(({ driver }) => !fault.hangs?.includes(driver))
    const isBack = (/** @type {(typeof runs)[number]} */ { writer }) =>
      !writer.isRunning() || caughtUp(writer, endMs, quantity)
    for (const limit = Date.now() + catchUpMs; Date.now() < limit; await sleep(200))
      if (waitedFor.every(isBack)) break
    return await Promise.all(
      runs.map(async ({ driver, prefix, writer }) => {
        const served = {
          ...service(writer, fromMs, quantity),
          goesOn: service(writer, endMs, quantity).goesOn,
        }
        const crashed = !writer.isRunning()
        const document = await writer.end().catch(() => null)
        const times = await timesWritten(stage, prefix)
        const found = document
          ? againstServers(document, times)
          : { lost: 0, twice: 0, unknown: times.size, acked: 0 }
        return {
          fault: fault.name,
          driver,
          tookMs,
          items: document?.items ?? null,
          ...found,
          ...served,
          crashed: crashed || document === null,
          code: writer.code(),
          kinds: [...new Set((document?.events ?? []).map((/** @type {any} */ { kind }) => kind))],
          warnings: (document?.warnings ?? [])
            .filter((/** @type {any} */ { invalidates }) => invalidates)
            .map((/** @type {any} */ { code }) => code),
        }
      }),
    )
  } finally {
    for (const { writer } of runs) writer.kill()
    await way.close()
    await stage.close()
  }
}

/**
 * A reply of 50 MB: 50 items in a sorted set are read by one command, once a second by one driver after the other.
 * @param {readonly string[]} drivers
 * @returns {Promise<{ driver: string, code: number | null, fetches: any, verify: any, rssMb: number, log: string }[]>}
 */
export const largeReplies = async (drivers) => {
  const stage = await stageOf({ cluster: false })
  const kept = '-p 60000 --ttl 600 --guard off --allow memory --idle-cost never --no-report'
  const writer = stage.startWriter(`-q 50 -t 1 -c 1 --actual-value --value-size 1MB ${kept}`)
  const [server] = stage.servers
  try {
    await stage.until('all is written', async () => (await stage.control(server).zcard('latest-ids')) === 50)
    const outcomes = []
    for (const driver of drivers) {
      const reader = stage.startReader(`--driver ${driver} -p 2000 --verify --duration 5s`, driver)
      const code = await reader.ended
      const { fetches = null, verify = null, client = {} } = JSON.parse(reader.text() || '{}')
      outcomes.push({ driver, code, fetches, verify, rssMb: client.rss_mb_max, log: reader.log() })
    }
    return outcomes
  } finally {
    writer.kill()
    await stage.close()
  }
}
