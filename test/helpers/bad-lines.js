// Command lines, environments and .env files that must not be taken, and what has to be named.
import assert from 'node:assert/strict'
import { OptionError } from '../../lib/base/errors.js'
import { readSettings } from '../../lib/options/read-settings.js'

/** @typedef {'producer' | 'consumer' | 'cleanup'} Program */
/** @typedef {{ line?: string, env?: Record<string, string>, dotenvText?: string }} Input */
/** @typedef {[line: string, names: RegExp]} BadLine */
/** @typedef {[env: Record<string, string>, line: string, names: RegExp]} BadEnvironment */

/** @type {BadLine[]} of the producer */
const producerLines = [
  // numbers
  ['-q 1__0', /^--quantity must/],
  ['-q 10_', /^--quantity must/],
  ['--host u:hunter2@h', /^--host must be a name or an address, without a port, not '\*\*\*@h'$/],
  ['-q -1', /^--quantity must/],
  ['-q 1e5', /^--quantity must/],
  ['-q 99999999999999999999999', /^--quantity must/],
  ['-q 5kk', /^--quantity must/],
  ['-q NaN', /^--quantity must/],
  ['-q Infinity', /^--quantity must/],
  ['-q ١٢', /^--quantity must/],
  ['-q 10,000', /^--quantity must/],
  ['-q=', /^--quantity needs a value$/],
  ['-p -5', /^--period must/],
  ['-p 25h', /^--period must/],
  ['-p 1.5ms', /^--period must/],
  ['-p ms', /^--period must/],
  ['-c 0', /^--chunks must/],
  ['-c 2M', /^--chunks must/],
  ['-c two', /^--chunks must/],
  ['-t 0', /^--total-agents must/],
  ['-t 10001', /^--total-agents must/],
  ['-t -3', /^--total-agents must/],
  ['-a 3-2 -t 4', /^--agent must/],
  ['-a 1-2-3', /^--agent must/],
  ['-a every', /^--agent must/],
  ['--ttl 0', /^--ttl must/],
  ['--ttl -3', /^--ttl must/],
  ['--ttl 9000h', /^--ttl must/],
  ['--value-size 1TB', /^--value-size must/],
  ['--value-size 513MB', /^--value-size must/],
  ['--ns 0', /^--ns must/],
  ['--ns 16385', /^--ns must/],
  ['--extra-sorted-sets 101', /^--extra-sorted-sets must/],
  ['--extra-sorted-sets -1', /^--extra-sorted-sets must/],
  ['--max-members -1', /^--max-members must/],
  ['--max-members some', /^--max-members must/],
  ['--max-behind 0', /^--max-behind must/],
  ['--max-behind 2d', /^--max-behind must/],
  ['--window 1', /^--window must/],
  ['--window 2GB', /^--window must/],
  ['--seed -1', /^--seed must/],
  ['--duration 0', /^--duration must/],
  ['--intervals 0', /^--intervals must/],
  ['--intervals 1.5', /^--intervals must/],
  ['--warm-up 25h', /^--warm-up must/],
  // words
  [
    '--strategy sortedset',
    /^--strategy must not be 'sortedset'; did you mean sorted-set\? It must be one of sorted-set,/,
  ],
  ['--strategy SORTED-SET', /^--strategy must/],
  ['--strategy __proto__', /^--strategy must/],
  ['--strategy constructor', /^--strategy must/],
  ['--payload text', /^--payload must be one of/],
  ['--pacing fast', /^--pacing must be one of/],
  ['--driver redis', /^--driver must be one of/],
  [
    '--driver-option inFlight=5',
    /^--driver-option is for client libraries: add --driver with one of ioredis, iovalkey/,
  ],
  [
    '--driver node-redis --driver-option pingInterval',
    /^--driver-option must be NAME=VALUE of a client library/,
  ],
  [
    '--driver node-redis --driver-option family=4',
    /^--driver-option family: node-redis has inFlight, commandTimeout/,
  ],
  [
    '--driver node-redis --driver-option pingInterval=soon',
    /^--driver-option pingInterval must be whole milliseconds/,
  ],
  [
    '--driver ioredis --driver-option enableAutoPipelining=2',
    /^--driver-option enableAutoPipelining must be true or false/,
  ],
  [
    '--driver valkey-glide --driver-option inflightRequestsLimit=0',
    /^--driver-option inflightRequestsLimit must be a whole number from 1/,
  ],
  [
    '--driver node-redis --connections 2',
    /^--connections is for plain sockets: node-redis keeps one connection/,
  ],
  [
    '--driver valkey-glide --sentinel m --host h',
    /^--sentinel goes with the drivers socket, ioredis and iovalkey, not valkey-glide/,
  ],
  [
    '--driver node-redis --cluster --host h',
    /^--driver node-redis connects to every node that the cluster names.*--allow named-hosts/,
  ],
  [`--prefix ${'p'.repeat(101)}`, /^--prefix must be/],
  ['--prefix \u001b[31m', /^--prefix must be/],
  ['--run .hidden', /^--run must be/],
  [`--run ${'r'.repeat(101)}`, /^--run must be/],
  ['--run', /^--run needs a value$/],
  ['--out \u0007', /^--out must be a path/],
  ['--out=', /^--out needs a value$/],
  // what must not stand together
  ['--ws --sk', /--ws.*--sk|--sk.*--ws/],
  ['--actual-value --ss', /--actual-value.*--ss|--ss.*--actual-value/],
  ['--sl --ns 4', /^--ns: --sl keeps no sorted set$/],
  ['--ss --spread', /^--spread: --ss keeps no sorted set$/],
  ['--strategy stream --extra-sorted-sets 1', /^--extra-sorted-sets: --strategy stream keeps no sorted set$/],
  // the target
  ['--url redis://h:99999', /^--url must be redis:/],
  ['--url redis://a,b', /^--url must be redis:/],
  ['--host a/b', /^--host must/],
  ['--port 0', /^--port must/],
  ['--port redis', /^--port must/],
  ['--db -1 --host h', /^--db must/],
  ['--db x --host h', /^--db must/],
  ['--username u --host h', /^--username needs a password/],
  ['--password= --host h', /^--password needs a value$/],
  ['--host h --ask-password --password p', /exclude each other$/],
  ['--host h --shards 2', /^--shards is for local servers/],
  ['--host h --server-config hz=50', /^--server-config is for local servers/],
  ['--server-config hz', /^--server-config must be NAME=VALUE/],
  ['--server-config port=1', /^--server-config must be NAME=VALUE/],
  ['--server-config requirepass=x', /^--server-config must be NAME=VALUE/],
  ['--strategy lookup-get --fill populate keys', /^unexpected word on the command line after --fill/],
  ['--strategy lookup-get --fill=all', /^--fill must be one of keys, populate, none/],
  ['--strategy lookup-get --fill populate --cluster', /^--fill populate: a server of a cluster makes keys/],
  ['--snapshot', /^--snapshot is an option of lookup/],
  ['--cluster --shards 0', /^--shards must/],
  ['--cluster --shards 33', /^--shards must/],
  ['--cluster --replicas 6', /^--replicas must/],
  ['--allow everything', /^--allow must be one of/],
  ['--allow memory,', /^--allow must not be 'memory,'; did you mean memory\? It must be one of/],
  ['--guard maybe', /^--guard must be limits/],
  ['--guard memory>100%', /^--guard must be limits/],
  ['--guard lag>fast', /^--guard must be limits/],
  ['--guard >', /^--guard must be limits/],
  // what no option is
  ['--quanttity 5', /^unknown option --quanttity; did you mean --quantity\?$/],
  ['-tls', /^unknown option -tls; did you mean --tls\?$/],
  ['--constructor', /^unknown option/],
  ['--\u001b[31mred', /^unknown option/],
  ['--json --json', /^--json is given twice$/],
  ['--report --no-report', /^--report and --no-report: give one of them$/],
  ['-q 5 --ws --ws=true', /^--ws is given twice$/],
  ['--cluster=1', /^--cluster takes no value$/],
  ['--limit 5', /^unknown option --limit/],
  ['5', /^unexpected word on the command line \(not shown: it may be a password\)$/],
  ['--password pass word --host h', /^unexpected word on the command line after --password \(not shown/],
]

/** @type {BadLine[]} */
const consumerLines = [
  ['--limit all', /^--limit must/],
  ['--mode auto', /^--mode must/],
  ['--fetch hget', /^--fetch must/],
  ['--chunks 3', /^unknown option --chunks/],
  ['--allow memory', /^unknown option --allow/],
  ['--username u', /^--username needs an address/],
]

/** @type {BadLine[]} */
const cleanupLines = [
  ['--yes=sure', /^--yes takes no value$/],
  ['--force', /^unknown option --force/],
  ['-q 5', /^unknown option -q/],
  ['--prefix {', /^--prefix must be/],
  ['now', /^unexpected word/],
  ['--db 3', /^--db needs an address/],
]

/** @type {BadEnvironment[]} */
const environments = [
  [{ MILLRACE_QUANTITY: 'many' }, '', /^MILLRACE_QUANTITY must be a whole number/],
  [{ MILLRACE_CHUNKS: '0' }, '', /^MILLRACE_CHUNKS must/],
  [{ MILLRACE_STRATEGY: 'x' }, '', /^MILLRACE_STRATEGY must/],
  [{ MILLRACE_WS: 'maybe' }, '', /^MILLRACE_WS must be true or false/],
  [{ MILLRACE_WS: '1', MILLRACE_SS: '1' }, '', /MILLRACE_WS.*MILLRACE_SS|MILLRACE_SS.*MILLRACE_WS/],
  [{ SORTED_SET_CONTAINS_ACTUAL_VALUE: '2' }, '', /^SORTED_SET_CONTAINS_ACTUAL_VALUE must be true or false/],
  [
    { SORTED_SET_CONTAINS_ACTUAL_VALUE: 'true', MILLRACE_STAMP: 'true' },
    '',
    /^MILLRACE_STAMP with SORTED_SET_CONTAINS_ACTUAL_VALUE/,
  ],
  [{ REDIS_URL: 'nonsense' }, '', /^REDIS_URL must be redis:/],
  [{ REDIS_URL: 'redis://user:hunter2@ho st' }, '', /^REDIS_URL must be redis:/],
  [{ REDIS_URL: 'redis://h', REDIS_HOST: 'g' }, '', /^REDIS_URL and REDIS_HOST exclude each other/],
  [{ REDIS_HOST: 'h:1' }, '', /^REDIS_HOST must/],
  [{ REDIS_PORT: '70000' }, '', /^REDIS_PORT must/],
  [{ REDIS_PASSWORD: 'hunter2' }, '', /^REDIS_PASSWORD needs an address/],
  [{ REDIS_TLS: 'ja' }, '', /^REDIS_TLS must be true or false/],
  [{ REDIS_DB: 'x', REDIS_HOST: 'h' }, '', /^REDIS_DB must/],
  [{ REDIS_CA: 'x', REDIS_HOST: 'h' }, '', /^REDIS_CA needs --tls/],
  [{ REDIS_CLUSTER: 'yes', REDIS_DB: '2', REDIS_HOST: 'h' }, '', /^REDIS_DB: database 2 with REDIS_CLUSTER/],
  [{ MILLRACE_AGENT: '9' }, '', /^MILLRACE_AGENT: number 9 is above/],
  [{ MILLRACE_TOTAL_AGENTS: '8' }, '-q 5', /MILLRACE_TOTAL_AGENTS/],
  [{ MILLRACE_GUARD: 'x' }, '', /^MILLRACE_GUARD must/],
  [{ MILLRACE_ALLOW: 'x' }, '', /^MILLRACE_ALLOW must/],
  [{ MILLRACE_RUN: '..' }, '', /^MILLRACE_RUN must/],
  [{ MILLRACE_TTL: '1.5' }, '', /^MILLRACE_TTL must/],
  [{ MILLRACE_QUANTTY: '5' }, '', /^unknown variable MILLRACE_QUANTTY; did you mean MILLRACE_QUANTITY\?$/],
  [{ MILLRACE_WIBBLE: '5' }, '', /^unknown variable MILLRACE_WIBBLE$/],
]

/** @type {BadLine[]} a .env, and what it must be blamed for */
const dotenvs = [
  ['MILLRACE_QUANTTY=5', /^unknown variable MILLRACE_QUANTTY in \.env; did you mean MILLRACE_QUANTITY\?$/],
  ['MILLRACE_QUANTITY=many', /^MILLRACE_QUANTITY in \.env must/],
  ['MILLRACE_QUANTITY=-5\nMILLRACE_TTL=3', /^MILLRACE_QUANTITY in \.env must/],
  ['REDIS_URL=http://h', /^REDIS_URL in \.env must/],
  ['REDIS_PORT=0', /^REDIS_PORT in \.env must/],
  ['REDIS_PASSWORD=hunter2', /^REDIS_PASSWORD in \.env needs an address/],
  ['MILLRACE_SL=perhaps', /^MILLRACE_SL in \.env must be true or false/],
  ['MILLRACE_SL=true\nMILLRACE_SS=true', /MILLRACE_S[LS] in \.env/],
  ['export MILLRACE_PERIOD="soon"', /^MILLRACE_PERIOD in \.env must/],
  ['MILLRACE_PAYLOAD=\u001b[2J', /^MILLRACE_PAYLOAD in \.env must/],
  ['MILLRACE_PREFIX=" {x}"', /^MILLRACE_PREFIX in \.env must/],
]

export const badInputs = /** @type {{ program: Program, input: Input, names: RegExp }[]} */ ([
  ...producerLines.map(([line, names]) => ({ program: 'producer', input: { line }, names })),
  ...consumerLines.map(([line, names]) => ({ program: 'consumer', input: { line }, names })),
  ...cleanupLines.map(([line, names]) => ({ program: 'cleanup', input: { line }, names })),
  ...environments.map(([env, line, names]) => ({ program: 'producer', input: { env, line }, names })),
  ...dotenvs.map(([dotenvText, names]) => ({ program: 'producer', input: { dotenvText }, names })),
])

/** The error of a program's own options, without starting it. @param {Program} program @param {Input} input */
export const refusalOf = (program, { line = '', env = {}, dotenvText }) => {
  try {
    readSettings({ program, argv: line.split(' ').filter(Boolean), env, dotenvText })
  } catch (error) {
    assert.ok(error instanceof OptionError, String(error))
    assert.equal(error.exitCode, 2)
    return error.message
  }
  return assert.fail('taken')
}

/** The text of stderr, which must be one line without a secret or a stack. @param {string} stderr */
export const onlyLine = (stderr) => {
  assert.match(stderr, /^[^\n]+\n$/, 'one line')
  assert.doesNotMatch(stderr, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]|hunter2|\bat .+:\d+:\d+/)
  return stderr.slice(0, -1)
}
