// The page of a profile with advice, in a window of 1200 pixels: no table of it scrolls sideways.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { adviceTable } from '../../lib/answers/profile/report.js'
import { pageOf } from '../../lib/report/page/page.js'
import { openedPage, pageTest } from '../helpers/browser.js'
import { ownFolder } from '../helpers/programs.js'

const effect = {
  ...{ now: 111.4, other: 19.42, is_cheaper: true },
  change: { value: -0.8256, low: -0.8281, high: -0.8231 },
}
const form = { rounds: 6, memory_bytes: effect, cpu_us: effect }
const advice = [
  {
    ...{ ...form, pattern: 'session:{uuid}:basket:items' },
    title: 'in hashes of 100 each, which expire as one',
    when: 'keys that are written together may expire together',
  },
  {
    ...{ ...form, pattern: 'board:global' },
    title: '3 sorted sets, one on each of 3 shards: of the busiest shard',
    when: 'a range may be read from each and merged',
  },
]

pageTest('what costs less fits into 1200 pixels', async (t) => {
  const sections = {
    ...{ title: 'Profile of a server', question: 'Which keys are there?', highlights: [], warnings: [] },
    verdict: { good: true, neutral: true, word: 'Seen', sentence: '3 keys' },
    facts: [{ label: 'servers', text: '1 master' }],
    tables: [adviceTable({ advice, silent: [], plays: 2 }).onPage()],
  }
  const file = join(ownFolder(t, 'page'), 'profile.html')
  writeFileSync(file, await pageOf(/** @type {any} */ (sections), [], '1.0.0'))
  const page = await openedPage(t, `file://${file}`, (url) => url.startsWith('file:'))
  const table = page.locator('.scroll').first()
  const [inside, whole] = await table.evaluate((box) => [box.clientWidth, box.scrollWidth])
  assert.ok(whole <= inside, `${whole} in ${inside}`)
  assert.match(await table.innerText(), /if a range may be read from each/)
})
