// What happens in a run beside its figures: each event with its moment.

// A server's words may be long.
const longestEvent = 300

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
