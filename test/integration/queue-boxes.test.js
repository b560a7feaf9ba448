// Consumers on several boxes: one that is killed by kill -9 takes the account of its last second with it, and two that end
// together know of each other.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { run } from '../../lib/index.js'
import { at as envOf, startProgram, until } from '../helpers/programs.js'
import { cli, startServer } from '../helpers/servers.js'

/** @type {[string, string, string][]} */
const ways = [
  ['queue-stream', 'stream', ''],
  ['queue-list', 'list', '--confirm'],
  ['queue-zset', 'due', '--confirm'],
]
const lines = (/** @type {string} */ text) => text.split('\n').filter(Boolean)

describe('consumers on two boxes', { concurrency: 2 }, () => {
  for (const [strategy, key, how] of ways)
    test(`${strategy} ${how}: what a box did before kill -9 is never lost`, async (t) => {
      const server = await startServer(t)
      const { host, port, password } = server
      const box = () =>
        startProgram(
          t,
          'consumer.js',
          `--strategy ${strategy} ${how} --workers 4 --take 2 --work sleep:1ms --reclaim 1s --drain`,
          { env: envOf(server) },
        )
      /** Two boxes at work, and a producer until then. @param {(boxes: ReturnType<typeof box>[]) => unknown} [then] */
      const twoBoxes = async (then = () => {}) => {
        const enough = new AbortController()
        t.after(() => enough.abort())
        const producing = run(
          {
            ...{ host, port, password, strategy: /** @type {any} */ (strategy) },
            ...{ rate: 1500, maxBehind: '120s', idleCost: 'never', allow: 'foreign-keys' },
          },
          { signal: enough.signal },
        )
        await until('a producer', async () => (await cli(server, 'EXISTS', `{jobs}:${key}:makers`)) === '1')
        const boxes = [box(), box()]
        await until('both have done jobs', async () => {
          for (const { assertRuns } of boxes) assertRuns()
          return lines(await cli(server, 'KEYS', `{jobs}:${key}:done:*`)).length === 2
        })
        await then(boxes)
        enough.abort()
        await producing
        return Promise.all(boxes.map(({ ended }) => ended))
      }
      const [, { document, stdout }] = await twoBoxes(([killed]) => killed.kill('SIGKILL'))
      const { account } = document.jobs
      const codes = document.warnings.map((/** @type {any} */ { code }) => code)
      assert.equal(account.lost, 0, stdout)
      assert.equal(account.produced, account.done + account.queued + account.in_flight + account.unknown)
      assert.equal(account.queued + account.in_flight, 0)
      assert.ok(!codes.includes('lost') && !codes.includes('boxes'), stdout)
      assert.equal(codes.includes('unknown'), account.unknown > 0)
      assert.doesNotMatch(stdout, /still takes?\b/)
      t.diagnostic(`${account.unknown} of ${account.produced} jobs are unknown`)

      await server.redis.flushall()
      const both = await twoBoxes()
      for (const { document: one, stdout: text } of both) {
        const { produced, done, lost, unknown } = one.jobs.account
        assert.deepEqual([lost, unknown, done], [0, 0, produced], text)
        assert.ok(
          !one.warnings.some((/** @type {any} */ { code }) => code === 'boxes' || code === 'unknown'),
          text,
        )
      }
      const [first, second] = both.map((ended) => ended.document.jobs)
      assert.equal(first.account.produced, second.account.produced)
      assert.equal(first.done + second.done - first.account.duplicates, first.account.produced)
    })
})
