// The latency of another application: one PING on every master at a random moment of each 20 ms, so that a burst is hit in
// proportion to its length, timed from its due time.
import { addressOf } from '../servers/address.js'
import { replyCounter } from '../wire/decode.js'

/**
 * @import { Endpoint } from '../servers/address.js'
 * @import { Access, Socket } from '../servers/dial.js'
 *
 * @typedef {typeof import('../servers/dial.js').dial} Dial
 * @typedef {(address: string, latencyUs: number, lateUs: number) => void} RecordLatency lateUs of it were before our timer
 *   woke to send it, as other processes had the core
 */

const ping = Buffer.from('*1\r\n$4\r\nPING\r\n')
const followMs = 1000
// A timer fires up to 1.3 ms off its time on an idle machine (measured): this belongs to the clock, and is no latency.
export const grainMs = 1.5
const maxWaiting = 15_000 // 5 minutes of outage at 20 ms; what is due later adds nothing to the picture
const firstBackOffMs = 50
const longestBackOffMs = 1000

/**
 * The PINGs of one master. Each that is due is sent at once, behind those still unanswered. Those that fall due
 * or lose their answer in an outage wait as an application's requests would: one PING on the next connection
 * answers them all. A refusal (LOADING, BUSY) is no answer; the next PING takes its place.
 * @param {object} needs
 * @param {Endpoint} needs.master
 * @param {Dial} needs.dial
 * @param {Access} needs.access
 * @param {() => number} needs.clock ms
 * @param {() => number} needs.random
 * @param {number} needs.everyMs
 * @param {RecordLatency} needs.record
 */
const probe = ({ master, dial, access, clock, random, everyMs, record }) => {
  const address = addressOf(master)
  /** @type {{ dueMs: number, wokeMs: number }[]} what is unanswered, oldest first */
  const waiting = []
  /** @type {number[]} for each PING on the wire, how many of the waiting it answers */
  const onWire = []
  let owed = 0 // waiting PINGs that no sent PING answers
  /** @type {object | null} tells a late event of a former connection from one of this */
  let current = null
  /** @type {Socket | null} */
  let socket = null
  let reached = false // nothing is due before the first connection
  let retryAtMs = Number.NEGATIVE_INFINITY
  let backOffMs = firstBackOffMs

  const tell = (/** @type {typeof waiting[number]} */ { dueMs, wokeMs }, /** @type {number} */ nowMs) =>
    record(address, (nowMs - dueMs) * 1000, (wokeMs - dueMs) * 1000)

  const answered = (/** @type {number} */ pings) => {
    const nowMs = clock()
    backOffMs = firstBackOffMs
    for (; pings > 0; pings--) for (const ping of waiting.splice(0, onWire.shift())) tell(ping, nowMs)
  }
  const refused = () => {
    const carried = onWire.shift() ?? 0
    if (onWire.length > 0) onWire[0] += carried
    else owed += carried
  }
  const send = () => {
    if (!socket || owed === 0) return
    onWire.push(owed)
    owed = 0
    socket.write(ping)
  }
  const lost = (/** @type {object} */ connection) => {
    if (connection !== current) return
    current = null
    socket = null
    onWire.length = 0
    owed = waiting.length
    retryAtMs = clock() + backOffMs * (0.5 + random() / 2)
    backOffMs = Math.min(2 * backOffMs, longestBackOffMs)
  }
  const connect = async () => {
    const count = replyCounter({ done: answered, failed: refused })
    const connection = {
      onBytes: (/** @type {Buffer} */ received) => {
        if (connection === current) count(received)
      },
      onClose: () => lost(connection),
      clientName: 'millrace-bystander',
    }
    current = connection
    try {
      const opened = await dial(master, access, connection)
      if (connection !== current) return void opened.destroy()
      socket = opened
      reached = true
      send()
    } catch {
      lost(connection)
    }
  }

  return {
    due: (/** @type {number} */ dueMs, /** @type {number} */ wokeMs) => {
      if (!reached || waiting.length >= maxWaiting) return
      waiting.push({ dueMs, wokeMs })
      owed++
      send()
    },
    tend: (/** @type {number} */ nowMs) => {
      if (!current && nowMs >= retryAtMs) connect()
    },
    /** A PING without an answer counts if it waited until the next was due. */
    close: () => {
      const nowMs = clock()
      for (const ping of waiting.splice(0)) if (nowMs - ping.dueMs >= everyMs) tell(ping, nowMs)
      current = null
      socket?.destroy()
    },
  }
}

/**
 * The bystander on every master of the target, followed once a second; a master that is no longer one ends what
 * waits for it there and then. One timer drives all: 50 small writes a second and master, measured on an idle
 * loop as 1.2 % of a core for waking up and 0.3 % a master.
 * @param {object} needs
 * @param {() => Endpoint[]} needs.masters
 * @param {Dial} needs.dial
 * @param {Access} needs.access
 * @param {() => number} needs.clock ms
 * @param {RecordLatency} needs.record called for each PING
 * @param {number} [needs.everyMs]
 * @param {() => number} [needs.random] for the back-off
 */
export const bystanderProbe = ({
  masters,
  dial,
  access,
  clock,
  record,
  everyMs = 20,
  random = Math.random,
}) => {
  /** @type {Map<string, ReturnType<typeof probe>>} */
  const probes = new Map()
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  let slotMs = 0
  let nextMs = 0
  let followAtMs = 0

  const follow = () => {
    const now = new Map(masters().map((master) => [addressOf(master), master]))
    for (const [address, gone] of probes) {
      if (now.has(address)) continue
      gone.close()
      probes.delete(address)
    }
    for (const [address, master] of now) {
      if (!probes.has(address))
        probes.set(address, probe({ master, dial, access, clock, random, everyMs, record }))
    }
  }

  const wake = () => {
    const nowMs = clock()
    if (nowMs >= followAtMs) {
      follow()
      followAtMs = nowMs + followMs
    }
    while (nextMs - grainMs <= nowMs) {
      const dueMs = Math.min(nowMs, nextMs + grainMs)
      for (const each of probes.values()) each.due(dueMs, nowMs)
      slotMs += everyMs
      nextMs = slotMs + random() * everyMs
    }
    for (const each of probes.values()) each.tend(nowMs)
    timer = setTimeout(wake, nextMs - clock())
  }

  return {
    start: () => {
      slotMs = clock()
      nextMs = slotMs
      followAtMs = slotMs
      wake()
    },
    stop: () => {
      clearTimeout(timer)
      for (const each of probes.values()) each.close()
      probes.clear()
    },
  }
}
