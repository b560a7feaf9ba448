// The network holds up everything for five seconds while each driver writes.
import assert from 'node:assert/strict'
import { driverFaults } from '../helpers/driver-faults.js'

await driverFaults('the network pauses 5 s', ({ items, withoutS }) => {
  assert.ok(withoutS > 0, 'the fault was felt')
  assert.equal(items.failed, 0)
})
