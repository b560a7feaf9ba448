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
// Where replies come sooner than this, the next PING is waited for in a sleep.
const nearMs = 2
// In silence no timer sends what is due, until this looks.
const lookMs = 1000

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
 * @param {() => void} needs.onHeard a reply was read, or none will come
 */
const probe = ({ master, dial, access, clock, random, everyMs, record, onHeard }) => {
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
  let sentMs = 0
  let isNear = false
  let retryAtMs = Number.NEGATIVE_INFINITY
  let backOffMs = firstBackOffMs

  const tell = (/** @type {typeof waiting[number]} */ { dueMs, wokeMs }, /** @type {number} */ nowMs) =>
    record(address, (nowMs - dueMs) * 1000, (wokeMs - dueMs) * 1000)

  const answered = (/** @type {number} */ pings) => {
    const nowMs = clock()
    backOffMs = firstBackOffMs
    isNear = nowMs - sentMs < nearMs
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
    sentMs = clock()
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
    onHeard()
  }
  const connect = async () => {
    const count = replyCounter({ done: answered, failed: refused })
    const connection = {
      onBytes: (/** @type {Buffer} */ received) => {
        if (connection !== current) return
        count(received)
        onHeard()
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
    /** Everything is answered, and the next reply will be here soon after its PING. */
    isAtEase: () => socket !== null && isNear && waiting.length === 0,
    /** A PING without an answer counts if it waited until the next was due. */
    close: () => {
      const nowMs = clock()
      for (const ping of waiting.splice(0)) if (nowMs - ping.dueMs >= everyMs) tell(ping, nowMs)
      current = null
      socket?.destroy()
    },
  }
}

/** A random moment of each slot of time. @param {number} everyMs @param {() => number} random */
const momentsOf = (everyMs, random) => {
  let slotMs = 0
  let nextMs = 0
  return {
    /** @param {number} nowMs */
    begin(nowMs) {
      slotMs = nowMs
      nextMs = nowMs
    },
    nextMs: () => nextMs,
    /**
     * Those that have come. Returns whether there were any.
     * @param {number} nowMs
     * @param {number} lateMs that is none
     * @param {(dueMs: number) => void} each
     */
    take(nowMs, lateMs, each) {
      const before = slotMs
      while (nextMs - grainMs <= nowMs) {
        each(Math.min(nowMs, nextMs + lateMs))
        slotMs += everyMs
        nextMs = slotMs + random() * everyMs
      }
      return slotMs > before
    },
  }
}

/** Probes of the masters that there are. @param {() => Endpoint[]} masters @param {(master: Endpoint) => ReturnType<typeof probe>} probeOf */
const probesOf = (masters, probeOf) => {
  /** @type {Map<string, ReturnType<typeof probe>>} */
  const probes = new Map()
  let followAtMs = 0
  return {
    all: () => probes.values(),
    isAtEase() {
      for (const each of probes.values()) if (!each.isAtEase()) return false
      return probes.size > 0
    },
    /** Once a second. @param {number} nowMs */
    follow(nowMs) {
      if (nowMs < followAtMs) return
      followAtMs = nowMs + followMs
      const now = new Map(masters().map((master) => [addressOf(master), master]))
      for (const [address, gone] of probes) {
        if (now.has(address)) continue
        gone.close()
        probes.delete(address)
      }
      for (const [address, master] of now) if (!probes.has(address)) probes.set(address, probeOf(master))
    },
    close() {
      for (const each of probes.values()) each.close()
      probes.clear()
    },
  }
}

/**
 * The bystander on every master of the target, followed once a second; a master that is no longer one ends what
 * waits for it there and then. One timer drives all: 50 small writes a second and master. A timer of Node takes twice the CPU
 * of a sleep (0.7 and 0.3 % of a core, measured at 50 a second), so that a thread which does nothing else sleeps until the
 * next PING is due, once all are answered.
 * @param {object} needs
 * @param {() => Endpoint[]} needs.masters
 * @param {Dial} needs.dial
 * @param {Access} needs.access
 * @param {() => number} needs.clock ms
 * @param {RecordLatency} needs.record called for each PING
 * @param {number} [needs.everyMs]
 * @param {() => number} [needs.random] for the back-off
 * @param {(ms: number) => void} [needs.sleep] stops this thread, which is the probe's own
 */
export const bystanderProbe = ({ masters, everyMs = 20, random = Math.random, sleep, ...needs }) => {
  const { clock } = needs
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  /** @type {NodeJS.Timeout | undefined} */
  let look
  const moments = momentsOf(everyMs, random)
  const probes = probesOf(masters, (master) => probe({ master, everyMs, random, onHeard: heard, ...needs }))

  const arm = () => {
    timer ??= setTimeout(wake, moments.nextMs() - clock(), true)
  }
  const disarm = () => {
    clearTimeout(timer)
    timer = undefined
  }
  /** @param {number} nowMs @param {boolean} isWoken for this: what was due before is late by this thread, and by no server */
  const sendDue = (nowMs, isWoken) =>
    moments.take(nowMs, isWoken ? grainMs : 0, (dueMs) => {
      for (const each of probes.all()) each.due(dueMs, isWoken ? nowMs : dueMs)
    })
  /** @param {boolean} isWoken */
  const wake = (isWoken) => {
    timer = undefined
    const nowMs = clock()
    probes.follow(nowMs)
    const mayRest = sleep !== undefined && probes.isAtEase()
    const hasSent = sendDue(nowMs, isWoken)
    for (const each of probes.all()) each.tend(nowMs)
    // The replies are here before the next is due, or the first of them arms the timer.
    if (!mayRest || !hasSent) arm()
  }
  /** A reply came, or none will. */
  const heard = () => {
    if (!sleep) return
    const restMs = moments.nextMs() - clock()
    if (!probes.isAtEase() && (restMs > 0 || timer !== undefined)) return arm()
    disarm()
    if (restMs > 0) sleep(restMs)
    // Else it was due while the reply was missing.
    wake(restMs > 0)
  }
  const inSilence = () => {
    if (timer === undefined && clock() > moments.nextMs()) wake(false)
  }

  return {
    start: () => {
      moments.begin(clock())
      wake(true)
      if (sleep) look = setInterval(inSilence, lookMs)
    },
    stop: () => {
      disarm()
      clearInterval(look)
      sendDue(clock(), false)
      probes.close()
    },
  }
}
