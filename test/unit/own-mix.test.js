// A model of reads and writes at their shares: which command is next, and about which key.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { loadModel } from '../../lib/workloads/own/load.js'
import { placesOfShares } from '../../lib/workloads/own/mix.js'
import { ownFolder } from '../helpers/programs.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** @import { TestContext } from 'node:test' */
/** @import { Played } from '../../lib/loads/clients/flow.js' */

const mixOf = (/** @type {TestContext} */ t, /** @type {string} */ text) => {
  const path = join(ownFolder(t, 'mix'), 'feed.yaml')
  writeFileSync(path, text)
  const strategy = strategyOf(samplePlan({ strategy: loadModel(path), quantity: 15 }))
  const pick = /** @type {() => number} */ (strategy.picks())
  return { strategy, pick, operations: strategy.clientOperations() }
}

/** The words of a command. @param {Played} operation @param {number} n */
const wordsOf = ({ command }, n) => {
  const out = Buffer.alloc(command.most + 1024)
  const text = out.toString('latin1', 0, command.put(n, out, 0))
  return text.split('\r\n').filter((_, i) => i > 0 && i % 2 === 0)
}

/** Commands that fill it. @param {ReturnType<typeof strategyOf>} strategy */
const filledBy = (strategy) =>
  (strategy.fills() ?? []).flatMap(({ operation, count }) =>
    Array.from({ length: count }, (_, i) => wordsOf(operation, i + 1)),
  )

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
  const [most, ...others] = placesOfShares([1e9, 1, 1, 5e8])
  assert.deepEqual(others.slice(0, 2), [1, 1])
  assert.equal(most + others[2], 65_534)
  assert.ok(Math.abs(most / others[2] - 2) < 0.001)
})

test('a new key is always another one, a live one is there, and the oldest goes first', (t) => {
  const { pick, operations } = mixOf(t, feed)
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
  const { strategy, pick, operations } = mixOf(t, sizes)
  const sizeOf = new Map(filledBy(strategy).map(([, key, value]) => [key, value.length]))
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
  const { strategy } = mixOf(t, feed)
  const commands = filledBy(strategy)
  const strings = commands.filter(([name]) => name === 'SET').map(([, key, , , left]) => `${key} ${left}`)
  const expected = Array.from({ length: 10 }, (_, i) => `s:${i + 1} ${i < 5 ? 10 : 20}`)
  assert.deepEqual(strings, expected)
  const fields = commands.filter(([name]) => name === 'HSET').map(([, key, field]) => `${key} ${field}`)
  const elements = '1:x e1,2:x e1,2:x e2,2:x e3,3:x e1,4:x e1,4:x e2,4:x e3,5:x e1'
  assert.equal(fields.join().replaceAll('c:', ''), elements)
  // What the keys are called is known to others.
  const typeOf = strategy.types({ isItem: () => false, isMinute: () => false })
  assert.deepEqual(['s:7', 'c:7:x', 's:07', 's:x', 'c:7:y'].map(typeOf), ['string', 'hash', null, null, null])
})

const steps = `
keys:
  'lock:{id}': { type: string, keys: 1, bytes: 4, lifetime: 60 }
  'u:{{{id}}}:name': { type: string, keys: 50 }
  'u:{{{id}}}:mail': { type: string, keys: 50 }
mix:
  - { steps: ['SET lock:{own} {bytes} EX {lifetime}', 'pause 20ms', 'pause 5ms', 'GET lock:{own}', 'DEL lock:{own}'], share: 1 }
  - { transaction: ['INCR u:{{{live}}}:name', 'EXPIRE u:{{{live}}}:mail 60'], share: 1 }
  - { steps: ['GET u:{{{live}}}:name', { transaction: ['DEL u:{{{live}}}:name', 'DEL u:{{{live}}}:mail'] }], share: 1 }
  - { command: 'MGET u:{{{live}}}:name u:{{{live}}}:mail', share: 1 }
`

/** What an operation sends: its groups, each with the pause before it, and its commands. @param {any} operation @param {number} n */
const sentBy = ({ multiStep }, n) => {
  const all = []
  const one = multiStep.begin(n)
  for (let next = one.next(); next !== null; next = one.next()) {
    const { bytes, replies } = one.send()
    assert.equal(String(bytes).split(/(?<=^|\n)\*/).length - 1, replies)
    all.push(`${one.pauseMs()}: ${next.map((/** @type {any} */ { args }) => args.join(' ')).join('; ')}`)
    one.take([])
  }
  return all
}

test('steps go one after the other about one key, with their pauses; a transaction goes as a whole', (t) => {
  const { operations } = mixOf(t, steps)
  const [lock, both, mixed, several] = operations
  const [set, ...rest] = sentBy(lock, 7)
  assert.match(set, /^0: SET lock:2000000000007 .{4} EX 60$/s)
  assert.deepEqual(rest, ['25: GET lock:2000000000007', '0: DEL lock:2000000000007'])
  const [whole] = sentBy(both, 3)
  const [, id] =
    /^0: MULTI; INCR u:\{(\d+)\}:name; EXPIRE u:\{\1\}:mail 60; EXEC$/.exec(whole) ?? assert.fail(whole)
  assert.ok(Number(id) >= 1 && Number(id) <= 50)
  const played = /^0: GET u:\{(\d+)\}:name \/ 0: MULTI; DEL u:\{\1\}:name; DEL u:\{\1\}:mail; EXEC$/
  assert.match(sentBy(mixed, 9).join(' / '), played)
  const words = wordsOf(several, 5)
  assert.equal(words[1].replace('name', 'mail'), words[2])
  assert.deepEqual([lock.repeatable, both.repeatable], [true, false])
})

test('another live key is another one, and of one slot where the pattern says so', (t) => {
  const { operations } = mixOf(
    t,
    "keys:\n  'c:{{a}}:{id}': { type: string, keys: 3 }\nmix:\n  - { command: 'MGET c:{{a}}:{live} c:{{a}}:{live 2} c:{{a}}:{live 3}', share: 1 }\n",
  )
  for (let n = 1; n < 50; n++) {
    const keys = wordsOf(operations[0], n).slice(1)
    assert.deepEqual([...keys].sort(), ['c:{a}:1', 'c:{a}:2', 'c:{a}:3'])
  }
})

const oneOf = /has one of command, steps or transaction/
for (const [entry, message] of /** @type {const} */ ([
  ['{ share: 1 }', oneOf],
  ["{ command: 'GET lock:{live}', steps: ['GET lock:{live}'], share: 1 }", oneOf],
  ["{ steps: ['GET lock:{live}', 'pause 5'], share: 1 }", /a pause has a time, as in 'pause 20ms'/],
  ["{ steps: ['GET lock:{live}', 'pause 5ms'], share: 1 }", /a pause is between two commands/],
  ["{ command: 'GET lock:{own}', share: 1 }", /\{own\} is for steps and transactions/],
  ["{ transaction: ['GETT lock:{live}'], share: 1 }", /unknown command GETT/],
]))
  test(`refused: ${entry}`, (t) => {
    const text = `keys:\n  'lock:{id}': { type: string, keys: 9 }\nmix:\n  - ${entry}\n`
    assert.throws(() => mixOf(t, text), message)
  })
