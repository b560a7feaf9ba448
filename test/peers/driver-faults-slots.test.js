// Slots move while each driver writes.
import assert from 'node:assert/strict'
import { busyCodes } from '../../scripts/faults/play.js'
import { driverFaults } from '../helpers/driver-faults.js'

await driverFaults({
  'a slot moves': ({ items, kinds, warnings }) => {
    assert.equal(items.failed + items.uncertain, 0)
    if (!warnings.some((code) => busyCodes.includes(code))) assert.equal(items.dropped, 0)
    assert.ok(kinds.includes('slots-moved'), `the result names it: ${kinds}`)
  },
})
