// A run in plain words: what was asked of which servers, and the result. Every line consists of facts with gaps, where it
// may break.
import { boxTrouble } from '../base/box-trouble.js'
import { rangesText } from '../base/ranges.js'
import { exactly } from '../base/typed.js'
import { asPercent, count, facts, micros, percent, period, plainText, rate, several } from '../base/units.js'
import { loadOf } from '../loads/index.js'
import { namesOfKind } from '../loads/names.js'
import { unitOf } from '../loads/words.js'
import { wholeRunWords } from '../measures/outcomes.js'
import { arrivalsWords } from '../traffic/arrivals.js'

/**
 * @import { Loaded } from '../loads/index.js'
 * @import { AnyPlan as Plan } from '../measures/measure.js'
 * @import { ReadRun, RunDocument, WriteRun } from '../result/document.js'
 */

/** 2026-11-21 07:30:05 UTC @param {string} iso */
export const moment = (iso) => `${iso.slice(0, 19).replace('T', ' ')} UTC`

/** The load in a few words. @param {Loaded} run */
export const loadWords = (run) => loadOf(run).words.load(run)

/** 'a local cluster of 3 masters and 3 replicas (Redis 7.0.15)' @param {RunDocument} run */
const serversWords = ({ target, nodes, versions }) => {
  // A master that died in the run and its successor count as one, as a shard has one master.
  const masters = new Set(nodes.flatMap(({ role, shard }) => (role === 'master' ? [shard] : []))).size
  const replicas = nodes.length - masters
  const local = target && target.origin !== 'address' ? 'local ' : ''
  const sizes = `${several(masters, 'master')}${replicas ? ` and ${several(replicas, 'replica')}` : ''}`
  const what =
    target?.kind === 'cluster'
      ? `${local}cluster of ${sizes}`
      : `${local}server${replicas ? ` with ${several(replicas, 'replica')}` : ''}`
  const names = versions.servers.map((name) => (/^\d/.test(name) ? `Redis ${name}` : name))
  return `a ${what}${names.length > 0 ? ` (${names.join(', ')})` : ''}`
}

/** The plan and the target in one sentence. @param {RunDocument} run */
export const sentenceOf = (run) =>
  `${run.plan.strategy}: ${loadWords(run)}, for ${period(run.duration_s * 1000)} on ${serversWords(run)}`

/** The plan in plain words. @param {RunDocument} run */
export const planWords = (run, /** @type {Plan} */ plan = run.plan) =>
  facts([
    plan.model ? `${plan.strategy} (${plainText(plan.model.title)})` : plan.strategy,
    loadWords(run),
    loadOf(run).words.plan(plan),
  ])

/** @param {RunDocument} run */
export const targetWords = (run) =>
  facts([serversWords(run), `millrace ${run.versions.millrace}, node ${run.versions.node}`])

/** @param {RunDocument} run */
export const timeWords = ({ started, duration_s: durationS, measured_s: measuredS }) =>
  facts([
    moment(started),
    period(durationS * 1000),
    typeof measuredS === 'number' && measuredS < durationS && `${period(measuredS * 1000)} measured`,
  ])

const notAcked = exactly(['failed', 'uncertain', 'dropped', 'unsettled'])

/** @param {WriteRun} run */
export const itemWords = ({ items }) => {
  const { offered, acked, failed_by: failedBy } = items
  const causes = Object.entries(failedBy).map(([cause, n]) => `${cause} ${count(n)}`)
  const lost = notAcked.filter((outcome) => items[outcome] !== 0)
  return facts([
    `${count(offered)} offered`,
    lost.length === 0 && acked === offered && offered > 0
      ? 'all acknowledged'
      : `${count(acked)} acknowledged`,
    ...lost.map((outcome) => `${count(items[outcome])} ${outcome}`),
    causes.length > 0 && `by cause: ${causes.join(', ')}`,
  ])
}

/** A part of the pattern has another rate than the whole. @param {Plan} plan @param {WriteRun['items']} items @param {number} nominal */
const dueWords = (plan, { acked, offered }, nominal) =>
  `${asPercent(offered > 0 ? acked / offered : null)} of what was due (${arrivalsWords(plan.arrivals)}; the target rate is ${rate(nominal)})`

/** @param {WriteRun} run */
export const rateWords = ({ rate: { nominal, achieved }, server, plan, items, fleet }) => {
  const reached =
    nominal && typeof achieved === 'number'
      ? plan.schedule === 'uneven'
        ? dueWords(plan, items, nominal)
        : `${asPercent(achieved / nominal)} of the target rate`
      : null
  const isPart = fleet !== undefined && fleet.absent.items > 0
  return facts([
    `${rate(achieved)} ${unitOf(plan)}s/s${reached ? `, ${reached}` : ''}`,
    isPart && `${asPercent(items.acked / items.offered)} of the items of all boxes written`,
    !isPart &&
      typeof server.share === 'number' &&
      server.share < 0.9995 &&
      `${asPercent(server.share)} of the items of all writers`,
  ])
}

/** @param {WriteRun} run */
export const tickWords = (run) => {
  const { ticks, commands, plan } = run
  const { p50, p99 } = ticks.lateness_us
  // Without a schedule nothing is late.
  const free = plan.rate === 'max' || plan.pacing === 'closed' || plan.nominalHz === null
  return facts([
    namesOfKind(plan).inBatches &&
      `${count(ticks.count)} measured${free ? '' : `, ${count(ticks.late)} late`}`,
    !free && `sent p50 ${micros(p50)}, p99 ${micros(p99)} after the due time`,
    `${count(commands.sent)} commands${wholeRunWords(run) && ' in the whole run'}`,
    (commands.repeated ?? 0) > 0 && `${count(commands.repeated)} retried`,
  ])
}

// Less than this part of a latency is not worth a word.
const lateShare = 0.2
/** @type {Record<string, string>} */
const shownName = { p999: 'p99.9' }

/** 4.1 ms @param {number} us */
const twoDigits = (us) => {
  const [digits, unit] = micros(us).replace(',', '').split(' ')
  return `${Number(Number(digits).toPrecision(2))} ${unit}`
}

/** How late the load generator itself sent, where that is much of the latency from the due time. @param {Pick<WriteRun, 'ticks' | 'latency_us'>} run @param {'p50' | 'p90' | 'p99' | 'p999' | 'max'} [at] */
export const sentLateWords = ({ ticks, latency_us: { intended } }, at = 'p50') => {
  const [late, all] = [ticks?.lateness_us?.[at], intended?.[at]]
  return typeof late === 'number' && typeof all === 'number' && late > all * lateShare
    ? `send lag ${shownName[at] ?? at} ${twoDigits(late)}`
    : ''
}

/** Idle servers use less than a percent, of which the second digit matters. @param {number} pct */
const smallPercent = (pct) => `${Number(pct.toPrecision(2))} %`

/** What the servers used before the first write, or why that is not known. @param {WriteRun} run */
export const idleWords = ({ server: { idle } }) => {
  if (!idle) return ''
  if ('why' in idle) return `not measured: ${plainText(idle.why)}`
  return `${smallPercent(idle.cpu_pct)} ± ${smallPercent(idle.uncertainty_pct)} of a core before the first write`
}

/** @param {WriteRun} run */
export const commandWords = ({ server }) =>
  facts(
    Object.entries(server.commands ?? {})
      .toSorted(([, a], [, b]) => b.usec - a.usec)
      .map(
        ([name, { calls, usec }]) =>
          calls > 0 && `${name.toUpperCase()} ${micros(usec / calls)} x ${count(calls)}`,
      ),
  )

/** @param {RunDocument} run */
export const clockWords = ({ clocks = [] }) => {
  const offsets = clocks.map(({ offset_ms: offsetMs }) => offsetMs)
  if (offsets.length === 0) return ''
  const [low, high] = [Math.min(...offsets), Math.max(...offsets)]
  const rtt = Math.max(...clocks.map(({ rtt_ms: rttMs }) => rttMs))
  const apart = [...new Set([low.toFixed(2), high.toFixed(2)])].join(' to ')
  return `clocks of the servers ${apart} ms from this one, known to ${(rtt / 2).toFixed(2)} ms`
}

/** `writer 1-4`, of a box that reads `reader 2` @param {{ writers: readonly number[], readers: readonly number[] }} box */
export const whoIs = ({ writers, readers }) =>
  writers.length > 0 ? `writer ${rangesText(writers)}` : `reader ${rangesText(readers)}`

/** How far another clock is ahead: `+0.3 ms`, `−21 µs` @param {number} ms */
export const aheadText = (ms) => `${ms < 0 ? '−' : '+'}${micros(Math.abs(ms) * 1000)}`

/** `8 boxes on 8 hosts; clocks ±0.3 ms, event loops up to 2.1 ms at the start` @param {WriteRun} run @returns {{ label: string, text: string }[]} */
export const boxesRow = ({ fleet, readers }) => {
  if (!fleet) return []
  const { boxes, start } = fleet
  const hosts = new Set(boxes.map(({ host }) => host)).size
  const trouble = boxTrouble(boxes.map(({ state, to_s: lastS }) => ({ state, last_s: lastS })))
  const skew = `began within ${micros((start.clock_skew_ms + start.loop_skew_ms) * 1000)} of each other (clocks ${micros(start.clock_skew_ms * 1000)}, event loops ${micros(start.loop_skew_ms * 1000)})`
  const parts = [
    `${boxes.length === 1 ? '1 box' : `${count(boxes.length)} boxes`} on ${several(hosts, 'host')}`,
    ...(trouble ? [trouble] : []),
    ...(readers ? [`${readers.boxes.length} more ${readers.boxes.length === 1 ? 'reads' : 'read'}`] : []),
    ...(boxes.length > 1 ? [skew] : []),
  ]
  return [{ label: 'fleet', text: parts.join(' · ') }]
}

/** The CPU of a node's host, over all its vCPUs. @param {RunDocument} run @param {string} address */
export const hostCpu = ({ cloudwatch }, address) =>
  cloudwatch?.nodes.find((node) => node.address === address)?.means.CPUUtilization

/** @param {RunDocument} run */
export const hasHostCpu = ({ cloudwatch, nodes }) =>
  nodes.some(({ address }) => cloudwatch?.nodes.some((cache) => cache.address === address))

/** Caches that are no node by their address. @param {RunDocument} run @returns {{ label: string, text: string }[]} */
export const cacheRows = ({ cloudwatch, nodes }) =>
  (cloudwatch?.nodes ?? [])
    .filter((cache) => nodes.every(({ address }) => address !== cache.address))
    .map(({ id, kind, role, means }) => ({
      label: 'CloudWatch',
      text: facts([
        `${id}${role ? ` (${role})` : ''}`,
        kind === 'node' && `CPUUtilization ${percent(means.CPUUtilization)}`,
        kind === 'node' && `EngineCPUUtilization ${percent(means.EngineCPUUtilization)}`,
        kind === 'serverless' && `${count(means.ElastiCacheProcessingUnits)} processing units a minute`,
        kind === 'serverless' && `${count(means.ThrottledCmds)} throttled commands a minute`,
      ]),
    }))

/**
 * Events a minute from which on they count. Fewer than one packet a second are short bursts, which do not limit a load; a
 * connection, command or write that is refused is a fault by itself.
 */
const leastPackets = 60
const leastRefused = 1

/**
 * What CloudWatch says that a node's own limits did: by metric, from how many events a minute on, and in whose words.
 * @type {readonly (readonly [metrics: readonly string[], least: number, words: (id: string, value: number) => string])[]}
 */
const limits = [
  [
    ['NetworkBandwidthInAllowanceExceeded', 'NetworkBandwidthOutAllowanceExceeded'],
    leastPackets,
    (id, n) => `the network of ${id} was the limit (${count(n)} packets a minute over its bandwidth)`,
  ],
  [
    ['NetworkPacketsPerSecondAllowanceExceeded'],
    leastPackets,
    (id, n) => `the network of ${id} was the limit (${count(n)} packets a minute over its packet rate)`,
  ],
  [
    ['NetworkConntrackAllowanceExceeded'],
    leastRefused,
    (id, n) => `the network of ${id} was the limit (${count(n)} packets a minute over its connections)`,
  ],
  [['ThrottledCmds'], leastRefused, (id, n) => `${id} throttled ${count(n)} commands a minute`],
  // 1 in a minute in which it was active.
  [['TrafficManagementActive'], Number.MIN_VALUE, (id) => `${id} held back traffic`],
  [
    ['DurabilityBufferExceededErrorCount'],
    leastRefused,
    (id, n) => `${id} refused ${count(n)} writes a minute: its durable log was behind`,
  ],
]

/** Below it a burstable node runs at its baseline. */
const fewCredits = 1

/** The first limit that a node has reached by CloudWatch; null: none is known. @param {Pick<RunDocument, 'cloudwatch'>} run */
export const nodeLimit = ({ cloudwatch }) => {
  for (const { id, means, points } of cloudwatch?.nodes ?? []) {
    for (const [metrics, least, words] of limits) {
      const value = metrics.reduce((sum, name) => sum + (means[name] ?? 0), 0)
      if (value >= least) return words(id, value)
    }
    const credits = (points.CPUCreditBalance ?? []).map(([, value]) => value)
    if (credits.length > 0 && Math.min(...credits) < fewCredits)
      return `the CPU credits of ${id} were used up`
  }
  return null
}
