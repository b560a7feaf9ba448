// Words that several kinds of load share.
import { bytes, count, facts, period, plainText, several } from '../base/units.js'
import { othersText } from '../probes/others.js'
import { shownSizes } from '../traffic/sizes.js'
import { namesOfKind } from './names.js'

/**
 * @import { AnyPlan as Plan } from '../measures/measure.js'
 * @import { WriteRun } from '../result/document.js'
 */

/** Which nodes answer reads. @type {Record<string, string>} */
export const nodesWords = Object.freeze({
  master: 'masters',
  replica: 'replicas',
  nearest: 'the nearest node',
  any: 'any node',
})

/** @param {Plan} plan */
export const unitOf = (plan) => namesOfKind(plan).unit

/** What takes memory: an item, a key, or a job. @param {Plan} plan */
export const storedUnitOf = (plan) => namesOfKind(plan).stored

/** @param {Plan} plan */
export const setsWords = ({ sets = [], extraSets = [], placement }) => {
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

/** The driver and a library's settings. @param {Plan} plan */
export const driverWords = ({ driver, library }) => {
  if (!library) return `driver ${driver}`
  const { version, options, lacks } = library
  const set = Object.entries(options).map(([name, value]) => `${name} ${value === 0 ? 'off' : value}`)
  const without = lacks.length > 0 ? `; it has no ${lacks.join(', no ')}` : ''
  return `driver ${driver} ${plainText(version)} (${plainText(set.join(', '))}${plainText(without)})`
}

/** @param {Plan} plan */
export const valueWords = ({ valueBytes, valueSizes, payload, stamp }) =>
  `value ${valueSizes ? `${shownSizes(valueSizes)}, on average ` : ''}${bytes(valueBytes)} ${payload}${stamp ? ' stamped' : ''}`

/**
 * The plan of a writing kind in plain words.
 * @param {Plan} plan
 * @param {Partial<Record<'first' | 'data' | 'commands' | 'last', (string | false | null | undefined)[]>>} own of the kind
 */
export const writingWords = (plan, { first = [], data = [], commands = [], last = [] }) => {
  const { once, reconnectHz, warmUpMs, settles, prefix, wait } = plan
  return facts([
    ...first,
    reconnectHz && `${several(plan.reconnectHz, 'connection')} a second replaced`,
    ...data,
    once && 'every item once',
    wait && `acknowledged after --wait ${wait}`,
    setsWords(plan),
    ...commands,
    warmUpMs > 0 && `warm-up ${settles ? 'until steady, at most ' : ''}${period(warmUpMs)}`,
    ...last,
    driverWords(plan),
    prefix && `prefix ${prefix}`,
  ])
}

/**
 * Who else was at work on the servers, where what they cost is not known; empty: nobody. Earlier versions named a command.
 * @param {Pick<WriteRun, 'server' | 'plan' | 'nodes'>} run
 */
export const othersWords = ({ server, plan, nodes }) => {
  const { foreign_calls: others } = server
  if (!others) return ''
  const who = others.by === 'consumers' ? `consumers of ${plan.strategy} were` : 'others were'
  const { command, calls, calls_per_s: hz, on } = others
  const what =
    hz === undefined || on === undefined
      ? `${count(calls)} ${plainText(command).toUpperCase()}`
      : `${othersText({ command, calls_per_s: hz })}${nodes.length > 1 ? ` on the ${on}` : ''}`
  return `${who} at work: ${what}`
}

/** What an item cost the masters, where others were at work on the replicas alone: what of those is replication is not known. @param {WriteRun['server']} server */
export const mastersOnly = ({ foreign_calls: others, masters_cpu_us_per_item_net: net }) =>
  others?.on === 'replicas' && typeof net === 'number' ? net : null

/** Why a run of writers counts. @param {WriteRun} run */
export const goodOfWriters = (run) => {
  const others = othersWords(run)
  return `${sustainedWords(run)}${others && `; but ${others}`}`
}

/** @param {WriteRun} run */
const sustainedWords = ({ plan, rate: { nominal } }) => {
  const what = plan.schedule === 'uneven' ? ', all that was due' : ', target rate sustained'
  return `every ${unitOf(plan)} acknowledged${nominal === null || plan.pacing === 'closed' ? '' : what}`
}
