// The list, and what the HyperLogLog of the minute before counted beside its exact length.
import { number } from './declare.js'
import { list } from './list.js'

/** @param {import('./context.js').ReadContext} context @returns {import('./declare.js').Declaration} */
export const listHll = (context) => {
  const reader = list(context)
  return {
    ...reader,
    asks: (moment) => [
      ...reader.asks(moment),
      number('pfcount', ['PFCOUNT', context.minuteCount(moment.nowMs, 1)]),
    ],
  }
}
