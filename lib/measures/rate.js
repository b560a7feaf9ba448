// The rate of a run: what its schedule asked for, what it achieved, and what consumers read.
import * as S from '../base/shape.js'
import { metric } from './measure.js'
import { section } from './section.js'

const shape = S.object(S.each(['nominal', 'achieved', 'items', 'value_bytes'], S.maybe(S.figure)))

export const rate = section('rate', shape, {
  isNeeded: true,
  empty: { nominal: null, achieved: null },
  metrics: {
    'rate.nominal': metric('target rate', 'rate', 'neither'),
    'rate.achieved': metric('rate achieved', 'rate', 'more'),
  },
})

/** Of consumers. */
export const rateOfReads = {
  ...rate,
  metrics: {},
  empty: Object.fromEntries(Object.keys(shape.properties).map((name) => [name, null])),
}
