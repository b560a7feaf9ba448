// Who is which agent: leases in the target, so that the same command on many boxes makes different agents.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { Cluster, Redis } from 'ioredis'
import { TargetError } from '../errors.js'
import { loadHash } from '../plan/plan-card.js'
import { endpointOf } from './address.js'
import { announcePlan } from './plan-key.js'
import { scriptBody } from './scripts.js'

/**
 * @typedef {object} Terms
 * @property {string} prefix
 * @property {number} quantity
 * @property {number} totalAgents
 * @property {string} strategy
 *
 * @typedef {{ token: string, host: string, pid: number, run: string, since: string }} Holder
 */

export const leaseMs = 30_000
export const renewMs = 5_000

/** @param {Terms} terms @param {number} agent */
export const leaseKey = (terms, agent) => `${terms.prefix}millrace:lease:${loadHash(terms)}:${agent}`

/** A connection of its own: a lease must not wait behind the load. @param {Pick<import('./open.js').Target, 'kind' | 'topology' | 'access'>} target */
const clientFor = ({ kind, topology, access }) => {
  const options = {
    username: access.username,
    password: access.password,
    tls: access.tls ?? undefined,
    connectTimeout: 5000,
    maxRetriesPerRequest: 2,
    connectionName: 'millrace-lease',
  }
  return kind === 'cluster'
    ? new Cluster(topology.masters.map(endpointOf), {
        redisOptions: options,
        slotsRefreshInterval: 5000,
        dnsLookup: (address, callback) => callback(null, address),
      })
    : new Redis({ ...endpointOf(topology.masters[0]), ...options, db: access.db ?? 0 })
}

/** @param {string | null} text @returns {Holder | null} */
const holderIn = (text) => {
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return null
  }
}

const told = (/** @type {number} */ agent, /** @type {Holder | null} */ holder) =>
  holder ? `agent ${agent}: ${holder.host} pid ${holder.pid} since ${holder.since}` : `agent ${agent}`

/**
 * @param {object} options
 * @param {Pick<import('./open.js').Target, 'kind' | 'topology' | 'access'>} options.target
 * @param {Terms} options.terms
 * @param {string} options.run
 * @param {(line: string) => void} options.say
 * @param {(message: string) => void} options.onLost
 * @param {() => number} options.clock
 * @param {AbortSignal} [options.signal] stops waiting
 */
export const leases = ({ target, terms, run, say, onLost, clock, signal }) => {
  const client = clientFor(target)
  client.on('error', () => {})
  const holder = JSON.stringify({
    token: randomUUID(),
    host: hostname(),
    pid: process.pid,
    run,
    since: new Date().toISOString(),
  })
  /** @type {Set<number>} */
  const held = new Set()
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  /** @type {import('./plan-key.js').Announcement | null} */
  let card = null

  const claim = async (/** @type {number} */ agent) => {
    const answer = await client.set(leaseKey(terms, agent), holder, 'PX', leaseMs, 'NX')
    if (answer === 'OK') held.add(agent)
    return answer === 'OK'
  }
  const holders = async () => {
    const all = Array.from({ length: terms.totalAgents }, (_, i) => i + 1)
    const texts = await Promise.all(all.map((agent) => client.get(leaseKey(terms, agent))))
    return all.map((agent, i) => ({ agent, taken: texts[i] !== null, holder: holderIn(texts[i]) }))
  }

  const renew = async () => {
    // The server may be away; the next renewal tells again.
    if (card) announcePlan(client, card).catch(() => {})
    for (const agent of held) {
      try {
        const kept = await client.eval(scriptBody('renew-lease'), 1, leaseKey(terms, agent), holder, leaseMs)
        if (kept === 1) continue
        // It may only have run out while nobody could reach the server.
        if (await claim(agent)) continue
        held.delete(agent)
        onLost(`agent ${agent}'s lease was lost to another process: two may be writing the same items`)
      } catch {
        // The server is away; the next renewal tells.
      }
    }
  }

  /**
   * Tries until the lease of a writer that died would have run out.
   * @param {() => Promise<boolean>} attempt
   * @param {() => Promise<number[]>} wanted
   */
  const patiently = async (attempt, wanted) => {
    const startMs = clock()
    let told = false
    while (!(await attempt())) {
      signal?.throwIfAborted()
      if (clock() - startMs > leaseMs + 1000) throw await refusal(await wanted())
      if (!told) say(`every agent asked for is taken; waiting ${leaseMs / 1000} s for a lease to run out`)
      told = true
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
  const refusal = async (/** @type {number[]} */ wanted) => {
    const list = (await holders()).filter(({ agent, taken }) => taken && wanted.includes(agent))
    return new TargetError(
      `every agent asked for is taken: ${list.map(({ agent, holder: who }) => told(agent, who)).join('; ')}. Raise -t on every box, or end one of them`,
      { code: 'LEASED' },
    )
  }

  return {
    /**
     * The next free agent, or exactly those named.
     * @param {'next' | readonly number[]} wanted
     * @returns {Promise<number[]>}
     */
    async claim(wanted) {
      if (wanted === 'next') {
        const anyFree = async () => {
          for (let agent = 1; agent <= terms.totalAgents; agent++) if (await claim(agent)) return true
          return false
        }
        await patiently(anyFree, async () => Array.from({ length: terms.totalAgents }, (_, i) => i + 1))
      } else {
        const allMine = async () => {
          for (const agent of wanted) if (!held.has(agent)) await claim(agent)
          return wanted.every((agent) => held.has(agent))
        }
        await patiently(allMine, async () => wanted.filter((agent) => !held.has(agent)))
      }
      timer = setInterval(renew, renewMs)
      timer.unref()
      return [...held].sort((a, b) => a - b)
    },
    /** Agents at work now, on all boxes. */
    live: async () => (await holders()).filter(({ taken }) => taken).map(({ agent }) => agent),
    /**
     * Says what is written under these leases, now and with each renewal.
     * @param {import('./plan-key.js').Announcement} plan
     */
    async announce(plan) {
      card = plan
      await announcePlan(client, plan)
    },
    async release() {
      clearInterval(timer)
      const away = [...held].map((agent) =>
        client.eval(scriptBody('release-lease'), 1, leaseKey(terms, agent), holder).catch(() => {}),
      )
      if (card) away.push(announcePlan(client, card, { ended: true }).catch(() => {}))
      await Promise.race([Promise.all(away), new Promise((resolve) => setTimeout(resolve, 1000))])
      client.disconnect()
    },
  }
}
