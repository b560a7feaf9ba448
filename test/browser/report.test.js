// The page as a browser shows it, opened from disk.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { pageFiles } from '../../lib/report/write-report.js'
import { launched, openedPage, skip } from '../helpers/browser.js'
import { sampleExperiment, sampleRecord } from '../helpers/sample-record.js'

/**
 * @import { BrowserContextOptions, Locator, Page } from 'playwright-core'
 * @import { TestContext } from 'node:test'
 */

/** @type {import('playwright-core').Browser} */
let browser
let folder = ''

before(async () => {
  if (skip) return
  folder = mkdtempSync(join(tmpdir(), 'millrace-page-'))
  const hostile =
    '<script>document.title="broken"</script><img src="http://127.0.0.1:9/x" onerror="document.title=1">'
  const record = sampleRecord({ events: [{ at_ms: 4200, kind: 'failover', text: hostile }] })
  record.run.nodes[3].address = `${hostile}:1`
  for (const { nodes = [] } of record.seconds) nodes[3].address = `${hostile}:1`
  writeFileSync(join(folder, 'run.html'), (await pageFiles(record))['report.html'])
  const onCloudWatch = sampleRecord()
  const [{ address }] = onCloudWatch.run.nodes
  const means = { EngineCPUUtilization: 50.5, CPUUtilization: 25.5 }
  onCloudWatch.run.cloudwatch = {
    region: 'eu-west-1',
    period_s: 60,
    from: '',
    to: '',
    settled: true,
    read_at: '',
    notes: [],
    nodes: [
      {
        id: 'items-001',
        kind: 'node',
        address,
        role: 'master',
        means,
        points: { EngineCPUUtilization: [[0, 50.5]], CPUUtilization: [[0, 25.5]] },
      },
    ],
  }
  writeFileSync(join(folder, 'cloudwatch.html'), (await pageFiles(onCloudWatch))['report.html'])
  const experiment = sampleExperiment()
  writeFileSync(
    join(folder, 'experiment.html'),
    (await pageFiles({ kind: 'experiment', experiment, timeline: null, pages: ['cells/list/1'] }))[
      'report.html'
    ],
  )
  browser = await launched()
})

after(async () => {
  await browser?.close()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

/** @param {TestContext} t @param {string} name @param {BrowserContextOptions} [options] */
const opened = (t, name, options) => {
  const url = pathToFileURL(join(folder, name)).href
  return openedPage(t, browser, url, (asked) => asked === url || asked.startsWith('blob:'), options)
}

/** Unfolds everything, and waits until its charts are drawn. @param {Page} page */
const unfold = async (page) => {
  await page.evaluate(() => {
    for (const fold of document.querySelectorAll('details')) fold.open = true
  })
  await page.waitForFunction(() =>
    [...document.querySelectorAll('figure .chart')].every((chart) => chart.querySelector('svg')),
  )
}

/** What stands beside the pointer, late in a run. @param {Page} page @param {Locator} chart */
const tipIn = async (page, chart) => {
  await chart.scrollIntoViewIfNeeded()
  const box = await chart.boundingBox()
  assert.ok(box)
  await page.mouse.move(box.x + box.width * 0.8, box.y + box.height / 2)
  const tip = chart.locator('.tip table')
  await tip.waitFor()
  return tip.innerText()
}

/** Paths that a chart draws. @param {Page} page @param {string} title */
const drawnPaths = (page, title) =>
  page.locator('figure', { has: page.getByRole('heading', { name: title }) }).locator('.chart svg path')

test('every chart is drawn, and what others said is text', { skip }, async (t) => {
  const page = await opened(t, 'run.html')
  // Folded charts are drawn when they are seen.
  assert.equal(await page.locator('figure .chart svg').count(), 1)
  await unfold(page)
  const figures = await page.locator('figure').count()
  assert.equal(figures, 8)
  for (const svg of await page.locator('figure .chart svg').all())
    assert.ok((await svg.locator('path').count()) > 3)
  assert.equal(await page.locator('figure .chart svg').count(), figures)
  assert.match(await page.title(), /^Millrace: writes sorted-set/)
  assert.equal(await page.locator('img').count(), 0)
  await page.getByText('<script>document.title').first().waitFor()
})

test('a table is sorted by a click and by the keyboard, numbers as numbers', { skip }, async (t) => {
  const page = await opened(t, 'run.html')
  await unfold(page)
  const table = page.locator('details', { has: page.getByText('Nodes', { exact: true }) }).locator('table')
  const engine = () => table.locator('tbody tr td:nth-child(4)').allTextContents()
  assert.deepEqual(await engine(), ['51.2 %', '33.1 %', '29.9 %', '14.1 %'])
  const button = table.getByRole('button', { name: 'engine' })
  await button.click()
  assert.deepEqual(await engine(), ['14.1 %', '29.9 %', '33.1 %', '51.2 %'])
  assert.equal(await table.locator('th[aria-sort=ascending]').count(), 1)
  await button.focus()
  await page.keyboard.press('Enter')
  assert.deepEqual(await engine(), ['51.2 %', '33.1 %', '29.9 %', '14.1 %'])
})

test('a series is toggled by its button, by the keyboard too', { skip }, async (t) => {
  const page = await opened(t, 'run.html')
  const paths = drawnPaths(page, 'CPU, rate and latency')
  const all = await paths.count()
  const button = page.getByRole('group', { name: 'Series of CPU, rate' }).getByRole('button').first()
  await button.click()
  assert.equal(await button.getAttribute('aria-pressed'), 'false')
  await page.waitForFunction(({ selector, count }) => document.querySelectorAll(selector).length < count, {
    selector: '[data-chart="0"] .chart svg path',
    count: all,
  })
  await button.focus()
  await page.keyboard.press('Space')
  assert.equal(await button.getAttribute('aria-pressed'), 'true')
  await page.waitForFunction(({ selector, count }) => document.querySelectorAll(selector).length === count, {
    selector: '[data-chart="0"] .chart svg path',
    count: all,
  })
})

test('the pointer finds CPU, rate and latency of a moment in one tip', { skip }, async (t) => {
  const page = await opened(t, 'run.html')
  const told = await tipIn(page, page.locator('figure .chart').first())
  assert.match(told, /master 1 .*\d %/)
  assert.match(told, /achieved\s+1,000/)
  assert.match(told, /p90\s+[\d.]+ ms/)
  assert.match((await page.locator('.tip strong').first().textContent()) ?? '', /^0:0\d$/)
})

test('CloudWatch: its steps and our seconds in one chart and one tip, its mean among the nodes', {
  skip,
}, async (t) => {
  const page = await opened(t, 'cloudwatch.html')
  await unfold(page)
  const figure = page.locator('figure', { has: page.getByRole('heading', { name: 'CloudWatch beside' }) })
  assert.deepEqual(await figure.locator('.legend button').allTextContents(), [
    'items-001: engine, each second',
    'items-001: EngineCPUUtilization',
    'items-001: CPUUtilization',
  ])
  const told = await tipIn(page, figure.locator('.chart'))
  assert.match(told, /engine, each second\s+\d[\d.]* %/)
  assert.match(told, /EngineCPUUtilization\s+50\.5 %/)
  assert.match(told, /CPUUtilization\s+25\.5 %/)
  const nodes = page.locator('details', { has: page.getByText('Nodes', { exact: true }) })
  assert.equal(await nodes.locator('tbody tr').first().locator('td').last().textContent(), '25.5 %')
})

test('dark by preference, light and dark by the button; charts go along', { skip }, async (t) => {
  const page = await opened(t, 'run.html', { colorScheme: 'dark' })
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const strokes = () =>
    page
      .locator('figure .chart svg path')
      .evaluateAll((paths) => paths.map((path) => path.getAttribute('stroke')))
  assert.equal(await background(), 'rgb(23, 28, 33)')
  assert.ok((await strokes()).includes('#56b4e9'))
  await page.getByRole('button', { name: 'Light' }).click()
  assert.equal(await background(), 'rgb(255, 255, 255)')
  await page.locator('figure .chart svg path[stroke="#0072b2"]').first().waitFor({ state: 'attached' })
  const light = await strokes()
  assert.ok(light.includes('#0072b2') && !light.includes('#56b4e9'))
  await page.getByRole('button', { name: 'Dark' }).click()
  assert.equal(await background(), 'rgb(23, 28, 33)')
})

test('a phone shows all of it without moving the page sideways', { skip }, async (t) => {
  const page = await opened(t, 'run.html', {
    viewport: { width: 390, height: 844 },
    isMobile: true,
    hasTouch: true,
  })
  await unfold(page)
  const widths = await page.evaluate(() => ({
    page: document.documentElement.scrollWidth,
    screen: innerWidth,
  }))
  assert.equal(widths.page, widths.screen)
  for (const chart of await page.locator('figure .chart svg').all()) {
    const box = await chart.boundingBox()
    assert.ok(box && box.x >= 0 && box.x + box.width <= 390.5, JSON.stringify(box))
  }
})

test('on paper it is light, with its charts', { skip }, async (t) => {
  const page = await opened(t, 'run.html', { colorScheme: 'dark' })
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
  await page.emulateMedia({ media: 'print' })
  assert.equal(
    await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
    'rgb(255, 255, 255)',
  )
  await page.locator('figure .chart svg path[stroke="#0072b2"]').first().waitFor({ state: 'attached' })
  assert.equal(await page.locator('#theme').isVisible(), false)
  // Nothing can be unfolded on paper.
  assert.equal(await page.locator('details:not([open])').count(), 0)
  await page.evaluate(() => dispatchEvent(new Event('afterprint')))
})

test('an experiment has its charts, ratios, and links to its runs', { skip }, async (t) => {
  const page = await opened(t, 'experiment.html')
  await unfold(page)
  assert.equal(await page.locator('figure .chart svg').count(), 3)
  assert.equal(
    await page.getByRole('link', { name: 'list' }).getAttribute('href'),
    'cells/list/1/report.html',
  )
  await page.getByRole('cell', { name: 'list / sorted set' }).waitFor()
})

test('the pointer finds each ratio, measured and published', { skip }, async (t) => {
  const page = await opened(t, 'experiment.html')
  const figure = page.locator('figure', { has: page.getByRole('heading', { name: 'Ratios within' }) })
  const chart = figure.locator('.chart')
  await chart.scrollIntoViewIfNeeded()
  const marks = await chart.locator('svg path').evaluateAll((paths) =>
    paths.flatMap((path) => {
      const { x, y, width, height } = path.getBoundingClientRect()
      const isMark =
        path.getAttribute('fill') !== 'none' && width > 8 && width < 18 && Math.abs(width - height) < 0.1
      return isMark ? [{ x: x + width / 2, y: y + height / 2 }] : []
    }),
  )
  assert.ok(marks.length > 0)
  const told = []
  for (const { x, y } of marks) {
    await page.mouse.move(x, y)
    const tip = chart.locator('.tip')
    await tip.locator('table').waitFor()
    told.push(await tip.innerText())
    await page.mouse.move(1, 1)
    await tip.waitFor({ state: 'hidden' })
  }
  assert.ok(
    told.some((text) => /^list \/ sorted set[\s\S]*measured\s+\d\.\d/.test(text)),
    told.join('\n'),
  )
  assert.ok(
    told.some((text) => /published\s+\d\.\d/.test(text)),
    told.join('\n'),
  )
})
