#!/usr/bin/env node
// Writes items the way an application would, and reports what that cost.
import { concludeRun } from './lib/cli/ending.js'
import { openMetrics } from './lib/cli/metrics.js'
import { program } from './lib/cli/program.js'
import { screenOf } from './lib/cli/screen.js'
import { planOf } from './lib/plan/plan.js'
import { cardOf } from './lib/plan/plan-card.js'
import { openResults } from './lib/report/files.js'
import { runDocument } from './lib/report/result.js'
import { textReport } from './lib/report/text.js'
import { agentWords, claimAgents } from './lib/run/agents.js'
import { factsOf } from './lib/run/facts.js'
import { guardOf } from './lib/run/guard.js'
import { placementWarnings } from './lib/run/placement.js'
import { unlessInterrupted } from './lib/run/start-up.js'
import { millraceVersion, versionsOf } from './lib/run/versions.js'
import { writeRun } from './lib/run/write-run.js'
import { accessWarnings } from './lib/target/access.js'
import { openTarget } from './lib/target/open.js'
import { preflight } from './lib/target/preflight.js'

await program('producer', async (settings, { stop, stopNow }) => {
  const screen = screenOf(settings)
  const { say, warn, warnings } = screen
  const results = await openResults({ ...settings, epochMs: Date.now(), onWarning: warn })
  /** @type {(() => Promise<void>)[]} */
  const undo = [results.discard]
  try {
    accessWarnings(settings).forEach(warn)
    const metrics = await openMetrics(settings.metrics, { say })
    undo.unshift(metrics.close)
    const target = await unlessInterrupted(stop, openTarget(settings, { say }))
    undo.unshift(target.close)
    const facts = await unlessInterrupted(stop, factsOf(settings, target))
    const look = preflight({
      target,
      plan: planOf(settings, facts),
      allow: settings.allow,
      say,
      warn,
      clock: () => performance.now(),
    })
    const found = await unlessInterrupted(stop, look)
    const agents = await claimAgents({
      settings,
      target,
      run: results.run,
      say,
      onLost: screen.lost,
      signal: stop,
    })
    undo.unshift(agents.release)
    const plan = planOf(settings, { ...facts, agents: agents.agents })
    say(agentWords(plan))
    placementWarnings(plan, target.topology).forEach(warn)

    const parts = await writeRun({
      plan,
      target,
      announce: () => agents.announce(cardOf(plan, millraceVersion())),
      liveAgents: agents.live,
      results: metrics.watching(results, { run: results.run, nominalHz: plan.nominalHz }),
      guard: guardOf(settings.guard),
      onGuarded: screen.guarded,
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
  } finally {
    screen.done()
    for (const step of undo) await step()
  }
})
