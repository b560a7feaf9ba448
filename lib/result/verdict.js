// Whether a run may be quoted, and if not, every reason by name and what to do about it.
import { count, micros, percent, plainText, rate, several, share } from '../base/units.js'

/**
 * @typedef {object} Warning
 * @property {string} code stable, for programs
 * @property {string} message
 * @property {boolean} [invalidates] false: worth knowing, but the figures stand
 * @property {string} [cause]
 */
/** @typedef {import('./document.js').Measurements} Evidence */
/** @typedef {'valid' | 'partial' | 'not-valid'} State partial: all is well but for writers that were not there */

const limits = Object.freeze({
  rateRatio: 0.99,
  clientBusyPct: 90,
  clientCpuShare: 0.8,
  engineCpuPct: 95,
  share: 0.95,
  fixedShare: 0.05,
})

/** The reason that leaves a run partial where it is the only one. */
export const absentCode = 'absent-writers'

/** What a cause means and what to do; the causes are the first words of error lines, and ours in small letters. */
const adviceByCause = new Map(
  Object.entries({
    OOM: 'a server is at its memory limit and evicts nothing; raise maxmemory, shorten --ttl or write less',
    MOVED: 'slots moved faster than commands could be sent again; wait for the resharding to end and repeat',
    ASK: 'slots were under way and their commands could not be sent after them; wait for the resharding to end',
    TRYAGAIN: 'the keys of one command were on both sides of a moving slot; wait for the resharding to end',
    CLUSTERDOWN: 'the cluster has slots without a master; look at CLUSTER INFO and repeat when it is ok',
    CROSSSLOT: 'the keys of one command lie in several slots; use --spread or --same-slot',
    READONLY: 'writes went to a replica; name a master in --url, or use --cluster to follow the masters',
    NOSCRIPT: 'the script left the server (SCRIPT FLUSH or a failover); keep others from flushing and repeat',
    LOADING: 'a server was still reading its data set from disk; wait until it is ready and repeat',
    MASTERDOWN: 'a replica had lost its master; wait until the link is up and repeat',
    NOREPLICAS: 'a master had too few good replicas (min-replicas-to-write); bring them back and repeat',
    BUSY: 'a script blocked the server; find it with SLOWLOG GET, or end it with SCRIPT KILL',
    NOAUTH: 'the server wants a password; set --username and --password',
    WRONGPASS: 'the server refused the name or the password; correct --username and --password',
    NOPERM: 'the user may not run these commands or touch these keys; extend its ACL',
    MISCONF: 'the server cannot save its snapshots and refuses writes; mend its disk or its save setting',
    WRONGTYPE: 'a key of ours already holds another type; choose another --prefix or remove that key',
    ERR: 'the server refused the command itself; its log may say why, or its version may not suit the strategy',
    'ERR unknown command':
      'the server lacks a command of this strategy; use a newer server or another --strategy',
    'ERR max clients': 'the server takes no more connections; raise maxclients or close some',
    CLOSED:
      'the connection broke before the answer came; see the events, the network, and the server log, which says too when a client was over client-output-buffer-limit',
  }),
)
// A redirect that was followed is no advice's matter: the events say what moved.
const toldByEvents = new Set(['MOVED', 'ASK'])
const unknownCause = 'look the word up in the documentation and the log of the server'

/** @param {Evidence} run */
const isScheduled = (run) => run.rate.nominal !== null && run.plan.pacing !== 'closed'

/**
 * A loop that was never idle, and why: it had work for a whole core; or others took the core from it, and its CPU is
 * far below the time it was busy.
 * @param {{ busy_pct?: number | null, thread_cpu_pct?: number | null, cpu_pct?: number | null }} client
 * @returns {'saturated' | 'contended' | null}
 */
export const clientLimit = ({ busy_pct: busyPct, thread_cpu_pct: threadPct, cpu_pct: cpuPct }) => {
  if ((busyPct ?? 0) <= limits.clientBusyPct) return null
  const usedPct = threadPct ?? cpuPct ?? 100
  return usedPct < Number(busyPct) * limits.clientCpuShare ? 'contended' : 'saturated'
}

/** @param {{ busy_pct?: number | null, thread_cpu_pct?: number | null, cpu_pct?: number | null }} client */
export const contendedWords = ({ busy_pct: busyPct, thread_cpu_pct: threadPct, cpu_pct: cpuPct }) =>
  `${percent(busyPct)} busy with only ${percent(threadPct ?? cpuPct)} of a core`

/** The process did not run for a while: what fell due then came late. @param {{ stopped_ms?: number | null }} client @returns {Warning[]} */
export const clientStopped = ({ stopped_ms: stoppedMs }) =>
  stoppedMs
    ? [
        {
          code: 'client-stopped',
          message: `this process did not run for ${(stoppedMs / 1000).toFixed(1)} s: it was stopped (a signal, a debugger, a paused container or machine) or got no CPU; everything that was due then came late`,
        },
      ]
    : []

/** @param {Evidence} run */
const clientWasTheLimit = ({ client }) => clientLimit(client) !== null || Boolean(client.stopped_ms)

/**
 * The master whose engine works hardest; undefined without masters.
 * @param {Pick<Evidence, 'nodes'>} run
 */
export const busiestMaster = ({ nodes }) =>
  nodes
    .filter(({ role }) => role === 'master')
    .toSorted((a, b) => (b.engine_cpu_pct ?? -1) - (a.engine_cpu_pct ?? -1))
    .at(0)

/** @param {Evidence} run */
const serverWasTheLimit = (run) => (busiestMaster(run)?.engine_cpu_pct ?? 0) >= limits.engineCpuPct

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
    message: `${plainText(cause)} (${of}): ${adviceByCause.get(cause) ?? unknownCause}`,
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
      message: `${plainText(cause)} (${several(n, 'time')}, tried again): ${adviceByCause.get(cause) ?? unknownCause}`,
      invalidates: items.dropped + items.unsettled > 0,
    }))

/** @param {Evidence} run @returns {Warning[]} */
const rateHeld = (run) => {
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
  if (limit === null) return []
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
      message: `a sending thread was ${percent(busyPct)} busy, so the client was the limit; add boxes: agents on another machine (-t, -a auto)${lighter}`,
    },
  ]
}

/** @param {Evidence} run @returns {Warning[]} */
const serverBusy = (run) => {
  const master = busiestMaster(run)
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

/**
 * @param {Warning[]} given what others noticed
 * @param {Warning[]} found
 * @returns {{ valid: boolean, state: State, warnings: (Warning & { invalidates: boolean })[] }} reasons first, then notes
 */
export const ruling = (given, found) => {
  const warnings = [...given, ...found].map((warning) => ({ invalidates: true, ...warning }))
  warnings.sort((a, b) => Number(b.invalidates) - Number(a.invalidates))
  const reasons = warnings.filter(({ invalidates }) => invalidates)
  return { valid: reasons.length === 0, state: stateBy(reasons.map(({ code }) => code)), warnings }
}

/** @param {readonly string[]} codes of what makes a run invalid @returns {State} */
export const stateBy = (codes) => {
  if (codes.length === 0) return 'valid'
  return codes.every((code) => code === absentCode) ? 'partial' : 'not-valid'
}

/** 'not valid', as texts have it. @param {{ state?: State, valid: boolean }} run results of before have no state */
export const stateWords = ({ valid, state = valid ? 'valid' : 'not-valid' }) => state.replace('-', ' ')

// The first reason named should be the cause: what happened to the client, then what servers said, then what came of it.
const rules = [
  absentWriters,
  (/** @type {Evidence} */ { client }) => clientStopped(client),
  clientBusy,
  causes,
  repeats,
  lostItems,
  rateHeld,
  serverBusy,
  observations,
]

/**
 * @param {Evidence} run
 * @param {Warning[]} [given] what others noticed: an uneven placement, a lost lease, a broken account
 */
export const verdict = (run, given = []) =>
  ruling(
    given,
    rules.flatMap((rule) => rule(run)),
  )
