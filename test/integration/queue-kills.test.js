// Workers that are killed under load: processes by kill -9, connections by CLIENT KILL. Where the strategy promises it nothing
// is lost; where it does not, the loss is counted exactly. Redis itself is the witness.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { run } from '../../lib/index.js'
import { childrenOf, codesIn, ownFolder, until, warningIn } from '../helpers/programs.js'
import { seeded } from '../helpers/random.js'
import { startServer } from '../helpers/servers.js'

const kills = 100
// A process that is killed takes what it had at hand with it, and has a successor that costs half a second.
const processKills = 3
// The workers have jobs at hand most of the time.
const rateHz = 400
const work = 'sleep:6ms'

/** @type {{ name: string, key: string, producer: object, worker: { take: number, confirm?: boolean, outputs?: number }, promises: boolean }[]} */
const ways = [
  { name: 'queue-list', key: 'list', producer: {}, worker: { take: 5 }, promises: false },
  { name: 'queue-list', key: 'list', producer: {}, worker: { take: 5, confirm: true }, promises: true },
  { name: 'queue-stream', key: 'stream', producer: {}, worker: { take: 5 }, promises: true },
  {
    ...{ name: 'queue-zset', key: 'due', producer: { delay: '20ms' } },
    worker: { take: 5, confirm: true },
    promises: true,
  },
  // Filters and outputs.
  {
    ...{ name: 'queue-list', key: 'list', producer: {} },
    worker: { take: 5, outputs: 2, confirm: true },
    promises: true,
  },
  { name: 'queue-stream', key: 'stream', producer: {}, worker: { take: 5, outputs: 2 }, promises: true },
]

/** Processes of workers that this one has started. */
const workerPids = () =>
  childrenOf()
    .filter(({ line }) => line.includes('workers/process.js'))
    .map(({ pid }) => pid)

for (const [seed, { name, key, producer, worker, promises }] of ways.entries())
  test(`${name}${worker.outputs ? ', two stages' : ''}${promises ? ', promised' : ''}: ${kills} kills`, async (t) => {
    const { outputs = 0 } = worker
    const server = await startServer(t)
    const { redis } = server
    const { host, port, password } = server
    const at = { host, port, password, strategy: /** @type {any} */ (name) }
    const { next: random, pick } = seeded(seed + 1)
    const queue = `{jobs}:${key}`
    // There are jobs until the last kill, however long the kills take.
    const enough = new AbortController()
    t.after(() => enough.abort())
    const producing = run(
      { ...at, rate: rateHz, maxBehind: '120s', idleCost: 'never', ...producer },
      { signal: enough.signal },
    )
    await until('a producer', () => redis.exists(`${queue}:makers`))
    let cameBack = 0
    const consuming = run(
      { command: 'read', ...at, workers: 4, processes: 2, work, reclaim: '500ms', drain: true, ...worker },
      {
        onProgress: (/** @type {any} */ { type, jobs }) => {
          if (type === 'second') cameBack += jobs.reclaimed
        },
      },
    )
    let isOver = false
    const over = () => {
      isOver = true
    }
    consuming.then(over, over)
    await until('workers', () => workerPids().length === (outputs ? 4 : 2))
    for (const pid of workerPids())
      for (const file of ['environ', 'cmdline'])
        assert.ok(!readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(server.password), file)

    let killed = 0
    const ofWorkers = async () => {
      const list = String(await redis.call('CLIENT', 'LIST', 'TYPE', 'normal'))
      return [...list.matchAll(/^id=(\d+) .* name=millrace-worker-/gm)].map(([, id]) => id)
    }
    const atWork = () =>
      until('all workers at work', async () => isOver || (await ofWorkers()).length === 4 + outputs)
    // A process that is killed before it is ready ends the run; a job is done when all of them are.
    await until('a job is done', async () => (await redis.keys(`${queue}:done:*`)).length > 0)
    // A worker that is killed between two jobs has none that could come back.
    while ((killed < kills || (promises && cameBack === 0)) && !isOver) {
      if (killed % Math.floor(kills / processKills) === 5) {
        // One that has just been started has no jobs that could come back.
        await atWork()
        const pids = workerPids()
        if (pids.length > 0) {
          process.kill(pick(pids), 'SIGKILL')
          killed++
        }
      } else {
        const ids = await ofWorkers()
        if (ids.length > 0)
          killed += await redis.call('CLIENT', 'KILL', 'ID', pick(ids)).then(
            () => 1,
            () => 0,
          )
      }
      await sleep(5 + random() * 25)
    }
    enough.abort()
    const [made, consumed] = /** @type {any[]} */ (await Promise.all([producing, consuming]))
    const { account, reclaimed, done } = consumed.jobs
    assert.equal(account.produced, account.done + account.queued + account.in_flight + account.lost)
    const groups = consumed.stages ? Object.values(consumed.stages) : [consumed.workers]
    const processesLost = groups.reduce((sum, { processes_lost: lost }) => sum + lost, 0)
    assert.ok(
      processesLost >= 2,
      `${processesLost} processes lost, ${killed} kills, ${codesIn(consumed)} ${isOver}`,
    )

    // What Redis says: a bit for each job.
    const ackedKey = `${queue}:acked:${made.plan.queue.maker}`
    const acked = await redis.bitcount(ackedKey)
    await redis.bitop('OR', 'seen', await redis.keys(`${queue}:done:*`))
    const once = await redis.bitcount('seen')
    await redis.bitop('AND', 'both', 'seen', ackedKey)
    const both = await redis.bitcount('both')
    assert.equal(acked, made.items.acked)
    assert.equal(account.done, once)
    assert.equal(account.lost, acked - both)
    assert.equal(account.unacknowledged, once - both)
    assert.equal(account.duplicates, done - once)
    assert.equal(account.queued + account.in_flight + account.passed, 0)
    const size = key === 'stream' ? 'xlen' : key === 'list' ? 'llen' : 'zcard'
    for (const left of outputs ? [queue, `${queue}:out`] : [queue]) assert.equal(await redis[size](left), 0)
    t.diagnostic(
      `${killed} kills: ${account.produced} produced, ${account.lost} lost, ${account.duplicates} done again, ${reclaimed} came back`,
    )
    const codes = codesIn(consumed)
    if (promises) {
      assert.equal(account.lost, 0)
      assert.ok(reclaimed > 0)
      assert.ok(!codes.includes('lost'))
    } else {
      assert.equal(account.duplicates, 0)
      assert.ok(account.lost > 0)
      const lost = warningIn(consumed, 'lost')
      assert.equal(lost.invalidates, false)
      assert.match(lost.message, /promises each at most once/)
    }
  })

test('a process that is killed before it is ready ends the run, and nothing of it stays', async (t) => {
  const server = await startServer(t)
  const { host, port, password } = server
  const at = { host, port, password, strategy: /** @type {any} */ ('queue-stream') }
  await run({ ...at, rate: 500, duration: '1s', maxBehind: '60s', idleCost: 'never' })
  // It stands still before its first line.
  const own = ownFolder(t, 'still')
  const still = join(own, 'still.mjs')
  writeFileSync(
    still,
    `if (process.argv[1]?.endsWith('workers/process.js')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`,
  )
  const { NODE_OPTIONS: before = '' } = process.env
  process.env.NODE_OPTIONS = `${before} --import=${still}`
  t.after(() => {
    process.env.NODE_OPTIONS = before
  })
  const consuming = run({ command: 'read', ...at, workers: 4, processes: 2, work: 'sleep:2ms', drain: true })
  const refused = assert.rejects(consuming, /a process of workers: ended before it was ready/)
  await until('a process', () => workerPids().length > 0)
  process.kill(workerPids()[0], 'SIGKILL')
  await refused
  await until('no process', () => workerPids().length === 0)
})
