// How a run of the producer or the consumer ends: its page, and its exit code.
import { ExitCode } from '../errors.js'

/**
 * The page and the charts, after the result is told: they take 0.2 to 0.4 s. Without them the result still stands.
 * @param {{ report: boolean }} settings
 * @param {string} folder
 * @param {(warning: import('../report/verdict.js').Warning) => void} warn
 */
export const writePage = async ({ report }, folder, warn) => {
  if (!report) return
  try {
    const { reportRun } = await import('../report/write-report.js')
    await reportRun(folder)
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    warn({ code: 'report', message: `there is no report.html: ${message}`, invalidates: false })
  }
}

/**
 * @param {{ valid: boolean, thresholds?: import('../report/thresholds.js').Judged[] }} document
 * @param {boolean} interrupted
 */
export const exitCodeOf = ({ valid, thresholds = [] }, interrupted) => {
  if (interrupted) return ExitCode.interrupted
  if (!valid) return ExitCode.invalid
  return thresholds.every(({ passed }) => passed) ? ExitCode.done : ExitCode.threshold
}
