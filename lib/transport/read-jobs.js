// The values of ids as a job for one server: each command written straight from the ids' bytes, each reply handed
// to the taker of the values, with the place of its id.
import { askingBytes, encodedSize } from '../wire/encode.js'

/**
 * @import { IdList } from '../wire/id-list.js'
 * @import { ReplySink } from '../wire/values.js'
 * @import { ValueCommand } from '../workloads/declare.js'
 * @import { ValueSink } from '../workloads/shapes.js'
 * @import { ReadJob } from './read-queue.js'
 * @import { ServerReads } from './read-order.js'
 *
 * @typedef {object} ValuesWanted
 * @property {IdList} list
 * @property {ValueCommand} command
 * @property {boolean} asking each command goes behind an ASKING
 * @property {ValueSink} values
 * @property {{ mean: () => number | null, seen: (bytes: number) => void }} sizes of values
 *
 * @typedef {object} ValuesEvents
 * @property {(place: number, line: string) => void} onRefused
 * @property {(missing: Uint32Array) => void} onClosed places that no reply came for
 * @property {() => void} onDone
 */

const bulk = (/** @type {string} */ text) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`
// The size of values is unknown at first: few are asked for, since each may have 1 MB.
const unknownBytes = 32_768

const digitsOf = (/** @type {number} */ n) => (n < 10 ? 1 : n < 100 ? 2 : n < 1000 ? 3 : String(n).length)

/** @param {Buffer} out @param {number} at @param {IdList} list @param {number} place */
const putId = (out, at, list, place) => {
  const { bytes } = list
  const from = list.startOf(place)
  const to = list.endOf(place)
  const length = to - from
  let next = at
  out[next++] = 36
  if (length < 10) out[next++] = 48 + length
  else if (length < 100) {
    out[next++] = 48 + ((length / 10) | 0)
    out[next++] = 48 + (length % 10)
  } else next += out.write(String(length), next, 'latin1')
  out[next++] = 13
  out[next++] = 10
  if (length < 48) for (let i = from; i < to; i++) out[next++] = bytes[i]
  else {
    bytes.copy(out, next, from, to)
    next += length
  }
  out[next++] = 13
  out[next++] = 10
  return next
}

/** @param {IdList} list @param {number} place */
const idBytes = (list, place) => {
  const length = list.endOf(place) - list.startOf(place)
  return length + 5 + digitsOf(length)
}

/**
 * @param {ValuesWanted} wanted
 * @param {ServerReads} reads places of the ids in the list, and where the commands of several ids begin and, last, end
 * @param {ValuesEvents} events
 * @returns {ReadJob}
 */
export const valuesJob = (wanted, { places, cuts }, { onRefused, onClosed, onDone }) => {
  const { list, command, asking: asks, values, sizes } = wanted
  const commands = cuts ? cuts.length - 1 : places.length
  const tail = Buffer.from(command.after.map(bulk).join(''))
  const name = cuts ? 'MGET' : command.name
  const headOf = (/** @type {number} */ ids) =>
    Buffer.from(`*${1 + ids + command.after.length}\r\n${bulk(name)}`)
  const single = Buffer.concat([asks ? askingBytes : Buffer.alloc(0), headOf(1)])
  const overhead = single.length + tail.length
  let next = 0 // the next command to be sent
  let answered = 0 // the command whose reply is under way
  let cursor = 0 // the id whose value is next
  let isLead = asks

  const endOf = (/** @type {number} */ i) => (cuts ? cuts[i + 1] : i + 1)
  const manyBytes = (/** @type {number} */ i) => {
    if (!cuts) return 0
    let size = encodedSize(['MGET']) + 8
    for (let k = cuts[i]; k < cuts[i + 1]; k++) size += idBytes(list, places[k])
    return size
  }

  /** @type {ReplySink} */
  const sink = {
    open() {},
    bulk(bytes, from, to) {
      if (isLead) return
      sizes.seen(to - from)
      values.value(places[cursor++], bytes, from, to)
    },
    number() {},
    nil() {
      if (!isLead) values.nil(places[cursor++])
    },
    error(line) {
      if (isLead) return
      // The whole command, or one element of it, as a key of another type would be.
      for (const end = endOf(answered); cursor < end; cursor++) onRefused(places[cursor], line)
    },
  }

  return {
    sink,
    repliesEach: asks ? 2 : 1,
    expectBytes: () => {
      const each = (sizes.mean() ?? unknownBytes) + 12
      return cuts && next < commands ? each * (cuts[next + 1] - cuts[next]) : each
    },
    nextBytes: () => {
      if (next === commands) return 0
      return cuts ? manyBytes(next) : overhead + idBytes(list, places[next])
    },
    encodeNext(out, at) {
      let to = at
      if (cuts) {
        to += headOf(cuts[next + 1] - cuts[next]).copy(out, to)
        for (let k = cuts[next]; k < cuts[next + 1]; k++) to = putId(out, to, list, places[k])
      } else {
        for (let i = 0; i < single.length; i++) out[to++] = single[i]
        to = putId(out, to, list, places[next])
        for (let i = 0; i < tail.length; i++) out[to++] = tail[i]
      }
      next++
      return to
    },
    replied() {
      if (isLead) {
        isLead = false
        return
      }
      isLead = asks
      if (++answered === commands) onDone()
    },
    closed() {
      onClosed(places.subarray(cursor))
    },
  }
}
