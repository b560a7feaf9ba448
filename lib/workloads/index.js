// The registry: a strategy is one file and one line here.
import { claimedTwice } from '../base/claims.js'
import { exactly } from '../base/typed.js'
import { cacheStrategies } from './cache/strategies.js'
import { counterStrategies } from './counters/strategies.js'
import { documentStrategies } from './documents/strategies.js'
import { actualValue } from './latest/actual-value.js'
import { hash } from './latest/hash.js'
import { hashTtl } from './latest/hash-ttl.js'
import { list } from './latest/list.js'
import { listHll } from './latest/list-hll.js'
import { scriptBatch } from './latest/script-batch.js'
import { scriptItem } from './latest/script-item.js'
import { set } from './latest/set.js'
import { sortedSet } from './latest/sorted-set.js'
import { stream } from './latest/stream.js'
import { lookupStrategies } from './lookup/strategies.js'
import { membershipBloom } from './membership/bloom.js'
import { membershipBloomModule } from './membership/bloom-module.js'
import { membershipStructures } from './membership/structures.js'
import { indexedQueries } from './query/indexed.js'
import { scanningQueries } from './query/strategies.js'
import { queueList } from './queue/list.js'
import { queueStream } from './queue/stream.js'
import { queueZset } from './queue/zset.js'

/**
 * @import { Settings } from '../../settings.js'
 * @import { Declaration } from './declare.js'
 * @import { FlowName } from '../loads/names.js'
 */

/** @type {Map<string, Readonly<Declaration>>} by name, in the order in which options and docs list them */
const registry = new Map()

/** Adds a strategy, as a file of a user's own does. @param {Readonly<Declaration>} declared */
export const register = (declared) => {
  if (registry.has(declared.name)) throw new TypeError(`there is a strategy ${declared.name} already`)
  const [fault] = claimedTwice(
    'flag',
    [...registry.values(), declared].flatMap(({ name, flags }) =>
      flags.map((flag) => exactly([flag.name, name])),
    ),
  )
  if (fault) throw new TypeError(`lib/workloads: ${fault}`)
  registry.set(declared.name, declared)
}

/** Adds a user's model, in place of one of the same name that was read before. @param {Readonly<Declaration>} declared */
export const registerModel = (declared) => registry.set(declared.name, declared)

for (const declared of [
  sortedSet,
  actualValue,
  scriptBatch,
  scriptItem,
  list,
  listHll,
  set,
  hash,
  stream,
  hashTtl,
  ...lookupStrategies,
  ...cacheStrategies,
  ...membershipStructures,
  membershipBloom,
  membershipBloomModule,
  ...counterStrategies,
  ...scanningQueries,
  ...indexedQueries,
  ...documentStrategies,
  queueList,
  queueStream,
  queueZset,
])
  register(declared)

export const defaultStrategy = sortedSet.name

/** @param {string} name @returns {Readonly<Declaration>} */
export const strategyNamed = (name) => {
  const declared = registry.get(name)
  if (!declared) throw new TypeError(`there is no strategy ${name}`)
  return declared
}

/** @param {string} name */
export const isStrategy = (name) => registry.has(name)

export const allStrategies = () => [...registry.values()]

/** Whether the client's own time is a part of what a strategy asks for; false for a model that is not loaded. @param {string} name */
export const ownWorkIn = (name) => registry.get(name)?.play.clientWorks === true

/** Passes over all numbers, as fast as the replies come; at a rate, their commands are played. @param {Pick<Settings, 'strategy' | 'rate' | 'rates'>} settings */
export const playsPasses = ({ strategy, rate, rates }) =>
  strategyNamed(strategy).passes !== null && typeof rate !== 'number' && rates === undefined

/** Whether its commands read keys that a fill writes. @param {Pick<Declaration, 'fill' | 'play' | 'options'>} strategy */
export const readsKeys = ({ fill, play, options }) =>
  options.includes('fill') && (Boolean(fill?.several) || play.operations.some((one) => one !== fill?.play))

/** @param {FlowName} [flow] only those that a writer plays so */
export const strategyNames = (flow) =>
  allStrategies()
    .filter(({ play }) => flow === undefined || play.flow === flow)
    .map(({ name }) => name)
