// The real programs as child processes, each with a folder of its own.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startChild } from '../base/child.js'
import { ExitCode } from '../base/errors.js'

/**
 * @import { ReadRun, WorkRun, WriteRun } from '../result/document.js'
 * @import { Line } from '../measures/fold.js'
 */

/** @template D @typedef {{ document: D, lines: Line[], folder: string }} Finished */
/**
 * @typedef {{ producer: WriteRun, consumer: ReadRun | WorkRun }} Documents of the programs
 * @typedef {ReturnType<typeof startProgram>} Program
 */

const root = fileURLToPath(new URL('../../', import.meta.url))
/** @type {ReadonlySet<number>} */
const withResult = new Set([ExitCode.done, ExitCode.invalid, ExitCode.interrupted])
// A program settles within 10 s, even if a server has stopped answering.
const overtimeMs = 60_000
const killAfterMs = 20_000
const shownWords = 300

/** A program did not come to a result. */
export class NoResult extends Error {}

/**
 * The lines of an ndjson file, without an incomplete last one.
 * @template [Row=Line]
 * @param {string} path
 * @returns {Promise<Row[]>}
 */
export const linesOf = async (path) => {
  const text = await readFile(path, 'utf8').catch(() => '')
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  return whole
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

/**
 * @template {keyof Documents} P
 * @param {P} program
 * @param {object} run
 * @param {readonly string[]} run.args
 * @param {string} run.outDir
 * @param {string} run.name of its folder in there
 * @param {NodeJS.ProcessEnv} run.env
 * @param {NodeJS.ProcessEnv} run.secrets variables that no process list may show
 * @param {string | null} [run.home] folder of another version of Millrace; null: this one
 * @param {number | null} run.limitMs it is ended after this time; null: the caller ends it
 */
export const startProgram = (program, { args, outDir, name, env, secrets, home = null, limitMs }) => {
  const folder = join(outDir, name)
  const own = ['--out', outDir, '--run', name, '--json', '--quiet', '--no-report', '--log', 'warn']
  const child = startChild(join(home ?? root, `${program}.js`), [...args, ...own], {
    env,
    secrets,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C is for the runner, which ends its programs in order.
    detached: true,
  })
  let text = ''
  let words = ''
  child.stdout.setEncoding('utf8').on('data', (part) => {
    text += part
  })
  child.stderr.setEncoding('utf8').on('data', (part) => {
    words = (words + part).slice(-4000)
  })
  /** @type {NodeJS.Timeout | undefined} */
  let killer
  const interrupt = (afterMs = killAfterMs) => {
    child.kill('SIGINT')
    killer ??= setTimeout(() => child.kill('SIGKILL'), afterMs)
  }
  const limit = limitMs === null ? undefined : setTimeout(interrupt, limitMs + overtimeMs)

  /** @type {Promise<Finished<Documents[P]>>} */
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', async (code, signal) => {
      clearTimeout(limit)
      clearTimeout(killer)
      try {
        if (code === null || !withResult.has(code) || text === '')
          throw new NoResult(lastWords(words) || `${program}.js ended by ${signal ?? `exit code ${code}`}`)
        const document = JSON.parse(text)
        resolve({ document, lines: await linesOf(join(folder, 'intervals.ndjson')), folder })
      } catch (error) {
        reject(error)
      }
    })
  })
  ended.catch(() => {}) // reported to the caller that waits for it
  return { folder, ended, interrupt, isOver: () => child.exitCode !== null || child.signalCode !== null }
}

/** The last line that it printed, but none of a stack. @param {string} words */
const lastWords = (words) =>
  words
    .trim()
    .split('\n')
    .findLast((line) => !/^\s+at /.test(line))
    ?.slice(0, shownWords) ?? ''
