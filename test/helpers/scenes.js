// Scenes as text: a line with the name of a test, and below it rows of steps and what these bring about.
import assert from 'node:assert/strict'
import { test } from 'node:test'

/**
 * @import { TestContext } from 'node:test'
 *
 * @typedef {object} Scene
 * @property {Record<string, (...words: any[]) => unknown>} steps by the first word of a step; it takes the others
 * @property {() => string} seen what there is to see after a row
 */

/**
 * Makes a test of each paragraph. Steps of a row are between commas, its outcome is behind the arrow.
 * @param {(t: TestContext) => Scene | Promise<Scene>} open
 */
export const testScenes = (open) => (/** @type {string} */ text) => {
  for (const paragraph of text.trim().split(/\n\s*\n/)) {
    const [name, ...lines] = paragraph.split('\n').map((line) => line.trim())
    test(name, async (t) => {
      const { steps, seen } = await open(t)
      const found = []
      for (const [row] of lines.map((line) => line.split(' -> '))) {
        for (const step of row.split(', ')) {
          const [word, ...words] = step.split(' ')
          assert.ok(Object.hasOwn(steps, word), `no step is called '${word}'`)
          await steps[word](...words)
        }
        found.push(`${row} -> ${seen()}`)
      }
      assert.deepEqual(found, lines)
    })
  }
}

/** What was noted since it was asked for last. */
export const notes = () => {
  const noted = /** @type {string[]} */ ([])
  return {
    note: (/** @type {string} */ text) => void noted.push(text),
    taken: () => noted.splice(0).join(', '),
  }
}
