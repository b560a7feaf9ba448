// What a profile of the replay should show, by the workload file: intervals of 95 %, which include what a profile cannot
// know. Pure.

/**
 * @import { Estimate, Profile } from './profile.js'
 * @import { WorkloadKey } from './workload.js'
 *
 * @typedef {object} Told numbers of the workload file
 * @property {readonly WorkloadKey[]} keys
 * @property {number} bytesInPerS of its commands
 * @property {number} bytesOutPerS of its replies
 * @property {number} connections
 */

// A run of Millrace also sends a PING each 20 ms to every master, and INFO each second.
const pingsPerS = 50
const pingBytes = { in: 14, out: 7 }
const infoBytes = { in: 60, out: 9000 }
// Replies are estimated from sizes and numbers of elements.
const estimated = 0.03
// Servers remove expired keys gradually, and leave up to a tenth of them (active-expire-effort 1).
const stale = 0.1
// CPU outside commands: each command of one connection wakes the server. How many commands of several connections arrive
// together is not known: with four connections a server took 43 % less than with one, for as many commands.
const wakes = { one: 0.15, several: 0.5 }
// Noise of a shared machine: two runs of one application took 36 and 51 us of CPU for a command.
const machine = 0.2
// Sizes of elements come from the memory of their key, which the allocator rounds up.
const elements = 0.05
const bucketBytes = 16
// Tables of keys, and Millrace's own keys: with few keys, this is a large part.
const besideBytes = 16_384
const unknownNoise = 0.1

const sum = (/** @type {readonly number[]} */ numbers) => numbers.reduce((all, n) => all + n, 0)

/** @param {number} value @param {number} margin @returns {Estimate} */
const around = (value, margin) => ({
  value,
  low: Math.max(0, value * (1 - margin)),
  high: value * (1 + margin),
})

/** Half of an interval as a share. @param {Estimate | null} estimate */
export const halfOf = (estimate) =>
  estimate === null || estimate.value <= 0 ? 0 : (estimate.high - estimate.low) / 2 / estimate.value

/** Combined noise of both profiles. @param {number | null} noise @param {number[]} more */
const together = (noise, ...more) => Math.hypot(Math.SQRT2 * (noise ?? unknownNoise), ...more)

/** @param {Profile} profile @param {readonly WorkloadKey[]} keys */
const keysOf = (profile, keys) => {
  const expiring = keys.filter(({ lifetime }) => lifetime !== null)
  const there = sum(expiring.map((key) => key.keys)) / (1 - profile.stale_share)
  // After one lifetime there are as many keys as are created in it.
  const later = sum(expiring.map(({ createdPerS, lifetime }) => createdPerS * Number(lifetime)))
  const end = later > 0 ? later / (1 - profile.stale_share) : there
  const stays = sum(keys.filter(({ lifetime }) => lifetime === null).map((key) => key.keys))
  const made = sum(expiring.map(({ createdPerS }) => createdPerS)) * profile.duration_s
  // A lifetime that follows from the number of keys gives that number again, except for rounding to seconds.
  const margin = expiring.every(({ isLifetimeDerived }) => isLifetimeDerived)
    ? together(profile.noise.commands, ...expiring.map(({ lifetime }) => 0.5 / Number(lifetime)))
    : together(profile.noise.gone, made > 0 ? 2 / Math.sqrt(made) : 0)
  const moved = Math.abs(profile.keys_per_s) * profile.duration_s
  const low = stays + Math.min(there, end) * (1 - margin) * (1 - stale) - moved
  const high = stays + Math.max(there, end) * (1 + margin) * (1 + stale) + moved
  return expiring.length === 0
    ? { value: stays, low: stays * 0.99 - moved, high: stays * 1.01 + moved }
    : { value: stays + end, low: Math.max(0, low), high }
}

/** The part by which memory changes with elements: packed ones have no buckets. @param {WorkloadKey['from']} from */
const elementPart = ({ encodings, memory_of_key: memory, size }) =>
  Object.keys(encodings).some((name) => /hashtable|skiplist/.test(name)) && memory && size
    ? Math.max(elements, (bucketBytes * size.value) / memory.value)
    : elements

/** @param {Profile} profile @param {readonly WorkloadKey[]} keys @param {Estimate} number */
const memoryOf = ({ memory_bytes: memory, keys: there }, keys, number) => {
  const all = sum(keys.map(({ from }) => from.memory_bytes?.value ?? 0)) || 1
  const margin = Math.hypot(
    ...keys.map(
      ({ from, type }) =>
        ((from.memory_bytes?.value ?? 0) / all) *
        Math.hypot(Math.SQRT2 * halfOf(from.memory_of_key), type === 'string' ? 0 : elementPart(from)),
    ),
  )
  const each = memory / Math.max(1, there)
  return {
    value: each * number.value,
    low: each * number.low * (1 - margin),
    high: each * number.high * (1 + margin) + besideBytes,
  }
}

/** @param {Profile} profile @param {number} connections */
const cpuOf = ({ cpu_pct: cpu, commands, commands_per_s: perS, noise, server: { masters } }, connections) => {
  const used = sum(commands.map(({ per_s: n, us_per_call: us }) => (n * us) / 1e4))
  const beside = Math.max(0, cpu - used)
  const each = beside / Math.max(1, perS)
  const value = cpu + each * pingsPerS * masters
  const unknown = connections === 1 ? wakes.one : wakes.several
  const margin = together(noise.cpu, (unknown * beside) / Math.max(1e-9, value), machine)
  return around(value, margin)
}

/** The median of the pattern with most keys that expire. @param {readonly WorkloadKey[]} keys */
const lifetimeOf = (keys) => {
  const most = keys
    .filter(({ lifetime }) => lifetime !== null)
    .sort((a, b) => b.keys - a.keys)
    .at(0)
  const { median = null, low = null, high = null } = most?.from.left_s ?? {}
  return median === null ? null : { value: median, low: Number(low), high: Number(high) }
}

/** @param {Profile} profile @param {Told} told */
export const expectedOf = (profile, { keys, bytesInPerS, bytesOutPerS, connections }) => {
  const { masters } = profile.server
  const { noise } = profile
  const number = keysOf(profile, keys)
  return {
    bytes_in_per_s: around(
      bytesInPerS + (pingsPerS * pingBytes.in + infoBytes.in) * masters,
      together(noise.bytes_in, estimated),
    ),
    bytes_out_per_s: around(
      bytesOutPerS + (pingsPerS * pingBytes.out + infoBytes.out) * masters,
      together(noise.bytes_out, estimated),
    ),
    cpu_pct: cpuOf(profile, connections),
    memory_bytes: memoryOf(profile, keys, number),
    keys: number,
    left_s: lifetimeOf(keys),
  }
}
