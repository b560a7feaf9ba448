// Servers that lose what was acknowledged, or fall behind, while a run writes to them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startHere } from '../helpers/here.js'
import { until, warningIn } from '../helpers/programs.js'
import { frozenDuring, startReplica, startServer } from '../helpers/servers.js'

test('a server that was flushed, and then came back empty, ends no run as valid', async (t) => {
  const server = await startServer(t)
  const running = startHere(t, 'write', '-q 500 -p 200 --once --ttl 10m', server)
  await until('items are there', async () => (await server.redis.dbsize()) > 1000)
  await server.redis.flushall()
  await running.says(/removed by FLUSHALL or FLUSHDB/)
  await server.restart()
  await running.says(/ restarted \(seen after/)
  running.kill('SIGINT')
  const { code, document, stderr } = await running.ended
  assert.equal(code, 130, stderr)
  assert.equal(document.valid, false)
  const lost = document.warnings.filter((/** @type {any} */ one) => one.code === 'data-lost')
  assert.equal(lost.length, 2)
  for (const [i, pattern] of [
    /^the keys of 127\.0\.0\.1:\d+ were removed by FLUSHALL or FLUSHDB \(seen after \d+\.\d s\)/,
    /^127\.0\.0\.1:\d+ restarted \(seen after \d+\.\d s\) and has [\d,]+ keys; it had [\d,]+: /,
  ].entries()) {
    assert.match(lost[i].message, pattern)
    assert.equal(lost[i].invalidates, true)
  }
  const events = document.events.filter((/** @type {any} */ { kind }) => kind === 'data-lost')
  assert.equal(events.length, 2)
})

test('--guard sees by its master how far a replica is behind that does not answer', async (t) => {
  const master = await startServer(t)
  const replica = await startReplica(t, master)
  // Two seconds of writing: a replica that only waits for the processor is not that far behind.
  const running = startHere(t, 'write', '-q 1000 -p 200 --value-size 1kB --guard lag>10MB', master)
  await until('both are sampled', () =>
    running.intervals().some(({ nodes }) => nodes.length === 2 && nodes[1].link === 'up'),
  )
  const { code, document, stderr } = await frozenDuring(replica, () => running.ended)
  assert.equal(code, 4, stderr)
  const behind = `127\\.0\\.0\\.1:${replica.port} is \\d.* MB behind its master \\(lag>10\\.0 MB\\)`
  assert.match(warningIn(document, 'guard').message, new RegExp(behind))
})
