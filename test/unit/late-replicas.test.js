import assert from 'node:assert/strict'
import { test } from 'node:test'
import { untilReplicasAreKnown } from '../../lib/servers/late-replicas.js'

/** A cluster of two masters, each of which names a replica; the map has them after so many refreshes. @param {number[]} after */
const waited = async (after) => {
  let [nowMs, refreshes] = [0, 0]
  /** @type {string[]} */
  const said = []
  const masters = ['a', 'b']
  const cluster = {
    masters: () => masters,
    nodes: () =>
      masters.flatMap((masterAddress, at) =>
        refreshes >= after[at] ? [{ role: 'replica', masterAddress }] : [],
      ),
    named: async () => 1,
    refresh: async () => {
      refreshes++
      if (refreshes === 2) throw new Error('no answer')
    },
  }
  await untilReplicasAreKnown(cluster, {
    say: (line) => said.push(line),
    sleep: async (ms) => (nowMs += ms),
    clock: () => nowMs,
  })
  return { said, refreshes }
}

test('a cluster whose map has all replicas is not waited for', async () => {
  assert.deepEqual(await waited([0, 0]), { said: [], refreshes: 0 })
})

test('replicas of a young cluster are waited for, which is reported once', async () => {
  const { said, refreshes } = await waited([1, 7])
  assert.equal(refreshes, 7)
  assert.deepEqual(said, [
    "2 replicas that INFO of the masters name are not in the cluster's map yet: waiting up to 10 s",
  ])
})

test('one that never comes is reported after ten seconds', async () => {
  const { said, refreshes } = await waited([0, Number.POSITIVE_INFINITY])
  assert.equal(refreshes, 40)
  const late = /^1 replica that INFO of the masters names is not .* after 10 s: their CPU is not measured$/
  assert.match(said[1], late)
})
