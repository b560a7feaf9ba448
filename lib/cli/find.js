// A search as a program: one run whose rate the search decides, its folder, its screen and its exit code.
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { confirmingIn, findAnswer } from '../answers/find/answer.js'
import { behindOf, graceOf, judgeOf } from '../answers/find/objectives.js'
import { find, rounded } from '../answers/find/report.js'
import { search } from '../answers/find/search.js'
import { ExitCode, OptionError, TargetError } from '../base/errors.js'
import { unlessInterrupted, untilStopped } from '../base/interrupts.js'
import { needPackagesOf } from '../base/optional-packages.js'
import { withUndo } from '../base/undo.js'
import { plainData, plainText, several } from '../base/units.js'
import { linesOf } from '../experiments/programs.js'
import { namesOfKind } from '../loads/names.js'
import { put } from '../measures/fold.js'
import { readsName, TIMES_BY_DUE, timesByWarning } from '../measures/index.js'
import { writeFiles } from '../report/write-report.js'
import { openResults } from '../result/files.js'
import { conductorOf } from '../run/conductor.js'
import { searchOnFleet } from '../run/conductor-fleet.js'
import { runOn } from '../run/run.js'
import { accessWarnings } from '../servers/access.js'
import { openTarget } from '../servers/open.js'
import { strategyNamed } from '../workloads/index.js'
import { commandLineOf } from './again.js'
import { printData } from './answer.js'
import { cachesOfTarget, thresholdCode } from './ending.js'
import { documentDuring, startReaders } from './find-readers.js'
import { ownFolder } from './run.js'
import { screenOf } from './screen.js'

/**
 * @import { FindAnswer } from '../answers/find/answer.js'
 * @import { Step } from '../answers/find/bracket.js'
 * @import { SearchAnswer, SearchOptions } from '../answers/find/search.js'
 * @import { Snapshot } from '../probes/seconds.js'
 * @import { SecondRecord } from '../run/conductor.js'
 * @import { Readers } from './find-readers.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { findRequest } from './find-options.js'
 * @import { Guidance } from './signals.js'
 * @import { Run } from '../measures/section.js'
 * @import { Line } from '../answers/find/limit.js'
 * @import { answer as kitOf } from '../report/kit.js'
 */
/** @typedef {ReturnType<typeof findRequest>} Request */

const isThisBox = (/** @type {string | undefined} */ host) =>
  host === undefined || /^(localhost|127(\.\d+){3}|::1)$/.test(host)

/**
 * A search overloads its target: without --within or --yes the user confirms it on the terminal, unless it is this box.
 * @param {Request} request
 * @param {AbortSignal} stop
 */
const confirmOverload = async ({ settings: { host, sentinel }, mayOverload }, stop) => {
  if (mayOverload || (isThisBox(host) && !sentinel)) return
  const words = `millrace find overloads its target again and again, and ${plainText(host ?? 'the target')} is not local`
  const { stdin: input, stderr: output } = process
  const refused = () => new OptionError(`${words}: give --within MIN..MAX, which it never exceeds, or --yes`)
  if (!input.isTTY || !output.isTTY) throw refused()
  const asking = createInterface({ input, output })
  try {
    const typed = await unlessInterrupted(stop, asking.question(`${words}. Type yes to go on: `))
    if (!/^\s*y(es)?\s*$/i.test(typed)) throw refused()
  } finally {
    asking.close()
  }
}

/** Shorter searches have shorter parts. @param {Request} request @returns {SearchOptions} */
const searchBoundsOf = ({ within, share, seconds, seed }) => ({
  ...(within && { min: within[0], warmUpRate: Math.sqrt(within[0] * within[1]) }),
  max: within ? within[1] : Number.POSITIVE_INFINITY,
  ...(within === null && { warmUpRate: Number.POSITIVE_INFINITY }),
  share,
  seconds,
  seed,
  warmUp: Math.min(10, Math.round(seconds / 12)),
  confirm: Math.min(30, Math.round(seconds / 6)),
})

/** @type {Record<string, (value: number, limit: number) => boolean>} */
const relations = {
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
}

/** @param {Request['thresholds']} thresholds @param {Pick<FindAnswer, 'find'>} answer */
export const judgedThresholds = (thresholds, { find }) =>
  thresholds.map(({ text, end, relation, limit }) => {
    const value = find[end]
    return { threshold: text, value, passed: value !== null && relations[relation](value, limit) }
  })

/** @param {Pick<FindAnswer, 'state' | 'limit'>} answer @param {ReturnType<typeof judgedThresholds>} judged @param {boolean} [isInterrupted] */
export const exitCodeOfFind = ({ state, limit }, judged, isInterrupted = false) => {
  // A guard ends a search as well.
  if (state === 'stopped') return isInterrupted ? ExitCode.interrupted : ExitCode.invalid
  if (state === 'changed' || state === 'unsteady') return ExitCode.unclear
  // The top of --within passes: more was not asked. At another limit, the client's, more is not known.
  const isAnswered = state === 'found' || (state === 'at-least' && limit === null)
  const code = thresholdCode(judged)
  return code === ExitCode.done && !isAnswered ? ExitCode.invalid : code
}

/** A warning that a report has beside a measure's line names what it is of: here is no such line. @param {Warning} warning */
const noticedAs = ({ code, message }) => {
  const times = timesByWarning.get(code)
  return { code, message: times ? `${times}: ${message}` : message }
}

const phaseWords = {
  'warm-up': 'warming up',
  limit: 'measuring the maximum',
  bracket: 'narrowing down',
  measure: 'measuring',
  recover: 'waiting until a second passes',
  confirm: 'confirming',
}
const everyS = 10

/** Prints the phases of the search as they begin. @param {Request} request @param {(line: string) => void} say */
const stepsOn = ({ seconds }, say) => {
  let played = 0
  let shownPhase = ''
  let shownAt = 0
  /** @param {Step} step */
  return (step) => {
    const { phase, between } = step
    const shown = phase === 'recover' ? shownPhase : phase
    if (shown !== shownPhase || played - shownAt >= everyS) {
      const where = between ? `, between ${rounded(between[0])} and ${rounded(between[1])}/s` : ''
      const rate =
        phase === 'confirm' ? ` ${rounded(step.rate)}/s for ${several(step.seconds, 'second')}` : ''
      say(`${played} of ${seconds} s: ${phaseWords[phase]}${rate}${where}`)
      shownPhase = shown
      shownAt = played
    }
    played += step.seconds
  }
}

/**
 * A second of the live line: the rate that is offered now, what it is for, and between which rates the answer is.
 * @param {Snapshot} snapshot
 * @param {Step | null} step
 */
const searching = (snapshot, step) => {
  if (step === null) return snapshot
  const { phase, rate, between } = step
  const where = between ? ` ${rounded(between[0])}..${rounded(between[1])}` : ''
  return {
    ...snapshot,
    phase: /** @type {Snapshot['phase']} */ (`${phase}${where}`),
    nominalRate: Number.isFinite(rate) ? rate : null,
    // An overload drops items on purpose, so the line does not warn of it.
    lost: {},
  }
}

// In a fleet, every box prints the answer of the one that leads.
const answerMs = 60_000

/**
 * The confirmation as all boxes saw it; what the servers paid is divided by all items, which one box does not know.
 * @param {Run} own
 * @param {Pick<ReturnType<typeof searchOnFleet>, 'confirmed'>} boxes
 */
const ofAllBoxes = (own, { confirmed }) => {
  const document = { ...own, rate: null, server: null, latency_us: {} }
  for (const path of TIMES_BY_DUE) put(document, path, confirmed(path))
  return document
}

/**
 * What was fetched during the confirmation.
 * @param {readonly SecondRecord[]} seconds
 * @param {string} started
 * @param {Readers['during']} during two moments, epoch
 */
const fetchedIn = async (seconds, started, during) => {
  const confirming = confirmingIn(seconds)
  if (confirming.length === 0) return null
  const at = (/** @type {number} */ ms) => Date.parse(started) + ms
  return during(at(confirming[0].atMs), at(confirming[confirming.length - 1].atMs + 1000))
}

/**
 * Stores an answer with its page, and prints it with what its thresholds came to.
 * @template {{ thresholds: ReturnType<typeof judgedThresholds> }} Document
 * @param {Pick<ReturnType<typeof kitOf<Document>>, 'files' | 'text'>} kit
 * @param {Document} document
 * @param {{ settings: { json: boolean }, results: Awaited<ReturnType<typeof openResults>>, screen: ReturnType<typeof screenOf> }} run
 */
export const concludeSearch = async (kit, document, { settings, results, screen }) => {
  screen.done()
  await writeFiles(results.folder, await kit.files(document))
  await results.end()
  printData(settings.json, document, () => {
    const page = join(results.folder, 'find.html')
    const lines = document.thresholds.map(
      ({ threshold, passed }) => `${passed ? 'kept' : 'FAILED'}: ${threshold}\n`,
    )
    return [kit.text(document, { columns: process.stdout.columns, page }), ...lines].join('')
  })
}

/**
 * What CloudWatch says of the search, without the minutes in which it only looked for the maximum.
 * @param {Request['settings']} settings
 * @param {Run} run
 * @param {readonly SecondRecord[]} seconds
 * @param {Pick<ReturnType<typeof screenOf>, 'say' | 'warn'> & { signal: AbortSignal }} told
 */
const cloudWatchOf = async (
  settings,
  { run, started, duration_s, nodes },
  seconds,
  { say, warn, signal },
) => {
  if (!settings.cloudwatch) return null
  const { readCloudWatch } = await import('../cloudwatch/attach.js')
  const searched = seconds.find(({ phase }) => phase !== 'warm-up' && phase !== 'limit')
  const window = { run, started, duration_s, warm_up_s: (searched?.atMs ?? 0) / 1000, nodes }
  return readCloudWatch(window, {
    ...cachesOfTarget(settings),
    say,
    warn: (message) => warn({ code: 'cloudwatch', message }),
    signal,
  })
}

/** @param {Request} request @param {Guidance & { as: string }} guidance */
export const findProgram = (request, { stop, stopNow, redact, as }) =>
  withUndo(async (undo) => {
    if (request.settings.cloudwatch) needPackagesOf('--cloudwatch')
    await confirmOverload(request, stop)
    const { settings, objectives, slos, share, within, thresholds } = request
    const screen = screenOf(settings)
    undo(screen.done)
    const { say, warn } = screen
    const results = await openResults({
      ...settings,
      ...(settings.control && ownFolder(settings)),
      strategy: `find-${settings.strategy}`,
      epochMs: Date.now(),
      onWarning: warn,
      redact: redact.data,
    })
    undo(results.discard)
    accessWarnings(settings).forEach(warn)
    const { play } = strategyNamed(settings.strategy)
    const { isOfFetches } = request
    const target = await unlessInterrupted(
      stop,
      openTarget(settings, { say, mayStart: !isOfFetches, anyServer: play.anyServer }),
    )
    undo(() => untilStopped(stopNow, target.close(), undefined))
    redact.learn(target.access.password)
    /** @type {Step | null} */
    let step = null
    const tell = stepsOn(request, say)
    const onStep = (/** @type {Step} */ next) => {
      step = next
      tell(next)
    }
    const gone = new AbortController()
    const conductor = conductorOf({
      machine: search(searchBoundsOf(request)),
      judge: judgeOf(objectives),
      graceMs: graceOf(objectives),
      behindMs: behindOf(objectives),
      stop: AbortSignal.any([stop, gone.signal]),
      onStep,
    })
    const { show } = screen.progress
    const progress = {
      ...screen.progress,
      show: (/** @type {Snapshot} */ snapshot) => show(searching(snapshot, step)),
    }
    /** @type {SearchAnswer | null} */
    let found = null
    /** @type {Readers | null} */
    let readers = null
    const reading = async () => {
      if (!request.readers) return
      const words = [...request.model, ...request.readers]
      const onGone = (/** @type {string} */ message) => {
        warn({ code: 'readers', message })
        gone.abort()
      }
      readers = await startReaders({ words, settings, target, folder: results.folder, stop, onGone })
      undo(readers.end)
    }
    /** @type {Line[]} */
    const lines = []
    const commandLine = commandLineOf(as, process.argv)
    /** @type {ReturnType<typeof searchOnFleet<SearchAnswer>> | null} */
    let boxes = null
    let isLeader = true
    /** @param {Run} confirmation */
    const documentOf = async (confirmation) => {
      /** @type {Readers['during']} */
      const ofOwn = async (from, to) =>
        documentDuring(await linesOf(join(results.folder, 'intervals.ndjson')), async () => facts, from, to)
      const during = isOfFetches ? ofOwn : readers?.during
      const fetched = during ? await fetchedIn(conductor.seconds, confirmation.started, during) : null
      const told = { say, warn, signal: stop }
      const cloudwatch = await cloudWatchOf(settings, confirmation, conductor.seconds, told)
      const answer = {
        ...findAnswer({
          answer: found,
          asked: { objectives, slos, share, within },
          seconds: conductor.seconds,
          lines,
          confirmed: {
            confirmation: boxes
              ? ofAllBoxes(confirmation, boxes)
              : { ...confirmation, ...(isOfFetches && fetched) },
            readers: fetched,
            cloudwatch,
          },
          noticed: screen.warnings.map(noticedAs).filter(({ code }) => code !== 'results'),
        }),
        unit: isOfFetches ? readsName : `${namesOfKind({ flow: play.flow }).unit}s`,
      }
      const judged = judgedThresholds(thresholds, answer)
      return results.redact(plainData({ ...answer, sentence: find.sentence(answer), thresholds: judged }))
    }
    /** @type {any} */
    let facts = null
    /** @type {any} */
    let document = null
    const own = await runOn(settings, {
      program: isOfFetches ? 'consumer' : 'producer',
      onFacts: (planned) => {
        facts = planned
      },
      target,
      run: (settings.control && settings.run) || results.run,
      commandLine,
      observer: { ...screen, progress, mayStop: async () => {} },
      linesOf: () => ({
        ...results,
        interval: (line) => {
          results.interval(line)
          lines.push({ at_ms: line.at_ms, nodes: line.nodes ?? [] })
        },
      }),
      conductor: {
        ...conductor,
        conduct: async (run, fleet) => {
          if (fleet) {
            boxes = searchOnFleet({ fleet, conductor, onStep })
            ;({ isLeader, answer: found } = await boxes.conduct(run))
            return
          }
          await reading()
          found = await conductor.conduct(run)
          readers?.end()
        },
      },
      onMerged: async (ofBox) => {
        document = isLeader ? await documentOf(ofBox) : await boxes?.steps.answer(answerMs)
        if (isLeader) await boxes?.steps.answered(document)
      },
      untilStored: results.end,
      stop,
      stopNow,
    })
    if (!settings.control) document = await documentOf(own)
    if (!document)
      throw new TargetError('the box that leads has ended without an answer', { code: 'FLEET_MISSING' })
    await concludeSearch(find, document, { settings, results, screen })
    return exitCodeOfFind(document, document.thresholds, stop.aborted)
  })
