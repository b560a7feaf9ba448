// The workers of a queue in plain words.
import { count, micros, percent, plainText, rate, several } from '../../base/units.js'
import { answersIn } from '../../measures/index.js'

/**
 * @import { AnyPlan as Plan, WorkRun as Run } from '../../result/document.js'
 * @import { Loaded } from '../index.js'
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

/** `50,000 produced = 49,000 done + 1,000 queued + 0 in flight + 0 lost` @param {Run} run */
const accountWords = ({ jobs: { account, duplicates } }) => {
  if (!account) return 'not known: the queue could not be read at the end'
  const {
    produced,
    done,
    done_elsewhere: elsewhere,
    queued,
    in_flight: inFlight,
    lost,
    unknown = 0,
  } = account
  return [
    `${count(produced)} produced = ${count(done)} done + ${count(queued)} queued + ${count(inFlight)} in flight + ${count(lost)} lost${unknown > 0 ? ` + ${count(unknown)} unknown` : ''}`,
    elsewhere > 0 && `${count(elsewhere)} of them by other boxes or earlier runs`,
    account.passed > 0 && `${count(account.passed)} between the stages`,
    `${count(Math.max(duplicates, account.duplicates))} done again`,
    account.unacknowledged > 0 &&
      `${count(account.unacknowledged)} without an acknowledgement to their producer`,
  ]
    .filter(Boolean)
    .join(' · ')
}

/** @param {Run['waiting_us']} us @param {readonly ('p50' | 'p90' | 'p99' | 'max')[]} which */
const times = (us, which) =>
  us && us.max != null ? which.map((name) => `${name} ${micros(us[name])}`).join(', ') : ''

/** The promise, as a sentence. @param {Run} run */
const promiseWords = ({ jobs: { promise, reclaimed = 0 }, commands: { lost_replies: replies } }) => {
  const lost = replies.take + replies.confirm
  return [
    promise === 'at-least-once'
      ? 'each job at least once: confirmed when done, and taken over from a worker that is silent'
      : 'each job at most once: what a worker has in hand is lost with it',
    lost > 0 && `${several(lost, 'connection')} lost with a reply on the way`,
    reclaimed > 0 && `${several(reclaimed, 'job')} came back`,
  ]
    .filter(Boolean)
    .join(' · ')
}

/** 'box-a 12,000, box-b 11,900 jobs · fairness 0.999': the first is the one that reports. @param {Run} run */
const boxesWords = ({ jobs: { account }, workers }) =>
  account?.boxes
    ? `${account.boxes.map(({ host, done }) => `${plainText(host)} ${count(done)}`).join(', ')} jobs · fairness ${workers.boxes_fairness?.toFixed(3) ?? '–'}`
    : ''

/** @param {Run['workers']} workers @param {{ take: number, us: number }} work */
const busyWords = (workers, { take, us }) => {
  const { busy_share: busy, jobs_a_take: each, work_us_mean: mean, fewest, most, count: n } = workers
  return [
    `${several(n, 'worker')}${busy == null ? '' : `, jobs in hand ${percent(100 * busy)} of the time`}`,
    each != null && take > 1 && `${each.toFixed(1)} jobs a take`,
    us > 0 && mean != null && `work of a job ${micros(mean)}`,
    n > 1 && `${count(fewest)} to ${count(most)} jobs each`,
    workers.rate && `${rate(workers.rate)} jobs/s`,
  ]
    .filter(Boolean)
    .join(' · ')
}

/** @param {Run} run */
const stageRows = ({ workers, stages, plan: { work } }) =>
  stages
    ? [
        { label: 'filters', text: busyWords(stages.filter, work) },
        { label: 'outputs', text: busyWords(stages.output, { ...work, ...work.outputs }) },
      ]
    : [{ label: 'workers', text: busyWords(workers, work) }]

/** @param {Run} run */
const costWords = ({ server }) => {
  if (server?.cpu_us_per_job == null) return ''
  const commands = Object.entries(server.commands ?? {})
    .filter(([, { calls }]) => calls > 0)
    .toSorted(([, a], [, b]) => b.usec - a.usec)
    .map(([name, { calls, usec }]) => `${name.toUpperCase()} ${micros(usec / calls)} x ${count(calls)}`)
  return [
    `${micros(server.cpu_us_per_job)} of gross server CPU a job, of all that the servers did in that time`,
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
  { label: 'jobs', text: accountWords(run) },
  { label: 'boxes', text: boxesWords(run) },
  { label: 'promise', text: promiseWords(run) },
  { label: 'latency', text: latencyWords(run) },
  ...stageRows(run),
  { label: 'reconnects', text: reconnectWords(run) },
  ...answersIn('queue', run, 'job'),
  { label: 'cost of a job', text: costWords(run) },
]

/** @param {Run} run */
const reconnectWords = ({ connections }) =>
  connections
    ? `${several(connections.renewed, 'connection')} opened anew (${connections.stated} asked for), ${times(connections.connect_us, ['p50', 'max'])}`
    : ''

/** @param {Run} run */
const latencyWords = ({ latency_us: latency, waiting_us: waiting, stages }) => {
  const whole = times(latency.intended, ['p50', 'p90', 'p99', 'max'])
  if (!whole) return ''
  const filtered = stages ? `, to filtered ${times(stages.filter.latency_us, ['p50', 'p99'])}` : ''
  return `${whole} from production to done${filtered} (${stages ? 'to an output' : 'in the queue'} p50 ${micros(waiting?.p50)}, p99 ${micros(waiting?.p99)})`
}

/** @param {Run} run */
const facts = (run) => [
  { label: 'jobs', text: accountWords(run) },
  { label: 'boxes', text: boxesWords(run) },
  { label: 'take', text: times(run.take_us, ['p50', 'p99', 'max']) },
  { label: 'confirm', text: times(run.confirm_us, ['p50', 'p99', 'max']) },
  { label: 'client', text: `event loop ${percent(run.client.busy_pct)} busy` },
]

export const words = {
  does: 'works off',
  load,
  plan: (/** @type {Plan} */ { prefix }) => (prefix ? `prefix ${prefix}` : ''),
  rows,
  facts,
  times: (/** @type {Run} */ run) => [
    { name: 'production to done', figures: run.latency_us.intended, unit: /** @type {const} */ ('us') },
    { name: 'taken to done', figures: run.latency_us.service, unit: /** @type {const} */ ('us') },
  ],
  good: () => 'every job has one place',
}
