// Our queues as a side of scripts/queue-peers.js: whole runs of the producer and of workers in this process.
import { once } from 'node:events'
import { run } from '../../lib/index.js'

/**
 * @import { Side } from '../queue-peers.js'
 * @import { RunOptions } from '../../lib/index.js'
 */

const putHz = 5000
const quiet = /** @type {const} */ ({ guard: 'off', idleCost: 'never', maxBehind: '60s' })

/** @type {readonly [name: RunOptions['strategy'], confirm: boolean][]} */
const ways = [
  ['queue-list', false],
  ['queue-list', true],
  ['queue-stream', false],
  ['queue-zset', true],
]

export const ourSides = ways.map(([strategy, confirm]) => {
  /** @type {Side} */
  const side = {
    name: `${strategy}${confirm ? ' --with confirm' : ''}`,
    async put(at, { jobs, jobBytes }) {
      const rate = Math.min(putHz, jobs)
      const { items } = /** @type {any} */ (
        await run({
          ...{ ...at, ...quiet, strategy, rate },
          ...{ valueSize: String(jobBytes), duration: `${jobs / rate}s` },
        })
      )
      if (items.acked !== jobs) throw new Error(`${strategy}: ${items.acked} of ${jobs} jobs were put`)
    },
    async pace(at, { rate, workers, workMs, seconds, jobBytes }) {
      const put = { ...at, ...quiet, strategy, valueSize: String(jobBytes) }
      // Workers read the plan of a producer: the first one puts a single job, and they are at work when the second begins.
      await run({ ...put, rate: 1, duration: '1s' })
      const atWork = new AbortController()
      const over = new AbortController()
      let isPut = false
      const working = run(
        { command: 'read', ...at, strategy, workers, confirm, work: `sleep:${workMs}ms` },
        {
          signal: over.signal,
          onProgress({ type, ...second }) {
            if (type !== 'second') return
            atWork.abort()
            if (isPut && 'backlog' in second && second.backlog === 0) over.abort()
          },
        },
      )
      await Promise.race([once(atWork.signal, 'abort'), working])
      await run({ ...put, rate, duration: `${seconds}s` })
      isPut = true
      const { jobs, latency_us: latency } = /** @type {any} */ (await working)
      return { done: jobs.account.done - 1, p50Us: latency.intended.p50, p99Us: latency.intended.p99 }
    },
    async drain(at, { workers, workMs, seconds }) {
      const { jobs, duration_s: overS } = /** @type {any} */ (
        await run({
          ...{ command: 'read', ...at, strategy, workers, confirm },
          ...{ work: `sleep:${workMs}ms`, duration: `${seconds}s` },
        })
      )
      const { done, queued, in_flight: inFlight, duplicates } = jobs.account
      return { done, again: duplicates, left: queued + inFlight, overS }
    },
  }
  return side
})
