// A run as a program: its folder, its screen, its servers and its exit code around the run itself.
import { openResults } from '../result/files.js'
import { runOn } from '../run/run.js'
import { unlessInterrupted, untilStopped } from '../run/start-up.js'
import { accessWarnings } from '../target/access.js'
import { openTarget } from '../target/open.js'
import { withUndo } from '../undo.js'
import { commandLineOf } from './again.js'
import { concludeRun } from './ending.js'
import { openMetrics } from './metrics.js'
import { screenOf } from './screen.js'

/**
 * @param {'producer' | 'consumer'} program
 * @param {import('../../settings.js').Settings} settings
 * @param {import('./signals.js').Guidance} guidance
 */
export const runProgram = (program, settings, { stop, stopNow, redact }) =>
  withUndo(async (undo) => {
    const screen = screenOf(settings)
    const { say, warn } = screen
    undo(screen.done)
    const isReader = program === 'consumer'
    if (isReader && settings.durationMs === undefined && settings.intervals === undefined)
      say('reads until Ctrl-C: --duration 60 ends it after a minute')
    const results = await openResults({
      ...settings,
      ...(isReader && { strategy: 'consumer' }),
      epochMs: Date.now(),
      onWarning: warn,
      redact: redact.data,
    })
    undo(results.discard)
    accessWarnings(settings).forEach(warn)
    const { metrics: listener, metricsLingerMs: lingerMs } = settings
    const metrics = await openMetrics(listener, { say, redact: redact.text, stop, lingerMs })
    undo(metrics.close)
    const target = await unlessInterrupted(stop, openTarget(settings, { say, mayStart: !isReader }))
    undo(() => untilStopped(stopNow, target.close(), undefined))
    redact.learn(target.access.password)
    const measured = await runOn(settings, {
      program,
      target,
      run: results.run,
      commandLine: commandLineOf(program, process.argv),
      observer: screen,
      linesOf: (nominalHz) => metrics.watching(results, { run: results.run, kind: program, nominalHz }),
      settled: results.end,
      stop,
      stopNow,
    })
    return await concludeRun(measured, { settings, results, screen, stop, stopNow })
  })
