// Who is which agent: leases in the target, so that the same command on many boxes makes different agents.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'
import { InterruptedError, TargetError } from '../errors.js'
import { loadHash } from '../plan/plan-card.js'
import { scriptBody } from '../workloads/lua.js'
import { endpointOf } from './address.js'
import { disconnect } from './disconnect.js'
import { processStart } from './embedded-state.js'
import { announcePlan } from './plan-key.js'
import { reasonFor } from './reason.js'

/**
 * @typedef {object} Terms
 * @property {string} prefix
 * @property {number} quantity
 * @property {number} totalAgents
 * @property {string} strategy
 *
 * @typedef {{ token: string, host: string, pid: number, run: string, since: string }} Holder
 */

const leaseMs = 30_000 // renewed six times in its life
const retryMs = 500
// At the end of a run a server may be away, and nobody waits for it.
const answerLimitMs = 1000

const readyLimitMs = 10_000

/** @param {Terms} terms @param {number} agent */
export const leaseKey = (terms, agent) => `${terms.prefix}millrace:lease:${loadHash(terms)}:${agent}`

/** A connection of its own: a lease must not wait behind the load. @param {Pick<import('./open.js').Target, 'kind' | 'topology' | 'access'> & { sentinels?: import('./sentinel.js').Sentinels | null }} target */
const clientFor = ({ kind, topology, access, sentinels }) => {
  const options = {
    username: access.username,
    password: access.password,
    tls: access.tls ?? undefined,
    connectTimeout: 5000,
    commandTimeout: readyLimitMs,
    maxRetriesPerRequest: 2,
    connectionName: 'millrace-lease',
  }
  return kind === 'cluster'
    ? new Cluster(topology.masters.map(endpointOf), {
        redisOptions: options,
        slotsRefreshInterval: 5000,
        dnsLookup: (address, callback) => callback(null, address),
      })
    : new Redis({
        ...(sentinels?.clientOptions() ?? endpointOf(topology.masters[0])),
        ...options,
        db: access.db ?? 0,
      })
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

/** Two parts of a run's agents, as they are typed. @param {number} totalAgents */
const halves = (totalAgents) => {
  const t = Math.max(2, totalAgents)
  const half = Math.floor(t / 2)
  const part = (/** @type {number} */ from, /** @type {number} */ to) =>
    `-t ${t} -a ${from === to ? from : `${from}-${to}`}`
  return [part(1, half), part(half + 1, t)]
}

const told = (/** @type {number} */ agent, /** @type {Holder | null} */ holder) =>
  holder ? `agent ${agent}: ${holder.host} pid ${holder.pid} since ${holder.since}` : `agent ${agent}`

/** @param {{ agent: number, holder: Holder | null }[]} list */
const listed = (list) => list.map(({ agent, holder }) => told(agent, holder)).join('; ')

/**
 * @param {object} options
 * @param {Pick<import('./open.js').Target, 'kind' | 'topology' | 'access'> & { sentinels?: import('./sentinel.js').Sentinels | null }} options.target
 * @param {Terms} options.terms
 * @param {string} options.run
 * @param {(line: string) => void} options.say
 * @param {(message: string) => void} options.onLost
 * @param {() => number} options.clock
 * @param {AbortSignal} [options.signal] stops waiting
 * @param {boolean} [options.here] all who may hold leases are processes of this host, as on embedded servers
 * @param {number} [options.lastMs] how long a lease lasts that nobody renews
 */
export const leases = ({
  target,
  terms,
  run,
  say,
  onLost,
  clock,
  signal,
  here = false,
  lastMs = leaseMs,
}) => {
  const client = clientFor(target)
  /** @type {Error | undefined} */
  let lastError
  client.on('error', (error) => {
    lastError = error
  })
  const holder = JSON.stringify({
    token: randomUUID(),
    host: hostname(),
    pid: process.pid,
    run,
    since: new Date().toISOString(),
  })
  /** @type {Set<number>} */
  const held = new Set()
  /** @type {Set<number>} asked for, and not refused: a lease whose answer is lost may be ours */
  const asked = new Set()
  let released = false
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  /** @type {import('./plan-key.js').Announcement | null} */
  let card = null

  // The library tries for ever, and does not say that it may not ask CLUSTER INFO.
  const reachable = async () => {
    if (client.status === 'ready') return
    const ready = once(client, 'ready', { signal: AbortSignal.timeout(readyLimitMs) })
    await ready.catch(() => {
      const what = lastError ?? new Error('not ready; may this user ask CLUSTER SLOTS and CLUSTER INFO?')
      throw new TargetError(reasonFor(`the leases in ${target.topology.masters[0]}`, what, target.access))
    })
  }
  const claim = async (/** @type {number} */ agent) => {
    if (released) throw new InterruptedError()
    asked.add(agent)
    const key = leaseKey(terms, agent)
    const answer = await client.set(key, holder, 'PX', lastMs, 'NX')
    // It may be ours all the same: of a renewal beside this one, or of this very SET, whose first answer was lost.
    const isOurs = answer === 'OK' || (await client.get(key)) === holder
    if (isOurs) held.add(agent)
    else asked.delete(agent)
    return isOurs
  }
  const giveBack = async () => {
    const agents = [...asked]
    held.clear()
    asked.clear()
    await Promise.all(
      agents.map((agent) => client.eval(scriptBody('release-lease'), 1, leaseKey(terms, agent), holder)),
    )
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
        const kept = await client.eval(scriptBody('renew-lease'), 1, leaseKey(terms, agent), holder, lastMs)
        if (kept === 1) continue
        // It may only have run out while nobody could reach the server.
        if (await claim(agent)) continue
        held.delete(agent)
        asked.delete(agent)
        onLost(`agent ${agent}'s lease was lost to another process: two may be writing the same items`)
      } catch {
        // The server is away; the next renewal tells.
      }
    }
  }

  /**
   * Tries until the lease of a writer that died would have run out.
   * @param {() => Promise<boolean>} attempt
   * @param {readonly number[]} wanted
   * @param {number} needed how many of those
   */
  const patiently = async (attempt, wanted, needed) => {
    const startMs = clock()
    let told = false
    for (;;) {
      if (signal?.aborted) throw new InterruptedError()
      if (await attempt()) return
      if (here) await refuseWhileAtWork(wanted, needed)
      if (clock() - startMs > lastMs + lastMs / 30) throw await refusal(wanted)
      if (!told) say(`every agent asked for is taken; waiting ${lastMs / 1000} s for a lease to run out`)
      told = true
      await sleep(retryMs)
    }
  }
  const takenOf = async (/** @type {readonly number[]} */ wanted) =>
    (await holders()).filter(({ agent, taken }) => taken && wanted.includes(agent))
  /** No lease of theirs will run out. @param {readonly number[]} wanted @param {number} needed */
  const refuseWhileAtWork = async (wanted, needed) => {
    const list = (await takenOf(wanted)).filter(({ holder: who }) => isAtWork(who))
    if (wanted.length - list.length >= needed) return
    const [one, other] = halves(terms.totalAgents)
    throw new TargetError(
      `what is asked for is at work on these servers: ${listed(list)}. Share it between two terminals, ${one} in one and ${other} in the other, or take another --prefix`,
      { code: 'LEASED' },
    )
  }
  const refusal = async (/** @type {readonly number[]} */ wanted) => {
    const list = await takenOf(wanted)
    return new TargetError(
      `every agent asked for is taken: ${listed(list)}. Raise -t on every box, or end one of them`,
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
      await reachable()
      if (wanted === 'next') {
        const anyFree = async () => {
          for (let agent = 1; agent <= terms.totalAgents; agent++) if (await claim(agent)) return true
          return false
        }
        const all = Array.from({ length: terms.totalAgents }, (_, i) => i + 1)
        await patiently(anyFree, all, 1)
      } else {
        // All or none: what is not renewed would run out while the others are waited for.
        const allMine = async () => {
          for (const agent of wanted) if (!(await claim(agent))) break
          if (held.size === wanted.length) return true
          await giveBack()
          return false
        }
        await patiently(allMine, wanted, wanted.length)
      }
      timer = setInterval(renew, lastMs / 6)
      timer.unref()
      return [...held].sort((a, b) => a - b)
    },
    /** Agents at work now, on all boxes. */
    live: async () => {
      const all = holders().then((list) => list.filter(({ taken }) => taken).map(({ agent }) => agent))
      const mine = () => [...held]
      return Promise.race([all.catch(mine), sleep(answerLimitMs).then(mine)])
    },
    /**
     * Says what is written under these leases, now and with each renewal.
     * @param {import('./plan-key.js').Announcement} plan
     */
    async announce(plan) {
      card = plan
      await announcePlan(client, plan)
    },
    async release() {
      released = true
      clearInterval(timer)
      /** @type {Promise<unknown>[]} */
      const away = [giveBack().catch(() => {})]
      if (card) away.push(announcePlan(client, card, { ended: true }).catch(() => {}))
      await Promise.race([Promise.all(away), sleep(answerLimitMs)])
      disconnect(client)
    },
  }
}
