// A plan of a cache: nodes by memory, what one more GB adds, and lines that are refused.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Ajv } from 'ajv'
import { cacheNeeds, cachePlan } from '../../lib/answers/plan/cache-answer.js'
import { stringBytes } from '../../lib/answers/plan/memory.js'
import { runCommand } from '../helpers/command-here.js'
import { valuesOf } from '../helpers/table.js'

const gib = 2 ** 30
const types = [
  { name: 'small', memoryGib: 2, networkMbit: null, hour: 0.1 },
  { name: 'large', memoryGib: 8, networkMbit: null, hour: 0.3 },
  { name: 'unknown', memoryGib: 64, networkMbit: null, hour: null },
]

const points = [1, 2, 4, 8].map((gb, i) => {
  return { memory_bytes: gb * 1e9, lru_pct: 80 + 5 * i, policy_pct: null }
})
const needsOf = (/** @type {number[]} */ wanted, known = {}) =>
  cacheNeeds(points, { ceiling_pct: 96, footprint_bytes: 9e9, replicas: 0, ...known }, wanted, types)

test('the cheapest nodes on which the hottest shard has room, a quarter of each reserved', () => {
  const room = 1.5 * gib - 50e6
  const nodesOf = (/** @type {number} */ footprint_bytes, replicas = 0) => {
    const [{ node, shards, nodes, monthly }] = needsOf([90], { footprint_bytes, replicas })
    return { node, shards, nodes, monthly }
  }
  assert.deepEqual(nodesOf(0.99 * room), { node: 'small', shards: 1, nodes: 1, monthly: 73 })
  assert.deepEqual(nodesOf(1.99 * room, 1), { node: 'small', shards: 2, nodes: 4, monthly: 292 })
  // One of three shards has a slot more than its part.
  const needs = (/** @type {number} */ memory) =>
    cacheNeeds(
      [1, 9].map((part) => ({ memory_bytes: part * memory, lru_pct: 80 + part, policy_pct: null })),
      { ceiling_pct: 96, footprint_bytes: memory, replicas: 0 },
      [89],
      types.slice(0, 1),
    )[0].shards
  assert.deepEqual([needs(2.9995 * room), needs(2.9998 * room)], [3, 4])
})

test('memory is read off the curve; above the ceiling there is none', () => {
  const [half, top, above] = needsOf([85, 95, 99])
  assert.ok(Math.abs(Number(half.memory_bytes) - 2e9) < 1e6)
  // From 2 to 3 GB of a line by the logarithm.
  assert.ok(Math.abs(Number(half.more_pct) - 5 * Math.log2(1.5)) < 0.3, String(half.more_pct))
  assert.ok(Number(top.more_pct) <= 1)
  assert.deepEqual([above.memory_bytes, above.node, above.more_pct], [null, null, null])
})

test('a key takes what a server says: MEMORY USAGE of 7.0 with jemalloc, with its part of the table', () => {
  const lengths = { key: 10, value: 200, keys: 2 ** 20, expires: false }
  assert.equal(stringBytes('jemalloc-8', lengths), 224 + 16 + 16 + 24 + 8)
})

describe('as it is typed', { concurrency: 1 }, () => {
  test('the answer has its shape, and more memory for more hits', async (t) => {
    const line =
      'plan cache-aside --items 20k --popularity zipf:0.99 --value-size 200B --rate 10k --hit-rate 80%'
    const { code, stdout, stderr } = await runCommand(t, `${line} --json`, { out: false })
    assert.equal(code, 0, stderr)
    const ajv = new Ajv({ allowUnionTypes: true })
    assert.ok(ajv.validate(cachePlan.schema, JSON.parse(stdout)), ajv.errorsText())
    const { needs } = JSON.parse(stdout)
    assert.deepEqual(valuesOf(/** @type {{ hit_pct: number }[]} */ (needs), 'hit_pct'), [80, 90, 95, 99])
    for (let i = 1; i < needs.length; i++) assert.ok(needs[i].memory_bytes > needs[i - 1].memory_bytes)
  })

  test('what was asked for is answered first, also when no memory reaches it; the table rises', async (t) => {
    const line = 'plan cache-aside --items 20k --ttl 1s --popularity zipf:0.99 --rate 100 --hit-rate 95%'
    const { code, stdout, stderr } = await runCommand(t, line, { out: false })
    assert.equal(code, 4, stderr)
    assert.match(stdout, /^no memory reaches 95 % hits: \d+\.\d\d % are the most\n/)
    assert.deepEqual(
      [...stdout.matchAll(/^(\d\d) % /gm)].map(([, pct]) => pct),
      ['90', '95', '99'],
    )
  })

  test('with long lifetimes a sample of the keys is drawn by itself', async (t) => {
    const line =
      'plan cache-aside --items 1M --popularity zipf:0.99 --value-size 200B --ttl 1h --rate 50k --hit-rate 95% --json'
    const startMs = performance.now()
    const { code, stdout, stderr } = await runCommand(t, line, { out: false })
    assert.equal(code, 0, stderr)
    const { needs, ceiling_pct: ceiling, footprint_bytes: whole } = JSON.parse(stdout)
    assert.ok(ceiling > 99 && ceiling < 99.9, `${ceiling}`)
    assert.ok(whole > 2.9e8 && whole < 3.3e8, `${whole}`)
    const [{ memory_bytes: memory }] = needs
    assert.ok(memory > 0.3 * whole && memory < 0.8 * whole, `${memory}`)
    // It takes 3 s of a free core.
    assert.ok(performance.now() - startMs < 120_000)
  })

  for (const [line, words] of [
    ['plan cache-aside --items 20k --rate 1k --hit-rate 95', /^--hit-rate 95: must be a percentage/],
    [
      'plan cache-aside --items 20k --rate 50k --ttl 1h --popularity sequential',
      /^--ttl 3600s at 50,000 requests\/s: 4 lifetimes have 720,000,000 requests, and at most 20,000,000 are drawn; give --ttl of at most 100s, or --items and --rate divided by 36, and multiply the memory\n/,
    ],
    [
      'plan cache-aside policy=volatile-lru --items 20k --rate 1k',
      /^policy=volatile-lru evicts only keys with a lifetime: add --ttl\n/,
    ],
    ['plan cache-aside --items 20k', /^--rate is missing/],
    ['plan cache-aside --rate 1k', /^--items is missing/],
    ['plan cache-aside policy=noeviction --items 20k --rate 1k', /^behind the strategy only policy=NAME/],
    ['plan cache-hash --items 20k --rate 1k', /^cache-hash: keys that hold several values/],
    ['plan --rate 1k --hit-rate 95%', /^--hit-rate is for a cache/],
  ])
    test(`refused: ${line}`, async (t) => {
      const { code, stderr } = await runCommand(t, String(line), { out: false })
      assert.equal(code, 2, stderr)
      assert.match(stderr, /** @type {RegExp} */ (words))
    })
})
