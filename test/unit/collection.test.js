import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { collection } from '../../lib/measures/collection.js'
import { folded } from '../../lib/measures/fold.js'
import { lineOf, recordOf, summaryOf } from '../../lib/measures/index.js'
import { until } from '../helpers/programs.js'

setFlagsFromString('--expose-gc')
/** @type {() => void} */
const collect = runInNewContext('gc')

test('what the engine collected is in the second in which it did, and not in the next', async () => {
  const source = await collection.open({ plan: {}, clock: () => 0 })
  source.startRun?.()
  const found = await until('a collection', () => {
    collect()
    const second = source.second()
    return second['client.gc_s'] > 0 ? second : undefined
  })
  const { 'client.gc_s': gcS, 'client.gc_ms_max': longestMs } = found
  assert.ok(gcS > 0 && gcS < 60, `${gcS} s`)
  assert.ok(longestMs > 0 && longestMs < gcS * 1000 + 1e-6, `${longestMs} of ${gcS * 1000} ms`)
  source.close?.()
  assert.deepEqual(source.second(), { 'client.gc_s': 0, 'client.gc_over_s': 0, 'client.gc_ms_max': 0 })
})

test('times of several threads or boxes are summed, the share is of all of them, and the longest pause is that of all', () => {
  const lines = [0.01, 0.03].map((gcS) =>
    lineOf({ 'client.gc_s': gcS, 'client.gc_ms_max': gcS * 500, 'client.gc_over_s': 1 }),
  )
  const window = folded({ ...recordOf() }, lines)
  const { client } = summaryOf({ window, whole: window, facts: {}, stored: 0, plan: {} }, [collection])
  assert.deepEqual([client.gc_s, client.gc_pct, client.gc_ms_max], [0.04, 2, 15])
})
