import assert from 'node:assert/strict'
import test from 'node:test'
import { noTally, replyCounter } from '../../lib/wire/decode.js'
import { seeded } from '../helpers/random.js'
import { rowsOf } from '../helpers/table.js'

/** @import { Random } from '../helpers/random.js' */

/** What a counter says about these reads: 'done' or the error's line, a reply each. @param {Buffer[]} reads */
const outcomesOf = (reads) => {
  const outcomes = /** @type {string[]} */ ([])
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

/** A name, a stream, in which ¶ is the end of a line of RESP, and its outcomes. */
const fixed = rowsOf(`
status -> +OK¶ -> done
status of any length -> +¶+O¶+QUEUED¶ -> done, done, done
error -> -ERR no¶ -> ERR no
integers -> :1¶:-1¶:0¶ -> done, done, done
bulk -> $3¶abc¶$0¶¶ -> done, done
bulk that looks like replies -> $15¶+OK¶-ERR¶*3¶¶ -> done
nulls -> $-1¶*-1¶ -> done, done
empty array -> *0¶+OK¶ -> done, done
nested -> *2¶*2¶:1¶$1¶a¶*0¶+OK¶ -> done, done
error first in an array -> *2¶-ERR a¶:1¶ -> done
error last in an array -> *2¶:1¶-ERR a¶-ERR b¶ -> done, ERR b
error last of all depths -> *1¶*1¶-ERR a¶-ERR b¶ -> done, ERR b
OK last in an array -> *2¶:1¶+OK¶-ERR b¶ -> done, ERR b
order is kept -> +OK¶-E 1¶+OK¶+OK¶-E 2¶ -> done, E 1, done, done, E 2
RESP3 scalars -> _¶#t¶,1.5¶(123456789012345678901¶ -> done, done, done, done
RESP3 verbatim -> =7¶txt:a¶¶ -> done
RESP3 set and map -> ~2¶:1¶-ERR x¶%1¶+a¶-ERR y¶ -> done, done
a push answers no command -> >2¶+message¶-ERR x¶-ERR mine¶ -> ERR mine
a push that ends in an array -> >2¶+m¶*1¶:1¶-ERR mine¶ -> ERR mine
an attribute comes in front -> |1¶+ttl¶:5¶-ERR mine¶ -> ERR mine
a long error -> -ERR ${'long '.repeat(40)}¶:1¶ -> ERR ${'long '.repeat(40)}, done
`)
for (const [name, stream, said] of fixed)
  test(`${name}, whole and cut at every byte`, () => {
    const bytes = Buffer.from(stream.replaceAll('¶', '\r\n'))
    const outcomes = said.split(', ')
    assert.deepEqual(outcomesOf([bytes]), outcomes)
    assert.deepEqual(outcomesOf([...bytes].map((byte) => Buffer.from([byte]))), outcomes)
    for (let at = 1; at < bytes.length; at++)
      assert.deepEqual(outcomesOf(cutAt(bytes, [at])), outcomes, `cut at ${at}`)
  })

test('replies of one read are told together', () => {
  const counts = /** @type {number[]} */ ([])
  const count = replyCounter({ done: (n) => counts.push(n), failed: () => counts.push(-1) })
  count(Buffer.from(`${'+OK\r\n'.repeat(1000)}-ERR\r\n${':1\r\n'.repeat(7)}`))
  assert.deepEqual(counts, [1000, -1, 7])
})

test('strings are counted by class, whole and cut anywhere, and those inside of an array are not', () => {
  const stream = Buffer.from(
    `${bulk('abc')}$-1\r\n${bulk('')}:1\r\n*1\r\n${bulk('in')}$007\r\nexactly\r\n:0\r\n${bulk('x'.repeat(99))}`,
  )
  for (let at = 0; at <= stream.length; at++) {
    const tally = noTally()
    const count = replyCounter({ done: () => {}, failed: () => {} }, tally)
    for (const bytes of cutAt(stream, [at])) count(bytes)
    assert.deepEqual(tally, { bulk: 4, nil: 1, zero: 1, one: 1 }, `cut at ${at}`)
  }
})

test('a string of which the end is missing is not counted', () => {
  const stream = Buffer.from(bulk('x'.repeat(99)))
  for (let at = 0; at < stream.length; at++) {
    const tally = noTally()
    const never = () => assert.fail()
    replyCounter({ done: never, failed: never }, tally)(stream.subarray(0, at))
    assert.equal(tally.bulk, 0, `cut at ${at}`)
  }
})

test('a string that does not end where its header says is refused', () => {
  for (const text of ['$3\r\nabcd\r\n', '$3\r\nab\r\n\r\n', '$3\rXabc\r\n', '$3\r\nabc\rX', '$3x\r\nabc\r\n'])
    assert.throws(() => outcomesOf([Buffer.from(`${bulk('fine')}${text}${bulk('fine')}`)]), text)
})

test('many OKs in a row, cut anywhere, and what is between them', () => {
  const oks = (/** @type {number} */ n) => '+OK\r\n'.repeat(n)
  const done = (/** @type {number} */ n) => Array(n).fill('done')
  /** @type {[string, string[]][]} */
  const cases = [
    ['', []],
    ['-ERR no\r\n', ['ERR no']],
    ['+KO\r\n', ['done']],
    [':1\r\n', ['done']],
    [bulk(oks(30)), ['done']],
    [`*2\r\n${oks(1)}-ERR in\r\n`, ['done']],
  ]
  for (const [between, said] of cases) {
    const bytes = Buffer.from(`${oks(30)}${between}${oks(25)}`)
    const outcomes = [...done(30), ...said, ...done(25)]
    for (let at = 0; at <= bytes.length; at++)
      assert.deepEqual(outcomesOf(cutAt(bytes, [at])), outcomes, `${between} cut at ${at}`)
  }
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
    () => random.pick(['_', '#t', '#f', ',-1.5e3', '(99999999999999999999', '=5\r\ntxt:a']).concat('\r\n'),
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

for (const garbage of ['HTTP/1.1 400 Bad Request\r\n', '$x\r\n', '*1a\r\n', '\r\n\r\n', '\x16\x03\x01\n'])
  test(`${JSON.stringify(garbage)} is no answer`, () => {
    const outcomes = /** @type {string[]} */ ([])
    const done = (/** @type {number} */ n) => outcomes.push(`${n} done`)
    const count = replyCounter({ done, failed: (line) => outcomes.push(line) })
    const read = Buffer.from(`+OK\r\n+OK\r\n${garbage}`)
    assert.throws(() => count(read), { code: 'PROTOCOL', message: /not RESP/ })
    assert.deepEqual(outcomes, ['2 done'], 'what was answered before it counts')
  })
