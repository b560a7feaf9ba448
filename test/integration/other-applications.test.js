// Whose commands the servers ran: those of the run itself, of consumers beside it, or of another application.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { allStrategies } from '../../lib/workloads/index.js'
import { startHere } from '../helpers/here.js'
import { at, startProducer, until, warningIn } from '../helpers/programs.js'
import { callsOf, startServer } from '../helpers/servers.js'

/** @import { TestContext } from 'node:test' */
/** @import { TestServer } from '../helpers/servers.js' */

// It needs a later version than that on PATH may be.
const strategies = allStrategies().filter(({ name }) => name !== 'hash-ttl')

/** @param {TestContext} t @param {TestServer} server */
const runsAt = (t, server) => {
  const env = at(server)
  return {
    // So short batches that what accompanies each of them is not little.
    produce: (/** @type {{ name: string }} */ { name }, more = '') =>
      startHere(t, 'write', `--strategy ${name} --rate 400 ${more}`, { env }),
    consume: (/** @type {string} */ line) => startHere(t, 'read', `${line} --duration 1s`, { env }),
  }
}

/** @param {any} document */
const foreignIn = ({ server, warnings }) => [
  server.foreign_calls,
  warnings.filter((/** @type {any} */ { code }) => code === 'foreign-load'),
]

// Of all other models: find-workloads.test.js.
describe('of a queue without other clients no other application is reported', { concurrency: 6 }, () => {
  for (const strategy of strategies.filter(({ queue }) => queue))
    test(strategy.name, async (t) => {
      const { document, stderr } = await runsAt(t, await startServer(t)).produce(strategy, '--duration 1s')
        .ended
      assert.ok(document?.items.acked > 0, stderr)
      assert.deepEqual(foreignIn(document), [null, []])
    })
})

describe('consumers beside the writers are no other application', { concurrency: 6 }, () => {
  const readers = strategies.filter(({ read }) => read).map((one) => [one, `--strategy ${one.name} -p 100`])
  const works = ['', '--with confirm', '--with outputs=2', '--with confirm,outputs=2', '--take 4']
  const workers = strategies
    .filter((one) => one.queue)
    .flatMap((one) =>
      works
        .filter((work) => one.name !== 'queue-stream' || !work.includes('--with confirm'))
        .map((work) => [one, `--strategy ${one.name} ${work}`]),
    )
  for (const [strategy, line] of /** @type {[any, string][]} */ ([...readers, ...workers]))
    test(line, async (t) => {
      const server = await startServer(t)
      const { produce, consume } = runsAt(t, server)
      const writing = produce(strategy)
      await until('a second of items or jobs', () => writing.intervals().length > 0)
      const read = await consume(line).ended
      assert.ok(read.document, read.stderr)
      writing.kill('SIGINT')
      const { document, stderr } = await writing.ended
      assert.ok(document?.items.acked > 0, stderr)
      const [calls, warnings] = foreignIn(document)
      assert.deepEqual(warnings, [])
      assert.equal(calls?.by ?? 'consumers', 'consumers')
      assert.equal(document.server.share, 1)
    })
})

describe('another application is named by what it runs', { concurrency: 6 }, () => {
  for (const name of ['sorted-set', 'set', 'list-hll', 'script-batch', 'script-item', 'queue-zset'])
    test(name, async (t) => {
      const server = await startServer(t)
      const strategy = strategies.find((one) => one.name === name)
      const writing = runsAt(t, server).produce(
        /** @type {any} */ (strategy),
        '--duration 1s --allow foreign-keys',
      )
      const other = server.redis.duplicate({ db: 5 })
      t.after(() => other.disconnect())
      let isOver = false
      const ended = writing.ended.finally(() => {
        isOver = true
      })
      while (!isOver) {
        const pipeline = other.pipeline()
        for (let i = 0; i < 100; i++) pipeline.incrbyfloat('orders:total', 1.5)
        await Promise.all([pipeline.exec(), sleep(25)])
      }
      const { document, stderr } = await ended
      assert.ok(document, stderr)
      const [calls, [warning]] = foreignIn(document)
      assert.equal(calls?.command, 'incrbyfloat')
      assert.equal(calls.by, undefined)
      assert.ok(calls.calls > 0 && calls.calls <= (await callsOf(server, 'incrbyfloat')))
      assert.match(warning.message, /others were at work: .* INCRBYFLOAT\/s/)
    })
})

test('a client that only listens is noticed by the bytes that it gets', async (t) => {
  const server = await startServer(t)
  const monitor = await server.redis.monitor()
  t.after(() => monitor.disconnect())
  const { document, stderr } = await startHere(t, 'write', '-q 5000 -c 10 -a all --duration 3s', server).ended
  assert.equal(document?.server.foreign_calls?.command, 'bytes', stderr)
  assert.equal(document.server.cpu_us_per_item_net, null)
  assert.match(
    warningIn(document, 'foreign-load')?.message,
    /^others were at work: .*B\/s of other traffic; their part/,
  )
})

test('what the servers use while another application is there is not their idle cost', async (t) => {
  const server = await startServer(t)
  let isOver = false
  t.after(() => {
    isOver = true
  })
  const asking = (async () => {
    while (!isOver) await Promise.all([server.redis.hget('of:another', 'field'), sleep(4)])
  })()
  const writing = startProducer(t, '-q 2000 -c 10 -a all --duration 3s --idle-cost auto --log debug', server)
  await writing.says(/of commands prepared/)
  isOver = true
  await asking
  const { document, stderr, stdout } = await writing.ended
  assert.equal(document?.server.foreign_calls, null, stderr)
  assert.equal(document.server.cpu_us_per_item_net, null)
  assert.match(document.server.idle.why, /^others were at work: \d+ HGET\/s before the first write$/)
  assert.match(stdout, /server CPU .* per item, idle included/)
})
