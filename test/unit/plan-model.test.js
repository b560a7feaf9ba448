import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calibratedCosts, sumsOfSecond } from '../../lib/answers/plan/calibrate.js'
import { designedCells, heldOut, optionsOfCell, ranges, rateOfCell } from '../../lib/answers/plan/cells.js'
import * as costs from '../../lib/answers/plan/model.js'
import { scoreOf } from '../../lib/answers/plan/proof.js'
import { wireOf } from '../../lib/answers/plan/wire.js'
import { normals } from '../../lib/base/random.js'
import { plannedRun } from '../../lib/cli/calibration.js'
import { valuesOf } from '../helpers/table.js'

/** @import { Cell } from '../../lib/answers/plan/cells.js' */

const { cpuFeatures, cpuTerms, memoryFeatures, memoryTerms, modelOf, predicted } = costs

/** As a sorted set has it: a command an item, and one for its members. @param {Cell} cell */
const features = ({ items, valueBytes, members }) =>
  cpuFeatures({ commands: 1 + 1 / members, members: 1, bytesIn: 80 + valueBytes, bytesOut: 5 }, items)

/** @type {Record<string, number>} */
const truth = { command: 0.3, byte: 0.0003, log2_items: 0.08, member: 0, first_byte: 0.0004, byte_log2: 0 }
const costOf = (/** @type {Cell} */ cell) => {
  const row = features(cell)
  return cpuTerms.reduce((sum, name) => sum + truth[name] * row[name], 0)
}

test('cells are of the range, possible, by seed, and never the held-out ones', () => {
  for (const seed of [1, 2, 77]) {
    const cells = designedCells(seed, 12)
    assert.equal(cells.length, 12)
    assert.deepEqual(cells, designedCells(seed, 12))
    assert.notDeepEqual(cells, designedCells(seed + 1, 12))
    const proofs = heldOut(seed, 6)
    assert.ok(!proofs.some((one) => cells.some((cell) => JSON.stringify(cell) === JSON.stringify(one))))
    for (const cell of [...cells, ...proofs]) {
      for (const [name, [least, most]] of Object.entries(ranges)) {
        const value = cell[/** @type {keyof Cell} */ (name)]
        assert.ok(value >= least && value <= most, `${name} ${value}`)
      }
      const { quantity, period, chunks, duration } = optionsOfCell(cell)
      assert.ok(chunks >= 1 && chunks <= quantity)
      assert.ok(Number.parseInt(duration, 10) > Number.parseInt(period, 10) + 3000)
      const rate = (quantity * 1000) / Number.parseInt(period, 10)
      assert.ok(Math.abs(rate / rateOfCell(cell) - 1) < 0.7, `${rate}, wanted ${rateOfCell(cell)}`)
    }
  }
})

/** What these cells cost. @param {readonly Cell[]} cells @param {(cell: Cell) => number} [cost] */
const modelOfCells = (cells, cost = costOf) => modelOf(cells.map(features), cells.map(cost), cpuTerms)

test('the design tells the terms apart: without noise they come back', () => {
  const model = modelOfCells(designedCells(5, 12))
  assert.deepEqual(valuesOf(model.left_out, 'name'), ['member', 'byte_log2'])
  for (const { name, value } of model.terms)
    assert.ok(Math.abs(value / truth[name] - 1) < 1e-6, `${name} ${value}`)
})

test('terms that are the same in all cells are left out, and said', () => {
  const rows = [1, 2, 3, 4, 5, 6].map((x) => ({ a: x, b: 2 * x, c: x * x, d: 0 }))
  const costs = rows.map(({ a, c }) => 3 * a + c)
  const { terms, left_out: leftOut } = modelOf(rows, costs, ['a', 'c', 'b', 'd'])
  assert.equal(terms.map(({ name, value }) => `${name} ${value.toFixed(6)}`).join(), 'a 3.000000,c 1.000000')
  assert.deepEqual(leftOut, [
    { name: 'd', why: 'it is 0 in every cell' },
    { name: 'b', why: 'the cells cannot separate it from the others' },
  ])
  const noisy = costs.map((cost, i) => cost * (1 + (i % 2 ? 0.1 : -0.1)))
  assert.equal(modelOf(rows, noisy, ['a', 'c', 'd']).left_out[0].name, 'd')
})

test('no term is below 0, so more of anything never costs less', () => {
  const next = normals(3)
  const designs = Array.from({ length: 5 }, (_, i) => designedCells(100 + i, 12))
  for (const cells of [...designs, ...designs, ...designs]) {
    const noisy = (/** @type {Cell} */ cell) => costOf(cell) * Math.exp(0.1 * next())
    const { terms } = modelOfCells(cells, noisy)
    for (const { name, value } of terms) assert.ok(value > 0, `${name} ${value}`)
  }
})

test('95 of 100 measurements lie in the interval', () => {
  const next = normals(8)
  const isInside = []
  const designs = Array.from({ length: 12 }, (_, i) => designedCells(i, 12))
  for (const [i, cells] of [...designs, ...designs, ...designs].entries()) {
    const noisy = (/** @type {Cell} */ cell) => costOf(cell) * (1 + 0.05 * next())
    const model = modelOfCells(cells, noisy)
    for (const cell of heldOut(i, 6)) {
      const { low, high } = predicted(model, features(cell))
      const measured = noisy(cell)
      isInside.push(measured >= low && measured <= high)
    }
  }
  const share = isInside.filter(Boolean).length / isInside.length
  assert.ok(share > 0.9 && share < 0.99, `${share}`)
})

test('a score: errors in percent, and how many are inside', () => {
  const pairs = [
    { predicted: { value: 110, low: 90, high: 130 }, measured: 100 },
    { predicted: { value: 98, low: 97, high: 99 }, measured: 100 },
    { predicted: { value: 100, low: 90, high: 110 }, measured: null },
    { predicted: null, measured: 1 },
  ]
  const score = scoreOf(pairs)
  assert.deepEqual([score?.inside, score?.count], [1, 2])
  const shown = [score?.median_pct, score?.largest_pct].map((pct) => pct?.toFixed(9)).join(' ')
  assert.equal(shown, '6.000000000 10.000000000')
  assert.equal(scoreOf([]), null)
})

test('a cell that is late: costs are those of the items that the servers counted in the same second', async () => {
  const options = { quantity: 6000, chunks: 10, maxMembers: 200, valueSize: '100', ttl: '30s' }
  const counts = async (/** @type {string} */ strategy) =>
    (await wireOf(plannedRun({ strategy, ...options }, null))).counted
  const counted = await counts('actual-value')
  assert.deepEqual(await counts('sorted-set'), { name: 'setex', commands: 1 })
  assert.deepEqual(counted, { name: 'zadd', commands: 1 / 200 })
  // 100,000 items in each second, but the first one has 1.3 s of them, and the last a part.
  const seconds = [1.3, 1, 0.2].map((part) =>
    sumsOfSecond([
      {
        ...{ role: 'master', over_ms: 1000, engine_cpu_pct: 10 * part + 2, info_bytes: 8000 },
        ...{ net_in_bytes: 13e6 * part + 300, net_out_bytes: 1e6 * part + 8200 },
        commands: { zadd: { calls: 500 * part, usec: 1 }, ping: { calls: 9, usec: 9 } },
      },
    ]),
  )
  const idle = { cpu_pct: { master: 2 }, net_bytes_per_s: 500, data_bytes: 0, keys: 0 }
  for (const cost of calibratedCosts(seconds, counted, 100_000, idle)) {
    assert.ok(Math.abs(cost.cpu_us.master - 1) < 1e-9, `${cost.cpu_us.master}`)
    assert.ok(Math.abs(cost.bytes / cost.items - 140) < 1e-9, `${cost.bytes / cost.items}`)
  }
})

test('memory of a cluster: what each slot with a key takes is told apart from what each item takes', () => {
  const sizes = [1000, 5000, 20_000, 60_000, 200_000, 900_000].map((items, i) => ({
    items,
    memory: { spread: 150 + 40 * i, fixed: 60, keys: 1, unknown: [] },
  }))
  const rows = sizes.map(({ items, memory }) => memoryFeatures(memory, items, true))
  // Nearly every key has a slot of its own while they are few; all 16,384 slots are in use in the end.
  assert.ok(rows[0]['a slot'] > 0.96 && Math.abs(rows[5]['a slot'] * 900_000 - 16_384) < 1)
  assert.equal(memoryFeatures(sizes[0].memory, 1000, false)['a slot'], 0)
  const costs = rows.map((row) => row.computed + 16 * row['an item'] + 2100 * row['a slot'])
  const { terms } = modelOf(rows, costs, memoryTerms)
  const slot = terms.find(({ name }) => name === 'a slot')
  assert.ok(slot && Math.abs(slot.value / 2100 - 1) < 0.01, JSON.stringify(terms))
})
