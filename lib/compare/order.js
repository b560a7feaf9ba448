// Whether two sets of finished runs were interleaved in time. Pure.

/** 10:04:31 @param {number} epochMs */
const clock = (epochMs) => new Date(epochMs).toISOString().slice(11, 19)

/**
 * Runs of both sides that alternate share what changes over time; blocks do not.
 * @param {string} nameA
 * @param {readonly number[]} startsA epoch ms
 * @param {string} nameB
 * @param {readonly number[]} startsB
 * @returns {{ code: string, message: string }[]}
 */
export const orderWarnings = (nameA, startsA, nameB, startsB) => {
  const least = Math.min(startsA.length, startsB.length)
  if (least < 2) return []
  const order = [
    ...startsA.map((atMs) => ({ atMs, side: 'a' })),
    ...startsB.map((atMs) => ({ atMs, side: 'b' })),
  ].sort((one, other) => one.atMs - other.atMs)
  const turns = order.filter(({ side }, at) => at > 0 && side !== order[at - 1].side).length
  // ABBA ABBA changes sides once a round.
  if (turns >= least) return []
  const span = (/** @type {readonly number[]} */ starts) =>
    `from ${clock(Math.min(...starts))} to ${clock(Math.max(...starts))}`
  const how = turns === 1 ? 'not interleaved' : 'hardly interleaved'
  return [
    {
      code: 'not-interleaved',
      message: `the runs were ${how}: ${nameA} started ${span(startsA)}, ${nameB} ${span(startsB)} UTC. Whatever changed on the machine in between counts as a difference, and no interval knows of it; 'millrace compare' alternates its sides`,
    },
  ]
}
