// Queues: every job has one place, as redis-cli sees it too, and what is lost or done again is counted.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { run } from '../../lib/index.js'
import { jobIn } from '../../lib/workloads/queue/job.js'
import { readHere } from '../helpers/here.js'
import { at as envOf, until } from '../helpers/programs.js'
import { openCli, suiteScope } from '../helpers/servers.js'
import { sharedServers } from '../helpers/shared-servers.js'

const quantity = 200
// That cores were busy says nothing about a queue.
const ofTheMachine = 'rate work client-contended client-saturated client-stopped gaps unsettled'.split(' ')

/** Of the types of keys. */
const kinds = {
  list: { strategy: 'queue-list', key: 'list', length: 'LLEN' },
  stream: { strategy: 'queue-stream', key: 'stream', length: 'XLEN' },
  zset: { strategy: 'queue-zset', key: 'due', length: 'ZCARD' },
}
/** @type {Record<string, { strategy: string, made?: object, worker: object, key: string, length: string, promise: string }>} */
const ways = {
  BRPOP: { ...kinds.list, worker: {}, promise: 'at-most-once' },
  BLMPOP: { ...kinds.list, worker: { take: 7 }, promise: 'at-most-once' },
  LMOVE: { ...kinds.list, worker: { confirm: true, take: 7 }, promise: 'at-least-once' },
  XREADGROUP: { ...kinds.stream, worker: { take: 7 }, promise: 'at-least-once' },
  ZADD: {
    ...kinds.zset,
    made: { delay: '300ms' },
    worker: { take: 7, confirm: true },
    promise: 'at-least-once',
  },
}

for (const cluster of [false, true])
  describe(cluster ? 'a queue in a local cluster' : 'a queue on one server', { concurrency: 12 }, () => {
    /** @type {Awaited<ReturnType<typeof sharedServers>>} */
    let address
    /** @type {ReturnType<typeof openCli>} */
    let ask
    const scope = suiteScope()
    before(async () => {
      address = await sharedServers(scope, cluster)
      ask = openCli(scope, address, cluster)
    })
    const cli = async (/** @type {string[]} */ ...args) => {
      const [answer] = await ask([args.map((arg) => JSON.stringify(arg)).join(' ')])
      return answer
    }
    const faultsOf = (/** @type {any} */ document) =>
      document.warnings
        .filter((/** @type {any} */ one) => one.invalidates && !ofTheMachine.includes(one.code))
        .map((/** @type {any} */ { code }) => code)
    /** @param {object} options @returns {Promise<any>} */
    const offer = async (options) => {
      const given = { quantity, duration: '1s', maxBehind: '60s', allow: 'foreign-keys', idleCost: 'never' }
      const document = await run(/** @type {any} */ ({ ...address, cluster, ...given, ...options }))
      assert.deepEqual(faultsOf(document), [])
      return document
    }
    const produce = async (/** @type {object} */ options) => {
      const document = await offer(options)
      assert.equal(document.items.acked, quantity)
      return document
    }
    /** @param {object} options @param {(seconds: any[]) => Promise<boolean>} [enough] when it is stopped; else it ends by itself */
    const consume = async (options, enough) => {
      const stopping = new AbortController()
      const seconds = /** @type {any[]} */ ([])
      const onProgress = (/** @type {any} */ line) => void (line.type === 'second' && seconds.push(line))
      const running = run(
        { command: 'read', ...address, cluster, ...options },
        { signal: stopping.signal, onProgress },
      )
      if (enough) {
        await until('enough of it', () => enough(seconds))
        stopping.abort()
      }
      const document = /** @type {any} */ (await running)
      const { produced, done, queued, in_flight: inFlight, lost } = document.jobs.account
      assert.equal(produced, done + queued + inFlight + lost)
      return { document, account: document.jobs.account, faults: faultsOf(document) }
    }
    const cleanUp = async (/** @type {string} */ prefix) => {
      const keys = await cli('KEYS', `${prefix}*`)
      await ask(keys.map((/** @type {string} */ key) => `DEL ${key}`))
    }

    for (const [name, { strategy, made = {}, worker, key, length, promise }] of Object.entries(ways)) {
      if (cluster && name !== 'XREADGROUP') continue
      test(`${name}: what is in the queue, and then what is done`, async () => {
        const prefix = `${name.toLowerCase()}:`
        const queue = `${prefix}{jobs}:${key}`
        const { plan } = await produce({ strategy, prefix, ...made })
        assert.equal(await cli(length, queue), quantity)
        assert.equal(await cli('BITCOUNT', `${queue}:acked:${plan.queue.maker}`), quantity)

        // Ended in the middle: the rest is still there.
        const some = async () => (await cli(length, queue)) < quantity
        const part = await consume({ prefix, workers: 2, ...worker, work: 'sleep:50ms' }, some)
        assert.deepEqual(part.faults, [])
        const left = await cli(length, queue)
        assert.ok(left > 0 && left < quantity, `${left} left`)
        assert.equal(part.account.queued, left)
        assert.equal(part.document.jobs.done, quantity - left)

        const rest = await consume({ prefix, workers: 4, ...worker, drain: true })
        assert.deepEqual(rest.faults, [])
        assert.equal(rest.document.jobs.promise, promise)
        const { produced, done, done_elsewhere: elsewhere, lost, duplicates } = rest.account
        // What was done and not yet confirmed when a busy machine ended the first part comes back.
        assert.ok(duplicates <= part.account.unconfirmed, `${duplicates} done again`)
        assert.deepEqual(
          [produced, done, elsewhere + duplicates, lost],
          [quantity, quantity, quantity - left, 0],
        )
        assert.equal(rest.document.jobs.done, left + duplicates)
        assert.equal(await cli(length, queue), 0)
        const { latency_us: latency, waiting_us: waiting, measures } = rest.document
        assert.ok(waiting.p50 <= latency.intended.p50 && latency.intended.max < 600e6)
        assert.equal(measures.find((/** @type {any} */ { name }) => name === 'jobs.account.lost').value, 0)
        await cleanUp(prefix)
      })

      test(`${name}: filters hand over to outputs, and what is between them is known`, async () => {
        const prefix = `stages-${name.toLowerCase()}:`
        const queue = `${prefix}{jobs}:${key}`
        await produce({ strategy, prefix, ...made })
        const slow = { workers: 3, outputs: 1, ...worker, outputWork: 'sleep:50ms' }
        const part = await consume({ prefix, ...slow }, async (seconds) =>
          seconds.some(({ jobs }) => jobs.done > 0),
        )
        assert.deepEqual(part.faults, [])
        const { filter, output } = part.document.stages
        const [waiting, between] = [await cli(length, queue), await cli(length, `${queue}:out`)]
        assert.ok(between > 0, 'the outputs had done all')
        assert.equal(part.account.passed, between)
        assert.equal(part.account.queued, waiting + between)
        assert.equal(filter.done, quantity - waiting)
        assert.equal(output.done, quantity - waiting - between)
        assert.equal(part.document.jobs.done, output.done)
        assert.ok(filter.latency_us.p50 <= output.latency_us.p50)

        // Workers of one stage do not know how to end the second.
        const alone = await consume({ prefix, workers: 1, ...worker, drain: true, duration: '30s' })
        assert.equal(alone.account.passed, between)
        const words = alone.document.warnings.map((/** @type {any} */ { message }) => message)
        assert.match(words.join(), /only --with outputs drains/)

        // On a busy machine its time may be over before the first stage is empty.
        const left = await cli(length, queue)
        const rest = await consume({ prefix, workers: 2, outputs: 2, ...worker, drain: true })
        assert.deepEqual(rest.faults, [])
        assert.equal(rest.document.jobs.promise, promise)
        const { produced, done, lost, passed } = rest.account
        assert.deepEqual([produced, done, lost, passed], [quantity, quantity, 0, 0])
        assert.equal(rest.document.stages.output.done, between + left)
        assert.equal(await cli(length, `${queue}:out`), 0)
        await cleanUp(prefix)
      })
    }

    if (cluster) return

    test('a list: jobs that somebody removes are lost, copies are done again, and other texts are foreign', async () => {
      const prefix = 'robbed:'
      const queue = `${prefix}{jobs}:list`
      await produce({ strategy: 'queue-list', prefix })
      const [first, second] = [await cli('LPOP', queue), await cli('LPOP', queue)]
      const copy = await cli('LINDEX', queue, '5')
      await cli('RPUSH', queue, copy, copy, 'not a job')
      const { account, faults } = await consume({ prefix, workers: 2, drain: true })
      assert.equal(account.lost, 2)
      assert.equal(account.done, quantity - 2)
      assert.equal(account.duplicates, 2)
      assert.equal(account.foreign, 1)
      const numbers = [first, second].map((text) => {
        const job = jobIn(text)
        return `${job?.maker}:${job?.number}`
      })
      assert.deepEqual(account.examples.toSorted(), numbers.toSorted())
      // A list promises no more than that, but nothing is done twice by it.
      assert.deepEqual(faults.toSorted(), ['duplicates', 'foreign'])
      await cleanUp(prefix)
    })

    test('a stream: what a consumer that died has comes back, and what somebody deletes is lost', async () => {
      const prefix = 'orphaned:'
      const queue = `${prefix}{jobs}:stream`
      await produce({ strategy: 'queue-stream', prefix })
      await cli('XGROUP', 'CREATE', queue, 'workers', '0')
      await cli('XREADGROUP', 'GROUP', 'workers', 'dead', 'COUNT', '50', 'STREAMS', queue, '>')
      const held = await consume({ prefix, workers: 2, duration: '400ms', reclaim: '1h' })
      assert.equal(held.account.in_flight, 50)
      assert.equal(await cli('XLEN', queue), 50 + held.account.queued)
      const [[id]] = await cli('XRANGE', queue, '-', '+', 'COUNT', '1')
      await cli('XDEL', queue, id)
      const options = { prefix, workers: 3, take: 8, reclaim: '300ms', drain: true }
      const { account, faults, document } = await consume(options)
      assert.ok(document.jobs.reclaimed >= 49)
      assert.equal(account.lost, 1)
      assert.deepEqual(faults, ['lost'])
      await cleanUp(prefix)
    })

    test('a queue with a limit refuses what it has no room for, or lets it wait', async () => {
      const refusing = async (/** @type {typeof kinds['list']} */ { strategy, key, length }) => {
        const prefix = `full-${key}:`
        const made = await offer({ strategy, prefix, maxQueue: 60 })
        assert.deepEqual(made.items.failed_by, { FULL: quantity - 60 })
        assert.equal(made.queue.refused, quantity - 60)
        assert.ok(made.queue.full_ms > 0)
        assert.equal(await cli(length, `${prefix}{jobs}:${key}`), 60)
        await cleanUp(prefix)
      }
      await Promise.all(Object.values(kinds).map(refusing))
      const prefix = 'waits:'
      const [made, { account, faults }] = await Promise.all([
        produce({ strategy: 'queue-list', prefix, maxQueue: 20, whenFull: 'wait' }),
        consume({ strategy: 'queue-list', prefix, workers: 2, work: 'sleep:2ms', drain: true }),
      ])
      assert.deepEqual(faults, [])
      assert.equal(made.queue.refused, 0)
      assert.deepEqual([account.produced, account.done, account.lost], [quantity, quantity, 0])
      await cleanUp(prefix)
    })

    test('a list whose workers confirm: the list of a worker that died is put back', async () => {
      const prefix = 'putback:'
      const queue = `${prefix}{jobs}:list`
      await produce({ strategy: 'queue-list', prefix })
      await cli('ZADD', `${queue}:workers`, '1', 'dead')
      for (let i = 0; i < 5; i++) await cli('LMOVE', queue, `${queue}:taken:dead`, 'RIGHT', 'LEFT')
      const options = { prefix, workers: 2, confirm: true, take: 4, reclaim: '1s', drain: true }
      const { account, faults, document } = await consume(options)
      assert.deepEqual(faults, [])
      assert.ok(document.jobs.reclaimed >= 5)
      assert.equal(account.done, quantity)
      assert.equal(await cli('EXISTS', `${queue}:taken:dead`), 0)
      await cleanUp(prefix)
    })

    test('what does not belong to workers, or only to them, is refused by name', async (t) => {
      for (const [message, options] of /** @type {[RegExp, object][]} */ ([
        [
          /^--verify is for consumers that fetch items; queue-stream is a queue/,
          { strategy: 'queue-stream', verify: true },
        ],
        [
          /^--workers is for the workers of a queue, and sorted-set is none/,
          { strategy: 'sorted-set', workers: 4 },
        ],
        [/^--driver ioredis: workers of a queue run on plain sockets only/, { driver: 'ioredis' }],
        [/^--with reclaim: a worker that takes 100 jobs works 10000 ms/, { take: 100, work: 'sleep:100ms' }],
      ]))
        await assert.rejects(consume({ prefix: 'none:', strategy: 'queue-list', ...options }), {
          message,
          exitCode: 2,
        })
      const line = '--strategy queue-list --prefix none: --duration 300ms'
      const idle = await readHere(t, line, { env: envOf(address) })
      assert.equal(idle.code, 4, idle.stderr)
      assert.match(
        idle.stdout,
        /no job was done: no producer of queue-list is at work\s+under\s+prefix\s+none:/,
      )
      await cleanUp('none:')
    })
  })
