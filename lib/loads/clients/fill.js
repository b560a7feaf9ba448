// What is written before clients begin: every key of a key space, or what a strategy prepares.

import { setTimeout as sleep } from 'node:timers/promises'
import { TargetError } from '../../base/errors.js'
import { machineWith } from '../../base/timers.js'
import { count, several } from '../../base/units.js'
import { dataBytesIn } from '../../probes/baseline.js'
import { measurableGrowth } from '../../probes/memory-cost.js'
import { operationsOf } from '../../probes/operations.js'
import { longCommand } from '../../servers/long-command.js'
import { ownerOf } from '../../servers/topology.js'
import { eachOnce } from '../../traffic/items.js'
import { fillingOf, keysInUse, toppingOf } from '../../traffic/keys-in-use.js'
import { shortestS } from '../../traffic/lifetimes.js'
import { payloadMatcher } from '../../traffic/payload.js'
import { storedBytes } from '../../traffic/sizes.js'
import { noTally } from '../../wire/decode.js'
import { parseInfo } from '../../wire/info.js'
import { slotOf } from '../../wire/slot.js'
import { readsKeys, strategyNamed } from '../../workloads/index.js'
import { clientsFlow } from './flow.js'

/**
 * @import { Played } from './flow.js'
 * @import { Operation } from './operation.js'
 * @import { Plan } from '../plan.js'
 * @import { Target } from '../../servers/open.js'
 * @import { Warning } from '../../measures/warnings.js'
 * @import { strategyOf } from '../../workloads/bound-strategy.js'
 *
 * @typedef {ReturnType<typeof strategyOf>} Strategy
 *
 * @typedef {object} Needs
 * @property {Plan} plan
 * @property {Strategy} strategy
 * @property {Target} target
 * @property {() => number} clock
 * @property {(line: string) => void} say
 * @property {(kind: string, text: string) => void} onEvent
 * @property {AbortSignal} stop
 */

// Indexes over the data loaded before a run: built before or after loading, timed, and removed after the run.

/**
 * @typedef {NonNullable<ReturnType<Strategy['indexing']>>} Indexing
 * @typedef {(operation: Played, numbers: number, onDone?: (exchange: Operation) => void) => Promise<{ acked: number, causes: string }>} Play
 *
 * @typedef {object} Indexed
 * @property {number} indexes
 * @property {'before' | 'after'} index_when the data was loaded
 * @property {number | null} index_seconds until it was ready, from when it was asked for, or from when all data was there; null: it came with the data
 * @property {number | null} index_bytes by which the masters' data grew; null: not known apart from the data's
 */

const indexesWords = (/** @type {number} */ n) => `${count(n)} ${n === 1 ? 'index' : 'indexes'}`
const pollMs = 50
const oftenMs = 2000

/** @param {Needs} needs @param {Play} play */
const indexingOf = ({ strategy, target, say, clock, stop }, play) => {
  const indexing = strategy.indexing()
  const create = async () => {
    if (!indexing?.create) return
    const { operation, count: wanted } = indexing.create
    const { acked, causes } = await play(operation, wanted)
    if (acked < wanted && !stop.aborted)
      throw new TargetError(
        `${target.address}: ${count(acked)} of ${count(wanted)} index operations were done (${causes})`,
      )
  }
  const ready = async () => {
    if (!indexing?.ready) return
    for (let saidMs = clock(); !stop.aborted; await sleep(pollMs)) {
      let whole = 0
      await play(indexing.ready, indexing.indexes, ({ multiStep }) => {
        whole += multiStep.answer().length
      })
      if (whole === indexing.indexes) return
      if (clock() - saidMs < oftenMs) continue
      saidMs = clock()
      say(`indexing: ${whole} of ${indexesWords(indexing.indexes)} ready`)
    }
  }
  /** Indexes of an earlier run usually do not exist. */
  const drop = async () => {
    if (indexing?.drop) await play(indexing.drop, indexing.indexes)
  }
  return {
    drop,
    before: async () => {
      await drop()
      if (indexing?.when === 'before') await create()
    },
    /** @param {number | null} loadedBytes @returns {Promise<Indexed | null>} */
    async after(loadedBytes) {
      if (!indexing) return null
      const startMs = clock()
      if (indexing.when === 'after') await create()
      await ready()
      const seconds = (clock() - startMs) / 1000
      const bytes = await dataBytesIn(target)
      const isApart = indexing.when === 'after' && bytes !== null && loadedBytes !== null
      say(`${indexesWords(indexing.indexes)} ready ${seconds.toFixed(1)} s after the last document`)
      return {
        indexes: indexing.indexes,
        index_when: indexing.when,
        index_seconds: seconds,
        index_bytes: isApart ? bytes - loadedBytes : null,
      }
    },
  }
}

// A fill is not measured: few connections with many operations in flight are fastest.
const fillers = 2
const fillPipeline = 500
const progressMs = 1000
const settleLimitMs = 10_000

/**
 * Warns when clients would read missing keys: without a fill, and with few keys on the servers.
 * @param {Plan} plan
 * @param {number} keys on the servers before the run
 * @returns {Warning[]}
 */
export const unfilledWarnings = (plan, keys) => {
  const declared = strategyNamed(plan.strategy)
  // Structures hold many items each, so their number means little.
  const isRead = declared.passes === null && !declared.play.caches && readsKeys(declared)
  if (plan.clients?.fill !== 'none' || !isRead || keys * 2 >= plan.quantity) return []
  const message = `the servers had ${several(keys, 'key')} of the ${count(plan.quantity)} that the commands are about, so most of them met none; --fill writes them first`
  return [{ code: 'not-filled', message, invalidates: false }]
}

/**
 * Plays one operation for each number up to a count.
 * @param {Needs} needs
 * @param {NonNullable<ReturnType<Strategy['fill']>>} operation
 * @param {number} numbers
 * @param {(acked: number) => void} onProgress once a second
 * @param {(exchange: Operation) => void} [onDone]
 * @param {() => number} [draw]
 */
export const playOnce = async (
  { plan, target, clock, onEvent, stop },
  operation,
  numbers,
  onProgress,
  onDone,
  draw = eachOnce(numbers),
) => {
  const ledger = operationsOf({ isMeasured: () => true })
  const flow = await clientsFlow({
    plan: { clients: fillers, pipeline: fillPipeline, cluster: plan.cluster, maxBehindMs: plan.maxBehindMs },
    operations: [operation],
    pick: () => 0,
    draw,
    schedule: null,
    target,
    ledger,
    latency: { record: () => {} },
    onSent: () => {},
    onDone,
    tally: noTally(),
    machine: machineWith(clock),
    onEvent,
  })
  const progress = setInterval(() => {
    flow.watch()
    onProgress(ledger.whole.acked)
  }, progressMs)
  stop.addEventListener('abort', flow.stop)
  try {
    flow.start()
    await flow.offered
    await flow.settle(settleLimitMs, stop)
    flow.abandon()
  } finally {
    stop.removeEventListener('abort', flow.stop)
    clearInterval(progress)
    flow.close()
  }
  const causes = Object.entries(ledger.failedBy).map(([cause, n]) => `${cause} ${count(n)}`)
  return { acked: ledger.whole.acked, causes: causes.join(', ') || 'no answer' }
}

/**
 * What a strategy needs before its first pass.
 * @param {Needs} needs
 * @returns {Promise<number | null>} bytes of data on the masters before it; null: nothing was needed
 */
export const prepareKeys = async (needs) => {
  const { strategy, target, stop } = needs
  const prepared = strategy.prepare()
  if (!prepared) return null
  const dataBytes = await dataBytesIn(target)
  const { acked, causes } = await playOnce(needs, prepared.operation, prepared.count, () => {})
  if (stop.aborted || acked === prepared.count) return dataBytes
  throw new TargetError(
    `${target.address}: ${count(acked)} of ${count(prepared.count)} structures were reserved (${causes}); those of an earlier run are removed by scripts/cleanup.js`,
  )
}

/**
 * The data that a load left.
 * @typedef {{ keys: number, seconds: number, data_bytes: number | null } & Partial<Indexed>} Load
 */

/**
 * Writes every key once where the plan asks for it, then counts the keys.
 * @param {Needs} needs
 * @returns {Promise<Load | null>}
 */
export const fillKeys = async (needs) => {
  const { plan, strategy, target, clock, say, stop } = needs
  if (!plan.clients || plan.clients.fill === 'none') return null
  if (plan.clients.fill === 'populate') {
    await populate(needs)
    return null
  }
  const fills = strategy.fills()
  if (fills) return fillEach(needs, fills)
  const operation = strategy.fill()
  if (!operation) return null
  if (strategy.declared.play.caches) return fillCache(needs, operation)
  const indexing = indexingOf(needs, (played, numbers, onDone) =>
    playOnce(needs, played, numbers, () => {}, onDone),
  )
  const beforeBytes = await dataBytesIn(target)
  await indexing.before()
  const startMs = clock()
  const { acked, causes } = await playOnce(needs, operation, plan.items, (written) => {
    if (clock() - startMs > 2 * progressMs)
      say(`filling: ${Math.floor((written / plan.items) * 100)} % of ${count(plan.items)} keys`)
  })
  if (stop.aborted) return null
  const seconds = (clock() - startMs) / 1000
  if (acked < plan.items)
    throw new TargetError(`--fill: ${count(acked)} of ${count(plan.items)} keys were written (${causes})`)
  if (plan.clients?.expires && 2 * seconds > shortestS(plan)) {
    say(`filled ${count(plan.items)} keys in ${seconds.toFixed(1)} s; they expire, so they are not counted`)
    return null
  }
  const isCounted = await checkFilled(plan, strategy, target, say)
  say(
    `filled ${count(plan.items)} keys in ${seconds.toFixed(1)} s, all there by ${[isCounted && 'DBSIZE', !strategy.loads && 'a sample'].filter(Boolean).join(' and ') || 'their acknowledgements'}`,
  )
  const afterBytes = await dataBytesIn(target)
  const grown = beforeBytes === null || afterBytes === null ? null : afterBytes - beforeBytes
  return {
    keys: plan.items,
    seconds,
    data_bytes: measurableGrowth(target, grown),
    ...(await indexing.after(afterBytes)),
  }
}

/**
 * Fills the patterns of a model one after the other.
 * @param {Needs} needs
 * @param {NonNullable<ReturnType<Strategy['fills']>>} fills
 * @returns {Promise<Load | null>}
 */
const fillEach = async (needs, fills) => {
  const { plan, target, clock, say, stop } = needs
  const beforeBytes = await dataBytesIn(target)
  const startMs = clock()
  for (const { operation, count: numbers } of fills) {
    const { acked, causes } = await playOnce(needs, operation, numbers, (written) =>
      say(`filling: ${count(written)} of ${count(numbers)} of ${operation.command.name}`),
    )
    if (stop.aborted) return null
    if (acked < numbers)
      throw new TargetError(
        `--fill: ${count(acked)} of ${count(numbers)} ${operation.command.name} were acknowledged (${causes})`,
      )
  }
  const seconds = (clock() - startMs) / 1000
  say(`filled ${count(plan.items)} keys in ${seconds.toFixed(1)} s`)
  const afterBytes = await dataBytesIn(target)
  const grown = beforeBytes === null || afterBytes === null ? null : afterBytes - beforeBytes
  return { keys: plan.items, seconds, data_bytes: measurableGrowth(target, grown) }
}

/**
 * Bytes that each master has left below its limit, Infinity without, and what they evict.
 * @param {Target} target
 */
const roomIn = async ({ topology, info }) => {
  const all = await Promise.all(topology.masters.map(async (master) => parseInfo(await info(master)).fields))
  const rooms = all.map(({ maxmemory, used_memory: used }) =>
    Number(maxmemory) > 0 ? Math.max(0, Number(maxmemory) - Number(used)) : Number.POSITIVE_INFINITY,
  )
  return { rooms, policy: all[0].maxmemory_policy ?? null }
}

// Tables that double and other clients take memory meanwhile: more passes change little.
const mostToppings = 3
const leastTopping = 0.002

/**
 * A cache as it is after long use: keys that there is room for, the first to be evicted first.
 * @param {Needs} needs
 * @param {Played} operation
 */
const fillCache = async (needs, operation) => {
  const { plan, strategy, target, clock, say, stop } = needs
  const startMs = clock()
  const [{ rooms, policy }, beforeBytes] = await Promise.all([roomIn(target), dataBytesIn(target)])
  const filling = fillingOf({
    ...plan,
    stored: storedBytes(plan),
    room: rooms.reduce((sum, n) => sum + n, 0),
  })
  const { least, most, tried } = filling
  const keys = keysInUse({ ...plan, count: plan.items, clients: 1 }, policy, most)
  const write = async (/** @type {Float64Array} */ some) => {
    let next = 0
    const draw = () => some[next++] ?? -1
    const { acked, causes } = await playOnce(needs, operation, some.length, () => {}, undefined, draw)
    if (acked === some.length || stop.aborted) return
    throw new TargetError(`--fill: ${count(acked)} of ${count(some.length)} keys were written (${causes})`)
  }
  const grown = async () => Math.max(0, Number(await dataBytesIn(target)) - Number(beforeBytes))
  // What is tried is among them, and written again in its turn.
  if (tried > 0) await write(keys.subarray(most - least, most - least + tried))
  let numbers = tried > 0 ? filling.count((await grown()) / tried) : most
  const before = most - numbers
  if (!stop.aborted) await write(keys.subarray(before))
  const { owners } = target.topology
  const ownerOfKey = (/** @type {number} */ n) => (owners ? owners[slotOf(strategy.keyOf(n))] : 0)
  // What expires meanwhile leaves room that it has after long use, too.
  const isKept = !plan.clients?.expires || clock() - startMs < (shortestS(plan) * 1000) / 2
  for (let pass = 0; pass < mostToppings && isKept && !stop.aborted; pass++) {
    const each = Math.max(storedBytes(plan), (await grown()) / numbers)
    const more = toppingOf(keys, before, (await roomIn(target)).rooms, each, ownerOfKey)
    if (more.length < leastTopping * numbers) break
    await write(more)
    numbers += more.length
  }
  if (stop.aborted) return null
  const seconds = (clock() - startMs) / 1000
  say(`wrote ${count(numbers)} keys in ${seconds.toFixed(1)} s, those that stay longest last`)
  return { keys: numbers, seconds, data_bytes: null }
}

/** Removes indexes that are not keys. @param {Needs} needs */
export const dropIndexes = async (needs) => {
  const play = (/** @type {Played} */ played, /** @type {number} */ numbers) =>
    playOnce({ ...needs, stop: new AbortController().signal }, played, numbers, () => {})
  await indexingOf(needs, play).drop()
}

/**
 * The server creates the keys itself, from key:0 on; our keys begin at key:1. Its values are 'value:<n>' and zeros.
 * @param {Needs} needs
 */
const populate = async ({ plan, strategy, target, clock, say }) => {
  const { address } = target
  const startMs = clock()
  const name = `${plan.prefix}key`
  const sizes = [String(plan.items + 1), name, String(plan.valueBytes)]
  await longCommand(target, address, ['DEBUG', 'POPULATE', ...sizes])
  const control = target.control(address)
  await control.del(`${name}:0`)
  const [there, first, last] = await Promise.all([
    control.dbsize(),
    control.strlen(strategy.keyOf(1)),
    control.strlen(strategy.keyOf(plan.items)),
  ])
  if (there < plan.items || first !== plan.valueBytes || last !== plan.valueBytes)
    throw new TargetError(
      `--fill populate: ${address} has ${count(there)} keys, with ${first} and ${last} bytes in the first and last of ${count(plan.items)}`,
    )
  const seconds = (clock() - startMs) / 1000
  say(`${address} made ${count(plan.items)} keys in ${seconds.toFixed(1)} s, all there by DBSIZE`)
}

const sampled = 100

/**
 * Checks that the masters have all keys, and that sampled keys have the bytes that were written.
 * @param {Plan} plan
 * @param {Strategy} strategy
 * @param {Target} target
 * @param {(line: string) => void} say
 * @returns {Promise<boolean>} whether they were counted
 */
const checkFilled = async (plan, strategy, target, say) => {
  const there = await keysThere(target)
  if (there === null) say(`${target.address} refuses DBSIZE: the keys are not counted after the fill`)
  if (there !== null && there < plan.items)
    throw new TargetError(
      `--fill: ${count(plan.items)} keys were acknowledged, but the masters have ${count(there)}`,
    )
  // Strategies that check their answers, or read updates back, need no sample.
  if (strategy.loads) return there !== null
  const matches = payloadMatcher({ ...plan, stamp: plan.versions === true })
  const samples = Math.min(sampled, plan.items)
  const wrong = await Promise.all(
    Array.from({ length: samples }, async (_, i) => {
      const n = 1 + Math.floor((i * plan.items) / samples)
      const key = strategy.keyOf(n)
      const value = await target.control(ownerOf(target.topology, key)).getBuffer(key)
      return value !== null && matches(n, value, 0, value.length) ? [] : [key]
    }),
  )
  const [first] = wrong.flat()
  if (first !== undefined) throw new TargetError(`--fill: ${first} does not have the value that was written`)
  return there !== null
}

/** Number of keys in the masters; null: one did not answer. @param {Target} target */
const keysThere = async (target) => {
  const sizes = await Promise.all(
    target.topology.masters.map((address) =>
      target
        .control(address)
        .dbsize()
        .catch(() => null),
    ),
  )
  return sizes.some((size) => size === null)
    ? null
    : sizes.reduce((sum, size) => Number(sum) + Number(size), 0)
}

/** Keys that were there when the requests began; null: another box may have filled. @param {Plan} plan @param {{ keys: number } | null} loaded */
export const keysFilled = ({ clients }, loaded) => (clients?.fill === 'none' ? 0 : (loaded?.keys ?? null))
