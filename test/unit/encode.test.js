import assert from 'node:assert/strict'
import test from 'node:test'
import { encode, encodedSize, plainArgument, plainCommand } from '../../lib/wire/encode.js'
import { parseCommands, valuesAt, wireOf } from '../helpers/commands.js'
import { seeded } from '../helpers/random.js'
import { valuesOf } from '../helpers/table.js'

/** @import { Argument, Hole, Part } from '../../lib/wire/encode.js' */
/** @import { Random } from '../helpers/random.js' */

const values = valuesAt(1_790_000_000_123)

const encoded = (/** @type {Argument[]} */ args) => {
  const size = encodedSize(args)
  const out = Buffer.alloc(size + 20, '~')
  const end = encode(args, out, 10, values)
  assert.equal(end, 10 + size, 'sizeOf is what encode writes')
  assert.equal(out.toString('latin1', 0, 10), '~'.repeat(10))
  assert.equal(out.toString('latin1', end), '~'.repeat(10), 'nothing behind the command is touched')
  return out.subarray(10, end)
}

const shortTexts = ['', 'a', 'item:35', 'é', 'naïve€', '🂡🂢', 'abc\u0000\r\n', '\ud800']
const texts = [...shortTexts, 'x'.repeat(23), 'x'.repeat(24), 'y'.repeat(300), `${'é'.repeat(11)}a`]
const numbers = [
  0, -0, 1, 9, 10, 99, 100, 999, 1000, 9999, 10_000, 99_999, 100_000, 123_456_789, 1_790_000_000_123,
  9_007_199_254_740_991, -1, -300_000, 0.5, -1.25, 1e-7,
]

for (const value of [...texts, ...numbers])
  test(`${JSON.stringify(value)} alone`, () => {
    assert.deepEqual(encoded([value]), wireOf([value], values))
    assert.equal(plainArgument(value, values), String(value))
  })

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
    const length = 1 + random.below(random.chance(0.05) ? 1200 : 6)
    const args = Array.from({ length }, () => randomArgument(random))
    const bytes = encoded(args)
    assert.ok(bytes.equals(wireOf(args, values)), `seed ${seed}`)
    const plain = plainCommand(args, values).map((one) => Buffer.from(/** @type {string} */ (one)))
    assert.deepEqual(parseCommands(bytes), [plain], `seed ${seed}`)

    /** @type {Part[]} */
    const parts = args.flat()
    const noted = /** @type {{ hole: Hole, at: number }[]} */ ([])
    encode(args, Buffer.alloc(bytes.length), 0, values, (hole, at) => noted.push({ hole, at }))
    const inIt = parts.filter((part) => typeof part === 'object' && 'hole' in part)
    assert.deepEqual(valuesOf(noted, 'hole'), inIt)
    for (const { hole, at } of noted)
      assert.equal(bytes.toString('latin1', at, at + hole.width), values[hole.hole])
    const places = valuesOf(noted, 'at')
    const inOrder = [...new Set(places)].sort((a, b) => a - b)
    assert.deepEqual(places, inOrder)
  }
})

test('a plain argument is text unless one of its parts is bytes', () => {
  assert.equal(plainArgument(['a', 1, holes[1]], values), `a1${values.minute}`)
  const bytes = plainArgument(['é', Buffer.from([0xff, 0]), 2], values)
  assert.deepEqual(bytes, Buffer.from([0xc3, 0xa9, 0xff, 0, 0x32]))
  assert.deepEqual(plainArgument(Buffer.from('x'), values), Buffer.from('x'))
})
