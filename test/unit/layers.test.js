// Imports between the folders of lib/, charts/ and settings.js have one direction.
import assert from 'node:assert/strict'
import { dirname, posix } from 'node:path'
import test from 'node:test'
import { modulesIn, sourceOf } from '../helpers/sources.js'

const modules = ['settings.js', ...modulesIn('charts', 'lib')]

/** lib/run/run.js is of lib/run, charts/rate.js of charts, lib/base/errors.js its own. @param {string} path */
const layerOf = (path) =>
  path.startsWith('charts/') ? 'charts' : (/^lib\/[^/]+(?=\/)/.exec(path)?.[0] ?? path)

/** What a module imports, also when it is used; types are no imports. @param {string} path @param {string} code */
const importedBy = (path, code) =>
  [...code.replace(/\/\*[\s\S]*?\*\//g, '').matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'(\.[^']+)'/g)].map(
    ([, name]) => posix.join(dirname(path), name),
  )

/** A way round through the layers, as the imports that make it; empty: there is none. @param {readonly (readonly [from: string, to: string])[]} imports */
const roundIn = (imports) => {
  let left = imports.filter(([from, to]) => layerOf(from) !== layerOf(to))
  for (let before = 0; before !== left.length; ) {
    before = left.length
    // A layer that imports no other, or that no other imports, is in no round.
    const from = new Set(left.map(([name]) => layerOf(name)))
    const to = new Set(left.map(([, name]) => layerOf(name)))
    left = left.filter((pair) => to.has(layerOf(pair[0])) && from.has(layerOf(pair[1])))
  }
  return left.map(([from, to]) => `${from} imports ${to}`)
}

test('imports between the folders have one direction', () => {
  assert.ok(modules.length > 400)
  const imports = modules.flatMap((path) =>
    importedBy(path, sourceOf(path)).map((to) => /** @type {const} */ ([path, to])),
  )
  assert.ok(imports.length > 1000)
  assert.deepEqual(roundIn(imports), [])
})

test('an import that points back is found', () => {
  const forth = /** @type {const} */ (['lib/report/charts.js', 'charts/rate.js'])
  const on = /** @type {const} */ (['charts/rate.js', 'lib/chart/lines.js'])
  const back = /** @type {const} */ (['lib/chart/lines.js', 'lib/report/words.js'])
  assert.deepEqual(roundIn([forth, on]), [])
  assert.deepEqual(roundIn([forth, on, back]), [
    'lib/report/charts.js imports charts/rate.js',
    'charts/rate.js imports lib/chart/lines.js',
    'lib/chart/lines.js imports lib/report/words.js',
  ])
  assert.deepEqual(importedBy('lib/a/b.js', "const { c } = await import('../d/e.js')"), ['lib/d/e.js'])
  assert.deepEqual(importedBy('lib/a/b.js', "/** @import { F } from '../d/e.js' */"), [])
})
