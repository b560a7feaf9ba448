// The parts of a plan that clients have instead of those of a writer in ticks; fields with the same meaning have the same
// name.

import { DEFAULT_MAX_BEHIND_S } from '../../../settings.js'
import { exactly } from '../../base/typed.js'
import { stampBytes } from '../../traffic/payload.js'
import { sizeLimits } from '../../traffic/sizes.js'
import { storesValues } from '../../workloads/command-features.js'
import { strategyNamed } from '../../workloads/index.js'
import { names } from '../names.js'
import { longestWarmUpMs } from '../warm-up.js'

/**
 * @import { Settings } from '../../../settings.js'
 * @import { Part } from '../parts.js'
 */

// A --ttl from the environment is meant for writers of latest items, which always have one.
const lifetimeGiven = ['command line', 'file', 'earlier run']

/** @param {Settings} settings */
const cacheOf = (settings) => ({
  missTime: settings.missTime,
  coalesce: settings.coalesce,
  missConcurrency: settings.missConcurrency ?? null,
  batch: strategyNamed(settings.strategy).options.includes('batch') ? settings.batch : 1,
  maxmemoryBytes: settings.maxmemoryBytes ?? null,
  policy: settings.maxmemoryBytes === undefined ? null : (settings.policy ?? 'allkeys-lru'),
})

/** Where what reads is read, and whether its answers are compared with what was written. @param {Settings} settings */
const readingOf = (settings) => {
  const { reads = 'master' } = settings
  if (reads === 'master') return {}
  const { options, play, mix } = strategyNamed(settings.strategy)
  const [writes, , deletes] = settings.ratio
  const isWritten = play.caches ? true : play.operations.length > 1 && writes + (deletes ?? 0) > 0
  const isWhole = !options.includes('batch') && storesValues(settings.strategy)
  const versions = mix ? mix.compares : isWritten && isWhole && sizeLimits(settings).least > stampBytes
  return { reads, ...(versions && { versions: exactly(true) }) }
}

/** Of clients that have every answer checked. @param {Settings} settings */
const queryingOf = ({ queryTimeoutMs, updateWriters, updateRateHz }) => ({
  /** After which a reply is no longer waited for. */ queryTimeoutMs: queryTimeoutMs ?? null,
  updateWriters,
  updateRateHz: updateRateHz ?? null,
})

/** The part of a box of several: every so many-th request of their schedule, and draws of its own. @param {number} agent @param {number} of @param {number} connections @returns {Part} */
const boxOf = (agent, of, connections) => ({
  number: agent - 1,
  of,
  clients: { first: (agent - 1) * connections, of: of * connections },
})

/** @param {Settings} settings */
export const plan = (settings) => {
  const {
    quantity,
    connections = 50,
    pipeline = 1,
    ratio,
    order = names.clients.defaultOrder,
    fill,
    rate = 'max',
    maxBehindMs = DEFAULT_MAX_BEHIND_S * 1000,
  } = settings
  const resolved = { ...settings, connections, pipeline }
  const { options, play, answers, updates } = strategyNamed(settings.strategy)
  const rateHz = typeof rate === 'number' ? rate : null
  const totalAgents = play.caches && settings.control ? settings.totalAgents : 1
  /** @param {readonly number[]} numbers of this box, or of all; none: before it has one */
  return (numbers) => ({
    /** @type {'clients'} */
    flow: 'clients',
    quantity,
    items: quantity,
    periodMs: 1000,
    chunks: 1,
    spacingMs: 1000,
    totalAgents,
    agents: (totalAgents > 1 && numbers.length > 0 ? numbers : [numbers[0] ?? 1]).map((agent) => ({
      ...{ agent, first: 1, count: quantity },
    })),
    /** @type {'open'} */
    pacing: 'open',
    /** @type {'max' | null} */
    rate: rateHz === null ? 'max' : null,
    nominalHz: rateHz,
    ...(totalAgents > 1 &&
      numbers.length === 1 && {
        nominalHz: rateHz === null ? null : rateHz / totalAgents,
        box: boxOf(numbers[0], totalAgents, connections),
      }),
    once: false,
    stamp: false,
    ticks: null,
    endMs: null,
    order,
    warmUpMs: longestWarmUpMs(settings),
    maxBehindMs,
    connections,
    windowCommands: pipeline,
    /** Settings that only the strategy reads. */
    own: Object.fromEntries(options.map((key) => [key, resolved[/** @type {'partitions'} */ (key)]])),
    cache: play.caches ? cacheOf(settings) : null,
    driver: play.drivers.find((one) => one === settings.driver) ?? play.drivers[0],
    clients: {
      connections,
      pipeline,
      /** Keys have a lifetime only where one was given. */
      expires: options.includes('ttlS') && lifetimeGiven.includes(settings.given.ttlS),
      ratio: play.caches && settings.given.ratio === 'default' ? [0, 1] : ratio,
      /** @type {Settings['fill']} */
      fill: answers || updates ? 'keys' : fill,
      /** Operations after which the run ends. */
      requests: settings.requests ?? null,
    },
    querying: answers ? queryingOf(settings) : null,
    ...readingOf(settings),
  })
}
