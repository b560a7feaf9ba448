// Reads the plan in the target now and then: whether its writers still renew it, and whether it is the same.
import { certain } from '../../base/typed.js'
import { samePlan } from '../../plan/announcement.js'

/** @import { AnnouncedPlan } from '../../plan/announcement.js' */

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
