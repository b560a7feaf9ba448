import assert from 'node:assert/strict'
import test from 'node:test'
import { ledgerOf, noCounts } from '../../lib/measure/ledger.js'
import { seeded } from '../helpers/random.js'

/**
 * @import { Counts, Loss } from '../../lib/measure/ledger.js'
 *
 * @typedef {{ first: number, count: number, members: Uint32Array, from: Uint32Array }} Batch
 */

const agents = [{ agent: 1 }, { agent: 2 }]

/** Commands that carry these items, as places from `first` on. @param {number[][]} items @param {number} [first] @returns {Batch} */
const batchOf = (items, first = 1) => {
  let filled = 0
  const from = [0, ...items.map((own) => (filled += own.length))]
  return { first, count: items.length, members: Uint32Array.from(items.flat()), from: Uint32Array.from(from) }
}
const anItemACommand = (/** @type {number} */ count) => batchOf(Array.from({ length: count }, (_, i) => [i]))

/** @param {Partial<Counts>} counts */
const counts = (counts) => ({ ...noCounts(), ...counts })
const tick = { agent: 1, first: 1, count: 4, measured: true }

test('every command answered: every item acked', () => {
  const ledger = ledgerOf({ agents })
  const account = ledger.open(tick)
  ledger.expect(account, 5)
  ledger.seal(account)
  ledger.answered(account, 3, 3)
  assert.deepEqual(ledger.whole, counts({ offered: 4 }))
  assert.equal(ledger.isBalanced(), false)
  ledger.answered(account, 2, 4)
  assert.deepEqual(ledger.whole, counts({ offered: 4, acked: 4 }))
  assert.equal(ledger.isBalanced(), true)
  assert.equal(ledger.commands.answered, 5)
  assert.equal(ledger.commands.itemsCarried, 7)
})

test('an item is acked with its last answer, not with that of its tick, and once', () => {
  const ledger = ledgerOf({ agents })
  const account = ledger.open(tick)
  const set = anItemACommand(4)
  ledger.expect(account, 5)
  ledger.seal(account)
  ledger.answered(account, 3, 3)
  ledger.answered(account, 1, 3, 2)
  assert.deepEqual(ledger.whole, counts({ offered: 4, acked: 2 }))
  assert.deepEqual(ledger.byAgent.get(tick.agent), ledger.whole)
  ledger.lose(account, set, 3, 4, 'failed', 'OOM')
  assert.deepEqual(ledger.whole, counts({ offered: 4, acked: 3, failed: 1 }))
  assert.deepEqual(ledger.measured, ledger.whole)
  assert.ok(ledger.isBalanced())
})

test('a tick stays open until it is sealed, and is closed once', () => {
  const ledger = ledgerOf({ agents })
  let closed = 0
  const account = ledger.open(tick, () => closed++)
  ledger.expect(account, 2)
  ledger.answered(account, 2, 2)
  assert.equal(closed, 0, 'more commands may come')
  ledger.expect(account, 1)
  ledger.seal(account)
  assert.equal(closed, 0)
  ledger.answered(account, 1, 1)
  assert.equal(closed, 1)
  ledger.lose(account, anItemACommand(4), 2, 2, 'dropped', '')
  assert.equal(closed, 1, 'no command lost is nothing lost')
  assert.deepEqual(ledger.whole, counts({ offered: 4, acked: 4 }))
})

test('an item has its worst outcome, and the cause of that', () => {
  const ledger = ledgerOf({ agents })
  const account = ledger.open(tick)
  const [set, rank] = [anItemACommand(4), batchOf([[0, 1, 2, 3]])]
  ledger.expect(account, 5)
  ledger.seal(account)
  ledger.lose(account, set, 0, 1, 'failed', 'OOM')
  ledger.lose(account, set, 1, 2, 'unsettled', '')
  ledger.lose(account, set, 2, 3, 'dropped', '')
  ledger.answered(account, 1, 1)
  ledger.lose(account, rank, 0, 1, 'uncertain', 'answer lost')
  assert.deepEqual(ledger.whole, counts({ offered: 4, uncertain: 2, dropped: 1, unsettled: 1 }))
  assert.deepEqual(ledger.failedBy, { 'answer lost': 2 })
  assert.deepEqual(ledger.errorsBy, {})
  assert.ok(ledger.isBalanced())
})

test('of two causes of the same outcome the first is told', () => {
  const ledger = ledgerOf({ agents })
  const account = ledger.open({ ...tick, count: 1 })
  ledger.expect(account, 2)
  ledger.seal(account)
  for (const cause of ['OOM', 'READONLY']) ledger.lose(account, batchOf([[0]]), 0, 1, 'failed', cause)
  assert.deepEqual(ledger.failedBy, { OOM: 1 })
})

test('commands without items are counted by their errors, and cost no item', () => {
  const ledger = ledgerOf({ agents })
  const account = ledger.open(tick)
  const purge = batchOf([[], [], []])
  ledger.expect(account, 3)
  ledger.seal(account)
  ledger.lose(account, purge, 0, 2, 'failed', 'NOPERM')
  ledger.lose(account, purge, 2, 3, 'dropped', '')
  assert.deepEqual(ledger.errorsBy, { NOPERM: 2 })
  assert.deepEqual(ledger.failedBy, {})
  assert.deepEqual(ledger.whole, counts({ offered: 4, acked: 4 }))
})

test('a tick that is not begun is dropped as a whole', () => {
  const ledger = ledgerOf({ agents })
  let closed = 0
  ledger.skip(ledger.open(tick, () => closed++))
  assert.equal(closed, 1)
  assert.deepEqual(ledger.whole, counts({ offered: 4, dropped: 4 }))
})

test('the warm-up is in the whole, and not in what is measured', () => {
  const ledger = ledgerOf({ agents })
  for (const measured of [false, true]) ledger.skip(ledger.open({ ...tick, measured }))
  assert.equal(ledger.whole.dropped, 8)
  assert.deepEqual(ledger.measured, counts({ offered: 4, dropped: 4 }))
})

test('an item is the same one in batches that begin elsewhere', () => {
  const ledger = ledgerOf({ agents })
  const account = ledger.open({ ...tick, first: 101, count: 3 })
  ledger.expect(account, 2)
  ledger.seal(account)
  ledger.lose(account, batchOf([[2]], 101), 0, 1, 'failed', 'OOM')
  ledger.lose(account, batchOf([[0]], 103), 0, 1, 'failed', 'OOM')
  assert.deepEqual(ledger.whole, counts({ offered: 3, acked: 2, failed: 1 }))
})

test('more causes than a byte can number are told as one', () => {
  const ledger = ledgerOf({ agents })
  const account = ledger.open({ ...tick, count: 600 })
  const set = anItemACommand(600)
  ledger.expect(account, 600)
  ledger.seal(account)
  for (let i = 0; i < 600; i++) ledger.lose(account, set, i, i + 1, 'failed', `CAUSE${i}`)
  assert.equal(ledger.whole.failed, 600)
  assert.equal(Object.keys(ledger.failedBy).length, 255)
  assert.equal(ledger.failedBy.other, 600 - 254)
  assert.ok(ledger.isBalanced())
})

const losses = /** @type {Loss[]} */ (['failed', 'uncertain', 'dropped', 'unsettled'])

/** Compares a ledger with what it should say, kept the plain way: an object an item. @param {number} seed */
const play = (seed) => {
  const random = seeded(seed)
  const ledger = ledgerOf({ agents })
  const whole = noCounts()
  const byAgent = new Map(agents.map(({ agent }) => [agent, noCounts()]))
  let lost = 0
  const errors = /** @type {Record<string, number>} */ ({})
  const play = []
  for (let t = 0; t < 6; t++) {
    const agent = 1 + random.below(2)
    const count = random.below(12)
    const own = /** @type {Counts} */ (byAgent.get(agent))
    whole.offered += count
    own.offered += count
    const account = ledger.open({ agent, first: 50, count, measured: random.chance(0.5) })
    if (random.chance(0.1)) {
      ledger.skip(account)
      whole.dropped += count
      own.dropped += count
      continue
    }
    const worst = new Uint8Array(count)
    const left = new Uint8Array(count).fill(2)
    const places = Array.from({ length: count }, (_, i) => i)
    const commands = [
      batchOf(
        random.shuffled(places).map((i) => [i]),
        50,
      ),
      batchOf(
        [places.slice(0, 5), places.slice(5)].filter((part) => part.length > 0),
        50,
      ),
      batchOf([[], []], 50),
    ]
    const steps = []
    for (const batch of commands) {
      ledger.expect(account, batch.count)
      for (let from = 0; from < batch.count; ) {
        const to = from + 1 + random.below(batch.count - from)
        const [begin, end] = [from, to]
        steps.push(() => {
          const items = batch.members.subarray(batch.from[begin], batch.from[end])
          if (random.chance(0.6)) {
            const stored = items.filter((i) => --left[i] === 0).length
            return ledger.answered(account, end - begin, items.length, random.chance(0.8) ? stored : 0)
          }
          const loss = random.pick(losses)
          const cause = random.pick(['OOM', 'READONLY'])
          ledger.lose(account, batch, begin, end, loss, cause)
          for (const i of items) worst[i] = Math.max(worst[i], 1 + losses.indexOf(loss))
          if (items.length === 0 && losses.indexOf(loss) < 2)
            errors[cause] = (errors[cause] ?? 0) + end - begin
        })
        from = to
      }
    }
    play.push(random.shuffled([...steps, () => ledger.seal(account)]), [
      () => {
        for (const w of worst) {
          const outcome = /** @type {keyof Counts} */ (['acked', ...losses][w])
          whole[outcome]++
          own[outcome]++
          if (w === 1 || w === 2) lost++
        }
      },
    ])
  }
  for (const steps of play) for (const step of steps) step()
  assert.deepEqual(ledger.whole, whole, `seed ${seed}`)
  for (const [agent, own] of byAgent)
    assert.deepEqual(ledger.byAgent.get(agent), own, `seed ${seed}, agent ${agent}`)
  assert.deepEqual(ledger.errorsBy, errors, `seed ${seed}`)
  assert.equal(
    Object.values(ledger.failedBy).reduce((sum, n) => sum + n, 0),
    lost,
  )
  assert.ok(ledger.isBalanced())
}

test('random outcomes in random order: the accounts close, for each agent and for the whole', () => {
  for (let seed = 1; seed <= 500; seed++) play(seed)
})

test('an item too many, or a cause too few, is not balanced', () => {
  for (const disturb of [
    (/** @type {any} */ l) => l.whole.acked++,
    (/** @type {any} */ l) => l.byAgent.get(2).failed++,
    (/** @type {any} */ l) => l.measured.offered++,
    (/** @type {any} */ l) => (l.failedBy.OOM = 1),
  ]) {
    const ledger = ledgerOf({ agents })
    ledger.skip(ledger.open(tick))
    assert.ok(ledger.isBalanced())
    disturb(ledger)
    assert.equal(ledger.isBalanced(), false)
  }
})

test('what is sent again is counted by cause, beside the items', () => {
  const ledger = ledgerOf({ agents })
  ledger.sentAgain('LOADING')
  ledger.sentAgain('BUSY')
  ledger.sentAgain('LOADING')
  ledger.sentAgain('CLOSED', 5)
  assert.deepEqual(ledger.repeatedBy, { LOADING: 2, BUSY: 1, CLOSED: 5 })
  assert.deepEqual([ledger.failedBy, ledger.errorsBy], [{}, {}])
})
