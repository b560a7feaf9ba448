// Whether answers are right: against the same query by the plainest possible means, and in every version that a document
// may have had meanwhile.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { answerVerifierOf } from '../../lib/workloads/query/answer-verifier.js'
import { documentsOf, statuses } from '../../lib/workloads/query/documents.js'
import { queriesOf } from '../../lib/workloads/query/queries.js'

const count = 400

/** @param {Partial<{ sortBy: import('../../lib/workloads/query/queries.js').SortBy, limit: number, offset: number, selectivity: number }>} [more] */
const judging = ({ sortBy = 'created', limit = 5, offset = 0, selectivity = 0.1 } = {}) => {
  const documents = documentsOf({ seed: 3, count })
  const columns = documents.columns()
  const queries = queriesOf(columns, { count, queries: 20, selectivity, seed: 3 })
  const versions = new Uint32Array(count + 1)
  const judge = answerVerifierOf({ documents, columns, queries, versions, sortBy, limit, offset })
  /** All that match, in order, from the documents as JSON. @param {number} q @param {(n: number) => number} [versionOf] */
  const matching = (q, versionOf = () => 0) => {
    const { status, min, max } = queries[q - 1]
    return Array.from({ length: count }, (_, i) =>
      JSON.parse(JSON.stringify(documents.document(i + 1, versionOf(i + 1)))),
    )
      .filter(
        (one) => one.status === status && one.price !== undefined && one.price >= min && one.price <= max,
      )
      .sort((a, b) => a.created - b.created)
      .map(({ id }) => id)
  }
  return { documents, queries, judge, matching, versions }
}

test('documents are the same for a seed, skewed as stated, and differ in what must differ', () => {
  const { document, columns } = documentsOf({ seed: 1, count: 20_000 })
  assert.deepEqual(document(7), documentsOf({ seed: 1, count: 20_000 }).document(7))
  assert.notDeepEqual(document(7), documentsOf({ seed: 2, count: 20_000 }).document(7))
  const { status, price, created, rating } = columns()
  const share = (/** @type {(n: number) => boolean} */ is) => {
    let found = 0
    for (let n = 1; n <= 20_000; n++) if (is(n)) found++
    return found / 20_000
  }
  for (const [i, stated] of [0.62, 0.2, 0.12, 0.06].entries())
    assert.ok(Math.abs(share((n) => status[n] === i) - stated) < 0.01, statuses[i])
  assert.ok(Math.abs(share((n) => price[n] < 0) - 0.02) < 0.005)
  assert.ok(Math.abs(share((n) => rating[n] === 0) - 0.1) < 0.01)
  assert.ok(Math.abs(share((n) => price[n] >= 2500) - 0.49) < 0.02)
  assert.equal(new Set(created.subarray(1)).size, 20_000)
  const whole = Array.from({ length: 200 }, (_, i) => document(i + 1)).filter(
    (one) => Object.keys(one).length === 12,
  )
  assert.ok(whole.length > 80, 'most have all of their 12 fields')
  assert.equal(document(5, 3).version, 3)
  assert.equal(document(5, 3).created, document(5).created)
})

test('queries match the stated share, as far as a status has so many documents', () => {
  const { columns } = documentsOf({ seed: 1, count: 10_000 })
  for (const selectivity of [0.0001, 0.01, 0.1, 0.5]) {
    const queries = queriesOf(columns(), { count: 10_000, queries: 30, selectivity, seed: 1 })
    for (const { matches } of queries) {
      // Equal prices at a bound are in it.
      assert.ok(matches >= 10_000 * selectivity, `${matches} of ${selectivity}`)
      assert.ok(matches <= 10_000 * selectivity * 1.05 + 20, `${matches} of ${selectivity}`)
    }
  }
})

test('the right page is right; any other is wrong, or partial where only documents are missing', () => {
  for (const offset of [0, 3]) {
    const { judge, matching } = judging({ offset })
    for (let q = 1; q <= 20; q++) {
      const all = matching(q)
      const page = all.slice(offset, offset + 5)
      const verdict = (/** @type {number[]} */ ids) => judge.verify(q, ids, 0, 1)
      assert.equal(verdict(page), 'right')
      assert.equal(verdict(page.slice(0, 4)), 'partial')
      assert.equal(verdict([]), 'partial')
      assert.equal(verdict(page.toReversed()), 'wrong')
      assert.equal(verdict([...page.slice(0, 4), page[0]]), 'wrong')
      assert.equal(verdict(all.slice(offset, offset + 6)), 'wrong', 'more than was asked for')
      assert.equal(verdict(all.slice(offset + 1, offset + 6)), 'partial', 'the first is missing')
      assert.equal(
        verdict([page[0], ...all.slice(offset + 2, offset + 6)]),
        'partial',
        'one between is missing',
      )
      const other = Array.from({ length: count }, (_, i) => i + 1).find((n) => !all.includes(n))
      assert.equal(verdict([Number(other), ...page.slice(1)]), 'wrong')
      assert.equal(verdict([-1, ...page.slice(1)]), 'wrong')
      if (offset > 0) assert.equal(verdict(all.slice(0, 5)), 'wrong', 'the page before')
    }
  }
})

test('behind the last document the right page is empty', () => {
  const { judge } = judging({ offset: 300 })
  assert.equal(judge.verify(1, [], 0, 1), 'right')
})

test('equal documents may come in any order, and any of them at the end of a page', () => {
  const { judge, documents, queries } = judging({ sortBy: 'rating', limit: 12, selectivity: 0.3 })
  const { status, min, max } = queries[0]
  const all = Array.from({ length: count }, (_, i) => documents.document(i + 1))
    .filter((one) => one.status === status && one.price !== undefined && one.price >= min && one.price <= max)
    .sort((a, b) => (a.rating ?? 9) - (b.rating ?? 9))
  const ids = all.map(({ id }) => id)
  const page = all.slice(0, 12)
  const swapped = page.findIndex((one, i) => i > 0 && one.rating === page[i - 1].rating)
  assert.ok(swapped > 0, 'there are equal ones')
  const given = ids.slice(0, 12)
  ;[given[swapped - 1], given[swapped]] = [given[swapped], given[swapped - 1]]
  assert.equal(judge.verify(1, given, 0, 1), 'right')
  const apart = page.findIndex((one, i) => i > 0 && one.rating !== page[i - 1].rating)
  const wrong = ids.slice(0, 12)
  ;[wrong[apart - 1], wrong[apart]] = [wrong[apart], wrong[apart - 1]]
  assert.equal(judge.verify(1, wrong, 0, 1), 'wrong')
})

test('a document that is written meanwhile may be seen in either version, before and after in one only', () => {
  const { judge, matching, documents, queries } = judging()
  const before = matching(1)
  const [n] = before
  const { status, min, max } = queries[0]
  const isIn = (/** @type {number} */ version) => {
    const one = documents.document(n, version)
    return one.status === status && one.price !== undefined && one.price >= min && one.price <= max
  }
  assert.equal(isIn(1), false, 'this seed moves it out')
  const without = before.slice(1, 6)
  const change = judge.begun(n, 100)
  assert.equal(judge.verify(1, before.slice(0, 5), 0, 99), 'right', 'before')
  assert.equal(judge.verify(1, without, 0, 99), 'partial', 'before')
  for (const page of [before.slice(0, 5), without])
    assert.equal(judge.verify(1, page, 90, 110), 'right', 'meanwhile')
  judge.written(change, 120)
  for (const page of [before.slice(0, 5), without])
    assert.equal(judge.verify(1, page, 90, 130), 'right', 'across')
  assert.equal(judge.verify(1, without, 121, 130), 'right', 'after')
  assert.equal(judge.verify(1, before.slice(0, 5), 121, 130), 'wrong', 'after')
  judge.forget(121)
  assert.equal(judge.verify(1, before.slice(0, 5), 121, 130), 'wrong', 'after, and forgotten')
})

test('a write whose answer was lost may have been done until the next one of the document is', () => {
  const { judge, matching } = judging()
  const [n, ...rest] = matching(1)
  judge.begun(n, 100)
  const page = rest.slice(0, 5)
  assert.equal(judge.verify(1, page, 5000, 5001), 'right')
  const next = judge.begun(n, 6000)
  judge.written(next, 6001)
  judge.forget(7000)
  const isBack = matching(1, (one) => (one === n ? 2 : 0)).includes(n)
  assert.equal(judge.verify(1, page, 7000, 7001), isBack ? 'partial' : 'right')
})

test('after many writes the right page is that of the newest versions, of queries judged before and after them', () => {
  const { judge, matching, versions } = judging({ offset: 2 })
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
      const verdict = (/** @type {number[]} */ ids) => judge.verify(q, ids, at + 1, at + 2)
      assert.equal(verdict(page), 'right', `query ${q} after ${at} writes`)
      if (page.length > 2) assert.equal(verdict([page[0], ...page.slice(2)]), 'partial')
      if (all.length > 7) assert.equal(verdict(all.slice(3, 8)), 'partial')
    }
  }
})
