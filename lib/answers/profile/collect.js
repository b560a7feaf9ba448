// What a server says of itself and of a sample of its keys, within a budget: its counters each second, names by SCAN, and
// a few questions about some of the keys. It reads no value, and asks nothing that looks at all keys at once.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseInfo } from '../../wire/info.js'
import { patternsOf } from './fold.js'

/**
 * @import { Socket } from 'node:net'
 * @import { Redis } from 'ioredis'
 * @import { Info } from '../../wire/info.js'
 *
 * @typedef {object} KeyFacts one key that was looked at
 * @property {string} type
 * @property {number} nameBytes
 * @property {number} leftMs before it expires; -1: it does not
 * @property {string | null} encoding
 * @property {number | null} memory bytes
 * @property {number | null} idleS since it was used
 * @property {number | null} size bytes of a string, else elements
 *
 * @typedef {{ count: number, waiting: { name: Buffer, address: string }[], facts: KeyFacts[] }} Found keys of one pattern
 * @typedef {{ pieces: string[], of: Found }} FoundPattern
 * @typedef {{ address: string, client: Redis }} Master
 */

const scanCount = 200
// Of the default of 5 the memory of a list of some hundreds is wrong by several percent.
const memorySamples = 20
const mostWaiting = 400
const mostFacts = 400
const leastPerS = 20
// A server's CPU that looking may take.
const cpuShare = 0.005
const sizeBy = /** @type {Record<string, string>} */ ({
  string: 'STRLEN',
  list: 'LLEN',
  set: 'SCARD',
  zset: 'ZCARD',
  hash: 'HLEN',
  stream: 'XLEN',
})

/** Counts our own commands by what commandstats calls them. */
const ownCalls = () => {
  /** @type {Record<string, number>} */
  const calls = {}
  return {
    calls,
    all: () => Object.values(calls).reduce((sum, n) => sum + n, 0),
    /** @param {readonly (string | Buffer | number)[][]} commands */
    note(commands) {
      for (const [name, sub] of commands) {
        const lower = String(name).toLowerCase()
        const known = /^(object|memory|client)$/.test(lower) ? `${lower}|${String(sub).toLowerCase()}` : lower
        calls[known] = (calls[known] ?? 0) + 1
      }
    },
  }
}

/** Replies of several commands at once; null where one was refused. @param {Redis} client @param {(string | Buffer | number)[][]} commands */
const answers = async (client, commands) => {
  const line = client.pipeline()
  for (const [name, ...args] of commands) line.call(String(name), .../** @type {any[]} */ (args))
  const replies = (await line.exec()) ?? []
  return replies.map(([error, reply]) => (error ? { error, reply: null } : { error: null, reply }))
}

/** Adds up what a key's pattern has. @param {Found} into @param {Found} from */
const merge = (into, from) => {
  into.count += from.count
  into.waiting.push(...from.waiting.slice(0, mostWaiting - into.waiting.length))
  into.facts.push(...from.facts)
}

const number = (/** @type {unknown} */ reply) => (typeof reply === 'number' ? reply : null)

/**
 * @param {object} needs
 * @param {readonly Master[]} needs.masters
 * @param {number} needs.durationMs
 * @param {number} needs.budget share of the server's commands
 * @param {AbortSignal} needs.stop
 * @param {(seconds: number, keys: number) => void} [needs.onSecond]
 * @param {() => number} [needs.clock]
 */
export const collected = async ({
  masters,
  durationMs,
  budget,
  stop,
  onSecond,
  clock = () => performance.now(),
}) => {
  const own = ownCalls()
  const patterns = patternsOf(() => /** @type {Found} */ ({ count: 0, waiting: [], facts: [] }), merge)
  /** @type {Set<string>} */
  const refused = new Set()
  /** @type {Set<Found>} */
  const asked = new Set()
  const scans = masters.map((master) => ({ ...master, cursor: '0', isOver: false }))

  /** @param {Master} master @param {string} section @returns {Promise<Info>} */
  const info = async ({ client }, section) => {
    own.note([['INFO']])
    return parseInfo(String(await client.call('INFO', section)))
  }
  const infos = (/** @type {string} */ section) => Promise.all(masters.map((master) => info(master, section)))

  /** One page of names. @param {typeof scans[number]} scan */
  const page = async (scan) => {
    own.note([['SCAN']])
    const [cursor, names] = /** @type {[Buffer, Buffer[]]} */ (
      await scan.client.callBuffer('SCAN', scan.cursor, 'COUNT', scanCount)
    )
    for (const name of names) {
      const found = patterns.of(name)
      found.count++
      const { waiting } = found
      if (waiting.length < mostWaiting) waiting.push({ name, address: scan.address })
      else if (Math.random() * found.count < mostWaiting)
        waiting[Math.floor(Math.random() * mostWaiting)] = { name, address: scan.address }
      asked.add(found)
    }
    scan.cursor = String(cursor)
    scan.isOver = scan.cursor === '0'
  }

  /** The questions about a key; how long it was not used comes first, since STRLEN and the like use it. @param {Buffer} name */
  const questions = (name) =>
    [
      ['OBJECT', 'IDLETIME', name],
      ['TYPE', name],
      ['PTTL', name],
      ['OBJECT', 'ENCODING', name],
      ['MEMORY', 'USAGE', name, 'SAMPLES', memorySamples],
    ].filter(([command, sub]) => !refused.has(`${command} ${String(command).length > 5 ? sub : ''}`))

  /** @param {Found} found @param {{ name: Buffer, address: string }} key */
  const look = async (found, { name, address }) => {
    const { client } = /** @type {Master} */ (masters.find((one) => one.address === address))
    const commands = questions(name)
    own.note(commands)
    const replies = await answers(client, commands)
    /** @type {Record<string, any>} */
    const said = {}
    for (const [i, { error, reply }] of replies.entries()) {
      const [command, sub] = commands[i]
      const question = `${command} ${String(command).length > 5 ? sub : ''}`
      // A key that has gone is no reason to stop asking, nor is a policy that keeps no time of use a fault.
      if (error && !/no such key/i.test(error.message)) refused.add(question)
      said[question] = reply
    }
    const type = String(said['TYPE '] ?? 'none')
    if (type === 'none') return
    const command = sizeBy[type]
    let size = null
    if (command && !refused.has(command)) {
      own.note([[command]])
      const [{ error, reply }] = await answers(client, [[command, name]])
      if (error && !/WRONGTYPE/.test(error.message)) refused.add(command)
      size = number(reply)
    }
    const encoding = said['OBJECT ENCODING']
    found.facts.push({
      type,
      nameBytes: name.length,
      leftMs: number(said['PTTL ']) ?? -1,
      encoding: typeof encoding === 'string' ? encoding.slice(0, 20) : null,
      memory: number(said['MEMORY USAGE']),
      idleS: number(said['OBJECT IDLETIME']),
      size,
    })
  }

  /** The pattern of which least is known. */
  const nextAsked = () => {
    let least = null
    for (const found of asked)
      if (found.waiting.length === 0 || found.facts.length >= mostFacts) asked.delete(found)
      else if (least === null || found.facts.length < least.facts.length) least = found
    return least
  }

  let turn = 0
  /** One thing to look at; false: there is nothing left. */
  const step = async () => {
    const open = scans.filter(({ isOver }) => !isOver)
    const found = nextAsked()
    const scan = open[turn++ % Math.max(1, open.length)]
    if (scan && (found === null || turn % 3 !== 0)) {
      await page(scan)
      return true
    }
    if (found === null) return false
    const [key] = found.waiting.splice(Math.floor(Math.random() * found.waiting.length), 1)
    await look(found, key)
    return true
  }

  /** Bytes of our own connections. */
  const bytes = () =>
    masters.reduce(
      (sum, { client }) => ({
        in: sum.in + /** @type {Socket} */ (client.stream).bytesWritten,
        out: sum.out + /** @type {Socket} */ (client.stream).bytesRead,
      }),
      { in: 0, out: 0 },
    )
  const beginBytes = bytes()
  const begin = await infos('all')
  const startMs = clock()
  const baseUsed = own.all()
  let latest = begin
  let isDone = false
  /** What looking took of the servers' CPU so far, at most: all that commands of these names took. */
  const usedUs = () => {
    let sum = 0
    for (const [i, { commands }] of latest.entries())
      for (const name of Object.keys(own.calls))
        sum += (commands[name]?.usec ?? 0) - (begin[i].commands[name]?.usec ?? 0)
    return sum
  }
  while (!stop.aborted && clock() - startMs < durationMs) {
    const secondMs = clock()
    latest = await infos('all')
    const seconds = Math.max(0.001, (clock() - startMs) / 1000)
    const theirs =
      total(latest, 'total_commands_processed') - total(begin, 'total_commands_processed') - own.all()
    const isDear = usedUs() > seconds * 1e6 * cpuShare * masters.length
    const mayUse =
      Math.max(leastPerS * masters.length, (Math.max(0, theirs) / seconds) * budget) * (seconds + 1)
    while (
      !isDone &&
      !isDear &&
      !stop.aborted &&
      clock() - secondMs < 1000 &&
      own.all() - baseUsed < mayUse
    ) {
      isDone = !(await step())
      // Evenly over the second.
      const wait = (1000 * 6) / (mayUse / (seconds + 1)) - 1
      if (wait > 1) await sleep(Math.min(wait, 200))
    }
    onSecond?.(Math.round(seconds), patternsCount())
    const restMs = Math.min(1000 - (clock() - secondMs), durationMs - (clock() - startMs))
    if (restMs > 0) await sleep(restMs, undefined, { signal: stop }).catch(() => {})
  }
  const ownUsed = own.all() - baseUsed
  const end = await infos('all')
  const seconds = (clock() - startMs) / 1000
  const endBytes = bytes()
  own.note(masters.map(() => ['CLIENT', 'LIST']))
  const clients = await Promise.all(
    masters.map(({ client }, i) =>
      Number(end[i].fields.connected_clients) > 5000
        ? null
        : client.call('CLIENT', 'LIST').then(String, () => null),
    ),
  )
  function patternsCount() {
    let sum = 0
    for (const found of asked) sum += found.count
    return sum
  }
  return {
    begin,
    end,
    seconds,
    own: {
      calls: { ...own.calls },
      used: ownUsed,
      us: usedUs(),
      in: endBytes.in - beginBytes.in,
      out: endBytes.out - beginBytes.out,
    },
    patterns: /** @type {FoundPattern[]} */ (patterns.all()),
    complete: scans.every(({ isOver }) => isOver),
    clients,
    refused: [...refused],
  }
}

/** @param {readonly Info[]} infos @param {string} field */
export const total = (infos, field) =>
  infos.reduce((sum, { fields }) => sum + (Number(fields[field]) || 0), 0)

/** @typedef {Awaited<ReturnType<typeof collected>>} Collected */
