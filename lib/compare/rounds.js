// Turns of a runner as the rounds of a comparison. Pure.

/**
 * @import { TurnResult } from '../experiments/summary.js'
 * @import { Round } from './comparison.js'
 */

/**
 * Rounds of two sides whose runs are valid and at one rate, the lowest that any side had: CPU per item varies with the rate.
 * Without two valid rounds all count, and the comparison is not valid.
 * @param {readonly TurnResult[]} turns in the order in which they ran
 * @param {readonly [string, string]} [sides] cells; others than these two are left out
 */
export const roundsOf = (turns, [idA, idB] = ['a', 'b']) => {
  const factor = Math.min(1, ...turns.filter(({ legs }) => legs.length > 0).map((turn) => turn.factor))
  const numbers = [...new Set(turns.map(({ round }) => round))].sort((a, b) => a - b)
  /** @type {(Round & { valid: boolean })[]} */
  const all = []
  /** @type {{ code: string, message: string }[]} */
  const lost = []
  for (const round of numbers) {
    const own = turns.filter((turn) => turn.round === round && [idA, idB].includes(turn.cell))
    const [a, b] = [idA, idB].map((cell) => own.find((turn) => turn.cell === cell))
    if (!a || !b) continue
    const without = [a, b].find(({ legs }) => legs.length === 0)
    if (without) {
      const why = without.skipped ?? without.failed
      lost.push({
        code: 'no-result',
        message: `round ${round}: ${without.cell.toUpperCase()} came to no result: ${why}`,
      })
    } else if (a.factor !== factor || b.factor !== factor)
      lost.push({
        code: 'rate',
        message: `round ${round} ran at a higher rate than the others and does not count`,
      })
    else
      all.push({
        round,
        first: own[0] === a ? 'a' : 'b',
        a: a.legs[0].figures,
        b: b.legs[0].figures,
        valid: a.legs[0].valid && b.legs[0].valid,
      })
  }
  const valid = all.filter((round) => round.valid)
  const counted = valid.length > 1 ? valid : all
  const invalid = all.length - valid.length
  const reasons = [
    ...new Set(
      turns
        .filter(({ cell }) => cell === idA || cell === idB)
        .flatMap(({ legs }) => legs.flatMap((leg) => (leg.valid ? [] : leg.reasons))),
    ),
  ]
  return {
    rounds: /** @type {Round[]} */ (counted),
    isValid: valid.length > 1,
    factor,
    warnings: [
      ...lost,
      ...(factor < 1
        ? [
            {
              code: 'slower',
              message: `the load generator was the limit, so all sides ran at ${+(factor * 100).toFixed(1)} % of the rate`,
            },
          ]
        : []),
      ...(invalid > 0
        ? [
            {
              code: 'invalid',
              message: `${invalid} of ${all.length} rounds not valid (${reasons.join(', ')})${valid.length > 1 ? '; they do not count' : ''}`,
            },
          ]
        : []),
    ],
  }
}
