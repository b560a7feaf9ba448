// Chromium for tests. A page in it is held to this: nothing on the console, nothing asked of others.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
)

/** Why there is no browser; false: there is one, or CI fails without. */
export const skip =
  executablePath || process.env.CI === 'true' ? false : 'no chromium here: apt-get install chromium'

export const launched = () => {
  assert.ok(executablePath, 'CI needs chromium: .ci/run installs it')
  return chromium.launch({
    executablePath,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
}

/**
 * Opens a page until its script is ready.
 * @param {import('node:test').TestContext} t
 * @param {import('playwright-core').Browser} browser
 * @param {string} url
 * @param {(url: string) => boolean} mayAsk
 * @param {import('playwright-core').BrowserContextOptions} [options]
 */
export const openedPage = async (t, browser, url, mayAsk, options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options })
  /** @type {string[]} */
  const complaints = []
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
