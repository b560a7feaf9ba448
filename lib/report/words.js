// A run in plain words: what was asked of which servers, and what came of it. Every line is made of facts with gaps
// between them, where it may break.
import { bytes, count, facts, micros, period, plainText, rate, several, share } from '../base/units.js'
import { flowOf } from '../loads/names.js'
import { fetchTimesWords, rhythmWords } from '../loads/rhythm.js'
import { kindOf } from '../result/kind.js'
import { arrivalsWords } from '../traffic/arrivals.js'
import { itemsWords } from '../traffic/items.js'
import { lifetimeWords } from '../traffic/lifetimes.js'
import { shownSizes } from '../traffic/sizes.js'
import { chunksWords } from './chunk-words.js'
import { queriesWords } from './query-words.js'
import { workersPlanWords } from './work-words.js'

/** @import { AnyPlan as Plan, ReadRun, RunDocument, WriteRun } from '../result/document.js' */
/** @typedef {{ kind: RunDocument['kind'], plan: Plan, consumers?: number }} Loaded what is known of a run before its result */

export { facts, gap } from '../base/units.js'

/** 2026-11-21 07:30:05 UTC @param {string} iso */
export const moment = (iso) => `${iso.slice(0, 19).replace('T', ' ')} UTC`

/** What is counted: an item that is stored, or an operation of a client. @param {Plan} plan */
export const unitOf = (plan) => flowOf(plan).unit

/** What takes memory: an item, a key that operations are about, or a job. @param {Plan} plan */
export const storedUnitOf = (plan) => flowOf(plan).stored

/** Which of the writers this process is; empty where it is the only one. @param {Plan} plan */
const writersWords = ({ totalAgents = 1, agents = [], quantity, items = quantity }) => {
  if (agents.length === totalAgents) return totalAgents > 1 ? `by ${several(totalAgents, 'writer')}` : ''
  const numbers = agents.map((/** @type {{ agent: number }} */ { agent }) => agent)
  const inRow = numbers.length > 1 && numbers.at(-1) - numbers[0] === numbers.length - 1
  const own = inRow ? `${numbers[0]}-${numbers.at(-1)}` : numbers.join(', ')
  return `by ${numbers.length === 1 ? 'writer' : 'writers'} ${own} of ${count(totalAgents)} (${count(items)} of ${count(quantity)} items)`
}

/** What a writer's plan sends, and how often. @param {Plan} plan */
const ticksWords = (plan) => {
  const { quantity, items = quantity } = plan
  const writers = writersWords(plan)
  const rhythm =
    plan.rate === 'max'
      ? `as many items/s as possible (${count(items)} over and over)`
      : rhythmWords({ ...plan, quantity: items })
  return [rhythm, writers].filter(Boolean).join(', ')
}

/** @param {Plan} plan */
const clientsWords = (plan) => {
  if (plan.clients.isChecked) return queriesWords(plan)
  const { quantity, nominalHz, clients, queue, arrivals = 'constant' } = plan
  const { connections, pipeline, delivery } = clients
  if (delivery) return chunksWords(plan)
  const unit = unitOf(plan)
  const each = pipeline === 1 ? `one ${unit}` : `up to ${count(pipeline)} ${unit}s`
  const load =
    nominalHz === null
      ? 'closed loop'
      : plan.rates
        ? rhythmWords(plan)
        : `${rate(nominalHz)} ${unit}s/s${arrivals === 'constant' ? ' at an even rate (--rate)' : `, ${arrivalsWords(arrivals)}`}`
  const over = queue ? '' : `, over ${count(quantity)} keys`
  return `${several(connections, 'connection')} with ${each} in flight each, ${load}${over}`
}

/** What is fetched, how often, by how many. @param {Loaded} run */
const readingWords = ({ plan, consumers }) => {
  const every = fetchTimesWords(plan)
  const all = plan.agents.length === plan.totalAgents
  const total = several(plan.totalAgents * plan.consumers, 'consumer')
  const what = plan.limit > 0 ? `the newest ${count(plan.limit)} items` : 'all live items'
  return `${all ? total : `${consumers} of ${total}`} fetch${consumers === 1 && all ? 'es' : ''} ${what} ${every}`
}

const loads = {
  producer: (/** @type {Loaded} */ { plan }) => (plan.clients ? clientsWords(plan) : ticksWords(plan)),
  consumer: readingWords,
  workers: workersPlanWords,
}

/** The load in a few words. @param {Loaded} run */
export const loadWords = (run) => loads[kindOf(run)](run)

/** 'a local cluster of 3 masters and 3 replicas (Redis 7.0.15)' @param {RunDocument} run */
const serversWords = ({ target, nodes, versions }) => {
  // One that died in the run was a master, as its successor is: a shard has one.
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

/** @param {Plan} plan */
const setsWords = ({ sets = [], extraSets = [], placement }) => {
  const where = new Map([
    ['same-slot', ' in one slot'],
    ['spread', ' spread over the slots'],
  ])
  return facts([
    (sets.length > 1 || placement === 'spread' || placement === 'same-slot') &&
      several(sets.length, 'sorted set') + (where.get(placement) ?? ''),
    extraSets.length > 0 && several(extraSets.length, 'extra sorted set'),
  ])
}

/** The driver, and a library's settings, by which its figures are to be read. @param {Plan} plan */
const driverWords = ({ driver, library }) => {
  if (!library) return `driver ${driver}`
  const { version, options, lacks } = library
  const set = Object.entries(options).map(([name, value]) => `${name} ${value === 0 ? 'off' : value}`)
  const without = lacks.length > 0 ? `; it has no ${lacks.join(', no ')}` : ''
  return `driver ${driver} ${plainText(version)} (${plainText(set.join(', '))}${plainText(without)})`
}

/** @param {Plan} plan */
const fetchingWords = (plan) =>
  facts([
    plan.mode === 'script' ? 'by script' : plan.values ? `by ${plan.valuesBy.toUpperCase()}` : 'ids only',
    `ttl ${lifetimeWords(plan)}`,
    setsWords(plan),
    plan.verify && 'every value verified',
    driverWords(plan),
    plan.prefix && `prefix ${plan.prefix}`,
    plan.source === 'target' ? 'plan from the target' : 'no plan in the target',
  ])

/** @param {Plan} plan */
const writingWords = (plan) => {
  const { valueBytes, valueSizes, payload, stamp, once, chunks, warmUpMs, settles, pacing, prefix, clients } =
    plan
  const members = plan.membersInCommand ?? plan.maxMembers
  const { inBatches, expires, defaultOrder } = flowOf(plan)
  return facts([
    inBatches && chunks > 1 && several(chunks, 'batch').replace('batchs', 'batches'),
    !clients?.delivery &&
      (clients || plan.order !== defaultOrder || plan.churn) &&
      plan.order &&
      itemsWords(plan),
    clients?.fill && clients.fill !== 'none' && 'keys filled before the run',
    plan.reconnectHz && `${several(plan.reconnectHz, 'connection')} a second replaced`,
    clients?.ratio &&
      !clients.delivery &&
      `${clients.ratio[0]} writes to ${clients.ratio[1]} reads${clients.ratio[2] ? ` and ${clients.ratio[2]} deletes` : ''}`,
    !clients?.delivery &&
      `value ${valueSizes ? `${shownSizes(valueSizes)}, on average ` : ''}${bytes(valueBytes)} ${payload}${stamp ? ' stamped' : ''}`,
    expires && `ttl ${lifetimeWords(plan)}`,
    once && 'every item once',
    setsWords(plan),
    inBatches && (members ? `at most ${count(members)} members per command` : 'commands not cut'),
    warmUpMs > 0 && `warm-up ${settles ? 'until steady, at most ' : ''}${period(warmUpMs)}`,
    inBatches && plan.rate !== 'max' && `${pacing} pacing`,
    driverWords(plan),
    prefix && `prefix ${prefix}`,
  ])
}

const plans = {
  producer: writingWords,
  consumer: fetchingWords,
  workers: (/** @type {Plan} */ { prefix }) => facts([prefix && `prefix ${prefix}`]),
}

/** The plan in plain words. @param {RunDocument} run */
export const planWords = (run, /** @type {Plan} */ plan = run.plan) =>
  facts([
    plan.model ? `${plan.strategy} (${plainText(plan.model.title)})` : plan.strategy,
    loadWords(run),
    plans[kindOf(run)](plan),
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

const notAcked = /** @type {const} */ (['failed', 'uncertain', 'dropped', 'unsettled'])

/** @param {WriteRun} run */
export const itemWords = ({ items }) => {
  const { offered, acked, failed_by: failedBy } = items
  const causes = Object.entries(failedBy).map(([cause, n]) => `${cause} ${count(n)}`)
  const lost = notAcked.filter((outcome) => items[outcome] !== 0)
  return facts([
    `${count(offered)} offered`,
    lost.length === 0 && acked === offered ? 'all acknowledged' : `${count(acked)} acknowledged`,
    ...lost.map((outcome) => `${count(items[outcome])} ${outcome}`),
    causes.length > 0 && `by cause: ${causes.join(', ')}`,
  ])
}

/** Whether more is due in some seconds than in others. @param {Plan} plan */
export const isUneven = ({ arrivals = 'constant' }) => arrivals !== 'constant'

/** A part of the pattern has another rate than the whole. @param {Plan} plan @param {WriteRun['items']} items @param {number} nominal */
const dueWords = (plan, { acked, offered }, nominal) =>
  `${share(offered > 0 ? acked / offered : null)} of what was due (${arrivalsWords(plan.arrivals)}; the target rate is ${rate(nominal)})`

/** @param {WriteRun} run */
export const rateWords = ({ rate: { nominal, achieved }, server, plan, items, fleet }) => {
  const part =
    nominal && typeof achieved === 'number'
      ? isUneven(plan)
        ? dueWords(plan, items, nominal)
        : `${share(achieved / nominal)} of the target rate`
      : null
  const isPart = fleet !== undefined && fleet.absent.items > 0
  return facts([
    `${rate(achieved)} ${unitOf(plan)}s/s${part ? `, ${part}` : ''}`,
    isPart && `${share(items.acked / items.offered)} of the items of all boxes written`,
    !isPart &&
      typeof server.share === 'number' &&
      server.share < 0.9995 &&
      `${share(server.share)} of the items of all writers`,
  ])
}

/** @param {WriteRun} run */
export const tickWords = ({ ticks, commands, plan }) => {
  const { p50, p99 } = ticks.lateness_us
  // Without a schedule nothing is late.
  const free = plan.rate === 'max' || plan.pacing === 'closed' || plan.nominalHz === null
  return facts([
    flowOf(plan).inBatches && `${count(ticks.count)} measured${free ? '' : `, ${count(ticks.late)} late`}`,
    !free && `sent p50 ${micros(p50)}, p99 ${micros(p99)} after the due time`,
    `${count(commands.sent)} commands`,
    (commands.repeated ?? 0) > 0 && `${count(commands.repeated)} retried`,
  ])
}

/** Idle servers use less than a percent, and its second digit counts. @param {number} pct */
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

/** Which nodes answered reads of values, from every client. @param {ReadRun} run */
export const servedWords = ({ commands, plan }) => {
  const name = plan.valuesBy
  const [master, replica] = [commands.master?.[name]?.calls ?? 0, commands.replica?.[name]?.calls ?? 0]
  return master + replica > 0
    ? `${name.toUpperCase()} by replicas ${count(replica)}, by masters ${count(master)}`
    : ''
}

/** @param {RunDocument} run */
export const clockWords = ({ clocks = [] }) => {
  const offsets = clocks.map(({ offset_ms: offsetMs }) => offsetMs)
  if (offsets.length === 0) return ''
  const [low, high] = [Math.min(...offsets), Math.max(...offsets)]
  const rtt = Math.max(...clocks.map(({ rtt_ms: rttMs }) => rttMs))
  const apart = [...new Set([low.toFixed(2), high.toFixed(2)])].join(' to ')
  return `clocks of the servers ${apart} ms from this one, known to ${(rtt / 2).toFixed(2)} ms`
}
