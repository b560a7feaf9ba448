import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clockRefusal, fleetClock } from '../../lib/fleet/clock.js'

test('a clock that is uncertain by more than 5 ms and a quarter of the spacing is refused, with advice', () => {
  for (const [uncertaintyMs, spacingMs] of [
    [0.1, 1],
    [5, 1],
    [5.1, 20.4],
    [25, 100],
  ])
    assert.equal(clockRefusal(uncertaintyMs, spacingMs), null, `${uncertaintyMs} of ${spacingMs}`)
  for (const [uncertaintyMs, spacingMs] of [
    [5.1, 20.3],
    [25.1, 100],
    [Number.POSITIVE_INFINITY, 1000],
  ])
    assert.match(
      String(clockRefusal(uncertaintyMs, spacingMs)),
      /known to ±.* ms here.*put the control nearer/,
    )
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
  const offsets = async () => {
    const clock = fleetClock({
      clock: () => performance.now(),
      time: async () => performance.timeOrigin + performance.now(),
    })
    await clock.first()
    /** @type {number[]} */
    const found = []
    // By a clock of whole milliseconds half of these would be over half a millisecond.
    for (let i = 0; i < 200; i++) {
      for (const until = performance.now() + 0.13; performance.now() < until; );
      found.push(clock.offsetMs())
    }
    return found.sort((a, b) => a - b)[100]
  }
  assert.ok(Math.abs(await offsets()) < 0.1)
  const machine = Date.now
  t.mock.method(Date, 'now', () => machine() + 200)
  assert.ok(Math.abs((await offsets()) + 200) < 1)
})
