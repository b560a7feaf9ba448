// The same seconds give the same sections of run.json, however they are split: over time among parts, and among boxes that
// are grouped in any way. Histograms are those of lines, and have their true highest value.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { folded, foldOf, sumOfSources } from '../../lib/measures/fold.js'
import { ofReaders, ofWorkers, ofWriters, recordOf, summaryOf } from '../../lib/measures/index.js'
import { series } from '../../lib/probes/latency.js'
import { seeded } from '../helpers/random.js'

const kinds = { writers: ofWriters, workers: ofWorkers, readers: ofReaders }
const plan = { work: {}, model: {} }
const times = series({ isFolded: true })
after(times.close)

/** A second with a value at every path; whole numbers, so that sums are exact. @param {Record<string, any>} fields @param {(n: number) => number} below */
const drawn = (fields, below) => {
  const row = (/** @type {number} */ n) => ({
    ...{ address: `m:${n}`, shard: n, role: below(4) ? 'master' : 'replica', at_ms: below(1e6) },
    ...{ over_ms: 1000, cpu_s: below(8), engine_cpu_s: below(8), calls: below(900), carried: below(9) },
    ...{ net_in_bytes: below(99), net_out_bytes: below(99), info_bytes: below(9), evicted: below(3) },
    commands: { [`c${below(3)}`]: { calls: below(9), usec: below(99) } },
  })
  const values = /** @type {Record<string, () => any>} */ ({
    busiest: () => ({ over_s: 1, busy_s: below(2), cpu_s: below(2) }),
    counts: () => ({ [`k${below(3)}`]: below(9) }),
    latest: () => ({ [`n${below(2)}`]: below(9) }),
    some: () => [{ item: below(99) }],
    each: () => [row(1), row(2)],
    times: () => {
      for (let i = 0; i < 5; i++) times.record(1 + below(1e6))
      return JSON.parse(JSON.stringify(times.endSecond()))
    },
  })
  const line = {}
  for (const [path, { kind }] of Object.entries(fields)) {
    const keys = path.split('.')
    const last = String(keys.pop())
    let part = /** @type {any} */ (line)
    for (const key of keys) part = part[key] ??= {}
    if (below(6) > 0) part[last] = kind in values ? values[kind]() : below(50)
  }
  return line
}

/** A node's rows that came last are those of the latest moment, whose order is not that of the lines here. @param {any} sections */
const comparable = ({ nodes, fetches, ...sections }) => ({
  ...sections,
  nodes: nodes
    .map((/** @type {any} */ { role, memory_bytes, ...node }) => node)
    .toSorted((/** @type {any} */ a, /** @type {any} */ b) => a.shard - b.shard),
})

for (const [kind, measures] of Object.entries(kinds))
  test(`of ${kind}: any split over time, and any grouping of boxes, gives the same sections`, () => {
    const all = recordOf(measures)
    // Of an own model, whose counts are a part of what it names.
    const fields = Object.fromEntries(Object.entries(all).filter(([path]) => !path.startsWith('re')))
    const none = foldOf(all).sum
    const sectionsOf = (/** @type {Record<string, any>} */ sums) => {
      const window = { ...none, ...sums }
      const known = { facts: {}, stored: 100, plan, costed: { items: 100, idle: { why: 'not asked' } } }
      return comparable(JSON.parse(JSON.stringify(summaryOf({ window, whole: window, ...known }, measures))))
    }
    for (let seed = 1; seed <= 8; seed++) {
      const { below } = seeded(seed)
      const boxes = Array.from({ length: 3 }, () =>
        Array.from({ length: 2 + below(4) }, () => drawn(fields, below)),
      )
      const sums = () => boxes.map((lines) => folded(fields, lines))
      const [a, b, c] = sums()
      const straight = sectionsOf(sumOfSources(fields, [a, b, c]))
      // A fold that was stored, but for its histograms, goes on where it was.
      const parts = boxes.map((lines) => {
        const at = below(lines.length)
        const before = folded(fields, lines.slice(0, at))
        const kept = { ...before }
        for (const [path, sum] of Object.entries(before))
          if (fields[path].kind !== 'times') kept[path] = JSON.parse(JSON.stringify(sum))
        const fold = foldOf(fields, kept)
        for (const line of lines.slice(at)) fold.add(line)
        return fold.sum
      })
      assert.deepEqual(sectionsOf(sumOfSources(fields, parts)), straight, `seed ${seed}, in parts`)
      const [d, e, f] = sums()
      const grouped = sumOfSources(fields, [d, sumOfSources(fields, [e, f])])
      assert.deepEqual(sectionsOf(grouped), straight, `seed ${seed}, in groups`)
      // And whichever box had a second, where a field says so.
      const free = Object.fromEntries(Object.entries(fields).filter(([, { inAnyOrder }]) => inAnyOrder))
      const sumOfBoxes = (/** @type {any[][]} */ each) => {
        const folds = each.map((lines) => folded(free, lines))
        return sumOfSources(free, folds)
      }
      const dealt = boxes.map(() => /** @type {any[]} */ ([]))
      for (const line of boxes.flat()) dealt[below(dealt.length)].push(line)
      const [one, other] = [boxes, dealt].map((each) => sectionsOf(sumOfBoxes(each)))
      assert.deepEqual(other, one, `seed ${seed}, dealt`)
    }
  })

test('these fields are added over time first, and then over boxes', () => {
  const first = Object.entries(recordOf()).filter(([, { inAnyOrder }]) => !inAnyOrder)
  const names =
    'backlog between cache.over_s client.machine client.over_s client.rss_mb client.thread client.threads'
  const others = 'client.waiting_bytes nodes numbers queue_bytes reading.over_s'
  const found = first.map(([path]) => path).sort()
  assert.equal(found.join(' '), `${names} ${others}`)
})
