// The live page as a browser shows it, of a real run and of one that lasts an hour.
import assert from 'node:assert/strict'
import { dashboardService } from '../../lib/dashboard/service.js'
import { stateOf } from '../../lib/dashboard/state.js'
import { stateWords } from '../../lib/measures/warnings.js'
import { runSections } from '../../lib/report/run-sections.js'
import { openedPage, pageTest } from '../helpers/browser.js'
import { startProducer, until } from '../helpers/programs.js'
import { sampleRecord } from '../helpers/sample-record.js'
import { assertTiles, tilesOn } from './tiles.js'

/** @import { TestContext } from 'node:test' */
/** @import { BrowserContextOptions, Page } from 'playwright-core' */

/** @param {TestContext} t @param {string} url @param {BrowserContextOptions} [options] */
const opened = (t, url, options) =>
  openedPage(t, url, (asked) => asked.startsWith(url) || asked.startsWith('data:'), options)

/** @param {Page} page @param {number} points */
const hasPoints = (page, points) =>
  page.waitForFunction((least) => Number(document.documentElement.dataset.points) >= least, points)

/** @param {Page} page */
const tilesOf = (page) =>
  page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll('#tiles div')].map((tile) => [
        tile.querySelector('dt')?.textContent ?? '',
        tile.querySelector('dd')?.textContent ?? '',
      ]),
    ),
  )

pageTest(
  'a real run, opened in the middle: rate, latency, nodes, charts, and the verdict at its end',
  async (t) => {
    const program = startProducer(t, '-q 2000 -c 4 --duration 5m --warm-up 0 --cluster --dashboard')
    const [, url] = await program.says(/live page: (http:\S+\/)/)
    const page = await opened(t, url)
    await hasPoints(page, 4)
    assert.match((await page.locator('h1').textContent()) ?? '', /^Writes sorted-set · /)
    assert.match(await page.locator('#question').innerText(), /2,000 items\/s in bursts of 500 every 250 ms/)
    // Between two seconds of a busy machine it may say that it waits for news.
    await page.locator('#state', { hasText: /Running\. .*\d:\d\d of 5:00/ }).waitFor()
    // What it shows is what was stored until then, however much a busy machine keeps up.
    const { 'items/s sustained, target 2,000': shown, ...tiles } = await tilesOf(page)
    await until(`${shown} items/s in the results`, () => {
      let acked = 0
      return program.intervals().some(({ items, at_ms: atMs }) => {
        acked += items.acked
        return Math.abs((acked * 1000) / atMs / Number(shown.replaceAll(',', '')) - 1) < 0.01
      })
    })
    assert.ok('last second' in tiles, JSON.stringify(tiles))
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 })
      assertTiles(await tilesOn(page))
    }
    assert.equal(await page.locator('#nodes tbody tr').count(), 6)
    assert.equal(await page.locator('#boxes tbody tr').count(), 1)
    for (const name of ['overview', 'heat-map', 'bystander', 'memory'])
      assert.ok((await page.locator(`#figure-${name} svg path`).count()) > 0, name)
    // Opened in the middle: another page has as many points at once.
    const before = Number(await page.locator('html').getAttribute('data-points'))
    const second = await opened(t, url, { colorScheme: 'dark', viewport: { width: 390, height: 800 } })
    await hasPoints(second, before)
    assert.ok(
      (await second.evaluate(() => document.documentElement.scrollWidth)) <= 390,
      'nothing is wider than a phone',
    )
    program.kill('SIGINT')
    const { code, document: result, stderr } = await program.ended
    assert.equal(code, 130, stderr)
    const word = stateWords(result).replace(/^./, (first) => first.toUpperCase())
    for (const one of [page, second])
      await one.waitForFunction(
        (wanted) => document.querySelector('#state strong')?.textContent === wanted,
        `${word}.`,
      )
    // The numbers are those of the result.
    const highlights = runSections(result).highlights.map(({ label, text: shown }) => [label, shown])
    assert.ok(highlights.length > 0)
    for (const one of [page, second]) assert.deepEqual(await tilesOf(one), Object.fromEntries(highlights))
  },
)

/** The page of a run whose seconds a test sends. @param {TestContext} t @param {object} [about] */
const liveRun = async (t, about) => {
  const state = stateOf()
  const { run, seconds } = sampleRecord()
  const usual = {
    run: 'r',
    kind: 'producer',
    title: 'r',
    question: '',
    nominal: 1000,
    totalMs: null,
    warmUpS: 0,
  }
  state.about(/** @type {any} */ ({ ...usual, box: 'a', plan: run.plan, ...about }))
  const service = await dashboardService({ listener: { host: '127.0.0.1', port: 0 }, whole: state.all })
  t.after(service.close)
  const second = (/** @type {number} */ at) =>
    state.second({ ...structuredClone(seconds[1]), at_ms: at * 1000 })
  const url = `http://127.0.0.1:${service.port}/${service.token}/`
  return { state, url, second, send: (/** @type {number} */ at) => service.send(second(at)) }
}

pageTest('what others said is text; the pages follow a run of an hour and stay as large', async (t) => {
  const hostile =
    '<img src="http://127.0.0.1:9/x" onerror="document.title=1"><script>document.title=2</script>'
  const title = `Writes list · ${hostile}`
  const about = { title, question: hostile, totalMs: 3_600_000, warmUpS: 1, box: hostile }
  const { state, url, second, send } = await liveRun(t, about)
  state.event({ at_ms: 1000, kind: 'failover', text: hostile })
  state.warning(hostile)
  for (let at = 1; at <= 3600; at++) second(at)
  const page = await opened(t, url)
  await hasPoints(page, 600)
  assert.equal(await page.locator('html').getAttribute('data-points'), '600')
  const elements = () => page.evaluate(() => document.querySelectorAll('*').length)
  const first = await elements()
  for (let at = 3601; at <= 3620; at++) send(at)
  await page.waitForFunction(() => document.querySelector('#state')?.textContent?.includes('1:00:20'))
  assert.equal(await page.locator('html').getAttribute('data-points'), '600')
  assert.ok((await elements()) <= first * 1.1, `${first} elements, then ${await elements()}`)
  assert.equal(await page.title(), title)
  assert.equal(await page.locator('#events td').last().textContent(), hostile)
  // A page that is opened now shows the same.
  const other = await opened(t, url)
  await hasPoints(other, 600)
  assert.deepEqual(await tilesOf(other), await tilesOf(page))
})

pageTest(
  'light and dark by its button, a series by its legend, and the picture stands still under the pointer',
  async (t) => {
    const { url, send } = await liveRun(t)
    for (let at = 1; at <= 8; at++) send(at)
    const page = await opened(t, url)
    await hasPoints(page, 8)
    await page.locator('#theme').click()
    assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark')
    const button = page.locator('#figure-overview .legend button', { hasText: /^achieved$/ })
    await button.click()
    send(9)
    await hasPoints(page, 9)
    assert.equal(await button.getAttribute('aria-pressed'), 'false')
    const plot = page.locator('#figure-heat-map .chart')
    await plot.scrollIntoViewIfNeeded()
    const box = await plot.boundingBox()
    assert.ok(box)
    const pathsOf = () => plot.locator('svg').innerHTML()
    await page.mouse.move(box.x + box.width / 2, box.y + 10)
    // What the pointer adds is drawn in a later frame.
    await page.evaluate(
      () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(null)))),
    )
    const still = await pathsOf()
    send(10)
    await hasPoints(page, 10)
    assert.equal(await pathsOf(), still)
    await page.mouse.move(1, 1)
    await page.waitForFunction(
      (before) => document.querySelector('#figure-heat-map .chart svg')?.innerHTML !== before,
      still,
    )
  },
)
