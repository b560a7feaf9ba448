// A replica that was elected a moment ago is asked to take over again.
import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { stageHere } from '../helpers/stage-here.js'

test('a failover is over when its old master follows the new one, however soon after another', async (t) => {
  const stage = await stageHere(t)
  /** @param {number} port */
  const roleOf = async (port) => {
    const client = new Redis({ port, password: stage.embedded.access.password })
    const role = await client.call('ROLE')
    client.disconnect()
    return String(role).split(',')[0]
  }
  /** Its replica has to follow it first. @returns {ReturnType<typeof stage.change.failover>} */
  const again = () =>
    stage.change.failover(2).catch(async (error) => {
      if (!/no replica/.test(error.message)) throw error
      await sleep(200)
      return again()
    })
  for (let round = 0; round < 3; round++) {
    const { from, to } = await again()
    const [was, is] = [from, to].map((address) => Number(address.split(':')[1]))
    // Its old master has to follow it first.
    assert.deepEqual([await roleOf(was), await roleOf(is)], ['slave', 'master'], `round ${round}`)
  }
})
