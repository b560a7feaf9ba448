// BullMQ as a side of scripts/queue-peers.js: one queue, one worker with a concurrency, as its documentation shows them.
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { OptionError } from '../../lib/base/errors.js'

/** @import { At, Side } from '../queue-peers.js' */

/** Its name is no text, so that types are checked without it too. @type {string} */
const bullmq = 'bullmq'
const name = 'jobs'
// As many as our producer has connections.
const inFlight = 50

const load = async () => {
  try {
    const { version } = createRequire(import.meta.url)('bullmq/package.json')
    return { ...(await import(bullmq)), version }
  } catch (cause) {
    throw new OptionError('bullmq is not installed: npm install (it is a development dependency)', { cause })
  }
}

/** @param {number[]} ms */
const percentilesOf = (ms) => {
  const sorted = ms.toSorted((a, b) => a - b)
  const at = (/** @type {number} */ part) => sorted[Math.ceil(part * sorted.length) - 1]
  return { p50Us: at(0.5) * 1000, p99Us: at(0.99) * 1000 }
}

/** @returns {Promise<Side>} */
export const bullmqSide = async () => {
  const { Queue, Worker, version } = await load()
  const connectionOf = (/** @type {At} */ at) => ({
    ...at,
    maxRetriesPerRequest: null,
  })
  return {
    name: `BullMQ ${version}`,
    async put(at, { jobs, jobBytes }) {
      const queue = new Queue(name, { connection: connectionOf(at) })
      const text = 'x'.repeat(jobBytes)
      let next = 0
      const putter = async () => {
        while (next < jobs) await queue.add('job', { number: ++next, text }, { removeOnComplete: true })
      }
      await Promise.all(Array.from({ length: inFlight }, putter))
      await queue.close()
    },
    async pace(at, { rate, workers, workMs, seconds, jobBytes }) {
      const jobs = rate * seconds
      /** @type {number[]} */
      const tookMs = []
      const worker = new Worker(
        name,
        async (/** @type {any} */ { data: { dueMs } }) => {
          await sleep(workMs)
          tookMs.push(performance.now() - dueMs)
        },
        { connection: connectionOf(at), concurrency: workers },
      )
      await worker.waitUntilReady()
      const queue = new Queue(name, { connection: connectionOf(at) })
      await queue.waitUntilReady()
      const text = 'x'.repeat(jobBytes)
      const fromMs = performance.now()
      /** @type {Promise<unknown>[]} */
      const adding = []
      while (adding.length < jobs) {
        const due = Math.min(jobs, Math.floor(((performance.now() - fromMs) * rate) / 1000) + 1)
        while (adding.length < due) {
          const dueMs = fromMs + (adding.length * 1000) / rate
          adding.push(queue.add('job', { dueMs, text }, { removeOnComplete: true }))
        }
        await sleep(1)
      }
      await Promise.all(adding)
      const limitMs = performance.now() + 10_000
      while (tookMs.length < jobs && performance.now() < limitMs) await sleep(10)
      await worker.close()
      await queue.close()
      return { done: tookMs.length, ...percentilesOf(tookMs) }
    },
    async drain(at, { workers, workMs, seconds }) {
      /** @type {Map<number, number>} how often each was done */
      const times = new Map()
      const worker = new Worker(
        name,
        async (/** @type {any} */ { data: { number } }) => {
          await sleep(workMs)
          times.set(number, (times.get(number) ?? 0) + 1)
        },
        { connection: connectionOf(at), concurrency: workers, autorun: false },
      )
      await worker.waitUntilReady()
      const fromMs = performance.now()
      const running = worker.run()
      await sleep(seconds * 1000)
      // Waits for the jobs in hand.
      await worker.close()
      await running
      const overS = (performance.now() - fromMs) / 1000
      const queue = new Queue(name, { connection: connectionOf(at) })
      const counts = await queue.getJobCounts('wait', 'active', 'prioritized', 'delayed')
      await queue.close()
      const sumOf = (/** @type {number[]} */ numbers) => numbers.reduce((sum, n) => sum + n, 0)
      const [left, all] = [sumOf(Object.values(counts)), sumOf([...times.values()])]
      return { done: times.size, again: all - times.size, left, overS }
    },
  }
}
