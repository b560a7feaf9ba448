// Chromium for tests. A page in it is held to this: nothing on the console, nothing asked of others.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, test } from 'node:test'
import { chromium } from 'playwright-core'

/** @import { Browser, BrowserContextOptions } from 'playwright-core' */
/** @import { TestContext } from 'node:test' */

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
)

/** Why there is no browser; false: there is one, or CI fails without. */
const skip =
  executablePath || process.env.CI === 'true' ? false : 'no chromium here: apt-get install chromium'

/** @type {Promise<Browser> | null} one for a file */
let launched = null
const launch = () => {
  assert.ok(executablePath, 'CI needs chromium: .ci/run installs it')
  const args = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking']
  return chromium.launch({ executablePath, args })
}
after(async () => (await launched)?.close())

/** A test that needs a browser. @param {string} name @param {(t: TestContext) => Promise<void>} body */
export const pageTest = (name, body) => test(name, { skip }, body)

/**
 * Opens a page until its script is ready.
 * @param {TestContext} t
 * @param {string} url
 * @param {(url: string) => boolean} mayAsk
 * @param {BrowserContextOptions} [options]
 */
export const openedPage = async (t, url, mayAsk, options = {}) => {
  launched ??= launch()
  const browser = await launched
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options })
  const complaints = /** @type {string[]} */ ([])
  t.after(async () => {
    await context.close()
    assert.deepEqual(complaints, [])
  })
  const page = await context.newPage()
  page.setDefaultTimeout(120_000)
  page.on('console', (message) => complaints.push(`console: ${message.text()}`))
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('request', (request) => {
    if (!mayAsk(request.url())) complaints.push(`request: ${request.url()}`)
  })
  await page.goto(url)
  await page.waitForSelector('html[data-ready=true]')
  return page
}
