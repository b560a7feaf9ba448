// Fetches the live items the way an application would, and reports how fast, how fresh, and whether right.

import { resultDocument } from '../result/document.js'
import { openResults } from '../result/files.js'
import { claimReaders, readerWords } from '../run/agents.js'
import { findPlan } from '../run/find-plan.js'
import { readRun } from '../run/read-run.js'
import { unlessInterrupted, untilStopped } from '../run/start-up.js'
import { versionsOf } from '../run/versions.js'
import { accessWarnings } from '../target/access.js'
import { openTarget } from '../target/open.js'
import { withUndo } from '../undo.js'
import { commandLineOf } from './again.js'
import { concludeRun } from './ending.js'
import { openMetrics } from './metrics.js'
import { screenOf } from './screen.js'

/** @typedef {import('../../settings.js').ReaderSettings} ReaderSettings */

/**
 * @param {import('../../settings.js').Settings} given
 * @param {import('./program.js').Guidance} guidance
 */
export const consume = (given, { stop, stopNow, redact }) =>
  withUndo(async (undo) => {
    const settings = /** @type {ReaderSettings} */ (given)
    const screen = screenOf(settings)
    const { say, warn, warnings } = screen
    undo(screen.done)
    const results = await openResults({
      ...settings,
      strategy: 'consumer',
      epochMs: Date.now(),
      onWarning: warn,
      redact: redact.data,
    })
    undo(results.discard)
    accessWarnings(settings).forEach(warn)
    const metrics = await openMetrics(settings, { say, warn, redact: redact.text, stop })
    undo(metrics.close)
    const target = await unlessInterrupted(stop, openTarget(settings, { say, mayStart: false }))
    undo(() => untilStopped(stopNow, target.close(), undefined))
    redact.learn(target.access.password)
    const found = await unlessInterrupted(stop, findPlan({ settings, target, say }))
    const readers = await claimReaders({
      settings,
      strategy: found.plan.strategy,
      target,
      run: results.run,
      say,
      onLost: screen.lost,
      signal: stop,
    })
    undo(() => untilStopped(stopNow, readers.release(), undefined))
    const plan = { ...found.plan, agents: readers.agents }
    say(readerWords(plan))

    const parts = await readRun({
      ...found,
      plan,
      target,
      results: metrics.watching(results, { run: results.run, kind: 'consumer', nominalHz: null }),
      stop,
      stopNow,
      say,
      warn,
      ...screen.progress,
    })
    await results.end()
    const { kind, origin } = target
    const measured = resultDocument({
      ...parts,
      run: results.run,
      commandLine: commandLineOf('consumer', process.argv),
      versions: versionsOf(target),
      target: { kind, origin },
      warnings,
    })
    return await concludeRun(measured, { settings, results, screen, stop, stopNow })
  })
