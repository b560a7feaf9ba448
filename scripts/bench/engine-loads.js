// The loads of this checkout over sockets in memory: node scripts/bench/engine-loads.js CASE MS prints the nanoseconds of CPU
// that an operation costs. The servers count asterisks, of which a command has one, and answer each with the same bytes.
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { machineWith } from '../../lib/base/timers.js'
import { bundlesFlow } from '../../lib/loads/bundles/flow.js'
import { socketCarrier } from '../../lib/loads/bundles/socket-carrier.js'
import { clientsFlow } from '../../lib/loads/clients/flow.js'
import { ticksWriter } from '../../lib/loads/ticks/writer.js'
import { workersFlow } from '../../lib/loads/workers/flow.js'
import { ledgerOf } from '../../lib/probes/ledger.js'
import { operationsOf } from '../../lib/probes/operations.js'
import { socketReadDriver } from '../../lib/transport/socket-reader.js'
import { socketDriver } from '../../lib/transport/socket-writer.js'
import { noTally } from '../../lib/wire/decode.js'
import { idList } from '../../lib/wire/id-list.js'
import { slotCount } from '../../lib/wire/slot.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { samplePlan } from '../../test/helpers/sample-plan.js'

/**
 * @import { Topology } from '../../lib/transport/slot-map.js'
 *
 * @typedef {() => number} Done operations so far
 */

const warmUpMs = 700
const repliesAtOnce = 4096
const asterisk = 42
const address = '127.0.0.1:1'
const topology = { masters: [address], owners: null }
const masters = [address, '127.0.0.1:2', '127.0.0.1:3']
const cluster = {
  masters,
  owners: Uint16Array.from({ length: slotCount }, (_, slot) => slot % masters.length),
}
const clock = () => performance.now()
const nothing = () => {}
const latency = { record: nothing }
const machine = machineWith(clock)
const common = { machine, onEvent: nothing }

/** @param {Buffer} bytes */
const commandsIn = (bytes) => {
  let count = 0
  for (let at = bytes.indexOf(asterisk); at >= 0; at = bytes.indexOf(asterisk, at + 1)) count++
  return count
}

/** Connects to a server that answers each command alike, a turn later. @param {string} reply */
const dialer = (reply) => {
  const one = Buffer.from(reply)
  const replies = Buffer.concat(Array(repliesAtOnce).fill(one))
  return async (/** @type {string} */ _, /** @type {{ onBytes: (bytes: Buffer) => void }} */ { onBytes }) => {
    let owed = 0
    const released = /** @type {(() => void)[]} */ ([])
    const answer = () => {
      for (const done of released.splice(0)) done()
      const n = owed
      owed = 0
      for (let left = n; left > 0; left -= repliesAtOnce)
        onBytes(replies.subarray(0, Math.min(left, repliesAtOnce) * one.length))
    }
    const write = (/** @type {Buffer} */ bytes, /** @type {() => void} */ done) => {
      if (done) released.push(done)
      if (owed === 0) setImmediate(answer)
      owed += commandsIn(bytes)
      return true
    }
    const idle = { destroyed: false, writableLength: 0, cork: nothing, uncork: nothing, destroy: nothing }
    return /** @type {import('node:net').Socket} */ (
      /** @type {unknown} */ (Object.assign(new EventEmitter(), idle, { write }))
    )
  }
}

/** @param {string} reply @param {Topology} [servers] */
const targetOf = (reply, servers = topology) => ({
  ...{ topology: servers, access: {}, dial: dialer(reply), nodes: () => [] },
  ...{ refresh: async () => servers, follows: () => true, loadScripts: async () => {} },
})

/** @param {number} pipeline @param {Topology} [servers] @returns {Promise<Done>} */
const lookups = async (pipeline, servers = topology) => {
  const isCluster = servers.owners !== null
  const plan = samplePlan({ strategy: 'lookup-get', quantity: 10_000, valueBytes: 8, cluster: isCluster })
  const ledger = operationsOf({ isMeasured: () => true })
  let n = 0
  const flow = await clientsFlow({
    plan: { clients: 50, pipeline, cluster: isCluster, maxBehindMs: 1e9 },
    operations: strategyOf(plan).clientOperations(),
    pick: () => 0,
    draw: () => {
      n = (n * 7919 + 1) % 10_000
      return n
    },
    schedule: null,
    target: targetOf('$8\r\nabcdefgh\r\n', servers),
    ...{ ledger, latency, onSent: nothing, tally: noTally(), ...common },
  })
  flow.start()
  return () => ledger.whole.acked
}

/** @param {Parameters<typeof samplePlan>[0]} settings @returns {Promise<Done>} */
const ticks = async (settings) => {
  const plan = samplePlan({ strategy: 'hash', durationMs: 60_000, ...settings })
  const ledger = ledgerOf(plan)
  const driver = await socketDriver({
    ...{ plan, steps: strategyOf(plan).steps(), target: targetOf(':1\r\n'), ledger, latency, ...common },
    ...{ onBegun: nothing, onProgress: () => writing.progress() },
  })
  const writing = ticksWriter({ plan, driver, ledger, clock, epochMs: Date.now })
  writing.start()
  return () => ledger.whole.acked
}

/** @returns {Promise<Done>} */
const fetches = async () => {
  const count = 300_000
  const list = idList()
  for (let n = 1; n <= count; n++) {
    const id = Buffer.from(`item:${n}`)
    list.add(id, 0, id.length)
  }
  const places = Uint32Array.from({ length: count }, (_, i) => i)
  const plan = { windowBytes: 512_000, knowsBytes: true, valueBytes: 8, cluster: false, fetch: 'get' }
  const driver = await socketReadDriver({
    plan: /** @type {import('../../lib/loads/fetches/plan.js').ReadPlan} */ (/** @type {unknown} */ (plan)),
    ...{ target: targetOf('$8\r\nabcdefgh\r\n'), ...common },
  })
  let values = 0
  const sink = {
    value: () => {
      values++
    },
    nil: nothing,
  }
  const again = async () => {
    for (;;) await driver.values(list, places, { name: 'GET', after: [], many: true }, sink, 0)
  }
  again()
  return () => values
}

/** @returns {Promise<Done>} */
const bundles = async () => {
  const plan = samplePlan({ strategy: 'counter-pipeline', structure: 'hash', quantity: 1e9, counters: 1000 })
  const strategy = strategyOf(plan)
  const ledger = operationsOf({ isMeasured: () => true })
  const flow = await bundlesFlow({
    plan: { bundleSize: 100, items: 1e9, maxBehindMs: 1e9 },
    ...{ key: strategy.keyOf(1), commandsOf: (items) => items, scripts: [] },
    carrier: socketCarrier({ delivery: 'pipeline', bundle: strategy.bundle('add'), clock }),
    ...{ target: targetOf(':1\r\n'), ledger, latency, ...common },
  })
  flow.start()
  return () => ledger.whole.acked
}

/** @returns {Promise<Done>} */
const workers = async () => {
  const names = Array.from({ length: 20 }, (_, i) => `w${i}`)
  const work = strategyOf(samplePlan({ strategy: 'queue-list', quantity: 100 }))
  const { promise, wait, pollMs } = /** @type {NonNullable<ReturnType<typeof work.workers>>} */ (
    work.workers()
  )
  const none = { open: [], take: null, own: null, confirm: [], alive: null, reclaim: null, leave: [] }
  let done = 0
  const flow = await workersFlow({
    workers: { names, first: 0 },
    work: {
      ...{ take: 1, reclaimMs: 60_000, doWork: null },
      bound: { ...none, promise, pollMs, wait: wait && work.boundWork(wait) },
    },
    server: {
      dial: (handlers) => dialer('*2\r\n$1\r\nq\r\n$8\r\nabcdefgh\r\n')(address, handlers),
      refresh: async () => {},
      nowUs: () => clock() * 1000,
    },
    sink: {
      done: nothing,
      foreign: () => {
        done++
      },
      ...{ took: nothing, confirmed: nothing, busy: nothing, refused: nothing, lostReply: nothing },
      ...{ reclaimed: nothing, renewed: nothing, event: nothing },
    },
    machine,
  })
  flow.start()
  return () => done
}

/** What is measured, by its name. @type {Record<string, () => Promise<Done>>} */
export const loads = {
  'lookups, 1 in flight': () => lookups(1),
  'lookups, 10 in flight': () => lookups(10),
  'lookups of three masters, 10 in flight': () => lookups(10, cluster),
  'ticks at max': () => ticks({ quantity: 100_000, rate: 'max', chunks: 10 }),
  'ticks at 100,000/s': () => ticks({ quantity: 100_000, periodMs: 1000, chunks: 10 }),
  'fetches of 300,000 values': fetches,
  'bundles of 100': bundles,
  'workers, 20': workers,
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , name, ms] = process.argv
  const done = await loads[name]()
  await sleep(warmUpMs)
  const from = { cpu: process.cpuUsage(), operations: done() }
  await sleep(Number(ms))
  const { user, system } = process.cpuUsage(from.cpu)
  const operations = done() - from.operations
  process.stdout.write(`${((user + system) * 1000) / operations}\n`)
  process.exit(operations > 0 ? 0 : 1)
}
