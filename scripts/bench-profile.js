#!/usr/bin/env node
// Five applications on three servers. Each is profiled, replayed and profiled again on one server, one after the other, and so is
// the replay. Then application and replay take turns on one server, while its CPU or a bystander is measured: what is later on
// a machine is cheaper or dearer, and the mean of the turns before and after has as much of that. The control is the
// application beside itself, in the same turns.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ExitCode, OptionError } from '../lib/base/errors.js'
import { serversIn } from '../lib/cli/choose-options.js'
import { screenSay } from '../lib/cli/say.js'
import { repositoryScript } from '../lib/cli/script.js'
import { interruptsOfSeries } from '../lib/cli/signals.js'
import { hardware } from '../lib/experiments/summary.js'
import { bystanderProbe } from '../lib/probes/bystander.js'
import { monotonicMs } from '../lib/probes/monotonic.js'
import { dial } from '../lib/servers/dial.js'
import { callsOf, startServer } from '../test/helpers/servers.js'
import { linesIn, refuseNumbers, wordsOf } from './bench/arguments.js'
import { barLines, barsOf, costOf, pingsOf, summaryLines, turnBars } from './bench/profile-bars.js'

/** @import { Line, Turn } from './bench/profile-bars.js' */
/** @import { TestServer } from '../test/helpers/servers.js' */

const applications = ['session-store', 'cart', 'leaderboard', 'queue', 'page-cache']
const servers = ['installed', 'redis-8.2', 'valkey-9.1']
const parts = /** @type {const} */ (['profiles', 'cpu', 'bystander'])

const usage = `Usage: npm run bench:profile -- [options]

  --file PATH     results, a line each; those that are in it are not measured again (profile.ndjson)
  --profiles DIR  the profiles and their workload files (profile/bench)
  --parts WORDS   profiles; cpu; bystander, for a machine that has nothing else to do (all)
  --minutes N     begin nothing further after so many minutes
  --seconds N     that a profile takes (12)
  --turn N        seconds of a turn (6)
  --rate N        requests a second of an application (2000)
  --only WORDS    applications and servers: ${applications.join(',')},${servers.join(',')}
  --record        make docs/data/profile.json of all results in the file
  -h, --help      this text`

const millrace = fileURLToPath(new URL('../lib/cli/millrace.js', import.meta.url))
const dataFile = fileURLToPath(new URL('../docs/data/profile.json', import.meta.url))
const application = fileURLToPath(new URL('../test/helpers/application.js', import.meta.url))
// Of a load, before it is looked at.
const settleMs = { profiles: 4000, cpu: 1500, bystander: 1500 }
const turns = 5
// A p99 of 50 a second for some seconds is of the two or three slowest: it was up to 463 % beside itself.
const pingEveryMs = 2
const windowMs = 1000

/** @param {readonly string[]} argv @param {TestServer} server @param {AbortSignal} stop */
const started = (argv, server, stop) => {
  const child = spawn(process.execPath, argv, {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: stop,
    env: {
      ...process.env,
      ...{ REDIS_HOST: server.host, REDIS_PORT: String(server.port), REDIS_PASSWORD: server.password },
      MILLRACE_REPORT: 'false',
    },
  })
  const said = { out: '', error: '' }
  child.stdout.on('data', (data) => {
    said.out += data
  })
  child.stderr.on('data', (data) => {
    said.error += data
  })
  const ended = once(child, 'close').catch(() => {})
  return { child, said, ended }
}

/** @param {TestServer} server @param {string} folder @param {number} seconds @param {AbortSignal} stop */
const profiled = async (server, folder, seconds, stop) => {
  const argv = [millrace, 'profile', '--duration', `${seconds}s`, '--json', '--out', folder]
  const { said, ended } = started(argv, server, stop)
  await ended
  if (said.out === '') throw new Error(said.error)
  return JSON.parse(said.out)
}

/** @typedef {{ end: () => Promise<void> }} Load */
/** @typedef {{ name: string, rate: string, stop: AbortSignal }} Needs */

/** @param {TestServer} server @param {Needs} needs @returns {Promise<Load>} */
const applied = async (server, { name, rate, stop }) => {
  const { child, ended } = started([application, name, String(server.port), rate], server, stop)
  await Promise.race([once(child.stdout, 'data'), ended])
  return {
    end: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** @param {TestServer} server @param {Needs & { file: string, command: string }} needs the command that it sends most @returns {Promise<Load>} */
const replayed = async (server, { file, command, rate, stop }) => {
  const folder = mkdtempSync(join(tmpdir(), 'replay-'))
  const argv = [millrace, 'replay', file, '--duration', '10m', '--idle-cost', 'never', '--out', folder]
  const { child, said, ended } = started(argv, server, stop)
  // The load has begun, after the fill.
  while ((await callsOf(server, command)) < Number(rate) / 4) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(said.error)
    await sleep(50)
  }
  return {
    end: async () => {
      child.kill('SIGINT')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Removes the data and the counters of the load before. @param {TestServer} server */
const emptied = async ({ redis }) => {
  await redis.flushall()
  await redis.config('RESETSTAT')
}

/** @param {TestServer} server @param {() => Promise<Load>} begin @param {number} settle @param {() => Promise<T>} measure @template T */
const during = async (server, begin, settle, measure) => {
  await emptied(server)
  const load = await begin()
  try {
    await sleep(settle)
    return await measure()
  } finally {
    await load.end()
  }
}

/** Seconds of CPU of a server's process. @param {TestServer} server */
const cpuSeconds = async ({ redis }) => {
  const text = await redis.info('cpu')
  const of = (/** @type {string} */ name) => Number(new RegExp(`used_cpu_${name}:([\\d.]+)`).exec(text)?.[1])
  return of('user') + of('sys')
}

/** @type {Record<'cpu' | 'bystander', (server: TestServer, ms: number) => Promise<Turn>>} */
const measurements = {
  cpu: async (server, ms) => {
    const [fromS, fromMs] = [await cpuSeconds(server), monotonicMs()]
    await sleep(ms)
    return { cpu_pct: ((await cpuSeconds(server)) - fromS) / ((monotonicMs() - fromMs) / 1e5) }
  },
  bystander: async ({ host, port, password }, ms) => {
    /** @type {number[][]} */
    const windows = []
    const startMs = monotonicMs()
    const probe = bystanderProbe({
      ...{ masters: () => [{ host, port }], dial, clock: monotonicMs, everyMs: pingEveryMs },
      access: /** @type {any} */ ({ username: undefined, password, tls: null }),
      record: (_, us) => {
        const at = Math.floor((monotonicMs() - startMs) / windowMs)
        windows[at] ??= []
        windows[at].push(us)
      },
    })
    probe.start()
    await sleep(ms)
    probe.stop()
    return pingsOf(windows.flat(), windows)
  },
}

/** The latest profile in a folder, with its workload file. @param {string} folder */
const profileIn = (folder) => {
  const runs = readdirSync(folder).sort()
  const [profile, file] = ['profile.json', 'workload.yaml'].map((name) =>
    join(folder, runs[runs.length - 1], name),
  )
  return { profile: JSON.parse(readFileSync(profile, 'utf8')), file }
}

/**
 * @param {Line['part']} part
 * @param {string} name of the application
 * @param {{ name: string, file: string }} binary
 * @param {{ seconds: number, turn: number, rate: string, profiles: string, stop: AbortSignal }} asked
 */
const measured = async (part, name, binary, { seconds, turn, rate, profiles, stop }) => {
  const ends = /** @type {(() => unknown)[]} */ ([])
  const folder = join(profiles, `${binary.name}-${name}`)
  const original = join(folder, 'original')
  try {
    const server = await startServer({ after: (end) => void ends.unshift(end) }, { bin: binary.file })
    const needs = { name, rate, stop }
    const begun = () => applied(server, needs)
    const replayBegun = () => {
      const { profile, file } = profileIn(original)
      const command = profile.commands.find((/** @type {any} */ { is_data }) => is_data).name
      return replayed(server, { ...needs, file, command })
    }
    /** @param {any} profile @returns {Pick<Line, 'id' | 'part' | 'application' | 'server' | 'version' | 'started' | 'hardware'>} */
    const about = (profile) => ({
      ...{ id: `${binary.name}/${name}`, part, application: name, server: binary.name },
      version: profile.server.versions.join(', '),
      started: new Date().toISOString(),
      hardware: hardware(),
    })
    const profileOf = (/** @type {() => Promise<Load>} */ begin, /** @type {string} */ to) =>
      during(server, begin, settleMs.profiles, () => profiled(server, to, seconds, stop))
    if (part === 'profiles') {
      const first = await profileOf(begun, original)
      const replay = await profileOf(replayBegun, join(folder, 'replay'))
      const again = await profileOf(begun, join(folder, 'control'))
      return /** @type {Line[]} */ ([
        { ...about(first), kind: 'replay', bars: barsOf(first, replay), cost: costOf(first) },
        { ...about(first), kind: 'control', bars: barsOf(first, again), cost: costOf(again) },
      ])
    }
    if (!existsSync(original)) await profileOf(begun, original)
    const of = /** @type {Turn[]} */ ([])
    for (let i = 0; i < turns; i++)
      of.push(
        await during(server, i % 2 === 0 ? begun : replayBegun, settleMs[part], () =>
          measurements[part](server, turn * 1000),
        ),
      )
    const { profile } = profileIn(original)
    const { replay, control } = turnBars(of, profile.workload.expected.cpu_pct)
    return /** @type {Line[]} */ ([
      { ...about(profile), kind: 'replay', bars: replay, turns: of },
      { ...about(profile), kind: 'control', bars: control },
    ])
  } finally {
    for (const end of ends) await end()
  }
}

await repositoryScript({
  usage,
  options: {
    file: { type: 'string', default: 'profile.ndjson' },
    profiles: { type: 'string', default: 'profile/bench' },
    parts: { type: 'string', default: parts.join(',') },
    minutes: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '12' },
    turn: { type: 'string', default: '6' },
    rate: { type: 'string', default: '2000' },
    only: { type: 'string' },
    record: { type: 'boolean', default: false },
  },
  work: async ({ file, profiles, parts: asked, minutes, seconds, turn, rate, only, record }) => {
    refuseNumbers({ minutes, seconds, turn, rate })
    const words = wordsOf(only, [...applications, ...servers], 'application or server is called')
    const odd = asked.split(',').find((/** @type {any} */ word) => !parts.includes(word))
    if (odd !== undefined) throw new OptionError(`--parts: must be of ${parts.join(', ')}, not '${odd}'`)
    const chosen = (/** @type {string[]} */ all) => {
      const some = all.filter((name) => words.includes(name))
      return some.length > 0 ? some : all
    }
    const stop = interruptsOfSeries()
    const endMs = performance.now() + Number(minutes) * 60_000
    const known = new Set(linesIn(file).map(({ id, part }) => `${id} ${part}`))
    for (const part of parts.filter((one) => asked.split(',').includes(one)))
      for (const [i, binary] of serversIn(chosen(servers).join(','), process.env).entries())
        for (const name of chosen(applications)) {
          const own = { ...binary, name: chosen(servers)[i] }
          if (known.has(`${own.name}/${name} ${part}`) || performance.now() > endMs || stop.aborted) continue
          const how = { seconds: Number(seconds), turn: Number(turn), rate, profiles, stop }
          for (const line of await measured(part, name, own, how)) {
            appendFileSync(file, `${JSON.stringify(line)}\n`)
            for (const text of barLines(line)) screenSay(text)
          }
        }
    if (record) {
      const rounded = (/** @type {unknown} */ _, /** @type {unknown} */ value) =>
        typeof value === 'number' ? Number(value.toPrecision(5)) : value
      writeFileSync(
        dataFile,
        `[\n  ${linesIn(file)
          .map((line) => JSON.stringify(line, rounded))
          .join(',\n  ')}\n]\n`,
      )
    }
    process.stdout.write(`${summaryLines(linesIn(file)).join('\n')}\n`)
    return ExitCode.done
  },
})
