// Changes of a cluster while it serves: slots moved, shards added and removed, roles exchanged. Every step uses control
// connections, so that no password is in a process list.
import { setTimeout as sleep } from 'node:timers/promises'
import { errorOf, TargetError } from '../base/errors.js'
import { certain } from '../base/typed.js'
import { slotCount } from '../wire/slot.js'
import { endpointOf } from './address.js'
import { clusterNodes } from './cluster-nodes.js'
import { answerOf } from './control.js'
import { listIn } from './lists.js'
import { isRefusal, RefusedChange } from './managed.js'

/**
 * @import { Redis } from 'ioredis'
 * @import { ClusterNode } from './cluster-nodes.js'
 * @import { Access } from './dial.js'
 *
 * @typedef {object} Cluster what a change needs of a target
 * @property {(address: string) => Redis} control
 * @property {Access} access
 * @property {() => readonly string[]} addresses any of its nodes; the first that answers is believed
 * @property {(address: string) => void} [name] confirms a server that the user, or the map of a confirmed server, names
 *
 * @typedef {{ kind: 'slots' | 'wait', done: number, total: number, text: string }} Progress
 * @typedef {{ slots: number, keys: number, tookMs: number }} Moved
 * @typedef {{ cluster: Cluster, clock: () => number, onProgress?: (progress: Progress) => void, signal?: AbortSignal }} Needs
 * @typedef {ReturnType<typeof viewsOf>} Views
 */

/** @param {ClusterNode} node @returns {number[]} */
const slotNumbers = ({ slots }) =>
  slots.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i))

// Which slots move where, as pure functions of the owners.

/**
 * Slots for each target so that all own as many in the end: taken from the nodes that have most.
 * @param {{ id: string, numbers: number[] }[]} owners
 * @param {string[]} receivers ids
 * @param {boolean} empty owners that are no receivers give away everything
 * @returns {{ slot: number, to: string }[]}
 */
export const evenShares = (owners, receivers, empty) => {
  const slotsByOwner = new Map(owners.map(({ id, numbers }) => [id, [...numbers]]))
  for (const id of receivers) if (!slotsByOwner.has(id)) slotsByOwner.set(id, [])
  /** @type {{ slot: number, to: string }[]} */
  const moves = []
  const size = (/** @type {string} */ id) => slotsByOwner.get(id)?.length ?? 0
  for (;;) {
    const givers = [...slotsByOwner.keys()].filter((id) => !receivers.includes(id) && size(id) > 0)
    const [to] = [...receivers].sort((a, b) => size(a) - size(b))
    const [from] = givers.sort((a, b) => size(b) - size(a))
    if (to === undefined || from === undefined || (!empty && size(from) <= size(to) + 1)) break
    const slot = certain(slotsByOwner.get(from)?.pop())
    slotsByOwner.get(to)?.push(slot)
    moves.push({ slot, to })
  }
  // One receiver after the other, each with adjacent slots: few ranges, and few new epochs.
  moves.sort((a, b) => a.slot - b.slot)
  const order = moves.map(({ to }) => to).sort()
  return moves.map(({ slot }, i) => ({ slot, to: order[i] }))
}

/** The owners as text, the same for the same map. @param {ClusterNode[]} nodes */
export const mapText = (nodes) =>
  nodes
    .filter(({ slots }) => slots.length > 0)
    .map(({ id, slots }) => `${id} ${slots.map((range) => range.join('-')).join(' ')}`)
    .sort()
    .join('\n')

/** `0-1499,3000` as numbers. @param {string} text @returns {number[] | null} null: not slots */
export const slotsIn = (text) => {
  const parts = text.split(',').map((part) => /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim()))
  const slots = parts.flatMap((found) => {
    if (!found) return [slotCount]
    const from = Number(found[1])
    const to = Number(found[2] ?? found[1])
    return from > to || to >= slotCount
      ? [slotCount]
      : Array.from({ length: to - from + 1 }, (_, i) => from + i)
  })
  return slots.includes(slotCount) ? null : slots
}

// One slot and its keys from one master to another, while both serve.

/**
 * @typedef {object} Means
 * @property {(address: string) => Redis} control
 * @property {Access} access
 * @property {(address: string, ...args: (string | number)[]) => Promise<unknown>} ask
 */

const keysPerBatch = 100
const migrateTimeoutMs = 5000
const migrateAttempts = 5
const migratePauseMs = 500

/** @param {Means} means */
const slotMover = ({ control, access, ask }) => {
  const signIn = access.username
    ? ['AUTH2', access.username, access.password ?? '']
    : access.password
      ? ['AUTH', access.password]
      : []

  /**
   * Moves one batch of keys; after a broken transfer both sides may have a copy, and the source's is the one served.
   * @param {ClusterNode} from
   * @param {ClusterNode} to
   * @param {(string | Buffer)[]} keys
   */
  const migrate = async (from, to, keys) => {
    const { host, port } = endpointOf(to.address)
    for (let attempt = 1; ; attempt++) {
      const replace = attempt > 1 ? ['REPLACE'] : []
      try {
        const args = [
          host,
          port,
          '',
          String(access.db ?? 0),
          String(migrateTimeoutMs),
          ...replace,
          ...signIn,
          'KEYS',
          ...keys,
        ]
        await control(from.address).call('MIGRATE', ...args)
        return
      } catch (error) {
        const { message } = errorOf(error)
        if (attempt < migrateAttempts && /^IOERR/.test(message)) continue
        if (attempt < migrateAttempts && /CLUSTERDOWN|LOADING|BUSY /.test(message)) {
          await sleep(migratePauseMs)
          continue
        }
        throw error
      }
    }
  }

  /** @param {number} slot @param {ClusterNode} from */
  const keysIn = async (slot, from) =>
    listIn(
      'CLUSTER GETKEYSINSLOT',
      await control(from.address).callBuffer('CLUSTER', 'GETKEYSINSLOT', String(slot), String(keysPerBatch)),
    )

  /**
   * Moves a slot; returns how many keys were in it.
   * @param {number} slot
   * @param {ClusterNode} from
   * @param {ClusterNode} to
   * @param {ClusterNode[]} masters
   */
  return async (slot, from, to, masters) => {
    let moved = 0
    try {
      await ask(to.address, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id)
      await ask(from.address, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id)
      for (let keys = await keysIn(slot, from); keys.length > 0; keys = await keysIn(slot, from)) {
        await migrate(from, to, keys)
        moved += keys.length
      }
    } catch (error) {
      // A part of what the receiver refused may be there: the slot stays between the two, where all keys are found.
      const isReceivers = /Target instance replied/.test(errorOf(error).message)
      if (!isRefusal(error) || isReceivers) throw error
      // A change that may not begin leaves nothing half done.
      if (moved === 0)
        for (const { address } of [from, to])
          await ask(address, 'CLUSTER', 'SETSLOT', slot, 'STABLE').catch(() => {})
      throw error instanceof RefusedChange ? error : new RefusedChange(from.address, errorOf(error))
    }
    // The new owner first: from then on a node serves the slot, even if this program ends.
    await ask(to.address, 'CLUSTER', 'SETSLOT', slot, 'NODE', to.id)
    // Without its last slot, the source may have become a replica of the new owner.
    await ask(from.address, 'CLUSTER', 'SETSLOT', slot, 'NODE', to.id).catch((error) => {
      if (!/only with masters/.test(error.message)) throw error
    })
    await Promise.allSettled(
      masters
        .filter(({ id }) => id !== to.id && id !== from.id)
        .map(({ address }) => ask(address, 'CLUSTER', 'SETSLOT', slot, 'NODE', to.id)),
    )
    return moved
  }
}

// Each step ends with a write to the disk of both servers.
const slotsAtOnce = 4
const agreeLimitMs = 30_000
const pollMs = 50

/** @param {readonly ClusterNode[]} nodes */
const servingIn = (nodes) => nodes.filter(({ role, slots }) => role === 'master' && slots.length > 0)

/** @param {readonly ClusterNode[]} nodes */
const ownersOf = (nodes) => nodes.map((node) => ({ id: node.id, numbers: slotNumbers(node) }))

/** @param {ClusterNode[]} nodes @param {string | number} wanted an address, or a shard's number from 1 */
const masterNamed = (nodes, wanted) => {
  const masters = servingIn(nodes).sort((a, b) => a.slots[0][0] - b.slots[0][0])
  const found =
    typeof wanted === 'number'
      ? masters[wanted - 1]
      : nodes.find(({ address, role }) => role === 'master' && address === wanted)
  if (!found) throw new TargetError(`${wanted}: no such ${typeof wanted === 'number' ? 'shard' : 'master'}`)
  return found
}

/** What the nodes of a cluster report about it. @param {Needs} needs */
const viewsOf = ({ cluster, clock, onProgress, signal }) => {
  /** @param {string} address @param {(string | number)[]} words */
  const ask = async (address, ...words) => {
    const [name, ...args] = words.map(String)
    try {
      return await cluster.control(address).call(name, args)
    } catch (error) {
      if (isRefusal(error)) throw new RefusedChange(address, errorOf(error))
      return answerOf(address, cluster.access, Promise.reject(error))
    }
  }
  /** The cluster as this node sees it. @param {string} address */
  const seenFrom = async (address) => {
    const nodes = clusterNodes(String(await ask(address, 'CLUSTER', 'NODES')), endpointOf(address).host)
    // CLUSTER SLOTS, from which the target was opened, has no masters without slots.
    for (const node of nodes) if (!node.failed) cluster.name?.(node.address)
    return nodes
  }
  /** As the first node that answers reports it. @returns {Promise<ClusterNode[]>} */
  const view = () =>
    Promise.any(cluster.addresses().map(seenFrom)).catch((/** @type {AggregateError} */ { errors }) => {
      throw errors.find((error) => error instanceof RefusedChange) ?? errors[0]
    })

  /**
   * Gives up after a while, with the last error of `holds`.
   * @param {string} what
   * @param {() => Promise<unknown>} holds
   * @param {() => Promise<unknown>} [again] done now and then while it does not hold
   */
  const until = async (what, holds, again) => {
    const startMs = clock()
    /** @type {{ error?: Error }} */
    const last = {}
    const isSo = async () => {
      try {
        last.error = undefined
        return await holds()
      } catch (error) {
        if (error instanceof RefusedChange) throw error
        last.error = errorOf(error)
        return false
      }
    }
    for (let checks = 0; !(await isSo()); checks++) {
      signal?.throwIfAborted()
      const waitedMs = clock() - startMs
      if (waitedMs > agreeLimitMs)
        throw new TargetError(
          `waited ${agreeLimitMs / 1000} s: ${what}${last.error ? `; the last error: ${last.error.message}` : ''}`,
          { cause: last.error },
        )
      onProgress?.({ kind: 'wait', done: waitedMs, total: agreeLimitMs, text: what })
      // It may have happened since: then what is asked for is refused, and the next check sees it.
      if (again && checks % 100 === 99) await again().catch(() => {})
      await sleep(pollMs)
    }
  }

  /**
   * Waits until every node sees the same owners. A replica that claims slots its master has given away gets no votes, and
   * meanwhile its master blocks its writers for ten seconds.
   * @param {ClusterNode[]} nodes
   */
  const oneMap = (nodes) =>
    until('all nodes see the same owners of slots', async () => {
      const living = nodes.filter(({ failed }) => !failed)
      const maps = await Promise.all(living.map(async ({ address }) => mapText(await seenFrom(address))))
      return maps.every((map) => map === maps[0])
    })
  return {
    ask,
    seenFrom,
    view,
    until,
    oneMap,
    /** The cluster as all of its nodes see it: just after a failover some still name the old master. */
    async agreedView() {
      await oneMap(await view())
      return view()
    },
  }
}

/** Moves slots, some at a time. @param {Needs} needs @param {Views} views */
const slotsMover = ({ cluster: { control, access }, clock, onProgress, signal }, { ask, oneMap }) => {
  const moveSlot = slotMover({ control, access, ask })
  /** @param {ClusterNode[]} nodes @param {{ slot: number, to: string }[]} moves @returns {Promise<Moved>} */
  return async (nodes, moves) => {
    const startMs = clock()
    const masters = nodes.filter(({ role }) => role === 'master')
    const byId = new Map(masters.map((node) => [node.id, node]))
    /** @type {Map<number, ClusterNode>} */
    const owner = new Map(masters.flatMap((node) => slotNumbers(node).map((slot) => [slot, node])))
    let keys = 0
    let done = 0
    const rest = [...moves].reverse()
    const work = async () => {
      for (let next = rest.pop(); next && !signal?.aborted; next = rest.pop()) await one(next)
    }
    const one = async (/** @type {{ slot: number, to: string }} */ { slot, to }) => {
      const from = owner.get(slot)
      const receiver = byId.get(to)
      if (!from || !receiver) throw new TargetError(`slot ${slot} has no owner; look at CLUSTER INFO`)
      if (from.id !== to) keys += await moveSlot(slot, from, receiver, masters)
      done++
      onProgress?.({
        kind: 'slots',
        done,
        total: moves.length,
        text: `${from.address} to ${receiver.address}`,
      })
    }
    // However it ends, no slot stays half moved.
    const stop = (/** @type {unknown} */ error) => {
      rest.length = 0
      throw error
    }
    const workers = Array.from({ length: slotsAtOnce }, () => work().catch(stop))
    const failed = (await Promise.allSettled(workers)).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
    signal?.throwIfAborted()
    await oneMap(nodes)
    return { slots: done, keys, tookMs: clock() - startMs }
  }
}

/**
 * Adds servers to the cluster; resolves when all nodes know them.
 * @param {Views} views
 * @param {readonly string[]} members addresses
 */
const meet = async ({ ask, seenFrom, view, until }, members) => {
  const known = (await view()).filter(({ failed }) => !failed)
  const [first] = known
  // All are asked before the first joins: one that does not answer would stay in the cluster as a failed node.
  const selves = await Promise.all(members.map((address) => ask(address, 'CLUSTER', 'NODES')))
  for (const [i, address] of members.entries()) {
    const { host, port } = endpointOf(address)
    const busPort = /:\d+@(\d+)\S* \S*myself/.exec(String(selves[i]))?.[1]
    await ask(first.address, 'CLUSTER', 'MEET', host, port, ...(busPort ? [busPort] : []))
  }
  const all = [...known.map(({ address }) => address), ...members]
  /** @param {ClusterNode[]} nodes */
  const knowsAll = (nodes) => {
    const linked = nodes.filter((node) => node.self || node.linked).map(({ address }) => address)
    return all.every((address) => linked.includes(address))
  }
  await until('the new nodes are known to all', async () =>
    (await Promise.all(all.map(seenFrom))).every(knowsAll),
  )
}

/**
 * Removes a node. One that has lost its slots has become a replica of the node that got the last of them, and a replica
 * does not forget its master, so this may take some rounds.
 * @param {Views} views
 * @param {ClusterNode} node
 * @param {ClusterNode[]} rest
 */
const leave = async ({ ask, seenFrom, until }, node, rest) => {
  const forget = async (/** @type {string} */ address) => {
    const seen = (await seenFrom(address)).some(({ id }) => id === node.id)
    if (seen) await ask(address, 'CLUSTER', 'FORGET', node.id)
    return !seen
  }
  // A node that is not reset would announce itself to the others again.
  await until(`${node.address} is not needed any more`, async () => {
    await ask(node.address, 'CLUSTER', 'RESET', 'SOFT')
    return true
  })
  await until(`${node.address} is forgotten`, async () =>
    (await Promise.all(rest.map(({ address }) => forget(address)))).every(Boolean),
  )
}

/** @param {Needs} needs */
export const resharding = (needs) => {
  const { cluster, clock } = needs
  const views = viewsOf(needs)
  const { ask, seenFrom, view, until, agreedView } = views
  const moveAll = slotsMover(needs, views)

  return {
    view,

    /**
     * Rejects with RefusedChange where clients may not change the cluster. Nothing listens on the port, so no node joins.
     */
    mayChange: async () => {
      const [first] = cluster.addresses()
      await ask(first, 'CLUSTER', 'MEET', endpointOf(first).host, 0).catch((error) => {
        if (error instanceof RefusedChange) throw error
      })
    },

    /** @param {number[]} slots @param {string | number} to an address, or a shard's number from 1 */
    async move(slots, to) {
      const nodes = await agreedView()
      const receiver = masterNamed(nodes, to)
      return moveAll(
        nodes,
        slots.map((slot) => ({ slot, to: receiver.id })),
      )
    },

    /**
     * Makes empty servers a shard with its even part of the slots.
     * @param {{ master: string, replicas?: readonly string[] }} shard addresses
     * @param {number} [most] slots that it gets
     */
    async addShard({ master, replicas = [] }, most) {
      const members = [master, ...replicas]
      for (const address of members) cluster.name?.(address)
      await meet(views, members)
      await until(`${master} serves`, async () =>
        /cluster_state:ok/.test(String(await ask(master, 'CLUSTER', 'INFO'))),
      )
      const id = (await seenFrom(master)).find(({ self }) => self)?.id ?? ''
      for (const address of replicas) await ask(address, 'CLUSTER', 'REPLICATE', id)
      const nodes = await agreedView()
      return moveAll(nodes, evenShares(ownersOf(servingIn(nodes)), [id], false).slice(0, most))
    },

    /**
     * Moves its slots evenly to the others, then removes it. Returns the nodes that left.
     * @param {string | number} shard an address, or a shard's number from 1
     */
    async removeShard(shard) {
      const nodes = await agreedView()
      const leaving = masterNamed(nodes, shard)
      const staying = servingIn(nodes).filter(({ id, failed }) => id !== leaving.id && !failed)
      if (staying.length === 0) throw new TargetError(`${leaving.address} is the only shard`)
      const ids = staying.map(({ id }) => id)
      const moves = evenShares(ownersOf([leaving, ...staying]), ids, true)
      const moved = await moveAll(nodes, moves)
      const gone = nodes.filter(({ id, masterId }) => id === leaving.id || masterId === leaving.id)
      const rest = nodes.filter((node) => !gone.includes(node) && !node.failed)
      for (const node of gone) await leave(views, node, rest)
      return { ...moved, gone: gone.map(({ address }) => address) }
    },

    /** Makes the shard's replica its master, without loss. @param {string | number} shard */
    async failover(shard) {
      const startMs = clock()
      const nodes = await agreedView()
      const master = masterNamed(nodes, shard)
      const replica = nodes.find(
        ({ masterId, failed, linked }) => masterId === master.id && !failed && linked,
      )
      if (!replica) throw new TargetError(`${master.address} has no replica that could take over`)
      const request = () => ask(replica.address, 'CLUSTER', 'FAILOVER')
      await request()
      // A replica whose last election was less than four node timeouts ago counts its votes again: it calls itself the master,
      // and is none a moment later.
      const hasTakenOver = async () => {
        const views = await Promise.all([replica.address, master.address].map(seenFrom))
        return views.every((seen) => seen.some(({ id, slots }) => id === replica.id && slots.length > 0))
      }
      await until(
        `${replica.address} takes over from ${master.address}`,
        hasTakenOver,
        // The master grants it only while the replica keeps up; after 5 s it has to be asked anew.
        request,
      )
      return { from: master.address, to: replica.address, tookMs: clock() - startMs }
    },
  }
}
