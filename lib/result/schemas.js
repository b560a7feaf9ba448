// The JSON Schemas of the files of a result: what reports, comparisons and verify.js rely on. Fields that are not named
// here may be there.

const text = { type: 'string' }
const number = { type: 'number' }
const figure = { type: ['number', 'null'] }
const flag = { type: 'boolean' }
const texts = { type: 'array', items: text }
const whole = { type: 'integer', minimum: 0 }
// ISO, as Date writes it: what else it reads differs between machines.
const moment = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d' }

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

const percentiles = figures(['p50', 'p90', 'p99', 'p999', 'max'])
const commands = dictionary(object({ calls: number, usec: number }))
const versions = object({ millrace: text, node: text, servers: texts })
const warnings = list(object({ code: text, message: text, invalidates: flag }, ['message']))
const share = object({ agent: whole, first: whole, count: whole })

const plan = object(
  {
    strategy: text,
    quantity: number,
    periodMs: { type: 'number', exclusiveMinimum: 0 },
    spacingMs: number,
    chunks: { type: 'integer', minimum: 1 },
    totalAgents: whole,
    agents: list({ anyOf: [share, whole] }),
    items: number,
    nominalHz: figure,
    rate: nullable(text),
    pacing: text,
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
  rate: figures(['nominal', 'achieved', 'items', 'value_bytes']),
  client: figures(['cpu_s', 'cpu_pct', 'cpu_us_per_item', 'rss_mb_max', 'loop_delay_ms_p99', 'busy_pct']),
  nodes: list(
    object(
      {
        address: text,
        role: text,
        shard: number,
        ...figures(['engine_cpu_pct', 'cpu_pct', 'commands_per_s', 'memory_bytes', 'gaps']).properties,
      },
      ['address', 'role'],
    ),
  ),
  events: list(object({ at_ms: number, kind: text, text })),
  warnings,
}

const optional = {
  measured_s: figure,
  warm_up_s: figure,
  valid: flag,
  state: { enum: ['valid', 'partial', 'not-valid'] },
  interrupted: flag,
  target: nullable(object({ kind: text, origin: text })),
  thresholds: list({ type: 'object' }),
  bystander_us: nullable(percentiles),
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

const idle = object({ cpu_pct: number, uncertainty_pct: number, by_node: dictionary(number) })

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

const written = object({
  agents: list(object({ agent: whole, ticks: whole })),
  not_acked: list({ type: 'array', items: whole, minItems: 2, maxItems: 2 }),
  complete: flag,
})

/** run.json of a producer. */
export const PRODUCER = object(
  {
    ...run,
    ...optional,
    items,
    commands: object({ sent: number, repeated: number, errors_by: dictionary(number) }, []),
    latency_us: object({ intended: nullable(percentiles), service: nullable(percentiles) }),
    ticks: object({ count: number, late: figure, lateness_us: percentiles }, ['count', 'lateness_us']),
    server: object(
      {
        ...figures(['share', 'cpu_us_per_item', 'memory_bytes_per_item', 'net_bytes_per_item', 'evicted'])
          .properties,
        commands: nullable(commands),
        memory_note: nullable(text),
        foreign_calls: nullable(object({ command: text, calls: number })),
        idle: { anyOf: [{ type: 'null' }, object({ why: text }), idle] },
      },
      [],
    ),
    written: nullable(written),
    chunks: nullable(chunks),
  },
  [...Object.keys(run), 'items', 'latency_us', 'ticks', 'server'],
)

/** run.json of a consumer. */
export const CONSUMER = object(
  {
    ...run,
    ...optional,
    commands: object({ master: commands, replica: commands }, []),
    fetches: object(
      {
        count: number,
        failed: number,
        failed_by: dictionary(number),
        overrun: number,
        items_p50: figure,
        duration_ms: percentiles,
        ids_ms: percentiles,
        values_ms: percentiles,
        numbers: dictionary({ type: 'object' }),
      },
      ['count', 'failed_by', 'duration_ms', 'ids_ms', 'values_ms', 'numbers'],
    ),
    freshness_ms: percentiles,
    replication_ms: percentiles,
    clocks: list({ type: 'object' }),
    verify: nullable(object({ checked: number, examples: texts }, [])),
    uniqueness: nullable(list({ type: 'object' })),
    reads: dictionary({ type: 'object' }),
  },
  [...Object.keys(run), 'fetches', 'freshness_ms', 'replication_ms'],
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
    agents: { type: 'array', items: share, minItems: 1 },
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
          runs: texts,
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
    timeline: text,
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
    bystander_us: latency,
    duration_us: latency,
    ids_us: latency,
    values_us: latency,
    freshness_us: latency,
    client: dictionary(figure),
    nodes: list(object({ address: text, role: text, gap: text, commands }, ['address'])),
  },
  ['at_ms'],
)
