// Which slots move where, as pure functions of the owners.
import { certain } from '../base/typed.js'
import { slotCount } from '../wire/slot.js'

/** @import { ClusterNode } from './cluster-nodes.js' */

/**
 * Slots for each target so that all own as many in the end: taken from the nodes that have most.
 * @param {{ id: string, numbers: number[] }[]} owners
 * @param {string[]} receivers ids
 * @param {boolean} empty owners that are no receivers give away everything
 * @returns {{ slot: number, to: string }[]}
 */
export const evenShares = (owners, receivers, empty) => {
  const slotsByOwner = new Map(owners.map(({ id, numbers }) => [id, [...numbers]]))
  for (const id of receivers) if (!slotsByOwner.has(id)) slotsByOwner.set(id, [])
  /** @type {{ slot: number, to: string }[]} */
  const moves = []
  const size = (/** @type {string} */ id) => slotsByOwner.get(id)?.length ?? 0
  for (;;) {
    const givers = [...slotsByOwner.keys()].filter((id) => !receivers.includes(id) && size(id) > 0)
    const [to] = [...receivers].sort((a, b) => size(a) - size(b))
    const [from] = givers.sort((a, b) => size(b) - size(a))
    if (to === undefined || from === undefined || (!empty && size(from) <= size(to) + 1)) break
    const slot = certain(slotsByOwner.get(from)?.pop())
    slotsByOwner.get(to)?.push(slot)
    moves.push({ slot, to })
  }
  // One receiver after the other, each with adjacent slots: few ranges, and few new epochs.
  moves.sort((a, b) => a.slot - b.slot)
  const order = moves.map(({ to }) => to).sort()
  return moves.map(({ slot }, i) => ({ slot, to: order[i] }))
}

/** The owners as text, the same for the same map. @param {ClusterNode[]} nodes */
export const mapText = (nodes) =>
  nodes
    .filter(({ slots }) => slots.length > 0)
    .map(({ id, slots }) => `${id} ${slots.map((range) => range.join('-')).join(' ')}`)
    .sort()
    .join('\n')

/** `0-1499,3000` as numbers. @param {string} text @returns {number[] | null} null: not slots */
export const slotsIn = (text) => {
  const parts = text.split(',').map((part) => /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim()))
  const slots = parts.flatMap((found) => {
    if (!found) return [slotCount]
    const from = Number(found[1])
    const to = Number(found[2] ?? found[1])
    return from > to || to >= slotCount
      ? [slotCount]
      : Array.from({ length: to - from + 1 }, (_, i) => from + i)
  })
  return slots.includes(slotCount) ? null : slots
}
