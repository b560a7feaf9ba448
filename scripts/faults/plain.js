// The effect of moving slots on ioredis with auto-pipelining, if rejected commands are not retried.
import { setTimeout as sleep } from 'node:timers/promises'
import { Cluster } from 'ioredis'
import { noCounts } from '../../lib/probes/ledger.js'
import { stageOf } from './stage.js'

/**
 * @import { Pace } from './cases.js'
 * @import { Outcome } from './play.js'
 */

const tickMs = 250
const leadMs = 2000
const ttlS = 60

/** @param {Pace} pace @returns {Promise<Outcome>} */
export const playPlain = async (pace) => {
  const stage = await stageOf()
  const client = new Cluster(stage.embedded.endpoints, {
    enableAutoPipelining: true,
    redisOptions: { password: stage.embedded.access.password },
    lazyConnect: true,
  })
  client.on('error', () => {})
  const items = noCounts()
  /** @type {Record<string, number>} */
  const failedBy = {}
  let longestMs = 0
  let running = true
  const value = 'x'.repeat(128)
  const write = (/** @type {number} */ n, /** @type {number} */ dueMs) => {
    items.offered++
    return client.setex(`item:${n}`, ttlS, value).then(
      () => {
        items.acked++
        longestMs = Math.max(longestMs, performance.now() - dueMs)
      },
      (/** @type {Error} */ error) => {
        items.failed++
        const [cause] = error.message.split(' ', 1)
        failedBy[cause] = (failedBy[cause] ?? 0) + 1
      },
    )
  }
  const load = async () => {
    const perTick = Math.floor((pace.quantity.ioredis * tickMs) / 1000)
    const startMs = performance.now()
    for (let tick = 0; running; tick++) {
      const dueMs = startMs + tick * tickMs
      await sleep(Math.max(0, dueMs - performance.now()))
      await Promise.all(Array.from({ length: perTick }, (_, i) => write((tick % 4) * perTick + i, dueMs)))
    }
  }
  try {
    await client.connect()
    const loaded = load()
    await sleep(leadMs)
    const startMs = performance.now()
    await stage.change.move(
      Array.from({ length: pace.slots }, (_, slot) => slot),
      3,
    )
    const tookMs = performance.now() - startMs
    await sleep(pace.tailMs)
    running = false
    await loaded
    return {
      fault: 'slots moved',
      driver: 'ioredis alone',
      tookMs,
      items: { ...items, failed_by: failedBy },
      lost: null,
      lostAtMost: false,
      longestMs,
      rssMb: process.memoryUsage().rss / 1e6,
      waitingBytes: 0,
      repeated: 0,
      events: [],
      complaints: [],
    }
  } finally {
    client.disconnect()
    await stage.close()
  }
}
