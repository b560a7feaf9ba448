import assert from 'node:assert/strict'
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import test from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { clientHealth, linuxThreadCpuS, stoppedMs } from '../../lib/measure/client-health.js'

const usedS = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
const burn = (/** @type {number} */ s) => {
  for (const end = usedS() + s; usedS() < end; );
}

test('CPU over the window and over the second, as percent of the clock it was given', (t) => {
  const time = { ms: 0 }
  const health = clientHealth({ clock: () => time.ms })
  t.after(health.stop)
  burn(0.2)
  health.startWindow()
  const before = usedS()
  burn(0.1)
  time.ms = 1000
  const first = health.sample()
  burn(0.1)
  time.ms = 2000
  const second = health.sample()
  const window = health.summary()
  const used = usedS() - before
  assert.ok(window.cpu_s >= 0.2 && window.cpu_s <= used + 0.01, `${window.cpu_s} of ${used}`)
  assert.equal(window.cpu_pct?.toFixed(6), ((window.cpu_s / 2) * 100).toFixed(6))
  assert.ok(Number(first.cpu_pct) >= 30, 'what came before the window belongs to the first second')
  assert.ok(Number(second.cpu_pct) >= 10 && Number(second.cpu_pct) < 20, String(second.cpu_pct))
})

test('the CPU of another thread is the process’s and not this thread’s', async (t) => {
  const health = clientHealth({ clock: performance.now.bind(performance) })
  t.after(health.stop)
  // A window that began with its first turn might miss its work on a busy machine.
  health.startWindow()
  const other = new Worker(
    'for (const end = process.cpuUsage().user + 2e5; process.cpuUsage().user < end; );',
    {
      eval: true,
    },
  )
  await once(other, 'exit')
  burn(0.1)
  const { thread_cpu_pct: thread, cpu_pct: all } = health.summary()
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
  assert.equal(stoppedMs(8000.4, 300), 8000)
  assert.equal(stoppedMs(1500, 1400), 0, 'its own work')
  assert.equal(stoppedMs(900, 0), 0, 'too short')
})

test('a pause is seen by the sample that ends it, and forgotten by the next', (t) => {
  const time = { ms: 0 }
  const health = clientHealth({ clock: () => time.ms })
  t.after(health.stop)
  health.startRun()
  time.ms = 1500
  assert.equal(health.sample().stopped_ms, 1500, 'no timer of the loop has fired since')
  time.ms = 2100
  assert.equal(health.sample().stopped_ms, undefined)
  assert.equal(health.summary().stopped_ms, 1500)
  health.startRun()
  assert.equal(health.summary().stopped_ms, 0)
})

test('a loop that never waits is busy, one that waits is not', async (t) => {
  const health = clientHealth({ clock: performance.now.bind(performance) })
  t.after(health.stop)
  await setImmediate()
  health.startWindow()
  const begunMs = performance.now()
  let betweenMs = 0 // turns, in which a busy machine may have taken the core away
  for (let atMs = begunMs; atMs < begunMs + 100; ) {
    burn(0.005)
    const burntMs = performance.now()
    await setImmediate()
    atMs = performance.now()
    betweenMs += atMs - burntMs
  }
  const busyPct = Number(health.summary().busy_pct)
  const leastPct = 95 - (betweenMs / (performance.now() - begunMs)) * 100
  assert.ok(busyPct > leastPct, `${busyPct} of ${leastPct}`)
  health.startWindow()
  while (!(Number(health.summary().busy_pct) < 30)) await setTimeout(5)
})

test('loop delay is what comes on top of the period; a new window and a new second forget it', async (t) => {
  const health = clientHealth({ clock: performance.now.bind(performance) })
  t.after(health.stop)
  health.startWindow()
  // Beside other load a turn takes longer than the 100 ms that are burnt here.
  let longestMs = 0
  let turnedMs = performance.now()
  // A timer that is due again at once fires in the same turn of the loop; an immediate is always in the next.
  const turn = async () => {
    await setTimeout(1)
    await setImmediate()
    longestMs = Math.max(longestMs, performance.now() - turnedMs)
    turnedMs = performance.now()
  }
  for (let i = 0; i < 10; i++) {
    await turn()
    const end = performance.now() + 100
    while (performance.now() < end);
  }
  await turn()
  const { loop_delay_ms_p99: delay } = health.summary()
  assert.ok(delay > 70 && delay < longestMs + 25, `${delay} of ${longestMs}`)
  const apart = Math.abs(health.sample().loop_delay_ms_p99 - delay)
  assert.ok(apart < longestMs - 75, `two monitors, woken together: ${apart}`)
  health.startWindow()
  assert.equal(health.summary().loop_delay_ms_p99, 0)
  assert.equal(health.sample().loop_delay_ms_p99, 0)
})

test('the highest RSS stays', (t) => {
  const health = clientHealth({ clock: () => 0 })
  t.after(health.stop)
  health.startWindow()
  const held = Buffer.alloc(64e6, 1)
  const { rss_mb } = health.sample()
  assert.ok(rss_mb > held.length / 1e6)
  assert.ok(health.summary().rss_mb_max >= rss_mb)
})
