import assert from 'node:assert/strict'
import test from 'node:test'
import { ledgerOf, noCounts } from '../../lib/probes/ledger.js'
import { seeded } from '../helpers/random.js'
import { fieldsIn, rowsOf } from '../helpers/table.js'

/**
 * @import { Counts, Loss } from '../../lib/probes/ledger.js'
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
const counts = (/** @type {Partial<Counts>} */ counts) => ({ ...noCounts(), ...counts })
const tick = { agent: 1, first: 1, count: 4, measured: true }

/** A ledger with a sealed tick of so many commands. @param {number} commands @param {Partial<typeof tick>} [change] */
const opened = (commands, change) => {
  const ledger = ledgerOf({ agents })
  const account = ledger.open({ ...tick, ...change })
  ledger.expect(account, commands)
  ledger.seal(account)
  return { ledger, account }
}

// Commands of a tick of four items; answers (commands, items stored by now) and losses (of commands with these items, _ for none:
// outcome, cause); the items by outcome; by cause of failure; commands by error.
for (const [name, commands, steps, outcomes, failedBy, errorsBy] of rowsOf(`
without the last answers no item is acked -> 5 -> answered 3 -> - -> - -> -
with the last answer every item is acked -> 5 -> answered 3; answered 2 -> acked=4 -> - -> -
an item is acked with its last answer, not with that of its tick -> 5 -> answered 3; answered 1 2 -> acked=2 -> - -> -
an item is acked once -> 5 -> answered 3; answered 1 2; 3 failed OOM -> acked=3 failed=1 -> OOM=1 -> -
an item has its worst outcome and its cause -> 5 -> 0 failed OOM; 1 unsettled; 2 dropped; answered 1; 0,1,2,3 uncertain LOST -> uncertain=2 dropped=1 unsettled=1 -> LOST=2 -> -
of two causes of the same outcome the first is reported -> 2 -> 0 failed OOM; 0 failed READONLY -> acked=3 failed=1 -> OOM=1 -> -
commands without items cost no item -> 3 -> _+_ failed NOPERM; _ dropped -> acked=4 -> - -> NOPERM=2
`))
  test(name, () => {
    const { ledger, account } = opened(Number(commands))
    for (const [what, ...rest] of steps.split('; ').map((step) => step.split(' ')))
      if (what === 'answered') ledger.answered(account, Number(rest[0]), Number(rest[1] ?? 0))
      else {
        const batch = batchOf(
          what.split('+').map((items) => (items === '_' ? [] : items.split(',').map(Number))),
        )
        ledger.lose(account, batch, 0, batch.count, /** @type {Loss} */ (rest[0]), rest[1] ?? '')
      }
    const expected = fieldsIn(outcomes)
    assert.deepEqual(ledger.whole, counts({ offered: 4, ...expected }))
    assert.deepEqual([ledger.byAgent.get(1), ledger.measured], [ledger.whole, ledger.whole])
    assert.deepEqual([ledger.failedBy, ledger.errorsBy], [fieldsIn(failedBy), fieldsIn(errorsBy)])
    assert.equal(ledger.isBalanced(), Object.values(expected).reduce((sum, n) => sum + n, 0) === 4)
  })

test('a tick stays open until it is sealed, and is closed once', () => {
  const ledger = ledgerOf({ agents })
  let closed = 0
  const account = ledger.open(tick, () => closed++)
  ledger.expect(account, 2)
  ledger.answered(account, 2)
  assert.equal(closed, 0, 'more commands may come')
  ledger.expect(account, 1)
  ledger.seal(account)
  assert.equal(closed, 0)
  ledger.answered(account, 1)
  ledger.lose(account, anItemACommand(4), 2, 2, 'dropped', '')
  assert.equal(closed, 1, 'no command lost is nothing lost')
  assert.deepEqual(ledger.whole, counts({ offered: 4, acked: 4 }))
})

test('a tick that is not begun is dropped as a whole; the warm-up is not in what is measured', () => {
  const ledger = ledgerOf({ agents })
  let closed = 0
  for (const measured of [false, true]) ledger.skip(ledger.open({ ...tick, measured }, () => closed++))
  assert.equal(closed, 2)
  assert.deepEqual(ledger.whole, counts({ offered: 8, dropped: 8 }))
  assert.deepEqual(ledger.measured, counts({ offered: 4, dropped: 4 }))
})

test('an item is the same one in batches that begin elsewhere', () => {
  const { ledger, account } = opened(2, { first: 101, count: 3 })
  ledger.lose(account, batchOf([[2]], 101), 0, 1, 'failed', 'OOM')
  ledger.lose(account, batchOf([[0]], 103), 0, 1, 'failed', 'OOM')
  assert.deepEqual(ledger.whole, counts({ offered: 3, acked: 2, failed: 1 }))
})

test('more causes than a byte can number are reported as one', () => {
  const { ledger, account } = opened(600, { count: 600 })
  const set = anItemACommand(600)
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
    const add = (/** @type {keyof Counts} */ outcome, /** @type {number} */ items) => {
      for (const counts of [whole, own]) counts[outcome] += items
    }
    add('offered', count)
    const account = ledger.open({ agent, first: 50, count, measured: random.chance(0.5) })
    if (random.chance(0.1)) {
      ledger.skip(account)
      add('dropped', count)
      continue
    }
    const worst = new Uint8Array(count)
    const left = new Uint8Array(count).fill(2)
    const places = Array.from({ length: count }, (_, i) => i)
    const parts = [places.slice(0, 5), places.slice(5)].filter((part) => part.length > 0)
    const steps = []
    for (const items of [random.shuffled(places).map((i) => [i]), parts, [[], []]]) {
      const batch = batchOf(items, 50)
      ledger.expect(account, batch.count)
      for (let from = 0; from < batch.count; ) {
        const to = from + 1 + random.below(batch.count - from)
        const [begin, end] = [from, to]
        steps.push(() => {
          const items = batch.members.subarray(batch.from[begin], batch.from[end])
          if (random.chance(0.6)) {
            const stored = items.filter((i) => --left[i] === 0).length
            return ledger.answered(account, end - begin, random.chance(0.8) ? stored : 0)
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
    const close = () => {
      for (const w of worst) add(/** @type {keyof Counts} */ (['acked', ...losses][w]), 1)
      lost += worst.filter((w) => w === 1 || w === 2).length
    }
    play.push(...random.shuffled([...steps, () => ledger.seal(account)]), close)
  }
  for (const step of play) step()
  assert.deepEqual([ledger.whole, ledger.byAgent, ledger.errorsBy], [whole, byAgent, errors], `seed ${seed}`)
  const failed = Object.values(ledger.failedBy).reduce((sum, n) => sum + n, 0)
  assert.equal(failed, lost, `seed ${seed}`)
  assert.ok(ledger.isBalanced(), `seed ${seed}`)
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
