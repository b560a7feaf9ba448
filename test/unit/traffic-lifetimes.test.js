import assert from 'node:assert/strict'
import test from 'node:test'
import { readSettings } from '../../lib/options/read-settings.js'
import { tickValues } from '../../lib/plan/tick-values.js'
import { lifetimeOf } from '../../lib/traffic/lifetimes.js'
import { plainCommand } from '../../lib/wire/encode.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
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

const places = { 'sorted-set': 2, list: 2, set: 2, hash: 4, 'script-item': 4 }
for (const [strategy, at] of Object.entries(places))
  test(`${strategy}: each item has its own lifetime on the wire`, () => {
    const terms = { ttlS: 600, ttlLeastS: 60 }
    const plan = samplePlan({ strategy, quantity: 50, ...terms })
    const values = tickValues(1_790_000_012_345, 600)
    const steps = /** @type {any[]} */ (strategyOf(plan).steps())
    const step = steps.find(({ kind }) => kind === 'each')
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
  const why = 'has no command that gives an item a lifetime of its own'
  for (const strategy of ['stream', 'actual-value', 'hash-ttl', 'script-batch']) {
    const message = `--ttl from 5 to 9 s: ${strategy} ${why}; give one lifetime`
    const line = strategy === 'script-batch' ? '--ws' : `--strategy ${strategy}`
    assert.throws(() => read(`${line} --ttl 5s-9s`), { message })
  }
  const own = ['--command', 'SADD all {n}...', '--command', 'EXPIRE all {ttl}']
  const sized = '--strategy membership-set --value-size lognormal:p50=1kB,p99=2kB'
  const expected = /EXPIRE of own-sadd-expire gives one lifetime to many items/
  assert.throws(() => read('--ttl 5s-9s', ...own), expected)
  assert.throws(() => read('--value-size 1kB', ...own), /--value-size: own-sadd-expire stores no values/)
  assert.throws(() => read(sized), /--value-size: membership-set stores no values/)
})
