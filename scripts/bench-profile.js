#!/usr/bin/env node
// Five applications on three servers: each is profiled, replayed on another server of the same version, and the replay is
// profiled. Beside it, as a control, the application itself on that other server.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ExitCode } from '../lib/base/errors.js'
import { serversIn } from '../lib/cli/choose-options.js'
import { screenSay } from '../lib/cli/say.js'
import { script } from '../lib/cli/script.js'
import { interruptsOfSeries } from '../lib/cli/signals.js'
import { hardware } from '../lib/experiments/summary.js'
import { bystanderThread } from '../lib/measure/bystander-thread.js'
import { callsOf, startServer } from '../test/helpers/servers.js'
import { linesIn, refuseNumbers, wordsOf } from './bench/arguments.js'
import { barLines, barsOf, costOf, pingsOf, summaryLines } from './bench/profile-bars.js'

/** @import { Line, Pings, Side } from './bench/profile-bars.js' */
/** @import { TestServer } from '../test/helpers/servers.js' */

const applications = ['session-store', 'cart', 'leaderboard', 'queue', 'page-cache']
const servers = ['installed', 'redis-8.2', 'valkey-9.1']

const usage = `Usage: npm run bench:profile -- [options]

  --file PATH     results, a line a pair; those that are in it are not measured again (profile.ndjson)
  --minutes N     begin no further pair after so many minutes
  --seconds N     that a profile takes (20)
  --rate N        requests a second of an application (2000)
  --only WORDS    applications and servers: ${applications.join(',')},${servers.join(',')}
  --kinds WORDS   replay, control, or both (replay,control)
  --keep FOLDER   keep the profiles there
  -h, --help      this text`

const millrace = fileURLToPath(new URL('../lib/cli/millrace.js', import.meta.url))
const application = fileURLToPath(new URL('../test/helpers/application.js', import.meta.url))
// Of a load, before it is looked at.
const settleMs = 4000
// A bystander without the profile.
const calmMs = 4000
// One moment in which the machine did something else is in one of several windows alone.
const windowMs = 4000

/** @typedef {{ after: (end: () => unknown) => void }} Scope */

/** @param {readonly string[]} argv @param {TestServer} server @param {AbortSignal} stop */
const started = (argv, server, stop) =>
  spawn(process.execPath, argv, {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: stop,
    env: {
      ...process.env,
      ...{ REDIS_HOST: server.host, REDIS_PORT: String(server.port), REDIS_PASSWORD: server.password },
      MILLRACE_REPORT: 'false',
    },
  })

/** @param {TestServer} server @param {number} ms @param {() => Promise<unknown>} work @returns {Promise<Pings>} */
const watched = async (server, ms, work) => {
  /** @type {number[]} */
  const latencies = []
  /** @type {number[][]} */
  const windows = []
  const startMs = performance.now()
  const { host, port, password } = server
  const thread = bystanderThread({
    masters: () => [{ host, port }],
    access: /** @type {any} */ ({ username: undefined, password, tls: null }),
    record: (_, us) => {
      latencies.push(us)
      const at = Math.floor((performance.now() - startMs) / windowMs)
      windows[at] ??= []
      windows[at].push(us)
    },
  })
  await thread.start()
  await Promise.all([sleep(ms), work()])
  await thread.stop()
  return pingsOf(latencies, windows)
}

/** @param {TestServer} server @param {string} folder @param {number} seconds @param {AbortSignal} stop @returns {Promise<Side>} */
const profiled = async (server, folder, seconds, stop) => {
  const before = await watched(server, calmMs, async () => {})
  const text = { out: '', error: '' }
  const pings = await watched(server, 0, async () => {
    const child = started(
      [millrace, 'profile', '--duration', `${seconds}s`, '--json', '--out', folder],
      server,
      stop,
    )
    child.stdout.on('data', (data) => {
      text.out += data
    })
    child.stderr.on('data', (data) => {
      text.error += data
    })
    await once(child, 'close')
  })
  if (text.out === '') throw new Error(text.error)
  return { profile: JSON.parse(text.out), pings, before }
}

/** @param {Scope} t @param {string} name @param {string} bin @param {string} rate @param {AbortSignal} stop */
const applicationOn = async (t, name, bin, rate, stop) => {
  const server = await startServer(t, { bin })
  const child = started([application, name, String(server.port), rate], server, stop)
  t.after(() => child.kill('SIGKILL'))
  child.once('error', () => {})
  await once(child.stdout, 'data')
  await sleep(settleMs)
  return { server, end: () => child.kill('SIGKILL') }
}

/** @param {Scope} t @param {string} file @param {string} bin @param {number} leastCalls @param {string} command @param {AbortSignal} stop */
const replayOn = async (t, file, bin, command, leastCalls, stop) => {
  const server = await startServer(t, { bin })
  const folder = mkdtempSync(join(tmpdir(), 'replay-'))
  const argv = [millrace, 'replay', file, '--duration', '10m', '--idle-cost', 'never', '--out', folder]
  const child = started(argv, server, stop)
  let said = ''
  child.stderr.on('data', (data) => {
    said += data
  })
  child.stdout.resume()
  const ended = once(child, 'close').catch(() => {})
  const end = async () => {
    child.kill('SIGINT')
    await ended
  }
  t.after(async () => {
    await end()
    rmSync(folder, { recursive: true, force: true })
  })
  // The load has begun, after the fill.
  while ((await callsOf(server, command)) < leastCalls) {
    if (child.exitCode !== null) throw new Error(said)
    await sleep(100)
  }
  await sleep(settleMs)
  return { server, end }
}

/**
 * @param {string} name of the application
 * @param {{ name: string, file: string }} binary
 * @param {{ kinds: readonly string[], seconds: number, rate: string, keep: string | undefined, stop: AbortSignal }} asked
 */
const measured = async (name, binary, { kinds, seconds, rate, keep, stop }) => {
  const ends = /** @type {(() => unknown)[]} */ ([])
  const t = { after: (/** @type {() => unknown} */ end) => void ends.unshift(end) }
  const folder = keep ? join(keep, `${binary.name}-${name}`) : mkdtempSync(join(tmpdir(), 'profile-'))
  try {
    const of = await applicationOn(t, name, binary.file, rate, stop)
    const original = await profiled(of.server, join(folder, 'original'), seconds, stop)
    of.end()
    /** @param {Line['kind']} kind @param {Side} side @returns {Line} */
    const line = (kind, side) => ({
      ...{ id: `${binary.name}/${name}`, kind, application: name, server: binary.name },
      version: original.profile.server.versions.join(', '),
      started: original.profile.started,
      hardware: hardware(),
      bars: barsOf(original, side),
      cost: costOf(original),
    })
    const lines = /** @type {Line[]} */ ([])
    if (kinds.includes('replay')) {
      const [run] = readdirSync(join(folder, 'original')).sort().reverse()
      const file = join(folder, 'original', run, 'workload.yaml')
      const most = original.profile.commands.find((/** @type {any} */ { is_data }) => is_data).name
      const { server, end } = await replayOn(t, file, binary.file, most, Number(rate), stop)
      lines.push(line('replay', await profiled(server, join(folder, 'replay'), seconds, stop)))
      // A machine that does more beside wakes servers at less cost: a control beside a replay took a quarter less CPU.
      await end()
    }
    if (kinds.includes('control')) {
      const again = await applicationOn(t, name, binary.file, rate, stop)
      lines.push(line('control', await profiled(again.server, join(folder, 'control'), seconds, stop)))
      again.end()
    }
    return lines
  } finally {
    for (const end of ends) await end()
    if (!keep) rmSync(folder, { recursive: true, force: true })
  }
}

await script({
  usage,
  options: {
    file: { type: 'string', default: 'profile.ndjson' },
    minutes: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '20' },
    rate: { type: 'string', default: '2000' },
    only: { type: 'string' },
    kinds: { type: 'string', default: 'replay,control' },
    keep: { type: 'string' },
  },
  work: async ({ file, minutes, seconds, rate, only, kinds, keep }) => {
    refuseNumbers({ minutes, seconds, rate })
    const words = wordsOf(only, [...applications, ...servers], 'application or server is called')
    const chosen = (/** @type {string[]} */ all) => {
      const some = all.filter((name) => words.includes(name))
      return some.length > 0 ? some : all
    }
    const stop = interruptsOfSeries()
    const endMs = performance.now() + Number(minutes) * 60_000
    const known = new Set(linesIn(file).map(({ id, kind }) => `${id} ${kind}`))
    for (const [i, binary] of serversIn(chosen(servers).join(','), process.env).entries())
      for (const name of chosen(applications)) {
        const own = { ...binary, name: chosen(servers)[i] }
        const left = kinds
          .split(',')
          .filter((/** @type {string} */ kind) => !known.has(`${own.name}/${name} ${kind}`))
        if (left.length === 0 || performance.now() > endMs || stop.aborted) continue
        const lines = await measured(name, own, { kinds: left, seconds: Number(seconds), rate, keep, stop })
        for (const line of lines) {
          appendFileSync(file, `${JSON.stringify(line)}\n`)
          for (const text of barLines(line)) screenSay(text)
        }
      }
    process.stdout.write(`${summaryLines(linesIn(file)).join('\n')}\n`)
    return ExitCode.done
  },
})
