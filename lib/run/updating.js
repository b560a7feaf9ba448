// Updates of documents that were loaded: what became of those that were acknowledged, read back after the run.
import { playOnce } from './fill.js'

/**
 * @import { Exchange } from '../flow/clients.js'
 * @import { Counts } from '../measure/ledger.js'
 * @import { Needs } from './fill.js'
 */

/**
 * @param {Omit<Needs, 'say' | 'stop'>} needs
 * @returns what counts them; null: the strategy's are not counted
 */
export const updating = (needs) => {
  const { plan, strategy, onEvent } = needs
  const updates = strategy.updates()
  if (!updates) return null
  const { read, shownIn, acked, mayLose } = updates
  let conflicts = 0
  /** @type {number | null} */
  let survived = null
  const readAll = async () => {
    let shown = 0
    const { acked: found, causes } = await playOnce(
      { ...needs, say: () => {}, stop: new AbortController().signal },
      strategy.operation(read),
      plan.items,
      () => {},
      ({ dialogue }) => {
        shown += shownIn(String(dialogue.answer()[0]))
      },
    )
    if (found < plan.items) throw new Error(`${found} of ${plan.items} were read (${causes})`)
    survived = shown
  }
  return {
    /** @param {Exchange} exchange */
    done({ n, dialogue }) {
      conflicts += dialogue.conflicts()
      acked(dialogue.client, n)
    },
    read: () => readAll().catch((error) => onEvent('documents', `they could not be read: ${error.message}`)),
    /** @param {Counts} counts */
    summary: ({ acked: updates, uncertain, unsettled }) => ({
      count: plan.items,
      updates,
      // What the run did not wait for may have been done as well.
      uncertain: uncertain + unsettled,
      survived,
      lost: survived === null ? null : Math.max(0, updates - survived),
      conflicts,
      may_lose: mayLose,
    }),
  }
}
