// Searches through the real engine in virtual time, over a server whose capacity is known each second.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import '../helpers/in-background.js'
import { playFind } from '../simulation/play-find.js'

test('searches of 60 s find the rate that a server of known capacity sustains', async (t) => {
  let covered = 0
  for (let seed = 1; seed <= 8; seed++) {
    const { answer, truth, ledger, seconds } = await playFind({ seed, seconds: 60, hz: 500, sd: 0.01 })
    assert.equal(answer?.state, 'found', `seed ${seed}`)
    assert.ok(ledger.isBalanced())
    assert.equal(seconds.length, 60)
    const { low, high } = /** @type {NonNullable<typeof answer>} */ (answer)
    t.diagnostic(`seed ${seed}: ${low.toFixed()} to ${Number(high).toFixed()}, ${truth.toFixed()} in truth`)
    if (truth >= low && truth <= Number(high)) covered++
    // What is offered above the capacity is dropped when its second ends, and the next one is as if nothing had been.
    const over = seconds.filter(({ rate }) => Number(rate) > 1.15 * truth)
    assert.ok(over.every(({ items }) => items.dropped > 0 && items.offered === items.acked + items.dropped))
  }
  assert.ok(covered >= 6, `${covered} of 8 intervals have the truth`)
})

test('after the limit fell to two thirds within a search its interval is that of the time since then', async (t) => {
  // Rates that were drawn before the change are dropped: their overloads would take the rest of the time.
  for (const seed of [5, 8]) {
    const terms = { seed, seconds: 120, hz: 1000, sd: 0.01, stepAt: 60, stepTo: 2 / 3 }
    const { answer, truth } = await playFind(terms)
    assert.equal(answer?.state, 'changed', `seed ${seed}`)
    const { low, high } = /** @type {NonNullable<typeof answer>} */ (answer)
    t.diagnostic(`seed ${seed}: ${low.toFixed()} to ${Number(high).toFixed()}, ${truth.toFixed()} in truth`)
    assert.ok(truth >= low && truth <= Number(high))
    // Of nine seeds the least was 0.70, and 0.74 with other times of single requests.
    assert.ok(low > 0.7 * truth, `${low} to ${high}, ${truth} in truth`)
  }
})
