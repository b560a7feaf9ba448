// The JSON Schemas of the files of a result: what reports, comparisons and verify.js rely on. Fields that are not named
// here may be there.
import { accounted } from '../measures/account.js'
import {
  ofReaders,
  ofWorkers,
  ofWriters,
  readsName,
  schemasOf,
  sectionsOfClients,
} from '../measures/index.js'
import { someTimes as percentiles } from '../measures/measure.js'
import { rate } from '../measures/rate.js'
import { shapesOf } from '../measures/section.js'
import { stages, working } from '../measures/workers.js'

const text = { type: 'string' }
const number = { type: 'number' }
const figure = { type: ['number', 'null'] }
const flag = { type: 'boolean' }
const texts = { type: 'array', items: text }
const whole = { type: 'integer', minimum: 0 }
// ISO, as Date writes it: what else it reads differs between machines.
const moment = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d' }

// The page has a link to it, and its page is written there.
const folderWithin = { type: 'string', pattern: '^[A-Za-z0-9][\\w.-]*(/[A-Za-z0-9][\\w.-]*)*$' }

/** @param {object} properties @param {string[]} [required] */
const object = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required })
/** @param {object} items */
const list = (items) => ({ type: 'array', items })
/** @param {object} values */
const dictionary = (values) => ({ type: 'object', additionalProperties: values })
/** @param {string[]} names */
const figures = (names) => object(Object.fromEntries(names.map((name) => [name, figure])), [])
/** @param {{ type: string }} schema */
const nullable = (schema) => ({ ...schema, type: [schema.type, 'null'] })

const measured = schemasOf({ times: {}, number: figure })
const commands = dictionary(object({ calls: number, usec: number }))
const versions = object({ millrace: text, node: text, servers: texts })
export const warningSchema = object({ code: text, message: text, invalidates: flag, cause: text }, [
  'message',
])
const warnings = list(warningSchema)
const agentRange = object({ agent: whole, first: whole, count: whole })

const plan = object(
  {
    strategy: text,
    quantity: number,
    periodMs: { type: 'number', exclusiveMinimum: 0 },
    spacingMs: number,
    chunks: { type: 'integer', minimum: 1 },
    totalAgents: whole,
    agents: list({ anyOf: [agentRange, whole] }),
    items: number,
    nominalHz: figure,
    rate: nullable(text),
    pacing: text,
    arrivals: text,
    driver: text,
    ttlS: number,
    valueBytes: number,
    valueSizes: nullable(text),
    payload: text,
    stamp: flag,
    once: flag,
    prefix: text,
    placement: text,
    sets: texts,
    extraSets: texts,
    maxMembers: figure,
    scriptMembers: figure,
    warmUpMs: figure,
    limit: number,
  },
  ['strategy'],
)

const run = {
  schema: { const: 1 },
  run: text,
  started: moment,
  duration_s: number,
  plan,
  versions,
  commands: { type: 'object' },
  rate: rate.shape,
  client: measured.run.client,
  nodes: measured.run.nodes,
  events: list(object({ at_ms: number, kind: text, text })),
  warnings,
}

const cloudwatch = object({
  ...{ region: text, period_s: number, from: text, to: text, settled: flag, read_at: text },
  nodes: list(
    object({
      ...{ id: text, kind: { enum: ['node', 'serverless'] }, address: nullable(text) },
      role: { enum: ['master', 'replica', null] },
      means: dictionary(number),
      points: dictionary(list({ type: 'array', items: number, minItems: 2, maxItems: 2 })),
    }),
  ),
  notes: texts,
})

const optional = {
  summary: list(text),
  command_line: text,
  measured_s: figure,
  warm_up_s: figure,
  valid: flag,
  state: { enum: ['valid', 'partial', 'not-valid'] },
  interrupted: flag,
  target: nullable(
    object({ kind: text, origin: text, shared_keys: list(object({ key: text, shard: number })) }, [
      'kind',
      'origin',
    ]),
  ),
  thresholds: list({ type: 'object' }),
  cloudwatch,
  bystander_us: measured.run.bystander_us,
}

/** @param {string[]} names */
const numbers = (names) => object(Object.fromEntries(names.map((name) => [name, number])))

const chunks = object(
  {
    delivery: { enum: ['one', 'pipeline', 'concurrent', 'call', 'transaction'] },
    size: number,
    calls: number,
    time_ms: nullable(figures(['whole', 'waiting', 'preparing', 'sending', 'parsing', 'other'])),
    delay: nullable(numbers(['asked', 'direct', 'proxy', 'added', 'busy_ms', 'lost'])),
    sum: nullable(numbers(['before', 'after', 'acked', 'uncertain', 'different'])),
  },
  ['delivery', 'size', 'calls'],
)

/** The clocks of the servers, compared with this box's. */
const clocks = list(object({ address: text, offset_ms: number, rtt_ms: number }))

/** Passes over all numbers. */
const passes = list(
  object({
    ...{ name: text, operations: number, duration_s: number, rate: number },
    ...{ server_cpu_us: figure, memory_bytes: figure, counts: dictionary(number) },
  }),
)

const step = numbers(['total_ms', 'longest_ms', 'bystander_max_us'])
const snapshot = object({
  masters: number,
  keys: number,
  data_bytes: figure,
  save: step,
  flush: step,
  load: step,
})

/** Structures that count unique items, side by side. */
const uniqueness = list(
  object({
    ...{ structure: text, nature: text, samples: number, empty: number, last: number },
    ...figures(['truth', 'error_pct', 'error_pct_worst']).properties,
  }),
)

const idle = object({ cpu_pct: number, uncertainty_pct: number, by_node: dictionary(number) })

/** The same, where times may be missing as a whole. @param {any} section */
const ofSome = ({ properties, ...section }) => ({
  ...section,
  properties: Object.fromEntries(
    Object.entries(properties).map(([name, part]) => [name, part.properties ? nullable(part) : part]),
  ),
})

/** Items under their outcomes. */
const items = object(
  {
    ...Object.fromEntries(
      ['offered', 'acked', 'failed', 'uncertain', 'dropped', 'unsettled'].map((name) => [name, number]),
    ),
    failed_by: dictionary(number),
  },
  ['offered', 'acked', 'failed_by'],
)

const box = {
  box: whole,
  host: text,
  state: { enum: ['done', 'interrupted', 'lost'] },
  clock: numbers(['offset_ms', 'uncertainty_ms']),
  from_s: number,
  to_s: number,
  intervals_lost: number,
  ...figures(['busy_pct', 'cpu_pct']).properties,
}
const inBox = Object.keys(box).filter((name) => !name.endsWith('_pct'))

const fleet = object({
  control: text,
  boxes: list(
    object(
      {
        ...{ ...box, writers: list(whole), offered: number, acked: number },
        ...{ achieved: figure, latency_us: percentiles },
      },
      [...inBox, 'writers', 'offered', 'acked'],
    ),
  ),
  start: numbers(['clock_skew_ms', 'loop_skew_ms']),
  absent: numbers(['items', 'share']),
})

/** For boxes that read in a run of a fleet. */
const readers = object(
  {
    plan,
    consumers: whole,
    [readsName]: ofSome(measured.run[readsName]),
    rate: rate.shape,
    freshness_ms: nullable(percentiles),
    replication_ms: nullable(percentiles),
    verify: measured.run.verify,
    client: measured.run.client,
    boxes: list(
      object(
        {
          ...{ ...box, readers: list(whole), [readsName]: number, items: number },
          ...{ items_per_s: figure, duration_ms: percentiles },
        },
        [...inBox, 'readers', readsName, 'items'],
      ),
    ),
  },
  ['plan', 'consumers', readsName, 'rate', 'boxes'],
)

const written = object({
  agents: list(object({ agent: whole, ticks: whole })),
  not_acked: list({ type: 'array', items: whole, minItems: 2, maxItems: 2 }),
  complete: flag,
})

/**
 * A document with what its measures declare and it does not name.
 * @param {Record<string, object>} named
 * @param {typeof ofWriters} measures
 */
const withMeasured = (named, measures) => ({
  ...named,
  ...Object.fromEntries(
    Object.entries(schemasOf({ times: {}, number: figure }, measures).run).filter(
      ([name]) => !(name in named),
    ),
  ),
})

/** run.json of a producer. */
export const PRODUCER = object(
  withMeasured(
    {
      ...run,
      ...optional,
      items,
      commands: object({ sent: number, repeated: number, errors_by: dictionary(number) }, []),
      latency_us: object(
        {
          intended: nullable(percentiles),
          service: nullable(percentiles),
          commands: dictionary(percentiles),
        },
        ['intended', 'service'],
      ),
      ticks: object({ count: number, late: figure, lateness_us: percentiles }, ['count', 'lateness_us']),
      server: object(
        {
          ...figures(['share', 'cpu_us_per_item', 'memory_bytes_per_item', 'evicted']).properties,
          ...figures(['net_bytes_per_item', 'net_bytes_per_item_net', 'cpu_us_per_item_net']).properties,
          ...figures(['cpu_us_per_item_net_uncertainty', 'fixed_cpu_share']).properties,
          ...figures(['masters_cpu_us_per_item_net', 'cpu_us_per_item_uncertainty']).properties,
          commands: nullable(commands),
          memory_note: nullable(text),
          foreign_calls: nullable(
            object(
              {
                ...{ command: text, calls: number, by: { enum: ['consumers'] } },
                ...{ calls_per_s: number, on: { enum: ['masters', 'replicas'] }, cpu_share_most: number },
              },
              ['command', 'calls'],
            ),
          ),
          idle: { anyOf: [{ type: 'null' }, object({ why: text, net_bytes_per_s: figure }, ['why']), idle] },
        },
        [],
      ),
      written: nullable(written),
      fleet,
      readers,
      traffic: nullable(dictionary({ type: ['object', 'number'] })),
      chunks: nullable(chunks),
      ...shapesOf(sectionsOfClients),
      counts: nullable(dictionary(number)),
      passes: nullable(passes),
      encodings: nullable(dictionary(number)),
      snapshot: nullable(snapshot),
      clocks,
      queue: nullable(figures(['limit', 'refused', 'predicted_ms', 'predicted_at_ms', 'full_ms'])),
    },
    ofWriters,
  ),
  [...Object.keys(run), 'items', 'latency_us', 'ticks', 'server'],
)

/** run.json of a consumer. */
export const CONSUMER = object(
  withMeasured(
    {
      ...run,
      ...optional,
      commands: object({ master: commands, replica: commands }, []),
      [readsName]: measured.run[readsName],
      freshness_ms: measured.run.freshness_ms,
      replication_ms: measured.run.replication_ms,
      consumers: number,
      clocks,
      verify: measured.run.verify,
      uniqueness: nullable(uniqueness),
      reads: dictionary({ type: 'object' }),
    },
    ofReaders,
  ),
  [...Object.keys(run), readsName, 'freshness_ms', 'replication_ms'],
)

/** run.json of the workers of a queue. */
export const WORKERS = object(
  withMeasured(
    {
      ...run,
      ...optional,
      jobs: accounted.shape,
      commands: object({ refused_by: dictionary(number), lost_replies: dictionary(number) }),
      latency_us: object({ intended: nullable(percentiles), service: nullable(percentiles) }),
      waiting_us: nullable(measured.run.waiting_us),
      work_us: nullable(measured.run.work_us),
      take_us: nullable(measured.run.take_us),
      confirm_us: nullable(measured.run.confirm_us),
      backlog: measured.run.backlog,
      workers: working.shape,
      clocks,
      stages: nullable(stages.shape),
      connections: nullable(object({ stated: text, renewed: number, connect_us: nullable(percentiles) })),
      server: object(
        {
          ...figures(['cpu_us_per_job', 'net_bytes_per_job', 'evicted']).properties,
          commands: nullable(commands),
        },
        [],
      ),
    },
    ofWorkers,
  ),
  [...Object.keys(run), 'jobs', 'latency_us', 'workers'],
)

/** What verify.js needs of a producer's run.json besides. */
export const VERIFIABLE = object({
  items: object({ offered: whole }),
  nodes: { type: 'array', minItems: 1 },
  target: object({ kind: text, origin: text }),
  plan: object({
    strategy: text,
    quantity: { type: 'integer', minimum: 1 },
    chunks: { type: 'integer', minimum: 1 },
    spacingMs: { type: 'number', minimum: 0 },
    ttlS: { type: 'number', exclusiveMinimum: 0 },
    valueBytes: { type: 'integer', minimum: 1, maximum: 512e6 },
    payload: { enum: ['random', 'sparse', 'zero'] },
    placement: { enum: ['plain', 'same-slot', 'spread'] },
    seed: whole,
    stamp: flag,
    prefix: text,
    buckets: { type: 'integer', minimum: 1 },
    taggedItems: flag,
    pacing: text,
    agents: { type: 'array', items: agentRange, minItems: 1 },
    sets: { ...texts, minItems: 1 },
  }),
  written,
})

const figureOfRow = object({ median: figure, low: figure, high: figure, samples: list(figure) }, ['samples'])

/** experiment.json */
export const EXPERIMENT = object(
  {
    schema: { const: 1 },
    id: text,
    question: text,
    setup: text,
    started: moment,
    duration_s: number,
    command: text,
    versions,
    columns: list(object({ name: text, title: text, chart: flag }, ['name'])),
    rows: list(
      object(
        {
          label: text,
          factors: { type: 'object' },
          figures: dictionary(figureOfRow),
          published: nullable(dictionary(figure)),
          runs: list(folderWithin),
          marks: list(object({ code: text, text }, ['text'])),
        },
        ['label', 'figures', 'runs', 'marks'],
      ),
    ),
    ratios: list(
      object(
        {
          label: text,
          figure: text,
          numerator: text,
          denominator: text,
          ours: object({ ratio: figure, low: figure, high: figure }, []),
          published: figure,
          claim: nullable(text),
          why: nullable(text),
        },
        ['label', 'figure', 'ours'],
      ),
    ),
    phases: list(object({ label: text, from_ms: number, to_ms: number })),
    timeline: folderWithin,
    verdict: text,
    warnings,
  },
  [
    ...['schema', 'id', 'question', 'setup', 'started', 'versions', 'columns', 'rows', 'ratios', 'phases'],
    ...['verdict', 'warnings'],
  ],
)

const latency = nullable(object({ ...percentiles.properties, count: figure, hdr: text }, []))

/** A line of intervals.ndjson. */
export const SECOND = object(
  {
    at_ms: number,
    phase: text,
    items: dictionary(number),
    achieved: figure,
    latency_us: object({ intended: latency, service: latency }, []),
    ...schemasOf({ times: latency, number: figure }).second,
    nodes: list(object({ address: text, role: text, gap: text, commands }, ['address'])),
  },
  ['at_ms'],
)
