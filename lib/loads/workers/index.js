// Workers that take jobs out of a queue, do and confirm them.
import { exactly } from '../../base/typed.js'
import { count, micros, percent, plainText, rate, several } from '../../base/units.js'
import { accounted } from '../../measures/account.js'
import { clientLimit, clientStopped } from '../../measures/client-limit.js'
import { answersIn, ofWorkers, SECTIONS } from '../../measures/index.js'
import { timesLine } from '../../measures/measure.js'
import { rowsOf } from '../../measures/section.js'
import { clockNote, gapsNote, interruptedNote, note, reasonsBy } from '../../measures/warnings.js'
import { connections, stages, working } from '../../measures/workers.js'
import { names } from '../names.js'
import { workPlanOf } from './plan.js'

/**
 * @import { AnyPlan as Plan } from '../../measures/measure.js'
 * @import { WorkRun as Run } from '../../result/document.js'
 * @import { Loaded } from '../index.js'
 * @import { Reasons } from '../../measures/warnings.js'
 * @import { openWorkers } from './open.js'
 */

/** @param {{ us: number, kind: 'cpu' | 'sleep' }} work */
export const workWords = ({ us, kind }) =>
  us === 0 ? 'no work' : `${micros(us)} of ${kind === 'cpu' ? 'computing' : 'waiting'} a job`

/** 'handed over to 4 output workers, 1.00 ms of waiting a job' @param {NonNullable<Run['plan']['work']['outputs']>} outputs */
const outputsWords = ({ workers, us, kind }) =>
  `handed over to ${several(workers, 'output worker')}, ${workWords({ us, kind })}`

/** 'takes up to 50 jobs at once' @param {Loaded} run */
const load = ({ plan: { work } }) => {
  const { workers, outputs, take, kind, us, confirm } = work
  const does = workWords({ us, kind })
  return `${several(workers, outputs ? 'filter worker' : 'worker')} that take${workers === 1 ? 's' : ''} ${take === 1 ? 'one job' : `up to ${count(take)} jobs`} at once, ${does}${outputs ? `, ${outputsWords(outputs)}` : ''}${confirm ? ', confirmed' : ''}`
}

/** @param {Run['waiting_us']} us @param {readonly ('p50' | 'p90' | 'p99' | 'max')[]} which */
const times = (us, which) =>
  us && us.max != null ? which.map((name) => `${name} ${micros(us[name])}`).join(', ') : ''

/** @param {Run} run */
const costWords = ({ server }) => {
  if (server?.cpu_us_per_job == null) return ''
  const commands = Object.entries(server.commands ?? {})
    .filter(([, { calls }]) => calls > 0)
    .toSorted(([, a], [, b]) => b.usec - a.usec)
    .map(([name, { calls, usec }]) => `${name.toUpperCase()} ${micros(usec / calls)} x ${count(calls)}`)
  return [
    `${micros(server.cpu_us_per_job)} of server CPU per job, of all that the servers did in that time`,
    ...commands.slice(0, 5),
  ].join(' · ')
}

// A shorter wait is that of every run that begins.
const shownMs = 100

/** 'the first was taken after 1.20 s': the time that is not in the rate. @param {Run} run */
const idleWords = ({
  duration_s: durationS,
  jobs: { first_ms: firstMs = 0, last_ms: lastMs = durationS * 1000 },
}) =>
  [
    firstMs > shownMs && `the first was taken after ${micros(firstMs * 1000)}`,
    durationS * 1000 - lastMs > shownMs &&
      `none was done in the last ${micros(durationS * 1e6 - lastMs * 1000)}`,
  ]
    .filter(Boolean)
    .join(', ')

/** @param {Run} run */
const briefCost = ({ server }) =>
  server?.cpu_us_per_job == null ? '' : `${micros(server.cpu_us_per_job)} per job, idle included`

/** @param {Run} run */
const briefAccount = ({ jobs: { account, done } }) => {
  if (!account) return `${count(done)} done; the queue could not be read at the end`
  const { queued, in_flight: inFlight, lost, unknown = 0 } = account
  const others = Object.entries({ queued, 'in flight': inFlight, lost, unknown }).filter(([, n]) => n > 0)
  return [`${count(done)} done`, ...others.map(([name, n]) => `${count(n)} ${name}`)].join(', ')
}

/** @param {Run} run */
const rateWords = (run) => {
  const idle = idleWords(run)
  const produced = run.plan.producedHz ? `, ${rate(run.plan.producedHz)} jobs/s produced by the plan` : ''
  return `${rate(run.rate.achieved)} jobs/s done from the first job to the last${idle ? ` (${idle})` : ''}${produced}`
}

/** @param {Run} run */
const rows = (run) => [
  {
    label: 'rate',
    text: rateWords(run),
  },
  ...accounted.rows(run),
  { label: 'latency', text: latencyWords(run) },
  ...rowsOf([working, stages, connections], run),
  ...answersIn('queue', run, 'job'),
  { label: 'cost of a job', text: costWords(run) },
]

/** @param {Run} run */
const latencyWords = ({ latency_us: latency, waiting_us: waiting, stages }) => {
  const whole = times(latency.intended, ['p50', 'p90', 'p99', 'max'])
  if (!whole) return ''
  const filtered = stages ? `, to filtered ${times(stages.filter.latency_us, ['p50', 'p99'])}` : ''
  return `${whole} from production to done${filtered} (${stages ? 'to an output' : 'in the queue'} p50 ${micros(waiting?.p50)}, p99 ${micros(waiting?.p99)})`
}

/** @param {Run} run */
const facts = (run) => [
  ...accounted.rows(run).filter(({ label }) => label !== 'promise'),
  { label: 'take', text: times(run.take_us, ['p50', 'p99', 'max']) },
  { label: 'confirm', text: times(run.confirm_us, ['p50', 'p99', 'max']) },
  { label: 'load generator', text: `event loop ${percent(run.client.busy_pct)} busy` },
]

/** What a valid run does not know. @param {Run} run */
const doubtOf = ({ jobs: { account } }) =>
  account?.unknown
    ? `${several(account.unknown, 'job')} of ${count(account.produced)} may be done or lost`
    : null

const words = {
  does: 'works off',
  load,
  plan: (/** @type {Plan} */ { prefix }) => (prefix ? `prefix ${prefix}` : ''),
  brief: (/** @type {Run} */ run) => [
    { label: 'jobs', text: briefAccount(run) },
    { label: 'server CPU', text: briefCost(run) },
    { label: 'queued to done', text: timesLine(run.latency_us.intended) },
  ],
  rows,
  facts,
  times: (/** @type {Run} */ run) => [
    { name: 'production to done', figures: run.latency_us.intended, unit: exactly('us') },
    { name: 'taken to done', figures: run.latency_us.service, unit: exactly('us') },
  ],
  doubt: doubtOf,
  good: (/** @type {Run} */ run) =>
    doubtOf(run) ? `${doubtOf(run)}, every other has one place` : 'every job has one place',
}

/**
 * @typedef {Run & { jobs: { from_future?: { jobs: number, max_us: number } } }} Evidence run.json without its judgement
 * @typedef {(run: Evidence) => Reasons} Reason
 */

const leastRenewed = 0.9
// Not all workers find a job at once.
const spare = 1.3

/** @type {Reason} */
const refusals = ({ commands }) => ({
  refused: Object.entries(commands.refused_by).map(([cause, n]) => ({
    cause: plainText(cause),
    message: `the servers refused ${several(n, 'command')} of workers (${plainText(cause)})`,
  })),
})

/** How many workers would be enough, if their process is not the limit. @param {Evidence} run @param {number} grown */
const moreWorkers = ({ workers, jobs, client }, grown) => {
  const needed = Math.ceil((spare * workers.count * (jobs.done + grown)) / jobs.done)
  return clientLimit(client) === null && needed <= 1000 ? `; set --workers ${needed}` : ''
}

/** @type {Reason} */
const observations = (run) => {
  const { jobs, backlog, workers, server, plan, connections, duration_s: durationS } = run
  const grown = (backlog?.last ?? 0) - (backlog?.first ?? 0)
  const { from_future: future, account } = jobs
  const passed = plan.work.outputs ? 0 : (account?.passed ?? 0)
  const wanted = (plan.work.reconnectHz ?? 0) * durationS
  return {
    backlog:
      grown > workers.count * 2 &&
      durationS > 0 &&
      note(
        `the queue grew by ${count(grown)} jobs: these workers do not sustain the producers' rate, and latencies grow with the length of the run${moreWorkers(run, grown)}`,
      ),
    'clock-producer':
      future &&
      `${count(future.jobs)} jobs were from up to ${micros(future.max_us)} in the future: the clock of their producer is ahead, and they are not in the latencies`,
    foreign:
      (account?.foreign ?? 0) > 0 &&
      `${count(account?.foreign)} entries of the queue are not jobs of Millrace: another program uses it`,
    unconfirmed:
      (account?.unconfirmed ?? 0) > 0 &&
      note(
        `${several(account?.unconfirmed ?? 0, 'job')} done are still in the queue, and would be done again`,
      ),
    passed:
      passed > 0 &&
      note(
        `${several(passed, 'job')} of an earlier run are in the second queue, which only --with outputs drains`,
      ),
    reconnects:
      connections &&
      connections.renewed < wanted * leastRenewed - 1 &&
      `only ${count(connections.renewed)} of ${count(wanted)} connections were opened anew: workers were blocked or at work; lower --reconnects`,
    evictions: (server?.evicted ?? 0) > 0 && `${count(server?.evicted)} keys were evicted to make room`,
    clock: clockNote(run.clocks ?? [], 'latencies are'),
    gaps: gapsNote(run.nodes),
    interrupted: interruptedNote(run),
  }
}

const reasons = [
  reasonsBy(clientStopped),
  accounted.reasons,
  reasonsBy(refusals),
  working.reasons,
  reasonsBy(observations),
]

export const workers = Object.freeze({
  /** @type {'workers'} */
  document: 'workers',
  names: names.workers,
  plan: workPlanOf,
  open: async (/** @type {Parameters<typeof openWorkers>[0]} */ needs) =>
    (await import('./open.js')).openWorkers(needs),
  measures: ofWorkers,
  sections: SECTIONS.workers,
  words,
  reasons,
})
