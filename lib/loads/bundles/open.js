// The parts of a client that sends in bundles: its flow, its carrier, and what is measured. It has the same interface as a
// writer in ticks with its driver, so that the same instruments work for both.

import { performance } from 'node:perf_hooks'
import { Redis } from 'ioredis'
import { machineWith } from '../../base/timers.js'
import { certain } from '../../base/typed.js'
import { operationsIn } from '../../probes/operations.js'
import { addressOf, endpointOf } from '../../servers/address.js'
import { clientOptions, withLivePassword } from '../../servers/client-options.js'
import { strictConnector } from '../../servers/connector.js'
import { delayProxy, throughProxy } from '../../servers/delay.js'
import { disconnect } from '../../servers/disconnect.js'
import { listIn } from '../../servers/lists.js'
import { libraryIn } from '../../servers/scripts.js'
import { ownerOf } from '../../servers/topology.js'
import { connectLibrary } from '../../transport/library.js'
import { refusalIn } from '../../transport/refusals.js'
import { noTally } from '../../wire/decode.js'
import { askingBytes } from '../../wire/encode.js'
import { endInTime, passesOf, scheduleAt } from '../clients/open.js'
import { bundlesFlow } from './flow.js'
import { socketCarrier } from './socket-carrier.js'

/**
 * @import { Times } from './socket-carrier.js'
 * @import { Target } from '../../servers/open.js'
 * @import { SendingPart } from './index.js'
 * @import { WriterRun } from '../ticks/open.js'
 * @import { Counts } from '../../probes/ledger.js'
 * @import { Amounts, Sum } from '../../workloads/declare.js'
 * @import { strategyOf } from '../../workloads/bound-strategy.js'
 */

// Reads the counters of a run from the servers and compares them with what was acknowledged.

/**
 * @typedef {ReturnType<typeof strategyOf>} Strategy
 */

const pageSize = 5000

/**
 * @param {Strategy} strategy
 * @param {Target} target
 * @returns {Promise<Float64Array>} of counter i + 1
 */
const amountsIn = async (strategy, target) => {
  const { play, counters } = certain(strategy.amounts())
  const { commands } = strategy.bundle(play)
  const control = target.control(ownerOf(target.topology, strategy.keyOf(1)))
  const amounts = new Float64Array(counters)
  for (let from = 0; from < counters; from += pageSize) {
    const numbers = Array.from({ length: Math.min(pageSize, counters - from) }, (_, i) => from + i + 1)
    const [[name, ...args]] = commands(numbers, numbers.length)
    const found = listIn(name, await control.call(name, args))
    // What is no number was not written by us, and cannot be incremented.
    for (const [i, amount] of found.entries()) amounts[from + i] = Number(amount) || 0
  }
  return amounts
}

const sumOf = (/** @type {Float64Array} */ amounts) => amounts.reduce((sum, amount) => sum + amount, 0)

/**
 * Reads the counters; what it returns reads them again, and compares.
 * @param {Strategy} strategy
 * @param {Target} target
 * @param {boolean} inPasses it is known how often each was incremented
 */
const counted = async (strategy, target, inPasses) => {
  const before = await amountsIn(strategy, target)
  /** @param {Counts} outcome @returns {Promise<Sum>} */
  return async ({ offered, acked, uncertain, unsettled }) => {
    const after = await amountsIn(strategy, target)
    const { expected } = certain(strategy.amounts())
    let different = 0
    if (inPasses && acked === offered)
      for (const [i, amount] of after.entries()) if (amount - before[i] !== expected(i + 1)) different++
    return {
      before: sumOf(before),
      after: sumOf(after),
      acked,
      // What the run did not wait for may have been done as well.
      uncertain: uncertain + unsettled,
      different,
    }
  }
}

/**
 * How the time of a run was spent by the sending thread, in ms. Waiting: its event loop was idle.
 * @param {Times} times
 * @param {number} wholeMs
 * @param {number} idleMs
 */
const timeOf = ({ preparing, sending, parsing }, wholeMs, idleMs) => ({
  whole: wholeMs,
  waiting: idleMs,
  preparing,
  sending,
  parsing,
  other: Math.max(0, wholeMs - idleMs - preparing - (sending ?? 0) - (parsing ?? 0)),
})

/** @param {WriterRun} run */
export const bundlesWriting = async (run) => {
  const { plan, strategy, target, records, clock } = run
  const sending = certain(plan.sending)
  const { delivery, bundleSize, isWhole } = sending
  const { maxBehindMs } = plan
  const bundle = strategy.bundle('add')
  const ledger = operationsIn(records)
  const compare = await counted(strategy, target, isWhole)
  const proxy = await proxyOf(sending, target, strategy.keyOf(1))
  const flow = await bundlesFlow({
    plan: { bundleSize, items: plan.items, maxBehindMs },
    schedule: isWhole ? null : scheduleAt(plan, run.course ?? null),
    onSent: records.sent,
    key: strategy.keyOf(1),
    commandsOf: (items) => (bundle.isOne ? 1 : items + (delivery === 'transaction' ? 2 : 0)),
    carrier:
      plan.driver === 'ioredis'
        ? ioredisCarrier({ delivery, bundle, access: target.access, placeOf: proxy.placeOf, clock })
        : socketCarrier({ delivery, bundle, clock }),
    target: proxy.target,
    scripts: strategy.scripts,
    ledger,
    latency: records.latency,
    machine: machineWith(clock),
    onEvent: run.onEvent,
  }).catch((error) => {
    proxy.close()
    throw error
  })
  let used = performance.eventLoopUtilization()
  /** @type {ReturnType<typeof timeOf> | null} */
  let time = null
  flow.offered.then(() => {
    time = timeOf(flow.times(), flow.lastSettledMs(), performance.eventLoopUtilization(used).idle)
  })
  const play = () => {
    used = performance.eventLoopUtilization()
    flow.start()
    return flow.offered
  }
  const passing = isWhole && passesOf(run, { flow, play, tally: noTally() })
  const offered = passing ? passing.over : flow.offered
  const { elapsed, settle, lastSettledMs, watch, abandon, waitingBytes } = flow
  const close = () => {
    flow.close()
    proxy.close()
  }
  return {
    driver: { encodeMs: 0, encodedBytes: 0, watch, abandon, close, waitingBytes },
    writing: {
      elapsed,
      offered,
      settle,
      stop() {
        if (passing) passing.stop()
        flow.stop()
      },
      lastSettledMs,
      measuredTicks: () => 0,
      /** @param {number | null} unpreparedBytes */
      start(unpreparedBytes) {
        if (passing) return passing.start(unpreparedBytes)
        play()
        endInTime(plan, offered, elapsed, flow.stop)
      },
    },
    passes: () => (passing ? passing.results() : null),
    unplayed: () => (passing ? passing.unplayed() : []),
    /** Reads the counters after the run. */
    async finish() {
      const sum = await compare(ledger.whole).catch(() => null)
      await unload(target, strategy.scripts)
      const delay = await proxy.figures()
      return { delivery, size: bundleSize, calls: flow.calls(), time_ms: time, delay, sum }
    },
  }
}

/**
 * The way to the servers: through a proxy if a delay was asked for.
 * @param {SendingPart} sending
 * @param {Target} target
 * @param {string} key
 */
const proxyOf = async ({ delayMs, loseEvery }, target, key) => {
  const placeOf = async (/** @type {string} */ address) => address
  if (delayMs === null) return { target, placeOf, figures: async () => null, close: () => {} }
  const proxy = await delayProxy({ delayMs, loseEvery, access: target.access })
  const measured = await proxy.measure(endpointOf(ownerOf(target.topology, key))).catch(async (error) => {
    await proxy.close()
    throw error
  })
  return {
    target: throughProxy(target, proxy),
    placeOf: async (/** @type {string} */ address) => addressOf(await proxy.placeOf(endpointOf(address))),
    figures: async () => ({ ...measured, ...(await proxy.figures()) }),
    close: () => {
      proxy.close()
    },
  }
}

/** Removes libraries of functions, as they are data of the server. @param {Target} target @param {readonly string[]} scripts */
const unload = async ({ topology, control }, scripts) => {
  for (const name of scripts) {
    const library = libraryIn(name)
    if (library === null) continue
    await Promise.allSettled(
      topology.masters.map((address) => control(address).call('FUNCTION', 'DELETE', library)),
    )
  }
}

// Bundles over ioredis, as an application would send them: by calls, a pipeline, calls at once that the library puts
// into pipelines by itself, or a transaction. Nothing is retried by the library.
/**
 * @import { Access } from '../../servers/dial.js'
 * @import { BundleCommands } from '../../workloads/bind/bundle.js'
 * @import { Delivery } from '../../workloads/declare.js'
 * @import { Decoder } from '../../transport/lane.js'
 * @import { Carrier } from './socket-carrier.js'
 *
 * @typedef {[error: Error | null, result?: unknown][]} Results
 */

/** The result of a promise, as a pipeline reports it. @param {PromiseSettledResult<unknown>} settled @returns {Results[number]} */
const resultOf = (settled) => (settled.status === 'fulfilled' ? [null, settled.value] : [settled.reason])

/** @param {Redis} client @param {Delivery} delivery @param {string[][]} commands @returns {Promise<Results>} */
const played = async (client, delivery, commands) => {
  const batch = () => commands.map(([name, ...args]) => ['call', name, args])
  if (delivery === 'pipeline') return (await client.pipeline(batch()).exec()) ?? []
  if (delivery === 'transaction') return (await client.multi(batch()).exec()) ?? []
  const calls = commands.map(([name, ...args]) => client.call(name, args))
  return (await Promise.allSettled(calls)).map(resultOf)
}

/** What the router writes before what ASK redirected. @type {unknown} */
const asking = askingBytes

/** Results come in the place of bytes. @type {Decoder} */
const asResults = ({ value }) => /** @type {any} */ (value)

/**
 * @param {object} needs
 * @param {Delivery} needs.delivery
 * @param {BundleCommands} needs.bundle
 * @param {Access} needs.access
 * @param {(address: string) => Promise<string>} needs.placeOf the endpoint to connect to for an address
 * @param {() => number} needs.clock
 * @returns {Carrier}
 */
export const ioredisCarrier = ({ delivery, bundle: { isOne, commands }, access, placeOf, clock }) => {
  let preparingMs = 0
  /** @type {(string | null | undefined)[]} */
  let lines = []

  /** A library's client in the place of a socket: what is written are commands. @type {NonNullable<Carrier['dial']>} */
  const dial = async (address, { onBytes, onClose }) => {
    const client = new Redis({
      ...endpointOf(await placeOf(address)),
      ...clientOptions(access, 'millrace'),
      Connector: strictConnector,
      db: access.db ?? 0,
      enableAutoPipelining: delivery === 'concurrent',
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
      lazyConnect: true,
    })
    /** @type {Error | undefined} */
    let reason
    client.on('error', (error) => {
      reason = error
    })
    withLivePassword(client, access)
    await connectLibrary(
      { connect: () => client.connect(), close: () => disconnect(client) },
      address,
      access,
    )
    const socket = {
      destroyed: false,
      writableLength: 0,
      write(/** @type {string[][]} */ words) {
        const settled = (/** @type {any} */ results) => {
          if (!socket.destroyed) onBytes(results)
        }
        const sent = words === asking ? client.call('ASKING') : played(client, delivery, words)
        sent.then(settled, settled)
      },
      destroy() {
        if (socket.destroyed) return
        socket.destroyed = true
        disconnect(client)
        setImmediate(onClose, reason)
      },
    }
    client.on('close', socket.destroy)
    return /** @type {any} */ (socket)
  }

  return {
    dial,
    decoder: asResults,
    outcome: { acked: () => lines.filter((line) => line === null).length, lineOf: (i) => lines[i] },
    times: () => ({ preparing: preparingMs, sending: null, parsing: null }),
    send(bundle, lane, nowMs, lead) {
      lines = []
      const words = commands(bundle.ns, bundle.count)
      preparingMs += clock() - nowMs
      lane.push(bundle, 1, nowMs, lead)
      lane.write(/** @type {any} */ (words))
    },
    replied({ count }, /** @type {Results | Error} */ results) {
      const errorAt = (/** @type {number} */ i) =>
        results instanceof Error ? results : results[isOne ? 0 : i]?.[0]
      lines = Array.from({ length: count }, (_, i) => {
        const error = errorAt(i)
        // An error of the library itself shows that the connection is lost.
        return error ? (refusalIn(error) ?? undefined) : null
      })
    },
  }
}
