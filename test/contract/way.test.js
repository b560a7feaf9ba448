// The files that CONTRIBUTING names on the way of an item, a number and a job are those that a run enters.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesOfWay, recordedWays } from '../../scripts/way.js'
import { sourceOf } from '../helpers/sources.js'

const mostFiles = 45

test('the ways of an item, a number and a job are as recorded', async () => {
  const page = sourceOf('CONTRIBUTING.md')
  const ways = await recordedWays()
  const how = 'node scripts/way.js --write'
  for (const what of /** @type {const} */ (['item', 'job'])) {
    const named = filesOfWay(page, `an? ${what}`)
    const calls = ways.callsOf[what]
    const notEntered = named.filter((file) => !calls.get(file))
    assert.deepEqual(notEntered, [], how)
    // On a busy machine some are fewer than planned.
    const entered = [...calls].filter(([, n]) => n > ways.most[what] * 0.95).map(([file]) => file)
    assert.deepEqual(
      entered.filter((file) => !named.includes(file)),
      [],
      how,
    )
  }
  const ofSecond = [...ways.number, ...ways.item]
  assert.deepEqual(
    filesOfWay(page, 'a number').filter((file) => !ofSecond.includes(file)),
    [],
    how,
  )
  assert.ok(
    ways.item.length <= mostFiles,
    `an item enters ${ways.item.length} files, and may enter ${mostFiles}`,
  )
})
