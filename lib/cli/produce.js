// Writes items the way an application would, and reports what that cost.

import { period } from '../base/units.js'
import { planOf } from '../plan/plan.js'
import { cardOf } from '../plan/plan-card.js'
import { resultDocument } from '../result/document.js'
import { openResults } from '../result/files.js'
import { agentWords, claimAgents } from '../run/agents.js'
import { clockOf } from '../run/clock.js'
import { factsOf } from '../run/facts.js'
import { guardOf } from '../run/guard.js'
import { placementWarnings, sharedKeysOf } from '../run/placement.js'
import { lengthMs } from '../run/second.js'
import { unlessInterrupted, untilStopped } from '../run/start-up.js'
import { millraceVersion, versionsOf } from '../run/versions.js'
import { writeRun } from '../run/write-run.js'
import { accessWarnings } from '../target/access.js'
import { openTarget } from '../target/open.js'
import { preflight } from '../target/preflight.js'
import { withUndo } from '../undo.js'
import { commandLineOf } from './again.js'
import { concludeRun } from './ending.js'
import { openMetrics } from './metrics.js'
import { screenOf } from './screen.js'

/**
 * @param {import('../../settings.js').Settings} settings
 * @param {import('./program.js').Guidance} guidance
 */
export const produce = (settings, { stop, stopNow, redact }) =>
  withUndo(async (undo) => {
    const screen = screenOf(settings)
    const { say, warn, warnings } = screen
    undo(screen.done)
    const results = await openResults({
      ...settings,
      epochMs: Date.now(),
      onWarning: warn,
      redact: redact.data,
    })
    undo(results.discard)
    accessWarnings(settings).forEach(warn)
    const metrics = await openMetrics(settings, { say, warn, redact: redact.text, stop })
    undo(metrics.close)
    const target = await unlessInterrupted(stop, openTarget(settings, { say }))
    undo(() => untilStopped(stopNow, target.close(), undefined))
    redact.learn(target.access.password)
    const { allow } = settings
    const time = await unlessInterrupted(stop, clockOf({ target, allow, warn }))
    const facts = await unlessInterrupted(stop, factsOf(settings, target))
    const whole = planOf(settings, facts)
    const card = cardOf(whole, millraceVersion())
    const look = preflight({
      target,
      plan: whole,
      allow,
      say,
      warn,
      clock: () => performance.now(),
      epochMs: time.now,
    })
    const found = await unlessInterrupted(stop, look)
    const agents = await claimAgents({
      settings,
      card,
      target,
      run: results.run,
      say,
      onLost: screen.lost,
      onRival: screen.rival,
      epochMs: time.now,
      signal: stop,
    })
    undo(() => untilStopped(stopNow, agents.release(), undefined))
    const plan = planOf(settings, { ...facts, agents: agents.agents })
    say(agentWords(plan))
    const wholeMs = lengthMs(plan)
    if (wholeMs !== null && plan.durationMs !== null && wholeMs > plan.durationMs)
      say(`lasts ${period(wholeMs)}: ticks are not cut short`)
    placementWarnings(plan, target.topology).forEach(warn)

    const parts = await writeRun({
      plan,
      target,
      announce: () => agents.announce(card),
      time,
      others: agents.others,
      idleCost: settings.idleCost,
      say,
      results: metrics.watching(results, { run: results.run, kind: 'producer', nominalHz: plan.nominalHz }),
      guard: guardOf(settings.guard),
      onGuarded: screen.guarded,
      warn,
      stop,
      stopNow,
      ...screen.progress,
    })
    await results.end()
    const { kind, origin } = target
    const measured = resultDocument({
      ...parts,
      kind: 'producer',
      run: results.run,
      commandLine: commandLineOf('producer', process.argv),
      versions: versionsOf(target),
      target: { kind, origin, found, shared_keys: sharedKeysOf(plan, target.topology) },
      warnings,
    })
    return await concludeRun(measured, { settings, results, screen, stop, stopNow })
  })
