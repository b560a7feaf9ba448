// millrace:plan: what is being written under a prefix, so that a reader needs no options repeated and whoever finds
// the keys knows whose they are.
import { cardHash, cardIn, markerS } from '../plan/plan-card.js'
import { scriptBody } from '../workloads/lua.js'

/**
 * @typedef {import('../plan/plan-card.js').PlanCard} PlanCard
 * @typedef {Omit<PlanCard, 'startedMs' | 'renewedMs' | 'ended'>} Announcement
 */

/** @param {string} prefix */
export const planKey = (prefix) => `${prefix}millrace:plan`

/**
 * @param {import('ioredis').Redis | import('ioredis').Cluster} client
 * @param {Announcement} card
 * @param {{ ended?: boolean }} [options]
 */
export const announcePlan = (client, card, { ended = false } = {}) =>
  client.eval(
    scriptBody('announce-plan'),
    1,
    planKey(card.prefix),
    cardHash(card),
    JSON.stringify(card),
    markerS(card) * 1000,
    ended ? '1' : '0',
  )

/**
 * The plans under a prefix whose keys may still be there, the newest first. The hash lasts as long as its longest
 * plan, so each is judged by itself.
 * @param {import('ioredis').Redis} client of the node that owns the key
 * @param {string} prefix
 * @param {number} nowMs by the server's clock
 */
export const plansIn = async (client, prefix, nowMs) => {
  const texts = Object.values(await client.hgetall(planKey(prefix)))
  return texts
    .flatMap((text) => cardIn(text) ?? [])
    .filter((card) => nowMs - card.renewedMs < markerS(card) * 1000)
    .sort((a, b) => b.renewedMs - a.renewedMs)
}
