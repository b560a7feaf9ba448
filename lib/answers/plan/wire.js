// The traffic of a plan of writers, computed by its encoder before anything is sent: commands, members and bytes both ways,
// divided into those to a key for each item and those to few keys. For plans that write the same items in every interval.
import { chunkRange } from '../../base/ranges.js'
import { tickValues } from '../../plan/tick-values.js'
import { keptItems } from '../../traffic/live-items.js'
import { tickBatchesOf } from '../../transport/tick-batches.js'
import { digitsOf } from '../../wire/encode.js'
import { strategyOf } from '../../workloads/bound-strategy.js'

/**
 * @import { Range } from '../../base/ranges.js'
 * @import { Plan } from '../../loads/plan.js'
 * @import { Step } from '../../workloads/bind/writer.js'
 *
 * @typedef {object} Amounts
 * @property {number} commands
 * @property {number} members of commands that carry several items
 * @property {number} bytesIn to the server
 * @property {number} bytesOut its replies
 * @property {number} kilobytes of each command, at least 1, as a serverless cache charges them
 *
 * @typedef {object} Part commands of one kind
 * @property {string} name
 * @property {boolean} spread to a key for each item or few of them: on all shards; else to keys that hold all items
 * @property {boolean} script
 * @property {boolean} timed seconds between those that are sent by the clock
 * @property {Amounts} amounts an item; of timed ones a second
 *
 * @typedef {object} Wire
 * @property {number} items of an interval
 * @property {readonly Part[]} parts
 * @property {number} keys that hold all items
 * @property {boolean} ordered one of them is a sorted set: its commands look for a place among the others
 * @property {boolean} whole every command was encoded; false: a sample of the items
 * @property {{ name: string | readonly string[], commands: number } | null} counted how many commands of this name, or of these, an item has, by which servers count items
 * @property {readonly string[]} unknown commands whose replies are not known beforehand, and are estimated
 */

// Above this number items are sampled: commands differ in the digits of their numbers only.
const mostEncoded = 200_000
const sampledChunks = 20

const ok = 5
const integer = 4
const fixedReplies = new Map([
  ...'SET SETEX PSETEX MSET HMSET LTRIM'.split(' ').map((name) => /** @type {const} */ ([name, ok])),
  // The items exist already, so none is new.
  ...'ZADD SADD HSET HSETNX PFADD EXPIRE PEXPIRE EVAL DEL ZREMRANGEBYSCORE ZREMRANGEBYRANK'
    .split(' ')
    .map((name) => /** @type {const} */ ([name, integer])),
])
const pushes = new Set(['RPUSH', 'LPUSH'])
const countWord = (/** @type {number} */ n) => 3 + digitsOf(n)
// $17, 13 digits of milliseconds, '-', and up to three digits of a number in a burst, which is not known beforehand.
const streamId = 24

const isScript = /^(eval|fcall)/i

const kilobyte = 1024
const nothing = () => ({ commands: 0, members: 0, bytesIn: 0, bytesOut: 0, kilobytes: 0 })

/** @param {Amounts} amounts @param {number} by @returns {Amounts} */
const divided = ({ commands, members, bytesIn, bytesOut, kilobytes }, by) => ({
  commands: commands / by,
  members: members / by,
  bytesIn: bytesIn / by,
  bytesOut: bytesOut / by,
  kilobytes: kilobytes / by,
})

/** Bytes of replies, command by command, from a server that has all items. @param {number} kept items that a list is cut to */
const replies = (kept) => {
  /** @type {Set<string>} */
  const unknown = new Set()
  let length = kept
  return {
    unknown,
    /** @param {string} name @param {number} members */
    bytesOf: (name, members) => {
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

/** Whether it has a key for each item. @param {Step} step @param {number} first */
const isSpread = (step, first) =>
  step.kind === 'each' && String(step.key(first)) !== String(step.key(first + 1))

/** Chunks of an interval that are encoded: all, or some spread over it. @param {Plan} plan */
const chunksOf = (plan) => {
  const all = plan.agents.flatMap((range) =>
    Array.from({ length: plan.chunks }, (_, k) => chunkRange(range, plan.chunks, k)),
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
  // Batches are made range by range, not of all items.
  const batches = await tickBatchesOf({ ...plan, once: true }, steps, { keep: false })
  const values = tickValues(Date.now(), plan.ttlS)
  const reply = replies(keptItems(plan))
  const { whole, ranges } = chunksOf(plan)
  const items = ranges.reduce((sum, { count }) => sum + count, 0)
  /** @type {Map<Step, Part>} */
  const parts = new Map()
  let keys = 0
  for (const range of ranges)
    for (const batch of batches.fresh(range, values).flat()) {
      const { step, count, from } = batch
      const { name = '' } = step
      const timed = step.kind === 'once' && step.everyMs > 0
      if (timed && parts.has(step)) continue
      const spread = isSpread(step, range.first)
      if (!timed && !spread && step.kind !== 'each')
        keys = Math.max(keys, new Set(groupKeys(step, range)).size)
      const part = parts.get(step) ?? {
        name,
        spread,
        timed,
        script: isScript.test(name),
        amounts: nothing(),
      }
      parts.set(step, part)
      part.amounts.commands += count
      for (let i = 0; i < count; i++) {
        const members = from[i + 1] - from[i]
        const [bytesIn, bytesOut] = [batch.size(i), timed ? integer : reply.bytesOf(name, members)]
        if (step.kind === 'gather') part.amounts.members += members
        part.amounts.bytesIn += bytesIn
        part.amounts.bytesOut += bytesOut
        part.amounts.kilobytes += Math.max(1, (bytesIn + bytesOut) / kilobyte)
      }
    }
  const each = [...parts].map(([step, part]) => {
    const by = step.kind === 'once' && part.timed ? step.everyMs / 1000 : items
    return { ...part, amounts: divided(part.amounts, by) }
  })
  const first = each.find(({ timed }) => !timed)
  const counting = strategy.countingCommands
  return {
    items: plan.items,
    parts: each,
    keys: Math.max(keys, each.some(({ spread, timed }) => !spread && !timed) ? 1 : 0),
    ordered: steps.some((step) => step.kind === 'gather' && typeOf(String(step.key(1))) === 'zset'),
    whole,
    counted:
      counting.length > 0
        ? { name: counting.length > 1 ? counting : counting[0], commands: 1 }
        : first && !first.script
          ? {
              name: first.name.toLowerCase(),
              commands: sum(each.filter(({ name, timed }) => name === first.name && !timed)).commands,
            }
          : null,
    unknown: [...reply.unknown],
  }
}

/** @param {Exclude<Step, { kind: 'each' }>} step @param {Range} range */
const groupKeys = (step, { first, count }) =>
  step.kind === 'once'
    ? step.keys.map(String)
    : Array.from({ length: Math.min(count, 4096) }, (_, i) => String(step.key(first + i)))

/** @param {readonly { amounts: Amounts }[]} parts */
const sum = (parts) => {
  const all = nothing()
  for (const { amounts } of parts)
    for (const name of /** @type {(keyof Amounts)[]} */ (Object.keys(all))) all[name] += amounts[name]
  return all
}

/** Amounts of all kinds of commands, for an item; for those sent every so many seconds as well. @param {Wire} wire @param {number} rateHz @returns {Part[]} */
export const partsAt = ({ parts }, rateHz) =>
  parts.map((part) => (part.timed ? { ...part, amounts: divided(part.amounts, rateHz) } : part))

/** All of an item's amounts together. @param {Wire} wire @param {number} rateHz */
export const sumOfParts = (wire, rateHz) => sum(partsAt(wire, rateHz))
