// Which server reads which ids, and which ids go together in one command.
import { slotCount, slotOfBytes } from '../wire/slot.js'

/**
 * @import { IdList } from '../wire/id-list.js'
 *
 * @typedef {{ places: Uint32Array, cuts: Uint32Array | null }} ServerReads
 */

/** MGETs are cut here: a server answers no other client while it works on one. */
const mgetIds = 1000

/**
 * Sorts places by a small number each has (a counting sort).
 * @param {Uint32Array} places
 * @param {Uint16Array} numbers of each place
 * @param {number} size above every number
 */
const sorted = (places, numbers, size) => {
  const starts = new Uint32Array(size + 1)
  for (const n of numbers) starts[n + 1]++
  for (let n = 0; n < size; n++) starts[n + 1] += starts[n]
  const out = new Uint32Array(places.length)
  const filled = starts.slice()
  for (let i = 0; i < places.length; i++) out[filled[numbers[i]]++] = places[i]
  return { out, starts }
}

/** Cuts after so many ids. @param {number} count */
const evenCuts = (count) => {
  const commands = Math.max(1, Math.ceil(count / mgetIds))
  return Uint32Array.from({ length: commands + 1 }, (_, k) => Math.floor((k * count) / commands))
}

/**
 * @param {object} options
 * @param {IdList} options.list
 * @param {Uint32Array} options.places
 * @param {boolean} options.cluster
 * @param {boolean} options.many several ids in one command, of one slot in a cluster
 * @param {(slot: number) => string} options.serverOf
 * @returns {Map<string, ServerReads>}
 */
export const readsByServer = ({ list, places, cluster, many, serverOf }) => {
  if (!cluster) return new Map([[serverOf(0), { places, cuts: many ? evenCuts(places.length) : null }]])
  const slots = new Uint16Array(places.length)
  const { bytes } = list
  for (let i = 0; i < places.length; i++) {
    slots[i] = slotOfBytes(bytes, list.startOf(places[i]), list.endOf(places[i]))
  }
  /** @type {string[]} */
  const servers = []
  const serverOfSlot = new Uint16Array(slotCount)
  for (let slot = 0; slot < slotCount; slot++) {
    const server = serverOf(slot)
    const known = servers.indexOf(server)
    serverOfSlot[slot] = known < 0 ? servers.push(server) - 1 : known
  }
  if (many) return readsBySlot(places, slots, servers, serverOfSlot)
  for (let i = 0; i < slots.length; i++) slots[i] = serverOfSlot[slots[i]]
  const { out, starts } = sorted(places, slots, servers.length)
  /** @type {Map<string, ServerReads>} */
  const byServer = new Map()
  for (const [s, server] of servers.entries()) {
    if (starts[s + 1] > starts[s])
      byServer.set(server, { places: out.subarray(starts[s], starts[s + 1]), cuts: null })
  }
  return byServer
}

/** @param {Uint32Array} places @param {Uint16Array} slots @param {string[]} servers @param {Uint16Array} serverOfSlot */
const readsBySlot = (places, slots, servers, serverOfSlot) => {
  const { out, starts } = sorted(places, slots, slotCount)
  const parts = servers.map(() => ({
    /** @type {number[]} */
    places: [],
    cuts: [0],
  }))
  for (let slot = 0; slot < slotCount; slot++) {
    const part = parts[serverOfSlot[slot]]
    for (let i = starts[slot]; i < starts[slot + 1]; i++) {
      part.places.push(out[i])
      const inSlot = i + 1 - starts[slot]
      if (i + 1 === starts[slot + 1] || inSlot % mgetIds === 0) part.cuts.push(part.places.length)
    }
  }
  /** @type {Map<string, ServerReads>} */
  const byServer = new Map()
  for (const [s, part] of parts.entries()) {
    if (part.places.length > 0)
      byServer.set(servers[s], { places: Uint32Array.from(part.places), cuts: Uint32Array.from(part.cuts) })
  }
  return byServer
}
