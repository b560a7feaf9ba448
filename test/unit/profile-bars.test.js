// The bars of bench:profile: what is within, what the profile said before, and what is outside.
import assert from 'node:assert/strict'
import test from 'node:test'
import * as profileBars from '../../scripts/bench/profile-bars.js'

const { barLines, barsOf, countsOf, medianApart, ownDistance, pingsOf, summaryLines, turnBars } = profileBars
/** @param {string} name @param {number} perS */
const command = (name, perS) => ({ name, per_s: perS, is_data: true })
/** @param {string} name @param {number} median */
const pattern = (name, median) => ({ pattern: name, expiring: 1, left_s: { median } })
const side = (/** @type {object} */ changed, /** @type {object} */ expected = {}) => ({
  commands: [command('get', 900), command('set', 100), { name: 'ping', per_s: 50, is_data: false }],
  patterns: [pattern('millrace:plan', 999), pattern('page:{n}', 10)],
  ...{ complete: true, keys: 1000, memory_bytes: 1e6, bytes_in_per_s: 1e5, bytes_out_per_s: 1e6 },
  workload: { expected },
  own: { commands_share: 0.008, cpu_share: 0.002, server_cpu_share: 0.004 },
  ...changed,
})

const about = {
  ...{ id: 'redis/cart', part: /** @type {const} */ ('cpu'), application: 'cart', server: 'redis' },
  ...{ version: '7.0.15', started: '', hardware: '' },
}
/** CPU of turns. @param {...number} cpu */
const turned = (...cpu) =>
  turnBars(
    cpu.map((cpu_pct) => ({ cpu_pct })),
    { low: 8, high: 12 },
  )

test('a bar is within its limit, covered by what the profile said, or outside', () => {
  const said = { bytes_in_per_s: { value: 1e5, low: 0.8e5, high: 1.2e5 } }
  const original = side({}, said)
  const rulings = (/** @type {object} */ changed) =>
    Object.fromEntries(barsOf(original, side(changed)).map(({ name, ruling }) => [name, ruling]))
  assert.deepEqual(new Set(Object.values(rulings({}))), new Set(['within']))
  assert.equal(rulings({ bytes_in_per_s: 1.15e5 })['bytes in'], 'covered')
  assert.equal(rulings({ bytes_in_per_s: 1.25e5 })['bytes in'], 'outside')
  assert.equal(rulings({ keys: 1051 }).keys, 'outside')
  // Of a sample 10 %.
  assert.equal(rulings({ memory_bytes: 1.08e6 }).memory, 'outside')
  assert.equal(rulings({ memory_bytes: 1.08e6, complete: false }).memory, 'within')
  const [share] = barsOf(original, side({ commands: [command('get', 870), command('set', 130)] }))
  assert.equal(share.ruling, 'outside')
  assert.ok(Math.abs(share.apart - 0.03) < 1e-9)
  assert.equal(rulings({ patterns: [pattern('p', 8)] }).lifetime, 'outside')
})

test('bars are counted by their rulings', () => {
  const bars = [...barsOf(side({}), side({})), ...turned(10, 20, 10).replay]
  const line = { ...about, kind: /** @type {const} */ ('replay'), bars }
  assert.deepEqual(countsOf([line]), { bars: 7, within: 6, covered: 0, outside: 1 })
  assert.equal(summaryLines([line]).at(-1), '7 bars: 6 within, 0 covered, 1 outside')
  const words = 'server CPU 10.0, 20.0 % of a core (+100.0 %), said 8.000 to 12.0: outside'
  assert.ok(barLines(line).includes(`redis/cart replay: ${words}`))
})

test('what changes evenly with time is in both means of turns alike', () => {
  const { replay, control } = turned(10, 9.5, 9, 8.5, 8)
  assert.deepEqual([replay[0].apart, control[0].apart, replay[0].ruling], [0, 0, 'within'])
  assert.equal(turned(10, 11, 10, 11.4, 10).replay[0].ruling, 'covered')
  const pings = turnBars([100, 130, 100, 130, 100].map((p50) => ({ p50, p99: 4 * p50 })))
  const rulings = [...pings.replay, ...pings.control].map(({ name, ruling }) => `${name} ${ruling}`).join()
  const [ofReplay, ofControl] = ['outside', 'within'].map((is) => `bystander p50 ${is},bystander p99 ${is}`)
  assert.equal(rulings, `${ofReplay},${ofControl}`)
})

test('a moment in which the machine did something else is in one window of a bystander', () => {
  const calm = Array.from({ length: 200 }, (_, i) => 100 + i / 10)
  const busy = calm.map((us, i) => (i % 10 === 0 ? 5000 : us))
  const all = [...calm, ...busy, ...calm]
  const { p50, p99 } = pingsOf(all, [calm, busy, calm])
  assert.ok(p50 > 100 && p50 < 120)
  assert.ok(p99 < 120)
  // A window that was cut short says nothing of its p99; all together do.
  assert.equal(pingsOf(busy, [busy.slice(0, 20)]).p99, 5000)
})

test('a replay is further from its application than this from itself, or not told from it', () => {
  const line = (/** @type {number} */ cpu) => ({
    ...{ ...about, kind: /** @type {const} */ ('control') },
    bars: turned(10, cpu, 10).replay,
  })
  // A fifth less is a quarter apart.
  const { most, isFurther } = ownDistance([line(8), line(11), line(10)], 'server CPU')
  assert.ok(Math.abs(most - 0.25) < 1e-9)
  const further = [12, 12.6, 8.1, 7.9].map((cpu) => isFurther(line(cpu).bars[0]))
  assert.deepEqual(further, [false, true, false, true])
  assert.ok(Math.abs(medianApart([line(8), line(11), line(10)], 'server CPU')) < 1e-9)
})
