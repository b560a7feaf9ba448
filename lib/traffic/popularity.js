// The popularity of keys: key 1 is the most popular, and every key is drawn. Exact, and without tables, so that a key space
// may have any size.

/** @typedef {{ kind: 'uniform' } | { kind: 'sequential' } | { kind: 'split' } | { kind: 'recent', share: number } | { kind: 'zipf', theta: number } | { kind: 'hot', keys: number, draws: number }} Order */

const words = 2 ** 32

/**
 * `zipf:0.99`: key k as often as k^-0.99. `hot:10%:90%`: the first 10 % of the keys get 90 % of the draws. `recent:10%`: the
 * first 10 % get all of them, each as likely.
 * @param {string} text
 * @returns {Order | undefined}
 */
export const orderOf = (text) => {
  if (text === 'uniform' || text === 'sequential' || text === 'split') return { kind: text }
  const theta = Number(/^zipf:(\d+(?:\.\d+)?)$/.exec(text)?.[1])
  if (theta > 0 && theta <= 10) return { kind: 'zipf', theta }
  const share = Number(/^recent:(\d+(?:\.\d+)?)%$/.exec(text)?.[1])
  if (share > 0 && share <= 100) return { kind: 'recent', share: share / 100 }
  const [keys, draws] = (/^hot:(\d+(?:\.\d+)?)%:(\d+(?:\.\d+)?)%$/.exec(text) ?? []).slice(1).map(Number)
  return keys > 0 && keys < 100 && draws >= 0 && draws <= 100
    ? { kind: 'hot', keys: keys / 100, draws: draws / 100 }
    : undefined
}

/**
 * Rejection-inversion (Hörmann and Derflinger 1996): draws from the curve x^-theta and rejects what lies above the steps.
 * @param {number} count
 * @param {number} theta
 * @param {() => number} next 32 random bits
 * @returns {() => number}
 */
const zipf = (count, theta, next) => {
  const height = (/** @type {number} */ x) => x ** -theta
  const rest = 1 - theta
  // The area of the curve up to x, and back; at theta 1 its limit.
  const isLog = Math.abs(rest) < 1e-6
  const area = (/** @type {number} */ x) => (isLog ? Math.log(x) : (x ** rest - 1) / rest)
  const atArea = (/** @type {number} */ a) => (isLog ? Math.exp(a) : Math.max(0, 1 + a * rest) ** (1 / rest))
  const from = area(1.5) - 1
  const to = area(count + 0.5)
  const surely = 2 - atArea(area(2.5) - height(2))
  return () => {
    for (;;) {
      const a = to + (((next() >>> 0) + 0.5) / words) * (from - to)
      const x = atArea(a)
      const k = Math.max(1, Math.min(count, Math.round(x)))
      if (k - x <= surely || a >= area(k + 0.5) - height(k)) return k
    }
  }
}

/**
 * @param {number} count
 * @param {{ keys: number, draws: number }} shares of the keys, and of the draws that they get
 * @param {() => number} next
 * @returns {() => number}
 */
const hot = (count, { keys, draws }, next) => {
  const some = Math.max(1, Math.min(count - 1, Math.round(count * keys)))
  return () => {
    const share = (next() >>> 0) / words
    if (share < draws || count === 1) return 1 + Math.floor(((next() >>> 0) * some) / words)
    return some + 1 + Math.floor(((next() >>> 0) * (count - some)) / words)
  }
}

/**
 * Numbers 1..count as often as an order says.
 * @param {Exclude<Order, { kind: 'sequential' } | { kind: 'split' }>} order
 * @param {number} count
 * @param {() => number} next 32 random bits
 * @returns {() => number}
 */
export const popularityOf = (order, count, next) => {
  if (order.kind === 'zipf') return zipf(count, order.theta, next)
  if (order.kind === 'hot') return hot(count, order, next)
  const some = order.kind === 'recent' ? Math.max(1, Math.round(count * order.share)) : count
  return () => 1 + Math.floor(((next() >>> 0) * some) / words)
}

// So many terms are added one by one; the others are an integral.
const exactTerms = 1000

/** The sum of k^-theta up to a number. @param {number} theta */
const zipfSums = (theta) => {
  const first = new Float64Array(exactTerms + 1)
  for (let k = 1; k <= exactTerms; k++) first[k] = first[k - 1] + k ** -theta
  const area = (/** @type {number} */ x) =>
    Math.abs(1 - theta) < 1e-6 ? Math.log(x) : (x ** (1 - theta) - 1) / (1 - theta)
  return (/** @type {number} */ k) =>
    k <= exactTerms
      ? first[k]
      : first[exactTerms] + area(k) - area(exactTerms) + (k ** -theta - exactTerms ** -theta) / 2
}

/**
 * The share of the draws of a number, and of all numbers up to it.
 * @param {string} text zipf, hot or uniform
 * @param {number} count
 * @returns {{ of: (k: number) => number, upTo: (k: number) => number }}
 */
export const sharesOf = (text, count) => {
  const order = orderOf(text)
  if (order?.kind === 'zipf') {
    const sum = zipfSums(order.theta)
    const all = sum(count)
    return { of: (k) => k ** -order.theta / all, upTo: (k) => sum(k) / all }
  }
  if (order?.kind === 'hot' && count > 1) {
    const { draws } = order
    const some = Math.max(1, Math.min(count - 1, Math.round(count * order.keys)))
    const [each, other] = [draws / some, (1 - draws) / (count - some)]
    return {
      of: (k) => (k <= some ? each : other),
      upTo: (k) => each * Math.min(k, some) + other * Math.max(0, k - some),
    }
  }
  return { of: () => 1 / count, upTo: (k) => k / count }
}
