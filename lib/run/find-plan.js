// What a consumer reads by: the plan in the target, or the options where there is none.
import { TargetError } from '../errors.js'
import { cardWords, chosenCard, readPlanOf } from '../plan/read-plan.js'
import { plansUnder } from '../target/plan-key.js'
import { isLive } from './plan-watch.js'

/**
 * @param {object} needs
 * @param {import('../../settings.js').ReaderSettings} needs.settings
 * @param {import('../target/open.js').Target} needs.target
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
  const plan = readPlanOf(settings, {
    card,
    agents: [],
    cluster: target.kind === 'cluster',
    masters: target.topology.masters.length,
  })
  if (card)
    say(`reads what is written: ${cardWords(card)}${isLive(card, nowMs) ? '' : ' (its writer has stopped)'}`)
  else
    say(
      `found no plan ${prefix ? `under prefix ${prefix}` : 'without a prefix'}: reads ${plan.strategy} with a ttl of ${plan.ttlS} s, by the options and their defaults`,
    )
  return { plan, card, cards, readCards }
}
