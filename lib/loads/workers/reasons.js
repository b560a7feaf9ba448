// Why a run of the workers of a queue may not be quoted: every reason by name and what to do about it.
import { count, micros, plainText, several } from '../../base/units.js'
import { accounted } from '../../measures/account.js'
import { clientLimit, clientStopped } from '../../measures/client-limit.js'
import { clockNote, gapsNote, interruptedNote, note, reasonsBy } from '../../measures/warnings.js'
import { working } from '../../measures/workers.js'

/**
 * @import { WorkRun } from '../../result/document.js'
 * @import { Reasons } from '../../measures/warnings.js'
 *
 * @typedef {WorkRun & { jobs: { from_future?: { jobs: number, max_us: number } } }} Evidence run.json without its judgement
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

export const reasons = [
  reasonsBy(clientStopped),
  accounted.reasons,
  reasonsBy(refusals),
  working.reasons,
  reasonsBy(observations),
]
