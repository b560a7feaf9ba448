// A reply of 50 MB to a reader, by each driver.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { largeReplies } from '../../scripts/faults/clients.js'
import { driversThere, driversToTest } from '../helpers/driver-faults.js'
import { suiteScope } from '../helpers/servers.js'
import { stageHere } from '../helpers/stage-here.js'

const drivers = await driversToTest()

describe('a reply of 50 MB', () => {
  /** @type {Awaited<ReturnType<typeof largeReplies>>} */
  let outcomes = []
  const scope = suiteScope()
  before(async () => {
    outcomes = await largeReplies(driversThere(drivers), await stageHere(scope, { cluster: false }))
  })
  for (const [driver, skip] of drivers)
    test(driver, { skip }, () => {
      const outcome = outcomes.find((each) => each.driver === driver)
      assert.ok(outcome)
      const { code, fetches, verify, log } = outcome
      assert.equal(code, 130, log)
      assert.ok(fetches.count > 0)
      assert.equal(fetches.failed, 0)
      assert.equal(fetches.bytes, fetches.count * 50e6)
      const { checked, missing, expired, corrupt, unexpected } = verify
      // Of the fetch that the end cuts off, a part.
      assert.ok(checked >= 50 * fetches.count && checked <= 50 * (fetches.count + 1), `${checked} checked`)
      assert.deepEqual(
        { missing, expired, corrupt, unexpected },
        { missing: 0, expired: 0, corrupt: 0, unexpected: 0 },
      )
    })
})
