// What one box of a fleet does for all, while it leads: it takes the measures that one box takes for all.

/**
 * @import { Source } from '../measures/measure.js'
 *
 * @typedef {{ leads: () => boolean, onLead: (step: () => unknown) => void, control: { checkpoint: () => Promise<string | null> } }} Leading
 */

/**
 * Measures while this box leads, and goes on where the one before left off.
 * @param {Source} source
 * @param {Leading} fleet
 * @returns {Source}
 */
export const ledSource = (source, { leads, onLead, control }) => {
  let isStarted = false
  const start = async () => {
    if (isStarted || !leads()) return
    isStarted = true
    await source.start?.()
  }
  onLead(async () => {
    if (isStarted) return
    const text = source.restore && (await control.checkpoint().catch(() => null))
    const state = text && JSON.parse(text).sampler?.state
    if (state) source.restore?.(state)
    await start()
  })
  return {
    ...source,
    start,
    startWindow: () => (isStarted ? source.startWindow?.() : undefined),
    second: () => (isStarted ? source.second() : {}),
    sample: async () => (isStarted ? (source.sample?.() ?? {}) : {}),
    stop: async () => {
      if (isStarted) await source.stop?.()
    },
  }
}
