// How a run of the producer or the consumer ends: its page, and its exit code.
import { ExitCode } from '../errors.js'
import { addressOf } from '../target/address.js'

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
 * The stored result with what CloudWatch says besides, where that was asked for and could be had.
 * @template {object} Document
 * @param {Pick<import('../../settings.js').Settings, 'cloudwatch' | 'awsRegion' | 'replicationGroup' | 'cacheClusters' | 'host' | 'port'>} settings
 * @param {{ document: Document, folder: string }} result
 * @param {object} told
 * @param {(line: string) => void} told.say
 * @param {(warning: import('../report/verdict.js').Warning) => void} told.warn
 * @param {AbortSignal} told.stopNow
 * @returns {Promise<Document>}
 */
export const withCloudWatch = async (settings, { document, folder }, { say, warn, stopNow }) => {
  if (!settings.cloudwatch) return document
  const { attachCloudWatch } = await import('../cloudwatch/attach.js')
  const whole = await attachCloudWatch({
    folder,
    wanted: {
      region: settings.awsRegion,
      replicationGroup: settings.replicationGroup,
      cacheClusters: settings.cacheClusters?.split(','),
    },
    hosts:
      settings.host === undefined ? [] : [addressOf({ host: settings.host, port: settings.port ?? 6379 })],
    say,
    warn: (message) => warn({ code: 'cloudwatch', message, invalidates: false }),
    signal: stopNow,
  })
  return /** @type {Document} */ (whole ?? document)
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
