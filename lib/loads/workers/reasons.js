// Why a run of the workers of a queue may not be quoted: every reason by name and what to do about it.
import { asPercent, count, micros, percent, plainText, several } from '../../base/units.js'
import { clientLimit, clientStopped, contendedWords } from '../../measures/client-limit.js'
import { clockNote, gapsNote, notes } from '../../measures/warnings.js'

/**
 * @import { NodeFigures } from '../../result/document.js'
 * @import { Note, Warning } from '../../measures/warnings.js'
 *
 * @typedef {Record<string, any> & { nodes: NodeFigures[] }} Evidence run.json without its judgement
 */

// Computing takes longer while others use the core; a timer of Node fires up to a millisecond late, and later on a busy
// machine.
const workShare = 0.2
const timerUs = 2000
const starvedShare = 0.5
const leastRenewed = 0.9
// Not all workers find a job at once.
const spare = 1.3

/** Each job must be in exactly one place. @param {Evidence} run @returns {Warning[]} */
const accounting = ({ jobs: { account, settled } }) => {
  if (account === null)
    return [
      {
        code: 'account',
        message:
          'what the queue holds could not be read at the end, so it is unknown whether jobs were lost: see the events, and repeat',
      },
    ]
  const { produced, done, queued, in_flight: inFlight, lost, unknown = 0, makers_at_work: makers } = account
  const sum = done + queued + inFlight + lost + unknown
  /** @type {Warning[]} */
  const warnings = []
  if (produced !== sum)
    warnings.push({
      code: 'accounting',
      message: `${count(produced)} jobs were produced, but ${count(sum)} have a place: this is an internal error of Millrace, please report it`,
    })
  warnings.push(...doubts(account))
  if (makers > 0)
    warnings.push({
      code: 'makers',
      message: `${several(makers, 'producer')} went on: the account covers the jobs that were produced by then`,
      invalidates: false,
    })
  if (settled === false)
    warnings.push({
      code: 'unsettled',
      message:
        'workers still had jobs in hand when the run ended: lower --take, or see which server stopped answering',
    })
  return warnings
}

/** Jobs that another box may have done since its last account. @param {Evidence['jobs']['account']} account @returns {Warning[]} */
const doubts = ({ unknown = 0, produced, boxes_at_work: boxes, boxes_silent: silent = 0 }) => {
  if (unknown === 0) return []
  const jobs = `${several(unknown, 'job')} of ${count(produced)}`
  if (boxes > 0)
    return [
      {
        code: 'boxes',
        message: `${boxes === 1 ? 'another consumer still takes' : `${count(boxes)} other consumers still take`} jobs of this queue, and ${jobs} are in ${boxes === 1 ? 'its' : 'their'} hands or done since ${boxes === 1 ? 'its' : 'their'} last account: the last one to end has the whole account`,
      },
    ]
  return [
    {
      code: 'unknown',
      message: `${jobs} may be done or lost: ${silent === 1 ? 'a consumer' : `${count(silent)} consumers`} did not end and ${silent === 1 ? 'gives' : 'give'} no sign any more, so what was confirmed there since the last account, about a second, is not known`,
      invalidates: false,
    },
  ]
}

/** @param {Evidence} run @returns {Warning[]} */
const losses = ({ jobs: { account, promise }, commands }) => {
  if (account === null) return []
  const { lost, duplicates, examples, produced } = account
  const replies = commands.lost_replies.take
  const promises = promise === 'at-least-once'
  return [
    ...(lost > 0
      ? [
          {
            code: 'lost',
            message: promises
              ? `${several(lost, 'job')} of ${count(produced)} are lost (${examples.map(plainText).join(', ')}), although this queue promises each at least once: see the servers (eviction, failover), and who else takes from it`
              : `${several(lost, 'job')} of ${count(produced)} are lost: this queue promises each at most once, and what a worker had in hand when it died, or its connection, is gone${replies > 0 ? ` (${several(replies, 'reply')} lost)`.replace('replys', 'replies') : ''}; --confirm keeps them`,
            invalidates: promises,
          },
        ]
      : []),
    ...(duplicates > 0
      ? [
          {
            code: 'duplicates',
            message: `${several(duplicates, 'job')} were done again: their worker died or was silent after doing them`,
            invalidates: !promises,
          },
        ]
      : []),
  ]
}

/** @param {Evidence} run @returns {Warning[]} */
const nothingDone = ({ jobs, plan }) =>
  jobs.done > 0
    ? []
    : [
        {
          code: 'no-jobs',
          message: `no job was done: no producer of ${plan.strategy} is at work under ${plan.prefix ? `prefix ${plan.prefix}` : 'no prefix'}; start one, or set --strategy, --prefix`,
        },
      ]

/** @param {Evidence} run @returns {Warning[]} */
const refusals = ({ commands }) =>
  Object.entries(commands.refused_by).map(([cause, n]) => ({
    code: 'refused',
    cause: plainText(cause),
    message: `the servers refused ${several(Number(n), 'command')} of workers (${plainText(cause)})`,
  }))

/** The work asked for and the work measured, of each stage. @param {Evidence} run */
const worksOf = ({ plan: { work }, workers, stages }) => [
  { ...work, mean: workers.work_us_mean },
  ...(work.outputs ? [{ ...work.outputs, mean: stages.output.work_us_mean }] : []),
]

/** Work that took longer than asked for. @param {Evidence} run @returns {Warning[]} */
const workMissed = (run) => worksOf(run).flatMap((one) => missedBy(one, run.client))

/** @param {ReturnType<typeof worksOf>[number]} one @param {Evidence['client']} client @returns {Warning[]} */
const missedBy = ({ us, kind, mean }, client) => {
  if (us === 0 || mean === null) return []
  const most = us * (1 + workShare) + (kind === 'sleep' ? timerUs : 0)
  if (mean <= most) return []
  const why =
    kind === 'sleep'
      ? `the event loop of this process was ${percent(client.busy_pct)} busy: run fewer workers a process (--processes)`
      : 'other processes or workers took the cores: run no more processes than the box has free cores'
  return [
    {
      code: 'work',
      message: `the work of a job took ${micros(mean)}, not ${micros(us)}: ${why}`,
    },
  ]
}

/** @param {Evidence} run @returns {Warning[]} */
const limits = (run) => {
  const { plan, client, workers } = run
  const limit = clientLimit(client)
  const computes = worksOf(run).some(({ kind, us }) => kind === 'cpu' && us > 0)
  if (limit === 'contended')
    return [
      {
        code: 'client-contended',
        message: `this process was ${contendedWords(client)}: other processes took the CPU; end them`,
      },
    ]
  if (limit === 'saturated')
    return [
      {
        code: 'client-saturated',
        message: computes
          ? `the workers' own core was the limit: ${percent(client.busy_pct)} busy, mostly with the work itself; more workers need more cores (--processes, more boxes)`
          : `this process was ${percent(client.busy_pct)} busy, so the workers' event loop was the limit and not the queue: run more processes (--processes) or boxes`,
        invalidates: !computes,
      },
    ]
  if (
    workers.busy_share !== null &&
    workers.busy_share < starvedShare &&
    run.backlog.max !== null &&
    run.backlog.last < workers.count * plan.work.take
  )
    return [
      {
        code: 'starved',
        message: `the workers had jobs in hand for ${asPercent(workers.busy_share)} of the time: the rate is that of the producers, not what these workers can do`,
        invalidates: false,
      },
    ]
  return []
}

/** How many workers would be enough, if their process is not the limit. @param {Evidence} run @param {number} grown */
const moreWorkers = ({ workers, jobs, client }, grown) => {
  const needed = Math.ceil((spare * workers.count * (jobs.done + grown)) / jobs.done)
  return clientLimit(client) === null && needed <= 1000 ? `; set --workers ${needed}` : ''
}

/** @param {Evidence} run @returns {Warning[]} */
const observations = (run) => {
  const { jobs, clocks, nodes, backlog, interrupted, workers, server, plan, connections } = run
  const { duration_s: durationS } = run
  const grown = (backlog.last ?? 0) - (backlog.first ?? 0)
  const { from_future: future } = jobs
  const passed = plan.work.outputs ? 0 : (jobs.account?.passed ?? 0)
  const wanted = (plan.work.reconnectHz ?? 0) * durationS
  /** @type {Note[]} */
  const all = [
    [
      grown > workers.count * 2 && durationS > 0,
      'backlog',
      `the queue grew by ${count(grown)} jobs: these workers do not sustain the producers' rate, and latencies grow with the length of the run${moreWorkers(run, grown)}`,
    ],
    [
      Boolean(future),
      'clock-producer',
      `${count(future?.jobs)} jobs were from up to ${micros(future?.max_us)} in the future: the clock of their producer is ahead, and they are not in the latencies`,
      true,
    ],
    [
      jobs.account?.foreign > 0,
      'foreign',
      `${count(jobs.account?.foreign)} entries of the queue are not jobs of Millrace: another program uses it`,
      true,
    ],
    [
      jobs.account?.unconfirmed > 0,
      'unconfirmed',
      `${several(jobs.account?.unconfirmed ?? 0, 'job')} done are still in the queue, and would be done again`,
    ],
    [
      passed > 0,
      'passed',
      `${several(passed, 'job')} of an earlier run are in the second queue, which only --outputs drains`,
    ],
    [
      connections && connections.renewed < wanted * leastRenewed - 1,
      'reconnects',
      `only ${count(connections?.renewed)} of ${count(wanted)} connections were opened anew: workers were blocked or at work; lower --reconnects`,
      true,
    ],
    [(server.evicted ?? 0) > 0, 'evictions', `${count(server.evicted)} keys were evicted to make room`, true],
    clockNote(clocks, 'latencies are'),
    gapsNote(nodes),
  ]
  return notes(all, { interrupted, duration_s: durationS })
}

export const reasons = [
  accounting,
  (/** @type {Evidence} */ { client }) => clientStopped(client),
  losses,
  nothingDone,
  refusals,
  workMissed,
  limits,
  observations,
]
