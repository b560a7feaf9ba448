// A batch encoded once, with the offsets of its variable parts (holes); or, above a limit of memory, encoded for each send.

/**
 * @import { Hole, HoleName, TickValues } from '../wire/encode.js'
 * @import { Batch } from './tick-batches.js'
 *
 * @typedef {{ hole: HoleName, width: number, at: Uint32Array }} Patch
 *
 * @typedef {object} EncodedBytes
 * @property {Buffer} bytes
 * @property {Uint32Array} offsets where each command begins; one more than commands
 * @property {Patch[]} patches
 * @property {TickValues} low no hole of the batch holds anything older
 * @property {{ values: TickValues, commands: number }} pass what was patched for the tick under way
 * @property {{ from: number, to: number }[]} busy bytes that a socket still holds
 *
 * @typedef {{ bytes: Buffer, to: number, release: (() => void) | null }} Cut bytes of commands up to `to`; `release` when the socket has let go of them
 */

export const writeBytes = 65_536

const sampled = 32

/** What a batch would take, by a sample of its commands. @param {Batch} batch */
export const estimateBytes = (batch) => {
  if (batch.count === 0) return 0
  const samples = Math.min(sampled, batch.count)
  let bytes = 0
  for (let k = 0; k < samples; k++)
    bytes += batch.size(Math.floor((k * (batch.count - 1)) / Math.max(1, samples - 1)))
  return Math.ceil((bytes / samples) * batch.count)
}

/** @param {Batch} batch @param {TickValues} values @returns {EncodedBytes} */
const keep = (batch, values) => {
  const offsets = new Uint32Array(batch.count + 1)
  // A little more than the expected size: memory that is never touched costs nothing.
  let bytes = Buffer.allocUnsafeSlow(Math.ceil(1.05 * estimateBytes(batch)) + 1024)
  /** @typedef {{ hole: Patch['hole'], width: number, places: Uint32Array, filled: number }} Found */
  /** @type {Map<string, Found>} */
  const found = new Map()
  /** @type {Found | undefined} most holes are of the same kind as the one before */
  let entry
  const note = (/** @type {Hole} */ { hole, width }, /** @type {number} */ at) => {
    if (entry?.hole !== hole) entry = found.get(hole)
    if (!entry) {
      entry = { hole, width, places: new Uint32Array(1024), filled: 0 }
      found.set(hole, entry)
    }
    if (entry.filled === entry.places.length) {
      const more = new Uint32Array(2 * entry.filled)
      more.set(entry.places)
      entry.places = more
    }
    entry.places[entry.filled++] = at
  }
  for (let i = 0; i < batch.count; i++) {
    const end = offsets[i] + batch.size(i)
    if (end > bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.ceil(1.25 * end))
      bytes.copy(larger, 0, 0, offsets[i])
      bytes = larger
    }
    offsets[i + 1] = batch.put(i, bytes, offsets[i], values, note)
  }
  const patches = [...found.values()].map(({ hole, width, places, filled }) => ({
    hole,
    width,
    at: places.slice(0, filled),
  }))
  const whole = bytes.subarray(0, offsets[batch.count])
  return { bytes: whole, offsets, patches, low: values, pass: { values, commands: 0 }, busy: [] }
}

/**
 * The batch with its bytes, where they are kept.
 * @param {Batch} batch
 * @param {TickValues} values what the holes hold until the first tick
 * @param {boolean} isKept
 * @param {number} [connection]
 * @returns {Batch}
 */
export const withBytes = (batch, values, isKept, connection = 0) =>
  Object.assign(batch, { encodedBytes: isKept ? keep(batch, values) : null, connection })

/**
 * The first place in an ascending array that is not below `value`.
 * @param {Uint32Array | Uint16Array} sorted
 * @param {number} value
 * @param {number} [from]
 * @param {number} [to]
 */
export const lowerBound = (sorted, value, from = 0, to = sorted.length) => {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle] < value) low = middle + 1
    else high = middle
  }
  return low
}

/** How many leading digits two texts share. @param {string} a @param {string} b */
const sharedDigits = (a, b) => {
  let n = 0
  while (n < a.length && a.charCodeAt(n) === b.charCodeAt(n)) n++
  return n
}

/** Digits of a hole that are written at once. */
const together = 4

/**
 * Four digits of each hole, from the same place of each: a third of the time that a loop over the digits takes. It is a function of
 * its own: V8 optimizes a loop while it runs, and deoptimizes it at its end if code that has not run yet follows. For seconds the
 * process then took up to a third more CPU.
 * @param {Buffer} bytes
 * @param {Uint32Array} at places of holes, of which those [from, to) are filled
 * @param {number} from
 * @param {number} to
 * @param {Buffer} digits
 * @param {number} first of those that are written
 */
const putDigits = (bytes, at, from, to, digits, first) => {
  const [a, b, c, d] = [digits[first], digits[first + 1], digits[first + 2], digits[first + 3]]
  for (let i = from; i < to; i++) {
    const place = at[i] + first
    bytes[place] = a
    bytes[place + 1] = b
    bytes[place + 2] = c
    bytes[place + 3] = d
  }
}

/**
 * Writes a tick's values into the holes of commands [from, to). Only the digits that changed, or a few more: half the time. A hole
 * has four digits at least.
 * @param {EncodedBytes} kept
 * @param {number} from
 * @param {number} to
 * @param {TickValues} values
 * @param {number} count commands of the whole batch
 */
const patch = (kept, from, to, values, count) => {
  const { bytes, offsets, patches } = kept
  for (const { hole, width, at } of patches) {
    const text = values[hole]
    const first = sharedDigits(kept.low[hole], text)
    if (first === width) continue
    // Not text.charCodeAt(), which is looked up anew for every digit of every hole.
    const digits = Buffer.from(text, 'latin1')
    const start = lowerBound(at, offsets[from])
    const end = lowerBound(at, offsets[to])
    for (let place = width; place > first; ) {
      place = Math.max(0, place - together)
      putDigits(bytes, at, start, end, digits, place)
    }
  }
  if (kept.pass.values !== values) kept.pass = { values, commands: 0 }
  kept.pass.commands += to - from
  if (kept.pass.commands === count) kept.low = values
}

/**
 * Bytes for commands from `from` on, about a write's worth, in a buffer of their own.
 * @param {Batch} batch
 * @param {number} from
 * @param {number} to
 * @param {TickValues} values
 * @param {{ take: () => Buffer, give: (buffer: Buffer) => void }} spare
 * @returns {Cut}
 */
const encodeCut = (batch, from, to, values, spare) => {
  let size = batch.size(from)
  // A single command, as most retries are, gets a small buffer: thousands of them would take 64 kB each.
  if (size > writeBytes || from + 1 === to) {
    const bytes = Buffer.allocUnsafeSlow(size)
    batch.put(from, bytes, 0, values)
    return { bytes, to: from + 1, release: null }
  }
  const buffer = spare.take()
  let at = 0
  let i = from
  for (;;) {
    at = batch.put(i, buffer, at, values)
    i++
    if (i === to) break
    size = batch.size(i)
    if (at + size > writeBytes) break
  }
  return { bytes: buffer.subarray(0, at), to: i, release: () => spare.give(buffer) }
}

/**
 * The next write of commands [from, to): patched in place where the batch is kept and its bytes are free, else
 * encoded by the same encoder.
 * @param {Batch} batch
 * @param {number} from
 * @param {number} to
 * @param {TickValues} values
 * @param {{ take: () => Buffer, give: (buffer: Buffer) => void }} spare
 * @param {boolean} again the bytes of an earlier tick: the batch may hold a later one's
 * @param {number} [most] bytes, of a batch that is kept
 * @returns {Cut}
 */
export const cutOf = (batch, from, to, values, spare, again, most = writeBytes) => {
  const { encodedBytes } = batch
  if (!encodedBytes || again) return encodeCut(batch, from, to, values, spare)
  const { offsets, busy } = encodedBytes
  const start = offsets[from]
  const stop = Math.max(from + 1, lowerBound(offsets, start + most + 1, from, to + 1) - 1)
  const end = offsets[stop]
  if (busy.some((range) => range.from < end && start < range.to))
    return encodeCut(batch, from, to, values, spare)
  patch(encodedBytes, from, stop, values, batch.count)
  const range = { from: start, to: end }
  busy.push(range)
  return {
    bytes: encodedBytes.bytes.subarray(start, end),
    to: stop,
    release: () => busy.splice(busy.indexOf(range), 1),
  }
}
