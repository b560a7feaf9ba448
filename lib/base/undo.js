// Steps that take back what a piece of work has opened: all of them, whatever becomes of each.

/**
 * Does the work and then its undo steps, the last one first. The first error is thrown, of the work before those of the
 * steps, when all steps are done. A part of the work that goes on after its end, since it was not waited for, is undone at
 * once and ends with an error where it opens something.
 * @template T
 * @param {(undo: (step: () => unknown) => void) => Promise<T>} work
 * @returns {Promise<T>}
 */
export const withUndo = async (work) => {
  /** @type {(() => unknown)[]} */
  const steps = []
  /** @type {unknown[]} */
  const errors = []
  let isOver = false
  const undo = (/** @type {() => unknown} */ step) => {
    if (!isOver) return void steps.unshift(step)
    Promise.resolve()
      .then(step)
      .catch(() => {})
    throw new Error('what this was opened for has ended')
  }
  const result = await work(undo).catch((error) => {
    errors.push(error)
  })
  isOver = true
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
  return /** @type {T} */ (result)
}
