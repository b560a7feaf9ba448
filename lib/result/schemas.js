// The JSON Schemas of the files of a result: what reports, comparisons and verify.js rely on. Fields that are not named
// here may be there.

import * as S from '../base/shape.js'
import { exactly } from '../base/typed.js'
import {
  agentRange,
  events,
  first,
  moment,
  more,
  versions,
  warnings,
  writtenShape,
} from '../measures/head.js'
import { ofReaders, ofWorkers, ofWriters, SECTIONS, shapesOfRun, shapesOfSecond } from '../measures/index.js'
import { commandsShape } from '../measures/server.js'

/**
 * @import { Measure } from '../measures/contract.js'
 * @import { Section } from '../measures/section.js'
 */

const atLeast = (/** @type {number} */ minimum) => exactly({ type: 'integer', minimum })

// The page has a link to it, and its page is written there.
const folderWithin = exactly({
  type: 'string',
  pattern: '^[A-Za-z0-9][\\w.-]*(/[A-Za-z0-9][\\w.-]*)*$',
})

/** @param {readonly Section[]} sections @param {readonly Measure[]} measures */
const runOf = (sections, measures) => {
  const own = shapesOfRun(sections, measures)
  const needed = [
    ...sections.flatMap(({ name, isNeeded }) => (isNeeded ? [name] : [])),
    ...measures.flatMap((measure) => measure.needed ?? []),
  ]
  return {
    type: 'object',
    properties: { ...first, events, warnings, ...more, ...own },
    required: [...new Set([...Object.keys(first), 'events', 'warnings', ...needed])],
  }
}

/** run.json of a producer. */
export const PRODUCER = runOf(SECTIONS.producer, ofWriters)
/** run.json of a consumer. */
export const CONSUMER = runOf(SECTIONS.consumer, ofReaders)
/** run.json of the workers of a queue. */
export const WORKERS = runOf(SECTIONS.workers, ofWorkers)

/** What verify.js needs of a producer's run.json besides. */
export const VERIFIABLE = S.object({
  items: S.object({ offered: S.whole }),
  nodes: exactly({ type: 'array', minItems: 1 }),
  target: S.object(S.each(['kind', 'origin'], S.text)),
  plan: S.object({
    strategy: S.text,
    ...S.each(['quantity', 'chunks'], atLeast(1)),
    spacingMs: exactly({ type: 'number', minimum: 0 }),
    ttlS: exactly({ type: 'number', exclusiveMinimum: 0 }),
    valueBytes: exactly({ type: 'integer', minimum: 1, maximum: 512e6 }),
    payload: S.oneOf('random', 'sparse', 'zero'),
    placement: S.oneOf('plain', 'same-slot', 'spread'),
    seed: S.whole,
    stamp: S.flag,
    prefix: S.text,
    buckets: atLeast(1),
    taggedItems: S.flag,
    pacing: S.text,
    agents: exactly({ type: 'array', items: agentRange, minItems: 1 }),
    sets: exactly({ type: 'array', items: { type: 'string' }, minItems: 1 }),
  }),
  written: writtenShape,
})

const figureOfRow = S.object({
  ...S.each(['median', 'low', 'high'], S.maybe(S.figure)),
  samples: S.list(S.figure),
})

/** experiment.json */
export const EXPERIMENT = S.object({
  schema: S.just(1),
  ...S.each(['id', 'question', 'setup'], S.text),
  started: moment,
  duration_s: S.maybe(S.number),
  command: S.maybe(S.text),
  versions,
  columns: S.list(S.object({ name: S.text, title: S.maybe(S.text), chart: S.maybe(S.flag) })),
  rows: S.list(
    S.object({
      label: S.text,
      factors: S.maybe(S.anything),
      figures: S.byName(figureOfRow),
      published: S.maybe(S.nullable(S.byName(S.figure))),
      runs: S.list(folderWithin),
      marks: S.list(S.object({ code: S.maybe(S.text), text: S.text })),
    }),
  ),
  ratios: S.list(
    S.object({
      ...S.each(['label', 'figure'], S.text),
      ...S.each(['numerator', 'denominator'], S.maybe(S.text)),
      ours: S.object(S.each(['ratio', 'low', 'high'], S.maybe(S.figure))),
      published: S.maybe(S.figure),
      ...S.each(['claim', 'why'], S.maybe(S.note)),
    }),
  ),
  phases: S.list(S.object({ label: S.text, from_ms: S.number, to_ms: S.number })),
  timeline: S.maybe(folderWithin),
  verdict: S.text,
  warnings,
})

const latency = S.nullable(
  S.object({
    ...S.each(['p50', 'p90', 'p99', 'p999', 'max', 'count'], S.maybe(S.figure)),
    hdr: S.maybe(S.text),
  }),
)

/** A line of intervals.ndjson. */
export const SECOND = S.object({
  at_ms: S.number,
  phase: S.maybe(S.text),
  items: S.maybe(S.byName(S.number)),
  achieved: S.maybe(S.figure),
  latency_us: S.maybe(S.object(S.each(['intended', 'service'], S.maybe(latency)))),
  ...Object.fromEntries(
    Object.entries(shapesOfSecond({ times: latency, number: S.figure })).map(([name, shape]) => [
      name,
      S.maybe(shape),
    ]),
  ),
  nodes: S.maybe(
    S.list(
      S.object({
        address: S.text,
        ...S.each(['role', 'gap'], S.maybe(S.text)),
        commands: S.maybe(commandsShape),
      }),
    ),
  ),
})
