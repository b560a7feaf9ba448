// Strategies and readers over the client libraries that are installed beside: all on a cluster, some on one server. Of
// iovalkey some on both, since its driver is that of ioredis.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { libraries } from '../../lib/base/libraries.js'
import { hasDriver, libraryNames } from '../helpers/peers.js'
import { readerContract, sharedPlace } from '../helpers/reader-contract.js'
import { plainLines, strategyContract } from '../helpers/strategy-contract.js'

const someCases = [
  { line: '--strategy sorted-set', read: ['', '--read-with mget', '--read-from any'] },
  { line: '--ws --ns 4 --spread' },
  { line: '--strategy stream' },
]
const allCases = [
  ...someCases,
  { line: '--actual-value' },
  { line: '--sl' },
  { line: '--ss' },
  { line: '--strategy hash' },
]
const someLines = (/** @type {boolean} */ cluster) => [
  '--strategy sorted-set',
  `--strategy script-batch${cluster ? ' --spread' : ''}`,
  '--strategy stream -q 300',
]

// Those of ioredis are among the quick ones.
for (const driver of libraryNames.filter((name) => name !== 'ioredis')) {
  /** @type {string[]} */
  const reasons = []
  const isThere = await hasDriver({ skip: (reason) => reasons.push(reason) }, driver)
  if (!isThere) test(driver, { skip: reasons[0] })
  for (const cluster of isThere ? [false, true] : []) {
    const place = cluster ? 'a cluster' : 'one server'
    const hasAll = cluster && driver !== 'iovalkey'
    strategyContract({
      name: `${place}, ${driver}`,
      cluster,
      drivers: [driver],
      lines: [hasAll ? plainLines : someLines],
      hashTtl: [''],
    })
    describe(`readers on ${place}, ${driver}`, { concurrency: 3 }, () => {
      readerContract(place, cluster, hasAll ? allCases : someCases, sharedPlace(cluster), [driver])
    })
  }
}

test('a driver that is not installed is skipped at home, with the line that installs it, and fails in CI', async () => {
  const installed = { ...libraries, iovalkey: { ...libraries.iovalkey, package: 'no-such-package' } }
  /** @type {string[]} */
  const skips = []
  const t = { skip: (/** @type {string} */ reason) => void skips.push(reason) }
  assert.equal(await hasDriver(t, 'iovalkey', { env: {}, installed }), false)
  assert.match(String(skips), /^--driver iovalkey needs optional packages: npm install no-such-package/)
  for (const CI of ['true', '1'])
    await assert.rejects(hasDriver(t, 'iovalkey', { env: { CI }, installed }), /npm install/)
  assert.equal(skips.length, 1)
})
