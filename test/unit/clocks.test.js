import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fetches } from '../../lib/measures/fetches.js'
import { foldOf } from '../../lib/measures/fold.js'
import { lineOf, recordOf } from '../../lib/measures/index.js'
import { clockNote } from '../../lib/measures/warnings.js'
import { clocksOf, steadyClock } from '../../lib/probes/clocks.js'
import { clockOf, watchedClocks } from '../../lib/probes/run-clock.js'
import { valuesOf } from '../helpers/table.js'

/** @import { Warning } from '../../lib/measures/warnings.js' */

const epochMs = 1_790_000_000_000

/** A box and its servers, whose clocks are set by hand; a question takes `wayMs` there and as long back. */
const world = ({ boxAheadMs = 0, wayMs = 1, masters = ['a:1', 'b:1', 'c:1'] } = {}) => {
  const state = { passedMs: 0, boxAheadMs, serverAheadMs: /** @type {Record<string, number>} */ ({}), wayMs }
  const steady = steadyClock({
    wall: () => epochMs + state.passedMs + state.boxAheadMs,
    monotonic: () => state.passedMs,
  })
  const time = async (/** @type {string} */ address) => {
    state.passedMs += state.wayMs
    const nowUs = Math.round((epochMs + state.passedMs + (state.serverAheadMs[address] ?? 0)) * 1000)
    state.passedMs += state.wayMs
    return /** @type {[number, number]} */ ([Math.floor(nowUs / 1e6), nowUs % 1e6])
  }
  const target = /** @type {any} */ ({ topology: { masters }, time })
  const warnings = /** @type {Warning[]} */ ([])
  const open = (/** @type {string[]} */ ...allow) =>
    clockOf({ target, allow, steady, warn: (warning) => warnings.push(warning) })
  return { state, steady, time, warnings, open }
}
const near = (/** @type {number} */ value, /** @type {number} */ expected, within = 20) =>
  assert.ok(Math.abs(value - expected) <= within, `${value}, not ${expected}`)

test('a reader notes a clock that is certainly more than a second off: it is known to half a round trip', () => {
  const noted = ['1001 0', '-1001 0', '1900 1700', '1000 0', '-1900 1900'].map((terms) => {
    const [offset, rtt] = terms.split(' ').map(Number)
    return clockNote([{ address: 'a:1', offset_ms: offset, rtt_ms: rtt }], 'ages are') !== false
  })
  assert.deepEqual(noted, [true, true, true, false, false])
})

describe('the time of a run', () => {
  test('is that of the servers', async () => {
    const { state, open, warnings } = world({ boxAheadMs: 800 })
    const clock = await open()
    near(clock.now(), epochMs + state.passedMs)
    assert.deepEqual(valuesOf(warnings, 'code', 'invalidates'), ['clock', false])
    const words = /^this box's clock is 0\.8 s ahead of that of the servers: scores are by/
    assert.match(warnings[0].message, words)
    assert.equal(clock.figures().length, 3)
  })

  test("is by the closest of several readings of this box's two clocks, since it may be stopped between them", () => {
    const stopsMs = [10, 0, 10, 10]
    let passedMs = 0
    const clock = steadyClock({
      wall: () => {
        const readMs = epochMs + passedMs
        passedMs += stopsMs.shift() ?? 0.001
        return readMs
      },
      monotonic: () => passedMs,
    })
    assert.equal(clock.epochMs(), epochMs + passedMs)
    assert.equal(clock.jumpMs(), 0)
  })

  test('is ours where the answer to TIME is no time', async () => {
    const steady = steadyClock({ wall: () => epochMs, monotonic: () => 0 })
    for (const answer of ['OK', ['x', 'y'], [], [1]]) {
      const target = /** @type {any} */ ({ topology: { masters: ['a:1'] }, time: async () => answer })
      const clock = await clockOf({ target, allow: [], steady, warn: ({ message }) => assert.fail(message) })
      assert.deepEqual([clock.now(), clock.figures()], [epochMs, []])
    }
  })

  test('a box whose clock is off by more than a second is refused, unless that is allowed', async () => {
    const ahead = world({ boxAheadMs: 3_600_000 })
    const message = /^this box's clock is 3,600\.0 s ahead of that of a:1: over 1 s.*--allow clock$/
    await assert.rejects(ahead.open(), { name: 'TargetError', message })
    const clock = await ahead.open('memory', 'clock')
    near(clock.now(), epochMs + ahead.state.passedMs)
    assert.equal(ahead.warnings.length, 1)
    await assert.rejects(world({ boxAheadMs: -2000 }).open(), /2\.0 s behind that of a:1/)
  })

  test('one server that is wrong is named; the middle one is followed', async () => {
    const one = world()
    one.state.serverAheadMs = { 'b:1': 5000 }
    await assert.rejects(one.open(), /5\.0 s behind that of b:1/)
    near((await one.open('clock')).now(), epochMs + one.state.passedMs)
  })

  test('a slow answer refuses nobody: what is not certain is no difference', async () => {
    const { open, state, warnings } = world({ boxAheadMs: 1200, wayMs: 500, masters: ['a:1'] })
    near((await open()).now(), epochMs + state.passedMs)
    assert.match(warnings[0].message, /^this box's clock is 1\.2 s ahead of/)
  })

  test("this box's clock is set midway: not valid, and scores stay right", async () => {
    const { open, state, warnings } = world()
    const clock = await open()
    assert.deepEqual(await clock.check(1000), [])
    state.boxAheadMs = 3_600_000
    assert.deepEqual(await clock.check(2000), ["this box's clock jumped by +3600.0 s"])
    assert.deepEqual(await clock.check(3000), [], 'said once')
    near(clock.now(), epochMs + state.passedMs)
    assert.equal(warnings.length, 1)
    const [{ code, message, invalidates = true }] = warnings
    assert.deepEqual([code, invalidates], ['clock-jump', true])
    assert.match(message, /jumped by \+3600\.0 s at 2\.0 s of the run/)
  })

  test("a server's clock is set midway: not valid, by name", async () => {
    const { open, state, warnings } = world()
    const clock = await open()
    state.serverAheadMs = { 'c:1': -10_000 }
    assert.deepEqual(await clock.check(1000), ['the clock of c:1 jumped by −10.0 s'])
    assert.equal(warnings.length, 1)
    near(clock.now(), epochMs + state.passedMs)
  })
})

test('readers and workers report a clock of a server that is set midway, once, and not their own', async () => {
  const { state, steady, time, warnings } = world()
  const servers = () => ['a:1', 'b:1']
  const warn = (/** @type {typeof warnings[0]} */ warning) => warnings.push(warning)
  const clocks = await watchedClocks({ target: { time }, servers, effect: 'ages are wrong', warn, steady })
  state.boxAheadMs = 3_600_000
  assert.deepEqual(await clocks.check(1000), [])
  state.serverAheadMs = { 'b:1': 5000 }
  assert.deepEqual(await clocks.check(2000), ['the clock of b:1 jumped by +5.0 s'])
  assert.deepEqual(await clocks.check(3000), [])
  near(clocks.at('b:1'), epochMs + state.passedMs + 5000)
  const [{ code, message, invalidates = true }, ...more] = warnings
  assert.deepEqual([code, invalidates, more], ['clock-jump', true, []])
  const effect = 'ages are wrong; keep the clocks in step (NTP) and repeat'
  assert.equal(message, `the clock of b:1 jumped by +5.0 s at 2.0 s of the run: ${effect}`)
})

test('a worse measurement changes nothing, one that contradicts does', async () => {
  const { state, steady, time } = world()
  const clocks = clocksOf({ time, epochMs: steady.epochMs })
  for (const [wayMs, aheadMs, foundMs] of [
    [1, 100, 100],
    [200, 150, 100],
    [200, 900, 900],
  ]) {
    Object.assign(state, { wayMs, serverAheadMs: { 'a:1': aheadMs } })
    await clocks.measure(['a:1'])
    near(clocks.offsetMs(['a:1']), foundMs, 2)
  }
  assert.deepEqual(clocks.moved(), [], 'less than a second')
})

test('the age of an item from the future is unknown, not 0', async () => {
  const source = /** @type {any} */ (
    await fetches.open(/** @type {any} */ ({ clock: () => 0, plan: { values: true } }))
  )
  const fold = foldOf(recordOf([fetches]))
  const summary = () => fetches.summary({ window: fold.sum, whole: fold.sum, facts: {}, stored: 0, plan: {} })
  const one = { ids: 1, values: 1, nils: 0, bytes: 9, duplicates: 0, durationMs: 2, idsMs: 1, valuesMs: 1 }
  const fetched = (/** @type {number} */ ageMs) =>
    source.fetched({ ...one, ageMs, numbers: {}, failedBy: {} })
  fetched(-10_000)
  fold.add(lineOf(source.second()))
  assert.equal(summary().freshness_ms, null)
  fetched(-1)
  fetched(100)
  fold.add(lineOf(source.second()))
  const { fetches: found, freshness_ms: age } = summary()
  assert.deepEqual(found.from_future, { fetches: 1, max_ms: 10_000 })
  assert.deepEqual([found.count, found.items_p50, found.duration_ms.max], [3, 1, 2])
  near(age.max, 100, 1)
  source.close()
})
