// Writes items the way an application would, and reports what that cost.

import { planOf } from '../plan/plan.js'
import { cardOf } from '../plan/plan-card.js'
import { openResults } from '../report/files.js'
import { runDocument } from '../report/result.js'
import { textReport } from '../report/text.js'
import { period } from '../report/units.js'
import { agentWords, claimAgents } from '../run/agents.js'
import { clockOf } from '../run/clock.js'
import { factsOf } from '../run/facts.js'
import { guardOf } from '../run/guard.js'
import { placementWarnings } from '../run/placement.js'
import { lengthMs } from '../run/second.js'
import { unlessInterrupted, untilStopped } from '../run/start-up.js'
import { millraceVersion, versionsOf } from '../run/versions.js'
import { writeRun } from '../run/write-run.js'
import { accessWarnings } from '../target/access.js'
import { openTarget } from '../target/open.js'
import { newcomerCheck, preflight } from '../target/preflight.js'
import { withUndo } from '../undo.js'
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
    const metrics = await openMetrics(settings.metrics, {
      say,
      redact: redact.text,
      stop,
      lingerMs: settings.metricsLingerMs,
    })
    undo(metrics.close)
    const target = await unlessInterrupted(stop, openTarget(settings, { say }))
    undo(() => untilStopped(stopNow, target.close(), undefined))
    redact.learn(target.access.password)
    const { allow } = settings
    const time = await unlessInterrupted(stop, clockOf({ target, allow, warn }))
    const facts = await unlessInterrupted(stop, factsOf(settings, target))
    const whole = planOf(settings, facts)
    const card = cardOf(whole, millraceVersion())
    const looking = { target, allow, clock: () => performance.now(), epochMs: time.now }
    target.admission.checkWith(newcomerCheck(looking))
    const found = await unlessInterrupted(stop, preflight({ ...looking, plan: whole, say, warn }))
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
    const measured = runDocument({
      ...parts,
      kind: 'producer',
      run: results.run,
      versions: versionsOf(target),
      target: { kind, origin, found },
      warnings,
    })
    return await concludeRun(measured, { settings, results, screen, report: textReport, stop, stopNow })
  })
