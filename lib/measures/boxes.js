// The boxes of a fleet's run: those that wrote, and those that read beside them, with what they measured together.
import * as S from '../base/shape.js'
import { plan } from './head.js'
import { someTimes } from './measure.js'
import { rate } from './rate.js'
import { nestedShapes, section } from './section.js'

/** @import { Schema } from '../base/shape-types.js' */

const box = {
  box: S.whole,
  host: S.text,
  state: S.oneOf('done', 'interrupted', 'lost'),
  clock: S.object(S.each(['offset_ms', 'uncertainty_ms'], S.number)),
  ...S.each(['from_s', 'to_s', 'intervals_lost'], S.number),
  ...S.each(['busy_pct', 'cpu_pct'], S.maybe(S.figure)),
}

export const fleet = section(
  'fleet',
  S.object({
    control: S.text,
    boxes: S.list(
      S.object({
        ...box,
        writers: S.list(S.whole),
        ...S.each(['offered', 'acked'], S.number),
        achieved: S.maybe(S.figure),
        latency_us: S.maybe(someTimes),
      }),
    ),
    start: S.object(S.each(['clock_skew_ms', 'loop_skew_ms'], S.number)),
    absent: S.object(S.each(['items', 'share'], S.number)),
  }),
  {},
)

/** The same, where times may be missing as a whole. @param {Schema} section @returns {Schema} */
const ofSome = ({ properties, ...more }) => ({
  ...more,
  properties: Object.fromEntries(
    Object.entries(properties).map(([name, part]) => [name, part.properties ? S.nullable(part) : part]),
  ),
})

/**
 * Boxes that read, with what consumers have in a run of their own.
 * @param {string} counted what they count
 * @param {readonly { result: Readonly<Record<string, object>> }[]} measures of consumers
 */
export const readersOf = (counted, measures) => {
  const own = nestedShapes(Object.assign({}, ...measures.map(({ result }) => result)), 'object')
  return section(
    'readers',
    S.object({
      plan,
      consumers: S.whole,
      [counted]: ofSome(own[counted]),
      rate: rate.shape,
      freshness_ms: S.maybe(S.nullable(someTimes)),
      replication_ms: S.maybe(S.nullable(someTimes)),
      verify: S.maybe(own.verify),
      client: S.maybe(own.client),
      boxes: S.list(
        S.object({
          ...box,
          readers: S.list(S.whole),
          ...S.each([counted, 'items'], S.number),
          items_per_s: S.maybe(S.figure),
          duration_ms: S.maybe(someTimes),
        }),
      ),
    }),
    {},
  )
}
