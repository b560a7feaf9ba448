// Settings and plans for tests: the defaults, and what a test changes.

import { planOf } from '../../lib/loads/plan.js'
import { OPTIONS } from '../../settings.js'

/** @import { Program, Settings } from '../../settings.js' */
/** @import { Facts } from '../../lib/loads/plan.js' */

/** @type {Settings} */
const defaults = {
  quantity: 100,
  periodMs: 1000,
  chunks: 1,
  totalAgents: 1,
  agent: 'auto',
  strategy: 'sorted-set',
  sortedSets: 1,
  placement: 'plain',
  extraSortedSets: 0,
  ttlS: 3,
  ttlLeastS: null,
  valueBytes: 16,
  valueSizes: null,
  payload: 'random',
  stamp: false,
  once: false,
  dryRun: false,
  cautions: [],
  givenBy: {},
  fill: 'none',
  snapshot: false,
  partitions: 1,
  ids: 'hex',
  falsePositives: 0.01,
  structure: 'zset',
  whenFull: 'refuse',
  chunkSize: 1000,
  selectivity: 0.01,
  queries: 100,
  sortBy: 'created',
  pageSize: 10,
  pageOffset: 0,
  scanCount: 1000,
  indexWhen: 'after',
  indexes: 1,
  updateWriters: 0,
  ratio: [1, 10],
  arrivals: 'constant',
  windowBytes: 512_000,
  metricsLingerMs: 0,
  warmUpMs: 0,
  idleCost: 'never',
  pacing: 'open',
  driver: 'socket',
  driverOptions: [],
  cluster: false,
  db: 0,
  tls: false,
  shards: 3,
  replicas: 1,
  serverConfig: [],
  askPassword: false,
  tlsInsecure: false,
  allow: [],
  guard: { evicted: null, memoryPct: null, lagBytes: null },
  joinWithinMs: 120_000,
  partial: false,
  stagger: false,
  stopAll: false,
  cloudwatch: false,
  prefix: '',
  seed: 1,
  outDir: 'results',
  json: false,
  verbose: false,
  quiet: false,
  report: false,
  thresholds: [],
  logLevel: 'info',
  given: Object.fromEntries(OPTIONS.map(({ key }) => [key, /** @type {const} */ ('default')])),
}

/** @param {Partial<Settings>} [changes] @returns {Settings} */
export const sampleSettings = (changes = {}) => ({ ...defaults, ...changes })

/** @param {Partial<Facts>} [changes] @returns {Facts} */
export const sampleFacts = (changes = {}) => ({
  agents: [1],
  masters: 1,
  cluster: false,
  variant: null,
  ...changes,
})

/** @param {Partial<Settings>} [settings] @param {Partial<Facts>} [facts] */
export const samplePlan = (settings, facts) => planOf(sampleSettings(settings), sampleFacts(facts))
