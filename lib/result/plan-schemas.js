// The JSON Schemas of a calibration and of a plan.

const number = { type: 'number' }
const figure = { type: ['number', 'null'] }
const text = { type: 'string' }
const texts = { type: 'array', items: text }

/** @param {object} properties @param {string[]} [required] */
const object = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required })
/** @param {object} items */
const list = (items) => ({ type: 'array', items })
/** @param {object} values */
const dictionary = (values) => ({ type: 'object', additionalProperties: values })
/** @param {object} schema */
const orNull = (schema) => ({ anyOf: [schema, { type: 'null' }] })

const factors = { items: number, valueBytes: number, members: number, connections: number }
const amounts = object({
  commands: number,
  members: number,
  bytesIn: number,
  bytesOut: number,
  computed_bytes: number,
})
const measured = object({
  rate: number,
  cpu_us: dictionary(number),
  half_pct: figure,
  memory_bytes: figure,
  net_bytes: figure,
  runs: number,
})
const interval = object({ value: number, low: number, high: number })
const model = object({
  terms: { ...list(object({ name: text, value: number, low: number, high: number })), minItems: 1 },
  left_out: list(object({ name: text, why: text })),
  spread: number,
  freedom: number,
  covariance: list(list(number)),
})
const score = orNull(
  object({ median_pct: number, p90_pct: number, largest_pct: number, inside: number, count: number }),
)

const yesOrNo = { type: 'boolean' }
const mix = {
  description: 'of a mix: what its file has',
  ...object({
    digest: text,
    rate: { ...figure, description: 'operations a second that were profiled' },
    connections: number,
    pipeline: number,
    keys: list(object({ pattern: text, keys: number, bytes: number, expires: yesOrNo })),
    commands: list(object({ name: text, share: number, pattern: text, reads: yesOrNo })),
  }),
}

export const calibrationVersion = 1

export const calibrationSchema = object({
  schema: { const: calibrationVersion },
  kind: { const: 'calibration' },
  complete: { type: 'boolean', description: 'false: it was stopped before its end' },
  started: text,
  millrace: text,
  server: object({
    version: text,
    allocator: text,
    masters: number,
    replicas: number,
    configuration: dictionary(text),
  }),
  machine: object({ cpu: text, cores: number, node: text, where: { enum: ['local', 'address'] } }),
  seed: number,
  ranges: object(
    Object.fromEntries(Object.keys(factors).map((name) => [name, { ...list(number), minItems: 2 }])),
  ),
  idle: list(object({ cpu_pct: dictionary(number), net_bytes_per_s: number })),
  references: list(object({ strategy: text, after: number, cpu_us: dictionary(number) })),
  models: {
    ...list(
      object(
        {
          strategy: text,
          variant: { type: ['string', 'null'] },
          mix,
          cells: list(object({ ...factors, amounts, measured })),
          cpu: object({ master: model }, ['master']),
          memory: orNull(model),
          proof: list(
            object({
              ...factors,
              amounts,
              predicted: object({
                cpu_us: dictionary(interval),
                memory_bytes: orNull(interval),
                net_bytes: number,
              }),
              measured: orNull(measured),
            }),
          ),
        },
        ['strategy', 'variant', 'cells', 'cpu', 'memory', 'proof'],
      ),
    ),
    minItems: 1,
  },
})

const candidate = object({
  node: text,
  shards: figure,
  nodes: number,
  binds: text,
  used: dictionary(number),
  monthly: figure,
  next: orNull(object({ months: figure, shards: figure })),
  why: { type: ['string', 'null'] },
})

export const planSchema = object({
  schema: { const: 1 },
  kind: { const: 'plan' },
  asked: object({
    rate: { ...number, description: 'items a second, or operations of a mix' },
    part: { ...figure, description: 'of the rate that was profiled, of a mix' },
    value_bytes: figure,
    ttl_s: figure,
    items: number,
    headroom: number,
    replicas: number,
    growth: number,
    survive: text,
  }),
  region: text,
  currency: text,
  prices: list(object({ what: text, dated: text, source: text })),
  calibration: object({ started: text, server: text, machine: text }),
  models: list(
    object({
      strategy: text,
      per_item: object({ cpu_us: interval, memory_bytes: number, bytes_in: number, bytes_out: number }),
      outside: texts,
      candidates: list(candidate),
      serverless: list(
        object({
          engine: text,
          ecpu_per_s: number,
          slot_ecpu_per_s: number,
          gb: number,
          monthly: figure,
          why: { type: ['string', 'null'] },
        }),
      ),
      best: orNull(candidate),
      proof: object({ cpu: score, memory: score, network: score }),
      curve: list(object({ rate: number, low: figure, monthly: figure, high: figure, shards: figure })),
    }),
  ),
  warnings: texts,
})
