// Options that `millrace compare` and `millrace diff` share.

import { plainText } from '../base/units.js'
import { smallestEffect } from '../compare/verdict.js'
import { OptionError } from '../errors.js'
import { thresholdOf } from '../result/thresholds.js'

const text = /** @type {const} */ ({ type: 'string' })

export const gateOptions = { threshold: { ...text, multiple: true }, gate: text, effect: text }

export const gateUsage = `  --threshold LIMIT  'server.cpu_us_per_item<+5%' of the change, or 'latency.intended.p99<20ms' of the mean of
                     the other side; may be repeated. Exit code 99 when one fails: the whole 95 % interval lies
                     beyond it, or it was not measured on both sides. 98 when the interval includes the limit
  --gate lenient     0 instead of 98
  --effect PERCENT   the smallest change that matters: 'no difference beyond' it is shown, not assumed (3)`

/** @param {Record<string, any>} values @returns {{ thresholds: import('../result/thresholds.js').Threshold[], gate: import('../compare/gates.js').Gate, effect: number }} */
export const readGate = ({ threshold = [], gate = 'strict', effect }) => {
  if (gate !== 'strict' && gate !== 'lenient') throw new OptionError('--gate must be strict or lenient')
  const percent =
    effect === undefined ? smallestEffect * 100 : Number(/^(\d+(?:\.\d+)?) ?%?$/.exec(effect)?.[1])
  if (!(percent > 0 && percent <= 100))
    throw new OptionError(
      `--effect ${plainText(String(effect)).slice(0, 40)}: must be a percentage above 0 and up to 100`,
    )
  return { thresholds: threshold.map(thresholdOf), gate, effect: percent / 100 }
}
