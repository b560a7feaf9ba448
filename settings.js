// The one table of options. The parser, the environment, the checks, --help, docs/reference/options.md and
// .env.example all come from it.

import { claimedTwice } from './lib/base/claims.js'
import { exactly } from './lib/base/typed.js'
import { fetchesOfRates, settingsOfRates } from './lib/traffic/rates.js'
import { allStrategies, defaultStrategy, strategyNames } from './lib/workloads/index.js'
import { namesElsewhere } from './lib/workloads/names-elsewhere.js'

/**
 * @import { Rates } from './lib/traffic/rates.js'
 * @import { LibraryName } from './lib/base/libraries.js'
 * @import { TypeName } from './lib/options/values.js'
 */

/** Where variadic commands are cut when --max-members does not say. */
export const DEFAULT_MAX_MEMBERS = 1000
export const DEFAULT_MAX_BEHIND_S = 5

/**
 * @typedef {'producer' | 'consumer' | 'cleanup' | 'reshard'} Program
 * @typedef {'command line' | 'file' | 'earlier run' | 'environment' | '.env' | 'default'} Origin
 *
 * @typedef {object} Settings
 * @property {number} quantity items per interval, over all agents; of lookups, keys
 * @property {number} periodMs
 * @property {number} chunks
 * @property {number} totalAgents
 * @property {'auto' | 'all' | readonly number[]} agent
 * @property {string} strategy
 * @property {'store-items' | 'return-zero'} [script] of script-batch; the second for experiments
 * @property {number} sortedSets
 * @property {'plain' | 'same-slot' | 'spread'} placement
 * @property {number} extraSortedSets
 * @property {number} ttlS of all items, or the longest
 * @property {number | null} ttlLeastS the shortest; null: all items have one
 * @property {number} valueBytes of all values, or on average
 * @property {string | null} valueSizes as lib/traffic/sizes.js reads it; null: all values have one size
 * @property {'random' | 'sparse' | 'zero'} payload
 * @property {boolean} stamp
 * @property {boolean} once
 * @property {number} [maxMembers] 0 = never cut; undefined = the default
 * @property {number} [maxBehindMs] undefined = the default
 * @property {number} windowBytes
 * @property {string} wait who must have a write before it is acknowledged, as lib/transport/durable.js reads it
 * @property {number | 'auto'} warmUpMs
 * @property {Rates} [rates] that follow each other; rate is their mean then
 * @property {'auto' | 'always' | 'never'} idleCost whether the servers are measured before the first write
 * @property {'max' | number} [rate] operations a second; of a writer in ticks then also the period
 * @property {'keys' | 'populate' | 'none'} fill how the key space is filled first
 * @property {boolean} snapshot saved, emptied and loaded again after the load
 * @property {number} partitions
 * @property {'hex' | 'binary' | 'integer'} ids
 * @property {number} falsePositives the stated share of a filter
 * @property {number} [counters] undefined = as many as increments
 * @property {number} [maxQueue] jobs; undefined: no limit
 * @property {'refuse' | 'wait'} whenFull
 * @property {'zset' | 'hash' | 'string'} structure of the counters
 * @property {number} bundleSize increments in one
 * @property {number} [delayMs] added to each round trip; undefined: there is no proxy
 * @property {number} [loseEvery]
 * @property {number} selectivity share of the documents that a query matches
 * @property {number} queries different ones
 * @property {'created' | 'created-desc' | 'rating' | 'rating-desc'} sortBy
 * @property {number} pageSize
 * @property {number} pageOffset
 * @property {number} scanCount
 * @property {'before' | 'after'} indexWhen
 * @property {number} indexes
 * @property {number} [searchTimeoutMs] undefined = the module's own
 * @property {number} [requests] undefined = until the run ends
 * @property {number} [queryTimeoutMs]
 * @property {number} updateWriters
 * @property {number} [updateRateHz] undefined = a closed loop
 * @property {number} [connections] to every node
 * @property {number} [pipeline] commands in flight on each
 * @property {number | 'auto'} threads that send
 * @property {number} [reconnectHz] connections a second that are replaced
 * @property {readonly number[]} ratio writes, reads, deletes
 * @property {string} missTime of the source of a cache, as lib/traffic/times.js reads it
 * @property {number} [missConcurrency] requests that the source answers at once; undefined = all
 * @property {boolean} coalesce one request of the source a key, and others wait for it
 * @property {number} batch keys of a request
 * @property {number} [maxmemoryBytes] of each local server
 * @property {string} [policy]
 * @property {string} [order] as lib/traffic/popularity.js reads it; undefined = by the flow
 * @property {string} [shift] a pace
 * @property {string} [churn] a pace
 * @property {string} arrivals as lib/traffic/arrivals.js reads it
 * @property {'open' | 'smooth' | 'closed'} pacing
 * @property {'socket' | LibraryName} driver
 * @property {readonly (readonly [string, string])[]} driverOptions of the client library
 * @property {number} [durationMs]
 * @property {number} [intervals]
 * @property {boolean} cluster
 * @property {string} [url] without its user and password; its parts are in the settings below
 * @property {string} [host] undefined = no address: a local server
 * @property {number} [port]
 * @property {string} [username]
 * @property {string} [password]
 * @property {string} [sentinel] name of the primary; host and port are then a sentinel's
 * @property {string} [sentinelPassword]
 * @property {string} [passwordFile]
 * @property {boolean} askPassword
 * @property {string} [iam] user of ElastiCache that logs in by IAM, with @ and its cache where the address does not name that
 * @property {number} db
 * @property {boolean} tls
 * @property {boolean} tlsInsecure
 * @property {string} [caFile]
 * @property {string} [certFile]
 * @property {string} [keyFile]
 * @property {string} [serverBin]
 * @property {readonly (readonly [string, string])[]} serverConfig lines of a local server's configuration
 * @property {number} shards
 * @property {number} replicas
 * @property {readonly Allowance[]} allow checks of the preflight that are waived
 * @property {GuardLimits} guard
 * @property {string} prefix
 * @property {'replica' | 'master' | 'nearest' | 'any'} reads which nodes answer what reads
 * @property {number} seed
 * @property {boolean} cloudwatch
 * @property {string} [awsRegion]
 * @property {string} [replicationGroup]
 * @property {string} [cacheClusters] ids with commas
 * @property {Readonly<{ url: string, host: string, port?: number, username?: string, password?: string, iam?: string, db?: number, tls?: true }>} [control]
 * @property {number} joinWithinMs
 * @property {boolean} partial a fleet begins without boxes that are missing
 * @property {boolean} stagger boxes of a fleet do not send at the same moments
 * @property {boolean} stopAll an interrupt stops all boxes
 * @property {string} [run]
 * @property {string} outDir
 * @property {boolean} json
 * @property {boolean} quiet
 * @property {boolean} verbose nodes, commands and the rest too
 * @property {boolean} report a page and charts beside the result
 * @property {readonly string[]} thresholds limits of figures, as they were given
 * @property {Readonly<{ host: string, port: number }>} [metrics] where Prometheus asks
 * @property {Readonly<{ host: string, port: number }> | null} [dashboard] where the live page is; port 0: any that is free
 * @property {'text' | 'json'} log
 * @property {string} logLevel
 * @property {boolean} dryRun
 * @property {string} [optionsFile]
 * @property {undefined} [with] its names are settings of their own
 * @property {readonly string[]} cautions warnings about options that probably mean something else
 * @property {Readonly<Record<string, Origin>>} given where each setting came from
 * @property {Readonly<Record<string, string>>} givenBy the option or the variable of settings that are not defaults
 *
 * @typedef {'foreign-keys' | 'replica' | 'memory' | 'clock' | 'named-hosts' | 'flush' | 'scripts'} Allowance
 * @typedef {Readonly<{ evicted: number | null, memoryPct: number | null, lagBytes: number | null }>} GuardLimits null: no limit
 *
 * @typedef {object} Reading settings of consumers only
 * @property {number} limit newest items of a fetch; 0 = all
 * @property {'manual' | 'script'} mode
 * @property {'get' | 'mget'} fetch
 * @property {boolean} values
 * @property {number} consumers
 * @property {number | 'max'} [fetchHz] of all consumers; in each period by default
 * @property {boolean} verify
 * @property {boolean} count
 * @property {number} workers of a queue, in all processes of this box
 * @property {number} [processes] that share them; undefined: as the work needs
 * @property {number} take jobs at once, at most
 * @property {Readonly<{ kind: 'cpu' | 'sleep', us: number }>} work of a job
 * @property {number} [outputs] workers of a second stage; undefined: there is none
 * @property {Readonly<{ kind: 'cpu' | 'sleep', us: number }>} outputWork of a job, in the second stage
 * @property {boolean} confirm jobs come back where their worker dies
 * @property {number} reclaimMs
 * @property {boolean} drain end when the producers have ended and the queue is empty
 *
 * @typedef {Settings & Reading} ReaderSettings
 * @typedef {Settings & { yes: boolean }} CleanupSettings
 * @typedef {Settings & { slots?: string, to?: string, shard?: string, servers?: string, waitMs: number }} ReshardSettings
 *
 * @typedef {Exclude<keyof Settings, 'given' | 'givenBy' | 'cautions'>} SettingKey
 * @typedef {Exclude<keyof ReaderSettings | keyof CleanupSettings | keyof ReshardSettings, 'given' | 'givenBy' | 'cautions'>} AnyKey
 *
 * @typedef {object} Row an option as the table below declares it
 * @property {string} name long form, without dashes
 * @property {string[]} [aliases] other names, which the help shows
 * @property {string[]} [also] names of older versions and of other tools, which work as well
 * @property {Readonly<Record<string, string>>} [was] names of earlier versions, from which a message leads to what is typed now
 * @property {string | null} [env] default MILLRACE_<NAME>; null: none
 * @property {string[]} [alsoEnv] variables of older versions and of other tools
 * @property {TypeName} type
 * @property {[string, string]} [range] smallest and largest value, written as a user would
 * @property {string[]} [choices]
 * @property {Readonly<Record<string, string>>} [likeOther] words that other programs have for a choice, and the choice
 * @property {string} [bare] what it is without a value
 * @property {Record<string, string>} [values] what a choice is called in the settings, where that differs
 * @property {RegExp} [pattern] of a text
 * @property {string} [expects] says the pattern in words
 * @property {'s' | 'ms'} [unit] of a duration without a unit
 * @property {string} [default] written as a user would
 * @property {string} [otherwise] the default in words, if it is not a fixed value
 * @property {string} help
 * @property {Partial<Record<Program, string>>} [helpFor] for some programs in other words
 * @property {string} [brief] its line in the help of one screen; without it only --help all has the option
 * @property {Partial<Record<Program, string>>} [briefFor] the same, in the help of these programs only
 * @property {string} [place] the name of its value in the help, in place of that of its type
 * @property {true} [secret] its value is never shown
 * @property {',' | '\n'} [repeatable] it may be given more than once, or once with this separator between values
 * @property {true} [hidden] for experiments only
 * @property {true} [with] a setting of some strategies, which is typed as --with NAME=VALUE
 * @property {Program[]} [for] default: the producer
 * @property {AnyKey} key
 * @property {AnyKey[]} [alsoKeys] other settings of which its value has parts
 * @property {string} [on] what a flag stands for, when it is a name for one value of its key
 * @property {string} [off] what its key is without such a flag
 * @property {string} [implies] the value of the same key that may be given besides
 * @property {string[]} [insteadOf] options that answer the same question
 * @property {(value: any) => boolean} [insteadIf] only a value that does
 * @property {(value: any) => Record<string, unknown>} [parts] the settings that a value stands for
 *
 * @typedef {Readonly<Row & { aliases: string[], also: string[], env: string | null, alsoEnv: string[], for: Program[],
 *   group: string }>} Option
 */

/** @type {Program[]} */
const both = ['producer', 'consumer']
/** @type {Program[]} */
const reader = ['consumer']
/** @type {Program[]} */
const keyed = [...both, 'cleanup']
/** @type {Program[]} */
const all = [...keyed, 'reshard']

/** The published names of strategies: a flag each. @returns {Row[]} */
const strategyFlags = () =>
  allStrategies().flatMap(({ name: on, flags }) =>
    flags.map((flag) => ({ ...flag, for: both, key: 'strategy', type: 'flag', on })),
  )

// biome-ignore format: a table, an option a row
/** @type {Record<string, Row[]>} */
const groups = {
  'Items and data model': [
    { name: 'strategy', for: both, key: 'strategy', type: 'choice', choices: strategyNames(), likeOther: namesElsewhere,
      default: defaultStrategy,
      help: 'data model: how items are stored',
      briefFor: { producer: 'how items are stored; --model: your own' } },
    { name: 'model', for: both, key: 'strategy', type: 'model',
      help: 'your own data model, from a file feed.js or feed.yaml (docs/reference/own-model.md)' },
    { name: 'command', key: 'strategy', type: 'commands', repeatable: '\n',
      help: "a command of your own model, as in 'SETEX item:{n} {ttl} {value}'; give it once for each command" },
    { name: 'with', for: both, key: 'with', type: 'named', env: null, repeatable: ',', otherwise: 'none',
      help: 'settings of the strategy: NAME=VALUE, several with commas; millrace write STRATEGY --help lists those that it has',
      helpFor: { consumer: 'settings of readers and workers: NAME=VALUE, several with commas' },
      place: 'SETTINGS', briefFor: { producer: 'of the strategy: page-size=50,sort=rating', consumer: 'of workers: confirm,reclaim=5s' } },
    { name: 'items', also: ['keys'], alsoEnv: ['MILLRACE_KEYS'], for: both, key: 'quantity', type: 'integer', range: ['1', '100M'],
      default: '10000', otherwise: 'what the rate needs in 1 s, else 10000; for lookups, membership and queries 100k, for counters 50992, for update-* 1000',
      help: 'number of different items, shared by all writers; the same ones in every interval, unless --once; for ' +
        'lookups the number of keys, key:1 and on; for queries and update-* that of documents, doc:1 and on',
      helpFor: { consumer: 'number of different items' },
      briefFor: { producer: 'different items; by default what --rate writes in 1 s' } },
    { name: 'ttl', for: both, key: 'ttlS', type: 'lifetime', range: ['1s', '8760h'], unit: 's', default: '3s',
      help: 'lifetime of an item; a range such as 60s-600s gives each item its own',
      briefFor: { producer: 'lifetime of an item; 60s-600s: each its own' } },
    { name: 'value-size', also: ['data-size'], for: both, key: 'valueBytes', type: 'sizes', range: ['1B', '512MB'],
      default: '128B',
      help: 'size of a value; 200B-4kB (each as likely), lognormal:p50=200B,p99=4kB (two percentiles; min= and max= cut it) or histogram:FILE ' +
        'with a size and a number of values in each line (docs/reference/traffic.md)',
      briefFor: { producer: 'size of a value; 200B-4kB: each its own' } },
    { name: 'payload', for: both, key: 'payload', type: 'choice', choices: ['random', 'sparse', 'zero'],
      default: 'random',
      help: 'random (seeded, the same for an item at every tick), sparse (the first 4 bytes differ) or zero' },
    { name: 'sets', for: both, key: 'sortedSets', type: 'integer', range: ['1', '16384'], default: '1',
      help: 'number of sorted sets; item i is in set i mod N' },
    { name: 'placement', with: true, for: both, key: 'placement', type: 'choice', choices: ['hash', 'spread', 'same-slot'],
      values: { hash: 'plain' }, default: 'hash',
      help: 'slots of the sorted sets: hash (as their names hash), spread (tags that spread them evenly) or ' +
        'same-slot (all in one)' },
    { name: 'stamp', for: both, key: 'stamp', type: 'flag',
      help: 'put the time of writing into every value, so that a consumer can recognise an old one' },
    { name: 'once', for: both, key: 'once', type: 'flag',
      help: 'new items in every interval, each written once, instead of the same ones' },
    { name: 'extra-sorted-sets', with: true, key: 'extraSortedSets', type: 'integer', range: ['0', '100'], default: '0',
      help: 'further sorted sets that get the same members in the same batch' },
    { name: 'script', key: 'script', type: 'choice', choices: ['store-items', 'return-zero'], hidden: true,
      default: 'store-items',
      help: 'the script of --ws; return-zero stores nothing, to measure what passing the arguments costs' },
    { name: 'prefix', for: keyed, key: 'prefix', type: 'text', pattern: /^[^{}\s\p{C}]{0,100}$/u,
      expects: 'up to 100 characters without blanks and braces', otherwise: 'none', default: '',
      help: 'put in front of every key' },
    { name: 'seed', for: both, key: 'seed', type: 'integer', range: ['0', '4294967295'], default: '1',
      help: 'random seed of the values' },
  ],
  'Rate and sending': [
    { name: 'rate', key: 'rate', alsoKeys: ['rates'], type: 'rate', was: { ramp: '--rate' }, otherwise: 'items per period, in bursts; for lookups, max',
      insteadOf: ['period', 'chunks', 'pacing'], insteadIf: (value) => value !== 'max',
      parts: (value) => (typeof value === 'object' ? settingsOfRates(value) : { rate: value }),
      help: 'operations a second of all writers, evenly spaced, such as 300k; max: as fast as the servers accept ' +
        'them, without a schedule; 10k@30s,20k@1m: rates one after the other, or 10k..100k/5m: a rising one, which end the run',
      brief: 'items a second, evenly spaced, such as 300k; or max' },
    { name: 'pacing', for: both, key: 'pacing', type: 'choice', choices: ['open', 'smooth', 'closed'], default: 'open',
      help: 'open (absolute deadlines), smooth (in as many chunks as the clock can separate; not for a consumer) or ' +
        'closed (wait for the batch or the fetch, then sleep the period)' },
    { name: 'driver', for: both, key: 'driver', type: 'choice', default: 'socket',
      choices: ['socket', 'ioredis', 'iovalkey', 'node-redis', 'valkey-glide'],
      help: 'socket (plain sockets, least CPU) or a client library, as a Node application sees it: ioredis, or one ' +
        'that is installed beside: iovalkey, node-redis, valkey-glide' },
    { name: 'driver-option', for: both, key: 'driverOptions', type: 'driverOption', repeatable: ',', default: 'none',
      help: 'a setting of the client library, as in enableAutoPipelining=false; each run prints them all; may be ' +
        'repeated' },
    { name: 'max-members', key: 'maxMembers', type: 'integer', range: ['0', '100M'],
      otherwise: String(DEFAULT_MAX_MEMBERS),
      help: 'most items in one ZADD, SADD, RPUSH and the like; 0 = no limit; --ws has no limit unless this is ' +
        'given' },
    { name: 'max-behind', key: 'maxBehindMs', type: 'duration', range: ['1ms', '24h'], unit: 's',
      otherwise: `${DEFAULT_MAX_BEHIND_S}s, at least 2 ticks`,
      help: 'batches that have not started this long after they were due are dropped and counted' },
    { name: 'window', for: both, key: 'windowBytes', type: 'bytes', range: ['1kB', '1GB'], default: '512kB',
      help: 'most unanswered bytes on one connection' },
    { name: 'wait', key: 'wait', type: 'text', pattern: /^([0-5]|aof(:[0-5])?)$/, env: null, default: '0',
      expects: '0 to 5 replicas, aof, or aof:REPLICAS',
      help: 'when writes are acknowledged: 0 (by the master), 1 (WAIT: a replica has them too), aof (WAITAOF: they are on the ' +
        'disk of the master) or aof:1 (on that of a replica too); it follows each operation, or each batch and at most 64 kB of it' },
    { name: 'connections', key: 'connections', type: 'integer', range: ['1', '100k'],
      otherwise: '1; 50 for lookups',
      help: 'connections to every node, like those of several application instances; an item always uses the same one' },
    { name: 'threads', for: both, key: 'threads', type: 'threads', range: ['1', '64'], default: '1',
      help: 'threads of this process that send, each with its own connections; writers (-t) and consumers belong to one each, and ' +
        'the items of a writer are cut where there are more threads; auto: one for each core that the local servers leave, as far as the highest rate needs them' },
    { name: 'pipeline', key: 'pipeline', type: 'integer', range: ['1', '10000'],
      otherwise: 'as --window allows; 1 for lookups',
      help: 'most unanswered commands on one connection' },
  ],
  Traffic: [
    { name: 'popularity', also: ['order'], alsoEnv: ['MILLRACE_ORDER'], key: 'order', type: 'order',
      otherwise: 'sequential; for lookups, uniform',
      help: 'which item is next: sequential (in order, again and again), uniform (all equally likely), split (lookups: each connection its own part, in order), zipf:0.99 (item n as ' +
        'often as n^-0.99), hot:10%:90% (a tenth of the items gets nine tenths) or recent:10% (the newest tenth; needs ' +
        '--churn)' },
    { name: 'shift', key: 'shift', type: 'pace', otherwise: 'none',
      help: 'how fast popularity passes to other items, as a share of all: 1%/s, 10%/h' },
    { name: 'churn', key: 'churn', type: 'pace', otherwise: 'none',
      help: 'how fast items are replaced by new ones, as a share of all: 10%/h' },
    { name: 'arrivals', key: 'arrivals', type: 'arrivals', default: 'constant',
      help: 'when batches or operations of a schedule are due: constant (evenly), poisson (at random, as independent users arrive), ' +
        'burst:5x:1s/10s (1 s of each 10 s at five times the rate of the rest), daily:10m (a day in 10 minutes, the ' +
        'peak 4 times the low), or poisson,burst:... and poisson,daily:...' },
  ],
  Lookups: [
    { name: 'fill', key: 'fill', type: 'choice', choices: ['keys', 'populate', 'none'], bare: 'keys', default: 'none',
      help: 'write every key once before the run, and check that they are there; populate: the server makes them ' +
        'itself (DEBUG POPULATE), with values of its own; of a cache, as many as there is room for, as if it had been in use' },
    { name: 'snapshot', with: true, key: 'snapshot', type: 'flag',
      help: 'after the load save a snapshot, empty the servers and load it again, and report how long each takes and ' +
        'how long another client waits; on a local server, or with --allow flush' },
    { name: 'reconnects', for: both, key: 'reconnectHz', type: 'integer', range: ['1', '100k'], otherwise: 'none',
      help: 'connections a second that are closed and opened again, over all clients or all connections of a writer, with TLS where it is on',
      helpFor: { consumer: 'of a queue: connections of workers a second that are closed and opened again' } },
    { name: 'ratio', with: true, key: 'ratio', type: 'ratio', default: '1:10',
      help: 'writes to reads of lookup-mix, and to deletes: 1:10, 2:10:1; of a cache, writes that invalidate to reads (none)' },
  ],
  Caches: [
    { name: 'miss-time', with: true, key: 'missTime', type: 'times', default: '0ms',
      help: 'how long the source takes for what is not in the cache: 5ms, 2ms-20ms (each as likely) or exp:5ms (exponential, on average), each rounded up to whole ms' },
    { name: 'miss-concurrency', with: true, key: 'missConcurrency', type: 'integer', range: ['1', '1M'], otherwise: 'no limit',
      help: 'requests that the source answers at the same time; others wait for it' },
    { name: 'coalesce', with: true, key: 'coalesce', type: 'flag',
      help: 'while a key is read from the source, others that miss it wait for the same answer' },
    { name: 'batch', with: true, key: 'batch', type: 'integer', range: ['1', '1000'], default: '10',
      help: 'keys of each request of cache-mget' },
    { name: 'maxmemory', with: true, key: 'maxmemoryBytes', type: 'bytes', range: ['64kB', '1000GB'], otherwise: 'no limit',
      help: 'memory of each server that is started for the run' },
    { name: 'policy', with: true, key: 'policy', type: 'choice', otherwise: 'allkeys-lru with --maxmemory',
      choices: ['allkeys-lru', 'allkeys-lfu', 'allkeys-random', 'volatile-lru', 'volatile-lfu', 'volatile-random', 'volatile-ttl', 'noeviction'],
      help: 'what those servers evict when they are full' },
  ],
  Membership: [
    { name: 'partitions', with: true, key: 'partitions', type: 'integer', range: ['1', '16777216'], default: '1',
      help: 'structures among which the ids are divided by their low bits: a power of 2' },
    { name: 'ids', with: true, key: 'ids', type: 'choice', choices: ['hex', 'binary', 'integer'], default: 'hex',
      help: 'ids of 128 bits as 32 hex digits or as 16 bytes, or of 48 bits as an integer' },
    { name: 'false-positives', with: true, key: 'falsePositives', type: 'share', range: ['0.000001', '0.5'], default: '0.01',
      help: 'stated share of false positives, which determines the size of a Bloom filter' },
  ],
  Counters: [
    { name: 'counters', with: true, key: 'counters', type: 'integer', range: ['1', '100M'], otherwise: 'as many as --items',
      help: 'different counters, each incremented in turn; --items is the number of increments' },
    { name: 'structure', with: true, key: 'structure', type: 'choice', choices: ['zset', 'hash', 'string'], default: 'zset',
      help: 'what counts: members of a sorted set (ZINCRBY), fields of a hash (HINCRBY) or keys (INCR)' },
    { name: 'bundle-size', with: true, key: 'bundleSize', type: 'integer', range: ['1', '1M'], default: '1000',
      help: 'increments in a pipeline, a script call, a function call or a transaction' },
    { name: 'delay', with: true, key: 'delayMs', type: 'shortTime', range: ['0ms', '10s'], otherwise: 'no proxy',
      help: 'add this to each round trip, half in each direction, by a proxy in front of the target; 0ms shows ' +
        'what the proxy itself takes; of queue-zset: how long after it was made a job may begin' },
    { name: 'lose-every', with: true, key: 'loseEvery', type: 'integer', range: ['2', '1M'], otherwise: 'no reply is lost',
      help: 'the proxy of --with delay drops the reply to every Nth request, and closes the connection' },
  ],
  Queries: [
    { name: 'selectivity', with: true, key: 'selectivity', type: 'share', range: ['0.0001', '0.5'], default: '0.01',
      help: 'share of the documents that each query matches, as they are loaded: 0.0001 to 0.5' },
    { name: 'queries', with: true, key: 'queries', type: 'integer', range: ['1', '10000'], default: '100',
      help: 'different queries, drawn by --seed' },
    { name: 'sort', with: true, key: 'sortBy', type: 'choice', choices: ['created', 'created-desc', 'rating', 'rating-desc'],
      default: 'created',
      help: 'what answers are sorted by: created, which differs for each document, or rating, which 1 in 10 lacks' },
    { name: 'page-size', with: true, key: 'pageSize', type: 'integer', range: ['1', '1000'], default: '10',
      help: 'most documents in an answer' },
    { name: 'page-offset', with: true, key: 'pageOffset', type: 'integer', range: ['0', '100M'], default: '0',
      help: 'matching documents that are skipped before the answer' },
    { name: 'scan-count', with: true, key: 'scanCount', type: 'integer', range: ['1', '5000'], default: '1000',
      help: 'approximate number of documents in each step of query-client and query-scan-chunked' },
    { name: 'index-when', with: true, key: 'indexWhen', type: 'choice', choices: ['before', 'after'], default: 'after',
      help: 'build the indexes of query-index and query-search before or after the documents are loaded' },
    { name: 'indexes', with: true, key: 'indexes', type: 'integer', range: ['1', '3'], default: '1',
      help: 'indexes of query-search: the one that answers, and others that an application may also have' },
    { name: 'search-timeout', with: true, key: 'searchTimeoutMs', type: 'integer', range: ['0', '3600000'],
      otherwise: 'as the module is configured: 500',
      help: 'milliseconds after which FT.SEARCH returns what it has found so far; 0: never' },
    { name: 'requests', with: true, key: 'requests', type: 'integer', range: ['1', '100M'], otherwise: 'until --duration',
      help: 'stop after this many queries or updates of all clients' },
    { name: 'query-timeout', with: true, key: 'queryTimeoutMs', type: 'duration', range: ['10ms', '1h'], unit: 's',
      otherwise: 'none',
      help: 'a query without an answer after this time has failed, and its connection is closed' },
    { name: 'update-writers', with: true, key: 'updateWriters', type: 'integer', range: ['0', '10000'], default: '0',
      help: 'clients that change documents while queries run, each its own documents' },
    { name: 'update-rate', with: true, key: 'updateRateHz', type: 'integer', range: ['1', '10M'],
      otherwise: 'each waits only for its reply',
      help: 'document changes a second, of all --with update-writers' },
  ],
  Reading: [
    { name: 'limit', key: 'limit', type: 'integer', range: ['0', '100M'], default: '0', for: reader,
      help: 'fetch only the newest N items; 0 = all that have not expired',
      brief: 'fetch only the newest N items; 0 = all' },
    { name: 'read-with', was: { fetch: '--read-with' }, key: 'fetch', type: 'choice', choices: ['get', 'mget', 'script'], for: reader,
      default: 'get',
      parts: (how) => (how === 'script' ? { mode: 'script' } : { mode: 'manual', fetch: how }),
      help: 'get (ids, then one GET per item), mget (ids, then MGET of up to 1,000; in a cluster, one per slot) or ' +
        'script (one call of lua/fetch-latest-items.lua)',
      brief: 'get (a GET per item), mget, or script (Lua)' },
    { name: 'values', key: 'values', type: 'flag', default: 'true', for: reader,
      help: 'fetch the values too; --no-values reads ids only' },
    { name: 'read-from', was: { reads: '--read-from' }, key: 'reads', type: 'choice', choices: ['primary', 'replica', 'nearest', 'any'],
      values: { primary: 'master' }, likeOther: { master: 'primary' }, default: 'replica', for: reader,
      help: 'which nodes serve the reads: primary, replica (a shard without one is read from its primary), nearest (the ' +
        'shortest of several round trips), or any of them in turn',
      brief: 'primary, replica, nearest, or any' },
    { name: 'read-from', key: 'reads', type: 'choice', choices: ['primary', 'replica', 'nearest', 'any'], env: null,
      values: { primary: 'master' }, likeOther: { master: 'primary' }, default: 'primary',
      help: 'which nodes answer the reads of lookups, caches and mixes, as for millrace read; answers that are older ' +
        'than what was acknowledged are counted' },
    { name: 'consumers', key: 'consumers', type: 'integer', range: ['1', '10000'], default: '1', for: reader,
      help: 'consumers in this process, for each number of -a', brief: 'consumers in this process' },
    { name: 'fetch-rate', key: 'fetchHz', alsoKeys: ['rates'], type: 'rate', was: { ramp: '--fetch-rate' }, for: reader, insteadOf: ['period', 'pacing'],
      otherwise: 'one fetch of each consumer per period',
      parts: (value) => (typeof value === 'object' ? fetchesOfRates(value) : { fetchHz: value }),
      help: 'fetches a second of all consumers, such as 50; 10@30s,100@30s: rates one after the other, or 10..100/5m: a rising one, which end the run' },
    { name: 'verify', key: 'verify', type: 'flag', for: reader,
      help: 'compare every value with the bytes that the plan defines',
      brief: 'compare every value with the bytes that the plan defines' },
    { name: 'count', key: 'count', type: 'flag', for: reader,
      help: 'count unique items with every structure that exists, side by side' },
  ],
  'Queues (workers)': [
    { name: 'max-queue', with: true, key: 'maxQueue', type: 'integer', range: ['1', '1000M'], otherwise: 'as the memory allows',
      help: 'most jobs in the queue: further ones are refused by a script (FULL)' },
    { name: 'when-full', with: true, key: 'whenFull', type: 'choice', choices: ['refuse', 'wait'], default: 'refuse',
      help: 'what happens to a job for which the queue or the memory of the server has no room: it is refused and ' +
        'counted, or waits for room, at most --max-behind' },
    { name: 'workers', key: 'workers', type: 'integer', range: ['1', '1000'], default: '1', for: reader,
      help: 'workers that take jobs of a queue, each over a connection of its own',
      brief: 'of a queue: workers that take jobs' },
    { name: 'processes', with: true, key: 'processes', type: 'integer', range: ['1', '64'], for: reader,
      otherwise: '1; as many as cores where --work computes',
      help: 'processes that share the workers: one computes on one core at a time' },
    { name: 'take', key: 'take', type: 'integer', range: ['1', '1000'], default: '1', for: reader,
      help: 'most jobs that a worker takes at once', brief: 'of a queue: most jobs that a worker takes at once' },
    { name: 'work', key: 'work', type: 'work', default: 'none', for: reader,
      help: 'work that a job takes: 500us or cpu:500us (a core computes), sleep:5ms (the worker waits, as for another ' +
        'service) or none',
      brief: 'of a queue: work of a job, 500us or sleep:5ms' },
    { name: 'outputs', with: true, key: 'outputs', type: 'integer', range: ['1', '1000'], otherwise: 'one stage', for: reader,
      help: 'workers of a second stage: the first ones (filters) hand what they have done over to a second queue, which ' +
        'these drain' },
    { name: 'output-work', with: true, key: 'outputWork', type: 'work', default: 'none', for: reader,
      help: 'work of a job in the second stage, as --work' },
    { name: 'confirm', with: true, key: 'confirm', type: 'flag', for: reader,
      help: 'a job stays with its worker until it is done, and comes back if the worker dies: LMOVE in place of BRPOP; ' +
        'queue-stream always confirms (XACK)' },
    { name: 'reclaim', with: true, key: 'reclaimMs', type: 'duration', range: ['100ms', '24h'], unit: 's', default: '5s', for: reader,
      help: 'how long a worker must be silent before others get its jobs' },
    { name: 'drain', with: true, key: 'drain', type: 'flag', for: reader,
      help: 'end when the producers have ended and the queue is empty' },
  ],
  'As published (items in bursts: -q of them every -p, in -c parts)': [
    { name: 'quantity', aliases: ['q'], for: both, key: 'quantity', type: 'integer', range: ['1', '100M'],
      otherwise: 'see --items',
      help: 'items per interval, shared by all writers: --items by its published name',
      briefFor: { producer: 'as published: items per interval, sent in bursts' } },
    { name: 'period', aliases: ['p'], also: ['period-in-millis'], for: both, key: 'periodMs', type: 'duration',
      range: ['1ms', '24h'], unit: 'ms', default: '1000ms',
      help: 'interval in which all items are written once', helpFor: { consumer: 'time from one fetch to the next' },
      briefFor: { producer: 'the interval', consumer: 'time from one fetch to the next' } },
    { name: 'chunks', aliases: ['c'], key: 'chunks', type: 'integer', range: ['1', '1M'], default: '1',
      help: 'bursts in which the items of an interval are sent, evenly spaced',
      brief: 'bursts in the interval' },
    { name: 'total-agents', aliases: ['t'], for: both, key: 'totalAgents', type: 'integer', range: ['1', '10000'],
      default: '1',
      help: 'writers (simulated applications) that share the items, on all boxes together',
      helpFor: { consumer: 'consumers, on all boxes together, whose fetches are spread evenly over the period' },
      briefFor: { producer: 'writers that share the items, on all boxes' } },
    { name: 'agent', aliases: ['a'], for: both, key: 'agent', type: 'agents', default: 'auto',
      help: 'which of the writers this process is: a number, a range, all, or auto: the next free one (on a local ' +
        'target all of them)',
      helpFor: { consumer: 'which of them this process is: a number, a range, auto (the next free one), by default all' },
      briefFor: { producer: 'which of them this process is: 3, 2-4 or all' } },
    ...strategyFlags(),
    { name: 'ns', for: both, key: 'sortedSets', type: 'integer', range: ['1', '16384'], otherwise: 'see --sets',
      help: 'number of sorted sets: --sets by its published name' },
    { name: 'same-slot', for: both, key: 'placement', type: 'flag', on: 'same-slot', off: 'plain',
      help: 'all sorted sets in one slot: --with placement=same-slot' },
    { name: 'spread', for: both, key: 'placement', type: 'flag', on: 'spread', off: 'plain',
      help: 'sorted sets spread evenly over the slots: --with placement=spread' },
    { name: 'mode', aliases: ['s'], also: ['script-mode'], key: 'mode', type: 'choice', choices: ['manual', 'script'],
      default: 'manual', for: reader,
      help: 'manual (ids, then their values) or script: --read-with by its published name' },
  ],
  'Target (without an address: a local server, started for the run)': [
    { name: 'url', also: ['uri'], key: 'url', type: 'url', env: 'REDIS_URL', secret: true, for: all,
      insteadOf: ['host', 'port'],
      help: 'address as redis://[user:password@]host[:port][/db], or rediss:// for TLS; also without --url in front',
      brief: 'redis://[user:password@]host[:port][/db], or rediss://' },
    { name: 'host', key: 'host', type: 'host', env: 'REDIS_HOST', for: all, otherwise: 'local server',
      help: 'name or address of the server, or of any node of the cluster',
      brief: 'the server, or any node of a cluster' },
    { name: 'port', key: 'port', type: 'integer', range: ['1', '65535'], env: 'REDIS_PORT', for: all,
      otherwise: '6379',
      help: 'port of --host', brief: 'its port (6379)' },
    { name: 'cluster', aliases: ['cm'], key: 'cluster', type: 'flag', env: 'REDIS_CLUSTER', for: keyed,
      help: 'the target is a cluster; without an address one is started',
      helpFor: { consumer: 'the target is a cluster; without an address that of a writer on this machine',
        cleanup: 'the target is a cluster; without an address that of a writer on this machine' },
      brief: 'the target is a cluster (without --host: a local one)' },
    { name: 'sentinel', key: 'sentinel', type: 'text', pattern: /^[\w.-]{1,100}$/,
      expects: 'a name of letters, digits, dots and dashes', env: 'REDIS_SENTINEL', for: keyed,
      otherwise: 'none',
      help: 'name of the primary that sentinels watch; --host and --port (26379) then name a sentinel, which knows ' +
        'the others' },
    { name: 'sentinel-password', key: 'sentinelPassword', type: 'secret', env: 'REDIS_SENTINEL_PASSWORD',
      secret: true, for: keyed,
      help: 'password of the sentinels themselves; better in REDIS_SENTINEL_PASSWORD' },
    { name: 'username', also: ['user'], key: 'username', type: 'text', pattern: /^[^\s\p{C}]+$/u,
      expects: 'a name without blanks', env: 'REDIS_USERNAME', for: all,
      help: 'ACL user' },
    { name: 'password', also: ['pass'], key: 'password', type: 'secret', env: 'REDIS_PASSWORD',
      alsoEnv: ['REDISCLI_AUTH'], secret: true, for: all,
      help: 'password of the server; better in REDIS_PASSWORD: other users of the machine can see a command line' },
    { name: 'password-file', key: 'passwordFile', type: 'path', env: 'REDIS_PASSWORD_FILE', for: all,
      insteadOf: ['password'],
      help: 'file whose first line is the password' },
    { name: 'ask-password', also: ['askpass'], key: 'askPassword', type: 'flag', for: all,
      insteadOf: ['password', 'password-file'],
      help: 'ask for the password on the terminal, without showing it',
      brief: 'ask for the password; or set REDIS_PASSWORD' },
    { name: 'iam', was: { 'iam-cache': '--iam USER@CACHE' }, key: 'iam', type: 'text', env: 'REDIS_IAM', for: all, insteadOf: ['username', 'password'],
      pattern: /^[a-z][a-z0-9-]{0,39}(@[A-Za-z][A-Za-z0-9-]{0,49})?$/, expects: 'the name of a user of ElastiCache, or USER@CACHE',
      help: 'log in to ElastiCache by IAM as this user, with the AWS credentials of this box; needs --tls; USER@CACHE where the ' +
        'address does not name the replication group or serverless cache' },
    { name: 'db', key: 'db', type: 'integer', range: ['0', '1M'], env: 'REDIS_DB', default: '0', for: keyed,
      help: 'number of the database' },
    { name: 'tls', key: 'tls', type: 'flag', env: 'REDIS_TLS', for: all, help: 'encrypt the connections',
      brief: 'encrypt the connections' },
    { name: 'tls-insecure', also: ['insecure'], key: 'tlsInsecure', type: 'flag', env: 'REDIS_TLS_INSECURE', for: all,
      help: 'accept any certificate: anyone on the network path can read and change everything' },
    { name: 'ca', also: ['cacert'], key: 'caFile', type: 'path', env: 'REDIS_CA', for: all,
      help: 'file with the authority that signed the certificate of the server' },
    { name: 'cert', key: 'certFile', type: 'path', env: 'REDIS_CERT', for: all,
      help: 'file with our certificate' },
    { name: 'key', key: 'keyFile', type: 'path', env: 'REDIS_KEY', for: all,
      help: 'file with the private key of --cert' },
    { name: 'server-bin', key: 'serverBin', type: 'path', for: ['producer', 'reshard'],
      otherwise: 'redis-server or valkey-server from PATH',
      help: 'server program of a local target' },
    { name: 'server-config', key: 'serverConfig', type: 'configuration', repeatable: ',', default: 'none',
      help: 'configuration of a local target, as in hash-max-listpack-entries=64 or loadmodule=PATH; may be repeated' },
    { name: 'shards', key: 'shards', type: 'integer', range: ['1', '32'], default: '3',
      help: 'masters of a local cluster' },
    { name: 'replicas', key: 'replicas', type: 'integer', range: ['0', '5'], default: '1',
      for: ['producer', 'reshard'],
      help: 'replicas of each master of a local cluster' },
  ],
  Permissions: [
    { name: 'allow', key: 'allow', type: 'choices', default: 'none',
      choices: ['foreign-keys', 'replica', 'memory', 'clock', 'named-hosts', 'flush', 'scripts', 'none'],
      help: 'write although the target has keys of other applications (foreign-keys), is a replica, would exceed ' +
        '70 % of its memory (memory), or its clock and that of this box differ by more than 1 s (clock); send the ' +
        'password without TLS also to replicas on hosts that only INFO names (named-hosts); empty it for ' +
        '--with snapshot (flush); or send scripts of a model that cannot be read (scripts); several with commas' },
    { name: 'yes', key: 'yes', type: 'flag', for: ['cleanup'],
      help: 'remove what is counted; without it nothing is changed',
      brief: 'remove what is counted; without it nothing is changed' },
    { name: 'guard', key: 'guard', type: 'guard', default: 'evicted>0,memory>90%,lag>256MB',
      help: 'end the run when a node has evicted more keys, uses more of its memory, or a replica is further ' +
        'behind; off = never' },
  ],
  'Changes of a cluster': [
    { name: 'slots', key: 'slots', type: 'text', pattern: /^\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*$/,
      expects: 'slots such as 0-1499,3000', for: ['reshard'],
      help: 'of move: the slots', brief: 'of move: the slots' },
    { name: 'to', key: 'to', type: 'text', pattern: /^\S+$/, expects: 'the number of a shard or an address',
      for: ['reshard'],
      help: 'of move: the receiving shard, by its number (in the order of slots) or the address of its master',
      brief: 'of move: the receiving shard or its master' },
    { name: 'shard', key: 'shard', type: 'text', pattern: /^\S+$/, expects: 'the number of a shard or an address',
      for: ['reshard'],
      help: 'of remove-shard and failover: which one', brief: 'of remove-shard and failover: which one' },
    { name: 'servers', key: 'servers', type: 'text', pattern: /^[^\s,]+:\d+(,[^\s,]+:\d+)*$/,
      expects: 'addresses with commas', for: ['reshard'], otherwise: 'started here, for a local cluster',
      help: 'of add-shard: empty servers in cluster mode, a master and then its replicas',
      brief: 'of add-shard: empty servers, a master and its replicas' },
    { name: 'wait', key: 'waitMs', type: 'duration', range: ['1s', '24h'], unit: 's', default: '60m', for: ['reshard'],
      help: 'how long to wait for the change, where only the provider can make it' },
  ],
  Duration: [
    { name: 'duration', also: ['test-time'], for: both, key: 'durationMs', type: 'duration', range: ['1ms', '8760h'],
      unit: 's', otherwise: 'until Ctrl-C', insteadOf: ['intervals'],
      help: 'stop after this time (60, 60s, 1m30s, 1h)', brief: 'stop after this time (until Ctrl-C)' },
    { name: 'intervals', key: 'intervals', type: 'integer', range: ['1', '1000M'],
      otherwise: 'until Ctrl-C',
      help: 'stop after this many intervals' },
    { name: 'warm-up', key: 'warmUpMs', type: 'warmUp', range: ['0s', '24h'], unit: 's', default: '0s',
      otherwise: 'auto in runs of 8 s and more; 0s in shorter and endless ones, with --once, rates that change and queues',
      help: 'time at the start that is accounted for, but kept out of latencies, CPU and costs (to the next tick); auto: until ' +
        'latency and CPU of three seconds agree, 10 s or half of the run at most, and so long with --control',
      brief: 'left out at the start (8 s or more: until steady)' },
    { name: 'dry-run', key: 'dryRun', type: 'flag', for: both, env: null,
      help: 'show the plan, the share of this process, what is found on the target, the memory that the plan takes ' +
        'and the first commands; write nothing',
      helpFor: { consumer: 'show the plan that is found, the share of this process and the commands of a fetch; read ' +
        'nothing else' },
      briefFor: { producer: 'show the plan and the target, and write nothing',
        consumer: 'show the plan and the commands, and read nothing else' } },
    { name: 'file', aliases: ['f'], key: 'optionsFile', type: 'path', for: both, env: null, otherwise: 'none',
      help: 'options from a .yaml or .json file, by their long names, or those of an earlier run from its run.json; ' +
        'the command line overrides them',
      brief: 'options from a .yaml or .json file, or a run.json' },
    { name: 'idle-cost', key: 'idleCost', type: 'choice', choices: ['auto', 'always', 'never'], default: 'auto',
      help: 'measure the CPU of the idle servers for 3 to 6 s before the first write, so that the cost of an item ' +
        'is known without it; auto = for 1.5 to 3 s in runs of less than 10 s' },
  ],
  'CloudWatch (for a target in ElastiCache)': [
    { name: 'cloudwatch', key: 'cloudwatch', type: 'flag', for: both,
      help: 'after the run, wait for the metrics of CloudWatch (minutes late) and add them for every node' },
    { name: 'region', was: { 'aws-region': '--region' }, key: 'awsRegion', type: 'text', pattern: /^[a-z]{2}(-[a-z]+)+-\d$/,
      expects: 'a region such as eu-west-1', for: both, otherwise: 'from the endpoint or the AWS settings',
      help: 'AWS region of the cache' },
    { name: 'replication-group', key: 'replicationGroup', type: 'text', pattern: /^[A-Za-z][A-Za-z0-9-]{0,49}$/,
      expects: 'the id of a replication group', for: both, otherwise: 'from the endpoint',
      insteadOf: ['cache-clusters'],
      help: 'id of the replication group of the nodes' },
    { name: 'cache-clusters', key: 'cacheClusters', type: 'text',
      pattern: /^[A-Za-z][A-Za-z0-9-]{0,59}(,[A-Za-z][A-Za-z0-9-]{0,59})*$/, expects: 'ids with commas', for: both,
      otherwise: 'from the names of the nodes',
      help: 'ids of the nodes, several with commas' },
  ],
  'Fleet (many boxes as one)': [
    { name: 'control', key: 'control', type: 'server', secret: true, for: both,
      help: 'a Redis or Valkey beside the target, redis://user:password@host:port/db, where the boxes of one --run meet: ' +
        'type the same on every box; rediss://host?iam=user logs in by IAM' },
    { name: 'join-within', key: 'joinWithinMs', type: 'duration', range: ['1s', '24h'], unit: 's', default: '2m',
      for: both,
      help: 'how long the boxes wait for each other before the run is refused; readers wait for the writers' },
    { name: 'partial', key: 'partial', type: 'flag',
      help: 'begin without boxes that are missing by then; the run is PARTIAL' },
    { name: 'stagger', key: 'stagger', type: 'flag',
      help: 'spread the ticks of the boxes over the time between two ticks instead of sending all at the same moments' },
    { name: 'all', key: 'stopAll', type: 'flag', env: null, for: both,
      help: 'Ctrl-C on this box stops all boxes of the run' },
  ],
  Output: [
    { name: 'run', key: 'run', type: 'text', pattern: /^[A-Za-z0-9][\w.-]{0,99}$/,
      expects: 'letters, digits, dots and dashes, at most 100', for: both, otherwise: 'from the time',
      help: 'name of the run' },
    { name: 'out', key: 'outDir', type: 'path', default: 'results', for: both,
      help: 'folder of the results', brief: 'folder of the results' },
    { name: 'report', key: 'report', type: 'flag', default: 'true', for: both,
      help: 'a page with charts beside run.json; --no-report leaves it to millrace report' },
    { name: 'threshold', key: 'thresholds', type: 'limits', repeatable: ',', for: both, default: 'none',
      help: 'limit of a metric, such as latency.p99<20ms; exit code 99 if it fails; may be repeated',
      brief: 'exit code 99 if it fails: latency.p99<20ms' },
    { name: 'dashboard', key: 'dashboard', type: 'listener', bare: 'auto', for: both,
      help: 'a live page of the run in a browser, on this port of this machine only, or on address:port; without a port on ' +
        'any free one; its address, with a random token, is in the log' },
    { name: 'metrics', key: 'metrics', type: 'listener', for: both,
      help: 'serve live metrics to Prometheus on this port of this machine only, or on address:port' },
    { name: 'json', key: 'json', type: 'flag', for: both,
      help: 'print run.json on stdout, and nothing else',
      brief: 'print run.json on stdout, and nothing else' },
    { name: 'quiet', key: 'quiet', type: 'flag', for: both, help: 'print the result only, and warnings' },
    { name: 'verbose', aliases: ['v'], key: 'verbose', type: 'flag', for: both,
      help: 'print nodes, commands, times and the rest too, not only the answer' },
    { name: 'log', key: 'log', alsoKeys: ['logLevel'], type: 'log', for: all, default: 'text,info',
      was: { 'log-level': '--log LEVEL' }, choices: ['text', 'json', 'trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], parts: (log) => log,
      help: 'lines of the log on stderr, text or json, and the least severe level that it shows, as in json,warn' },
  ],
}

/** @type {readonly Option[]} */
export const OPTIONS = Object.freeze(
  Object.entries(groups).flatMap(([group, rows]) =>
    rows.map((row) =>
      Object.freeze({
        aliases: [],
        also: [],
        env: `MILLRACE_${row.name.replaceAll('-', '_').toUpperCase()}`,
        alsoEnv: [],
        for: /** @type {Program[]} */ (['producer']),
        ...row,
        group,
      }),
    ),
  ),
)

// What is in parentheses of these titles is about a writer.
const aboutWriters = / \((?:items in bursts|without an address).*$/

// What a consumer finds in the writer's plan.
const ofPlan = new Set([
  'strategy',
  'quantity',
  'ttlS',
  'valueBytes',
  'payload',
  'seed',
  'stamp',
  'once',
  'placement',
  'sortedSets',
])

/** What an option is called beside others of its name. @param {Option} option */
const ownerOf = ({ name, on, group }) => (on === undefined ? `${name}, ${group}` : `the strategy ${on}`)

/**
 * What is wrong with the options of one program or command, a line each: of two with one spelling or variable only the last
 * would be read.
 * @param {readonly Option[]} options
 */
export const optionFaults = (options) => [
  ...claimedTwice(
    'option',
    options.flatMap((one) => namesOf(one).map((name) => exactly([dashed(name), ownerOf(one)]))),
  ),
  ...claimedTwice(
    'variable',
    options.flatMap((one) =>
      [one.env, ...one.alsoEnv].flatMap((name) => (name === null ? [] : [exactly([name, ownerOf(one)])])),
    ),
  ),
]

/** Options that are as they must be. @param {readonly Option[]} options of one program or command */
export const registeredOptions = (options) => {
  const [fault] = optionFaults(options)
  if (fault) throw new Error(`options: ${fault}`)
  return Object.freeze(options)
}

/** @type {Map<Program, readonly Option[]>} */
const byProgram = new Map()

/** The options of one program, in the order of the table. @param {Program} program */
export const optionsOf = (program) => {
  const known = byProgram.get(program) ?? registeredOptions(optionsFor(program))
  byProgram.set(program, known)
  return known
}

/** @param {Program} program @returns {Option[]} */
const optionsFor = (program) =>
  OPTIONS.filter((option) => option.for.includes(program)).map((option) => ({
    ...option,
    group:
      program === 'consumer' && ofPlan.has(option.key)
        ? 'Data model, where the target has no plan of a writer'
        : program === 'producer'
          ? option.group
          : option.group.replace(aboutWriters, ''),
    help: option.helpFor?.[program] ?? option.help,
    brief: option.briefFor?.[program] ?? option.brief,
  }))

/**
 * Options that only one command has, on its command line alone.
 * @param {string} group
 * @param {(Pick<Option, 'name' | 'type' | 'help'> & Partial<Omit<Option, 'key' | 'brief'>> &
 *   { key?: string, brief?: string | true })[]} rows brief: true, its help
 * @returns {Option[]}
 */
export const ownOptions = (group, rows) =>
  rows.map(({ key, brief, ...row }) => ({
    aliases: [],
    also: [],
    env: null,
    alsoEnv: [],
    for: [],
    key: /** @type {any} */ (key ?? row.name),
    ...(brief !== undefined && { brief: brief === true ? row.help : brief }),
    // What a text must be is checked where it is used.
    pattern: /^/,
    ...row,
    group,
  }))

/** Every spelling of an option. @param {Pick<Option, 'name' | 'aliases' | 'also'>} option */
export const namesOf = ({ name, aliases, also }) => [name, ...aliases, ...also]

/** As it is typed. @param {string} name */
export const dashed = (name) => `${name.length === 1 ? '-' : '--'}${name}`

/** As messages name it. @param {Pick<Option, 'name' | 'with'>} option */
export const typedName = ({ name, with: isNamed }) => `${isNamed ? '--with ' : '--'}${name}`

const settingNames = new Set(OPTIONS.filter((option) => option.with).flatMap(namesOf))

/** An option and its value as words of a command line. @param {string} name @param {string | boolean} value */
export const wordsOf = (name, value) => {
  if (settingNames.has(name)) return ['--with', value === true ? name : `${name}=${value}`]
  return typeof value === 'boolean' ? [value ? `--${name}` : `--no-${name}`] : [`--${name}`, value]
}

/** What every command takes besides. */
export const everywhere = ownOptions('', [
  { name: 'help', aliases: ['h'], type: 'flag', brief: 'this text; all: every option', help: 'this text' },
  { name: 'version', type: 'flag', help: 'prints the version' },
])
