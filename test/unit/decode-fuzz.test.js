// Both decoders against what no honest server sends: an error of ours or nothing, bounded memory, no hang.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MillraceError } from '../../lib/base/errors.js'
import { replyCounter } from '../../lib/wire/decode.js'
import { replyReader } from '../../lib/wire/values.js'
import { seeded } from '../helpers/random.js'

/** @import { Random } from '../helpers/random.js' */

/** @type {Record<string, () => { take: (bytes: Buffer) => void, told: () => number }>} what it told, in calls */
const decoders = {
  replyCounter: () => {
    let told = 0
    const take = replyCounter({
      done: (n) => (told += n),
      failed: () => void told++,
    })
    return { take, told: () => told }
  },
  replyReader: () => {
    let told = 0
    const tell = () => void told++
    const sink = { open: tell, bulk: tell, number: tell, nil: tell, error: tell }
    return { take: replyReader({ sink: () => sink, replied: tell }), told: () => told }
  },
}

/** The error that a decoder ended with, or null. @param {(bytes: Buffer) => void} take @param {Iterable<Buffer>} reads */
const faultOf = (take, reads) => {
  try {
    for (const read of reads) take(Buffer.from(read))
    return null
  } catch (error) {
    assert.ok(error instanceof MillraceError, String(error))
    assert.equal(error.code, 'PROTOCOL')
    assert.ok(error.message.length < 500 && !/[\p{Cc}]/u.test(error.message), error.message)
    return error
  }
}

/** @param {Random} random @param {number} depth @returns {string} */
const reply = (random, depth) => {
  const kind = random.below(depth > 3 ? 5 : 6)
  if (kind === 0) return '+OK\r\n'
  if (kind === 1) return `-ERR ${'x'.repeat(random.below(50))}\r\n`
  if (kind === 2) return `:${random.below(1e6) - 5e5}\r\n`
  if (kind === 3) return '$-1\r\n'
  if (kind === 4) {
    const length = random.below(200)
    return `$${length}\r\n${'\r\n$*+-:ab'.repeat(30).slice(0, length)}\r\n`
  }
  const length = random.below(6)
  return `*${length}\r\n${Array.from({ length }, () => reply(random, depth + 1)).join('')}`
}
const stream = (/** @type {Random} */ random) =>
  Buffer.from(Array.from({ length: 1 + random.below(8) }, () => reply(random, 0)).join(''), 'latin1')

const cut = (/** @type {Random} */ random, /** @type {Buffer} */ bytes) => {
  const reads = []
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + random.below(random.chance(0.5) ? 5 : 300)
    reads.push(bytes.subarray(at, at + size))
    at += size
  }
  return reads
}

/** ¶ is the end of a line of RESP, ↵ a line feed alone. @param {string} text */
const wire = (text) => text.split(' | ').map((one) => one.replaceAll('¶', '\r\n').replaceAll('↵', '\n'))
const hostile = [
  ...wire('$99999999999999999999¶ | $4294967296¶ | $536870913¶ | $-2¶ | $-¶ | $¶ | $1e3¶ | $12x¶ | $3¶abc↵↵'),
  ...wire('*2147483648¶ | *99999999999999999999¶ | *-7¶ | *¶ | *+3¶ | * 3¶ | *0x10¶'),
  ...wire('$3¶abcd↵¶ | $3¶abcdefgh¶ | $0¶x¶ | +OK↵ | *1↵ | :1↵ | ¶ | ↵¶ |  +OK¶'),
  ...wire(
    'HTTP/1.1 400 Bad Request¶¶ | \u0016\u0003\u0001\u0002¶ | <script>alert(1)</script>¶ | ?¶ | \0\0\0↵',
  ),
  ...wire('*1¶$-9¶ | *2¶+a¶b¶ | $00000000000003¶abc¶ | *\u001b[2J¶'),
]

/** Bytes that the process holds on to beyond those before. @param {() => void} work */
const growth = (work) => {
  const before = process.memoryUsage().rss
  work()
  return process.memoryUsage().rss - before
}

function* endless(/** @type {Buffer} */ read, /** @type {number} */ bytes) {
  for (let sent = 0; sent < bytes; sent += read.length) yield read
}

for (const [name, decoder] of Object.entries(decoders))
  describe(name, { timeout: 60_000 }, () => {
    test('random bytes that look like replies', () => {
      const alphabet = Buffer.from('+-:$*\r\n0123456789\r\n')
      for (let seed = 1; seed <= 2000; seed++) {
        const random = seeded(seed)
        const { take, told } = decoder()
        const bytes = Buffer.from(Array.from({ length: 300 }, () => alphabet[random.below(alphabet.length)]))
        faultOf(take, cut(random, bytes))
        assert.ok(told() <= 2 * bytes.length, `seed ${seed}`)
      }
    })

    test('truncated replies are waited for, wherever they end', () => {
      for (let seed = 1; seed <= 60; seed++) {
        const random = seeded(seed)
        const bytes = stream(random)
        const whole = decoder()
        assert.equal(faultOf(whole.take, cut(random, bytes)), null, `seed ${seed}`)
        for (let end = 0; end < bytes.length; end++) {
          const part = decoder()
          assert.equal(faultOf(part.take, [bytes.subarray(0, end)]), null, `seed ${seed} at ${end}`)
          assert.ok(part.told() <= whole.told())
        }
      }
    })

    test('replies with a byte changed, lost or added', () => {
      for (let seed = 1; seed <= 2000; seed++) {
        const random = seeded(seed)
        const bytes = stream(random)
        const at = random.below(bytes.length)
        const [before, after] = [bytes.subarray(0, at), bytes.subarray(at + (random.chance(0.7) ? 1 : 0))]
        const hurt = Buffer.concat([before, random.bytes(random.below(2)), after])
        const { take, told } = decoder()
        faultOf(take, cut(random, hurt))
        assert.ok(told() <= 2 * bytes.length, `seed ${seed}`)
      }
    })

    for (const text of hostile)
      test(`not RESP: ${JSON.stringify(text)}`, () => {
        const bytes = Buffer.from(text, 'latin1')
        assert.ok(faultOf(decoder().take, [bytes]), 'in one read')
        const single = [...bytes].map((byte) => Buffer.from([byte]))
        assert.ok(faultOf(decoder().take, single), 'byte by byte')
      })

    for (const type of ['+', '-', ':', '$', '*'])
      for (const size of [65_536, 1000, 20])
        test(`a line of ${type} that never ends, ${size} bytes a read`, () => {
          const { take, told } = decoder()
          const reads = [Buffer.from(type), ...endless(Buffer.alloc(size, '1'), 200_000)]
          // Short reads make 100 MB of garbage on the way to the limit of a line; when it is collected is Node's.
          const bound = size === 20 ? 200e6 : 64e6
          assert.ok(growth(() => assert.ok(faultOf(take, reads))) < bound)
          assert.equal(told(), 0)
        })

    for (const [what, text, bytes] of /** @type {[string, string, number][]} */ ([
      ['without an end', '*1\r\n'.repeat(16_384), 50e6],
      ['that grow wide', '*2147483647\r\n'.repeat(5000), 20e6],
    ]))
      test(`arrays in arrays ${what}`, () => {
        const { take } = decoder()
        const read = Buffer.from(text)
        assert.ok(growth(() => void faultOf(take, endless(read, bytes))) < 64e6)
      })

    test('lengths that are announced and never sent', () => {
      for (const header of ['$536870912\r\n', '*2147483647\r\n', '*2147483647\r\n$536870912\r\n']) {
        const grown = growth(() => {
          for (let i = 0; i < 4; i++) assert.equal(faultOf(decoder().take, [Buffer.from(header)]), null)
        })
        assert.ok(grown < 64e6, `${header} took ${grown}`)
      }
    })

    test('a bulk of the largest size is taken as it comes, and given back', () => {
      const { take, told } = decoder()
      const size = 64e6
      const read = Buffer.alloc(65_536, 'x')
      assert.equal(faultOf(take, [Buffer.from(`$${size}\r\n`), ...endless(read, size - 65_536)]), null)
      const before = told()
      const rest = size - Math.ceil((size - 65_536) / 65_536) * 65_536
      assert.equal(faultOf(take, [Buffer.alloc(rest, 'x'), Buffer.from('\r\n+OK\r\n')]), null)
      assert.ok(told() > before)
    })
  })

const framed = wire('+OK¶ | :12¶ | -ERR no¶ | $3¶abc¶ | *2¶:1¶$1¶x¶ | $-1¶ | *0¶')
// Text that a server may choose: a byte of it proves nothing.
const isFree = (/** @type {string} */ text, /** @type {number} */ i) =>
  ((text[0] === '+' || text[0] === '-') && i > 0 && i < text.length - 2) || /[a-z]/.test(text[i])

for (const [name, open] of Object.entries(decoders))
  test(`${name}: one broken byte of the framing ends the connection, cut anywhere`, () => {
    for (const text of framed)
      for (let i = 0; i < text.length; i++) {
        if (isFree(text, i)) continue
        const broken = `${text.slice(0, i)}\u0000${text.slice(i + 1)}`
        const stream = Buffer.from(`:0\r\n${broken}${'+OK\r\n'.repeat(3)}`, 'latin1')
        for (let cut = 0; cut <= stream.length; cut++) {
          const { take, told } = open()
          const reads = [stream.subarray(0, cut), stream.subarray(cut)]
          assert.ok(faultOf(take, reads), `${JSON.stringify(broken)} cut at ${cut}, told ${told()}`)
        }
      }
  })
