// Reads a sample of items all the time, as an application would, and notices when one goes back in time: a repeat
// that has passed a later tick. Also for how long an item got nothing new.
import { setTimeout as sleep } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'
import { stampBytes } from '../../lib/traffic/payload.js'

// An item is written anew each second: what goes back in time is seen before.
const pauseMs = 100
// Longer than a busy machine stops a process.
const patienceMs = 10_000

/**
 * @param {object} needs
 * @param {{ host: string, port: number }[]} needs.endpoints
 * @param {string} needs.password
 * @param {number} needs.quantity
 * @param {boolean} [needs.cluster]
 * @param {number} [needs.sample] items
 */
export const orderWatch = async ({ endpoints, password, quantity, cluster = true, sample = 100 }) => {
  const options = { password, maxRetriesPerRequest: 1, connectTimeout: 1000, commandTimeout: patienceMs }
  const client = cluster
    ? new Cluster(endpoints, {
        redisOptions: options,
        slotsRefreshInterval: 1000,
        clusterNodeRetryStrategy: () => 200,
        lazyConnect: true,
      })
    : new Redis({ ...endpoints[0], ...options, lazyConnect: true })
  client.on('error', () => {})
  await client.connect()
  const items = Array.from({ length: sample }, (_, i) => 1 + Math.floor((i * quantity) / sample))
  const seen = items.map(() => ({ stamp: 0, score: 0, atMs: 0, reading: false }))
  /** @type {string[]} */
  const faults = []
  let reads = 0
  let longestGapMs = 0
  let running = true

  /** @param {number} i */
  const readOne = async (i) => {
    const last = seen[i]
    const [value, scoreText] = await Promise.all([
      client.get(`item:${items[i]}`),
      client.zscore('latest-ids', `item:${items[i]}`),
    ])
    reads++
    const stamp = value === null ? 0 : Number(value.slice(0, stampBytes))
    const score = Number(scoreText ?? 0)
    if (stamp !== 0 && stamp < last.stamp)
      faults.push(`item:${items[i]} went from ${last.stamp} back to ${stamp}`)
    if (score !== 0 && score < last.score)
      faults.push(`the score of item:${items[i]} went from ${last.score} back to ${score}`)
    if (stamp > last.stamp) {
      const nowMs = performance.now()
      if (last.atMs > 0) longestGapMs = Math.max(longestGapMs, nowMs - last.atMs)
      last.atMs = nowMs
    }
    last.stamp = Math.max(last.stamp, stamp)
    last.score = Math.max(last.score, score)
  }
  const loop = async () => {
    while (running) {
      // A server that does not answer delays its own items only.
      for (const [i, one] of seen.entries()) {
        if (one.reading) continue
        one.reading = true
        readOne(i)
          .catch(() => {})
          .finally(() => {
            one.reading = false
          })
      }
      await sleep(pauseMs)
    }
  }
  const ended = loop()
  return {
    /** Whether the first reading has found items. */
    hasSeen: () => seen.some(({ stamp }) => stamp > 0),
    async stop() {
      running = false
      await ended
      // A refresh of its slots that is under way would connect again, for ever where the node is gone.
      client.on('+node', (/** @type {Redis} */ node) => node.disconnect())
      client.disconnect()
      return { reads, faults, longestGapMs }
    },
  }
}
