// Consumers on several boxes: one that is killed by kill -9 takes the account of its last second with it, and two that end
// together know of each other.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { run } from '../../lib/index.js'
import { startHere } from '../helpers/here.js'
import { codesIn, at as envOf, startProgram, until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

/** @type {[string, string, string][]} */
const ways = [
  ['queue-stream', 'stream', ''],
  ['queue-list', 'list', '--with confirm'],
  ['queue-zset', 'due', '--with confirm'],
]

describe('consumers on two boxes', { concurrency: 3 }, () => {
  for (const [strategy, key, how] of ways)
    test(`${strategy} ${how}: what a box did before kill -9 is never lost`, async (t) => {
      const server = await startServer(t)
      const { host, port, password } = server
      const env = envOf(server)
      const line = `--strategy ${strategy} ${how} --workers 4 --take 2 --work sleep:1ms --with drain,reclaim=`
      const here = (/** @type {string} */ reclaim) => startHere(t, 'read', `${line}${reclaim}`, { env })
      /**
       * Two boxes at work, and a producer until then.
       * @template {{ assertRuns: () => void }} Box
       * @param {() => Box} first
       * @param {string} reclaim of the second
       * @param {(box: Box) => unknown} [then]
       */
      const twoBoxes = async (first, reclaim, then = () => {}) => {
        const enough = new AbortController()
        t.after(() => enough.abort())
        const producing = run(
          {
            ...{ host, port, password, strategy: /** @type {any} */ (strategy) },
            ...{ rate: 300, maxBehind: '120s', idleCost: 'never', allow: 'foreign-keys' },
          },
          { signal: enough.signal },
        )
        await until('a producer', () => server.redis.exists(`{jobs}:${key}:makers`))
        const [one, other] = [first(), here(reclaim)]
        await until('both have done jobs', async () => {
          for (const { assertRuns } of [one, other]) assertRuns()
          return (await server.redis.keys(`{jobs}:${key}:done:*`)).length === 2
        })
        await then(one)
        enough.abort()
        await producing
        return { one, ended: await other.ended }
      }
      const killed = () => startProgram(t, 'consumer.js', `${line}1s`, { env })
      const { document, stdout } = (await twoBoxes(killed, '1s', (box) => box.kill('SIGKILL'))).ended
      const { account } = document.jobs
      const codes = codesIn(document)
      assert.equal(account.lost, 0, stdout)
      assert.equal(account.produced, account.done + account.queued + account.in_flight + account.unknown)
      assert.equal(account.queued + account.in_flight, 0)
      assert.ok(!codes.includes('lost') && !codes.includes('boxes'), stdout)
      assert.equal(codes.includes('unknown'), account.unknown > 0)
      assert.doesNotMatch(stdout, /still takes?\b/)
      t.diagnostic(`${account.unknown} of ${account.produced} jobs are unknown`)

      await server.redis.flushall()
      // A box that a busy machine stops for a second keeps its jobs.
      const { one: box, ended } = await twoBoxes(() => here('10m'), '10m')
      const both = [await box.ended, ended]
      for (const { document: one, stdout: text } of both) {
        const { produced, done, lost, unknown } = one.jobs.account
        assert.deepEqual([lost, unknown, done], [0, 0, produced], text)
        assert.ok(!codesIn(one).some((code) => code === 'boxes' || code === 'unknown'), text)
      }
      const [first, second] = both.map((each) => each.document.jobs)
      assert.equal(first.account.produced, second.account.produced)
      assert.deepEqual([first.account.duplicates, second.account.duplicates], [0, 0])
      assert.equal(first.done + second.done, first.account.produced)
    })
})
