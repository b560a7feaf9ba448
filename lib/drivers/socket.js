// The driver on plain sockets: deals a tick's tapes to the owners of their slots, and gives every command that
// was refused or lost its second chance, in order.
import { TargetError } from '../errors.js'
import { isScheduled } from '../plan/pacer.js'
import { holdsOf } from './holds.js'
import { laneOf } from './lane.js'
import { occasionsOf } from './occasions.js'
import { slotMapOf } from './slot-map.js'
import { writeBytes } from './tape.js'
import { tapesOf } from './tapes.js'
import { verdictOf } from './verdict.js'

/**
 * @typedef {import('./connection.js').Entry} Entry
 * @typedef {import('./connection.js').Tick} Tick
 * @typedef {import('./lane.js').Lane} Lane
 * @typedef {import('./lane.js').Turn} Turn
 * @typedef {import('./slot-map.js').Topology} Topology
 *
 * @typedef {object} DriverOptions
 * @property {import('../plan/plan.js').Plan} plan
 * @property {import('../strategies/declare.js').Step[]} steps
 * @property {DriverTarget} target
 * @property {ReturnType<typeof import('../measure/ledger.js').ledgerOf>} ledger
 * @property {Pick<ReturnType<typeof import('../measure/latency.js').latencyOf>, 'record'>} latency
 * @property {() => number} clock
 * @property {() => number} random
 * @property {(kind: string, text: string) => void} onEvent
 * @property {(tick: Tick) => void} onBegun
 * @property {() => void} onProgress answers came: there may be room for more
 * @property {(share: number) => void} [onEncoding]
 *
 * @typedef {object} DriverTarget what a driver needs of a target
 * @property {Topology} topology
 * @property {import('../target/dial.js').Access} access
 * @property {(address: string, events: { onBytes: (chunk: Buffer) => void, onClose: (error?: Error) => void }) => Promise<import('node:net').Socket>} dial
 * @property {() => Promise<Topology>} refresh
 * @property {(address: string) => Promise<void>} loadScripts
 */

const spareBuffers = 16
const laterMs = 40
const maxRedirects = 8
const silentLimitMs = 2000

/** Buffers for bytes that are made as they are sent. */
const sparePool = () => {
  const free = /** @type {Buffer[]} */ ([])
  return {
    take: () => free.pop() ?? Buffer.allocUnsafeSlow(writeBytes),
    give: (/** @type {Buffer} */ buffer) => {
      if (free.length < spareBuffers) free.push(buffer)
    },
  }
}

/** @param {DriverOptions} options */
export const socketDriver = async (options) => {
  const { plan, steps, target, ledger, latency, clock, random, onEvent, onBegun, onProgress } = options
  const map = slotMapOf(target.topology)
  const spare = sparePool()
  const occasions = occasionsOf(plan)
  const encodeFrom = clock()
  const tapes = await tapesOf(plan, steps, options)
  const encodeMs = clock() - encodeFrom
  /** @type {Map<string, Lane>} */
  const lanes = new Map()
  /** @type {Set<number>} slots with commands to send again as soon as this read is settled */
  const touched = new Set()
  /** @type {Set<number>} slots with commands to send again later */
  const postponed = new Set()
  /** @type {Map<string, Error>} */
  const faults = new Map()
  let started = false
  let closed = false
  /** @type {Promise<void> | null} */
  let refreshing = null

  const holds = holdsOf({
    send: (slot, entries) => {
      for (const entry of entries) {
        const lane = laneAt(entry.goTo ?? map.ownerOf(slot))
        entry.goTo = null
        lane.sendFirst([entry])
        pumpSoon.add(lane)
      }
    },
  })
  /** @type {Set<Lane>} */
  const pumpSoon = new Set()
  const pumpTouched = () => {
    for (const lane of pumpSoon) {
      pumpSoon.delete(lane)
      lane.pump()
    }
  }

  const laneAt = (/** @type {string} */ address) => {
    const known = lanes.get(address)
    if (known) return known
    const lane = laneOf({
      address,
      windowBytes: plan.windowBytes,
      chunks: plan.agents.length * plan.chunks,
      open: (events) => target.dial(address, events),
      spare,
      holds,
      clock,
      random,
      events: laneEvents,
    })
    lanes.set(address, lane)
    if (started) lane.connect()
    return lane
  }

  /** @param {Entry} entry @param {number} n */
  const settleHeld = (entry, n) => {
    if (entry.held) holds.settle(entry.tape.slotAt(entry.from, entry.values), n)
  }
  /**
   * @param {Entry} entry
   * @param {import('../measure/ledger.js').Loss} outcome
   * @param {string} cause
   */
  const lose = (entry, outcome, cause) => {
    ledger.lose(entry.tick.account, entry.tape, entry.from, entry.to, outcome, cause)
    settleHeld(entry, entry.to - entry.from)
  }

  /** @type {import('./lane.js').LaneEvents} */
  const laneEvents = {
    onAnswered: (entry, n) => {
      const { from } = entry.tape
      const items = from[entry.from + n] - from[entry.from]
      if (items > 0 && entry.tick.account.measured)
        latency.record(entry.tick.dueMs, entry.sentMs, clock(), items)
      ledger.answered(entry.tick.account, n, items)
      settleHeld(entry, n)
    },
    onRefused: (entry, command, line, lane) => {
      ledger.commands.refused++
      const one = { ...entry, from: command, to: command + 1, again: true, attempts: entry.attempts + 1 }
      refuse(one, line, lane)
    },
    onRead: () => {
      for (const slot of touched) holds.resend(slot)
      touched.clear()
      pumpTouched()
      if (started) onProgress()
    },
    onBegun,
    onUncertain: (entry) => lose(entry, 'uncertain', 'CLOSED'),
    onSent: (n) => {
      ledger.commands.sent += n
    },
    onRepeated: (n) => {
      ledger.commands.repeated += n
    },
    onState: (lane, state, error) => {
      if (error) faults.set(lane.address, error)
      if (!started || closed) return
      const was = downSince.get(lane.address)
      if (state === 'down' && was === undefined) {
        downSince.set(lane.address, clock())
        onEvent('disconnected', `${lane.address}: ${error?.message ?? 'closed the connection'}`)
      }
      if (state === 'up' && was !== undefined) {
        downSince.delete(lane.address)
        onEvent('reconnected', `${lane.address} after ${Math.round(clock() - was)} ms`)
      }
      if (state === 'down') {
        deal()
        refresh()
      }
    },
  }
  /** @type {Map<string, number>} */
  const downSince = new Map()

  /**
   * @param {Entry} entry one command
   * @param {string} line
   * @param {Lane} lane
   */
  const refuse = (entry, line, lane) => {
    const verdict = verdictOf(line, lane.address)
    const late = clock() - entry.tick.dueMs > plan.maxBehindMs
    if (verdict.action === 'give-up' || (late && entry.attempts > maxRedirects)) {
      lose(entry, 'failed', verdict.cause)
      return
    }
    ledger.commands.repeated++
    const slot = entry.tape.slotAt(entry.from, entry.values)
    entry.lead = 0
    entry.goTo = null
    if (verdict.action === 'there') moved(slot, verdict.address ?? lane.address)
    if (verdict.action === 'asking') {
      entry.lead = 1
      entry.goTo = verdict.address ?? null
    }
    holds.refuse(slot, entry)
    entry.held = true
    if (verdict.action === 'load') loadThenResend(lane.address, slot)
    else if (verdict.action === 'later' || entry.attempts > maxRedirects) postpone(slot)
    else touched.add(slot)
    if (verdict.action === 'later' && line.startsWith('READONLY')) refresh()
    if (verdict.cause === 'CLUSTERDOWN') refresh()
  }

  /** @param {string} address @param {number} slot */
  const loadThenResend = (address, slot) => {
    target.loadScripts(address).then(
      () => postpone(slot),
      () => postpone(slot),
    )
  }
  const postpone = (/** @type {number} */ slot) => {
    if (postponed.size === 0) {
      setTimeout(
        () => {
          const slots = [...postponed]
          postponed.clear()
          for (const each of slots) holds.resend(each)
          pumpTouched()
        },
        laterMs * (0.5 + random()),
      )
    }
    postponed.add(slot)
  }

  /** A server said where the slot is now. @param {number} slot @param {string} address */
  const moved = (slot, address) => {
    const was = map.ownerOf(slot)
    if (was === address) return
    map.move(slot, address)
    holdUntilDrained(was, [slot])
    laneAt(address)
    deal()
    refresh()
  }

  /** @param {string} address @param {number[]} slots that have left it */
  const holdUntilDrained = (address, slots) => {
    const lane = lanes.get(address)
    if (!lane || lane.unansweredBytes() === 0) return
    holds.drain(slots)
    lane.whenDrained(() => {
      holds.drained(slots)
      pumpTouched()
    })
  }

  const refresh = () => {
    if (closed) return
    refreshing ??= target
      .refresh()
      .then(learn, () => {})
      .finally(() => {
        refreshing = null
      })
  }
  const learn = (/** @type {Topology} */ topology) => {
    const left = map.replace(topology)
    if (left.size === 0 || closed) return
    let slots = 0
    for (const [address, gone] of left) {
      slots += gone.length
      const lane = lanes.get(address)
      const stillOwns = map.addresses().includes(address)
      // A server that has lost everything and says nothing will not answer: its commands are repeated elsewhere.
      if (lane && !stillOwns && lane.silentMs() > silentLimitMs) lane.cutOff()
      holdUntilDrained(address, gone)
    }
    for (const address of map.addresses()) laneAt(address)
    if (plan.cluster) onEvent('slots-moved', `${slots} slots have new owners`)
    else onEvent('master', `the master is ${map.addresses()[0]} now`)
    deal()
  }

  /** Deals what waits to the owners of the map as it is now, oldest first. */
  const deal = () => {
    const urgent = /** @type {Entry[]} */ ([])
    const waiting = /** @type {Turn[]} */ ([])
    for (const lane of lanes.values()) {
      const all = lane.takeAll()
      urgent.push(...all.urgent)
      waiting.push(...all.turns)
    }
    for (const entry of urgent) {
      for (const [address, ranges] of map.split(entry.tape, entry.values, entry.from, entry.to)) {
        for (let r = 0; r < ranges.length; r += 2) {
          laneAt(entry.lead > 0 && entry.goTo ? entry.goTo : address).sendFirst([
            { ...entry, from: ranges[r], to: ranges[r + 1] },
          ])
        }
      }
    }
    waiting.sort((a, b) => a.tick.index - b.tick.index)
    /** @type {Map<Tick, Map<Lane, Turn>>} */
    const dealt = new Map()
    for (const turn of waiting) {
      const turns = dealt.get(turn.tick) ?? new Map()
      dealt.set(turn.tick, turns)
      for (const job of turn.jobs) {
        for (let r = job.at; r < job.ranges.length; r += 2) {
          const parts = map.split(job.tape, job.values, job.ranges[r], job.ranges[r + 1])
          for (const [address, ranges] of parts) {
            putJob(turns, turn.tick, laneAt(address), { ...job, ranges, at: 0 }, turn.begun)
          }
        }
      }
    }
    for (const turns of dealt.values()) for (const [lane, turn] of turns) lane.offer(turn)
    for (const lane of lanes.values()) lane.pump()
  }

  /**
   * @param {Map<Lane, Turn>} turns
   * @param {Tick} tick
   * @param {Lane} lane
   * @param {import('./lane.js').Job} job
   * @param {boolean} begun
   */
  const putJob = (turns, tick, lane, job, begun) => {
    const turn = turns.get(lane)
    if (!turn) turns.set(lane, { tick, jobs: [job], begun })
    else {
      turn.jobs.push(job)
      turn.begun ||= begun
    }
  }

  /** @param {Turn} turn @param {import('../measure/ledger.js').Loss} outcome */
  const loseTurn = (turn, outcome) => {
    for (const { tape, ranges, at } of turn.jobs) {
      for (let r = at; r < ranges.length; r += 2) {
        ledger.lose(turn.tick.account, tape, ranges[r], ranges[r + 1], outcome, '')
      }
    }
  }

  /** The unsent rest of this chunk's earlier ticks, where the window is shut. @param {Tick} tick */
  const dropOvertaken = (tick) => {
    for (const lane of lanes.values()) {
      if (!lane.isShut()) continue
      const rest = lane.take((turn) => turn.begun && turn.tick.chunk === tick.chunk)
      for (const turn of rest) loseTurn(turn, 'dropped')
    }
  }

  /** @param {Tick} tick */
  const offer = (tick) => {
    if (isScheduled(plan)) dropOvertaken(tick)
    const { account } = tick
    const list = plan.once ? tapes.fresh(account, tick.values) : tapes.of(tick.chunk)
    /** @type {Map<Lane, Turn>} */
    const turns = new Map()
    for (const [s, tape] of list.entries()) {
      for (const values of occasions.passes(tape.step, `${s}/${account.agent}`, tick.values)) {
        ledger.expect(account, tape.count)
        for (const [address, ranges] of map.rangesOf(tape, values)) {
          putJob(turns, tick, laneAt(address), { tape, values, ranges: ranges.slice(), at: 0 }, false)
        }
      }
    }
    for (const [lane, turn] of turns) lane.offer(turn)
    ledger.seal(account)
    for (const lane of turns.keys()) lane.pump()
  }

  /** Once a second: what has waited too long is dropped, and a silent server makes us ask who is master. */
  const watch = () => {
    const deadline = isScheduled(plan) ? clock() - plan.maxBehindMs : Number.NEGATIVE_INFINITY
    for (const lane of lanes.values()) {
      for (const turn of lane.take(({ begun, tick }) => !begun && tick.dueMs < deadline))
        loseTurn(turn, 'dropped')
      if (lane.silentMs() > silentLimitMs) refresh()
    }
    for (const entry of holds.expired(deadline)) lose(entry, 'dropped', '')
  }

  const connectAll = async () => {
    for (const address of map.addresses()) laneAt(address)
    await Promise.all([...lanes.values()].map((lane) => lane.connect()))
    for (const lane of lanes.values()) {
      if (lane.isUp()) continue
      close()
      throw new TargetError(faults.get(lane.address)?.message ?? `${lane.address}: cannot connect`)
    }
    started = true
  }

  /** Gives up what has no outcome yet: the run has ended first. */
  const abandon = () => {
    closed = true
    for (const lane of lanes.values()) {
      const { urgent, turns } = lane.takeAll()
      for (const entry of [...lane.unanswered(), ...urgent]) {
        ledger.lose(entry.tick.account, entry.tape, entry.from, entry.to, 'unsettled', '')
      }
      for (const turn of turns) loseTurn(turn, 'unsettled')
    }
    for (const entry of holds.clear()) {
      ledger.lose(entry.tick.account, entry.tape, entry.from, entry.to, 'unsettled', '')
    }
  }
  const close = () => {
    closed = true
    for (const lane of lanes.values()) lane.close()
  }

  await connectAll()
  return {
    encodeMs,
    tapeBytes: tapes.bytes,
    offer,
    watch,
    abandon,
    close,
    refresh,
    /** Another tick would find work to do: no server has more than one tick waiting, and some has none. */
    hasRoom: () => {
      let hungry = false
      for (const address of map.addresses()) {
        const turns = lanes.get(address)?.turns() ?? 0
        if (turns > 2) return false
        if (turns < 2) hungry = true
      }
      return hungry
    },
    waitingBytes: () => [...lanes.values()].reduce((sum, lane) => sum + lane.waitingBytes(), 0),
  }
}
