// The contents of a queue, job by job, while no worker takes from it: jobs that wait, and jobs given to workers.
import { certain } from '../../base/typed.js'
import { bitsOf } from '../../probes/bits.js'
import { jobIn } from '../../workloads/queue/job.js'
import { jobsIn } from '../../workloads/queue/replies.js'

/**
 * @import { Redis } from 'ioredis'
 * @import { Bits } from '../../probes/bits.js'
 * @import { BoundWork, Known } from '../../workloads/bind/worker.js'
 * @import { Contents } from '../../workloads/declare.js'
 * @import { Job } from '../../workloads/queue/job.js'
 * @import { Taken } from '../../workloads/queue/replies.js'
 * @import { strategyOf } from '../../workloads/bound-strategy.js'
 *
 * @typedef {ReturnType<typeof strategyOf>} Strategy
 */

const pageSize = 1000

/**
 * @param {Redis} client
 * @param {BoundWork} bound
 * @param {Known} known
 * @returns {Promise<any>} null: the server refused, which is no error
 */
const asked = async (client, bound, known) => {
  const [[name, ...args]] = bound.commands(known)
  return client.call(name, ...args).catch((error) => {
    if (bound.work.mayFail?.test(error.message)) return null
    throw error
  })
}

/** The jobs of one of the contents, page by page. @param {Redis} client @param {Strategy} strategy @param {Contents} contents */
async function* pagesOf(client, strategy, { each, read, by }) {
  const bound = strategy.boundWork(read)
  /** @type {string[]} */
  const workers = each ? await asked(client, strategy.boundWork(each), {}) : ['']
  for (const worker of workers) {
    let place = 0
    let from = '-'
    for (;;) {
      const known = { worker, page: pageSize, from: by === 'id' ? from : place, to: place + pageSize - 1 }
      const jobs = jobsIn(certain(read.jobs), await asked(client, bound, known))
      yield jobs
      if (jobs.length < pageSize) break
      place += pageSize
      from = `(${jobs[jobs.length - 1].handle}`
    }
  }
}

/** @param {Redis} client @param {Strategy} strategy @returns what both queues hold; `passed` of it is in the second one */
export const contentsOf = async (client, strategy) => {
  const { contents = [] } = strategy.workers() ?? {}
  const found = { queued: new Map(), taken: new Map(), passed: new Map() }
  let foreign = 0
  /** Ids that confirm taken jobs, for lists without texts. */
  const held = { filter: new Set(), output: new Set() }
  const note = (/** @type {keyof typeof found} */ state, /** @type {Job} */ { maker, number }) => {
    const bits = found[state].get(maker) ?? bitsOf()
    found[state].set(maker, bits)
    bits.add(number)
  }
  const add = (
    /** @type {Contents['state']} */ state,
    /** @type {Contents['stage']} */ stage,
    /** @type {string} */ text,
  ) => {
    const job = jobIn(text)
    if (job === null) {
      foreign++
      return
    }
    note(state, job)
    if (stage === 'output') note('passed', job)
  }
  // Reads the ids of taken jobs first: their texts are among the others.
  for (const one of contents.toSorted((a, b) => Number(a.bodies) - Number(b.bodies)))
    for await (const jobs of pagesOf(client, strategy, one))
      for (const { handle, text } of jobs) {
        if (!one.bodies) held[one.stage].add(handle)
        else add(held[one.stage].has(handle) ? 'taken' : one.state, one.stage, text)
      }
  const setsOf = (/** @type {Map<string, Bits>} */ map) =>
    Object.fromEntries([...map].map(([maker, bits]) => [maker, bits.bytes()]))
  return {
    queued: setsOf(found.queued),
    taken: setsOf(found.taken),
    passed: setsOf(found.passed),
    foreign,
  }
}

/** @param {Redis} client @param {Strategy} strategy */
export const waitingOf = async (client, strategy) => {
  const { waiting = [] } = strategy.workers() ?? {}
  const numbers = await Promise.all(
    waiting.map(async ({ sign, ...work }) => {
      const reply = await asked(client, strategy.boundWork(work), {})
      return sign * Number(Array.isArray(reply) ? reply[0] : reply)
    }),
  )
  return Math.max(
    0,
    numbers.reduce((sum, n) => sum + n, 0),
  )
}
