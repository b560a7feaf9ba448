// The read driver on plain sockets: one connection to each server for all consumers of the process; reads that were
// redirected, refused for now or lost are retried.
import { fetchScript } from '../servers/scripts.js'
import { slotOf } from '../wire/slot.js'
import { ReadError } from './read-driver.js'
import { valuesJob } from './read-jobs.js'
import { readsByServer } from './read-order.js'
import { commandJob, deaf } from './read-queue.js'
import { readQueuesOf } from './read-queues.js'
import { readRetriesOf } from './read-retries.js'

/**
 * @import { ReadDriverOptions } from './read-driver.js'
 * @import { ReplySink } from '../wire/values.js'
 * @import { ValuesWanted } from './read-jobs.js'
 * @import { ReadQueue } from './read-queue.js'
 * @import { ServerReads } from './read-order.js'
 * @import { Round } from './read-retries.js'
 *
 * @import { ReadDriver } from './read-driver.js'
 */

/**
 * One exchange with one server: a command, or the values of ids, and what its replies leave to be done.
 * Resolves with the line that refused the command, and whether the connection ended first.
 * @param {ReadQueue} queue
 * @param {string[]} args
 * @param {ReplySink} sink
 * @param {boolean} [asking]
 * @returns {Promise<{ line: string | null, closed: boolean }>}
 */
const sendOne = (queue, args, sink, asking = false) =>
  new Promise((resolve) => {
    /** @type {string | null} */
    let line = null
    let begun = false
    const noting = {
      ...sink,
      open: (/** @type {number} */ count, /** @type {number} */ depth) => {
        begun = true
        sink.open(count, depth)
      },
      error: (/** @type {string} */ text) => {
        if (begun) sink.error(text)
        else line = text
      },
    }
    if (asking) queue.submit(commandJob(['ASKING'], { sink: deaf, replied() {}, closed() {} }))
    const replied = () => resolve({ line, closed: false })
    const closed = () => resolve({ line: null, closed: true })
    queue.submit(commandJob(args, { sink: noting, replied, closed }))
  })

/**
 * @param {ReadQueue} queue
 * @param {ServerReads} reads
 * @param {Pick<ValuesWanted, 'list' | 'command' | 'values' | 'sizes' | 'asking'>} wanted
 * @param {Round} round
 * @returns {Promise<void>}
 */
const readFrom = (queue, reads, wanted, round) =>
  new Promise((resolve) => {
    const onRefused = (/** @type {number} */ place, /** @type {string} */ line) =>
      round.refused([place], line, queue.address)
    const onClosed = (/** @type {Uint32Array} */ missing) => {
      round.refused(missing, null, queue.address)
      resolve()
    }
    queue.submit(valuesJob(wanted, reads, { onRefused, onClosed, onDone: () => resolve() }))
  })

/** The mean size of values so far. @param {number | null} first */
const sizesSeen = (first) => {
  // An array, since a variable with a fraction is allocated again at each change. NaN: no value yet.
  const mean = Float64Array.of(first ?? Number.NaN)
  return {
    mean: () => (Number.isNaN(mean[0]) ? null : mean[0]),
    seen: (/** @type {number} */ bytes) => {
      mean[0] = Number.isNaN(mean[0]) ? bytes : mean[0] + (bytes - mean[0]) / 16
    },
  }
}

/** @param {ReadDriverOptions} options @returns {Promise<ReadDriver>} */
export const socketReadDriver = async (options) => {
  const { plan, target, machine } = options
  const queues = readQueuesOf(options)
  const { queueAt, serverAt, isClosed, refresh, masterOf } = queues
  const retries = readRetriesOf({ machine, follows: target.follows, isClosed, refresh })
  const sizes = sizesSeen(plan.knowsBytes ? plan.valueBytes : null)
  const slotFor = (/** @type {string} */ key) => (plan.cluster ? slotOf(key) : 0)

  /** @param {string[]} args @param {string} key @param {ReplySink} sink @param {(slot: number) => ReadQueue} queueFor */
  const askUntil = (args, key, sink, queueFor) => {
    const slot = slotFor(key)
    return retries.untilAnswered(async (before, attempts) => {
      const asking = before?.action === 'asking'
      // A replica that has lost the slot names the new master, whose replicas are known after a refresh.
      const isNamed = asking || (attempts > 2 && before?.action === 'there')
      const queue = isNamed && before.address ? queueAt(before.address, false) : queueFor(slot)
      const { line, closed } = await sendOne(queue, args, sink, asking)
      if (line === null && !closed) return null
      const from = queue.address
      // A part of the lost reply may have been passed on: the caller must start again.
      if (closed) throw new ReadError('CLOSED', `${from} closed the connection`)
      return {
        line,
        from,
        words: `${from} refuses ${args[0]} ${key}: ${line}`,
        loadScript: () => target.loadScripts(from, [fetchScript]),
      }
    })
  }

  /** @type {ReadDriver['values']} */
  const values = (list, places, command, sink, consumer) =>
    retries.untilRead(places, async (wanted, round) => {
      const isFirst = round.attempts === 1
      const isTwice = round.attempts > 2
      /** @param {string} address @param {ServerReads} reads @param {boolean} asking */
      const readAt = (address, reads, asking) =>
        readFrom(
          queueAt(address, !asking && !isTwice),
          reads,
          { list, command, values: sink, sizes, asking },
          round,
        )
      const byServer = readsByServer({
        list,
        places: wanted,
        cluster: plan.cluster,
        many: plan.fetch === 'mget' && command.many && isFirst,
        // A read that was redirected twice goes to the slot's master.
        serverOf: isTwice ? masterOf : (slot) => serverAt(slot, consumer),
      })
      await Promise.all([...byServer].map(([address, reads]) => readAt(address, reads, false)))
      const asked = [...round.asking]
      round.asking.clear()
      await Promise.all(
        asked.map(([address, there]) =>
          readAt(address, { places: Uint32Array.from(there), cuts: null }, true),
        ),
      )
    })

  await queues.connectAll()
  return {
    ask: (args, key, sink, consumer) =>
      askUntil(args, key, sink, (slot) => queueAt(serverAt(slot, consumer), true)),
    askMaster: (args, key, sink) => askUntil(args, key, sink, (slot) => queueAt(masterOf(slot), false)),
    values,
    serverOf: (key, consumer) => serverAt(slotFor(key), consumer),
    servers: queues.servers,
    bare: queues.bare,
    figures: queues.figures,
    watch: queues.watch,
    close: queues.close,
  }
}
