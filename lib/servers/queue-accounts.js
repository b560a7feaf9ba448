// The accounts of a queue beside it: the jobs that their makers know to be stored, and those that each box has done. One
// bit a job, written as they change, so that the work of a killed program is known to others.
import { hostname } from 'node:os'

/**
 * @import { Redis } from 'ioredis'
 * @import { Bits } from '../probes/bits.js'
 * @import { Doubt, Sets } from '../loads/workers/stages.js'
 *
 * @typedef {{ makers: string, boxes: string, acked: string, done: string }} AccountKeys names, or what names begin with
 * @typedef {object} Sign by the server's clock
 * @property {boolean} ended
 * @property {boolean} [settled] it takes no more jobs, and all it has done is in its account
 * @property {string} [host]
 * @property {number} begunMs
 * @property {number} renewedMs
 * @property {number | null} [most] jobs done from one account to the next, at most; null: not known yet
 * @typedef {{ host: string, sets: Sets, atOnce: boolean }} Other what another box has done; atOnce: while ours was at work
 */

// A program without a sign for this long was killed; with one sign a second, it is late after this.
const silentMs = 10_000
const lateMs = 4000
// Since its last account, a box may have done this many times the jobs it did between two accounts.
const sinceLast = 3

/** @param {Redis} client @param {string} key @param {Bits} bits */
const store = async (client, key, bits) => {
  const change = bits.changed()
  if (change) await client.setrange(key, change.from, change.bytes)
}

/** @param {readonly unknown[]} time */
const msIn = ([seconds, micros]) => Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)

/**
 * Signs of life of a program; the first says when it began.
 * @param {() => Redis} client @param {string} key @param {string} name
 */
const signsOf = (client, key, name) => {
  /** @type {number | undefined} */
  let begunMs
  return async (/** @type {boolean} */ ended, /** @type {Partial<Sign>} */ besides = {}) => {
    const renewedMs = msIn(await client().time())
    begunMs ??= renewedMs
    await client().hset(key, name, JSON.stringify({ begunMs, ...besides, ended, renewedMs }))
  }
}

/**
 * A maker's: the jobs that were acknowledged to it.
 * @param {() => Redis} client of the server that has the queue
 * @param {AccountKeys} keys
 * @param {string} maker
 * @param {Bits} bits
 */
export const makerAccount = (client, keys, maker, bits) => {
  const sign = signsOf(client, keys.makers, maker)
  return {
    /** Call before the first job. */
    begin: () => sign(false),
    async renew() {
      await store(client(), keys.acked + maker, bits)
      await sign(false)
    },
    async end() {
      await store(client(), keys.acked + maker, bits)
      await sign(true)
    },
  }
}

/**
 * A box's: the jobs that its workers have done.
 * @param {() => Redis} client
 * @param {AccountKeys} keys
 * @param {string} box
 * @param {Map<string, Bits>} done by maker
 */
export const boxAccount = (client, keys, box, done) => {
  const sign = signsOf(client, keys.boxes, box)
  const host = hostname()
  let renewals = 0
  let stored = 0
  let most = 0
  const storeAll = async () => {
    const all = [...done.values()].reduce((sum, bits) => sum + bits.count(), 0)
    for (const [maker, bits] of done) await store(client(), `${keys.done}${box}.${maker}`, bits)
    most = Math.max(most, all - stored)
    stored = all
    renewals++
  }
  return {
    begin: () => sign(false, { host, most: null }),
    async renew() {
      await storeAll()
      await sign(false, { host, most: renewals > 1 ? most : null })
    },
    /** Call when none of its workers takes jobs any more. */
    async settle() {
      await storeAll()
      await sign(false, { host, settled: true })
    },
    /** Of a box that did nothing beside a queue without makers, nothing is left. */
    async end() {
      const isUnused = stored === 0 && (await client().hlen(keys.makers)) === 0
      if (isUnused) await client().hdel(keys.boxes, box)
      else await sign(true, { host, settled: true })
    },
  }
}

/** @param {Record<string, string>} texts @param {number} nowMs */
const signsIn = (texts, nowMs) =>
  Object.entries(texts).map(([name, text]) => {
    /** @type {Sign} */
    const { ended, settled = ended, renewedMs, ...about } = JSON.parse(text)
    const quietMs = nowMs - renewedMs
    const atWork = !ended && quietMs < silentMs
    return { name, atWork, takes: !settled && quietMs < lateMs, settled, renewedMs, quietMs, ...about }
  })

/** The makers and boxes, and which are at work. @param {Redis} client @param {AccountKeys} keys */
export const signs = async (client, keys) => {
  const [makers, boxes, time] = await Promise.all([
    client.hgetall(keys.makers),
    client.hgetall(keys.boxes),
    client.time(),
  ])
  const nowMs = msIn(time)
  return { makers: signsIn(makers, nowMs), boxes: signsIn(boxes, nowMs) }
}

/**
 * Jobs that boxes without a final account may have done since their last one: of those made while they were there. A box
 * that may still be at work has no limit.
 * @param {ReturnType<typeof signsIn>} makers
 * @param {ReturnType<typeof signsIn>} open
 * @returns {Doubt}
 */
const doubtOf = (makers, open) => ({
  makers: new Set(
    makers
      .filter(({ begunMs }) => open.some(({ renewedMs }) => begunMs <= renewedMs + silentMs))
      .map(({ name }) => name),
  ),
  most: open.reduce(
    (sum, { most, atWork }) =>
      sum + (atWork || typeof most !== 'number' ? Number.POSITIVE_INFINITY : sinceLast * most),
    0,
  ),
})

/**
 * What the makers know to be stored, and what boxes other than ours have done.
 * @param {Redis} client
 * @param {AccountKeys} keys
 * @param {string} box ours
 * @returns {Promise<{ acked: Sets, others: Other[], makersAtWork: number, boxesAtWork: number, boxesSilent: number, doubt: Doubt }>}
 *   boxesSilent: they neither ended nor give a sign
 */
export const accountsBeside = async (client, keys, box) => {
  const { makers, boxes } = await signs(client, keys)
  /** @type {Sets} */
  const acked = {}
  for (const { name } of makers)
    acked[name] = (await client.getBuffer(keys.acked + name)) ?? new Uint8Array(0)
  /** @type {Other[]} */
  const others = []
  const begunMs = boxes.find(({ name }) => name === box)?.begunMs ?? Number.POSITIVE_INFINITY
  for (const other of boxes) {
    if (other.name === box) continue
    /** @type {Sets} */
    const sets = {}
    for (const { name } of makers) {
      const bits = await client.getBuffer(`${keys.done}${other.name}.${name}`)
      if (bits) sets[name] = bits
    }
    others.push({ host: other.host ?? other.name, sets, atOnce: other.renewedMs >= begunMs })
  }
  const open = boxes.filter(({ name, settled }) => name !== box && !settled)
  const boxesAtWork = open.filter(({ takes }) => takes).length
  return {
    acked,
    others,
    makersAtWork: makers.filter(({ atWork }) => atWork).length,
    boxesAtWork,
    boxesSilent: open.length - boxesAtWork,
    doubt: doubtOf(makers, open),
  }
}
