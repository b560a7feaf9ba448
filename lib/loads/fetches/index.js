// Consumers that read what is there, again and again.
import { asPercent, count, facts, percent, plainText, several } from '../../base/units.js'
import { clientLimit, clientStopped, contendedWords } from '../../measures/client-limit.js'
import { answersIn, ofReaders, SECTIONS } from '../../measures/index.js'
import { clockNote, gapsNote, interruptedNote, note, reasonsBy } from '../../measures/warnings.js'
import { clockLimitMs } from '../../probes/clocks.js'
import { lifetimeWords } from '../../traffic/lifetimes.js'
import { names } from '../names.js'
import { fetchTimesWords } from '../rhythm.js'
import { driverWords, setsWords, unitOf } from '../words.js'
import { readPlanOf } from './plan.js'

/**
 * @import { AnyPlan as Plan } from '../../measures/measure.js'
 * @import { Reasons } from '../../measures/warnings.js'
 * @import { ReadRun, WriteRun } from '../../result/document.js'
 * @import { Loaded } from '../index.js'
 * @import { ReaderRun } from './open.js'
 *
 * @typedef {NonNullable<WriteRun['readers']>} Readers of a fleet
 */

/** What is fetched, how often, by how many. @param {Loaded} run */
const load = ({ plan, consumers }) => {
  const every = fetchTimesWords(plan)
  const all = plan.agents.length === plan.totalAgents
  const total = several(plan.totalAgents * plan.consumers, 'consumer')
  const what = plan.limit > 0 ? `the newest ${count(plan.limit)} items` : 'all live items'
  return `${all ? total : `${consumers} of ${total}`} fetch${consumers === 1 && all ? 'es' : ''} ${what} ${every}`
}

/** @param {Plan} plan */
const plan = (plan) =>
  facts([
    plan.mode === 'script' ? 'by script' : plan.values ? `by ${plan.valuesBy.toUpperCase()}` : 'ids only',
    `ttl ${lifetimeWords(plan)}`,
    setsWords(plan),
    plan.verify && 'every value verified',
    driverWords(plan),
    plan.prefix && `prefix ${plan.prefix}`,
    plan.source === 'target' ? 'plan from the target' : 'no plan in the target',
  ])

/** What consumers read, of one process or of all readers of a fleet. @param {ReadRun | Readers} run @param {string} label of its rate */
export const readRows = (run, label) =>
  [
    ...answersIn('rate', run, unitOf(run.plan)).map((row) => ({ ...row, label })),
    ...answersIn('found', run, unitOf(run.plan)),
    ...answersIn('reads', run, unitOf(run.plan)),
  ].filter(({ text }) => text)

/** Which nodes answered reads of values, from every client. @param {ReadRun} run */
const servedWords = ({ commands, plan }) => {
  const name = plan.valuesBy
  const [master, replica] = [commands.master?.[name]?.calls ?? 0, commands.replica?.[name]?.calls ?? 0]
  return master + replica > 0
    ? `${name.toUpperCase()} by replicas ${count(replica)}, by masters ${count(master)}`
    : ''
}

const words = {
  does: 'reads',
  load,
  plan,
  rows: (/** @type {ReadRun} */ run) => readRows(run, 'rate'),
  facts: (/** @type {ReadRun} */ run) => [
    ...answersIn('details', run, unitOf(run.plan)),
    { label: 'served', text: servedWords(run) },
  ],
  times: () => [],
  good: (/** @type {ReadRun} */ { verify, plan: { knowsBytes } }) =>
    `every fetch on time and whole${verify && knowsBytes ? ', every value right' : ''}`,
}

/**
 * @typedef {Pick<ReadRun, 'plan' | 'client' | 'nodes' | 'verify' | 'interrupted' | 'duration_s'> & Found} Evidence of run.json
 * @typedef {object} Found
 * @property {ReadRun['fetches'] & { numbers: Record<string, { mean?: number }>, from_future?: { fetches: number, max_ms: number } }} fetches
 * @property {{ share: number, expected: number } | null} [live]
 * @property {ReadRun['clocks']} [clocks]
 * @typedef {(run: Evidence) => Reasons} Reason
 */

// A tick may be late, and a few items dead while they are read.
const leastShare = 0.9

/** @type {Reason} */
const nothingRead = ({ fetches, plan }) => {
  const stored = fetches.numbers.cardinality?.mean ?? 0
  const where = plan.prefix ? `prefix ${plan.prefix}` : 'no prefix'
  return {
    'no-fetch':
      fetches.count === 0 &&
      !fetches.failed &&
      'no fetch was completed: run for longer (--duration), or fetch less (--limit)',
    'no-items':
      fetches.count !== 0 &&
      !((fetches.items ?? 0) > 0) &&
      (stored > 0
        ? `about ${count(Math.round(stored))} items are stored, but none is younger than ${plan.ttlS} s: the writer is that far behind, or has ended; see its result (-q, --max-behind), or give the --ttl it writes with`
        : `nothing was there to read: no writer of ${plan.strategy} is at work under ${where}; start one, or set --strategy, --prefix`),
  }
}

/** @type {Reason} */
const failures = ({ fetches: { failed, failed_by: by, count: whole } }) => {
  const causes = Object.entries(by).map(([cause, n]) => `${plainText(cause)} ${count(n)}`)
  const gone = ['CLOSED', 'CONNECT', 'UNSETTLED'].some((cause) => cause in by)
  const words = gone
    ? ': servers were gone or did not answer, see the events (local ones end with their writer)'
    : ''
  return {
    failed: failed !== 0 && {
      message: `${count(failed)} of ${count((failed ?? 0) + (whole ?? 0))} fetches failed (${causes.join(', ')})${words}`,
      cause: Object.keys(by)[0],
    },
  }
}

/** @param {Evidence} run */
const overrunWords = ({ client, plan }) => {
  const why = {
    saturated: `this process was ${percent(client.busy_pct)} busy: raise --threads where cores are free, or read with fewer consumers here, more boxes (-t)${plan.driver === 'ioredis' ? ' or --driver socket' : ''}`,
    contended: `this process was ${contendedWords(client)}: other processes took the CPU; end them`,
    none: 'the servers or the network were not fast enough: read less (--limit) or less often (-p)',
  }
  return client.stopped_ms ? 'this process did not run' : why[clientLimit(client) ?? 'none']
}

/** @type {Reason} */
const wrongValues = ({ verify, plan, fetches }) => {
  if (!verify) return {}
  const { missing = 0, corrupt = 0, unexpected = 0, stale = 0, unjudged = 0, checked, examples = [] } = verify
  const found = Object.entries({ missing, corrupt, unexpected, stale }).flatMap(([what, n]) =>
    n > 0 ? [`${count(n)} ${what}`] : [],
  )
  return {
    verify:
      found.length > 0 &&
      `not everything read is right: ${found.join(', ')}; for example ${examples.slice(0, 3).map(plainText).join('; ')}`,
    'verify-limited':
      !plan.knowsBytes &&
      note(
        'the target had no plan at the start, so only the presence of values was verified, not their bytes; the options of the writer (--payload, --value-size, --seed) define them',
      ),
    'verify-nothing':
      plan.knowsBytes &&
      checked === 0 &&
      found.length === 0 &&
      ((fetches.values ?? 0) > 0
        ? 'no value was verified: those read may be of an earlier plan until this one is a --ttl old; run for longer (--duration)'
        : 'no value was verified: there was none to read'),
    'verify-unjudged':
      unjudged > 0 &&
      note(`${count(unjudged)} missing values could not be read again, so they are not judged`),
  }
}

/** @type {Reason} */
const others = (run) => {
  const { fetches, client, plan, live } = run
  const limit = clientLimit(client)
  const { fetches: future, max_ms: aheadMs } = fetches.from_future ?? { fetches: 0, max_ms: 0 }
  return {
    overrun:
      fetches.overrun !== 0 &&
      `${several(fetches.overrun ?? 0, 'deadline')} passed while the previous fetch was still running; ${overrunWords(run)}`,
    'too-few':
      live &&
      live.share < leastShare &&
      fetches.items !== 0 &&
      `fetches found about ${asPercent(live.share)} of the ${count(Math.floor(live.expected))} items that are alive by the writer's plan: it is behind or not all of its writers are at work (see its result, -t), or strategy ${plan.strategy} does not keep them all for ${plan.ttlS} s`,
    ...wrongValues(run),
    // A writer whose clock is ahead of the servers'.
    'clock-writer':
      future > 0 &&
      note(
        `the newest item of ${count(future)} of ${count(fetches.count)} fetches was from up to ${(aheadMs / 1000).toFixed(1)} s in the future: the clock of its writer is ahead of the servers', so its age is unknown and not in the freshness`,
        aheadMs > clockLimitMs,
      ),
    'client-saturated':
      limit === 'saturated' &&
      fetches.overrun === 0 &&
      note(
        `this process was ${percent(client.busy_pct)} busy: the times of the fetches are its own as much as the servers'`,
      ),
    'client-contended':
      limit === 'contended' &&
      fetches.overrun === 0 &&
      note(
        `this process was ${contendedWords(client)}: other processes took the CPU, and the times of the fetches hold how long it waited for it`,
      ),
    clock: clockNote(run.clocks ?? [], 'cut-offs are'),
    nils:
      plan.values &&
      !plan.verify &&
      (fetches.nils ?? 0) > (fetches.items ?? 0) / 10 &&
      note(`${count(fetches.nils)} of ${count(fetches.items)} ids had no value any more; --verify shows why`),
    gaps: gapsNote(run.nodes),
    interrupted: interruptedNote(run),
  }
}

export const reasons = [clientStopped, nothingRead, failures, others].map(reasonsBy)

export const fetches = Object.freeze({
  /** @type {'consumer'} */
  document: 'consumer',
  names: names.fetches,
  plan: readPlanOf,
  open: async (/** @type {ReaderRun} */ run) => (await import('./open.js')).openFetches(run),
  measures: ofReaders,
  sections: SECTIONS.consumer,
  words,
  reasons,
})
