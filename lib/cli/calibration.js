// A calibration as `millrace calibrate` and `millrace plan` make it: servers for its cells, what is known of them, its file.
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { calibration, secondsOf } from '../answers/plan/calibrate.js'
import { calibrationName, calibrationVersion } from '../answers/plan/calibration.js'
import { optionsOfCell, ranges, referenceCell } from '../answers/plan/cells.js'
import { allocatorIn, memoryOf } from '../answers/plan/memory.js'
import { cellSecondsOf, mixFactsOf } from '../answers/plan/mix.js'
import { nameHint } from '../base/did-you-mean.js'
import { InterruptedError, OptionError } from '../base/errors.js'
import { entryOf } from '../base/typed.js'
import { plainText, several } from '../base/units.js'
import { millraceVersion } from '../base/version.js'
import { namesOfWriters, strategiesInBatches } from '../loads/names-of-strategy.js'
import { planOf } from '../loads/plan.js'
import { writeFiles } from '../report/write-report.js'
import { intoOutFolder, runName } from '../result/files.js'
import { clearLeftKeys } from '../servers/left-keys.js'
import { listIn } from '../servers/lists.js'
import { openTarget } from '../servers/open.js'
import { parseInfo } from '../wire/info.js'
import { strategyOf } from '../workloads/bound-strategy.js'
import { isStrategy, strategyNamed } from '../workloads/index.js'
import { namesElsewhere } from '../workloads/names-elsewhere.js'
import { run, startLocalServers } from './run-here.js'
import { settingsOfRun } from './run-options.js'

/**
 * @import { RunHooks, RunOptions } from '../index.js'
 * @import { Needs } from '../answers/plan/calibrate.js'
 * @import { Calibration } from '../answers/plan/calibration.js'
 * @import { Settings } from '../../settings.js'
 * @import { Cell, Ranges } from '../answers/plan/cells.js'
 * @import { Target } from '../servers/open.js'
 * @import { ConfigLine } from '../servers/embedded-servers.js'
 */

const prefix = 'millrace-calibrate:'
const nowhere = '127.0.0.1'
export const usualStrategies = 'sorted-set,list,stream'

/**
 * A plan for computations, which is never run.
 * @param {object} options of a run
 * @param {string | null} variant
 * @param {Partial<Settings>} [more]
 */
export const plannedRun = (options, variant, more = {}) => {
  const { settings } = settingsOfRun(/** @type {any} */ ({ host: nowhere, prefix, ...options }))
  return planOf({ ...settings, ...more }, { agents: [1], masters: 1, cluster: false, variant })
}

/** A built-in strategy by its name, or an own model by its file. @param {string} name @param {Record<string, string>} files @returns {Pick<RunOptions, 'model' | 'strategy'>} */
export const modelOption = (name, files) =>
  name in files ? { model: files[name] } : { strategy: /** @type {RunOptions['strategy']} */ (name) }

/** Whether all that it stores is known beforehand. @param {string} name */
const isKnown = (name) => {
  if (strategyNamed(name).variants !== null) return false
  const plan = plannedRun({ strategy: name, ...optionsOfCell(referenceCell) }, null)
  return memoryOf(plan, 'jemalloc-8').unknown.length === 0 && strategyOf(plan).holders().aMinute === 0
}

/** @param {string} text as --strategy has it @param {Record<string, string>} files of own models */
export const strategiesIn = (text, files) => {
  const own = Object.keys(files)
  const named =
    text === 'all'
      ? strategiesInBatches().filter((name) => !own.includes(name) && isKnown(name))
      : text.split(',')
  for (const name of named)
    if (!isStrategy(name) || !namesOfWriters(name).inBatches)
      throw new OptionError(
        `--strategy ${plainText(name).slice(0, 40)}: must be of ${strategiesInBatches().join(', ')}, or all${nameHint(plainText(name).slice(0, 40), strategiesInBatches(), namesElsewhere)}`,
      )
  for (const name of own)
    if (strategyNamed(name).mix)
      throw new OptionError(
        `--model ${plainText(files[name])}: has a mix, which is measured by itself; give the file without --model`,
      )
  return [...new Set([...named, ...own])]
}

/** New servers for a cell, so that their tables have nothing of other cells. @param {string} [serverBin] @param {readonly ConfigLine[]} [config] */
export const localBench = async (serverBin, config) => {
  const servers = await startLocalServers({ serverBin, config })
  return {
    where: servers.options,
    run: (/** @type {RunOptions} */ options, /** @type {RunHooks} */ hooks) =>
      run({ ...servers.options, ...options }, hooks),
    close: () => servers.close(),
  }
}

const mostSamples = 25
const sampleMs = 200

/** Waits until memory freed in the background is free. @param {Target} target */
const untilSteady = async (target) => {
  let before = Number.NaN
  for (let samples = 0; samples < mostSamples; samples++) {
    const infos = await Promise.all(target.topology.masters.map((master) => target.info(master)))
    const used = infos.reduce((sum, info) => sum + Number(parseInfo(info).fields.used_memory), 0)
    if (Math.abs(used / before - 1) < 0.002) return
    before = used
    await sleep(sampleMs)
  }
}

/** A target with other users: what a cell wrote is removed. @param {RunOptions} where @param {string} [own] prefix of its keys */
export const remoteBench = async (where, own = prefix) => ({
  where,
  run: (/** @type {RunOptions} */ options, /** @type {RunHooks} */ hooks) => {
    // Readers need none of the checks that may be skipped.
    const { allow, ...address } = where
    return run({ ...(options.command === 'read' ? address : where), ...options }, hooks)
  },
  close: () =>
    onTarget(where, async (target) => {
      await clearLeftKeys({
        target,
        prefix: own,
        remove: true,
        nowMs: Date.now(),
        onProgress: () => {},
        signal: new AbortController().signal,
      }).catch((error) => {
        // A run that was refused has written nothing.
        if (error.code !== 'NO_PLAN') throw error
      })
      await untilSteady(target)
    }),
})

/** @template T @param {RunOptions} where @param {(target: Target) => Promise<T>} work */
const onTarget = async (where, work) => {
  const target = await openTarget(settingsOfRun({ ...where }).settings, { say: () => {}, mayStart: false })
  try {
    return await work(target)
  } finally {
    await target.close()
  }
}

const shownSettings = ['io-threads', 'appendonly', 'save', 'maxmemory-policy', 'activedefrag']

/** @param {RunOptions} where */
const serverFacts = (where) =>
  onTarget(where, async (target) => {
    const [master] = target.topology.masters
    const client = target.control(master)
    const call = (/** @type {string} */ command, /** @type {(string | number)[]} */ ...args) =>
      client.call(command, ...args)
    /** @type {Record<string, string>} */
    const configuration = {}
    for (const name of shownSettings) {
      const [, value] = listIn('CONFIG', await call('CONFIG', 'GET', name).catch(() => []))
      if (value !== undefined) configuration[name] = value
    }
    const nodes = target.nodes()
    return {
      version: target.versions[0],
      allocator: (await allocatorIn(call, prefix)) ?? 'jemalloc-8',
      masters: target.topology.masters.length,
      replicas: nodes.length - target.topology.masters.length,
      configuration,
    }
  })

const interruptedWords = (/** @type {number} */ cells) =>
  cells === 0
    ? 'interrupted before a cell was measured: nothing is kept'
    : `interrupted after ${several(cells, 'cell')}: no model has all of its cells, so nothing is kept`

/**
 * @param {object} asked
 * @param {readonly string[]} asked.strategies
 * @param {Record<string, string>} asked.files of own models
 * @param {RunOptions | null} asked.where url and cluster of a run; null: local servers
 * @param {string} [asked.serverBin]
 * @param {number} asked.seed
 * @param {number} asked.cells
 * @param {number} asked.proofs
 * @param {number} asked.limitS
 * @param {number} asked.windowS seconds that are measured in each run
 * @param {Partial<Cell>} asked.most of each factor
 * @param {string} asked.out
 * @param {(line: string) => void} say
 * @param {AbortSignal} stop
 * @returns {Promise<{ folder: string, document: Calibration }>}
 */
export const calibrate = async (asked, say, stop) => {
  const { where, serverBin, out } = asked
  const startedMs = Date.now()
  // Nothing has been written yet, so nothing is removed.
  const first = where === null ? await localBench(serverBin) : { where, close: async () => {} }
  const server = await serverFacts(first.where)
  await first.close()
  const folder = join(out, runName(startedMs, 'calibration'))
  const about = { ...asked, folder, server, startedMs }
  return intoOutFolder(folder, async () => ({ folder, document: await calibrateInto(about, say, stop) }))
}

/**
 * @param {Parameters<typeof calibrate>[0] & { folder: string, server: Awaited<ReturnType<typeof serverFacts>>, startedMs: number }} asked
 * @param {(line: string) => void} say
 * @param {AbortSignal} stop
 * @returns {Promise<Calibration>}
 */
const calibrateInto = async (asked, say, stop) => {
  const { strategies, files, where, serverBin, seed, cells, proofs, limitS, windowS, most } = asked
  const { folder, server, startedMs } = asked
  const open = () => (where === null ? localBench(serverBin) : remoteBench(where))
  const within = /** @type {Ranges} */ (
    Object.fromEntries(
      Object.entries(ranges).map(([name, [least, usual]]) => [name, [least, entryOf(most, name) ?? usual]]),
    )
  )
  say(
    `calibrating ${strategies.join(', ')} on ${where === null ? 'local servers' : 'the target'}, version ${server.version}: about ${several(Math.ceil(secondsOf(strategies.length, cells, proofs, cellSecondsOf(mixFactsOf(strategies[0]))) / 60), 'minute')}`,
  )
  let measured = 0
  /** @type {Calibration | undefined} */
  let document
  /** @type {Needs['save']} */
  const save = async (models, idle, references) => {
    const complete =
      models.length === strategies.length && Boolean(models.at(-1)?.proof.every((one) => one.measured))
    document = {
      schema: calibrationVersion,
      kind: 'calibration',
      complete,
      started: new Date(startedMs).toISOString(),
      millrace: millraceVersion(),
      server,
      machine: {
        cpu: cpus()[0]?.model.trim() ?? 'unknown',
        cores: availableParallelism(),
        node: process.versions.node,
        where: where === null ? 'local' : 'address',
      },
      seed,
      ranges: within,
      idle,
      references,
      models,
    }
    await written()
  }
  const written = () => writeFiles(folder, { [calibrationName]: `${JSON.stringify(document, null, 2)}\n` })
  await calibration(strategies, {
    open,
    planOf: (strategy, cell, variant) =>
      plannedRun({ ...modelOption(strategy, files), ...optionsOfCell(cell) }, variant),
    optionsOf: (strategy) => modelOption(strategy, files),
    mixOf: mixFactsOf,
    mixPrefix: where === null ? '' : prefix,
    allocator: server.allocator,
    isCluster: server.masters > 1,
    seed,
    cells,
    proofs,
    limitS,
    windowS,
    within,
    say,
    onCell: () => {
      measured++
    },
    save,
    stop,
  }).catch((error) => {
    if (!stop.aborted) throw error
  })
  if (document === undefined) throw new InterruptedError(interruptedWords(measured))
  // Held-out cells measured before a stop are included.
  if (stop.aborted) await written()
  return document
}
