// Passes of clients over all numbers, one after the other: what each counted, how long it took, and what it cost the
// servers. A pass begins when the one before it is settled.

import { dataBytesIn } from '../../probes/baseline.js'
import { measurableGrowth } from '../../probes/memory-cost.js'
import { ownerOf } from '../../servers/topology.js'
import { parseInfo } from '../../wire/info.js'

/**
 * @import { Target } from '../../servers/open.js'
 * @import { Tally } from '../../wire/decode.js'
 * @import { Pass, PassResult } from '../../workloads/declare.js'
 */

const settleLimitMs = 10_000
const sampled = 100

/** CPU seconds of all masters; null: one did not answer. @param {Target} target */
const cpuSecondsOf = async ({ topology: { masters }, info }) => {
  const each = await Promise.all(
    masters.map(async (address) => {
      const { fields } = parseInfo(await info(address))
      return Number(fields.used_cpu_sys) + Number(fields.used_cpu_user)
    }),
  )
  const sum = each.reduce((a, b) => a + b, 0)
  return Number.isFinite(sum) ? sum : null
}

/** @param {number | null} to @param {number | null} from */
const grown = (to, from) => (to === null || from === null ? null : to - from)

/** @param {Tally} to @param {Tally} from @returns {Tally} */
const risen = (to, from) => ({
  bulk: to.bulk - from.bulk,
  nil: to.nil - from.nil,
  zero: to.zero - from.zero,
  one: to.one - from.one,
})

/**
 * How the keys of a sample of numbers are encoded, by OBJECT ENCODING.
 * @param {Target} target
 * @param {{ keyBytes: (n: number) => Buffer, numbers: number }} keys
 * @returns {Promise<Record<string, number>>}
 */
export const encodingsOf = async (target, { keyBytes, numbers }) => {
  const count = Math.min(sampled, numbers)
  const names = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const key = keyBytes(1 + Math.floor((i * numbers) / count))
      const reply = target.control(ownerOf(target.topology, key)).call('OBJECT', 'ENCODING', key)
      return String(await reply.catch(() => 'unknown'))
    }),
  )
  /** @type {Record<string, number>} */
  const found = {}
  for (const name of names) found[name] = (found[name] ?? 0) + 1
  return found
}

/**
 * @param {object} needs
 * @param {readonly Pass[]} needs.passes
 * @param {number | null} needs.dataBytes of the masters before anything was prepared; null: nothing was
 * @param {Target} needs.target
 * @param {(pass: Pass, isFirst: boolean) => Promise<unknown>} needs.play resolves when all of it is offered
 * @param {(limitMs: number) => Promise<boolean>} needs.settle
 * @param {() => number} needs.lastSettledMs
 * @param {() => Tally} needs.tally of replies so far
 * @param {(pass: Pass, replies: Tally) => Record<string, number>} needs.named replies by what they mean in a pass
 * @param {() => number} needs.acked so far
 * @param {() => number} needs.elapsed
 * @param {() => boolean} needs.isStopped
 * @returns {Promise<PassResult[]>}
 */
export const playPasses = async (needs) => {
  const { passes, dataBytes, target, play, settle, lastSettledMs, tally, named, acked, elapsed, isStopped } =
    needs
  const sample = async () => {
    const [cpuS, bytes] = await Promise.all([cpuSecondsOf(target), dataBytesIn(target)])
    return { cpuS, bytes, replies: tally(), acked: acked() }
  }
  /** @type {PassResult[]} */
  const results = []
  let before = await sample()
  before.bytes = dataBytes ?? before.bytes
  for (const [i, pass] of passes.entries()) {
    const fromMs = elapsed()
    await play(pass, i === 0)
    await settle(settleLimitMs)
    const durationS = (lastSettledMs() - fromMs) / 1000
    const after = await sample()
    const operations = after.acked - before.acked
    const cpuS = grown(after.cpuS, before.cpuS)
    results.push({
      name: pass.name,
      operations,
      duration_s: durationS,
      rate: durationS > 0 ? operations / durationS : 0,
      server_cpu_us: cpuS === null || operations === 0 ? null : (cpuS * 1e6) / operations,
      memory_bytes: measurableGrowth(target, grown(after.bytes, before.bytes)),
      counts: named(pass, risen(after.replies, before.replies)),
    })
    before = after
    if (isStopped()) break
  }
  return results
}
