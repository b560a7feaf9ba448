// A box of a fleet as its run sees it: it joins, gets numbers, waits for the start, sends its seconds, leads when it is its
// turn, and gets the result of all at the end.
import { randomUUID } from 'node:crypto'
import { availableParallelism, hostname } from 'node:os'
import { InterruptedError, TargetError } from '../base/errors.js'
import { rangesText } from '../base/ranges.js'
import { period, plainText, several } from '../base/units.js'
import { disconnect } from '../servers/disconnect.js'
import { boxOf } from './box.js'
import { clockRefusal, fleetClock } from './clock.js'
import { controlOf, openControl } from './control.js'
import { decisionOf, liveNow } from './gather.js'
import { heartbeatOf } from './heartbeat.js'
import { lossesOf } from './status.js'
import { stoppingOf } from './stopping.js'
import { leadingOf } from './thread.js'

/**
 * @import { Redis } from 'ioredis'
 * @import { Warning } from '../measures/warnings.js'
 * @import { IntervalStore } from './box.js'
 * @import { Place, Control } from './control.js'
 * @import { Heartbeat } from './heartbeat.js'
 * @import { Interval } from './interval.js'
 * @import { Line } from '../measures/fold.js'
 * @import { BoxDescription } from './gather.js'
 *
 * @typedef {Awaited<ReturnType<typeof joinFleet>>} Member
 *
 * @typedef {object} Asked how a fleet gathers
 * @property {number} withinMs
 * @property {boolean} partial
 *
 * @typedef {object} SharedPlan what all boxes of a kind have in common
 * @property {string} digest
 * @property {string} text
 * @property {(theirs: string) => string} differing options
 *
 * @typedef {object} Needs
 * @property {Place} place
 * @property {string} run
 * @property {'producer' | 'consumer'} kind
 * @property {string} version of Millrace
 * @property {Asked} asked
 * @property {number} writers of readers: unknown before they join
 * @property {number} spacingMs of the ticks
 * @property {boolean} isEven ticks are due at even distances, on all boxes at the same moments
 * @property {SharedPlan} shared
 * @property {readonly { address: string, runId: string | null }[]} targets
 * @property {IntervalStore} store
 * @property {boolean} stagger
 * @property {(line: string) => void} say
 * @property {(warning: Warning) => void} warn
 * @property {AbortSignal} stop
 * @property {AbortSignal} stopNow nothing is waited for any more
 * @property {boolean} stopsAll the box that is stopped stops all
 */

/** @typedef {ReturnType<typeof sharedFactsOf>} Facts what the data of a run says besides, read again until it is there */

/**
 * Fields of the run's data that are the same on every box: whichever says one first, and again where it is lost.
 * @param {Pick<Control, 'set'>} control
 */
const sharedFactsOf = (control) => {
  /** @type {Record<string, string>} */
  const facts = {}
  let isOwed = false
  const tell = async () => {
    isOwed = true
    for (const [field, value] of Object.entries(facts)) await control.set(field, value)
    isOwed = false
  }
  return {
    add: (/** @type {Record<string, string>} */ more) => void Object.assign(facts, more),
    tell,
    /** Sends what an earlier try failed to send, or what a control server lost. @param {boolean} isLost */
    async again(isLost) {
      if (isLost || isOwed) await tell().catch(() => {})
    },
  }
}

/**
 * For a reader: the plan is that of the writers, and what it shares with the other readers is its own.
 * @param {Record<string, string>} fields of the run
 * @param {Needs} needs
 * @param {Control} control
 * @param {{ add: (more: Record<string, string>) => void }} facts
 */
const readingOfRun = async (fields, { run, shared }, control, facts) => {
  const { digest, plan } = fields
  const [theirs, ours] = [plan, shared.text].map((text) => String(JSON.parse(text).prefix))
  if (theirs !== ours)
    throw new TargetError(
      `--run ${run} writes under ${theirs ? `--prefix ${theirs}` : 'no prefix'} (here ${ours || 'none'}); read what it writes`,
      { code: 'RIVAL_PLAN' },
    )
  await control.set('readers', shared.text)
  const readers = await control.client.hget(control.keys.run, 'readers')
  if (readers !== null && readers !== shared.text)
    throw new TargetError(
      `--run ${run}: its readers read otherwise, with ${shared.differing(readers)}; type the same on every box that reads`,
      { code: 'RIVAL_PLAN' },
    )
  facts.add({ readers: shared.text })
  return { writers: Number(fields.writers), shared: { digest, text: plan, differing: shared.differing } }
}

// Before a run begins: a reader waits until there is one, everybody waits for the start, and the leader decides on it.

const everyMs = 100
const checkEveryMs = 500
// From the decision on every box has so long to hear of it.
const leadInMs = 1500

const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** @param {string} run */
const runEnded = (run) =>
  new TargetError(
    `--run ${run} has ended: its result is printed by millrace fleet report ${run}; take another --run for a new one`,
    { code: 'RUN_ENDED' },
  )

/**
 * What the writers of a run have said of it, waited for as long as they wait for each other.
 * @param {Control} control
 * @param {Pick<Needs, 'run' | 'asked' | 'say' | 'stop' | 'place'>} needs
 * @returns {Promise<Record<string, string>>}
 */
const begunRun = async (control, { run, asked, say, stop, place }) => {
  const waitsFrom = performance.now()
  let isSaid = false
  for (;;) {
    if (stop.aborted) throw new InterruptedError()
    const fields = await control.run()
    if (fields.state === 'done') throw runEnded(run)
    if (fields.data !== undefined) return fields
    if (performance.now() - waitsFrom > asked.withinMs)
      throw new TargetError(
        `--run ${run}: no writer has begun it on ${place.address} after ${period(asked.withinMs)} (--join-within); start the writers with the same --run and --control`,
        { code: 'FLEET_MISSING' },
      )
    if (!isSaid) say(`--run ${run}: waiting for its writers (--join-within ${period(asked.withinMs)})`)
    isSaid = true
    await sleep(checkEveryMs)
  }
}

/**
 * For a run that has not begun: the leader decides from what the boxes say.
 * @param {Pick<Needs, 'asked' | 'warn'>} needs
 * @param {{ control: Control, writers: number, live: readonly BoxDescription[], begunMs: number, nowMs: () => number }} known
 */
const decide = async ({ asked, warn }, { control, writers, live, begunMs, nowMs }) => {
  const decision = decisionOf({ live, writers, waitedMs: nowMs() - begunMs, ...asked })
  if ('refused' in decision) await control.set('refused', decision.refused)
  if (!('start' in decision)) return
  if (decision.missing.length > 0)
    warn({
      code: 'fleet-partial',
      message: `begun without writers ${rangesText(decision.missing)} (--partial)`,
      invalidates: false,
    })
  await control.start(Math.ceil(nowMs() + leadInMs))
}

/**
 * Waits until the run begins.
 * @param {Needs} needs
 * @param {object} box
 * @param {Control} box.control
 * @param {Heartbeat} box.heartbeat
 * @param {AbortSignal} box.signal ends the waiting
 * @param {number} box.writers
 * @param {number} box.begunMs
 * @param {() => number} box.nowMs by the control's clock
 * @param {() => Promise<readonly BoxDescription[]>} box.live
 * @param {() => Promise<void>} box.onLead before the first decision
 * @returns {Promise<number>} epoch by the control's clock
 */
const startOfRun = async ({ run, kind, asked, say, warn }, { heartbeat, signal, live, onLead, ...known }) => {
  const { writers } = known
  const who = kind === 'producer' ? 'all of ' : ''
  let isSaid = false
  let isKnown = false
  for (;;) {
    if (signal.aborted) throw new InterruptedError()
    const { refused, startMs = null } = heartbeat.answer() ?? {}
    if (refused) throw new TargetError(`--run ${run}: ${refused}`, { code: 'FLEET_MISSING' })
    if (startMs !== null) return startMs
    await heartbeat.beat()
    const { startMs: decided = null, stop = '' } = heartbeat.answer() ?? {}
    if (heartbeat.leads() && decided === null && stop === '') {
      if (!isKnown) await onLead()
      isKnown = true
      await live()
        .then((descriptions) => decide({ asked, warn }, { ...known, live: descriptions }))
        .catch(() => {})
    }
    if (!isSaid)
      say(
        `--run ${run}: ready, waiting for ${who}${several(writers, 'writer')} (--join-within ${period(asked.withinMs)})`,
      )
    isSaid = true
    await sleep(everyMs)
  }
}

/**
 * What a box says of itself, to all that look at the run.
 * @param {{ kind: 'producer' | 'consumer', version: string }} about version of Millrace
 * @param {string} id
 * @param {{ offsetMs: () => number, uncertaintyMs: () => number }} clock
 */
const descriptionOf = ({ kind, version }, id, clock) => {
  /** @type {readonly number[]} */
  let agents = []
  let ready = false
  let shown = { offset_ms: 0, uncertainty_ms: 0 }
  return {
    measured() {
      const [offset, uncertainty] = [clock.offsetMs(), clock.uncertaintyMs()]
      shown = { offset_ms: Number(offset.toFixed(3)), uncertainty_ms: Number(uncertainty.toFixed(3)) }
    },
    /** @param {readonly number[]} numbers */
    named(numbers) {
      agents = numbers
    },
    ready() {
      ready = true
    },
    agents: () => agents,
    text: () =>
      JSON.stringify({
        id,
        kind,
        agents,
        host: hostname(),
        pid: process.pid,
        version,
        cores: availableParallelism(),
        ...shown,
        ready,
      }),
  }
}

/** Intervals in order. @param {ReturnType<typeof boxOf>} box @param {Heartbeat} heartbeat */
const secondsOf = (box, heartbeat) => {
  let seq = 0
  return (/** @type {object} */ second) => {
    seq++
    box.append(JSON.stringify({ v: 1, box: box.id, seq, ...second }))
    heartbeat.beat()
    return seq
  }
}

/** @param {Needs} needs @param {ReturnType<typeof boxOf>} box @param {SharedPlan} shared */
const join = async ({ run, kind }, box, shared) => {
  const joined = await box.join()
  if (joined.state === 'done') throw runEnded(run)
  if (joined.state !== 'other') return joined
  const why =
    kind === 'producer'
      ? `the boxes of this run write another plan, with ${shared.differing(joined.plan)}`
      : 'its writers began another plan just now'
  throw new TargetError(`--run ${run}: ${why}; type the same on every box, or take another --run`, {
    code: 'RIVAL_PLAN',
  })
}

// Each machine has its own server there.
const isLoopback = (/** @type {string} */ address) => /^(localhost|127\.|\[?::1\]?:)/.test(address)

/**
 * The servers of two boxes are the same where a run id is, or an address; where neither is known, they may be.
 * @param {Needs['targets']} ours
 * @param {string | null} text of theirs, as JSON
 * @param {string} run
 */
const checkServers = (ours, text, run) => {
  /** @type {Needs['targets']} */
  const theirs = text === null ? [] : parsedList(text)
  const known = [ours, theirs].map((list) => list.filter(({ runId }) => typeof runId === 'string'))
  if (known.some((list) => list.length === 0)) return
  const names = theirs.flatMap(({ address, runId }) => (isLoopback(address) ? [runId] : [address, runId]))
  if (ours.some(({ address, runId }) => names.includes(address) || names.includes(runId))) return
  throw new TargetError(
    `--run ${run} writes to ${plainText(theirs[0].address)}, and this box to ${ours[0].address}, which is another server; take another --run`,
    { code: 'RIVAL_TARGET' },
  )
}

/** @param {string} text */
const parsedList = (text) => {
  try {
    const found = JSON.parse(text)
    return Array.isArray(found) ? found.filter((one) => typeof one?.address === 'string') : []
  } catch {
    return []
  }
}

/** A box put together: nothing of it is known to the others yet. @param {Needs} needs @param {Redis} client */
const boxFor = async (needs, client) => {
  const { place, run, kind, say, warn } = needs
  const control = controlOf(client, run)
  const clock = fleetClock({ time: control.time, clock: () => performance.now() })
  const id = randomUUID()
  const description = descriptionOf(needs, id, clock)
  await clock.first()
  description.measured()
  const refusal = kind === 'producer' ? clockRefusal(clock.uncertaintyMs(), needs.spacingMs) : null
  if (refusal) throw new TargetError(`--run ${run}: ${refusal}`, { code: 'CLOCK' })

  const facts = sharedFactsOf(control)
  const { shared, writers } =
    kind === 'producer' ? needs : await readingOfRun(await begunRun(control, needs), needs, control, facts)
  const joining = { data: randomUUID(), digest: shared.digest, plan: shared.text, writers }
  const mayLead = kind === 'producer'
  const box = boxOf({ control, id, joining, description: description.text, mayLead, store: needs.store })
  const leading = leadingOf({ place, run, id, data: box.data, warn })
  const staggerMs = () => (needs.stagger ? ((description.agents()[0] - 1) / writers) * needs.spacingMs : 0)
  const ticks = () => ({ spacingMs: needs.isEven ? needs.spacingMs : 0, staggerMs: staggerMs() })
  const stopping = stoppingOf({ control, nowMs: clock.now, ticks, say })
  const measureClock = () => clock.again().then(description.measured)
  const onBack = (/** @type {number} */ silentMs) =>
    say(`the control ${place.address} answers again after ${period(Math.round(silentMs / 1000) * 1000)}`)
  const heartbeat = heartbeatOf({ box, leading, facts, stopping, measureClock, onBack })
  return {
    control,
    clock,
    id,
    description,
    facts,
    shared,
    writers,
    box,
    leading,
    staggerMs,
    stopping,
    heartbeat,
  }
}

/** @typedef {Awaited<ReturnType<typeof boxFor>>} Parts */

/**
 * Ends the load of this box: a stop of all, or, but for --all, an interrupt of its own; at once by a second one.
 * @param {Needs} needs
 * @param {Parts} parts
 */
const signalOf = ({ stop, stopNow, stopsAll }, { stopping, heartbeat }) => {
  if (!stopsAll) return AbortSignal.any([stop, stopNow, stopping.signal])
  const stopAll = async () => {
    await stopping.all(hostname())
    // A beat that is under way does not know it yet.
    for (let i = 0; i < 2; i++) await heartbeat.beat()
  }
  if (stop.aborted) stopAll()
  else stop.addEventListener('abort', stopAll, { once: true })
  return AbortSignal.any([stopNow, stopping.signal])
}

/**
 * Waits until the run begins.
 * @param {Needs} needs
 * @param {Parts} parts
 * @param {{ begunMs: number, signal: AbortSignal, measured: () => Promise<Record<string, string>> }} joined known: what the leader has
 *   measured before the first write
 * @returns {Promise<number>} epoch by the control's clock
 */
const begun = async (needs, { control, heartbeat, writers, clock, facts, description, leading }, joined) => {
  const { begunMs, signal, measured } = joined
  const live = async () => (await liveNow(control, writers)).live
  description.ready()
  const startMs = await startOfRun(needs, {
    control,
    heartbeat,
    signal,
    writers,
    begunMs,
    nowMs: clock.now,
    live,
    onLead: async () => {
      facts.add(await measured())
      await facts.tell()
    },
  })
  leading.begin((await live().catch(() => [])).length)
  await leading.follow(heartbeat.leads()).catch(() => {})
  return startMs
}

/** @param {Needs} needs @param {Redis} client */
const memberOf = async (needs, client) => {
  const { place, run } = needs
  const parts = await boxFor(needs, client)
  const { control, clock, id, description, facts, shared, writers } = parts
  const { box, leading, staggerMs, stopping, heartbeat } = parts
  checkServers(needs.targets, await control.servers(), run)
  const { begunMs } = await join(needs, box, shared)
  await control.set('servers', JSON.stringify(needs.targets))
  checkServers(needs.targets, await control.servers(), run)
  // A run must be there before all of it can be stopped.
  const signal = signalOf(needs, parts)
  await heartbeat.beat()
  const isLate = heartbeat.answer()?.startMs != null
  const losses = lossesOf({ control, run, writers, say: needs.say })

  return {
    id,
    run,
    place,
    control,
    clock,
    leads: heartbeat.leads,
    /** The plan of all writers, as JSON. */
    plan: shared.text,
    /** Where its numbers are leased. */
    leasing: { group: { prefix: control.keys.head }, token: id, place },
    signal,
    /** All boxes were stopped. */
    isStopped: () => stopping.signal.aborted,
    /** When all boxes stop, by our monotonic clock, as far as is known. */
    stopsAtMs: () => clock.clockAt(stopping.atMs()),
    /** @param {readonly number[]} numbers leased */
    async named(numbers) {
      description.named(numbers)
      await heartbeat.beat()
      heartbeat.start()
    },
    live: () => liveNow(control, writers),
    /** What the result says of the run, the same on every box. @param {Record<string, object>} about */
    describe: (about) =>
      facts.add(
        Object.fromEntries(Object.entries(about).map(([field, data]) => [field, JSON.stringify(data)])),
      ),
    /** Says so at once; where the control is away, later. */
    tell: () => facts.tell().catch(() => {}),
    /** @param {() => Promise<Record<string, string>>} [measured] what the leader has measured before the first write */
    async ready(measured = async () => ({})) {
      const startMs = await begun(needs, parts, { begunMs, signal, measured })
      losses.begin()
      return { startMs, atMs: clock.clockAt(startMs) + staggerMs(), isLate }
    },
    /** @param {Omit<Interval, 'v' | 'box' | 'seq'>} second */
    second: secondsOf(box, heartbeat),
    /** The last word of this box. @param {object} end */
    end(/** @type {object} */ end) {
      losses.end()
      return box.end(JSON.stringify(end))
    },
    beat: heartbeat.beat,
    isDone: box.isDone,
    answer: heartbeat.answer,
    silentMs: heartbeat.silentMs,
    ending: heartbeat.ending,
    isHeadless: heartbeat.isHeadless,
    /** Folding ends here, and goes on where it is needed. */
    endThread: leading.end,
    async close() {
      losses.end()
      heartbeat.stop()
      stopping.close()
      await leading.end()
      if (heartbeat.leads()) await client.del(control.keys.leader).catch(() => {})
      disconnect(client)
    },
  }
}

/** @param {Needs} needs */
export const joinFleet = async (needs) => {
  const client = await openControl(needs.place, needs)
  try {
    return await memberOf(needs, client)
  } catch (error) {
    disconnect(client)
    throw error
  }
}
