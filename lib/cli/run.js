// A run as a program: its folder, its screen, its servers and its exit code around the run itself.
import { beginningWords, readingWords } from '../plan/rhythm.js'
import { openResults } from '../result/files.js'
import { runOn } from '../run/run.js'
import { unlessInterrupted, untilStopped } from '../run/start-up.js'
import { accessWarnings } from '../target/access.js'
import { openTarget } from '../target/open.js'
import { withUndo } from '../undo.js'
import { strategyNamed } from '../workloads/index.js'
import { commandLineOf } from './again.js'
import { concludeRun } from './ending.js'
import { openMetrics } from './metrics.js'
import { screenOf } from './screen.js'

/**
 * @param {'producer' | 'consumer'} program
 * @param {import('../../settings.js').Settings} settings
 * @param {import('./signals.js').Guidance & { as: string }} guidance as: what the user typed to start it
 */
export const runProgram = (program, settings, { stop, stopNow, redact, as }) =>
  withUndo(async (undo) => {
    const screen = screenOf(settings)
    const { warn } = screen
    undo(screen.done)
    const isReader = program === 'consumer'
    /** @type {string | null} the first line, unless nothing comes of the run */
    let beginning = isReader ? readingWords(/** @type {any} */ (settings)) : beginningWords(settings)
    const begin = () => {
      if (beginning !== null) screen.say(beginning)
      beginning = null
    }
    const say = (/** @type {string} */ line) => {
      begin()
      screen.say(line)
    }
    const results = await openResults({
      ...settings,
      ...(isReader && { strategy: 'consumer' }),
      epochMs: Date.now(),
      onWarning: warn,
      redact: redact.data,
    })
    undo(results.discard)
    accessWarnings(settings).forEach(warn)
    const metrics = await openMetrics(settings, { say, warn, redact: redact.text, stop })
    undo(metrics.close)
    const target = await unlessInterrupted(
      stop,
      openTarget(settings, {
        say,
        mayStart: !isReader,
        anyServer: strategyNamed(settings.strategy).anyServer,
      }),
    )
    undo(() => untilStopped(stopNow, target.close(), undefined))
    begin()
    redact.learn(target.access.password)
    const measured = await runOn(settings, {
      program,
      target,
      run: results.run,
      commandLine: commandLineOf(as, process.argv),
      observer: screen,
      linesOf: (nominalHz) => metrics.watching(results, { run: results.run, kind: program, nominalHz }),
      settled: results.end,
      stop,
      stopNow,
    })
    return await concludeRun(measured, { settings, results, screen, stop, stopNow })
  })
