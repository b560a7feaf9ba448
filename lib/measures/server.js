// What an item, an operation or a job cost the servers, as run.json has it; lib/probes/costs.js and costs.js here say how it is
// computed.

import * as S from '../base/shape.js'
import { exactly } from '../base/typed.js'
import { metric, partMetric } from './measure.js'
import { section } from './section.js'

/** What an item costs the servers: without what they use while idle, and with it. */
export const netCost = 'server.cpu_us_per_item_net'
export const grossCost = 'server.cpu_us_per_item'

export const commandsShape = S.byName(S.object(S.each(['calls', 'usec'], S.number)))

const foreign = S.object({
  command: S.text,
  calls: S.number,
  by: S.maybe(S.oneOf('consumers')),
  calls_per_s: S.maybe(S.number),
  on: S.maybe(S.oneOf('masters', 'replicas')),
  cpu_share_most: S.maybe(S.number),
})
const idle = S.object({ ...S.each(['cpu_pct', 'uncertainty_pct'], S.number), by_node: S.byName(S.number) })
const unknownIdle = S.object({ why: S.text, net_bytes_per_s: S.maybe(S.figure) })
const nothing = exactly({ type: 'null' })

const shape = S.object({
  ...S.each(['share', 'cpu_us_per_item', 'memory_bytes_per_item', 'net_bytes_per_item'], S.maybe(S.figure)),
  ...S.each(['evicted', 'net_bytes_per_item_net', 'cpu_us_per_item_net'], S.maybe(S.figure)),
  ...S.each(['cpu_us_per_item_net_uncertainty', 'fixed_cpu_share'], S.maybe(S.figure)),
  ...S.each(['masters_cpu_us_per_item_net', 'cpu_us_per_item_uncertainty'], S.maybe(S.figure)),
  commands: S.maybe(S.nullable(commandsShape)),
  memory_note: S.maybe(S.note),
  foreign_calls: S.maybe(S.nullable(foreign)),
  idle: S.maybe(exactly({ anyOf: [nothing, unknownIdle, idle] })),
})

const empty = Object.fromEntries(Object.keys(shape.properties).map((name) => [name, null]))

/** Of a run of writers. */
export const server = section('server', shape, {
  isNeeded: true,
  empty,
  metrics: {
    [netCost]: metric('server CPU per item, idle excluded', 'us'),
    [`${netCost}_uncertainty`]: metric('half of the 95 % interval of the server CPU per item', 'us'),
    [grossCost]: metric('server CPU per item, idle included', 'us'),
    [`${grossCost}_uncertainty`]: metric(
      'half of the 95 % interval of the server CPU per item, idle included',
      'us',
    ),
    'server.masters_cpu_us_per_item_net': metric('CPU of the masters per item, idle excluded', 'us'),
    'server.fixed_cpu_share': metric('idle cost of the servers, of their CPU', 'ratio', 'neither'),
    'server.operations_per_core': {
      ...metric('operations per core of the servers', 'rate', 'more'),
      value: ({ cpu_us_per_item: us }) => (typeof us === 'number' && us > 0 ? 1e6 / us : null),
      axis: 'operations a second',
    },
    'server.memory_bytes_per_item': metric('memory per item', 'bytes'),
    'server.net_bytes_per_item_net': metric('network per item, idle excluded', 'bytes'),
    'server.net_bytes_per_item': metric('network per item', 'bytes'),
    'server.evicted': metric('keys evicted', 'count'),
    'server.share': partMetric('our share of all items', 'ratio', 'neither'),
  },
})

const ofJobs = S.object({
  ...S.each(['cpu_us_per_job', 'net_bytes_per_job', 'evicted'], S.maybe(S.figure)),
  commands: S.maybe(S.nullable(commandsShape)),
})

/** Of a run of workers. */
export const serverOfJobs = section('server', ofJobs, {
  empty: Object.fromEntries(Object.keys(ofJobs.properties).map((name) => [name, null])),
  metrics: {
    'server.cpu_us_per_job': metric('server CPU per job, idle included', 'us'),
    'server.net_bytes_per_job': metric('network per job', 'bytes'),
  },
})
