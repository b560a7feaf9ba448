// The page as a browser shows it, opened from disk.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before } from 'node:test'
import { pathToFileURL } from 'node:url'
import { pageFiles } from '../../lib/report/write-report.js'
import { openedPage, pageTest } from '../helpers/browser.js'
import { ownFolder } from '../helpers/programs.js'
import { sampleExperiment, sampleRecord } from '../helpers/sample-record.js'
import { suiteScope } from '../helpers/servers.js'
import { unfold } from './tiles.js'

/** @import { BrowserContextOptions, Locator, Page } from 'playwright-core' */
/** @import { TestContext } from 'node:test' */

const folder = ownFolder(suiteScope(), 'page')
/** @param {string} name @param {Parameters<typeof pageFiles>[0]} of */
const write = async (name, of) => writeFileSync(join(folder, name), (await pageFiles(of))['report.html'])

before(async () => {
  const hostile =
    '<script>document.title="broken"</script><img src="http://127.0.0.1:9/x" onerror="document.title=1">'
  const record = sampleRecord({ events: [{ at_ms: 4200, kind: 'failover', text: hostile }] })
  record.run.nodes[3].address = `${hostile}:1`
  for (const { nodes = [] } of record.seconds) nodes[3].address = `${hostile}:1`
  await write('run.html', record)
  const onCloudWatch = sampleRecord()
  const [{ address }] = onCloudWatch.run.nodes
  const means = { EngineCPUUtilization: 50.5, CPUUtilization: 25.5 }
  onCloudWatch.run.cloudwatch = {
    ...{ region: 'eu-west-1', period_s: 60, from: '', to: '', settled: true, read_at: '', notes: [] },
    nodes: [
      {
        ...{ id: 'items-001', kind: 'node', address, role: 'master', means },
        points: { EngineCPUUtilization: [[0, 50.5]], CPUUtilization: [[0, 25.5]] },
      },
    ],
  }
  await write('cloudwatch.html', onCloudWatch)
  const experiment = sampleExperiment()
  await write('experiment.html', { kind: 'experiment', experiment, timeline: null, pages: ['cells/list/1'] })
})

/** @param {TestContext} t @param {string} name @param {BrowserContextOptions} [options] */
const opened = (t, name, options) => {
  const url = pathToFileURL(join(folder, name)).href
  return openedPage(t, url, (asked) => asked === url || asked.startsWith('blob:'), options)
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

pageTest('every chart is drawn, and what others said is text', async (t) => {
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

pageTest('a table is sorted by a click and by the keyboard, numbers as numbers', async (t) => {
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

pageTest('a series is toggled by its button, by the keyboard too', async (t) => {
  const page = await opened(t, 'run.html')
  const paths = drawnPaths(page, 'CPU, rate and latency')
  const all = await paths.count()
  const button = page.getByRole('group', { name: 'Series of CPU, rate' }).getByRole('button').first()
  await button.click()
  assert.equal(await button.getAttribute('aria-pressed'), 'false')
  const shown = (/** @type {boolean} */ isAll) =>
    page.waitForFunction(
      ([all, isAll]) => {
        const { length } = document.querySelectorAll('[data-chart="0"] .chart svg path')
        return isAll ? length === all : length < all
      },
      /** @type {const} */ ([all, isAll]),
    )
  await shown(false)
  await button.focus()
  await page.keyboard.press('Space')
  assert.equal(await button.getAttribute('aria-pressed'), 'true')
  await shown(true)
})

pageTest('the pointer finds CPU, rate and latency of a moment in one tip', async (t) => {
  const page = await opened(t, 'run.html')
  const told = await tipIn(page, page.locator('figure .chart').first())
  assert.match(told, /master 1 .*\d %/)
  assert.match(told, /achieved\s+1,000/)
  assert.match(told, /p90\s+[\d.]+ ms/)
  assert.match((await page.locator('.tip strong').first().textContent()) ?? '', /^0:0\d$/)
})

pageTest(
  'CloudWatch: its steps and our seconds in one chart and one tip, its mean among the nodes',
  async (t) => {
    const page = await opened(t, 'cloudwatch.html')
    await unfold(page)
    const figure = page.locator('figure', { has: page.getByRole('heading', { name: 'CloudWatch beside' }) })
    const legend = await figure.locator('.legend button').allTextContents()
    const metrics = ['engine, each second', 'EngineCPUUtilization', 'CPUUtilization']
    assert.deepEqual(
      legend,
      metrics.map((name) => `items-001: ${name}`),
    )
    const told = await tipIn(page, figure.locator('.chart'))
    assert.match(told, /engine, each second\s+\d[\d.]* %/)
    assert.match(told, /EngineCPUUtilization\s+50\.5 %/)
    assert.match(told, /CPUUtilization\s+25\.5 %/)
    const nodes = page.locator('details', { has: page.getByText('Nodes', { exact: true }) })
    assert.equal(await nodes.locator('tbody tr').first().locator('td').last().textContent(), '25.5 %')
  },
)

pageTest('dark by preference, light and dark by the button; charts go along', async (t) => {
  const page = await opened(t, 'run.html', { colorScheme: 'dark' })
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const paths = page.locator('figure .chart svg path')
  const strokes = () => paths.evaluateAll((all) => all.map((path) => path.getAttribute('stroke')))
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

pageTest('a phone shows all of it without moving the page sideways', async (t) => {
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
  const page = await opened(t, 'run.html', phone)
  await unfold(page)
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0)
  for (const chart of await page.locator('figure .chart svg').all()) {
    const box = await chart.boundingBox()
    assert.ok(box && box.x >= 0 && box.x + box.width <= 390.5, JSON.stringify(box))
  }
})

pageTest('on paper it is light, with its charts', async (t) => {
  const page = await opened(t, 'run.html', { colorScheme: 'dark' })
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
  await page.emulateMedia({ media: 'print' })
  const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  assert.equal(background, 'rgb(255, 255, 255)')
  await page.locator('figure .chart svg path[stroke="#0072b2"]').first().waitFor({ state: 'attached' })
  assert.equal(await page.locator('#theme').isVisible(), false)
  // Nothing can be unfolded on paper.
  assert.equal(await page.locator('details:not([open])').count(), 0)
  await page.evaluate(() => dispatchEvent(new Event('afterprint')))
})

pageTest('an experiment has its charts, ratios, and links to its runs', async (t) => {
  const page = await opened(t, 'experiment.html')
  await unfold(page)
  assert.equal(await page.locator('figure .chart svg').count(), 3)
  const link = page.getByRole('link', { name: 'list' })
  assert.equal(await link.getAttribute('href'), 'cells/list/1/report.html')
  await page.getByRole('cell', { name: 'list / sorted set' }).waitFor()
})

pageTest('the pointer finds each ratio, measured and published', async (t) => {
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
  for (const words of [/^list \/ sorted set[\s\S]*measured\s+×\d\.\d/, /published\s+×\d\.\d/])
    assert.ok(
      told.some((text) => words.test(text)),
      told.join('\n'),
    )
})
