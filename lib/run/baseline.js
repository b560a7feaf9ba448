// What the masters hold before the first write.
import { reading } from '../measure/node-figures.js'
import { parseInfo } from '../wire/info.js'

// Of more clients than these a list is long, and few of them are ours.
const mostClients = 2000

/**
 * Bytes that the server uses for its clients now. Its own count in INFO has a new connection only after up to a second:
 * until then the 20 to 40 kB of each would pass for data.
 * @param {Pick<import('../target/open.js').Target, 'control'>} target
 * @param {string} address
 * @param {number} counted by the server
 */
const clientBytes = async ({ control }, address, counted) => {
  const list = String(await control(address).call('CLIENT', 'LIST', 'TYPE', 'normal'))
  let bytes = 0
  for (const [, each] of list.matchAll(/ tot-mem=(\d+)/g)) bytes += Number(each)
  return Math.max(counted, bytes)
}

/**
 * Bytes of keys, values and their tables on all masters; null where one does not say.
 * @param {Pick<import('../target/open.js').Target, 'topology' | 'control' | 'info'>} target
 * @returns {Promise<number | null>}
 */
export const dataBytesIn = async (target) => {
  const each = await Promise.all(
    target.topology.masters.map(async (address) => {
      const info = parseInfo(await target.info(address))
      const { data_bytes: bytes, clients } = reading(info, 0).gauges
      const counted = Number(info.fields.mem_clients_normal)
      if (bytes === null || !(Number(clients) <= mostClients) || Number.isNaN(counted)) return bytes
      // Without the right to list clients the server's count is all there is.
      const now = await clientBytes(target, address, counted).catch(() => counted)
      return Math.max(0, bytes - (now - counted))
    }),
  )
  return each.every((bytes) => bytes !== null) ? each.reduce((sum, bytes) => sum + Number(bytes), 0) : null
}
