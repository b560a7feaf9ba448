// The shapes of a calibration and of a plan.
import * as S from '../base/shape.js'

/** @import { Schema, Shaped } from '../base/shape-types.js' */

/** @template {Schema} const T @param {T} shape a list @param {number} minItems */
const atLeast = (shape, minItems) => ({ ...shape, minItems })

const factors = S.each(['items', 'valueBytes', 'members', 'connections'], S.number)
const amounts = S.object(S.each(['commands', 'members', 'bytesIn', 'bytesOut', 'computed_bytes'], S.number))
const measured = S.object({
  rate: S.number,
  cpu_us: S.byName(S.number),
  ...S.each(['half_pct', 'memory_bytes', 'net_bytes'], S.figure),
  runs: S.number,
})
const interval = S.object(S.each(['value', 'low', 'high'], S.number))
const model = S.object({
  terms: atLeast(S.list(S.object({ name: S.text, ...S.each(['value', 'low', 'high'], S.number) })), 1),
  left_out: S.list(S.object(S.each(['name', 'why'], S.text))),
  ...S.each(['spread', 'freedom'], S.number),
  covariance: S.list(S.list(S.number)),
})
const score = S.orNull(
  S.object(S.each(['median_pct', 'p90_pct', 'largest_pct', 'inside', 'count'], S.number)),
)

const mix = {
  description: 'of a mix: what its file has',
  ...S.object({
    digest: S.text,
    rate: S.said('operations a second that were profiled', S.figure),
    ...S.each(['connections', 'pipeline'], S.number),
    keys: S.list(S.object({ pattern: S.text, ...S.each(['keys', 'bytes'], S.number), expires: S.flag })),
    commands: S.list(S.object({ name: S.text, share: S.number, pattern: S.text, reads: S.flag })),
  }),
}

export const calibrationVersion = 1

const calibrated = S.object({
  strategy: S.text,
  variant: S.note,
  mix: S.maybe(mix),
  cells: S.list(S.object({ ...factors, amounts, measured })),
  cpu: { ...S.object({ master: model }) },
  memory: S.orNull(model),
  proof: S.list(
    S.object({
      ...factors,
      amounts,
      predicted: S.object({
        cpu_us: S.byName(interval),
        memory_bytes: S.orNull(interval),
        net_bytes: S.number,
      }),
      measured: S.orNull(measured),
    }),
  ),
})

export const calibrationSchema = S.object({
  schema: S.just(calibrationVersion),
  kind: S.just('calibration'),
  complete: S.said('false: it was stopped before its end', S.flag),
  ...S.each(['started', 'millrace'], S.text),
  server: S.object({
    ...S.each(['version', 'allocator'], S.text),
    ...S.each(['masters', 'replicas'], S.number),
    configuration: S.byName(S.text),
  }),
  machine: S.object({ cpu: S.text, cores: S.number, node: S.text, where: S.oneOf('local', 'address') }),
  seed: S.number,
  ranges: S.object(
    S.each(
      /** @type {readonly (keyof typeof factors)[]} */ (Object.keys(factors)),
      atLeast(S.list(S.number), 2),
    ),
  ),
  idle: S.list(S.object({ cpu_pct: S.byName(S.number), net_bytes_per_s: S.number })),
  references: S.list(S.object({ strategy: S.text, after: S.number, cpu_us: S.byName(S.number) })),
  models: atLeast(S.list(calibrated), 1),
})

/** @typedef {Omit<Shaped<typeof calibrated>, 'cpu'> & { cpu: Readonly<Record<string, Shaped<typeof model>>> }} CalibratedModel cpu: by role */
/** @typedef {Omit<Shaped<typeof calibrationSchema>, 'models'> & { models: readonly CalibratedModel[] }} Calibration */

const candidate = S.object({
  node: S.text,
  shards: S.figure,
  nodes: S.number,
  binds: S.text,
  used: S.byName(S.number),
  monthly: S.figure,
  next: S.orNull(S.object(S.each(['months', 'shards'], S.figure))),
  why: S.note,
})

export const planSchema = S.object({
  schema: S.just(1),
  kind: S.just('plan'),
  asked: S.object({
    rate: S.said('items a second, or operations of a mix', S.number),
    part: S.said('of the rate that was profiled, of a mix', S.figure),
    value_bytes: S.figure,
    ttl_s: S.figure,
    items: S.number,
    headroom: S.number,
    replicas: S.number,
    growth: S.number,
    survive: S.text,
  }),
  region: S.text,
  currency: S.text,
  prices: S.list(S.object({ what: S.text, dated: S.text, source: S.text })),
  calibration: S.object({ started: S.text, server: S.text, machine: S.text }),
  models: S.list(
    S.object({
      strategy: S.text,
      per_item: S.object({
        cpu_us: interval,
        memory_bytes: S.number,
        bytes_in: S.number,
        bytes_out: S.number,
      }),
      outside: S.list(S.text),
      candidates: S.list(candidate),
      serverless: S.list(
        S.object({
          engine: S.text,
          ecpu_per_s: S.number,
          slot_ecpu_per_s: S.number,
          gb: S.number,
          monthly: S.figure,
          why: S.note,
        }),
      ),
      best: S.orNull(candidate),
      proof: S.object({ cpu: score, memory: score, network: score }),
      curve: S.list(
        S.object({ rate: S.number, low: S.figure, monthly: S.figure, high: S.figure, shards: S.figure }),
      ),
    }),
  ),
  warnings: S.list(S.text),
})
