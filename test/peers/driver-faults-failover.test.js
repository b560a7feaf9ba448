// A master dies and its replica takes over while each driver writes.
import assert from 'node:assert/strict'
import { driverFaults } from '../helpers/driver-faults.js'

await driverFaults('a master dies', ({ driver, items, kinds }) => {
  // The library does not repeat what a batch has refused: what is refused for longer than --max-behind has failed.
  if (driver.includes('batchCommands')) delete items.failed_by.CLUSTERDOWN
  else assert.equal(items.failed, 0, JSON.stringify(items.failed_by))
  assert.deepEqual(
    Object.keys(items.failed_by).filter((cause) => cause !== 'CLOSED'),
    [],
  )
  assert.ok(kinds.includes('new-master'), `the result names it: ${kinds}`)
})
