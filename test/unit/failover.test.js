// A failover as its servers tell of it: what is asked for again after it has happened is refused.
import assert from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import { test } from 'node:test'
import { resharding } from '../../lib/servers/reshard.js'

/** @import { TestContext } from 'node:test' */

const masters = ['127.0.0.1:1', '127.0.0.1:2']
const nodesBy = (/** @type {string} */ self, /** @type {boolean} */ isOver) =>
  masters
    .map((address, at) => {
      const isMaster = isOver ? at === 1 : at === 0
      const role = `${address === self ? 'myself,' : ''}${isMaster ? 'master' : 'slave'}`
      return `id${at} ${address}@0 ${role} ${isMaster ? '-' : `id${1 - at}`} 0 0 1 connected${isMaster ? ' 0-16383' : ''}`
    })
    .join('\n')

/**
 * A failover of a cluster whose nodes answer so.
 * @param {TestContext} t
 * @param {(address: string, words: string[]) => string} answer
 */
const failoverOf = async (t, answer) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.timers.reset()
    syncBuiltinESMExports()
  })
  let nowMs = 0
  const control = (/** @type {string} */ address) => ({
    call: async (/** @type {string} */ _, /** @type {string[]} */ words) => answer(address, words),
  })
  const cluster = /** @type {any} */ ({ control, access: {}, addresses: () => masters })
  const ending = resharding({ cluster, clock: () => nowMs }).failover(1)
  let isDone = false
  const done = () => (isDone = true)
  ending.then(done, done)
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve))
    nowMs += 50
    t.mock.timers.tick(50)
  }
  return ending
}

/** A failover of which the old master hears after so many questions. @param {TestContext} t @param {number} heardAfter */
const failover = async (t, heardAfter) => {
  let [requests, asked, isOver] = [0, 0, false]
  const ended = await failoverOf(t, (address, [word]) => {
    if (word === 'FAILOVER') {
      requests++
      if (isOver) throw new Error('ERR You should send CLUSTER FAILOVER to a replica')
      isOver = true
      return 'OK'
    }
    const hasHeard = address === masters[1] || (isOver && ++asked > heardAfter)
    return nodesBy(address, isOver && hasHeard)
  })
  return { ...ended, requests }
}

test('a failover that the old master hears of late is asked for again, which its new master refuses, and is one', async (t) => {
  const { to, requests } = await failover(t, 120)
  assert.deepEqual([to, requests], [masters[1], 2])
})

test('what is waited for in vain is reported with the last error', async (t) => {
  let asked = 0
  const inVain = failoverOf(t, (address, [word]) => {
    if (word === 'FAILOVER') return 'OK'
    // The first answers are those of the view in which the failover is planned.
    if (address === masters[1] && ++asked > 3) throw new Error('LOADING it has restarted')
    return nodesBy(address, false)
  })
  await assert.rejects(inVain, {
    name: 'TargetError',
    message:
      /^waited 30 s: 127\.0\.0\.1:2 takes over from 127\.0\.0\.1:1; the last error: 127\.0\.0\.1:2: .*LOADING it has restarted/,
  })
})
