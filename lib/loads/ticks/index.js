// Batches of items at absolute deadlines.
import { count, period, several } from '../../base/units.js'
import { ofWriters, SECTIONS } from '../../measures/index.js'
import { ledgerOf } from '../../probes/ledger.js'
import { itemsWords } from '../../traffic/items.js'
import { lifetimeWords } from '../../traffic/lifetimes.js'
import { names } from '../names.js'
import { byWriters } from '../parts.js'
import { rhythmWords } from '../rhythm.js'
import { goodOfWriters, valueWords, writingWords } from '../words.js'
import { writerReasons } from '../writer-reasons.js'
import { plan } from './plan.js'

/**
 * @import { AnyPlan as Plan } from '../../measures/measure.js'
 * @import { Evidence } from '../writer-reasons.js'
 * @import { WriterRun } from './open.js'
 * @import { Loaded } from '../index.js'
 */

// Below this share of the items under way at once, something else was the limit.
const leastInUse = 0.5
// Answers take different times.
const spare = 1.3

/**
 * In batches, an item is written again only after its last write was answered, so that an old value does not replace a new
 * one.
 * @param {Pick<Plan, 'quantity' | 'periodMs'>} plan
 * @param {{ nominal: number | null, achieved: number | null }} rate items/s
 * @param {{ p50?: number | null } | null | undefined} serviceUs
 * @returns {string} advice; '' where something else was the limit
 */
const againWords = ({ quantity, periodMs }, { nominal, achieved }, serviceUs) => {
  const tookS = Number(serviceUs?.p50) / 1e6
  const isLimit = tookS * 1000 >= periodMs && Number(achieved) * tookS >= leastInUse * quantity
  if (!isLimit || !nominal) return ''
  const items = Math.ceil(spare * nominal * tookS)
  const more = `set -q ${items} at the same rate (--period ${Math.round((1000 * items) / nominal)}ms)`
  return `an item is due again after ${period(periodMs)}, and to store it takes ${period(tookS * 1000)}: ${more}, or raise --window if it is smaller than a batch`
}

/** Why a run fell behind its rate. @param {Evidence} run */
const behind = ({ plan, rate, latency_us: latency }) => {
  const isCut = plan.windowCommands && plan.windowCommands < plan.items / plan.chunks
  return isCut ? '' : againWords(plan, rate, latency?.service)
}

/** The numbers of the writers in this process; empty if it has all of them. @param {Plan} plan */
const writersWords = ({ totalAgents = 1, agents = [], quantity, items = quantity }) => {
  if (agents.length === totalAgents) return totalAgents > 1 ? `by ${several(totalAgents, 'writer')}` : ''
  const numbers = agents.map((/** @type {{ agent: number }} */ { agent }) => agent)
  const inRow = numbers.length > 1 && numbers.at(-1) - numbers[0] === numbers.length - 1
  const own = inRow ? `${numbers[0]}-${numbers.at(-1)}` : numbers.join(', ')
  return `by ${numbers.length === 1 ? 'writer' : 'writers'} ${own} of ${count(totalAgents)} (${count(items)} of ${count(quantity)} items)`
}

/** What a writer's plan sends, and how often. @param {Loaded} run */
const load = ({ plan }) => {
  const { quantity, items = quantity } = plan
  const writers = writersWords(plan)
  const rhythm =
    plan.rate === 'max'
      ? `as many items/s as possible (${count(items)} over and over)`
      : rhythmWords({ ...plan, quantity: items })
  return [rhythm, writers].filter(Boolean).join(', ')
}

/** @param {Plan} plan */
const planWords = (plan) => {
  const { chunks, order, churn, pacing } = plan
  const members = plan.membersInCommand ?? plan.maxMembers
  return writingWords(plan, {
    first: [
      chunks > 1 && several(chunks, 'batch').replace('batchs', 'batches'),
      (order !== names.ticks.defaultOrder || churn) && order && itemsWords(plan),
    ],
    data: [valueWords(plan), `ttl ${lifetimeWords(plan)}`],
    commands: [members ? `at most ${count(members)} members per command` : 'commands not cut'],
    last: [plan.rate !== 'max' && `${pacing} pacing`],
  })
}

const words = { does: 'writes', load, plan: planWords, good: goodOfWriters }

export const ticks = Object.freeze({
  /** @type {'producer'} */
  document: 'producer',
  names: names.ticks,
  plan,
  sharing: byWriters,
  ledger: ledgerOf,
  open: async (/** @type {WriterRun} */ run) => (await import('./open.js')).ticksWriting(run),
  measures: ofWriters,
  sections: SECTIONS.producer,
  words,
  reasons: writerReasons(behind),
})
