// What a measure may ask of the run that takes it, by the kind of run. One that asks for what its kinds of run do not have
// fails in tsc, as does a run that does not hand over what its measures need.

import type { WorkRecords } from '../loads/workers/stages.js'
import type { Bins } from '../probes/bunching.js'
import type { ofSecond } from '../probes/latency.js'
import type { NodeRow } from '../probes/node-sampler.js'
import type { Endpoint } from '../servers/address.js'
import type { Access } from '../servers/dial.js'
import type { Target } from '../servers/open.js'
import type { Field, Row } from './fields.js'
import type { Fields, Folded } from './fold.js'
import type { instrumentsOf } from './index.js'
import type { AnyPlan, Costed, Declared, Source } from './measure.js'
import type { Warning } from './warnings.js'

/** Who takes measures: a run of writers, of consumers or of workers, or a process that a run of workers starts. */
export type Taker = 'writers' | 'readers' | 'workers' | 'processes'

interface OfProcess {
  plan: AnyPlan
  clock: () => number
}

/** What threads beside this one take too. */
interface Beside {
  source: (source: Source, measure: Measure) => Source
  warnings: () => Warning[]
}

interface OfRun extends OfProcess {
  /** 0 until the start of the load. */
  elapsed: () => number
  /** null: another box samples the nodes. */
  sampler: {
    sample: () => Promise<NodeRow[]>
    mark: () => Promise<NodeRow[]>
    state: () => unknown
    restore: (state: unknown) => void
  } | null
  /** Wraps what one box of a fleet does for all. */
  shared?: ((source: Source) => Source) | null
  beside?: Beside | null
  /** The number of a thread, from 0, that plays a part of the run. */
  thread?: number
}

type Times = { endSecond: () => ReturnType<typeof ofSecond> }
type Latencies = { intended: Times; service: Times; commands?: () => unknown }

export interface WriterNeeds extends OfRun {
  records: {
    latency: Latencies
    lateOfSecond: () => ReturnType<typeof ofSecond>
    arrivalsOfSecond: () => Record<string, Bins>
  }
  /** The load once it is open. */
  load: () => {
    driver: { waitingBytes: () => number; encodeMs?: number; encodedBytes?: number }
    writing: { lastSettledMs: () => number }
    reconnects?: () => { asked: number; missed: number; renewed: number }
  } | null
  masters: () => Endpoint[]
  access: Access
  /** Whether what was due then is of the measured window. */
  covers: (dueMs: number) => boolean
  note: (kind: string, text: string) => void
  /** Is given all latencies as well. */
  tap?: { record: (path: string, dueMs: number, us: number) => void }
}

export interface ReaderNeeds extends OfRun {
  target: Pick<Target, 'nodes' | 'control'>
  verifier: { counts: Record<string, number>; examples: string[] } | null
}

export interface WorkerNeeds extends OfRun {
  stages: readonly { records: WorkRecords }[]
  records: { latency: Latencies }
  /** Jobs, by stage. */
  waiting: () => Promise<number[]>
  queueBytes: () => Promise<number | null>
}

export interface NeedsOf {
  writers: WriterNeeds
  readers: ReaderNeeds
  workers: WorkerNeeds
  processes: OfProcess
}

/** What a run adds to what its frame has. */
export type MoreNeeds<T extends keyof NeedsOf> = Omit<NeedsOf[T], 'clock' | 'elapsed' | 'sampler'> & {
  sampler?: null
}

/** Starts the instruments of a run. */
export type Measuring = <T extends 'writers' | 'readers' | 'workers'>(
  taker: T,
  more: MoreNeeds<T>,
  measures?: readonly Measure[],
) => ReturnType<typeof instrumentsOf>

/** What fields come to, by their paths, and the nodes, which several measures look at. */
export type SumsOf<R extends Fields> = {
  readonly [P in keyof R]?: (R[P] extends Field<infer Sum, infer _> ? Sum : never) | null
} & { readonly nodes?: Record<string, Row> | null }

type Names<Take> = Take extends () => infer Found ? keyof Awaited<Found> : never
type Beyond<Taken, R extends Fields> = string extends Taken ? never : Exclude<Taken, keyof R>

/** A source that takes what its measure does not record: its name stands in the error. */
export type Recorded<S extends Source, R extends Fields> =
  Beyond<Names<S['second']> | Names<S['sample']>, R> extends never
    ? unknown
    : { record: Record<Beyond<Names<S['second']> | Names<S['sample']>, R>, Field> }

export interface Summing<R extends Fields = any, F extends Fields = any> {
  /** Of the measured seconds. */
  window: SumsOf<R>
  /** Of all seconds. */
  whole: SumsOf<R>
  facts: SumsOf<F>
  plan: AnyPlan
  /** Items that were stored in the window. */
  stored: number
  /** How long the load took. */
  overS?: number
  costed?: Costed
}

/** T of the run, S the source that takes it there, R and F the fields that it records. */
export interface Measure<
  T extends Taker = Taker,
  S extends Source = Source,
  R extends Fields = Fields,
  F extends Fields = Fields,
> extends Declared {
  /** Of a second. */
  record: R
  /** Known once. */
  facts?: F
  /** By paths of run.json. */
  summary(sums: Summing<R, F>): Folded
  /** The kinds of run that have it. */
  of: readonly T[]
  /** Asked for with what all of them have. */
  open(needs: NeedsOf[T]): S | Promise<S>
}
