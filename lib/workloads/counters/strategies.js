// Increments of many counters: one call each, or many in one.
import { strategy } from '../declare.js'
import { byFunction, byScript, countersByCommand, ofCounters } from './parts.js'

const options = Object.freeze(['counters', 'structure', 'delayMs', 'loseEvery', 'arrivals'])
const chunked = Object.freeze([...options, 'chunkSize'])
const drivers = /** @type {const} */ (['socket', 'ioredis'])

export const counterLoop = strategy({
  ...ofCounters,
  name: 'counter-loop',
  title: 'increments one by one, each after the reply to the one before it',
  options,
  drivers,
  delivery: 'one',
  operations: countersByCommand,
})

export const counterPipeline = strategy({
  ...ofCounters,
  name: 'counter-pipeline',
  title: 'increments in chunks, a pipeline each',
  options: chunked,
  drivers,
  delivery: 'pipeline',
  operations: countersByCommand,
})

export const counterAutoPipeline = strategy({
  ...ofCounters,
  name: 'counter-auto-pipeline',
  title: 'a chunk of calls at once, which ioredis puts into pipelines by itself',
  options: chunked,
  drivers: ['ioredis'],
  delivery: 'concurrent',
  operations: countersByCommand,
})

export const counterScript = strategy({
  ...ofCounters,
  name: 'counter-script',
  title: 'increments in chunks, a script call each',
  options: chunked,
  drivers,
  delivery: 'call',
  operations: byScript,
})

export const counterFunction = strategy({
  ...ofCounters,
  name: 'counter-function',
  title: 'increments in chunks, a function call each',
  options: chunked,
  drivers,
  delivery: 'call',
  variants: { FUNCTION: [{ command: 'FUNCTION', since: 'Redis 7.0' }] },
  operations: byFunction,
})

export const counterTransaction = strategy({
  ...ofCounters,
  name: 'counter-transaction',
  title: 'increments in chunks, a transaction each',
  options: chunked,
  drivers,
  delivery: 'transaction',
  operations: countersByCommand,
})
