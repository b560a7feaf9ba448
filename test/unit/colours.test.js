// The colours of charts differ, for readers who do not tell red from green too.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { colourCount, themedOption } from '../../lib/chart/theme.js'
import { contrast, distance, seenAs } from '../helpers/colour-vision.js'

/** @import { Triple } from '../helpers/colour-vision.js' */

const names = [...Array.from({ length: colourCount }, (_, at) => `c${at + 1}`), 'bad']
/** @param {'light' | 'dark'} look @param {string} name @returns {string} */
const colourOf = (look, name) => themedOption({ color: `@${name}` }, look).color
const pairs = names.flatMap((one, at) => names.slice(at + 1).map((other) => [one, other]))

test('CIEDE2000 is that of the published test data', () => {
  /** @type {[Triple, Triple, number][]} */
  const published = [
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[50, 2.49, -0.001], [50, -2.49, 0.0011], 7.2195],
    [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
    [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
  ]
  for (const [one, other, expected] of published)
    assert.ok(Math.abs(distance(one, other) - expected) < 1e-4, String(distance(one, other)))
})

test('two colours that a deuteranope takes for one are found', () => {
  const apart = distance(seenAs('#c65300', 'deuteranopia'), seenAs('#a87400', 'deuteranopia'))
  assert.ok(apart < 1.5, String(apart))
})

for (const look of /** @type {const} */ (['light', 'dark']))
  for (const [view, least] of /** @type {const} */ ([
    ['normal', 16],
    ['deuteranopia', 12],
    ['protanopia', 9],
  ]))
    test(`${look}: all pairs of colours are ${least} apart, ${view}`, () => {
      for (const [one, other] of pairs) {
        const [a, b] = [one, other].map((name) => seenAs(colourOf(look, name), view))
        assert.ok(distance(a, b) >= least, `${one} and ${other}: ${distance(a, b).toFixed(1)}`)
      }
    })

test('every colour stands out from its page, 3 to 1', () => {
  for (const look of /** @type {const} */ (['light', 'dark']))
    for (const name of names) {
      const found = contrast(colourOf(look, name), colourOf(look, 'surface'))
      assert.ok(found >= 3, `${look} ${name}: ${found.toFixed(2)}`)
    }
})
