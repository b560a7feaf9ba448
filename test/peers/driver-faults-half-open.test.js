// Connections stay open and silent while each driver writes.
import assert from 'node:assert/strict'
import { driverFaults } from '../helpers/driver-faults.js'

await driverFaults('connections hang half-open', ({ items, withoutS, driver, kinds }) => {
  assert.ok(withoutS > 0 && items.acked < items.offered, 'the fault was felt')
  assert.equal(kinds.includes('half-open'), !['node-redis', 'valkey-glide'].includes(driver), String(kinds))
})
