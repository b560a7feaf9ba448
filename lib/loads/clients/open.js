// The parts of clients: the flow over the target and what it draws. They have the same interface as a writer in ticks with
// its driver, so that the same instruments work for both.
import { settleLimitMs } from '../../base/settlement.js'
import { alarm, deferred, machineWith } from '../../base/timers.js'
import { certain, keysOf } from '../../base/typed.js'
import { cache } from '../../measures/cache.js'
import { reconnects } from '../../measures/reconnects.js'
import { staleReads } from '../../measures/stale.js'
import { scheduleOfCourse } from '../../plan/course.js'
import { dataBytesIn } from '../../probes/baseline.js'
import { measurableGrowth } from '../../probes/memory-cost.js'
import { operationsIn } from '../../probes/operations.js'
import { staleOf } from '../../probes/stale.js'
import { ownerOf } from '../../servers/topology.js'
import { scheduleOf } from '../../traffic/arrivals.js'
import { eachOnce } from '../../traffic/items.js'
import { picksOf } from '../../traffic/operations.js'
import { durableOf } from '../../transport/durable.js'
import { noTally } from '../../wire/decode.js'
import { parseInfo } from '../../wire/info.js'
import { noRoom, queueProducerOf } from '../jobs/producer.js'
import { drawsOfPart, scheduleOfPart, seedOfPart } from '../parts.js'
import { cacheOperationsOf, phases } from './cache.js'
import { clientsFlow } from './flow.js'
import { queryChecksOf, updating } from './query-checks.js'

/**
 * @import { Course } from '../../plan/course.js'
 * @import { Plan } from '../plan.js'
 * @import { Tally } from '../../wire/decode.js'
 * @import { Pass, PassResult } from '../../workloads/declare.js'
 * @import { strategyOf } from '../../workloads/bound-strategy.js'
 * @import { Router } from '../../transport/router.js'
 * @import { FlowNeeds } from './flow.js'
 * @import { WriterRun } from '../ticks/open.js'
 * @import { Target } from '../../servers/open.js'
 *
 * @typedef {ReturnType<typeof strategyOf>} Strategy
 * @typedef {NonNullable<Plan['clients']>} Clients
 */

// Passes of clients over all numbers, one after the other: what each counted, how long it took, and what it cost the
// servers. A pass begins when the one before it is settled.

const passLimitMs = 10_000
const sampled = 100

/** CPU seconds of all masters; null: one did not answer. @param {Target} target */
const cpuSecondsOf = async ({ topology: { masters }, info }) => {
  const each = await Promise.all(
    masters.map(async (address) => {
      const { fields } = parseInfo(await info(address))
      return Number(fields.used_cpu_sys) + Number(fields.used_cpu_user)
    }),
  )
  const sum = each.reduce((a, b) => a + b, 0)
  return Number.isFinite(sum) ? sum : null
}

/** @param {number | null} to @param {number | null} from */
const grown = (to, from) => (to === null || from === null ? null : to - from)

/** @param {Tally} to @param {Tally} from @returns {Tally} */
const risen = (to, from) => ({
  bulk: to.bulk - from.bulk,
  nil: to.nil - from.nil,
  zero: to.zero - from.zero,
  one: to.one - from.one,
})

/**
 * How the keys of a sample of numbers are encoded, by OBJECT ENCODING.
 * @param {Target} target
 * @param {{ keyBytes: (n: number) => Buffer, numbers: number }} keys
 * @returns {Promise<Record<string, number>>}
 */
const encodingsOf = async (target, { keyBytes, numbers }) => {
  const count = Math.min(sampled, numbers)
  const names = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const key = keyBytes(1 + Math.floor((i * numbers) / count))
      const reply = target.control(ownerOf(target.topology, key)).call('OBJECT', 'ENCODING', key)
      return String(await reply.catch(() => 'unknown'))
    }),
  )
  /** @type {Record<string, number>} */
  const found = {}
  for (const name of names) found[name] = (found[name] ?? 0) + 1
  return found
}

/**
 * @typedef {object} PlayingPasses
 * @property {Pick<Awaited<ReturnType<typeof clientsFlow>>, 'settle' | 'lastSettledMs' | 'elapsed'>} flow
 * @property {(pass: Pass, isFirst: boolean) => Promise<unknown>} play resolves when all of it is offered
 * @property {Tally} tally
 */

/**
 * @param {WriterRun} run
 * @param {PlayingPasses} playing
 * @param {number | null} dataBytes of the masters before anything was prepared; null: nothing was
 * @param {() => boolean} isStopped
 * @returns {Promise<PassResult[]>}
 */
const playPasses = async ({ strategy, target, records }, { flow, play, tally }, dataBytes, isStopped) => {
  const never = new AbortController().signal
  const sample = async () => {
    const [cpuS, bytes] = await Promise.all([cpuSecondsOf(target), dataBytesIn(target)])
    return { cpuS, bytes, replies: { ...tally }, acked: records.ledger.whole.acked }
  }
  /** @type {PassResult[]} */
  const results = []
  let before = await sample()
  before.bytes = dataBytes ?? before.bytes
  for (const [i, pass] of certain(strategy.declared.passes).order.entries()) {
    const fromMs = flow.elapsed()
    await play(pass, i === 0)
    await flow.settle(passLimitMs, never)
    const durationS = (flow.lastSettledMs() - fromMs) / 1000
    const after = await sample()
    const operations = after.acked - before.acked
    const cpuS = grown(after.cpuS, before.cpuS)
    results.push({
      name: pass.name,
      operations,
      duration_s: durationS,
      rate: durationS > 0 ? operations / durationS : 0,
      server_cpu_us: cpuS === null || operations === 0 ? null : (cpuS * 1e6) / operations,
      memory_bytes: measurableGrowth(target, grown(after.bytes, before.bytes)),
      counts: named(strategy.replyNamesOf(pass.play), risen(after.replies, before.replies)),
    })
    before = after
    if (isStopped()) break
  }
  return results
}

/** Numbers of replies by their meaning. @param {Partial<Record<keyof Tally, string>>} names @param {Tally} tally @returns {Record<string, number>} */
const named = (names, tally) => Object.fromEntries(keysOf(names).map((reply) => [names[reply], tally[reply]]))

/** @param {Strategy} strategy @param {Clients} clients */
const weightsOf = ({ declared: { play, passes } }, { ratio }) =>
  play.operations.length === 1 || passes ? [1] : ratio.filter((weight) => weight > 0)

// Blocking operations may take minutes.
const answerLimitMs = 300_000

/** Draws what the next operation of a client is about. @param {Plan} plan @param {ReturnType<typeof queryChecksOf>} asked */
const drawOf = (plan, asked) => {
  const { requests } = certain(plan.clients)
  if (plan.flow === 'passes') return eachOnce(plan.items)
  const draw = drawsOfPart(plan, { count: asked?.queries ?? plan.items, quantity: undefined })
  if (requests === null) return draw
  let left = requests
  return (/** @type {number} */ atMs, /** @type {number} */ client) => (left-- > 0 ? draw(atMs, client) : -1)
}

/** The schedule of operations; null: each begins as soon as there is room. @param {Plan} plan @param {Course | null} course */
export const scheduleAt = (plan, course) => {
  if (course) return scheduleOfPart(scheduleOfCourse(course), plan.part)
  const { nominalHz, box } = plan
  if (nominalHz === null) return null
  return scheduleOfPart(scheduleOf({ ...plan, rateHz: nominalHz * (box?.of ?? 1) }), plan.part ?? box)
}

/**
 * Ends a load at its time. What is due shortly before is still sent, even if the timer fires late or no client has room
 * then.
 * @param {Plan} plan
 * @param {Promise<unknown>} over resolves when the load has ended
 * @param {() => number} elapsed
 * @param {() => void} stop
 */
export const endInTime = ({ nominalHz, durationMs, maxBehindMs }, over, elapsed, stop) => {
  if (durationMs !== null)
    over.then(alarm(durationMs + (nominalHz === null ? 0 : maxBehindMs), elapsed, stop))
}

/**
 * What clients of a cache play; null: it is none.
 * @param {Pick<WriterRun, 'plan' | 'strategy' | 'instruments'>} run
 */
const cachingOf = ({ plan, strategy, instruments }) => {
  const { cache: of } = plan
  const { ratio } = certain(plan.clients)
  if (!of) return null
  const source = instruments.source(cache)
  if (!source) throw new TypeError('a cache without its measure')
  const { counts } = source
  const draw = drawOf(plan, null)
  let lastMs = 0
  const caching = {
    cache: of,
    counts,
    many: of.batch > 1 ? strategy.bundle('serveMany') : null,
    draw: (/** @type {number} */ client) => draw(lastMs, client),
  }
  const pick = picksOf([ratio[1], ratio[0]], seedOfPart(plan))
  return {
    operations: Object.keys(phases).map(strategy.operation),
    pick: () => (pick() === 0 ? phases.serve : phases.drop),
    draw: (/** @type {number} */ atMs, /** @type {number} */ client) => {
      lastMs = atMs
      return draw(atMs, client)
    },
    making: (/** @type {FlowNeeds} */ needs, /** @type {() => Router<any>} */ routing) =>
      cacheOperationsOf(needs, routing, caching),
  }
}

/**
 * @typedef {object} Watching what looks at operations besides the ledger; null: nothing does
 * @property {ReturnType<typeof queryChecksOf>} asked
 * @property {ReturnType<typeof updating>} updates
 * @property {ReturnType<typeof queueProducerOf> | null} account
 * @property {Tally} tally
 */

/** The clients' flow and what its operations are about. @param {WriterRun} run @param {Watching} watching @param {() => number} elapsed of it */
const flowOf = async (run, { asked, updates, account, tally }, elapsed) => {
  const { plan, strategy, target, records, instruments, clock } = run
  const { queue, reconnectHz, cluster, maxBehindMs } = plan
  const clients = certain(plan.clients)
  const compared = instruments.source(staleReads)?.counts
  if (plan.reads === 'nearest') await target.measureTrips()
  return clientsFlow({
    plan: {
      clients: clients.connections,
      pipeline: clients.pipeline,
      reconnectHz,
      cluster,
      maxBehindMs,
      timeoutMs: plan.querying?.queryTimeoutMs,
      waitsFor: queue?.waits ? noRoom : [],
      readFrom: plan.reads,
    },
    onDone: asked?.check ?? updates?.done,
    operations: strategy.clientOperations(),
    pick: strategy.picks() ?? picksOf(weightsOf(strategy, clients), seedOfPart(plan)),
    ...(account && {
      onAcked: account.acked,
      onRefused: (/** @type {string} */ cause) => {
        if (noRoom.includes(cause)) account.refused(elapsed())
      },
      epochOf: (/** @type {number} */ atMs) => run.time.now() + atMs - clock() + Number(queue?.delayMs),
    }),
    draw:
      account || strategy.declared.mix
        ? eachOnce(clients.requests ?? Number.MAX_SAFE_INTEGER)
        : drawOf(plan, asked),
    schedule: scheduleAt(plan, run.course ?? null),
    target,
    ledger: operationsIn(records),
    latency: records.latency,
    onSent: records.sent,
    onRenewed: instruments.source(reconnects)?.connected,
    ...cachingOf(run),
    tally,
    durable: durableOf(plan),
    stale: compared ? staleOf(compared) : null,
    machine: machineWith(clock),
    onEvent: run.onEvent,
  })
}

/** @param {WriterRun} run */
export const clientsWriting = async (run) => {
  const { plan, strategy, records } = run
  const tally = noTally()
  const { isMeasured } = operationsIn(records)
  const elapsed = () => flow.elapsed()
  const failedBy = () => records.ledger.failedBy
  const asked = queryChecksOf({ ...run, isMeasured })
  const updates = updating(run)
  const account = plan.queue === null ? null : queueProducerOf(run, elapsed, failedBy)
  const flow = await flowOf(run, { asked, updates, account, tally }, elapsed)
  const changing = asked
    ? await asked.changing(flow.oldestMs).catch((error) => {
        flow.close()
        throw error
      })
    : null
  const { operations } = strategy.declared.play
  /** @param {Pass} pass @param {boolean} isFirst */
  const playPass = ({ play: operation, beyond }, isFirst) => {
    if (isFirst) flow.start()
    const kind = operations.indexOf(operation)
    return isFirst ? flow.offered : flow.again(eachOnce(plan.items, beyond ? plan.items : 0), () => kind)
  }
  const passing = plan.flow === 'passes' ? passesOf(run, { flow, play: playPass, tally }) : null
  const counts = () =>
    passing?.counts() ?? run.instruments.source(cache)?.replies() ?? named(strategy.replyNames, tally)
  const offered = passing?.over ?? flow.offered
  const { lastSettledMs, abandon, waitingBytes } = flow
  const stop = () => {
    passing?.stop()
    flow.stop()
  }
  const watch = () => {
    flow.watch()
    changing?.watch()
  }
  const close = () => {
    flow.close()
    changing?.close()
  }
  /** @param {number} limitMs @param {AbortSignal} atOnce */
  const settle = async (limitMs, atOnce) => {
    const patientMs = asked && limitMs >= settleLimitMs ? answerLimitMs : limitMs
    const whole = await flow.settle(patientMs, atOnce)
    await changing?.stop(limitMs, atOnce)
    return whole
  }
  return {
    driver: { encodeMs: 0, encodedBytes: 0, watch, abandon, close, waitingBytes },
    writing: {
      elapsed,
      offered,
      settle,
      stop,
      lastSettledMs,
      measuredTicks: () => 0,
      ...(plan.box && { beginAt: flow.beginAt }),
      /** @param {number | null} unpreparedBytes of data on the masters before anything was prepared; null: nothing was */
      start(unpreparedBytes) {
        changing?.start()
        account?.start()
        if (passing) passing.start(unpreparedBytes)
        else flow.start()
        endInTime(plan, offered, elapsed, stop)
      },
    },
    /** Numbers of replies by their meaning. */
    counts,
    passes: () => passing?.results() ?? null,
    unplayed: () => passing?.unplayed() ?? [],
    reconnects: flow.reconnects,
    answers: () => ({
      ...(asked && { queries: asked.summary(plan.items, records.ledger.failedBy) }),
      ...(changing && { updates: changing.summary() }),
      ...(updates && { documents: updates.summary(records.ledger.whole) }),
    }),
    finish: async () => {
      await account?.end()
      await updates?.read()
      return null
    },
    queue: () => account?.figures() ?? null,
  }
}

/**
 * Plays the passes of a strategy one after the other.
 * @param {WriterRun} run
 * @param {PlayingPasses} playing
 */
export const passesOf = (run, playing) => {
  const { plan, strategy, target } = run
  const { order: passes } = certain(strategy.declared.passes)
  let stopped = false
  /** @type {Awaited<ReturnType<typeof playPasses>>} */
  let results = []
  /** @type {Record<string, number>} */
  let encodings = {}
  const { over, finish } = deferred()
  const all = async (/** @type {number | null} */ dataBytes) => {
    results = await playPasses(run, playing, dataBytes, () => stopped)
    encodings = await encodingsOf(target, { keyBytes: strategy.keyBytes, numbers: plan.items })
  }
  return {
    over,
    /** A pass cannot be measured without the servers' answers: the run then has fewer passes. */
    start: (/** @type {number | null} */ dataBytes) =>
      all(dataBytes)
        .catch((error) => run.onEvent('passes', `the passes ended: ${error.message}`))
        .finally(finish),
    stop: () => {
      stopped = true
    },
    results: () => ({ passes: results, encodings }),
    /** Passes that were not played. */
    unplayed: () => passes.slice(results.length).map(({ name }) => name),
    counts: () => {
      /** @type {Record<string, number>} */
      const sums = {}
      for (const { counts } of results)
        for (const [name, n] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + n
      return sums
    },
  }
}
