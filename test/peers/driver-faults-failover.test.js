// A master dies and its replica takes over while each driver writes.
import assert from 'node:assert/strict'
import { driverFaults } from '../helpers/driver-faults.js'

await driverFaults('a master dies', ({ items, kinds }) => {
  assert.equal(items.failed, 0)
  assert.ok(kinds.includes('new-master'), `the result tells of it: ${kinds}`)
})
