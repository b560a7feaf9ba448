// Counts the outcome of every item. Exact, and without a clock.
import { exactly } from '../base/typed.js'
import { ackedRanges } from './acked-ranges.js'

/**
 * @import { Range } from '../base/ranges.js'
 * @import { Keep } from './shared-counts.js'
 *
 * @typedef {'failed' | 'uncertain' | 'dropped' | 'unsettled'} Loss
 *
 * @typedef {object} Counts
 * @property {number} offered
 * @property {number} acked
 * @property {number} failed
 * @property {number} uncertain
 * @property {number} dropped
 * @property {number} unsettled
 *
 * @typedef {object} Account one tick of one agent
 * @property {number} agent
 * @property {number} first its first item
 * @property {number} count its items
 * @property {number} open commands without an outcome
 * @property {number} acked items that are counted as such already
 * @property {boolean} measured after the warm-up
 * @property {Uint8Array | null} worst each item's worst outcome, kept from the first loss on
 * @property {Uint8Array | null} causes
 * @property {((account: Account) => void) | null} onClosed
 */

const outcomes = exactly(['acked', 'failed', 'uncertain', 'dropped', 'unsettled'])

/** @returns {Counts} */
export const noCounts = () => ({ offered: 0, acked: 0, failed: 0, uncertain: 0, dropped: 0, unsettled: 0 })

/**
 * @param {{ agents: readonly { agent: number }[], once?: boolean }} plan
 * @param {unknown} [_] each tick says whether it is measured
 * @param {Keep} [keep]
 */
export const ledgerOf = ({ agents, once = false }, _, keep = (counts) => counts) => {
  // Items that are written only once can be checked afterwards.
  const ranges = once ? ackedRanges() : null
  const whole = keep(noCounts())
  const measured = keep(noCounts())
  const byAgent = new Map(agents.map(({ agent }) => [agent, keep(noCounts())]))
  const commands = keep({ sent: 0, repeated: 0, refused: 0 })
  /** @type {Record<string, number>} */
  const failedBy = {}
  /** @type {Record<string, number>} */
  const errorsBy = {}
  /** @type {Record<string, number>} */
  const repeatedBy = {}
  /** @type {string[]} */
  const causeNames = ['']

  const causeNumber = (/** @type {string} */ cause) => {
    const known = causeNames.indexOf(cause)
    if (known >= 0) return known
    // A byte an item; any other value counts as one.
    if (causeNames.length === 255) causeNames.push('other')
    return causeNames.length > 255 ? 255 : causeNames.push(cause) - 1
  }

  const add = (
    /** @type {Account} */ account,
    /** @type {keyof Counts} */ outcome,
    /** @type {number} */ items,
  ) => {
    whole[outcome] += items
    if (account.measured) measured[outcome] += items
    const own = byAgent.get(account.agent)
    if (own) own[outcome] += items
  }

  const close = (/** @type {Account} */ account) => {
    const { worst, causes, count } = account
    if (!worst || !causes) add(account, 'acked', count - account.acked)
    else {
      const sums = [0, 0, 0, 0, 0]
      for (let i = 0; i < count; i++) {
        sums[worst[i]]++
        if (worst[i] === 1 || worst[i] === 2) {
          const cause = causeNames[causes[i]]
          failedBy[cause] = (failedBy[cause] ?? 0) + 1
        }
      }
      sums[0] -= account.acked
      outcomes.forEach((outcome, o) => {
        add(account, outcome, sums[o])
      })
    }
    ranges?.closed(account)
    account.worst = account.causes = null
    account.onClosed?.(account)
  }

  const settle = (/** @type {Account} */ account, /** @type {number} */ n) => {
    account.open -= n
    if (account.open === 0) close(account)
  }

  /** @param {Account} account @param {number} item its place in the account @param {number} outcome @param {number} cause */
  const mark = (account, item, outcome, cause) => {
    if (!account.worst || !account.causes) {
      account.worst = new Uint8Array(account.count)
      account.causes = new Uint8Array(account.count)
    }
    if (account.worst[item] >= outcome) return
    account.worst[item] = outcome
    account.causes[item] = cause
  }

  return {
    whole,
    measured,
    byAgent,
    commands,
    failedBy,
    errorsBy,
    repeatedBy,
    /** Counts commands that are retried, or connections, by cause. @param {string} cause @param {number} [n] */
    sentAgain(cause, n = 1) {
      repeatedBy[cause] = (repeatedBy[cause] ?? 0) + n
    },
    /** Which items were acknowledged; null unless each was written only once. */
    written: () => ranges?.written() ?? null,

    /**
     * A tick's items are offered. It stays open until `seal`, however soon its commands are answered.
     * @param {{ agent: number, first: number, count: number, measured: boolean }} tick
     * @param {((account: Account) => void) | null} [onClosed]
     * @returns {Account}
     */
    open({ agent, first, count, measured: counts }, onClosed = null) {
      const account = {
        agent,
        first,
        count,
        measured: counts,
        onClosed,
        open: 1,
        acked: 0,
        worst: null,
        causes: null,
      }
      add(account, 'offered', count)
      ranges?.opened(account)
      return account
    },

    /** @param {Account} account @param {number} n commands that will have an outcome */
    expect(account, n) {
      account.open += n
    },

    /** Call when all commands of the tick are known. @param {Account} account */
    seal(account) {
      settle(account, 1)
    },

    /**
     * @param {Account} account
     * @param {number} n commands answered without error
     * @param {number} [stored] items whose last commands they were; what is left is counted when all have an outcome
     */
    answered(account, n, stored = 0) {
      if (stored > 0) {
        account.acked += stored
        add(account, 'acked', stored)
      }
      settle(account, n)
    },

    /**
     * Commands [from, to) of a batch were given up: their items share the outcome, and commands that carry no
     * item are counted by themselves.
     * @param {Account} account
     * @param {{ first: number, members: Uint32Array, from: Uint32Array }} batch
     * @param {number} from
     * @param {number} to
     * @param {Loss} outcome
     * @param {string} cause
     */
    lose(account, batch, from, to, outcome, cause) {
      if (from === to) return
      const start = batch.from[from]
      const end = batch.from[to]
      const rank = outcomes.indexOf(outcome)
      const number = causeNumber(cause)
      const shift = batch.first - account.first
      for (let m = start; m < end; m++) mark(account, batch.members[m] + shift, rank, number)
      if (start === end && (outcome === 'failed' || outcome === 'uncertain')) {
        errorsBy[cause] = (errorsBy[cause] ?? 0) + to - from
      }
      settle(account, to - from)
    },

    /** Counts a tick that was not begun. @param {Account} account */
    skip(account) {
      add(account, 'dropped', account.count)
      ranges?.skipped(account)
      account.open = 0
      account.onClosed?.(account)
    },

    /**
     * Items of a tick of which no command is sent.
     * @param {Account} account
     * @param {{ first: number, members: Uint32Array }} batch that carries them
     */
    skipPart(account, { first, members }) {
      const rank = outcomes.indexOf('dropped')
      for (const member of members) mark(account, member + first - account.first, rank, 0)
    },

    /** The outcomes must add up to what was offered. */
    isBalanced() {
      const sums = (/** @type {Counts} */ c) => c.acked + c.failed + c.uncertain + c.dropped + c.unsettled
      const lost = Object.values(failedBy).reduce((sum, n) => sum + n, 0)
      return (
        [whole, measured, ...byAgent.values()].every((counts) => counts.offered === sums(counts)) &&
        lost === whole.failed + whole.uncertain
      )
    },
  }
}
