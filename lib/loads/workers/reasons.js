// Why a run of the workers of a queue may not be quoted: every reason by name and what to do about it.
import { count, micros, plainText, several } from '../../base/units.js'
import { accounted } from '../../measures/account.js'
import { clientLimit, clientStopped } from '../../measures/client-limit.js'
import { clockNote, gapsNote, notes } from '../../measures/warnings.js'
import { working } from '../../measures/workers.js'

/**
 * @import { NodeFigures } from '../../result/document.js'
 * @import { Note, Warning } from '../../measures/warnings.js'
 *
 * @typedef {Record<string, any> & { nodes: NodeFigures[] }} Evidence run.json without its judgement
 */

const leastRenewed = 0.9
// Not all workers find a job at once.
const spare = 1.3

/** @param {Evidence} run @returns {Warning[]} */
const refusals = ({ commands }) =>
  Object.entries(commands.refused_by).map(([cause, n]) => ({
    code: 'refused',
    cause: plainText(cause),
    message: `the servers refused ${several(Number(n), 'command')} of workers (${plainText(cause)})`,
  }))

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
  (/** @type {Evidence} */ { client }) => clientStopped(client),
  accounted.reasons,
  refusals,
  working.reasons,
  observations,
]
