// Operations that a client sent in bundles, each when the one before it was answered: what their time was spent on, the delay of
// a proxy between, and what the counters hold.

import * as S from '../base/shape.js'
import { exactly } from '../base/typed.js'
import { count, facts, micros, percent, period } from '../base/units.js'
import { metric } from './measure.js'
import { section } from './section.js'

/** @import { Shaped } from '../base/shape-types.js' */

const parts = exactly(['waiting', 'preparing', 'sending', 'parsing', 'other'])
const time = S.object(S.each(['whole', ...parts], S.maybe(S.figure)))
const delay = S.object(S.each(['asked', 'direct', 'proxy', 'added', 'busy_ms', 'lost'], S.number))
const sum = S.object(S.each(['before', 'after', 'acked', 'uncertain', 'different'], S.number))

// As a part of the delay that was asked for.
const mostOff = 0.1

/** @param {Shaped<typeof time>} spent */
const timeWords = ({ whole, ...others }) => {
  const words = Object.entries(others).flatMap(([name, ms]) =>
    ms === null ? [] : `${percent((ms / (whole ?? 0)) * 100)} ${name}`,
  )
  return `${micros((whole ?? 0) * 1000)}: ${words.join(', ')}`
}

/** @param {Shaped<typeof delay>} of */
const delayWords = ({ asked, direct, proxy, added, lost }) =>
  facts([
    `${micros(added * 1000)} added by the proxy (${period(asked)} asked for)`,
    `${micros(direct * 1000)} without it`,
    `the proxy itself takes ${micros(proxy * 1000)}`,
    lost > 0 && `${count(lost)} replies lost by it`,
  ])

/** @param {Shaped<typeof sum>} of */
const sumWords = ({ before, after, acked, uncertain }) => {
  const grown = after - before
  const whole = `the counters grew by ${count(grown)}`
  if (uncertain === 0) return `${whole}, ${count(acked)} increments acknowledged`
  return `${whole}: ${count(acked)} increments acknowledged, ${count(grown - acked)} of ${count(uncertain)} uncertain ones done`
}

export const bundles = section(
  'bundles',
  S.nullable(
    S.object({
      delivery: S.oneOf('one', 'pipeline', 'concurrent', 'call', 'transaction'),
      ...S.each(['size', 'calls'], S.number),
      time_ms: S.maybe(S.nullable(time)),
      delay: S.maybe(S.nullable(delay)),
      sum: S.maybe(S.nullable(sum)),
    }),
  ),
  {
    metrics: {
      'bundles.time_ms.whole': metric('time of all increments', 'ms'),
      ...Object.fromEntries(
        parts.map((part) => [
          `bundles.time_ms.${part}`,
          metric(`${part}, of the time of all increments`, 'ms'),
        ]),
      ),
      'bundles.calls': metric('round trips of bundles', 'count'),
      'bundles.delay.added': metric('round trip added by the proxy', 'ms', 'neither'),
      'bundles.delay.proxy': metric('round trip that the proxy itself takes', 'ms', 'neither'),
    },
    rows: ({ time_ms: spent, delay: added, sum: held }) => ({
      time: spent && timeWords(spent),
      'round trip': added && delayWords(added),
      sum: held && sumWords(held),
    }),
    // Counters that do not hold what was acknowledged are an error, so the sum is in the details.
    brief: ({ time_ms: spent }) => ({ time: spent && timeWords(spent) }),
    reasons: ({ delay: found }) => ({
      delay:
        found &&
        found.asked !== 0 &&
        Math.abs(found.added - found.asked) > found.asked * mostOff &&
        `the proxy added ${micros(found.added * 1000)} to a round trip, not ${micros(found.asked * 1000)}: its own way takes ${micros(found.proxy * 1000)} here; ask for a longer --with delay, or end other processes`,
    }),
  },
)
