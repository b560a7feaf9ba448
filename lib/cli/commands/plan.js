// `millrace plan`: what a rate costs by a calibration, on which nodes, and for how much.
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { ownOptions } from '../../../settings.js'
import { planAnswer } from '../../answers/plan/answer.js'
import { readCalibration } from '../../answers/plan/calibration.js'
import { keysAt, mixFactsOf } from '../../answers/plan/mix.js'
import { plan as kit } from '../../answers/plan/report.js'
import { ExitCode, errorOf, OptionError } from '../../base/errors.js'
import { bulkPrices, pricesOf, typesLike } from '../../base/prices.js'
import { countUnits, scaled } from '../../base/scaled.js'
import { entryOf, exactly } from '../../base/typed.js'
import { plainText } from '../../base/units.js'
import { isStrategy, strategyNamed } from '../../workloads/index.js'
import { printAnswer, writeAnswer } from '../answer.js'
import { planCache } from '../cache-nodes.js'
import { calibrate, modelOption, plannedRun, usualStrategies } from '../calibration.js'
import { screenSay } from '../say.js'
import { interruptsOfSeries } from '../signals.js'
import { withStrategies } from '../typed-strategies.js'
import { calibrationOptions, calibrationRequest, fileIn } from './calibrate.js'

/**
 * @import { CalibratedModel, Calibration } from '../../answers/plan/calibration.js'
 * @import { MixFacts } from '../../answers/plan/mix.js'
 * @import { Command } from '../commands.js'
 * @import { Values } from '../../options/values.js'
 */

// A rate and a lifetime may make more items than one cache can hold.
const mostItems = 1e10
const tickMs = 100
// What is in the file of a mix.
const ofItems = ['value-size', 'ttl', 'items', 'max-members', 'sets']
// A shard without a replica is lost with its node or zone.
const leastReplicas = exactly({ none: 0, node: 1, zone: 1 })

// biome-ignore format: a table, an option a row
const options = [
  ...ownOptions('Workload', [
    { name: 'rate', key: 'peak', type: 'text', place: 'RATE', brief: 'items a second at the peak: 300k',
      help: "items a second at the peak: 300k; of a workload file operations, or a percentage of the rate in its `run` (default 100%)" },
    { name: 'value-size', key: 'valueSize', type: 'text', place: 'SIZE', default: '128B',
      brief: 'size of a value: 200B', help: 'size of a value: 200B, or lognormal:p50=200B,p99=4kB' },
    { name: 'ttl', key: 'ttlMs', type: 'duration', unit: 's', range: ['1s', '720h'], default: '3s',
      brief: true, help: 'how long an item lives' },
    { name: 'items', also: ['keys'], type: 'integer', range: ['1', '10000M'], otherwise: 'the rate times the ttl',
      brief: 'items alive at once; else the rate times the ttl',
      help: 'items alive at once, if they are rewritten before they expire' },
    { name: 'max-members', key: 'members', type: 'integer', range: ['1', '10k'], default: '1000',
      help: 'items in a command that takes several; at most those of a tenth of a second' },
    { name: 'sets', was: { 'sorted-sets': '--sets' }, key: 'sortedSets', type: 'integer', range: ['1', '1000'], default: '1',
      help: 'number of sorted sets over which ids are spread; each is on one shard' },
    { name: 'hit-rate', key: 'hitRate', type: 'text', place: 'PERCENT', otherwise: '90, 95 and 99 %',
      help: 'of a cache (plan cache-aside): the share of hits that its memory is for' },
    { name: 'popularity', type: 'text', place: 'ORDER', default: 'uniform', help: 'of a cache: zipf:0.99 and others, as in millrace write' },
    { name: 'strategy', key: 'models', type: 'text', place: 'NAMES', default: 'all',
      brief: true, help: 'data models of the calibration' },
    { name: 'file', also: ['from'], type: 'path',
      brief: 'these options from a file, YAML or JSON', help: 'a YAML or JSON file with these options by their names' },
  ]),
  ...ownOptions('Nodes and money', [
    { name: 'nodes', type: 'text', place: 'PATTERN', default: '*',
      brief: 'node types to consider: cache.r7g.*', help: "node types to consider: 'cache.r7g.*'" },
    { name: 'headroom', type: 'text', place: 'PERCENT', default: '40%',
      brief: true, help: 'share of main thread and network that stays free' },
    { name: 'replicas', key: 'replicasEach', type: 'integer', range: ['0', '5'], default: '1',
      brief: true, help: 'replicas of each shard' },
    { name: 'survive', type: 'choice', choices: ['none', 'node', 'zone'], default: 'none',
      brief: 'what may be lost: none, node or zone',
      help: 'what may be lost without losing items; needs a replica, which then serves the whole load of its shard and sends its data to a new node' },
    { name: 'growth', type: 'text', place: 'PERCENT', default: '0%/month', brief: 'growth of the load: 5%/month',
      help: 'growth of the load, as in 5%/month or 60%/year: prints when the next size is due' },
    { name: 'fork-time', key: 'forkMs', type: 'duration', unit: 's', range: ['0s', '1h'], default: '30s',
      help: 'how long a fork lasts while a replica is synchronized: data written meanwhile takes memory twice' },
    { name: 'speed', type: 'number', range: ['0.05', '20'], default: '1',
      brief: 'speed of a main thread relative to the calibrated server',
      help: "speed of a node's main thread relative to the calibrated server: 2 is twice as fast" },
    { name: 'region', type: 'text', default: 'us-east-1', brief: true, help: 'AWS region of the prices' },
    { name: 'engine', type: 'choice', choices: ['Valkey', 'Redis OSS'], default: 'Valkey',
      help: 'engine of the prices in --prices' },
    { name: 'prices', type: 'path',
      brief: 'AWS bulk price list of ElastiCache', help: "AWS's bulk price list of ElastiCache (index.json) instead of ours" },
  ]),
  ...ownOptions('Calibration to use', [
    { name: 'calibration', type: 'path', otherwise: 'makes one',
      brief: 'result of millrace calibrate; else it makes one', help: 'folder or file that millrace calibrate wrote' },
    { name: 'server-version', key: 'serverVersion', type: 'text', otherwise: 'that of the calibration',
      help: 'what the nodes will run: a calibration of another version is refused' },
  ]),
  ...calibrationOptions,
  ...ownOptions('Output', [
    { name: 'draw', was: { page: '--draw FILE.html' }, type: 'path', place: 'FILE', brief: 'cost over the rate, and how sure it is',
      help: 'write cost over the rate, and predicted against measured, as a page (.html)' },
    { name: 'json', type: 'flag', brief: true, help: 'print the plan as JSON' },
  ]),
]

/** @param {string} text @param {RegExp} shape @param {string} wanted */
const percentIn = (text, shape, wanted) => {
  const [, digits, unit] = shape.exec(text) ?? []
  const value = Number(digits)
  if (!(value >= 0 && value < 100))
    throw new OptionError(
      `${wanted.replace(/ .*/, '')} ${plainText(text).slice(0, 40)}: ${wanted.replace(/^\S+ /, '')}`,
    )
  return unit === 'year' ? (1 + value / 100) ** (1 / 12) - 1 : value / 100
}

/** Operations a second of a mix. @param {string} text @param {MixFacts} mix */
const rateOfMix = (text, { rate }) => {
  const share = Number(/^(\d+(?:\.\d+)?)\s*%$/.exec(text)?.[1]) / 100
  if (share > 0 && rate === null)
    throw new OptionError(
      `--rate ${plainText(text).slice(0, 40)}: the file has no run with a rate; give operations a second, as in --rate 20k`,
    )
  return share > 0 ? share * Number(rate) : scaled(text, countUnits)
}

/** @param {Values} values @param {MixFacts | null} mix */
const askedOf = (values, mix) => {
  const {
    peak: text = mix?.rate ? '100%' : undefined,
    ttlMs,
    members,
    headroom,
    replicasEach: replicas,
    survive,
    growth,
    forkMs,
    speed,
  } = values
  if (text === undefined)
    throw new OptionError(
      `--rate is missing: ${mix ? 'operations' : 'items'} a second at the peak, as in --rate 300k`,
    )
  const rate = mix ? rateOfMix(text, mix) : scaled(text, countUnits)
  if (rate === undefined || !(rate > 0))
    throw new OptionError(
      `--rate ${plainText(text).slice(0, 40)}: must be ${mix ? 'operations a second such as 5000 or 300k, or a percentage such as 200%' : 'items a second such as 5000 or 300k'}`,
    )
  const share = mix?.rate ? rate / mix.rate : null
  const items = mix
    ? keysAt(mix, share ?? 1).reduce((sum, { keys }) => sum + keys, 0)
    : (values.items ?? Math.ceil((rate * ttlMs) / 1000))
  if (items > mostItems)
    throw new OptionError(
      `--rate ${plainText(text)} with --ttl ${ttlMs / 1000}s: ${items.toPrecision(3)} items at once; ${mostItems.toPrecision(1)} are the most that can be planned`,
    )
  if (replicas < Number(entryOf(leastReplicas, survive)))
    throw new OptionError(
      `--survive ${survive} needs --replicas 1: without one the items of the shard are lost`,
    )
  return {
    rate,
    part: share,
    items,
    ttlS: mix ? null : ttlMs / 1000,
    replicas,
    survive,
    speed,
    members: Math.max(1, Math.min(members, Math.ceil((rate * tickMs) / 1000))),
    headroom: percentIn(
      headroom,
      /^(\d+(?:\.\d+)?) ?%$/,
      '--headroom must be a percentage from 0 to below 100, such as 40%',
    ),
    growth: percentIn(
      growth,
      /^(\d+(?:\.\d+)?) ?%\/(month|year)$/,
      '--growth must be a percentage from 0 to below 100 a month or a year, such as 5%/month',
    ),
    forkS: forkMs / 1000,
  }
}

/** The load as a run of it would be planned. @param {Pick<CalibratedModel, 'strategy' | 'variant'>} model @param {{ rate: number, items: number, members: number }} asked @param {Values} values @param {Record<string, string>} files */
export const plannedLoad = (
  { strategy, variant },
  { rate, items, members },
  { valueSize, sortedSets },
  files,
) => {
  const periodMs = Math.max(tickMs, Math.round((items * 1000) / rate))
  const load = {
    ...modelOption(strategy, files),
    quantity: 1,
    valueSize,
    maxMembers: members,
    ttl: `${Math.ceil(periodMs / 1000) + 60}s`,
    ...(sortedSets > 1 && { sets: sortedSets, placement: 'spread' }),
  }
  const chunks = Math.max(1, Math.min(items, Math.round(periodMs / tickMs)))
  return plannedRun(load, variant, { quantity: items, periodMs, chunks })
}

/** @param {Calibration} document @param {string} names @param {string} where @param {MixFacts | null} mix */
const modelsIn = ({ models }, names, where, mix) => {
  if (names === 'all') return models
  return names.split(',').map((name) => {
    const found = models.find(({ strategy }) => strategy === name)
    if (!found)
      throw new OptionError(
        `--strategy ${plainText(name).slice(0, 40)}: ${plainText(where)} has ${models.map((one) => plainText(one.strategy)).join(', ')}`,
      )
    if (!isDeepStrictEqual(found.mix ?? null, mix))
      throw new OptionError(
        `${plainText(where)} is a calibration of ${plainText(name)} as the file was then: calibrate again`,
      )
    return found
  })
}

/** @param {Values} values */
const pricesIn = ({ prices, region, engine }) => {
  if (prices === undefined) return pricesOf(region)
  try {
    return bulkPrices(readFileSync(prices, 'utf8'), prices, {
      region,
      engine: engine === 'Valkey' ? engine : 'Redis',
    })
  } catch (error) {
    if (error instanceof OptionError) throw error
    throw new OptionError(`--prices ${plainText(prices)} cannot be read (${errorOf(error).code})`, {
      cause: error,
    })
  }
}

/** @param {string} word */
const isCache = (word) => isStrategy(word) && Boolean(strategyNamed(word).play.caches)

/** @type {Command} */
export const command = {
  about: {
    words: '[FILE | STRATEGY...] --rate RATE',
    does: 'Predicts from a calibration what data models cost at a rate that was not measured: CPU of the main threads, memory and network, each with its uncertainty; then how many shards of which node type that needs, which limit binds, and what it costs a month.',
    examples: [
      ['with a calibration', 'sorted-set --rate 300k --calibration results/calibration'],
      ['a workload file of millrace profile, at twice its rate', 'profile/NAME/workload.yaml --rate 200%'],
      ['a cache: memory, nodes and money for 95 % hits', 'cache-aside --items 1M --rate 50k --hit-rate 95%'],
      ['from a file, for some nodes', "--file workload.yaml --nodes 'cache.r7g.*' --replicas 1"],
    ],
  },
  options,
  isPrivate: true,
  takesWords: true,
  // Behind the name of a cache is its policy.
  placed: async (line) => (isCache(line.words[0] ?? '') ? line : withStrategies(line, { areSeveral: true })),
  work: async ({ settings, typed, env }) => {
    /** @type {Values} */
    const values = settings
    const [strategy = ''] = typed.words
    if (isCache(strategy)) {
      const stop = interruptsOfSeries()
      return planCache({ values, typed, prices: pricesIn(values), strategy, stop })
    }
    if (values.hitRate !== undefined)
      throw new OptionError('--hit-rate is for a cache: millrace plan cache-aside --hit-rate 95%')
    const isMade = values.calibration === undefined
    const file = fileIn(typed, ofItems)
    // What cannot be planned at all is refused before what is missing.
    const request = calibrationRequest(
      {
        ...values,
        models: isMade && values.models !== 'all' ? values.models : usualStrategies,
      },
      typed,
      env,
      file,
    )
    const calibration = isMade ? null : readCalibration(values.calibration, values)
    const mix = file ? mixFactsOf(file.name) : (calibration?.models[0].mix ?? null)
    const asked = askedOf(values, mix)
    const prices = pricesIn(values)
    const types = typesLike(prices.nodes.types, values.nodes)
    if (values.draw !== undefined && !values.draw.endsWith('.html'))
      throw new OptionError(`--draw ${plainText(values.draw)}: must end in .html`)
    const found =
      calibration === null
        ? await calibrate(
            { ...request, cells: 12, proofs: 6, limitS: 12, windowS: 3, most: {} },
            screenSay,
            interruptsOfSeries(),
          )
        : { folder: values.calibration, document: calibration }
    const models = modelsIn(found.document, file?.name ?? values.models, found.folder, mix)
    const plans = models.map((model) => ({
      model,
      plan: model.mix ? null : plannedLoad(model, asked, values, request.files),
    }))
    const answer = await planAnswer({
      asked,
      calibration: found.document,
      plans,
      prices,
      types,
      nowMs: Date.now(),
    })
    if (values.draw !== undefined) await writeAnswer(values.draw, await kit.page(answer))
    printAnswer(answer, values.json, kit.text)
    if (isMade) screenSay(`plan again without measuring: --calibration ${found.folder}`)
    return ExitCode.done
  },
}
