// A run of consumers, in words.
import { count, facts, several } from '../../base/units.js'
import { answersIn } from '../../measures/index.js'
import { lifetimeWords } from '../../traffic/lifetimes.js'
import { fetchTimesWords } from '../rhythm.js'
import { driverWords, setsWords, unitOf } from '../words.js'

/**
 * @import { AnyPlan as Plan } from '../../measures/measure.js'
 * @import { ReadRun, WriteRun } from '../../result/document.js'
 * @import { Loaded } from '../index.js'
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

export const words = {
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
