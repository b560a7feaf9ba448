// How replies become ids, scores and values, by the shape that a reader names.
import { scoreIn } from '../wire/id-list.js'

/**
 * @import { IdList } from '../wire/id-list.js'
 * @import { ReplySink } from '../wire/values.js'
 * @import { BoundAsk } from './bind/reader.js'
 * @import { Shape } from './declare.js'
 *
 * @typedef {object} ValueSink takes the values of a fetch; bytes are a view that is used again after the call
 * @property {(i: number, bytes: Buffer, from: number, to: number) => void} value of the i-th id of the list; -1:
 *   the value is the item, there is no id
 * @property {(i: number) => void} nil there is none
 *
 * @typedef {object} Collector what the replies of one attempt are put into
 * @property {IdList} list
 * @property {ValueSink} values
 * @property {number} limit items of a fetch; 0 = all
 * @property {(name: string, n: number) => void} number
 * @property {(score: number) => void} newest
 * @property {(line: string) => void} refused
 */

const nothing = () => {}

/** @param {Collector} collector @returns {ReplySink} */
const silent = ({ refused }) => ({
  open: nothing,
  bulk: nothing,
  number: nothing,
  nil: nothing,
  error: refused,
})

/** @type {Readonly<Record<Shape, (collector: Collector) => ReplySink>>} */
const sinks = {
  members: (collector) => ({
    ...silent(collector),
    bulk: (bytes, from, to) => {
      collector.list.add(bytes, from, to)
    },
  }),

  scored: (collector) => {
    const { list } = collector
    let isScore = false
    let last = -1
    return {
      ...silent(collector),
      bulk: (bytes, from, to) => {
        if (isScore) {
          const score = scoreIn(bytes, from, to)
          if (last >= 0) list.setScore(last, score)
          collector.newest(score)
        } else last = list.add(bytes, from, to)
        isScore = !isScore
      },
    }
  },

  values: (collector) => ({
    ...silent(collector),
    bulk: (bytes, from, to) => collector.values.value(-1, bytes, from, to),
  }),

  'scored-values': (collector) => {
    let isScore = false
    return {
      ...silent(collector),
      bulk: (bytes, from, to) => {
        if (isScore) collector.newest(scoreIn(bytes, from, to))
        else collector.values.value(-1, bytes, from, to)
        isScore = !isScore
      },
    }
  },

  pairs: (collector) => {
    let isValue = false
    let last = -1
    return {
      ...silent(collector),
      bulk: (bytes, from, to) => {
        const { list, limit } = collector
        // Whole buckets come: what is above the limit is left out.
        if (!isValue) last = limit > 0 && list.count >= limit ? -1 : list.add(bytes, from, to)
        else if (last >= 0) collector.values.value(last, bytes, from, to)
        isValue = !isValue
      },
    }
  },

  // [[entry id, ['id', item, 'value', value]], ...]; the entry's id begins with its time.
  entries: (collector) => {
    const { list } = collector
    let part = 0
    let time = 0
    let last = -1
    return {
      ...silent(collector),
      open: (_, depth) => {
        if (depth === 1) part = 0
      },
      bulk: (bytes, from, to) => {
        if (part === 0) {
          time = scoreIn(bytes, from, bytes.indexOf(45, from))
          collector.newest(time)
        } else if (part === 2) {
          last = list.add(bytes, from, to)
          if (last >= 0) list.setScore(last, time)
        } else if (part === 4 && last >= 0) collector.values.value(last, bytes, from, to)
        part++
      },
    }
  },

  script: (collector) => {
    const { list, values } = collector
    let part = 0
    let last = -1
    return {
      ...silent(collector),
      number: (n) => collector.number('cardinality', n),
      bulk: (bytes, from, to) => {
        if (part === 0) last = list.add(bytes, from, to)
        else if (part === 1) {
          const score = scoreIn(bytes, from, to)
          list.setScore(last, score)
          collector.newest(score)
        } else values.value(last, bytes, from, to)
        part = (part + 1) % 3
      },
      nil: () => {
        values.nil(last)
        part = 0
      },
    }
  },
}

/** A set's newest member and its score. @param {Collector} collector @returns {ReplySink} */
const newestSink = (collector) => {
  let isScore = false
  return {
    ...silent(collector),
    bulk: (bytes, from, to) => {
      if (isScore) collector.newest(scoreIn(bytes, from, to))
      isScore = !isScore
    },
  }
}

/** @param {BoundAsk} ask @param {Collector} collector @returns {ReplySink} */
export const sinkOf = (ask, collector) => {
  if (ask.kind === 'ids') return sinks[ask.shape](collector)
  if (ask.kind === 'newest') return newestSink(collector)
  return { ...silent(collector), number: (n) => collector.number(ask.name, n) }
}

/**
 * Which ids are the newest so many over all sets, newest first; null: all of them, in the order they came.
 * @param {Pick<IdList, 'count' | 'scoreOf'>} list
 * @param {number} limit 0 = all
 * @returns {Uint32Array | null}
 */
export const newestOf = (list, limit) => {
  const { count } = list
  if (limit === 0 || count <= limit) return null
  const places = Uint32Array.from({ length: count }, (_, i) => i)
  // Without scores those that came first: a set has no order.
  places.sort((a, b) => list.scoreOf(b) - list.scoreOf(a) || a - b)
  return places.subarray(0, limit)
}
