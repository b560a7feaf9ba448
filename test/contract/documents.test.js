// Documents that ten writers change at the same time: how many updates survive is what a witness in another language and the
// server itself find; writers that must not overwrite each other, and do so on purpose, are caught.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { register, strategyNamed } from '../../lib/workloads/index.js'
import { codesIn, until } from '../helpers/programs.js'
import { compareUpdates, queryServer, witnessed } from '../helpers/queries.js'
import { suiteScope } from '../helpers/servers.js'

/** @type {Awaited<ReturnType<typeof queryServer>>} */
let place
const scope = suiteScope()
before(async () => {
  place = await queryServer(scope)
})

// update-json needs a module: it is in test/peers.
for (const [name, writes] of [
  ['update-get-set', 'set'],
  ['update-watch', 'set'],
  ['update-hash', 'hset'],
])
  test(`${name}: what survives`, () => compareUpdates(name, place, writes))

test('without WATCH the transactions lose updates, which makes the run not valid', async () => {
  const right = strategyNamed('update-watch')
  /** @param {Parameters<typeof right.operations>} of */
  const operations = (...of) => {
    const { update, ...others } = right.operations(...of)
    return { ...others, update: update.filter((command) => command.name !== 'WATCH') }
  }
  register({ ...right, name: 'unwatched', operations })
  const asked = '--strategy update-watch --items 3 --connections 10 --with requests=500 --prefix unwatched:'
  const { documents, valid, ...rest } = await place.judged(asked, 'unwatched')
  const { updates } = await witnessed(place.server, 'unwatched:', [])
  assert.equal(documents.survived, updates)
  assert.ok(documents.lost > 50, JSON.stringify(documents))
  assert.equal(valid, false)
  assert.ok(codesIn(rest).includes('lost-updates'))
  await place.clear()
})

test('an update that another program takes away is lost, and one that it adds is not ours', async () => {
  // Each document is updated once at most, and the run goes on for three seconds behind the update that is changed.
  const asked =
    '--strategy update-hash --items 1000 --order sequential --connections 2 --with requests=100 --rate 33'
  const { redis } = place.server
  /** @param {string} prefix @param {(key: string) => Promise<unknown>} meanwhile */
  const changed = async (prefix, meanwhile) => {
    const run = place.judged(`${asked} --prefix ${prefix}`)
    const key = `${prefix}doc:7`
    await until('an update', async () => (await redis.hkeys(key)).some((name) => /^w\d/.test(name)))
    await meanwhile(key)
    return run
  }
  const [taken, added] = await Promise.all([
    changed('taken:', (key) => redis.hdel(key, 'w1', 'w2')),
    changed('added:', (key) => redis.hset(key, 'w99', 1000)),
  ])
  await place.clear()
  assert.deepEqual([taken.documents.survived, taken.documents.lost, taken.valid], [99, 1, false])
  assert.ok(codesIn(taken).includes('lost-updates'))
  assert.deepEqual([added.documents.survived, added.valid], [1100, false])
  assert.ok(codesIn(added).includes('foreign-updates'))
})
