// Twenty workloads of `millrace choose`, of two to five candidates, and what a choice costs beside the best one. Pure.
import { median } from 'simple-statistics'
import { alignedTable } from '../../lib/base/layout.js'

/**
 * @typedef {object} Workload
 * @property {string} id
 * @property {string} options of millrace choose
 * @property {string} [server] that of PATH by default; fields with a ttl need a later one
 *
 * @typedef {object} Line one workload in the file of results
 * @property {string} id
 * @property {string} options
 * @property {string} started
 * @property {{ millrace: string, node: string, servers: string[] }} versions
 * @property {string} hardware
 * @property {number} rate at which the candidates ran
 * @property {string} state
 * @property {string} chosen
 * @property {{ name: string, place: string, ratio: number | null, low: number | null, high: number | null }[]} candidates
 * @property {number} choose_s
 * @property {number} runs
 * @property {number} lost runs of the long measurement that do not count
 * @property {{ round: number, candidate: string, cost: number, cpu: number | null, memory: number | null, network: number | null }[]} long
 *   runs of it that count
 */

// Of the candidates of these, one is hash-ttl.
const onLater = new Set([
  'values-10k',
  'unique-values-20k',
  'reads-memory-20k',
  'memory-10k',
  'short-5k',
  'spread-10k',
  'small-batches-20k',
])

/** @type {readonly Workload[]} */
export const workloads = Object.entries({
  'newest-50k': '--rate 50k --value-size 200B --strategy sorted-set,list,stream,actual-value,hash',
  'exact-20k': '--need newest-n,exact-expiry --rate 20k --value-size 200B',
  'by-length-20k': '--need newest-n,expiry-by-length --rate 20k --value-size 1kB',
  'values-10k': '--need values-included --rate 10k --value-size 2kB',
  'values-newest-30k': '--need values-included,newest-n --rate 30k --value-size 100B',
  'retry-10k': '--need newest-n,safe-to-retry --rate 10k --value-size 64B --ttl 30s',
  'unique-values-20k': '--need unique-ids,values-included --rate 20k --value-size 500B',
  'any-50k': '--rate 50k --value-size 32B --strategy list,set,stream',
  'list-set-40k': '--rate 40k --value-size 1kB --ttl 30s --strategy list,set',
  'reads-10k':
    '--need newest-n --rate 10k --value-size 200B --fetch-rate 10 --strategy sorted-set,list,stream',
  'reads-memory-20k':
    '--rate 20k --value-size 128B --fetch-rate 5 --limit 100 --weigh cpu=1,memory=0.5 --strategy list,actual-value,hash-ttl',
  'memory-10k': '--rate 10k --value-size 64B --weigh memory=1 --strategy sorted-set,list,set,stream,hash-ttl',
  'network-20k':
    '--rate 20k --value-size 300B --weigh cpu=1,network=1 --strategy sorted-set,list,stream,actual-value',
  'large-5k': '--need newest-n --rate 5k --value-size 4kB --strategy sorted-set,list,actual-value,stream',
  'short-5k': '--rate 5k --value-size 16B --ttl 10s --strategy set,hash-ttl,list',
  'popular-20k': '--rate 20k --value-size 200B --popularity zipf:0.99 --strategy sorted-set,list,hash,stream',
  'poisson-20k': '--rate 20k --value-size 200B --arrivals poisson --strategy sorted-set,list,stream',
  'spread-10k':
    '--need values-included --rate 10k --value-size lognormal:p50=200B,p99=4kB --strategy hash-ttl,stream',
  'scripts-30k': '--need exact-expiry --rate 30k --value-size 128B --strategy sorted-set,script-batch',
  'small-batches-20k':
    '--rate 20k --value-size 128B --max-members 100 --strategy sorted-set,actual-value,set,hash-ttl,list',
}).map(([id, options]) => ({ id, options, ...(onLater.has(id) && { server: 'redis-8.2' }) }))

/** Of a to b: the geometric mean of the ratios within the rounds that both have. @param {Line['long']} long @param {string} a @param {string} b */
export const ratioOfCosts = (long, a, b) => {
  const of = (/** @type {string} */ name) =>
    new Map(long.filter(({ candidate }) => candidate === name).map(({ round, cost }) => [round, cost]))
  const others = of(b)
  const logs = [...of(a)].flatMap(([round, cost]) => {
    const other = others.get(round)
    return other === undefined ? [] : [Math.log(cost / other)]
  })
  return logs.length === 0 ? null : Math.exp(logs.reduce((sum, one) => sum + one, 0) / logs.length)
}

/** What the chosen one costs beside the best, both by the long measurement. @param {Line} line */
export const regretOf = ({ candidates, chosen, long }) =>
  candidates.reduce(
    (found, { name }) => {
      const regret = ratioOfCosts(long, chosen, name) ?? 0
      return regret > found.regret ? { best: name, regret } : found
    },
    { best: chosen, regret: 1 },
  )

/** @param {readonly Line[]} lines */
export const barsOf = (lines) => {
  const regrets = lines.map((line) => regretOf(line).regret)
  return {
    workloads: lines.length,
    median: median(regrets),
    worst: Math.max(...regrets),
    longestS: Math.max(...lines.map(({ choose_s: took }) => took)),
  }
}

/** @param {readonly Line[]} lines */
export const barsLines = (lines) => {
  if (lines.length === 0) return []
  const { workloads: count, median: middle, worst, longestS } = barsOf(lines)
  return [
    ...alignedTable(
      [
        { title: 'workload', left: true, cell: ({ id }) => id },
        { title: 'candidates', cell: ({ candidates }) => String(candidates.length) },
        { title: 'state', left: true, cell: ({ state }) => state },
        { title: 'chosen', left: true, cell: ({ chosen }) => chosen },
        { title: 'best', left: true, cell: (line) => regretOf(line).best },
        { title: 'regret', cell: (line) => regretOf(line).regret.toFixed(3) },
        { title: 's', cell: ({ choose_s: took }) => took.toFixed(0) },
      ],
      [...lines],
      120,
    ),
    `${count} workloads: regret ${middle.toFixed(3)} at the median, ${worst.toFixed(3)} at most; ${longestS.toFixed(0)} s at most`,
  ]
}

/**
 * @typedef {object} Alike a choice between a server and a copy of it
 * @property {string} id
 * @property {string} options
 * @property {string} state
 * @property {boolean} apart one of them is said to cost more
 * @property {number} rounds
 * @property {number | null} ratio
 */

/** The highest rate at which so few or fewer of n happen in one of twenty cases. @param {number} few @param {number} n */
const upperRate = (few, n) => {
  /** @param {number} p */
  const atMostFew = (p) => {
    let term = (1 - p) ** n
    let sum = term
    for (let k = 1; k <= few; k++) {
      term *= ((n - k + 1) / k) * (p / (1 - p))
      sum += term
    }
    return sum
  }
  let [low, high] = [0, 1]
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2
    if (atMostFew(middle) > 0.05) low = middle
    else high = middle
  }
  return high
}

/** @param {readonly Alike[]} series */
export const alikeLine = (series) => {
  const apart = series.filter((one) => one.apart).length
  return `${apart} of ${series.length} choices between a server and a copy of it name a difference: with 95 % confidence at most ${(100 * upperRate(apart, series.length)).toFixed(1)} % do`
}
