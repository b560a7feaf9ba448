// A model of reads and writes at their shares: which command is next, about which key, and how a mistake is reported.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { loadModel } from '../../lib/workloads/own/load.js'
import { placesOfShares } from '../../lib/workloads/own/mix-schedule.js'
import { strategyOf } from '../../lib/workloads/strategy-of-plan.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** @param {import('node:test').TestContext} t @param {string} text */
const loaded = (t, text) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-mix-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'feed.yaml')
  writeFileSync(path, text)
  return loadModel(path)
}

/** The words of a command. @param {import('../../lib/loads/clients/flow.js').Played} operation @param {number} n */
const wordsOf = ({ command }, n) => {
  const out = Buffer.alloc(command.most + 1024)
  const text = out.toString('latin1', 0, command.put(n, out, 0))
  return text.split('\r\n').filter((_, i) => i > 0 && i % 2 === 0)
}

const feed = `
keys:
  's:{id}': { type: string, keys: 10, bytes: [5, 50], lifetime: 60, left: [20, 10] }
  'c:{id}:x': { type: hash, keys: 5, elements: [1, 3], bytes: 8 }
mix:
  - { command: 'GET s:{live}', share: 8 }
  - { command: 'SETEX s:{new} {lifetime} {bytes}', share: 1 }
  - { command: 'DEL s:{last}', share: 1 }
  - { command: 'HSET c:{live}:x e{element} {bytes}', share: 2 }
  - { command: 'GET s:{missing}', share: 1 }
`

test('each command has its share of the places, rare ones too', () => {
  assert.deepEqual(placesOfShares([1, 1]), [32_768, 32_768])
  const counts = placesOfShares([1e9, 1, 1, 5e8])
  assert.equal(
    counts.reduce((sum, n) => sum + n, 0),
    65_536,
  )
  assert.deepEqual(counts.slice(1, 3), [1, 1])
  assert.ok(Math.abs(counts[0] / counts[3] - 2) < 0.001)
})

test('a new key is always another one, a live one is there, and the oldest goes first', (t) => {
  const strategy = strategyOf(samplePlan({ strategy: loaded(t, feed), quantity: 15 }))
  const pick = strategy.picks()
  assert.ok(pick)
  const operations = strategy.clientOperations()
  const there = new Set(Array.from({ length: 10 }, (_, i) => `s:${i + 1}`))
  const made = new Set()
  const counts = operations.map(() => 0)
  for (let n = 1; n <= 100_000; n++) {
    const kind = pick()
    counts[kind]++
    const [name, key, ...args] = wordsOf(operations[kind], n)
    if (kind === 1) {
      assert.ok(!made.has(key), key)
      made.add(key)
      there.add(key)
      assert.equal(args[0], '60')
      assert.ok([5, 50].includes(args[1].length))
    } else if (kind === 2) assert.ok(there.delete(key), `${name} ${key} of operation ${n}`)
    else if (kind === 4) assert.ok(!there.has(key))
    else if (kind === 3) {
      const number = Number(key.split(':')[1])
      assert.ok(number >= 1 && number <= 5)
      assert.ok(Number(args[0].slice(1)) <= [1, 3][(number - 1) % 2])
    }
  }
  const exact = [8, 1, 1, 2, 1].map((share) => (share / 13) * 100_000)
  for (const [kind, count] of counts.entries()) assert.ok(Math.abs(count / exact[kind] - 1) < 0.02)
})

test('live keys whose sizes are used more are named more often', (t) => {
  const sizes = `
keys:
  's:{id}': { type: string, keys: 999, bytes: [5, 50, 500], use: [3, 1, 0] }
mix:
  - { command: 'GET s:{live}', share: 9 }
  - { command: 'SET s:{new} {bytes}', share: 1 }
`
  const strategy = strategyOf(samplePlan({ strategy: loaded(t, sizes), quantity: 15 }))
  const pick = strategy.picks()
  assert.ok(pick)
  const operations = strategy.clientOperations()
  const filled = strategy.fills() ?? []
  const sizeOf = new Map()
  for (const { operation, count } of filled)
    for (let i = 1; i <= count; i++) {
      const [, key, value] = wordsOf(operation, i)
      sizeOf.set(key, value.length)
    }
  const counts = new Map()
  const named = new Set()
  for (let n = 1; n <= 30_000; n++) {
    const [, key, value] = wordsOf(operations[pick()], n)
    if (value !== undefined) sizeOf.set(key, value.length)
    else {
      named.add(key)
      counts.set(sizeOf.get(key), (counts.get(sizeOf.get(key)) ?? 0) + 1)
    }
  }
  assert.deepEqual([...counts.keys()].sort(), [5, 50])
  assert.ok(Math.abs(counts.get(5) / counts.get(50) - 3) < 0.2)
  assert.ok(named.size > 600)
})

test('a fill makes each key with its elements, and the oldest have the least time left', (t) => {
  const strategy = strategyOf(samplePlan({ strategy: loaded(t, feed), quantity: 15 }))
  const lines = strategy
    .fills()
    ?.flatMap(({ operation, count }) => Array.from({ length: count }, (_, i) => wordsOf(operation, i + 1)))
  const strings = lines?.filter(([name]) => name === 'SET') ?? []
  assert.deepEqual(
    strings.map(([, key]) => key),
    Array.from({ length: 10 }, (_, i) => `s:${i + 1}`),
  )
  assert.deepEqual(
    strings.map((words) => words[4]),
    [...Array(5).fill('10'), ...Array(5).fill('20')],
  )
  assert.deepEqual(
    lines?.filter(([name]) => name === 'HSET').map(([, key, field]) => `${key} ${field}`),
    [
      'c:1:x e1',
      'c:2:x e1',
      'c:2:x e2',
      'c:2:x e3',
      'c:3:x e1',
      'c:4:x e1',
      'c:4:x e2',
      'c:4:x e3',
      'c:5:x e1',
    ],
  )
  // What the keys are called is known to others.
  const typeOf = strategy.types({ isItem: () => false, isMinute: () => false })
  assert.deepEqual(['s:7', 'c:7:x', 's:07', 's:x', 'c:7:y'].map(typeOf), ['string', 'hash', null, null, null])
})

test('a mistake is one line that names its place', (t) => {
  const keys = "keys:\n  's:{id}': { type: string, keys: 10 }\nmix:\n"
  for (const [text, line] of [
    [
      `${keys}  - { command: 'GET s:{id}', share: 1 }`,
      /feed\.yaml:4:21: s:\{id\}: say which key: \{live\}, \{new\}, \{turn\}, \{last\} or \{missing\}$/,
    ],
    [
      `${keys}  - { command: 'GET x:{live}', share: 1 }`,
      /x:\{id\} is not among the model's keys; did you mean s:\{id\}\?$/,
    ],
    [`${keys}  - { command: 'HGET s:{live} f', share: 1 }`, /HGET needs a hash, but s:\{id\} is a string$/],
    [
      `${keys}  - { command: 'SETEX s:{live} {lifetime} x', share: 1 }`,
      /\{lifetime\}: s:\{id\} has no lifetime under keys$/,
    ],
    [`${keys}  - { command: 'EVAL "return 1" 1 s:{live}', share: 1 }`, /EVAL: a mix has no scripts/],
    [
      `${keys}  - { command: 'GET s:{alive}', share: 1 }`,
      /unknown placeholder \{alive\}; did you mean \{live\}\?/,
    ],
    [`${keys}  - { command: 'GTE s:{live}', share: 1 }`, /unknown command GTE; did you mean GET\?$/],
    [`${keys}  - { command: 'BLPOP s:{live} 0', share: 1 }`, /'blocking'/],
    [`${keys}  - { command: 'GET s:{live}', share: 0 }`, /'mix\.0\.share' must be > 0$/],
    [
      `keys:\n  s: { type: string, keys: 10 }\nmix:\n  - { command: 'GET s', share: 1 }`,
      /s names one key, not 10; put \{id\} into it$/,
    ],
    [
      `keys:\n  's:{id}': { type: string, keys: 10, bytes: [1, 2], use: [1] }\nmix:\n  - { command: 'GET s:{live}', share: 1 }`,
      /use has a number for each of the sizes in bytes/,
    ],
    [`mix:\n  - { command: 'GET s', share: 1 }`, /'keys' is missing$/],
    [`${keys}  - { command: 'GET s:{live}', share: 1 }\nwrite: [x]`, /unknown 'write'$/],
  ])
    assert.throws(() => loaded(t, String(text)), { message: line })
})
