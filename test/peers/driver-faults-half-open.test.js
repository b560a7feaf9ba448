// The network holds up everything for five seconds, the server refuses by maxmemory for three, and at last connections stay open
// and silent, while each driver writes.
import assert from 'node:assert/strict'
import { driverFaults } from '../helpers/driver-faults.js'

await driverFaults({
  'the network pauses 5 s': ({ meanwhile, withoutS }) => {
    assert.ok(withoutS > 0, 'the fault had no effect')
    assert.equal(meanwhile.failed, 0)
  },
  'maxmemory refuses for 3 s': ({ items, meanwhile }) => {
    const { failed, uncertain } = meanwhile
    assert.ok(failed > 0, 'the fault had no effect')
    assert.deepEqual([failed, uncertain], [items.failed_by.OOM, 0], JSON.stringify(items))
  },
  'connections hang half-open': ({ items, meanwhile, withoutS, driver, kinds }) => {
    assert.ok(withoutS > 0 && meanwhile.acked < meanwhile.offered, 'the fault had no effect')
    const [name, option] = driver.split(' ')
    assert.equal(kinds.includes('half-open'), !['node-redis', 'valkey-glide'].includes(name), String(kinds))
    // What was under way has an outcome: the run does not end with commands that nothing is known of.
    if (option) assert.ok(kinds.includes('disconnected'), String(kinds))
    else if (name === 'node-redis') assert.ok(items.failed_by.UNANSWERED > 0, JSON.stringify(items))
  },
})
