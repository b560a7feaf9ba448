import assert from 'node:assert/strict'
import test from 'node:test'
import { MillraceError } from '../../lib/base/errors.js'
import { replyCounter } from '../../lib/wire/decode.js'
import { seeded } from '../helpers/random.js'

/** @import { Random } from '../helpers/random.js' */

/** What a counter says about these reads: 'done' or the error's line, a reply each. @param {Buffer[]} reads */
const outcomesOf = (reads) => {
  /** @type {string[]} */
  const outcomes = []
  const count = replyCounter({
    done: (n) => {
      assert.ok(n > 0)
      for (let i = 0; i < n; i++) outcomes.push('done')
    },
    failed: (line) => outcomes.push(line),
  })
  for (const read of reads) {
    // As on a socket: the bytes are good for the length of the call only.
    const lent = Buffer.from(read)
    count(lent)
    lent.fill('+')
  }
  return outcomes
}

/** @param {Buffer} stream @param {number[]} places where it is cut */
const cutAt = (stream, places) => {
  const edges = [0, ...[...places].sort((a, b) => a - b), stream.length]
  return edges.slice(1).map((edge, i) => stream.subarray(edges[i], edge))
}

const bulk = (/** @type {string} */ text) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`

const fixed = [
  { name: 'status', stream: '+OK\r\n', outcomes: ['done'] },
  { name: 'status of any length', stream: '+\r\n+O\r\n+QUEUED\r\n', outcomes: ['done', 'done', 'done'] },
  { name: 'error', stream: '-ERR no\r\n', outcomes: ['ERR no'] },
  { name: 'integers', stream: ':1\r\n:-1\r\n:0\r\n', outcomes: ['done', 'done', 'done'] },
  { name: 'bulk', stream: bulk('abc') + bulk(''), outcomes: ['done', 'done'] },
  { name: 'bulk that looks like replies', stream: bulk('+OK\r\n-ERR\r\n*3\r\n'), outcomes: ['done'] },
  { name: 'nulls', stream: '$-1\r\n*-1\r\n', outcomes: ['done', 'done'] },
  { name: 'empty array', stream: '*0\r\n+OK\r\n', outcomes: ['done', 'done'] },
  { name: 'nested', stream: `*2\r\n*2\r\n:1\r\n${bulk('a')}*0\r\n+OK\r\n`, outcomes: ['done', 'done'] },
  { name: 'error first in an array', stream: '*2\r\n-ERR a\r\n:1\r\n', outcomes: ['done'] },
  { name: 'error last in an array', stream: '*2\r\n:1\r\n-ERR a\r\n-ERR b\r\n', outcomes: ['done', 'ERR b'] },
  {
    name: 'error last of all depths',
    stream: '*1\r\n*1\r\n-ERR a\r\n-ERR b\r\n',
    outcomes: ['done', 'ERR b'],
  },
  { name: 'OK last in an array', stream: '*2\r\n:1\r\n+OK\r\n-ERR b\r\n', outcomes: ['done', 'ERR b'] },
  {
    name: 'order is kept',
    stream: '+OK\r\n-E 1\r\n+OK\r\n+OK\r\n-E 2\r\n',
    outcomes: ['done', 'E 1', 'done', 'done', 'E 2'],
  },
  {
    name: 'RESP3 scalars',
    stream: '_\r\n#t\r\n,1.5\r\n(123456789012345678901\r\n',
    outcomes: ['done', 'done', 'done', 'done'],
  },
  { name: 'RESP3 verbatim', stream: '=7\r\ntxt:a\r\n\r\n', outcomes: ['done'] },
  {
    name: 'RESP3 set and map',
    stream: '~2\r\n:1\r\n-ERR x\r\n%1\r\n+a\r\n-ERR y\r\n',
    outcomes: ['done', 'done'],
  },
  {
    name: 'a push answers nobody',
    stream: '>2\r\n+message\r\n-ERR x\r\n-ERR mine\r\n',
    outcomes: ['ERR mine'],
  },
  {
    name: 'a push that ends in an array',
    stream: '>2\r\n+m\r\n*1\r\n:1\r\n-ERR mine\r\n',
    outcomes: ['ERR mine'],
  },
  {
    name: 'an attribute comes in front',
    stream: '|1\r\n+ttl\r\n:5\r\n-ERR mine\r\n',
    outcomes: ['ERR mine'],
  },
  {
    name: 'a long error',
    stream: `-ERR ${'long '.repeat(40)}\r\n:1\r\n`,
    outcomes: [`ERR ${'long '.repeat(40)}`, 'done'],
  },
]

for (const { name, stream, outcomes } of fixed) {
  test(`${name}, whole and cut at every byte`, () => {
    const bytes = Buffer.from(stream)
    assert.deepEqual(outcomesOf([bytes]), outcomes)
    assert.deepEqual(outcomesOf([...bytes].map((byte) => Buffer.from([byte]))), outcomes)
    for (let at = 1; at < bytes.length; at++)
      assert.deepEqual(outcomesOf(cutAt(bytes, [at])), outcomes, `cut at ${at}`)
  })
}

test('replies of one read are told together', () => {
  /** @type {number[]} */
  const counts = []
  const count = replyCounter({ done: (n) => counts.push(n), failed: () => counts.push(-1) })
  count(Buffer.from(`${'+OK\r\n'.repeat(1000)}-ERR\r\n${':1\r\n'.repeat(7)}`))
  assert.deepEqual(counts, [1000, -1, 7])
})

/** A reply of any kind, with errors in it that must not count. @param {Random} random @param {number} depth @returns {string} */
const randomReply = (random, depth) => {
  const many = () => Array.from({ length: random.below(4) }, () => randomReply(random, depth - 1))
  const texts = ['OK', '', 'PONG', '-ERR inside\r\n', '\r\n', '\n', '+OK\r\n', '*2\r\n', 'é', 'x'.repeat(80)]
  const scalars = [
    () => '+OK\r\n',
    () => `+${random.pick(['', 'A', 'AB', 'ABC', 'QUEUED'])}\r\n`,
    () => `:${random.below(1e6) - 5e5}\r\n`,
    () => '$-1\r\n',
    () => '*-1\r\n',
    () => '*0\r\n',
    () => bulk(random.pick(texts)),
    () =>
      random.pick([
        '_\r\n',
        '#t\r\n',
        '#f\r\n',
        ',-1.5e3\r\n',
        '(99999999999999999999\r\n',
        '=5\r\ntxt:a\r\n',
      ]),
    () => `-ERR inner ${random.below(100)}\r\n`,
  ]
  if (depth === 0 || random.chance(0.4)) return random.pick(scalars)()
  const mark = random.pick(['*', '~', '%'])
  const elements = mark === '%' ? many().flatMap((value) => ['+key\r\n', value]) : many()
  return `${mark}${mark === '%' ? elements.length / 2 : elements.length}\r\n${elements.join('')}`
}

test('random replies, cut anywhere, give the same outcomes', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = seeded(seed)
    const expected = []
    let text = ''
    for (let left = random.below(12) + 1; left > 0; left--) {
      if (random.chance(0.1)) text += `>2\r\n+push\r\n${randomReply(random, 2)}`
      if (random.chance(0.1)) text += `|1\r\n+about\r\n${randomReply(random, 1)}`
      if (random.chance(0.2)) {
        const line = `ERR ${random.pick(['', 'x', 'MOVED', 'a longer one, with words'])} ${left}`
        text += `-${line}\r\n`
        expected.push(line)
        continue
      }
      const reply = randomReply(random, 3)
      text += reply
      expected.push(reply.startsWith('-') ? reply.slice(1, -2) : 'done')
    }
    const bytes = Buffer.from(text)
    assert.deepEqual(outcomesOf([bytes]), expected, `seed ${seed}`)
    for (let round = 0; round < 10; round++) {
      const places = Array.from({ length: random.below(10) }, () => random.below(bytes.length + 1))
      assert.deepEqual(outcomesOf(cutAt(bytes, places)), expected, `seed ${seed}, cuts ${places}`)
    }
  }
})

for (const garbage of ['HTTP/1.1 400 Bad Request\r\n', '$x\r\n', '*1a\r\n', '\r\n\r\n', '\x16\x03\x01\n']) {
  test(`${JSON.stringify(garbage)} is no answer`, () => {
    /** @type {string[]} */
    const outcomes = []
    const count = replyCounter({
      done: (n) => outcomes.push(`${n} done`),
      failed: (line) => outcomes.push(line),
    })
    assert.throws(
      () => count(Buffer.from(`+OK\r\n+OK\r\n${garbage}`)),
      (error) =>
        error instanceof MillraceError && error.code === 'PROTOCOL' && /not RESP/.test(error.message),
    )
    assert.deepEqual(outcomes, ['2 done'], 'what was answered before it counts')
  })
}
