import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { everyKey, readPage } from '../../lib/answers/profile/every-key.js'
import { copyRdb, rdbHead } from '../../lib/answers/profile/rdb.js'
import { canLoad, fittingServer, partFor } from '../../lib/cli/snapshot.js'
import { flameSvg } from '../../lib/report/flame.js'
import { ownFolder } from '../helpers/programs.js'

const server = (/** @type {string} */ text) => {
  const [name, version] = text.split(' ')
  return { file: text, argv0: '', name, version, major: Number(version.split('.')[0]) }
}

for (const [product, format, version, loads] of /** @type {const} */ ([
  ['redis', 9, 'redis 6.2.14', true],
  ['redis', 10, 'redis 6.2.14', false],
  ['redis', 10, 'redis 7.0.15', true],
  ['redis', 11, 'redis 7.0.15', false],
  ['redis', 11, 'valkey 8.0.1', true],
  ['redis', 12, 'valkey 9.1.2', false],
  ['redis', 12, 'redis 8.2.3', true],
  ['valkey', 80, 'valkey 9.1.2', true],
  ['valkey', 80, 'redis 8.2.3', false],
  ['valkey', 80, 'valkey 8.1.8', false],
]))
  test(`format ${format} of ${product} and ${version}`, () =>
    assert.equal(canLoad({ product, format, version: null }, server(version)), loads))

test('the server that is most like the one that saved the file is taken', () => {
  const all = ['redis 8.2.3', 'valkey 8.0.1', 'redis 7.0.15', 'valkey 9.1.2'].map(server)
  const found = (/** @type {any} */ file) => fittingServer(file, all)?.file
  assert.equal(found({ product: 'redis', format: 10, version: '7.0.5' }), 'redis 7.0.15')
  assert.equal(found({ product: 'redis', format: 12, version: '7.4.1' }), 'redis 8.2.3')
  assert.equal(found({ product: 'valkey', format: 80, version: '9.0.0' }), 'valkey 9.1.2')
  assert.equal(found({ product: 'redis', format: 13, version: '9.0.0' }), undefined)
})

test('as many keys as the free memory has room for, with a fifth left free', () => {
  assert.equal(partFor({ usedMemory: 100, size: 50, free: 1000 }), 1)
  assert.equal(partFor({ usedMemory: 1000, size: 50, free: 1000 }), 0.8)
  assert.equal(partFor({ usedMemory: null, size: 1000, free: 375 }), 0.1)
  assert.equal(partFor({ usedMemory: 1e9, size: 1, free: 1 }), 0)
})

test('what is no snapshot, or ends too early, is refused with its name', (t) => {
  const folder = ownFolder(t, 'rdb')
  const file = (/** @type {string} */ name, /** @type {Buffer} */ bytes) => {
    writeFileSync(join(folder, name), bytes)
    return join(folder, name)
  }
  const refused = (/** @type {string} */ path) => {
    const copy = () => copyRdb({ path, to: join(folder, 'copy'), shiftMs: 0, keeps: () => true })
    try {
      copy()
    } catch (error) {
      return String(/** @type {Error} */ (error).message)
    }
    return ''
  }
  const said = refused(file('text', Buffer.from('hello, this is no snapshot')))
  assert.match(said, /^--snapshot \S+text: it does not begin as a snapshot does$/)
  const begin = Buffer.from('REDIS0010')
  const [short, odd] = [Buffer.from([0, 5, 97]), Buffer.from([99, 1, 97])]
  assert.match(
    refused(file('short', Buffer.concat([begin, short]))),
    /short: it ends in the middle of a key$/,
  )
  assert.match(
    refused(file('odd', Buffer.concat([begin, odd]))),
    /odd: it has a value of the unknown type 99$/,
  )
  assert.throws(() => rdbHead(join(folder, 'away')), /away cannot be read \(ENOENT\)/)
})

test('keys of a page are read as the script writes them', () => {
  const found = /** @type {any[]} */ ([])
  readPage(Buffer.from('string raw -1 120 7 3\na:1hash hashtable 2500 90000 12 5\nb c\nd'), (name, key) =>
    found.push([String(name), { ...key }]),
  )
  assert.deepEqual(found, [
    ['a:1', { type: 'string', encoding: 'raw', leftMs: -1, memory: 120, size: 7 }],
    ['b c\nd', { type: 'hash', encoding: 'hashtable', leftMs: 2500, memory: 90000, size: 12 }],
  ])
})

test('of all keys sums are exact; of a part 95 % intervals have the truth as often as they say', () => {
  const keys = Array.from({ length: 1500 }, (_, i) => ({
    name: Buffer.from(`k:${i}`),
    memory: 50 + ((i * 7919) % 1000),
  }))
  const truth = keys.reduce((sum, { memory }) => sum + memory, 0)
  const key = { type: 'string', encoding: 'raw', leftMs: -1, size: 3 }
  const whole = everyKey({ part: 1, seed: 1, isAnonymous: false })
  for (const { name, memory } of keys) whole.add(name, { ...key, memory })
  const [all] = whole.patterns()
  assert.deepEqual(all.memory_bytes, { value: truth, low: truth, high: truth })
  assert.equal(all.keys.value, 1500)
  assert.equal(whole.largest()[0].memory_bytes, Math.max(...keys.map(({ memory }) => memory)))
  let covered = 0
  for (let seed = 1; seed <= 200; seed++) {
    const some = everyKey({ part: 0.2, seed, isAnonymous: false })
    let state = seed * 7919
    for (const { name, memory } of keys) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      if (state / 2 ** 32 < 0.2) some.add(name, { ...key, memory })
    }
    const { low, high } = some.patterns()[0].memory_bytes
    if (low <= truth && truth <= high) covered++
  }
  assert.ok(covered >= 182 && covered <= 199, `${covered} of 200`)
})

test('a bar of the picture is as wide as its memory, and what patterns share is one bar', () => {
  const svg = flameSvg(
    [
      { pieces: ['user', ':', '{n}'], weight: 600 },
      { pieces: ['user', ':', 'x<&>'], weight: 300 },
      { pieces: ['cart', ':', '{n}'], weight: 100 },
    ],
    'memory',
  )
  const widthOf = (/** @type {string} */ name) =>
    Number(
      new RegExp(`<title>${name}: [^<]*</title><rect x="[^"]*" y="[^"]*" width="([\\d.]+)"`).exec(svg)?.[1],
    )
  assert.equal(['user:', 'cart:'].map((name) => Math.round(widthOf(name) / 12)).join(), '90,10')
  assert.match(svg, /user:x&#60;&#38;&#62;/)
  assert.equal(svg.split('<g>').length - 1, 6)
})
