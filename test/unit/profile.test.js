// A profile without a server: names folded into patterns, estimates, and the workload file that follows.
import assert from 'node:assert/strict'
import test from 'node:test'
import { Ajv } from 'ajv'
import { elementBytes } from '../../lib/answers/profile/command-forms.js'
import { anonymousWords, piecesOf } from '../../lib/answers/profile/fold.js'
import { amountsOf, noiseOf } from '../../lib/answers/profile/noise.js'
import * as estimates from '../../lib/answers/profile/profile.js'
import { hotOfRedis } from '../../lib/answers/profile/readings.js'
import { profile as kit, profileDocument } from '../../lib/answers/profile/report.js'
import { clientsOf } from '../../lib/answers/profile/seen.js'
import { connectionsOf, workloadOf } from '../../lib/answers/profile/workload.js'
import { replaySettings } from '../../lib/cli/commands/replay.js'
import { parseInfo } from '../../lib/wire/info.js'
import { modelOfYaml } from '../../lib/workloads/own/from-text.js'
import { countedPatterns, lettersOf } from '../helpers/patterns.js'
import { rowsOf, valuesOf } from '../helpers/table.js'

/** @import { Collected } from '../../lib/answers/profile/collect.js' */
/** @import { Readings } from '../../lib/answers/profile/readings.js' */
/** @import { Estimate } from '../../lib/answers/profile/profile.js' */

const file = 'out/workload.yaml'
const { equalParts, meanOf, profileOf, shareWithInterval, staleShare } = estimates
const piecesOfText = (/** @type {string} */ name) => piecesOf(Buffer.from(name))
const sumOf = (/** @type {number[]} */ numbers) => numbers.reduce((sum, n) => sum + n, 0)
const assertNear = (/** @type {number} */ value, /** @type {number} */ expected, /** @type {number} */ by) =>
  assert.ok(Math.abs(value - expected) < by, `${value} is not within ${by} of ${expected}`)

test('numbers, UUIDs, hashes, dates and bytes in names are folded, words are not', () => {
  for (const [name, pattern] of rowsOf(`
session:123e4567-e89b-12d3-a456-426614174000 -> session:{uuid}
cart:42:items -> cart:{n}:items
user42 -> user{n}
views:2026-11-25 -> views:{date}
views:20261125 -> views:{date}
etag/da39a3ee5e6b4b0d3255bfef95601890afd80709 -> etag/{hash}
t:Xk29aPq7LmZ04 -> t:{id}
cart:{77}:a -> cart:{{{n}}}:a
plain-name -> plain-name
`))
    assert.equal(piecesOfText(name).join(''), pattern)
  assert.doesNotMatch(piecesOf(Buffer.from('\x1b[31mred\x00\xff')).join(''), /[^\x20-\x7e]/)
  assert.ok(piecesOfText('a'.repeat(1e6)).join('').length < 600)
})

test('a place with many words is one pattern', () => {
  const patterns = countedPatterns()
  for (let n = 0; n < 5000; n++) patterns.dataOf(Buffer.from(`user:${lettersOf(n)}:cart`)).count++
  for (let n = 0; n < 3; n++) patterns.dataOf(Buffer.from(`config:${lettersOf(n)}`)).count++
  const found = patterns.all().map(({ pieces, data }) => `${pieces.join('')} ${data.count}`)
  assert.deepEqual([found[0], found.length], ['user:{word}:cart 5000', 4])
})

test('anonymous names keep their shape and no word', () => {
  const shape = anonymousWords()
  const [first, same, other] = ['alice:cart:12', 'alice:cart:99', 'peter:cart:99'].map((name) =>
    shape(piecesOfText(name)).join(''),
  )
  assert.match(first, /^[a-z]{5}:[a-z]{4}:\{n\}$/)
  assert.doesNotMatch(first, /alice|cart/)
  assert.equal(same, first)
  assert.notEqual(other, first)
})

test('a share has its interval, and equal parts keep the mean', () => {
  const { value, low, high } = shareWithInterval(20, 100)
  assert.equal(value, 0.2)
  assert.ok(low > 0.13 && low < 0.14 && high > 0.28 && high < 0.29)
  const parts = equalParts(Array.from({ length: 100 }, (_, i) => i))
  assert.deepEqual([parts.length, sumOf(parts) / 20], [20, 49.5])
})

const key = Buffer.from('session:4711')
const ours = 'id=2 addr=1.2.3.4:6 name=millrace-control flags=N tot-cmds=5'
/** How many commands took at most so many µs. @param {Record<number, number>} counts @returns {[number, number][]} */
const latencies = (counts) => Object.entries(counts).map(([us, count]) => [Number(us), count])
const ioredis = 'id=1 addr=1.2.3.4:5 name=web lib-name=ioredis flags=N'

/** What else it says. @returns {Readings[]} */
const readings = () => [
  {
    begin: {
      latency: { get: latencies({ 1: 50, 4: 100 }) },
      clients: `${ioredis} tot-cmds=10 tot-net-in=0 tot-net-out=0\n${ours}`,
      slots: [{ slot: 7, keys: 5, us: 1000, in: 0, out: 0 }],
    },
    end: {
      latency: { get: latencies({ 1: 50, 2: 140, 4: 200, 16: 201 }) },
      clients: `${ioredis} tot-cmds=9010 tot-net-in=10000 tot-net-out=20000\n${ours}`,
      slots: [
        { slot: 9, keys: 50, us: null, in: null, out: null },
        { slot: 7, keys: 6, us: 1_001_000, in: 10, out: 20 },
      ],
    },
    log: {
      ...{ from: 'SLOWLOG', length: 12 },
      entries: [
        { kind: 'slow', command: 'get', key, value: 100 },
        { kind: 'slow', command: 'get', key: Buffer.from('session:12'), value: 300 },
        { kind: 'slow', command: 'other', key: null, value: 50 },
      ],
    },
    hot: hotOfRedis({
      ...{ 'sample-ratio': 10, 'collection-duration-ms': 1000, 'all-commands-all-slots-us': 10_000 },
      'net-bytes-all-commands-all-slots': 1e6,
      ...{ 'by-cpu-time-us': [key, 400, Buffer.from('board'), 200], 'by-net-bytes': [key, 1000] },
    }),
  },
]

test('the interval of a mean of a few keys is by Student', () => {
  const found = meanOf([90, 100, 110, 100, 95, 105])
  const { value, low, high } = /** @type {Estimate} */ (found)
  assert.equal(value, 100)
  for (const end of [high - value, value - low]) assertNear(end / Math.sqrt(50 / 6), 2.571, 0.001)
  assert.equal(meanOf([]), null)
  assert.deepEqual(meanOf([7]), { value: 7, low: 7, high: 7 })
})

test('keys that have expired are the rest of the mean number of keys, which rises and falls with them', () => {
  for (const [keys, share, more] of /** @type {[number[], string, object?][]} */ ([
    [[800, 800, 800], '0.125'],
    // 700 are there at the crest of a wave and below it.
    [[800, 720, 800, 880], '0.205'],
    [[800, 880, 800, 720], '0.028'],
    // A cache that fills has no mean.
    [[100, 400, 800], '0.125'],
    // Few keys are no full page: all names were seen, or nothing is known.
    [[800], '0.125', { stale: null, complete: true }],
    [[800], '0.000', { stale: null }],
    [[800], '0.000', { end: [parseInfo('db0:keys=800,expires=0')] }],
  ])) {
    const series = keys.map((count, s) => amountsOf([parseInfo(`db0:keys=${count}`)], s))
    const end = [parseInfo(`db0:keys=${keys.at(-1)},expires=9`)]
    assert.equal(staleShare({ complete: false, stale: 0.125, series, end, ...more }, 700).toFixed(3), share)
  }
})

/** What a server with sessions and a board says, and what a test changes of it. @param {(said: Collected) => void} [change] */
const collected = (change = () => {}) => {
  const info = (/** @type {number} */ gets, /** @type {number} */ sets) =>
    parseInfo(`total_commands_processed:${gets + sets + 10}
total_reads_processed:${gets + sets}
expired_keys:${sets}
keyspace_hits:${gets * 0.9}
keyspace_misses:${gets * 0.1}
total_net_output_bytes:${gets * 100}
db0:keys=1001,expires=1000
cmdstat_get:calls=${gets},usec=${gets * 2}
cmdstat_setex:calls=${sets},usec=${sets * 4}
cmdstat_zadd:calls=${sets},usec=${sets * 4}
cmdstat_eval:calls=${sets},usec=${sets * 4}
cmdstat_scan:calls=10,usec=100`)
  const string = { type: 'string', nameBytes: 20, encoding: 'raw', memory: 200, idleS: 5 }
  const sessions = Array.from({ length: 100 }, (_, i) => [(i + 1) * 500, 100 + i])
  const facts = sessions.map(([leftMs, size]) => ({ ...string, leftMs, size }))
  const zset = { type: 'zset', encoding: 'skiplist', nameBytes: 5, memory: 10_400 }
  const board = { ...string, ...zset, leftMs: -1, size: 100 }
  const [waiting, endings] = [[], new Set()]
  const said = /** @type {Collected} */ ({
    ...{ begin: [info(0, 0)], end: [info(9000, 200)], seconds: 10, series: [], stale: null },
    own: { calls: { scan: 10 }, used: 10, reads: 10, us: 100, cpu: 0.001, in: 0, out: 0 },
    patterns: [
      { pieces: piecesOfText('session:123'), data: { count: 1000, waiting, endings, facts } },
      { pieces: ['board'], data: { count: 1, waiting, endings, facts: [board] } },
    ],
    ...{ complete: true, read: readings(), remarks: [], refused: [], unknown: [] },
  })
  change(said)
  return said
}

const about = { startedMs: 0, isInterrupted: false, versions: ['7.0'], replicas: [], isAnonymous: false }
/** @param {(said: Collected) => void} [change] */
const profiled = (change) => profileOf(collected(change), about)
/** @param {(said: Collected) => void} [change] */
const workloadFor = (change) => workloadOf(profiled(change))

test('a workload file has the keys and the shares of the profile, and is a model', () => {
  const profile = profiled()
  const keysOf = profile.patterns.flatMap(({ pattern, keys }) => [pattern, keys.value])
  assert.deepEqual(keysOf, ['session:{n}', 1000, 'board', 1])
  const bytes = { bytes_in_per_s: 1000, bytes_out_per_s: 2000 }
  const web = { name: 'web ioredis', connections: 1, commands_per_s: 900, ...bytes }
  assert.deepEqual(profile.clients, { connections: 1, busy: 1, groups: [web] })
  assert.ok(!valuesOf(profile.commands, 'name').includes('scan'))
  const workload = workloadOf(profile)
  const shares = workload.commands.map(({ command, per_s }) => `${command.replace(/x+/g, '')}: ${per_s}`)
  const wanted = 'GET session:{missing}: 90, GET session:{live}: 810, SETEX session:{new} 50 {bytes}: 20'
  for (const share of wanted.split(', ')) assert.ok(shares.includes(share), share)
  assert.deepEqual(valuesOf(workload.left_out, 'name'), ['eval'])
  assert.equal(workload.rate, 940)

  const { document, text } = profileDocument(profile, null, file)
  assert.equal(modelOfYaml('workload.yaml', text, 'workload').declared.defaultItems, 1001)
  const ajv = new Ajv({ allowUnionTypes: true, strict: false })
  assert.ok(ajv.validate(kit.schema, JSON.parse(JSON.stringify(document))), ajv.errorsText())
  const warned = (/** @type {number} */ perS) =>
    valuesOf(kit.sections({ ...document, keys_per_s: perS }).warnings, 'text').join()
  assert.match(warned(document.keys), /^the number of keys changed by .* meanwhile/)
  assert.match(warned(-document.keys), /the number of keys changed/)
  assert.doesNotMatch(warned(0), /changed/)

  // What was not looked at is not said to stay.
  const patterns = document.patterns.map((one) => ({ ...one, left_s: { ...one.left_s, median: null } }))
  const leftOf = (/** @type {string | null} */ type) =>
    kit.sections({ ...document, patterns: patterns.map((one) => ({ ...one, type })) }).tables[0].rows[0][5]
      .text
  assert.deepEqual([leftOf('string'), leftOf(null)], ['stays', '–'])
})

test('what only some servers say is added up over the time, by pattern, and scaled by its sample', () => {
  const asked = { ...about, replicas: ['10.0.0.7:6379'] }
  const said = collected()
  said.end[0].fields.db0_distrib_strings_sizes = '64=900,1K=100,2=18446744073709551615'
  const profile = profileOf(said, asked)
  // Of 101 calls meanwhile 90 took at most 2, 100 at most 4.
  assert.deepEqual(valuesOf(profile.commands.slice(0, 1), 'name', 'p50_us', 'p99_us'), ['get', 2, 4])
  assert.equal(profile.times_from, 'LATENCY HISTOGRAM')
  const [{ buckets, ...strings }] = profile.key_sizes ?? []
  assert.deepEqual(strings, { type: 'string', unit: 'bytes', keys: 1000, median: 64, p99: 1024 })
  assert.deepEqual(valuesOf(buckets, 'at_least', 'keys'), [64, 900, 1024, 100])
  assert.equal(profile.key_sizes?.length, 1)
  assert.deepEqual(profile.log?.groups, [
    { kind: 'slow', command: 'get', pattern: 'session:{n}', count: 2, most: 300 },
    { kind: 'slow', command: 'other', pattern: null, count: 1, most: 50 },
  ])
  assert.deepEqual(valuesOf(profile.slots ?? [], 'slot', 'cpu_share'), [7, 0.1, 9, null])
  const cpu = (/** @type {number} */ share) => ({ cpu_share: share, busiest_cpu_share: share })
  assert.deepEqual(profile.hot_keys, {
    ...{ grammar: 'redis', tracked_s: 1 },
    patterns: [
      { pattern: 'session:{n}', ...cpu(0.4), net_share: 0.01, keys: 1, per_s: null },
      { pattern: 'board', ...cpu(0.2), net_share: 0, keys: 1, per_s: null },
    ],
  })
  assert.deepEqual(profile.server.replica_addresses, asked.replicas)

  const { document, text } = profileDocument(profileOf(said, { ...asked, isAnonymous: true }), null, file)
  const sections = JSON.stringify(kit.sections(document))
  for (const shown of [JSON.stringify(document), sections, text])
    assert.doesNotMatch(shown, /session|board|web|10\.0\.0\.7/)
  assert.match(sections, /ioredis/)
})

test('where a replay ends is in the profile: what the file has in it, and what cannot be known', () => {
  const { expected, keys } = workloadFor()
  // 20 are made in a second and 1,000 are there: 50 s, which the sample's longest time left agrees with.
  assert.equal(keys[0].lifetime, 50)
  assert.ok(keys[0].isLifetimeDerived)
  assert.equal(expected.keys.value, 1001)
  const changed = (/** @type {(said: Collected) => void} */ change) => workloadFor(change).keys[0]
  // Keys that are written again live on: only what the sample saw is known.
  const rewritten = changed(({ end }) => (end[0].commands.setex.calls *= 5))
  assert.equal(rewritten.isLifetimeDerived, false)
  // Those that were asked late have less left than a lifetime.
  const late = changed(({ patterns }) => {
    for (const fact of patterns[0].data.facts) fact.leftMs *= 0.6
  })
  assert.equal(late.lifetime, 50)
  // A time left of a few keys that is longer than that is the lifetime, and times left are even, not those of the sample:
  // 11,196 keys were there in place of 7,850 where few of the sample's six had little left.
  const { lifetime, left } = changed(
    ({ patterns: [{ data }] }) =>
      (data.facts = [8, 30, 48, 53.5].map((s) => ({ ...data.facts[0], leftMs: s * 1000 }))),
  )
  assert.deepEqual([lifetime, left.filter((s) => s <= 27).length], [54, 10])
  assert.ok(expected.keys.low < 950 && expected.keys.high > 1050)
  assert.ok(Number(expected.left_s?.low) < 25 && Number(expected.left_s?.high) > 26)
  assert.ok(expected.bytes_out_per_s.low < expected.bytes_out_per_s.high)

  const looks = (/** @type {(s: number) => number} */ commands) =>
    Array.from({ length: 11 }, (_, s) => amountsOf([parseInfo(`total_commands_processed:${commands(s)}`)], s))
  const even = looks((s) => s * 100)
  assert.equal(noiseOf(even).commands, 0)
  assert.equal(noiseOf(even.slice(0, 3)).commands, null)
  assert.ok(Number(noiseOf(looks((s) => s * 100 + (s % 2) * 50)).commands) > 0.2)
})

test('the median of even times left follows from the longest, that of others is the middle one', () => {
  for (const [leftMs, median] of /** @type {[(i: number) => number, number][]} */ ([
    // Of 100 even ones from 0.5 to 50 s.
    [(i) => (i + 1) * 500, 25.25],
    // The middle one of the sample is low by chance.
    [(i) => (i < 60 ? i + 1 : 25 + i * 0.75) * 500, ((101 / 100) * 99.25 * 0.5) / 2],
    // Most have little, some have much.
    [(i) => (i < 70 ? 1000 + i : 50_000), 1.05],
  ])) {
    const profile = profiled(({ patterns }) => {
      for (const [i, fact] of patterns[0].data.facts.entries()) fact.leftMs = leftMs(i)
    })
    assert.equal(profile.patterns[0].left_s.median, median)
  }
})

test('memory of keys has what connections take now, and no scripts', () => {
  const said = collected()
  Object.assign(said.end[0].fields, {
    ...{ used_memory: '1300000', used_memory_startup: '900000' },
    ...{ mem_clients_normal: '40000', used_memory_scripts_eval: '4000' },
  })
  assert.equal(profileOf(said, about).memory_bytes, 356_000)
  const clients = [20_000, 1_000].map((bytes, i) => `id=${i} addr=1.2.3.4:5 flags=N tot-mem=${bytes}`)
  said.read[0].end.clients = clients.join('\n')
  assert.equal(profileOf(said, about).memory_bytes, 375_000)
})

test('elements of lists are as long as their memory says', () => {
  // As Redis 7.0 has 500 of 200 bytes.
  const list = /** @type {any} */ ({ type: 'list', name_bytes: 9, memory_of_key: { value: 104_040 } })
  assert.equal(Math.round(elementBytes(list, 'quicklist', 500)), 200)
})

test('keys that are read whole have as many elements as fit the bytes sent, within what a sample may be off', () => {
  const hash = { type: 'hash', encoding: 'listpack', memory: 400, leftMs: -1 }
  const workload = (/** @type {number} */ bytesOutPerS) => {
    const { keys, expected } = workloadFor(({ end: [last], seconds, patterns }) => {
      last.fields.total_net_output_bytes = String(bytesOutPerS * seconds)
      last.commands = { hgetall: last.commands.get }
      for (const [i, fact] of patterns[0].data.facts.entries())
        Object.assign(fact, { ...hash, size: 5 + (i % 9) })
    })
    const [{ elements }] = keys
    return { elements: sumOf(elements) / elements.length, sent: expected.bytes_out_per_s.value - 9350 }
  }
  const { elements, sent } = workload(0)
  assertNear(workload(sent).elements, elements, 0.3)
  const more = workload(sent * 1.05)
  assertNear(more.sent / sent, 1.05, 0.03)
  assert.ok(more.elements > elements)
  // Ten times as many bytes have another cause.
  const most = workload(sent * 10)
  assert.ok(most.elements > elements * 1.05 && most.elements < elements * 1.3)
})

test('names of members are as long as fits the bytes that the server received', () => {
  let memory = 10_400
  const workload = (/** @type {number} */ bytesInPerS, hasScripts = false) =>
    workloadFor(({ end: [last], seconds, patterns }) => {
      last.fields.total_net_input_bytes = String(bytesInPerS * seconds)
      patterns[1].data.facts[0].memory = memory
      if (!hasScripts) delete last.commands.eval
    })
  // Without the bytes, by their memory alone; a run of Millrace sends 760 more.
  const unfitted = workload(0)
  const sent = unfitted.expected.bytes_in_per_s.value - 760
  const longer = (/** @type {number} */ bytesInPerS, hasScripts = false) =>
    workload(bytesInPerS, hasScripts).keys[1].element.length - unfitted.keys[1].element.length
  // Of 20 that are sent in a second.
  const lengths = [sent, sent + 20 * 5, sent - 20 * 5, sent + 1e6].map((bytes) => longer(bytes))
  assert.deepEqual(lengths, [0, 5, -5, 24])
  // What scripts send is not known.
  assert.equal(longer(sent + 1e6, true), 0)
  // A server that keeps less beside members than is taken off: their names would have one letter.
  memory = 9000
  assert.equal(workload(0).keys[1].element, 'e{element}')
  // A length has one digit or two.
  assertNear(longer(sent), 0, 1.5)
})

test('connections that send are played, and none that is idle or seldom sends', () => {
  const linesOf = (/** @type {string[]} */ facts) =>
    facts.map((line, id) => `id=${id} addr=1.2.3.4:${id} name= flags=N ${line}`).join('\n')
  const commands = (/** @type {number[]} */ ...counts) => counts.map((n) => `tot-cmds=${n}`)
  // Servers before 8 say how long a connection was idle, and what it sent last.
  const old = ['idle=0 cmd=get', 'idle=10 cmd=get', 'idle=0 cmd=ping', 'idle=9 cmd=set']
  for (const [begin, end, busy] of /** @type {[string[], string[], number | null][]} */ ([
    [old, old, 2],
    [commands(5, 5, 5), commands(20_005, 505, 5), 1],
    [commands(5, 5, 5), commands(1005, 1005, 1005), 3],
    [commands(5, 5, 5), commands(5, 5, 5), null],
  ])) {
    const [one] = readings()
    Object.assign(one.begin, { clients: linesOf(begin) })
    Object.assign(one.end, { clients: linesOf(end) })
    assert.equal(clientsOf([one], [parseInfo('connected_clients:3')], 10, (name) => name).busy, busy)
  }
  assert.equal(connectionsOf(/** @type {any} */ ({ clients: { busy: null, connections: 4 } })), 4)
})

test('sizes that are used more are fitted to the bytes that the server sent', () => {
  // 810 of 900 reads a second find 149.5 bytes on average; the server sent less.
  const profile = profiled((said) => (said.patterns = said.patterns.slice(0, 1)))
  const less = { ...profile, bytes_out_per_s: 115_000 }
  const { keys, reply_bytes: replies } = workloadOf(less)
  const use = keys[0].use ?? []
  assert.ok(use[0] > use[use.length - 1])
  assertNear(replies, 1, 0.01)
  const { text } = profileDocument(less, null, file)
  assert.match(text, /use: \[/)
  modelOfYaml('workload.yaml', text, 'workload')
})

test('a replay needs one file with a rate, and a percentage', () => {
  const shop = 'docs/examples/shop.yaml'
  const hidden = 'unexpected word on the command line after --password (not shown: it may be a password)'
  for (const [part, words, message] of /** @type {[string, string[], string | RegExp][]} */ ([
    ['0%', [shop], '--rate 0%: must be from 1% to 10000%, as in 250%'],
    ['20k', [shop], /^--rate 20k: must be from 1% to 10000%/],
    ['100%', [], /^which workload\?/],
    ['100%', [shop, 'word'], hidden],
    ['100%', ['none.yaml'], 'cannot read none.yaml: there is no such file'],
    ['100%', [shop], /shop\.yaml has no run with a rate; play it with millrace write --model$/],
  ])) {
    const typed = { words, behind: ['', '--password'], options: new Map() }
    const given = /** @type {any} */ ({ settings: { part }, typed, env: {} })
    assert.throws(() => replaySettings(given), { message })
  }
})
