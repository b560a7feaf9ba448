// The answer to TIME.
import { TargetError } from '../base/errors.js'

// The end of the year 9999: further no date is written.
const latestMs = 253_402_300_800_000

/**
 * Epoch milliseconds of an answer to TIME.
 * @param {string} address
 * @param {readonly unknown[]} answer seconds and microseconds
 */
export const epochIn = (address, [seconds, micros]) => {
  const epochMs = Number(seconds) * 1000 + Number(micros) / 1000
  if (!(epochMs >= 0 && epochMs < latestMs))
    throw new TargetError(`${address}: its answer to TIME is not a time`)
  return epochMs
}
