// The options of `millrace choose`, and what was asked.
import { existsSync } from 'node:fs'
import { optionsOf, ownOptions } from '../../settings.js'
import { modelsFor, needsIn } from '../answers/choose/candidates.js'
import { metricNames, weightsIn } from '../answers/choose/cost.js'
import { OptionError } from '../base/errors.js'
import { howToGetPeers } from '../base/optional-packages.js'
import { countUnits, scaled } from '../base/scaled.js'
import { exactly } from '../base/typed.js'
import { plainText } from '../base/units.js'
import { optionWords } from '../experiments/options.js'
import { readSettings } from '../options/read-settings.js'
import { findServerBinary } from '../servers/embedded-binary.js'
import { limitOf } from '../servers/open.js'
import { otherVersions, peerPath, peers } from '../servers/peers.js'
import { defaultStrategy, isStrategy, strategyNamed } from '../workloads/index.js'
import { needNames } from '../workloads/needs.js'
import { isModelFile, loadModel } from '../workloads/own/load.js'
import { leastSecondsOf } from './choose.js'
import { placeIn, placeRows } from './place.js'

/**
 * @import { About } from '../options/help.js'
 * @import { Peer } from '../servers/peers.js'
 * @import { Values } from '../options/values.js'
 * @import { NeedName } from '../workloads/needs.js'
 * @import { Excluded } from '../answers/choose/candidates.js'
 * @import { Asked, Candidate } from './choose.js'
 *
 * @typedef {object} Request
 * @property {NeedName[]} needs
 * @property {Excluded[]} excluded
 * @property {'models' | 'servers' | 'policies'} across
 * @property {string} [maxmemory] of policies
 * @property {number} servers different ones
 * @property {Candidate[]} candidates
 * @property {Omit<Asked, 'budgetS' | 'effect' | 'seed'>} asked
 */

/** Options of a run that every candidate has, as they are typed there. */
const loadNames = exactly([
  ['ttl', 'TIME', 'lifetime of an item, or a range as in 30s-90s', '3s'],
  ['value-size', 'SIZE', 'size of a value: 200B, or lognormal:p50=200B,p99=4kB', '128B'],
  ['popularity', 'ORDER', 'which items are written: zipf:0.99, as in millrace write', undefined],
  ['churn', 'PACE', 'how fast items are replaced by new ones: 10%/h', undefined],
  ['arrivals', 'PATTERN', 'how writes arrive: poisson, bursts, daily', undefined],
  ['payload', 'KIND', 'random, sparse or zero', undefined],
  ['max-members', 'N', 'items in a command that takes several', undefined],
  ['sets', 'N', 'number of sorted sets over which ids are spread', undefined],
  ['connections', 'N', 'connections to each server', undefined],
])

/** What runs of a cache have besides. */
const cacheSettings = optionsOf('producer').filter(({ group }) => group === 'Caches')
// Hits vary more than CPU.
const cacheWindowS = 5
const usualPolicies = ['allkeys-lru', 'allkeys-lfu', 'allkeys-random']
const policiesWithTtl = ['volatile-lru', 'volatile-lfu', 'volatile-random', 'volatile-ttl']

/** What a writer takes without the option. @param {string} name */
const ofWriters = (name) => {
  const { otherwise, default: value } = optionsOf('producer').find((one) => one.name === name) ?? {}
  return otherwise ?? value ?? 'none'
}

const rates = '1 to 10M'
// Unless --time says how long it may take.
const [usualS, longestS] = [225, 900]

// biome-ignore format: a table, an option a row
export const chooseOptions = [
  ...ownOptions('What is asked', [
    { name: 'need', type: 'text', place: 'NEEDS', repeatable: ',', otherwise: 'none',
      brief: 'what the model must meet: newest-n,exact-expiry', help: `what the model must meet, of ${needNames.join(', ')}` },
    { name: 'rate', key: 'peak', type: 'text', place: 'RATE',
      brief: 'items a second: 50k', help: 'items a second, evenly spaced: 50k' },
    ...loadNames.map(([name, place, help, byDefault]) => ({
      name,
      // Not those of a run, by which settings are derived.
      key: /** @type {any} */ (`load-${name}`),
      /** @type {'text'} */
      type: 'text',
      place,
      help,
      ...(byDefault === undefined
        ? { otherwise: ofWriters(name) }
        : { default: byDefault, brief: help }),
    })),
    { name: 'items', also: ['keys'], type: 'integer', range: ['1', '10M'], otherwise: 'those of one second',
      help: 'items alive in the runs: each is written once before anything is measured, so many take long' },
    { name: 'fetch-rate', was: { reads: '--fetch-rate' }, key: 'readsPerS', type: 'integer', range: ['1', '1000'], otherwise: 'no reader',
      brief: 'reads of the newest items a second, beside the writes',
      help: 'reads of the newest items a second, beside the writes: their cost is part of the comparison' },
    { name: 'limit', was: { 'read-limit': '--limit' }, key: 'readLimit', type: 'integer', range: ['1', '1M'], default: '1000', help: 'items of a read' },
    { name: 'weigh', type: 'text', place: 'WEIGHTS', default: 'cpu=1', brief: 'what counts: cpu=1,memory=0.5',
      help: `what counts, of ${metricNames.join(', ')}, as in cpu=1,memory=0.5: the cost is the weighted geometric mean; of a cache misses=1 unless given` },
    { name: 'file', also: ['workload', 'from'], type: 'path', brief: 'these options from a file (also --workload)',
      help: 'a YAML or JSON file with these options by their names; also --workload' },
  ]),
  ...ownOptions('Candidates', [
    { name: 'strategy', key: 'models', type: 'text', place: 'NAMES', repeatable: ',', otherwise: 'all that meet the needs; across servers, sorted-set',
      brief: 'data models, or files of your own: list,./feed.yaml',
      help: 'data models, or files of your own (docs/reference/own-model.md): list,./feed.yaml; a cache, as cache-aside: its policies' },
    { name: 'with', type: 'named', repeatable: ',', place: 'SETTINGS', otherwise: 'none', help: 'settings of a cache: maxmemory=50MB,miss-time=5ms' },
    ...cacheSettings.map(({ name, type, help, otherwise, default: value }) => ({
      name,
      with: exactly(true),
      key: /** @type {any} */ (`load-${name}`),
      type: type === 'flag' ? type : exactly('text'),
      ...(name === 'policy'
        ? { repeatable: exactly(','), otherwise: 'those that evict keys of this load', help: 'the candidates: allkeys-lru,allkeys-lfu' }
        : { help, otherwise: otherwise ?? value ?? 'none' }),
    })),
    { name: 'across', type: 'choice', choices: ['models', 'servers'], default: 'models',
      brief: 'servers: the same models on several server versions', help: 'servers: each model on every server of --servers' },
    { name: 'servers', type: 'text', place: 'NAMES', repeatable: ',', otherwise: 'that of PATH and all that npm run setup:peers has fetched',
      help: 'server versions by their names there (redis-7.4,valkey-9.1), installed, or paths of programs' },
  ]),
  ...ownOptions('How it is measured', [
    { name: 'time', key: 'budgetMs', type: 'duration', unit: 's', range: ['20s', '4h'], otherwise: '225s, or what four rounds of all candidates take, up to 15 minutes',
      brief: true, help: 'how long it may take' },
    { name: 'duration', also: ['seconds'], key: 'windowS', type: 'wholeSeconds', unit: 's', range: ['1s', '10m'], default: '2s', help: 'measured, of every run' },
    { name: 'seed', type: 'integer', range: ['0', '2147483648'], default: '1', help: 'seed of the order' },
    { name: 'calibration', type: 'path', otherwise: 'none',
      help: 'result of millrace calibrate: at which rates the order turns over' },
    ...placeRows('measure on this server; keys get the prefix millrace-choose: and are removed', ['foreign-keys', 'memory', 'clock', 'named-hosts', 'scripts']),
    { name: 'server-bin', key: 'serverBin', type: 'path', otherwise: 'redis-server or valkey-server from PATH', help: 'server program of local servers' },
    { name: 'dry-run', key: 'dryRun', type: 'flag', help: 'print the candidates and how long it takes; run nothing' },
  ]),
  ...ownOptions('Output', [
    { name: 'out', type: 'path', default: 'results', help: 'folder of the results' },
    { name: 'json', type: 'flag', brief: true, help: 'print choose.json' },
  ]),
]

/** @param {string | undefined} text */
const rateIn = (text) => {
  if (text === undefined) throw new OptionError('--rate is missing: items a second, as in --rate 50k')
  const rate = scaled(text, countUnits)
  if (rate === undefined || !(rate >= 1 && rate <= 1e7))
    throw new OptionError(
      `--rate ${plainText(text).slice(0, 40)}: must be ${rates} items a second, such as 50k`,
    )
  return rate
}

/** Names of models; files of own ones are loaded. @param {string | undefined} text @param {string} across */
const modelNamesIn = (text, across) => {
  /** @type {Record<string, string>} */
  const files = {}
  if (text === undefined) return { names: across === 'servers' ? [defaultStrategy] : null, files }
  const names = text.split(',').map((word) => {
    if (!isModelFile(word)) return word
    const name = loadModel(word, '')
    files[name] = word
    return name
  })
  return { names, files }
}

/** A program of PATH, or one that is given by its path. @param {string} [path] */
const programOf = (path) => {
  const { name, version, file } = findServerBinary(path)
  return { name: `${name.replace(/-server$/, '')} ${version}`, file }
}

/** @param {string} option @param {string} text */
const differentIn = (option, text) => {
  const words = text.split(',')
  const twice = words.find((word, i) => words.indexOf(word) !== i)
  if (twice !== undefined)
    throw new OptionError(`--${option} ${plainText(twice).slice(0, 200)}: it is there twice`)
  return words
}

/** @param {string | undefined} text @param {NodeJS.ProcessEnv} env @returns {{ name: string, file: string }[]} */
export const serversIn = (text, env) => {
  const named = [...peers, ...otherVersions]
  const fetched = (/** @type {Peer} */ peer) => ({ name: peer.name, file: peerPath(peer, env) })
  if (text === undefined) return [programOf(), ...named.map(fetched).filter(({ file }) => existsSync(file))]
  const all = differentIn('servers', text).map((word) => {
    if (word === 'installed') return programOf()
    const peer = named.find(({ name }) => name === word)
    if (peer && !existsSync(peerPath(peer, env)))
      throw new OptionError(`--servers ${word}: it is not there; ${howToGetPeers}`)
    if (peer) return fetched(peer)
    if (!word.includes('/'))
      throw new OptionError(
        `--servers ${plainText(word).slice(0, 40)}: must be of installed, ${named.map(({ name }) => name).join(', ')}, or the path of a server`,
      )
    return programOf(word)
  })
  // Builds of one version differ by their paths.
  return all.map(({ name, file }) => ({
    name: all.filter((other) => other.name === name).length > 1 ? `${name} (${file})` : name,
    file,
  }))
}

/** How a row of the options was typed; undefined: it was not. @param {Values} values @param {readonly string[]} keys */
const typedOf = (values, keys) => {
  const key = keys.find((one) => values.given[one] !== undefined && values.given[one] !== 'default')
  return key && chooseOptions.find((option) => option.key === key)?.name
}

/** Of the options of a run those that have a value, by their names. @param {Values} values @param {readonly string[]} names @returns {Record<string, string | true>} */
const loadIn = (values, names) =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = values[`load-${name}`]
      return value === undefined || value === false ? [] : [[name, value]]
    }),
  )

/** As a program names them. @param {Record<string, string | true>} load */
const asRunOptions = (load) =>
  Object.fromEntries(
    Object.entries(load).map(([name, value]) => [
      name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase()),
      value,
    ]),
  )

const notOfCaches = [
  'need',
  'readsPerS',
  'across',
  'servers',
  'calibration',
  'url',
  'host',
  'port',
  'cluster',
]

/** Of a cache its policies are candidates, each on servers with that policy. @param {Values} values @param {string} strategy @returns {Request} */
const policyRequest = (values, strategy) => {
  const odd = typedOf(values, notOfCaches)
  if (odd !== undefined)
    throw new OptionError(
      `--${odd} does not go with --strategy ${strategy}: policies are chosen from, on local servers`,
    )
  if (values.items === undefined)
    throw new OptionError('--items is missing: how many keys there are, as in --items 200k')
  const isMortal = values.given['load-ttl'] !== 'default'
  const { policy, maxmemory, ttl, ...rest } = loadIn(values, [
    ...loadNames.map(([name]) => name),
    ...cacheSettings.map(({ name }) => name),
  ])
  const load = { ...rest, ...(isMortal && { ttl }) }
  const names = policy
    ? differentIn('policy', String(policy))
    : [...usualPolicies, ...(isMortal ? policiesWithTtl : [])]
  const { serverBin, windowS } = values
  const weigh = weightsIn(values.given.weigh === 'default' ? 'misses=1' : values.weigh)
  if (weigh.memory !== undefined)
    throw new OptionError('--weigh memory: that of a cache is its limit, the same for all policies')
  const ran = { rate: rateIn(values.peak), items: values.items }
  /** @param {string} one */
  const configOf = (one) => {
    const options = { strategy, ...ran, ...load, ...(maxmemory && { maxmemory }), policy: one }
    return limitOf(readSettings({ program: 'producer', argv: optionWords(options), env: {} }))
  }
  return {
    needs: [],
    excluded: [],
    across: exactly('policies'),
    maxmemory: String(maxmemory),
    servers: 1,
    candidates: names.map((name, simplicity) => ({
      ...{ name, model: strategy, server: null, simplicity, gives_up: [] },
      ...(serverBin !== undefined && { serverBin }),
    })),
    asked: {
      ...ran,
      seconds: values.given.windowS === 'default' ? cacheWindowS : windowS,
      load: { ...asRunOptions(load), fill: 'keys' },
      configs: Object.fromEntries(names.map((name) => [name, configOf(name)])),
      files: {},
      reads: null,
      weigh,
      where: null,
    },
  }
}

/** Candidates are data models, on one server or on several. @param {Values} values @param {NodeJS.ProcessEnv} env @returns {Request} */
const modelRequest = (values, env) => {
  const { across, serverBin } = values
  const where = placeIn(values, env)
  const needs = values.need === undefined ? [] : needsIn(values.need)
  const { names, files } = modelNamesIn(values.models, across)
  const address = ['url', 'host', 'port'].find((name) => values.given[name] !== 'default')
  if (across === 'servers' && (where !== null || serverBin !== undefined))
    throw new OptionError(`--${where ? address : 'server-bin'} and --across servers: give one of them`)
  if (across !== 'servers' && values.servers !== undefined)
    throw new OptionError('--servers belongs to --across servers')
  if (values.cluster && where === null) throw new OptionError('--cluster belongs to --url')
  const { models, excluded } = modelsFor({ needs, names })
  if (models.length === 0)
    throw new OptionError(
      `no data model meets --need ${needs.join(',')}: ${excluded.map(({ name, unmet }) => `${name} does not meet ${unmet.join(', ')}`).join('; ')}`,
    )
  const ofCache = typedOf(
    values,
    cacheSettings.map(({ name }) => `load-${name}`),
  )
  if (ofCache !== undefined)
    throw new OptionError(`--with ${ofCache} is of a cache: add --strategy cache-aside`)
  const weigh = weightsIn(values.weigh)
  if (weigh.misses !== undefined)
    throw new OptionError('--weigh misses: only a cache misses keys; add --strategy cache-aside')
  const servers = across === 'servers' ? serversIn(values.servers, env) : null
  const rate = rateIn(values.peak)
  return {
    needs,
    excluded,
    across,
    servers: servers?.length ?? 1,
    candidates: models.flatMap(({ name, simplicity, gives_up }) =>
      (servers ?? [null]).map((server) => ({
        name: server === null ? name : models.length > 1 ? `${name} on ${server.name}` : server.name,
        model: name,
        server: server?.name ?? null,
        simplicity,
        gives_up,
        ...(server !== null ? { serverBin: server.file } : serverBin !== undefined && { serverBin }),
      })),
    ),
    asked: {
      rate,
      items: values.items ?? Math.max(1, Math.round(rate)),
      seconds: values.windowS,
      load: asRunOptions(
        loadIn(
          values,
          loadNames.map(([name]) => name),
        ),
      ),
      files,
      reads: values.readsPerS === undefined ? null : { perS: values.readsPerS, limit: values.readLimit },
      weigh,
      where,
    },
  }
}

/** @param {Values} values @param {NodeJS.ProcessEnv} env */
export const chooseRequest = (values, env) => {
  const { models } = values
  const isOfCache = models !== undefined && isStrategy(models) && strategyNamed(models).play.caches
  const { servers, asked, ...request } = isOfCache ? policyRequest(values, models) : modelRequest(values, env)
  const least = Math.ceil(leastSecondsOf(asked, request.candidates.length, servers))
  return {
    ...request,
    asked: {
      ...asked,
      budgetS: (values.budgetMs ?? 1000 * Math.max(usualS, Math.min(longestS, least))) / 1000,
      effect: 0.03,
      seed: values.seed,
    },
  }
}
