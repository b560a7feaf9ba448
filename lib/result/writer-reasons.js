// Why a run of writers or clients may not be quoted: every reason by name and what to do about it.
import { count, micros, percent, plainText, rate, several, share } from '../base/units.js'
import { adviceOf, toldByEvents } from './advice.js'
import { clientLimit, clientStopped, contendedWords } from './client-limit.js'
import { busiestNode } from './nodes.js'
import { absentCode } from './ruling.js'

/**
 * @typedef {import('./ruling.js').Warning} Warning
 * @typedef {Record<string, any> & { nodes: import('./document.js').NodeFigures[] }} Evidence run.json without its judgement
 */

const limits = Object.freeze({
  rateRatio: 0.99,
  engineCpuPct: 95,
  share: 0.95,
  fixedShare: 0.05,
  delayShare: 0.1,
})

/** @param {Record<string, number>} counts */
const sumOf = (counts) => Object.values(counts).reduce((sum, n) => sum + n, 0)

/** @param {Evidence} run */
const isScheduled = (run) => run.rate.nominal !== null && run.plan.pacing !== 'closed'

/** @param {Evidence} run */
const clientWasTheLimit = ({ client }) => clientLimit(client) !== null || Boolean(client.stopped_ms)

/** @param {Evidence} run */
const serverWasTheLimit = (run) => (busiestNode(run, ['master'])?.engine_cpu_pct ?? 0) >= limits.engineCpuPct

/** @param {Evidence} run */
const wasRefused = ({ items, commands }) =>
  [items.failed_by, commands.errors_by, commands.repeated_by ?? {}].some((by) => Object.keys(by).length > 0)

/**
 * Advice for a writer that fell behind; a saturated client or server and a refusal have their own.
 * @param {Evidence} run
 */
const behindAdvice = (run) =>
  clientWasTheLimit(run) || serverWasTheLimit(run) || wasRefused(run)
    ? ''
    : '; neither a sending thread nor a master was at its limit: look at the network, raise --window, or spread the load with -c'

/** @param {Evidence} run @returns {Warning[]} */
const lostItems = (run) => {
  const { offered, failed, uncertain, dropped, unsettled } = run.items
  const of = `of ${count(offered)} items`
  return [
    { code: 'failed', n: failed, message: `${count(failed)} ${of} failed` },
    {
      code: 'uncertain',
      n: uncertain,
      message: `${count(uncertain)} ${of} are uncertain: their answers were lost, and their commands must not be repeated; look at the connections, or take a strategy whose commands may be repeated`,
    },
    {
      code: 'dropped',
      n: dropped,
      message: `${count(dropped)} ${of} were dropped before all of their commands were sent, as the writer was too far behind its schedule${behindAdvice(run)}`,
    },
    {
      code: 'unsettled',
      n: unsettled,
      message: `${count(unsettled)} ${of} had no answer when the run ended; lower -q, or see which node stopped answering`,
    },
  ]
    .filter(({ n }) => n !== 0)
    .map(({ code, message }) => ({ code, message }))
}

/** @param {Evidence} run @returns {Warning[]} */
const causes = ({ items, commands }) => {
  const told = (/** @type {string} */ cause, /** @type {string} */ of) => ({
    code: 'cause',
    cause: plainText(cause),
    message: `${plainText(cause)} (${of}): ${adviceOf(cause)}`,
  })
  return [
    ...Object.entries(items.failed_by).map(([cause, n]) => told(cause, several(n, 'item'))),
    ...Object.entries(commands.errors_by).map(([cause, n]) => ({
      ...told(cause, `${several(n, 'command')} without items`),
      code: 'errors',
    })),
  ]
}

/**
 * What was refused or lost, and then done after all, cost time, and says something about the servers. Where items came
 * too late for it, it is the reason; a connection that broke is the least of them, since a refusal says why.
 * @param {Evidence} run
 * @returns {Warning[]}
 */
const repeats = ({ items, commands }) =>
  Object.entries(commands.repeated_by ?? {})
    .filter(
      ([cause]) => !toldByEvents.has(cause) && !(cause in items.failed_by) && !(cause in commands.errors_by),
    )
    .toSorted(([a], [b]) => Number(a === 'CLOSED') - Number(b === 'CLOSED'))
    .map(([cause, n]) => ({
      code: 'repeated',
      cause: plainText(cause),
      message: `${plainText(cause)} (${several(n, 'time')}, tried again): ${adviceOf(cause)}`,
      invalidates: items.dropped + items.unsettled > 0,
    }))

/** @param {Evidence} run @returns {Warning[]} */
const rateSustained = (run) => {
  const { nominal, achieved } = run.rate
  const { clients } = run.plan
  if ((!run.ticks.count && !clients) || achieved === null)
    return [
      {
        code: 'no-rate',
        message:
          'no tick was measured, so there is no rate: run for longer than the warm-up and one --period (--duration, --warm-up)',
      },
    ]
  // Users that come by chance come more or fewer in any second: all that came were served.
  if (clients?.arrivals === 'poisson' && run.items.acked === run.items.offered) return []
  if (!nominal || !isScheduled(run) || achieved / nominal >= limits.rateRatio) return []
  const message = `only ${share(achieved / nominal)} of the rate was achieved: ${rate(achieved)} of ${rate(nominal)} items/s${behindAdvice(run)}`
  return [{ code: 'rate', message }]
}

/**
 * Writers of the plan that were not there: what was measured is a part of its load.
 * @param {Evidence} run
 * @returns {Warning[]}
 */
export const absentWriters = ({ writers, plan }) => {
  if (!writers || writers.absent_s === 0 || writers.fewest === null) return []
  const { total, own, fewest, absent_s: absentS, measured_s: measuredS } = writers
  const unit = plan.periodMs === 1000 ? 'items/s' : 'items an interval'
  const mine = `this box writes ${count(plan.items)} of ${count(plan.quantity)} ${unit}`
  const who = `${count(fewest)} of ${several(total, 'writer')} ${fewest === 1 ? 'is' : 'are'} here`
  // A second or less may be the edge of a box's time.
  const times =
    absentS < measuredS ? `in ${absentS.toFixed(1)} of ${measuredS.toFixed(1)} measured seconds only ` : ''
  const all = own === fewest ? 'add -a all to be all of them' : 'start the others'
  return [{ code: absentCode, message: `${times}${who}: ${mine}; ${all}` }]
}

/** @param {Evidence} run @returns {Warning[]} */
const clientBusy = (run) => {
  const { busy_pct: busyPct } = run.client
  if (busyPct === null)
    return [
      {
        code: 'client-unmeasured',
        message: 'the sending thread was not measured, so it may have been the limit',
        invalidates: false,
      },
    ]
  const limit = clientLimit(run.client)
  // The client's own time is a part of what a run in chunks asks for.
  if (limit === null || run.plan.clients?.delivery) return []
  if (limit === 'contended')
    return [
      {
        code: 'client-contended',
        message: `the sending thread was ${contendedWords(run.client)}: other processes took the CPU; end them, or give this process a core of its own (taskset)`,
      },
    ]
  const lighter = run.plan.driver === 'ioredis' ? ', or use --driver socket' : ''
  return [
    {
      code: 'client-saturated',
      message: `a sending thread was ${percent(busyPct)} busy, so the client was the limit; add boxes: writers on another machine (-t, -a auto)${lighter}`,
    },
  ]
}

/** The delay of the proxy is not the one that was asked for. @param {Evidence} run @returns {Warning[]} */
const delayMissed = ({ chunks }) => {
  const { asked = 0, added = 0 } = chunks?.delay ?? {}
  if (asked === 0 || Math.abs(added - asked) <= asked * limits.delayShare) return []
  const message = `the proxy added ${micros(added * 1000)} to a round trip, not ${micros(asked * 1000)}: its own way takes ${micros(chunks.delay.proxy * 1000)} here; ask for a longer --delay, or end other processes`
  return [{ code: 'delay', message }]
}

/** @param {Evidence} run @returns {Warning[]} */
const serverBusy = (run) => {
  const master = busiestNode(run, ['master'])
  if (!master || !isScheduled(run) || !serverWasTheLimit(run)) return []
  return [
    {
      code: 'server-saturated',
      message: `the engine of ${plainText(master.address)} was at ${percent(master.engine_cpu_pct)} of a core: it tops out at about ${rate(run.rate.achieved)} items/s; lower -q, add shards, or take a cheaper strategy`,
      invalidates: false,
    },
  ]
}

/** @param {Evidence} run @returns {Warning[]} */
const observations = ({ server, nodes, interrupted, duration_s: durationS }) => {
  const evicted = server.evicted ?? 0
  const gaps = nodes.reduce((sum, node) => sum + (node.gaps ?? 0), 0)
  const looping = nodes.filter((node) => node.cpu_upper_bound).map((node) => plainText(node.address))
  const blind = nodes.filter((node) => node.gaps).map((node) => plainText(node.address))
  /** @type {[boolean, string, string][]} */
  const all = [
    [
      evicted > 0,
      'evictions',
      `${several(evicted, 'key')} evicted to make room, perhaps of other people; raise maxmemory, shorten --ttl or write less`,
    ],
    [
      server.share !== null && server.share < limits.share,
      'share',
      `this process wrote ${share(server.share)} of what the servers stored; their CPU, memory and network per item are those of all writers together`,
    ],
    [
      Boolean(server.foreign_calls),
      'foreign-load',
      `the servers ran ${count(server.foreign_calls?.calls ?? 0)} ${plainText(server.foreign_calls?.command ?? '').toUpperCase()} that none of this run's writers sent: another application writes there, and their CPU and network per item include what it cost`,
    ],
    [
      (server.fixed_cpu_share ?? 0) > limits.fixedShare,
      'idle-cost',
      `${percent(Number(server.fixed_cpu_share) * 100)} of what the servers used was their idle cost (background work, replication, our PINGs and INFO): an item cost ${micros(server.cpu_us_per_item_net)} ± ${micros(server.cpu_us_per_item_net_uncertainty)} without it, ${micros(server.cpu_us_per_item)} with it; a higher rate makes it a smaller part`,
    ],
    [
      gaps > 0,
      'gaps',
      `${several(gaps, 'sample')} missing of ${blind.join(', ')}: the figures of the nodes leave those seconds out`,
    ],
    [
      looping.length > 0,
      'io-threads',
      `the io-threads of ${looping.join(', ')} wait in a loop, which counts as CPU: the CPU of the servers, and per item, is an upper bound; set io-threads 1, or take a server that reports their active time (Valkey from 9.1) and has a core for each thread`,
    ],
    [
      interrupted,
      'interrupted',
      `stopped by hand after ${durationS.toFixed(1)} s; the figures cover that time`,
    ],
  ]
  return all
    .filter(([applies]) => applies)
    .map(([, code, message]) => ({ code, message, invalidates: false }))
}

/** @param {Evidence['items']} items */
const outcomesOf = ({ acked, failed, uncertain, dropped, unsettled }) =>
  acked + failed + uncertain + dropped + unsettled

/**
 * The identity that every run checks: what was offered is what was counted under the outcomes.
 * @param {Evidence} run
 * @returns {Warning[]}
 */
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
  return faults.map((fault) => ({
    code: 'accounting',
    message: `${fault}: this is an internal error of Millrace, please report it`,
  }))
}

// The first reason named should be the cause: what happened to the client, then what servers said, then what came of it.
export const writerReasons = [
  accountingFaults,
  absentWriters,
  (/** @type {Evidence} */ { client }) => clientStopped(client),
  clientBusy,
  delayMissed,
  causes,
  repeats,
  lostItems,
  rateSustained,
  serverBusy,
  observations,
]
