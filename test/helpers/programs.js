// The programs as a user starts them: their own process, folder of results and runtime folder.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { growingLines } from '../../scripts/faults/lines.js'
import { testEnvironment } from '../../scripts/test.js'
import { atEnd } from './at-end.js'

/** @import { Scope, TestServer } from './servers.js' */
/** @import { ChildProcess } from 'node:child_process' */

const projectFolder = fileURLToPath(new URL('../..', import.meta.url))
const longestRunMs = 240_000
// To watch coverage takes a third of a program's time, and the hundreds that some files start tell nothing new.
const watchedPrograms = 8
let started = 0
const running = /** @type {Set<ChildProcess>} */ (new Set())
// A test file that is stopped leaves none behind: some write until somebody ends them.
for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT']))
  process.once(signal, () => {
    for (const child of running) child.kill('SIGKILL')
    process.kill(process.pid, signal)
  })

/**
 * @typedef {ReturnType<typeof startProgram>} Program
 * @typedef {Awaited<Program['ended']>} Ended document: run.json of the folder, undefined without one; folder: of the run, or ''
 */

/** @param {Scope} t @param {string} name */
export function ownFolder(t, name) {
  const folder = mkdtempSync(join(tmpdir(), `millrace-${name}-`))
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }))
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

/** The processes that one has started, with their command lines. @param {number} [pid] */
export const childrenOf = (pid = process.pid) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter(Boolean)
    .map((child) => {
      try {
        return { pid: Number(child), line: readFileSync(`/proc/${child}/cmdline`, 'latin1') }
      } catch {
        return { pid: Number(child), line: '' } // it has ended
      }
    })

/** The environment that points a program at a server. @param {Place} server */
export const at = ({ host, port, password }) => ({
  REDIS_HOST: host,
  REDIS_PORT: String(port),
  REDIS_PASSWORD: password,
  // Half of a short run would be that of the idle servers.
  MILLRACE_IDLE_COST: 'never',
})

/** @typedef {Pick<TestServer, 'host' | 'port' | 'password'>} Place */

/** An address stands for the options that point a program there. @template {{ env?: NodeJS.ProcessEnv }} T @param {Place | T} where */
export const placed = (where) => /** @type {T} */ ('port' in where ? { env: at(where) } : where)

/** @param {string} out a folder, or what is none */
export const folderIn = (out) => {
  try {
    const [name] = readdirSync(out)
    return name === undefined ? '' : join(out, name)
  } catch {
    return ''
  }
}

/** @param {string} path */
export const documentIn = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined)

/**
 * @typedef {{ env?: NodeJS.ProcessEnv, cwd?: string, runtimeDir?: string, out?: string | false, pages?: boolean }} ProgramOptions without
 * runtimeDir it sees no other program's servers; out: false for a program that has no results; pages: draws charts and
 * a page too, which takes half as long as the run
 */

/**
 * Starts a program; it is killed at the latest when the test ends, and with it its embedded servers.
 * @param {Scope} t
 * @param {string} program producer.js, or the path of one in another folder
 * @param {string | readonly string[]} line its options, or a line of them that is split at blanks
 * @param {Place | ProgramOptions} [options]
 */
export function startProgram(t, program, line, options = {}) {
  const { env = {}, cwd, runtimeDir, pages = false, ...where } = placed(options)
  const own = ownFolder(t, 'program')
  const out = where.out || join(own, 'out')
  const words = typeof line === 'string' ? line.split(' ').filter(Boolean) : line
  const args = [resolve(projectFolder, program), ...words, ...(where.out === false ? [] : ['--out', out])]
  const surroundings = {
    ...testEnvironment(process.env),
    ...(++started > watchedPrograms && { NODE_V8_COVERAGE: undefined }),
    ...{ XDG_RUNTIME_DIR: runtimeDir ?? own, MILLRACE_REPORT: String(pages), ...env },
  }
  const child = spawn(process.execPath, args, { cwd, env: surroundings, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  atEnd(t, () => child.kill('SIGKILL'))
  const limit = setTimeout(() => child.kill('SIGKILL'), longestRunMs)
  const texts = { stdout: '', stderr: '' }
  for (const name of /** @type {const} */ (['stdout', 'stderr']))
    child[name].setEncoding('utf8').on('data', (text) => (texts[name] += text))
  const ended = once(child, 'close').then(([exit, killedBy]) => {
    clearTimeout(limit)
    running.delete(child)
    const [code, signal] = /** @type {[number | null, NodeJS.Signals | null]} */ ([exit, killedBy])
    const folder = folderIn(out)
    return { code, signal, ...texts, document: documentIn(join(folder, 'run.json')), folder }
  })
  /** Throws with its log where it has ended. */
  const assertRuns = () => {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${texts.stderr}`)
  }
  return {
    pid: Number(child.pid),
    ...atWork(out, texts, assertRuns),
    ended,
    kill: (/** @type {NodeJS.Signals} */ signal) => child.kill(signal),
    /** Nobody reads its log any more. */
    closeLog: () => child.stderr.destroy(),
  }
}

/**
 * A program that is none of ours.
 * @param {Scope} t
 * @param {string} program
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptionsWithoutStdio & { input?: string }} [options] input: all of it
 */
export const startOther = (t, program, args, { input, ...options } = {}) => {
  const child = spawn(program, args, options)
  atEnd(t, () => child.kill('SIGKILL'))
  const texts = { stdout: '', stderr: '' }
  for (const name of /** @type {const} */ (['stdout', 'stderr']))
    child[name].setEncoding('utf8').on('data', (text) => {
      texts[name] += text
    })
  child.stdin.on('error', () => {})
  if (input !== undefined) child.stdin.end(input)
  const ended = new Promise(
    (
      /** @type {(end: { code: number | string | null, stdout: string, stderr: string }) => void} */ resolve,
    ) => {
      child.once('error', (/** @type {NodeJS.ErrnoException} */ { code = '' }) => resolve({ code, ...texts }))
      child.once('close', (code) => resolve({ code, ...texts }))
    },
  )
  return { child, texts, ended }
}

/** What is seen of a program or a command at work. @param {string} out @param {{ stdout: string, stderr: string }} texts @param {() => void} assertRuns throws where it has ended */
export const atWork = (out, texts, assertRuns) => {
  const secondsIn = growingLines()
  return {
    out,
    assertRuns,
    stderr: () => texts.stderr,
    stdout: () => texts.stdout,
    /** Lines of intervals.ndjson so far. */
    intervals: () => {
      assertRuns()
      return secondsIn(join(folderIn(out), 'intervals.ndjson'))
    },
    /** The log has a line like this. @param {RegExp} pattern */
    says: (pattern) =>
      until(`${pattern} in the log`, () => {
        if (!pattern.test(texts.stderr)) assertRuns()
        return pattern.exec(texts.stderr)
      }),
  }
}

/** @param {Scope} t @param {string | readonly string[]} line @param {Parameters<typeof startProgram>[3]} [options] */
export const startProducer = (t, line, options) => startProgram(t, 'producer.js', line, options)
/** @param {Scope} t @param {string | readonly string[]} line @param {Parameters<typeof startProgram>[3]} [options] */
export const runProducer = (t, line, options) => startProducer(t, line, options).ended
/** The whole lines of an ndjson file; none when it is not there. @param {string} path */
export const linesOf = (path) => growingLines()(path)

/** The sum of a number over seconds. @param {readonly any[]} seconds @param {string} path items.acked */
export const sumOf = (seconds, path) =>
  seconds.reduce((sum, second) => sum + (path.split('.').reduce((at, name) => at?.[name], second) ?? 0), 0)

/** The first warning of a code. @param {any} document @param {string} code */
export const warningIn = ({ warnings }, code) =>
  warnings.find((/** @type {{ code: string }} */ one) => one.code === code)

/** A second of a run that began after now is like this. @param {{ intervals: () => any[] }} run @param {(second: any) => boolean} holds */
export const laterSecond = (run, holds) => {
  const seen = run.intervals().length
  return until('a later second', () =>
    run
      .intervals()
      .slice(seen + 1)
      .some(holds),
  )
}

/** The codes of its warnings. @param {any} document @returns {string[]} */
export const codesIn = ({ warnings }) => warnings.map((/** @type {any} */ { code }) => code)

/** What the accounting must always give. @param {any} items */
export const outcomesOf = ({ acked, failed, uncertain, dropped, unsettled }) =>
  acked + failed + uncertain + dropped + unsettled

/** Nothing that was sent has failed; a machine that is too busy may have dropped some, or not settled in time. @param {any} items */
export const assertNoneLost = (items) => {
  const { failed, uncertain } = items
  assert.deepEqual([failed, uncertain, outcomesOf(items)], [0, 0, items.offered], JSON.stringify(items))
}

const ofTheMachine = 'rate update-rate client-saturated client-contended client-stopped overrun'.split(' ')

/** Why a run is not valid, but for a machine that is too busy. @param {any} document */
export const faultsIn = ({ warnings }) =>
  warnings.filter((/** @type {any} */ { invalidates, code }) => invalidates && !ofTheMachine.includes(code))

/** The same without items that were dropped, which such a machine cannot hold the rate for. @param {any} document */
export const oddIn = (document) =>
  faultsIn(document).filter((/** @type {any} */ { code }) => code !== 'dropped')

/** Done and valid; or else nothing is wrong but that this machine was too busy to hold the rate. @param {Pick<Ended, 'code' | 'document' | 'stderr'>} ended */
export const assertDone = ({ code, document, stderr }) => {
  if (code === 0) return
  assert.equal(code, 4, stderr)
  assert.deepEqual(oddIn(document), [])
}

/** Every INFO of these seconds was answered in time: the commands of the servers are of all of them. @param {any[]} seconds */
export const areSampled = (seconds) =>
  seconds.every(({ nodes }) => nodes.every((/** @type {any} */ row) => row.over_ms !== undefined))
