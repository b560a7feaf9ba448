// What a consumer reads by: the plan in the target, or the options where there is none.
import { availableParallelism } from 'node:os'
import { TargetError } from '../base/errors.js'
import { chosenCard, readPlanOf } from '../loads/fetches/plan.js'
import { hasWorkers, refuseWorkers, workPlanOf } from '../loads/workers/plan.js'
import { cardWords } from '../plan/plan-card.js'
import { plansUnder } from '../servers/plan-key.js'
import { isLive } from './plan-watch.js'

/**
 * @import { ReaderSettings } from '../../settings.js'
 * @import { PlanCard } from '../plan/plan-card.js'
 * @import { Target } from '../servers/open.js'
 */

/**
 * What a consumer is about to do, with a plan in the target and without one.
 * @type {Record<'readers' | 'workers', {
 *   known: (card: PlanCard, isLive: boolean) => string, unknown: (plan: any) => string }>}
 */
const beginnings = {
  readers: {
    known: (card, live) =>
      `reads what is written: ${cardWords(card)}${live ? '' : ' (its writer has stopped)'}`,
    unknown: ({ strategy, ttlS }) =>
      `reads ${strategy} with a ttl of ${ttlS} s, by the options and their defaults`,
  },
  workers: {
    known: (card, live) =>
      `takes the jobs of ${cardWords(card)}${live ? '' : ' (its producers have stopped)'}`,
    unknown: ({ strategy }) => `takes what is in the queue of ${strategy}`,
  },
}

/**
 * @param {object} needs
 * @param {ReaderSettings} needs.settings
 * @param {Target} needs.target
 * @param {(line: string) => void} needs.say
 */
export const findPlan = async ({ settings, target, say }) => {
  const { prefix } = settings
  const readCards = async () => (await plansUnder(target, prefix)).cards
  const { cards, faults, nowMs } = await plansUnder(target, prefix)
  if (cards.length === 0 && faults.length > 0)
    throw new TargetError(
      `${target.address}: ${faults[0]}; read it with the version that wrote it, or set --prefix`,
      { code: 'PLAN' },
    )
  for (const fault of faults) say(`left out: ${fault}`)
  const card = chosenCard(settings, cards, (one) => isLive(one, nowMs))
  const facts = { card, cluster: target.kind === 'cluster', masters: target.topology.masters.length }
  const strategy = card?.strategy ?? settings.strategy
  if (!hasWorkers(strategy)) refuseWorkers(settings, strategy)
  const plan = hasWorkers(strategy)
    ? workPlanOf(settings, { ...facts, cores: availableParallelism() })
    : readPlanOf(settings, { ...facts, agents: [] })
  const words = beginnings[hasWorkers(strategy) ? 'workers' : 'readers']
  say(
    card
      ? words.known(card, isLive(card, nowMs))
      : `found no plan ${prefix ? `under prefix ${prefix}` : 'without a prefix'}: ${words.unknown(plan)}`,
  )
  return { plan, card, cards, readCards }
}
