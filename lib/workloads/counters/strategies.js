// Increments of many counters: one call each, or many in one.
import { strategy } from '../declare.js'
import { byCommand, byFunction, byScript, common } from './parts.js'

const options = Object.freeze(['counters', 'structure', 'delayMs', 'loseEvery', 'arrivals'])
const chunked = Object.freeze([...options, 'chunkSize'])
const drivers = /** @type {const} */ (['socket', 'ioredis'])

export const counterLoop = strategy({
  ...common,
  name: 'counter-loop',
  title: 'increments one by one, each after the reply to the one before it',
  options,
  drivers,
  delivery: 'one',
  operations: byCommand,
})

export const counterPipeline = strategy({
  ...common,
  name: 'counter-pipeline',
  title: 'increments in chunks, a pipeline each',
  options: chunked,
  drivers,
  delivery: 'pipeline',
  operations: byCommand,
})

export const counterAutoPipeline = strategy({
  ...common,
  name: 'counter-auto-pipeline',
  title: 'a chunk of calls at once, which ioredis puts into pipelines by itself',
  options: chunked,
  drivers: ['ioredis'],
  delivery: 'concurrent',
  operations: byCommand,
})

export const counterScript = strategy({
  ...common,
  name: 'counter-script',
  title: 'increments in chunks, a script call each',
  options: chunked,
  drivers,
  delivery: 'call',
  operations: byScript,
})

export const counterFunction = strategy({
  ...common,
  name: 'counter-function',
  title: 'increments in chunks, a function call each',
  options: chunked,
  drivers,
  delivery: 'call',
  variants: { FUNCTION: [{ command: 'FUNCTION', since: 'Redis 7.0' }] },
  operations: byFunction,
})

export const counterTransaction = strategy({
  ...common,
  name: 'counter-transaction',
  title: 'increments in chunks, a transaction each',
  options: chunked,
  drivers,
  delivery: 'transaction',
  operations: byCommand,
})
