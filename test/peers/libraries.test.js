// Every strategy and reader over the client libraries that are installed beside, on one server and on a cluster.
import { describe, test } from 'node:test'
import { isLibrary, libraries } from '../../lib/base/libraries.js'
import { wordsForMissing } from '../../lib/base/optional-packages.js'
import { readerContract, sharedPlace } from '../helpers/reader-contract.js'
import { plainLines, strategyContract } from '../helpers/strategy-contract.js'

const cases = [
  { line: '--strategy sorted-set', read: ['', '--fetch mget', '--reads any'] },
  { line: '--actual-value' },
  { line: '--ws --ns 4 --spread' },
  { line: '--sl' },
  { line: '--ss' },
  { line: '--strategy hash' },
  { line: '--strategy stream' },
]

const drivers = Object.keys(libraries).filter((name) => name !== 'ioredis')

for (const driver of drivers) {
  const missing = isLibrary(driver) && wordsForMissing([libraries[driver].package], `--driver ${driver}`)
  if (missing) {
    test(driver, (t) => {
      if (process.env.CI === 'true') throw new Error(missing)
      t.skip(missing)
    })
    continue
  }
  for (const cluster of [false, true]) {
    const place = cluster ? 'a cluster' : 'one server'
    strategyContract({
      name: `${place}, ${driver}`,
      cluster,
      drivers: [driver],
      lines: [plainLines],
      hashTtl: [''],
    })
    describe(`readers on ${place}, ${driver}`, () => {
      readerContract(place, cluster, cases, sharedPlace(cluster), [driver])
    })
  }
}
