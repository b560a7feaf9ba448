// Combines the readings of all masters. Pure.

/**
 * @import { Info } from '../../wire/info.js'
 * @import { Histograms, Hot, LogEntry, Readings, Slot } from './readings.js'
 *
 * @typedef {(key: Buffer) => string} PatternOfKey
 */

const sum = (/** @type {readonly number[]} */ numbers) => numbers.reduce((all, n) => all + n, 0)

/** Calls up to an edge. @param {[number, number][]} histogram @param {number} edge */
const upTo = (histogram, edge) => histogram.findLast(([at]) => at <= edge)?.[1] ?? 0

/** @param {[number, number][]} histogram @param {number} share */
const quantile = (histogram, share) =>
  histogram.find(([, calls]) => calls >= share * (histogram.at(-1)?.[1] ?? 0))?.[0] ?? null

/** Upper limits of the times of a command's calls meanwhile: upper edges of the servers' buckets. @param {readonly Readings[]} all @param {string} name */
const timesBetween = (all, name) => {
  const own = (/** @type {Histograms | null} */ histograms) => histograms?.[name] ?? []
  const edges = [...new Set(all.flatMap(({ end }) => own(end.latency).map(([edge]) => edge)))].sort(
    (a, b) => a - b,
  )
  const between = edges.map((edge) => {
    const calls = all.map(({ begin, end }) => upTo(own(end.latency), edge) - upTo(own(begin.latency), edge))
    return /** @type {[number, number]} */ ([edge, sum(calls)])
  })
  return (between.at(-1)?.[1] ?? 0) > 0
    ? { p50_us: quantile(between, 0.5), p99_us: quantile(between, 0.99) }
    : { p50_us: null, p99_us: null }
}

/** INFO has its percentiles since the server started. @param {readonly Info[]} infos @param {string} name */
const timesOfInfo = ([{ fields }], name) => {
  const text = fields[`latency_percentiles_usec_${name}`] ?? ''
  const match = (/** @type {RegExp} */ form) => Number(form.exec(text)?.[1]) || null
  return { p50_us: match(/p50=([\d.]+)/), p99_us: match(/p99=([\d.]+)/) }
}

/** @param {readonly Readings[]} all @param {readonly Info[]} infos */
export const timesSeen = (all, infos) => {
  const hasHistograms = all.every(({ begin, end }) => begin.latency && end.latency)
  const from = hasHistograms
    ? 'LATENCY HISTOGRAM'
    : Object.keys(infos[0].fields).some((name) => name.startsWith('latency_percentiles'))
      ? 'INFO'
      : null
  return {
    from,
    timesOf: (/** @type {string} */ name) =>
      hasHistograms ? timesBetween(all, name) : timesOfInfo(infos, name),
  }
}

/** Sizes of all keys, where a server counts them by powers of two. @param {readonly Info[]} infos */
export const keySizesOf = (infos) => {
  /** @type {Map<string, Map<number, number>>} */
  const types = new Map()
  const atMost = sum(
    infos.flatMap(({ databases }) => Object.values(databases).map(({ keys }) => Number(keys))),
  )
  for (const { fields } of infos)
    for (const [name, text] of Object.entries(fields)) {
      const type = /^db\d+_distrib_(\w+?)s_(?:sizes|items)$/.exec(name)?.[1]
      if (type === undefined) continue
      const buckets = types.get(type) ?? new Map()
      types.set(type, buckets)
      for (const [, size, unit, keys] of text.matchAll(/(\d+)([KMGTP]?)=(\d+)/g)) {
        const from = Number(size) * 1024 ** ' KMGTP'.indexOf(unit || ' ')
        // Redis 8.0.2 counts below zero and prints a huge number.
        if (Number(keys) <= atMost) buckets.set(from, (buckets.get(from) ?? 0) + Number(keys))
      }
    }
  return [...types].map(([type, found]) => {
    /** @type {'bytes' | 'elements'} */
    const unit = type === 'string' ? 'bytes' : 'elements'
    const buckets = [...found].sort(([a], [b]) => a - b)
    const upToHere = (/** @type {number} */ at) => sum(buckets.slice(0, at + 1).map(([, n]) => n))
    const added = buckets.map(([from], at) => /** @type {[number, number]} */ ([from, upToHere(at)]))
    return {
      type: { hashe: 'hash' }[type] ?? type,
      unit,
      keys: upToHere(buckets.length),
      median: quantile(added, 0.5),
      p99: quantile(added, 0.99),
      buckets: buckets.map(([at_least, n]) => ({ at_least, keys: n })),
    }
  })
}

/** Commands in the logs, by pattern. @param {readonly Readings[]} all @param {PatternOfKey} patternOfKey */
export const logOf = (all, patternOfKey) => {
  const logs = all.flatMap(({ log }) => log ?? [])
  if (logs.length === 0) return null
  /** @type {Map<string, { kind: LogEntry['kind'], command: string, pattern: string | null, count: number, most: number }>} */
  const groups = new Map()
  for (const { kind, command, key, value } of logs.flatMap(({ entries }) => entries)) {
    const pattern = key && patternOfKey(key)
    const name = JSON.stringify([kind, command, pattern])
    const group = groups.get(name) ?? { kind, command, pattern, count: 0, most: 0 }
    groups.set(name, { ...group, count: group.count + 1, most: Math.max(group.most, value) })
  }
  return {
    from: logs[0].from,
    length: sum(logs.map(({ length }) => length)),
    groups: [...groups.values()].sort((a, b) => b.count - a.count).slice(0, 30),
  }
}

/** Keys that are used most, by pattern. @param {readonly Readings[]} all @param {PatternOfKey} patternOfKey */
export const hotOf = (all, patternOfKey) => {
  const found = /** @type {Hot[]} */ (all.flatMap(({ hot }) => hot ?? []))
  if (found.length === 0) return null
  const us = sum(found.map((one) => one.us))
  const bytes = sum(found.map((one) => one.bytes))
  const shareOf = (/** @type {number} */ n, /** @type {number} */ whole) =>
    whole > 0 ? Math.min(1, n / whole) : null
  /** @type {Map<string, { keys: number, us: number, bytes: number, most: number, perS: number | null }>} */
  const groups = new Map()
  for (const one of found.flatMap(({ keys }) => keys)) {
    const pattern = patternOfKey(one.key)
    const group = groups.get(pattern) ?? { keys: 0, us: 0, bytes: 0, most: 0, perS: null }
    groups.set(pattern, {
      keys: group.keys + 1,
      us: group.us + one.us,
      bytes: group.bytes + one.bytes,
      most: Math.max(group.most, one.us),
      perS: one.perS === null ? group.perS : (group.perS ?? 0) + one.perS,
    })
  }
  return {
    grammar: found[0].grammar,
    tracked_s: found[0].seconds,
    patterns: [...groups]
      .map(([pattern, one]) => ({
        pattern,
        keys: one.keys,
        cpu_share: shareOf(one.us, us),
        busiest_cpu_share: shareOf(one.most, us),
        net_share: shareOf(one.bytes, bytes),
        per_s: one.perS,
      }))
      .sort((a, b) => (b.cpu_share ?? 0) - (a.cpu_share ?? 0) || (b.per_s ?? 0) - (a.per_s ?? 0)),
  }
}

/** @param {string} line of CLIENT LIST @param {string} name */
const field = (line, name) =>
  (new RegExp(`(?:^| )${name}=([^ ]*)`).exec(line)?.[1] ?? '').replace(/[^\x21-\x7e]/g, '').slice(0, 40)

const linesOf = (/** @type {string | null} */ list) =>
  (list ?? '')
    .split('\n')
    .filter(
      (line) =>
        line.includes('addr=') &&
        !field(line, 'name').startsWith('millrace-') &&
        !/[SM]/.test(field(line, 'flags')),
    )

/** Memory of connections; 0: the server does not report it. @param {string | null} list */
export const clientBytes = (list) =>
  sum(
    (list ?? '')
      .split('\n')
      .filter((line) => !/[SM]/.test(field(line, 'flags')))
      .map((line) => Number(field(line, 'tot-mem')) || 0),
  )

/** Connections by name and library, and their traffic. @param {readonly Readings[]} all @param {readonly Info[]} infos @param {number} seconds @param {(name: string, library: string) => string} named */
export const clientsOf = (all, infos, seconds, named) => {
  /** @typedef {{ connections: number, counting: number, commands: number, in: number, out: number }} Group */
  /** @type {Map<string, Group>} */
  const groups = new Map()
  let connections = 0
  // If the server does not count per connection, all that were not idle have the same weight.
  /** @type {number[]} */
  const sent = []
  for (const [i, { begin, end }] of all.entries()) {
    if (end.clients === null) connections += Number(infos[i].fields.connected_clients) || 0
    const before = new Map(linesOf(begin.clients).map((line) => [field(line, 'id'), line]))
    for (const line of linesOf(end.clients)) {
      connections++
      const name = named(field(line, 'name'), field(line, 'lib-name')) || 'without a name'
      const group = groups.get(name) ?? { connections: 0, counting: 0, commands: 0, in: 0, out: 0 }
      groups.set(name, group)
      group.connections++
      if (field(line, 'tot-cmds') === '') {
        if (
          Number(field(line, 'idle')) < seconds &&
          !/^(ping|info|hello|auth|client)/.test(field(line, 'cmd'))
        )
          sent.push(1)
        continue
      }
      const first = before.get(field(line, 'id'))
      const since = (/** @type {string} */ what) =>
        Math.max(0, Number(field(line, what)) - (first ? Number(field(first, what)) : 0))
      group.counting++
      sent.push(since('tot-cmds'))
      group.commands += since('tot-cmds')
      group.in += since('tot-net-in')
      group.out += since('tot-net-out')
    }
  }
  const squares = sum(sent.map((n) => n * n))
  return {
    connections,
    /** How many connections of the same kind would explain the traffic; null: not known. */
    busy: squares > 0 ? Math.max(1, Math.round(sum(sent) ** 2 / squares)) : null,
    groups: [...groups]
      .sort(([, a], [, b]) => b.commands - a.commands || b.connections - a.connections)
      .slice(0, 20)
      .map(([name, group]) => {
        const perS = (/** @type {number} */ n) => (group.counting === 0 ? null : n / seconds)
        return {
          name,
          connections: group.connections,
          commands_per_s: perS(group.commands),
          bytes_in_per_s: perS(group.in),
          bytes_out_per_s: perS(group.out),
        }
      }),
  }
}
