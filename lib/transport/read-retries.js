// Retries reads that were refused, redirected or lost, by the policy of the writers.
import { policyOf } from './policy.js'
import { ReadError } from './read-driver.js'

/**
 * @import { Machine } from '../base/timers.js'
 * @import { Ruling } from './policy.js'
 *
 * @typedef {object} Refusal of one command
 * @property {string | null} line null: the connection ended first
 * @property {string} from the server
 * @property {string} words
 * @property {() => Promise<unknown>} loadScript brings the script to the server that does not have it
 *
 * @typedef {ReturnType<typeof roundOf>} Round
 */

const giveUpMs = 5000
// A server that was restarted or promoted has the script after one load; more would not help.
const mostLoads = 2

/**
 * Values that are wanted, read once: what has no reply is sorted by what becomes of it.
 * @param {object} needs
 * @param {ReturnType<typeof policyOf>} needs.policy
 * @param {number} needs.dueMs
 * @param {number} needs.attempts this one included
 * @param {Record<string, number>} needs.given up, by cause
 */
const roundOf = ({ policy, dueMs, attempts, given }) => {
  const round = {
    attempts,
    /** Places of ids. @type {number[]} */
    again: [],
    /** @type {Map<string, number[]>} places by the server that is to be asked with ASKING */
    asking: new Map(),
    waitMs: 0,
    /** @param {ArrayLike<number>} places @param {string} cause */
    givenUp(places, cause) {
      given[cause] = (given[cause] ?? 0) + places.length
    },
    /** @param {ArrayLike<number>} places @param {string | null} line null: the connection ended first @param {string} from */
    refused(places, line, from) {
      const decision = policy.unread(line, from, dueMs, attempts)
      const { action, cause, address, lost, waitMs } = decision
      if (lost) return round.givenUp(places, cause)
      let list = round.again
      if (action === 'asking' && address) {
        list = round.asking.get(address) ?? []
        round.asking.set(address, list)
      } else round.waitMs = Math.max(round.waitMs, waitMs)
      for (let i = 0; i < places.length; i++) list.push(places[i])
    },
  }
  return round
}

/**
 * @param {object} needs
 * @param {Pick<Machine, 'clock' | 'random'>} needs.machine
 * @param {(from: string, to: string) => boolean} needs.follows
 * @param {() => boolean} needs.isClosed
 * @param {() => Promise<unknown>} [needs.refresh] learns who serves what now
 */
export const readRetriesOf = ({ machine, follows, isClosed, refresh }) => {
  const { clock, random } = machine
  const policy = policyOf({ maxBehindMs: giveUpMs, clock, follows })
  const pause = async (/** @type {number} */ waitMs) => {
    await refresh?.()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs * (0.5 + random())))
  }

  return {
    /** @param {(before: Ruling | null, attempts: number) => Promise<Refusal | null>} ask resolves with null when it was answered */
    async untilAnswered(ask) {
      const dueMs = clock()
      let loads = 0
      let decision = null
      for (let attempts = 1; ; attempts++) {
        const refusal = await ask(decision, attempts)
        if (refusal === null) return
        decision = policy.unread(refusal.line, refusal.from, dueMs, attempts)
        const { action, cause, lost, waitMs } = decision
        if (lost || isClosed() || (action === 'load' && loads++ === mostLoads))
          throw new ReadError(cause, refusal.words)
        if (action === 'load') await refusal.loadScript().catch(() => {})
        else if (action !== 'asking') await pause(waitMs)
      }
    },

    /**
     * @param {Uint32Array} places
     * @param {(wanted: Uint32Array, round: Round) => Promise<void>} read
     * @returns what was given up, by cause
     */
    async untilRead(places, read) {
      const dueMs = clock()
      /** @type {Record<string, number>} */
      const given = {}
      let wanted = places
      for (let attempts = 1; ; attempts++) {
        const round = roundOf({ policy, dueMs, attempts, given })
        await read(wanted, round)
        wanted = Uint32Array.from([...round.again, ...[...round.asking.values()].flat()])
        if (wanted.length === 0) return given
        if (isClosed()) return { ...given, CLOSED: (given.CLOSED ?? 0) + wanted.length }
        await pause(round.waitMs)
      }
    },
  }
}
