// What `import 'millrace'` offers. npm run readme writes the options of RunOptions, from settings.js, and the files of a run,
// from their schemas.

/** Options by their names, in camel case: docs/reference/options.md explains them. Durations and sizes may have units. */
export interface RunOptions {
  /** write items (the default), or read them */
  command?: 'write' | 'read'
  /** data model: how items are stored */
  strategy?: 'sorted-set' | 'actual-value' | 'script-batch' | 'script-item' | 'list' | 'list-hll' | 'set' | 'hash' | 'stream' | 'hash-ttl' | 'lookup-get' | 'lookup-set' | 'lookup-mix' | 'cache-aside' | 'cache-hash' | 'cache-hash-ttl' | 'cache-mget' | 'membership-flat' | 'membership-hash' | 'membership-set' | 'membership-zset' | 'membership-bitmap' | 'membership-bloom' | 'membership-bloom-module' | 'counter-loop' | 'counter-pipeline' | 'counter-auto-pipeline' | 'counter-script' | 'counter-function' | 'counter-transaction' | 'query-client' | 'query-scan' | 'query-scan-json' | 'query-scan-chunked' | 'query-index' | 'query-index-json' | 'query-search' | 'query-search-json' | 'update-get-set' | 'update-watch' | 'update-json' | 'update-hash' | 'queue-list' | 'queue-stream' | 'queue-zset'
  /** your own data model, from a file feed.js or feed.yaml (docs/reference/own-model.md) */
  model?: string
  /** settings of the strategy: NAME=VALUE, several with commas; millrace write STRATEGY --help lists those that it has */
  with?: string | readonly string[]
  /** number of different items, shared by all writers; the same ones in every interval, unless --once; for lookups the number of keys, key:1 and on; for queries and update-* that of documents, doc:1 and on */
  items?: number | string
  /** lifetime of an item; a range such as 60s-600s gives each item its own */
  ttl?: string
  /** size of a value; 200B-4kB (each as likely), lognormal:p50=200B,p99=4kB (two percentiles; min= and max= cut it) or histogram:FILE with a size and a number of values in each line (docs/reference/traffic.md) */
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
  /** operations a second of all writers, evenly spaced, such as 300k; max: as fast as the servers accept them, without a schedule; 10k@30s,20k@1m: rates one after the other, or 10k..100k/5m: a rising one, which end the run */
  rate?: number | string
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
  /** when writes are acknowledged: 0 (by the master), 1 (WAIT: a replica has them too), aof (WAITAOF: they are on the disk of the master) or aof:1 (on that of a replica too); it follows each operation, or each batch and at most 64 kB of it */
  wait?: string
  /** connections to every node, like those of several application instances; an item always uses the same one */
  connections?: number | string
  /** threads of this process that send, each with its own connections; writers (-t) and consumers belong to one each, and the items of a writer are cut where there are more threads; auto: one for each core that the local servers leave, as far as the highest rate needs them */
  threads?: string
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
  /** write every key once before the run, and check that they are there; populate: the server makes them itself (DEBUG POPULATE), with values of its own; of a cache, as many as there is room for, as if it had been in use */
  fill?: 'keys' | 'populate' | 'none'
  /** after the load save a snapshot, empty the servers and load it again, and report how long each takes and how long another client waits; on a local server, or with --allow flush */
  snapshot?: boolean
  /** connections a second that are closed and opened again, over all clients or all connections of a writer, with TLS where it is on */
  reconnects?: number | string
  /** writes to reads of lookup-mix, and to deletes: 1:10, 2:10:1; of a cache, writes that invalidate to reads (none) */
  ratio?: string
  /** how long the source takes for what is not in the cache: 5ms, 2ms-20ms (each as likely) or exp:5ms (exponential, on average), each rounded up to whole ms */
  missTime?: string
  /** requests that the source answers at the same time; others wait for it */
  missConcurrency?: number | string
  /** while a key is read from the source, others that miss it wait for the same answer */
  coalesce?: boolean
  /** keys of each request of cache-mget */
  batch?: number | string
  /** memory of each server that is started for the run */
  maxmemory?: number | string
  /** what those servers evict when they are full */
  policy?: 'allkeys-lru' | 'allkeys-lfu' | 'allkeys-random' | 'volatile-lru' | 'volatile-lfu' | 'volatile-random' | 'volatile-ttl' | 'noeviction'
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
  bundleSize?: number | string
  /** add this to each round trip, half in each direction, by a proxy in front of the target; 0ms shows what the proxy itself takes; of queue-zset: how long after it was made a job may begin */
  delay?: string
  /** the proxy of --with delay drops the reply to every Nth request, and closes the connection */
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
  /** document changes a second, of all --with update-writers */
  updateRate?: number | string
  /** fetch only the newest N items; 0 = all that have not expired */
  limit?: number | string
  /** get (ids, then one GET per item), mget (ids, then MGET of up to 1,000; in a cluster, one per slot) or script (one call of lua/fetch-latest-items.lua) */
  readWith?: 'get' | 'mget' | 'script'
  /** fetch the values too; --no-values reads ids only */
  values?: boolean
  /** which nodes serve the reads: primary, replica (a shard without one is read from its primary), nearest (the shortest of several round trips), or any of them in turn */
  readFrom?: 'primary' | 'replica' | 'nearest' | 'any'
  /** which nodes answer the reads of lookups, caches and mixes, as for millrace read; answers that are older than what was acknowledged are counted */
  readFrom?: 'primary' | 'replica' | 'nearest' | 'any'
  /** consumers in this process, for each number of -a */
  consumers?: number | string
  /** fetches a second of all consumers, such as 50; 10@30s,100@30s: rates one after the other, or 10..100/5m: a rising one, which end the run */
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
  /** all sorted sets in one slot: --with placement=same-slot */
  sameSlot?: boolean
  /** sorted sets spread evenly over the slots: --with placement=spread */
  spread?: boolean
  /** manual (ids, then their values) or script: --read-with by its published name */
  mode?: 'manual' | 'script'
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
  /** log in to ElastiCache by IAM as this user, with the AWS credentials of this box; needs --tls; USER@CACHE where the address does not name the replication group or serverless cache */
  iam?: string
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
  /** write although the target has keys of other applications (foreign-keys), is a replica, would exceed 70 % of its memory (memory), or its clock and that of this box differ by more than 1 s (clock); send the password without TLS also to replicas on hosts that only INFO names (named-hosts); empty it for --with snapshot (flush); or send scripts of a model that cannot be read (scripts); several with commas */
  allow?: string | readonly string[]
  /** end the run when a node has evicted more keys, uses more of its memory, or a replica is further behind; off = never */
  guard?: string
  /** stop after this time (60, 60s, 1m30s, 1h) */
  duration?: number | string
  /** stop after this many intervals */
  intervals?: number | string
  /** time at the start that is accounted for, but kept out of latencies, CPU and costs (to the next tick); auto: until latency and CPU of three seconds agree, 10 s or half of the run at most, and so long with --control */
  warmUp?: string
  /** show the plan, the share of this process, what is found on the target, the memory that the plan takes and the first commands; write nothing */
  dryRun?: boolean
  /** measure the CPU of the idle servers for 3 to 6 s before the first write, so that the cost of an item is known without it; auto = for 1.5 to 3 s in runs of less than 10 s */
  idleCost?: 'auto' | 'always' | 'never'
  /** a Redis or Valkey beside the target, redis://user:password@host:port/db, where the boxes of one --run meet: type the same on every box; rediss://host?iam=user logs in by IAM */
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
  /** limit of a metric, such as latency.p99<20ms; exit code 99 if it fails; may be repeated */
  threshold?: string | readonly string[]
}

// results

/** What was noticed in a run. */
export interface Warning {
  code: string
  message: string
  invalidates: boolean
  cause?: string
}

/** A measure by its name: `millrace metrics` lists them. */
export interface Measure {
  name: string
  value: number
  unit: 'us' | 'ms' | 's' | 'pct' | 'bytes' | 'mb' | 'count' | 'rate' | 'ratio'
  better: 'less' | 'more' | 'neither'
  /** independent samples behind it; null: not counted */
  count: number | null
  /** the value is known to within this; null: not known */
  spread: number | null
}

/** null: there were too few samples */
export interface Percentiles {
  p50?: number | null
  p90?: number | null
  p99?: number | null
  p999?: number | null
  max?: number | null
}

/** What was asked for; what a kind of load has of its own is in it too. */
export interface RunPlan {
  strategy: string
  flow: 'ticks' | 'clients' | 'bundles' | 'passes' | 'jobs' | 'fetches' | 'workers'
  quantity?: number
  periodMs?: number
  spacingMs?: number
  chunks?: number
  totalAgents?: number
  agents?: ({ agent: number; first: number; count: number } | number)[]
  items?: number
  nominalHz?: number | null
  rate?: string | null
  pacing?: string
  arrivals?: string
  schedule?: string
  driver?: string
  ttlS?: number
  valueBytes?: number
  valueSizes?: string | null
  payload?: string
  stamp?: boolean
  once?: boolean
  prefix?: string
  placement?: string
  sets?: string[]
  extraSets?: string[]
  maxMembers?: number | null
  scriptMembers?: number | null
  warmUpMs?: number | null
  limit?: number
}

/** What the process itself took. */
export interface ClientResult {
  cpu_s?: number | null
  cpu_pct?: number | null
  cpu_us_per_item?: number | null
  rss_mb_max?: number | null
  loop_delay_ms_p99?: number | null
  busy_pct?: number | null
  thread_cpu_pct?: number | null
  machine_busy_pct?: number | null
  threads?: Record<string, { busy_pct?: number | null; cpu_pct?: number | null }>
  stopped_ms?: number | null
  idle_pct?: number | null
  cpu_us_per_item_net?: number | null
  idle_note?: string | null
  gc_s?: number | null
  gc_pct?: number | null
  gc_ms_max?: number | null
}

/** What a node did. */
export interface NodeResult {
  address: string
  role: 'master' | 'replica'
  shard: number
  engine_cpu_pct: number | null
  cpu_pct: number | null
  commands_per_s: number | null
  memory_bytes: number | null
  gaps: number | null
  sampled_s?: number
  cpu_upper_bound?: boolean
}

/** Percentiles of a second; hdr is the encoded histogram that they are of. */
export interface Histogram {
  p50?: number | null
  p90?: number | null
  p99?: number | null
  p999?: number | null
  max?: number | null
  count?: number | null
  hdr?: string
}

/** What each kind of run has in its run.json. */
export interface Result {
  schema: 1
  run: string
  started: string
  duration_s: number
  plan: RunPlan
  versions: { millrace: string; node: string; servers: string[] }
  events: { at_ms: number; kind: string; text: string }[]
  warnings: Warning[]
  summary?: string[]
  command_line?: string
  measured_s?: number | null
  warm_up_s?: number | null
  valid: boolean
  state: 'valid' | 'partial' | 'not-valid'
  interrupted: boolean
  target?: { kind: string; origin: string; shared_keys?: { key: string; shard: number }[] } | null
  thresholds?: { threshold: string; name: string; value: number | null; passed: boolean }[]
  client: ClientResult
  nodes: NodeResult[]
  clocks?: { address: string; offset_ms: number; rtt_ms: number }[]
  rate: { nominal?: number | null; achieved?: number | null; items?: number | null; value_bytes?: number | null }
  cloudwatch?: {
    region: string
    period_s: number
    from: string
    to: string
    settled: boolean
    read_at: string
    nodes: { id: string; kind: 'node' | 'serverless'; address: string | null; role: 'master' | 'replica' | null; means: Record<string, number>; points: Record<string, [number, number][]> }[]
    notes: string[]
  }
  measures: Measure[]
}

/** Of writers and of clients. */
export interface WriteResult extends Result {
  latency_us: { intended: Percentiles | null; service: Percentiles | null; commands?: Record<string, Percentiles> }
  bystander_us?: Percentiles | null
  ticks: { count: number; late?: number | null; lateness_us: Percentiles; due_dispersion?: number | null; sent_dispersion?: number | null }
  traffic?: Record<string, Record<string, unknown> | number> | null
  replies?: {
    counts: Record<string, number>
    numbers: Record<string, { count: number | null; mean: number | null; p50?: number | null; p90?: number | null; p99?: number | null; p999?: number | null; max?: number | null }>
  }
  cache?: {
    hits: number
    misses: number
    fills: number
    coalesced: number
    invalidated: number
    hit_pct: number | null
    hit_pct_low: number | null
    hit_pct_high: number | null
    drift_points_per_min: number | null
    is_moving: boolean
    deciles: (number | null)[] | null
    misses_per_s: number | null
    source_per_s: number | null
    source_mean_us: number | null
    most_at_once: number | null
    stampede: number | null
    info_hit_pct: number | null
    evicted_per_s: number | null
    expired_per_s: number | null
    memory_bytes: number | null
    maxmemory_bytes: number | null
    data_bytes: number | null
    keys: number | null
    fragmentation: number | null
    over_limit_pct: number | null
    masters: { address: string; memory_bytes: number | null; data_bytes: number | null; keys: number | null }[]
    policy: string | null
    limit_changed: boolean
    hit_latency_us: Percentiles | null
    miss_latency_us: Percentiles | null
  }
  stale_reads?: { compared?: number | null; stale?: number | null; pct?: number | null; age_ms?: Percentiles | null }
  items: { offered: number; acked: number; failed?: number; uncertain?: number; dropped?: number; unsettled?: number; failed_by: Record<string, number> }
  commands: { sent?: number; repeated?: number; errors_by?: Record<string, number> }
  server: {
    share?: number | null
    cpu_us_per_item?: number | null
    memory_bytes_per_item?: number | null
    net_bytes_per_item?: number | null
    evicted?: number | null
    net_bytes_per_item_net?: number | null
    cpu_us_per_item_net?: number | null
    cpu_us_per_item_net_uncertainty?: number | null
    fixed_cpu_share?: number | null
    masters_cpu_us_per_item_net?: number | null
    cpu_us_per_item_uncertainty?: number | null
    commands?: Record<string, { calls: number; usec: number }> | null
    memory_note?: string | null
    foreign_calls?: { command: string; calls: number; by?: 'consumers'; calls_per_s?: number; on?: 'masters' | 'replicas'; cpu_share_most?: number } | null
    idle?: null | { why: string; net_bytes_per_s?: number | null } | { cpu_pct: number; uncertainty_pct: number; by_node: Record<string, number> }
  }
  written?: { agents: { agent: number; ticks: number }[]; not_acked: [number, number][]; complete: boolean } | null
  fleet?: {
    control: string
    boxes: {
      box: number
      host: string
      state: 'done' | 'interrupted' | 'lost'
      clock: { offset_ms: number; uncertainty_ms: number }
      from_s: number
      to_s: number
      intervals_lost: number
      busy_pct?: number | null
      cpu_pct?: number | null
      writers: number[]
      offered: number
      acked: number
      achieved?: number | null
      latency_us?: Percentiles
    }[]
    start: { clock_skew_ms: number; loop_skew_ms: number }
    absent: { items: number; share: number }
  }
  readers?: {
    plan: RunPlan
    consumers: number
    fetches: {
      count: number | null
      failed?: number | null
      overrun?: number | null
      items?: number | null
      values?: number | null
      nils?: number | null
      bytes?: number | null
      duplicates?: number | null
      items_p50?: number | null
      failed_by: Record<string, number>
      duration_ms: Percentiles | null
      ids_ms: Percentiles | null
      values_ms: Percentiles | null
      numbers: Record<string, Record<string, unknown>>
    }
    rate: { nominal?: number | null; achieved?: number | null; items?: number | null; value_bytes?: number | null }
    freshness_ms?: Percentiles | null
    replication_ms?: Percentiles | null
    verify?: { checked?: number; missing?: number; expired?: number; lagging?: number; stale?: number; corrupt?: number; unexpected?: number; unjudged?: number; examples?: string[] } | null
    client?: ClientResult
    boxes: {
      box: number
      host: string
      state: 'done' | 'interrupted' | 'lost'
      clock: { offset_ms: number; uncertainty_ms: number }
      from_s: number
      to_s: number
      intervals_lost: number
      busy_pct?: number | null
      cpu_pct?: number | null
      readers: number[]
      fetches: number
      items: number
      items_per_s?: number | null
      duration_ms?: Percentiles
    }[]
  }
  queue?: { limit?: number | null; refused?: number | null; predicted_ms?: number | null; predicted_at_ms?: number | null; full_ms?: number | null } | null
  counts?: Record<string, number> | null
  passes?: { name: string; operations: number; duration_s: number; rate: number; server_cpu_us: number | null; memory_bytes: number | null; counts: Record<string, number> }[] | null
  encodings?: Record<string, number> | null
  snapshot?: {
    masters: number
    keys: number
    data_bytes: number | null
    save: { total_ms: number; longest_ms: number; bystander_max_us: number }
    flush: { total_ms: number; longest_ms: number; bystander_max_us: number }
    load: { total_ms: number; longest_ms: number; bystander_max_us: number }
  } | null
  load?: { keys: number; seconds: number; indexes?: number; index_when?: 'before' | 'after'; data_bytes?: number | null; index_seconds?: number | null; index_bytes?: number | null }
  queries?: {
    checked: number
    right: number
    wrong: number
    partial: number
    busy: number
    timeout: number
    selectivity?: number | null
    min_us?: number | null
    avg_us?: number | null
    max_us?: number | null
    examples?: { query: number; verdict: 'wrong' | 'partial'; ids: string[] }[]
  }
  updates?: { writers: number; offered: number; acked: number; rate?: number | null; failed_by: Record<string, number>; latency_us?: { intended: Percentiles | null; service: Percentiles | null } }
  documents?: { count: number; updates: number; uncertain: number; conflicts: number; survived?: number | null; lost?: number | null; may_lose: boolean }
  miss_curve?: {
    policy: string
    points: { memory_bytes: number; lru_pct: number; policy_pct: number | null }[]
    needs: { hit_pct: number; memory_bytes: number | null }[]
    ceiling_pct: number
    footprint_bytes: number
    sampled_keys: number
    sampled_part: number
    predicted_pct: number | null
    maxmemory_samples: number | null
    lfu_log_factor: number | null
    lfu_decay_min: number | null
  }
  bundles?: {
    delivery: 'one' | 'pipeline' | 'concurrent' | 'call' | 'transaction'
    size: number
    calls: number
    time_ms?: { whole?: number | null; waiting?: number | null; preparing?: number | null; sending?: number | null; parsing?: number | null; other?: number | null } | null
    delay?: { asked: number; direct: number; proxy: number; added: number; busy_ms: number; lost: number } | null
    sum?: { before: number; after: number; acked: number; uncertain: number; different: number } | null
  } | null
  kind: 'producer'
}

/** Of consumers. */
export interface ReadResult extends Result {
  fetches: {
    count: number | null
    failed?: number | null
    overrun?: number | null
    items?: number | null
    values?: number | null
    nils?: number | null
    bytes?: number | null
    duplicates?: number | null
    items_p50?: number | null
    failed_by: Record<string, number>
    duration_ms: Percentiles
    ids_ms: Percentiles
    values_ms: Percentiles
    numbers: Record<string, Record<string, unknown>>
  }
  freshness_ms: Percentiles
  replication_ms: Percentiles
  verify?: { checked?: number; missing?: number; expired?: number; lagging?: number; stale?: number; corrupt?: number; unexpected?: number; unjudged?: number; examples?: string[] } | null
  consumers?: number
  uniqueness?: { structure: string; nature: string; samples: number; empty: number; last: number; truth: number | null; error_pct: number | null; error_pct_worst: number | null }[] | null
  reads?: Record<string, Record<string, unknown>>
  commands: { master?: Record<string, { calls: number; usec: number }>; replica?: Record<string, { calls: number; usec: number }> }
  kind: 'consumer'
}

/** Of the workers of a queue. */
export interface WorkResult extends Result {
  latency_us: { intended: Percentiles | null; service: Percentiles | null }
  waiting_us?: Percentiles | null
  work_us?: Percentiles | null
  take_us?: Percentiles | null
  confirm_us?: Percentiles | null
  backlog?: { first?: number | null; last?: number | null; max?: number | null; queue_bytes_max?: number | null } | null
  jobs: {
    taken: number
    done: number
    duplicates: number
    reclaimed?: number
    settled?: boolean
    first_ms?: number
    last_ms?: number
    promise: 'at-most-once' | 'at-least-once'
    account: {
      produced: number
      done: number
      done_elsewhere: number
      queued: number
      in_flight: number
      passed: number
      lost: number
      unacknowledged: number
      unconfirmed: number
      duplicates: number
      foreign: number
      makers_at_work: number
      boxes_at_work: number
      unknown?: number
      boxes_silent?: number
      examples: string[]
      boxes?: { host: string; done: number }[]
    } | null
  }
  workers: {
    count: number
    busy_share?: number | null
    jobs_a_take?: number | null
    work_us_mean?: number | null
    fewest?: number | null
    most?: number | null
    fairness?: number | null
    busiest?: number | null
    rate?: number | null
    boxes_fairness?: number | null
  }
  stages?: {
    filter: {
      count: number
      busy_share?: number | null
      jobs_a_take?: number | null
      work_us_mean?: number | null
      fewest?: number | null
      most?: number | null
      fairness?: number | null
      busiest?: number | null
      rate: number | null
      done: number | null
      duplicates?: number | null
      reclaimed?: number | null
      latency_us?: Percentiles | null
      backlog?: { first?: number | null; last?: number | null; max?: number | null }
    }
    output: {
      count: number
      busy_share?: number | null
      jobs_a_take?: number | null
      work_us_mean?: number | null
      fewest?: number | null
      most?: number | null
      fairness?: number | null
      busiest?: number | null
      rate: number | null
      done: number | null
      duplicates?: number | null
      reclaimed?: number | null
      latency_us?: Percentiles | null
      backlog?: { first?: number | null; last?: number | null; max?: number | null }
    }
  } | null
  connections?: { stated: string; renewed: number; connect_us: Percentiles | null } | null
  commands: { refused_by: Record<string, number>; lost_replies: Record<string, number> }
  server?: { cpu_us_per_job?: number | null; net_bytes_per_job?: number | null; evicted?: number | null; commands?: Record<string, { calls: number; usec: number }> | null }
  kind: 'consumer'
}

/** run.json: docs/schemas/run.schema.json is its schema. */
export type RunResult = WriteResult | ReadResult | WorkResult

/** A line of intervals.ndjson. */
export interface Second {
  at_ms: number
  phase?: string
  items?: Record<string, number>
  achieved?: number | null
  latency_us?: { intended?: Histogram | null; service?: Histogram | null } | null
  bystander_us?: Histogram | null
  pings_sent?: number | null
  lateness_us?: Histogram | null
  arrivals?: { due?: Record<string, unknown> | unknown[] | null; sent?: Record<string, unknown> | unknown[] | null } | null
  client: {
    over_s?: number | null
    cpu_s?: number | null
    thread?: Record<string, unknown> | unknown[] | null
    threads?: Record<string, unknown> | unknown[] | null
    machine?: Record<string, unknown> | unknown[] | null
    rss_mb?: number | null
    waiting_bytes?: number | null
    loop_delay_ms_p99?: number | null
    stopped_ms?: number | null
    gc_s?: number | null
    gc_over_s?: number | null
    gc_ms_max?: number | null
    cpu_pct?: number | null
    thread_cpu_pct?: number | null
    busy_pct?: number | null
    machine_busy_pct?: number | null
  } | null
  reconnects?: { asked?: number | null; missed?: number | null; renewed?: number | null; connect_us?: Histogram | null } | null
  replies?: { counts?: Record<string, unknown> | unknown[] | null; numbers?: Record<string, unknown> | unknown[] | null } | null
  cache?: {
    hits?: number | null
    misses?: number | null
    fills?: number | null
    coalesced?: number | null
    invalidated?: number | null
    at_once?: number | null
    stampede?: number | null
    late?: Record<string, unknown> | unknown[] | null
    source?: Record<string, unknown> | unknown[] | null
    moments?: Record<string, unknown> | unknown[] | null
    over_s?: number | null
    deciles?: Record<string, unknown> | unknown[] | null
  } | null
  hit_us?: Histogram | null
  miss_us?: Histogram | null
  stale_reads?: { compared?: number | null; stale?: number | null; age_us?: Histogram | null } | null
  fetches?: { count?: number | null; failed?: number | null; overrun?: number | null; items?: number | null; values?: number | null; nils?: number | null; bytes?: number | null; duplicates?: number | null } | null
  duration_us?: Histogram | null
  ids_us?: Histogram | null
  values_us?: Histogram | null
  freshness_us?: Histogram | null
  future?: { fetches?: number | null; max_ms?: number | null } | null
  numbers?: Record<string, unknown> | unknown[] | null
  reading?: { numbers?: Record<string, unknown> | unknown[] | null; failed_by?: Record<string, unknown> | unknown[] | null; sizes?: Record<string, unknown> | unknown[] | null; over_s?: number | null } | null
  replication_us?: Histogram | null
  verify?: {
    checked?: number | null
    missing?: number | null
    expired?: number | null
    lagging?: number | null
    stale?: number | null
    corrupt?: number | null
    unexpected?: number | null
    unjudged?: number | null
  } | null
  jobs?: { taken?: number | null; done?: number | null; duplicates?: number | null; foreign?: number | null; reclaimed?: number | null } | null
  waiting_us?: Histogram | null
  work_us?: Histogram | null
  take_us?: Histogram | null
  confirm_us?: Histogram | null
  ahead?: { jobs?: number | null; max_us?: number | null } | null
  backlog?: number | null
  between?: number | null
  queue_bytes?: number | null
  nodes: { address: string; role?: string; gap?: string; commands?: Record<string, { calls: number; usec: number }> }[]
  items_per_s?: number | null
  run: string
  epoch_ms: number
}

/** A line of events.ndjson. */
export interface RunEvent {
  run: string
  epoch_ms: number
  at_ms: number
  kind: string
  text: string
}

// end of results

export type ProgressEvent =
  | { type: 'message'; text: string }
  | { type: 'warning'; code: string; message: string }
  | ({ type: 'event' } & RunEvent)
  | ({ type: 'second' } & Second)

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
