// What becomes of commands whose slot has moved while they were under way.
import assert from 'node:assert/strict'
import test from 'node:test'
import { slotOf } from '../../lib/wire/slot.js'
import { eachStep } from '../../lib/workloads/bind/writer.js'
import { time } from '../../lib/workloads/declare.js'
import { sceneOfDriver } from '../helpers/scene-of-driver.js'
import { ok } from '../helpers/scene-of-queues.js'

/** @import { Hole } from '../../lib/wire/encode.js' */

const score = /** @type {Hole} */ (time.hole)

test('new commands of a moved slot wait until its old server has answered all the older ones', async () => {
  const slot = slotOf('{one}')
  const { driver, ledger, addresses, server, offer } = await sceneOfDriver({
    masters: 2,
    items: 3,
    steps: [eachStep((n) => ['SET', `{one}${n}`, score])],
  })
  const was = server(addresses[slot % 2])
  const heir = server(addresses[1 - (slot % 2)])
  const moved = `-MOVED ${slot} ${addresses[1 - (slot % 2)]}\r\n`
  const stamps = () => [...heir.sent.matchAll(/\b17\d{11}\b/g)].map(([text]) => Number(text) % 1e6)
  offer(0, 1)
  was.answer(moved)
  assert.deepEqual(stamps(), [1], 'the refused command is repeated there')
  heir.answer(ok)
  offer(0, 2)
  assert.deepEqual(stamps(), [1], 'the old server has two to answer')
  was.answer(moved)
  was.answer(moved)
  assert.deepEqual(stamps(), [1, 1, 1])
  heir.answer(ok + ok)
  assert.deepEqual(stamps(), [1, 1, 1, 2, 2, 2])
  heir.answer(ok + ok + ok)
  const { acked, offered } = ledger.whole
  assert.deepEqual([acked, offered, ledger.commands.repeated], [6, 6, 3])
  driver.close()
})
