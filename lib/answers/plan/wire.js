// What a plan of writers puts on the wire, from its encoder, before anything is sent: commands, members and bytes both ways,
// and which of them go to keys of their own and which to a few. Of plans that write the same items in every interval.
import { chunkRange } from '../../base/ranges.js'
import { tickValues } from '../../plan/tick-values.js'
import { keptItems } from '../../traffic/live-items.js'
import { tapesOf } from '../../transport/tapes.js'
import { digitsOf } from '../../wire/encode.js'
import { strategyOf } from '../../workloads/strategy-of-plan.js'

/**
 * @typedef {import('../../plan/plan.js').Plan} Plan
 * @typedef {import('../../workloads/step.js').Step} Step
 *
 * @typedef {object} Amounts
 * @property {number} commands
 * @property {number} members of commands that carry several items
 * @property {number} bytesIn to the server
 * @property {number} bytesOut its replies
 *
 * @typedef {object} Wire amounts an item
 * @property {number} items of an interval
 * @property {Amounts} spread commands to a key for each item or few of them: on all shards
 * @property {Amounts} fixed commands to keys that hold all items: on the shards of these keys
 * @property {number} keys how many such keys
 * @property {boolean} ordered one of them is a sorted set: its commands look for a place among the others
 * @property {boolean} scripts commands of items call scripts
 * @property {Amounts} timed commands that are sent each so many seconds, a second
 * @property {boolean} whole every command was encoded; false: a sample of the items
 * @property {{ name: string, commands: number } | null} counted how many commands of this name an item has, by which servers count items
 * @property {readonly string[]} unknown commands whose replies are not known beforehand, and are estimated
 */

// More items than this are sampled: their commands differ by the digits of their numbers.
const mostEncoded = 200_000
const sampledChunks = 20

const ok = 5
const integer = 4
const fixedReplies = new Map([
  ...'SET SETEX PSETEX MSET HMSET LTRIM'.split(' ').map((name) => /** @type {const} */ ([name, ok])),
  // Of items that are there already: nothing is new.
  ...'ZADD SADD HSET HSETNX PFADD EXPIRE PEXPIRE EVAL DEL ZREMRANGEBYSCORE ZREMRANGEBYRANK'
    .split(' ')
    .map((name) => /** @type {const} */ ([name, integer])),
])
const pushes = new Set(['RPUSH', 'LPUSH'])
const countWord = (/** @type {number} */ n) => 3 + digitsOf(n)
// $17, 13 digits of milliseconds, '-' and in a burst three digits of a number: they are not known beforehand.
const streamId = 24

const isScript = /^(eval|fcall)/i

const nothing = () => ({ commands: 0, members: 0, bytesIn: 0, bytesOut: 0 })

/** Bytes of replies, command by command, as a server gives them that has all items. @param {number} kept items that a list is cut to */
const replies = (kept) => {
  /** @type {Set<string>} */
  const unknown = new Set()
  let length = kept
  return {
    unknown,
    /** @param {string} name @param {number} members */
    of: (name, members) => {
      if (pushes.has(name)) {
        length += members
        return countWord(length)
      }
      if (name === 'LTRIM') length = kept
      const known = fixedReplies.get(name)
      if (known === undefined) unknown.add(name)
      return known ?? (name === 'XADD' ? streamId : integer)
    },
  }
}

/** Whether its key is another one for each item. @param {Step} step @param {number} first */
const isSpread = (step, first) =>
  step.kind === 'each' && String(step.key(first)) !== String(step.key(first + 1))

/** Chunks of an interval that are encoded: all of them, or some from its whole length. @param {Plan} plan */
const chunksOf = (plan) => {
  const all = plan.agents.flatMap((share) =>
    Array.from({ length: plan.chunks }, (_, k) => chunkRange(share, plan.chunks, k)),
  )
  const whole = plan.items <= mostEncoded || all.length <= sampledChunks
  const step = all.length / sampledChunks
  return {
    whole,
    ranges: whole ? all : Array.from({ length: sampledChunks }, (_, i) => all[Math.floor((i + 0.5) * step)]),
  }
}

/** @param {Plan} plan @returns {Promise<Wire>} */
export const wireOf = async (plan) => {
  const strategy = strategyOf(plan)
  const steps = strategy.steps()
  const typeOf = strategy.types({ isItem: () => true, isMinute: () => true })
  // Tapes of all items are not needed: these are made range by range.
  const tapes = await tapesOf({ ...plan, once: true }, steps, { keep: false })
  const values = tickValues(Date.now(), plan.ttlS)
  const reply = replies(keptItems(plan))
  const parts = { spread: nothing(), fixed: nothing(), timed: nothing() }
  const { whole, ranges } = chunksOf(plan)
  const counting = steps.find(({ kind }) => kind !== 'once')?.name?.toLowerCase() ?? ''
  let counted = 0
  let keys = 0
  for (const range of ranges)
    for (const tape of tapes.fresh(range, values)) {
      const { step, count, from } = tape
      if (step.kind === 'once' && step.everyMs > 0) continue
      const spread = isSpread(step, range.first)
      if (!spread && step.kind !== 'each') keys = Math.max(keys, new Set(groupKeys(step, range)).size)
      const into = parts[spread ? 'spread' : 'fixed']
      into.commands += count
      if (step.name?.toLowerCase() === counting) counted += count
      for (let i = 0; i < count; i++) {
        const members = from[i + 1] - from[i]
        if (step.kind === 'gather') into.members += members
        into.bytesIn += tape.size(i)
        into.bytesOut += reply.of(step.name ?? '', members)
      }
    }
  for (const step of steps) {
    if (step.kind !== 'once' || step.everyMs === 0) continue
    for (const tape of tapes
      .fresh(ranges[0], values)
      .filter((one) => one.step === step)
      .slice(0, 1))
      for (let i = 0; i < tape.count; i++) {
        parts.timed.commands += 1000 / step.everyMs
        parts.timed.bytesIn += (tape.size(i) * 1000) / step.everyMs
        parts.timed.bytesOut += (integer * 1000) / step.everyMs
      }
  }
  const items = ranges.reduce((sum, { count }) => sum + count, 0)
  const each = (/** @type {Amounts} */ amounts) =>
    /** @type {Amounts} */ (
      Object.fromEntries(Object.entries(amounts).map(([name, value]) => [name, value / items]))
    )
  return {
    items: plan.items,
    spread: each(parts.spread),
    fixed: each(parts.fixed),
    keys: Math.max(keys, parts.fixed.commands > 0 ? 1 : 0),
    ordered: steps.some((step) => step.kind === 'gather' && typeOf(String(step.key(1))) === 'zset'),
    scripts: steps.some(({ kind, name = '' }) => kind === 'each' && isScript.test(name)),
    timed: parts.timed,
    whole,
    counted:
      strategy.countingCommand !== null
        ? { name: strategy.countingCommand, commands: 1 }
        : counted > 0 && !isScript.test(counting)
          ? { name: counting, commands: counted / items }
          : null,
    unknown: [...reply.unknown],
  }
}

/** @param {Exclude<Step, { kind: 'each' }>} step @param {import('../../base/ranges.js').Range} range */
const groupKeys = (step, { first, count }) =>
  step.kind === 'once'
    ? step.keys.map(String)
    : Array.from({ length: Math.min(count, 4096) }, (_, i) => String(step.key(first + i)))

/** All of an item's amounts together, with its part of what is sent each so many seconds. @param {Wire} wire @param {number} rateHz */
export const sumOf = ({ spread, fixed, timed }, rateHz) => ({
  commands: spread.commands + fixed.commands + timed.commands / rateHz,
  members: spread.members + fixed.members,
  bytesIn: spread.bytesIn + fixed.bytesIn + timed.bytesIn / rateHz,
  bytesOut: spread.bytesOut + fixed.bytesOut + timed.bytesOut / rateHz,
})
