// How a run of the producer or the consumer ends: its result judged, stored and shown, its page, and its exit code.
import { ExitCode, errorOf } from '../base/errors.js'
import { ResultsError } from '../result/files.js'
import { addressOf } from '../servers/address.js'

/**
 * @import { Settings } from '../../settings.js'
 * @import { RunDocument } from '../result/document.js'
 * @import { Results } from '../result/files.js'
 * @import { Judged } from '../result/thresholds.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { screenOf } from './screen.js'
 */

/**
 * The page and the charts, after the result is printed: they take 0.3 s, on a slow machine a second. Without them the
 * result is still there, but a disk that refuses them is an error.
 * @param {{ report: boolean }} settings
 * @param {string} folder
 * @param {Pick<ReturnType<typeof screenOf>, 'say' | 'warn'>} screen
 */
const writePage = async ({ report }, folder, { say, warn }) => {
  if (!report) return
  try {
    const { reportRun } = await import('../report/write-report.js')
    await reportRun(folder)
    const { missingFor } = await import('../report/draw.js')
    const missing = missingFor('svg')
    if (missing) say(missing)
  } catch (error) {
    if (error instanceof ResultsError) throw error
    const { message } = errorOf(error)
    warn({ code: 'report', message: `there is no report.html: ${message}`, invalidates: false })
  }
}

/**
 * Which caches CloudWatch is asked about.
 * @param {Pick<Settings, 'awsRegion' | 'replicationGroup' | 'cacheClusters' | 'host' | 'port'>} settings
 */
export const cachesOfTarget = ({ awsRegion, replicationGroup, cacheClusters, host, port = 6379 }) => ({
  wanted: { region: awsRegion, replicationGroup, cacheClusters: cacheClusters?.split(',') },
  hosts: host === undefined ? [] : [addressOf({ host, port })],
})

/**
 * The stored result with what CloudWatch says besides, where that was asked for and could be had.
 * @template {object} Document
 * @param {Pick<Settings, 'cloudwatch' | 'awsRegion' | 'replicationGroup' | 'cacheClusters' | 'host' | 'port'>} settings
 * @param {{ document: Document, folder: string }} result
 * @param {object} told
 * @param {(line: string) => void} told.say
 * @param {(warning: Warning) => void} told.warn
 * @param {AbortSignal} told.signal ends the waiting
 * @returns {Promise<Document>}
 */
const withCloudWatch = async (settings, { document, folder }, { say, warn, signal }) => {
  if (!settings.cloudwatch) return document
  const { attachCloudWatch } = await import('../cloudwatch/attach.js')
  const whole = await attachCloudWatch({
    folder,
    ...cachesOfTarget(settings),
    say,
    warn: (message) => warn({ code: 'cloudwatch', message, invalidates: false }),
    signal,
  })
  return /** @type {Document} */ (whole ?? document)
}

/** What was not measured is neither kept nor broken. @param {readonly Pick<Judged, 'value' | 'passed'>[]} judged */
export const thresholdCode = (judged) => {
  if (judged.some(({ passed, value }) => !passed && value !== null)) return ExitCode.threshold
  return judged.every(({ passed }) => passed) ? ExitCode.done : ExitCode.unclear
}

/** @param {{ valid: boolean, interrupted: boolean, thresholds?: Judged[] }} document */
export const exitCodeOf = ({ valid, interrupted, thresholds = [] }) => {
  if (interrupted) return ExitCode.interrupted
  if (!valid) return ExitCode.invalid
  return thresholdCode(thresholds)
}

/**
 * @param {RunDocument} measured
 * @param {object} run
 * @param {Settings} run.settings
 * @param {Pick<Results, 'folder' | 'finish' | 'fault' | 'redact'>} run.results
 * @param {ReturnType<typeof screenOf>} run.screen
 * @param {AbortSignal} run.stop
 * @param {AbortSignal} run.stopNow
 */
export const concludeRun = async (measured, { settings, results, screen, stop, stopNow }) => {
  const { say, warn } = screen
  const { folder } = results
  const judged = results.redact(measured)
  await results.finish(judged)
  // If the run ended by itself, the first interrupt ends what follows it.
  const signal = stop.aborted ? stopNow : stop
  const document = results.fault()
    ? judged
    : await withCloudWatch(settings, { document: judged, folder }, { say, warn, signal })
  screen.result(document, results)
  const fault = results.fault()
  if (fault) throw fault
  if (!stopNow.aborted) await writePage(settings, folder, screen)
  return exitCodeOf(document)
}
