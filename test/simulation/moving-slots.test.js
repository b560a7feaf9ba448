// Slots that move all the time on servers whose answers take longer than the time between two ticks, as on a machine with much
// other work: what waits for a moved slot is written a round trip or two later, and nothing is dropped.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { samplePlan } from '../helpers/sample-plan.js'
import { play } from './play.js'
import { brokenIn } from './properties.js'

const farMs = 400
const roundTripMs = 2 * farMs
const slotsAtOnce = 60
const everyMs = 20

/** @param {{ slotsMove: boolean }} how */
const played = ({ slotsMove }) => {
  const masters = 3
  const settings = {
    ...{ quantity: 1000, chunks: 4, periodMs: 1000, durationMs: 8000, maxBehindMs: 5000 },
    ...{ stamp: true, valueBytes: 30, ttlS: 60, cluster: true },
  }
  const plan = samplePlan(settings, { cluster: true, masters, agents: [1] })
  const faults = Array.from({ length: slotsMove ? 90 : 0 }, (_, i) => ({
    ...{ kind: 'migrate', atMs: 1500 + i * everyMs, forMs: 0.8 * everyMs, node: 0, to: 2 },
    ...{
      slots: /** @type {[number, number]} */ ([i * slotsAtOnce, (i + 1) * slotsAtOnce]),
      share: 1,
      line: '',
    },
    mode: /** @type {const} */ ('before'),
  }))
  const given = {
    ...{ plan, name: 'sorted-set', cluster: true, masters, faults, serviceMs: 0.05, isCutShort: false },
    ...{ spares: 0, faultsToMs: 5000, reconnectHz: null, portionItems: 4096, farMs },
  }
  return play({ seed: 7, given })
}

test('nothing waits for slots that stay', async () => {
  const { recorded } = await played({ slotsMove: false })
  assert.ok(recorded.longestMs < roundTripMs + 50, `${recorded.longestMs} ms`)
})

test('what waits for a slot that moved waits for two round trips at most, and all is written', async () => {
  const run = await played({ slotsMove: true })
  const { whole, commands } = run.ledger
  assert.ok(commands.repeated > 100, `${commands.repeated} commands were redirected`)
  assert.equal(whole.acked, whole.offered, JSON.stringify(whole))
  assert.deepEqual(brokenIn(run), [])
  assert.ok(run.recorded.longestMs < 3 * roundTripMs, `${run.recorded.longestMs} ms`)
})
