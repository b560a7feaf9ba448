// What verifies the values read, and until when.
import { sleep } from '../../base/settlement.js'
import { certain } from '../../base/typed.js'
import { samePlan } from '../../plan/announcement.js'
import { valueVerifierOf } from '../../probes/value-verifier.js'
import { shortestS } from '../../traffic/lifetimes.js'
import { hasDead, leastAlive } from '../../traffic/live-items.js'

/**
 * @import { RunClock } from '../../probes/run-clock.js'
 * @import { ReadDriver } from '../../transport/read-driver.js'
 * @import { IdList } from '../../wire/id-list.js'
 * @import { Reader } from '../../workloads/bind/reader.js'
 * @import { ValueCommand } from '../../workloads/declare.js'
 * @import { ReaderRun } from './open.js'
 * @import { AnnouncedPlan } from '../../plan/announcement.js'
 * @import { Fetched } from './fetch.js'
 */

// Reads the plan in the target now and then: whether its writers still renew it, and whether it is the same.

const everyMs = 1000
// Two missed renewals and a margin.
const silenceMs = 12_000
const rewriteSlackMs = 500

/** Whether a writer has renewed the plan recently. @param {AnnouncedPlan} announced @param {number} nowMs */
export const isLive = ({ ended, renewedMs }, nowMs) => !ended && nowMs - renewedMs < silenceMs

/**
 * @param {object} needs
 * @param {AnnouncedPlan | null} needs.announced the one that is read by
 * @param {() => Promise<readonly AnnouncedPlan[]>} needs.read
 * @param {() => number} needs.now by the clock of the server that holds it
 * @param {() => void} needs.onChanged another plan has taken its place: its bytes may be others
 * @param {(announced: AnnouncedPlan) => void} needs.onAppeared there was none at the start, and a writer has started since
 * @param {(live: boolean) => void} [needs.onCheck] the announcement was read: whether its writers are at work
 * @param {(ms: number) => Promise<void>} needs.sleep
 */
export const planWatch = ({ announced, read, now, onChanged, onAppeared, onCheck = () => {}, sleep }) => {
  let current = announced
  let changed = false
  /** @type {NodeJS.Timeout | undefined} */
  let timer

  const check = async () => {
    const announcements = await read().catch(() => null)
    if (!announcements) return
    if (!announced) {
      const found = announcements.find((other) => isLive(other, now()))
      if (changed || !found) return
      changed = true
      onAppeared(found)
      return
    }
    current = announcements.find((other) => samePlan(other, announced)) ?? current
    const rival = announcements.find(
      (other) =>
        other.strategy === announced.strategy &&
        other.startedMs > announced.startedMs &&
        !samePlan(other, announced) &&
        isLive(other, now()),
    )
    if (!changed && rival) {
      changed = true
      onChanged()
    }
    onCheck(!changed && isLive(current ?? announced, now()))
  }
  return {
    start() {
      timer = setInterval(check, everyMs)
    },
    stop: () => clearInterval(timer),
    /** Whether all items have been written again since that moment; waits for the writers' next renewal. @param {number} sinceMs */
    async wasRewritten(sinceMs) {
      if (!announced || announced.once) return false
      const neededMs = sinceMs + announced.periodMs + rewriteSlackMs
      for (;;) {
        const { ended, renewedMs } = certain(current)
        if (changed || ended) return false
        if (renewedMs >= neededMs) return true
        if (now() > neededMs + silenceMs) return false
        await sleep(500)
        await check()
      }
    },
  }
}

// Whether fetches find the items that must be alive by the writers' plan, while the writers are at work.

/**
 * fetches: how many the share was computed of. expected: items alive at any moment. share: of those that a fetch had a right to,
 * the median.
 * @typedef {{ fetches: number, expected: number, share: number }} LiveShare
 */

// Fewer fetches show nothing: a writer may just have ended.
const leastFetches = 3

/**
 * @param {object} needs
 * @param {AnnouncedPlan | null} needs.announced
 * @param {number} needs.limit items of a fetch; 0: all
 * @param {boolean} needs.dated ids come by their age: else only one with a value is known to be alive
 * @param {() => number} needs.now epoch, by the clock of the server that holds the announcement
 */
export const liveShareOf = ({ announced, limit, dated, now }) => {
  // An id lives as long as the longest lifetime of items, a value as long as its own.
  const plan = announced && { ...announced, ttlS: dated ? announced.ttlS : shortestS(announced) }
  const alive = plan ? leastAlive(plan) : 0
  const expected = limit > 0 ? Math.min(limit, alive) : alive
  // Without a schedule the number of live items is unknown.
  const isKnown = announced?.paced === true && expected > 0 && (dated || limit === 0)
  const fullMs = announced
    ? announced.startedMs +
      Math.max(announced.ttlS * 1000, announced.periodMs) +
      announced.periodMs / announced.chunks
    : 0
  /** @type {number[]} */
  const shares = []
  /** @type {number[]} not yet known to be of a plan that was being written */
  let pending = []
  return {
    /** @param {Pick<Fetched, 'ids' | 'values' | 'durationMs' | 'failedBy'>} fetched */
    fetched({ ids, values, durationMs, failedBy }) {
      if (!isKnown || !announced || Object.keys(failedBy).length > 0 || now() - durationMs < fullMs) return
      // Some expire while they are read.
      const died = plan && hasDead(plan) ? (announced.quantity * durationMs) / announced.periodMs : 0
      if (expected > died) pending.push((dated ? ids : values) / (expected - died))
    },
    /** The announcement was read. @param {boolean} live its writers are at work */
    checked(live) {
      if (live) shares.push(...pending)
      pending = []
    },
    /** @returns {LiveShare | null} */
    summary() {
      if (shares.length < leastFetches) return null
      return { fetches: shares.length, expected, share: shares.toSorted((a, b) => a - b)[shares.length >> 1] }
    },
  }
}

const nothing = () => {}

/** The value of an id on its master, or null. @param {ReadDriver} driver @param {ValueCommand} command */
const masterReader =
  (driver, command) =>
  async (/** @type {string} */ id, /** @type {(value: Buffer | null) => void} */ sink) => {
    await driver.askMaster([command.name, id, ...command.after], id, {
      open: nothing,
      number: nothing,
      error: nothing,
      bulk: (bytes, from, to) => sink(bytes.subarray(from, to)),
      nil: () => sink(null),
    })
  }

/**
 * Verifies values as long as the plan they are checked against is the one being written.
 * @param {ReaderRun} run
 * @param {{ driver: ReadDriver, reader: Reader, clocks: Pick<RunClock, 'at'>, planNow: () => number }} reading
 */
export const verifierOf = (
  { plan, announced, readAnnouncements, warn },
  { driver, reader, clocks, planNow },
) => {
  let judging = plan.verify
  const again = reader.value ?? reader.again ?? null
  const liveShare = liveShareOf({ announced, limit: plan.limit, dated: reader.dated, now: planNow })
  const watch = planWatch({
    announced,
    onCheck: liveShare.checked,
    read: readAnnouncements,
    now: planNow,
    onChanged: () => {
      judging = false
      warn({
        code: 'plan-changed',
        message:
          'another plan has been written under this prefix since then: what was read after that is not verified',
        invalidates: plan.verify,
      })
    },
    onAppeared: ({ strategy }) => {
      const other = strategy !== plan.strategy
      if (!other && plan.knowsBytes) return
      warn({
        code: 'plan-appeared',
        message: `a writer of ${strategy} started after this consumer${other ? `, which reads ${plan.strategy}` : ''}; start the consumer again to read by the writer's plan`,
        invalidates: other || plan.verify,
      })
    },
    sleep,
  })
  const verifier = plan.verify
    ? valueVerifierOf({
        plan,
        reader,
        nowAt: clocks.at,
        readAtMaster: again && masterReader(driver, again),
        wasRewritten: watch.wasRewritten,
        sleep,
      })
    : null
  const inspector = verifier && {
    inspect: (/** @type {IdList} */ list, /** @type {string} */ server) =>
      judging ? verifier.inspect(list, server) : { value: nothing, nil: nothing },
  }
  return { watch, verifier, inspector, liveShare }
}
