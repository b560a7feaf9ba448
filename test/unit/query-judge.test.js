// Whether answers are right: against the same query by the plainest possible means, and in every version that a document
// may have had meanwhile.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { documentsOf, statuses } from '../../lib/workloads/query/documents.js'
import { answerVerifierOf, queriesOf } from '../../lib/workloads/query/fields.js'

const count = 400
/** @import { SortBy } from '../../lib/workloads/query/fields.js' */
const numbers = Array.from({ length: count }, (_, i) => i + 1)

/** @param {Partial<{ sortBy: SortBy, limit: number, offset: number, share: number }>} [more] */
const judging = ({ sortBy = 'created', limit = 5, offset = 0, share = 0.1 } = {}) => {
  const documents = documentsOf({ seed: 3, count })
  const columns = documents.columns()
  const queries = queriesOf(columns, { count, queries: 20, share, seed: 3 })
  const versions = new Uint32Array(count + 1)
  const judge = answerVerifierOf({ documents, columns, queries }, versions, { sortBy, limit, offset })
  /** Whether a document is what a query asks for. @param {number} q @param {any} one */
  const isIn = (q, { status, price }) => {
    const asked = queries[q - 1]
    return status === asked.status && price !== undefined && price >= asked.min && price <= asked.max
  }
  /** All that match, in order, from the documents as JSON. @param {number} q @param {(n: number) => number} [versionOf] */
  const matching = (q, versionOf = () => 0) =>
    numbers
      .map((n) => JSON.parse(JSON.stringify(documents.document(n, versionOf(n)))))
      .filter((one) => isIn(q, one))
      .sort((a, b) => a.created - b.created)
      .map(({ id }) => id)
  /** @param {number} q @param {readonly number[]} ids */
  const verdict = (q, ids, fromMs = 0, toMs = 1) => judge.verify(q, [...ids], fromMs, toMs)
  return { documents, judge, verdict, isIn, matching, versions }
}

test('documents are the same for a seed, skewed as stated, and differ in what must differ', () => {
  const { document, columns } = documentsOf({ seed: 1, count: 20_000 })
  assert.deepEqual(document(7), documentsOf({ seed: 1, count: 20_000 }).document(7))
  assert.notDeepEqual(document(7), documentsOf({ seed: 2, count: 20_000 }).document(7))
  const { status, price, created, rating } = columns()
  const all = Array.from({ length: 20_000 }, (_, i) => i + 1)
  const share = (/** @type {(n: number) => boolean} */ is) => all.filter(is).length / 20_000
  for (const [i, stated] of [0.62, 0.2, 0.12, 0.06].entries())
    assert.ok(Math.abs(share((n) => status[n] === i) - stated) < 0.01, statuses[i])
  assert.ok(Math.abs(share((n) => price[n] < 0) - 0.02) < 0.005)
  assert.ok(Math.abs(share((n) => rating[n] === 0) - 0.1) < 0.01)
  assert.ok(Math.abs(share((n) => price[n] >= 2500) - 0.49) < 0.02)
  assert.equal(new Set(created.subarray(1)).size, 20_000)
  const whole = all.slice(0, 200).filter((n) => Object.keys(document(n)).length === 12)
  assert.ok(whole.length > 80, 'most have all of their 12 fields')
  assert.equal(document(5, 3).version, 3)
  assert.equal(document(5, 3).created, document(5).created)
})

test('queries match the stated share, as far as a status has so many documents', () => {
  const { columns } = documentsOf({ seed: 1, count: 10_000 })
  for (const share of [0.0001, 0.01, 0.1, 0.5]) {
    const queries = queriesOf(columns(), { count: 10_000, queries: 30, share, seed: 1 })
    const [least, most] = [10_000 * share, 10_000 * share * 1.05 + 20]
    // Equal prices at a bound are in it.
    for (const { matches } of queries)
      assert.ok(matches >= least && matches <= most, `${matches} of ${share}`)
  }
})

test('the right page is right; any other is wrong, or partial where only documents are missing', () => {
  for (const offset of [0, 3]) {
    const { verdict, matching } = judging({ offset })
    for (let q = 1; q <= 20; q++) {
      const all = matching(q)
      const [page, behind] = [all.slice(offset, offset + 5), all.slice(offset, offset + 6)]
      const other = Number(numbers.find((n) => !all.includes(n)))
      for (const [what, ids, expected] of /** @type {[string, number[], string][]} */ ([
        ['the page', page, 'right'],
        ['the last is missing', page.slice(0, 4), 'partial'],
        ['the first is missing', behind.slice(1), 'partial'],
        ['one between is missing', [page[0], ...behind.slice(2)], 'partial'],
        ['all are missing', [], 'partial'],
        ['another order', page.toReversed(), 'wrong'],
        ['one twice', [...page.slice(0, 4), page[0]], 'wrong'],
        ['more than was asked for', behind, 'wrong'],
        ['one that does not match', [other, ...page.slice(1)], 'wrong'],
        ['one that is none', [-1, ...page.slice(1)], 'wrong'],
      ]))
        assert.equal(verdict(q, ids), expected, `query ${q}: ${what}`)
      if (offset > 0) assert.equal(verdict(q, all.slice(0, 5)), 'wrong', 'the page before')
    }
  }
})

test('behind the last document the right page is empty', () =>
  assert.equal(judging({ offset: 300 }).verdict(1, []), 'right'))

test('equal documents may come in any order, and any of them at the end of a page', () => {
  const { verdict, documents, isIn } = judging({ sortBy: 'rating', limit: 12, share: 0.3 })
  const page = numbers
    .map((n) => documents.document(n))
    .filter((one) => isIn(1, one))
    .sort((a, b) => (a.rating ?? 9) - (b.rating ?? 9))
    .slice(0, 12)
  /** The page with the first two beside each other swapped whose ratings are, or are not, equal. @param {boolean} areEqual */
  const swapped = (areEqual) => {
    const ids = page.map(({ id }) => id)
    const at = page.findIndex((one, i) => i > 0 && (one.rating === page[i - 1].rating) === areEqual)
    assert.ok(at > 0)
    return [...ids.slice(0, at - 1), ids[at], ids[at - 1], ...ids.slice(at + 1)]
  }
  assert.equal(verdict(1, swapped(true)), 'right')
  assert.equal(verdict(1, swapped(false)), 'wrong')
})

test('a document that is written meanwhile may be seen in either version, before and after in one only', () => {
  const { judge, verdict, matching, documents, isIn } = judging()
  const before = matching(1)
  const [n] = before
  assert.equal(isIn(1, documents.document(n, 1)), false, 'this seed moves it out')
  const [withIt, without] = [before.slice(0, 5), before.slice(1, 6)]
  const verdicts = (/** @type {number} */ fromMs, /** @type {number} */ toMs) =>
    [withIt, without].map((page) => verdict(1, page, fromMs, toMs))
  const change = judge.begun(n, 100)
  assert.deepEqual(verdicts(0, 99), ['right', 'partial'], 'before')
  assert.deepEqual(verdicts(90, 110), ['right', 'right'], 'meanwhile')
  judge.written(change, 120)
  assert.deepEqual(verdicts(90, 130), ['right', 'right'], 'across')
  assert.deepEqual(verdicts(121, 130), ['wrong', 'right'], 'after')
  judge.forget(121)
  assert.deepEqual(verdicts(121, 130), ['wrong', 'right'], 'after, and forgotten')
})

test('a write whose answer was lost may have been done until the next one of the document is', () => {
  const { judge, verdict, matching } = judging()
  const [n, ...rest] = matching(1)
  judge.begun(n, 100)
  const page = rest.slice(0, 5)
  assert.equal(verdict(1, page, 5000, 5001), 'right')
  judge.written(judge.begun(n, 6000), 6001)
  judge.forget(7000)
  const isBack = matching(1, (one) => (one === n ? 2 : 0)).includes(n)
  assert.equal(verdict(1, page, 7000, 7001), isBack ? 'partial' : 'right')
})

test('after many writes the right page is that of the newest versions, of queries judged before and after them', () => {
  const { judge, verdict, matching, versions } = judging({ offset: 2 })
  const random = xoroshiro128plus(5)
  const newest = (/** @type {number} */ n) => versions[n]
  for (let at = 0; at < 1500; at++) {
    judge.written(judge.begun(1 + ((random.next() >>> 0) % count), at), at + 0.5)
    judge.forget(at)
    // The first queries are known all the time, each of the others from some moment on.
    if (at % 50 > 0) continue
    const known = 5 + Math.floor(at / 100)
    for (let q = 1; q <= known; q++) {
      const all = matching(q, newest)
      const page = all.slice(2, 7)
      const judged = (/** @type {number[]} */ ...ids) => verdict(q, ids, at + 1, at + 2)
      assert.equal(judged(...page), 'right', `query ${q} after ${at} writes`)
      if (page.length > 2) assert.equal(judged(page[0], ...page.slice(2)), 'partial')
      if (all.length > 7) assert.equal(judged(...all.slice(3, 8)), 'partial')
    }
  }
})
