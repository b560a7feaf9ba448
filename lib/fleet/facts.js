// Fields of the run's data that are the same on every box: whichever says one first, and again where it is lost.

/** @import { Control } from './control.js' */

/** @param {Pick<Control, 'set'>} control */
export const factsOf = (control) => {
  /** @type {Record<string, string>} */
  const facts = {}
  let isOwed = false
  const tell = async () => {
    isOwed = true
    for (const [field, value] of Object.entries(facts)) await control.set(field, value)
    isOwed = false
  }
  return {
    add: (/** @type {Record<string, string>} */ more) => void Object.assign(facts, more),
    tell,
    /** What an earlier try, or a control that lost its data, left to be said. @param {boolean} isLost */
    async again(isLost) {
      if (isLost || isOwed) await tell().catch(() => {})
    },
  }
}

/** @typedef {ReturnType<typeof factsOf>} Facts */
