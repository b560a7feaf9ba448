// Servers in memory that own slots, execute or refuse, and write down what they executed. They speak RESP.
import { storeScripts } from '../../lib/servers/scripts.js'
import { slotCount, slotOf } from '../../lib/wire/slot.js'
import { scriptSha } from '../../lib/workloads/lua.js'
import { networkOf } from './network.js'

/**
 * @import { Connection } from './network.js'
 * @import { Fault } from './faults.js'
 * @import { Topology } from '../../lib/transport/slot-map.js'
 * @import { VirtualClock } from './clock.js'
 * @import { Random } from '../helpers/random.js'
 *
 * @typedef {ReturnType<typeof simulatedCluster>} SimulatedCluster
 * @typedef {{ name: string, key: string, slot: number, items: number[], stamps: number[] }} Executed stamps: ticks' times that
 *   it carries, each once
 * @typedef {ReturnType<typeof nodeAt>} Node
 * @typedef {Topology & { others: string[] }} Told
 * @typedef {{ from: number, to: number, slots: [number, number], startMs: number, endMs: number, asked: Set<string> }} Migration
 *   asked: keys for which a client was sent to the receiver with ASKING
 */

const host = '127.0.0.1'
const firstPort = 7001
const countScript = scriptSha('count-keys')
const scripts = [...storeScripts.map(scriptSha), countScript]

const nodeAt = (/** @type {number} */ index) => ({
  ...{ address: `${host}:${firstPort + index}`, port: firstPort + index, index },
  ...{ up: true, replica: false, working: false, silentUntilMs: 0, slowness: 1, trickling: false },
  /** Turns new connections away. */
  full: false,
  /** The next reply is garbage. */
  corrupt: false,
  /** Holds keys that are not ours. */
  foreign: false,
  refusals: /** @type {{ line: string, share: number, untilMs: number }[]} */ ([]),
  misdirections: /** @type {{ to: string, share: number, untilMs: number }[]} */ ([]),
  scripts: new Set(scripts),
  connections: /** @type {Set<Connection>} */ (new Set()),
  /** Connections with input. */
  waiting: /** @type {Set<Connection>} */ (new Set()),
})

const isScript = (/** @type {readonly string[]} */ [name]) => name === 'EVALSHA' || name === 'EVAL'
const keyOf = (/** @type {readonly string[]} */ args) => (isScript(args) ? args[3] : args[1])
const countedKeys = (/** @type {string[]} */ args) => args.slice(3, 3 + Number(args[2]))

const itemIn = /^(?:item|latest-hash):(\d+)/
const stampIn = /^1[67]\d{11}/

/** @type {Record<string, (args: string[]) => string>} replies of every shape */
const replies = {
  SETEX: () => '+OK\r\n',
  XADD: () => '$15\r\n1700000000000-0\r\n',
  EVALSHA: (args) =>
    args.length % 2 ? '*3\r\n:1\r\n*2\r\n$-1\r\n$2\r\nok\r\n-ERR one of several\r\n' : '*0\r\n',
  HSET: () => '%1\r\n+fields\r\n:1\r\n',
  EXPIRE: () => '#t\r\n',
  SET: () => '+OK\r\n',
  GET: ([, key]) => (key.endsWith('7') ? '$-1\r\n' : '$4\r\nv\r\nx\r\n'),
}

const garbage = ['\u0000?garbage\r\n', '$x\r\n', '*-7\r\n', '+OK\r+OK\n', '$2\r\nabcd\r\n']

/**
 * @param {object} needs
 * @param {VirtualClock} needs.clock
 * @param {Random} needs.random
 * @param {boolean} needs.cluster
 * @param {number} needs.masters
 * @param {number} needs.serviceMs for a few commands
 * @param {number} [needs.farMs] what is on its way takes so much longer
 * @param {number} [needs.longestTurnMs] however slow a node is
 * @param {(key: string) => boolean} [needs.isOdd] keys of another type, which every command refuses
 * @param {number} needs.spares nodes without slots: replicas that can take over, shards that can be added
 */
export const simulatedCluster = ({
  clock,
  random,
  cluster,
  masters,
  spares,
  serviceMs,
  farMs = 0,
  longestTurnMs = 4000,
  isOdd,
}) => {
  const nodes = Array.from({ length: masters + spares }, (_, index) => nodeAt(index))
  const owners = new Uint16Array(slotCount)
  for (let slot = 0; slot < slotCount; slot++) owners[slot] = Math.floor((slot * masters) / slotCount)
  let migrations = /** @type {Migration[]} */ ([])
  const executed = /** @type {Executed[]} */ ([])
  /** Keys that came to the receiver of their slot without the ASKING that the owner had named. @type {string[]} */
  const unasked = []
  const lies = /** @type {((topology: Told) => Told | null)[]} */ ([])
  let epoch = 1
  const slotFor = (/** @type {string} */ key) => (cluster ? slotOf(key) : 0)

  /** @param {Migration} migration @param {string} key the same share of the keys has gone after the same time */
  const hasGone = ({ startMs, endMs }, key) => {
    let hash = 7
    for (let i = 0; i < key.length; i++) hash = (hash * 31 + key.charCodeAt(i)) % 9973
    return clock.now() >= startMs + ((endMs - startMs) * hash) / 9973
  }

  /** @param {Node} node @param {readonly string[]} args @param {boolean} asking @returns {string | null} */
  const redirect = (node, args, asking) => {
    const key = keyOf(args)
    if (!cluster) return node.replica ? "-READONLY You can't write against a read only replica.\r\n" : null
    const slot = slotFor(key)
    const migration = migrations.find(({ slots: [from, end] }) => slot >= from && slot < end)
    const owner = owners[slot]
    if (owner === node.index) {
      if (migration?.from === owner && hasGone(migration, key)) {
        migration.asked.add(key)
        return `-ASK ${slot} ${nodes[migration.to].address}\r\n`
      }
      const { to } = node.misdirections.find((each) => random.chance(each.share)) ?? {}
      return to === undefined ? null : `-MOVED ${slot} ${to}\r\n`
    }
    // A single key is made there, as a real receiver does; of several all must be there.
    if (asking && migration?.to === node.index)
      return isScript(args) && !hasGone(migration, key)
        ? '-TRYAGAIN Multiple keys request during rehashing of slot\r\n'
        : null
    // Some proxies and old servers leave out their own host.
    return `-MOVED ${slot} ${random.chance(0.1) ? '' : host}:${nodes[owner].port}\r\n`
  }

  /** @param {Node} node @param {string} key */
  const wasAsked = (node, key) => migrations.some(({ to, asked }) => to === node.index && asked.has(key))

  const note = (/** @type {string[]} */ args, /** @type {string} */ key) => {
    const items = /** @type {number[]} */ ([])
    const stamps = /** @type {number[]} */ ([])
    let keyed = -1
    for (const arg of args) {
      // Most arguments are neither, and to compare a letter takes less time than an expression.
      const first = arg[0]
      const item = first === 'i' || first === 'l' ? itemIn.exec(arg) : null
      if (item) {
        const n = Number(item[1])
        if (arg === key) keyed = n
        else items.push(n)
      } else if (first === '1' && stampIn.test(arg)) {
        const stamp = Number(arg.slice(0, 13))
        if (!stamps.includes(stamp)) stamps.push(stamp)
      }
    }
    if (keyed >= 0) items.push(keyed)
    const slot = slotFor(key)
    executed.push({ name: args[0], key, slot, items: items.length > 1 ? [...new Set(items)] : items, stamps })
  }

  /** @param {string[]} args @returns {string} */
  const executedReply = (args) => {
    const [name, sha] = args
    const key = keyOf(args)
    if (isOdd?.(key)) return '-WRONGTYPE Operation against a key holding the wrong kind of value\r\n'
    if (sha !== countScript) note(args, key)
    else for (const each of countedKeys(args)) note([name, each], each)
    return sha === countScript ? `:${countedKeys(args).length}\r\n` : (replies[name]?.(args) ?? ':1\r\n')
  }

  /** The commands of a transaction are executed together, or none is. @param {Node} node @param {Connection} connection @param {boolean} asking */
  const executeQueue = (node, connection, asking) => {
    const { queue } = connection
    connection.queue = null
    if (queue === null) return '-ERR EXEC without MULTI\r\n'
    const commands = queue.filter((args) => args !== null)
    if (commands.length < queue.length)
      return '-EXECABORT Transaction discarded because of previous errors.\r\n'
    const elsewhere = commands.map((args) => redirect(node, args, asking)).find((line) => line !== null)
    return elsewhere ?? `*${commands.length}\r\n${commands.map(executedReply).join('')}`
  }

  /** @param {Node} node @param {Connection} connection @param {string[]} args @returns {string} */
  const answer = (node, connection, args) => {
    const [name] = args
    if (name === 'CLIENT') {
      connection.greeted = true
      return random.chance(0.1) ? '-ERR unknown subcommand SETNAME\r\n' : '+OK\r\n'
    }
    const { asking, queue } = connection
    connection.asking = false
    const now = clock.now()
    if (node.refusals.length > 0) node.refusals = node.refusals.filter(({ untilMs }) => untilMs > now)
    if (node.misdirections.length > 0)
      node.misdirections = node.misdirections.filter(({ untilMs }) => untilMs > now)
    const refusal = node.refusals.find(({ share }) => random.chance(share))
    if (refusal) {
      connection.unheard = name === 'ASKING'
      if (name === 'EXEC') connection.queue = null
      else queue?.push(null)
      return `-${refusal.line}\r\n`
    }
    if (name === 'ASKING') {
      connection.asking = true
      return '+OK\r\n'
    }
    if (name === 'EXEC') return executeQueue(node, connection, asking)
    if (name === 'MULTI') connection.queue = []
    // A transaction is asked for as a whole.
    connection.asking = asking && connection.queue !== null
    if (name === 'MULTI') return '+OK\r\n'
    if (!asking && !connection.unheard && wasAsked(node, keyOf(args))) unasked.push(keyOf(args))
    connection.unheard = false
    const elsewhere = redirect(node, args, asking)
    queue?.push(elsewhere === null ? args : null)
    if (elsewhere !== null) return elsewhere
    if (queue) return '+QUEUED\r\n'
    if (name === 'EVALSHA' && !node.scripts.has(args[1])) return '-NOSCRIPT No matching script.\r\n'
    return executedReply(args)
  }

  /** @param {Node} node @param {Connection} connection @param {number} most */
  const execute = (node, connection, most) => {
    const commands = connection.take(most)
    let reply = ''
    for (const args of commands) {
      const text = answer(node, connection, args)
      if (node.corrupt && connection.greeted && args[0] !== 'CLIENT') {
        node.corrupt = false
        const altered = [`\u0000${text.slice(1)}`, `${text.slice(0, -2)}\u0000\n`]
        reply += random.pick([...altered, ...garbage])
      } else reply += text
    }
    return { reply: Buffer.from(reply, 'latin1'), count: commands.length }
  }

  /** One thread: a few commands of a connection, then the next one's. @param {Node} node */
  const work = (node) => {
    if (node.working || !node.up || node.waiting.size === 0) return
    node.working = true
    const turn = () => {
      node.working = false
      if (!node.up) return
      const waitMs = node.silentUntilMs - clock.now()
      if (waitMs > 0) {
        if (waitMs === Number.POSITIVE_INFINITY) return
        node.working = true
        clock.after(waitMs, turn, true)
        return
      }
      const [connection] = node.waiting
      node.waiting.delete(connection)
      if (connection && !connection.closed) {
        const { reply, count } = execute(node, connection, 1 + random.below(node.slowness > 1 ? 3 : 60))
        connection.reply(reply)
        if (count > 0) node.waiting.add(connection)
      }
      work(node)
    }
    clock.after(Math.min(longestTurnMs, serviceMs * node.slowness * (1 + random.next())), turn, true)
  }

  const listeners = nodes.map((node) => ({
    accept: (/** @type {Connection} */ connection) => {
      node.connections.add(connection)
      if (!node.full) return
      connection.reply(Buffer.from('-ERR max number of clients reached\r\n'))
      clock.after(1, () => connection.cut())
    },
    received: (/** @type {Connection} */ connection) => {
      node.waiting.add(connection)
      work(node)
    },
    isTrickling: () => node.trickling,
    latencyMs: () =>
      farMs + 0.05 + random.next() * (node.slowness > 1 ? Math.max(3, node.slowness / 50) : 0.4),
  }))
  const blackHole = { received() {}, latencyMs: () => 1 }
  const network = networkOf({
    clock,
    random,
    listenerAt: (_, port) => {
      const node = nodes[port - firstPort]
      if (!node) return port % 2 ? null : blackHole
      return node.up ? listeners[node.index] : null
    },
  })

  /** @returns {Told} */
  const topology = () => {
    if (!cluster) return { masters: [nodes[owners[0]].address], owners: null, epoch, others: [] }
    // In another order each time.
    const order = random.shuffled(
      nodes.filter(({ index }) => owners.includes(index)).map(({ index }) => index),
    )
    const places = Uint16Array.from(nodes, ({ index }) => order.indexOf(index))
    const copy = new Uint16Array(slotCount)
    for (let slot = 0; slot < slotCount; slot++) copy[slot] = places[owners[slot]]
    const spare = nodes.filter(({ index, up }) => up && !owners.includes(index))
    const others = spare.map(({ address }) => address)
    return { masters: order.map((index) => nodes[index].address), owners: copy, epoch, others }
  }

  /** The node, when it answers after a while. @param {string} address @param {number} afterMs */
  const reached = async (address, afterMs) => {
    await clock.wait(afterMs)
    const node = nodes.find((each) => each.address === address)
    if (!node?.up || node.silentUntilMs > clock.now()) throw new Error(`${address} does not answer`)
    return node
  }

  /** @param {Node} node @param {Fault['mode']} mode @param {(connection: Connection, reply: Buffer | null) => void} end */
  const leave = (node, mode, end) => {
    for (const connection of node.connections)
      if (!connection.closed)
        end(connection, mode === 'before' ? null : execute(node, connection, Number.POSITIVE_INFINITY).reply)
    node.connections.clear()
    node.waiting.clear()
  }

  return {
    nodes,
    executed,
    unasked,
    topology,
    network,
    reached,

    /** The map as a client may get it. */
    async refresh() {
      await clock.wait(1 + random.next() * 30)
      let told = /** @type {Told | null} */ (topology())
      for (const lie of lies) told &&= lie(told)
      if (!told) throw new Error('no node answers')
      return told
    },
    async loadScripts(/** @type {string} */ address) {
      const node = await reached(address, 1 + random.next() * 10)
      for (const name of scripts) node.scripts.add(name)
    },

    /** @param {[number, number]} range @param {number} to */
    move([from, end], to) {
      owners.fill(to, from, end)
      migrations = migrations.filter(({ slots }) => slots[1] <= from || slots[0] >= end)
      epoch++
    },
    /** @param {[number, number]} range @param {number} to @param {number} forMs */
    migrate(range, to, forMs) {
      const now = clock.now()
      const overlaps = migrations.some(({ slots }) => slots[0] < range[1] && range[0] < slots[1])
      const from = owners[range[0]]
      if (overlaps || from === to || owners.subarray(...range).some((owner) => owner !== from)) return
      const migration = { from, to, slots: range, startMs: now, endMs: now + forMs, asked: new Set() }
      migrations.push(migration)
      const over = () => {
        if (!migrations.includes(migration)) return
        migrations = migrations.filter((each) => each !== migration)
        owners.fill(to, ...range)
        epoch++
      }
      clock.after(forMs, over, true)
    },
    /** @param {Node} node @param {Fault['mode']} mode what becomes of commands that it has received */
    cut: (node, mode) =>
      leave(node, mode, (connection, reply) => {
        const isTorn = mode === 'torn'
        if (isTorn && reply) connection.reply(reply.subarray(0, random.below(reply.length + 1)))
        connection.cut(isTorn)
      }),
    /**
     * A firewall on the way has dropped the connections: nothing gets through, and neither side is notified.
     * @param {Node} node
     * @param {Fault['mode']} mode what becomes of commands that it has received
     */
    forgetConnections: (node, mode) => leave(node, mode, (connection) => connection.mute()),
    /** @param {Node} node */
    start(node) {
      node.up = true
      work(node)
    },
    /** Another node owns what this one owned. @param {Node} node @param {Node} to */
    replace(node, to) {
      for (let slot = 0; slot < slotCount; slot++) if (owners[slot] === node.index) owners[slot] = to.index
      migrations = migrations.filter((each) => each.from !== node.index && each.to !== node.index)
      to.replica = false
      node.replica = true
      epoch++
    },
    lies,
    owns: (/** @type {Node} */ node) => owners.includes(node.index),
  }
}
