// The accounts of a queue beside it: which jobs their makers know to be stored, and which each box has done. A bit for each job,
// written as they change, so that what a program knew when it was killed is known to others.
import { hostname } from 'node:os'

/**
 * @typedef {import('ioredis').Redis} Redis
 * @typedef {import('../measure/bits.js').Bits} Bits
 * @typedef {import('../measure/jobs.js').Sets} Sets
 * @typedef {{ makers: string, boxes: string, acked: string, done: string }} AccountKeys names, or what names begin with
 * @typedef {{ ended: boolean, host?: string, begunMs?: number, renewedMs: number }} Sign by the server's clock
 * @typedef {{ host: string, sets: Sets, atOnce: boolean }} Other what another box has done; atOnce: while ours was at work
 */

// Without a sign for this long a program has been killed.
const silentMs = 10_000

/** @param {Redis} client @param {string} key @param {Bits} bits */
const store = async (client, key, bits) => {
  const change = bits.changed()
  if (change) await client.setrange(key, change.from, /** @type {any} */ (change.bytes))
}

/** @param {[unknown, unknown]} time */
const msIn = ([seconds, micros]) => Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)

/** @param {Redis} client @param {string} key @param {string} name @param {boolean} ended @param {{ host?: string, begunMs?: number }} [besides] */
const sign = async (client, key, name, ended, besides = {}) => {
  const renewedMs = msIn(/** @type {any} */ (await client.time()))
  await client.hset(key, name, JSON.stringify({ begunMs: renewedMs, ...besides, ended, renewedMs }))
  return renewedMs
}

/**
 * A maker's: the jobs that were acknowledged to it.
 * @param {() => Redis} client of the server that has the queue
 * @param {AccountKeys} keys
 * @param {string} maker
 * @param {Bits} bits
 */
export const makerAccount = (client, keys, maker, bits) => ({
  /** Before the first job. */
  begin: () => sign(client(), keys.makers, maker, false),
  async renew() {
    await store(client(), keys.acked + maker, bits)
    await sign(client(), keys.makers, maker, false)
  },
  async end() {
    await store(client(), keys.acked + maker, bits)
    await sign(client(), keys.makers, maker, true)
  },
})

/**
 * A box's: the jobs that its workers have done.
 * @param {() => Redis} client
 * @param {AccountKeys} keys
 * @param {string} box
 * @param {Map<string, Bits>} done by maker
 */
export const boxAccount = (client, keys, box, done) => {
  /** @type {{ host: string, begunMs?: number }} */
  const besides = { host: hostname() }
  const storeAll = async () => {
    for (const [maker, bits] of done) await store(client(), `${keys.done}${box}.${maker}`, bits)
  }
  return {
    async begin() {
      besides.begunMs = await sign(client(), keys.boxes, box, false, besides)
    },
    async renew() {
      await storeAll()
      await sign(client(), keys.boxes, box, false, besides)
    },
    async end() {
      await storeAll()
      await sign(client(), keys.boxes, box, true, besides)
    },
  }
}

/** @param {Record<string, string>} texts @param {number} nowMs */
const signsIn = (texts, nowMs) =>
  Object.entries(texts).map(([name, text]) => {
    /** @type {Sign} */
    const { ended, renewedMs, ...about } = JSON.parse(text)
    return { name, atWork: !ended && nowMs - renewedMs < silentMs, renewedMs, ...about }
  })

/** Which makers and boxes there are, and which are at work. @param {Redis} client @param {AccountKeys} keys */
export const signs = async (client, keys) => {
  const [makers, boxes, time] = await Promise.all([
    client.hgetall(keys.makers),
    client.hgetall(keys.boxes),
    client.time(),
  ])
  const nowMs = msIn(/** @type {any} */ (time))
  return { makers: signsIn(makers, nowMs), boxes: signsIn(boxes, nowMs) }
}

/**
 * What the makers know to be stored, and what boxes other than ours have done.
 * @param {Redis} client
 * @param {AccountKeys} keys
 * @param {string} box ours
 * @returns {Promise<{ acked: Sets, others: Other[], makersAtWork: number, boxesAtWork: number }>}
 */
export const accountsBeside = async (client, keys, box) => {
  const { makers, boxes } = await signs(client, keys)
  const acked = /** @type {Sets} */ ({})
  for (const { name } of makers)
    acked[name] = (await client.getBuffer(keys.acked + name)) ?? new Uint8Array(0)
  const others = /** @type {Other[]} */ ([])
  const begunMs = boxes.find(({ name }) => name === box)?.begunMs ?? Number.POSITIVE_INFINITY
  for (const other of boxes) {
    if (other.name === box) continue
    const sets = /** @type {Sets} */ ({})
    for (const { name } of makers) {
      const bits = await client.getBuffer(`${keys.done}${other.name}.${name}`)
      if (bits) sets[name] = bits
    }
    others.push({ host: other.host ?? other.name, sets, atOnce: other.renewedMs >= begunMs })
  }
  const atWork = (/** @type {{ name: string, atWork: boolean }[]} */ list) =>
    list.filter((one) => one.atWork && one.name !== box).length
  return { acked, others, makersAtWork: atWork(makers), boxesAtWork: atWork(boxes) }
}
