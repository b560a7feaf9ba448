import assert from 'node:assert/strict'
import test from 'node:test'
import { outboxOf } from '../../lib/transport/lane.js'
import { seeded } from '../helpers/random.js'

/** Lanes that keep what they are given, and take all of it at once or not. @param {() => boolean} takes */
const lanesThat = (takes) =>
  Array.from({ length: 3 }, () => {
    const lane = {
      /** @type {string[]} */
      outbox: [],
      boxed: 0,
      writes: /** @type {{ held: Buffer, was: string, isKept: boolean }[]} */ ([]),
      write(/** @type {Buffer} */ bytes) {
        const isTaken = takes()
        lane.writes.push({ held: bytes, was: String(bytes), isKept: !isTaken })
        return isTaken
      },
    }
    return lane
  })
/** @param {number} most */
const outboxFor = (most) =>
  /** @type {ReturnType<typeof outboxOf<string>>} */ (
    outboxOf({ most, put: (text, out, at) => at + out.write(text, at), clock: () => 0 })
  )
/** @param {ReturnType<typeof lanesThat>[number]} lane @returns {any} */
const asLane = (lane) => lane

test('what alternates between lanes is one write for each', () => {
  const lanes = lanesThat(() => true)
  const { put, end } = outboxFor(10)
  for (const text of ['a', 'b', 'c', 'd', 'e', 'f']) put(asLane(lanes[text.charCodeAt(0) % 3]), text)
  end()
  end()
  assert.deepEqual(
    lanes.map(({ writes }) => writes.map(({ was }) => was)),
    [['cf'], ['ad'], ['be']],
  )
})

test('bytes of their own go behind what was put before, and in front of what is put then', () => {
  const [lane] = lanesThat(() => true)
  const { put, plain, end } = outboxFor(10)
  put(asLane(lane), '1')
  plain(asLane(lane), Buffer.from('2'))
  put(asLane(lane), '3')
  end()
  assert.deepEqual(
    lane.writes.map(({ was }) => was),
    ['1', '2', '3'],
  )
})

test('each lane gets its requests in order, more than a buffer holds too, and what a socket keeps is not written over', () => {
  const random = seeded(3)
  const lanes = lanesThat(() => random.chance(0.7))
  const { put, end } = outboxFor(3000)
  const sent = lanes.map(() => '')
  for (let turn = 0; turn < 40; turn++) {
    for (let i = random.below(400); i > 0; i--) {
      const at = random.below(3)
      const text = `${turn}.${i};`.repeat(1 + random.below(300))
      sent[at] += text
      put(asLane(lanes[at]), text)
    }
    end()
  }
  for (const [at, { writes }] of lanes.entries()) {
    assert.ok(writes.map(({ was }) => was).join('') === sent[at], `lane ${at} gets other bytes`)
    for (const { held, was, isKept } of writes) assert.ok(!isKept || String(held) === was)
  }
  assert.ok(
    lanes.some(({ writes }) => writes.length > 40),
    'no turn was more than a buffer holds',
  )
})
