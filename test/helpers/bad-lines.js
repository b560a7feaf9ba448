// Command lines, environments and .env files that must not be taken, and what has to be named.
import assert from 'node:assert/strict'
import { OptionError } from '../../lib/base/errors.js'
import { readSettings } from '../../lib/options/read-settings.js'
import { rowsOf } from './table.js'

/** @typedef {'producer' | 'consumer' | 'cleanup'} Program */
/** @typedef {{ line?: string, env?: Record<string, string>, dotenvText?: string }} Input */

// Each row: what is refused, several with | between them, and what the error must match.
const producerLines = String.raw`
-q 1__0 | -q 10_ | -q -1 | -q 1e5 | -q 99999999999999999999999 | -q 5kk | -q NaN | -q Infinity -> ^--quantity must
-q ١٢ | -q 10,000 -> ^--quantity must
--host u:hunter2@h -> ^--host must be a name or an address, with or without :port, not '\*\*\*@h'$
-p -5 | -p 25h | -p 1.5ms | -p ms -> ^--period must
-a 3-2 -t 4 | -a 1-2-3 | -a every -> ^--agent must
--strategy sortedset -> ^--strategy 'sortedset' is unknown; did you mean sorted-set\? It must be one of sorted-set,
--strategy SORTED-SET | --strategy __proto__ | --strategy constructor -> ^--strategy must
--driver-option inFlight=5 -> ^--driver-option is for client libraries: add --driver with one of ioredis, iovalkey
--driver node-redis --driver-option pingInterval -> ^--driver-option must be NAME=VALUE of a client library
--driver node-redis --driver-option family=4 -> ^--driver-option family: node-redis has inFlight, commandTimeout
--driver node-redis --driver-option pingInterval=soon -> ^--driver-option pingInterval must be whole milliseconds
--driver ioredis --driver-option enableAutoPipelining=2 -> ^--driver-option enableAutoPipelining must be true or false
--driver valkey-glide --driver-option inflightRequestsLimit=0 -> ^--driver-option inflightRequestsLimit must be a whole number from 1
--driver node-redis --connections 2 -> ^--connections is for plain sockets: node-redis keeps one connection
--driver valkey-glide --sentinel m --host h -> ^--sentinel goes with the drivers socket, ioredis and iovalkey, not valkey-glide
--driver node-redis --cluster --host h -> ^--driver node-redis connects to every node that the cluster names.*--allow named-hosts
--prefix ${'p'.repeat(101)} | --prefix \u001b[31m -> ^--prefix must be
--run .hidden | --run ${'r'.repeat(101)} -> ^--run must be
--run -> ^--run needs a value$
--out \u0007 -> ^--out must be a path
--out= -> ^--out needs a value$
--url redis://h:99999 | --url redis://a,b -> ^--url must be redis:
--host a/b -> ^--host must
--username u --host h -> ^--username needs a password
--password= --host h -> ^--password needs a value$
--host h --ask-password --password p -> exclude each other$
--host h --server-config hz=50 -> ^--server-config is for local servers
--server-config hz | --server-config port=1 | --server-config requirepass=x -> ^--server-config must be NAME=VALUE
--strategy lookup-get --fill populate keys -> ^unexpected word on the command line after --fill
--json true | --json false -> ^unexpected word on the command line after --json \(not shown
--no-json true -> ^unexpected word on the command line after --no-json \(not shown
--strategy lookup-get --no-fill populate -> ^unexpected word on the command line after --no-fill, which takes one of keys
--strategy lookup-get --fill populate --cluster -> ^--fill populate: a server of a cluster makes keys
--with snapshot -> ^--with snapshot is an option of lookup
--allow memory, -> ^--allow 'memory,' is unknown; did you mean memory\? It must be one of
--guard maybe | --guard memory>100% | --guard lag>fast | --guard > -> ^--guard must be limits
--constructor | --\u001b[31mred -> ^unknown option
--json --json -> ^--json is given twice$
-q 5 --ws --ws=true -> ^--ws is given twice$
--limit 5 -> ^unknown option --limit
5 -> ^unexpected word on the command line \(not shown: it may be a password\)$
--password pass word --host h -> ^unexpected word on the command line after --password \(not shown
-t 4 -a 5 -> ^--agent.*--total-agents
-q 5 -t 8 -> ^--quantity.*--total-agents
--quantitty 5 -> ^unknown option --quantitty.*--quantity
-c 20 -q 10 -> ^--chunks
--run no/slash -> ^--run must be
--duration 5 --intervals 2 -> ^--duration and --intervals exclude each other
--strategy counter-loop --with bundle-size=5 -> ^--with bundle-size is not an option of counter-loop
--strategy counter-script --with lose-every=5 -> ^--with lose-every needs --with delay
--strategy counter-auto-pipeline --driver socket -> ^--driver socket: counter-auto-pipeline runs on ioredis only
--strategy counter-script --duration 5s -> ^--duration: the passes of counter-script end .* --rate
--strategy counter-script --arrivals poisson -> ^--arrivals: the passes of counter-script end .* --rate
--strategy counter-script --with delay=5h -> ^--with delay.* must be a time from 0ms to 10s
--strategy counter-script --with structure=list -> ^--with structure.* must be one of zset, hash, string
--strategy lookup-get --with delay=5ms -> ^--with delay is not an option of lookup-get
--strategy membership-set --with partitions=3 -> ^--with partitions must be a power of 2
--strategy membership-flat --with partitions=4 -> ^--with partitions is not an option of membership-flat
--strategy membership-set --fill -> ^--fill keys: the passes of membership-set end .* --rate
--strategy membership-set --duration 5s -> ^--duration: the passes of membership-set end .* --rate
--strategy membership-set --rate 5 --fill populate -> ^--fill populate makes strings only
--strategy membership-bloom --with false-positives=2 -> ^--with false-positives.* must be a share from 0.000001 to 0.5
--strategy query-scan --cluster -> ^--cluster: queries run on one server
--strategy update-hash --cluster -> ^--cluster: documents are on one server
--strategy update-watch --with selectivity=0.1 -> ^--with selectivity is not an option of update-watch
--strategy query-scan --with update-rate=5 -> ^--with update-rate needs --with update-writers
--strategy query-scan --items 5 --with update-writers=6 -> ^--with update-writers: each of them needs a document
--strategy query-scan --with scan-count=5 -> ^--with scan-count is not an option of query-scan
--strategy query-scan --with selectivity=0.9 -> ^--with selectivity.* must be a share from 0.0001 to 0.5
--strategy query-scan --with sort=price -> ^--with sort must be one of created, created-desc
--with selectivity=0.1 -> ^--with selectivity is an option of query; add --strategy query-
--strategy lookup-get -c 5 -> ^--chunks is not an option of lookup-get
--strategy lookup-get --fill populate --ttl 5 -> ^--ttl with --fill populate: the keys that a server makes
--strategy lookup-get --with ratio=1:2 -> ^--with ratio is not an option of lookup-get
--strategy lookup-get --driver ioredis -> ^--driver ioredis: lookup-get runs on plain sockets only
--strategy lookup-mix --with ratio=0:0 -> ^--with ratio must be writes:reads
--strategy lookup-get --arrivals poisson -> ^--arrivals needs --rate with a number
--strategy lookup-get --rate fast -> ^--rate must be max or a number
--fill -> ^--fill keys is an option of lookup, cache, membership; add --strategy lookup-get
--rate 500 -p 5 -> ^--rate and --period exclude each other
`
const consumerLines = `
--chunks 3 -> ^unknown option --chunks
--allow memory -> ^unknown option --allow
`
const cleanupLines = `
--yes=sure -> ^--yes takes no value$
--force -> ^unknown option --force
-q 5 -> ^unknown option -q
--prefix { -> ^--prefix must be
now -> ^unexpected word
`
/** Variables, and options where there are some, with & between them. */
const environments = String.raw`
MILLRACE_QUANTITY=many -> ^MILLRACE_QUANTITY must be a whole number
MILLRACE_CHUNKS=0 -> ^MILLRACE_CHUNKS must
MILLRACE_STRATEGY=x -> ^MILLRACE_STRATEGY must
MILLRACE_WS=maybe -> ^MILLRACE_WS must be true or false
MILLRACE_WS=1 & MILLRACE_SS=1 -> MILLRACE_WS.*MILLRACE_SS|MILLRACE_SS.*MILLRACE_WS
SORTED_SET_CONTAINS_ACTUAL_VALUE=2 -> ^SORTED_SET_CONTAINS_ACTUAL_VALUE must be true or false
SORTED_SET_CONTAINS_ACTUAL_VALUE=true & MILLRACE_STAMP=true -> ^MILLRACE_STAMP with SORTED_SET_CONTAINS_ACTUAL_VALUE
REDIS_URL=nonsense | REDIS_URL=redis://user:hunter2@ho st -> ^REDIS_URL must be redis:
REDIS_URL=redis://h & REDIS_HOST=g -> ^REDIS_URL and REDIS_HOST exclude each other
REDIS_HOST=h:x -> ^REDIS_HOST must
REDIS_PORT=70000 -> ^REDIS_PORT must
REDIS_PASSWORD=hunter2 -> ^REDIS_PASSWORD needs an address
REDIS_TLS=ja -> ^REDIS_TLS must be true or false
REDIS_DB=x & REDIS_HOST=h -> ^REDIS_DB must
REDIS_CA=x & REDIS_HOST=h -> ^REDIS_CA needs --tls
REDIS_CLUSTER=yes & REDIS_DB=2 & REDIS_HOST=h -> ^REDIS_DB: database 2 with REDIS_CLUSTER
MILLRACE_AGENT=9 -> ^MILLRACE_AGENT: number 9 is above
MILLRACE_TOTAL_AGENTS=8 & -q 5 -> MILLRACE_TOTAL_AGENTS
MILLRACE_GUARD=x -> ^MILLRACE_GUARD must
MILLRACE_ALLOW=x -> ^MILLRACE_ALLOW must
MILLRACE_RUN=.. -> ^MILLRACE_RUN must
MILLRACE_TTL=1.5 -> ^MILLRACE_TTL must
MILLRACE_QUANTTY=5 -> ^unknown variable MILLRACE_QUANTTY; did you mean MILLRACE_QUANTITY\?$
MILLRACE_WIBBLE=5 -> ^unknown variable MILLRACE_WIBBLE$
`
const dotenvs = String.raw`
MILLRACE_QUANTTY=5 -> ^unknown variable MILLRACE_QUANTTY in \.env; did you mean MILLRACE_QUANTITY\?$
MILLRACE_QUANTITY=many | MILLRACE_QUANTITY=-5\nMILLRACE_TTL=3 -> ^MILLRACE_QUANTITY in \.env must
REDIS_URL=http://h -> ^REDIS_URL in \.env must
REDIS_PORT=0 -> ^REDIS_PORT in \.env must
REDIS_PASSWORD=hunter2 -> ^REDIS_PASSWORD in \.env needs an address
MILLRACE_SL=perhaps -> ^MILLRACE_SL in \.env must be true or false
MILLRACE_SL=true\nMILLRACE_SS=true -> MILLRACE_S[LS] in \.env
export MILLRACE_PERIOD="soon" -> ^MILLRACE_PERIOD in \.env must
MILLRACE_PAYLOAD=\u001b[2J -> ^MILLRACE_PAYLOAD in \.env must
MILLRACE_PREFIX=" {x}" -> ^MILLRACE_PREFIX in \.env must
`

const controls = /\\u([0-9a-f]{4})/g
/** @param {string} text @param {(refused: string) => Input} inputOf @param {Program} [program] */
const inputsIn = (text, inputOf, program = 'producer') =>
  rowsOf(text).flatMap(([all, names]) =>
    all.split(' | ').map((refused) => {
      const typed = refused.replaceAll(controls, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
      return { program, input: inputOf(typed), names: new RegExp(names) }
    }),
  )
const ofLine = (/** @type {string} */ line) => ({ line })
const isVariable = (/** @type {string} */ word) => /^[A-Z_]+=/.test(word)
const ofEnvironment = (/** @type {string} */ text) => {
  const words = text.split(' & ')
  return {
    env: Object.fromEntries(words.filter(isVariable).map((word) => word.split('='))),
    line: words.filter((word) => !isVariable(word)).join(' '),
  }
}

export const badInputs = [
  ...inputsIn(producerLines, ofLine),
  ...inputsIn(consumerLines, ofLine, 'consumer'),
  ...inputsIn(cleanupLines, ofLine, 'cleanup'),
  ...inputsIn(environments, ofEnvironment),
  ...inputsIn(dotenvs, (dotenvText) => ({ dotenvText })),
]

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
