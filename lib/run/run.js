// One run on servers that are open: settings in, the judged document out. It prints nothing and starts nothing; what
// happens on the way is reported to its observer.
import { period } from '../base/units.js'
import { planOf } from '../plan/plan.js'
import { cardOf } from '../plan/plan-card.js'
import { resultDocument } from '../result/document.js'
import { withThresholds } from '../result/thresholds.js'
import { newcomerCheck, preflight } from '../target/preflight.js'
import { withUndo } from '../undo.js'
import { agentWords, claimAgents, claimReaders, readerWords } from './agents.js'
import { clockOf } from './clock.js'
import { factsOf } from './facts.js'
import { findPlan } from './find-plan.js'
import { guardOf } from './guard.js'
import { placementWarnings, sharedKeysOf } from './placement.js'
import { readRun } from './read-run.js'
import { lengthMs } from './second.js'
import { checkSnapshot, snapshotOf } from './snapshot.js'
import { unlessInterrupted, untilStopped } from './start-up.js'
import { millraceVersion, versionsOf } from './versions.js'
import { writeRun } from './write-run.js'

/**
 * @typedef {import('../../settings.js').Settings} Settings
 * @typedef {import('../result/ruling.js').Warning} Warning
 * @typedef {(undo: (step: () => unknown) => void) => void} Undo
 *
 * @typedef {object} Observer what happens is reported here
 * @property {(line: string) => void} say
 * @property {(warning: Warning) => void} warn
 * @property {readonly Warning[]} warnings all so far
 * @property {(message: string) => void} lost a lease
 * @property {(message: string) => void} rival
 * @property {(reason: string) => void} guarded
 * @property {Pick<import('./write-setup.js').WriteNeeds, 'show' | 'onEncoding' | 'onReady' | 'onEvent'>} progress
 *
 * @typedef {object} Lines of the files of a run
 * @property {(line: object) => void} interval
 * @property {(line: object) => void} event
 *
 * @typedef {object} Needs
 * @property {'producer' | 'consumer'} program
 * @property {import('../target/open.js').Target} target
 * @property {string} run its name
 * @property {string} [commandLine] that repeats it
 * @property {Observer} observer
 * @property {(nominalHz: number | null) => Lines} linesOf
 * @property {() => Promise<unknown>} settled when all lines are where they belong
 * @property {AbortSignal} stop ends the load; what is under way settles
 * @property {AbortSignal} stopNow nothing is waited for any more
 */

/** @param {Settings} settings @param {Needs} needs @param {(step: () => unknown) => void} undo */
const written = async (settings, { target, run, observer, linesOf, stop, stopNow }, undo) => {
  const { say, warn } = observer
  const { allow } = settings
  const time = await unlessInterrupted(stop, clockOf({ target, allow, warn }))
  const facts = await unlessInterrupted(stop, factsOf(settings, target))
  await checkSnapshot(settings, target)
  const whole = planOf(settings, facts)
  const card = cardOf(whole, millraceVersion())
  const clock = () => performance.now()
  const looking = { target, allow, clock, epochMs: time.now }
  target.admission.checkWith(newcomerCheck(looking))
  const found = await unlessInterrupted(stop, preflight({ ...looking, plan: whole, say, warn }))
  const agents = await claimAgents({
    settings,
    card,
    target,
    run,
    say,
    onLost: observer.lost,
    onRival: observer.rival,
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
    results: linesOf(plan.nominalHz),
    guard: guardOf(settings.guard),
    onGuarded: observer.guarded,
    warn,
    stop,
    stopNow,
    ...observer.progress,
  })
  if (settings.snapshot && !stop.aborted) await agents.release()
  const snapshot = settings.snapshot && !stop.aborted ? await snapshotOf({ target, clock, say }) : null
  return {
    ...parts,
    ...(snapshot && { snapshot }),
    target: { found, shared_keys: sharedKeysOf(plan, target.topology) },
  }
}

/** @param {Settings} settings @param {Needs} needs @param {(step: () => unknown) => void} undo */
const read = async (settings, { target, run, observer, linesOf, stop, stopNow }, undo) => {
  const { say, warn } = observer
  const own = /** @type {import('../../settings.js').ReaderSettings} */ (settings)
  const found = await unlessInterrupted(stop, findPlan({ settings: own, target, say }))
  const { strategy } = found.plan
  const claim = { settings, strategy, target, run, say, onLost: observer.lost, signal: stop }
  const readers = await claimReaders(claim)
  undo(() => untilStopped(stopNow, readers.release(), undefined))
  const plan = { ...found.plan, agents: readers.agents }
  say(readerWords(plan))
  const { progress } = observer
  const parts = await readRun({
    ...found,
    plan,
    target,
    results: linesOf(null),
    stop,
    stopNow,
    say,
    warn,
    ...progress,
  })
  return { ...parts, target: {} }
}

/**
 * @param {Settings} settings
 * @param {Needs} needs
 * @returns {Promise<import('../result/document.js').RunDocument>}
 */
export const runOn = (settings, needs) =>
  withUndo(async (undo) => {
    const { program, target, run, commandLine, observer, settled } = needs
    const parts = await (program === 'consumer' ? read : written)(settings, needs, undo)
    await settled()
    const { kind, origin } = target
    const document = resultDocument(
      /** @type {import('../result/document.js').RunParts} */ ({
        ...parts,
        kind: program,
        run,
        commandLine,
        versions: versionsOf(target),
        target: { kind, origin, ...parts.target },
        warnings: [...observer.warnings],
      }),
    )
    return withThresholds(document, settings.thresholds)
  })
