// A user's own model: what templates put on the wire, and how a mistake is reported.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { readSettings } from '../../lib/options/read-settings.js'
import { announcedFault, announcedHash, announcementOf, markerS } from '../../lib/plan/announcement.js'
import { typesOfPlan } from '../../lib/plan/ownership.js'
import { tickValues } from '../../lib/plan/tick-values.js'
import { batchOf } from '../../lib/transport/tick-batches.js'
import { plainCommand } from '../../lib/wire/encode.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { strategyNamed } from '../../lib/workloads/index.js'
import { planFieldsOf, random, writer } from '../../lib/workloads/own/fields.js'
import { loadCommands, loadModel } from '../../lib/workloads/own/load.js'
import { ownFolder } from '../helpers/programs.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { rowsOf, valuesOf } from '../helpers/table.js'

/** @import { Settings } from '../../settings.js' */

const epochMs = 1_790_000_012_345
const minute = Math.floor(epochMs / 60_000)
const values = tickValues(epochMs, 3)

/** @param {string} strategy @param {Partial<Settings>} [settings] */
const planFor = (strategy, settings) =>
  samplePlan({ quantity: 3, valueBytes: 4, payload: 'sparse', strategy, ...settings })

/** Commands of a tick of items 1 to 3. @param {string[]} lines @param {Partial<Settings>} [settings] */
const sentByLines = (lines, settings) =>
  strategyOf(planFor(loadCommands(lines), settings))
    .steps()
    .flatMap((step) => {
      const batch = batchOf(step, { first: 1, count: 3 }, { cluster: false, values })
      return Array.from({ length: batch.count }, (_, i) => plainCommand(batch.args(i), values).join(' '))
    })

/** @param {string[]} lines @param {Partial<Settings>} [settings] */
const strategyBy = (lines, settings) => strategyOf(planFor(loadCommands(lines), settings))

for (const [what, template, ...sent] of rowsOf(`
a template is a command for each item -> SETEX item:{n} {ttl} {value} -> SETEX p:item:1 3 1000 -> SETEX p:item:2 3 2000 -> SETEX p:item:3 3 3000
or one for many -> ZADD latest {time} {key}... -> ZADD p:latest ${epochMs} p:item:1 ${epochMs} p:item:2 ${epochMs} p:item:3
or one for a tick -> ZREMRANGEBYSCORE latest -inf ({oldest} -> ZREMRANGEBYSCORE p:latest -inf (${epochMs - 3000}
what varies before the dots is repeated -> HSET h:{minute} f:{n} {value}... -> HSET p:h:${minute} f:1 1000 f:2 2000 f:3 3000
or what is in brackets -> HSETEX h EX {ttl} FIELDS {count} [f:{n} fixed]... -> HSETEX p:h EX 3 FIELDS 3 f:1 fixed f:2 fixed f:3 fixed
also behind words in quotes -> ZADD 'two words' NX [1 {n}]... -> ZADD p:two words NX 1 1 1 2 1 3
`))
  test(`templates: ${what}`, () => {
    // A command of each item is needed beside one for a tick.
    const all = sentByLines(['SETEX item:{n} 9 x', template], { prefix: 'p:' })
    assert.deepEqual(all.slice(3), sent)
  })

test('keys that differ by item are gathered apart, and braces make a tag', () => {
  const shared = { totalAgents: 2, quantity: 4, agent: [1, 2] }
  assert.deepEqual(sentByLines(['SADD s:{writer}{{t{writer}}} {n}...'], shared).sort(), [
    'SADD s:1{t1} 1 2',
    'SADD s:2{t2} 3',
  ])
})

test('{random a b} is uniform, the same for an item, and another by its seed', () => {
  const t = planFieldsOf(planFor('sorted-set'))
  const draw = random(t, 5, 24)
  const counts = new Array(20).fill(0)
  const items = 20_000
  for (let n = 1; n <= items; n++) counts[/** @type {number} */ (draw.forItem?.(n)) - 5]++
  const chi2 = counts.reduce((sum, found) => sum + (found - items / 20) ** 2 / (items / 20), 0)
  // 19 degrees of freedom: 43.8 is exceeded once in a thousand.
  assert.ok(chi2 < 43.8, `chi-square ${chi2}`)
  const other = random({ ...t, seed: 2 }, 5, 24)
  const same = Array.from({ length: 1000 }, (_, n) => n).filter(
    (n) => draw.forItem?.(n) === other.forItem?.(n),
  )
  assert.ok(same.length < 100, `${same.length} of 1000 are the same with another seed`)
  assert.equal(draw.forItem?.(77), random(t, 5, 24).forItem?.(77))
})

test('{writer} is the owner of the item, also of items that are written once', () => {
  const of = writer(planFieldsOf(planFor('sorted-set', { totalAgents: 3, quantity: 10 }))).forItem
  assert.equal(Array.from({ length: 12 }, (_, i) => of?.(i + 1)).join(' '), '1 1 1 2 2 2 3 3 3 3 1 1')
})

test('the announcement of a plan knows the keys without the file', () => {
  const limit = 'limit:{random 1 9}:{minute}'
  const name = loadCommands([`INCR ${limit}`, `EXPIRE ${limit} 600`, 'SADD a.b {n}...'])
  const times = { startedMs: epochMs, renewedMs: epochMs, ended: true }
  const ofTeam = { ...announcementOf(planFor(name, { prefix: 'p:' }), '1'), strategy: 'of-a-team' }
  const foreign = { ...ofTeam, ...times }
  assert.equal(announcedFault(JSON.stringify(foreign)), null)
  const typeOf = typesOfPlan(foreign)
  for (const [key, type] of rowsOf(`
p:limit:9:${minute} -> string
p:a.b -> set
p:a_b -> null
p:millrace:plan -> hash
p:limit:10:${minute} -> null
p:limit:0:${minute} -> null
p:limit:09:${minute} -> null
p:limit:9:5 -> null
limit:9:${minute} -> null
`))
    assert.equal(String(typeOf(key)), type, key)
  assert.match(String(announcedFault(JSON.stringify({ ...foreign, model: { digest: 'x' } }))), /says model/)
})

test('the plan of a model stays as long as its keys', () => {
  const lasting = (/** @type {string[]} */ ...lines) => markerS(planFor(loadCommands(lines)))
  assert.equal(lasting('SETEX item:{n} {ttl} {value}'), 240)
  assert.equal(lasting('SETEX item:{n} 7200 {value}'), 7260)
  assert.equal(lasting('SET item:{n} {value} PX 7200000'), 7260)
  assert.ok(lasting('SET item:{n} {value}') > 1e8)
})

test('equal models have one digest, others do not', () => {
  const digest = (/** @type {string[]} */ ...lines) => strategyNamed(loadCommands(lines)).model?.digest
  const hash = (/** @type {string} */ line) =>
    announcedHash(announcementOf(planFor(loadCommands([line])), '1'))
  assert.equal(digest('SETEX {key} {ttl} {value}'), digest('SETEX  item:{n}   {ttl} {value}'))
  assert.notEqual(digest('SETEX {key} {ttl} {value}'), digest('SETEX {key} 9 {value}'))
  assert.notEqual(digest('SADD s{random 1 5} {n}...'), digest('SADD s{random 1 6} {n}...'))
  assert.notEqual(hash('SADD s {n}...'), hash('SADD s x{n}...'))
})

test('retries: what is done twice by a command is never retried', () => {
  for (const [line, repeatable] of /** @type {const} */ ([
    ['SETEX {key} {ttl} {value}', true],
    ['RPUSH l {n}...', false],
    ['INCR c:{n}', false],
  ]))
    assert.deepEqual(valuesOf(strategyBy([line]).steps(), 'repeatable'), [repeatable], line)
})

test('memory per item is reported where a key stands for an item, or one holds each once', () => {
  for (const [lines, by, keys] of rowsOf(`
SETEX {key} {ttl} {value};ZADD z {time} {key}... -> keys -> 1
SETEX {key} {ttl} {value};HSET h:{n} f {value} -> keys -> 2
HSET h f:{n} {value}... -> holders -> 0
SET k:{n} {value};SET old:{n} {value};UNLINK old:{n} -> null -> 2
INCR c:{random 1 1000} -> null -> 0
SETEX {key} {ttl} {value};INCR c:{random 1 1000} -> null -> 1
SETEX {key} {ttl} {value};INCR c:{random 1 10} -> keys -> 1
SETEX {key} {ttl} {value};INCR c:{random 1 10}:{minute} -> null -> 1
`)) {
    const { countedBy, keysAnItem } = strategyBy(lines.split(';'), { quantity: 1000 }).holders()
    assert.deepEqual([String(countedBy), String(keysAnItem)], [by, keys], lines)
  }
})

/** Settings of a writer. @param {string[]} argv @returns {any} */
const settingsOf = (...argv) => readSettings({ program: 'producer', argv, env: {} })

test('options: a model and a strategy exclude each other, and rules of sorted sets hold', () => {
  const file = ['--model', 'docs/examples/session-store.yaml']
  const moving = ['--cluster', '--command', 'SMOVE a:{n} b:{n} {n}']
  assert.equal(settingsOf(...file).strategy, 'session-store')
  assert.equal(settingsOf('--command', 'SADD s {n}...', '--command', 'SADD t {n}...').strategy, 'own-sadd')
  for (const [argv, message] of /** @type {[string[], RegExp][]} */ ([
    [[...file, '--strategy', 'list'], /^--strategy( list)? and --model exclude each other$/],
    [[...file, '--command', 'SADD s {n}'], /exclude each other$/],
    [[...file, '--ns', '3'], /^--ns: --model keeps no sorted set$/],
    [moving, /SMOVE .*its keys are in several slots of a cluster/],
  ]))
    assert.throws(() => settingsOf(...argv), { message })
  settingsOf('--cluster', '--command', 'SMOVE a:{n}{{t}} b:{n}{{t}} {n}')
})

test('a script is sent when all that it calls can be read, or is allowed', () => {
  const strategyWith = (/** @type {string} */ script, /** @type {string[]} */ ...argv) =>
    settingsOf('--command', 'SADD s {n}...', '--command', script, ...argv).strategy
  for (const script of [
    `EVAL "return redis.call('SADD', KEYS[1], ARGV[1])" 1 s {n}`,
    `EVAL "for i = 1, 3 do redis.pcall('DEL', KEYS[i], unpack(KEYS)) end return redis.call('TIME')" 1 s`,
    `EVAL "--[[ redis[x] ]] return redis.status_reply('OK')" 1 s`,
  ])
    assert.equal(strategyWith(script), 'own-sadd-eval', script)
  for (const script of [
    'EVALSHA 0123456789abcdef0123456789abcdef01234567 1 s',
    'FCALL f 1 s {n}',
    `EVAL "return redis['call']('FLUSHALL')" 1 s`,
    `EVAL "return redis.call('FLUSH' .. 'ALL')" 1 s`,
    `EVAL "return redis.call(ARGV[1])" 1 s {n}`,
    `EVAL "local r = redis return r.call('FLUSHALL')" 1 s`,
    `EVAL "return _G['redis'].call('FLUSHALL')" 1 s`,
    `EVAL "return redis.call 'FLUSHALL'" 1 s`,
    `EVAL "return redis.call('DEL', 'millrace:plan')" 1 s`,
    `EVAL "return redis.call('DEL', KEYS[1], ARGV[1])" 1 s {n}`,
    `EVAL "return redis.call('ZUNIONSTORE', KEYS[1], ARGV[1], 'x')" 1 s {n}`,
  ]) {
    const message = /^--command .*, character 1: .*; --allow scripts sends it all the same$/s
    assert.throws(() => strategyWith(script), { code: 'OPTION', message }, script)
    assert.match(strategyWith(script, '--allow', 'scripts'), /^own-sadd-/)
  }
})

/** Asserts that a model is refused in one line like this. @param {() => unknown} load @param {string | RegExp} message @param {string} [start] */
const assertRefused = (load, message, start = '') => {
  assert.throws(load, (/** @type {any} */ error) => {
    assert.equal(error.exitCode, 2, error.stack)
    assert.match(error.message, new RegExp(message))
    assert.ok(error.message.startsWith(start) && !error.message.includes('\n'), error.message)
    return true
  })
}

test('a mistake in a line is one line that points at its character', () => {
  for (const [lines, message] of rowsOf(String.raw`
SETEX item:{m} 3 x -> ^--command 'SETEX item:\{m\} 3 x', character 12: unknown placeholder \{m\}; did you mean \{n\}\?
ZADD k {tim} {n}... -> , character 8: unknown placeholder \{tim\}; did you mean \{time\}\?
SET a:{n} {value -> , character 11: this \{ is never closed
SET a:{n} x} -> , character 12: a lone \}
SET a:{n} "x -> , character 11: this " is never closed$
SADD s:{random 9 1} {n} -> , character 8: \{random 9 1\} must be \{random a b\}
SADD s:{random 1} {n} -> , character 8: \{random 1\} must be
SET a:{n 3} x -> , character 7: \{n\} takes nothing behind its name$
SETX a:{n} x -> , character 1: unknown command SETX; did you mean SET\?$
SETEX a:{n} x -> , character 1: SETEX takes 3 arguments, not 2$
FLUSHALL -> , character 1: FLUSHALL has no key, and a model's commands are about the keys that it declares$
BLPOP a:{n} 0 -> , character 1: BLPOP is a command of the kind 'blocking', which a model cannot use$
SET a:{value} x -> , character 5: a key may hold \{n\}, \{minute\}, \{writer\} and \{random a b\}, not \{value\}$
ZADD k {time} {n}... ;; RPUSH k {n}... -> ^--command 'RPUSH k \{n\}\.\.\.', character 7: RPUSH needs a list, but k is a zset by ZADD$
SADD s a {n}]... -> , character 10: this \] closes no list: write \[a b\]\.\.\.$
SADD millrace:plan {n}... -> , character 6: millrace:plan: keys that begin with millrace: are those of Millrace
SADD s {n}... ;; DEL millrace:lease:{writer} -> , character 5: millrace:lease:\{writer\}: keys that begin
SADD s {n}... ;; MOVE s 3 -> , character 1: MOVE moves keys to another database, which a model cannot do$
SADD s {n}... ;; COPY s t DB 3 -> , character 1: COPY with DB copies keys to another database
SADD s {n}... ;; MIGRATE h 1 s 0 9 -> , character 1: MIGRATE moves keys to another server
SADD s {n}... ;; EVAL "redis.call('flushall')" 1 s -> , character 1: EVAL: its script calls what a model may not: FLUSHALL has no key
SADD s {n}... ;; EVAL "return redis.pcall('KEYS', '*')" 1 s -> may not: KEYS has no key
SADD s {n}... ;; EVAL "redis.call('MOVE', KEYS[1], 3)" 1 s -> may not: MOVE moves keys
INCR views -> ^--command: no command carries an item: one must name \{n\}
EXPIRE a:{n} 5 -> , character 8: nothing says what type a:\{n\} has
MSET [a:{n} {value}]... -> , character 6: a key cannot be repeated: give each key a command$
SADD s{n}... x -> , character 6: a key cannot be repeated: give each key a command$
RPUSH k x... ;; SADD s {n} -> , character 9: nothing in it changes with the item, so '\.\.\.' cannot repeat it$
HSET h {n} x {value}... -> , character 8: \{n\} changes with the item, so it must be repeated as well, as in \[a b\]\.\.\.$
SADD s {count} {n} -> , character 8: \{count\} is an argument of its own, of a command that repeats some
SETEX item:{n} 1000000000000 {value} -> , character 16: 10+ is no lifetime: keys live for 315360000 seconds at most$
`))
    assertRefused(() => loadCommands(lines.split(' ;; ')), message)
  const many = Array.from({ length: 1001 }, (_, i) => `SADD s${i} {n}...`)
  assertRefused(() => loadCommands(many), /^--command: 1001 commands are too many: a model has 1000 at most$/)
})

const brokenFiles = rowsOf(String.raw`
a.yaml -> write:\n  - SET item:{n} {valu}\n -> :2:18: unknown placeholder \{valu\}; did you mean \{value\}\?
a.yaml -> write:\n  - "SET item:{n} {valu}"\n -> :2:19: unknown placeholder
a.yaml -> wirte:\n  - SET item:{n} x\n -> :1:1: 'write' is missing$
a.yaml -> write:\n  - SET item:{n} x\ntitel: x\n -> :3:1: unknown 'titel'$
a.yaml -> write: SET item:{n} x\n -> :1:8: 'write' must be array$
a.yaml -> write:\n  - command: SET item:{n} x\n    evry: 5s\n -> :3:5: unknown 'write\.0\.evry'$
a.yaml -> write:\n  - command: SET a x\n    every: soon\n  - SADD s {n}\n -> :3:12: 'write\.0\.every' must match pattern
a.yaml -> keys:\n  s: zst\nwrite:\n  - SADD s {n}\n -> :2:6: 'keys\.s' must be equal to one of the allowed values: string, list
a.yaml -> keys:\n  s: set\nwrite:\n  - { command: "SADD s {n}", number: Size }\n -> :4:38: 'write\.0\.number' must match pattern
a.yaml -> keys:\n  s: set\n  t: set\nwrite:\n  - SADD s {n}\n -> :3:3: no command uses the key t$
a.yaml -> keys:\n  sets: set\nwrite:\n  - SADD set {n}\n -> :4:10: set is not among the model's keys; did you mean sets\?$
a.yaml -> keys:\n  s: zset\nwrite:\n  - SADD s {n}\n -> :4:10: SADD needs a set, but s is a zset by its declaration$
a.yaml -> write:\n  - SADD s {n}\nread:\n  ids: LRANGE s 0 -1\n  value: GET\n -> :4:15: LRANGE needs a list, but s is a set$
a.yaml -> write:\n  - SADD s item:{n}...\nread:\n  ids: SMEMBERS s\n  value: GET\n -> :5:10: GET needs a string, but item:\{n\} is no key of the model$
a.yaml -> write:\n  - SADD s {key}...\nread:\n  ids: KEYS s\n -> :4:8: ids come from ZRANGE
a.yaml -> write:\n  - command: SADD s x\n    every: 5s\n -> :2:3: no command carries an item
a.yaml -> name: list\nwrite:\n  - SADD s {n}\n -> :1:7: list is a built-in strategy; give the model another name$
a.yaml -> write:\n  - SADD s {n}\n   - SADD s {n}\nx: [ -> :\d+:\d+: 
9a.yaml -> write:\n  - SADD s {n}\n -> : the name '9a' must be of small letters, digits and dashes
a.js -> export default ( -> :1: .*Unexpected
a.js -> export const model = 1\n -> :1: must export a function
a.js -> export default () => ({\n  title: "x",\n  key: 1,\n})\n -> :3: unknown field key; did you mean keys\?$
a.js -> export default () => ({ title: "x", keys: () => ({}) })\n -> :1: operations is missing$
a.js -> export default () => ({\n  title: "x",\n  keys: () => ({}),\n  operations: () => ({}),\n  fetch: () => ({}),\n})\n -> :5: unknown field fetch; write read: \{ fetch \}$
a.js -> export default () => ({\n  title: "x",\n  keys: () => ({}),\n  operations: () => ({}),\n  read: {\n    fetch: 1,\n  },\n})\n -> :6: read\.fetch must be a function$
a.js -> export default () => ({\n  title: "x",\n  keys: () => ({}),\n  operations: () => ({}),\n  read: {\n    idz: () => 1,\n  },\n})\n -> :6: unknown field read\.idz; did you mean ids\?$
a.js -> export default () => ({\n  title: "x",\n  keys: () => ({}),\n  operations: () => ({}),\n  check: {},\n})\n -> :5: check\.items is missing$
a.js -> export default ({ family }) => ({\n  title: "x",\n  keys: () => ({\n    a: family("a:{m}", "set"),\n  }),\n  operations: () => ({}),\n})\n -> :4: a:\{m\}: unknown \{m\}; a hash tag is written \{\{m\}\}$
a.js -> export default ({ family, each, n }) => ({\n  title: "x",\n  keys: () => ({ a: family("a", "set") }),\n  operations: (_, k) => ({\n    store: [\n      each("SADD", ["b", n]),\n    ],\n  }),\n})\n -> :6: the key 'b' of SADD is not among the families of keys$
a.js -> export default ({ family, each, n }) => ({\n  title: "x",\n  keys: () => ({ a: family("a", "set") }),\n  operations: (_, k) => ({\n    store: [each("ZADD", [k.a, 1, n])],\n  }),\n})\n -> :5: ZADD needs a zset, but a is declared a set$
a.js -> export default ({ family, each, n }) => ({\n  title: "x",\n  keys: () => ({ a: family("a", "set") }),\n  operations: (_, k) => ({\n    store: [each("SADD", [k.b.c, n])],\n  }),\n})\n -> :5: Cannot read properties of undefined
a.js -> export default ({ family, each, made }) => ({\n  title: "x",\n  keys: () => ({\n    a: family("a:{w}", "set", { of: { w: made("w", (i) => "x") } }),\n  }),\n  operations: (_, k) => ({ store: [each("SADD", [k.a, 1])] }),\n})\n -> :4: a:\{w\}: a key may vary by
a.yaml -> keys:\n  s: { type: set, lifetime: 1e300 }\nwrite:\n  - SADD s {n}\n -> :2:\d+: 'keys\.s\.lifetime' must be <= 315360000$
a.js -> export default ({ family, each, n }) => ({\n  title: "x",\n  keys: () => ({ a: family("millrace:plan", "set") }),\n  operations: (_, k) => ({ store: [each("SADD", [k.a, n])] }),\n})\n -> :3: millrace:plan: keys that begin with millrace: are those of Millrace itself$
a.js -> export default ({ family, each, n }) => ({\n  title: "x",\n  keys: () => ({ a: family("a", "set") }),\n  operations: (_, k) => ({\n    store: [each("EVAL", ["redis.call('FLUSHDB', n)", 1, k.a, n])],\n  }),\n})\n -> :5: EVAL: its script calls what a model may not: FLUSHDB has no key
mix.yaml -> keys:\n  's:{id}': { type: string, keys: 10 }\nmix:\n  - { command: 'GET s:{id}', share: 1 } -> :4:21: s:\{id\}: say which key: \{live\}, \{new\}, \{turn\}, \{last\} or \{missing\}$
mix.yaml -> keys:\n  's:{id}': { type: string, keys: 10 }\nmix:\n  - { command: 'GET x:{live}', share: 1 } -> x:\{id\} is not among the model's keys; did you mean s:\{id\}\?$
mix.yaml -> keys:\n  's:{id}': { type: string, keys: 10 }\nmix:\n  - { command: 'HGET s:{live} f', share: 1 } -> HGET needs a hash, but s:\{id\} is a string$
mix.yaml -> keys:\n  's:{id}': { type: string, keys: 10 }\nmix:\n  - { command: 'SETEX s:{live} {lifetime} x', share: 1 } -> \{lifetime\}: s:\{id\} has no lifetime under keys$
mix.yaml -> keys:\n  's:{id}': { type: string, keys: 10 }\nmix:\n  - { command: 'EVAL "return 1" 1 s:{live}', share: 1 } -> EVAL: a mix has no scripts
mix.yaml -> keys:\n  's:{id}': { type: string, keys: 10 }\nmix:\n  - { command: 'GET s:{alive}', share: 1 } -> unknown placeholder \{alive\}; did you mean \{live\}\?
mix.yaml -> keys:\n  's:{id}': { type: string, keys: 10 }\nmix:\n  - { command: 'GTE s:{live}', share: 1 } -> unknown command GTE; did you mean GET\?$
mix.yaml -> keys:\n  's:{id}': { type: string, keys: 10 }\nmix:\n  - { command: 'BLPOP s:{live} 0', share: 1 } -> 'blocking'
mix.yaml -> keys:\n  's:{id}': { type: string, keys: 10 }\nmix:\n  - { command: 'GET s:{live}', share: 0 } -> 'mix\.0\.share' must be > 0$
mix.yaml -> keys:\n  's:{id}': { type: string, keys: 10 }\nmix:\n  - { command: 'GET s:{live}', share: 1 }\nwrite: [x] -> unknown 'write'$
mix.yaml -> keys:\n  s: { type: string, keys: 10 }\nmix:\n  - { command: 'GET s', share: 1 } -> s names one key, not 10; put \{id\} into it$
mix.yaml -> keys:\n  's:{id}': { type: string, keys: 10, bytes: [1, 2], use: [1] }\nmix:\n  - { command: 'GET s:{live}', share: 1 } -> use has a number for each of the sizes in bytes
mix.yaml -> mix:\n  - { command: 'GET s', share: 1 } -> 'keys' is missing$
a.txt ->  -> ^--model: .*a\.txt is not a \.js or \.yaml file$
`)

/** Each name is nine times the one before. */
const nineTimes = (/** @type {number} */ i) => Array(9).fill(`*${'abcdefgh'[i]}`)
const aliases = Array.from('bcdefghi', (name, i) => `${name}: &${name} [${nineTimes(i)}]\n`)

test('a mistake in a file is one line with the file and the line', (t) => {
  const folder = ownFolder(t, 'model')
  for (const [i, [file, text, message]] of [
    ...brokenFiles,
    [
      'a.yaml',
      `a: &a [x]\n${aliases.join('')}write:\n  - SADD s {n}\n`,
      ':1:1: Excessive alias count indicates a resource exhaustion attack$',
    ],
    [
      'a.yaml',
      `write:\n${'  - SADD s {n}\n'.repeat(20_000)}`,
      ': 300 kB are too much: a model has 250 kB at most$',
    ],
  ].entries()) {
    mkdirSync(join(folder, String(i)))
    const path = join(folder, String(i), file)
    writeFileSync(path, text)
    assertRefused(() => loadModel(path), message, file.endsWith('.txt') ? '' : path)
  }
  const unreadable = '^cannot read /nowhere/feed\\.yaml: there is no such file$'
  assertRefused(() => loadModel('/nowhere/feed.yaml'), unreadable)
})
