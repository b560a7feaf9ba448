import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeFromCompressedBase64 } from 'hdr-histogram-js'
import { withoutNodes } from '../../lib/fleet/control.js'
import { fleetFoldOf, sumOfBoxes } from '../../lib/fleet/fold.js'
import { decodeInterval, joinedSeconds, secondOf } from '../../lib/fleet/interval.js'
import { measuredOfBoxes } from '../../lib/fleet/measured.js'
import { folded } from '../../lib/measures/fold.js'
import { ofReaders, ofWriters, ownOfBoxes } from '../../lib/measures/index.js'
import { nodeTotals } from '../../lib/measures/nodes.js'
import { mergedPercentiles, series } from '../../lib/probes/latency.js'
import { boxOfIntervals } from '../helpers/sample-interval.js'

const sumOf = (/** @type {number[]} */ numbers) => numbers.reduce((sum, n) => sum + n, 0)

/** Count by count: as text two histograms may be compressed differently. @param {string} encoded */
const bucketsOf = (encoded) => {
  const { _counts: counts, totalCount } = /** @type {any} */ (decodeFromCompressedBase64(encoded, 64, false))
  const buckets = Array.from(counts, Number).flatMap((n, at) => (n > 0 ? [[at, n]] : []))
  assert.equal(sumOf(buckets.map(([, n]) => n)), totalCount)
  return buckets
}

/** As it is stored. @param {ReturnType<typeof fleetFoldOf>} fold */
const storedOf = (fold) => JSON.parse(JSON.stringify(fold.checkpoint()))

/** A fold of these intervals. @param {readonly any[]} intervals */
const foldOf = (...intervals) => {
  const fold = fleetFoldOf()
  for (const [i, interval] of intervals.entries()) fold.add(`${i + 1}-0`, interval)
  return fold
}

/** With buckets in the place of encoded histograms, and without what two folds of the same may differ in. @param {any} data */
const shown = (data) =>
  JSON.parse(JSON.stringify(data), (key, value) =>
    key === 'hdr' && value ? bucketsOf(value) : key === 'last' ? '' : value,
  )

test('the sum of what eight boxes sent is bucket by bucket the histogram of all their samples', (t) => {
  const all = series()
  t.after(all.close)
  let highest = 0
  const boxes = Array.from({ length: 8 }, (_, i) =>
    boxOfIntervals(`box-${i + 1}`, i + 1, i + 1, (us, weight) => {
      all.record(us, weight)
      highest = Math.max(highest, us)
    }),
  )
  const fold = fleetFoldOf()
  let id = 0
  for (let second = 1; second <= 12; second++)
    for (const box of boxes) fold.add(`${++id}-0`, decodeInterval(JSON.stringify(box.next())))
  const given = [...fold.closed(8), ...fold.rest()]
  const { sums, boxes: folded } = fold.checkpoint()
  const whole = all.endSecond()
  const intended = sums['latency_us.intended']
  assert.ok(whole && intended?.hdr)
  assert.deepEqual(bucketsOf(intended.hdr), bucketsOf(whole.hdr))
  assert.equal(intended.samples, 8 * 12 * 20)
  // Buckets know their highest value to 0.1 % only.
  assert.equal(intended.max, highest)
  assert.equal(Math.max(...given.map(({ latency_us: times }) => Number(times.intended?.max))), highest)
  const known = { boxes: [], checkpoint: storedOf(fold), stored: 0, plan: {} }
  assert.equal(measuredOfBoxes(known, ofWriters).sections.latency_us.intended.max, highest)
  const { whole: items } = sumOfBoxes(Object.values(folded).map(({ sums }) => sums))
  assert.equal(items.offered, items.acked)
  const lines = joinedSeconds(given)
  assert.equal(lines.length, 12)
  assert.equal(sumOf(lines.map((line) => line.items.acked)), items.acked)
  const ofLines = mergedPercentiles(lines.map((line) => String(line.latency_us.intended?.hdr)))
  assert.deepEqual(ofLines, mergedPercentiles([whole.hdr]))
})

test('an interval that comes twice counts once, and a fold goes on where its checkpoint ended', () => {
  const boxes = [1, 2, 3].map((n) => boxOfIntervals(`box-${n}`, n, n))
  const entries = Array.from({ length: 6 }, (_, s) =>
    boxes.map((box) => decodeInterval(JSON.stringify(box.next(s + 1)))),
  ).flat()
  const straight = fleetFoldOf()
  const lines = entries.flatMap((entry, at) => {
    straight.add(`${at + 1}-0`, entry)
    return straight.closed(3)
  })
  lines.push(...straight.rest())

  // Another leader after each third entry, and everything a second time.
  let fold = fleetFoldOf()
  const again = /** @type {any[]} */ ([])
  for (const [at, entry] of entries.entries()) {
    const isNew = [0, 1].map((n) => fold.add(`${at + 1}-${n}`, entry))
    assert.deepEqual(isNew, [true, false])
    again.push(...fold.closed(3))
    if (at % 3 !== 2) continue
    const kept = storedOf(fold)
    fold.close()
    fold = fleetFoldOf(kept)
  }
  again.push(...fold.rest())
  assert.deepEqual(shown(fold.checkpoint()), shown(straight.checkpoint()))
  assert.deepEqual(shown(joinedSeconds(again)), shown(joinedSeconds(lines)))
})

test('a second waits for its boxes, and no longer than three seconds', () => {
  const fold = fleetFoldOf()
  const [one, two] = [boxOfIntervals('a', 1, 1), boxOfIntervals('b', 2, 2)]
  fold.add('1-0', one.next(1))
  fold.add('2-0', two.next(1))
  // Its boxes are all there, but nothing later has begun.
  assert.deepEqual(fold.closed(2), [])
  fold.add('3-0', one.next(2))
  const [first, ...others] = fold.closed(2)
  assert.deepEqual([secondOf(first.at_ms), others], [1, []])
  fold.add('4-0', one.next(3))
  fold.add('5-0', one.next(4))
  assert.deepEqual(fold.closed(2), [])
  fold.add('6-0', one.next(5))
  const [late] = fold.closed(2)
  assert.deepEqual([secondOf(late.at_ms), late.writers], [2, 1])
  // What comes afterwards is one more line of that second, and is joined to it.
  fold.add('7-0', two.next(2))
  const more = fold.closed(2)
  const [joined] = joinedSeconds([late, ...more])
  assert.deepEqual([joined.writers, joined.items.acked], [2, late.items.acked + more[0].items.acked])
})

test('a second of all boxes: the busiest client, and rates that add up', () => {
  const [first, second] = [boxOfIntervals('a', 1, 3).next(), boxOfIntervals('b', 2, 4).next()]
  const nodes = /** @type {any} */ ([{ address: '127.0.0.1:1', role: 'master' }])
  const fold = foldOf({ ...first, nodes }, second)
  const [line] = fold.rest()
  assert.equal(line.client.busy_pct, Math.max(Number(first.client.busy_pct), Number(second.client.busy_pct)))
  assert.equal(line.client.cpu_pct, 20)
  assert.equal(line.client.thread_cpu_pct, null)
  assert.equal(line.achieved, Number(first.achieved) + Number(second.achieved))
  assert.deepEqual(line.nodes, nodes)
})

test('the rest of a second at the end of a box has its items, and is no rate and no CPU of a second', () => {
  const one = boxOfIntervals('a', 1, 5)
  const whole = one.next(1)
  const client20 = { over_s: 0.02, cpu_s: 0.012, thread: { over_s: 0.02, busy_s: 0.0198, cpu_s: 0.01 } }
  const rest = { ...one.next(1), achieved: 0, client: client20 }
  const fold = foldOf(whole, rest)
  const [{ client, achieved, p99_us: p99Us, measured, sums }] = Object.values(fold.checkpoint().boxes)
  assert.deepEqual([client, achieved], [whole.client, whole.achieved])
  assert.equal(p99Us, whole.latency_us.intended?.p99)
  assert.equal(measured.whole['client.thread'].busy_s, Number(whole.client.busy_pct) / 100 + 0.0198)
  assert.equal(sums?.whole.acked, rest.sums.whole.acked)
  const [line] = fold.rest()
  assert.equal(line.items.acked, whole.items.acked + rest.items.acked)
  assert.deepEqual([line.achieved, line.writers, line.boxes], [whole.achieved, 1, 1])
  assert.deepEqual([line.client.cpu_pct, line.client.busy_pct], [whole.client.cpu_pct, whole.client.busy_pct])
})

test('a box that was lost has its warm-up apart, and nodes go on from one box that led to the next', () => {
  const [one, two] = [boxOfIntervals('a', 1, 5), boxOfIntervals('b', 2, 6)]
  const row = (/** @type {number} */ atMs, /** @type {number} */ cpuS, role = 'master') => ({
    ...{ address: 'm:1', shard: 1, role, at_ms: atMs, over_ms: 1000, memory_bytes: atMs },
    ...{ engine_cpu_s: cpuS / 2, cpu_s: cpuS, calls: 100, net_in_bytes: 5, net_out_bytes: 5, info_bytes: 1 },
    ...{ evicted: 1, carried: 7, commands: { set: { calls: 100, usec: 50 } } },
  })
  const fold = foldOf(
    { ...one.next(), phase: 'warm-up', nodes: [row(1000, 0.9)] },
    { ...one.next(), nodes: [row(2000, 0.5)] },
    { ...two.next(3), nodes: [row(3000, 0.3, 'replica')] },
  )
  const kept = storedOf(fold)
  const boxes = Object.values(kept.boxes).map((folded) => ({ end: null, folded }))
  const known = { boxes: /** @type {any} */ (boxes), checkpoint: kept, stored: 100, plan: {} }
  const { sections, sums } = measuredOfBoxes(known, ofWriters)
  assert.equal(sections.client.cpu_s, 0.2, 'of two seconds that were measured')
  const named = { address: 'm:1', shard: 1, role: 'replica', commands_per_s: 100 }
  const seen = { engine_cpu_pct: 20, cpu_pct: 40, memory_bytes: 3000, sampled_s: 2, gaps: 0 }
  assert.deepEqual(sections.nodes, [{ ...named, ...seen }])
  const { cpu_s: cpuS, net_bytes: bytes, evicted, counted } = nodeTotals(sums.own.window, sums.own.whole)
  assert.deepEqual([cpuS, bytes, evicted, counted], [0.8, 10, 2, { least: 7, most: 14 }])
})

test('a box that led on without the control has told what the next leader has too: it counts once', () => {
  const [one, two] = [boxOfIntervals('a', 1, 5), boxOfIntervals('b', 2, 6)]
  const row = (/** @type {number} */ atMs, /** @type {number} */ overMs) => ({
    ...{ address: 'm:1', shard: 1, role: 'master', at_ms: atMs, over_ms: overMs, cpu_s: overMs / 1e4 },
    ...{ net_in_bytes: 5, net_out_bytes: 5, carried: 7, commands: { set: { calls: overMs, usec: 50 } } },
  })
  const own = [1000, 2000, 3000].map((atMs) => ({ ...one.next(), nodes: [row(atMs, 1000)] }))
  // The control answers again, and box b leads: it goes on behind what the control had.
  const late = own.slice(1).map((line) => JSON.parse(withoutNodes(JSON.stringify(line))))
  const fold = foldOf(own[0], { ...two.next(4), nodes: [row(4000, 3000)] }, ...late)
  const kept = storedOf(fold)
  const sum = folded(ownOfBoxes, own)
  const end = { measured: { window: sum, whole: sum, facts: {} } }
  const boxes = Object.entries(kept.boxes).map(([id, of]) => ({ end: id === 'a' ? end : null, folded: of }))
  const known = { boxes: /** @type {any} */ (boxes), checkpoint: kept, stored: 100, plan: {} }
  const { sections, sums } = measuredOfBoxes(known, ofWriters)
  assert.deepEqual([sections.nodes[0].sampled_s, sections.nodes[0].cpu_pct], [4, 10])
  const { cpu_s: cpuS, commands } = nodeTotals(sums.own.window, sums.own.whole)
  assert.deepEqual([cpuS, commands.set.calls], [0.4, 4000])
  assert.equal(sections.client.cpu_s, 0.4, 'of three seconds of one and one of the other')
})

test('a fleet has what its boxes came to with --reconnects, and the CPU of boxes that read', () => {
  // Of 27 clients that were closed on two nodes, two had not come back when the first box ended.
  const seconds = [1, 2].map((n) => {
    const connecting = series()
    for (let i = 0; i < (n === 1 ? 15 : 36); i++) connecting.record(700)
    const renewed = n === 1 ? 7 : 18
    const found = { asked: 10 * n, missed: n, renewed, connect_us: connecting.endSecond() }
    connecting.close()
    return { ...boxOfIntervals(`box-${n}`, n, n).next(), reconnects: found }
  })
  const reads = { v: 1, box: 'reader', seq: 1, kind: 'consumer', at_ms: 1000, epoch_ms: 0, items_per_s: 5 }
  const written = seconds.map((second) => decodeInterval(JSON.stringify(second)))
  const fold = foldOf(...written, { ...reads, client: { over_s: 1, cpu_s: 0.25 } })
  fold.rest()
  const checkpoint = storedOf(fold)
  const madeOf = (/** @type {string[]} */ names, /** @type {typeof ofWriters} */ measures) => {
    const boxes = names.map((name) => ({ end: null, folded: checkpoint.boxes[name] }))
    const known = { boxes, checkpoint, stored: 0, plan: { reconnectHz: 30, agents: [] } }
    return measuredOfBoxes(known, measures).sections
  }
  const { connections } = madeOf(['box-1', 'box-2'], ofWriters).traffic
  assert.deepEqual([connections.renewed, connections.missed], [25, 3])
  assert.equal(madeOf(['reader'], ofReaders).client.cpu_s, 0.25)
})

test('a second in which only readers sent has no items of any kind', () => {
  const { items, ...rest } = boxOfIntervals('a', 1, 5).next(1)
  const fold = foldOf({ ...rest, kind: 'consumer', fetches: { count: 2 } })
  const [line] = fold.rest()
  assert.deepEqual(line.items, { offered: 0, acked: 0, failed: 0, uncertain: 0, dropped: 0, unsettled: 0 })
  assert.deepEqual(Object.keys(line.items), Object.keys(items))
})

test('what is no interval is left out, and its entry is passed', () => {
  for (const text of ['', '{}', 'null', '{"v":2,"box":"a","seq":1,"at_ms":1}', '{"v":1,"seq":1,"at_ms":1}'])
    assert.equal(decodeInterval(text), null)
  const fold = fleetFoldOf()
  assert.equal(fold.add('9-0', null), false)
  assert.equal(fold.checkpoint().last, '9-0')
})
