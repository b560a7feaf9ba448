// One cell, run once: its writers, its readers and its changes, and what is measured of each of its legs.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { agentRange } from '../base/ranges.js'
import { mergedSecond, secondOf } from '../fleet/interval.js'
import { namesOfWriters } from '../loads/names-of-strategy.js'
import { madeWithParents } from '../result/files.js'
import { windowOf } from '../result/window.js'
import { strategyNamed } from '../workloads/index.js'
import { refuseOneBox } from './boxes.js'
import { optionWords, scaledLoad, strategyOfOptions } from './options.js'
import { linesOf, NoResult, startProgram } from './programs.js'

/**
 * @import { Part } from './boxes.js'
 * @import { Servers } from './experiment-servers.js'
 * @import { Cell, Leg } from './matrix.js'
 * @import { Documents, Finished, Program } from './programs.js'
 * @import { RunDocument as Run } from '../result/document.js'
 * @import { Line } from '../measures/fold.js'
 *
 * @typedef {Run} Document
 * @typedef {Finished<Documents['producer']>} Written
 * @typedef {Finished<Documents['consumer']>} Read
 *
 * @typedef {object} Timing
 * @property {number} seconds measured, of each leg
 * @property {number} warmUpS
 *
 * @typedef {object} LegRun
 * @property {Leg} leg
 * @property {Document} document
 * @property {Document | null} reader run.json of the consumer
 * @property {string} folder
 * @property {{ from_ms: number, to_ms: number } | null} span within the continuous run
 *
 * @typedef {{ legs: LegRun[], timeline: string | null }} CellRun
 *
 * @typedef {object} Needs
 * @property {Cell} cell
 * @property {string} folder of this run of the cell
 * @property {Timing} timing
 * @property {number} factor of the quantity; below 1 where the client was the limit before
 * @property {Servers} servers
 * @property {NodeJS.ProcessEnv} env
 * @property {AbortSignal} signal
 * @property {Part | null} [part] of many boxes
 */

// Processes start at different moments: each writes this much longer, so that all write at once for the whole time.
const startSlackS = 1.5
const firstLineLimitMs = 60_000
const openLimitMs = 600_000
const pollMs = 50
// The second in which something changes counts for neither phase.
const settleMs = 250

/** @param {Leg} leg @param {number} factor */
const writerOptions = ({ options }, factor) => (factor === 1 ? options : scaledLoad(options, factor))

/** @param {Document} document @param {Line[]} lines @param {string} folder */
const store = async (document, lines, folder) => {
  await madeWithParents(folder)
  await writeFile(join(folder, 'run.json'), `${JSON.stringify(document, null, 2)}\n`)
  await writeFile(join(folder, 'intervals.ndjson'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

/** @template T @param {readonly Program[]} programs @param {AbortSignal} signal @param {Promise<T>} work */
const unlessStopped = async (programs, signal, work) => {
  const stop = () => {
    for (const program of programs) program.interrupt()
  }
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  try {
    return await work
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Agents shared out to processes: `1-4`, `5-8`. @param {number} agents @param {number} processes */
const writersOfProcesses = (agents, processes) =>
  processes === 1
    ? ['all']
    : Array.from({ length: processes }, (_, i) => {
        const { first, count } = agentRange(agents, processes, i + 1)
        return count === 1 ? String(first) : `${first}-${first + count - 1}`
      })

/** The agents of each process, and the arguments that make one run of many boxes. @param {Needs} needs @param {number} agents */
const writersOf = ({ cell, part = null }, agents) => {
  if (!part) return { ranges: writersOfProcesses(agents, cell.processes), args: [], secrets: {} }
  // Boxes beyond the number of agents have none.
  const own = writersOfProcesses(agents, Math.min(agents, part.boxes))[part.number - 1]
  const secrets = { MILLRACE_CONTROL: part.control }
  return { ranges: own === undefined ? [] : [own], args: ['--all'], secrets }
}

/** The writers of one steady load; none: this box has none. @param {Needs} needs */
const startWriters = (needs) => {
  const { cell, folder, servers, part = null } = needs
  const { seconds, warmUpS } = needs.timing
  const options = writerOptions(cell.legs[0], needs.factor)
  const { ranges, ...fleet } = writersOf(needs, Number(options['total-agents'] ?? 1))
  const slackS = ranges.length > 1 ? startSlackS : 0
  const durationS = warmUpS + seconds + slackS
  const strategy = strategyOfOptions(options)
  const { passes } = strategyNamed(strategy)
  // Passes end by themselves; their CPU includes what idle servers use.
  const times = passes
    ? ['--idle-cost', 'never']
    : ['--warm-up', `${warmUpS}s`, '--duration', `${durationS}s`]
  // How long a fill or a snapshot takes is unknown.
  const isOpen = passes || options.fill || options.snapshot
  // Boxes wait for each other before a run, and for its common result after it.
  const limitMs = durationS * 1000 + (isOpen || part ? openLimitMs : 0)
  return ranges.map((agent, i) =>
    startProgram('producer', {
      args: [
        ...optionWords(options),
        ...servers.args,
        ...servers.writerArgs,
        ...(namesOfWriters(strategy).inBatches ? ['-a', agent] : []),
        ...(options.snapshot && servers.mayFlush ? ['--allow', 'flush'] : []),
        ...times,
        ...fleet.args,
      ],
      outDir: folder,
      name: part?.run ?? (ranges.length > 1 ? `writer-${i + 1}` : 'run'),
      env: { ...needs.env, ...servers.env },
      secrets: { ...servers.secrets, ...fleet.secrets },
      home: cell.home,
      limitMs,
    }),
  )
}

/** One steady load. @param {Needs} needs @returns {Promise<CellRun>} */
const steady = async (needs) => {
  const { cell, folder, timing, signal } = needs
  const [leg] = cell.legs
  const writers = startWriters(needs)
  if (writers.length === 0) return { legs: [], timeline: null }
  const runs = await unlessStopped(writers, signal, Promise.all(writers.map(({ ended }) => ended))).catch(
    async (error) => {
      for (const writer of writers) writer.interrupt()
      await Promise.allSettled(writers.map(({ ended }) => ended))
      throw error
    },
  )
  const [first] = runs
  if (runs.length === 1)
    return {
      legs: [{ leg, document: first.document, reader: null, folder: first.folder, span: null }],
      timeline: null,
    }
  const starts = runs.map(({ document }) => Date.parse(document.started))
  const ends = runs.map(({ document }, i) => starts[i] + document.duration_s * 1000)
  // Lines begin and end a little before whole seconds.
  const earlyMs = 100
  const window = {
    fromMs: Math.max(...starts) + timing.warmUpS * 1000 - earlyMs,
    toMs: Math.min(...ends) + 5,
  }
  const found = windowOf(runs, window)
  if (!found)
    throw new NoResult(`the ${runs.length} writers did not write at the same time: set a longer --duration`)
  const merged = join(folder, 'run')
  await store(found.document, secondsOfAll(found.byRun), merged)
  return {
    legs: [{ leg, document: found.document, reader: null, folder: merged, span: null }],
    timeline: null,
  }
}

/**
 * The seconds of writers that ran side by side, as one run. Nodes and the count of writers are those of the first.
 * @param {readonly (readonly Line[])[]} byRun lines of each
 * @returns {Line[]}
 */
export const secondsOfAll = (byRun) => {
  /** @type {Map<number, ReturnType<typeof mergedSecond>>} */
  const seconds = new Map()
  for (const [i, lines] of byRun.entries())
    for (const line of lines) {
      const at = secondOf(line.at_ms)
      const second = seconds.get(at) ?? mergedSecond()
      seconds.set(at, second)
      second.add(i === 0 ? line : { ...line, nodes: [], writers: null })
    }
  return [...seconds]
    .sort(([a], [b]) => a - b)
    .map(([, second]) => {
      const line = second.line()
      second.close()
      return line
    })
}

/** Epoch at which a writer's first tick was due. @param {Program} writer @param {AbortSignal} signal */
const begun = async (writer, signal) => {
  const limitMs = performance.now() + firstLineLimitMs
  while (performance.now() < limitMs && !writer.isOver() && !signal.aborted) {
    const [line] = await linesOf(join(writer.folder, 'intervals.ndjson'))
    if (line) return Date.now()
    await sleep(pollMs)
  }
  if (!signal.aborted && !writer.isOver()) throw new NoResult('the writer did not begin within a minute')
  return Date.now()
}

/** @param {Leg} a @param {Leg | undefined} b */
const sameWriter = (a, b) => b !== undefined && JSON.stringify(a.options) === JSON.stringify(b.options)

/** Phases of one continuous run. @param {Needs} needs @returns {Promise<CellRun>} */
const continuous = async ({ cell, folder, timing: { seconds, warmUpS }, factor, servers, env, signal }) => {
  // A signal ends the writer; the bound ends it where the runner was killed and sends none.
  const boundS = cell.legs.length * (warmUpS + seconds + 10) + 300
  /** @type {{ leg: Leg, writer: number, fromMs: number, toMs: number, reader: Read | null }[]} */
  const spans = []
  /** @type {{ atMs: number, kind: string, text: string }[]} */
  const marks = []
  /** @type {ReturnType<typeof startProgram<'producer'>>[]} */
  const writers = []
  /** @type {Written[]} */
  const runs = []
  const endWriter = async () => {
    const writer = writers[runs.length]
    if (!writer) return
    writer.interrupt()
    runs.push(await writer.ended)
  }
  const startWriter = async (/** @type {Leg} */ leg) => {
    await endWriter()
    const writer = startProgram('producer', {
      args: [
        ...[...optionWords(writerOptions(leg, factor)), ...servers.args, ...servers.writerArgs, '-a', 'all'],
        ...['--warm-up', '0s', '--duration', `${boundS}s`],
      ],
      outDir: folder,
      name: `writer-${writers.length + 1}`,
      env: { ...env, ...servers.env },
      secrets: servers.secrets,
      limitMs: boundS * 1000,
    })
    writers.push(writer)
    await begun(writer, signal)
    await pause(warmUpS * 1000)
  }
  const pause = (/** @type {number} */ ms) => sleep(ms, undefined, { signal }).catch(() => {})

  const linesSoFar = () => linesOf(join(writers[writers.length - 1].folder, 'intervals.ndjson'))
  /** Waits until the writer has recorded a whole second of the phase, which takes longer on a busy machine. @param {number} before lines */
  const wholeSecond = async (before) => {
    const writer = writers[writers.length - 1]
    const limitMs = performance.now() + firstLineLimitMs
    while (performance.now() < limitMs && !writer.isOver() && !signal.aborted) {
      if ((await linesSoFar()).length >= before + 3) return
      await sleep(pollMs)
    }
  }

  /** @param {Leg} leg @returns {Promise<Read | null>} */
  const readDuring = async (leg) => {
    if (!leg.consumer) return null
    const reader = startProgram('consumer', {
      args: [
        ...[...optionWords(leg.consumer), ...servers.args],
        ...(leg.options.model === undefined
          ? ['--strategy', strategyOfOptions(leg.options)]
          : ['--model', String(leg.options.model)]),
        ...['--duration', `${seconds + 1}s`],
      ],
      outDir: folder,
      name: `reader-${spans.length + 1}`,
      env: { ...env, ...servers.env },
      secrets: servers.secrets,
      limitMs: (seconds + 1) * 1000,
    })
    return unlessStopped([reader], signal, reader.ended)
  }

  try {
    for (const [i, leg] of cell.legs.entries()) {
      if (signal.aborted) break
      if (!sameWriter(leg, cell.legs[i - 1])) await startWriter(leg)
      const startMs = Date.now()
      const endMs = performance.now() + seconds * 1000
      const before = (await linesSoFar()).length
      marks.push({ atMs: startMs, kind: 'phase', text: leg.name || leg.row })
      const reader = await readDuring(leg)
      if (leg.action === 'remove-shard') {
        marks.push({ atMs: Date.now(), kind: 'topology', text: await servers.removeShard() })
        // Moving few keys takes no time: the phase lasts long enough to be seen.
        await pause(Math.max(0, endMs - performance.now()))
      } else if (!reader) await pause(seconds * 1000)
      if (!reader) await wholeSecond(before)
      const fromMs = reader ? Date.parse(reader.document.started) : startMs
      const toMs = reader ? fromMs + reader.document.duration_s * 1000 : Date.now()
      spans.push({ leg, writer: writers.length - 1, fromMs: fromMs + settleMs, toMs, reader })
      if (writers[writers.length - 1].isOver()) break
    }
  } finally {
    await endWriter().catch(() => {})
  }
  if (signal.aborted) throw new NoResult('stopped before it had a result')
  if (runs.length < writers.length) await writers[runs.length].ended // throws the reason
  return resultOf({ folder, spans, runs, marks })
}

/**
 * The lines of consecutive writers, in milliseconds since the first began. An empty line before each further writer makes
 * a gap in charts, where nothing was measured.
 * @param {Pick<Written, 'document' | 'lines'>[]} runs
 * @returns {Line[]} lines of intervals.ndjson
 */
export const joinedLines = (runs) => {
  const beginMs = Date.parse(runs[0].document.started)
  return runs.flatMap(({ document, lines }, i) => {
    const startMs = Math.round(Date.parse(document.started) - beginMs)
    const gap = { at_ms: startMs, phase: 'between writers', achieved: null, nodes: [] }
    return [...(i > 0 ? [gap] : []), ...lines.map((line) => ({ ...line, at_ms: startMs + line.at_ms }))]
  })
}

/**
 * @param {object} known
 * @param {string} known.folder
 * @param {{ leg: Leg, writer: number, fromMs: number, toMs: number, reader: Read | null }[]} known.spans
 * @param {Written[]} known.runs of the writers
 * @param {{ atMs: number, kind: string, text: string }[]} known.marks
 * @returns {Promise<CellRun>}
 */
const resultOf = async ({ folder, spans, runs, marks }) => {
  const beginMs = Date.parse(runs[0].document.started)
  /** @type {LegRun[]} */
  const legs = []
  for (const [i, { leg, writer, fromMs, toMs, reader }] of spans.entries()) {
    const found = windowOf([runs[writer]], { fromMs, toMs })
    if (!found) throw new NoResult(`phase "${leg.name}" has no whole second: set a longer --duration`)
    const own = join(folder, `phase-${i + 1}`)
    await store(found.document, found.lines, own)
    legs.push({
      leg,
      document: found.document,
      reader: reader?.document ?? null,
      folder: own,
      span: { from_ms: Math.round(fromMs - beginMs), to_ms: Math.round(toMs - beginMs) },
    })
  }
  const timeline = join(folder, 'timeline')
  const lines = joinedLines(runs)
  const events = [
    ...runs.flatMap(({ document }) =>
      document.events.map((event) => ({
        ...event,
        at_ms: Math.round(Date.parse(document.started) + event.at_ms - beginMs),
      })),
    ),
    ...marks.map(({ atMs, kind, text }) => ({ at_ms: Math.max(0, Math.round(atMs - beginMs)), kind, text })),
  ].sort((a, b) => a.at_ms - b.at_ms)
  const last = runs[runs.length - 1].document
  const durationS = (Date.parse(last.started) - beginMs) / 1000 + last.duration_s
  await store({ ...runs[0].document, duration_s: durationS, events }, lines, timeline)
  return { legs, timeline }
}

/** @param {Needs} needs @returns {Promise<CellRun>} */
export const runCell = (needs) => {
  const [first, ...more] = needs.cell.legs
  if (needs.part) refuseOneBox(needs.cell, strategyOfOptions(first.options))
  return more.length === 0 && !first.consumer && !first.action ? steady(needs) : continuous(needs)
}
