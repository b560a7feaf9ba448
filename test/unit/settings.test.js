import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import dotenv from 'dotenv'
import { commandNamed } from '../../lib/cli/commands.js'
import { helpText } from '../../lib/options/help.js'
import { loadDotenv, readSettings } from '../../lib/options/read-settings.js'
import { VALUE_TYPES } from '../../lib/options/values.js'
import { isStrategy } from '../../lib/workloads/index.js'
import { OPTIONS, optionsOf, typedName } from '../../settings.js'
import { ownFolder } from '../helpers/programs.js'
import { rowsOf } from '../helpers/table.js'

/** @param {string} line @param {Partial<Parameters<typeof readSettings>[0]>} [more] @returns {any} */
const readBy = (line, more) =>
  readSettings({ program: 'producer', argv: line.split(' ').filter(Boolean), env: {}, ...more })

/** @param {string} line the command line, split at blanks @param {NodeJS.ProcessEnv} [env] @param {string} [dotenvText] */
function read(line, env = {}, dotenvText = '') {
  const settings = readBy(line, { env, dotenvText })
  assert.ok('given' in settings)
  return settings
}

/** @param {string} line */
function readConsumer(line) {
  const settings = readBy(line, { program: 'consumer' })
  assert.ok('given' in settings)
  return settings
}

/** @param {() => unknown} action @returns {string} */
function sentence(action) {
  try {
    action()
  } catch (error) {
    assert.ok(error instanceof Error)
    assert.equal(error.name, 'OptionError')
    assert.equal(/** @type {any} */ (error).exitCode, 2)
    assert.doesNotMatch(error.message, /\n/)
    return error.message
  }
  return assert.fail('no error')
}

/** What is said of a line that is refused. @param {Parameters<typeof read>} line */
const refusal = (...line) => sentence(() => read(...line))

test('defaults', () => {
  const { given, givenBy, cautions, ...settings } = read('')
  assert.deepEqual(givenBy, {})
  assert.deepEqual(cautions, [])
  const all = (/** @type {string} */ keys, /** @type {unknown} */ value) =>
    Object.fromEntries((keys.match(/\w+/g) ?? []).map((key) => [key, value]))
  const unset = `
    maxMembers maxBehindMs counters maxQueue delayMs loseEvery searchTimeoutMs requests queryTimeoutMs
    updateRateHz connections pipeline reconnectHz order shift churn url host port sentinel
    sentinelPassword username password passwordFile iam caFile certFile keyFile durationMs intervals rate
    rates control run dashboard metrics awsRegion replicationGroup cacheClusters serverBin
    optionsFile missConcurrency maxmemoryBytes policy
  `
  const off = `
    stamp once snapshot cluster askPassword tls tlsInsecure partial stagger stopAll cloudwatch json
    quiet verbose dryRun coalesce
  `
  assert.deepEqual(settings, {
    ...all(unset, undefined),
    ...all(off, false),
    ...{ quantity: 10_000, periodMs: 1000, chunks: 1, totalAgents: 1, agent: 'auto', threads: 1 },
    ...{ strategy: 'sorted-set', script: 'store-items', sortedSets: 1, placement: 'plain' },
    ...{ extraSortedSets: 0, ttlS: 3, ttlLeastS: null, valueBytes: 128, valueSizes: null },
    ...{ payload: 'random', fill: 'none', partitions: 1, ids: 'hex', falsePositives: 0.01 },
    ...{ structure: 'zset', whenFull: 'refuse', bundleSize: 1000, selectivity: 0.01, queries: 100 },
    ...{ sortBy: 'created', pageSize: 10, pageOffset: 0, scanCount: 1000, indexWhen: 'after' },
    ...{ indexes: 1, updateWriters: 0, ratio: [1, 10], arrivals: 'constant', windowBytes: 512_000 },
    ...{ wait: '0', reads: 'master' },
    ...{ warmUpMs: 0, idleCost: 'auto', db: 0, pacing: 'open', driver: 'socket' },
    ...{ driverOptions: [], prefix: '', seed: 1, joinWithinMs: 120_000, outDir: 'results' },
    ...{ report: true, thresholds: [], log: 'text', logLevel: 'info', serverConfig: [] },
    ...{ shards: 3, replicas: 1, allow: [], missTime: '0ms', batch: 10 },
    ...{ guard: { evicted: 0, memoryPct: 90, lagBytes: 256_000_000 } },
  })
  assert.deepEqual(new Set(Object.values(given)), new Set(['default']))
  assert.ok(Object.isFrozen(read('')) && Object.isFrozen(given) && Object.isFrozen(read('-a 1-2 -t 2').agent))
})

/** Cases between bars, a setting and its value each; one without a name has that of the case before it. @param {string} text */
const settingsIn = (text) => {
  let key = ''
  return text
    .trim()
    .split(/\n| \| /)
    .map((cell) => {
      const [, named, line, value] = cell.match(/^(?:(\w+): )?(.*) -> (.*)$/) ?? []
      key = named ?? key
      const isJson = /^(true|false|null|["\d[{].*)$/.test(value)
      return { line, key, value: isJson ? JSON.parse(value) : value === 'undefined' ? undefined : value }
    })
}
const good = settingsIn(`
strategy: --model docs/examples/session-store.yaml -> session-store | --command SADD\ts\t{n} --command GET\tt:{n} -> own-sadd-get
strategy: --actual-value -> actual-value | --ws -> script-batch | --sk -> script-item | --sl -> list | --slh -> list-hll
strategy: --slh --sl -> list-hll | --sl --strategy list -> list | --ss -> set | --strategy hash-ttl -> hash-ttl
quantity: -q 300k -> 300000 | --quantity=1_000 -> 1000 | -q 1.5M -> 1500000 | --strategy lookup-get --keys 10M -> 10000000
quantity: --strategy lookup-get --items 5 -> 5 | --strategy lookup-get -> 100000 | --rate 300k -> 300000 | --items 5 -> 5
quantity: -q=5 -> 5 | -q5 -> 5 | --strategy queue-stream -q 5000 -> 5000 | --strategy queue-stream -> 1000
quantity: --strategy queue-list --rate 250 -> 250
allow: --allow foreign-keys -> ["foreign-keys"] | --allow memory,replica -> ["memory","replica"] | --allow clock -> ["clock"]
allow: --allow scripts -> ["scripts"] | --allow none -> []
guard: --guard off -> {"evicted":null,"memoryPct":null,"lagBytes":null}
guard: --guard lag>64MB -> {"evicted":null,"memoryPct":null,"lagBytes":64000000}
guard: --guard memory>80.5%,evicted>1k -> {"evicted":1000,"memoryPct":80.5,"lagBytes":null}
port: --host h --sentinel m -> 26379 | --url redis://h --sentinel m -> 26379 | --url redis://h:7 --sentinel m -> 7
port: --url redis://h -> 6379 | --host h --sentinel m --port 7 -> 7 | --uri redis://h:7 -> 7 | --host a.example -> 6379
askPassword: --host h --ask-password -> true | --host h --askpass -> true
tlsInsecure: --host h --tls --tls-insecure -> true | --host h --tls --insecure -> true
periodMs: -p 1500 -> 1500 | -p 2s -> 2000 | --rate 300k -> 1000 | --rate 300k --items 30k -> 100 | --rate 300k -q 600k -> 2000
periodMs: --period-in-millis 250 -> 250
agent: -t 8 -a 3 -> [3] | -t 8 -a 2-4 -> [2,3,4] | -t 8 -a all -> all | --strategy queue-list -t 4 -a 2 -> [2]
sortedSets: --ns 10 -> 10 | --sets 4 --ns 4 -> 4
placement: --ns 10 --same-slot -> same-slot | --spread --ns 3 -> spread | --spread --no-same-slot -> spread
placement: --sets 4 --with placement=spread -> spread | --sets 4 --with placement=hash -> plain
placement: --sets 4 --with placement=same-slot --same-slot -> same-slot
ttlS: --ttl 10m -> 600 | --ttl 5 -> 5 | --ttl 1m-10m -> 600 | --ttl 5-5 -> 5
valueBytes: --value-size 10kB -> 10000 | --value-size 1KiB -> 1024 | --data-size 1kB -> 1000
durationMs: --duration 60 -> 60000 | --duration 60s -> 60000 | --duration 0.5 -> 500 | --duration 5m -> 300000
durationMs: --rate 10k@30s,20k@1m -> 90000 | --test-time 1m30s -> 90000 | --duration 1h2m3s4ms -> 3723004
warmUpMs: --duration 1h --warm-up 5 -> 5000 | --duration 1h --warm-up auto -> auto | --rate 10k..100k/5m -> 0
warmUpMs: --duration 8s -> auto | --duration 8s --strategy lookup-get -> auto | --duration 8s --warm-up 0 -> 0
warmUpMs: --duration 7999ms -> 0 | -q 5 -> 0 | -p 4s --intervals 2 -> auto | -p 4s --intervals 1 -> 0
warmUpMs: --rate max --duration 1m -> auto | --duration 1m --once -> 0
warmUpMs: --duration 1m --control redis://h --host i --run r -> auto | --duration 1m --strategy queue-list -> 0
rate: --rate 10k@30s,20k@1m -> 16666.6666667 | --rate 10k..100k/5m -> 55000 | --rate max -> max
rate: --strategy lookup-get --rate 20k -> 20000
pacing: --rate 300k -> smooth | --items 5 -> open | --pacing closed -> closed
username: redis://u:p@h:7 -> u | --host h --user u --pass p -> u | --host h --username u --password p -> u
password: --host h --pass p -> p | --host h --password p-w -> p-w
caFile: --host h --tls --cacert a.pem -> a.pem | --host h --tls --ca a.pem -> a.pem
fill: --strategy lookup-get --fill -> keys | --strategy lookup-get --fill populate -> populate
fill: --fill=populate --strategy lookup-get -> populate | --strategy lookup-get --no-fill -> none
verbose: --verbose -> true | -v -> true
order: --popularity zipf:0.99 -> zipf:0.99 | --strategy lookup-get --order sequential -> sequential
order: --strategy lookup-get --order zipf:0.99 -> zipf:0.99 | --strategy lookup-get --order hot:10%:90% -> hot:10%:90%
arrivals: --arrivals poisson,daily:10m --duration 60 -> poisson,daily:10m
arrivals: --strategy queue-list -q 50 --arrivals burst:5x:1s/10s -> burst:5x:1s/10s
arrivals: --strategy lookup-get --rate 5 --arrivals poisson -> poisson
reconnectHz: --strategy lookup-mix --reconnects 50 -> 50 | --strategy list --reconnects 5 --connections 4 -> 5
with: --with page-size=5 --strategy query-scan -> undefined
pageSize: --strategy query-scan --with page-size=5,sort=rating,queries=9 -> 5 | --strategy query-scan --with queries=9 --with page-size=6 -> 6
sortBy: --strategy query-scan --with page-size=5,sort=rating -> rating | coalesce: --strategy cache-aside --with coalesce,miss-time=1ms -> true | --strategy cache-aside --with coalesce=false -> false
delayMs: --strategy queue-zset --with delay=5s -> 5000 | --strategy counter-script --with delay=500us -> 0.5
reads:  -> master | reads: --strategy lookup-mix --read-from nearest -> nearest | reads: --strategy cache-aside --read-from replica -> replica
wait: --wait 1 -> "1" | --strategy lookup-mix --wait aof:1 -> aof:1 | --strategy queue-list --wait aof -> aof
connections: --strategy lookup-get --connections 2 -> 2 | --connections 50 --pipeline 10 -> 50
threads: --threads 4 -> 4 | --threads auto -> auto
driver: --driver ioredis -> ioredis | --driver valkey-glide -> valkey-glide
prefix: --prefix a: -> a: | --prefix= -> ""
report: --no-report -> false | --report -> true
thresholds: --threshold latency.intended.p99<20ms -> ["latency.intended.p99<20ms"]
thresholds: --threshold items.failed<=0 --threshold rate.achieved>9k -> ["items.failed<=0","rate.achieved>9k"]
thresholds: --threshold items.failed<=0,rate.achieved>9k -> ["items.failed<=0","rate.achieved>9k"] | --threshold none -> []
metrics: --metrics 9100 -> {"host":"127.0.0.1","port":9100} | --metrics 0.0.0.0:9100 -> {"host":"0.0.0.0","port":9100}
metrics: --metrics [::]:9100 -> {"host":"::","port":9100}
dashboard: --dashboard -> {"host":"127.0.0.1","port":0} | --dashboard 8080 -> {"host":"127.0.0.1","port":8080}
dashboard: --dashboard=0.0.0.0:8080 -> {"host":"0.0.0.0","port":8080} | --dashboard -q 20 -> {"host":"127.0.0.1","port":0}
dashboard: --no-dashboard -> null
json: --json -> true | --json=true -> true | --json=false -> false
host: --host [::1] -> ::1 | --port 7000 -> "127.0.0.1"
sentinel: --host h --sentinel my-master.1 -> my-master.1 | sentinelPassword: --host h --sentinel m --sentinel-password s -> s
passwordFile: --host h --password-file /run/secret -> /run/secret | iam: --host h --tls --iam me -> me
iam: --host h --tls --iam me@items -> me@items | chunks: -c 10 -> 10
script: --ws --script return-zero -> return-zero | cloudwatch: --host h --cloudwatch -> true
awsRegion: --host h --cloudwatch --region ap-southeast-2 -> ap-southeast-2
replicationGroup: --host h --cloudwatch --replication-group items -> items
cacheClusters: --host h --cloudwatch --cache-clusters a-001,a-002 -> a-001,a-002 | extraSortedSets: --with extra-sorted-sets=2 -> 2
payload: --payload zero -> zero | stamp: --stamp -> true | once: --once --actual-value -> true
maxMembers: --max-members 0 -> 0 | maxBehindMs: --max-behind 250ms -> 250 | windowBytes: --window 1MB -> 1000000
idleCost: --idle-cost always -> always | intervals: --intervals 3 -> 3 | tls: -q 5 rediss://h -> true
dryRun: --dry-run -> true | snapshot: --strategy membership-set --with snapshot -> true
partitions: --strategy membership-set --with partitions=4096 -> 4096 | ids: --strategy membership-hash --with ids=binary -> binary
falsePositives: --strategy membership-bloom --with false-positives=1e-6 -> 0.000001
shift: --popularity hot:10%:90% --shift 1%/s -> "1%/s" | churn: --popularity recent:5% --churn 10%/h -> "10%/h"
ttlLeastS: --strategy lookup-mix --ttl 30s-90s -> 30 | --ttl 1m-10m -> 60 | --ttl 5-5 -> null | maxQueue: --strategy queue-list --with max-queue=10k -> 10000
whenFull: --strategy queue-list --with max-queue=10k,when-full=wait -> wait | counters: --strategy counter-loop --with counters=5 -> 5
structure: --strategy counter-loop --with structure=hash -> hash | bundleSize: --strategy counter-script --with bundle-size=10k -> 10000
loseEvery: --strategy counter-script --with delay=0.1ms,lose-every=2 -> 2
selectivity: --strategy query-scan --with selectivity=0.0001 -> 0.0001 | queries: --strategy query-scan --with queries=5 -> 5
sortBy: --strategy query-client --with sort=rating-desc -> rating-desc | pageSize: --strategy query-scan --with page-size=50 -> 50
pageOffset: --strategy query-scan --with page-offset=1k -> 1000 | scanCount: --strategy query-scan-chunked --with scan-count=100 -> 100
indexWhen: --strategy query-index --with index-when=before -> before | indexes: --strategy query-search --with indexes=3 -> 3
searchTimeoutMs: --strategy query-search-json --with search-timeout=0 -> 0 | requests: --strategy query-scan --with requests=20 -> 20
queryTimeoutMs: --strategy query-scan --with query-timeout=500ms -> 500
updateWriters: --strategy query-scan --with update-writers=10 -> 10
updateRateHz: --strategy query-scan --with update-writers=10,update-rate=500 -> 500
missTime: --strategy cache-aside --with miss-time=2ms-20ms -> "2ms-20ms" | --strategy cache-aside --with miss-time=exp:5ms -> exp:5ms
missConcurrency: --strategy cache-mget --with miss-concurrency=8 -> 8 | coalesce: --strategy cache-aside --with coalesce -> true
batch: --strategy cache-mget --with batch=20 -> 20 | maxmemoryBytes: --strategy cache-aside --with maxmemory=50MB -> 50000000
policy: --strategy cache-aside --with maxmemory=1GB,policy=allkeys-lfu -> allkeys-lfu
pipeline: --strategy lookup-get --connections 2 --pipeline 500 -> 500 | ratio: --strategy lookup-mix --with ratio=3:7 -> [3,7]
driverOptions: --driver iovalkey --driver-option inFlight=100,enableAutoPipelining=false -> [["inFlight","100"],["enableAutoPipelining","false"]]
seed: --seed 0 -> 0 | run: --run first.1 -> first.1 | outDir: --out /var/x -> /var/x
control: --host h --run r --control rediss://c?iam=me@items -> {"url":"rediss://c","host":"c","tls":true,"iam":"me@items"}
control: --host h --run r --control rediss://me:p%40ss@c:6380/2 -> {"url":"rediss://c:6380/2","host":"c","port":6380,"username":"me","password":"p@ss","db":2,"tls":true}
joinWithinMs: --host h --run r --control redis://c --join-within 90s -> 90000
partial: --host h --run r --control redis://c --partial -> true
stagger: --host h --run r --control redis://c --stagger -> true | stopAll: --host h --run r --control redis://c --all -> true
quiet: --quiet -> true | logLevel: --log silent -> silent | --log json,warn -> warn | log: --log json -> json | --log debug -> text | --log warn,json -> json | cluster: -q 300000 -t 8 --cluster -> true | --cm -> true | db: --host h --db 2 -> 2
keyFile: --host h --tls --cert c.pem --key k.pem -> k.pem | serverBin: --server-bin /opt/valkey-server -> /opt/valkey-server
serverConfig: --server-config hz=50 --server-config loadmodule=/a/b.so -> [["hz","50"],["loadmodule","/a/b.so"]]
shards: --cluster --shards 1 -> 1 | replicas: --cluster --replicas 0 -> 0
`)
const goodOfConsumer = settingsIn(`
mode: --mode script -> script | -s script -> script | --script-mode manual -> manual
mode: --read-with mget --mode manual -> manual | --read-with script -> script
mode: --read-with script -s script -> script
fetch: --read-with get -> get | --read-with mget -> mget
values:  -> true | --no-values -> false | --values -> true
fetchHz: --fetch-rate 50 -> 50 | --fetch-rate 10@1s,30@3s -> 25
durationMs: --fetch-rate 10@1s,30@3s -> 4000 | --fetch-rate 10..100/5m -> 300000
processes: --workers 8 --with processes=2 -> 2 | --workers 8 -> undefined
work: --work 500us -> {"kind":"cpu","us":500} | --work cpu:2ms -> {"kind":"cpu","us":2000}
work: --work sleep:1ms -> {"kind":"sleep","us":1000} |  -> {"kind":"cpu","us":0}
limit: --limit 1k -> 1000 | reads: --read-from any -> any | reads: --read-from primary -> master | reads: --read-from nearest -> nearest | consumers: --consumers 32 -> 32 | threads: --consumers 2 --threads auto -> auto | verify: --verify -> true
count: --count -> true | workers: --strategy queue-stream --workers 64 -> 64 | take: --take 50 -> 50
outputs: --with outputs=4 -> 4 | outputWork: --with outputs=4,output-work=sleep:1ms -> {"kind":"sleep","us":1000}
reconnectHz: --reconnects 20 -> 20 | confirm: --strategy queue-list --with confirm -> true | reclaimMs: --with reclaim=250ms -> 250
host: --url redis://h --cluster -> h | cluster: --url redis://h --cluster -> true
drain: --with drain -> true | periodMs: -p 250 -> 250 | strategy: --slh --limit 5 -> list-hll
`)
const goodOfReshard = settingsIn(`
waitMs:  -> 3600000 | --wait 90 -> 90000
slots: --slots 0-1499,3000 -> "0-1499,3000" | to: --to 3 -> "3" | shard: --shard 127.0.0.1:7000 -> "127.0.0.1:7000"
servers: --servers 10.0.0.1:7000,[::1]:7001 -> "10.0.0.1:7000,[::1]:7001"
`)
const goodOf = /** @type {const} */ ({ producer: good, consumer: goodOfConsumer, reshard: goodOfReshard })
for (const [program, cases] of Object.entries(goodOf))
  for (const { line, key, value } of cases)
    test(`good of a ${program}: ${line}: ${key}`, () =>
      assert.deepEqual(readBy(line, { program: /** @type {keyof typeof goodOf} */ (program) })[key], value))

// A line, and how the message about it begins.
const badOfConsumer = rowsOf(`
--work sleep:900us -> --work must be none, cpu:TIME from 1us to 60s, or sleep:TIME from 1ms
--work 2h -> --work must be none
--pacing smooth -> --pacing smooth: a consumer is open or closed
--fetch-rate max -> --fetch-rate: each fetch is due at a time; give a number a second
--fetch-rate 5@ -> --fetch-rate must be 
--fetch-rate 5 --period 1s -> --fetch-rate and --period exclude each other
--ramp 1..5/10s -> unknown option --ramp: type --fetch-rate
--reads any -> unknown option --reads: type --read-from
--read-from nearest --driver ioredis -> --read-from nearest is for plain sockets, not ioredis$
--fetch mget -> unknown option --fetch: type --read-with
--fetch-rate 1..5/10s --control redis://h --host i --run r -> --fetch-rate does not go with --control
--threads 2 --control redis://h --host i --run r -> --threads does not go with --control: start more boxes
--verify --no-values -> --verify with --no-values
--mode script --no-values -> --mode script with --no-values
--sl --ns 3 -> --ns: --sl keeps no sorted set
--read-with lua -> --read-with must be one of get, mget, script, not 'lua'$
--read-with get -s script -> --read-with and --mode exclude each other$
--shards 3 -> unknown option --shards
`)
for (const [line, beginning] of badOfConsumer)
  test(`bad of a consumer: ${line}`, () => {
    const said = sentence(() => readConsumer(line))
    assert.match(said, new RegExp(`^${beginning}`))
  })

/** What is named before the arrow of each row, for each word behind it. @param {string} text */
const byName = (text) =>
  Object.fromEntries(rowsOf(text).flatMap(([value, names]) => names.split(' ').map((name) => [name, value])))
const valuesOfTypes = byName(`
3 -> integer
64kB -> bytes sizes
9s -> lifetime duration warmUp
true -> flag
1 -> agents
4 -> threads
0.1 -> share
5ms -> shortTime times
`)
const valuesOfOptions = byName(`
eu-west-1 -> region
redis://h -> url control
off -> guard
hz=50 -> server-config
inFlight=9 -> driver-option
latency.intended.p99<20ms -> threshold
9100 -> dashboard metrics
max -> rate
json -> log
1:2 -> ratio
zipf:1.2 -> popularity
1%/s -> shift churn
poisson -> arrivals
docs/examples/session-store.yaml -> model
SADD s {n} -> command
`)
const neededBy = byName(`
--ws -> script
--driver ioredis -> driver-option
--host h --run r -> control
--popularity zipf:1 -> shift
--host h -> cloudwatch password sentinel password-file ask-password db tls
--host h --cloudwatch -> region replication-group cache-clusters
--host h --password p -> username
--host h --sentinel m -> sentinel-password
--host h --tls -> tls-insecure ca iam
--host h --tls --key k -> cert
--host h --tls --cert c -> key
--duration 60s -> warm-up
`)

test('every option is read by its own name and by its variable', () => {
  const lines = [...good, ...goodOfConsumer, ...goodOfReshard].map(({ line }) => line)
  const covered = new Set(
    lines.flatMap((line) =>
      [...line.matchAll(/(?:^| )--?([a-z-]+)|(?<=--with \S*)\b([a-z][a-z-]*)(?=[=, ]|$)/g)].flat(),
    ),
  )
  for (const { name, aliases } of OPTIONS.filter((option) => option.key !== 'optionsFile'))
    assert.ok(
      [name, ...aliases].some((known) => covered.has(known)) || ['url', 'yes'].includes(name),
      `--${name} has no good example`,
    )
  for (const { name, type, key, env, choices } of optionsOf('producer')) {
    if (env === null) continue
    const value = valuesOfTypes[type] ?? valuesOfOptions[name] ?? choices?.at(-1) ?? 'h'
    assert.equal(read(neededBy[name] ?? '', { [env]: value }).given[key], 'environment', env)
  }
})

test('every default and every end of a range is a value of its type', () => {
  for (const option of OPTIONS)
    for (const text of [option.default ?? [], option.range ?? []].flat())
      assert.notEqual(VALUE_TYPES[option.type].read(text, option), undefined, `--${option.name} ${text}`)
})

// Values that are above each range, by type.
const beyond = byName(`
99999999999 -> integer
99999h -> duration lifetime shortTime warmUp
9TB -> bytes sizes
0.99 -> share
`)
test('each option refuses what is outside its range or choices, and a flag every value', () => {
  for (const program of /** @type {const} */ (['producer', 'consumer']))
    for (const option of optionsOf(program)) {
      const { type, range, choices } = option
      // Many choices are grouped.
      const listed = choices && (choices.length < 20 ? choices : choices.slice(0, 5))
      const allowed = listed ? `one of ${listed.join(', ')}` : range && `from ${range.join(' to ')}`
      const values =
        type === 'flag' || (choices && type !== 'log') ? ['!'] : range ? ['!', '-1', beyond[type]] : []
      const named = typedName(option)
      for (const value of values) {
        const said = sentence(() => readBy(`${named}=${value}`, { program }))
        if (type === 'flag') assert.equal(said, `${named} takes no value`)
        else assert.ok(said.startsWith(`${named} must be `) && said.includes(String(allowed)), said)
      }
    }
})

// Lines and what the message about each has: $1 to $3 are the options of the line in their order, $0 is its last word.
const bad = rowsOf(`
--strategy queue-list --value-size 20B -> --value-size: a job has at least 64 bytes
--strategy queue-list --value-size lognormal:p50=200B,p99=4kB -> --value-size: jobs of a queue have one size
--strategy queue-stream -q 5 --rate 7 -> exclude each other: both are jobs a second
--strategy queue-stream -q 5 -t 8 -> 5 jobs are too few for 8 writers
--strategy queue-stream -t 2 -a 3 -> number 3 is above
--with max-queue=5 -> --with max-queue is an option of queue; add --strategy queue-list
--strategy queue-stream -c 3 -> is not an option of queue-stream: see the options of queue
--strategy queue-stream --arrivals poisson --rate max -> --arrivals needs --rate with a number
--sentinel m -> --sentinel needs the address of a sentinel: --host
--host h --control redis://c -> --control needs --run, the same on every box
--run r --control redis://c -> --control needs an address, --host or --url: the boxes write to one target
--host h --run r --control rediss://c?iam=9 -> --control must be redis://[user:password@]host[:port][/db] or rediss://..., with % codes for special characters, or host:port
--host h --run r --control c:0 -> --control must be redis://[user:password@]host[:port][/db] or rediss://..., with % codes for special characters, or host:port
--host h --run r --control redis://c --strategy lookup-get -> --control: --strategy lookup-get has no writers (-t) that boxes could share; start it on each box alone, with another --seed
--strategy cache-hash --ttl 5s -> --ttl: fields of cache-hash have no lifetime; those of cache-hash-ttl have
--strategy cache-hash-ttl -> --strategy cache-hash-ttl needs --ttl: the lifetime of a field
--strategy cache-hash-ttl --ttl 5s --maxmemory 5MB --policy volatile-lru -> evicts keys with a lifetime, and those of --strategy cache-hash-ttl have none: their fields do
--partial | --stagger | --all | --join-within 5s -> $1 needs --control
--host h --sentinel m --cluster | --host h --ask-password --password-file f -> $2 and $3 exclude each other
--host h --sentinel-password s -> --sentinel-password needs --sentinel
--threshold items.faild<1 -> --threshold items.faild<1: no metric is called 'items.faild'; did you mean items.failed?
--threshold latncy.p99<20ms -> no metric is called 'latncy.p99'; did you mean latency.p99?
--threshold p99<20ms -> no metric is called 'p99'; did you mean latency.intended.p99?
--threshold cpu_us_per_item<5 -> did you mean server.cpu_us_per_item?
--threshold server.cpu_us_per_item<+5% -> only millrace diff and compare have two sides
--threshold items.failed -> must be a metric and its limit, as in 'latency.intended.p99<20ms'
--threshold items.failed<1ms -> items.failed is not measured in ms; use k, M
--dashboard=0 -> --dashboard must be a port from 1 to 65535, or an address and a port as in 0.0.0.0:9100, or nothing, not '0'
--metrics 0 -> --metrics must be a port from 1 to 65535, or an address and a port as in 0.0.0.0:9100, not '0'
--ask-password | --cloudwatch | --username u | --password p | --db 1 | --tls | --ca f -> $1 needs an address: --host or --url
--host h --password x --password-file f -> --password-file and --password exclude each other
--url redis://u:x@h --password-file f | --rate 300k --pacing closed | --sets 2 --ns 3 | --ws --sl -> $1 and $2 exclude each other
--strategy hash --ss | --slh --ss | --same-slot --spread | --duration 60 --intervals 3 | --url redis://h --host h -> $1 and $2 exclude each other
--url redis://h --port 6379 | --url redis://u@h --username v | --url redis://:p@h --password q | --url redis://h/1 --db 2 -> $1 and $2 exclude each other
--rate 10k..20k/5m --duration 5 -> $1 and $2 exclude each other
--host h --tls-insecure | --host h --ca f | --host h --cert f --key g -> $2 needs --tls (or a rediss:// address)
--host h --tls --tls-insecure --ca f -> --ca and --tls-insecure exclude each other: one requires the check that the other turns off
-q | -q --json -> --quantity needs a value
--prefix -n5 -> --prefix needs a value; one that begins with a dash is given as --prefix=-...
--host= | --file= -> $1 needs a value
-q 5 --quantity 6 -> --quantity is given twice, as -q and --quantity
--keys 10 --items 20 -> is given twice, as --keys and --items
--ratio 1:10 -> --ratio is an option of lookup, cache; add --strategy lookup-mix
--with ratio=1:10 -> --with ratio is an option of lookup, cache; add --strategy lookup-mix
redis://h redis://g | --url redis://h redis://g -> --url is given twice
--cluster --cm | --tls --no-tls -> $1 is given twice
--json yes -> unexpected word on the command line after --json (not shown
--duration 60x -> a plain number is s), not '60x'
--duration constructor | --value-size 1.5B | -a 1-999999999 | --seed 4294967296 -> not '$0'
--ttl 500ms -> --ttl must be whole seconds from 1s to 8760h (250ms, 60s, 1m30s, 1h; a plain number is s), or a range such as 60s-600s, not '500ms'
--ttl 600s-60s | --ttl 0s-5s | --ttl 1s-2s-3s | --ttl 1s- -> or a range such as 60s-600s, not '$0'
--value-size 0 -> --value-size must be a size from 1B to 512MB, 200B-4kB, lognormal:p50=200B,p99=4kB, or histogram:FILE, not '0'
--rate abc -> --rate must be max or a number of operations a second, such as 20000 or 20k, or 10k@30s,20k@1m, or 10k..100k/5m (2s or more), not 'abc'
--threads 0 -> --threads must be auto, or a whole number from 1 to 64, not '0'
--connections 5 --driver ioredis -> --connections is for plain sockets: ioredis keeps one connection
--read-from replica -> --read-from replica: writers of sorted-set read nothing; give it to millrace read
--read-from any --strategy lookup-set -> --read-from any: lookup-set has no reads that a replica may answer
--read-from master --strategy lookup-get -> --read-from 'master' is unknown; for master take primary
--wait 1 --driver ioredis -> --wait is for plain sockets, not ioredis
--wait 6 -> --wait must be 0 to 5 replicas, aof, or aof:REPLICAS
--wait 1 --strategy cache-aside -> --wait: cache-aside is a cache, which loses nothing that its source has not
--wait 1 --strategy counter-pipeline -> --wait: counter-pipeline sends its bundles without waiting for each
--rate 300k --items 100 -> --rate: 100 items are written in 0.3333333333333333 ms; it must be 1 ms or more
--rate 300k -p 500 -> --rate and --period exclude each other
--rate 300k -c 5 -> --rate and --chunks exclude each other
--rate 5 -t 8 -> --items: 5 items are too few for 8 writers
--items 5 -q 6 -> --items and --quantity exclude each other
--sl --with placement=spread -> --with placement=spread: --sl keeps no sorted set
--uri http://h -> --url must be redis://
--host h --cacert f -> --ca needs --tls
--duration 1m30 | --duration 30s1m -> $1 must be a time
--file /nowhere.yaml -> --file: cannot read /nowhere.yaml: there is no such file
-h cache -p 6379 -> -h prints the help; give the server with --host
redis://h --host g -> --url and --host exclude each other
foo | -- -q -> unexpected word on the command line (not shown: it may be a password)
./nofile.yaml | -q 5 ./nofile.yaml -> cannot read ./nofile.yaml: there is no such file
ab/cd -> unexpected word on the command line (not shown: it may be a password)
-a 0 -> --agent must be a number, a range such as 2-4, all or auto, not '0'
-a 4-2 -t 8 -> not '4-2'
--prefix {x} -> --prefix must be up to 100 characters without blanks and braces
--run ../up -> --run must be letters, digits, dots and dashes, at most 100, not '../up'
-seed=5 -> unknown option -seed; did you mean --seed?
-cert=x -> unknown option -cert; did you mean --cert?
--no-quantity | --wibble | -x -> unknown option $1
--quantty 5 -> unknown option --quantty; did you mean --quantity?
-cluster -> unknown option -cluster; did you mean --cluster?
-zy -> unknown option -z
--__proto__ 1 -> unknown option
--dashboard abc -> unexpected word on the command line after --dashboard, which takes a port from 1 to 65535, or an address and a port as in 0.0.0.0:9100, or nothing (not shown: it may be a password)
-q 5 6 -> unexpected word on the command line after -q (not shown: it may be a password)
--url http://h -> --url must be redis://[user:password@]host[:port][/db]
--url redis:// | --url redis://h:0 | --url redis://h/x | --url redis://h?db=2 | --url redis://%zz@h -> $1 must be
--script return-zero -> --script return-zero needs --ws
--host h --region eu-west-1 -> --region needs --cloudwatch
--host h --cloudwatch --region Ireland -> --region must be a region such as eu-west-1, not 'Ireland'
--host h --cloudwatch --replication-group a --cache-clusters b -> --replication-group and --cache-clusters exclude each other
--url rediss://h --no-tls -> --url and --tls exclude each other
-q 3 -t 8 -> --quantity: 3 items are too few for 8 writers (--total-agents)
-q 80 -t 8 -c 11 -> --chunks: 11 chunks are more than the 10 items of a writer
--stamp --actual-value -> --stamp with --actual-value: every tick would make new members
--stamp --strategy actual-value -> --stamp with --strategy actual-value: every tick
--stamp --value-size 12 -> --stamp takes 13 bytes, --value-size leaves 12
--payload zero --actual-value -> --payload zero with --actual-value: all members would be equal
-q 4097 --actual-value --value-size 2 -> --value-size: values of 2 bytes (--payload random) tell only 4096 of 4097
-q 17M --actual-value --payload sparse -> values of 128 bytes (--payload sparse) tell only 16777216 of 17000000
--ws --with extra-sorted-sets=1 | --sk --with extra-sorted-sets=1 -> --with extra-sorted-sets: the script of $1 writes no further sets
--with placement=spread --same-slot -> --with placement and --same-slot exclude each other
--strategy query-zset --page-size 50 --with page-size=50 | --strategy query-zset --page-size 5 --page-size=50 -> --page-size is given twice
--confirm -> unknown option --confirm
--coalesce=yes -> --coalesce takes no value
--value-size 4kB-200B | --value-size 1B-600MB | --value-size 0-5B -> --value-size must be a size
--with page-sise=5 -> --with has no setting 'page-sise'; did you mean page-size?
--strategy queue-list --with nonsense=5 -> --with has no setting 'nonsense'; it takes max-queue, when-full
--strategy queue-list --with page-size=5 -> --with page-size is not an option of queue-list: --with takes max-queue, when-full
--with page-size -> --with page-size needs a value: type --with page-size=N
--with page-size=5,page-size=6 | --with page-size=5 --with page-size=6 -> --with page-size is given twice
--with coalesce=yes -> --with coalesce takes no value
--with page-size=0 -> --with page-size must be a whole number from 1 to 1000, not '0'
--with -> --with needs a value
--rate max --pacing smooth -> --rate max with --pacing smooth: at the highest rate
--rate max --pacing closed -> --rate max with --pacing closed: at the highest rate
--warm-up 60 --duration 60 -> --warm-up must be shorter than --duration
--warm-up auto --once -> --warm-up auto does not go with --once: give a time
--warm-up soon -> --warm-up must be auto, or a time
--rate 10k@0.1s -> --rate must be max or a number of operations a second
--rate 10k..20k/1s -> --rate must be max or a number of operations a second, such as 20000 or 20k, or 10k@30s,20k@1m, or 10k..100k/5m (2s or more)
--ramp 10k..20k/5m -> unknown option --ramp: type --rate
--log debug,warn | --log xml -> --log must be text or json, one of trace, debug, info, warn, error, fatal, silent, or both with a comma, not '$0'
--rate 10k@3s,20k@3s --once | --rate 10k@3s,20k@3s --arrivals poisson -> $1 does not go with $2
--rate 10k..20k/5m --strategy queue-list -> --rate: queue-list is played at one rate
--warm-up 3 --intervals 3 -> --warm-up must be shorter than the 3000 ms of --intervals
--host h --cluster --db 1 -> --db: database 1 with --cluster, which has only 0
--url redis://h/1 --cluster -> --url: database 1 with --cluster, which has only 0
--host h --server-bin f -> --server-bin is for local servers, but --host is an address
--port 7000 --cluster --shards 3 | --url redis://h --cluster --replicas 1 -> $3 is for local servers, but $1 is an address
--shards 3 | --replicas 0 -> $1 needs --cluster
--guard on | --guard memory>101% | --guard memory>80 -> $1 must be limits such as evicted>0,memory>90%,lag>256MB (a number, a part below 100 %, a size), or off, not '$0'
--guard lag>1,lag>2 | --guard evicted>0,off -> $1 must be limits such as evicted>0,memory>90%,lag>256MB (a number, a part below 100 %, a size), or off, not '$0'
--allow all | --allow none,memory -> $1 must be one of foreign-keys, replica, memory, clock, named-hosts, flush, scripts, none, or several with commas, not '$0'
--allow memory,memory -> $1 must be one of foreign-keys, replica, memory, clock, named-hosts, flush, scripts, none, or several with commas, not '$0'
-q abc | -q 0 | -q -5 | -q 1e3 | -q 1.5 | -q 101M | -q 0x10 -> --quantity must be a whole number from 1 to 100M, not '$0'
--strategy zset -> --strategy 'zset' is unknown; for zset take sorted-set (or membership-zset, queue-zset). It must be one of sorted-set,
--strategy hset -> for hset take hash
--strategy string -> for string take actual-value (or lookup-get, lookup-set).
--strategy nonsense -> hash-ttl, stream, lookup-{get, set, mix}, cache-{aside, hash, hash-ttl, mget}, membership-{flat,
-p 27110 --rate 1k -> --rate and --period exclude each other (-p is the period; the port is --port 27110)
--host 10.0.0.1:7000 --port 7001 -> --host and --port name two ports
--host 10.0.0.1:0 | --host 10.0.0.1:65536 | --host redis://h -> --host must be a name or an address, with or without :port, not '$0'
--threshold latency.p99<20 -> --threshold latency.p99<20: the limit has no unit: write latency.p99<20ms
--strategy lists -> --strategy 'lists' is unknown; did you mean list? It must be one of sorted-set,
`).flatMap(([lines, message]) =>
  lines.split(' | ').map((line) => {
    const known = [
      line.split(' ').at(-1),
      ...[...line.matchAll(/(?:^| )(--?[a-z][a-z-]*)/g)].map(([, name]) => name),
    ]
    return [line, message.replace(/\$(\d)/g, (_, at) => String(known[at]))]
  }),
)
for (const strategy of ['list', 'list-hll', 'set', 'stream', 'hash-ttl'])
  for (const option of ['--spread', '--same-slot', '--ns 2', '--with extra-sorted-sets=1'])
    bad.push([
      `--strategy ${strategy} ${option}`,
      `${option.replace(/ 2|=1/, '')}: --strategy ${strategy} keeps no sorted set`,
    ])
for (const [line, expected] of bad)
  test(`bad: ${line}`, () => {
    const said = refusal(line)
    assert.ok(said.includes(expected), said)
  })

test('command line beats environment beats .env beats default', () => {
  const env = { MILLRACE_QUANTITY: '200', MILLRACE_CHUNKS: '2' }
  const dotenvText = 'MILLRACE_QUANTITY=300\nMILLRACE_CHUNKS=3\nMILLRACE_TTL=30s # half a minute\n'
  const { quantity, chunks, ttlS, periodMs, given } = read('-q 100', env, dotenvText)
  assert.deepEqual([quantity, chunks, ttlS, periodMs], [100, 2, 30, 1000])
  const found = [given.quantity, given.chunks, given.ttlS, given.periodMs]
  assert.deepEqual(found, ['command line', 'environment', '.env', 'default'])
})

// What is set, by a line, by variables and by .env, and what the settings then have; null: nothing.
const sources = rowsOf(`
a typed strategy beats another of the environment -> --sl -> SORTED_SET_CONTAINS_ACTUAL_VALUE=true ->  -> {"strategy":"list"}
a flag of the environment is switched off -> --no-actual-value -> SORTED_SET_CONTAINS_ACTUAL_VALUE=1 ->  -> {"strategy":"sorted-set"}
a variable may say no ->  -> REDIS_CLUSTER=no -> REDIS_CLUSTER=yes -> {"cluster":false}
an empty variable hides that of .env ->  -> REDIS_HOST= -> REDIS_HOST=h -> {"host":null}
--spread beats the same slot of .env -> --spread ->  -> MILLRACE_SAME_SLOT=true -> {"placement":"spread"}
--intervals replaces a duration -> --intervals 3 -> MILLRACE_DURATION=60 ->  -> {"intervals":3,"durationMs":null}
a typed host replaces the whole URL -> --host h -> REDIS_URL=rediss://u:p@g:7000/1 ->  -> {"host":"h","port":6379,"password":null,"tls":false,"db":0,"url":null}
a variable may have host and port ->  -> REDIS_HOST=h:7000 ->  -> {"host":"h","port":7000}
so may .env ->  ->  -> REDIS_HOST=[::1]:7000 -> {"host":"::1","port":7000}
a typed port replaces that of a variable -> --port 7001 -> REDIS_HOST=h:7000 ->  -> {"host":"h","port":7001}
a typed host comes without the port of a variable -> --host g -> REDIS_HOST=h:7000 ->  -> {"host":"g","port":6379}
a typed URL replaces a host with its port -> --url redis://g -> REDIS_HOST=h:7000 ->  -> {"host":"g","port":6379}
--url may be host and port -> --url g:7000 ->  ->  -> {"host":"g","port":7000,"url":"redis://g:7000"}
a typed URL replaces host and port -> --url redis://g -> REDIS_HOST=h REDIS_PORT=1 ->  -> {"host":"g","port":6379}
a password may come from the environment -> --url redis://u@g -> REDIS_PASSWORD=p ->  -> {"username":"u","password":"p"}
a typed database beats that of the URL -> --db 3 -> REDIS_URL=redis://g/2 ->  -> {"host":"g","db":3}
variables of the embedded servers wait for their turn -> --host h -> MILLRACE_SERVER_BIN=x -> MILLRACE_SHARDS=5 -> {"host":"h","shards":5}
other variables do not matter ->  -> WIBBLE=1 MILLRACE_NO_DOTENV=1 MILLRACE_PEERS=/x -> WOBBLE=1 -> {"quantity":10000}
`)
for (const [name, line, variables, dotenvText, expected] of sources)
  test(name, () => {
    const settings = read(line, dotenv.parse(variables.replaceAll(' ', '\n')), dotenvText)
    for (const [key, value] of Object.entries(JSON.parse(expected)))
      assert.deepEqual(settings[key] ?? null, value, key)
  })

test('a bad variable is named', () => {
  assert.equal(refusal('', { MILLRACE_TTL: 'x' }).split(' must')[0], 'MILLRACE_TTL')
  assert.equal(refusal('', { REDIS_TLS: 'maybe' }), "REDIS_TLS must be true or false, not 'maybe'")
  assert.match(refusal('', {}, 'MILLRACE_QUANTITY=many'), /^MILLRACE_QUANTITY in \.env must be/)
  const expected = 'SORTED_SET_CONTAINS_ACTUAL_VALUE and MILLRACE_WS exclude each other'
  assert.equal(refusal('', { MILLRACE_WS: '1', SORTED_SET_CONTAINS_ACTUAL_VALUE: '1' }), expected)
  const wanted = '--shards is for local servers, but REDIS_URL is an address'
  assert.equal(refusal('--cluster --shards 3', { REDIS_URL: 'redis://h' }), wanted)
})

test('a URL becomes its parts, decoded', () => {
  const { url, host, port, username, password, db, tls, given } = read('', {
    REDIS_URL: 'rediss://us%40er:p%2Fw%3A@[::1]:7001/2',
  })
  const found = [url, host, port, username, password, db, tls]
  assert.deepEqual(found, ['rediss://[::1]:7001/2', '::1', 7001, 'us@er', 'p/w:', 2, true])
  assert.equal(given.password, 'environment')
})

test('nothing secret is shown', () => {
  const lines = `
    --url http://u:hunter2@h | --url redis://u:hunter2@h:99999 | --url redis://u:hun/ter2hunter2@h
    --url redis://u:hunter2@h --host h | -a hunter2 --host h | --pass hunter2
    --host h --pass hunter2 --password-file f | --url redis://u:hunter2@h/1 --cluster
    --url redis://u:hunter2@h --password hunter2x | --host h --password secret hunter2 | --password hunter2
    --pasword=hunter2 --host h | --pasword hunter2 --host h | --host redis://u:hunter2@h
    redis://u:hunter2@h redis://v:hunter2@g | --rate hunter2@h | --rate 5,u:hunter2@h | --rate 5,hunter2@h
    --rate 5@3s,redis://hunter2@h | --rate 5hunter2@10.0.0.1
  `
  for (const line of lines.trim().split(/ \| |\n +/)) assert.doesNotMatch(refusal(line), /hunter2/, line)
  assert.doesNotMatch(refusal('', { REDIS_URL: 'hunter2' }), /hunter2/)

  const settings = read('--url redis://u:hunter2@h')
  assert.equal(settings.password, 'hunter2')
  // The @ of a rate's time is none of an address.
  for (const schedule of ['10k@30s,20k', '10@5s,x@3', '10@5s,20@', 'x@3,10@5x', '10@5x', '10k@30s,@1m'])
    for (const option of ['--rate', '--fetch-rate'])
      assert.match(
        sentence(() => (option === '--rate' ? read : readConsumer)(`${option} ${schedule}`)),
        new RegExp(`not '${schedule}'$`),
      )
})

test('messages carry no control characters and stay short', () => {
  const said = sentence(() =>
    readSettings({ program: 'producer', argv: [`\u001b[31m\n${'x'.repeat(500)}`], env: {} }),
  )
  assert.doesNotMatch(said, /\p{C}/u)
  assert.ok(said.length < 120)
})

test('.env is read from the folder, unless MILLRACE_NO_DOTENV says no', (t) => {
  const folder = ownFolder(t, 'settings')
  assert.equal(loadDotenv(folder, {}), undefined)
  writeFileSync(join(folder, '.env'), 'MILLRACE_QUANTITY=5\n')
  assert.equal(loadDotenv(folder, {}), 'MILLRACE_QUANTITY=5\n')
  assert.equal(loadDotenv(folder, { MILLRACE_NO_DOTENV: '1' }), undefined)
  mkdirSync(join(folder, 'odd', '.env'), { recursive: true })
  const said = sentence(() => loadDotenv(join(folder, 'odd'), {}))
  assert.match(said, /^\.env cannot be read \(EISDIR\)/)
})

/** @param {string} name of the command @param {boolean} whole */
const helpOf = async (name, whole, columns = 80) => {
  const { about, options } = await commandNamed(name)
  return helpText({ ...about, as: `millrace ${name}` }, options, { columns, whole })
}

test('--help is one screen, --help all has every option', async () => {
  for (const [name, program] of /** @type {const} */ ([
    ['write', 'producer'],
    ['read', 'consumer'],
  ])) {
    const brief = await helpOf(name, false)
    assert.ok(brief.split('\n').length <= 40, `${program}: ${brief.split('\n').length} lines`)
    for (const line of brief.split('\n')) assert.ok(line.length <= 80, line)
    assert.ok(brief.indexOf('Examples') < brief.indexOf('Options'))
    assert.match(brief, /^ {2}-h, --help \[all\] +this text; all: every option$/m)
    const listed = brief.match(/^ +-/gm)?.length ?? 0
    assert.ok(listed >= 15 && listed <= 25, `${program}: ${listed} options`)
    for (const columns of [40, 80, 120, 400]) {
      const whole = await helpOf(name, true, columns)
      const expected = /--no-json and so on switch a flag off, as --json=false does\.$/
      assert.match(whole.replaceAll('\n', ' '), expected)
      const rows = whole.match(/^ +-.*$/gm) ?? []
      const shown = new Set(
        rows.flatMap((row) => [...row.matchAll(/(?:^ +|, )--?([\w-]+)/g)].map(([, is]) => is)),
      )
      for (const option of optionsOf(program).filter((one) => one.with))
        assert.match(whole, new RegExp(`^ {6}${option.name}(=| |$)`, 'm'))
      for (const { name, aliases, hidden } of optionsOf(program).filter((one) => !one.with))
        for (const known of [name, ...aliases]) assert.equal(shown.has(known), !hidden, known)
      for (const line of whole.split('\n').filter((one) => !/millrace |^ {2}#/.test(one)))
        assert.ok(line.length <= Math.max(columns, 80) && line.length <= 120, line)
    }
  }
  const writers = ['--rate', '--chunks', '--warm-up', '--max-members', '--connections']
  const ofReader = await helpOf('read', true)
  for (const name of writers) assert.ok(!ofReader.includes(name), name)
  for (const argv of [['--version'], ['--help', '--wibble'], ['-h', 'all']]) {
    const said = sentence(() => readSettings({ program: 'producer', argv, env: {} }))
    assert.equal(said, '--help and --version are not options of a run')
  }
})

test('the examples of --help can be pasted', async () => {
  for (const name of ['write', 'read']) {
    const help = await helpOf(name, false)
    const lines = [...help.matchAll(/^ {2}millrace (?:write|read) ([^>\n]+)(?:> run\.json)?$/gm)]
    assert.equal(lines.length, 4)
    const readLine = name === 'write' ? read : readConsumer
    for (const [, line] of lines) assert.ok(readLine(line))
  }
})

test('letters that mean something else in other tools are obeyed with a warning', () => {
  for (const [line, warning] of /** @type {[string, RegExp][]} */ ([
    ['-p 7001', /^-p 7001 is a period of 7\.001 s; the port is --port 7001/],
    ['-p 6379', /^-p 6379 is a period of 6\.379 s; the port is --port 6379/],
    ['-p 26379', /the port is --port 26379/],
    ['--host h -c 50 -t 4', /^-t 4: this process is one of 4 writers and writes 1\/4/],
  ]))
    assert.match(read(line).cautions[0], warning)
  const clear = `
    --host h -p 2500 | --host h --port 1 -p 7001 | --url redis://h -p 7001 | --host h -p 7001ms | -p 6379ms | -p 6400 | --period 6379
    --host h -t 8 | --host h -c 50 -t 4 -a all | -c 5 -t 4
  `
  for (const line of clear.trim().split(/ \| |\n +/)) assert.deepEqual(read(line).cautions, [], line)
})

test('the password of other tools is never echoed, and understood', () => {
  const expected = /^--agent must be .* not shown: a password is given as REDIS_PASSWORD/
  assert.match(refusal('-a s3cret --host h'), expected)
  assert.equal(read('--host h', { REDISCLI_AUTH: 'p' }).password, 'p')
  assert.equal(read('-q 5', { REDISCLI_AUTH: 'p' }).host, undefined)
  assert.equal(read('--host h', { REDISCLI_AUTH: 'p', REDIS_PASSWORD: 'q' }).password, 'q')
})

test("the examples of reshard's --help begin with what it shall do", async () => {
  const [, examples] = (await helpOf('reshard', false)).split('Examples\n')
  const lines = examples
    .split('\n\n')[0]
    .split('\n')
    .filter((line) => !line.includes('#'))
  assert.equal(lines.length, 2)
  for (const line of lines) {
    const argv = /^ {2}millrace reshard (?:move|failover) ([^|]+)$/.exec(line)?.[1].split(' ')
    assert.ok(argv && 'given' in readSettings({ program: 'reshard', argv, env: {} }))
  }
})

test('variables are unique in all programs, and an option of a strategy names one', () => {
  const variables = OPTIONS.flatMap(({ env, alsoEnv }) => [env ?? [], alsoEnv].flat())
  assert.equal(new Set(variables).size, variables.length)
  for (const { on } of OPTIONS.filter(({ key, on }) => key === 'strategy' && on))
    assert.ok(isStrategy(String(on)))
})

test('a host may have its port', () => {
  for (const [text, host] of [
    ['10.0.0.1:7000', '10.0.0.1'],
    ['[::1]:7000', '::1'],
    ['db.example.org:7000', 'db.example.org'],
  ]) {
    const { host: found, port } = readBy(`--host ${text}`)
    assert.deepEqual([found, port], [host, 7000])
    const { control } = readBy(`--host h --run r --control ${text}`)
    assert.deepEqual([control?.url, control?.host, control?.port], [`redis://${text}`, host, 7000])
  }
})
