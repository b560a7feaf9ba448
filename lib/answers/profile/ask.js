// Questions to the profiled servers: each is counted, and one that a server refuses is not asked again.

/**
 * @import { Socket } from 'node:net'
 * @import { Redis } from 'ioredis'
 *
 * @typedef {{ address: string, client: Redis }} Master
 * @typedef {(string | Buffer | number)[]} Question
 * @typedef {{ error: Error | null, reply: unknown }} Answer
 * @typedef {ReturnType<typeof asking>} Asking
 */

const ofContainers = /^(object|memory|client|latency|slowlog|commandlog|cluster|hotkeys)$/

/** The name by ACLs and commandstats: of a container command with its subcommand. @param {Question} question */
const calledBy = ([name, sub]) => {
  const lower = String(name).toLowerCase()
  return ofContainers.test(lower) ? `${lower}|${String(sub).toLowerCase()}` : lower
}

/** A missing key is no reason to stop asking. */
const isOfKey = /no such key|WRONGTYPE/i
const isUnknown = /unknown (command|subcommand)|^ERR syntax error/i

/** @param {readonly Master[]} masters */
export const asking = (masters) => {
  /** @type {Record<string, number>} */
  const calls = {}
  /** @type {Set<string>} */
  const refused = new Set()
  /** @type {Set<string>} */
  const unknown = new Set()
  let writes = 0

  /** Several at once, in order. @param {Master} master @param {Question[]} questions @returns {Promise<Answer[]>} */
  const ask = async ({ client }, questions) => {
    const line = client.pipeline()
    writes++
    for (const question of questions) {
      const called = calledBy(question)
      calls[called] = (calls[called] ?? 0) + 1
      const [name, ...args] = question
      line.callBuffer(String(name), ...args)
    }
    const replies = (await line.exec()) ?? []
    return replies.map(([error, reply], i) => {
      if (error && !isOfKey.test(error.message))
        (isUnknown.test(error.message) ? unknown : refused).add(calledBy(questions[i]))
      return { error, reply: error ? null : reply }
    })
  }

  return {
    masters,
    calls,
    refused,
    unknown,
    ask,
    /** Whether it was not refused so far. @param {Question} question */
    may: (question) => !refused.has(calledBy(question)) && !unknown.has(calledBy(question)),
    count: () => Object.values(calls).reduce((sum, n) => sum + n, 0),
    writes: () => writes,
    /** For our own connections. */
    bytes: () => {
      const sockets = masters.flatMap(({ client }) => /** @type {Socket | undefined} */ (client.stream) ?? [])
      return {
        in: sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
        out: sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
      }
    },
  }
}
