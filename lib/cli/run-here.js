// A run in this process, and servers to run it on: what lib/index.js gives to programs, and what calibrations are made of. It
// prints nothing, never exits, and reads neither the environment nor .env.

import { openedUnless } from '../base/interrupts.js'
import { redactor } from '../base/redact.js'
import { withUndo } from '../base/undo.js'
import { runName } from '../result/files.js'
import { runOn } from '../run/run.js'
import { accessWarnings } from '../servers/access.js'
import { startEmbedded } from '../servers/embedded.js'
import { openTarget } from '../servers/open.js'
import { asTargetError } from '../servers/reason.js'
import { strategyNamed } from '../workloads/index.js'
import { settingsOfRun } from './run-options.js'

/**
 * @import { RunOptions } from '../index.js'
 * @import { Redactor } from '../base/redact.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { ConfigLine } from '../servers/embedded-servers.js'
 */

/** What happens in a run as events. @param {(event: any) => void} report @param {Redactor} redact */
const observerOf = (report, redact) => {
  /** @type {Warning[]} */
  const warnings = []
  const tell = (/** @type {object} */ event) => report(redact.data(event))
  const warn = (/** @type {Warning} */ warning) => {
    warnings.push(warning)
    tell({ type: 'warning', ...warning })
  }
  const nothing = () => {}
  return {
    warnings,
    warn,
    tell,
    say: (/** @type {string} */ text) => tell({ type: 'message', text }),
    mayStop: async () => {},
    progress: { show: nothing, onEncoding: nothing, onReady: nothing, onEvent: nothing },
  }
}

/**
 * @param {RunOptions} options
 * @param {{ signal?: AbortSignal, onProgress?: (event: any) => void }} [hooks]
 * @returns {Promise<any>}
 */
export const run = async (options, hooks = {}) => runOf(settingsOfRun(options), hooks)

/**
 * @param {ReturnType<typeof settingsOfRun>} asked
 * @param {{ signal?: AbortSignal, onProgress?: (event: any) => void }} hooks
 * @returns {Promise<any>}
 */
export const runOf = async ({ program, settings }, { signal, onProgress = () => {} }) => {
  const redact = redactor()
  redact.learn(settings.password, settings.sentinelPassword)
  const observer = observerOf(onProgress, redact)
  const stop = signal ?? new AbortController().signal
  const name = settings.run ?? runName(Date.now(), program === 'consumer' ? 'consumer' : settings.strategy)
  const lines = {
    interval: (/** @type {object} */ line) => observer.tell({ type: 'second', run: name, ...line }),
    event: (/** @type {object} */ line) => observer.tell({ type: 'event', run: name, ...line }),
  }
  try {
    return await withUndo(async (undo) => {
      accessWarnings(settings).forEach(observer.warn)
      const opening = openTarget(settings, {
        say: observer.say,
        mayStart: program === 'producer',
        anyServer: strategyNamed(settings.strategy).play.anyServer,
      })
      const target = await openedUnless(stop, opening, ({ close }) => close())
      undo(target.close)
      redact.learn(target.access.password)
      const result = await runOn(settings, {
        program,
        target,
        run: name,
        observer,
        linesOf: () => lines,
        untilStored: async () => {},
        stop,
        stopNow: new AbortController().signal,
      })
      return redact.data(result)
    })
  } catch (error) {
    throw asTargetError(error)
  }
}

/** @param {{ cluster?: boolean, shards?: number, replicas?: number, serverBin?: string, config?: readonly ConfigLine[] }} [wanted] */
export const startLocalServers = async ({ cluster = false, shards = 3, replicas, ...more } = {}) => {
  const started = await startEmbedded({
    cluster,
    shards,
    replicas: replicas ?? (cluster ? 1 : 0),
    ...more,
    log: () => {},
  })
  const { address, access, nodes } = started
  return {
    options: { url: `redis://:${access.password}@${address}`, cluster },
    nodes: nodes.map(({ host, port, role, shard }) => ({ address: `${host}:${port}`, role, shard })),
    close: () => started.close(),
  }
}
