// A profile without a server: names folded into patterns, estimates, and the workload file that follows.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { Ajv } from 'ajv'
import { elementBytes } from '../../lib/answers/profile/command-forms.js'
import { anonymousWords, otherKeys, patternsOf, piecesOf } from '../../lib/answers/profile/fold.js'
import { amountsOf, noiseOf } from '../../lib/answers/profile/noise.js'
import {
  equalParts,
  meanOf,
  profileOf,
  shareWithInterval,
  staleShare,
} from '../../lib/answers/profile/profile.js'
import { hotOfRedis } from '../../lib/answers/profile/readings.js'
import { profileSchema } from '../../lib/answers/profile/schema.js'
import { clientsOf } from '../../lib/answers/profile/seen.js'
import { connectionsOf, workloadOf } from '../../lib/answers/profile/workload.js'
import { replaySettings } from '../../lib/cli/commands/replay.js'
import { profileDocument, profileSections } from '../../lib/cli/profile-files.js'
import { parseInfo } from '../../lib/wire/info.js'
import { modelOfYaml } from '../../lib/workloads/own/from-text.js'
import { valuesOf } from '../helpers/table.js'

/** @param {string | Buffer} name */
const folded = (name) => piecesOf(Buffer.from(/** @type {string} */ (name))).join('')

test('numbers, UUIDs, hashes, dates and bytes in names are folded, words are not', () => {
  for (const [name, pattern] of [
    ['session:123e4567-e89b-12d3-a456-426614174000', 'session:{uuid}'],
    ['cart:42:items', 'cart:{n}:items'],
    ['user42', 'user{n}'],
    ['views:2026-11-25', 'views:{date}'],
    ['views:20261125', 'views:{date}'],
    ['etag/da39a3ee5e6b4b0d3255bfef95601890afd80709', 'etag/{hash}'],
    ['t:Xk29aPq7LmZ04', 't:{id}'],
    ['cart:{77}:a', 'cart:{{{n}}}:a'],
    ['plain-name', 'plain-name'],
  ])
    assert.equal(folded(name), pattern)
  assert.doesNotMatch(folded(Buffer.from('\x1b[31mred\x00\xff')), /[^\x20-\x7e]/)
  assert.ok(folded('a'.repeat(1e6)).length < 600)
})

const counted = () =>
  patternsOf(
    () => ({ count: 0 }),
    (into, from) => {
      into.count += from.count
    },
  )
const letters = (/** @type {number} */ n) => n.toString(26).replace(/\d/g, (d) => 'qrstuvwxyz'[Number(d)])

test('a place with many words is one pattern, and the number of patterns is bounded', () => {
  const patterns = counted()
  for (let n = 0; n < 5000; n++) patterns.of(Buffer.from(`user:${letters(n)}:cart`)).count++
  for (let n = 0; n < 3; n++) patterns.of(Buffer.from(`config:${letters(n)}`)).count++
  const found = patterns.all().map(({ pieces, of }) => `${pieces.join('')} ${of.count}`)
  assert.deepEqual(found.slice(0, 1), ['user:{word}:cart 5000'])
  assert.equal(found.length, 4)

  const hostile = counted()
  const pieces = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
  for (let n = 0; n < 6000; n++)
    hostile.of(
      Buffer.from(
        [...String(n)].map((d, i) => pieces[Number(d)].repeat(i + 1)).join(':') + ':z'.repeat(n % 7),
      ),
    ).count++
  const all = hostile.all()
  assert.ok(all.length <= 2001)
  assert.equal(
    all.reduce((sum, { of }) => sum + of.count, 0),
    6000,
  )
  assert.ok(otherKeys.length > 0)
})

test('anonymous names keep their shape and no word', () => {
  const shape = anonymousWords()
  const first = shape(piecesOf(Buffer.from('alice:cart:12'))).join('')
  assert.match(first, /^[a-z]{5}:[a-z]{4}:\{n\}$/)
  assert.doesNotMatch(first, /alice|cart/)
  assert.equal(shape(piecesOf(Buffer.from('alice:cart:99'))).join(''), first)
  assert.notEqual(shape(piecesOf(Buffer.from('peter:cart:99'))).join(''), first)
})

test('a share has its interval, and equal parts keep the mean', () => {
  const { value, low, high } = shareWithInterval(20, 100)
  assert.equal(value, 0.2)
  assert.ok(low > 0.13 && low < 0.14 && high > 0.28 && high < 0.29)
  const parts = equalParts(Array.from({ length: 100 }, (_, i) => i))
  assert.equal(parts.length, 20)
  assert.equal(parts.reduce((sum, n) => sum + n, 0) / 20, 49.5)
})

const key = Buffer.from('session:4711')
const ours = 'id=2 addr=1.2.3.4:6 name=millrace-control flags=N tot-cmds=5'

/** What else it says. @returns {import('../../lib/answers/profile/readings.js').Readings[]} */
const readings = () => [
  {
    begin: {
      latency: {
        get: [
          [1, 50],
          [4, 100],
        ],
      },
      clients: `id=1 addr=1.2.3.4:5 name=web lib-name=ioredis flags=N tot-cmds=10 tot-net-in=0 tot-net-out=0\n${ours}`,
      slots: [{ slot: 7, keys: 5, us: 1000, in: 0, out: 0 }],
    },
    end: {
      latency: {
        get: [
          [1, 50],
          [2, 140],
          [4, 200],
          [16, 201],
        ],
      },
      clients: `id=1 addr=1.2.3.4:5 name=web lib-name=ioredis flags=N tot-cmds=9010 tot-net-in=10000 tot-net-out=20000\n${ours}`,
      slots: [
        { slot: 9, keys: 50, us: null, in: null, out: null },
        { slot: 7, keys: 6, us: 1_001_000, in: 10, out: 20 },
      ],
    },
    log: {
      from: 'SLOWLOG',
      length: 12,
      entries: [
        { kind: 'slow', command: 'get', key, value: 100 },
        { kind: 'slow', command: 'get', key: Buffer.from('session:12'), value: 300 },
        { kind: 'slow', command: 'other', key: null, value: 50 },
      ],
    },
    hot: hotOfRedis({
      'sample-ratio': 10,
      'collection-duration-ms': 1000,
      'all-commands-all-slots-us': 10_000,
      'net-bytes-all-commands-all-slots': 1e6,
      'by-cpu-time-us': [key, 400, Buffer.from('board'), 200],
      'by-net-bytes': [key, 1000],
    }),
  },
]

test('the interval of a mean of a few keys is by Student', () => {
  const sizes = [90, 100, 110, 100, 95, 105]
  const error = Math.sqrt(50 / 6)
  const { value, low, high } = /** @type {import('../../lib/answers/profile/profile.js').Estimate} */ (
    meanOf(sizes)
  )
  assert.equal(value, 100)
  assert.ok(
    Math.abs((high - value) / error - 2.571) < 0.001 && Math.abs((value - low) / error - 2.571) < 0.001,
  )
  assert.equal(meanOf([]), null)
  assert.deepEqual(meanOf([7]), { value: 7, low: 7, high: 7 })
})

test('keys that have expired are the rest of the mean number of keys, which rises and falls with them', () => {
  const of = (/** @type {number[]} */ keys, /** @type {object} */ more = {}) =>
    staleShare(
      {
        ...{ complete: false, stale: 0.125, end: [parseInfo(`db0:keys=${keys.at(-1)},expires=9`)] },
        series: keys.map((count, s) => amountsOf([parseInfo(`db0:keys=${count}`)], s)),
        ...more,
      },
      700,
    ).toFixed(3)
  assert.equal(of([800, 800, 800]), '0.125')
  // 700 are there at the crest of a wave and below it.
  assert.equal(of([800, 720, 800, 880]), '0.205')
  assert.equal(of([800, 880, 800, 720]), '0.028')
  // A cache that fills has no mean.
  assert.equal(of([100, 400, 800]), '0.125')
  // Few keys are no full page: all names were seen, or nothing is known.
  assert.equal(of([800], { stale: null, complete: true }), '0.125')
  assert.equal(of([800], { stale: null }), '0.000')
  assert.equal(of([800], { end: [parseInfo('db0:keys=800,expires=0')] }), '0.000')
})

/** What a server with sessions and a board says. */
const collected = () => {
  const info = (/** @type {number} */ gets, /** @type {number} */ sets) =>
    parseInfo(
      [
        `total_commands_processed:${gets + sets + 10}`,
        `total_reads_processed:${gets + sets}`,
        `expired_keys:${sets}`,
        `keyspace_hits:${gets * 0.9}`,
        `keyspace_misses:${gets * 0.1}`,
        `total_net_output_bytes:${gets * 100}`,
        'db0:keys=1001,expires=1000',
        `cmdstat_get:calls=${gets},usec=${gets * 2}`,
        `cmdstat_setex:calls=${sets},usec=${sets * 4}`,
        `cmdstat_zadd:calls=${sets},usec=${sets * 4}`,
        `cmdstat_eval:calls=${sets},usec=${sets * 4}`,
        'cmdstat_scan:calls=10,usec=100',
      ].join('\n'),
    )
  const session = { type: 'string', nameBytes: 20, encoding: 'raw', memory: 200, idleS: 5 }
  return /** @type {import('../../lib/answers/profile/collect.js').Collected} */ ({
    begin: [info(0, 0)],
    end: [info(9000, 200)],
    seconds: 10,
    ...{ series: [], stale: null },
    own: { calls: { scan: 10 }, used: 10, reads: 10, us: 100, cpu: 0.001, in: 0, out: 0 },
    patterns: [
      {
        pieces: piecesOf(Buffer.from('session:123')),
        of: {
          count: 1000,
          waiting: [],
          known: new Set(),
          facts: Array.from({ length: 100 }, (_, i) => ({
            ...session,
            leftMs: (i + 1) * 500,
            size: 100 + i,
          })),
        },
      },
      {
        pieces: ['board'],
        of: {
          count: 1,
          waiting: [],
          known: new Set(),
          facts: [
            {
              ...session,
              type: 'zset',
              encoding: 'skiplist',
              nameBytes: 5,
              leftMs: -1,
              memory: 10_400,
              size: 100,
            },
          ],
        },
      },
    ],
    complete: true,
    read: readings(),
    remarks: [],
    refused: [],
    unknown: [],
  })
}

const about = { startedMs: 0, isInterrupted: false, versions: ['7.0'], replicas: [], isAnonymous: false }

test('a workload file has the keys and the shares of the profile, and is a model', () => {
  const profile = profileOf(collected(), about)
  assert.deepEqual(
    profile.patterns.flatMap(({ pattern, keys }) => [pattern, keys.value]),
    ['session:{n}', 1000, 'board', 1],
  )
  assert.deepEqual(profile.clients, {
    connections: 1,
    busy: 1,
    groups: [
      {
        name: 'web ioredis',
        connections: 1,
        commands_per_s: 900,
        bytes_in_per_s: 1000,
        bytes_out_per_s: 2000,
      },
    ],
  })
  assert.equal(
    profile.commands.find(({ name }) => name === 'scan'),
    undefined,
  )
  const workload = workloadOf(profile)
  const shares = Object.fromEntries(
    workload.commands.map(({ command, per_s }) => [command.replace(/x+/g, ''), per_s]),
  )
  assert.equal(shares['GET session:{missing}'], 90)
  assert.equal(shares['GET session:{live}'], 810)
  assert.equal(shares['SETEX session:{new} 50 {bytes}'], 20)
  assert.deepEqual(valuesOf(workload.left_out, 'name'), ['eval'])
  assert.equal(workload.rate, 940)

  const { document, text } = profileDocument(profile)
  const { declared } = modelOfYaml('workload.yaml', text, 'workload')
  assert.equal(declared.defaultItems, 1001)
  const ajv = new Ajv({ allowUnionTypes: true, strict: false })
  assert.ok(ajv.validate(profileSchema, JSON.parse(JSON.stringify(document))), ajv.errorsText())
  const shipped = readFileSync(new URL('../../docs/schemas/profile.schema.json', import.meta.url), 'utf8')
  assert.deepEqual(JSON.parse(shipped), JSON.parse(JSON.stringify(profileSchema)))

  const warned = (/** @type {number} */ perS) =>
    profileSections({ ...document, keys_per_s: perS }, 'out')
      .warnings.map((one) => one.text)
      .join()
  assert.match(warned(document.keys), /^the number of keys changed by .* meanwhile/)
  assert.match(warned(-document.keys), /the number of keys changed/)
  assert.doesNotMatch(warned(0), /changed/)

  const hidden = profileDocument(profileOf(collected(), { ...about, isAnonymous: true }))
  assert.doesNotMatch(
    JSON.stringify(hidden.document.patterns) + hidden.text.split('keys:')[1],
    /session|board/,
  )
})

test('what only some servers say is added up over the time, by pattern, and scaled by its sample', () => {
  const asked = { ...about, replicas: ['10.0.0.7:6379'] }
  const said = collected()
  said.end[0].fields.db0_distrib_strings_sizes = '64=900,1K=100,2=18446744073709551615'
  const profile = profileOf(said, asked)
  // Of 101 calls meanwhile 90 took at most 2, 100 at most 4.
  assert.deepEqual(profile.commands.map(({ name, p50_us, p99_us }) => [name, p50_us, p99_us])[0], [
    'get',
    2,
    4,
  ])
  assert.equal(profile.times_from, 'LATENCY HISTOGRAM')
  assert.deepEqual(profile.key_sizes, [
    {
      type: 'string',
      unit: 'bytes',
      keys: 1000,
      median: 64,
      p99: 1024,
      buckets: [
        { at_least: 64, keys: 900 },
        { at_least: 1024, keys: 100 },
      ],
    },
  ])
  assert.deepEqual(profile.log?.groups, [
    { kind: 'slow', command: 'get', pattern: 'session:{n}', count: 2, most: 300 },
    { kind: 'slow', command: 'other', pattern: null, count: 1, most: 50 },
  ])
  assert.deepEqual(valuesOf(profile.slots ?? [], 'slot', 'cpu_share'), [7, 0.1, 9, null])
  assert.deepEqual(profile.hot_keys, {
    grammar: 'redis',
    tracked_s: 1,
    patterns: [
      {
        pattern: 'session:{n}',
        keys: 1,
        cpu_share: 0.4,
        busiest_cpu_share: 0.4,
        net_share: 0.01,
        per_s: null,
      },
      { pattern: 'board', keys: 1, cpu_share: 0.2, busiest_cpu_share: 0.2, net_share: 0, per_s: null },
    ],
  })
  assert.deepEqual(profile.server.replica_addresses, asked.replicas)
  assert.equal(profile.clients.busy, 1)

  const hidden = profileDocument(profileOf(said, { ...asked, isAnonymous: true }))
  const shown = [
    JSON.stringify(hidden.document),
    JSON.stringify(profileSections(hidden.document, 'out')),
    hidden.text,
  ]
  for (const text of shown) assert.doesNotMatch(text, /session|board|web|10\.0\.0\.7/)
  assert.match(shown[1], /ioredis/)
})

test('where a replay ends is in the profile: what the file has in it, and what cannot be known', () => {
  const { expected, keys } = workloadOf(profileOf(collected(), about))
  // 20 are made in a second and 1,000 are there: 50 s, which the sample's longest time left agrees with.
  assert.equal(keys[0].lifetime, 50)
  assert.ok(keys[0].isTurned)
  assert.equal(expected.keys.value, 1001)
  // Keys that are written again live on: only what the sample saw is known.
  const rewritten = collected()
  rewritten.end[0].commands.setex.calls *= 5
  assert.equal(workloadOf(profileOf(rewritten, about)).keys[0].isTurned, false)
  // Those that were asked late have less left than a lifetime.
  const late = collected()
  for (const fact of late.patterns[0].of.facts) fact.leftMs *= 0.6
  assert.equal(workloadOf(profileOf(late, about)).keys[0].lifetime, 50)
  // A time left of a few keys that is longer than that is the lifetime, and times left are even, not those of the sample:
  // 11,196 keys were there in place of 7,850 where few of the sample's six had little left.
  const few = collected()
  few.patterns[0].of.facts = [8, 30, 48, 53.5].map((s) => ({
    ...few.patterns[0].of.facts[0],
    leftMs: s * 1000,
  }))
  const { lifetime, left } = workloadOf(profileOf(few, about)).keys[0]
  assert.equal(lifetime, 54)
  assert.equal(left.filter((s) => s <= 27).length, 10)
  assert.ok(expected.keys.low < 950 && expected.keys.high > 1050)
  assert.ok(Number(expected.left_s?.low) < 25 && Number(expected.left_s?.high) > 26)
  assert.ok(expected.bytes_out_per_s.low < expected.bytes_out_per_s.high)

  const look = (/** @type {number} */ s, /** @type {number} */ commands) =>
    amountsOf([parseInfo(`total_commands_processed:${commands}`)], s)
  const even = Array.from({ length: 11 }, (_, s) => look(s, s * 100))
  assert.equal(noiseOf(even).commands, 0)
  const uneven = even.map((_, s) => look(s, s * 100 + (s % 2) * 50))
  assert.ok(Number(noiseOf(uneven).commands) > 0.2)
  assert.equal(noiseOf(even.slice(0, 3)).commands, null)
})

test('the median of even times left follows from the longest, that of others is the middle one', () => {
  const medianOf = (/** @type {(i: number) => number} */ leftMs) => {
    const said = collected()
    for (const [i, fact] of said.patterns[0].of.facts.entries()) fact.leftMs = leftMs(i)
    return profileOf(said, about).patterns[0].left_s.median
  }
  // Of 100 even ones from 0.5 to 50 s.
  assert.equal(
    medianOf((i) => (i + 1) * 500),
    25.25,
  )
  // The middle one of the sample is low by chance.
  assert.equal(
    medianOf((i) => (i < 60 ? i + 1 : 25 + i * 0.75) * 500),
    ((101 / 100) * 99.25 * 0.5) / 2,
  )
  // Most have little, some have much.
  assert.equal(
    medianOf((i) => (i < 70 ? 1000 + i : 50_000)),
    1.05,
  )
})

test('memory of keys has what connections take now, and no scripts', () => {
  const said = collected()
  Object.assign(said.end[0].fields, {
    ...{ used_memory: '1300000', used_memory_startup: '900000' },
    ...{ mem_clients_normal: '40000', used_memory_scripts_eval: '4000' },
  })
  assert.equal(profileOf(said, about).memory_bytes, 356_000)
  said.read[0].end.clients = [20_000, 1_000]
    .map((bytes, i) => `id=${i} addr=1.2.3.4:5 flags=N tot-mem=${bytes}`)
    .join('\n')
  assert.equal(profileOf(said, about).memory_bytes, 375_000)
})

test('elements of lists are as long as their memory says', () => {
  const list = (/** @type {number} */ memory, /** @type {number} */ size) =>
    elementBytes(
      /** @type {any} */ ({ type: 'list', name_bytes: 9, memory_of_key: { value: memory } }),
      'quicklist',
      size,
    )
  // As Redis 7.0 has 500 of 200 bytes.
  assert.equal(Math.round(list(104_040, 500)), 200)
})

test('keys that are read whole have as many elements as fit the bytes sent, within what a sample may be off', () => {
  const workload = (/** @type {number} */ bytesOutPerS) => {
    const said = collected()
    const [{ fields, commands }] = said.end
    fields.total_net_output_bytes = String(bytesOutPerS * said.seconds)
    said.end[0].commands = { hgetall: commands.get }
    const { facts } = said.patterns[0].of
    for (const [i, fact] of facts.entries())
      Object.assign(fact, { type: 'hash', encoding: 'listpack', size: 5 + (i % 9), memory: 400, leftMs: -1 })
    const { keys, expected } = workloadOf(profileOf(said, about))
    const [{ elements }] = keys
    return {
      elements: elements.reduce((sum, n) => sum + n, 0) / elements.length,
      sent: expected.bytes_out_per_s.value - 9350,
    }
  }
  const { elements, sent } = workload(0)
  assert.ok(Math.abs(workload(sent).elements - elements) < 0.3)
  const more = workload(sent * 1.05)
  assert.ok(Math.abs(more.sent / sent - 1.05) < 0.03)
  assert.ok(more.elements > elements)
  // Ten times as many bytes have another cause.
  const most = workload(sent * 10)
  assert.ok(most.elements > elements * 1.05 && most.elements < elements * 1.3)
})

test('names of members are as long as fits the bytes that the server received', () => {
  let memory = 10_400
  const workload = (/** @type {number} */ bytesInPerS, /** @type {boolean} */ hasScripts) => {
    const said = collected()
    said.end[0].fields.total_net_input_bytes = String(bytesInPerS * said.seconds)
    said.patterns[1].of.facts[0].memory = memory
    if (!hasScripts) delete said.end[0].commands.eval
    return workloadOf(profileOf(said, about))
  }
  // Without the bytes, by their memory alone; a run of Millrace sends 760 more.
  const unfitted = workload(0, false)
  const sent = unfitted.expected.bytes_in_per_s.value - 760
  const longer = (/** @type {number} */ bytesInPerS, hasScripts = false) =>
    workload(bytesInPerS, hasScripts).keys[1].element.length - unfitted.keys[1].element.length
  // Of 20 that are sent in a second.
  assert.deepEqual(
    [sent, sent + 20 * 5, sent - 20 * 5, sent + 1e6].map((bytes) => longer(bytes)),
    [0, 5, -5, 24],
  )
  // A server that keeps less beside members than is taken off: their names would have one letter.
  memory = 9000
  assert.equal(workload(0, false).keys[1].element, 'e{element}')
  // A length has one digit or two.
  assert.ok(Math.abs(longer(sent)) <= 1)
  memory = 10_400
  // What scripts send is not known.
  assert.equal(longer(sent + 1e6, true), 0)
})

test('connections that send are played, and none that is idle or seldom sends', () => {
  const busyOf = (/** @type {string[]} */ begin, /** @type {string[]} */ end) => {
    const [one] = readings()
    const list = (/** @type {string[]} */ lines) =>
      lines.map((line, id) => `id=${id} addr=1.2.3.4:${id} name= flags=N ${line}`).join('\n')
    const all = [
      { ...one, begin: { ...one.begin, clients: list(begin) }, end: { ...one.end, clients: list(end) } },
    ]
    return clientsOf(all, [parseInfo('connected_clients:3')], 10, (name) => name).busy
  }
  // Servers before 8 say how long a connection was idle, and what it sent last.
  const old = ['idle=0 cmd=get', 'idle=10 cmd=get', 'idle=0 cmd=ping', 'idle=9 cmd=set']
  assert.equal(busyOf(old, old), 2)
  const from = ['tot-cmds=5', 'tot-cmds=5', 'tot-cmds=5']
  assert.equal(busyOf(from, ['tot-cmds=20005', 'tot-cmds=505', 'tot-cmds=5']), 1)
  assert.equal(busyOf(from, ['tot-cmds=1005', 'tot-cmds=1005', 'tot-cmds=1005']), 3)
  assert.equal(busyOf(from, from), null)
  assert.equal(connectionsOf(/** @type {any} */ ({ clients: { busy: null, connections: 4 } })), 4)
})

test('sizes that are used more are fitted to the bytes that the server sent', () => {
  const seen = collected()
  // 810 of 900 reads a second find 149.5 bytes on average; the server sent less.
  seen.patterns = seen.patterns.slice(0, 1)
  const profile = profileOf(seen, about)
  const { keys, reply_bytes: replies } = workloadOf({ ...profile, bytes_out_per_s: 115_000 })
  const few = keys[0].use ?? []
  assert.ok(few[0] > few[few.length - 1])
  assert.ok(Math.abs(replies - 1) < 0.01)
  const { text } = profileDocument({ ...profile, bytes_out_per_s: 115_000 })
  assert.match(text, /use: \[/)
  modelOfYaml('workload.yaml', text, 'workload')
})

test('a replay needs one file with a rate, and a percentage', () => {
  const asked = (/** @type {string} */ part, /** @type {string[]} */ ...words) =>
    replaySettings(
      /** @type {any} */ ({
        settings: { part },
        typed: { words, behind: ['', '--password'], options: new Map() },
        env: {},
      }),
    )
  const shop = 'docs/examples/shop.yaml'
  assert.throws(() => asked('0%', shop), { message: '--rate 0%: must be from 1% to 10000%, as in 250%' })
  assert.throws(() => asked('20k', shop), { message: /^--rate 20k: must be from 1% to 10000%/ })
  assert.throws(() => asked('100%'), { message: /^which workload\?/ })
  assert.throws(() => asked('100%', shop, 'word'), {
    message: 'unexpected word on the command line after --password (not shown: it may be a password)',
  })
  assert.throws(() => asked('100%', 'none.yaml'), { message: 'cannot read none.yaml (ENOENT)' })
  assert.throws(() => asked('100%', shop), {
    message: /shop\.yaml has no run with a rate; play it with millrace write --model$/,
  })
})
