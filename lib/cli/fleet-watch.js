// `millrace fleet watch`: prints the state of a run once a second until it has ended; a control server that does not answer
// is waited for.
import { setTimeout as sleep } from 'node:timers/promises'
import { fleetLine, fleetScreen } from '../report/fleet-live.js'

/** @import { Status } from '../fleet/status.js' */

const everyMs = 1000
// A silence of the control server that is longer than the first is reported; after the second the watch ends.
const lateMs = 2000
const awayLimitMs = 300_000

/** Draws a screen over the previous one, without a blank one in between, which flickers. @param {readonly string[]} lines */
const redrawn = (lines) => `\x1b[H${lines.map((line) => `${line}\x1b[K\n`).join('')}\x1b[J`

/** @param {NodeJS.WriteStream} stdout @returns {(status: Status, silentMs: number) => void} */
const screenOn = (stdout) => {
  let isFirst = true
  return (status, silentMs) => {
    const layout = { columns: stdout.columns ?? 80, rows: stdout.rows ?? 24, color: true, silentMs }
    // What was there before goes to the terminal's history, and the result takes the place of the last screen.
    if (isFirst) stdout.write('\x1b[H\x1b[2J')
    isFirst = false
    stdout.write(redrawn(status.state === 'done' ? [] : fleetScreen(status, layout)))
  }
}

/** A line of JSON for each new status. @param {NodeJS.WriteStream} stdout @returns {(status: Status) => void} */
const dataOn = (stdout) => {
  /** @type {Status | null} */
  let last = null
  return (status) => {
    if (status !== last) stdout.write(`${JSON.stringify(status)}\n`)
    last = status
  }
}

/** @param {NodeJS.WriteStream} stdout @returns {(status: Status, silentMs: number) => void} */
const linesOn = (stdout) => (status, silentMs) => void stdout.write(`${fleetLine(status, silentMs)}\n`)

/**
 * @param {object} needs
 * @param {() => Promise<Status>} needs.readStatus rejects where the control does not answer, or does not know the run
 * @param {boolean} needs.json
 * @param {NodeJS.WriteStream} [needs.stdout]
 * @returns {Promise<Status>} of a run that has ended, or was refused
 */
export const watchFleet = async ({ readStatus, json, stdout = process.stdout }) => {
  const show = json ? dataOn(stdout) : stdout.isTTY ? screenOn(stdout) : linesOn(stdout)
  let status = await readStatus()
  let heardMs = performance.now()
  const silentMs = () => {
    const ms = performance.now() - heardMs
    return ms < lateMs ? 0 : ms
  }
  for (;;) {
    show(status, silentMs())
    if (status.refused || status.state === 'done') return status
    await sleep(everyMs)
    const timer = setInterval(() => show(status, silentMs()), lateMs)
    try {
      status = await readStatus()
      heardMs = performance.now()
    } catch (error) {
      if (silentMs() > awayLimitMs) throw error
    } finally {
      clearInterval(timer)
    }
  }
}
