// Lookups on servers that refuse everything but a few commands: the run says what it cannot report, and goes on.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeHere } from '../helpers/here.js'
import { assertDone, at } from '../helpers/programs.js'
import { cli, startServer } from '../helpers/servers.js'
import { startSmallServer } from '../helpers/small-server.js'

const asked = '--keys 500 --value-size 16 --payload zero --connections 4 --duration 1s'

test('a server that knows GET, SET and PING alone', async (t) => {
  const { host, port, values, calls } = await startSmallServer(t)
  const env = { REDIS_HOST: host, REDIS_PORT: String(port) }
  const run = await writeHere(t, `--strategy lookup-mix --with ratio=1:1 --fill ${asked} --rate 400`, { env })
  assertDone(run)
  const { items, counts, server, nodes, client, ticks } = run.document
  assert.equal(values.size, 500)
  assert.equal(items.acked, items.offered)
  assert.equal(counts.miss, 0)
  assert.ok(calls.GET > 100)
  assert.deepEqual(nodes, [])
  assert.equal(server.cpu_us_per_item, null)
  assert.equal(server.memory_bytes_per_item, null)
  assert.ok(client.cpu_us_per_item > 0)
  assert.ok(ticks.lateness_us.p50 > 0, 'how late operations were sent')
  for (const name of ['INFO', 'SCAN', 'TIME', 'EVAL', 'HGETALL', 'DBSIZE'])
    assert.equal(run.stderr.match(new RegExp(`refuses ${name}: `, 'g'))?.length, 1, name)

  // Another workload needs more than that.
  const sets = await writeHere(t, '-q 10 --duration 1s', { env })
  assert.equal(sets.code, 3)
})

test('a server whose user may do no more', async (t) => {
  const server = await startServer(t)
  await cli(server, 'ACL', 'SETUSER', 'small', 'on', '>secret', '~*', '+get', '+set', '+ping')
  const env = { ...at({ ...server, password: 'secret' }), REDIS_USERNAME: 'small' }
  const run = await writeHere(t, `--strategy lookup-get --fill ${asked}`, { env })
  assertDone(run)
  assert.equal(run.document.counts.hit, run.document.items.acked)
  assert.match(run.stderr, /refuses INFO: no CPU/)
})
