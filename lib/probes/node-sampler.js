// One INFO per node and second, as differences. A node that does not answer leaves a gap.
import { atMost } from '../base/timers.js'
import { exactly } from '../base/typed.js'
import { parseInfo } from '../wire/info.js'
import { difference, finite, flushesBetween, reading, wasRestarted } from './node-figures.js'

/**
 * @import { Difference, Gauges, Reading, ReplicaView } from './node-figures.js'
 * @import { CommandUse } from '../wire/info.js'
 *
 * @typedef {object} SampledNode
 * @property {string} address
 * @property {number} shard
 * @property {'master' | 'replica'} role
 *
 * @typedef {'silent' | 'refused' | 'restarted' | 'unlisted'} Gap why there are no differences: no answer within
 *   the limit; the question failed; the counters began anew; the target no longer names the node
 *
 * @typedef {object} Rates since the node's previous answer; percent of one core
 * @property {number} over_ms
 * @property {number | null} engine_cpu_s the main thread
 * @property {number | null} cpu_s all threads
 * @property {number | null} calls
 * @property {number | null} engine_cpu_pct
 * @property {number | null} cpu_pct
 * @property {number | null} commands_per_s
 * @property {number | null} net_in_bytes
 * @property {number | null} net_out_bytes what feeds its replicas included
 * @property {number} [info_bytes] of them our INFO
 * @property {number} [load_bytes] of them the load's
 * @property {number | null} [repl_bytes] of them between masters and replicas
 * @property {number} [carried] items that were stored between the two answers
 * @property {number} [carried_asked] the same between the two questions
 * @property {number | null} expired
 * @property {number | null} evicted
 * @property {number | null} expirations the same within the window alone
 * @property {number | null} evictions
 * @property {number | null} keyspace_hits
 * @property {number | null} keyspace_misses
 * @property {number | null} over_limit_s
 * @property {true} [cpu_upper_bound] threads waited in a loop: no more CPU than this was used
 * @property {Record<string, CommandUse>} commands
 * @property {number | null} [connections] that it accepted
 * @property {Record<string, number>} [asked] commands that we sent it beside the load, by name
 * @property {Record<string, number>} [seen] replies of the load between the two answers, of all nodes, by their meaning
 *
 * @typedef {object} Replication a replica's
 * @property {string} link 'up' or 'down'
 * @property {number | null} lag_bytes by its own word, or its master's where it does not answer
 *
 * @typedef {object} Incident since the node's previous answer
 * @property {true} restarted its process began anew
 * @property {number} flushes how often all keys of our database were removed
 * @property {true} loading its data set is being read from disk: its keys are not all there yet
 *
 * @typedef {SampledNode & { at_ms: number, gap?: Gap } & Partial<Gauges & Rates & Replication & Incident>} NodeRow one
 *   node, one sample: a line's part of intervals.ndjson. A node's first answer has gauges only.
 *
 * @typedef {Reading & { carried: number, carriedAsked: number, infoBytes: number, askedMs: number, asked?: Record<string, number>, loadBytes?: number | null, seen?: Record<string, number> }} Answer
 *   carried: items that were stored when it came, and when it was asked for; infoBytes: how long it was; asked: what we had
 *   sent the node beside the load; loadBytes: what the load had exchanged with it
 *
 * @typedef {object} Watch what is known of one node
 * @property {SampledNode} node
 * @property {boolean} listed
 * @property {Promise<void> | null} asking at most one question a node is open
 * @property {Answer | null} answer not yet reported
 * @property {boolean} failed
 * @property {Answer | null} last
 * @property {boolean} isBefore it is of before the window, whose figures begin with the next one
 */

const unasked = { listed: true, asking: null, answer: null, failed: false, last: null, isBefore: false }

/** JSON has no NaN, which is what a counter is that a server does not have. @param {any} last @returns {Answer} */
const revived = (last) => ({
  ...last,
  serverMs: last.serverMs ?? Number.NaN,
  offset: last.offset ?? Number.NaN,
  counters: Object.fromEntries(Object.entries(last.counters).map(([name, n]) => [name, n ?? Number.NaN])),
})

/** @param {Difference} delta @returns {Rates} */
const rates = (delta) => ({
  over_ms: delta.overMs,
  engine_cpu_s: finite(delta.engineCpuS),
  cpu_s: finite(delta.cpuS),
  calls: finite(delta.processed),
  engine_cpu_pct: finite((delta.engineCpuS / delta.overMs) * 100_000),
  cpu_pct: finite((delta.cpuS / delta.overMs) * 100_000),
  ...(delta.upperBound && { cpu_upper_bound: exactly(true) }),
  commands_per_s: finite((delta.processed / delta.overMs) * 1000),
  net_in_bytes: finite(delta.netInBytes),
  net_out_bytes: finite(delta.netOutBytes),
  repl_bytes: finite(delta.replBytes),
  expired: finite(delta.expired),
  evicted: finite(delta.evicted),
  expirations: finite(delta.expired),
  evictions: finite(delta.evicted),
  keyspace_hits: finite(delta.keyspaceHits),
  keyspace_misses: finite(delta.keyspaceMisses),
  over_limit_s: finite(delta.overLimitS),
  commands: delta.commands,
  connections: finite(delta.connections),
})

/**
 * @param {string} address
 * @param {OwnCounts} own
 */
const oursOf = (address, { sent, loadBytes }) => ({
  ...(sent && { asked: sent(address) }),
  ...(loadBytes && { loadBytes: loadBytes(address) }),
})

/** What was sent between two answers. @param {Record<string, number>} before @param {Record<string, number>} after */
const sentBetween = (before, after) =>
  Object.fromEntries(
    Object.entries(after).flatMap(([name, n]) =>
      n > (before[name] ?? 0) ? [[name, n - (before[name] ?? 0)]] : [],
    ),
  )

/** The nodes that the target names now are listed. @param {Map<string, Watch>} watches @param {readonly SampledNode[]} nodes */
const follow = (watches, nodes) => {
  for (const watch of watches.values()) watch.listed = false
  for (const node of nodes) {
    const watch = watches.get(node.address) ?? { node, ...unasked }
    watch.node = node
    watch.listed = true
    watches.set(node.address, watch)
  }
}

/** @param {Answer} answer */
const seenIn = ({ atMs, gauges, link, loading }) => ({
  at_ms: atMs,
  ...gauges,
  ...(link !== undefined && { link }),
  ...(loading && { loading: exactly(true) }),
})

/** @param {Reading} last @param {Reading} answer @param {number} db @returns {Partial<Incident>} */
const incidentBetween = (last, answer, db) => {
  if (wasRestarted(last, answer)) return { restarted: true }
  const flushes = flushesBetween(last, answer, db)
  return flushes > 0 ? { flushes } : {}
}

/** The differences between an answer and the last one of its node. @param {Answer} last @param {Answer} answer @param {{ db: number, isBefore: boolean, isCarrying: boolean }} how @returns {Partial<NodeRow>} */
const changeOf = (last, answer, { db, isBefore, isCarrying }) => {
  const incident = incidentBetween(last, answer, db)
  const delta = difference(last, answer)
  // An incident is counted once, whenever it happened.
  const went = delta && { expired: finite(delta.expired), evicted: finite(delta.evicted) }
  if (isBefore) return { ...incident, ...went }
  if (!delta) return { gap: 'restarted', ...incident }
  const items = isCarrying && {
    carried: answer.carried - last.carried,
    carried_asked: answer.carriedAsked - last.carriedAsked,
  }
  const asked = last.asked && answer.asked && { asked: sentBetween(last.asked, answer.asked) }
  const seen = last.seen && answer.seen && { seen: sentBetween(last.seen, answer.seen) }
  const load = last.loadBytes != null &&
    answer.loadBytes != null && { load_bytes: answer.loadBytes - last.loadBytes }
  // The server counts an answer when it has sent it, after its text was made.
  return { ...rates(delta), info_bytes: last.infoBytes, ...load, ...items, ...asked, ...seen, ...incident }
}

/**
 * @typedef {object} OwnCounts what a run counts itself, so far
 * @property {() => number} [carried] items that were stored
 * @property {(address: string) => Record<string, number>} [sent] commands that we sent a node beside the load, by name
 * @property {(address: string) => number | null} [loadBytes] that the load exchanged with a node; null: not known
 * @property {() => Record<string, number> | undefined} [seen] replies of the load, by their meaning
 */

/**
 * Watches the nodes of a target while they come, go, restart and change roles: a row each, of what happened since its
 * answer before. A restart loses what happened between its two neighbouring answers and never shows less than nothing;
 * a gap without a restart loses nothing, since the next difference spans it.
 * @param {object} needs
 * @param {() => SampledNode[]} needs.nodes asked at each sample
 * @param {(address: string) => Promise<string>} needs.info `INFO everything`; must settle some day, on a lost
 *   connection too: until then the node is not asked again
 * @param {() => number} needs.clock ms
 * @param {number} [needs.timeLimitMs] a sample waits no longer; a later answer belongs to the next one
 * @param {number} [needs.db] the database that is ours
 * @param {(rows: NodeRow[]) => void} [needs.onRows] takes each sample once, those that begin a window too
 * @param {OwnCounts} [own]
 */
export const nodeSampler = ({ nodes, info, clock, timeLimitMs = 900, db = 0, onRows }, own = {}) => {
  const { carried } = own
  /** @type {Map<string, Watch>} */
  const watches = new Map()
  /** @type {Promise<NodeRow[]> | null} */
  let round = null
  /** @type {Promise<unknown> | null} */
  let marking = null
  let fromMs = Number.NEGATIVE_INFINITY

  const ask = async (/** @type {Watch} */ watch) => {
    watch.failed = false
    const asked = { askedMs: clock(), carriedAsked: carried?.() ?? 0 }
    try {
      const text = await info(watch.node.address)
      const read = { ...reading(parseInfo(text), clock()), infoBytes: text.length }
      const counted = { carried: carried?.() ?? 0, seen: own.seen?.() }
      watch.answer = { ...read, ...asked, ...oursOf(watch.node.address, own), ...counted }
    } catch {
      watch.failed = true
    }
  }

  /** @param {Watch} watch @returns {NodeRow} */
  const row = (watch) => {
    const { node, answer, last, isBefore } = watch
    const { address, shard } = node
    const role = (answer ?? last)?.role ?? node.role
    const head = { address, shard, role }
    const gap = !watch.listed ? 'unlisted' : watch.failed ? 'refused' : 'silent'
    if (!answer) return { ...head, at_ms: clock(), gap }
    watch.answer = null
    // A server that stalls answers late what it was asked before the window: its answer counts commands of the window.
    Object.assign(watch, { last: answer, isBefore: answer.askedMs < fromMs })
    const seen = { ...head, ...seenIn(answer) }
    return last
      ? { ...seen, ...changeOf(last, answer, { db, isBefore, isCarrying: carried !== undefined }) }
      : seen
  }

  const sampleAll = async () => {
    const startMs = clock()
    follow(watches, nodes())
    const all = [...watches.values()]
    for (const watch of all) {
      if (!watch.listed || watch.asking || watch.answer) continue
      watch.asking = ask(watch).finally(() => {
        watch.asking = null
      })
    }
    await atMost(timeLimitMs, Promise.all(all.map(({ listed, asking }) => listed && asking)))
    const rows = all.map(row)
    addLags(rows, watches, startMs)
    onRows?.(rows)
    return rows
  }

  const asked = () => {
    round ??= sampleAll().finally(() => {
      round = null
    })
    return round
  }

  return {
    /** A row a node. Called again before it is done, it gives the same sample; one that begins a window is no other's. */
    sample: async () => {
      await marking
      return asked()
    },

    /** Takes a sample and begins the window with it. A node that is silent now, or was asked before, joins with its next answer. */
    mark: async () => {
      await round
      const startMs = clock()
      fromMs = startMs
      const sampled = asked()
      marking = sampled.finally(() => {
        marking = null
      })
      const rows = await sampled
      for (const watch of watches.values()) if (watch.last && watch.last.atMs < startMs) watch.isBefore = true
      return rows
    },

    /** Plain data that another process can go on from. */
    state: () => [...watches.values()].map(({ node, last, isBefore }) => ({ node, last, isBefore })),
    /** Continues with another process's answers: nothing is lost, since differences span the time between two samples. @param {any} state */
    restore(state) {
      watches.clear()
      for (const { node, last, isBefore = false } of state)
        watches.set(node.address, {
          ...{ node, ...unasked, isBefore },
          last: last && revived(last),
        })
    },

    /** The data as last answered, of one master of each shard; null: not known. */
    lastStoredData: () => ({ dataBytes: ofMasters(watches, 'data_bytes'), keys: ofMasters(watches, 'keys') }),
  }
}

// A replica acknowledges each second: if it answers, its own offset is newer.
const silentFromS = 2

/**
 * How far each replica is behind the master whose history it holds, where both answered in this sample. The two
 * answers are some ms apart, so a healthy replica shows up to what its master wrote in between. Its own offset is
 * taken nevertheless: the master's `slaveN` line knows only the last acknowledgement, up to a second old. Only of a
 * replica that does not answer the master's view is taken.
 * @param {NodeRow[]} rows
 * @param {Map<string, Watch>} watches
 * @param {number} startMs
 */
const addLags = (rows, watches, startMs) => {
  /** @type {Map<string | undefined, number>} */
  const offsets = new Map()
  const fresh = rows.flatMap((row) => {
    const last = watches.get(row.address)?.last
    return last && last.atMs >= startMs ? [{ row, last }] : []
  })
  for (const { last } of fresh) if (last.role === 'master') offsets.set(last.replId, last.offset)
  for (const { row, last } of fresh) {
    if (last.role !== 'replica') continue
    const written = offsets.get(last.replId) ?? Number.NaN
    row.lag_bytes = finite(Math.max(0, written - last.offset))
  }
  const answered = new Set(fresh.map(({ row }) => row))
  for (const { row, last } of fresh) {
    if (last.role !== 'master') continue
    const away = rows.filter((one) => one.shard === row.shard && one.role === 'replica' && !answered.has(one))
    addSilent(away, last.replicas)
  }
}

/** @param {NodeRow[]} away replicas of a shard that did not answer @param {ReplicaView[]} views of their master */
const addSilent = (away, views) => {
  const silent = views.filter(({ silentS }) => silentS >= silentFromS)
  const named = (/** @type {NodeRow} */ { address }) => silent.find((view) => view.address === address)
  // A target may name its nodes otherwise than they see each other: the one that is left is the one that is away.
  const others = silent.filter(({ address }) => away.every((row) => row.address !== address))
  for (const row of away) {
    const view = named(row) ?? others.shift()
    if (view) row.lag_bytes = finite(Math.max(0, view.behind))
  }
}

/**
 * After a failover two nodes of a shard may have called themselves its master: the one that spoke last is it. Of shards that are there.
 * @param {Map<string, Watch>} watches
 * @param {'data_bytes' | 'keys'} gauge
 */
const ofMasters = (watches, gauge) => {
  /** @type {Map<number, Reading>} */
  const masters = new Map()
  for (const { node, last, listed } of watches.values()) {
    if (last?.role !== 'master' || !listed) continue
    const other = masters.get(node.shard)
    if (!other || other.atMs < last.atMs) masters.set(node.shard, last)
  }
  if (masters.size === 0) return null
  return finite([...masters.values()].reduce((sum, { gauges }) => sum + (gauges[gauge] ?? Number.NaN), 0))
}
