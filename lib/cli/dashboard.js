// --dashboard: the live page of a run. Nothing of it is loaded without its option.
import { hostname } from 'node:os'
import { Worker } from 'node:worker_threads'
import { OptionError, TargetError } from '../base/errors.js'
import { atMost } from '../base/timers.js'
import { plainData } from '../base/units.js'
import { listenReasons } from '../servers/reason.js'

/**
 * @import { Settings } from '../../settings.js'
 * @import { Limits, Listener } from '../dashboard/service.js'
 * @import { About, RunState } from '../dashboard/state.js'
 * @import { Order } from '../dashboard/worker.js'
 * @import { Place } from '../fleet/control.js'
 * @import { RunDocument } from '../result/document.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Line } from '../measures/fold.js'
 *
 * @typedef {{ interval: (line: Line) => void, event: (line: object) => void }} Lines
 *
 * @typedef {object} Needs
 * @property {(line: string) => void} say
 * @property {<T>(data: T) => T} redact
 * @property {readonly Warning[]} warnings all so far
 */

/** The host for a browser; a machine that listens on all addresses is shown by its name. @param {string} host */
const shownHost = (host) => {
  if (host === '0.0.0.0' || host === '::') return hostname()
  return host.includes(':') ? `[${host}]` : host
}

const isLoopback = (/** @type {string} */ host) => /^(127\.|::1$|localhost$)/.test(host)

const nothing = {
  /** @template {Lines} R @param {R} lines @returns {R} */
  watching: (lines) => lines,
  ended: () => {},
  close: async () => {},
}

const program = new URL('../dashboard/worker.js', import.meta.url)
const closeLimitMs = 2000

/**
 * The live page as its run sees it: a thread that gets each event.
 * @param {object} needs
 * @param {Listener} needs.listener
 * @param {Partial<Limits>} [needs.limits]
 * @param {{ limit?: number, recent?: number }} [needs.size] of the history
 * @param {{ place: Place, run: string }} [needs.fleet] what the page shows is asked of a control
 * @returns {Promise<{ failed: string, message?: string } | Dashboard>} failed: the code of the system
 *
 * @typedef {object} Dashboard
 * @property {number} port
 * @property {string} token
 * @property {(order: Order) => void} tell
 * @property {() => Promise<void>} close
 */
const dashboardThread = async (needs) => {
  const worker = new Worker(program, {
    workerData: needs,
    env: {},
    argv: [],
    execArgv: [],
    name: 'dashboard',
  })
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  // A page that fails does not end the run.
  worker.on('error', () => {})
  const begun = await Promise.race([
    new Promise((/** @type {(given: any) => void} */ resolve) => worker.once('message', resolve)),
    ended.then(() => ({ failed: 'the thread of the page ended' })),
  ])
  if ('failed' in begun) return begun
  worker.unref()
  const access = needs.fleet?.place.access
  access?.renewed?.((password) => worker.postMessage({ password }))
  return {
    port: begun.port,
    token: begun.token,
    tell: (order) => worker.postMessage(order),
    async close() {
      worker.postMessage('close')
      worker.ref()
      await atMost(closeLimitMs, ended)
      access?.endRenewing?.()
      await worker.terminate()
    },
  }
}

/** A page and its address. @param {Listener} listener @param {{ place: Place, run: string }} [fleet] */
export const openPage = async (listener, fleet) => {
  const page = await dashboardThread({ listener, fleet })
  if ('failed' in page) {
    const why = listenReasons[page.failed]
    if (!why && fleet) throw new TargetError(page.message ?? page.failed)
    throw new OptionError(`--dashboard ${shownHost(listener.host)}:${listener.port}: ${why ?? page.failed}`)
  }
  return { ...page, address: `http://${shownHost(listener.host)}:${page.port}/${page.token}/` }
}

/**
 * @param {Pick<Settings, 'dashboard' | 'control' | 'run' | 'awsRegion' | 'caFile' | 'certFile' | 'keyFile' | 'tlsInsecure'>} settings
 * @param {Needs} needs
 */
export const openDashboard = async (settings, { say, redact, warnings }) => {
  const { dashboard: listener, control, run } = settings
  if (!listener) return nothing
  // A box of a fleet shows all of it.
  const fleet = control && {
    place: await (await import('../run/fleet.js')).controlPlace(control, settings, say),
    run: String(run),
  }
  const page = await openPage(listener, fleet)
  say(
    `live page: ${page.address}${isLoopback(listener.host) ? '' : ' (plain HTTP: the way there is not encrypted)'}`,
  )
  let warned = 0
  let hasEnded = false
  const tellWarnings = () => {
    for (const { message } of warnings.slice(warned)) page.tell({ warning: redact(message) })
    warned = warnings.length
  }
  const end = (/** @type {RunState} */ verdict) => {
    if (hasEnded) return
    hasEnded = true
    // A page takes nothing after the end.
    tellWarnings()
    page.tell({ end: redact(verdict) })
  }
  return {
    /**
     * The results, with every line on the page as well.
     * @template {Lines} R
     * @param {R} lines
     * @param {About} about
     * @returns {R}
     */
    watching(lines, about) {
      if (fleet) return lines
      page.tell({ about: redact(plainData(about)) })
      return {
        ...lines,
        interval(line) {
          lines.interval(line)
          tellWarnings()
          page.tell({ second: redact(plainData(line)) })
        },
        event(line) {
          lines.event(line)
          page.tell({ event: redact(plainData(line)) })
        },
      }
    },
    /** @param {RunDocument} document */
    async ended(document) {
      if (fleet) return
      const { endOf } = await import('../dashboard/ending.js')
      end(endOf(document))
    },
    async close() {
      end({ good: false, word: 'Ended', sentence: 'the run ended without a result; its log says why' })
      await page.close()
    },
  }
}
