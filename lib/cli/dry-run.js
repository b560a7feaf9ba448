// --dry-run: what a run would do, from the options and the target's answers. It sends only reads.

import { ExitCode, TargetError } from '../base/errors.js'
import { unlessInterrupted } from '../base/interrupts.js'
import { twoColumns } from '../base/layout.js'
import { pair } from '../base/typed.js'
import { withUndo } from '../base/undo.js'
import { bytes, count, period, plainText, several } from '../base/units.js'
import { millraceVersion } from '../base/version.js'
import { namesOfKind } from '../loads/names.js'
import { lengthWords, rhythmWords } from '../loads/rhythm.js'
import { nodesWords } from '../loads/words.js'
import { announcementOf } from '../plan/announcement.js'
import { tickValues } from '../plan/tick-values.js'
import { clockOf } from '../probes/run-clock.js'
import { agentWords, readerWords, workersWords } from '../run/agents.js'
import { plansOnTarget } from '../run/facts.js'
import { findPlan } from '../run/find-announced.js'
import { refuseRival } from '../servers/announcements.js'
import { leasesUnder } from '../servers/left-keys.js'
import { openTarget } from '../servers/open.js'
import { preflight } from '../servers/preflight.js'
import { lifetimeWords } from '../traffic/lifetimes.js'
import { shownSizes } from '../traffic/sizes.js'
import { strategyOf } from '../workloads/bound-strategy.js'
import { hasColor, logLine, logTo } from './log.js'

/**
 * @import { ReaderSettings, Settings } from '../../settings.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { WorkPlan } from '../loads/workers/plan.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Origin } from '../servers/open.js'
 * @import { Argument, TickValues } from '../wire/encode.js'
 * @import { MultiStep } from '../workloads/bind/multi-step.js'
 *
 * @typedef {import('./signals.js').Guidance & { as: string }} Guidance
 * @typedef {{ title: string, lines: string[] }} Part
 */

// What is longer is shown by its size.
const longestText = 48

/** @param {string} text */
const shortened = (text) =>
  text.length > longestText || plainText(text) !== text
    ? `<${bytes(Buffer.byteLength(text, 'latin1'))}>`
    : text

/** @param {Argument} argument @param {TickValues} values */
const argumentText = (argument, values) => {
  const parts = [argument]
    .flat()
    .map((part) => (typeof part === 'object' && 'hole' in part ? values[part.hole] : part))
  if (parts.every((part) => typeof part !== 'object')) return shortened(parts.join(''))
  const size = parts.reduce(
    (/** @type {number} */ sum, part) => sum + (typeof part === 'object' ? part.length : String(part).length),
    0,
  )
  return `<${bytes(size)}>`
}

/** The arguments of one command, read from its bytes. @param {Buffer} buffer */
const wireText = (buffer) =>
  buffer
    .toString('latin1')
    .split('\r\n')
    .filter((_, i) => i > 0 && i % 2 === 0)
    .map(shortened)
    .join(' ')

/** The first command of a multi-step operation. @param {{ begin: (n: number) => MultiStep }} multiStep @param {number} n */
const firstOf = (multiStep, n) =>
  multiStep
    .begin(n)
    .next()
    ?.map(({ args }) => args.map(shortened).join(' ')) ?? []

/** What is sent for the first item of this process. @param {Plan} plan @param {number} nowMs @returns {string[]} */
const firstCommands = (plan, nowMs) => {
  const strategy = strategyOf(plan)
  const [{ first }] = plan.agents
  if (!namesOfKind(plan).inBatches)
    return strategy.clientOperations().flatMap(({ command, ...played }) => {
      if ('multiStep' in played) return firstOf(played.multiStep, first)
      const out = Buffer.alloc(command.most)
      return wireText(out.subarray(0, command.put(first, out, 0)))
    })
  const values = tickValues(Math.round(nowMs), plan.ttlS)
  const texts = strategy.steps().map((step) => {
    const args =
      step.kind === 'each'
        ? step.args(first)
        : step.kind === 'gather'
          ? step.args(step.key(first), [first])
          : step.args(step.keys[0], first)
    const text = args.map((arg) => argumentText(arg, values)).join(' ')
    if (step.kind === 'gather')
      return `${text}   (${step.max ? `at most ${step.max}` : 'all'} items per command)`
    return step.kind === 'once' && step.everyMs > 0 ? `${text}   (every ${step.everyMs / 1000} s)` : text
  })
  return [...new Set(texts)]
}

/** @param {Part[]} parts @param {number} columns */
const textOf = (parts, columns) =>
  twoColumns(
    parts.flatMap(({ title, lines }) => lines.map((line, i) => pair(i === 0 ? title : '', line))),
    columns,
  ).join('\n')

/** @param {Settings} settings @param {object} document @param {Part[]} parts */
const print = ({ json }, document, parts) =>
  process.stdout.write(
    json ? `${JSON.stringify(document, null, 2)}\n` : `${textOf(parts, process.stdout.columns ?? 100)}\n`,
  )

/** What is read from the target, without a lease and without a plan announced. @param {Settings} settings @param {{ stop: AbortSignal }} signals */
export const lookedAt = async (settings, { stop }) => {
  /** @type {string[]} */
  const lines = []
  /** @type {string[]} */
  const warnings = []
  const log = logTo({
    level: settings.logLevel,
    log: settings.log,
    color: hasColor(process.stderr),
    stream: process.stderr,
  })
  const warn = (/** @type {Warning} */ { message }) => warnings.push(message)
  return withUndo(async (undo) => {
    const target = await unlessInterrupted(
      stop,
      openTarget(settings, { say: (line) => log.info(logLine(process.stderr, line)) }),
    )
    undo(() => target.close())
    const { allow } = settings
    /** @type {string | null} */
    let refusal = null
    const refused = (/** @type {unknown} */ error) => {
      if (!(error instanceof TargetError)) throw error
      refusal ??= error.message
      return null
    }
    const time = await unlessInterrupted(stop, clockOf({ target, allow, warn }).catch(refused))
    const plans = await unlessInterrupted(stop, plansOnTarget(settings, target))
    const whole = plans([])
    const needs = { target, plan: whole, allow, warn, say: (/** @type {string} */ line) => lines.push(line) }
    const epochMs = time?.now ?? Date.now
    const found = await unlessInterrupted(
      stop,
      preflight({ ...needs, times: { clock: () => performance.now(), epochMs } }).catch(refused),
    )
    await unlessInterrupted(
      stop,
      refuseRival(target, announcementOf(whole, millraceVersion())).catch(refused),
    )
    const leases = await unlessInterrupted(stop, leasesUnder(target, settings.prefix))
    const { kind, origin, address, versions } = target
    return {
      lines,
      warnings,
      /** @type {string | null} */
      refusal,
      found,
      leases,
      plans,
      nowMs: epochMs(),
      target: { kind, origin, address, versions },
    }
  })
}

/** @param {Settings} settings @param {Origin} origin */
const ownAgents = ({ agent, totalAgents }, origin) =>
  Array.isArray(agent)
    ? [...agent]
    : agent === 'all' || origin !== 'address'
      ? Array.from({ length: totalAgents }, (_, i) => i + 1)
      : [1]

/** @param {Settings} settings @param {Plan} plan @param {number} leases @param {boolean} isNext */
const shareWords = ({ totalAgents, quantity, control }, plan, leases, isNext) => {
  const isFleet = control !== undefined
  return isNext && totalAgents > 1
    ? `the next free of ${several(totalAgents, 'writer')} (${leases} at work now): about ${count(quantity / totalAgents)} of ${several(quantity, 'item')}${isFleet ? '' : '; -a all for everything'}`
    : agentWords(plan, isFleet)
}

/** @param {Settings} settings @param {Guidance} guidance */
export const dryRunOfWriter = async (settings, { stop }) => {
  const { plans, lines, warnings, refusal, found, leases, nowMs, target } = await lookedAt(settings, { stop })
  const plan = plans(ownAgents(settings, target.origin))
  const commands = firstCommands(plan, nowMs)
  const isNext = settings.agent === 'auto' && target.origin === 'address'
  const { valueBytes, valueSizes, strategy, driver } = plan
  const model = [
    strategy,
    valueSizes === null
      ? `values of ${bytes(valueBytes)}`
      : `values ${shownSizes(valueSizes)}, ${bytes(valueBytes)} on average`,
    ...(namesOfKind(plan).expires ? [`ttl ${lifetimeWords(plan)}`] : []),
    `driver ${driver}`,
  ]
  print(settings, { dry_run: true, plan, target, found, refusal, warnings, commands }, [
    { title: 'plan', lines: [`${rhythmWords(plan)}, ${lengthWords(plan)}`, model.join(', ')] },
    { title: 'this process', lines: [shareWords(settings, plan, leases, isNext)] },
    { title: 'target', lines: [...lines, ...warnings.map((warning) => `warning: ${warning}`)] },
    { title: 'first item', lines: commands },
    {
      title: refusal === null ? 'result' : 'REFUSED',
      lines: [refusal ?? 'nothing was written; without --dry-run the run would start'],
    },
  ])
  return refusal === null ? ExitCode.done : ExitCode.target
}

/** What a worker sends. @param {WorkPlan} plan */
const workerCommands = (plan) => {
  const strategy = strategyOf(plan)
  const { take, reclaimMs } = plan.work
  const known = { worker: 'worker', take, reclaimMs, waitS: 0.25, waitMs: 250 }
  const { open = [], take: first = null, wait = null, confirm = [] } = strategy.workers() ?? {}
  return [...open, first, wait, ...confirm].flatMap((work) => {
    if (work === null) return []
    const [args] = strategy.boundWork(work).commands(known, [{ handle: 'job', text: 'job' }])
    return args.map(shortened).join(' ')
  })
}

/** @param {Settings} given @param {Guidance} guidance */
export const dryRunOfReader = (given, { stop }) =>
  withUndo(async (undo) => {
    const settings = /** @type {ReaderSettings} */ (given)
    const target = await unlessInterrupted(stop, openTarget(settings, { say: () => {}, mayStart: false }))
    undo(() => target.close())
    /** @type {string[]} */
    const lines = []
    const found = await unlessInterrupted(
      stop,
      findPlan({ settings, target, say: (line) => lines.push(line) }),
    )
    const agents = Array.isArray(settings.agent)
      ? [...settings.agent]
      : Array.from({ length: settings.totalAgents }, (_, i) => i + 1)
    const { kind, origin, address, versions } = target
    const where = `${kind === 'cluster' ? 'cluster on ' : ''}${address}, version ${versions.join(', ')}, ${several(target.nodes().length, 'node')}`
    if (found.plan.flow === 'workers') {
      const { plan } = found
      const commands = workerCommands(plan)
      print(settings, { dry_run: true, plan, target: { kind, origin, address, versions }, commands }, [
        { title: 'plan', lines },
        { title: 'this process', lines: [workersWords(plan)] },
        { title: 'target', lines: [where] },
        { title: 'a worker', lines: commands },
        { title: 'result', lines: ['nothing was read but the plan; without --dry-run the run would start'] },
      ])
      return ExitCode.done
    }
    const plan = { ...found.plan, agents }
    const reader = strategyOf(plan).reader()
    const commands = reader.asks({ nowMs: Date.now() }).map(({ args }) => args.map(shortened).join(' '))
    const values = plan.values && reader.value ? [`then ${plan.valuesBy.toUpperCase()} of each value`] : []
    const how = `a fetch every ${period(plan.periodMs)} from ${nodesWords[settings.reads]}`
    print(settings, { dry_run: true, plan, target: { kind, origin, address, versions }, commands }, [
      { title: 'plan', lines: [...lines, how] },
      { title: 'this process', lines: [readerWords(plan)] },
      { title: 'target', lines: [where] },
      { title: 'a fetch', lines: [...commands, ...values] },
      { title: 'result', lines: ['nothing was read but the plan; without --dry-run the run would start'] },
    ])
    return ExitCode.done
  })
