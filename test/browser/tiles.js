// The tiles of a page, as they are laid out.
import assert from 'node:assert/strict'

/** @import { Page } from 'playwright-core' */

/** The places of the tiles. @param {Page} page */
export const tilesOn = (page) =>
  page.evaluate(() => {
    const places = document.querySelector('.highlights')
    const whole = places?.getBoundingClientRect().width ?? 0
    return [...(places?.children ?? [])].map((tile) => {
      const { top, width, height } = tile.getBoundingClientRect()
      return { top: Math.round(top), part: width / whole, height: Math.round(height) }
    })
  })

/** Tiles have one height, and none is alone in a row but with all of it. @param {Awaited<ReturnType<typeof tilesOn>>} tiles */
export const assertTiles = (tiles) => {
  assert.ok(new Set(tiles.map(({ height }) => height)).size <= 1, JSON.stringify(tiles))
  const alone = tiles.filter(
    ({ top, part }) => part < 0.95 && tiles.filter((one) => one.top === top).length === 1,
  )
  assert.ok(tiles.length === 1 || alone.length === 0, JSON.stringify(tiles))
}

/** Unfolds everything, and waits until its charts are drawn. @param {Page} page */
export const unfold = async (page) => {
  await page.evaluate(() => {
    for (const fold of document.querySelectorAll('details')) fold.open = true
  })
  await page.waitForFunction(() =>
    [...document.querySelectorAll('figure .chart')].every((chart) => chart.querySelector('svg')),
  )
}
