// What every run has, whatever its load: phases, time, events, seconds, samplers of the servers, and what ends it early.
// All of it is closed with the run. Times are in milliseconds.

import { unlessInterrupted, untilStopped } from '../base/interrupts.js'
import { untilSettled } from '../base/settlement.js'
import { certain } from '../base/typed.js'
import { withUndo } from '../base/undo.js'
import { count, plainText } from '../base/units.js'
import { instrumentsOf } from '../measures/index.js'
import { nodeSampler } from '../probes/node-sampler.js'
import { everySecond } from './second.js'

/**
 * @import { Phases, Playing } from '../loads/index.js'
 * @import { NodeRow, OwnCounts } from '../probes/node-sampler.js'
 * @import { Seconds, Snapshot } from '../probes/seconds.js'
 * @import { Measuring } from '../measures/contract.js'
 * @import { Line } from '../measures/fold.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Target } from '../servers/open.js'
 * @import { Member } from '../fleet/member.js'
 * @import { RunClock } from '../probes/run-clock.js'
 * @import { Conducted, Conductor } from './conductor.js'
 *
 * @typedef {object} FrameNeeds
 * @property {Target} target
 * @property {{ interval: (line: Line) => void, event: (line: object) => void }} results
 * @property {(snapshot: Snapshot) => void} show
 * @property {(kind: string, text: string) => void} onEvent
 * @property {(line: string) => void} say
 * @property {(warning: Warning) => void} [warn]
 * @property {(rows: NodeRow[]) => string | null} [guard] why to end the run now
 * @property {AbortSignal} stop
 * @property {AbortSignal} stopNow
 *
 * @typedef {(step: () => unknown) => void} Undo
 * @typedef {ReturnType<typeof frameOf>} Frame
 */

/**
 * @param {Target} target
 * @param {{ elapsed: () => number } & Pick<Parameters<typeof nodeSampler>[0], 'nodes' | 'onRows'>} needs
 * @param {Pick<OwnCounts, 'carried' | 'seen'>} counted
 */
const samplerOf = ({ info, access, sent, loadBytes }, { elapsed, ...needs }, counted) =>
  nodeSampler({ ...needs, info, db: access.db, clock: elapsed }, { sent: sent?.of, loadBytes, ...counted })

// Whether the masters keep what was written, by their own numbers once a second. Losses are a restart, a flush, a replica
// promoted without its data, and keys that are gone but neither expired nor were evicted. A replica promoted with its data,
// a slot that moves and a shard that leaves are none.

/**
 * @typedef {{ masters: readonly string[], owners: Uint16Array | null }} Topology
 * @typedef {{ text: string, certain: boolean }} Loss certain: false where the keys may be other programs'
 *
 * @typedef {object} Suspicion
 * @property {string} address
 * @property {string} text
 */

// A smaller decrease may be keys that are moving from one master to another.
const leastKeys = 100
const lostShare = 0.05
// While slots move, a key may be counted on both sides for some seconds: only a larger decrease counts.
const settlingMs = 10_000
const settlingShare = 0.5
const samplesInARow = 3

/** @param {number} ms */
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`

/** @param {Topology} one @param {Topology} other */
const isSame = (one, other) =>
  one.masters.join() === other.masters.join() &&
  (one.owners === other.owners ||
    (one.owners?.every((owner, slot) => owner === other.owners?.[slot]) ?? other.owners === null))

/** @param {Loss} loss @returns {Warning} */
const lossWarning = ({ text, certain }) => ({
  code: 'data-lost',
  message: certain
    ? `${text}: what was acknowledged before may be gone; keep others from the servers, and repeat`
    : `${text}; as many were there before the run, so they may be those of other programs`,
  invalidates: certain,
})

/**
 * @param {object} needs
 * @param {{ readonly topology: Topology }} needs.target as it is known now
 * @param {boolean} [needs.removesKeys] the load removes keys itself, so a decrease means nothing
 * @param {() => number} [needs.created] new keys that the load has created so far
 * @param {() => number} needs.elapsed
 * @param {(kind: string, text: string) => void} needs.note at the moment
 * @param {(warning: Warning) => void} needs.warn
 */
export const dataLossOf = ({ target, removesKeys = false, created = () => 0, elapsed, note, warn }) => {
  const onLoss = (/** @type {Loss} */ loss) => {
    note('data-lost', loss.text)
    warn(lossWarning(loss))
  }
  /** @type {Map<string, number>} keys of each node, as last answered */
  const keysAt = new Map()
  /** @type {Map<number, { address: string, keys: number, removed: number }>} the master of each shard, as last answered;
   *   removed: keys that expired or were evicted since, at one that is promoted */
  const masterOf = new Map()
  /** @type {Suspicion[]} */
  let suspicions = []
  const sum = keySum({ elapsed, created, onLoss })

  /** Masters that serve slots and answered. @param {NodeRow[]} rows @param {Topology} now */
  const servingIn = (rows, { masters }) =>
    rows.filter((row) => row.keys !== undefined && row.role === 'master' && masters.includes(row.address))

  /** @param {NodeRow} row @returns {string | null} */
  const incidentIn = ({ address, shard, keys = 0, restarted, flushes }) => {
    const before = keysAt.get(address) ?? 0
    const at = seconds(elapsed())
    if (restarted)
      return `${address} restarted (seen after ${at}) and has ${count(keys)} keys; it had ${count(before)}`
    if (flushes)
      return `the keys of ${address} were removed by FLUSHALL or FLUSHDB (seen after ${at}); it had ${count(before)}`
    const was = masterOf.get(shard)
    if (!was || was.address === address) return null
    if (was.keys - was.removed - keys <= Math.max(leastKeys, was.keys / 2)) return null
    return `${address} became the master of its shard (seen after ${at}) with ${count(keys)} keys; ${was.address} had ${count(was.keys)}`
  }

  /** Reports incidents of masters that serve slots a moment later: one that leaves may be emptied. @param {Topology} now */
  const confirm = ({ masters }, /** @type {(suspicion: Suspicion) => boolean} */ isDue) => {
    const open = suspicions
    suspicions = []
    for (const suspicion of open) {
      if (!masters.includes(suspicion.address)) continue
      if (isDue(suspicion)) onLoss({ text: suspicion.text, certain: true })
      else suspicions.push(suspicion)
    }
  }

  return {
    /** Call before a sample: what was acknowledged until then is in its answers. */
    asking: sum.asking,
    /** @param {NodeRow[]} rows of one sample */
    check(rows) {
      const now = target.topology
      const serving = servingIn(rows, now)
      const answered = new Set(serving.map(({ address }) => address))
      const isReplica = (/** @type {NodeRow} */ { role, keys }) => role === 'replica' && keys !== undefined
      const replicas = new Set(rows.filter(isReplica).map(({ address }) => address))
      suspicions = suspicions.filter(({ address }) => !replicas.has(address))
      confirm(now, ({ address }) => answered.has(address))
      // A promoted replica is a master by its own word before the topology names it.
      for (const { address, shard, role, expired, evicted } of rows) {
        const was = masterOf.get(shard)
        if (was && role === 'master' && address !== was.address)
          was.removed += (expired ?? 0) + (evicted ?? 0)
      }
      const found = serving.flatMap((row) => {
        const text = incidentIn(row)
        return text === null ? [] : [{ address: row.address, text }]
      })
      suspicions.push(...found)
      if (!removesKeys) sum.check(rows, serving, now, found.length > 0)
      for (const { address, keys } of rows) if (keys !== undefined) keysAt.set(address, keys)
      for (const { address, shard, keys = 0 } of serving) masterOf.set(shard, { address, keys, removed: 0 })
    },
    /** The run is over: reports what is still open. */
    end: () => confirm(target.topology, () => true),
  }
}

/**
 * Compares the number of keys of all masters with the expected one: it decreases only by keys that expired or were
 * evicted, wherever they move, and increases by keys that the load creates.
 * @param {{ elapsed: () => number, created: () => number, onLoss: (loss: Loss) => void }} needs
 */
const keySum = ({ elapsed, created, onLoss }) => {
  /** @type {Topology | null} */
  let before = null
  let settledFromMs = Number.NEGATIVE_INFINITY
  /** @type {number | null} expected number of keys */
  let expected = null
  let keysBefore = 0
  let low = 0
  let lowFromMs = 0
  /** @type {number | null} lower limit of it, without the keys created since; null: keys may be overwritten */
  let least = null
  let made = 0 // keys created when the servers were asked

  /** @param {number} keys */
  const beginAnew = (keys) => {
    least = expected === null && keys < leastKeys ? keys : null
    expected = keys
    low = 0
  }
  const leave = (/** @type {number} */ keys) => {
    if (expected !== null) expected -= keys
    if (least !== null) least -= keys
  }

  return {
    asking() {
      made = created()
    },
    /** @param {NodeRow[]} rows @param {NodeRow[]} serving @param {Topology} now @param {boolean} hasIncident */
    check(rows, serving, now, hasIncident) {
      const nowMs = elapsed()
      const isChanged = before !== null && !isSame(before, now)
      before = now
      if (isChanged) settledFromMs = nowMs + settlingMs
      if (expected !== null)
        for (const { role, expired, evicted } of rows)
          if (role === 'master') leave((expired ?? 0) + (evicted ?? 0))
      if (serving.length < now.masters.length) return
      // Keys that are still being read from disk are not lost.
      if (!hasIncident && serving.some(({ loading }) => loading)) return
      const keys = serving.reduce((sum, { keys: some = 0 }) => sum + some, 0)
      if (expected === null) keysBefore = keys
      // After a first answer, and after counters were reset, the number of expired keys is unknown.
      const isKnown = serving.every(({ expired, evicted }) => expired != null && evicted != null)
      if (expected === null || hasIncident || !isKnown) return beginAnew(keys)
      const isSettling = nowMs < settledFromMs
      if (!isSettling && settledFromMs > 0) {
        settledFromMs = Number.NEGATIVE_INFINITY
        if (keys >= expected * settlingShare) return beginAnew(keys)
      }
      if (least !== null) expected = Math.max(expected, least + made)
      const gone = expected - keys
      if (gone <= Math.max(leastKeys, expected * (isSettling ? settlingShare : lostShare))) {
        expected = Math.max(expected, keys)
        low = 0
        return
      }
      if (low++ === 0) lowFromMs = nowMs
      if (low < samplesInARow) return
      onLoss({
        text: `${count(gone)} of ${count(expected)} keys of the masters are gone (seen after ${seconds(lowFromMs)}) that neither expired nor were evicted`,
        certain: gone > keysBefore,
      })
      beginAnew(keys)
    },
  }
}

/**
 * Plays a run from set-up to result; then everything it opened is closed in reverse order, even if it fails.
 * @template Beginning, Result
 * @param {Pick<FrameNeeds, 'stop'> & { conductor?: Conductor, fleet?: Member | null }} needs
 * @param {(undo: Undo) => Promise<{ frame: Frame } & Phases<Beginning, Result, Conducted>>} setUp
 */
export const played = ({ stop, conductor, fleet = null }, setUp) =>
  withUndo(async (undo) => {
    const { frame, ...phases } = await unlessInterrupted(stop, setUp(undo))
    const beginning = await phases.begin()
    const conducted = phases.conducted && conductor?.conduct(phases.conducted, fleet)
    // The error goes to the caller that waits for the end of the run before it is thrown here.
    conducted?.catch(() => {})
    const whole = await frame.untilSettled(phases.over)
    await conducted
    await phases.drained?.(whole)
    frame.endLoad()
    await phases.lastSecond?.()
    await frame.endSeconds()
    return phases.result(beginning, { whole, interrupted: stop.aborted })
  })

// A server's error line may be long.
const longestEvent = 300

/**
 * The events of a run, each with its time.
 * @param {object} needs
 * @param {() => number} needs.elapsed
 * @param {(line: object) => void} needs.write
 * @param {(kind: string, text: string) => void} needs.tell the screen
 */
export const journalOf = ({ elapsed, write, tell }) => {
  /** @type {{ at_ms: number, kind: string, text: string }[]} */
  const events = []
  const note = (/** @type {string} */ kind, /** @type {string} */ text) => {
    const entry = { at_ms: Math.round(elapsed()), kind, text: text.slice(0, longestEvent) }
    events.push(entry)
    write({ epoch_ms: Date.now(), ...entry })
  }
  return {
    events,
    note,
    /** Notes an event and shows it on the screen. @param {string} kind @param {string} text */
    event(kind, text) {
      note(kind, text)
      tell(kind, text.slice(0, longestEvent))
    },
  }
}

/** Takes errors of seconds; the first one is a warning. @param {NonNullable<FrameNeeds['warn']>} warn */
const lossOf = (warn) => {
  let isKnown = false
  return (/** @type {Error} */ { message }) => {
    if (isKnown) return
    isKnown = true
    const text = `seconds of the run are not in its figures (${plainText(message)})`
    warn({ code: 'seconds', message: text, invalidates: true })
  }
}

/**
 * Each second also looks for jumps of the servers' clocks.
 * @param {Seconds & { time: Pick<RunClock, 'check'> }} of
 * @param {(kind: string, text: string) => void} note
 * @param {NonNullable<FrameNeeds['warn']>} warn
 */
const clockedSeconds = ({ time, ask, ...of }, note, warn) =>
  everySecond({
    ...of,
    onFailed: lossOf(warn),
    async ask(atMs) {
      const [answers, jumps] = await Promise.all([ask?.(atMs), time.check(atMs)])
      for (const text of jumps) note('clock', text)
      return answers
    },
  })

/**
 * @param {FrameNeeds} needs
 * @param {Undo} undo
 * @param {object} [kind] what the load does to keys
 * @param {boolean} [kind.removesKeys] the load removes keys itself
 * @param {() => number} [kind.created] keys that it has created so far
 * @param {() => number} [kind.carried] items that were stored so far
 * @param {() => Record<string, number> | undefined} [kind.seen] replies so far, by their meaning
 */
export const frameOf = (needs, undo, { removesKeys, created, ...counted } = {}) => {
  const { target, results, onEvent, warn = () => {}, guard = () => null, stop, stopNow } = needs
  /** @type {Playing | null} */
  let load = null
  let hasEnded = false
  let isOver = false
  /** @type {Awaited<ReturnType<typeof instrumentsOf>> | null} */
  let running = null
  /** @type {ReturnType<typeof everySecond> | null} */
  let seconds = null

  const clock = () => performance.now()
  const elapsed = () => load?.elapsed() ?? 0
  const journal = journalOf({ elapsed, write: results.event, tell: onEvent })
  /** Ends the run before its time. @param {string} code @param {string} message @param {string} [text] of the event */
  const end = (code, message, text = message) => {
    journal.note(code, text)
    warn({ code, message, invalidates: true })
    hasEnded = true
    load?.stop()
  }
  target.confirmed.endWith((reason) => end('unconfirmed', `the run was ended: ${reason}`, reason))

  const data = dataLossOf({ target, removesKeys, created, elapsed, note: journal.note, warn })
  const sampler = samplerOf(
    target,
    {
      elapsed,
      nodes: () => {
        data.asking()
        return target.reporting()
      },
      onRows(rows) {
        data.check(rows)
        const reason = isOver || hasEnded ? null : guard(rows)
        if (reason !== null) end('guard', `ended by --guard: ${reason}`, reason)
      },
    },
    counted,
  )
  const stopMeasuring = async () => {
    const measuring = running
    running = null
    if (measuring) await untilStopped(stopNow, measuring.stop(), undefined)
  }

  return {
    clock,
    elapsed,
    journal,
    sampler,
    end,
    hasEnded: () => hasEnded,
    /** @param {Playing} opened */
    hang(opened) {
      load = opened
    },
    /** Starts the instruments. @type {Measuring} */
    async measure(taker, more, measures) {
      const instruments = await instrumentsOf(taker, { clock, elapsed, sampler, ...more }, measures)
      undo(instruments.close)
      undo(stopMeasuring)
      running = instruments
      return instruments
    },
    /**
     * Begins the load and its seconds. The timer of the seconds is set first, as offering what is due may take a while.
     * @param {Omit<Seconds, 'instruments' | 'elapsed' | 'show'> & { time: Pick<RunClock, 'check'> }} of how its seconds are taken and shown
     * @param {() => void} start
     * @returns epoch milliseconds of the start
     */
    begin(of, start) {
      const instruments = certain(running)
      instruments.startRun()
      const startedEpochMs = Date.now()
      seconds = clockedSeconds({ ...of, instruments, elapsed, show: needs.show }, journal.note, warn)
      undo(seconds.cancel)
      seconds.start()
      start()
      return startedEpochMs
    },
    /** Waits until the load is over, by itself or by a signal, and what is under way has settled. @param {() => void} [onOver] */
    untilSettled(onOver = () => {}) {
      const playing = certain(load)
      // An end that was asked for before the load had begun.
      if (hasEnded) playing.stop()
      return untilSettled(playing, { stop, stopNow }, () => {
        isOver = true
        onOver()
      })
    },
    /** Reads what is known only once the load is over. */
    endLoad: () => running?.end(),
    async endSeconds() {
      await stopMeasuring()
      await seconds?.stop(stopNow)
      data.end()
    },
  }
}
