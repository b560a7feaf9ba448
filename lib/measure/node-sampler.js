// One INFO per node per second, as differences. A node that does not answer leaves a gap.
import { atMost } from '../base/timers.js'
import { parseInfo } from '../wire/info.js'
import { addCommands, difference, flushesBetween, known, reading, wasRestarted } from './node-figures.js'

/**
 * @import { CommandUse } from '../wire/info.js'
 * @import { Difference, Gauges, Reading } from './node-figures.js'
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
 * @property {number | null} engine_cpu_pct the main thread
 * @property {number | null} cpu_pct all threads
 * @property {number | null} commands_per_s
 * @property {number | null} net_in_bytes
 * @property {number | null} net_out_bytes what feeds its replicas included
 * @property {number} [info_bytes] of them our INFO
 * @property {number | null} expired
 * @property {number | null} evicted
 * @property {true} [cpu_upper_bound] threads waited in a loop: no more CPU than this was used
 * @property {Record<string, CommandUse>} commands
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
 * @typedef {object} NodeSummary a node of run.json, over the window
 * @property {string} address
 * @property {number} shard
 * @property {'master' | 'replica'} role
 * @property {number | null} engine_cpu_pct
 * @property {number | null} cpu_pct
 * @property {number | null} commands_per_s
 * @property {number | null} memory_bytes as last answered
 * @property {number} sampled_s the time that its figures cover
 * @property {true} [cpu_upper_bound] io-threads waited in a loop: it worked for no longer than this
 * @property {number} gaps samples that had no differences
 *
 * @typedef {object} NodeTotals what per-item costs are made of, over the window
 * @property {number | null} cpu_s of all nodes, replicas too
 * @property {number | null} net_bytes of the masters, in and out
 * @property {number} [info_bytes] of them our INFO
 * @property {number | null} data_bytes the data set as last answered, one master a shard
 * @property {number | null} keys the same
 * @property {number | null} expired by the masters
 * @property {number | null} evicted by the masters, since their first answers: before the window too
 * @property {Record<string, CommandUse>} commands of the masters
 * @property {number} carried items that were answered between the answers that these figures are made of
 *
 * @typedef {Reading & { carried: number, infoBytes: number }} Answer infoBytes: how long it was
 *
 * @typedef {object} Watch what is known of one node
 * @property {SampledNode} node
 * @property {boolean} listed
 * @property {Promise<void> | null} asking at most one question a node is open
 * @property {Answer | null} answer not yet told
 * @property {boolean} failed
 * @property {Answer | null} last
 * @property {Sums} sums
 *
 * @typedef {{ overMs: number, engineCpuS: number, cpuS: number, processed: number, upperBound: boolean, gaps: number, carried: number }} Sums
 */

/** JSON has no NaN, which is what a counter is that a server does not have. @param {any} last @returns {Answer} */
const revived = (last) => ({
  ...last,
  serverMs: last.serverMs ?? Number.NaN,
  offset: last.offset ?? Number.NaN,
  counters: Object.fromEntries(Object.entries(last.counters).map(([name, n]) => [name, n ?? Number.NaN])),
})

/** @returns {Sums} */
const noSums = () => ({
  overMs: 0,
  engineCpuS: 0,
  cpuS: 0,
  processed: 0,
  upperBound: false,
  gaps: 0,
  carried: 0,
})
const noTotals = () => ({
  cpuS: 0,
  netBytes: 0,
  infoBytes: 0,
  expired: 0,
  commands: /** @type {Record<string, CommandUse>} */ ({}),
})

/** @param {Difference} delta @returns {Rates} */
const rates = (delta) => ({
  over_ms: delta.overMs,
  engine_cpu_pct: known((delta.engineCpuS / delta.overMs) * 100_000),
  cpu_pct: known((delta.cpuS / delta.overMs) * 100_000),
  ...(delta.upperBound && { cpu_upper_bound: /** @type {const} */ (true) }),
  commands_per_s: known((delta.processed / delta.overMs) * 1000),
  net_in_bytes: known(delta.netInBytes),
  net_out_bytes: known(delta.netOutBytes),
  expired: known(delta.expired),
  evicted: known(delta.evicted),
  commands: delta.commands,
})

/**
 * Watches the nodes of a target while they come, go, restart and change roles. The window keeps sums of
 * differences: a restart loses what happened between its two neighbouring answers and never shows less than
 * nothing; a gap without a restart loses nothing, since the next difference spans it.
 * @param {object} needs
 * @param {() => SampledNode[]} needs.nodes asked at each sample
 * @param {(address: string) => Promise<string>} needs.info `INFO everything`; must settle some day, on a lost
 *   connection too: until then the node is not asked again
 * @param {() => number} needs.clock ms
 * @param {number} [needs.timeLimitMs] a sample waits no longer; a later answer belongs to the next one
 * @param {number} [needs.db] the database that is ours
 * @param {() => number} [needs.carried] items that were answered so far
 * @param {(rows: NodeRow[]) => void} [needs.onRows] takes each sample once, those that begin a window too
 */
export const nodeSampler = ({
  nodes,
  info,
  clock,
  timeLimitMs = 900,
  db = 0,
  carried = () => 0,
  onRows = () => {},
}) => {
  /** @type {Map<string, Watch>} */
  const watches = new Map()
  let totals = noTotals()
  let evicted = 0
  /** @type {Promise<NodeRow[]> | null} */
  let round = null

  const follow = () => {
    for (const watch of watches.values()) watch.listed = false
    for (const node of nodes()) {
      const watch = watches.get(node.address) ?? {
        node,
        listed: true,
        asking: null,
        answer: null,
        failed: false,
        last: null,
        sums: noSums(),
      }
      watch.node = node
      watch.listed = true
      watches.set(node.address, watch)
    }
  }

  const ask = async (/** @type {Watch} */ watch) => {
    watch.failed = false
    try {
      const text = await info(watch.node.address)
      const atMs = clock()
      watch.answer = { ...reading(parseInfo(text), atMs), carried: carried(), infoBytes: text.length }
    } catch {
      watch.failed = true
    }
  }

  /** @param {Watch} watch @returns {NodeRow} */
  const row = (watch) => {
    const { node, answer, last, sums } = watch
    const { address, shard } = node
    const role = (answer ?? last)?.role ?? node.role
    const head = { address, shard, role }
    if (!answer) {
      sums.gaps++
      return {
        ...head,
        at_ms: clock(),
        gap: !watch.listed ? 'unlisted' : watch.failed ? 'refused' : 'silent',
      }
    }
    watch.answer = null
    watch.last = answer
    const link = answer.link === undefined ? {} : { link: answer.link }
    const loading = answer.loading ? { loading: /** @type {const} */ (true) } : {}
    const seen = { ...head, at_ms: answer.atMs, ...answer.gauges, ...link, ...loading }
    if (!last) return seen
    const incident = incidentBetween(last, answer)
    const delta = difference(last, answer)
    if (!delta) {
      sums.gaps++
      return { ...seen, gap: 'restarted', ...incident }
    }
    add(sums, delta, role)
    if (role === 'master') totals.infoBytes += last.infoBytes
    sums.carried += answer.carried - last.carried
    // The server counts an answer when it has sent it, which is after it was made up.
    return { ...seen, ...rates(delta), info_bytes: last.infoBytes, ...incident }
  }

  /** @param {Reading} last @param {Reading} answer @returns {Partial<Incident>} */
  const incidentBetween = (last, answer) => {
    if (wasRestarted(last, answer)) return { restarted: true }
    const flushes = flushesBetween(last, answer, db)
    return flushes > 0 ? { flushes } : {}
  }

  const add = (/** @type {Sums} */ sums, /** @type {Difference} */ delta, /** @type {string} */ role) => {
    sums.overMs += delta.overMs
    sums.engineCpuS += delta.engineCpuS
    sums.cpuS += delta.cpuS
    sums.processed += delta.processed
    sums.upperBound ||= delta.upperBound
    totals.cpuS += delta.cpuS
    if (role !== 'master') return
    totals.netBytes += delta.netInBytes + delta.netOutBytes
    totals.expired += delta.expired
    evicted += delta.evicted
    addCommands(totals.commands, delta.commands)
  }

  const sampleAll = async () => {
    const startMs = clock()
    follow()
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
    onRows(rows)
    return rows
  }

  /** A row a node. Called again before it is done, it gives the same sample. */
  const sample = () => {
    round ??= sampleAll().finally(() => {
      round = null
    })
    return round
  }

  return {
    sample,

    /** Takes a sample and begins the window with it. A node that is silent now joins with its next answer. */
    mark: async () => {
      await round
      const startMs = clock()
      const rows = await sample()
      totals = noTotals()
      for (const watch of watches.values()) {
        watch.sums = noSums()
        if (watch.last && watch.last.atMs < startMs) watch.last = null
      }
      return rows
    },

    /** Plain data that another process can take the window up from. */
    state: () => ({
      watches: [...watches.values()].map(({ node, last, sums }) => ({ node, last, sums })),
      totals,
      evicted,
    }),
    /** Goes on with another's window: nothing of it is lost, since differences span the time between two samples. @param {any} state */
    restore(state) {
      watches.clear()
      for (const { node, last, sums } of state.watches)
        watches.set(node.address, {
          ...{ node, sums, listed: true, asking: null, answer: null, failed: false },
          last: last && revived(last),
        })
      totals = state.totals
      evicted = state.evicted
    },

    /** From mark() to the last sample. @returns {{ nodes: NodeSummary[], totals: NodeTotals }} */
    summary: () => ({
      nodes: [...watches.values()].map(({ node, last, sums }) => ({
        address: node.address,
        shard: node.shard,
        role: last?.role ?? node.role,
        engine_cpu_pct: known((sums.engineCpuS / sums.overMs) * 100_000),
        cpu_pct: known((sums.cpuS / sums.overMs) * 100_000),
        commands_per_s: known((sums.processed / sums.overMs) * 1000),
        memory_bytes: last?.gauges.memory_bytes ?? null,
        sampled_s: sums.overMs / 1000,
        ...(sums.upperBound && { cpu_upper_bound: /** @type {const} */ (true) }),
        gaps: sums.gaps,
      })),
      totals: {
        cpu_s: known(totals.cpuS + unlessAnswered(watches)),
        net_bytes: known(totals.netBytes + unlessAnswered(watches)),
        info_bytes: totals.infoBytes,
        data_bytes: ofMasters(watches, 'data_bytes'),
        keys: ofMasters(watches, 'keys'),
        expired: known(totals.expired + unlessAnswered(watches)),
        evicted: known(evicted + unlessAnswered(watches)),
        commands: totals.commands,
        carried: Math.max(0, ...[...watches.values()].map(({ sums }) => sums.carried)),
      },
    }),
  }
}

// A replica acknowledges each second: of one that does so, its own word is newer.
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
    row.lag_bytes = known(Math.max(0, written - last.offset))
  }
  const answered = new Set(fresh.map(({ row }) => row))
  for (const { row, last } of fresh) {
    if (last.role !== 'master') continue
    const away = rows.filter((one) => one.shard === row.shard && one.role === 'replica' && !answered.has(one))
    addSilent(away, last.replicas)
  }
}

/**
 * @param {NodeRow[]} away replicas of a shard that did not answer
 * @param {import('./node-figures.js').ReplicaView[]} views of their master
 */
const addSilent = (away, views) => {
  const silent = views.filter(({ silentS }) => silentS >= silentFromS)
  const named = (/** @type {NodeRow} */ { address }) => silent.find((view) => view.address === address)
  // A target may name its nodes otherwise than they see each other: the one that is left is the one that is away.
  const others = silent.filter(({ address }) => away.every((row) => row.address !== address))
  for (const row of away) {
    const view = named(row) ?? others.shift()
    if (view) row.lag_bytes = known(Math.max(0, view.behind))
  }
}

/** Sums over no answers are not 0: nobody knows them. @param {Map<string, Watch>} watches */
const unlessAnswered = (watches) => ([...watches.values()].some(({ last }) => last) ? 0 : Number.NaN)

/**
 * After a failover two nodes of a shard may have called themselves its master: the one that spoke last is it.
 * @param {Map<string, Watch>} watches
 * @param {'data_bytes' | 'keys'} gauge
 */
const ofMasters = (watches, gauge) => {
  /** @type {Map<number, Reading>} */
  const masters = new Map()
  for (const { node, last } of watches.values()) {
    if (last?.role !== 'master') continue
    const other = masters.get(node.shard)
    if (!other || other.atMs < last.atMs) masters.set(node.shard, last)
  }
  if (masters.size === 0) return null
  return known([...masters.values()].reduce((sum, { gauges }) => sum + (gauges[gauge] ?? Number.NaN), 0))
}
