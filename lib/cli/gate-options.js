// Options that `millrace compare` and `millrace diff` share.

import { ownOptions } from '../../settings.js'
import { OptionError } from '../base/errors.js'
import { plainText } from '../base/units.js'
import { thresholdOf } from '../result/thresholds.js'
import { smallestEffect } from '../result/verdict.js'

/** @import { Gate } from '../compare/gates.js' */

// biome-ignore format: a table, an option a row
export const gateOptions = ownOptions('Verdict', [
  { name: 'threshold', type: 'text', place: 'LIMIT', repeatable: ',',
    brief: "exit code 99 if it fails: 'server.cpu_us_per_item<+5%'",
    help: "'server.cpu_us_per_item<+5%' of the change, or 'latency.p99<20ms' of the mean of the other side; may be repeated. Exit code 99 when one fails: the whole 95 % interval lies beyond it. 98 when the interval includes the limit, or it was not measured on both sides" },
  { name: 'gate', type: 'choice', choices: ['strict', 'lenient'], default: 'strict', help: 'lenient: exit code 0 instead of 98' },
  { name: 'effect', type: 'text', place: 'PERCENT', otherwise: String(smallestEffect * 100),
    help: "the smallest change that matters: 'no difference beyond' it is shown, not assumed" },
])

/** @param {{ threshold?: string, gate: Gate, effect?: string }} settings */
export const readGate = ({ threshold, gate, effect }) => {
  const percent =
    effect === undefined ? smallestEffect * 100 : Number(/^(\d+(?:\.\d+)?) ?%?$/.exec(effect)?.[1])
  if (!(percent > 0 && percent <= 100))
    throw new OptionError(
      `--effect ${plainText(String(effect)).slice(0, 40)}: must be a percentage above 0 and up to 100`,
    )
  const thresholds = threshold === undefined ? [] : threshold.split(',').map(thresholdOf)
  return { thresholds, gate, effect: percent / 100 }
}
