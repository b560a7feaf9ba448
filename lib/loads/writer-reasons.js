// Why a run of writers or clients may not be quoted: every reason by name and what to do about it.
import { asPercent, count, micros, percent, plainText, rate, several } from '../base/units.js'
import { clientLimit, clientStopped, contendedWords, isMachineFull } from '../measures/client-limit.js'
import { reading, SECTIONS } from '../measures/index.js'
import { busiestNode } from '../measures/nodes.js'
import { absentCode, absentReadersCode, interruptedNote, note, reasonsBy } from '../measures/warnings.js'
import { isRedirect } from '../transport/refusals.js'
import { ownWorkIn } from '../workloads/index.js'
import { adviceOf } from './advice.js'
import { reasons as readerReasons } from './fetches/index.js'
import { namesOfKind } from './names.js'
import { mastersOnly, othersWords } from './words.js'

/**
 * @import { Presence } from '../probes/presence.js'
 * @import { AgentItems, Items, NodeFigures, WriteRun } from '../result/document.js'
 * @import { Reasons } from '../measures/warnings.js'
 * @import { Evidence as FetchesEvidence } from './fetches/index.js'
 *
 * @typedef {Omit<WriteRun, 'commands' | 'items' | 'rate' | 'readers'> & InAccount} Evidence run.json without its judgement
 * @typedef {object} InAccount
 * @property {Items} items
 * @property {{ nominal: number | null, achieved: number | null }} rate
 * @property {Readers} [readers]
 * @property {{ service: { mean?: number | null } | null }} latency_us
 * @property {readonly (AgentItems & { absent?: number })[]} [agents]
 * @property {Presence | null} [writers]
 * @property {{ errors_by: Record<string, number>, repeated_by?: Record<string, number> }} commands
 * @typedef {(run: Evidence) => Reasons} Reason
 * @typedef {(run: Evidence) => string} Behind advice for a run that fell behind its rate; empty: none of its own
 */

// Why a fleet's run may be incomplete: boxes that were lost or late, clocks, and seconds that the control server lost.

/**
 * @typedef {Omit<NonNullable<WriteRun['readers']>, 'plan'> & Pick<FetchesEvidence, 'plan' | 'client' | 'fetches'>} Readers
 * @typedef {Pick<WriteRun, 'fleet' | 'items' | 'duration_s' | 'plan'> & { readers?: Readers }} Fleet
 * @typedef {{ box: number, host: string, writers?: readonly number[], readers?: readonly number[], intervals_lost: number, version?: string,
 *   state: string, from_s: number, to_s: number }} Box
 */

const shown = 3

/** @param {Box} box */
const nameOf = ({ box, host, writers, readers }) => {
  const who = writers ? 'writer' : 'reader'
  const numbers = writers ?? readers ?? []
  return `${writers ? '' : 'reader '}box ${box} (${host}, ${numbers.length === 1 ? who : `${who}s`} ${numbers.join(', ')})`
}

/** @param {readonly Box[]} boxes @param {(box: Box) => string} words */
const listed = (boxes, words) => {
  const more = boxes.length > shown ? ` and ${several(boxes.length - shown, 'other')}` : ''
  return `${boxes.slice(0, shown).map(words).join('; ')}${more}`
}

// Without a schedule no item says that a box came late or left: less than this is the start or the end of one.
const edgeS = 1.5

/** Boxes that did not write from the beginning to the end, in words. @param {Fleet} run @param {readonly Box[]} boxes @param {boolean} isDue a schedule says what all had to write */
const partsOfBoxes = ({ duration_s: durationS, plan }, boxes, isDue) => {
  const there = boxes.filter((box) => box.state !== 'lost')
  const lost = boxes.filter((box) => box.state === 'lost')
  const late = there.filter((box) => box.from_s > (isDue ? 0.5 : edgeS))
  const left = there.filter((box) => box.state === 'interrupted' && box.to_s < durationS - edgeS)
  const never = plan.totalAgents - new Set(boxes.flatMap((box) => box.writers ?? [])).size
  return [
    lost.length > 0 && listed(lost, (box) => `${nameOf(box)} was lost at ${box.to_s.toFixed(1)} s`),
    late.length > 0 && listed(late, (box) => `${nameOf(box)} joined at ${box.from_s.toFixed(1)} s`),
    left.length > 0 &&
      listed(left, (box) => `${nameOf(box)} was stopped by hand at ${box.to_s.toFixed(1)} s`),
    never > 0 && `${several(never, 'writer')} never came`,
  ].filter(Boolean)
}

/** @param {Fleet} run @returns {Reasons} */
const absentBoxes = (run) => {
  const { fleet, items, duration_s: durationS, plan } = run
  if (!fleet) return {}
  const isDue = plan.schedule !== 'none'
  const parts = partsOfBoxes(run, fleet.boxes, isDue)
  const { items: absent } = fleet.absent
  if (absent === 0 && (isDue ? fleet.boxes.every((box) => box.state !== 'lost') : parts.length === 0))
    return {}
  const who = parts.join('; ') || 'boxes were missing'
  if (!isDue && absent === 0)
    return {
      [absentCode]: `${who}: the rate is not that of all boxes, and no schedule says what is absent; repeat with all boxes`,
    }
  const absentPct = items.offered > 0 ? (absent / items.offered) * 100 : 0
  return {
    [absentCode]: `${who}: ${several(absent, 'item')} (${absentPct < 0.1 && absentPct > 0 ? 'under 0.1' : absentPct.toFixed(1)} %) of ${durationS.toFixed(1)} s are absent, and no other box wrote them; repeat with all boxes`,
  }
}

// A box's first second is taken for a whole one.
const mostOverlapS = 1

/** For how long two boxes had a number in common. @param {Box} one @param {Box} other */
const overlapS = (one, other) => {
  const [own, theirs] = [one, other].map(({ writers, readers }) => writers ?? readers ?? [])
  if (!own.some((number) => theirs.includes(number))) return 0
  return Math.min(one.to_s, other.to_s) - Math.max(one.from_s, other.from_s)
}

/**
 * A box that the control does not hear of for five seconds loses its number to one that waits for it, and does not know.
 * @param {Fleet} run
 * @returns {Reasons}
 */
const sharedNumbers = ({ fleet, readers }) => {
  const found = [fleet?.boxes ?? [], readers?.boxes ?? []].flatMap((/** @type {readonly Box[]} */ boxes) =>
    boxes.flatMap((one, at) =>
      boxes.slice(at + 1).flatMap((other) => {
        const bothS = overlapS(one, other)
        return bothS > mostOverlapS
          ? `${nameOf(one)} and ${nameOf(other)} had the same number for ${bothS.toFixed(1)} s`
          : []
      }),
    ),
  )
  return {
    'fleet-numbers':
      found.length > 0 &&
      `${found.slice(0, shown).join('; ')}: their part of the load was sent twice, as one of them did not reach the control; start no more boxes than -t, and repeat`,
  }
}

/** @param {Fleet} run @returns {Reasons} */
const lostIntervals = ({ fleet, readers }) => {
  const boxes = [...(fleet?.boxes ?? []), ...(readers?.boxes ?? [])].filter((box) => box.intervals_lost > 0)
  const lost = boxes.reduce((sum, box) => sum + box.intervals_lost, 0)
  return {
    'fleet-intervals':
      boxes.length > 0 &&
      `the control lost ${several(lost, 'interval')} of ${listed(boxes, nameOf)}: latencies leave those seconds out, while items are counted (${count(lost)} s); keep its data on disk (appendfsync always), and repeat`,
  }
}

/** @param {Fleet} run @returns {Reasons} */
const mixedVersions = ({ fleet, readers }) => {
  const boxes = [...(fleet?.boxes ?? []), ...(readers?.boxes ?? [])]
  const versions = [...new Set(boxes.map((/** @type {Box} */ { version }) => version))]
  return {
    'fleet-versions':
      versions.length > 1 &&
      note(`boxes run different versions of Millrace: ${versions.join(', ')}; install one on all`),
  }
}

/** @param {Readers} readers @returns {Reasons} */
const absentReaders = ({ boxes, plan }) => {
  const inState = (/** @type {string} */ state) => boxes.filter((box) => box.state === state)
  const late = boxes.filter((box) => box.from_s > 0.5)
  const [lost, left] = [inState('lost'), inState('interrupted')]
  const never = plan.totalAgents - plan.agents.length
  const reasons = [
    lost.length > 0 && listed(lost, (box) => `${nameOf(box)} was lost at ${box.to_s.toFixed(1)} s`),
    never > 0 && `${several(never, 'reader')} never came`,
  ].filter(Boolean)
  const remarks = [
    late.length > 0 && listed(late, (box) => `${nameOf(box)} began at ${box.from_s.toFixed(0)} s`),
    left.length > 0 &&
      listed(left, (box) => `${nameOf(box)} was stopped by hand at ${box.to_s.toFixed(0)} s`),
  ].filter(Boolean)
  return {
    [absentReadersCode]:
      reasons.length > 0 && `${reasons.join('; ')}: it read less than was asked; repeat with all boxes`,
    'readers-part': remarks.length > 0 && note(`${remarks.join('; ')}: reads cover that part of the run`),
  }
}

/** Readers are judged as those of one process; a run counts only if both its writers and its readers do. @param {Fleet} run @returns {Reasons} */
const fleetReaders = ({ readers, duration_s }) => {
  if (!readers) return {}
  const evidence = { ...readers, nodes: [], clocks: [], interrupted: false, duration_s }
  const own = readerReasons
    .flatMap((reason) => reason(evidence))
    .map(({ code, message, ...more }) => [`read-${code}`, { ...more, message: `readers: ${message}` }])
  return {
    ...absentReaders(readers),
    ...Object.fromEntries(own),
    'reads-included': note(
      `what an item costs the servers includes ${reading.did(readers)} of ${several(readers.consumers, 'consumer')}; a run without readers has the writes alone`,
    ),
  }
}

/** Refusals for a full queue or full memory. */
const noRoom = ['FULL', 'OOM']

/** @param {number} ms */
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`

const limits = Object.freeze({
  rateRatio: 0.99,
  engineCpuPct: 95,
  nearPct: 75,
  share: 0.95,
  fixedShare: 0.05,
  edgeShare: 0.05,
  unseenShare: 0.02,
})

/** @param {Evidence} run @returns {number} */
const refusedIn = ({ queue }) => queue?.refused ?? 0

/** @param {Record<string, number>} counts */
const sumOf = (counts) => Object.values(counts).reduce((sum, n) => sum + n, 0)

/** @param {Evidence} run */
const isScheduled = (run) => run.rate.nominal !== null && run.plan.pacing !== 'closed'

/** @param {Evidence} run */
const clientWasTheLimit = ({ client }) => clientLimit(client) !== null || Boolean(client.stopped_ms)

/** @param {Evidence} run */
const busiestPct = (run) => busiestNode(run, ['master'])?.engine_cpu_pct ?? 0

/** @param {Evidence} run */
const serverWasTheLimit = (run) => busiestPct(run) >= limits.engineCpuPct

/** @param {Evidence} run */
const wasRefused = ({ items, commands }) =>
  [items.failed_by, commands.errors_by, commands.repeated_by ?? {}].some((by) => Object.keys(by).length > 0)

/** @param {string} address */
const isLoopback = (address) => /^(127\.|localhost:|\[?::1\]?:)/.test(address)

/**
 * Advice for a writer that fell behind; a saturated client or server and refusals have their own.
 * @param {Evidence} run
 * @param {Behind} behind
 */
const behindAdvice = (run, behind) => {
  if (clientWasTheLimit(run) || serverWasTheLimit(run) || wasRefused(run)) return ''
  const { inBatches } = namesOfKind(run.plan)
  const isHere = run.nodes.length > 0 && run.nodes.every(({ address }) => isLoopback(address))
  // What follows from the plan holds on any machine.
  const advice = behind(run)
  if (advice) return `; ${advice}`
  if (isMachineFull(run.client))
    return `; all cores of this machine were busy (${percent(run.client.machine_busy_pct)}): ${isHere ? 'lower the rate, or take servers on another machine' : 'end what else runs here, or write from a machine with more cores'}`
  if (busiestPct(run) >= limits.nearPct)
    return `; the busiest master was at ${percent(busiestPct(run))} of a core: take more shards, or lower the rate`
  if (isHere)
    return `; neither a sending thread nor a master was at its limit, and they share the cores of this machine: lower the rate${inBatches ? `, or raise ${run.plan.windowCommands ? '--pipeline' : '--window'}` : ''}`
  return inBatches
    ? `; neither a sending thread nor a master was at its limit: look at the network, or ${run.plan.windowCommands ? 'raise --pipeline' : 'raise --window'}`
    : '; neither a sending thread, a connection nor a master was at its limit: look at the network'
}

/** @param {Behind} behind @returns {Reason} */
const lostItems = (behind) => (run) => {
  const { offered, uncertain, dropped, unsettled } = run.items
  // Refusals of a full queue are as they should be.
  const failed = run.items.failed - refusedIn(run)
  const ofItems = `of ${count(offered)} items`
  return {
    failed: failed !== 0 && `${count(failed)} ${ofItems} failed`,
    uncertain:
      uncertain !== 0 &&
      `${count(uncertain)} ${ofItems} are uncertain: their answers were lost, and their commands are not safe to retry; look at the connections, or take a strategy whose commands are`,
    dropped:
      dropped !== 0 &&
      `${count(dropped)} ${ofItems} were dropped: the writer was too far behind its schedule${behindAdvice(run, behind)}`,
    unsettled:
      unsettled !== 0 &&
      `${count(unsettled)} ${ofItems} had no answer when the run ended; lower the rate, or see which node stopped answering`,
  }
}

/** @type {Reason} */
const causes = ({ items, commands, queue }) => {
  const reasonFor = (/** @type {string} */ cause, /** @type {string} */ counted) => ({
    cause: plainText(cause),
    message: `${plainText(cause)} (${counted}): ${adviceOf(cause)}`,
  })
  return {
    cause: Object.entries(items.failed_by)
      .filter(([cause]) => !(queue && noRoom.includes(cause)))
      .map(([cause, n]) => reasonFor(cause, several(n, 'item'))),
    errors: Object.entries(commands.errors_by).map(([cause, n]) =>
      reasonFor(cause, `${several(n, 'command')} without items`),
    ),
  }
}

/**
 * The failover of a master that died, and the refusals of its slots until then. A master that only gave its slots away was
 * not disconnected.
 * @type {Reason}
 */
const failovers = ({ events = [], items }) => {
  if (items.acked === items.offered) return {}
  const ofKind = (/** @type {string} */ kind) => events.filter((one) => one.kind === kind)
  const newcomers = ofKind('new-master')
  const found = ofKind('master-gone').flatMap((gone) => {
    const [address] = gone.text.split(' ')
    const died = ofKind('disconnected').find(
      ({ text, at_ms: atMs }) => text.startsWith(`${address}: `) && atMs <= gone.at_ms,
    )
    if (!died) return []
    const at = newcomers.findIndex(({ at_ms: atMs }) => atMs >= died.at_ms)
    const [next] = at < 0 ? [] : newcomers.splice(at, 1)
    const after = next
      ? `${plainText(next.text.split(' ')[0])} took over after ${seconds(next.at_ms - died.at_ms)}`
      : 'no other master took over'
    return [`${plainText(address)} died at ${seconds(died.at_ms)}, ${after}`]
  })
  return { failover: found }
}

/**
 * Commands that were refused or lost and then succeeded took time, and show a problem of the servers. Where items were
 * late, they are the reason. A broken connection is the last to be named, since a refusal says why.
 * @type {Reason}
 */
const repeats = ({ items, commands }) => ({
  repeated: Object.entries(commands.repeated_by ?? {})
    .filter(
      // Redirects that were followed need no advice: the events name the slots that moved.
      ([cause]) => !isRedirect(cause) && !(cause in items.failed_by) && !(cause in commands.errors_by),
    )
    .toSorted(([a], [b]) => Number(a === 'CLOSED') - Number(b === 'CLOSED'))
    .map(([cause, n]) => ({
      cause: plainText(cause),
      message: `${plainText(cause)} (${several(n, 'time')}, tried again): ${adviceOf(cause)}`,
      invalidates: items.dropped + items.unsettled > 0,
    })),
})

// Of answers that come after the last arrival, without any queue.
const answersS = 0.05

/** Which part of the rate was served: all that arrived in so many seconds, in as many and the time until it was answered. @param {Evidence} run */
const servedOf = ({ plan, measured_s: measuredS, warm_up_s: warmUpS }) => {
  const plannedS = (plan.durationMs ?? plan.endMs ?? 0) / 1000 - (warmUpS ?? 0)
  return plannedS > 0 ? plannedS / Math.max(plannedS, (measuredS ?? 0) - answersS) : 1
}

/** @param {Behind} behind @returns {Reason} */
const rateSustained = (behind) => (run) => {
  const { nominal, achieved } = run.rate
  if ((!run.ticks.count && namesOfKind(run.plan).inBatches) || achieved === null)
    return {
      'no-rate':
        'no tick was measured, so there is no rate: run for longer than the warm-up and one --period (--duration, --warm-up)',
    }
  // Arrivals that are not even come more or less often in any part of the run: all that arrived was served, in its time.
  const isServed = run.plan.schedule === 'uneven' && run.items.acked === run.items.offered
  const served = isServed ? servedOf(run) : null
  if (served !== null && served >= limits.rateRatio) return {}
  // Items of absent boxes have their own reason.
  const due = (nominal ?? 0) * (1 - (run.fleet?.absent.share ?? 0))
  if (!nominal || !isScheduled(run) || (served === null && achieved >= due * limits.rateRatio)) return {}
  // All that the queue had room for was stored.
  if (refusedIn(run) > 0 && run.items.acked + refusedIn(run) === run.items.offered) return {}
  const did = namesOfKind(run.plan).inBatches
    ? `the servers stored ${rate(achieved)} items/s of the ${rate(nominal)} asked`
    : `${rate(achieved)} of ${rate(nominal)} items/s`
  return {
    rate: `only ${asPercent(served ?? achieved / nominal)} of the rate was achieved: ${did}${run.items.dropped > 0 ? '' : behindAdvice(run, behind)}`,
  }
}

/**
 * Why only a part of the plan's load was measured: writers that were not there.
 * @type {Reason}
 */
export const absentWriters = ({ writers, plan, fleet }) => {
  if (fleet || !writers || writers.absent_s === 0 || writers.fewest === null) return {}
  const { total, own, fewest, absent_s: absentS, measured_s: measuredS } = writers
  const unit = plan.periodMs === 1000 ? 'items/s' : 'items an interval'
  const mine = `this box writes ${count(plan.items)} of ${count(plan.quantity)} ${unit}`
  const who = `${count(fewest)} of ${several(total, 'writer')} ${fewest === 1 ? 'is' : 'are'} here`
  // A second or less may be the start or end of a box.
  const times =
    absentS < measuredS ? `in ${absentS.toFixed(1)} of ${measuredS.toFixed(1)} measured seconds only ` : ''
  const all = own === fewest ? 'add -a all to be all of them' : 'start the others'
  return { [absentCode]: `${times}${who}: ${mine}; ${all}` }
}

/** @type {Reason} */
const clientBusy = (run) => {
  const { busy_pct: busyPct } = run.client
  const limit = clientLimit(run.client)
  // The client's own work is part of what a run in bundles measures.
  const isLimit = limit !== null && !ownWorkIn(run.plan.strategy)
  const lighter = run.plan.driver === 'ioredis' ? ', or use --driver socket' : ''
  // Clients have no writers' numbers: a second run needs its own keys.
  const { isShared, inThreads } = namesOfKind(run.plan)
  const boxes = isShared
    ? 'add boxes: writers on another machine (-t, -a auto)'
    : 'start a second one on another machine, under a --prefix of its own'
  const more = inThreads ? `where cores are free, raise --threads; or ${boxes}` : boxes
  return {
    'client-unmeasured':
      busyPct === null && note('the sending thread was not measured, so it may have been the limit'),
    'client-contended':
      isLimit &&
      limit === 'contended' &&
      `the sending thread was ${contendedWords(run.client)}: other processes took the CPU; end them, or give this process a core of its own (taskset)`,
    'client-saturated':
      isLimit &&
      limit === 'saturated' &&
      `a sending thread was ${percent(busyPct)} busy, so the load generator was the limit; ${more}${lighter}`,
  }
}

/** @type {Reason} */
const serverBusy = (run) => {
  const master = busiestNode(run, ['master'])
  return {
    'server-saturated':
      master &&
      isScheduled(run) &&
      serverWasTheLimit(run) &&
      note(
        `the engine of ${plainText(master.address)} was at ${percent(master.engine_cpu_pct)} of a core: it tops out at about ${rate(run.rate.achieved)} items/s; lower the rate, add shards, or take a cheaper strategy`,
      ),
  }
}

/** Operations in flight in a closed loop of clients. @param {Evidence} run */
const inFlightOf = ({ plan, rate: { nominal } }) =>
  nominal === null && namesOfKind(plan).keepsInFlight
    ? Number(plan.clients?.connections) * Number(plan.clients?.pipeline)
    : 0

/** The share of the time in which a node has no numbers. @param {NodeFigures} node @param {number} measuredS */
const unseenOf = ({ gaps, sampled_s: sampledS }, measuredS) =>
  gaps && sampledS !== undefined && measuredS > 0 ? 1 - sampledS / measuredS : 0

/** @param {Evidence['server']} server */
const unknownPart = (server) => {
  if (typeof server.cpu_us_per_item_net === 'number')
    return 'their part is left out of what an item cost, within its ±; what replication costs replicas is taken from what their masters used'
  const onMasters = mastersOnly(server)
  return onMasters === null
    ? "their part of the servers' CPU and network is not known, and is in what an item cost"
    : `how much of the replicas' CPU is replication is not known: without it an item cost ${micros(onMasters)}, on the masters`
}

/** @type {Reason} */
const observations = (run) => {
  const { server, nodes } = run
  const edge = run.items.acked > 0 ? inFlightOf(run) / run.items.acked : 0
  const evicted = server.evicted ?? 0
  const gaps = nodes.reduce((sum, node) => sum + (node.gaps ?? 0), 0)
  const looping = nodes.filter((node) => node.cpu_upper_bound).map((node) => plainText(node.address))
  const blind = nodes.filter((node) => node.gaps).map((node) => plainText(node.address))
  const unseen = Math.max(0, ...nodes.map((node) => unseenOf(node, run.measured_s ?? 0)))
  const others = server.foreign_calls
  const isOfConsumers = others?.by === 'consumers'
  return {
    evictions:
      evicted > 0 &&
      !run.plan.cache &&
      // A --guard that allows evictions only lets the run continue.
      `${several(evicted, 'key')} evicted to make room, perhaps of other applications: the costs are those of a data set that does not fit; raise maxmemory, shorten lifetimes or write less`,
    share:
      typeof server.share === 'number' &&
      server.share < limits.share &&
      note(
        `this process wrote ${asPercent(server.share)} of what the servers stored; their CPU, memory and network per item are those of all writers together`,
      ),
    // Readers of the run have a note of their own.
    [isOfConsumers ? 'consumers' : 'foreign-load']:
      others && !(run.readers && isOfConsumers) && note(`${othersWords(run)}; ${unknownPart(server)}`),
    'idle-cost':
      typeof server.cpu_us_per_item_net === 'number' &&
      (server.fixed_cpu_share ?? 0) > limits.fixedShare &&
      note(
        `${percent(Number(server.fixed_cpu_share) * 100)} of server CPU is idle overhead (background work, replication, our PINGs and INFO): an item cost ${micros(server.cpu_us_per_item_net)} ± ${micros(server.cpu_us_per_item_net_uncertainty)} idle excluded, ${micros(server.cpu_us_per_item)} idle included; a higher rate makes it a smaller part`,
      ),
    'few-operations':
      edge > limits.edgeShare &&
      note(
        `${several(run.items.acked, 'operation')} were answered with ${count(inFlightOf(run))} in flight: what had begun before the measured seconds counts in them, so costs per operation may be ${percent(edge * 100)} off; measure for longer (--duration)`,
      ),
    gaps:
      gaps > 0 &&
      note(
        `${several(gaps, 'sample')} missing of ${blind.join(', ')}: the figures of the nodes leave those seconds out${unseen > limits.unseenShare ? `, and their CPU and network per item are up to ${percent(unseen * 100)} too low` : ''}`,
      ),
    'io-threads':
      looping.length > 0 &&
      note(
        `the io-threads of ${looping.join(', ')} wait in a loop, which counts as CPU: the CPU of the servers, and per item, is an upper bound; set io-threads 1, or take a server that reports their active time (Valkey from 9.1) and has a core for each thread`,
      ),
    interrupted: interruptedNote(run),
  }
}

/** @param {Omit<Items, 'failed_by'> & { absent?: number }} items */
const outcomesOf = ({ acked, failed, uncertain, dropped, unsettled, absent = 0 }) =>
  acked + failed + uncertain + dropped + unsettled + absent

/** The check of every run: the outcomes add up to what was offered. @type {Reason} */
const accountingFaults = ({ items, agents = [] }) => {
  const { offered, failed, uncertain, failed_by: failedBy } = items
  const outcomes = outcomesOf(items)
  const causes = sumOf(failedBy)
  /** @type {string[]} */
  const faults = []
  if (offered !== outcomes)
    faults.push(`${count(offered)} items were offered, but ${count(outcomes)} have an outcome`)
  if (causes !== failed + uncertain)
    faults.push(
      `${count(failed + uncertain)} items failed or are uncertain, but ${count(causes)} have a cause`,
    )
  for (const own of agents) {
    if (own.offered !== outcomesOf(own))
      faults.push(
        `writer ${own.agent} was offered ${count(own.offered)} items, but ${count(outcomesOf(own))} have an outcome`,
      )
  }
  return {
    accounting: faults.map((fault) => `${fault}: this is an internal error of Millrace, please report it`),
  }
}

/**
 * The reasons of a kind with writers. The first should be the cause: first the client, then refusals of servers, then what
 * followed.
 * @param {Behind} behind why it fell behind
 */
export const writerReasons = (behind) => {
  const ofFleet = [absentBoxes, sharedNumbers, lostIntervals, fleetReaders, mixedVersions]
  const first = [accountingFaults, absentWriters, ...ofFleet]
  const ofServers = [
    failovers,
    causes,
    repeats,
    lostItems(behind),
    rateSustained(behind),
    serverBusy,
    observations,
  ]
  return [
    ...[...first, clientStopped, clientBusy].map((one) => reasonsBy(/** @type {Reason} */ (one))),
    ...SECTIONS.producer.map(({ reasons }) => reasons),
    ...ofServers.map(reasonsBy),
  ]
}
