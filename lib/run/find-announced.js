// The plan by which a consumer reads: the one in the target, or the options where there is none.
import { coresHere } from '../base/cores.js'
import { TargetError } from '../base/errors.js'
import { chosenPlan, readPlanOf } from '../loads/fetches/plan.js'
import { isLive } from '../loads/fetches/verifying.js'
import { refuseWorkers, workPlanOf } from '../loads/workers/plan.js'
import { announcedWords } from '../plan/announcement.js'
import { plansUnder } from '../servers/announcements.js'
import { isStrategy, strategyNamed } from '../workloads/index.js'

/**
 * @import { ReaderSettings } from '../../settings.js'
 * @import { AnnouncedPlan } from '../plan/announcement.js'
 * @import { Target } from '../servers/open.js'
 * @import { AnyPlan } from '../measures/measure.js'
 */

/** Whether workers take a strategy's jobs; false for models that are not loaded. @param {string} strategy */
const declaresWorkers = (strategy) => isStrategy(strategy) && strategyNamed(strategy).queue !== null

/**
 * How the log line begins, with a plan in the target and without one.
 * @type {Record<'readers' | 'workers', {
 *   known: (announcement: AnnouncedPlan, isLive: boolean) => string, unknown: (plan: AnyPlan) => string }>}
 */
const beginnings = {
  readers: {
    known: (announced, live) =>
      `reads what is written: ${announcedWords(announced)}${live ? '' : ' (its writer has stopped)'}`,
    unknown: ({ strategy, ttlS }) =>
      `reads ${strategy} with a ttl of ${ttlS} s, by the options and their defaults`,
  },
  workers: {
    known: (announced, live) =>
      `takes the jobs of ${announcedWords(announced)}${live ? '' : ' (its producers have stopped)'}`,
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
  const readAnnouncements = async () => (await plansUnder(target, prefix)).announcements
  const { announcements, faults, nowMs } = await plansUnder(target, prefix)
  if (announcements.length === 0 && faults.length > 0)
    throw new TargetError(
      `${target.address}: ${faults[0]}; read it with the version that wrote it, or set --prefix`,
      { code: 'PLAN' },
    )
  for (const fault of faults) say(`left out: ${fault}`)
  const announced = chosenPlan(settings, announcements, (one) => isLive(one, nowMs))
  const facts = { announced, cluster: target.kind === 'cluster', masters: target.topology.masters.length }
  const strategy = announced?.strategy ?? settings.strategy
  if (!declaresWorkers(strategy)) refuseWorkers(settings, strategy)
  const plan = declaresWorkers(strategy)
    ? workPlanOf(settings, { ...facts, cores: coresHere() })
    : readPlanOf(settings, { ...facts, agents: [] })
  const words = beginnings[declaresWorkers(strategy) ? 'workers' : 'readers']
  say(
    announced
      ? words.known(announced, isLive(announced, nowMs))
      : `found no plan ${prefix ? `under prefix ${prefix}` : 'without a prefix'}: ${words.unknown(plan)}`,
  )
  return { plan, announced, announcements, readAnnouncements }
}
