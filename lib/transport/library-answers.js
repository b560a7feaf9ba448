// Commands that a client library neither answers nor rejects within answerLimit of --driver-option are given up; a late
// answer does not count.

/**
 * @import { OptionValue } from '../base/libraries.js'
 * @import { Fault, Library } from './library.js'
 *
 * @typedef {{ sentMs: number }} Asked a command; asked again only when it has its answer
 */

/** What a command is counted by that has neither an answer nor a rejection. */
export const unansweredCause = 'UNANSWERED'
// A run waits a little longer than this for its last answers.
const endLimitMs = 8000
/** It may have been executed, now or later. @type {Fault & { isSilent: true }} */
const silence = { line: null, left: true, atOnce: false, isSilent: true }

/** The limit of a plan, in ms; 0: none. @param {{ library?: { options: Record<string, OptionValue> } | null }} plan */
export const answerLimitOf = ({ library }) => Number(library?.options.answerLimit ?? 0)

/**
 * @template {Asked} One
 * @param {object} needs
 * @param {Pick<Library, 'faultOf'>} needs.library
 * @param {number} needs.limitMs 0: none
 * @param {() => number} needs.clock
 * @param {(one: One, reply: unknown) => void} needs.onReply
 * @param {(one: One, fault: Fault, error: unknown) => void} needs.onFault
 */
export const answersOf = ({ library, limitMs, clock, onReply, onFault }) => {
  /** @type {Set<One>} oldest first */
  const waiting = new Set()
  const rejected = (/** @type {One} */ one, /** @type {unknown} */ error) => {
    if (waiting.delete(one)) onFault(one, library.faultOf(error), error)
  }

  return {
    count: () => waiting.size,
    /** Overdue at the end of a run. @param {One} one */
    isOverdue: (one) => clock() - one.sentMs >= endLimitMs,
    hasOverdue() {
      const [oldest] = waiting
      return oldest !== undefined && this.isOverdue(oldest)
    },
    /** @param {One} one @param {() => Promise<unknown>} send */
    ask(one, send) {
      one.sentMs = clock()
      waiting.add(one)
      try {
        send().then(
          (reply) => {
            if (waiting.delete(one)) onReply(one, reply)
          },
          (error) => rejected(one, error),
        )
      } catch (error) {
        // A library throws at once for a slot without an owner.
        queueMicrotask(() => rejected(one, error))
      }
    },
    /** Once a second. */
    watch() {
      if (limitMs === 0) return
      const fromMs = clock() - limitMs
      for (const one of waiting) {
        if (one.sentMs >= fromMs) break
        waiting.delete(one)
        onFault(one, silence, new Error(`the client library has not answered in ${limitMs} ms`))
      }
    },
    /** Gives up everything. @returns {One[]} the commands given up */
    take() {
      const all = [...waiting]
      waiting.clear()
      return all
    },
  }
}
