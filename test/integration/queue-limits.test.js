// A queue at the limit of its server's memory, and jobs that are spread over workers whose connections come and go. Redis
// itself is the witness: what it refused, what it accepted, and what each worker took.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { run } from '../../lib/index.js'
import { at as envOf, startProgram, until } from '../helpers/programs.js'
import { cli, startServer } from '../helpers/servers.js'

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
const infoOf = async (server, section, field) =>
  Number(field.exec(await cli(server, 'INFO', section))?.[1] ?? 0)

test('memory that is full: what is refused is counted, when is predicted, and what is in the queue is done', async (t) => {
  const server = await startServer(t, { config: { maxmemory: '10mb', 'maxmemory-policy': 'noeviction' } })
  const refusals = () => infoOf(server, 'errorstats', /errorstat_OOM:count=(\d+)/)
  /** @type {any[]} */
  const seconds = []
  const producing = run(
    {
      ...at(server),
      rate: 1000,
      valueSize: '1024',
      duration: '12s',
      maxBehind: '60s',
      allow: 'memory',
      guard: 'off',
      idleCost: 'never',
    },
    {
      onProgress: (/** @type {any} */ line) => {
        if (line.type === 'second') seconds.push(line)
      },
    },
  )
  let cleanMs = 0
  await until('a refusal', async () => {
    const askedMs = Date.now()
    if ((await refusals()) > 0) return true
    cleanMs = askedMs
    return false
  })
  // What the server answered before it answers this has arrived, and is read in the next turns of this process.
  await server.redis.ping()
  for (let turn = 0; turn < 3; turn++) await setImmediate()
  const seenMs = Date.now()
  const made = /** @type {any} */ (await producing)
  const { refused, full_ms: fullMs, predicted_ms: predictedMs, predicted_at_ms: predictedAtMs } = made.queue
  assert.ok(refused > 0)
  assert.deepEqual(made.items.failed_by, { OOM: refused })
  assert.equal(made.items.acked, Number(await cli(server, 'LLEN', queue)))
  // The accounts beside the queue are refused as well.
  assert.ok((await refusals()) >= refused)
  const origins = seconds.map(({ epoch_ms: epochMs, at_ms: atMs }) => epochMs - atMs)
  const [from, to] = [cleanMs, seenMs].map((ms) => ms - Math.min(...origins))
  assert.ok(fullMs <= to + 10 && fullMs >= from - 10, `full after ${fullMs}, seen from ${from} to ${to}`)
  // A line through the first seconds says when, if the queue filled evenly in them.
  const uneven = seconds.some(
    ({ at_ms: atMs, items, latency_us: { intended } }) =>
      atMs < predictedAtMs + 1000 && (Math.abs(items.acked - 1000) > 100 || intended.max > 200_000),
  )
  assert.ok(predictedAtMs < fullMs && predictedMs > predictedAtMs, `predicted ${predictedMs}`)
  assert.ok(
    uneven || Math.abs(predictedMs - fullMs) < fullMs / 2,
    `predicted ${predictedMs}, full ${fullMs}: ${JSON.stringify(seconds.map(({ items }) => items.acked))}`,
  )
  t.diagnostic(`full after ${fullMs} ms, predicted ${predictedMs} ms, ${refused} refused`)

  const drained = /** @type {any} */ (
    await run({ command: 'read', ...at(server), workers: 2, take: 50, drain: true })
  )
  const { account } = drained.jobs
  assert.deepEqual([account.done, account.lost, account.queued], [made.items.acked, 0, 0])
  assert.equal(await cli(server, 'LLEN', queue), '0')
})

describe('jobs, workers and their server', { concurrency: 2 }, () => {
  test('memory that is full: with --when-full wait the producer waits for the workers, and nothing is refused', async (t) => {
    const server = await startServer(t, { config: { maxmemory: '4mb', 'maxmemory-policy': 'noeviction' } })
    const producing = run({
      ...at(server),
      rate: 1000,
      valueSize: '2048',
      duration: '4s',
      maxBehind: '120s',
      whenFull: 'wait',
      allow: 'memory',
      guard: 'off',
      idleCost: 'never',
    })
    const refused = () => infoOf(server, 'errorstats', /errorstat_OOM:count=(\d+)/)
    await until('a refusal', async () => (await refused()) > 0)
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
      const options = { workers: 4, confirm: true, take: 2, work: 'sleep:5ms', duration: '1s', reconnects }
      const document = /** @type {any} */ (await run({ command: 'read', ...at(server), ...options }))
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
    /** @type {number[]} */
    let confirmedS = []
    monitor.on('monitor', (time, [name, key]) => {
      if (name.toUpperCase() === 'LREM' && key?.includes(':taken:')) confirmedS.push(Number(time))
    })
    // Workers in this process, and in others.
    for (const processes of [1, 2]) {
      confirmedS = []
      let waitedMs = 0
      const working = run(
        {
          command: 'read',
          ...at(server),
          workers: 4,
          processes,
          confirm: true,
          work: 'sleep:1ms',
          drain: true,
        },
        {
          onProgress: (/** @type {any} */ { type, at_ms: atMs }) => {
            if (type === 'second') waitedMs = atMs
          },
        },
      )
      await until('three seconds without a job', async () => waitedMs > 3000)
      const emptyMs = waitedMs
      await run({
        ...at(server),
        ...{ rate: 500, duration: '2s', maxBehind: '60s', idleCost: 'never' },
        // What the workers have noted is there before the plan of the jobs.
        allow: 'foreign-keys',
      })
      const { jobs, rate, duration_s: durationS } = /** @type {any} */ (await working)
      await until('the last command', async () => confirmedS.length === jobs.done)
      assert.equal(jobs.done, 1000)
      const spanS = (jobs.last_ms - jobs.first_ms) / 1000
      assert.ok(Math.abs(rate.achieved / (jobs.done / spanS) - 1) < 1e-3)
      const seenS = Math.max(...confirmedS) - Math.min(...confirmedS)
      assert.ok(Math.abs(spanS - seenS) < 1, `${spanS} s, Redis saw ${seenS} s`)
      assert.ok(jobs.first_ms >= emptyMs && jobs.last_ms <= durationS * 1000 + 100, JSON.stringify(jobs))
      t.diagnostic(`${rate.achieved} jobs/s, Redis saw ${jobs.done / seenS}; first after ${jobs.first_ms} ms`)
      await server.redis.flushall()
    }
  })

  test('jobs are spread over boxes: the last one to end says how evenly, as the bits of each say', async (t) => {
    const server = await startServer(t)
    // More than the first can do while the second starts and ends.
    await run({ ...at(server), rate: 8000, duration: '1s', maxBehind: '60s', idleCost: 'never' })
    const box = (/** @type {string} */ line, work = 'sleep:20ms') =>
      startProgram(t, 'consumer.js', `--strategy queue-list --work ${work} ${line}`, { env: envOf(server) })
    // The second has a quarter of the workers, and ends while the first is at work.
    const first = box('--workers 4')
    await first.says(/workers/)
    const second = await box('--workers 1 --duration 1s').ended
    first.kill('SIGINT')
    const known = (await first.ended).document
    const short = [known.jobs.done, second.document.jobs.done]
    const { boxes, boxes_at_work: atWork } = known.jobs.account
    assert.equal(atWork, 0)
    assert.deepEqual(
      boxes.map((/** @type {any} */ { done }) => done),
      short,
    )
    const { document, stdout } = await box('--workers 8 --drain', 'none').ended
    // No other load was beside the last one.
    assert.equal(document.jobs.account.boxes, undefined)
    assert.equal(document.workers.boxes_fairness, undefined)
    assert.doesNotMatch(stdout, /fairness/)
    const bits = await Promise.all(
      (await cli(server, 'KEYS', `${queue}:done:*`))
        .split('\n')
        .filter(Boolean)
        .map(async (key) => Number(await cli(server, 'BITCOUNT', key))),
    )
    assert.deepEqual(
      bits.toSorted((a, b) => a - b),
      [...short, document.jobs.done].toSorted((a, b) => a - b),
    )
    const fairness = sumOf(short) ** 2 / (2 * sumOf(short.map((n) => n * n)))
    assert.ok(Math.abs(known.workers.boxes_fairness - fairness) < 1e-4)
  })

  test('a producer whose server is gone ends when its jobs are too late, and says what it could not store', async (t) => {
    const server = await startServer(t)
    const producing = run({ ...at(server), rate: 200, duration: '5s', maxBehind: '10s', idleCost: 'never' })
    await until('jobs', async () => Number(await cli(server, 'LLEN', queue)) > 50)
    process.kill(server.pid, 'SIGKILL')
    const made = /** @type {any} */ (await producing)
    assert.ok(made.items.dropped > 0)
    const unstored = made.events.find((/** @type {any} */ { kind }) => kind === 'account')
    // After 15 s nothing is under way. Accounts of every second, one behind the other, would take it to 40 s and more.
    assert.ok(unstored.at_ms > 15_000 && unstored.at_ms < 32_000, `${unstored.at_ms} ms`)
  })
})
