import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cpus } from 'node:os'
import { performance } from 'node:perf_hooks'
import { test } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import { usesOf } from '../../lib/measures/client.js'
import { clientHealth, linuxThreadCpuS, stoppedMs } from '../../lib/probes/client-health.js'

/** @import { TestContext } from 'node:test' */

setFlagsFromString('--expose-gc')
/** @type {() => void} */
const collect = runInNewContext('gc')

const usedS = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
/** @param {TestContext} t @param {() => number} [clock] @param {number} [resolutionMs] */
const healthOf = (t, clock = performance.now.bind(performance), resolutionMs = undefined) => {
  const health = clientHealth({ clock, resolutionMs })
  t.after(health.stop)
  return health
}
const burn = (/** @type {number} */ s) => {
  for (const end = usedS() + s; usedS() < end; );
}

test('CPU of a second, as percent of the clock it was given', (t) => {
  const time = { ms: 0 }
  const health = healthOf(t, () => time.ms)
  burn(0.2)
  health.startRun()
  const before = usedS()
  burn(0.1)
  time.ms = 2000
  const second = health.sample()
  const used = usedS() - before
  assert.equal(second.over_s, 2)
  assert.ok(second.cpu_s >= 0.1 && second.cpu_s <= used + 0.01, `${second.cpu_s} of ${used}`)
  assert.equal(usesOf(second).cpu_pct?.toFixed(6), ((second.cpu_s / 2) * 100).toFixed(6))
})

test('the machine is as busy as the operating system counts it', { skip: !existsSync('/proc/stat') }, (t) => {
  /** Another way to the same counters, core by core; it leaves out what it has no name for. */
  const timesNow = () =>
    cpus().reduce(
      (sum, { times: { user, nice, sys, irq, idle } }) => ({
        busyS: sum.busyS + (user + nice + sys + irq) / 1000,
        idleS: sum.idleS + idle / 1000,
      }),
      { busyS: 0, idleS: 0 },
    )
  const health = healthOf(t)
  health.startRun()
  const before = timesNow()
  burn(0.5)
  const { machine, cpu_s: cpuS } = health.sample()
  const after = timesNow()
  assert.ok(machine)
  assert.ok(machine.busy_s >= cpuS - 0.05, `${machine.busy_s} s, of which ${cpuS} are ours`)
  // Counted in steps of 10 ms a core, between the moments of two readings.
  const slackS = 0.05 * cpus().length
  const idleS = after.idleS - before.idleS
  const apart = Math.abs(machine.over_s - machine.busy_s - idleS)
  assert.ok(apart < slackS + machine.over_s / 20, `${idleS} s idle`)
})

test('idle is the least of the seconds in which nothing else was done', (t) => {
  const time = { ms: 0 }
  const health = healthOf(t, () => time.ms)
  const secondOf = (/** @type {number} */ cpuS, /** @type {boolean} */ isIdle) => {
    const before = usedS()
    burn(cpuS)
    time.ms += 1000
    health.sampleIdle(isIdle)
    return (usedS() - before) * 100
  }
  health.sampleIdle(false)
  secondOf(0.01, true)
  assert.equal(health.idlePct(), null, 'commands were still encoded in the first')
  secondOf(0.2, true)
  const quiet = secondOf(0.05, true)
  const pct = Number(health.idlePct())
  assert.ok(pct >= 5 && pct <= quiet + 1, `${pct} % of ${quiet}`)
  secondOf(0.3, false)
  assert.equal(health.idlePct(), pct)
})

test('the CPU of another thread is the process’s and not this thread’s', async (t) => {
  const health = healthOf(t)
  // A second that began with its first turn might miss its work on a busy machine.
  health.startRun()
  const work = 'for (const end = process.cpuUsage().user + 2e5; process.cpuUsage().user < end; );'
  const other = new Worker(work, { eval: true })
  await once(other, 'exit')
  burn(0.1)
  const { thread_cpu_pct: thread, cpu_pct: all } = usesOf(health.sample())
  assert.ok(Number(thread) > 0, String(thread))
  assert.ok(Number(thread) < Number(all) * 0.8, `${thread} of ${all}`)
})

test('Linux counts the CPU of the thread that asks', { skip: process.platform !== 'linux' }, () => {
  const before = { us: usedS(), s: linuxThreadCpuS() }
  burn(0.2)
  const used = linuxThreadCpuS() - before.s
  assert.ok(used > 0.1 && used <= usedS() - before.us + 0.02, String(used))
})

test('a pause is one in which the thread used next to no CPU', () => {
  const [paused, ownWork, tooShort] = [stoppedMs(8000.4, 300), stoppedMs(1500, 1400), stoppedMs(900, 0)]
  assert.deepEqual([paused, ownWork, tooShort], [8000, 0, 0])
})

test('a pause is seen by the sample that ends it, and forgotten by the next', (t) => {
  const time = { ms: 0 }
  const health = healthOf(t, () => time.ms)
  health.startRun()
  time.ms = 1500
  assert.equal(health.sample().stopped_ms, 1500, 'no timer of the loop has fired since')
  time.ms = 2100
  assert.equal(health.sample().stopped_ms, undefined)
})

test('a pause is as long as it was, wherever in its second', async (t) => {
  const sleeping = new Int32Array(new SharedArrayBuffer(4))
  const health = healthOf(t)
  health.startRun()
  let sampledMs = performance.now()
  const pause = () => {
    const fromMs = performance.now()
    Atomics.wait(sleeping, 0, 0, 1300)
    return performance.now() - fromMs
  }
  const assertFound = (/** @type {number} */ pausedMs) => {
    const overMs = performance.now() - sampledMs
    const found = Number(health.sample().stopped_ms)
    sampledMs = performance.now()
    t.diagnostic(`${found} of ${pausedMs} ms, in ${overMs} ms`)
    // A look each 250 ms; beside other load the turns around the pause are late as well.
    assert.ok(found >= pausedMs - 300 && found <= overMs, `${found} of ${pausedMs} ms`)
  }
  await setTimeout(300)
  // Its end is seen by the sample alone.
  assertFound(pause())
  const atFirst = pause()
  await setTimeout(300)
  assertFound(atFirst)
  await setTimeout(300)
  const between = pause()
  await setTimeout(300)
  assertFound(between)
})

test('a pause is seen after a time in which the thread was busy', async (t) => {
  const health = healthOf(t)
  health.startRun()
  for (const endMs = performance.now() + 900; performance.now() < endMs; await setImmediate()) burn(0.01)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1300)
  assert.ok(Number(health.sample().stopped_ms) >= 1290)
})

test('a loop that never waits is busy, one that waits is not', async (t) => {
  const health = healthOf(t)
  await setImmediate()
  health.startRun()
  const begunMs = performance.now()
  let betweenMs = 0 // turns, in which a busy machine may have taken the core away
  for (let atMs = begunMs; atMs < begunMs + 100; ) {
    burn(0.005)
    const burntMs = performance.now()
    await setImmediate()
    atMs = performance.now()
    betweenMs += atMs - burntMs
  }
  const busyPct = Number(usesOf(health.sample()).busy_pct)
  const leastPct = 95 - (betweenMs / (performance.now() - begunMs)) * 100
  assert.ok(busyPct > leastPct, `${busyPct} of ${leastPct}`)
  do await setTimeout(20)
  while (!(Number(usesOf(health.sample()).busy_pct) < 30))
})

test('loop delay is what comes on top of the period; a new window and a new second forget it', async (t) => {
  const health = healthOf(t, undefined, 50)
  health.startWindow()
  // Beside other load a turn takes longer than the 150 ms that are burnt here.
  let longestMs = 0
  let turnedMs = performance.now()
  // A timer that is due again at once fires in the same turn of the loop; an immediate is always in the next.
  const turn = async () => {
    await setTimeout(1)
    await setImmediate()
    longestMs = Math.max(longestMs, performance.now() - turnedMs)
    turnedMs = performance.now()
  }
  for (let i = 0; i < 4; i++) {
    await turn()
    const end = performance.now() + 150
    while (performance.now() < end);
  }
  await turn()
  const delay = health.windowDelayMs()
  assert.ok(delay > 70 && delay < longestMs + 25, `${delay} of ${longestMs}`)
  const apart = Math.abs(health.sample().loop_delay_ms_p99 - delay)
  assert.ok(apart < longestMs - 75, `two monitors, woken together: ${apart}`)
  health.startWindow()
  assert.deepEqual([health.windowDelayMs(), health.sample().loop_delay_ms_p99], [0, 0])
})

test('memory is that of the whole process', (t) => {
  const health = healthOf(t, () => 0)
  const held = Buffer.alloc(64e6, 1)
  assert.ok(health.sample().rss_mb > held.length / 1e6)
})

const skip = process.platform !== 'linux'
test('memory that was freed within the second counts where the process never had as much before', {
  skip,
}, (t) => {
  const health = healthOf(t)
  const { rss_mb: before } = health.sample()
  const megabytes = 300
  let block = /** @type {Buffer | null} */ (Buffer.alloc(megabytes * 1e6, 1))
  const peak = process.memoryUsage.rss() / 1e6
  block = null
  for (let i = 0; i < 3; i++) collect()
  const after = process.memoryUsage.rss() / 1e6
  assert.ok(after < peak - megabytes / 2, `${after} of ${peak} MB: the block was not freed (${block})`)
  const found = health.sample().rss_mb
  const least = Math.max(before + megabytes / 2, peak * 0.95)
  assert.ok(found >= least, `${found}, before ${before}, peak ${peak} MB`)
  assert.ok(health.sample().rss_mb < peak - megabytes / 2, 'the next second has what is there')
})
