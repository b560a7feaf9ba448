// The facts that the live page has about a run before its first second.
import { hostname } from 'node:os'
import { loadOf } from '../loads/index.js'
import { loadWords } from '../report/words.js'
import { lengthMs } from '../run/second.js'

/**
 * @import { About } from './state.js'
 * @import { AnyPlan } from '../measures/measure.js'
 */

/** Fields of a plan that charts read. */
const drawnOf = [
  'strategy',
  'flow',
  'pacing',
  'rate',
  'arrivals',
  'schedule',
  'spacingMs',
  'items',
  'chunks',
  'ticks',
  'periodMs',
]

/** @param {'producer' | 'consumer'} kind @param {string} run @param {AnyPlan} plan of a writer or a reader @param {readonly string[]} [thresholds] @returns {About} */
export const aboutOf = (kind, run, plan, thresholds = []) => {
  const isReader = kind === 'consumer'
  const { does } = loadOf({ plan }).words
  const consumers = isReader ? plan.agents.length * plan.consumers : 0
  return {
    run,
    kind,
    title: `${does[0].toUpperCase()}${does.slice(1)} ${plan.strategy} · ${run}`,
    question: `${plan.strategy}: ${loadWords({ kind, plan, consumers })}`,
    plan: Object.fromEntries(drawnOf.filter((name) => name in plan).map((name) => [name, plan[name]])),
    nominal: isReader ? null : plan.nominalHz,
    totalMs: isReader ? plan.durationMs : lengthMs(plan),
    warmUpS: (plan.warmUpMs ?? 0) / 1000,
    box: hostname(),
    thresholds,
  }
}
