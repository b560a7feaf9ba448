// What an own model counts of its replies, by the names that its commands give: replies of a kind, and the numbers in
// them. A line has the numbers' sum, and how many were each, of three digits.
import { count, percent } from '../base/units.js'
import { counts } from './fields.js'
import { counter, figure, measure, metric, per, ranked } from './measure.js'

/** @import { Run } from './section.js' */

const ranks = { p50: 0.5, p90: 0.9, p99: 0.99, p999: 0.999, max: 1 }

/** @typedef {{ counts?: Readonly<Record<string, string>>, number?: string }} Counted of a command */

export const replies = measure({
  name: 'replies',
  of: ['writers'],
  record: { 'replies.counts': counts(), 'replies.numbers': counts() },
  by: 'each',
  applies: ({ model }) => model?.replies?.length > 0,

  open() {
    let sums = noSums()
    return {
      /** @param {Counted} command @param {number | string | null | undefined} reply a list is undefined */
      replied({ counts: names, number }, reply) {
        const name = names?.[kindOf(reply)]
        if (name !== undefined) sums.counts[name] = (sums.counts[name] ?? 0) + 1
        const n = reply === null || reply === '' ? Number.NaN : Number(reply)
        if (number === undefined || !Number.isFinite(n)) return
        sums.numbers[number] ??= { sum: 0, count: 0, of: {} }
        const known = sums.numbers[number]
        const about = Number(n.toPrecision(3))
        known.sum += n
        known.count++
        known.of[about] = (known.of[about] ?? 0) + 1
      },
      second() {
        const { counts: found, numbers } = sums
        sums = noSums()
        return { 'replies.counts': found, 'replies.numbers': numbers }
      },
    }
  },

  summary({ window }) {
    const [found, numbers] = [window['replies.counts'], window['replies.numbers']]
    if (found === null && numbers === null) return {}
    const all = Object.entries(numbers ?? {}).map(([name, known]) => [name, numberOf(known)])
    return { replies: { counts: found ?? {}, numbers: Object.fromEntries(all) } }
  },
  result: {
    replies: {
      type: 'object',
      properties: {
        counts: { type: 'object', additionalProperties: { type: 'number' } },
        numbers: {
          type: 'object',
          additionalProperties: {
            type: 'object',
            properties: Object.fromEntries(
              ['count', 'mean', ...Object.keys(ranks)].map((name) => [name, figure]),
            ),
            required: ['count', 'mean'],
          },
        },
      },
      required: ['counts', 'numbers'],
    },
  },
  metrics: {},
  /** The names are the model's. */
  named(name) {
    const [, of, part] =
      /^replies\.(?:counts\.([a-z]\w*)|numbers\.([a-z]\w*\.(?:count|mean|p50|p90|p99|p999|max)))$/.exec(
        name,
      ) ?? []
    if (of) return metric(`replies: ${of}`, 'count', 'neither')
    return part ? metric(`replies: ${part.replace('.', ' ')}`, 'count', 'neither') : null
  },
  namesIn: ({ replies: found }) =>
    found
      ? [
          ...Object.keys(found.counts).map((name) => `replies.counts.${name}`),
          ...Object.entries(found.numbers).flatMap(([name, known]) =>
            Object.keys(known).map((part) => `replies.numbers.${name}.${part}`),
          ),
        ]
      : [],
  prometheus: [
    { ...counter('replies_total', 'replies of an own model, by its names', 'replies.counts'), by: 'reply' },
    ...['sum', 'count'].map((of) => ({
      ...counter(`reply_number_${of}`, `numbers in replies of an own model: their ${of}`, 'replies.numbers'),
      by: 'reply',
      of,
    })),
  ],
  answers: { brief: (run) => rowsOf(run).slice(0, 1), beside: rowsOf },
})

/** @param {number} n */
function shown(n) {
  return Number.isInteger(n) ? count(n) : String(Number(n.toPrecision(3)))
}

function noSums() {
  return {
    /** @type {Record<string, number>} */
    counts: {},
    /** @type {Record<string, { sum: number, count: number, of: Record<string, number> }>} */
    numbers: {},
  }
}

/** @param {number | string | null | undefined} reply */
function kindOf(reply) {
  if (reply === null) return 'nil'
  if (typeof reply === 'string') return 'bulk'
  return reply === 0 ? 'zero' : reply === 1 ? 'one' : 'other'
}

/** @param {{ sum: number, count: number, of: Record<string, number> }} known */
function numberOf({ sum, count: all, of: times }) {
  const at = ranked(times)
  const found = Object.entries(ranks).map(([name, rank]) => [name, at(rank)])
  return { count: all, mean: per(sum, all), ...Object.fromEntries(found) }
}

/** @param {Run} run */
function rowsOf({ replies: found }) {
  if (!found) return []
  const all = Object.entries(found.counts)
  const total = all.reduce((sum, [, n]) => sum + n, 0)
  const shares = all.map(
    ([name, n]) => `${name} ${count(n)}${all.length > 1 ? ` (${percent((n / total) * 100)})` : ''}`,
  )
  const numbers = Object.entries(found.numbers).map(
    ([name, { mean, p50, p99, max }]) =>
      `${name} p50 ${shown(p50)}, p99 ${shown(p99)}, max ${shown(max)}, mean ${shown(mean)}`,
  )
  const texts = [...(shares.length > 0 ? [shares.join(', ')] : []), ...numbers]
  return texts.map((text, i) => ({ label: i === 0 ? 'replies' : '', text }))
}
