import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import dotenv from 'dotenv'
import { commandNamed } from '../../lib/cli/commands.js'
import { helpText } from '../../lib/options/help.js'
import { loadDotenv, readSettings } from '../../lib/options/read-settings.js'
import { VALUE_TYPES } from '../../lib/options/values.js'
import { isStrategy } from '../../lib/workloads/index.js'
import { OPTIONS, optionsOf } from '../../settings.js'
import { rowsOf } from '../helpers/table.js'

/** @param {string} line the command line, split at blanks @param {NodeJS.ProcessEnv} [env] @param {string} [dotenvText] */
function read(line, env = {}, dotenvText = '') {
  const settings = readSettings({
    program: 'producer',
    argv: line.split(' ').filter(Boolean),
    env,
    dotenvText,
  })
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
    Object.fromEntries(
      keys
        .trim()
        .split(/\s+/)
        .map((key) => [key, value]),
    )
  const unset = `
    maxMembers maxBehindMs counters maxQueue delayMs loseEvery searchTimeoutMs requests queryTimeoutMs
    updateRateHz connections pipeline reconnectHz order shift churn url host port sentinel
    sentinelPassword username password passwordFile caFile certFile keyFile durationMs intervals rate
    rates control run dashboard metrics otlp awsRegion replicationGroup cacheClusters serverBin
    optionsFile
  `
  const off = `
    stamp once snapshot cluster askPassword tls tlsInsecure partial stagger stopAll cloudwatch json
    quiet verbose dryRun
  `
  assert.deepEqual(settings, {
    ...all(unset, undefined),
    ...all(off, false),
    ...{ quantity: 10_000, periodMs: 1000, chunks: 1, totalAgents: 1, agent: 'auto' },
    ...{ strategy: 'sorted-set', script: 'store-items', sortedSets: 1, placement: 'plain' },
    ...{ extraSortedSets: 0, ttlS: 3, ttlLeastS: null, valueBytes: 128, valueSizes: null },
    ...{ payload: 'random', fill: 'none', partitions: 1, ids: 'hex', falsePositives: 0.01 },
    ...{ structure: 'zset', whenFull: 'refuse', chunkSize: 1000, selectivity: 0.01, queries: 100 },
    ...{ sortBy: 'created', pageSize: 10, pageOffset: 0, scanCount: 1000, indexWhen: 'after' },
    ...{ indexes: 1, updateWriters: 0, ratio: [1, 10], arrivals: 'constant', windowBytes: 512_000 },
    ...{ warmUpMs: 0, idleCost: 'auto', db: 0, pacing: 'open', driver: 'socket' },
    ...{ driverOptions: [], prefix: '', seed: 1, joinWithinMs: 120_000, outDir: 'results' },
    ...{ report: true, thresholds: [], metricsLingerMs: 0, logLevel: 'info', serverConfig: [] },
    ...{ shards: 3, replicas: 1, allow: [] },
    ...{ guard: { evicted: 0, memoryPct: 90, lagBytes: 256_000_000 } },
  })
  assert.deepEqual(new Set(Object.values(given)), new Set(['default']))
  assert.ok(Object.isFrozen(read('')) && Object.isFrozen(given) && Object.isFrozen(read('-a 1-2 -t 2').agent))
})

test('the published command line', () => {
  const settings = read('-q 300000 -t 8 --cluster')
  assert.deepEqual([settings.quantity, settings.totalAgents, settings.cluster], [300_000, 8, true])
  assert.equal(settings.given.quantity, 'command line')
})

const good = /** @type {[string, string, unknown][]} */ ([
  ['--model docs/examples/session-store.yaml', 'strategy', 'session-store'],
  ['--command SADD\ts\t{n} --command GET\tt:{n}', 'strategy', 'own-sadd-get'],
  ['-q 300k', 'quantity', 300_000],
  ['--quantity=1_000', 'quantity', 1000],
  ['-q 1.5M', 'quantity', 1_500_000],
  ['--allow foreign-keys', 'allow', ['foreign-keys']],
  ['--allow memory,replica', 'allow', ['memory', 'replica']],
  ['--allow clock', 'allow', ['clock']],
  ['--allow scripts', 'allow', ['scripts']],
  ['--allow none', 'allow', []],
  ['--guard off', 'guard', { evicted: null, memoryPct: null, lagBytes: null }],
  ['--guard lag>64MB', 'guard', { evicted: null, memoryPct: null, lagBytes: 64_000_000 }],
  ['--guard memory>80.5%,evicted>1k', 'guard', { evicted: 1000, memoryPct: 80.5, lagBytes: null }],
  ['--host h --sentinel my-master.1', 'sentinel', 'my-master.1'],
  ['--host h --sentinel m', 'port', 26_379],
  ['--url redis://h --sentinel m', 'port', 26_379],
  ['--url redis://h:7 --sentinel m', 'port', 7],
  ['--url redis://h', 'port', 6379],
  ['--host h --sentinel m --port 7', 'port', 7],
  ['--host h --sentinel m --sentinel-password s', 'sentinelPassword', 's'],
  ['--host h --ask-password', 'askPassword', true],
  ['--host h --password-file /run/secret', 'passwordFile', '/run/secret'],
  ['--host h --tls --tls-insecure', 'tlsInsecure', true],
  ['-p 1500', 'periodMs', 1500],
  ['-p 2s', 'periodMs', 2000],
  ['-c 10', 'chunks', 10],
  ['-t 8 -a 3', 'agent', [3]],
  ['-t 8 -a 2-4', 'agent', [2, 3, 4]],
  ['-t 8 -a all', 'agent', 'all'],
  ['--actual-value', 'strategy', 'actual-value'],
  ['--ws', 'strategy', 'script-batch'],
  ['--ws --script return-zero', 'script', 'return-zero'],
  ['--host h --cloudwatch', 'cloudwatch', true],
  ['--host h --cloudwatch --aws-region ap-southeast-2', 'awsRegion', 'ap-southeast-2'],
  ['--host h --cloudwatch --replication-group items', 'replicationGroup', 'items'],
  ['--host h --cloudwatch --cache-clusters a-001,a-002', 'cacheClusters', 'a-001,a-002'],
  ['--sk', 'strategy', 'script-item'],
  ['--sl', 'strategy', 'list'],
  ['--slh', 'strategy', 'list-hll'],
  ['--slh --sl', 'strategy', 'list-hll'],
  ['--sl --strategy list', 'strategy', 'list'],
  ['--ss', 'strategy', 'set'],
  ['--strategy hash-ttl', 'strategy', 'hash-ttl'],
  ['--ns 10', 'sortedSets', 10],
  ['--ns 10 --same-slot', 'placement', 'same-slot'],
  ['--spread --ns 3', 'placement', 'spread'],
  ['--spread --no-same-slot', 'placement', 'spread'],
  ['--extra-sorted-sets 2', 'extraSortedSets', 2],
  ['--ttl 10m', 'ttlS', 600],
  ['--ttl 5', 'ttlS', 5],
  ['--value-size 10kB', 'valueBytes', 10_000],
  ['--value-size 1KiB', 'valueBytes', 1024],
  ['--payload zero', 'payload', 'zero'],
  ['--stamp', 'stamp', true],
  ['--once --actual-value', 'once', true],
  ['--max-members 0', 'maxMembers', 0],
  ['--max-behind 250ms', 'maxBehindMs', 250],
  ['--window 1MB', 'windowBytes', 1_000_000],
  ['--duration 60', 'durationMs', 60_000],
  ['--duration 60s', 'durationMs', 60_000],
  ['--duration 0.5', 'durationMs', 500],
  ['--duration 5m', 'durationMs', 300_000],
  ['--duration 1h --warm-up 5', 'warmUpMs', 5000],
  ['--duration 1h --warm-up auto', 'warmUpMs', 'auto'],
  ['--rate 10k@30s,20k@1m', 'rate', 16_666.6666667],
  ['--rate 10k@30s,20k@1m', 'durationMs', 90_000],
  ['--ramp 10k..100k/5m', 'rate', 55_000],
  ['--ramp 10k..100k/5m', 'warmUpMs', 0],
  ['--duration 8s', 'warmUpMs', 'auto'],
  ['--duration 8s --strategy lookup-get', 'warmUpMs', 'auto'],
  ['--duration 8s --warm-up 0', 'warmUpMs', 0],
  ['--duration 7999ms', 'warmUpMs', 0],
  ['-q 5', 'warmUpMs', 0],
  ['-p 4s --intervals 2', 'warmUpMs', 'auto'],
  ['-p 4s --intervals 1', 'warmUpMs', 0],
  ['--rate max --duration 1m', 'warmUpMs', 'auto'],
  ['--duration 1m --once', 'warmUpMs', 0],
  ['--duration 1m --control redis://h --host i --run r', 'warmUpMs', 'auto'],
  ['--duration 1m --strategy queue-list', 'warmUpMs', 0],
  ['--idle-cost always', 'idleCost', 'always'],
  ['--intervals 3', 'intervals', 3],
  ['--rate max', 'rate', 'max'],
  ['--strategy lookup-get --rate 20k', 'rate', 20_000],
  ['--strategy lookup-get --keys 10M', 'quantity', 10_000_000],
  ['--strategy lookup-get --items 5', 'quantity', 5],
  ['--strategy lookup-get', 'quantity', 100_000],
  ['--rate 300k', 'quantity', 300_000],
  ['--rate 300k', 'periodMs', 1000],
  ['--rate 300k', 'pacing', 'smooth'],
  ['--rate 300k --items 30k', 'periodMs', 100],
  ['--rate 300k -q 600k', 'periodMs', 2000],
  ['--items 5', 'quantity', 5],
  ['--items 5', 'pacing', 'open'],
  ['--sets 4 --placement spread', 'placement', 'spread'],
  ['--sets 4 --placement hash', 'placement', 'plain'],
  ['--sets 4 --placement same-slot --same-slot', 'placement', 'same-slot'],
  ['--sets 4 --ns 4', 'sortedSets', 4],
  ['--data-size 1kB', 'valueBytes', 1000],
  ['--test-time 1m30s', 'durationMs', 90_000],
  ['--duration 1h2m3s4ms', 'durationMs', 3_723_004],
  ['--period-in-millis 250', 'periodMs', 250],
  ['--uri redis://h:7', 'port', 7],
  ['redis://u:p@h:7', 'username', 'u'],
  ['-q 5 rediss://h', 'tls', true],
  ['--host h --user u --pass p', 'username', 'u'],
  ['--host h --pass p', 'password', 'p'],
  ['--host h --askpass', 'askPassword', true],
  ['--host h --tls --insecure', 'tlsInsecure', true],
  ['--host h --tls --cacert a.pem', 'caFile', 'a.pem'],
  ['--dry-run', 'dryRun', true],
  ['-q=5', 'quantity', 5],
  ['-q5', 'quantity', 5],
  ['--strategy lookup-get --fill', 'fill', 'keys'],
  ['--strategy lookup-get --fill populate', 'fill', 'populate'],
  ['--fill=populate --strategy lookup-get', 'fill', 'populate'],
  ['--strategy lookup-get --no-fill', 'fill', 'none'],
  ['--strategy membership-set --snapshot', 'snapshot', true],
  ['--verbose', 'verbose', true],
  ['--strategy membership-set --partitions 4096', 'partitions', 4096],
  ['--strategy membership-hash --ids binary', 'ids', 'binary'],
  ['--strategy membership-bloom --false-positives 1e-6', 'falsePositives', 1e-6],
  ['--popularity zipf:0.99', 'order', 'zipf:0.99'],
  ['--popularity hot:10%:90% --shift 1%/s', 'shift', '1%/s'],
  ['--popularity recent:5% --churn 10%/h', 'churn', '10%/h'],
  ['--arrivals poisson,daily:10m --duration 60', 'arrivals', 'poisson,daily:10m'],
  ['--strategy lookup-mix --reconnects 50', 'reconnectHz', 50],
  ['--strategy list --reconnects 5 --connections 4', 'reconnectHz', 5],
  ['--strategy lookup-mix --ttl 30s-90s', 'ttlLeastS', 30],
  ['--strategy queue-stream -q 5000', 'quantity', 5000],
  ['--strategy queue-stream', 'quantity', 1000],
  ['--strategy queue-zset --delay 5s', 'delayMs', 5000],
  ['--strategy queue-list --max-queue 10k', 'maxQueue', 10_000],
  ['--strategy queue-list --max-queue 10k --when-full wait', 'whenFull', 'wait'],
  ['--strategy queue-list --rate 250', 'quantity', 250],
  ['--strategy queue-list -q 50 --arrivals burst:5x:1s/10s', 'arrivals', 'burst:5x:1s/10s'],
  ['--strategy queue-list -t 4 -a 2', 'agent', [2]],
  ['--strategy counter-loop --counters 5', 'counters', 5],
  ['--strategy counter-loop --structure hash', 'structure', 'hash'],
  ['--strategy counter-script --chunk-size 10k', 'chunkSize', 10_000],
  ['--strategy counter-script --delay 500us', 'delayMs', 0.5],
  ['--strategy counter-script --delay 0.1ms --lose-every 2', 'loseEvery', 2],
  ['--strategy query-scan --selectivity 0.0001', 'selectivity', 0.0001],
  ['--strategy query-scan --queries 5', 'queries', 5],
  ['--strategy query-client --sort rating-desc', 'sortBy', 'rating-desc'],
  ['--strategy query-scan --page-size 50', 'pageSize', 50],
  ['--strategy query-scan --page-offset 1k', 'pageOffset', 1000],
  ['--strategy query-scan-chunked --scan-count 100', 'scanCount', 100],
  ['--strategy query-index --index-when before', 'indexWhen', 'before'],
  ['--strategy query-search --indexes 3', 'indexes', 3],
  ['--strategy query-search-json --search-timeout 0', 'searchTimeoutMs', 0],
  ['--strategy query-scan --requests 20', 'requests', 20],
  ['--strategy query-scan --query-timeout 500ms', 'queryTimeoutMs', 500],
  ['--strategy query-scan --update-writers 10', 'updateWriters', 10],
  ['--strategy query-scan --update-writers 10 --update-rate 500', 'updateRateHz', 500],
  ['--strategy lookup-get --connections 2 --pipeline 500', 'pipeline', 500],
  ['--strategy lookup-get --connections 2', 'connections', 2],
  ['--connections 50 --pipeline 10', 'connections', 50],
  ['--strategy lookup-mix --ratio 3:7', 'ratio', [3, 7]],
  ['--strategy lookup-get --order sequential', 'order', 'sequential'],
  ['--strategy lookup-get --order zipf:0.99', 'order', 'zipf:0.99'],
  ['--strategy lookup-get --order hot:10%:90%', 'order', 'hot:10%:90%'],
  ['--strategy lookup-get --rate 5 --arrivals poisson', 'arrivals', 'poisson'],
  ['--pacing closed', 'pacing', 'closed'],
  ['--driver ioredis', 'driver', 'ioredis'],
  ['--driver valkey-glide', 'driver', 'valkey-glide'],
  [
    '--driver iovalkey --driver-option inFlight=100,enableAutoPipelining=false',
    'driverOptions',
    [
      ['inFlight', '100'],
      ['enableAutoPipelining', 'false'],
    ],
  ],
  ['--prefix a:', 'prefix', 'a:'],
  ['--prefix=', 'prefix', ''],
  ['--seed 0', 'seed', 0],
  ['--run first.1', 'run', 'first.1'],
  ['--out /var/x', 'outDir', '/var/x'],
  ['--no-report', 'report', false],
  ['--report', 'report', true],
  ['--threshold latency.intended.p99<20ms', 'thresholds', ['latency.intended.p99<20ms']],
  [
    '--threshold items.failed<=0 --threshold rate.achieved>9k',
    'thresholds',
    ['items.failed<=0', 'rate.achieved>9k'],
  ],
  ['--threshold items.failed<=0,rate.achieved>9k', 'thresholds', ['items.failed<=0', 'rate.achieved>9k']],
  ['--threshold none', 'thresholds', []],
  ['--metrics 9100', 'metrics', { host: '127.0.0.1', port: 9100 }],
  [
    '--host h --run r --control rediss://me:p%40ss@c:6380/2',
    'control',
    {
      url: 'rediss://c:6380/2',
      host: 'c',
      port: 6380,
      username: 'me',
      password: 'p@ss',
      db: 2,
      tls: true,
    },
  ],
  ['--host h --run r --control redis://c --join-within 90s', 'joinWithinMs', 90_000],
  ['--host h --run r --control redis://c --partial', 'partial', true],
  ['--host h --run r --control redis://c --stagger', 'stagger', true],
  ['--host h --run r --control redis://c --all', 'stopAll', true],
  ['--dashboard', 'dashboard', { host: '127.0.0.1', port: 0 }],
  ['--dashboard 8080', 'dashboard', { host: '127.0.0.1', port: 8080 }],
  ['--dashboard=0.0.0.0:8080', 'dashboard', { host: '0.0.0.0', port: 8080 }],
  ['--dashboard -q 20', 'dashboard', { host: '127.0.0.1', port: 0 }],
  ['--no-dashboard', 'dashboard', null],
  ['--metrics 0.0.0.0:9100', 'metrics', { host: '0.0.0.0', port: 9100 }],
  ['--metrics [::]:9100', 'metrics', { host: '::', port: 9100 }],
  ['--metrics 9100 --metrics-linger 30s', 'metricsLingerMs', 30_000],
  ['-v', 'verbose', true],
  ['--otlp http://127.0.0.1:4318', 'otlp', 'http://127.0.0.1:4318'],
  ['--json', 'json', true],
  ['--json=false', 'json', false],
  ['--quiet', 'quiet', true],
  ['--log-level silent', 'logLevel', 'silent'],
  ['--cm', 'cluster', true],
  ['--host [::1]', 'host', '::1'],
  ['--port 7000', 'host', '127.0.0.1'],
  ['--host a.example', 'port', 6379],
  ['--host h --username u --password p', 'username', 'u'],
  ['--host h --password p-w', 'password', 'p-w'],
  ['--host h --db 2', 'db', 2],
  ['--host h --tls --ca a.pem', 'caFile', 'a.pem'],
  ['--host h --tls --cert c.pem --key k.pem', 'keyFile', 'k.pem'],
  ['--server-bin /opt/valkey-server', 'serverBin', '/opt/valkey-server'],
  [
    '--server-config hz=50 --server-config loadmodule=/a/b.so',
    'serverConfig',
    [
      ['hz', '50'],
      ['loadmodule', '/a/b.so'],
    ],
  ],
  ['--cluster --shards 1', 'shards', 1],
  ['--cluster --replicas 0', 'replicas', 0],
])
for (const [line, key, value] of good)
  test(`good: ${line}`, () => assert.deepEqual(/** @type {any} */ (read(line))[key], value))

/** @param {string} line */
function readConsumer(line) {
  const settings = readSettings({ program: 'consumer', argv: line.split(' ').filter(Boolean), env: {} })
  assert.ok('given' in settings)
  return /** @type {import('../../settings.js').ReaderSettings} */ (settings)
}

const goodOfConsumer = /** @type {[string, string, unknown][]} */ ([
  ['--limit 1k', 'limit', 1000],
  ['--mode script', 'mode', 'script'],
  ['--fetch mget', 'fetch', 'mget'],
  ['-s script', 'mode', 'script'],
  ['--script-mode manual', 'mode', 'manual'],
  ['--read-with get', 'fetch', 'get'],
  ['--read-with mget', 'fetch', 'mget'],
  ['--read-with mget --mode manual --fetch mget', 'mode', 'manual'],
  ['--read-with script', 'mode', 'script'],
  ['--read-with script -s script', 'mode', 'script'],
  ['', 'values', true],
  ['--no-values', 'values', false],
  ['--values', 'values', true],
  ['--reads any', 'reads', 'any'],
  ['--consumers 32', 'consumers', 32],
  ['--fetch-rate 50', 'fetchHz', 50],
  ['--fetch-rate 10@1s,30@3s', 'fetchHz', 25],
  ['--fetch-rate 10@1s,30@3s', 'durationMs', 4000],
  ['--ramp 10..100/5m', 'durationMs', 300_000],
  ['--verify', 'verify', true],
  ['--count', 'count', true],
  ['--strategy queue-stream --workers 64', 'workers', 64],
  ['--take 50', 'take', 50],
  ['--workers 8 --processes 2', 'processes', 2],
  ['--workers 8', 'processes', undefined],
  ['--work 500us', 'work', { kind: 'cpu', us: 500 }],
  ['--work cpu:2ms', 'work', { kind: 'cpu', us: 2000 }],
  ['--work sleep:1ms', 'work', { kind: 'sleep', us: 1000 }],
  ['--outputs 4', 'outputs', 4],
  ['--outputs 4 --output-work sleep:1ms', 'outputWork', { kind: 'sleep', us: 1000 }],
  ['--reconnects 20', 'reconnectHz', 20],
  ['', 'work', { kind: 'cpu', us: 0 }],
  ['--strategy queue-list --confirm', 'confirm', true],
  ['--reclaim 250ms', 'reclaimMs', 250],
  ['--drain', 'drain', true],
  ['-p 250', 'periodMs', 250],
  ['--slh --limit 5', 'strategy', 'list-hll'],
])
for (const [line, key, value] of goodOfConsumer)
  test(`good of a consumer: ${line}`, () =>
    assert.deepEqual(/** @type {any} */ (readConsumer(line))[key], value))

const goodOfReshard = /** @type {[string, string, unknown][]} */ ([
  ['--slots 0-1499,3000', 'slots', '0-1499,3000'],
  ['--to 3', 'to', '3'],
  ['--shard 127.0.0.1:7000', 'shard', '127.0.0.1:7000'],
  ['--servers 10.0.0.1:7000,[::1]:7001', 'servers', '10.0.0.1:7000,[::1]:7001'],
  ['', 'waitMs', 3_600_000],
  ['--wait 90', 'waitMs', 90_000],
])
for (const [line, key, value] of goodOfReshard)
  test(`good of reshard: ${line}`, () => {
    const settings = readSettings({ program: 'reshard', argv: line.split(' ').filter(Boolean), env: {} })
    assert.deepEqual(/** @type {any} */ (settings)[key], value)
  })

const badOfConsumer = /** @type {[string, RegExp][]} */ ([
  ['--limit -1', /^--limit must be a whole number from 0/],
  ['--mode lua', /^--mode must be one of manual, script/],
  ['--reads slave', /^--reads must be one of replica, master, any/],
  ['--consumers 0', /^--consumers must be/],
  ['--dashboard 99999999', /^--dashboard must be a port from 1 to 65535/],
  ['--workers 0', /^--workers must be a whole number from 1 to 1000/],
  ['--processes 65', /^--processes must be a whole number from 1 to 64/],
  ['--take 2000', /^--take must be a whole number from 1 to 1000/],
  ['--work sleep:900us', /^--work must be none, cpu:TIME from 1us to 60s, or sleep:TIME from 1ms/],
  ['--work 2h', /^--work must be none/],
  ['--outputs 0', /^--outputs must be a whole number from 1 to 1000/],
  ['--reclaim 50ms', /^--reclaim must be a time from 100ms/],
  ['--pacing smooth', /^--pacing smooth: a consumer is open or closed/],
  ['--fetch-rate max', /^--fetch-rate: each fetch is due at a time; give a number a second/],
  ['--fetch-rate 5@', /^--fetch-rate must be /],
  ['--fetch-rate 5 --period 1s', /^--fetch-rate and --period exclude each other/],
  ['--ramp 1..5/10s --fetch-rate 5', /^--ramp and --fetch-rate exclude each other/],
  ['--ramp 1..5/10s --control redis://h --host i --run r', /^--ramp does not go with --control/],
  ['--verify --no-values', /^--verify with --no-values/],
  ['--mode script --no-values', /^--mode script with --no-values/],
  ['--mode script --fetch mget', /^--fetch mget with --mode script/],
  ['-t 2 -a 3', /^--agent: number 3 is above --total-agents 2/],
  ['--sl --ns 3', /^--ns: --sl keeps no sorted set/],
  ['-s lua', /^--mode must be one of manual, script, not 'lua'/],
  ['--script-mode=', /^--mode needs a value$/],
  ['--read-with lua', /^--read-with must be one of get, mget, script, not 'lua'$/],
  ['--read-with get -s script', /^--read-with and --mode exclude each other$/],
  ['--read-with mget --fetch get', /^--read-with and --fetch exclude each other$/],
  ['--rate max', /^unknown option --rate/],
  ['--shards 3', /^unknown option --shards/],
])
for (const [line, pattern] of badOfConsumer)
  test(`bad of a consumer: ${line}`, () =>
    assert.match(
      sentence(() => readConsumer(line)),
      pattern,
    ))

test('every option is read by its own name and by its variable', () => {
  const covered = new Set(
    [...good, ...goodOfConsumer, ...goodOfReshard].flatMap(([line]) =>
      [...line.matchAll(/(?:^| )--?([a-z-]+)/g)].map(([, name]) => name),
    ),
  )
  for (const { name, aliases } of OPTIONS.filter((option) => option.key !== 'optionsFile'))
    assert.ok(
      [name, ...aliases].some((known) => covered.has(known)) || ['url', 'yes'].includes(name),
      `--${name} has no good example`,
    )

  for (const option of optionsOf('producer')) {
    if (option.env === null) continue
    const text = {
      integer: '3',
      bytes: '64kB',
      sizes: '64kB',
      lifetime: '9s',
      duration: '9s',
      warmUp: '9s',
      flag: 'true',
      agents: '1',
      share: '0.1',
      shortTime: '5ms',
    }[/** @type {string} */ (option.type)]
    const value =
      text ??
      {
        run: 'x',
        'aws-region': 'eu-west-1',
        url: 'redis://h',
        control: 'redis://h',
        guard: 'off',
        'server-config': 'hz=50',
        'driver-option': 'inFlight=9',
        threshold: 'latency.intended.p99<20ms',
        dashboard: '9100',
        metrics: '9100',
        otlp: 'http://h:4318',
        rate: 'max',
        ramp: '10k..20k/5m',
        ratio: '1:2',
        popularity: 'zipf:1.2',
        shift: '1%/s',
        churn: '1%/s',
        arrivals: 'poisson',
        model: 'docs/examples/session-store.yaml',
        command: 'SADD s {n}',
      }[option.name] ??
      option.choices?.at(-1) ??
      'h'
    const needs = /** @type {Record<string, string>} */ ({
      script: '--ws',
      'driver-option': '--driver ioredis',
      control: '--host h --run r',
      shift: '--popularity zipf:1',
      cloudwatch: '--host h',
      'aws-region': '--host h --cloudwatch',
      'replication-group': '--host h --cloudwatch',
      'cache-clusters': '--host h --cloudwatch',
      username: '--host h --password p',
      password: '--host h',
      sentinel: '--host h',
      'sentinel-password': '--host h --sentinel m',
      'password-file': '--host h',
      'ask-password': '--host h',
      'tls-insecure': '--host h --tls',
      db: '--host h',
      tls: '--host h',
      ca: '--host h --tls',
      cert: '--host h --tls --key k',
      key: '--host h --tls --cert c',
      'warm-up': '--duration 60s',
      'metrics-linger': '--metrics 9100',
    })
    const settings = read(needs[option.name] ?? '', { [option.env]: value })
    assert.equal(settings.given[option.key], 'environment', option.env)
  }
})

test('every default and every end of a range is a value of its type', () => {
  for (const option of OPTIONS)
    for (const text of [option.default ?? [], option.range ?? []].flat())
      assert.notEqual(VALUE_TYPES[option.type].read(text, option), undefined, `--${option.name} ${text}`)
})

const count = (/** @type {string} */ ends) => `must be a whole number from ${ends}, not`
const limits = 'limits such as evicted>0,memory>90%,lag>256MB (a number, a part below 100 %, a size), or off'
const allowances =
  'one of foreign-keys, replica, memory, clock, named-hosts, flush, scripts, none, or several with commas'
const bad = /** @type {[string, string][]} */ (
  rowsOf(`
--strategy queue-list --value-size 20B -> --value-size: a job has at least 64 bytes
--strategy queue-list --value-size lognormal:p50=200B,p99=4kB -> --value-size: jobs of a queue have one size
--strategy queue-stream -q 5 --rate 7 -> exclude each other: both are jobs a second
--strategy queue-stream -q 5 -t 8 -> 5 jobs are too few for 8 writers
--strategy queue-stream -t 2 -a 3 -> number 3 is above
--strategy queue-list --max-queue 0 -> --max-queue must be a whole number from 1
--strategy queue-list --when-full drop -> --when-full must be one of refuse, wait
--max-queue 5 -> --max-queue is an option of queue; add --strategy queue-list
--strategy queue-stream -c 3 -> is not an option of queue-stream: see the options of queue
--strategy queue-stream --arrivals poisson --rate max -> --arrivals needs --rate with a number
--sentinel m -> --sentinel needs the address of a sentinel: --host
--host h --control redis://c -> --control needs --run, the same on every box
--run r --control redis://c -> --control needs an address, --host or --url: the boxes write to one target
--host h --run r --control c:6379 -> --control must be redis://[user:password@]host[:port][/db] or rediss://..., with % codes for special characters
--host h --run r --control redis://c --strategy lookup-get -> --control: --strategy lookup-get has no writers (-t) that boxes could share
--partial -> --partial needs --control
--stagger -> --stagger needs --control
--all -> --all needs --control
--join-within 5s -> --join-within needs --control
--host h --sentinel m --cluster -> --sentinel and --cluster exclude each other
--host h --sentinel-password s -> --sentinel-password needs --sentinel
--threshold items.faild<1 -> --threshold items.faild<1: no metric is called 'items.faild'; did you mean items.failed?
--threshold p99<20ms -> no metric is called 'p99'; did you mean latency.intended.p99?
--threshold cpu_us_per_item<5 -> did you mean server.cpu_us_per_item?
--threshold server.cpu_us_per_item<+5% -> only millrace diff and compare have two sides
--threshold items.failed -> must be a metric and its limit, as in 'latency.intended.p99<20ms'
--threshold items.failed<1ms -> items.failed is not measured in ms; use k, M
--metrics-linger 30s -> --metrics-linger needs --metrics
--dashboard=0 -> --dashboard must be a port from 1 to 65535, or an address and a port as in 0.0.0.0:9100, or nothing, not '0'
--metrics 0 -> --metrics must be a port from 1 to 65535, or an address and a port as in 0.0.0.0:9100, not '0'
--ask-password -> --ask-password needs an address: --host or --url
--host h --ask-password --password-file f -> --ask-password and --password-file exclude each other
--host h --password x --password-file f -> --password-file and --password exclude each other
--url redis://u:x@h --password-file f -> --url and --password-file exclude each other
--host h --tls-insecure -> --tls-insecure needs --tls (or a rediss:// address)
--host h --tls --tls-insecure --ca f -> --ca and --tls-insecure exclude each other: one asks for the check that the other leaves out
-q -> --quantity needs a value
-q --json -> --quantity needs a value
--prefix -n5 -> --prefix needs a value; one that begins with a dash is given as --prefix=-...
--host= -> --host needs a value
-q 5 --quantity 6 -> --quantity is given twice
-p 0 -> --period must be a time from 1ms to 24h (250ms, 60s, 1m30s, 1h; a plain number is ms), not '0'
--duration 60x -> a plain number is s), not '60x'
--duration constructor -> not 'constructor'
--ttl 500ms -> --ttl must be whole seconds from 1s to 8760h (250ms, 60s, 1m30s, 1h; a plain number is s), or a range such as 60s-600s, not '500ms'
--value-size 0 -> --value-size must be a size from 1B to 512MB, lognormal:p50=200B,p99=4kB, or histogram:FILE, not '0'
--value-size 1.5B -> not '1.5B'
--window 1TB -> --window must be a size from 1kB to 1GB, not '1TB'
--rate abc -> --rate must be max or a number of operations a second, such as 20000 or 20k, or 10k@30s,20k@1m, not 'abc'
--connections 5 --driver ioredis -> --connections is for plain sockets: ioredis keeps one connection
--rate 300k --items 100 -> --rate: 100 items are written in 0.3333333333333333 ms; it must be 1 ms or more
--rate 300k -p 500 -> --rate and --period exclude each other
--rate 300k -c 5 -> --rate and --chunks exclude each other
--rate 300k --pacing closed -> --rate and --pacing exclude each other
--rate 5 -t 8 -> --items: 5 items are too few for 8 writers
--items 5 -q 6 -> --items and --quantity exclude each other
--items 0 -> --items must be a whole number from 1 to 100M
--sets 0 -> --sets must be a whole number from 1 to 16384
--sets 2 --ns 3 -> --sets and --ns exclude each other
--placement near -> --placement must be one of hash, spread, same-slot
--placement spread --same-slot -> --placement and --same-slot exclude each other
--sl --placement spread -> --placement spread: --sl keeps no sorted set
--dry-run=maybe -> --dry-run takes no value
--file= -> --file needs a value
--uri http://h -> --url must be redis://
--data-size 0 -> --value-size must be a size
--test-time soon -> --duration must be a time
--period-in-millis 0 -> --period must be a time
--host h --cacert f -> --ca needs --tls
--duration 1m30 -> --duration must be a time
--duration 30s1m -> --duration must be a time
--file /nowhere.yaml -> --file: cannot read /nowhere.yaml (ENOENT)
-h cache -p 6379 -> -h prints the help; the server is named by --host
redis://h --host g -> --url and --host exclude each other
redis://h redis://g -> unexpected word on the command line (not shown: it may be a password)
--log-level loud -> --log-level must be one of trace, debug
-a 0 -> --agent must be a number, a range such as 2-4, all or auto, not '0'
-a 4-2 -t 8 -> not '4-2'
-a 1-999999999 -> not '1-999999999'
--seed 4294967296 -> not '4294967296'
--prefix {x} -> --prefix must be up to 100 characters without blanks and braces
--run ../up -> --run must be letters, digits, dots and dashes, at most 100, not '../up'
--host a:6379 -> --host must be a name or an address, without a port, not 'a:6379'
--port 65536 -> --port must be a whole number from 1 to 65535, not '65536'
--json=yes -> --json takes no value
--cm=1 -> --cm takes no value
-seed=5 -> unknown option -seed; did you mean --seed?
-cert=x -> unknown option -cert; did you mean --cert?
--no-fill=keys -> --no-fill takes no value
-control=h -> unknown option -control; did you mean --control?
--help=x -> --help takes no value
--no-quantity -> unknown option --no-quantity
--no-jsn -> unknown option --no-jsn; did you mean --json?
--quantty 5 -> unknown option --quantty; did you mean --quantity?
--wibble -> unknown option --wibble
-x -> unknown option -x
-cluster -> unknown option -cluster; did you mean --cluster?
-cm -> unknown option -cm; did you mean --cm?
-zy -> unknown option -z
--__proto__ 1 -> unknown option
foo -> unexpected word on the command line (not shown: it may be a password)
--dashboard abc -> unexpected word on the command line after --dashboard, which takes a port from 1 to 65535, or an address and a port as in 0.0.0.0:9100, or nothing (not shown: it may be a password)
-q 5 6 -> unexpected word on the command line after -q (not shown: it may be a password)
-- -q -> unexpected word on the command line (not shown: it may be a password)
--url http://h -> --url must be redis://[user:password@]host[:port][/db]
--url redis:// -> --url must be
--url redis://h:0 -> --url must be
--url redis://h/x -> --url must be
--url redis://h?db=2 -> --url must be
--url redis://%zz@h -> --url must be
--ws --sl -> --ws and --sl exclude each other
--script return-zero -> --script return-zero needs --ws
--cloudwatch -> --cloudwatch needs an address: --host or --url
--host h --aws-region eu-west-1 -> --aws-region needs --cloudwatch
--host h --cloudwatch --aws-region Ireland -> --aws-region must be a region such as eu-west-1, not 'Ireland'
--host h --cloudwatch --replication-group a --cache-clusters b -> --replication-group and --cache-clusters exclude each other
--strategy hash --ss -> --strategy and --ss exclude each other
--slh --ss -> --slh and --ss exclude each other
--same-slot --spread -> --same-slot and --spread exclude each other
--duration 60 --intervals 3 -> --duration and --intervals exclude each other
--url redis://h --host h -> --url and --host exclude each other
--url redis://h --port 6379 -> --url and --port exclude each other
--url redis://u@h --username v -> --url and --username exclude each other
--url redis://:p@h --password q -> --url and --password exclude each other
--url redis://h/1 --db 2 -> --url and --db exclude each other
--url rediss://h --no-tls -> --url and --tls exclude each other
-q 3 -t 8 -> --quantity: 3 items are too few for 8 writers (--total-agents)
-a 9 -t 8 -> --agent: number 9 is above --total-agents 8
-a 2-9 -t 8 -> --agent: number 9 is above --total-agents 8
-q 80 -t 8 -c 11 -> --chunks: 11 chunks are more than the 10 items of a writer
--stamp --actual-value -> --stamp with --actual-value: every tick would make new members
--stamp --strategy actual-value -> --stamp with --strategy actual-value: every tick
--stamp --value-size 12 -> --stamp takes 13 bytes, --value-size leaves 12
--payload zero --actual-value -> --payload zero with --actual-value: all members would be equal
-q 4097 --actual-value --value-size 2 -> --value-size: values of 2 bytes (--payload random) tell only 4096 of 4097
-q 17M --actual-value --payload sparse -> values of 128 bytes (--payload sparse) tell only 16777216 of 17000000
--ws --extra-sorted-sets 1 -> --extra-sorted-sets: the script of --ws writes no further sets
--sk --extra-sorted-sets 1 -> --extra-sorted-sets: the script of --sk writes no further sets
--rate max --pacing smooth -> --rate max with --pacing smooth: at the highest rate
--rate max --pacing closed -> --rate max with --pacing closed: at the highest rate
--warm-up 60 --duration 60 -> --warm-up must be shorter than --duration
--warm-up auto --once -> --warm-up auto does not go with --once: give a time
--warm-up soon -> --warm-up must be auto, or a time
--rate 10k@0.1s -> --rate must be max or a number of operations a second
--ramp 10k -> --ramp must be two rates and a time, as in 10k..100k/5m
--ramp 10k..20k/5m --duration 5 -> --ramp and --duration exclude each other
--rate 10k@3s,20k@3s --once -> --rate does not go with --once
--rate 10k@3s,20k@3s --arrivals poisson -> --rate does not go with --arrivals
--ramp 10k..20k/5m --strategy queue-list -> --ramp: queue-list is played at one rate
--warm-up 3 --intervals 3 -> --warm-up must be shorter than the 3000 ms of --intervals
--username u -> --username needs an address: --host or --url
--password p -> --password needs an address: --host or --url
--db 1 -> --db needs an address: --host or --url
--tls -> --tls needs an address: --host or --url
--ca f -> --ca needs an address: --host or --url
--host h --ca f -> --ca needs --tls (or a rediss:// address)
--host h --cert f --key g -> --cert needs --tls (or a rediss:// address)
--host h --tls --cert f -> --cert needs --key
--host h --tls --key f -> --key needs --cert
--host h --cluster --db 1 -> --db: database 1 with --cluster, which has only 0
--url redis://h/1 --cluster -> --url: database 1 with --cluster, which has only 0
--host h --server-bin f -> --server-bin is for local servers, but --host is an address
--port 7000 --cluster --shards 3 -> --shards is for local servers, but --port is an address
--url redis://h --cluster --replicas 1 -> --replicas is for local servers, but --url is an address
--shards 3 -> --shards needs --cluster
--replicas 0 -> --replicas needs --cluster
`)
).concat(
  /** @type {[string, string][]} */ ([
    ['--guard on', `--guard must be ${limits}, not 'on'`],
    ['--guard memory>101%', `--guard must be ${limits}, not 'memory>101%'`],
    ['--guard memory>80', `--guard must be ${limits}, not 'memory>80'`],
    ['--guard lag>1,lag>2', `--guard must be ${limits}, not 'lag>1,lag>2'`],
    ['--guard evicted>0,off', `--guard must be ${limits}, not 'evicted>0,off'`],
    ['--allow all', `--allow must be ${allowances}, not 'all'`],
    ['--allow none,memory', `--allow must be ${allowances}, not 'none,memory'`],
    ['--allow memory,memory', `--allow must be ${allowances}, not 'memory,memory'`],
    ['-q abc', `--quantity ${count('1 to 100M')} 'abc'`],
    ['-q 0', `--quantity ${count('1 to 100M')} '0'`],
    ['-q -5', `--quantity ${count('1 to 100M')} '-5'`],
    ['-q 1e3', `--quantity ${count('1 to 100M')} '1e3'`],
    ['-q 1.5', `--quantity ${count('1 to 100M')} '1.5'`],
    ['-q 101M', `--quantity ${count('1 to 100M')} '101M'`],
    ['-q 0x10', `--quantity ${count('1 to 100M')} '0x10'`],
    ['--strategy lists', "--strategy must not be 'lists'; did you mean list? It must be one of sorted-set, "],

    ...['list', 'list-hll', 'set', 'stream', 'hash-ttl'].flatMap((name) => [
      [`--strategy ${name} --spread`, `--spread: --strategy ${name} keeps no sorted set`],
      [`--strategy ${name} --same-slot`, `--same-slot: --strategy ${name} keeps no sorted set`],
      [`--strategy ${name} --ns 2`, `--ns: --strategy ${name} keeps no sorted set`],
      [
        `--strategy ${name} --extra-sorted-sets 1`,
        `--extra-sorted-sets: --strategy ${name} keeps no sorted set`,
      ],
    ]),
  ]),
)
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
  assert.deepEqual(
    [given.quantity, given.chunks, given.ttlS, given.periodMs],
    ['command line', 'environment', '.env', 'default'],
  )
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
a typed URL replaces host and port -> --url redis://g -> REDIS_HOST=h REDIS_PORT=1 ->  -> {"host":"g","port":6379}
a password may come from the environment -> --url redis://u@g -> REDIS_PASSWORD=p ->  -> {"username":"u","password":"p"}
a typed database beats that of the URL -> --db 3 -> REDIS_URL=redis://g/2 ->  -> {"host":"g","db":3}
variables of the embedded servers wait for their turn -> --host h -> MILLRACE_SERVER_BIN=x -> MILLRACE_SHARDS=5 -> {"host":"h","shards":5}
other variables do not matter ->  -> WIBBLE=1 MILLRACE_NO_DOTENV=1 MILLRACE_PEERS=/x -> WOBBLE=1 -> {"quantity":10000}
`)
for (const [name, line, variables, dotenvText, expected] of sources)
  test(name, () => {
    const settings = /** @type {any} */ (
      read(line, dotenv.parse(variables.replaceAll(' ', '\n')), dotenvText)
    )
    for (const [key, value] of Object.entries(JSON.parse(expected)))
      assert.deepEqual(settings[key] ?? null, value, key)
  })

test('a bad variable is named', () => {
  assert.equal(refusal('', { MILLRACE_TTL: 'x' }).split(' must')[0], 'MILLRACE_TTL')
  assert.equal(refusal('', { REDIS_TLS: 'maybe' }), "REDIS_TLS must be true or false, not 'maybe'")
  assert.match(refusal('', {}, 'MILLRACE_QUANTITY=many'), /^MILLRACE_QUANTITY in \.env must be/)
  assert.equal(
    refusal('', { MILLRACE_WS: '1', SORTED_SET_CONTAINS_ACTUAL_VALUE: '1' }),
    'SORTED_SET_CONTAINS_ACTUAL_VALUE and MILLRACE_WS exclude each other',
  )
  assert.equal(
    refusal('--cluster --shards 3', { REDIS_URL: 'redis://h' }),
    '--shards is for local servers, but REDIS_URL is an address',
  )
})

test('a URL becomes its parts, decoded', () => {
  const { url, host, port, username, password, db, tls, given } = read('', {
    REDIS_URL: 'rediss://us%40er:p%2Fw%3A@[::1]:7001/2',
  })
  assert.deepEqual(
    { url, host, port, username, password, db, tls },
    {
      url: 'rediss://[::1]:7001/2',
      host: '::1',
      port: 7001,
      username: 'us@er',
      password: 'p/w:',
      db: 2,
      tls: true,
    },
  )
  assert.equal(given.password, 'environment')
})

test('nothing secret is shown', () => {
  const lines = [
    '--url http://u:hunter2@h',
    '--url redis://u:hunter2@h:99999',
    '--url redis://u:hun/ter2hunter2@h',
    '--url redis://u:hunter2@h --host h',
    '-a hunter2 --host h',
    '--pass hunter2',
    '--host h --pass hunter2 --password-file f',
    '--url redis://u:hunter2@h/1 --cluster',
    '--url redis://u:hunter2@h --password hunter2x',
    '--host h --password secret hunter2',
    '--password hunter2',
    '--pasword=hunter2 --host h',
    '--pasword hunter2 --host h',
    '--host redis://u:hunter2@h',
    'redis://u:hunter2@h redis://v:hunter2@g',
    '--rate hunter2@h',
    '--rate 5,u:hunter2@h',
    '--rate 5,hunter2@h',
    '--rate 5@3s,redis://hunter2@h',
    '--rate 5hunter2@10.0.0.1',
  ]
  for (const line of lines) assert.doesNotMatch(refusal(line), /hunter2/, line)
  assert.doesNotMatch(refusal('', { REDIS_URL: 'hunter2' }), /hunter2/)

  const settings = read('--url redis://u:hunter2@h')
  assert.equal(settings.password, 'hunter2')
  // The @ of a rate's time is none of an address.
  for (const schedule of ['10k@30s,20k', '10@5s,x@3', '10@5s,20@', 'x@3,10@5x', '10@5x', '10k@30s,@1m'])
    for (const option of ['--rate', '--fetch-rate'])
      assert.match(
        sentence(() =>
          readSettings({
            program: option === '--rate' ? 'producer' : 'consumer',
            argv: [option, schedule],
            env: {},
          }),
        ),
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
  const folder = mkdtempSync(join(tmpdir(), 'millrace-'))
  t.after(() => rmSync(folder, { recursive: true }))
  assert.equal(loadDotenv(folder, {}), undefined)
  writeFileSync(join(folder, '.env'), 'MILLRACE_QUANTITY=5\n')
  assert.equal(loadDotenv(folder, {}), 'MILLRACE_QUANTITY=5\n')
  assert.equal(loadDotenv(folder, { MILLRACE_NO_DOTENV: '1' }), undefined)
  mkdirSync(join(folder, 'odd', '.env'), { recursive: true })
  assert.match(
    sentence(() => loadDotenv(join(folder, 'odd'), {})),
    /^\.env cannot be read \(EISDIR\)/,
  )
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
    assert.ok(brief.split('\n').length < 40, `${program}: ${brief.split('\n').length} lines`)
    for (const line of brief.split('\n')) assert.ok(line.length <= 80, line)
    assert.ok(brief.indexOf('Examples') < brief.indexOf('Options'))
    const listed = brief.match(/^ +-/gm)?.length ?? 0
    assert.ok(listed >= 15 && listed <= 25, `${program}: ${listed} options`)
    for (const columns of [40, 80, 120, 400]) {
      const whole = await helpOf(name, true, columns)
      for (const { name, aliases, hidden } of optionsOf(program))
        for (const known of [name, ...aliases])
          assert.equal(new RegExp(`^ +(-.*, )?--?${known}\\b(?!-)`, 'm').test(whole), !hidden, known)
      for (const line of whole.split('\n').filter((one) => !/millrace |^ {2}#/.test(one)))
        assert.ok(line.length <= Math.max(columns, 80) && line.length <= 120, line)
    }
  }
  const writers = ['--rate', '--chunks', '--warm-up', '--max-members', '--connections']
  const ofReader = await helpOf('read', true)
  for (const name of writers) assert.ok(!ofReader.includes(name), name)
  for (const argv of [['--version'], ['--help', '--wibble'], ['-h', 'all']])
    assert.match(
      sentence(() => readSettings({ program: 'producer', argv, env: {} })),
      /^--help and --version are no options of a run$/,
    )
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
  assert.match(
    read('--host h -p 7001').cautions[0],
    /^-p 7001 is a period of 7\.001 s; the port is --port 7001/,
  )
  for (const line of ['--host h -p 2500', '--host h --port 1 -p 7001', '-p 7001', '--host h -p 7001ms'])
    assert.deepEqual(read(line).cautions, [], line)
  assert.match(read('-p 6379').cautions[0], /^-p 6379 is a period of 6\.379 s; the port is --port 6379/)
  assert.match(read('-p 26379').cautions[0], /the port is --port 26379/)
  assert.match(
    read('--host h -c 50 -t 4').cautions[0],
    /^-t 4: this process is one of 4 writers and writes 1\/4/,
  )
  for (const line of [
    '-p 6379ms',
    '-p 6400',
    '--period 6379',
    '--host h -t 8',
    '--host h -c 50 -t 4 -a all',
    '-c 5 -t 4',
  ])
    assert.deepEqual(read(line).cautions, [], line)
})

test('the password of other tools is never echoed, and understood', () => {
  assert.match(
    refusal('-a s3cret --host h'),
    /^--agent must be .* not shown: a password is given as REDIS_PASSWORD/,
  )
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

test('another program shares the options of the target', () => {
  const argv = ['--url', 'redis://h', '--cluster']
  const settings = readSettings({ program: 'consumer', argv, env: {} })
  assert.ok('given' in settings)
  assert.deepEqual([settings.host, settings.cluster, 'chunks' in settings], ['h', true, false])
  assert.match(
    sentence(() => readSettings({ program: 'consumer', argv: ['--chunks', '5'], env: {} })),
    /^unknown option --chunks/,
  )
})

test('names, aliases and variables are unique', () => {
  for (const list of [
    OPTIONS.flatMap(({ name, aliases, also }) => [name, ...aliases, ...also]),
    OPTIONS.flatMap(({ env, alsoEnv }) => [env ?? [], alsoEnv].flat()),
  ])
    assert.equal(new Set(list).size, list.length)
  for (const { on } of OPTIONS.filter(({ key, on }) => key === 'strategy' && on))
    assert.ok(isStrategy(String(on)))
})
