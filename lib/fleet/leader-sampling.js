// What one box of a fleet does for all, while it leads: it takes the measures that one box takes for all.

/**
 * @import { Source } from '../measures/measure.js'
 * @import { Control } from './control.js'
 *
 * @typedef {{ leads: () => boolean, control: Pick<Control, 'read' | 'checkpoint'> }} Leading
 */

const entriesARead = 400

/**
 * What the last leader knew of the nodes: after the last of its seconds that was sent, be it folded yet or not, so that
 * the next difference begins where those of the result end. The stream is read before the checkpoint, since what is
 * folded meanwhile leaves the stream for the checkpoint.
 * @param {Leading['control']} control
 */
const lastState = async (control) => {
  /** @type {{ at_ms: number, state: object } | null} */
  let newest = null
  const take = (/** @type {typeof newest} */ one) => {
    if (one?.state && one.at_ms >= (newest?.at_ms ?? 0)) newest = one
  }
  for (let from = '0-0', isMore = true; isMore; ) {
    const entries = await control.read(from, entriesARead)
    for (const [, text] of entries) {
      // To decode what 200 boxes sent takes the sending thread's time.
      if (!text.includes('"sampler":')) continue
      const { at_ms, sampler } = JSON.parse(text)
      take({ at_ms, state: sampler })
    }
    from = entries.at(-1)?.[0] ?? from
    isMore = entries.length === entriesARead
  }
  const text = await control.checkpoint()
  if (text) take(JSON.parse(text).sampler)
  return /** @type {{ state: object } | null} */ (newest)?.state
}

/**
 * Measures while this box leads, and goes on where the one before left off. A control that does not answer is asked again
 * each second: what is measured without the last answers would leave a gap, or count twice.
 * @param {Source} source
 * @param {Leading} fleet
 * @returns {Source}
 */
export const ledSource = (source, { leads, control }) => {
  let isStarted = false
  let isLed = false
  let isStopped = false
  /** @type {Promise<void> | null} */
  let taking = null
  const takeOver = async () => {
    const state = source.restore && (await lastState(control))
    if (isStopped || !leads()) return
    if (state) source.restore?.(state)
    if (!isStarted) await source.start?.()
    isStarted = true
    isLed = true
  }
  /** Whether this box measures now. */
  const isLeading = () => {
    isLed &&= leads()
    if (!isLed && !isStopped && leads())
      taking ??= takeOver()
        .catch(() => {})
        .finally(() => {
          taking = null
        })
    return isLed
  }
  return {
    ...source,
    start: async () => {
      isLeading()
      await taking
    },
    startWindow: () => (isLeading() ? source.startWindow?.() : undefined),
    second: () => {
      // What was measured while another box led is in no second.
      const second = isStarted ? source.second() : {}
      return isLeading() ? second : {}
    },
    /** On a box that does not measure yet it would be that of a server that was never asked. */
    state: () => (isLed ? source.state?.() : undefined),
    sample: async () => (isLeading() ? (source.sample?.() ?? {}) : {}),
    stop: async () => {
      isStopped = true
      await taking
      if (isStarted) await source.stop?.()
    },
  }
}
