import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { Worker } from 'node:worker_threads'
import { memoryForPairs, pairsIn } from '../../lib/probes/shared-pairs.js'

/** @param {ReturnType<typeof pairsIn>} pairs */
const takenFrom = (pairs) => {
  /** @type {number[][]} */
  const all = []
  pairs.take((a, b) => all.push([a, b]))
  return all
}

test('pairs are taken once, in their order, and those without room are refused', () => {
  const memory = memoryForPairs(4)
  const [ours, theirs] = [pairsIn(memory), pairsIn(memory)]
  assert.deepEqual(takenFrom(ours), [])
  for (let round = 0; round < 10; round++) {
    const four = [0, 1, 2, 3].map((n) => [round + n / 8, -n])
    const put = [...four, [5, 5]].map(([a, b]) => theirs.put(a, b))
    assert.deepEqual(put, [true, true, true, true, false])
    assert.deepEqual(takenFrom(ours), four)
    assert.equal(theirs.put(round, 0.5), true)
    assert.deepEqual(takenFrom(ours), [[round, 0.5]])
  }
})

test('their count goes on where a number of 32 bits ends', () => {
  const memory = memoryForPairs(4)
  new Int32Array(memory, 0, 2).fill(2 ** 31 - 2)
  const pairs = pairsIn(memory)
  for (let n = 0; n < 12; n++) {
    assert.equal(pairs.put(n, n), true)
    assert.equal(pairs.put(n, -n), true)
    assert.deepEqual(takenFrom(pairs), [
      [n, n],
      [n, -n],
    ])
  }
})

test('what another thread puts is whole, and none of it is lost', async () => {
  const memory = memoryForPairs(64)
  const wanted = 20_000
  const code = `
    const { workerData } = require('node:worker_threads')
    import(workerData.path).then(({ pairsIn }) => {
      const pairs = pairsIn(workerData.memory)
      for (let n = 0; n < ${wanted}; ) if (pairs.put(n, n / 2)) n++
    })`
  const path = new URL('../../lib/probes/shared-pairs.js', import.meta.url).href
  const worker = new Worker(code, { eval: true, workerData: { memory, path } })
  let ended = false
  once(worker, 'exit').then(() => (ended = true))
  const pairs = pairsIn(memory)
  let next = 0
  const take = () =>
    pairs.take((a, b) => {
      assert.deepEqual([a, b], [next, next / 2])
      next++
    })
  while (!ended) {
    take()
    await new Promise((resolve) => setImmediate(resolve))
  }
  take()
  assert.equal(next, wanted)
})
