// Leases in the target that decide which numbers of writers or readers each process has, so that the same command on many
// boxes gets different ones.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'
import { InterruptedError, TargetError } from '../base/errors.js'
import { processStart } from '../base/lock.js'
import { atMost } from '../base/timers.js'
import { announcedWords, differingFields, leaseMs } from '../plan/announcement.js'
import { scriptBody } from '../workloads/lua.js'
import { addressOf, endpointOf } from './address.js'
import { announcePlan, rivalRefusal } from './announcements.js'
import { clientOptions, withLivePassword } from './client-options.js'
import { connectorFor } from './connector.js'
import { disconnect } from './disconnect.js'
import { reasonFor } from './reason.js'

/**
 * @import { StoredData } from '../probes/memory-cost.js'
 * @import { Target } from './open.js'
 * @import { Endpoint } from './address.js'
 * @import { Announcement } from './announcements.js'
 * @import { Sentinels } from './sentinel.js'
 *
 * @typedef {Pick<Target, 'kind' | 'topology' | 'access'> & { sentinels?: Sentinels | null, follows?: Target['follows'],
 *   sent?: Pick<Target['sent'], 'watch'> }} LeaseTarget
 *
 * @typedef {object} AgentGroup
 * @property {string} prefix
 * @property {number} totalAgents
 * @property {string} [readers] of consumers: what they read; they share no numbers with the writers
 *
 * @typedef {{ token: string, host: string, pid: number, run: string, since: string, writing?: number, before?: StoredData }} Holder
 */

const retryMs = 500
// At the end of a run a server that is away is not waited for; one that takes longer than a second to answer counts as
// away.
const answerLimitMs = 5000

const readyLimitMs = 10_000

/** The text of a lease begins with whether its holder writes: it may prepare for seconds. @param {0 | 1} isWriting @param {string} own */
const leaseText = (isWriting, own) => `{"writing":${isWriting},${own}`
const writingAt = leaseText(1, '').indexOf('1')

/** The key of a lease, by prefix and not by plan: two plans under one prefix would destroy each other. @param {AgentGroup} group @param {number} agent */
export const leaseKey = ({ prefix, readers }, agent) =>
  `${prefix}millrace:lease:${readers ? `read:${readers}:` : ''}${agent}`

/** A connection of its own: a lease must not wait behind the load. @param {LeaseTarget} target */
const clientFor = (target) => {
  const client = clientOf(target)
  const watch = (
    /** @type {Redis} */ one,
    address = addressOf({ host: String(one.options.host), port: Number(one.options.port) }),
  ) => target.sent?.watch(one, address)
  if (client instanceof Cluster) client.on('+node', (node) => watch(node))
  else watch(client, target.topology.masters[0])
  return client
}

/**
 * The library would follow any redirect with the password.
 * @param {LeaseTarget} target
 */
const clientOf = ({ kind, topology, access, sentinels, follows = () => true }) => {
  const options = {
    ...clientOptions(access, 'millrace-lease'),
    Connector: connectorFor({ follows }, { sentinels: Boolean(sentinels), onStray() {} }),
    commandTimeout: readyLimitMs,
    maxRetriesPerRequest: 2,
  }
  const client =
    kind === 'cluster'
      ? new Cluster(topology.masters.map(endpointOf), {
          redisOptions: options,
          slotsRefreshInterval: 5000,
          slotsRefreshTimeout: readyLimitMs,
          dnsLookup: (address, callback) => callback(null, address),
        })
      : new Redis({
          ...(sentinels?.clientOptions() ?? endpointOf(topology.masters[0])),
          ...options,
          db: access.db ?? 0,
        })
  return withLivePassword(client, access)
}

/** @param {string | null} text @returns {Holder | null} */
const holderIn = (text) => {
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return null
  }
}

/** @param {Holder | null} holder a process of this host */
const isAtWork = (holder) =>
  holder !== null && holder.host === hostname() && processStart(holder.pid) !== undefined

/** A run's numbers in two parts, as they are typed. @param {number} totalAgents */
const halves = (totalAgents) => {
  const t = Math.max(2, totalAgents)
  const half = Math.floor(t / 2)
  const optionsFor = (/** @type {number} */ from, /** @type {number} */ to) =>
    `-t ${t} -a ${from === to ? from : `${from}-${to}`}`
  return [optionsFor(1, half), optionsFor(half + 1, t)]
}

/** @param {{ agent: number, holder: Holder | null }[]} list @param {string} who */
const listed = (list, who) =>
  list
    .map(
      ({ agent, holder: by }) => `${who} ${agent}${by ? `: ${by.host} pid ${by.pid} since ${by.since}` : ''}`,
    )
    .join('; ')

/**
 * @param {object} options
 * @param {LeaseTarget} options.target
 * @param {AgentGroup} options.group
 * @param {string} options.run
 * @param {(line: string) => void} options.say
 * @param {(message: string) => void} options.onLost
 * @param {(message: string) => void} [options.onRival] another plan is being written under the prefix as well
 * @param {() => number} options.clock
 * @param {() => number} [options.epochMs] by the clock of the servers
 * @param {AbortSignal} [options.signal] stops waiting
 * @param {boolean} [options.here] all who may hold leases are processes of this host, as on embedded servers
 * @param {string} [options.token] whose leases they are
 * @param {() => Promise<boolean>} [options.isLast] of the writers of the plan to be released
 * @param {number} [options.lastMs] how long a lease lasts that is not renewed
 */
export const leases = ({
  target,
  group,
  run,
  say,
  onLost,
  onRival = () => {},
  clock,
  epochMs = Date.now,
  signal,
  here = false,
  token = randomUUID(),
  isLast,
  lastMs = leaseMs,
}) => {
  const who = group.readers ? 'reader' : 'writer'
  const all = Array.from({ length: group.totalAgents }, (_, i) => i + 1)
  const client = clientFor(target)
  /** @type {Error | undefined} */
  let lastError
  client.on('error', (error) => {
    lastError = error
  })
  /** The end of the text of our leases, and of no others. */
  const own = JSON.stringify({
    token,
    host: hostname(),
    pid: process.pid,
    run,
    since: new Date(epochMs()).toISOString(),
  }).slice(1)
  let holder = leaseText(0, own)
  /** @type {Set<number>} */
  const ownAgents = new Set()
  /** @type {Set<number>} asked for and not refused: a lease may be ours although the answer was lost */
  const asked = new Set()
  let released = false
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  /** @type {Announcement | null} */
  let announced = null

  // ioredis retries for ever, and does not report that it may not ask CLUSTER INFO.
  const reachable = async () => {
    if (client.status === 'ready') return
    const ready = once(client, 'ready', { signal: AbortSignal.timeout(readyLimitMs) })
    await ready.catch(() => {
      const what = lastError ?? new Error('not ready; may this user ask CLUSTER SLOTS and CLUSTER INFO?')
      throw new TargetError(reasonFor(`the leases in ${target.topology.masters[0]}`, what, target.access))
    })
  }
  /** @type {(agent: number) => Promise<boolean>} */
  const claim = async (agent) => {
    if (released) throw new InterruptedError()
    asked.add(agent)
    const key = leaseKey(group, agent)
    const answer = await client.set(key, holder, 'PX', lastMs, 'NX')
    // It may still be ours: from a renewal at the same time, or from this very SET, whose first answer was lost.
    const found = answer === 'OK' ? own : await client.get(key)
    if (found === null) return claim(agent) // it has expired meanwhile
    const isOurs = found.endsWith(own)
    if (isOurs) ownAgents.add(agent)
    else asked.delete(agent)
    return isOurs
  }
  const giveBack = async () => {
    const agents = [...asked]
    ownAgents.clear()
    asked.clear()
    await Promise.all(
      agents.map((agent) => client.eval(scriptBody('release-lease'), 1, leaseKey(group, agent), own)),
    )
  }
  const holders = async () => {
    const texts = await Promise.all(all.map((agent) => client.get(leaseKey(group, agent))))
    return all.map((agent, i) => ({ agent, taken: texts[i] !== null, holder: holderIn(texts[i]) }))
  }

  let rivalKnown = false
  const renewPlan = async (/** @type {Announcement} */ plan) => {
    const { rival } = await announcePlan(client, plan, 'renew')
    if (!rival || rivalKnown) return
    rivalKnown = true
    onRival(
      `another plan is being written under the same prefix: ${announcedWords(rival)}, with ${differingFields(rival, plan)}; each removes items of the other`,
    )
  }
  /** For each of the other numbers '1' when it writes, '0' when it does not yet; rejects where the servers do not answer. */
  const theirs = async () => {
    const asking = all.filter((agent) => !ownAgents.has(agent))
    // GETRANGE: the GETs in commandstats are then those of items alone.
    const found = await Promise.all(
      asking.map((agent) => client.getrange(leaseKey(group, agent), writingAt, writingAt)),
    )
    return found.filter((text) => text !== '')
  }
  /** How many of the other numbers write. */
  const otherWriters = async () => (await theirs()).filter((text) => text === '1').length

  const renew = async () => {
    // The server may be away; the next renewal tries again.
    if (announced) renewPlan(announced).catch(() => {})
    for (const agent of ownAgents) {
      try {
        const isRenewed = await client.eval(scriptBody('renew-lease'), 1, leaseKey(group, agent), own, lastMs)
        if (isRenewed === 1) continue
        // The lease may have expired while the server was unreachable.
        if (await claim(agent)) continue
        asked.delete(agent)
        // On a slow server renewals may overlap.
        if (ownAgents.delete(agent))
          onLost(
            `the lease of ${who} ${agent} was lost to another process: two may be writing the same items`,
          )
      } catch {
        // The server is away; the next renewal shows it.
      }
    }
  }

  /**
   * Retries until the lease of a dead writer has expired.
   * @param {() => Promise<boolean>} attempt
   * @param {readonly number[]} wanted
   * @param {number} needed how many of those
   */
  const patiently = async (attempt, wanted, needed) => {
    const startMs = clock()
    let isSaid = false
    for (;;) {
      if (signal?.aborted) throw new InterruptedError()
      // The last attempt begins when all leases have expired, however long the others took.
      const isLastTry = clock() - startMs > lastMs + lastMs / 30
      if (await attempt()) return
      if (here) await refuseWhileAtWork(wanted, needed)
      if (isLastTry) throw await refusal(wanted)
      if (!isSaid) say(`all ${who}s are in use; waiting ${lastMs / 1000} s for a lease to run out`)
      isSaid = true
      await sleep(retryMs)
    }
  }
  const takenOf = async (/** @type {readonly number[]} */ wanted) =>
    (await holders()).filter(({ agent, taken }) => taken && wanted.includes(agent))
  /** Leases of others will not expire, as their processes run on this host. @param {readonly number[]} wanted @param {number} needed */
  const refuseWhileAtWork = async (wanted, needed) => {
    const list = (await takenOf(wanted)).filter(({ holder: by }) => isAtWork(by))
    if (wanted.length - list.length >= needed) return
    const [one, other] = halves(group.totalAgents)
    throw new TargetError(
      `this load runs on these servers already: ${listed(list, who)}. Share it between two terminals, ${one} in one and ${other} in the other, or take another --prefix`,
      { code: 'LEASED' },
    )
  }
  const refusal = async (/** @type {readonly number[]} */ wanted) => {
    const list = await takenOf(wanted)
    return new TargetError(
      `all ${who}s are in use: ${listed(list, who)}. Raise -t on every box, or end one of them`,
      { code: 'LEASED' },
    )
  }

  return {
    /**
     * Claims the next free number, or exactly those given.
     * @param {'next' | readonly number[]} wanted
     * @returns {Promise<number[]>}
     */
    async claim(wanted) {
      await reachable()
      if (wanted === 'next') {
        const anyFree = async () => {
          for (let agent = 1; agent <= group.totalAgents; agent++) if (await claim(agent)) return true
          return false
        }
        await patiently(anyFree, all, 1)
      } else {
        // All or none: leases that are not renewed would expire while the others are waited for.
        const allMine = async () => {
          for (const agent of wanted) if (!(await claim(agent))) break
          if (ownAgents.size === wanted.length) return true
          await giveBack()
          return false
        }
        await patiently(allMine, wanted, wanted.length)
      }
      timer = setInterval(renew, lastMs / 6)
      timer.unref()
      return [...ownAgents].sort((a, b) => a - b)
    },
    otherWriters,
    /**
     * Announces the plan under these leases, now and with each renewal. Refused beside another plan.
     * @param {Announcement} plan
     */
    async announce(plan) {
      const { nowMs, rival } = await announcePlan(client, plan)
      if (rival) throw rivalRefusal(target.topology.masters[0], plan, rival, nowMs)
      announced = plan
    },
    /** What was there before the first of the other writers began; null: none writes. @returns {Promise<StoredData | null>} */
    async earliest() {
      if ((await otherWriters()) === 0) return null
      const texts = await Promise.all(all.map((agent) => client.getrange(leaseKey(group, agent), 0, -1)))
      const found = texts.map((text) => holderIn(text || null))
      return found.find((by) => by?.writing === 1 && by.before && by.token !== token)?.before ?? null
    },
    /** Marks our leases as writing. @param {StoredData} [before] what is there */
    async begin(before) {
      holder = leaseText(1, before ? `"before":${JSON.stringify(before)},${own}` : own)
      await Promise.all(
        [...ownAgents].map((agent) =>
          client.eval(scriptBody('renew-lease'), 1, leaseKey(group, agent), own, lastMs, holder),
        ),
      )
    },
    async release() {
      if (released) return
      released = true
      clearInterval(timer)
      const away = async () => {
        await giveBack()
        // The plan ends with its last writer.
        if (announced && (isLast ? await isLast() : (await theirs()).length === 0))
          await announcePlan(client, announced, 'end')
      }
      await atMost(
        answerLimitMs,
        away().catch(() => {}),
      )
      disconnect(client)
    },
  }
}
