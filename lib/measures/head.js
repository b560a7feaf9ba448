// What every run.json has around its sections, and sections that are facts of a run: no metric, row or reason is about them alone.

import * as S from '../base/shape.js'
import { exactly } from '../base/typed.js'
import { section } from './section.js'

// ISO, as Date writes it: what else it reads differs between machines.
export const moment = exactly({
  type: 'string',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d',
})
export const versions = S.object({ ...S.each(['millrace', 'node'], S.text), servers: S.list(S.text) })
export const warningShape = S.object({
  code: S.maybe(S.text),
  message: S.text,
  invalidates: S.maybe(S.flag),
  cause: S.maybe(S.text),
})
export const agentRange = S.object(S.each(['agent', 'first', 'count'], S.whole))
export const pairOfNumbers = exactly({
  type: 'array',
  items: S.whole,
  minItems: 2,
  maxItems: 2,
})

/** The kinds of load. */
export const FLOWS = exactly(['ticks', 'clients', 'bundles', 'passes', 'jobs', 'fetches', 'workers'])

export const plan = S.object({
  strategy: S.text,
  flow: S.oneOf(...FLOWS),
  quantity: S.maybe(S.number),
  periodMs: S.maybe(exactly({ type: 'number', exclusiveMinimum: 0 })),
  spacingMs: S.maybe(S.number),
  chunks: S.maybe(exactly({ type: 'integer', minimum: 1 })),
  totalAgents: S.maybe(S.whole),
  agents: S.maybe(S.list(exactly({ anyOf: [agentRange, S.whole] }))),
  items: S.maybe(S.number),
  nominalHz: S.maybe(S.figure),
  rate: S.maybe(S.note),
  ...S.each(['pacing', 'arrivals', 'schedule', 'driver'], S.maybe(S.text)),
  ...S.each(['ttlS', 'valueBytes'], S.maybe(S.number)),
  valueSizes: S.maybe(S.note),
  payload: S.maybe(S.text),
  ...S.each(['stamp', 'once'], S.maybe(S.flag)),
  ...S.each(['prefix', 'placement'], S.maybe(S.text)),
  ...S.each(['sets', 'extraSets'], S.maybe(S.list(S.text))),
  ...S.each(['maxMembers', 'scriptMembers', 'warmUpMs'], S.maybe(S.figure)),
  limit: S.maybe(S.number),
})

const target = S.nullable(
  S.object({
    ...S.each(['kind', 'origin'], S.text),
    shared_keys: S.maybe(S.list(S.object({ key: S.text, shard: S.number }))),
  }),
)

/** In front of the sections, in the order of run.json. */
export const first = {
  schema: S.just(1),
  run: S.text,
  started: moment,
  duration_s: S.number,
  plan,
  versions,
}

/** What may be there besides. */
export const more = {
  summary: S.list(S.text),
  command_line: S.text,
  measured_s: S.figure,
  warm_up_s: S.figure,
  valid: S.flag,
  state: S.oneOf('valid', 'partial', 'not-valid'),
  interrupted: S.flag,
  target,
  thresholds: S.list(S.anything),
}

export const events = S.list(S.object({ at_ms: S.number, kind: S.text, text: S.text }))
export const warnings = S.list(warningShape)

/** The clocks of the servers, compared with this box's. */
export const clocks = section(
  'clocks',
  S.list(S.object({ address: S.text, ...S.each(['offset_ms', 'rtt_ms'], S.number) })),
  { empty: [] },
)

export const writtenShape = S.object({
  agents: S.list(S.object(S.each(['agent', 'ticks'], S.whole))),
  not_acked: S.list(pairOfNumbers),
  complete: S.flag,
})

/** What each writer wrote: verify.js looks for it. */
export const written = section('written', S.nullable(writtenShape), {})

/** How what was asked for was distributed. */
export const traffic = section('traffic', S.nullable(S.byName(exactly({ type: ['object', 'number'] }))), {})

/** Nodes that consumers read from, by what they were asked. */
export const reads = section('reads', S.byName(S.anything), { empty: null })
