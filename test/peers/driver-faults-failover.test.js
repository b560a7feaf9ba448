// A master dies and its replica takes over while each driver writes.
import assert from 'node:assert/strict'
import { driverFaults } from '../helpers/driver-faults.js'

await driverFaults('a master dies', ({ driver, items, kinds }) => {
  assert.equal(items.failed, 0)
  // It has no events: the new master is found when the topology is asked for next, which may be after the play.
  if (driver !== 'valkey-glide') assert.ok(kinds.includes('new-master'), `the result tells of it: ${kinds}`)
})
