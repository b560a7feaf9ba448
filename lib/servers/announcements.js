// millrace:plan: the plan being written under a prefix, so that a reader needs no options repeated, and a program that
// finds the keys knows whose they are.

import { TargetError } from '../base/errors.js'
import { period } from '../base/units.js'
import {
  announcedFault,
  announcedHash,
  announcedIn,
  announcedWords,
  differingFields,
  leaseMs,
  markerS,
  rivalsOf,
} from '../plan/announcement.js'
import { epochIn } from '../wire/time.js'
import { scriptBody } from '../workloads/lua.js'
import { ownerOf } from './topology.js'

/**
 * @import { Cluster, Redis } from 'ioredis'
 * @import { AnnouncedPlan } from '../plan/announcement.js'
 * @import { Target } from './open.js'
 *
 * @typedef {Omit<AnnouncedPlan, 'startedMs' | 'renewedMs' | 'ended'>} Announcement
 */

/** How often a lease and the plan are renewed: six times in the life of a lease. */
const renewalMs = leaseMs / 6

/** @param {string} prefix */
export const planKey = (prefix) => `${prefix}millrace:plan`

/**
 * Announces what is written under a prefix. Returns another plan that is being written there, by the servers' clock;
 * beside that one a plan that begins is not announced.
 * @param {Redis | Cluster} client
 * @param {Announcement} announced
 * @param {'begin' | 'renew' | 'end'} [phase]
 * @returns {Promise<{ nowMs: number, rival: AnnouncedPlan | null }>}
 */
export const announcePlan = async (client, announced, phase = 'begin') => {
  const answer = await client.eval(
    scriptBody('announce-plan'),
    1,
    planKey(announced.prefix),
    announcedHash(announced),
    JSON.stringify(announced),
    markerS(announced) * 1000,
    phase,
    leaseMs,
  )
  const [nowMs, rival] = Array.isArray(answer) ? answer : []
  if (typeof nowMs !== 'number' || typeof rival !== 'string')
    throw new TargetError(
      `${planKey(announced.prefix)}: the server does not answer as a script that announces a plan does`,
    )
  return { nowMs, rival: announcedIn(rival) }
}

/**
 * Announces a plan that nobody is writing.
 * @param {Pick<Target, 'topology' | 'control'>} target
 * @param {Announcement} announced
 */
export const announceEnded = ({ topology, control }, announced) =>
  announcePlan(control(ownerOf(topology, planKey(announced.prefix))), announced, 'end')

/**
 * The error for writing beside another plan.
 * @param {string} address
 * @param {Announcement} announced ours
 * @param {AnnouncedPlan} rival
 * @param {number} nowMs by the server's clock
 */
export const rivalRefusal = (address, announced, rival, nowMs) => {
  const silentMs = nowMs - rival.renewedMs
  const killed =
    silentMs > renewalMs
      ? `; if it was killed, wait ${period(Math.ceil((leaseMs - silentMs) / 1000) * 1000)}`
      : ''
  const where = announced.prefix ? `prefix ${announced.prefix}` : 'no prefix'
  return new TargetError(
    `${address}: another plan is being written under ${where}: ${announcedWords(rival)}, ` +
      `with ${differingFields(rival, announced)}, begun ${period(Math.max(0, nowMs - rival.startedMs))} ago, ` +
      `last sign of life ${period(Math.max(0, silentMs))} ago; end it, write with the same options, or take another --prefix${killed}`,
    { code: 'RIVAL_PLAN' },
  )
}

/**
 * Refuses to write beside another plan, before anything is changed.
 * @param {Pick<Target, 'address' | 'topology' | 'control'>} target
 * @param {Announcement} announced
 */
export const refuseRival = async (target, announced) => {
  const { announcements, nowMs } = await plansUnder(target, announced.prefix)
  const [rival] = rivalsOf(announced, announcements, nowMs)
  if (rival) throw rivalRefusal(target.address, announced, rival, nowMs)
}

/**
 * The plans under a prefix whose keys may still be there, the newest first. The hash lasts as long as its longest
 * plan, so each is judged by itself.
 * @param {Redis} client of the node that owns the key
 * @param {string} prefix
 * @param {number} nowMs by the server's clock
 */
export const plansIn = async (client, prefix, nowMs) => (await readPlans(client, prefix, nowMs)).announcements

/**
 * The same plans, and why others there cannot be read.
 * @param {Redis} client
 * @param {string} prefix
 * @param {number} nowMs
 */
const readPlans = async (client, prefix, nowMs) => {
  const texts = Object.values(await client.hgetall(planKey(prefix)))
  const announcements = texts
    .flatMap((text) => announcedIn(text) ?? [])
    .filter((announced) => nowMs - announced.renewedMs < markerS(announced) * 1000)
    .sort((a, b) => b.renewedMs - a.renewedMs)
  return { announcements, faults: texts.flatMap((text) => announcedFault(text) ?? []) }
}

/**
 * The plans under a prefix, and what time it is there.
 * @param {Pick<Target, 'topology' | 'control'>} target
 * @param {string} prefix
 */
export const plansUnder = async ({ topology, control }, prefix) => {
  const address = ownerOf(topology, planKey(prefix))
  const client = control(address)
  const nowMs = epochIn(address, await client.time())
  return { ...(await readPlans(client, prefix, nowMs)), nowMs }
}
