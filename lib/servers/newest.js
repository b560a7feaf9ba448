// Combines what several nodes report of the topology: for each slot the newest claim counts, as in the cluster itself. A
// node that was away or has old data cannot bring back an old owner.
import { TargetError } from '../base/errors.js'
import { slotCount } from '../wire/slot.js'
import { clusterNodes } from './cluster-nodes.js'
import { reasonFor } from './reason.js'
import { clusterLayout, slotRanges } from './topology.js'

/**
 * @import { Layout } from './topology.js'
 *
 * @typedef {[host: string | null, port: number, id: string, ...more: unknown[]]} SlotNode
 * @typedef {[from: number, to: number, master: SlotNode, ...replicas: SlotNode[]]} SlotRow
 * @typedef {{ rows: SlotRow[], epochs: Map<string, number>, slotless: string[] }} View what one node says
 */

const graceMs = 100
const limitMs = 2000

/**
 * @param {unknown} slots the answer to CLUSTER SLOTS
 * @param {string} nodesText the answer to CLUSTER NODES; '' where it may not be asked
 * @param {string} asked the host that was asked
 * @returns {View}
 */
export const viewOf = (slots, nodesText, asked) => {
  // A node that does not know its own address was asked at it.
  /** @param {SlotNode} node @returns {SlotNode} */
  const named = ([host, ...rest]) => [host || asked, ...rest]
  const nodes = clusterNodes(nodesText, asked)
  return {
    // Checked before any loop runs to the end of a range.
    rows: slotRanges(slots, asked).map(
      /** @returns {SlotRow} */ ([from, to, master, ...nodes]) => [
        from,
        to,
        named(master),
        ...nodes.map(named),
      ],
    ),
    epochs: new Map(nodes.map(({ id, epoch }) => [id, epoch])),
    slotless: nodes
      .filter(({ role, failed, slots }) => role === 'master' && !failed && slots.length === 0)
      .map(({ address }) => address),
  }
}

/** @param {SlotRow} row */
const masterIn = ([, , [host, port]]) => `${host}:${port}`

/**
 * @param {View[]} views at least one
 * @returns {Layout & { epoch: number, others: string[] }} others: masters without slots
 */
export const newestLayout = (views) => {
  const best = new Float64Array(slotCount).fill(-1)
  /** @type {(SlotRow | undefined)[]} */
  const claims = Array(slotCount).fill(undefined)
  for (const { rows, epochs } of views) {
    for (const row of rows) {
      const epoch = epochs.get(row[2][2]) ?? 0
      for (let slot = row[0]; slot <= row[1]; slot++) {
        if (epoch <= best[slot]) continue
        best[slot] = epoch
        claims[slot] = row
      }
    }
  }
  /** @type {SlotRow[]} */
  const rows = []
  for (let from = 0; from < slotCount; ) {
    const claim = claims[from]
    let to = from
    while (to + 1 < slotCount && isSame(claims[to + 1], claim)) to++
    if (claim) rows.push([from, to, .../** @type {[SlotNode]} */ (claim.slice(2))])
    from = to + 1
  }
  const epoch = Math.max(0, ...views.flatMap(({ epochs }) => [...epochs.values()]))
  const layout = clusterLayout(rows, '')
  const slotless = new Set(views.flatMap((view) => view.slotless))
  const others = [...slotless].filter((address) => layout.nodes.every((node) => node.address !== address))
  return { ...layout, epoch, others }
}

/** @param {SlotRow | undefined} a @param {SlotRow | undefined} b */
const isSame = (a, b) => a === b || (a !== undefined && b !== undefined && masterIn(a) === masterIn(b))

/**
 * A shard keeps its number while slots move and roles change.
 * @template {Layout} T
 * @param {Layout} before
 * @param {T} after
 * @returns {T}
 */
export const withOldShards = (before, after) => {
  const numbers = new Map(before.nodes.map(({ address, shard }) => [address, shard]))
  let last = Math.max(0, ...numbers.values())
  /** @type {Map<number, number>} the new layout's numbers, and what they were */
  const was = new Map()
  const taken = new Set()
  const masters = after.nodes.filter(({ role }) => role === 'master')
  for (const { shard, address } of masters) {
    const number = numbers.get(address)
    if (number === undefined || taken.has(number)) continue
    taken.add(number)
    was.set(shard, number)
  }
  for (const { shard } of masters) if (!was.has(shard)) was.set(shard, ++last)
  const nodes = after.nodes.map((node) => ({ ...node, shard: was.get(node.shard) ?? node.shard }))
  nodes.sort((a, b) => a.shard - b.shard || Number(a.role === 'replica') - Number(b.role === 'replica'))
  return { ...after, nodes }
}

/** @param {readonly string[]} addresses @param {{ address: string, error: unknown } | undefined} fault */
const whyNot = (addresses, fault) => {
  if (!fault) return `${addresses.join(', ')}: no answer within ${limitMs} ms`
  const { address, error } = fault
  return error instanceof TargetError ? error.message : reasonFor(address, error)
}

/**
 * Asks all nodes at once and takes what has arrived shortly after the first answer; a node that is away delays nothing, and
 * is not asked again before it has answered.
 * @template T
 * @param {(address: string) => Promise<T>} ask
 */
export const asker = (ask) => {
  /** @type {Map<string, Promise<T>>} */
  const open = new Map()
  const question = (/** @type {string} */ address) => {
    const known = open.get(address)
    if (known) return known
    const asked = ask(address).finally(() => open.delete(address))
    open.set(address, asked)
    return asked
  }
  /** @param {readonly string[]} addresses @returns {Promise<T[]>} */
  return (addresses) =>
    new Promise((resolve, reject) => {
      /** @type {T[]} */
      const answers = []
      /** @type {{ address: string, error: unknown } | undefined} the first */
      let fault
      let left = addresses.length
      const end = () => {
        clearTimeout(timer)
        if (answers.length > 0) resolve(answers)
        else
          reject(
            new TargetError(`no node reports the topology: ${whyNot(addresses, fault)}`, {
              code: 'TOPOLOGY',
              cause: fault?.error,
            }),
          )
      }
      let timer = setTimeout(end, limitMs)
      const one = async (/** @type {string} */ address) => {
        try {
          answers.push(await question(address))
          if (answers.length === 1) {
            clearTimeout(timer)
            timer = setTimeout(end, graceMs)
          }
        } catch (error) {
          fault ??= { address, error }
        }
        if (--left === 0) end()
      }
      for (const address of addresses) one(address)
    })
}
