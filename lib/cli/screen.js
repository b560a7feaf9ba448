// The screen of a run: the log and the live line on stderr, the result on stdout.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bytes, period } from '../base/units.js'
import { liveView } from '../report/live.js'
import { runText, summaryOf } from '../report/text.js'
import { hasColor, isLive, logLine, logTo } from './log.js'

/**
 * @import { Settings } from '../../settings.js'
 * @import { Snapshot } from '../probes/seconds.js'
 * @import { RunDocument } from '../result/document.js'
 * @import { Results } from '../result/files.js'
 * @import { Warning } from '../measures/warnings.js'
 */

// Encoding that takes longer than this is shown while it runs.
const patienceMs = 1000
// Time for the user to notice a command that was probably not intended.
const stopMs = 5000

/** Why there is no run.json, and how to have one; undefined: there is. @param {Error | null} fault @param {string} folder */
const notStoredWords = (fault, folder) =>
  fault
    ? `${fault.message}${existsSync(join(folder, 'facts.json')) ? `; when there is room, 'millrace report ${folder}' makes run.json of what was stored` : ''}`
    : undefined

/**
 * @param {Pick<Settings, 'logLevel' | 'quiet' | 'json'> & Partial<Pick<Settings, 'log' | 'verbose' | 'report'>> & { isRun?: boolean }} settings
 * @param {{ stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream }} [streams]
 * @param {NodeJS.ProcessEnv} [env]
 */
export const screenOf = (
  { logLevel, log: form, quiet, json, verbose, report = true, isRun = true },
  { stdout, stderr } = process,
  env = process.env,
) => {
  const isTTY = isLive(stderr, env)
  const color = hasColor(stderr, env)
  /** @type {ReturnType<typeof liveView> | null} */
  let view = null
  const log = logTo({
    level: quiet && form !== 'json' && logLevel === 'info' ? 'warn' : logLevel,
    log: form,
    color,
    // A log line is printed above the live line.
    stream: {
      write(text) {
        if (view) view.above(() => stderr.write(text))
        else stderr.write(text)
      },
    },
  })
  view =
    quiet || !isRun
      ? null
      : liveView({
          stream: stderr,
          log: (fields, line) => (form === 'json' ? log.info(fields, 'running') : log.info(line)),
          isTTY,
          color,
        })
  /** @type {Warning[]} */
  const warnings = []
  /** Messages that were printed above the result already. @type {Set<string>} */
  const printed = new Set()
  const isText = !json
  const shown = (/** @type {string} */ text) => logLine(stderr, text)
  const warn = (/** @type {Warning} */ warning) => {
    warnings.push(warning)
    printed.add(warning.message)
    log.warn({ code: warning.code }, shown(warning.message))
  }
  let shownMs = 0

  return {
    warnings,
    warn,
    /** Found at the end of a run: the result reports it. @param {Warning} warning */
    remark: (warning) => (isText ? void warnings.push(warning) : warn(warning)),
    say: (/** @type {string} */ line) => log.info(shown(line)),
    /** Without a terminal the user cannot stop it. */
    mayStop: async () => {
      if (!isTTY || quiet) return
      log.info(`begins in ${period(stopMs)}; Ctrl-C ends it`)
      await sleep(stopMs)
    },
    progress: {
      show: (/** @type {Snapshot} */ snapshot) => view?.update(snapshot),
      onEncoding: (/** @type {number} */ share) => {
        shownMs ||= performance.now()
        if (performance.now() - shownMs < patienceMs || share === 1) return
        shownMs = performance.now()
        log.info(`preparing the commands: ${Math.round(share * 100)} %`)
      },
      onReady: (/** @type {{ encodeMs: number, encodedBytes: number }} */ { encodeMs, encodedBytes }) => {
        if (encodedBytes === 0) return
        const level = encodeMs > patienceMs ? 'info' : 'debug'
        log[level](`${bytes(encodedBytes)} of commands prepared in ${period(encodeMs)}`)
      },
      onEvent: (/** @type {string} */ kind, /** @type {string} */ text) => log.warn({ kind }, shown(text)),
    },
    /** @param {RunDocument} document @param {Pick<Results, 'folder' | 'fault'>} results */
    result(document, { folder, fault }) {
      view?.done()
      view = null
      if (json) stdout.write(`${JSON.stringify({ summary: summaryOf(document), ...document }, null, 2)}\n`)
      else {
        const stored = fault() ? undefined : join(folder, report ? 'report.html' : 'run.json')
        const layout = {
          columns: stdout.columns,
          color: hasColor(stdout, env),
          verbose,
          report: stored,
          notStored: notStoredWords(fault(), folder),
        }
        // A live line has gone over the log; lines of a file stay.
        const all = /** @type {(Warning & { invalidates: boolean })[]} */ (document.warnings)
        const left = isTTY
          ? all
          : all.filter(({ invalidates, message }) => invalidates || !printed.has(message))
        stdout.write(runText({ ...document, warnings: left }, layout))
      }
      if (!fault() && json) log.info(`results in ${folder}`)
    },
    done: () => {
      view?.done()
      view = null
    },
  }
}
