// Runs in the process of the test, by run() of lib/index.js: for tests that are about what a run does and measures. A program of
// its own takes a second to start, and is for tests of signals, files, the screen, exit codes of commands and servers it starts.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MillraceError } from '../../lib/base/errors.js'
import { redactor } from '../../lib/base/redact.js'
import { exitCodeOf } from '../../lib/cli/ending.js'
import { settingsOfRun } from '../../lib/cli/run-options.js'
import { worked } from '../../lib/cli/start.js'
import { run, startLocalServers } from '../../lib/index.js'
import { refuseWords, typedLine } from '../../lib/options/command-line.js'
import { runText } from '../../lib/report/text.js'
import { testEnvironment } from '../../scripts/test.js'
import { optionsOf } from '../../settings.js'
import { atEnd } from './at-end.js'
import { ownFolder, placed as placedAt, until } from './programs.js'

/** @import { Place } from './programs.js' */
/** @import { Scope } from './servers.js' */
/** @typedef {ReturnType<typeof startHere>} Run */
/** @typedef {Place | { env?: NodeJS.ProcessEnv }} Where */

const programs = { write: /** @type {const} */ ('producer'), read: /** @type {const} */ ('consumer') }

/** run() takes commands of a model from a file. @param {Scope} t @param {string[]} write */
const modelFile = (t, write) => {
  const file = join(ownFolder(t, 'model'), 'own.yaml')
  writeFileSync(file, JSON.stringify({ write }))
  return file
}

/** warm-up as warmUp @param {string} name */
const camelCase = (name) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase())

/**
 * The options of run() that a command line and variables stand for.
 * @param {Scope} t
 * @param {'write' | 'read'} command
 * @param {string | readonly string[]} line
 * @param {Record<string, string | undefined>} env
 */
const optionsIn = (t, command, line, env) => {
  const rows = optionsOf(programs[command])
  const typed = typedLine(typeof line === 'string' ? line.split(' ').filter(Boolean) : line, rows)
  refuseWords(typed)
  const valueIn = (/** @type {(typeof rows)[number]} */ { name, type, env: variable }) => {
    const text = typed.options.get(name) ?? (env[String(variable)] || undefined)
    return text !== undefined && type === 'flag' ? text === 'true' : text
  }
  const { command: commands, ...given } = Object.fromEntries(
    rows.map((row) => [camelCase(row.name), valueIn(row)]).filter(([, value]) => value !== undefined),
  )
  const own = command === 'write' ? { idleCost: 'never' } : {}
  return { command, ...own, ...given, ...(commands && { model: modelFile(t, commands.split('\n')) }) }
}

/** @param {any} options @returns {Promise<{ options: object, close: () => Promise<void> }>} servers of its own where none is named */
const placed = async (options) => {
  if (options.host || options.url || options.command === 'read') return { options, close: async () => {} }
  const { cluster, shards, replicas, serverBin, ...others } = options
  // What is refused needs no server.
  settingsOfRun({ ...others, ...(cluster && { cluster }), host: '127.0.0.1' })
  const counts = { shards: shards && Number(shards), replicas: replicas && Number(replicas) }
  const servers = await startLocalServers({ cluster, serverBin, ...counts })
  return { options: { ...others, ...servers.options }, close: servers.close }
}

/**
 * Starts a run; it is aborted at the latest when the test ends. The answer has the form of a program's: see programs.js.
 * @param {Scope} t
 * @param {'write' | 'read'} command
 * @param {string | readonly string[]} line of its options
 * @param {Where} [where] the address of a server; none: servers of its own
 */
export const startHere = (t, command, line, where = {}) => {
  const { env = {} } = placedAt(where)
  const seconds = /** @type {any[]} */ ([])
  const texts = { stderr: '', refusal: '' }
  const stopping = new AbortController()
  let hasEnded = false
  const onProgress = (/** @type {any} */ { type, run: _, ...event }) => {
    if (type === 'second') seconds.push(event)
    else texts.stderr += `${JSON.stringify({ msg: event.text ?? event.message })}\n`
  }
  const result = async () => {
    try {
      const { options, close } = await placed(optionsIn(t, command, line, env))
      const document = await run(options, { signal: stopping.signal, onProgress }).finally(close)
      const stored = JSON.parse(JSON.stringify(document))
      return { code: exitCodeOf(stored), stdout: runText(stored, { columns: 120 }), document: stored }
    } catch (error) {
      const { exitCode, message } = /** @type {import('../../lib/index.js').MillraceError} */ (error)
      if (exitCode === undefined) throw error
      texts.refusal = message
      texts.stderr += `${message}\n`
      return { code: exitCode, stdout: '', document: undefined }
    } finally {
      hasEnded = true
    }
  }
  const ended = result().then((parts) => ({
    .../** @type {{ code: number, stdout: string, document: any }} */ (parts),
    ...texts,
    seconds,
  }))
  atEnd(t, () => {
    stopping.abort()
    return ended.catch(() => {})
  })
  const assertRuns = () => {
    if (hasEnded) throw new Error(`has ended: ${texts.stderr}`)
  }
  return {
    ended,
    assertRuns,
    /** As the first Ctrl-C. */
    kill: (/** @type {'SIGINT'} */ _) => stopping.abort(),
    stderr: () => texts.stderr,
    /** Its seconds so far. */
    intervals: () => {
      assertRuns()
      return seconds
    },
    /** It has reported something like this. @param {RegExp} pattern */
    says: (pattern) =>
      until(`${pattern} of a run`, () => {
        if (!pattern.test(texts.stderr)) assertRuns()
        return pattern.exec(texts.stderr)
      }),
  }
}

/** @param {Scope} t @param {string | readonly string[]} line @param {Where} [where] */
export const writeHere = (t, line, where) => startHere(t, 'write', line, where).ended
/** @param {Scope} t @param {string | readonly string[]} line @param {Where} [where] */
export const readHere = (t, line, where) => startHere(t, 'read', line, where).ended

/** What `millrace` refuses, as the program ends with it. @param {string} line command and options @param {NodeJS.ProcessEnv} [env] */
export const refusedHere = async (line, env = {}) => {
  const [name, ...argv] = line.split(' ')
  const surroundings = { env: { ...testEnvironment(process.env), ...env }, redact: redactor() }
  try {
    return { code: await worked(name, { argv }, surroundings), stderr: '' }
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error
    return { code: error.exitCode, stderr: `${error.message}\n` }
  }
}
