// The keys and bytes of the masters before the first write and after the last.

import { parseInfo } from '../wire/info.js'
import { reading } from './node-figures.js'

/**
 * @import { Target } from '../servers/open.js'
 * @import { Info } from '../wire/info.js'
 */

// With more clients than these the list is long, and few of them are ours.
const mostClients = 2000

/**
 * The answer to INFO itself was not there when it was made up, and waits in the output of the one that asks: 10 to 20 kB
 * beside its buffer, whose size follows what the connection sent before.
 * @param {string} list of clients
 */
const bytesOf = (list) => {
  const clients = list.split('\n').filter((line) => line.includes(' tot-mem='))
  const field = (/** @type {string} */ line, /** @type {string} */ name) =>
    Number(new RegExp(` ${name}=(\\d+)`).exec(line)?.[1] ?? 0)
  const own = (/** @type {string} */ line) => (line.includes(' cmd=exec') ? field(line, 'omem') : 0)
  return clients.length === 0
    ? null
    : clients.reduce((sum, line) => sum + field(line, 'tot-mem') - own(line), 0)
}

/**
 * INFO, and the bytes of all clients at the same moment. INFO's own count of them is up to a second old: until then the
 * 20 to 40 kB of a new connection would pass for data, and what a connection gave back would be missing.
 * @param {Pick<Target, 'control' | 'info'>} target
 * @param {string} address
 * @returns {Promise<{ info: Info, clientBytes: number | null }>}
 */
const atOneMoment = async ({ control, info }, address) => {
  const before = parseInfo(await info(address))
  if (!(Number(before.fields.connected_clients) <= mostClients)) return { info: before, clientBytes: null }
  try {
    const answers = await control(address)
      .multi()
      .call('INFO', 'everything')
      .call('CLIENT', 'LIST', 'TYPE', 'normal')
      .call('CLIENT', 'LIST', 'TYPE', 'pubsub')
      .exec()
    const [text, ...lists] = (answers ?? []).map(([error, answer]) => {
      if (error) throw error
      return String(answer)
    })
    return { info: parseInfo(text), clientBytes: bytesOf(lists.join('')) }
  } catch {
    // Without the right to list clients, only the server's count is available.
    return { info: before, clientBytes: null }
  }
}

/**
 * The data of all masters, each from one answer; null: one did not answer.
 * @param {Pick<Target, 'topology' | 'control' | 'info' | 'refused'>} target
 * @returns {Promise<{ dataBytes: number, keys: number } | null>} bytes of keys, values and their tables
 */
export const dataIn = async (target) => {
  if (target.refused.has('INFO')) return null
  const each = await Promise.all(
    target.topology.masters.map(async (address) => {
      const { info, clientBytes } = await atOneMoment(target, address)
      const { mem_clients_normal: counted } = info.fields
      const now = clientBytes === null || counted === undefined ? counted : String(clientBytes)
      // Data is never negative: an old count beside it would hide the growth of the new one.
      return reading({ ...info, fields: { ...info.fields, mem_clients_normal: now } }, 0).gauges
    }),
  )
  if (each.some(({ data_bytes: bytes }) => bytes === null)) return null
  const sumOf = (/** @type {'data_bytes' | 'keys'} */ name) =>
    each.reduce((sum, gauges) => sum + Number(gauges[name]), 0)
  return { dataBytes: sumOf('data_bytes'), keys: sumOf('keys') }
}

/** @param {Parameters<typeof dataIn>[0]} target */
export const dataBytesIn = async (target) => (await dataIn(target))?.dataBytes ?? null
