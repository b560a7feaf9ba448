// The end of a run in ten lines: whether it counts, what it cost, what was busiest, how long things took, and what to do.
// A row is one fact of at most one line of 80 columns; all else is in the details (-v) and on the page.

import { exactly } from '../base/typed.js'
import { bytes, count, micros, percent, period, plainText, rate, several } from '../base/units.js'
import { loadOf } from '../loads/index.js'
import { namesOfKind } from '../loads/names.js'
import { mastersOnly, othersWords, storedUnitOf, unitOf } from '../loads/words.js'
import { clientLimit, isMachineFull } from '../measures/client-limit.js'
import { answersIn, timesByWarning } from '../measures/index.js'
import { timesLine } from '../measures/measure.js'
import { busiestNode } from '../measures/nodes.js'
import { batchesWords } from '../measures/ticks.js'
import { stateWords } from '../measures/warnings.js'
import { cacheRows, hostCpu, nodeLimit, sentLateWords } from './words.js'

/**
 * @import { Judged } from '../result/thresholds.js'
 * @import { RunDocument as Run, WriteRun } from '../result/document.js'
 *
 * @typedef {{ label: string, text: string }} Row
 *
 * @typedef {object} Brief
 * @property {{ word: string, good: boolean, text: string }} head
 * @property {string | null} run what was measured, where the head does not say it
 * @property {Row[]} rows
 * @property {string | null} note what the user can do something about
 */

// A burst that takes longer than this is worth a note.
const burstUs = 1000
// Of every run.
const usual = new Set(['warm-up'])
// Said by a row already, or nothing that the user could change.
const notNotes = new Set(['idle-cost', 'share', 'consumers', 'foreign-load', ...timesByWarning.keys()])

/** 'local cluster 3+3, Redis 7.0.15' @param {Run} run */
const serversWords = ({ target, nodes, versions }) => {
  // A master that died in the run and its successor count as one, as a shard has one master.
  const masters = new Set(nodes.flatMap(({ role, shard }) => (role === 'master' ? [shard] : []))).size
  const kind = target?.kind === 'cluster' ? `cluster ${masters}+${nodes.length - masters}` : 'server'
  const names = versions.servers.map((name) => (/^\d/.test(name) ? `Redis ${name}` : name))
  return [`${target && target.origin !== 'address' ? 'local ' : ''}${kind}`, ...names].join(', ')
}

/** The rate that was reached, and the target where that is another. @param {Run} run */
const reachedWords = (run) => {
  const { nominal, achieved } = run.rate
  const isReader = loadOf(run).document === 'consumer'
  // A pattern has another rate in each part.
  const isSteady = typeof nominal === 'number' && !('schedule' in run.plan && run.plan.schedule === 'uneven')
  const reached = rate(isSteady && run.valid ? nominal : achieved)
  const target = isSteady && !run.valid ? ` of ${rate(nominal)}` : ''
  const one = reached === '1' && target === ''
  const unit = isReader ? (one ? 'fetch' : 'fetches') : `${unitOf(run.plan)}s`
  return `${reached}${target} ${unit}/s`
}

/** 'sorted-set, 50,000 items/s, 15 s, local cluster 3+3, Redis 7.0.15' @param {Run} run */
const runWords = (run) =>
  [
    run.plan.strategy,
    reachedWords(run),
    period(run.duration_s * 1000),
    ...('fleet' in run && run.fleet ? [`${run.fleet.boxes.length} boxes`] : []),
    serversWords(run),
  ].join(', ')

/**
 * @typedef {object} Words of a threshold
 * @property {(limit: Judged) => string} shown what it measured
 * @property {(limit: Judged) => string} why it cannot be told
 */

/** The name that was typed, and the limit. @param {Judged} limit */
const typedParts = ({ threshold, name }) => ({
  name: /^[\w.]+/.exec(threshold)?.[0] ?? name,
  limit: threshold.replace(/^[\w.]+\s*/, ''),
})

const thresholdsOf = (/** @type {readonly Judged[]} */ limits) =>
  limits.map(({ threshold }) => threshold).join(', ')

/** @param {readonly Judged[]} failed @param {readonly Judged[]} untold @param {Words} words */
const failedWords = ([first, ...others], untold, { shown }) => {
  const { name, limit } = typedParts(first)
  const more = others.length > 0 ? `; ${several(others.length, 'more threshold')} failed` : ''
  const besides = untold.length > 0 ? `; cannot tell ${thresholdsOf(untold)}` : ''
  return `${name} is ${shown(first)}, not ${limit}${more}${besides}`
}

/** @param {readonly Judged[]} untold @param {Words} words */
const untoldWords = ([first, ...others], { why }) => {
  const { name, limit } = typedParts(first)
  return `${name}: ${why(first)}, wanted ${limit}${others.length > 0 ? `; also ${thresholdsOf(others)}` : ''}`
}

/** @param {Run} run @param {Words} words */
const headOf = (run, words) => {
  const failed = (run.thresholds ?? []).filter(({ passed }) => !passed)
  if (!run.valid) {
    const reason = run.warnings.find(({ invalidates }) => invalidates)
    return {
      word: stateWords(run).toUpperCase(),
      good: false,
      text: reason?.message ?? 'do not quote these numbers',
    }
  }
  const broken = failed.filter(({ value }) => value !== null)
  const untold = failed.filter(({ value }) => value === null)
  if (broken.length > 0) return { word: 'FAILED', good: false, text: failedWords(broken, untold, words) }
  if (untold.length > 0) return { word: 'CANNOT TELL', good: false, text: untoldWords(untold, words) }
  const others = 'server' in run && run.kind === 'producer' && othersWords(run) ? '; others were at work' : ''
  const limit = nodeLimit(run)
  const doubt = loadOf(run).words.doubt?.(run)
  const parts = [doubt, `${runWords(run)}${others}`, batchesWords(run), limit]
  return { word: 'VALID', good: true, text: parts.filter(Boolean).join('; ') }
}

/** @param {WriteRun} run @param {string} unit */
const cpuWords = (run, unit) => {
  const { server } = run
  const { cpu_us_per_item: gross, cpu_us_per_item_net: net } = server
  if (typeof gross !== 'number') return ''
  const others = othersWords(run)
  const onMasters = mastersOnly(server)
  if (typeof net !== 'number' && others)
    return onMasters === null
      ? `at most ${micros(gross)} per ${unit}; ${others}`
      : `${micros(onMasters)} per ${unit} on the masters, idle excluded; ${others}`
  if (typeof net !== 'number')
    return `${withinWords(gross, server.cpu_us_per_item_uncertainty)} per ${unit}, idle included`
  return `${withinWords(net, server.cpu_us_per_item_net_uncertainty)} per ${unit}, idle excluded${others && `; ${others}`}`
}

/** '3.67 ± 0.12 µs': both in the unit of the first. @param {number} us @param {number | null | undefined} within */
const withinWords = (us, within) => {
  const [digits, unit] = micros(us).split(' ')
  if (typeof within !== 'number') return `${digits} ${unit}`
  const scale = { µs: 1, ms: 1e3, s: 1e6 }[unit] ?? 1
  return `${digits} ± ${Number((within / scale).toPrecision(2))} ${unit}`
}

/** What the item cost. @param {WriteRun} run @returns {Row[]} */
const costRows = (run) => {
  const { server, plan } = run
  const unit = unitOf(plan)
  const { memory_bytes_per_item: memory, memory_note: note } = server
  const network = server.net_bytes_per_item_net ?? server.net_bytes_per_item
  return [
    { label: 'server CPU', text: cpuWords(run, unit) },
    {
      label: 'memory',
      text:
        typeof memory === 'number'
          ? `${bytes(memory)} per ${storedUnitOf(plan)}`
          : note
            ? `not measured: ${plainText(note)}`
            : '',
    },
    {
      label: 'network',
      text: typeof network === 'number' ? `${bytes(network)} per ${unit}, in and out` : '',
    },
  ]
}

/** @param {WriteRun} run @returns {Row[]} */
const lostRows = ({ items }) => {
  const lost = exactly(['failed', 'uncertain', 'dropped', 'unsettled']).filter(
    (name) => (items[name] ?? 0) > 0,
  )
  if (lost.length === 0) return []
  const each = lost.map((name) => `${count(items[name])} ${name}`)
  return [{ label: 'lost', text: each.join(', ') }]
}

/** The node that works hardest, and what only it has. @param {Run} run @returns {Row[]} */
const busiestRows = (run) => {
  const busiest = busiestNode(run)
  if (!busiest || busiest.engine_cpu_pct === null) return []
  const peers = run.nodes.filter(({ role, address }) => role === busiest.role && address !== busiest.address)
  const mean = peers.reduce((sum, node) => sum + (node.engine_cpu_pct ?? 0) / peers.length, 0)
  const all = run.target?.shared_keys ?? []
  const shared = all.filter(({ shard }) => shard === busiest.shard)
  const holds =
    shared.length === 1
      ? `key ${plainText(shared[0].key)}`
      : `${shared.length} of ${several(all.length, 'shared key')}`
  return [
    {
      label: `busiest ${busiest.role}`,
      text: [
        [`${percent(busiest.engine_cpu_pct)} of a core`],
        peers.length > 0 && shared.length > 0 ? [`with ${holds}`] : [],
        peers.length > 0 ? [`others ${percent(mean)}`] : [],
      ]
        .flat()
        .join(', '),
    },
  ]
}

// Of a core: above it a server answers later with every further percent.
const fullPct = 80

/** Whether a full machine has a core at least that neither the load generator nor the servers use half of. @param {Run} run */
const isOfOthers = ({ client, nodes }) =>
  nodes.reduce((sum, { cpu_pct: pct }) => sum + (pct ?? 0), client.cpu_pct ?? 100) < 50

/** What was used up. @param {Run} run @returns {Row[]} */
const limitRows = (run) => {
  const { busy_pct: busy } = run.client
  if (typeof busy !== 'number') return []
  const client = `load generator ${percent(busy)} busy`
  if (clientLimit(run.client))
    return [{ label: 'bottleneck', text: `the load generator, ${percent(busy)} busy` }]
  const ofNode = nodeLimit(run)
  if (ofNode) return [{ label: 'bottleneck', text: `${ofNode}; ${client}` }]
  const node = busiestNode(run)
  const isFull = node && (node.engine_cpu_pct ?? 0) >= fullPct
  const limit = isFull
    ? `the busiest ${node.role}`
    : isMachineFull(run.client)
      ? `all cores of this machine${isOfOthers(run) ? ', which others use' : ''}`
      : 'none at this rate'
  return [{ label: 'bottleneck', text: `${limit}; ${client}` }]
}

/** @param {WriteRun} run @returns {Row[]} */
const latencyRows = (run) => {
  const { intended, service } = run.latency_us
  const isScheduled = run.plan.rate !== 'max' && run.rate.nominal !== null
  const times = timesLine(isScheduled ? intended : service)
  return [
    isScheduled
      ? { label: 'latency', text: times && `${times}, ${sentLateWords(run) || 'from the due time'}` }
      : { label: 'service time', text: times },
  ]
}

/** Items of a batch are due at the same moment, and wait for each other. @param {WriteRun} run */
const burstNote = ({ plan, latency_us: latency }) => {
  const { pacing, items, chunks, spacingMs } = plan
  const p50 = latency?.intended?.p50 ?? 0
  const waits = namesOfKind(plan).inBatches && pacing === 'open' && plan.rate !== 'max' && items / chunks > 1
  return waits && spacingMs && p50 > burstUs && p50 < spacingMs * 1000
    ? `latency is the queue of ${count(items / chunks)} items a burst; --rate spaces them evenly`
    : null
}

/** The first that advises something. @param {Run} run */
const noteOf = (run) => {
  const advice = run.warnings.find(
    ({ invalidates, code, message }) => !invalidates && !notNotes.has(code) && message.includes('; '),
  )
  return (
    advice?.message ?? (loadOf(run).document === 'producer' ? burstNote(/** @type {WriteRun} */ (run)) : null)
  )
}

/** The CPU of the nodes' hosts, by CloudWatch. @param {Run} run @returns {Row[]} */
const hostRows = (run) => {
  const each = run.nodes.flatMap(({ address }) => {
    const pct = hostCpu(run, address)
    return pct == null ? [] : [`${plainText(address)} ${percent(pct)}`]
  })
  return [{ label: 'CPUUtilization', text: each.join(', ') }]
}

/** @param {Run} run @returns {Row[]} */
const eventRows = ({ events }) => {
  /** @type {Map<string, number>} */
  const kinds = new Map()
  for (const { kind } of events) if (!usual.has(kind)) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  return [{ label: 'events', text: [...kinds].map(([kind, n]) => `${kind} ${count(n)}`).join(', ') }]
}

/** @param {WriteRun} run @returns {Row[]} */
const writerRows = (run) => [...lostRows(run), ...costRows(run), ...busiestRows(run), ...latencyRows(run)]

/** @param {Run} run @param {Words} ofThresholds @returns {Brief} */
export const briefOf = (run, ofThresholds) => {
  const { words, sections } = loadOf(run)
  const isWriter = loadOf(run).document === 'producer'
  const head = headOf(run, ofThresholds)
  const rows = [
    ...(words.brief?.(run) ?? []),
    ...sections.flatMap(({ brief }) => brief(run)),
    ...(isWriter ? writerRows(/** @type {WriteRun} */ (run)) : busiestRows(run)),
    ...('readers' in run && run.readers ? answersIn('brief', run.readers, unitOf(run.plan)) : []),
    ...answersIn('brief', run, unitOf(run.plan)),
    ...hostRows(run),
    ...cacheRows(run),
    ...eventRows(run),
    ...limitRows(run),
  ]
  const isFirst = (/** @type {Row} */ { label }, /** @type {number} */ at) =>
    rows.findIndex((other) => other.label === label) === at
  return {
    head,
    run: head.good ? null : runWords(run),
    rows: rows.filter((row, at) => row.text && isFirst(row, at)),
    note: noteOf(run),
  }
}
