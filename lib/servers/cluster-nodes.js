// CLUSTER NODES as data: the nodes, the slots that each claims, and the epoch of that claim.
import { pair } from '../base/typed.js'
import { addressOf, endpointOf } from './address.js'

/**
 * @typedef {object} ClusterNode
 * @property {string} id
 * @property {string} address
 * @property {'master' | 'replica'} role
 * @property {string | null} masterId
 * @property {number} epoch of its claim on its slots; a higher one wins
 * @property {boolean} failed someone believes it is down
 * @property {boolean} self the node that was asked
 * @property {boolean} linked
 * @property {[from: number, to: number][]} slots
 */

/** @param {string} text `0-5460`, `7000`; a slot under way is in brackets */
const rangesIn = (text) =>
  text
    .split(' ')
    .filter((part) => /^\d/.test(part))
    .map((part) => {
      const [from, to = from] = part.split('-').map(Number)
      return pair(from, to)
    })

/**
 * @param {string} text
 * @param {string} asked the host that was asked: a node that was never met by its address does not know it
 * @returns {ClusterNode[]}
 */
export const clusterNodes = (text, asked) =>
  text
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [id, place, flagText, master, , , epoch, link, ...slots] = line.trim().split(' ')
      const flags = flagText?.split(',') ?? []
      // A line that does not parse describes no node.
      if (link === undefined || flags.includes('handshake') || flags.includes('noaddr')) return []
      // ip:port@bus,hostname: the address before the bus is what the others connect to.
      const { host, port } = endpointOf(place.split(/[@,]/, 1)[0])
      return {
        id,
        address: addressOf({ host: host || asked, port }),
        /** @type {'master' | 'replica'} */
        role: flags.includes('master') ? 'master' : 'replica',
        masterId: master === '-' ? null : master,
        epoch: Number(epoch),
        failed: flags.some((flag) => flag.startsWith('fail')),
        self: flags.includes('myself'),
        linked: link === 'connected',
        slots: rangesIn(slots.join(' ')),
      }
    })
