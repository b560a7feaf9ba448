// The programs as a user starts them: their own process, folder of results and runtime folder.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { testEnvironment } from '../../scripts/test.js'

/** @import { Scope, TestServer } from './servers.js' */

const projectFolder = fileURLToPath(new URL('../..', import.meta.url))
const longestRunMs = 240_000
// To watch coverage takes a third of a program's time, and the hundreds that some files start tell nothing new.
const watchedPrograms = 8
let started = 0

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
// A test file that is stopped leaves none behind: some write until somebody ends them.
for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT']))
  process.once(signal, () => {
    for (const child of running) child.kill('SIGKILL')
    process.kill(process.pid, signal)
  })

/**
 * @typedef {object} Ended
 * @property {number | null} code
 * @property {NodeJS.Signals | null} signal
 * @property {string} stdout
 * @property {string} stderr
 * @property {any} document run.json of the folder, undefined without one
 * @property {string} folder of the run; '' when there is none
 *
 * @typedef {ReturnType<typeof startProgram>} Program
 */

/** @param {Scope} t @param {string} name */
export function ownFolder(t, name) {
  const folder = mkdtempSync(join(tmpdir(), `millrace-${name}-`))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * Waits until something holds, and says what did not.
 * @template T
 * @param {string} what
 * @param {() => T | Promise<T>} holds
 * @returns {Promise<NonNullable<T>>}
 */
export async function until(what, holds) {
  for (const limit = performance.now() + 120_000; performance.now() < limit; await sleep(20)) {
    const found = await holds()
    if (found) return found
  }
  throw new Error(`waited in vain: ${what}`)
}

/** The environment that points a program at a server. @param {Pick<TestServer, 'host' | 'port' | 'password'>} server */
export const at = ({ host, port, password }) => ({
  REDIS_HOST: host,
  REDIS_PORT: String(port),
  REDIS_PASSWORD: password,
})

/** @param {string} out a folder, or what is none */
const folderIn = (out) => {
  try {
    const [name] = readdirSync(out)
    return name === undefined ? '' : join(out, name)
  } catch {
    return ''
  }
}

/** @param {string} path */
const documentIn = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined)

/**
 * Starts a program; it is killed at the latest when the test ends, and with it its embedded servers.
 * @param {Scope} t
 * @param {string} program producer.js
 * @param {string | readonly string[]} line its options, or a line of them that is split at blanks
 * @param {{ env?: NodeJS.ProcessEnv, cwd?: string, runtimeDir?: string, out?: string | false, pages?: boolean }} [options] without
 * runtimeDir it sees no other program's servers; out: false for a program that has no results; pages: draws charts and
 * a page too, which takes half as long as the run
 */
export function startProgram(t, program, line, { env = {}, cwd, runtimeDir, pages = false, ...where } = {}) {
  const own = ownFolder(t, 'program')
  const out = where.out || join(own, 'out')
  const args = [
    join(projectFolder, program),
    ...(typeof line === 'string' ? line.split(' ').filter(Boolean) : line),
    ...(where.out === false ? [] : ['--out', out]),
  ]
  const child = spawn(process.execPath, args, {
    cwd,
    env: {
      ...testEnvironment(process.env),
      ...(++started > watchedPrograms && { NODE_V8_COVERAGE: undefined }),
      XDG_RUNTIME_DIR: runtimeDir ?? own,
      MILLRACE_REPORT: String(pages),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  t.after(() => child.kill('SIGKILL'))
  const limit = setTimeout(() => child.kill('SIGKILL'), longestRunMs)
  const texts = { stdout: '', stderr: '' }
  for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
    child[name].setEncoding('utf8').on('data', (text) => {
      texts[name] += text
    })
  }
  const ended = new Promise((/** @type {(ended: Ended) => void} */ resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(limit)
      running.delete(child)
      const folder = folderIn(out)
      resolve({ code, signal, ...texts, document: documentIn(join(folder, 'run.json')), folder })
    })
  })
  /** Throws with its log where it has ended. */
  const assertRuns = () => {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${texts.stderr}`)
  }
  return {
    pid: Number(child.pid),
    out,
    assertRuns,
    ended,
    kill: (/** @type {NodeJS.Signals} */ signal) => child.kill(signal),
    stderr: () => texts.stderr,
    stdout: () => texts.stdout,
    /** Nobody reads its log any more. */
    closeLog: () => child.stderr.destroy(),
    /** Lines of intervals.ndjson so far, of a program that still runs. */
    intervals: () => {
      assertRuns()
      return linesOf(join(folderIn(out), 'intervals.ndjson'))
    },
    /** The log has a line like this. @param {RegExp} pattern */
    says: (pattern) =>
      until(`${pattern} in the log`, () => {
        if (child.exitCode !== null && !pattern.test(texts.stderr))
          throw new Error(`ended without ${pattern}: ${texts.stderr}`)
        return pattern.exec(texts.stderr)
      }),
  }
}

/** @param {Scope} t @param {string | readonly string[]} line @param {Parameters<typeof startProgram>[3]} [options] */
export const startProducer = (t, line, options) => startProgram(t, 'producer.js', line, options)

/** @param {Scope} t @param {string | readonly string[]} line @param {Parameters<typeof startProgram>[3]} [options] */
export const runProducer = (t, line, options) => startProducer(t, line, options).ended

/** The whole lines of an ndjson file, which may be growing; none when it is not there. @param {string} path @returns {any[]} */
export const linesOf = (path) =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line))
    : []

/** What the accounting must always give. @param {any} items */
export const outcomesOf = ({ acked, failed, uncertain, dropped, unsettled }) =>
  acked + failed + uncertain + dropped + unsettled

const ofTheMachine = [
  'rate',
  'update-rate',
  'client-saturated',
  'client-contended',
  'client-stopped',
  'overrun',
]

/** Why a run is not valid, but for a machine that is too busy. @param {any} document */
export const faultsIn = ({ warnings }) =>
  warnings.filter((/** @type {any} */ { invalidates, code }) => invalidates && !ofTheMachine.includes(code))

/**
 * Done and valid; or else nothing is wrong but that this machine was too busy to hold the rate.
 * @param {Pick<Ended, 'code' | 'document' | 'stderr'>} ended
 */
export const assertDone = ({ code, document, stderr }) => {
  if (code === 0) return
  assert.equal(code, 4, stderr)
  assert.deepEqual(faultsIn(document), [])
}
