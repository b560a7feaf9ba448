// What a plan of clients has otherwise than one of a writer in ticks; fields that mean the same have the same name.

import { strategyNamed } from '../workloads/index.js'

/**
 * @param {import('../../settings.js').Settings} settings
 * @param {import('./plan.js').Facts} facts
 */
export const clientsPart = (settings, facts) => {
  const {
    quantity,
    connections = 50,
    pipeline = 1,
    ratio,
    order,
    arrivals,
    fill,
    rate = 'max',
    maxBehindMs = 5000,
  } = settings
  const resolved = { ...settings, connections, pipeline }
  const { passes, options, delivery, drivers } = strategyNamed(settings.strategy)
  const rateHz = typeof rate === 'number' ? rate : null
  return {
    flow: /** @type {const} */ ('clients'),
    quantity,
    items: quantity,
    periodMs: 1000,
    chunks: 1,
    spacingMs: 1000,
    totalAgents: 1,
    agents: [{ agent: facts.agents[0] ?? 1, first: 1, count: quantity }],
    pacing: /** @type {const} */ ('open'),
    rate: /** @type {'max' | null} */ (rateHz === null ? 'max' : null),
    nominalHz: rateHz,
    once: false,
    stamp: false,
    ticks: null,
    warmUpMs: settings.warmUpMs,
    maxBehindMs,
    connections,
    windowCommands: pipeline,
    /** Settings that the strategy alone reads. */
    own: Object.fromEntries(options.map((key) => [key, resolved[/** @type {'partitions'} */ (key)]])),
    driver: drivers.includes(settings.driver) ? settings.driver : drivers[0],
    clients: {
      connections: delivery ? 1 : connections,
      pipeline,
      ratio,
      order,
      arrivals,
      fill,
      passes: passes !== null,
      delivery,
      /** Most operations of a chunk. */ chunkSize: options.includes('chunkSize') ? settings.chunkSize : 1,
      delayMs: settings.delayMs ?? null,
      loseEvery: settings.loseEvery ?? null,
    },
  }
}
