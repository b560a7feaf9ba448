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
  const source = await collection.open({})
  source.startRun?.()
  const found = await until('a collection', () => {
    collect()
    return source.second()['client.gc_s']
  })
  assert.ok(found > 0 && found < 60, `${found} s`)
  source.close?.()
  assert.equal(source.second()['client.gc_s'], 0)
})

test('seconds of several boxes are summed, and its share is of the time of one', () => {
  const lines = [0.01, 0.03].map((gcS) => lineOf({ 'client.gc_s': gcS, 'client.over_s': 1 }))
  const window = folded({ ...recordOf() }, lines)
  const { client } = summaryOf({ window, whole: window, facts: {}, stored: 0, plan: {} }, [collection])
  assert.deepEqual([client.gc_s, client.gc_pct], [0.04, 2])
})
