// What `import 'millrace'` offers. npm run readme writes the options of RunOptions, from settings.js.

/** Options by their names, in camel case: docs/options.md explains them. Durations and sizes may have units. */
export interface RunOptions {
  /** write items (the default), or read them */
  command?: 'write' | 'read'
  /** data model: how items are stored */
  strategy?: 'sorted-set' | 'actual-value' | 'script-batch' | 'script-item' | 'list' | 'list-hll' | 'set' | 'hash' | 'stream' | 'hash-ttl' | 'lookup-get' | 'lookup-set' | 'lookup-mix' | 'membership-flat' | 'membership-hash' | 'membership-set' | 'membership-zset' | 'membership-bitmap' | 'membership-bloom' | 'membership-bloom-module' | 'counter-loop' | 'counter-pipeline' | 'counter-auto-pipeline' | 'counter-script' | 'counter-function' | 'counter-transaction' | 'query-client' | 'query-scan' | 'query-scan-json' | 'query-scan-chunked' | 'query-index' | 'query-index-json' | 'query-search' | 'query-search-json' | 'update-get-set' | 'update-watch' | 'update-json' | 'update-hash' | 'queue-list' | 'queue-stream' | 'queue-zset'
  /** your own data model, from a file feed.js or feed.yaml (docs/your-own-model.md) */
  model?: string
  /** number of different items, shared by all writers; the same ones in every interval, unless --once; for lookups the number of keys, key:1 and on; for queries and update-* that of documents, doc:1 and on */
  items?: number | string
  /** lifetime of an item; a range such as 60s-600s gives each item its own */
  ttl?: string
  /** size of a value; or lognormal:p50=200B,p99=4kB (two percentiles; min= and max= cut it), or histogram:FILE with a size and a number of values in each line (docs/traffic.md) */
  valueSize?: string
  /** random (seeded, the same for an item at every tick), sparse (the first 4 bytes differ) or zero */
  payload?: 'random' | 'sparse' | 'zero'
  /** number of sorted sets; item i is in set i mod N */
  sets?: number | string
  /** slots of the sorted sets: hash (as their names hash), spread (tags that spread them evenly) or same-slot (all in one) */
  placement?: 'hash' | 'spread' | 'same-slot'
  /** put the time of writing into every value, so that a consumer can recognise an old one */
  stamp?: boolean
  /** new items in every interval, each written once, instead of the same ones */
  once?: boolean
  /** further sorted sets that get the same members in the same batch */
  extraSortedSets?: number | string
  /** put in front of every key */
  prefix?: string
  /** random seed of the values */
  seed?: number | string
  /** operations a second of all writers, evenly spaced, such as 300k; max: as fast as the servers accept them, without a schedule; 10k@30s,20k@1m: rates one after the other, which end the run */
  rate?: number | string
  /** a rate that rises or falls within the run, as in 10k..100k/5m, in steps of a second (300 at most) */
  ramp?: string
  /** open (absolute deadlines), smooth (in as many chunks as the clock can separate; not for a consumer) or closed (wait for the batch or the fetch, then sleep the period) */
  pacing?: 'open' | 'smooth' | 'closed'
  /** socket (plain sockets, least CPU) or a client library, as a Node application sees it: ioredis, or one that is installed beside: iovalkey, node-redis, valkey-glide */
  driver?: 'socket' | 'ioredis' | 'iovalkey' | 'node-redis' | 'valkey-glide'
  /** a setting of the client library, as in enableAutoPipelining=false; each run prints them all; may be repeated */
  driverOption?: string | readonly string[]
  /** most items in one ZADD, SADD, RPUSH and the like; 0 = no limit; --ws has no limit unless this is given */
  maxMembers?: number | string
  /** batches that have not started this long after they were due are dropped and counted */
  maxBehind?: number | string
  /** most unanswered bytes on one connection */
  window?: number | string
  /** connections to every node, like those of several application instances; an item always uses the same one */
  connections?: number | string
  /** most unanswered commands on one connection */
  pipeline?: number | string
  /** which item is next: sequential (in order, again and again), uniform (all equally likely), split (lookups: each connection its own part, in order), zipf:0.99 (item n as often as n^-0.99), hot:10%:90% (a tenth of the items gets nine tenths) or recent:10% (the newest tenth; needs --churn) */
  popularity?: string
  /** how fast popularity passes to other items, as a share of all: 1%/s, 10%/h */
  shift?: string
  /** how fast items are replaced by new ones, as a share of all: 10%/h */
  churn?: string
  /** when batches or operations of a schedule are due: constant (evenly), poisson (at random, as independent users arrive), burst:5x:1s/10s (1 s of each 10 s at five times the rate of the rest), daily:10m (a day in 10 minutes, the peak 4 times the low), or poisson,burst:... and poisson,daily:... */
  arrivals?: string
  /** write every key once before the run, and check that they are there; populate: the server makes them itself (DEBUG POPULATE), with values of its own */
  fill?: 'keys' | 'populate' | 'none'
  /** after the load save a snapshot, empty the servers and load it again, and report how long each takes and how long another client waits; on a local server, or with --allow flush */
  snapshot?: boolean
  /** connections a second that are closed and opened again, over all clients or all connections of a writer, with TLS where it is on */
  reconnects?: number | string
  /** writes to reads of lookup-mix, and to deletes: 1:10, 2:10:1 */
  ratio?: string
  /** structures among which the ids are divided by their low bits: a power of 2 */
  partitions?: number | string
  /** ids of 128 bits as 32 hex digits or as 16 bytes, or of 48 bits as an integer */
  ids?: 'hex' | 'binary' | 'integer'
  /** stated share of false positives, which determines the size of a Bloom filter */
  falsePositives?: string
  /** different counters, each incremented in turn; --items is the number of increments */
  counters?: number | string
  /** what counts: members of a sorted set (ZINCRBY), fields of a hash (HINCRBY) or keys (INCR) */
  structure?: 'zset' | 'hash' | 'string'
  /** increments in a pipeline, a script call, a function call or a transaction */
  chunkSize?: number | string
  /** add this to each round trip, half in each direction, by a proxy in front of the target; 0ms shows what the proxy itself takes; of queue-zset: how long after it was made a job may begin */
  delay?: string
  /** the proxy of --delay drops the reply to every Nth request, and closes the connection */
  loseEvery?: number | string
  /** share of the documents that each query matches, as they are loaded: 0.0001 to 0.5 */
  selectivity?: string
  /** different queries, drawn by --seed */
  queries?: number | string
  /** what answers are sorted by: created, which differs for each document, or rating, which 1 in 10 lacks */
  sort?: 'created' | 'created-desc' | 'rating' | 'rating-desc'
  /** most documents in an answer */
  pageSize?: number | string
  /** matching documents that are skipped before the answer */
  pageOffset?: number | string
  /** approximate number of documents in each step of query-client and query-scan-chunked */
  scanCount?: number | string
  /** build the indexes of query-index and query-search before or after the documents are loaded */
  indexWhen?: 'before' | 'after'
  /** indexes of query-search: the one that answers, and others that an application may also have */
  indexes?: number | string
  /** milliseconds after which FT.SEARCH returns what it has found so far; 0: never */
  searchTimeout?: number | string
  /** stop after this many queries or updates of all clients */
  requests?: number | string
  /** a query without an answer after this time has failed, and its connection is closed */
  queryTimeout?: number | string
  /** clients that change documents while queries run, each its own documents */
  updateWriters?: number | string
  /** document changes a second, of all --update-writers */
  updateRate?: number | string
  /** fetch only the newest N items; 0 = all that have not expired */
  limit?: number | string
  /** get (ids, then one GET per item), mget (ids, then MGET of up to 1,000; in a cluster, one per slot) or script (one call of lua/fetch-latest-items.lua) */
  readWith?: 'get' | 'mget' | 'script'
  /** fetch the values too; --no-values reads ids only */
  values?: boolean
  /** which nodes serve the reads; a shard without replicas is read from its master */
  reads?: 'replica' | 'master' | 'any'
  /** consumers in this process, for each number of -a */
  consumers?: number | string
  /** fetches a second of all consumers, such as 50; 10@30s,100@30s: rates one after the other, which end the run */
  fetchRate?: number | string
  /** compare every value with the bytes that the plan defines */
  verify?: boolean
  /** count unique items with every structure that exists, side by side */
  count?: boolean
  /** most jobs in the queue: further ones are refused by a script (FULL) */
  maxQueue?: number | string
  /** what happens to a job for which the queue or the memory of the server has no room: it is refused and counted, or waits for room, at most --max-behind */
  whenFull?: 'refuse' | 'wait'
  /** workers that take jobs of a queue, each over a connection of its own */
  workers?: number | string
  /** processes that share the workers: one computes on one core at a time */
  processes?: number | string
  /** most jobs that a worker takes at once */
  take?: number | string
  /** work that a job takes: 500us or cpu:500us (a core computes), sleep:5ms (the worker waits, as for another service) or none */
  work?: string
  /** workers of a second stage: the first ones (filters) hand what they have done over to a second queue, which these drain */
  outputs?: number | string
  /** work of a job in the second stage, as --work */
  outputWork?: string
  /** a job stays with its worker until it is done, and comes back if the worker dies: LMOVE in place of BRPOP; queue-stream always confirms (XACK) */
  confirm?: boolean
  /** how long a worker must be silent before others get its jobs */
  reclaim?: number | string
  /** end when the producers have ended and the queue is empty */
  drain?: boolean
  /** items per interval, shared by all writers: --items by its published name */
  quantity?: number | string
  /** interval in which all items are written once */
  period?: number | string
  /** bursts in which the items of an interval are sent, evenly spaced */
  chunks?: number | string
  /** writers (simulated applications) that share the items, on all boxes together */
  totalAgents?: number | string
  /** which of the writers this process is: a number, a range, all, or auto: the next free one (on a local target all of them) */
  agent?: number | string
  /** a sorted set of the values themselves */
  actualValue?: boolean
  /** write with lua/store-items.lua, one call per chunk */
  ws?: boolean
  /** write with lua/store-item.lua, one call per item */
  sk?: boolean
  /** a list instead of the sorted set */
  sl?: boolean
  /** a list, and a HyperLogLog per minute */
  slh?: boolean
  /** one set per minute */
  ss?: boolean
  /** number of sorted sets: --sets by its published name */
  ns?: number | string
  /** all sorted sets in one slot: --placement same-slot */
  sameSlot?: boolean
  /** sorted sets spread evenly over the slots: --placement spread */
  spread?: boolean
  /** manual (ids, then their values) or script: --read-with by its published name */
  mode?: 'manual' | 'script'
  /** how --mode manual reads values: get or mget, as --read-with */
  fetch?: 'get' | 'mget'
  /** address as redis://[user:password@]host[:port][/db], or rediss:// for TLS; also without --url in front */
  url?: string
  /** name or address of the server, or of any node of the cluster */
  host?: string
  /** port of --host */
  port?: number | string
  /** the target is a cluster; without an address one is started */
  cluster?: boolean
  /** name of the primary that sentinels watch; --host and --port (26379) then name a sentinel, which knows the others */
  sentinel?: string
  /** password of the sentinels themselves; better in REDIS_SENTINEL_PASSWORD */
  sentinelPassword?: string
  /** ACL user */
  username?: string
  /** password of the server; better in REDIS_PASSWORD: other users of the machine can see a command line */
  password?: string
  /** file whose first line is the password */
  passwordFile?: string
  /** number of the database */
  db?: number | string
  /** encrypt the connections */
  tls?: boolean
  /** accept any certificate: anyone on the network path can read and change everything */
  tlsInsecure?: boolean
  /** file with the authority that signed the certificate of the server */
  ca?: string
  /** file with our certificate */
  cert?: string
  /** file with the private key of --cert */
  key?: string
  /** server program of a local target */
  serverBin?: string
  /** configuration of a local target, as in hash-max-listpack-entries=64 or loadmodule=PATH; may be repeated */
  serverConfig?: string | readonly string[]
  /** masters of a local cluster */
  shards?: number | string
  /** replicas of each master of a local cluster */
  replicas?: number | string
  /** write although the target has keys of other applications (foreign-keys), is a replica, would exceed 70 % of its memory (memory), or its clock and that of this box differ by more than 1 s (clock); send the password without TLS also to replicas on hosts that only INFO names (named-hosts); empty it for --snapshot (flush); or send scripts of a model that cannot be read (scripts); several with commas */
  allow?: string | readonly string[]
  /** end the run when a node has evicted more keys, uses more of its memory, or a replica is further behind; off = never */
  guard?: string
  /** stop after this time (60, 60s, 1m30s, 1h) */
  duration?: number | string
  /** stop after this many intervals */
  intervals?: number | string
  /** time at the start that is accounted for, but kept out of latencies, CPU and costs (to the next tick); auto: until latency and CPU of three seconds agree, 10 s or half of the run at most */
  warmUp?: string
  /** show the plan, the share of this process, what is found on the target, the memory that the plan takes and the first commands; write nothing */
  dryRun?: boolean
  /** measure the CPU of the idle servers for 3 to 6 s before the first write, so that the cost of an item is known without it; auto = in runs of 10 s and longer */
  idleCost?: 'auto' | 'always' | 'never'
  /** a Redis or Valkey beside the target, redis://user:password@host:port/db, where the boxes of one --run meet: type the same on every box */
  control?: string
  /** how long the boxes wait for each other before the run is refused; readers wait for the writers */
  joinWithin?: number | string
  /** begin without boxes that are missing by then; the run is PARTIAL */
  partial?: boolean
  /** spread the ticks of the boxes over the time between two ticks instead of sending all at the same moments */
  stagger?: boolean
  /** Ctrl-C on this box stops all boxes of the run */
  all?: boolean
  /** name of the run */
  run?: string
  /** limit of a metric, such as latency.intended.p99<20ms; exit code 99 if it fails; may be repeated */
  threshold?: string | readonly string[]
}

/** A measure by its name: docs/reports.md lists them. */
export interface Measure {
  name: string
  value: number
  unit: 'us' | 'ms' | 'pct' | 'bytes' | 'mb' | 'count' | 'rate' | 'ratio'
  better: 'less' | 'more' | 'neither'
  /** independent samples behind it; null: not counted */
  count: number | null
  /** the value is known to within this; null: not known */
  spread: number | null
}

export interface Warning {
  /** stable, for programs */
  code: string
  message: string
  /** whether the run is not valid for it */
  invalidates: boolean
}

/** run.json: docs/schemas/run.schema.json has every field. */
export interface RunResult {
  schema: 1
  kind: 'producer' | 'consumer'
  run: string
  started: string
  duration_s: number
  interrupted: boolean
  valid: boolean
  state: 'valid' | 'partial' | 'not-valid'
  warnings: Warning[]
  measures: Measure[]
  thresholds?: { threshold: string; name: string; value: number | null; passed: boolean }[]
  plan: Record<string, unknown>
  nodes: { address: string; shard: number; role: 'master' | 'replica' }[]
  events: { at_ms: number; kind: string; text: string }[]
  [section: string]: unknown
}

export type ProgressEvent =
  | { type: 'message'; text: string }
  | { type: 'warning'; code: string; message: string }
  | { type: 'event'; run: string; epoch_ms: number; at_ms: number; kind: string; text: string }
  /** a line of intervals.ndjson: docs/schemas/intervals.schema.json */
  | { type: 'second'; run: string; epoch_ms: number; at_ms: number; [field: string]: unknown }

export interface RunHooks {
  /** ends the load; what is under way settles, and the result says that it was interrupted */
  signal?: AbortSignal
  onProgress?: (event: ProgressEvent) => void
}

/**
 * Writes or reads items on servers that run, and resolves with the result, valid or not.
 * Rejects with an OptionError where an option is wrong, and with a MillraceError where the servers cannot be used.
 */
export function run(options: RunOptions, hooks?: RunHooks): Promise<RunResult>

export interface LocalServers {
  /** to be spread into the options of a run */
  options: { url: string; cluster: boolean }
  nodes: { address: string; role: 'master' | 'replica'; shard: number }[]
  close(): Promise<void>
}

/** Starts Redis or Valkey servers on this machine, on loopback and with a password. */
export function startLocalServers(wanted?: {
  cluster?: boolean
  shards?: number
  replicas?: number
  /** the server program; else redis-server or valkey-server from PATH */
  serverBin?: string
}): Promise<LocalServers>

/** Every error of Millrace: code is stable, exitCode is what the programs end with. */
export class MillraceError extends Error {
  code: string
  exitCode: number
}

export class OptionError extends MillraceError {}
