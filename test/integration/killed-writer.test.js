// A writer that is killed leaves nothing that stays for ever, and nothing that cleanup does not know.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommand } from '../helpers/command-here.js'
import { writeHere } from '../helpers/here.js'
import { peer } from '../helpers/peers.js'
import { assertDone, assertNoneLost, at, startProducer, until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

/** @import { TestServer } from '../helpers/servers.js' */
/** @import { TestContext } from 'node:test' */

/** The keys and, of hashes with them, the fields that have no lifetime. @param {TestServer} server @param {boolean} withFields */
const immortal = async ({ redis }, withFields) => {
  const keys = await redis.keys('*')
  const lives = await Promise.all(keys.map((key) => redis.pttl(key)))
  const found = keys.filter((_, i) => lives[i] === -1)
  for (const key of withFields ? keys.filter((name) => name.includes('latest-fields:')) : []) {
    const fields = await redis.hkeys(key)
    const ttls = /** @type {number[]} */ (
      fields.length === 0 ? [] : await redis.call('HPTTL', key, 'FIELDS', fields.length, ...fields)
    )
    found.push(...fields.filter((_, i) => ttls[i] === -1))
  }
  return { keys, found }
}

/** @param {TestContext} t @param {TestServer} server @param {string} line @param {{ withFields?: boolean, enough: number }} options */
const killedAndCleared = async (t, server, line, { withFields = false, enough }) => {
  const { redis } = server
  await redis.flushall()
  const writer = startProducer(t, `${line} --ttl 300 --duration 60 --quiet`, server)
  await until('keys', async () => (await redis.dbsize()) >= enough)
  writer.kill('SIGKILL')
  await writer.ended
  // What it had sent may still be under way.
  await until('the writer’s connections are gone', async () =>
    /connected_clients:1\r/.test(await redis.info('clients')),
  )
  const { keys, found } = await immortal(server, withFields)
  assert.deepEqual(found, [])
  // Leases run out after 30 s, and cleanup waits for that.
  await redis.del(...keys.filter((key) => key.includes('millrace:lease:')))
  const { code, stdout, stderr } = await runCommand(t, 'cleanup --yes', { env: at(server), out: false })
  assert.equal(code, 0, stderr)
  assert.match(stdout, /keys removed/)
  assert.deepEqual(await redis.keys('*'), [])
}

test('keys of items, and those that gather them', async (t) => {
  const server = await startServer(t)
  // A set a second is filled, and is there from the first tick on.
  await killedAndCleared(t, server, '-q 10 -c 10 -p 10000 --ns 10', { enough: 12 })
  await killedAndCleared(t, server, '-q 30000 --strategy hash', { enough: 500 })
  await killedAndCleared(t, server, '-q 3000 -c 30 --strategy list-hll', { enough: 500 })
})

test('fields, where HEXPIRE gives them their lifetime', async (t) => {
  const bin = peer(t, 'redis-8.2')
  if (bin === undefined) return
  const server = await startServer(t, { bin, config: { 'rename-command': ['HSETEX', ''] } })
  const line = '-q 30000 --strategy hash-ttl'
  await killedAndCleared(t, server, line, { withFields: true, enough: 100 })
  const whole = await writeHere(t, `${line} --intervals 2 --driver ioredis`, server)
  assertDone(whole)
  const { items } = whole.document
  assertNoneLost(items)
  assert.ok(items.offered === 60_000 && items.acked > 0, JSON.stringify(items))
  assert.ok(whole.document.server.commands.hexpire.calls > 0)
})
