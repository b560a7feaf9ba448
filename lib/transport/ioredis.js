// The driver on ioredis with auto-pipelining: what a Node application would see. Commands in flight are bounded,
// and what the library would only reject is sent again by the same verdicts as on plain sockets.
import { Cluster, Command } from 'ioredis'
import { itemTimesOf } from '../measure/item-times.js'
import { isScheduled } from '../plan/pacer.js'
import { endpointOf } from '../servers/address.js'
import { disconnect } from '../servers/disconnect.js'
import { plainCommand } from '../wire/encode.js'
import { patienceOf, pausedMs } from './catch-up.js'
import { occasionsOf } from './due-steps.js'
import { silenceOf } from './half-open.js'
import { addressOfNode, clientOf, connectClient, followConnections } from './ioredis-client.js'
import { listeningTo } from './ioredis-silence.js'
import { isOverdue, policyOf } from './policy.js'
import { refresherOf } from './refresher.js'
import { causeOf, refusalIn, verdictOf } from './refusals.js'
import { slotMapOf } from './slot-map.js'
import { tapesOf } from './tapes.js'
import { storyOf } from './topology-events.js'

/**
 * @typedef {import('./socket.js').DriverOptions} DriverOptions
 * @typedef {import('./connection.js').Tick} Tick
 * @typedef {import('./encoded-batch.js').Tape} Tape
 * @typedef {import('../wire/encode.js').TickValues} TickValues
 * @typedef {{ tick: Tick, tape: Tape, values: TickValues, i: number, attempts: number, left: boolean, goTo: string | null, asking: boolean, from: string, write: number }}
 * One a command; `left` when it may have left this process, `goTo` where a redirect has sent it, `from` where it was sent,
 * `write` as that of an Entry
 * @typedef {{ tick: Tick, jobs: { tape: Tape, values: TickValues }[], j: number, i: number }} Turn
 */

// Enough for a full pipeline to every node of a large cluster; more only fills queues. Commands that wait to be
// sent again count too, so that an outage takes no more memory than a busy second.
const maxOutstanding = 5000
const askAgainMs = 100

// The map changed while the pipeline was put together, and the library takes all of it back.
const wasRegrouped = (/** @type {Error} */ error) => /same slots allocation group/.test(error.message)
const wasNeverSent = (/** @type {Error} */ error) =>
  wasRegrouped(error) ||
  /enableOfflineQueue|isn't writeable|Failed to refresh slots cache/i.test(error.message)

/** To whom the library sends a command. @param {any} cluster @param {One} one @returns {string | undefined} */
const ownerIn = ({ slots }, { tape, i, values }) => slots[tape.slotAt(i, values)]?.[0]

/**
 * Each reply is ours to judge: the library would follow any redirect, and repeat a lost RPUSH that went alone. Only
 * where all of a pipeline is to ask elsewhere it cannot be stopped: it has put an ASKING before each command.
 * @param {any} client
 * @param {import('./socket.js').DriverTarget['follows']} follows
 */
const judgeReplies = (client, follows) => {
  client.handleError = (
    /** @type {Error} */ error,
    /** @type {unknown} */ _left,
    /** @type {any} */ handlers,
  ) => {
    const { action, slot, address = '' } = verdictOf(error.message, '')
    if (action !== 'asking') return handlers.defaults()
    if (follows('its cluster', address)) handlers.ask(slot, address)
    else setTimeout(handlers.tryagain, askAgainMs)
  }
}

/** @param {DriverOptions} options */
export const ioredisDriver = async (options) => {
  const { plan, steps, target, ledger, latency, clock, random, onEvent, onBegun, onProgress, onReply } =
    options
  const occasions = occasionsOf(plan)
  const encodeFrom = clock()
  // Kept tapes would be in vain: the library encodes for itself.
  const tapes = await tapesOf(plan, steps, { ...options, keep: false })
  const encodeMs = clock() - encodeFrom
  const itemTimes = itemTimesOf({ steps, latency })
  const [first] = target.topology.masters
  const where = target.sentinels?.clientOptions() ?? endpointOf(first)
  const client = clientOf(plan, target, { where, onStray: () => refresher.request() })
  judgeReplies(client, target.follows)
  /** @type {Turn[]} */
  let turns = []
  /** @type {One[]} */
  let repeats = []
  /** @type {Map<One, NodeJS.Timeout | null>} */
  const postponed = new Map()
  /** @type {Set<One>} */
  const inFlight = new Set()
  // Ticks of a chunk without an outcome: its next waits, so that no repeat passes a later one.
  /** @type {Map<number, Tick>} */
  const underWay = new Map()
  let started = false
  let closed = false

  const listening = listeningTo(client, clock)
  const listen = silenceOf({ dial: target.dial, onEvent })
  const story = storyOf({ onEvent, clock })
  const patience = patienceOf({ plan, clock })
  let answeredMs = clock()
  const connections = {
    up: (/** @type {string} */ address) => {
      story.up(address)
      if (!started || closed) return
      patience.disturbed()
      // It may be another server's place by now.
      refresher.request()
    },
    down: (/** @type {string} */ address, /** @type {string} */ reason) => {
      patience.disturbed()
      story.down(address, reason)
    },
  }
  followConnections(client, first, connections, () => started && !closed)
  client.on('error', (/** @type {Error} */ error) => {
    const line = refusalIn(error)
    if (started && !closed && line !== null) ledger.sentAgain(causeOf(line))
  })
  // The library has a map of its own; this one is for the events.
  const map = slotMapOf(target.topology)
  const policy = policyOf({ maxBehindMs: plan.maxBehindMs, clock, follows: target.follows })
  const refresher = refresherOf({
    ask: target.refresh,
    learn: (topology) => {
      story.topology(topology)
      const left = map.replace(topology)
      story.left(left, map.ownerOf)
      if (left.size === 0) return
      patience.disturbed()
      if (client instanceof Cluster) client.refreshSlotsCache()
    },
    clock,
  })

  /** @param {One} one @param {import('../measure/ledger.js').Loss} outcome @param {string} cause */
  const lose = ({ tick, tape, i }, outcome, cause) => {
    ledger.lose(tick.account, tape, i, i + 1, outcome, cause)
    finished(tick)
  }
  const finished = (/** @type {Tick} */ tick) => {
    if (tick.account.open === 0 && underWay.get(tick.chunk) === tick) underWay.delete(tick.chunk)
  }

  /** @param {One} one @param {number} sentMs @param {unknown} reply */
  const succeeded = (one, sentMs, reply) => {
    const { tick, tape, i } = one
    inFlight.delete(one)
    answeredMs = clock()
    if (closed) return
    const items = tape.from[i + 1] - tape.from[i]
    itemTimes.answered(tick, tape, i, i + 1, one.write, sentMs, clock())
    onReply?.(tape.step, Array.isArray(reply) ? undefined : /** @type {any} */ (reply))
    ledger.answered(tick.account, 1, items)
    finished(tick)
    progressSoon()
  }

  /** @param {One} one @param {Error} error */
  const rejected = (one, error) => {
    inFlight.delete(one)
    if (closed) return
    const isAnswer = refusalIn(error) !== null
    if (isAnswer) answeredMs = clock()
    one.attempts++
    one.left ||= !wasNeverSent(error)
    if (isAnswer) refused(one, error.message)
    else if (wasRegrouped(error)) repeat(one, 0)
    else {
      refresher.request()
      const { tick, tape, left, attempts } = one
      const outcome = policy.unanswered(tape.step, left, tick.dueMs, attempts, isScheduled(plan))
      if (outcome) lose(one, outcome, outcome === 'dropped' ? '' : 'CLOSED')
      else {
        if (!wasNeverSent(error)) ledger.sentAgain('CLOSED')
        repeat(one, policy.waitFor(attempts))
      }
    }
    progressSoon()
  }
  /** @param {One} one @param {string} line */
  const refused = (one, line) => {
    ledger.commands.refused++
    const { action, cause, address, waitMs, lost } = policy.refused(
      line,
      one.from,
      one.tick.dueMs,
      one.attempts,
    )
    if (lost) return lose(one, lost, cause)
    story.refused(cause)
    ledger.sentAgain(cause)
    if (action !== 'asking') refresher.request()
    if (action === 'there' || action === 'asking') {
      one.goTo = address
      one.asking = action === 'asking'
    }
    if (action === 'there' && client instanceof Cluster) client.refreshSlotsCache()
    if (action === 'load') loadThenRepeat(one, waitMs)
    else repeat(one, waitMs)
  }

  /** @param {One} one @param {number} waitMs */
  const repeat = (one, waitMs) => {
    ledger.commands.repeated++
    if (waitMs === 0) {
      repeats.push(one)
      return
    }
    postponed.set(one, setTimeout(due, waitMs * (0.5 + random()), one))
  }
  const due = (/** @type {One} */ one) => {
    if (closed || !postponed.delete(one)) return
    repeats.push(one)
    progressSoon()
  }
  // Whoever waits for the server need not wait longer than it is away.
  client.on('ready', () => {
    for (const [one, timer] of postponed) {
      if (timer === null) continue
      clearTimeout(timer)
      due(one)
    }
  })
  const loadThenRepeat = (/** @type {One} */ one, /** @type {number} */ waitMs) => {
    postponed.set(one, null)
    const again = () => {
      if (!closed) repeat(one, waitMs)
    }
    Promise.all(target.topology.masters.map((address) => target.loadScripts(address))).then(again, again)
  }

  /**
   * A redirect is followed here, to the server that it names: the library would ask for all slots at each of them.
   * @param {One} one
   * @param {string} command
   * @param {(string | Buffer)[]} args
   */
  const redirected = (one, command, args) => {
    const { goTo, asking } = one
    if (!(client instanceof Cluster)) return null
    one.from = ownerIn(client, one) ?? one.from
    if (goTo === null) return null
    one.goTo = null
    const node = client.nodes('master').find((known) => addressOfNode(known) === goTo)
    // A server that the library does not know yet: its old owner will say it again.
    if (!node) return null
    one.from = goTo
    if (asking) node.asking().catch(() => {})
    return node.sendCommand(new Command(command, args))
  }

  /** @param {One} one */
  const send = (one) => {
    const { tick, tape, values, i } = one
    const [name, ...args] = plainCommand(tape.args(i), values)
    const sentMs = clock()
    if (tick.firstMs === null) {
      tick.firstMs = sentMs
      onBegun(tick)
    }
    if (one.write === 0) one.write = tick.sends.push(sentMs)
    inFlight.add(one)
    ledger.commands.sent++
    const command = String(name).toLowerCase()
    try {
      const answer = redirected(one, command, args) ?? /** @type {any} */ (client)[command](args)
      answer.then(
        (/** @type {unknown} */ reply) => succeeded(one, sentMs, reply),
        (/** @type {Error} */ error) => rejected(one, error),
      )
    } catch (error) {
      // The library throws at once for a slot that nobody owns just now.
      queueMicrotask(() => rejected(one, /** @type {Error} */ (error)))
    }
  }

  let scheduled = false
  const progressSoon = () => {
    if (scheduled) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      if (closed) return
      pump()
      if (started) onProgress()
    })
  }

  const pump = () => {
    for (const one of repeats.splice(0)) send(one)
    while (inFlight.size + postponed.size < maxOutstanding) {
      const one = nextOne()
      if (!one) break
      send(one)
    }
  }
  /** @returns {One | null} */
  const nextOne = () => {
    const [from] = map.addresses()
    for (const turn of turns) {
      const { tick, jobs } = turn
      const busy = underWay.get(tick.chunk)
      if (busy && busy !== tick) continue
      underWay.set(tick.chunk, tick)
      const job = jobs[turn.j]
      const unsent = { attempts: 0, left: false, goTo: null, asking: false, from, write: 0 }
      const one = { tick, ...job, i: turn.i++, ...unsent }
      if (turn.i === job.tape.count) {
        turn.i = 0
        turn.j++
      }
      if (turn.j === jobs.length) turns = turns.filter((other) => other !== turn)
      return one
    }
    return null
  }

  /** @param {Turn} turn @param {import('../measure/ledger.js').Loss} outcome */
  const loseTurn = ({ tick, jobs, j, i }, outcome) => {
    for (let k = j; k < jobs.length; k++) {
      const from = k === j ? i : 0
      ledger.lose(tick.account, jobs[k].tape, from, jobs[k].tape.count, outcome, '')
    }
    finished(tick)
  }
  /** @param {(turn: Turn) => boolean} test */
  const drop = (test) => {
    const gone = turns.filter(test)
    if (gone.length === 0) return
    turns = turns.filter((turn) => !test(turn))
    for (const turn of gone) loseTurn(turn, 'dropped')
  }

  /** @param {Tick} tick */
  const offer = (tick) => {
    const { account } = tick
    const jobs = []
    for (const tape of tapes.ofTick(tick)) {
      const times = occasions(tape, account.agent, tick.values)
      for (let i = 0; i < times && tape.count > 0; i++) {
        ledger.expect(account, tape.count)
        jobs.push({ tape, values: tick.values })
      }
    }
    if (jobs.length > 0) turns.push({ tick, jobs, j: 0, i: 0 })
    ledger.seal(account)
    pump()
  }

  const close = () => {
    closed = true
    refresher.close()
    disconnect(client)
  }

  story.topology(target.topology)
  await connectClient(client, first, target.access)
  started = true

  return {
    encodeMs,
    tapeBytes: 0,
    offer,
    watch: () => {
      if (closed) return
      const isUp = !map.addresses().some(story.isDown)
      drop((turn) => isOverdue(turn, policy.deadline(isScheduled(plan)), isUp))
      listen(listening)
      // The library goes over to a new master without a word.
      if (refresher.isStale() || !isUp) refresher.request()
      story.tell()
    },
    /** Gives up what has no outcome yet: the run has ended first. */
    abandon: () => {
      close()
      for (const one of [...inFlight, ...repeats, ...postponed.keys()]) lose(one, 'unsettled', '')
      repeats = []
      for (const turn of turns) loseTurn(turn, 'unsettled')
      turns = []
    },
    close,
    /** Its connections are its own. */
    renew: () => false,
    /** How long a tick may wait for room. */
    waitLimitMs: () =>
      patience.limitMs(postponed.size > 0 || (inFlight.size > 0 && clock() - answeredMs > pausedMs)),
    hasRoom: () => turns.length < 2,
    waitingBytes: () => 0,
  }
}
