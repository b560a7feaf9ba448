// Commands of `millrace` in the process of the test, with the form of programs.js: for tests that are about what a command does,
// prints and stores. A program of its own costs half a second of CPU, and is for tests of its process: killed, stopped, its memory.
import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { ExitCode, MillraceError } from '../../lib/base/errors.js'
import { redactor } from '../../lib/base/redact.js'
import { plainText } from '../../lib/base/units.js'
import { commandIn } from '../../lib/cli/commands.js'
import { secretsIn, worked } from '../../lib/cli/start.js'
import { asTargetError } from '../../lib/servers/reason.js'
import { testEnvironment } from '../../scripts/test.js'
import { atEnd } from './at-end.js'
import { atWork, documentIn, folderIn, ownFolder, placed } from './programs.js'

/**
 * @import { Place } from './programs.js'
 * @import { Scope } from './servers.js'
 * @import { Surroundings } from '../../lib/cli/start.js'
 */
/** @typedef {(argv: string[], surroundings: Surroundings) => Promise<number>} Work */
/** @typedef {{ write: (name: 'stdout' | 'stderr', text: string) => void, interrupts: (() => void)[] }} Surface what a command has of a process */

// Their local servers are found by no other test file.
const runtimeDir = mkdtempSync(join(tmpdir(), 'millrace-here-'))
process.env.XDG_RUNTIME_DIR = runtimeDir
after(() => rmSync(runtimeDir, { recursive: true, force: true }))

const commandNow = /** @type {AsyncLocalStorage<Surface>} */ (new AsyncLocalStorage())

for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
  const stream = process[name]
  const write = stream.write.bind(stream)
  stream.write = (/** @type {any} */ chunk, /** @type {any[]} */ ...more) => {
    const command = commandNow.getStore()
    if (!command) return write(chunk, .../** @type {[]} */ (more))
    command.write(name, String(chunk))
    return true
  }
}
const on = process.on.bind(process)
process.on = (/** @type {any} */ event, /** @type {any} */ listener) => {
  const command = commandNow.getStore()
  if (!command || !/^SIG(INT|TERM|HUP)$/.test(event)) return on(event, listener)
  if (event === 'SIGINT') command.interrupts.push(listener)
  return process
}

/** Commands of this process find no local servers of other programs until the test ends. @param {Scope} t */
export const ownRuntime = (t) => {
  const earlier = process.env.XDG_RUNTIME_DIR
  process.env.XDG_RUNTIME_DIR = ownFolder(t, 'runtime')
  atEnd(t, () => {
    if (earlier === undefined) delete process.env.XDG_RUNTIME_DIR
    else process.env.XDG_RUNTIME_DIR = earlier
  })
  return process.env.XDG_RUNTIME_DIR
}

const endedBy = (/** @type {unknown} */ thrown) => {
  const error = asTargetError(thrown)
  if (error instanceof MillraceError) return { code: error.exitCode, line: plainText(error.message) }
  const { stack } = /** @type {Error} */ (error)
  return { code: ExitCode.fault, line: `internal error of Millrace, please report it: ${stack}` }
}

/**
 * Starts a command; it is interrupted at the latest when the test ends.
 * @param {Scope} t
 * @param {string | readonly string[]} line `write -q 100`: its name and options, or a line of them that is split at blanks
 * @param {Place | { env?: NodeJS.ProcessEnv, out?: string | false, pages?: boolean, work?: Work }} [options] as those of
 * startProgram(); work: instead of that of the command
 */
export const startCommand = (t, line, options = {}) => {
  const { env = {}, out: where, pages = false, work } = placed(options)
  const out = where || join(ownFolder(t, 'command'), 'out')
  const { name, argv: words } = commandIn(typeof line === 'string' ? line.split(' ').filter(Boolean) : line)
  const argv = [...words, ...(where === false ? [] : ['--out', out])]
  const surroundings = {
    env: { ...testEnvironment(process.env), MILLRACE_REPORT: String(pages), ...env },
    redact: redactor(),
  }
  const { redact } = surroundings
  redact.learn(...secretsIn(argv, surroundings.env))
  const texts = { stdout: '', stderr: '' }
  let code = /** @type {number | null} */ (null)
  const command = /** @type {Surface} */ ({
    write(name, text) {
      texts[name] += redact.text(text)
    },
    interrupts: [],
  })
  const result = async () => {
    try {
      code = await (work ? work(argv, surroundings) : worked(name, { argv }, surroundings))
    } catch (thrown) {
      const ended = endedBy(thrown)
      command.write('stderr', `${ended.line}\n`)
      code = ended.code
    }
    const folder = folderIn(out)
    return { code, ...texts, document: documentIn(join(folder, 'run.json')), folder }
  }
  const ended = commandNow.run(command, result)
  const assertRuns = () => {
    if (code !== null) throw new Error(`ended with ${code}: ${texts.stderr}`)
  }
  const kill = (/** @type {'SIGINT'} */ _) => {
    for (const interrupt of command.interrupts) commandNow.run(command, interrupt)
  }
  atEnd(t, () => {
    kill('SIGINT')
    kill('SIGINT')
    return ended
  })
  return { ...atWork(out, texts, assertRuns), ended, kill }
}

/** @param {Scope} t @param {string | readonly string[]} line @param {Parameters<typeof startCommand>[2]} [options] */
export const runCommand = (t, line, options) => startCommand(t, line, options).ended
