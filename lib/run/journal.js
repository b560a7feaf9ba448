// What happens in a run beside its figures: each event with its moment.

// A server's words may be long.
const longestEvent = 300

const repeatedMs = 10_000

/**
 * The same words again within ten seconds are counted, and said with the next ones.
 * @param {(kind: string, text: string) => void} event
 * @param {() => number} elapsed
 */
export const withoutRepeats = (event, elapsed) => {
  /** @type {Map<string, { shownMs: number, times: number }>} */
  const known = new Map()
  return (/** @type {string} */ kind, /** @type {string} */ text) => {
    const key = `${kind} ${text}`
    const last = known.get(key)
    if (last && elapsed() - last.shownMs < repeatedMs) {
      last.times++
      return
    }
    known.set(key, { shownMs: elapsed(), times: 0 })
    event(kind, last && last.times > 0 ? `${text} (${last.times} more times)` : text)
  }
}

/**
 * @param {object} needs
 * @param {() => number} needs.elapsed
 * @param {(line: object) => void} needs.write
 * @param {(kind: string, text: string) => void} needs.tell the screen
 */
export const journalOf = ({ elapsed, write, tell }) => {
  /** @type {{ at_ms: number, kind: string, text: string }[]} */
  const events = []
  const note = (/** @type {string} */ kind, /** @type {string} */ text) => {
    const entry = { at_ms: Math.round(elapsed()), kind, text: text.slice(0, longestEvent) }
    events.push(entry)
    write({ epoch_ms: Date.now(), ...entry })
  }
  return {
    events,
    note,
    /** Noted, and shown on the screen. @param {string} kind @param {string} text */
    event(kind, text) {
      note(kind, text)
      tell(kind, text.slice(0, longestEvent))
    },
  }
}
