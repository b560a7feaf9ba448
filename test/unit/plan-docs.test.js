// The table of docs/validation/planning.md follows from the cells in docs/data/planning.json.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuFeatures, predicted } from '../../lib/answers/plan/model.js'
import { scoresOf } from '../../lib/answers/plan/proof.js'
import { sourceOf } from '../helpers/sources.js'

const { models } = JSON.parse(sourceOf('docs/data/planning.json'))

test('predicted against measured, by model and all together', () => {
  const page = sourceOf('docs/validation/planning.md')
  const all = /** @type {[string, any[]][]} */ ([
    ...models.map((/** @type {any} */ { strategy, proof }) => [strategy, proof]),
    ['all', models.flatMap((/** @type {any} */ { proof }) => proof)],
  ])
  for (const [name, proof] of all) {
    const { cpu, memory, network } = scoresOf(proof)
    assert.ok(cpu && memory && network)
    const pct = [cpu.median_pct, cpu.p90_pct, cpu.largest_pct].map((value) => value.toFixed(1)).join(' | ')
    const row = `| ${name} | ${cpu.count} | ${pct} | ${cpu.inside} of ${cpu.count} | ${memory.median_pct.toFixed(2)} | ${memory.largest_pct.toFixed(2)} | ${network.median_pct.toFixed(3)} | ${network.largest_pct.toFixed(2)} |`
    assert.ok(page.includes(row), `docs/validation/planning.md has no row ${row}`)
  }
})

test('what was predicted of a calibrated cell is the sum of its terms', () => {
  for (const { cells, terms } of models)
    for (const { amounts, items } of cells) {
      const features = cpuFeatures(amounts, items)
      const sum = terms.reduce(
        (/** @type {number} */ all, /** @type {any} */ one) => all + one.value * features[one.name],
        0,
      )
      const covariance = terms.map(() => terms.map(() => 0))
      const { value, low, high } = predicted({ terms, spread: 0.05, freedom: 8, covariance }, features)
      assert.ok(Math.abs(value / sum - 1) < 1e-9 && low < value && value < high)
    }
})
