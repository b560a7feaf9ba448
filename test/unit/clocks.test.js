import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TargetError } from '../../lib/base/errors.js'
import { clocksOf, steadyClock } from '../../lib/measure/clocks.js'
import { clockOf, watchedClocks } from '../../lib/measure/run-clock.js'
import { fetches } from '../../lib/measures/fetches.js'
import { foldOf } from '../../lib/measures/fold.js'
import { lineOf, recordOf } from '../../lib/measures/index.js'

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
  /** @type {import('../../lib/measures/warnings.js').Warning[]} */
  const warnings = []
  const open = (/** @type {string[]} */ ...allow) =>
    clockOf({ target, allow, steady, warn: (warning) => warnings.push(warning) })
  return { state, steady, time, warnings, open }
}
const near = (/** @type {number} */ value, /** @type {number} */ expected, within = 20) =>
  assert.ok(Math.abs(value - expected) <= within, `${value}, not ${expected}`)

describe('the time of a run', () => {
  test('is that of the servers', async () => {
    const { state, open, warnings } = world({ boxAheadMs: 800 })
    const clock = await open()
    near(clock.now(), epochMs + state.passedMs)
    assert.deepEqual(
      warnings.map(({ code, invalidates }) => [code, invalidates]),
      [['clock', false]],
    )
    assert.match(
      warnings[0].message,
      /^this box's clock is 0\.8 s ahead of that of the servers: scores are by/,
    )
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
      assert.equal(clock.now(), epochMs)
      assert.deepEqual(clock.figures(), [])
    }
  })

  test('a box whose clock is off by more than a second is refused, unless that is allowed', async () => {
    const ahead = world({ boxAheadMs: 3_600_000 })
    await assert.rejects(ahead.open(), (error) => {
      assert.ok(error instanceof TargetError)
      assert.match(
        error.message,
        /^this box's clock is 3,600\.0 s ahead of that of a:1: over 1 s.*--allow clock$/,
      )
      return true
    })
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
    assert.deepEqual(await clock.look(1000), [])
    state.boxAheadMs = 3_600_000
    assert.deepEqual(await clock.look(2000), ["this box's clock jumped by +3600.0 s"])
    assert.deepEqual(await clock.look(3000), [], 'said once')
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
    assert.deepEqual(await clock.look(1000), ['the clock of c:1 jumped by −10.0 s'])
    assert.equal(warnings.length, 1)
    near(clock.now(), epochMs + state.passedMs)
  })
})

test('readers and workers report a clock of a server that is set midway, once, and not their own', async () => {
  const { state, steady, time, warnings } = world()
  const clocks = await watchedClocks({
    target: { time },
    servers: () => ['a:1', 'b:1'],
    effect: 'ages are wrong',
    warn: (warning) => warnings.push(warning),
    steady,
  })
  state.boxAheadMs = 3_600_000
  assert.deepEqual(await clocks.look(1000), [])
  state.serverAheadMs = { 'b:1': 5000 }
  assert.deepEqual(await clocks.look(2000), ['the clock of b:1 jumped by +5.0 s'])
  assert.deepEqual(await clocks.look(3000), [])
  near(clocks.at('b:1'), epochMs + state.passedMs + 5000)
  assert.deepEqual(
    warnings.map(({ code, message, invalidates = true }) => [code, message, invalidates]),
    [
      [
        'clock-jump',
        'the clock of b:1 jumped by +5.0 s at 2.0 s of the run: ages are wrong; keep the clocks in step (NTP) and repeat',
        true,
      ],
    ],
  )
})

test('a worse measurement changes nothing, one that contradicts does', async () => {
  const { state, steady, time } = world()
  const clocks = clocksOf({ time, epochMs: steady.epochMs })
  state.serverAheadMs = { 'a:1': 100 }
  await clocks.measure(['a:1'])
  near(clocks.offsetMs(['a:1']), 100, 2)
  state.wayMs = 200
  state.serverAheadMs = { 'a:1': 150 }
  await clocks.measure(['a:1'])
  near(clocks.offsetMs(['a:1']), 100, 2)
  state.serverAheadMs = { 'a:1': 900 }
  await clocks.measure(['a:1'])
  near(clocks.offsetMs(['a:1']), 900, 2)
  assert.deepEqual(clocks.moved(), [], 'less than a second')
})

test('the age of an item from the future is unknown, not 0', async () => {
  const source = /** @type {any} */ (await fetches.open({ clock: () => 0, plan: { values: true } }))
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
