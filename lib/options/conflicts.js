// Options that exclude each other: each rule is a function that returns an error sentence, or nothing.

import { optionsOf } from '../../settings.js'
import { driverOptionsOf, isLibrary, libraries } from '../base/libraries.js'
import { wordsForMissing } from '../base/optional-packages.js'
import { namesOfWriters } from '../loads/names-of-strategy.js'
import { chunksOf } from '../loads/shares.js'
import { isEven } from '../traffic/even.js'
import { stampBytes } from '../traffic/payload.js'
import { sizeLimits } from '../traffic/sizes.js'
import { allStrategies, isStrategy, readsKeys, strategyNamed } from '../workloads/index.js'
import { trafficRules } from './traffic-rules.js'

/**
 * @import { AnyKey, Option, ReaderSettings, SettingKey, Settings } from '../../settings.js'
 * @import { FlowName } from '../loads/names.js'
 */

/**
 * @callback Rule
 * @param {Settings} settings
 * @param {(key: SettingKey) => string} named the option or the variable that gave the setting
 * @returns {string | false | undefined}
 */

/** @param {Settings} s */
const smallestShare = (s) => Math.floor(s.quantity / s.totalAgents)

/** @param {Settings} s */
const highestAgent = (s) => (Array.isArray(s.agent) ? s.agent[s.agent.length - 1] : 1)

/**
 * @param {'placement' | 'sortedSets' | 'extraSortedSets'} key
 * @param {string | number} plain the value without an effect
 * @returns {Rule}
 */
const needsSortedSet = (key, plain) => (s, named) =>
  s[key] !== plain &&
  !strategyNamed(s.strategy).options.includes(key) &&
  (strategyNamed(s.strategy).play.oneSlot
    ? `${named(key)}: the script of ${named('strategy')} writes no further sets`
    : `${named(key)}: ${named('strategy')} keeps no sorted set`)

// Settings of writers in ticks only.
// biome-ignore format: a list of names
/** @type {readonly SettingKey[]} */
const ofTicks = [
  'periodMs', 'chunks', 'totalAgents', 'agent', 'pacing', 'intervals', 'once', 'stamp', 'ttlS',
  'maxMembers',
]
// Clients have these only if numbers are drawn.
/** @type {readonly SettingKey[]} */
const ofItems = ['order', 'shift', 'churn', 'arrivals']

// Settings of clients only: those that their strategies name.
const ofClients = /** @type {readonly SettingKey[]} */ ([
  ...new Set(
    allStrategies()
      .filter(({ play }) => play.flow !== 'ticks')
      .flatMap(({ options }) => options)
      .filter((key) => ![...ofTicks, ...ofItems, 'keys'].some((other) => other === key)),
  ),
])

// Writers in ticks have these as well.
/** @type {readonly SettingKey[]} */
const ofBoth = ['connections', 'pipeline', 'reconnectHz']

/**
 * Whether a strategy takes a setting; --help of a strategy lists these.
 * @param {{ options: readonly string[], play: { flow: string } }} strategy
 * @param {string} key
 */
export const isSettingOf = ({ options, play }, key) => {
  const isIn = (/** @type {readonly string[]} */ keys) => keys.includes(key)
  if (options.includes(key)) return true
  if (['placement', 'sortedSets', 'extraSortedSets'].includes(key)) return false
  return play.flow === 'ticks'
    ? !isIn(ofClients) || isIn(ofBoth)
    : !isIn([...ofTicks, ...ofClients, ...ofItems])
}

/**
 * Names that --with takes for a strategy; of all strategies where there is none of this name.
 * @param {string} name
 * @param {readonly Pick<Option, 'name' | 'key' | 'with'>[]} options
 */
export const settingNamesOf = (name, options) =>
  options
    .filter((option) => option.with && (!isStrategy(name) || isSettingOf(strategyNamed(name), option.key)))
    .map((option) => option.name)

/** @param {string} name */
const settingWords = (name) => {
  const names = settingNamesOf(name, optionsOf('producer'))
  return names.length > 0 ? `--with takes ${names.join(', ')}` : 'it takes no settings'
}

/** @param {readonly Rule[]} rules @param {Settings} s @param {(key: SettingKey) => string} named */
const firstOf = (rules, s, named) => {
  for (const rule of rules) {
    const sentence = rule(s, named)
    if (sentence) return sentence
  }
}

/**
 * Whether a setting was given for this run. Variables of the environment are for many runs, and a run ignores those that it
 * does not use.
 * @param {Settings} s
 * @param {SettingKey} key
 */
const isTyped = ({ given }, key) => ['command line', 'file'].includes(given[key])

/** @type {Rule} */
const endsAfterWarmUp = (s, named) =>
  s.durationMs !== undefined &&
  Number(s.warmUpMs) >= s.durationMs &&
  `${named('warmUpMs')} must be shorter than ${named('durationMs')}`

/** @type {Rule} */
const changesAlone = (s, named) => {
  if (s.rates === undefined) return
  if (strategyNamed(s.strategy).queue) return `${named('rates')}: ${s.strategy} is played at one rate`
  if (s.once) return `${named('rates')} does not go with ${named('once')}`
  if (s.control !== undefined) return `${named('rates')} does not go with ${named('control')}`
  if (s.intervals !== undefined) return `${named('rates')} does not go with ${named('intervals')}`
  return !isEven(s.arrivals) && `${named('rates')} does not go with ${named('arrivals')}`
}

/** @type {Rule} */
const settlesAlone = (s, named) =>
  s.warmUpMs === 'auto' &&
  s.once &&
  `${named('warmUpMs')} auto does not go with ${named('once')}: give a time`

// These libraries choose the servers that they connect to, so these cannot be checked.
const unguided = ['node-redis', 'valkey-glide']
const isLoopback = (/** @type {string} */ host) => /^(localhost|127\.|\[?::1\]?$)/.test(host)

/** Rules of client libraries: what each takes, and what has to be installed. @type {readonly Rule[]} */
const driverRules = [
  ({ driver, driverOptions }, named) => {
    if (isLibrary(driver)) driverOptionsOf(driver, driverOptions)
    else if (driverOptions.length > 0)
      return `${named('driverOptions')} is for client libraries: add --driver with one of ${Object.keys(libraries).join(', ')}`
  },
  ({ driver, sentinel }, named) =>
    sentinel &&
    unguided.includes(driver) &&
    `${named('sentinel')} goes with the drivers socket, ioredis and iovalkey, not ${driver}`,
  ({ driver, cluster, host = '127.0.0.1', allow = [] }, named) =>
    cluster &&
    unguided.includes(driver) &&
    !isLoopback(host) &&
    !allow.includes('named-hosts') &&
    `${named('driver')} connects to every node that the cluster names, also to those that were not checked; to accept that, add ${named('allow')} named-hosts`,
  ({ driver, cluster, ...rest }, named) =>
    driver === 'node-redis' &&
    cluster &&
    rest.reads === 'replica' &&
    rest.given.reads !== 'default' &&
    `${named('reads')}: node-redis reads from masters or from any node`,
  ({ driver, reads }, named) =>
    reads === 'nearest' && driver !== 'socket' && `${named('reads')} is for plain sockets, not ${driver}`,
  ({ driver }, named) => isLibrary(driver) && wordsForMissing([libraries[driver].package], named('driver')),
]

/** @type {Rule} */
const readsThere = (s, named) => {
  if ((s.reads ?? 'master') === 'master') return
  const declared = strategyNamed(s.strategy)
  const { name, play, answers, passes, queue } = declared
  if (namesOfWriters(s.strategy).inBatches)
    return `${named('reads')}: writers of ${name} read nothing; give it to millrace read`
  const isElsewhere = answers || passes || queue || play.delivery
  const isRead = !isElsewhere && (play.caches || readsKeys(declared))
  return !isRead && `${named('reads')}: ${name} has no reads that a replica may answer`
}

/** @type {Rule} */
const waitsOnSockets = (s, named) => {
  if (s.wait === '0') return
  const { play, name, answers, updates } = strategyNamed(s.strategy)
  if (s.driver !== 'socket') return `${named('wait')} is for plain sockets, not ${s.driver}`
  if (play.caches) return `${named('wait')}: ${name} is a cache, which loses nothing that its source has not`
  if (play.delivery) return `${named('wait')}: ${name} sends its bundles without waiting for each`
  const isChecked = answers !== null || updates !== null
  return isChecked && `${named('wait')}: ${name} is checked, and does not wait for replicas`
}

/** Rules of clients: a strategy has no option that it does not list. @type {readonly Rule[]} */
const clientsRules = [
  (s, named) => {
    const { options, name, workload } = strategyNamed(s.strategy)
    const optional = [...ofTicks, ...ofClients, ...ofItems]
    const odd = optional.find((key) => isTyped(s, key) && !options.includes(key))
    if (!odd) return
    const isSetting = optionsOf('producer').some((option) => option.with && option.key === odd)
    return `${named(odd)} is not an option of ${name}: ${isSetting ? settingWords(name) : `see the options of ${workload} in --help`}`
  },

  (s, named) => {
    const {
      name,
      play: { drivers },
    } = strategyNamed(s.strategy)
    if (s.given.driver === 'default' || drivers.some((one) => one === s.driver)) return
    return `${named('driver')}: ${name} runs on ${drivers[0] === 'socket' ? 'plain sockets' : drivers[0]} only`
  },

  (s, named) => firstOf(strategyNamed(s.strategy).rules, s, named),

  endsAfterWarmUp,
  settlesAlone,
  changesAlone,
  waitsOnSockets,
  readsThere,
]

/** @type {readonly Rule[]} */
const ticksRules = [
  (s, named) => {
    const ofSockets = ofBoth.find((key) => isTyped(s, key))
    if (ofSockets && s.driver !== 'socket')
      return `${named(ofSockets)} is for plain sockets: ${s.driver} keeps one connection to every node by itself`
    const odd = ofClients.find((key) => isTyped(s, key) && !ofBoth.includes(key))
    if (!odd) return
    const owners = allStrategies().filter((one) => one.options.includes(odd))
    const workloads = [...new Set(owners.map(({ workload }) => workload))].join(', ')
    return owners.length > 0 && `${named(odd)} is an option of ${workloads}; add --strategy ${owners[0].name}`
  },

  (s, named) =>
    s.periodMs < 1 &&
    `${named('rate')}: ${s.quantity} items are written in ${s.periodMs} ms; it must be 1 ms or more: raise --items`,

  endsAfterWarmUp,
  settlesAlone,
  changesAlone,
  waitsOnSockets,
  readsThere,

  (s, named) =>
    s.quantity < s.totalAgents &&
    `${named('quantity')}: ${s.quantity} items are too few for ${s.totalAgents} writers (${named('totalAgents')})`,

  (s, named) =>
    highestAgent(s) > s.totalAgents &&
    `${named('agent')}: number ${highestAgent(s)} is above ${named('totalAgents')} ${s.totalAgents}`,

  (s, named) => {
    const chunks = chunksOf(s, smallestShare(s))
    return (
      chunks > smallestShare(s) &&
      `${named('chunks')}: ${chunks} chunks are more than the ${smallestShare(s)} items of a writer`
    )
  },

  (s, named) =>
    s.stamp &&
    sizeLimits(s).least < stampBytes &&
    `${named('stamp')} takes ${stampBytes} bytes, ${named('valueBytes')} leaves ${sizeLimits(s).least}`,

  (s, named) =>
    s.script === 'return-zero' &&
    !strategyNamed(s.strategy).options.includes('script') &&
    `${named('script')} needs --ws`,

  (s, named) => firstOf(strategyNamed(s.strategy).rules, s, named),

  needsSortedSet('placement', 'plain'),
  needsSortedSet('sortedSets', 1),
  needsSortedSet('extraSortedSets', 0),

  (s, named) =>
    s.rate === 'max' &&
    s.pacing !== 'open' &&
    `${named('rate')} max with ${named('pacing')}: at the highest rate no batch is due at a time`,

  (s, named) =>
    s.intervals !== undefined &&
    s.rate !== 'max' &&
    Number(s.warmUpMs) >= s.intervals * s.periodMs &&
    `${named('warmUpMs')} must be shorter than the ${s.intervals * s.periodMs} ms of ${named('intervals')}`,
]

/** @type {readonly ((settings: ReaderSettings, named: (key: AnyKey) => string) => ReturnType<Rule>)[]} */
const readerRules = [
  (s, named) =>
    isStrategy(s.strategy) &&
    strategyNamed(s.strategy).mix !== null &&
    `${named('strategy')}: ${s.strategy} has a mix, and its reads are among its commands: millrace write --model or millrace replay sends them, and millrace read FILE these alone`,

  (s, named) =>
    highestAgent(s) > s.totalAgents &&
    `${named('agent')}: number ${highestAgent(s)} is above ${named('totalAgents')} ${s.totalAgents}`,

  (s, named) => s.pacing === 'smooth' && `${named('pacing')}: a consumer is open or closed`,

  (s, named) =>
    s.fetchHz === 'max' && `${named('fetchHz')}: each fetch is due at a time; give a number a second`,

  (s, named) =>
    s.rates !== undefined &&
    s.control !== undefined &&
    `${named('rates')} does not go with ${named('control')}`,

  (s, named) =>
    s.threads !== 1 &&
    s.control !== undefined &&
    `${named('threads')} does not go with ${named('control')}: start more boxes of readers`,

  (s, named) => s.verify && !s.values && `${named('verify')} with --no-values: it checks values`,

  (s, named) =>
    s.mode === 'script' &&
    !s.values &&
    `${named('mode')} with --no-values: the script is there to fetch values`,

  needsSortedSet('placement', 'plain'),
  needsSortedSet('sortedSets', 1),
]

/** The same rule for several settings. @param {SettingKey[]} keys @param {(key: SettingKey) => Rule} rule */
const each = (keys, rule) => keys.map(rule)

/** @type {readonly Rule[]} */
const targetRules = [
  ...each(
    [
      'username',
      'password',
      'passwordFile',
      'askPassword',
      'iam',
      'db',
      'tls',
      'caFile',
      'certFile',
      'keyFile',
    ],
    (key) => (s, named) =>
      // Variables of another tool may be for other servers.
      s[key] && !s.host && !named(key).startsWith('REDISCLI_')
        ? `${named(key)} needs an address: --host or --url`
        : false,
  ),

  (s, named) => s.sentinel && !s.host && `${named('sentinel')} needs the address of a sentinel: --host`,

  (s, named) => s.sentinel && s.cluster && `${named('sentinel')} and ${named('cluster')} exclude each other`,

  (s, named) =>
    s.sentinelPassword && !s.sentinel && `${named('sentinelPassword')} needs ${named('sentinel')}`,

  // Without a user name the connection would use the default user.
  (s, named) =>
    s.username &&
    !(s.password ?? s.passwordFile) &&
    !s.askPassword &&
    `${named('username')} needs a password: REDIS_PASSWORD, --password-file or --ask-password`,

  ...each(
    ['passwordFile', 'askPassword'],
    (key) => (s, named) =>
      s[key] && s.password ? `${named('password')} and ${named(key)} exclude each other` : false,
  ),

  ...each(
    ['username', 'password', 'passwordFile', 'askPassword'],
    (key) => (s, named) => (s[key] && s.iam ? `${named('iam')} and ${named(key)} exclude each other` : false),
  ),

  // Anybody on the way could use the token.
  (s, named) => s.iam && !s.tls && `${named('iam')} needs --tls (or a rediss:// address)`,

  ...each(
    ['tlsInsecure', 'caFile', 'certFile', 'keyFile'],
    (key) => (s, named) =>
      s[key] && !s.tls && !s.control?.tls ? `${named(key)} needs --tls (or a rediss:// address)` : false,
  ),

  (s, named) =>
    s.tlsInsecure &&
    s.caFile &&
    `${named('caFile')} and ${named('tlsInsecure')} exclude each other: one requires the check that the other turns off`,

  (s, named) => s.certFile && !s.keyFile && `${named('certFile')} needs --key`,
  (s, named) => s.keyFile && !s.certFile && `${named('keyFile')} needs --cert`,

  (s, named) =>
    s.cluster && s.db > 0 && `${named('db')}: database ${s.db} with ${named('cluster')}, which has only 0`,

  (s, named) => s.cloudwatch && !s.host && `${named('cloudwatch')} needs an address: --host or --url`,

  ...each(
    ['awsRegion', 'replicationGroup', 'cacheClusters'],
    // The command that adds CloudWatch to finished results has no such switch.
    (key) => (s, named) =>
      s.given[key] === 'command line' && s.cloudwatch === false && `${named(key)} needs --cloudwatch`,
  ),

  // A variable describes the local servers of any run; a typed option means this run.
  ...each(
    ['serverBin', 'serverConfig', 'shards', 'replicas'],
    (key) => (s, named) =>
      s.given[key] === 'command line' &&
      s.host !== undefined &&
      `${named(key)} is for local servers, but ${named(s.given.host === 'default' ? 'port' : 'host')} is an address`,
  ),

  ...each(
    ['shards', 'replicas'],
    // What changes clusters has no such switch.
    (key) => (s, named) =>
      s.given[key] === 'command line' && s.cluster === false && `${named(key)} needs --cluster`,
  ),
]

/** @type {readonly Rule[]} */
const fleetRules = [
  (s, named) => s.control && !s.run && `${named('control')} needs --run, the same on every box`,
  (s, named) =>
    s.control &&
    !s.host &&
    `${named('control')} needs an address, --host or --url: the boxes write to one target`,
  (s, named) =>
    s.control &&
    !namesOfWriters(s.strategy).inBatches &&
    !strategyNamed(s.strategy).play.caches &&
    `${named('control')}: ${named('strategy')} has no writers (-t) that boxes could share; start it on each box alone, with another --seed`,
  (s, named) =>
    s.control &&
    'limit' in s &&
    s.thresholds.length > 0 &&
    `${named('thresholds')} with ${named('control')}: the result of all boxes is judged by the limits of its writers; give them there`,
  ...each(
    ['joinWithinMs', 'partial', 'stagger', 'stopAll'],
    (key) => (s, named) =>
      !s.control && ['command line', 'file'].includes(s.given[key]) && `${named(key)} needs --control`,
  ),
]

/** @type {Record<FlowName, readonly Rule[]>} */
const flowRules = {
  ticks: ticksRules,
  ...{ clients: clientsRules, bundles: clientsRules, passes: clientsRules, jobs: clientsRules },
}

/**
 * The first rule that the settings break, as a sentence.
 * @param {Settings | ReaderSettings} settings
 * @param {(key: AnyKey) => string} named
 */
export function conflictIn(settings, named) {
  const own =
    'limit' in settings
      ? /** @type {readonly Rule[]} */ (readerRules)
      : 'quantity' in settings
        ? [...flowRules[strategyNamed(settings.strategy).play.flow], ...trafficRules]
        : []
  const ofDriver = 'driver' in settings ? driverRules : []
  for (const rule of [...own, ...ofDriver, ...targetRules, ...('quantity' in settings ? fleetRules : [])]) {
    const sentence = rule(settings, named)
    if (sentence) return sentence
  }
}
