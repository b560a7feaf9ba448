// The plan of the workers of a queue: their own settings, and the queue by its producers' plan in the target.
import { OPTIONS, typedName } from '../../../settings.js'
import { OptionError } from '../../base/errors.js'
import { exactly } from '../../base/typed.js'
import { announcedFields } from '../../plan/announcement.js'
import { storedIn } from '../../plan/stored-fields.js'
import { setNames } from '../../workloads/latest/parts.js'

/**
 * @import { ReaderSettings } from '../../../settings.js'
 * @import { AnnouncedPlan } from '../../plan/announcement.js'
 *
 * @typedef {Readonly<ReturnType<typeof workPlanOf>>} WorkPlan
 */

/** Options that only workers have. */
const ofWorkers = exactly([
  'workers',
  'processes',
  'take',
  'work',
  'outputs',
  'outputWork',
  'reconnectHz',
  'confirm',
  'reclaimMs',
  'drain',
])

/** Options that only consumers of items have. */
const ofFetches = exactly([
  'limit',
  'mode',
  'fetch',
  'values',
  'reads',
  'consumers',
  'threads',
  'verify',
  'count',
  'periodMs',
  'fetchHz',
  'rates',
  'pacing',
])

/** A queue has no sets, and each job once. */
const ofJobs = Object.freeze({
  sets: [],
  extraSets: [],
  /** @type {'plain'} */
  placement: 'plain',
  taggedItems: false,
  buckets: 1,
  once: true,
  stamp: false,
  ttlLeastS: null,
  valueSizes: null,
})

/** @param {ReaderSettings} settings @param {readonly (keyof ReaderSettings)[]} keys */
const typedOf = ({ given, givenBy }, keys) => {
  const key = keys.find((one) => ['command line', 'file'].includes(given[one]))
  const option = OPTIONS.find((one) => one.key === key)
  return key && (givenBy[key] ?? (option && typedName(option)))
}

/** Options of workers have no meaning for a consumer that reads items. @param {ReaderSettings} settings @param {string} strategy */
export const refuseWorkers = (settings, strategy) => {
  const typed = typedOf(settings, ofWorkers)
  if (typed)
    throw new OptionError(
      `${typed} is for the workers of a queue, and ${strategy} is none; add --strategy queue-stream`,
    )
}

/**
 * @param {ReaderSettings} settings
 * @param {{ announced: AnnouncedPlan | null, cluster: boolean, masters: number, cores: number }} facts announced: null where no plan is in the
 *   target; cores: of this box
 */
export const workPlanOf = (settings, { announced, cluster, masters, cores }) => {
  const strategy = announced?.strategy ?? settings.strategy
  const { workers, outputs, take, work, outputWork, confirm, reclaimMs, drain, prefix, durationMs } = settings
  const odd = typedOf(settings, ofFetches)
  if (odd)
    throw new OptionError(`${odd} is for consumers that fetch items; ${strategy} is a queue: see --workers`)
  if (settings.driver !== 'socket')
    throw new OptionError(`--driver ${settings.driver}: workers of a queue run on plain sockets only`)
  if (outputs === undefined && outputWork.us > 0)
    throw new OptionError('--with output-work is the work of a second stage; set --with outputs')
  const processesOf = (/** @type {number} */ many, /** @type {typeof work} */ { kind, us }) =>
    Math.min(many, settings.processes ?? (kind === 'cpu' && us > 0 ? cores : 1))
  // Jobs that take longer would be taken over by other workers.
  const holdMs = (take * Math.max(work.us, outputWork.us)) / 1000
  if (holdMs * 2 > reclaimMs)
    throw new OptionError(
      `--with reclaim: a worker that takes ${take} jobs works ${Math.round(holdMs)} ms on them; others would take them over after ${reclaimMs} ms. Raise --with reclaim to ${Math.ceil((holdMs * 2) / 1000)}s, or lower --take`,
    )
  return {
    /** @type {'workers'} */
    flow: 'workers',
    /** @type {'target' | 'options'} */
    source: announced ? 'target' : 'options',
    ...storedIn({ ...settings, ...announced, ...ofJobs, strategy, prefix, ttlS: settings.ttlS }),
    /** The rate of the producers, if known. */
    producedHz: announced?.paced ? (announced.quantity * 1000) / announced.periodMs : null,
    totalAgents: 1,
    /** @type {readonly number[]} */
    agents: [1],
    work: {
      workers,
      reconnectHz: settings.reconnectHz ?? null,
      connections: workers + (outputs ?? 0),
      processes: processesOf(workers, work),
      take,
      kind: work.kind,
      us: work.us,
      confirm,
      reclaimMs,
      drain,
      /** The second stage; null: there is none. */
      outputs:
        outputs === undefined
          ? null
          : { workers: outputs, processes: processesOf(outputs, outputWork), ...outputWork },
      /** @type {'filter' | 'output' | null} */
      stage: outputs === undefined ? null : 'filter',
    },
    /** @type {'closed'} */
    pacing: 'closed',
    durationMs: durationMs ?? null,
    /** @type {'socket'} */
    driver: 'socket',
    cluster,
    masters,
  }
}

/**
 * What names the keys of workers that no producer has announced, so that writers and cleanup know them.
 * @param {WorkPlan} plan
 * @param {string} version
 */
export const workAnnouncement = (plan, version) => ({
  ...announcedFields(plan),
  periodMs: 1000,
  chunks: 1,
  totalAgents: 1,
  sets: setNames(plan.prefix, 1, plan.placement),
  paced: false,
  version,
})
