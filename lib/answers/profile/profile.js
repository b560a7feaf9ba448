// A profile: a server's keys and commands by its counters and a sample. Pure.
import { studentQuantile } from '../../base/distributions.js'
import { reading } from '../../probes/node-figures.js'
import { total } from './budget.js'
import { anonymousWords, matching, otherKeys, piecesOf } from './fold.js'
import { inDatabases, noiseOf } from './noise.js'
import { clientBytes, clientsOf, hotOf, keySizesOf, logOf, timesSeen } from './seen.js'

/**
 * @import { Info } from '../../wire/info.js'
 * @import { Collected, FoundPattern, KeyFacts } from './collect.js'
 * @import { Readings, Slot } from './readings.js'
 *
 * @typedef {{ value: number, low: number, high: number }} Estimate 95 %
 * @typedef {ReturnType<typeof profileOf>} Profile
 * @typedef {Profile['patterns'][number]} ProfilePattern
 */

/** Slots with the most time. @param {readonly Readings[]} all @param {number} seconds */
const slotsSeen = (all, seconds) => {
  const ends = all.flatMap(({ end }) => end.slots ?? [])
  if (ends.length === 0) return null
  const before = new Map(all.flatMap(({ begin }) => begin.slots ?? []).map((one) => [one.slot, one]))
  /** @param {Slot} now @param {'us' | 'in' | 'out'} what */
  const perS = (now, what) => {
    const [a, b] = [before.get(now.slot)?.[what], now[what]]
    return typeof a === 'number' && typeof b === 'number' ? Math.max(0, (b - a) / seconds) : null
  }
  return ends
    .map((now) => {
      const us = perS(now, 'us')
      return {
        slot: now.slot,
        keys: now.keys,
        cpu_share: us === null ? null : us / 1e6,
        bytes_in_per_s: perS(now, 'in'),
        bytes_out_per_s: perS(now, 'out'),
      }
    })
    .sort((a, b) => (b.cpu_share ?? 0) - (a.cpu_share ?? 0) || b.keys - a.keys)
    .slice(0, 16)
}

export const z = 1.96
const quantiles = 20
const mostStale = 0.5
const mostWave = 0.25

const sum = (/** @type {readonly number[]} */ numbers) => numbers.reduce((all, n) => all + n, 0)

/** Means of equal parts of the sorted numbers: their mean is that of all. @param {readonly number[]} numbers */
export const equalParts = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b)
  const parts = Math.min(quantiles, sorted.length)
  return Array.from({ length: parts }, (_, i) => {
    const part = sorted.slice(
      Math.floor((i * sorted.length) / parts),
      Math.floor(((i + 1) * sorted.length) / parts),
    )
    return sum(part) / part.length
  })
}

// By Kolmogorov and Smirnov: one in ten samples of uniform numbers exceeds it.
const mostUneven = 1.22

/**
 * The median of times left. If keys have one lifetime, these are uniform from 0 to it, and half of the longest one is a
 * better estimate than the middle one.
 * @param {readonly number[]} sorted
 */
const medianOf = (sorted) => {
  const n = sorted.length
  if (n === 0) return null
  const top = ((n + 1) / n) * sorted[n - 1]
  const apart = Math.max(...sorted.map((x, i) => Math.max((i + 1) / n - x / top, x / top - i / n)))
  return apart <= mostUneven / Math.sqrt(n) ? top / 2 : sorted[Math.floor(n / 2)]
}

/** The median, and the range in which another sample of this size has it. @param {readonly number[]} numbers */
const medianWithin = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b)
  const half = (z * Math.SQRT2 * Math.sqrt(sorted.length)) / 2
  const at = (/** @type {number} */ i) =>
    sorted.length === 0 ? null : sorted[Math.max(0, Math.min(sorted.length - 1, i))]
  return {
    median: medianOf(sorted),
    low: at(Math.floor(sorted.length / 2 - half)),
    high: at(Math.ceil(sorted.length / 2 + half)),
  }
}

/** A share of n names, by Wilson. @param {number} count @param {number} n @returns {Estimate} */
export const shareWithInterval = (count, n) => {
  const p = count / n
  const middle = (p + (z * z) / (2 * n)) / (1 + (z * z) / n)
  const half = (z / (1 + (z * z) / n)) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n))
  return { value: p, low: Math.max(0, middle - half), high: Math.min(1, middle + half) }
}

/** A mean, by Student: of six keys an interval of as many standard errors as of hundreds has 89 %. @param {readonly number[]} numbers @returns {Estimate | null} */
export const meanOf = (numbers) => {
  if (numbers.length === 0) return null
  const value = sum(numbers) / numbers.length
  const variance = sum(numbers.map((n) => (n - value) ** 2)) / Math.max(1, numbers.length - 1)
  const half = studentQuantile(0.025, Math.max(1, numbers.length - 1)) * Math.sqrt(variance / numbers.length)
  return { value, low: Math.max(0, value - half), high: value + half }
}

/** @param {readonly (string | null)[]} names */
const counted = (names) => {
  /** @type {Record<string, number>} */
  const counts = {}
  for (const name of names) if (name !== null) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

/** @param {Record<string, number>} counts */
const mostOf = (counts) => Object.entries(counts).sort((a, b) => b[1] - a[1])[0]?.[0] ?? null

/**
 * Uses of a key in a second, by the seconds since its last use: servers keep whole seconds, so more than two uses a second
 * cannot be told apart.
 * @param {readonly KeyFacts[]} facts
 */
const usesPerS = (facts) => {
  const idle = facts.flatMap(({ idleS }) => idleS ?? [])
  if (idle.length === 0) return null
  return idle.length / sum(idle.map((s) => s + 0.5))
}

/** @param {FoundPattern} found @param {number} names @param {number} keys that there are @param {boolean} isComplete */
const patternOf = ({ pieces, data: { count, facts } }, names, keys, isComplete) => {
  const share = shareWithInterval(count, names)
  const type = mostOf(counted(facts.map((fact) => fact.type)))
  const own = facts.filter((fact) => fact.type === type)
  const numbers = (/** @type {(fact: KeyFacts) => number | null} */ pick) =>
    own.flatMap((fact) => pick(fact) ?? [])
  const left = numbers(({ leftMs }) => (leftMs >= 0 ? leftMs / 1000 : null))
  const memory = meanOf(numbers((fact) => fact.memory))
  const number = {
    value: share.value * keys,
    low: isComplete ? share.value * keys : share.low * keys,
    high: isComplete ? share.value * keys : share.high * keys,
  }
  return {
    pattern: pieces.join(''),
    pieces,
    type,
    keys: number,
    sampled: own.length,
    name_bytes: meanOf(own.map(({ nameBytes }) => nameBytes))?.value ?? 0,
    encodings: counted(own.map(({ encoding }) => encoding)),
    sizes: equalParts(numbers(({ size }) => size)),
    size: meanOf(numbers(({ size }) => size)),
    memory_of_key: memory,
    memory_bytes: memory && {
      value: memory.value * number.value,
      low: memory.low * number.low,
      high: memory.high * number.high,
    },
    expiring: own.length === 0 ? 0 : left.length / own.length,
    left_s: {
      ...medianWithin(left),
      parts: equalParts(left),
      most: left.length === 0 ? null : Math.max(...left),
    },
    uses_per_s: usesPerS(own),
    other_types: Object.keys(counted(facts.map((fact) => fact.type))).length - 1,
  }
}

// Commands of monitoring and replication, and those of a profile.
const notOfApplications =
  /^(info|ping|hello|auth|command|replconf|psync|select|scan|quit|readonly|(client|config|cluster|latency|slowlog|commandlog|hotkeys|memory|object|acl|script)(\||$))/

/** The sum over all masters between the first and the last reading. @param {Collected} collected */
const commandsOf = ({ begin, end, seconds, own, read }) => {
  const times = timesSeen(read, end)
  /** @type {Record<string, { calls: number, usec: number }>} */
  const calls = {}
  for (const [i, { commands }] of end.entries())
    for (const [name, { calls: n, usec }] of Object.entries(commands)) {
      const before = begin[i].commands[name] ?? { calls: 0, usec: 0 }
      const known = calls[name] ?? { calls: 0, usec: 0 }
      calls[name] = { calls: known.calls + n - before.calls, usec: known.usec + usec - before.usec }
    }
  const theirs = Object.entries(calls).flatMap(([name, { calls: n, usec }]) => {
    const left = n - (own.calls[name] ?? 0)
    return left > 0 && n > 0 ? [{ name, calls: left, us_per_call: usec / n }] : []
  })
  const all = sum(theirs.map(({ calls: n }) => n))
  const commands = theirs
    .sort((a, b) => b.calls - a.calls)
    .map(({ name, calls: n, us_per_call }) => ({
      name,
      per_s: n / seconds,
      share: n / all,
      us_per_call,
      ...times.timesOf(name),
      is_data: !notOfApplications.test(name),
    }))
  return { commands, timesFrom: times.from }
}

/** @param {Collected} collected @param {string} field */
const perS = ({ begin, end, seconds }, field) =>
  Math.max(0, (total(end, field) - total(begin, field)) / seconds)

/**
 * The share of keys at the end that have expired and are still counted. Servers remove them in waves: with 357 keys/s that
 * lived for 20 s, 8 % to 23 % of 8,000 to 9,400 keys had expired, and a server's own estimate was 11 % for 20 %, and 20 % for
 * 12 %. The number of keys that have not expired is steady: it is computed from the mean number of keys, unless this changes.
 * @param {Pick<Collected, 'complete' | 'stale' | 'series' | 'end'>} collected
 * @param {number} names
 */
export const staleShare = ({ complete, stale, series, end }, names) => {
  const keys = inDatabases(end, 'keys')
  if (inDatabases(end, 'expires') === 0 || keys === 0) return 0
  const counts = series.map((amounts) => amounts.keys)
  const isEven = Math.max(...counts) - Math.min(...counts) < mostWave * keys
  const mean = isEven && counts.length > 0 ? sum(counts) / counts.length : keys
  const live = stale !== null ? mean * (1 - stale) : complete ? names : keys
  return Math.min(mostStale, Math.max(0, 1 - live / keys))
}

/**
 * Bytes of keys, values and their tables, without those of clients. INFO counted clients some seconds ago, which was off by
 * 38 kB on a server with two connections; CLIENT LIST is current.
 * @param {Pick<Collected, 'end' | 'read'>} collected
 */
const dataBytes = ({ end, read }) =>
  sum(
    end.map((info, i) => {
      const bytes = reading(info, 0).gauges.data_bytes ?? 0
      const now = clientBytes(read[i].end.clients)
      const exact = bytes + (Number(info.fields.mem_clients_normal) || 0) - now
      return now > 0 && exact > 0 ? exact : bytes
    }),
  )

const libraries =
  /^(ioredis|iovalkey|node-redis|redis-py|valkey-py|jedis|lettuce|redisson|go-redis|valkey-go|SE\.Redis|Glide\w*|phpredis|predis|redis-rs|hiredis|redis-rb)\b/i

/** Names of keys and clients as they may be shown. @param {boolean} isAnonymous @param {readonly FoundPattern[]} found */
const namesOf = (isAnonymous, found) => {
  const words = anonymousWords()
  const shape = (/** @type {string[]} */ pieces) =>
    isAnonymous && pieces[0] !== otherKeys ? words(pieces) : pieces
  const match = matching(found)
  return {
    shape,
    ofKey: (/** @type {Buffer} */ key) => shape(match(key)).join(''),
    ofClient: (/** @type {string} */ name, /** @type {string} */ library) => {
      if (!isAnonymous) return [name, library].filter(Boolean).join(' ')
      const known = libraries.exec(library)?.[0] ?? shape(piecesOf(Buffer.from(library))).join('')
      return [shape(piecesOf(Buffer.from(name))).join(''), known].filter(Boolean).join(' ')
    },
  }
}

/**
 * @param {Collected} collected
 * @param {{ startedMs: number, isInterrupted: boolean, isAnonymous: boolean, versions: readonly string[], replicas: readonly string[], most?: number }} about
 */
export const profileOf = (
  collected,
  { startedMs, isInterrupted, isAnonymous, versions, replicas, most = 200 },
) => {
  const { begin, end, seconds, own, patterns: found, complete, read, refused } = collected
  const seen = sum(found.map(({ data }) => data.count))
  const keys = inDatabases(end, 'keys')
  const { commands, timesFrom } = commandsOf(collected)
  const names = namesOf(isAnonymous, found)
  const all = found
    .filter(({ data }) => data.count > 0)
    .sort((a, b) => b.data.count - a.data.count)
    .map((one) => patternOf(one, seen, keys, complete))
  const shown = all.slice(0, most)
  const hits = perS(collected, 'keyspace_hits')
  const misses = perS(collected, 'keyspace_misses')
  const ownReads = sum(
    [
      'type',
      'pttl',
      'object|encoding',
      'object|idletime',
      'strlen',
      'llen',
      'scard',
      'zcard',
      'hlen',
      'xlen',
    ].map((name) => own.calls[name] ?? 0),
  )
  const commandsPerS = perS(collected, 'total_commands_processed') - own.used / seconds
  const cpuS = perS(collected, 'used_cpu_user') + perS(collected, 'used_cpu_sys')
  return {
    schema: /** @type {const} */ (1),
    kind: /** @type {const} */ ('profile'),
    started: new Date(startedMs).toISOString(),
    duration_s: seconds,
    interrupted: isInterrupted,
    anonymous: isAnonymous,
    server: {
      versions: [...versions],
      masters: begin.length,
      replicas: replicas.length,
      replica_addresses: isAnonymous ? [] : [...replicas],
      policy: end[0].fields.maxmemory_policy ?? null,
    },
    keys,
    expiring_keys: inDatabases(end, 'expires'),
    keys_per_s: (keys - inDatabases(begin, 'keys')) / seconds,
    expiring_keys_per_s: (inDatabases(end, 'expires') - inDatabases(begin, 'expires')) / seconds,
    stale_share: staleShare(collected, seen),
    expired_per_s: perS(collected, 'expired_keys'),
    evicted_per_s: perS(collected, 'evicted_keys'),
    names_seen: seen,
    complete,
    memory_bytes: dataBytes(collected) || total(end, 'used_memory'),
    commands_per_s: Math.max(0, commandsPerS),
    bytes_in_per_s: Math.max(0, perS(collected, 'total_net_input_bytes') - own.in / seconds),
    bytes_out_per_s: Math.max(0, perS(collected, 'total_net_output_bytes') - own.out / seconds),
    cpu_pct: cpuS * 100,
    noise: noiseOf(collected.series),
    miss_ratio: misses === 0 ? 0 : misses / Math.max(misses, hits + misses - ownReads / seconds),
    commands_per_read:
      Math.max(0, commandsPerS) /
      Math.max(1e-9, perS(collected, 'total_reads_processed') - own.reads / seconds),
    clients: clientsOf(read, end, seconds, names.ofClient),
    times_from: timesFrom,
    commands,
    patterns: shown.map((one) => {
      const pieces = names.shape(one.pieces)
      return { ...one, pieces, pattern: pieces.join('') }
    }),
    patterns_left_out: all.length - shown.length,
    own: {
      commands: own.used,
      commands_share: own.used / seconds / Math.max(1e-9, perS(collected, 'total_commands_processed')),
      cpu_share: own.us / 1e6 / seconds,
      server_cpu_share: own.cpu,
    },
    key_sizes: keySizesOf(end),
    log: logOf(read, names.ofKey),
    slots: slotsSeen(read, seconds),
    hot_keys: hotOf(read, names.ofKey),
    remarks: collected.remarks,
    refused,
    not_offered: collected.unknown,
  }
}
