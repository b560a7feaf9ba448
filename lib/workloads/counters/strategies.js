// Increments of many counters: one call each, or many in one.
import { exactly } from '../../base/typed.js'
import { strategy } from '../declare.js'
import { byFunction, byScript, countersByCommand, ofCounters } from './parts.js'

/** @import { Delivery, Play } from '../declare.js' */

const options = Object.freeze(['counters', 'structure', 'delayMs', 'loseEvery', 'arrivals'])
const inBundles = Object.freeze([...options, 'bundleSize'])
const drivers = exactly(['socket', 'ioredis'])

/** @param {Delivery} delivery @param {Play['drivers']} by */
const sent = (delivery, by) => ({ ...ofCounters.play, delivery, drivers: by })

export const counterLoop = strategy({
  ...ofCounters,
  name: 'counter-loop',
  title: 'increments one by one, each after the reply to the one before it',
  options,
  play: sent('one', drivers),
  operations: countersByCommand,
})

export const counterPipeline = strategy({
  ...ofCounters,
  name: 'counter-pipeline',
  title: 'increments in bundles, a pipeline each',
  options: inBundles,
  play: sent('pipeline', drivers),
  operations: countersByCommand,
})

export const counterAutoPipeline = strategy({
  ...ofCounters,
  name: 'counter-auto-pipeline',
  title: 'a bundle of calls at once, which ioredis puts into pipelines by itself',
  options: inBundles,
  play: sent('concurrent', ['ioredis']),
  operations: countersByCommand,
})

export const counterScript = strategy({
  ...ofCounters,
  name: 'counter-script',
  title: 'increments in bundles, a script call each',
  options: inBundles,
  play: sent('call', drivers),
  operations: byScript,
})

export const counterFunction = strategy({
  ...ofCounters,
  name: 'counter-function',
  title: 'increments in bundles, a function call each',
  options: inBundles,
  play: sent('call', drivers),
  variants: { FUNCTION: [{ command: 'FUNCTION', since: 'Redis 7.0' }] },
  operations: byFunction,
})

export const counterTransaction = strategy({
  ...ofCounters,
  name: 'counter-transaction',
  title: 'increments in bundles, a transaction each',
  options: inBundles,
  play: sent('transaction', drivers),
  operations: countersByCommand,
})
