// Slots move while each driver writes.
import assert from 'node:assert/strict'
import { driverFaults } from '../helpers/driver-faults.js'

await driverFaults('a slot moves', ({ items, kinds }) => {
  assert.equal(items.failed + items.uncertain + items.dropped, 0)
  assert.ok(kinds.includes('slots-moved'), `the result names it: ${kinds}`)
})
