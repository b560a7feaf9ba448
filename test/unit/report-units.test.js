import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alignedTable, shortened, wrapped } from '../../lib/base/layout.js'
import {
  asPercent,
  bytes,
  clockTime,
  count,
  micros,
  percent,
  period,
  plainData,
  plainText,
  rate,
  several,
} from '../../lib/base/units.js'

/** @type {Record<string, any>} */
const odd = { null: null, undefined, NaN: Number.NaN, Infinity }
const agents = (/** @type {any} */ n) => several(n, 'agent')
const formats = { count, rate, percent, asPercent, micros, bytes, period, clockTime, agents }
// A format, values and how they are written.
for (const row of `
count: 0 -> 0 | 18000000 -> 18,000,000 | null -> – | undefined -> – | NaN -> – | Infinity -> –
rate: 299987.3 -> 299,987 | 0.5 -> 0.5 | 2.345 -> 2.35 | 0 -> 0 | null -> –
percent: 0 -> 0.0 % | 48.24 -> 48.2 % | 99.94 -> 99.9 % | 99.96 -> 100 % | 142.4 -> 142 % | null -> –
asPercent: 1 -> 100 % | 0.99996 -> 99.9 % | 0.9999999 -> 99.9 % | 0.5 -> 50 % | 0.29 -> 29 % | 1.002 -> 100 % | 0.41799 -> 41.7 % | 0.0041799 -> 0.417 % | null -> –
micros: 0 -> 0 µs | 0.2278 -> 0.228 µs | 9.996 -> 10.0 µs | 950 -> 950 µs | 999.6 -> 1.00 ms | 12345 -> 12.3 ms | 999900 -> 1.00 s | 75e6 -> 75.0 s | null -> –
bytes: 128 -> 128 B | 262.11 -> 262 B | 524288 -> 524 kB | 61234567 -> 61.2 MB | 3.2e15 -> 3,200 TB | null -> –
period: 250 -> 250 ms | 1000 -> 1 s | 2500 -> 2.5 s | 60000 -> 60 s
clockTime: 0 -> 0:00 | 42900 -> 0:42 | 3599999 -> 59:59 | 3723000 -> 1:02:03 | -5 -> 0:00
agents: 1 -> 1 agent | 8 -> 8 agents | 0 -> 0 agents
`
  .trim()
  .split('\n')) {
  const [name, cases] = row.split(': ', 2)
  for (const [value, words] of cases.split(' | ').map((one) => one.split(' -> ')))
    test(`as people read it: ${name} ${value}`, () => {
      const format = formats[/** @type {keyof typeof formats} */ (name)]
      assert.equal(format(value in odd ? odd[value] : Number(value)), words)
    })
}

test('plainText leaves nothing that a terminal obeys', () => {
  const esc = '\x1b'
  const table = [
    ['OOM command not allowed', 'OOM command not allowed'],
    [`${esc}[31mred${esc}[0m`, 'red'],
    [`a${esc}]0;title\x07b`, 'ab'],
    [`a${esc}]8;;http://x${esc}\\link`, 'alink'],
    ['a\x9b2Jb', 'ab'],
    ['two\r\nlines\tand\u2028more', 'two lines and more'],
    [`torn ${esc}`, 'torn '],
    ['\u202Eevil\u2066', 'evil'],
    ['bell\x07 nul\0', 'bell nul'],
    ['µ – é 日', 'µ – é 日'],
  ]
  for (const [text, plain] of table) assert.equal(plainText(text), plain)
  const noise = Array.from({ length: 0xffff }, (_, code) => String.fromCharCode(code)).join('')
  assert.doesNotMatch(plainText(noise), /[\p{Cc}\p{Cf}\p{Cs}]/u)
})

test('plainData cleans names and texts at any depth and keeps only what JSON can hold', () => {
  const k = { deep: 'a\nb', gone: undefined }
  const data = { a: ['\x1b[2Jx', Number.NaN, 1], 'k\x07': k, no: null, yes: true }
  assert.deepEqual(plainData(data), { a: ['x', null, 1], k: { deep: 'a b' }, no: null, yes: true })
})

test('wrapped breaks at gaps, then at spaces, and cuts what is left', () => {
  assert.deepEqual(wrapped('aa · bb · cc', 7, ' · '), ['aa · bb', 'cc'])
  assert.deepEqual(wrapped('aa · long words here', 10, ' · '), ['aa', 'long words', 'here'])
  assert.deepEqual(wrapped('abcdefghij kl', 4), ['abcd', 'efgh', 'ij', 'kl'])
  assert.deepEqual(wrapped('at 99 %', 5), ['at', '99 %'])
})

test('shortened keeps both ends', () => {
  assert.equal(shortened('short', 8), 'short')
  assert.equal(shortened('millrace-0001.example:6379', 11), 'millr…:6379')
})

test('alignedTable drops the highest rank first and shortens the first column', () => {
  const rows = [{ name: 'x'.repeat(40), a: '1', b: '22' }]
  const columns = [
    { title: 'name', left: true, cell: (/** @type {any} */ row) => row.name },
    { title: 'a', cell: (/** @type {any} */ row) => row.a, rank: 2 },
    { title: 'b', cell: (/** @type {any} */ row) => row.b, rank: 1 },
  ]
  assert.deepEqual(alignedTable(columns, rows, 80), [
    `name${' '.repeat(36)}  a   b`,
    `${'x'.repeat(40)}  1  22`,
  ])
  const at = (/** @type {number} */ width) => alignedTable(columns, rows, width)[1]
  assert.match(at(35), /^x+…x+ {2}1 {2}22$/)
  assert.match(at(28), /^x+…x+ {2}22$/)
  assert.match(at(12), /^x+…x+$/)
  for (const width of [12, 20, 28, 35, 47, 80]) assert.ok(at(width).length <= width)
})
