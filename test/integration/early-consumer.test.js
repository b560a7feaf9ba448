// Workers that are there before the first producer: their keys are known to be of Millrace.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runCommand } from '../helpers/command-here.js'
import { startHere } from '../helpers/here.js'
import { assertDone, at, startProgram, until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

/** @type {[string, string, string][]} */
const ways = [
  ['queue-list', 'list', ''],
  ['queue-list', 'list', '--with confirm'],
  ['queue-stream', 'stream', ''],
  ['queue-zset', 'due', '--with confirm'],
]

describe('consumers before their producer', () => {
  for (const [strategy, key, how] of ways)
    test(`${strategy} ${how}: a producer starts beside them, and cleanup removes all`, async (t) => {
      const server = await startServer(t)
      const { redis } = server
      const env = at(server)
      const line = `--strategy ${strategy} ${how} --workers 2`
      const early = startProgram(t, 'consumer.js', line, { env })
      await until('the consumer', () => redis.exists(`{jobs}:${key}:boxes`))
      early.kill('SIGKILL')
      await early.ended
      const counted = await runCommand(t, 'cleanup', { env, out: false })
      assert.match(counted.stdout, /hash/, counted.stdout + counted.stderr)
      const made = startHere(t, 'write', `--strategy ${strategy} --rate 200 --duration 1s --warm-up 0s`, {
        env,
      })
      assertDone(await made.ended)
      assert.equal((await runCommand(t, 'cleanup --yes', { env, out: false })).code, 0)
      assert.deepEqual(await redis.keys('*'), [])
    })

  test('without a producer nothing of their account is left', async (t) => {
    const server = await startServer(t)
    const env = at(server)
    const found = await startHere(t, 'read', '--strategy queue-list --workers 2 --duration 500ms', { env })
      .ended
    assert.match(found.stderr, /found no plan/)
    assert.deepEqual(await server.redis.keys('*'), ['millrace:plan'])
  })
})
