import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clockRefusal, fleetClock } from '../../lib/fleet/clock.js'

test('a clock that is uncertain by more than 5 ms and a quarter of the spacing is refused, with advice', () => {
  const advice = /known to ±.* ms here.*put the control nearer/
  for (const [uncertaintyMs, spacingMs, refused] of /** @type {[number, number, boolean][]} */ ([
    [0.1, 1, false],
    [5, 1, false],
    [5.1, 20.4, false],
    [25, 100, false],
    [5.1, 20.3, true],
    [25.1, 100, true],
    [Number.POSITIVE_INFINITY, 1000, true],
  ])) {
    const refusal = clockRefusal(uncertaintyMs, spacingMs)
    if (refused) assert.match(String(refusal), advice)
    else assert.equal(refusal, null, `${uncertaintyMs} of ${spacingMs}`)
  }
})

test("the control's clock is that of its fastest answer, whatever the way there and the box's own clock", async () => {
  let nowMs = 1000
  const aheadMs = 5_000_000
  // There in a part of the time, and back in the rest: the middle is wrong by at most half of it.
  const ways = [40, 8, 2, 30]
  let asked = 0
  const clock = fleetClock({
    clock: () => nowMs,
    wall: () => 0,
    time: async () => {
      const wayMs = ways[asked++ % ways.length]
      nowMs += wayMs * 0.75
      const theirs = nowMs + aheadMs
      nowMs += wayMs * 0.25
      return theirs
    },
  })
  assert.equal(clock.uncertaintyMs(), Number.POSITIVE_INFINITY)
  await clock.first()
  assert.equal(clock.uncertaintyMs(), 1)
  assert.ok(Math.abs(clock.now() - (nowMs + aheadMs)) <= clock.uncertaintyMs())
  assert.equal(clock.clockAt(clock.now()), nowMs)
  // Slow answers replace nothing that is known better; as good ones do.
  ways.fill(900)
  await clock.again()
  assert.ok(clock.uncertaintyMs() > 1 && clock.uncertaintyMs() < 2)
  ways.fill(2.1)
  await clock.again()
  assert.ok(Math.abs(clock.uncertaintyMs() - 1.05) < 1e-6)
})

test("the offset of a box's own clock is not cut to the millisecond, and follows a clock that is set", async (t) => {
  let nowMs = 5000
  let setByMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  // In whole milliseconds, as the machine's own.
  t.mock.method(Date, 'now', () => Math.floor(performance.timeOrigin + nowMs + setByMs))
  const clock = fleetClock({ clock: () => nowMs, time: async () => performance.timeOrigin + nowMs })
  await clock.first()
  const worst = (/** @type {number} */ offsetMs) => {
    let found = 0
    for (let i = 0; i < 200; i++) {
      nowMs += 0.13
      found = Math.max(found, Math.abs(clock.offsetMs() - offsetMs))
    }
    return found
  }
  assert.ok(worst(0) < 0.001)
  setByMs = 200
  assert.ok(worst(-200) < 0.501)
})
