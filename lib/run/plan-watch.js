// Reads the plan in the target now and then: whether its writers live, and whether it is still the same.
import { sameTerms } from '../plan/plan-card.js'

/** @import { PlanCard } from '../plan/plan-card.js' */

const everyMs = 1000
// Two renewals that did not come, and a little.
const silenceMs = 12_000
const rewriteSlackMs = 500

/** A sign of life just now. @param {PlanCard} card @param {number} nowMs */
export const isLive = ({ ended, renewedMs }, nowMs) => !ended && nowMs - renewedMs < silenceMs

/**
 * @param {object} needs
 * @param {PlanCard | null} needs.card the one that is read by
 * @param {() => Promise<readonly PlanCard[]>} needs.read
 * @param {() => number} needs.now by the clock of the server that holds it
 * @param {() => void} needs.onChanged another plan has taken its place: its bytes may be others
 * @param {(card: PlanCard) => void} needs.onAppeared there was none at the start, and a writer has started since
 * @param {(live: boolean) => void} [needs.onLook] the card was read: whether its writers are at work
 * @param {(ms: number) => Promise<void>} needs.sleep
 */
export const planWatch = ({ card, read, now, onChanged, onAppeared, onLook = () => {}, sleep }) => {
  let current = card
  let changed = false
  /** @type {NodeJS.Timeout | undefined} */
  let timer

  const look = async () => {
    const cards = await read().catch(() => null)
    if (!cards) return
    if (!card) {
      const found = cards.find((other) => isLive(other, now()))
      if (changed || !found) return
      changed = true
      onAppeared(found)
      return
    }
    current = cards.find((other) => sameTerms(other, card)) ?? current
    const rival = cards.find(
      (other) =>
        other.strategy === card.strategy &&
        other.startedMs > card.startedMs &&
        !sameTerms(other, card) &&
        isLive(other, now()),
    )
    if (!changed && rival) {
      changed = true
      onChanged()
    }
    onLook(!changed && isLive(current ?? card, now()))
  }
  return {
    start() {
      timer = setInterval(look, everyMs)
    },
    stop: () => clearInterval(timer),
    /** Whether all items have been written again after that moment; waits for the writers' next sign of life. @param {number} sinceMs */
    async wasRewritten(sinceMs) {
      if (!card || card.once) return false
      const neededMs = sinceMs + card.periodMs + rewriteSlackMs
      for (;;) {
        const { ended, renewedMs } = /** @type {PlanCard} */ (current)
        if (changed || ended) return false
        if (renewedMs >= neededMs) return true
        if (now() > neededMs + silenceMs) return false
        await sleep(500)
        await look()
      }
    },
  }
}
