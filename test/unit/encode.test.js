import assert from 'node:assert/strict'
import test from 'node:test'
import { encode, encodedSize, plainArgument, plainCommand } from '../../lib/wire/encode.js'
import { parseCommands, valuesAt, wireOf } from '../helpers/commands.js'
import { seeded } from '../helpers/random.js'
import { valuesOf } from '../helpers/table.js'

/** @import { Argument, Hole, Part } from '../../lib/wire/encode.js' */
/** @import { Random } from '../helpers/random.js' */

const values = valuesAt(1_790_000_000_123)

/** @param {Argument[]} args */
const encoded = (args) => {
  const size = encodedSize(args)
  const out = Buffer.alloc(size + 20, '~')
  const end = encode(args, out, 10, values)
  assert.equal(end, 10 + size, 'sizeOf is what encode writes')
  assert.equal(out.toString('latin1', 0, 10), '~'.repeat(10))
  assert.equal(out.toString('latin1', end), '~'.repeat(10), 'nothing behind the command is touched')
  return out.subarray(10, end)
}

const texts = [
  '',
  'a',
  'item:35',
  'x'.repeat(23),
  'x'.repeat(24),
  'y'.repeat(300),
  'é',
  'naïve€',
  '🂡🂢',
  'abc\u0000\r\n',
  `${'é'.repeat(11)}a`,
  '\ud800',
]
const numbers = [
  0,
  -0,
  1,
  9,
  10,
  99,
  100,
  999,
  1000,
  9999,
  10_000,
  99_999,
  100_000,
  123_456_789,
  1_790_000_000_123,
  2 ** 53 - 1,
  -1,
  -300_000,
  0.5,
  -1.25,
  1e-7,
]

for (const value of [...texts, ...numbers]) {
  test(`${JSON.stringify(value)} alone`, () => {
    assert.deepEqual(encoded([value]), wireOf([value], values))
    const plain = plainArgument(value, values)
    assert.equal(plain, String(value))
  })
}

/** @type {Hole[]} */
const holes = [
  { hole: 'score', width: 13 },
  { hole: 'minute', width: 8 },
  { hole: 'floor', width: 13 },
  { hole: 'stamp', width: 13 },
]

/** @param {Random} random @returns {Part} */
const randomPart = (random) =>
  random.pick([
    () => random.pick(texts),
    () => random.pick(numbers),
    () => random.below(10 ** random.below(16)),
    () => random.bytes(random.below(40)),
    () => new Uint8Array(random.bytes(random.below(5))),
    () => random.pick(holes),
  ])()

/** @param {Random} random @returns {Argument} */
const randomArgument = (random) =>
  random.chance(0.3) ? Array.from({ length: random.below(4) }, () => randomPart(random)) : randomPart(random)

test('random commands: size, bytes, places of holes, and the same as a client library gets', () => {
  for (let seed = 1; seed <= 2000; seed++) {
    const random = seeded(seed)
    const args = Array.from({ length: 1 + random.below(random.chance(0.05) ? 1200 : 6) }, () =>
      randomArgument(random),
    )
    const bytes = encoded(args)
    const expected = wireOf(args, values)
    assert.ok(bytes.equals(expected), `seed ${seed}`)
    const [parsed, ...more] = parseCommands(bytes)
    assert.equal(more.length, 0)
    assert.deepEqual(
      parsed,
      plainCommand(args, values).map((plain) => Buffer.from(/** @type {string} */ (plain))),
      `seed ${seed}`,
    )

    /** @type {Part[]} */
    const parts = args.flat()
    const noted = /** @type {{ hole: Hole, at: number }[]} */ ([])
    encode(args, Buffer.alloc(bytes.length), 0, values, (hole, at) => noted.push({ hole, at }))
    assert.deepEqual(
      valuesOf(noted, 'hole'),
      parts.filter((part) => typeof part === 'object' && 'hole' in part),
    )
    for (const { hole, at } of noted)
      assert.equal(bytes.toString('latin1', at, at + hole.width), values[hole.hole])
    assert.ok(
      noted.every(({ at }, i) => i === 0 || at > noted[i - 1].at),
      'in ascending order',
    )
  }
})

test('commands one behind the other', () => {
  const commands = [['PING'], ['SET', 'a', 1], ['ZADD', 'z', holes[0], ['item:', 7]]]
  const out = Buffer.alloc(commands.reduce((sum, args) => sum + encodedSize(args), 0))
  let at = 0
  for (const args of commands) at = encode(args, out, at, values)
  assert.equal(at, out.length)
  assert.deepEqual(
    parseCommands(out).map((args) => args.join(' ')),
    ['PING', 'SET a 1', `ZADD z ${values.score} item:7`],
  )
})

test('a plain argument is text unless one of its parts is bytes', () => {
  assert.equal(plainArgument(['a', 1, holes[1]], values), `a1${values.minute}`)
  assert.deepEqual(
    plainArgument(['é', Buffer.from([0xff, 0]), 2], values),
    Buffer.from([0xc3, 0xa9, 0xff, 0, 0x32]),
  )
  assert.deepEqual(plainArgument(Buffer.from('x'), values), Buffer.from('x'))
})
