// Steps that take back what a piece of work has opened: all of them, whatever becomes of each.

/**
 * Does the work and then its undo steps, the last one first. The first error is thrown, of the work before those of the
 * steps, when all steps are done.
 * @template T
 * @param {(undo: (step: () => unknown) => void) => Promise<T>} work
 * @returns {Promise<T>}
 */
export const withUndo = async (work) => {
  /** @type {(() => unknown)[]} */
  const steps = []
  /** @type {unknown[]} */
  const errors = []
  const result = await work((step) => steps.unshift(step)).catch((error) => {
    errors.push(error)
  })
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
