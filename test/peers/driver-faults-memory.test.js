// The server refuses by maxmemory for three seconds while each driver writes.
import assert from 'node:assert/strict'
import { driverFaults } from '../helpers/driver-faults.js'

await driverFaults('maxmemory refuses for 3 s', ({ items }) => {
  assert.ok(items.failed > 0, 'the fault was felt')
  assert.deepEqual(Object.keys(items.failed_by), ['OOM'])
})
