// A series: several runs that answer one question. Its order yields the next run and receives what it came to, until it has the
// answer. Each run is stored before the next, so a series can go on where it stopped.

/**
 * @template Turn, Answer, Told
 * @template {Told} Result
 * @param {object} needs
 * @param {Generator<Turn, Answer, Told> | AsyncGenerator<Turn, Answer, Told>} needs.order
 * @param {(turn: Turn) => Promise<Result | null>} needs.play null: it came to nothing, which ends the series
 * @param {{ add: (turn: Turn, result: Result) => unknown, drop?: (turn: Turn) => unknown }} needs.store drop: of a turn that came to nothing or was interrupted
 * @param {AbortSignal} needs.stop
 * @returns {Promise<Answer | null>} null: it has ended before its answer
 */
export const series = async ({ order, play, store, stop }) => {
  let step = await order.next()
  while (!step.done) {
    const turn = step.value
    if (stop.aborted) return null
    const result = await play(turn)
    if (result === null || stop.aborted) {
      await store.drop?.(turn)
      return null
    }
    await store.add(turn, result)
    step = await order.next(result)
  }
  return step.value
}

const slowerBy = 0.6
const slowerAttempts = 3

/**
 * Plays at a part of the rate, and again at a lower one while the client is the limit.
 * @template Found
 * @param {object} needs
 * @param {number} [needs.factor] the part of the rate to begin with
 * @param {(factor: number, mayBeSlower: boolean) => Promise<Found>} needs.play
 * @param {(found: Found) => boolean} needs.isLimited
 * @param {(factor: number) => void} needs.onSlower
 */
export const slowerWhileLimited = async ({ factor = 1, play, isLimited, onSlower }) => {
  let rate = factor
  for (let left = slowerAttempts; ; left--) {
    const found = await play(rate, left > 0)
    if (left === 0 || !isLimited(found)) return found
    rate *= slowerBy
    onSlower(rate)
  }
}
