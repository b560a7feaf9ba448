// All measures, and what is derived from their list.
import { accounted } from './account.js'
import { arrivals } from './arrivals.js'
import { backlog, waitingIn } from './backlog.js'
import { fleet, readersOf } from './boxes.js'
import { bundles } from './bundles.js'
import { bystander, others } from './bystander.js'
import { cache, cacheSection, curveSection } from './cache.js'
import { client } from './client.js'
import { cloudwatch } from './cloudwatch.js'
import { collection } from './collection.js'
import { costs, jobCosts } from './costs.js'
import { fetches, reading } from './fetches.js'
import { at, foldOf, put, sumOfSources } from './fold.js'
import { clocks, reads, traffic, written } from './head.js'
import { jobs, timesOfJobs } from './jobs.js'
import { latency, latencyOfWorkers, latencyOfWriters } from './latency.js'
import { nodes, nodesSection } from './nodes.js'
import { outcomes } from './outcomes.js'
import { encodings, passes } from './passes.js'
import { ofQueries } from './queries.js'
import { queue } from './queue.js'
import { rate, rateOfReads } from './rate.js'
import { reconnects } from './reconnects.js'
import { registered } from './registry.js'
import { replication } from './replication.js'
import { replies } from './replies.js'
import { metricsOf, nestedShapes, shapesOf, unnamed } from './section.js'
import { server, serverOfJobs } from './server.js'
import { snapshot } from './snapshot.js'
import { staleReads } from './stale.js'
import { ticks, ticksSection } from './ticks.js'
import { commandsOfReaders, consumers, uniqueness } from './uniqueness.js'
import { verify } from './verify.js'
import { commandsOfWorkers, connections, stages, working } from './workers.js'

/**
 * @import { Amounts, Fields, Folded } from './fold.js'
 * @import { Measure, NeedsOf, Summing, Taker } from './contract.js'
 * @import { Schema } from '../base/shape-types.js'
 * @import { Run, Section } from './section.js'
 * @import { AnyPlan, Metric, Part, Reading, Source, Unit } from './measure.js'
 */

/** @template T @typedef {import('./bystander.js').OfOthers<T>} OfOthers */

export { others, waitingIn }

/** @type {readonly Measure[]} */
const all = [
  ...[latency, bystander, ticks, arrivals, client, collection, reconnects, replies, cache, staleReads],
  ...[fetches, replication, verify, jobs, backlog, nodes, costs, jobCosts],
]
const readers = readersOf(
  fetches.name,
  all.filter(({ of }) => of.includes('readers')),
)

/**
 * Sections of run.json by what it is of; in the order of its schema, of their rows and of their reasons. What measures put into
 * others is in those that they name.
 * @type {Readonly<Record<'producer' | 'consumer' | 'workers', readonly Section[]>>}
 */
export const SECTIONS = Object.freeze({
  producer: [
    ...[outcomes.items, unnamed('agents', []), unnamed('writers', null), clocks, outcomes.commands, rate],
    ...[latencyOfWriters, ticksSection, server, nodesSection, written, fleet, readers, traffic],
    ...[
      queue,
      outcomes.counts,
      passes,
      encodings,
      snapshot,
      ...ofQueries,
      cacheSection,
      curveSection,
      bundles,
    ],
    cloudwatch,
  ],
  workers: [
    ...[unnamed('writing', null), accounted, rate, latencyOfWorkers, ...timesOfJobs, working, stages],
    ...[connections, commandsOfWorkers, clocks, serverOfJobs, nodesSection, cloudwatch],
  ],
  consumer: [
    ...[unnamed('writing', null), consumers, rateOfReads, clocks, unnamed('live', null), uniqueness, reads],
    ...[commandsOfReaders, nodesSection, cloudwatch],
  ],
})

/** In the order of run.json, of the report and of the docs. @type {readonly Measure[]} */
export const MEASURES = registered(all, SECTIONS)

/** @param {Taker} taker @returns {readonly Measure[]} */
const takenBy = (taker) => MEASURES.filter(({ of }) => of.includes(taker))
export const ofWriters = takenBy('writers')
export const ofReaders = takenBy('readers')
export const ofWorkers = takenBy('workers')
/** What a run of workers has under the names of a run of writers. */
const namesOfWorkers = new Set([
  'rate.achieved',
  ...SECTIONS.workers
    .filter((one) => !SECTIONS.producer.includes(one))
    .flatMap(({ metrics }) => Object.keys(metrics)),
  ...ofWorkers.flatMap(({ metrics }) => Object.keys(metrics)),
])
/** @param {string} name of a metric */
export const isOfWorkers = (name) => namesOfWorkers.has(name)
/** What consumers alone have. */
export const ofReading = MEASURES.filter(({ of }) => of.every((taker) => taker === 'readers'))
/** The measure that counts what consumers do. */
export const readsName = fetches.name
export { reading }

/** The measures of a plan. @param {readonly Measure[]} measures @param {AnyPlan} plan */
export const applying = (measures, plan) => measures.filter(({ applies = () => true }) => applies(plan))

/** @template T @param {readonly Measure[]} measures @param {(measure: Measure) => T | undefined} of @returns {T} */
const together = (measures, of) => Object.assign({}, ...measures.map((measure) => of(measure) ?? {}))

/** Fields of a second, by their paths. @param {readonly Measure[]} [measures] */
export const recordOf = (measures = MEASURES) => together(measures, ({ record }) => record)

/** @param {readonly Measure[]} [measures] */
export const factsOf = (measures = MEASURES) => together(measures, ({ facts }) => facts)

/** Paths of a second's histograms. */
export const TIMES = Object.freeze(
  Object.entries(recordOf()).flatMap(([path, { kind }]) => (kind === 'times' ? [path] : [])),
)

// Latencies that a search takes for each second.
const byDue = [latency, bystander]
export const TIMES_BY_DUE = Object.freeze(Object.keys(recordOf(byDue)))
/** The prefixes of their metrics' names. */
export const SECTIONS_BY_DUE = Object.freeze([
  ...new Set(byDue.flatMap(({ metrics }) => Object.keys(metrics).map((name) => `${name.split('.')[0]}.`))),
])

const donePaths = MEASURES.flatMap(({ done }) => done ?? [])
/** How much of the load was done in a second. @param {Amounts} line */
export const doneIn = (line) => donePaths.map((path) => at(line, path)).find((n) => n !== null) ?? 0

/** Fields that a box of a fleet adds up by itself, as boxes cannot be added before seconds; histograms can. */
export const ownOfBoxes = Object.fromEntries(
  Object.entries(recordOf()).filter(([, { kind }]) => kind !== 'times'),
)

/** A line with what its reader wants besides the amounts. @param {Folded} record by paths @returns {Folded} */
export const lineOf = (record) => {
  const all = Object.assign({}, record, ...MEASURES.map(({ show }) => show?.(record) ?? {}))
  const line = {}
  for (const [path, value] of Object.entries(all)) if (value !== undefined) put(line, path, value)
  return line
}

/**
 * The sections of run.json that measures make, of a process, of a window or of a fleet.
 * @param {Summing} sums
 * @param {readonly Measure[]} [measures]
 * @returns {Folded}
 */
export const summaryOf = (sums, measures = MEASURES) => {
  const result = {}
  for (const { summary } of measures)
    for (const [path, value] of Object.entries(summary(sums))) put(result, path, value)
  return result
}

/** Sums of a process with those of processes beside it. @param {Sums} own @param {readonly Sums[]} beside @param {Fields} record @returns {Sums} */
const withBeside = (own, beside, record) => {
  if (beside.length === 0) return own
  const all = [own, ...beside]
  const summed = (/** @type {'window' | 'whole'} */ part) =>
    sumOfSources(
      record,
      all.map((sums) => sums[part]),
    )
  return {
    window: summed('window'),
    whole: summed('whole'),
    facts: factsBeside(all.map((sums) => sums.facts)),
  }
}

/**
 * @typedef {{ window: Folded, whole: Folded }} Folds what the seconds of a run come to: those measured, and all
 * @typedef {Folds & { facts: Folded }} Sums
 * @typedef {Pick<Summing, 'stored' | 'overS' | 'costed' | 'facts'> & { beside?: readonly Sums[], own?: Folds }} Known of a run besides its
 *   seconds; beside: what processes beside it add up; own: of a fleet, what its boxes added up themselves
 */

/**
 * The sections of run.json that measures make: the one way from facts and seconds to them, of a process, of a part of a run and
 * of a fleet, where only histograms are of its seconds.
 * @param {Known} known
 * @param {Folds} folds
 * @param {AnyPlan} plan
 * @param {readonly Measure[]} measures
 */
export const sectionsOf = (
  { beside = [], own, facts, stored, overS, costed },
  { window, whole },
  plan,
  measures,
) => {
  const record = recordOf(measures)
  const known = { stored, overS, costed, plan }
  if (!own) return summaryOf({ ...known, ...withBeside({ window, whole, facts }, beside, record) }, measures)
  const times = Object.fromEntries(
    TIMES.flatMap((path) => (path in record ? [[path, window[path] ?? null]] : [])),
  )
  const none = foldOf(record).sum
  return summaryOf(
    {
      ...known,
      facts,
      window: { ...none, ...own.window, ...times },
      whole: { ...none, ...own.whole, ...times },
    },
    measures,
  )
}

/** The sums of several sources as one, with their facts. @param {readonly Folded[]} sources */
export const factsBeside = (sources) => sumOfSources(factsOf(), sources)

const isFigure = new Set(['amount', 'length', 'level', 'worst'])

/**
 * The schema's properties of run.json: its sections, and what measures put there besides.
 * @param {readonly Section[]} sections
 * @param {readonly Measure[]} measures
 */
export const shapesOfRun = (sections, measures) => ({
  ...nestedShapes(Object.assign({}, ...measures.map(({ result }) => result)), 'object'),
  ...shapesOf(sections),
})

/**
 * The schema's properties of a line.
 * @param {{ times: Schema, number: Schema }} shapes
 * @param {readonly Measure[]} [measures]
 */
export const shapesOfSecond = ({ times, number }, measures = MEASURES) =>
  nestedShapes(
    {
      ...Object.fromEntries(
        Object.entries(recordOf(measures)).map(([path, { kind }]) => [
          path,
          kind === 'times' ? times : isFigure.has(kind) ? number : { type: ['object', 'array', 'null'] },
        ]),
      ),
      ...Object.assign({}, ...measures.map(({ shown }) => shown ?? {})),
    },
    ['object', 'null'],
  )

/** @typedef {ReturnType<typeof metricsOf>[number]} MetricRow */

/** @param {(measure: Measure) => Measure['metricsOfBoxes']} of @param {readonly Measure[]} [measures] @returns {MetricRow[]} */
const metricRows = (of, measures = MEASURES) =>
  Object.entries(together(measures, of)).map(([name, { title, unit, better, isShare }]) => [
    name,
    title,
    unit,
    better,
    undefined,
    undefined,
    isShare,
  ])

// What runs are quoted by comes first.
/** @type {readonly Section[]} */
const chief = [rate, server, nodesSection]

/** Rows of the table of metrics. */
export const METRIC_ROWS = Object.freeze([
  ...metricsOf(chief),
  ...metricRows(({ metrics }) => metrics),
  ...metricsOf([...new Set(Object.values(SECTIONS).flat())].filter((one) => !chief.includes(one))),
  ...metricRows(({ metricsOfBoxes }) => metricsOfBoxes),
])

/** Names of metrics that consumers alone have. */
export const METRICS_OF_READERS = Object.freeze(
  metricRows(({ metrics }) => metrics, [...ofReading, jobs]).map(([name]) => name),
)

/** A metric whose name a model gave. @param {string} name */
export const metricNamed = (name) => MEASURES.map(({ named }) => named?.(name)).find(Boolean) ?? null

/** The names of those that a run has. @param {Run} run */
export const metricsNamedIn = (run) => MEASURES.flatMap(({ namesIn }) => namesIn?.(run) ?? [])

/**
 * The sections of run.json with nothing in them, in their order: what measures make comes behind the rate.
 * @param {readonly Section[]} sections
 * @param {readonly Measure[]} measures
 */
export const emptySections = (sections, measures) => {
  /** @type {Record<string, unknown>} */
  const shape = {}
  const add = (/** @type {readonly Section[]} */ some) => {
    for (const { name, empty } of some)
      if (empty !== undefined) shape[name] = isObject(empty) ? { ...empty, ...Object(shape[name]) } : empty
  }
  const behind = 1 + sections.findIndex(({ name }) => name === rate.name)
  add(sections.slice(0, behind))
  // One that is not of every run has no section where it was not.
  for (const { result } of measures.filter(({ applies }) => !applies))
    for (const [path, schema] of Object.entries(result))
      if (!isSchemaOfList(schema)) put(shape, path, emptyOf(schema))
  add(sections.slice(behind))
  return shape
}

const isSchemaOfList = (/** @type {object} */ schema) => 'type' in schema && schema.type === 'array'
const isObject = (/** @type {unknown} */ value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** @param {Schema} schema @returns {Folded | null} */
const emptyOf = ({ type, properties = {} }) =>
  type === 'object'
    ? Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, emptyOf(part)]))
    : null

/**
 * What takes the measures in this process: asked once a second, and folded as it goes.
 * @template {Taker} T
 * @param {T} taker
 * @param {NeedsOf[T]} needs
 * @param {readonly Measure[]} [measures]
 */
export const instrumentsOf = async (taker, needs, measures = takenBy(taker)) => {
  const { plan, shared, beside } = { shared: null, beside: null, ...needs }
  /** @param {Measure} measure @param {Source} source */
  const taken = (measure, source) =>
    measure.by === 'one' ? (shared?.(source) ?? source) : (beside?.source(source, measure) ?? source)
  const wanted = applying(measures, plan)
  const all = await Promise.all(
    wanted.map(async (measure) => {
      return { measure, source: taken(measure, await measure.open(needs)) }
    }),
  )
  const record = recordOf(wanted)
  const whole = foldOf(record)
  let window = foldOf(record)
  let begun = 0
  let linesBefore = 0
  const noTimes = TIMES.filter((path) => path in record).map((path) => ({ [path]: null }))
  const sample = samplesOf(
    all.map(({ source }) => source),
    record,
  )
  /** @type {Folded} */
  let facts = {}
  const each = (/** @type {'start' | 'startRun' | 'startWindow' | 'stop'} */ step) =>
    Promise.all(all.map(({ source }) => source[step]?.()))
  /** Plain data for a fleet, or for the process that started this one: its sums. */
  const own = () => ({ window: plain(window.sum), whole: plain(whole.sum), facts })
  return {
    start: () => each('start'),
    startRun: () => each('startRun'),
    /** Called again, it discards what was measured before as warm-up. */
    startWindow: () => {
      linesBefore = begun
      window.close()
      window = foldOf(record)
      return each('startWindow')
    },
    stop: () => each('stop'),
    /** Passes an event to the sources that count it. @param {string} event @param {unknown} what */
    count(event, what) {
      for (const { source } of all) /** @type {any} */ (source)[event]?.(what)
    },
    /**
     * The source of a measure, with what only that has.
     * @template {Source} S
     * @param {Measure<any, S>} wantedOne
     * @returns {S | undefined}
     */
    source: (wantedOne) =>
      /** @type {S | undefined} */ (all.find(({ measure }) => measure.name === wantedOne.name)?.source),
    /**
     * The part of a line that measures have, all taken at one moment, or then asked for, and folded.
     * @param {boolean} isMeasured
     * @param {Promise<unknown>} [tooLate] what has not answered by then is not in it
     * @param {{ add: (line: object) => void }[]} [sums] a thread, whose seconds others fold, has none
     */
    async second(isMeasured, tooLate, sums = isMeasured ? [whole, window] : [whole]) {
      begun++
      const row = Object.assign({}, ...noTimes, ...all.map(({ source }) => source.second()))
      const line = lineOf(row)
      for (const sum of sums) sum.add(line)
      return { ...line, ...(await sample(sums, tooLate)) }
    },
    /** The load is over: reads the facts known only now. */
    end() {
      facts = Object.assign({}, ...all.map(({ source }) => source.facts?.() ?? {}))
    },
    warnings: () => [
      ...all.flatMap(({ source }) => source.warnings?.() ?? []),
      ...(beside?.warnings() ?? []),
    ],
    /** The sums of its seconds so far. */
    sofar: whole.sum,
    /** For the live line. @param {Amounts} line @returns {Folded} */
    live: (line) => Object.assign({}, ...wanted.map(({ live }) => live?.(line, whole.sum))),
    /** And those that are measured. */
    window: () => window.sum,
    /**
     * Sections of run.json, and what they are made of again, with the lines.
     * @param {Pick<Summing, 'stored' | 'overS' | 'costed'>} known
     * @param {readonly ReturnType<typeof own>[]} [beside] of processes beside this one
     */
    result(known, beside) {
      const sums = { ...known, facts, linesBefore, ...(beside && { beside }) }
      return { sections: sectionsOf(sums, { window: window.sum, whole: whole.sum }, plan, wanted), sums }
    },
    own,
    close() {
      for (const { source } of all) source.close?.()
      window.close()
      whole.close()
    },
  }
}

const nothing = () => ({})

/** A source that does not answer, or not in time, has nothing. @param {Promise<any> | undefined} answer @param {Promise<unknown>} [tooLate] */
const orNothing = (answer, tooLate) =>
  answer && Promise.race([answer, ...(tooLate ? [tooLate.then(nothing)] : [])]).catch(nothing)

/**
 * What sources have to be asked for, a second's added behind that of the one before, as its line is written.
 * @param {readonly Source[]} sources
 * @param {Fields} record
 */
const samplesOf = (sources, record) => {
  const noRows = Object.entries(record).flatMap(([path, { kind }]) =>
    kind === 'each' ? [{ [path]: [] }] : [],
  )
  /** @type {Promise<unknown>} */
  let adding = Promise.resolve()
  return (
    /** @type {readonly { add: (line: object) => void }[]} */ sums,
    /** @type {Promise<unknown> | undefined} */ tooLate,
  ) => {
    const answers = sources.map((source) => orNothing(source.sample?.(), tooLate))
    const added = Promise.all([adding, ...answers]).then(([, ...asked]) => {
      const sampled = Object.assign({}, ...noRows, ...asked)
      for (const sum of sums) sum.add(sampled)
      return sampled
    })
    // One that fails takes no later ones with it.
    adding = added.then(
      () => {},
      () => {},
    )
    return added
  }
}

/** Without histograms, which a fleet adds up second by second. @param {Folded} sum */
const plain = (sum) => Object.fromEntries(Object.keys(ownOfBoxes).map((path) => [path, sum[path] ?? null]))

/** Lines of a part of the report. @param {Part} part @param {Run} run @param {string} unit */
export const answersIn = (part, run, unit) =>
  MEASURES.flatMap(({ answers }) => answers?.[part]?.(run, unit) ?? [])

/** Codes of warnings that are beside a measure's line, and what that line is of. @type {ReadonlyMap<string, string>} */
export const timesByWarning = new Map(
  MEASURES.flatMap(({ warningCodes: codes = [], times }) =>
    codes.map((code) => [code, times?.[0]?.name ?? code]),
  ),
)

/** Lines of the details. @param {Run} run @param {string} unit */
export const factsIn = (run, unit) => MEASURES.flatMap(({ fact }) => fact?.(run, unit) ?? [])
