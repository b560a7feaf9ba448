// A run as a program: its folder, its screen, its servers and its exit code around the run itself.

import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { OptionError } from '../base/errors.js'
import { unlessInterrupted, untilStopped } from '../base/interrupts.js'
import { needPackagesOf } from '../base/optional-packages.js'
import { withUndo } from '../base/undo.js'
import { aboutOf } from '../dashboard/about.js'
import { joinedSeconds } from '../fleet/interval.js'
import { storeIn } from '../fleet/interval-store.js'
import { workersHaveLeft } from '../loads/jobs/producer.js'
import { beginningWords, readingWords } from '../loads/rhythm.js'
import { openResults } from '../result/files.js'
import { runOn } from '../run/run.js'
import { accessWarnings } from '../servers/access.js'
import { openTarget } from '../servers/open.js'
import { listenReasons } from '../servers/reason.js'
import { strategyNamed } from '../workloads/index.js'
import { commandLineOf } from './again.js'
import { openDashboard } from './dashboard.js'
import { concludeRun } from './ending.js'
import { screenOf } from './screen.js'

/**
 * @import { Settings } from '../../settings.js'
 * @import { Guidance } from './signals.js'
 * @import { Line as OfFleet } from '../fleet/interval.js'
 * @import { Line } from '../measures/fold.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Results } from '../result/files.js'
 * @import { Merged } from '../run/run.js'
 */

// The folders of a box: one for its own part, and the run's own for the result of all, which boxes of one machine share.

/** spring-test.host-b-4711 @param {{ run?: string, outDir: string }} settings */
export const ownFolder = ({ run, outDir }) => {
  if (existsSync(join(outDir, String(run), 'run.json')))
    throw new OptionError(`--run ${run}: results of that name exist in ${outDir}`)
  const box = `${hostname()
    .replaceAll(/[^\w-]/g, '-')
    .slice(0, 30)}-${process.pid}`
  return { run: `${String(run).slice(0, 60)}.${box}` }
}

/**
 * Writes the seconds of all into the run's folder; of the boxes that share it, one does.
 * @param {{ run?: string, outDir: string, strategy: string }} settings
 * @param {object} needs
 * @param {Merged} needs.all
 * @param {<T>(data: T) => T} needs.redact
 * @param {(warning: Warning) => void} needs.warn
 * @returns {Promise<Results | null>} null: another process has written them
 */
export const mergedResults = async ({ run, outDir, strategy }, { all, redact, warn }) => {
  const folder = join(outDir, String(run))
  const merged = await openResults({
    outDir,
    run,
    strategy,
    epochMs: Date.now(),
    onWarning: warn,
    redact,
  }).catch((error) => {
    if (!(error instanceof OptionError) || !existsSync(folder)) throw error
    return null
  })
  if (!merged) return null
  // What came later of a second is in a line behind it, which may be on another page.
  /** @type {(OfFleet & { boxes: number })[]} */
  const lines = []
  for await (const page of all.seconds()) lines.push(...page)
  merged.facts(all.facts)
  for (const line of joinedSeconds(lines)) merged.interval(line)
  for (const event of all.document.events) merged.event(event)
  return merged
}

// --metrics: the live metrics, for Prometheus to ask for. Nothing of them is loaded without the option.

const lastAnswerMs = 500

/**
 * @typedef {{ host: string, port: number }} Listener
 * @typedef {{ interval: (line: Line) => void }} Lines
 */

/** @param {Listener} listener */
const shownAddress = ({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`

/**
 * Listens, or says why it cannot.
 * @param {Listener} listener
 * @param {() => Promise<{ type: string, text: string }>} figures
 */
const listening = async (listener, figures) => {
  const server = createServer(async ({ method, url }, response) => {
    const [asked] = (url ?? '/').split('?', 1)
    if (asked !== '/metrics' || (method !== 'GET' && method !== 'HEAD')) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('the figures are at /metrics\n')
      return
    }
    const { type, text } = await figures()
    response.writeHead(200, { 'content-type': type }).end(method === 'HEAD' ? undefined : text)
  })
  await new Promise((resolve, reject) => {
    server.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      const why = listenReasons[error.code ?? ''] ?? error.code
      reject(new OptionError(`--metrics ${shownAddress(listener)}: ${why}`, { cause: error }))
    })
    server.listen({ ...listener, exclusive: true }, () => resolve(undefined))
  })
  return server
}

/**
 * @typedef {ReturnType<typeof import('../report/metrics.js').metricsOf>} Metrics
 * @typedef {Parameters<typeof import('../report/metrics.js').metricsOf>[0]} About
 */

/**
 * Prometheus asks for the metrics, where there is a listener.
 * @param {Listener | undefined} listener
 * @param {{ say: (line: string) => void, redact: (text: string) => string }} needs
 */
const openMetrics = async (listener, { say, redact }) => {
  if (listener === undefined)
    return {
      /** @template {Lines} R @param {R} results @returns {R} */ watching: (results) => results,
      close: async () => {},
    }
  const { metricsOf } = await import('../report/metrics.js')
  /** @type {Metrics | null} */
  let metrics = null
  const server = await listening(listener, async () => ({
    type: metrics?.registry.contentType ?? 'text/plain',
    text: redact((await metrics?.registry.metrics()) ?? ''),
  }))
  say(`metrics on http://${shownAddress(listener)}/metrics`)
  return {
    /**
     * The results, with every line in the metrics as well.
     * @template {Lines} R
     * @param {R} results
     * @param {About} about
     * @returns {R}
     */
    watching(results, about) {
      const own = metricsOf(about)
      metrics = own
      return {
        ...results,
        interval: (line) => {
          results.interval(line)
          own.take(line)
        },
      }
    },
    /** An answer under way is not cut off. @returns {Promise<void>} */
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve(undefined))
        server.closeIdleConnections()
        setTimeout(() => server.closeAllConnections(), lastAnswerMs).unref()
      }),
  }
}

const stoppingWords =
  'stopping: what is under way is finished and the result written; Ctrl-C again ends at once'

/**
 * @param {'producer' | 'consumer'} program
 * @param {Settings} settings
 * @param {Guidance & { as: string }} guidance as: what the user typed to start it
 */
export const runProgram = (program, settings, { stop, stopNow, redact, as }) =>
  withUndo(async (undo) => {
    const screen = screenOf(settings)
    const { warn } = screen
    undo(screen.done)
    const isReader = program === 'consumer'
    /** @type {string | null} in front of the first line of the log: a refusal before that is one line */
    let beginning = isReader ? readingWords(/** @type {any} */ (settings)) : beginningWords(settings)
    const say = (/** @type {string} */ line) => {
      if (beginning !== null) screen.say(beginning)
      beginning = null
      screen.say(line)
    }
    if (settings.cloudwatch) needPackagesOf('--cloudwatch')
    const own = settings.control ? ownFolder(settings) : {}
    const results = await openResults({
      ...settings,
      ...own,
      ...(isReader && { strategy: 'consumer' }),
      epochMs: Date.now(),
      onWarning: warn,
      redact: redact.data,
    })
    undo(results.discard)
    accessWarnings(settings).forEach(warn)
    const metrics = await openMetrics(settings.metrics, { say, redact: redact.text })
    undo(metrics.close)
    const page = await openDashboard(settings, { say, redact: redact.data, warnings: screen.warnings })
    undo(page.close)
    const target = await unlessInterrupted(
      stop,
      openTarget(settings, {
        say,
        mayStart: !isReader,
        anyServer: strategyNamed(settings.strategy).play.anyServer,
      }),
    )
    undo(() => untilStopped(stopNow, target.close(), undefined))
    redact.learn(target.access.password)
    const store = settings.control ? await storeIn(results.folder) : undefined
    undo(() => store?.close())
    /** @type {typeof results} */
    let concluded = results
    let isShared = false
    const measured = await runOn(settings, {
      program,
      target,
      run: String(settings.control ? settings.run : results.run),
      store,
      onMerged: async (document, all) => {
        if (!all) return
        await results.finish(results.redact(document))
        const merged = await mergedResults(settings, { all, redact: results.redact, warn })
        if (merged) undo(merged.discard)
        const folder = join(settings.outDir, String(settings.run))
        concluded = merged ?? { ...results, folder, finish: async () => {} }
        isShared = merged === null
      },
      commandLine: commandLineOf(as, process.argv, Boolean(settings.control)),
      observer: { ...screen, say },
      linesOf: (plan) => {
        // It begins: what is under way has a result.
        stop.addEventListener('abort', () => screen.say(stoppingWords), { once: true })
        const about = aboutOf(program, results.run, plan, settings.thresholds)
        return page.watching(metrics.watching(results, about), about)
      },
      onFacts: results.facts,
      untilStored: results.end,
      stop,
      stopNow,
    })
    await page.ended(measured)
    const code = await concludeRun(measured, {
      settings: isShared ? { ...settings, report: false } : settings,
      results: concluded,
      screen,
      stop,
      stopNow,
    })
    if (target.origin === 'embedded' && strategyNamed(settings.strategy).queue)
      await workersHaveLeft(target, /** @type {any} */ (measured.plan), { say, stop })
    return code
  })
