// Checks what was read. Every value is compared with the bytes that the plan defines, and not kept; an id without its value
// is asked for again before it counts as missing.

import { isDrawn } from '../traffic/items.js'
import { lifetimeOf, shortestS } from '../traffic/lifetimes.js'
import { itemOfValue, payloadMatcher, stampBytes } from '../traffic/payload.js'
import { scoreIn } from '../wire/id-list.js'
import { strategyOf } from '../workloads/bound-strategy.js'

/**
 * @import { ReadPlan } from '../loads/fetches/plan.js'
 * @import { IdList } from '../wire/id-list.js'
 * @import { Reader as Declaration } from '../workloads/bind/reader.js'
 * @import { ValueSink } from '../workloads/shapes.js'
 */

/**
 * checked: values compared byte by byte. missing: an id whose value should be there and is not, or was not for too
 * long, on its master either. expired: an id whose item has outlived its ttl since the id was read. lagging: not there on the replica,
 * or older there than its id, but right on the master when asked again: shards replicate by themselves. stale:
 * older than its id, on the master too (needs --stamp). corrupt: other bytes. unexpected: no item of the plan.
 * unjudged: could not be asked again, or whether it should be there is unknown.
 * @typedef {{ checked: number, missing: number, expired: number, lagging: number, stale: number, corrupt: number, unexpected: number, unjudged: number }} VerifyCounts
 *
 * @typedef {object} Suspect an id to be asked for again
 * @property {string} id
 * @property {number} n
 * @property {number} score NaN where it came without one
 * @property {boolean} stale it had a value, older than its id
 * @property {number} seenMs by the clock of the server that was asked
 * @property {number} absentFromMs when its master had no value either; NaN: it was not asked
 * @property {number} absentToMs the same, the last time
 */

// Clocks of writer and server may differ by this much before an item counts as overdue.
export const clockSlackMs = 100
// Asked again after so long: a tick is written to several servers, and none waits for another.
const againAfterMs = [0, 50, 150, 400, 1000, 2000]
// An item that its master did not have for so long, at that age, was not only late; less says nothing. One master
// alone has each value before its id, but for a command that is sent again: there no age is too young.
const absentMs = { one: 150, several: 300 }
const overdueMs = { one: 0, several: 2000 }
const mostSuspects = 10_000
const shownExamples = 10

/** @returns {VerifyCounts} */
const noCounts = () => ({
  checked: 0,
  missing: 0,
  expired: 0,
  lagging: 0,
  stale: 0,
  corrupt: 0,
  unexpected: 0,
  unjudged: 0,
})

/** What a plan promises its readers. @param {ReadPlan} plan @param {Declaration} reader */
const owedBy = (plan, reader) => {
  const { quantity, once, startedMs, writePeriodMs } = plan
  const { itemNumberOf: numberOf } = strategyOf(plan)
  const matches = plan.knowsBytes ? payloadMatcher(plan) : () => true
  const itemIn = itemOfValue(plan)
  const lifetimeS = lifetimeOf(plan)
  const ttlMs = (/** @type {number} */ n) => lifetimeS(n) * 1000
  // Undated items may have expired: written only once, not surely again, or not again before the end of their ttl.
  const mayBeOver =
    once || isDrawn(plan) || (writePeriodMs !== null && shortestS(plan) * 1000 < writePeriodMs)
  // Undated items may be of the plan before this one until they have been written anew.
  const settledMs = reader.dated ? startedMs : startedMs + Math.max(plan.ttlS * 1000, writePeriodMs ?? 0)
  const isItem = (/** @type {number} */ n) =>
    n >= 1 && (once || Boolean(plan.churn) || !plan.knowsItems || n <= quantity)
  const isOver = (/** @type {number} */ n, /** @type {number} */ score, /** @type {number} */ nowMs) =>
    nowMs >= score + ttlMs(n) - clockSlackMs

  /** Whether the stamp says that the value is older than it may be. @param {number} n @param {number} stampMs @param {number} score @param {number} nowMs */
  const isStale = (n, stampMs, score, nowMs) =>
    Number.isNaN(score) ? stampMs < nowMs - ttlMs(n) - clockSlackMs : stampMs < score
  return { numberOf, matches, itemIn, ttlMs, mayBeOver, settledMs, isItem, isOver, isStale }
}

/**
 * Asks again for suspects until their state is known.
 * @param {Parameters<typeof valueVerifierOf>[0]} needs
 * @param {ReturnType<typeof owedBy>} owed
 * @param {{ counts: VerifyCounts, example: (text: string) => void }} found
 * @returns {(list: Suspect[], server: string) => Promise<void>}
 */
const recheckOf = (needs, { matches, isStale, isOver, ttlMs }, { counts, example }) => {
  const { plan, nowAt, readAtMaster, wasRewritten, sleep } = needs
  const place = plan.masters === 1 ? 'one' : 'several'

  /** @param {Suspect} suspect @param {number} nowMs @returns {Promise<boolean>} whether it is settled */
  const askAgain = async (suspect, nowMs) => {
    const { id, n, score } = suspect
    let isSettled = false
    await readAtMaster?.(id, (value) => {
      if (value === null) {
        if (Number.isNaN(suspect.absentFromMs)) suspect.absentFromMs = nowMs
        suspect.absentToMs = nowMs
        return
      }
      if (!matches(n, value, 0, value.length)) {
        counts.corrupt++
        example(`${id}: other bytes on its master`)
        isSettled = true
      } else if (!plan.stamp || !isStale(n, scoreIn(value, 0, stampBytes), score, nowMs)) {
        if (wasAway(suspect)) missing(suspect, 'had no value for a while, on its master either')
        else counts.lagging++
        isSettled = true
      } else suspect.stale = true
    })
    return isSettled
  }

  /** Whether it is overdue and was missing for a while. @param {Suspect} suspect */
  const wasAway = ({ n, score, absentFromMs, absentToMs }) =>
    absentToMs - absentFromMs >= absentMs[place] &&
    absentToMs - score >= Math.min(overdueMs[place], ttlMs(n) / 2) &&
    !isOver(n, score, absentToMs)

  const missing = (/** @type {Suspect} */ { id }, /** @type {string} */ words) => {
    counts.missing++
    example(`${id}: ${words}`)
  }

  /** An undated value must be there only while its writer is at work. @param {Suspect[]} list */
  const undated = async (list) => {
    if (list.length === 0) return
    const sinceMs = Math.max(...list.map(({ seenMs }) => seenMs))
    if (!(await wasRewritten(sinceMs))) {
      counts.expired += list.length
      return
    }
    const areSettled = await Promise.all(list.map((suspect) => askAgain(suspect, sinceMs)))
    for (const suspect of list.filter((_, i) => !areSettled[i]))
      missing(suspect, 'no value, though its writer lives')
  }

  return async (list, server) => {
    let left = list
    for (const waitMs of againAfterMs) {
      if (waitMs > 0) await sleep(waitMs)
      const nowMs = nowAt(server)
      const areSettled = await Promise.all(
        left.map(
          (suspect) =>
            (suspect.stale || !isOver(suspect.n, suspect.score, nowMs)) && askAgain(suspect, nowMs),
        ),
      )
      left = left.filter((_, i) => !areSettled[i])
      // It has expired meanwhile, and was not missing for long: neither the writer nor the server is at fault.
      const expired = left.filter(
        (suspect) => !suspect.stale && isOver(suspect.n, suspect.score, nowAt(server)) && !wasAway(suspect),
      )
      counts.expired += expired.length
      left = left.filter((suspect) => !expired.includes(suspect))
      if (left.length === 0) return
    }
    for (const suspect of left) {
      if (suspect.stale) {
        counts.stale++
        example(`${suspect.id}: its value is older than its id`)
      } else if (!Number.isNaN(suspect.score)) {
        missing(suspect, `no value, though it was ranked ${Math.round(nowAt(server) - suspect.score)} ms ago`)
      }
    }
    await undated(left.filter(({ stale, score }) => !stale && Number.isNaN(score)))
  }
}

/**
 * Ids to be asked for again, those of a fetch together.
 * @param {ReturnType<typeof recheckOf>} recheck
 * @param {(ms: number) => Promise<void>} sleep
 * @param {VerifyCounts} counts
 */
const suspectsOf = (recheck, sleep, counts) => {
  let asking = 0
  /** @type {Set<Promise<void>>} */
  const open = new Set()
  return {
    /** @param {IdList} list @param {string} server */
    suspectIn(list, server) {
      /** @type {Suspect[]} */
      let found = []
      return (
        /** @type {number} */ i,
        /** @type {number} */ n,
        /** @type {boolean} */ stale,
        /** @type {number} */ nowMs,
      ) => {
        if (asking >= mostSuspects) {
          counts.unjudged++
          return
        }
        asking++
        found.push({
          id: list.text(i),
          n,
          score: list.scoreOf(i),
          stale,
          seenMs: nowMs,
          absentFromMs: Number.NaN,
          absentToMs: Number.NaN,
        })
        if (found.length > 1) return
        // After the reads under way: one round of questions for all of them.
        const all = sleep(20).then(() => {
          const asked = found
          found = []
          return recheck(asked, server)
            .catch(() => {
              counts.unjudged += asked.length
            })
            .finally(() => {
              asking -= asked.length
            })
        })
        open.add(all)
        all.finally(() => open.delete(all))
      }
    },
    /** Resolves when everything that is asked again has its answer. */
    settle: async () => {
      while (open.size > 0) await Promise.all(open)
    },
  }
}

/**
 * @param {object} needs
 * @param {ReadPlan} needs.plan
 * @param {Declaration} needs.reader
 * @param {(server: string) => number} needs.nowAt epoch by the clock of a server
 * @param {((id: string, sink: (value: Buffer | null) => void) => Promise<void>) | null} needs.readAtMaster null: an id
 *   and its value are one, so that neither can be without the other, or older
 * @param {(sinceMs: number) => Promise<boolean>} needs.wasRewritten every item has been written again since then,
 *   as far as the plan's signs of life show
 * @param {(ms: number) => Promise<void>} needs.sleep
 */
export const valueVerifierOf = (needs) => {
  const { plan, reader, nowAt, sleep } = needs
  const counts = noCounts()
  /** @type {string[]} */
  const examples = []
  const example = (/** @type {string} */ text) => {
    if (examples.length < shownExamples) examples.push(text)
  }
  const owed = owedBy(plan, reader)
  const { numberOf, matches, itemIn, mayBeOver, settledMs, isItem, isOver, isStale } = owed
  const suspects = suspectsOf(recheckOf(needs, owed, { counts, example }), sleep, counts)
  const stamp = plan.stamp && needs.readAtMaster !== null
  const unexpected = (/** @type {string} */ text) => {
    counts.unexpected++
    example(`${text}: no item of the plan`)
  }

  return {
    counts,
    examples,
    /** @type {(list: IdList, server: string) => ValueSink} */
    inspect(list, server) {
      const suspect = suspects.suspectIn(list, server)
      const isSettled = nowAt(server) >= settledMs

      return {
        value(i, bytes, from, to) {
          if (!isSettled) return
          const n = i < 0 ? itemIn(bytes, from, to) : numberOf(list.bytes, list.startOf(i), list.endOf(i))
          if (!isItem(n))
            return unexpected(i < 0 ? bytes.toString('latin1', from, Math.min(to, from + 20)) : list.text(i))
          if (plan.knowsBytes) counts.checked++
          if (!matches(n, bytes, from, to)) {
            counts.corrupt++
            example(`${i < 0 ? `item ${n}` : list.text(i)}: other bytes`)
          } else if (stamp && i >= 0) {
            const score = list.scoreOf(i)
            const stampMs = scoreIn(bytes, from, from + stampBytes)
            const nowMs = Number.isNaN(score) ? nowAt(server) : 0
            if (isStale(n, stampMs, score, nowMs)) suspect(i, n, true, nowAt(server))
          }
        },
        nil(i) {
          if (!isSettled) return
          const n = numberOf(list.bytes, list.startOf(i), list.endOf(i))
          if (!isItem(n)) return unexpected(list.text(i))
          const nowMs = nowAt(server)
          const score = list.scoreOf(i)
          if (isOver(n, score, nowMs) || (Number.isNaN(score) && mayBeOver)) counts.expired++
          else suspect(i, n, false, nowMs)
        },
      }
    },
    settle: suspects.settle,
  }
}
