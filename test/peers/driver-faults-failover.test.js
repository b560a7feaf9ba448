// A master dies and its replica takes over while each driver writes.
import assert from 'node:assert/strict'
import { driverFaults } from '../helpers/driver-faults.js'

await driverFaults({
  'a master dies': ({ driver, items, kinds }) => {
    const { CLOSED, CLUSTERDOWN, ...others } = items.failed_by
    assert.deepEqual(others, {})
    // The library does not repeat what a batch has refused: what is refused for longer than --max-behind has failed.
    if (!driver.includes('batchCommands')) assert.deepEqual([items.failed, CLUSTERDOWN], [0, undefined])
    assert.ok(kinds.includes('new-master'), `the result names it: ${kinds}`)
  },
})
