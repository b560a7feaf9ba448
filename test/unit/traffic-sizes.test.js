import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { normalTail } from '../../lib/base/distributions.js'
import { readSettings } from '../../lib/options/read-settings.js'
import { tickValues } from '../../lib/plan/tick-values.js'
import { itemOfValue, payloadMatcher } from '../../lib/traffic/payload.js'
import { sizeOf, sizesIn, storedBytes } from '../../lib/traffic/sizes.js'
import { plainArgument } from '../../lib/wire/encode.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { parseCommands } from '../helpers/commands.js'
import { chiSquare, ksDistance, ksLimit } from '../helpers/fit.js'
import { payloadOf } from '../helpers/payload.js'
import { ownFolder } from '../helpers/programs.js'
import { builtInNames, samplePlan } from '../helpers/sample-plan.js'

const lognormal = 'lognormal:p50=200B,p99=4kB'
const histogram = 'histogram:100B=50,1kB=30,10kB=1'
const items = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => i + 1)
const terms = (/** @type {string} */ text, seed = 1) => {
  return { valueBytes: sizesIn(text)?.mean ?? 0, valueSizes: text, seed }
}

test('lognormal sizes fit the stated percentiles, by Kolmogorov-Smirnov', () => {
  const sigma = Math.log(4000 / 200) / 2.3263478740408408
  const below = (/** @type {number} */ x) => normalTail(-Math.log(x / 200) / sigma)
  for (const seed of [1, 2, 3]) {
    const drawn = items(50_000).map(sizeOf(terms(lognormal, seed)))
    // Sizes are whole bytes: a value of x stands for x - 0.5 to x + 0.5.
    const spread = drawn.map((x, i) => x - 0.5 + (i + 0.5) / drawn.length)
    const distance = ksDistance(spread, below)
    assert.ok(distance < ksLimit(drawn.length) + 0.003, `seed ${seed}: ${distance}`)
  }
})

test('sizes of a histogram are drawn as often as stated, by chi-square', () => {
  const draws = 100_000
  const drawn = items(draws).map(sizeOf(terms(histogram)))
  const counts = [100, 1000, 10_000].map((bytes) => drawn.filter((one) => one === bytes).length)
  assert.equal(counts[0] + counts[1] + counts[2], draws)
  const stated = [50, 30, 1].map((weight) => (weight / 81) * draws)
  const { z } = chiSquare(counts, stated)
  assert.ok(z < 3.1, String(z))
})

test('sizes between two ends are each as likely, by chi-square', () => {
  const drawn = items(100_000).map(sizeOf(terms('1-20')))
  const counts = items(20).map((bytes) => drawn.filter((one) => one === bytes).length)
  const sum = counts.reduce((all, n) => all + n)
  assert.equal(sum, drawn.length)
  const { z } = chiSquare(counts, Array(20).fill(drawn.length / 20))
  assert.ok(z < 3.1, String(z))
  const { text, mean, least, most } = sizesIn('200B..4kB') ?? assert.fail()
  assert.deepEqual({ text, mean, least, most }, { text: '200B-4kB', mean: 2100, least: 200, most: 4000 })
  assert.equal(sizesIn('4kB-200B'), undefined)
  assert.equal(sizesIn('200B'), undefined)
})

test('sizes are a function of item and seed, whatever was asked for before', () => {
  const [one, other] = [sizeOf(terms(lognormal, 7)), sizeOf(terms(lognormal, 8))]
  assert.deepEqual(items(2000).map(one), items(2000).map(sizeOf(terms(lognormal, 7))))
  assert.notDeepEqual(items(2000).map(one), items(2000).map(other))
  assert.deepEqual([1, 2, 3, 300_000].map(sizeOf(terms(lognormal))), [137, 1124, 1116, 2993])
})

test('the mean, its memory, and limits', () => {
  const { mean, least, most } = sizesIn(`${lognormal},min=50B,max=10kB`) ?? assert.fail()
  assert.deepEqual([mean, least, most], [455, 50, 10_000])
  assert.equal(sizesIn(histogram)?.mean, 556)
  assert.equal(storedBytes({ valueBytes: 128, seed: 1 }), 160)
  assert.ok(Math.abs(storedBytes(terms(histogram)) - (50 * 112 + 30 * 1024 + 10_240) / 81) < 2)
})

test('what is no distribution of sizes is refused in a line', (t) => {
  const folder = ownFolder(t, 'sizes')
  const file = (/** @type {string} */ text) => {
    writeFileSync(join(folder, 'sizes.txt'), text)
    return `histogram:${join(folder, 'sizes.txt')}`
  }
  const read = (/** @type {string} */ text) =>
    readSettings({ program: 'producer', argv: ['--value-size', text], env: {} })
  const refused = (/** @type {string} */ text, /** @type {RegExp} */ words) =>
    assert.throws(() => read(text), words, text)
  for (const text of [
    ...['lognormal:p50=200B', 'lognormal:p50=200B,p50=300B', 'lognormal:p50=4kB,p99=200B', 'histogram:0B=1'],
    ...['lognormal:p50=200B,p99=4kB,min=1kB,max=10B', 'lognormal:p0=1B,p99=4kB', 'normal:1'],
  ])
    refused(text, /^OptionError: --value-size must be a size from 1B to 512MB, 200B-4kB, lognormal:/)
  refused('histogram:1B=1,1kB=1000000', /1 bytes are less than one in 65,536/)
  refused('histogram:/no/such/file', /--value-size: \/no\/such\/file cannot be read \(ENOENT\)/)
  refused(file('128 5\nbig 3\n'), /sizes\.txt:2: must be a size and how many values have it/)
  refused(file('# none\n'), /sizes\.txt has no sizes/)
  const settings = /** @type {any} */ (read(file('# of production\n128 5000\n1kB, 300\n')))
  assert.deepEqual([settings.valueSizes, settings.valueBytes], ['histogram:128=5000,1000=300', 177])
})

test('values of their own sizes: each as long as stated, known again, and no other', () => {
  const of = { ...terms(lognormal), payload: /** @type {const} */ ('random'), stamp: false }
  const [size, value, matches, itemIn] = [sizeOf(of), payloadOf(of), payloadMatcher(of), itemOfValue(of)]
  for (const n of items(3000)) {
    const bytes = Buffer.from(plainArgument(value(n), tickValues(0, 1)))
    assert.equal(bytes.length, size(n))
    assert.ok(matches(n, bytes, 0, bytes.length))
    assert.ok(!matches(n + 1, bytes, 0, bytes.length))
    if (bytes.length > 1) assert.equal(itemIn(bytes, 0, bytes.length), n)
  }
})

const stored = builtInNames().filter((name) => !/^(membership|counter|queue|query|update)/.test(name))
for (const strategy of stored)
  test(`${strategy}: the bytes on the wire are the same commands, whatever their sizes`, () => {
    const plan = samplePlan(
      { strategy, quantity: 40, valueBytes: 300, valueSizes: `${lognormal},min=20B`, ratio: [1, 1] },
      { variant: 'HSETEX' },
    )
    const values = tickValues(1_790_000_012_345, 3)
    const bound = strategyOf(plan)
    if (plan.flow === 'clients') {
      const set = bound.clientOperations()[0].command
      for (const n of items(40)) {
        const out = Buffer.alloc(set.most)
        const [args] = parseCommands(out.subarray(0, set.put(n, out, 0)))
        assert.equal(args[1].toString(), strategy.startsWith('cache') ? bound.keyOf(n) : `key:${n}`)
        if (args.length > 2 && !strategy.startsWith('cache'))
          assert.ok(payloadMatcher(plan)(n, args[2], 0, args[2].length))
      }
      return
    }
    for (const step of /** @type {any[]} */ (bound.steps())) {
      if (step.kind === 'once') continue
      for (const n of items(40)) {
        const key = step.kind === 'gather' ? step.key(n) : ''
        const ns = [n, n + 1]
        const size = step.kind === 'gather' ? step.size(key, ns) : step.size(n)
        const out = Buffer.alloc(size)
        const end = step.kind === 'gather' ? step.put(key, ns, out, 0, values) : step.put(n, out, 0, values)
        assert.equal(end, size)
        const plain = (step.kind === 'gather' ? step.args(key, ns) : step.args(n)).map(
          (/** @type {any} */ arg) => Buffer.from(plainArgument(arg, values)),
        )
        assert.deepEqual(parseCommands(out)[0].map(String), plain.map(String))
      }
    }
  })
