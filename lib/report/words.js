// A run in plain words: what was asked of whom, what came of it, and what it cost.
import { bytes, count, micros, percent, period, plainText, rate, several, share } from '../base/units.js'

/** @typedef {import('../result/document.js').RunDocument} RunDocument */

/** Between facts; a line may break here. */
export const gap = ' · '

/** @param {Array<string | false | null | undefined>} told what is not so is left out */
export const facts = (told) => told.filter(Boolean).join(gap)

/** 2026-11-21 07:30:05 UTC @param {string} iso */
export const moment = (iso) => `${iso.slice(0, 19).replace('T', ' ')} UTC`

/** What the plan sends, and how often. @param {Record<string, any>} plan */
const load = ({
  quantity,
  periodMs,
  totalAgents = 1,
  agents = [],
  pacing,
  rate: asked,
  nominalHz,
  items = quantity,
}) => {
  const all = agents.length === totalAgents
  const numbers = agents.map((/** @type {{ agent: number }} */ { agent }) => agent)
  const run = numbers.length > 1 && numbers.at(-1) - numbers[0] === numbers.length - 1
  const mine = run ? `${numbers[0]}-${numbers.at(-1)}` : numbers.join(', ')
  const who = all ? `as ${several(totalAgents, 'agent')}` : `as agent ${mine} of ${totalAgents}`
  const whole = all ? '' : ` of ${count(quantity)}`
  if (asked === 'max') return `${count(items)}${whole} items over and over, as fast as possible, ${who}`
  if (pacing === 'closed') return `${count(items)}${whole} items, then ${period(periodMs)} of rest, ${who}`
  const each = periodMs === 1000 ? '' : ` (${count(items)}${whole} every ${period(periodMs)})`
  return `${rate(nominalHz)}${all ? '' : ` of ${rate((quantity * 1000) / periodMs)}`} items/s${each} ${who}`
}

/** Where the members stand. @param {Record<string, any>} plan */
const sets = ({ sets = [], extraSets = [], placement }) => {
  const where = new Map([
    ['same-slot', ' in one slot'],
    ['spread', ' spread over the slots'],
  ])
  return facts([
    (sets.length > 1 || placement !== 'plain') &&
      several(sets.length, 'sorted set') + (where.get(placement) ?? ''),
    extraSets.length > 0 && several(extraSets.length, 'extra sorted set'),
  ])
}

/** @param {Record<string, any>} plan */
const clientsWords = ({
  strategy,
  quantity,
  valueBytes,
  payload,
  warmUpMs,
  prefix,
  nominalHz,
  own,
  clients,
}) => {
  const { connections, pipeline, ratio, order, arrivals, fill, passes } = clients
  return facts([
    strategy,
    passes
      ? `${count(quantity)} ids${own.ids ? ` (${own.ids})` : ''}${own.partitions > 1 ? ` in ${count(own.partitions)} structures` : ''}, each once a pass`
      : `${count(quantity)} keys, ${order === 'uniform' ? 'each as likely' : 'in order'}${fill ? ', filled before' : ''}`,
    `${several(connections, 'connection')}, ${pipeline === 1 ? 'one operation' : `up to ${count(pipeline)} operations`} in flight each`,
    nominalHz === null
      ? 'closed loop'
      : `${rate(nominalHz)} operations/s, ${arrivals === 'poisson' ? 'as independent users come' : 'evenly'}`,
    !passes && ratio && `${ratio[0]} writes to ${ratio[1]} reads`,
    !passes && `value ${bytes(valueBytes)} ${payload}`,
    warmUpMs > 0 && `warm-up ${period(warmUpMs)}`,
    prefix && `prefix ${prefix}`,
  ])
}

/** The plan in plain words. @param {Record<string, any>} plan */
export const planWords = (plan) => {
  if (plan.flow === 'clients') return clientsWords(plan)
  const { strategy, valueBytes, payload, ttlS, stamp, once, chunks, warmUpMs, pacing, driver, prefix } = plan
  const members = plan.membersInCommand ?? plan.maxMembers
  const cut = members ? `at most ${count(members)} members a command` : 'commands not cut'
  return facts([
    strategy,
    load(plan),
    chunks > 1 && `${count(chunks)} chunks`,
    `value ${bytes(valueBytes)} ${payload}${stamp ? ' stamped' : ''}`,
    `ttl ${ttlS} s`,
    once && 'every item once',
    sets(plan),
    cut,
    warmUpMs > 0 && `warm-up ${period(warmUpMs)}`,
    plan.rate !== 'max' && `${pacing} pacing`,
    `driver ${driver}`,
    prefix && `prefix ${prefix}`,
  ])
}

/** @param {RunDocument} run */
export const targetWords = ({ target, nodes, versions }) => {
  const masters = nodes.filter(({ role }) => role === 'master').length
  const replicas = nodes.length - masters
  return facts([
    target &&
      `${target.origin === 'embedded' ? 'embedded ' : ''}${target.kind === 'cluster' ? 'cluster' : 'server'}`,
    several(masters, 'master') + (replicas ? `, ${several(replicas, 'replica')}` : ''),
    versions.servers.length > 0 && `server ${versions.servers.join(', ')}`,
    `millrace ${versions.millrace}, node ${versions.node}`,
  ])
}

/** @param {RunDocument} run */
export const itemWords = ({ items }) => {
  const { offered, acked, failed_by: failedBy } = items
  const causes = Object.entries(failedBy).map(([cause, n]) => `${cause} ${count(n)}`)
  const outcomes = /** @type {const} */ (['failed', 'uncertain', 'dropped', 'unsettled'])
  const lost = outcomes.filter((outcome) => items[outcome] !== 0)
  return facts([
    `${count(offered)} offered`,
    lost.length === 0 && acked === offered ? 'all acknowledged' : `${count(acked)} acknowledged`,
    ...lost.map((outcome) => `${count(items[outcome])} ${outcome}`),
    causes.length > 0 && `by cause: ${causes.join(', ')}`,
  ])
}

/** What is counted: an item that is stored, or an operation of a client. @param {Record<string, any>} plan */
export const unitOf = ({ flow }) => (flow === 'clients' ? 'operations' : 'items')

/** @param {RunDocument} run */
export const rateWords = ({ rate: { nominal, achieved }, server, plan }) =>
  facts([
    nominal === null ? 'no rate asked' : `${rate(nominal)} ${unitOf(plan)}/s asked`,
    `${rate(achieved)} ${unitOf(plan)}/s achieved${nominal && achieved !== null ? ` (${share(achieved / nominal)})` : ''}`,
    server.share !== null && server.share < 0.9995 && `${share(server.share)} of all writers’ items`,
  ])

/** @param {RunDocument} run */
export const tickWords = ({ ticks, commands, plan }) => {
  // Without a schedule nothing is late.
  const free = plan.rate === 'max' || plan.pacing === 'closed'
  return facts([
    free ? `${count(ticks.count)} measured` : `${count(ticks.count)} measured, ${count(ticks.late)} late`,
    !free && `lateness p50 ${micros(ticks.lateness_us.p50)}, p99 ${micros(ticks.lateness_us.p99)}`,
    `${count(commands.sent)} commands`,
    commands.repeated > 0 && `${count(commands.repeated)} repeated`,
  ])
}

/** How late operations of a schedule were sent. @param {RunDocument} run */
const sendWords = ({ ticks, commands, plan }) =>
  facts([
    plan.rate !== 'max' &&
      `sent p50 ${micros(ticks.lateness_us.p50)}, p99 ${micros(ticks.lateness_us.p99)} after they were due`,
    `${count(commands.sent)} commands`,
    commands.repeated > 0 && `${count(commands.repeated)} repeated`,
  ])

/** Passes over all numbers, and what the first of them left. @param {RunDocument} run @returns {{ label: string, text: string }[]} */
const passRows = ({ passes, encodings = {}, plan }) => {
  if (!passes?.length) return []
  const rows = passes.map(({ name, operations, rate: hz, server_cpu_us: cpu, counts }) => ({
    label: name,
    text: facts([
      `${count(operations)} operations`,
      `${rate(hz)} operations/s`,
      cpu !== null && `server CPU ${micros(cpu)} each`,
      ...Object.entries(counts).map(([reply, n]) => `${reply} ${count(n)}`),
    ]),
  }))
  const [{ memory_bytes: grown }] = passes
  const kinds = Object.keys(encodings)
  const memory = grown !== null && `${bytes(grown)}, ${bytes(grown / plan.items)} each`
  return [
    ...rows,
    { label: 'stored', text: facts([memory, kinds.length > 0 && `encoded as ${kinds.join(', ')}`]) },
  ]
}

/** What became of the load, a row each. @param {RunDocument} run @returns {{ label: string, text: string }[]} */
export const loadRows = (run) => {
  if (run.plan.flow !== 'clients')
    return [
      { label: 'items', text: itemWords(run) },
      { label: 'rate', text: rateWords(run) },
      { label: 'ticks', text: tickWords(run) },
    ]
  const replies = Object.entries(run.counts ?? {}).map(([name, n]) => `${name} ${count(n)}`)
  return [
    { label: 'done', text: `${itemWords(run)}` },
    ...(replies.length > 0 ? [{ label: 'replies', text: facts(replies) }] : []),
    ...passRows(run),
    { label: 'rate', text: rateWords(run) },
    { label: 'sends', text: sendWords(run) },
  ]
}

/**
 * What an item costs without what the servers use anyway, where that is known; else all that they used.
 * @param {RunDocument['server']} server
 */
const serverCpuWords = ({ cpu_us_per_item: gross, cpu_us_per_item_net: net, ...server }) => {
  if (typeof net === 'number')
    return `server CPU ${micros(net)} ± ${micros(server.cpu_us_per_item_net_uncertainty)} (${micros(gross)} with the idle cost)`
  return `server CPU ${micros(gross)}${server.idle && 'why' in server.idle ? ' (idle cost included)' : ''}`
}

/** Idle servers use less than a percent, and its second digit counts. @param {number} pct */
const smallPercent = (pct) => `${Number(pct.toPrecision(2))} %`

/** What the servers used before the first write, or why that is not known. @param {RunDocument} run */
export const idleWords = ({ server: { idle } }) => {
  if (!idle) return ''
  if ('why' in idle) return `not measured: ${plainText(idle.why)}`
  return `${smallPercent(idle.cpu_pct)} ± ${smallPercent(idle.uncertainty_pct)} of a core before the first write`
}

/** @param {RunDocument} run */
export const costWords = ({ server, client }) =>
  facts([
    serverCpuWords(server),
    `client CPU ${micros(client.cpu_us_per_item)}`,
    `network ${bytes(server.net_bytes_per_item)}`,
    `memory ${bytes(server.memory_bytes_per_item)}${server.memory_note ? ` (${plainText(server.memory_note)})` : ''}`,
  ])

/** @param {RunDocument} run */
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
export const clientWords = ({ client }) =>
  facts([
    `CPU ${percent(client.cpu_pct)}`,
    typeof client.thread_cpu_pct === 'number' && `sending thread ${percent(client.thread_cpu_pct)}`,
    `event loop ${percent(client.busy_pct)} busy`,
    `memory ${bytes(client.rss_mb_max === null ? null : client.rss_mb_max * 1e6)}`,
    `event loop delay p99 ${micros(client.loop_delay_ms_p99 === null ? null : client.loop_delay_ms_p99 * 1000)}`,
  ])

/** The host's CPU as CloudWatch has it, over all its vCPUs. @param {Pick<RunDocument, 'cloudwatch'>} run @param {string} address */
export const hostCpu = ({ cloudwatch }, address) =>
  cloudwatch?.nodes.find((node) => node.address === address)?.means.CPUUtilization

/** @param {Pick<RunDocument, 'cloudwatch' | 'nodes'>} run */
export const hasHostCpu = ({ cloudwatch, nodes }) =>
  nodes.some(({ address }) => cloudwatch?.nodes.some((cache) => cache.address === address))

/** What CloudWatch says of caches that are no node by their address. @param {Pick<RunDocument, 'cloudwatch' | 'nodes'>} run */
export const cacheWords = ({ cloudwatch, nodes }) =>
  (cloudwatch?.nodes ?? [])
    .filter((cache) => nodes.every(({ address }) => address !== cache.address))
    .map(({ id, kind, role, means }) =>
      facts([
        `${id}${role ? ` (${role})` : ''}`,
        kind === 'node' && `CPUUtilization ${percent(means.CPUUtilization)}`,
        kind === 'node' && `EngineCPUUtilization ${percent(means.EngineCPUUtilization)}`,
        kind === 'serverless' && `${count(means.ElastiCacheProcessingUnits)} processing units a minute`,
        kind === 'serverless' && `${count(means.ThrottledCmds)} throttled commands a minute`,
      ]),
    )
