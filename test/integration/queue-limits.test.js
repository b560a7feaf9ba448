// A queue at the limit of its server's memory, and jobs that are spread over workers whose connections come and go. Redis
// itself is the witness: what it refused, what it accepted, and what each worker took.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { run } from '../../lib/index.js'
import { startCommand } from '../helpers/command-here.js'
import { at as envOf, until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'
import { columns } from '../helpers/table.js'

const queue = '{jobs}:list'
/** @param {Awaited<ReturnType<typeof startServer>>} server */
const at = ({ host, port, password }) => ({
  host,
  port,
  password,
  strategy: /** @type {const} */ ('queue-list'),
})
const sumOf = (/** @type {number[]} */ numbers) => numbers.reduce((sum, n) => sum + n, 0)
/** @param {Awaited<ReturnType<typeof startServer>>} server @param {string} section @param {RegExp} field */
const infoOf = async ({ redis }, section, field) => Number(field.exec(await redis.info(section))?.[1] ?? 0)
const refusalsOf = (/** @type {Awaited<ReturnType<typeof startServer>>} */ server) =>
  infoOf(server, 'errorstats', /errorstat_OOM:count=(\d+)/)

describe('jobs, workers and their server', { concurrency: 3 }, () => {
  test('memory that is full: what is refused is counted, when is predicted, and what is in the queue is done', async (t) => {
    const server = await startServer(t, { config: { maxmemory: '10mb', 'maxmemory-policy': 'noeviction' } })
    /** @type {any[]} */
    const seconds = []
    const producing = run(
      {
        ...{ ...at(server), rate: 1000, valueSize: '1024', duration: '10s', maxBehind: '60s' },
        ...{ allow: 'memory', guard: 'off', idleCost: 'never' },
      },
      {
        onProgress: (/** @type {any} */ line) => {
          if (line.type === 'second') seconds.push(line)
        },
      },
    )
    let cleanMs = 0
    // Of jobs too: the account of a second is refused a few times.
    await until('refused jobs', async () => {
      const askedMs = Date.now()
      const count = await refusalsOf(server)
      if (count === 0) cleanMs = askedMs
      return count > 50
    })
    // What the server answered before it answers this has arrived, and is read in the next turns of this process.
    await server.redis.ping()
    for (let turn = 0; turn < 3; turn++) await setImmediate()
    const seenMs = Date.now()
    const made = /** @type {any} */ (await producing)
    const { refused, full_ms: fullMs, predicted_ms: predictedMs, predicted_at_ms: predictedAtMs } = made.queue
    assert.ok(refused > 0)
    assert.deepEqual(made.items.failed_by, { OOM: refused })
    assert.equal(made.items.acked, await server.redis.llen(queue))
    // The accounts beside the queue are refused as well.
    assert.ok((await refusalsOf(server)) >= refused)
    const origins = seconds.map(({ epoch_ms: epochMs, at_ms: atMs }) => epochMs - atMs)
    const [from, to] = [cleanMs, seenMs].map((ms) => ms - Math.min(...origins))
    assert.ok(fullMs <= to + 10 && fullMs >= from - 10, `full after ${fullMs}, seen from ${from} to ${to}`)
    // A line through the first seconds says when, if the queue filled evenly until then and three seconds were known.
    const first = seconds.filter(({ at_ms: atMs }) => atMs < fullMs)
    const isEven = first.every(
      ({ at_ms: atMs, items, latency_us: { intended } }, i) =>
        Math.abs(atMs - 1000 * (i + 1)) < 200 &&
        Math.abs(items.acked - 1000) <= 100 &&
        intended.max <= 200_000,
    )
    if (isEven)
      assert.ok(
        predictedAtMs < fullMs && predictedMs > predictedAtMs && Math.abs(predictedMs - fullMs) < fullMs / 2,
        `predicted ${predictedMs} after ${predictedAtMs}, full ${fullMs}`,
      )
    else t.diagnostic('the queue did not fill evenly')
    t.diagnostic(`full after ${fullMs} ms, predicted ${predictedMs} ms, ${refused} refused`)

    const drained = /** @type {any} */ (
      await run({ command: 'read', ...at(server), workers: 2, take: 50, drain: true })
    )
    const { account } = drained.jobs
    assert.deepEqual([account.done, account.lost, account.queued], [made.items.acked, 0, 0])
    assert.equal(await server.redis.llen(queue), 0)
  })

  test('a producer whose server is gone ends when its jobs are too late, and says what it could not store', async (t) => {
    const server = await startServer(t)
    const producing = run({ ...at(server), rate: 200, duration: '5s', maxBehind: '4s', idleCost: 'never' })
    await until('jobs', async () => (await server.redis.llen(queue)) > 50)
    process.kill(server.pid, 'SIGKILL')
    const made = /** @type {any} */ (await producing)
    assert.ok(made.items.dropped > 0)
    const unstored = made.events.find((/** @type {any} */ { kind }) => kind === 'account')
    // After 9 s nothing is under way, and the end waits for the server for 4 s.
    assert.ok(unstored.at_ms > 8000 && unstored.at_ms < 30_000, `${unstored.at_ms} ms`)
  })

  test('memory that is full: with when-full=wait the producer waits for the workers, and nothing is refused', async (t) => {
    const server = await startServer(t, { config: { maxmemory: '4mb', 'maxmemory-policy': 'noeviction' } })
    const producing = run({
      ...{ ...at(server), rate: 1000, valueSize: '2048', duration: '4s', maxBehind: '10m' },
      ...{ whenFull: 'wait', allow: 'memory', guard: 'off', idleCost: 'never' },
    })
    await until('a refusal', async () => (await refusalsOf(server)) > 0)
    const [made, drained] = /** @type {any[]} */ (
      await Promise.all([
        producing,
        run({ command: 'read', ...at(server), workers: 2, take: 20, work: 'sleep:1ms', drain: true }),
      ])
    )
    assert.equal(made.queue.refused, 0)
    assert.equal(made.items.acked, made.items.offered)
    assert.ok(made.queue.full_ms > 0)
    const { produced, done, lost } = drained.jobs.account
    assert.deepEqual([produced, done, lost], [made.items.acked, made.items.acked, 0])
  })

  test('jobs are spread over workers as Redis saw it, and connections that are opened anew lose none', async (t) => {
    const server = await startServer(t)
    await run({ ...at(server), rate: 2000, duration: '1s', maxBehind: '60s', idleCost: 'never' })
    const accepted = () => infoOf(server, 'stats', /total_connections_received:(\d+)/)
    const monitor = await server.redis.monitor()
    t.after(() => monitor.disconnect())
    /** @type {Record<string, number>} */
    let seen = {}
    monitor.on('monitor', (_, [name, key]) => {
      const worker = /:taken:(.+)$/.exec(key ?? '')?.[1]
      if (name.toUpperCase() === 'LREM' && worker) seen[worker] = (seen[worker] ?? 0) + 1
    })
    for (const reconnects of [undefined, 40]) {
      seen = {}
      const before = await accepted()
      const options = { workers: 4, confirm: true, take: 2, work: 'sleep:5ms', reconnects }
      const enough = new AbortController()
      t.after(() => enough.abort())
      const working = run({ command: 'read', ...at(server), ...options }, { signal: enough.signal })
      await until('every worker has done jobs', () => Object.values(seen).length === 4)
      // More than the first connections of four workers.
      if (reconnects) await until('connections opened anew', async () => (await accepted()) - before > 40)
      enough.abort()
      const document = /** @type {any} */ (await working)
      const { jobs, workers, connections } = document
      assert.deepEqual([jobs.account.lost, jobs.account.duplicates], [0, 0])
      await until('the last command', async () => sumOf(Object.values(seen)) === jobs.done)
      const counts = Object.values(seen).toSorted((a, b) => a - b)
      assert.equal(counts.length, 4)
      assert.deepEqual([workers.fewest, workers.most], [counts[0], counts[3]])
      const fairness = sumOf(counts) ** 2 / (4 * sumOf(counts.map((n) => n * n)))
      assert.ok(Math.abs(workers.fairness - fairness) < 1e-4)
      assert.ok(Math.abs(workers.busiest - counts[3] / ((counts[1] + counts[2]) / 2)) < 1e-4)
      t.diagnostic(`${reconnects ?? 0} reconnects/s: ${counts.join(', ')} jobs, fairness ${workers.fairness}`)
      if (reconnects) {
        assert.ok(connections.renewed > 0)
        assert.ok((await accepted()) - before >= connections.renewed)
      } else assert.equal(connections, null)
    }
  })

  test('jobs/s are from the first job to the last, as Redis saw them, and the wait before is beside it', async (t) => {
    const server = await startServer(t)
    const monitor = await server.redis.monitor()
    t.after(() => monitor.disconnect())
    const seen = { storedS: 0, confirmed: /** @type {{ worker: string, atS: number }[]} */ ([]) }
    monitor.on('monitor', (time, [name, key]) => {
      const worker = /:taken:(.+)$/.exec(key ?? '')?.[1]
      if (/^[lr]push$/i.test(name) && key === queue) seen.storedS ||= Number(time)
      if (/^lrem$/i.test(name) && worker) seen.confirmed.push({ worker, atS: Number(time) })
    })
    // Workers in this process, and in others.
    for (const processes of [1, 2]) {
      Object.assign(seen, { storedS: 0, confirmed: [] })
      const seconds = /** @type {{ at_ms: number, jobs: { done: number } }[]} */ ([])
      const working = run(
        {
          ...at(server),
          command: 'read',
          workers: 4,
          processes,
          confirm: true,
          work: 'sleep:1ms',
          drain: true,
        },
        {
          onProgress: (/** @type {any} */ line) => {
            if (line.type === 'second') seconds.push(line)
          },
        },
      )
      await until('seconds without a job', () => seconds.length > 1)
      const emptyMs = seconds[1].at_ms
      await run({
        ...at(server),
        ...{ rate: 500, duration: '2s', maxBehind: '60s', idleCost: 'never' },
        // What the workers have noted is there before the plan of the jobs.
        allow: 'foreign-keys',
      })
      const { jobs, rate, duration_s: durationS } = /** @type {any} */ (await working)
      await until('the last command', () => seen.confirmed.length === jobs.done)
      assert.equal(jobs.done, 1000)
      const spanS = (jobs.last_ms - jobs.first_ms) / 1000
      assert.ok(Math.abs(rate.achieved / (jobs.done / spanS) - 1) < 1e-3)
      // The first job was taken after it was stored and before one was confirmed, and the last was done between the last
      // two that its worker confirmed.
      const [{ atS: firstS }] = seen.confirmed
      const { worker, atS: lastS } = seen.confirmed[jobs.done - 1]
      const before = seen.confirmed.slice(0, -1).findLast((one) => one.worker === worker)?.atS ?? firstS
      const all = `${spanS} s, Redis saw ${before - firstS} to ${lastS - seen.storedS} s`
      assert.ok(spanS > before - firstS - 0.1 && spanS < lastS - seen.storedS + 0.1, all)
      assert.ok(jobs.first_ms >= emptyMs && jobs.last_ms <= durationS * 1000 + 100, JSON.stringify(jobs))
      t.diagnostic(`${rate.achieved} jobs/s: ${all}; first after ${jobs.first_ms} ms`)
      await server.redis.flushall()
    }
  })

  test('jobs are spread over boxes: the last one to end says how evenly, as the bits of each say', async (t) => {
    const server = await startServer(t)
    // More than the first can do while the second starts and ends.
    await run({ ...at(server), rate: 8000, duration: '1s', maxBehind: '60s', idleCost: 'never' })
    const box = (/** @type {string} */ line, work = 'sleep:20ms') =>
      startCommand(t, `read --strategy queue-list --work ${work} ${line}`, { env: envOf(server) })
    // The second has a quarter of the workers, and ends while the first is at work.
    const first = box('--workers 4')
    await first.says(/workers/)
    const shorter = box('--workers 1')
    await until('both have done jobs', async () => (await server.redis.keys(`${queue}:done:*`)).length === 2)
    shorter.kill('SIGINT')
    const second = await shorter.ended
    first.kill('SIGINT')
    const known = (await first.ended).document
    const short = [known.jobs.done, second.document.jobs.done]
    const { boxes, boxes_at_work: atWork } = known.jobs.account
    assert.equal(atWork, 0)
    assert.equal(columns(boxes, 'done'), short.join(', '))
    const { document, stdout } = await box('--workers 8 --with drain', 'none').ended
    // No other load was beside the last one.
    assert.equal(document.jobs.account.boxes, undefined)
    assert.equal(document.workers.boxes_fairness, undefined)
    assert.doesNotMatch(stdout, /fairness/)
    const doneKeys = await server.redis.keys(`${queue}:done:*`)
    const bits = await Promise.all(doneKeys.map((key) => server.redis.bitcount(key)))
    assert.deepEqual(
      bits.toSorted((a, b) => a - b),
      [...short, document.jobs.done].toSorted((a, b) => a - b),
    )
    const fairness = sumOf(short) ** 2 / (2 * sumOf(short.map((n) => n * n)))
    assert.ok(Math.abs(known.workers.boxes_fairness - fairness) < 1e-4)
  })
})
