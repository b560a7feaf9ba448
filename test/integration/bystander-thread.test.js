// What the bystander reports while the sender's own event loop is busy, held against a witness in a process of its own.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import * as hdr from 'hdr-histogram-js'
import { bystanderThread } from '../../lib/probes/bystander-thread.js'
import { startProducer, until } from '../helpers/programs.js'
import { startServer, suiteScope, suiteServer } from '../helpers/servers.js'

const coresHere = availableParallelism()

/** @import { TestServer } from '../helpers/servers.js' */
/** @import { TestContext } from 'node:test' */

const witnessProgram = fileURLToPath(new URL('../../scripts/check/pinger.py', import.meta.url))

const stallMs = 80
/** @param {number[]} values */
const p90 = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.9)]
/** Without what was longer than our stalls can be: then this machine has stopped a process or the server. @param {number[]} values */
const p90OfStalls = (values) => p90(values.filter((ms) => ms <= 2 * stallMs))

/** Each latency in histograms of seconds, in ms. @param {{ hdr: string }[]} seconds */
const latenciesIn = (seconds) =>
  seconds.flatMap(({ hdr: text }) => {
    const counts = /** @type {any} */ (hdr.decodeFromCompressedBase64(text))
    return Array.from({ length: counts.countsArrayLength }, (_, i) =>
      Array.from({ length: counts.getCountAtIndex(i) }, () => counts.valueFromIndex(i) / 1000),
    ).flat()
  })

/** @param {TestContext} t @param {TestServer} server */
const startWitness = async (t, { host, port, password }) => {
  const child = spawn('python3', [witnessProgram, host, String(port)], {
    env: { ...process.env, REDISCLI_AUTH: password },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (more) => {
    text += more
  })
  await until('the witness', () => text.includes('ready\n'))
  return async () => {
    const closed = once(child, 'close')
    child.stdin.write('end\n')
    await closed
    const { latencies, lateness } = JSON.parse(text.slice(text.indexOf('{')))
    return { ms: p90OfStalls(latencies), wakesMs: p90(lateness), longestMs: Math.max(...latencies) }
  }
}

/**
 * Stalls of the server that everybody feels, so that the ninetieth percentile is the server's and far above what a busy
 * machine adds to either side.
 * @param {TestServer} server
 * @returns ends them
 */
const stalling = ({ redis }) => {
  let going = true
  const ended = (async () => {
    while (going) {
      await redis.call('DEBUG', 'SLEEP', String(stallMs / 1000))
      await sleep(120)
    }
  })()
  return () => {
    going = false
    return ended
  }
}

/**
 * Within 25 %; and as much more as the witness's own timer was late, which is what the machine adds to each of them.
 * @param {TestContext} t
 * @param {number} ms
 * @param {{ ms: number, wakesMs: number }} witness
 */
const assertNear = (t, ms, witness) => {
  t.diagnostic(`bystander p90 ${ms} ms, witness ${JSON.stringify(witness)}`)
  const limitMs = 0.25 * witness.ms + witness.wakesMs
  assert.ok(witness.ms > 20, 'the stalls are measured')
  assert.ok(Math.abs(ms - witness.ms) <= limitMs, `${ms} ms, the witness ${witness.ms} ms`)
}

const isMissing = spawnSync('python3', ['--version']).status !== 0
const skip = isMissing && !process.env.CI && 'python3 is not on PATH'

describe('the bystander beside a busy sender', { skip }, () => {
  const _scope = suiteScope()
  const server = suiteServer({ config: { 'enable-debug-command': 'local' } })

  test('of both drivers: p90 as an independent pinger has it', async (t) => {
    const writers = ['socket', 'ioredis'].map((driver) =>
      startProducer(t, `-q 4000 -c 2 --prefix ${driver}: --driver ${driver} --quiet`, server),
    )
    for (const writer of writers) await until('it writes', () => writer.intervals().length > 0)
    const calm = stalling(server)
    const witnessed = await startWitness(t, server)
    const firsts = writers.map((writer) => writer.intervals().length + 1)
    const linesOf = () => writers.map((writer, i) => writer.intervals().slice(firsts[i]))
    // The same seconds for all, and many: beside other load two samples of a few differ. The stalls go on before and after.
    await until('nine seconds of each', () => linesOf().every((lines) => lines.length >= 9))
    const lines = linesOf()
    const witness = await witnessed()
    await calm()
    for (const [i, writer] of writers.entries()) {
      writer.kill('SIGINT')
      const { document } = await writer.ended
      assert.equal(typeof document.client.thread_cpu_pct, 'number')
      assertNear(t, p90OfStalls(latenciesIn(lines[i].flatMap(({ bystander_us: us }) => us ?? []))), witness)
    }
  })

  const alone = coresHere < 2 && 'one core'
  test('how late it was to send is known, and a stall of the server is none of it', {
    skip: alone,
  }, async (t) => {
    const calm = await startServer(t)
    /** Of PINGs to each of these, at the same time. @param {TestServer[]} servers @param {() => () => unknown} disturb */
    const sharesBeside = async (servers, disturb) => {
      const probes = servers.map((one) => {
        const found = { pings: 0 }
        const probe = bystanderThread({
          masters: () => [one],
          access: { password: one.password },
          record: () => found.pings++,
        })
        return { probe, found }
      })
      for (const { probe } of probes) await probe.start()
      const end = disturb()
      await until('100 PINGs', () => {
        for (const { probe } of probes) probe.collect()
        return probes.every(({ found }) => found.pings >= 100)
      })
      await end()
      for (const { probe } of probes) await probe.stop()
      return probes.map(({ probe }) => probe.lateShare())
    }
    // The servers keep a core that only their own work is on.
    const pin = (/** @type {number} */ pid, /** @type {string} */ cores) =>
      assert.equal(spawnSync('taskset', ['-acp', cores, String(pid)]).status, 0)
    for (const { pid } of [server, calm]) pin(pid, '0')
    pin(process.pid, '1')
    t.after(() => {
      for (const { pid } of [server, calm, process]) pin(pid, `0-${coresHere - 1}`)
    })
    const busy = 'for (const end = Date.now() + 60_000; Date.now() < end; );'
    const crowding = () => {
      const children = Array.from({ length: 8 }).map(() =>
        spawn(process.execPath, ['-e', busy], { stdio: 'ignore' }),
      )
      return () => {
        for (const child of children) child.kill('SIGKILL')
      }
    }
    const [crowded] = await sharesBeside([server], crowding)
    // Other programs may have the cores: of both by the same measure.
    const [quiet, stalled] = await sharesBeside([calm, server], () => stalling(server))
    t.diagnostic(`late PINGs: ${crowded} beside busy processes, ${stalled} beside stalls, ${quiet} without`)
    assert.ok(crowded > 0.04 && crowded <= 1, `${crowded}`)
    assert.ok(stalled >= 0 && stalled < quiet + 0.3, `${stalled}, and ${quiet} without stalls`)
  })

  test('a sender that does nothing else for a second delays no PING', async (t) => {
    /** @type {{ dueMs: number, ms: number }[]} */
    const pings = []
    const probe = bystanderThread({
      masters: () => [server],
      access: { password: server.password },
      record: (agoMs, us) => pings.push({ dueMs: performance.now() - agoMs, ms: us / 1000 }),
    })
    await probe.start()
    t.after(probe.stop)
    /** All that was due by then is answered. @param {number} fromMs */
    const answeredFrom = (fromMs) =>
      until('a PING that was due later', () => {
        probe.collect()
        return pings.some(({ dueMs }) => dueMs > fromMs)
      })
    await answeredFrom(0)
    const witnessed = await startWitness(t, server)
    const startMs = performance.now()
    const before = process.cpuUsage()
    while (performance.now() < startMs + 1000);
    const endMs = performance.now()
    const used = process.cpuUsage(before)
    // Of this time the process did not have a core.
    const pausedMs = Math.max(0, endMs - startMs - (used.user + used.system) / 1000)
    await answeredFrom(endMs)
    const { wakesMs, longestMs } = await witnessed()
    const during = pings.filter(({ dueMs }) => dueMs >= startMs && dueMs < endMs)
    const said = `${during.length} PINGs, p90 ${p90(during.map(({ ms }) => ms))} ms; a timer of the witness ${wakesMs} ms late, it waited ${longestMs} ms; ${pausedMs} ms without a core`
    t.diagnostic(said)
    assert.ok(during.length >= 45, said)
    // On the sender's loop all of them would be a second late, or half of it on average.
    assert.ok(p90(during.map(({ ms }) => ms)) < 100 + 5 * wakesMs + longestMs + pausedMs, said)
  })
})
