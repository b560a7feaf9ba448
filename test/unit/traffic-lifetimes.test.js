import assert from 'node:assert/strict'
import test from 'node:test'
import { readSettings } from '../../lib/options/read-settings.js'
import { tickValues } from '../../lib/plan/tick-values.js'
import { lifetimeOf } from '../../lib/traffic/lifetimes.js'
import { plainCommand } from '../../lib/wire/encode.js'
import { strategyOf } from '../../lib/workloads/strategy-of-plan.js'
import { parseCommands } from '../helpers/commands.js'
import { chiSquare } from '../helpers/fit.js'
import { samplePlan } from '../helpers/sample-plan.js'

const read = (/** @type {string} */ line, /** @type {string[]} */ ...more) =>
  /** @type {any} */ (readSettings({ program: 'producer', argv: [...line.split(' '), ...more], env: {} }))

test('lifetimes between two are each as likely, by chi-square, and a function of item and seed', () => {
  for (const seed of [1, 2, 3]) {
    const draws = 60_000
    const of = lifetimeOf({ ttlS: 90, ttlLeastS: 61, seed })
    const counts = new Float64Array(30)
    for (let n = 1; n <= draws; n++) counts[of(n) - 61]++
    const { z } = chiSquare(counts, new Float64Array(30).fill(draws / 30))
    assert.ok(z < 3.1, `seed ${seed}: ${z}`)
  }
  const of = lifetimeOf({ ttlS: 600, ttlLeastS: 60, seed: 1 })
  assert.deepEqual([1, 2, 3, 300_000].map(of), [308, 547, 578, 291])
})

test('--ttl is a time or a range of times', () => {
  const times = (/** @type {string} */ text) => {
    const { ttlLeastS, ttlS } = read(`--ttl ${text}`)
    return [ttlLeastS, ttlS]
  }
  assert.deepEqual(times('1m-10m'), [60, 600])
  assert.deepEqual(times('5-5'), [null, 5])
  for (const text of ['600s-60s', '0s-5s', '1s-2s-3s', '1s-'])
    assert.throws(
      () => times(text),
      /--ttl must be whole seconds from 1s to 8760h .* or a range such as 60s-600s/,
    )
})

for (const [strategy, at] of /** @type {const} */ ([
  ['sorted-set', 2],
  ['list', 2],
  ['set', 2],
  ['hash', 4],
  ['script-item', 4],
]))
  test(`${strategy}: each item has its own lifetime on the wire`, () => {
    const terms = { ttlS: 600, ttlLeastS: 60 }
    const plan = samplePlan({ strategy, quantity: 50, ...terms })
    const values = tickValues(1_790_000_012_345, 600)
    const step = /** @type {any} */ (
      strategyOf(plan)
        .steps()
        .find(({ kind }) => kind === 'each')
    )
    const of = lifetimeOf(plan)
    const seen = new Set()
    for (let n = 1; n <= 50; n++) {
      const out = Buffer.alloc(step.size(n))
      assert.equal(step.put(n, out, 0, values), out.length)
      const [args] = parseCommands(out)
      assert.equal(Number(args[at]), of(n))
      assert.deepEqual(args.map(String), plainCommand(step.args(n), values).map(String))
      seen.add(of(n))
    }
    assert.ok(seen.size > 40)
  })

test('where items share a lifetime a range is refused, and so are sizes where there are no values', () => {
  for (const [line, sentence] of /** @type {const} */ ([
    ['--strategy stream', 'stream has no command that gives an item a lifetime of its own'],
    ['--strategy actual-value', 'actual-value has no command that gives an item a lifetime of its own'],
    ['--strategy hash-ttl', 'hash-ttl has no command that gives an item a lifetime of its own'],
    ['--ws', 'script-batch has no command that gives an item a lifetime of its own'],
  ]))
    assert.throws(() => read(`${line} --ttl 5s-9s`), {
      message: `--ttl from 5 to 9 s: ${sentence}; give one lifetime`,
    })
  const own = ['--command', 'SADD all {n}...', '--command', 'EXPIRE all {ttl}']
  assert.throws(
    () => read('--ttl 5s-9s', ...own),
    /EXPIRE of own-sadd-expire gives one lifetime to many items/,
  )
  assert.throws(() => read('--value-size 1kB', ...own), /--value-size: own-sadd-expire stores no values/)
  assert.throws(
    () => read('--strategy membership-set --value-size lognormal:p50=1kB,p99=2kB'),
    /--value-size: membership-set stores no values/,
  )
})
