// What each strategy puts on the wire, by the keys of the published experiments. Pure: no server has a part in it.
import assert from 'node:assert/strict'
import test from 'node:test'
import { tickValues } from '../../lib/plan/tick-values.js'
import { batchOf } from '../../lib/transport/batch.js'
import { plainCommand } from '../../lib/wire/encode.js'
import { strategyNames } from '../../lib/workloads/index.js'
import { inlineScript, scriptSha } from '../../lib/workloads/lua.js'
import { strategyOf } from '../../lib/workloads/strategy-of-plan.js'
import { OPTIONS } from '../../settings.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** @import { Facts } from '../../lib/loads/plan.js' */
/** @import { Settings } from '../../settings.js' */

const epochMs = 1_790_000_012_345
const values = tickValues(epochMs, 3)
const minute = Math.floor(epochMs / 60_000)
const [item, items, hash, fields] = ['item', 'items', 'hash', 'fields'].map((what) =>
  scriptSha(`store-${what}`),
)
const bytes = /** @type {const} */ ({ 1: '1000', 2: '2000', 3: '3000' })
const purge = (/** @type {string} */ set, most = 10_000) => `EVAL purge 1 ${set} (${epochMs - 3000} ${most}`
const keep = (/** @type {string} */ key, /** @type {string} */ make) => `EVAL keep-key 1 ${key} 180 ${make}`
const rank = (/** @type {string} */ member) => `ZADD 0 ${member}`

/** Scripts that travel with their text, by name. */
const scriptNames = new Map(['purge', 'keep-key'].map((name) => [inlineScript(name), name]))

/** Every command of a tick of items 1..3, a list a step; values of four bytes. @param {Partial<Settings>} settings @param {Partial<Facts>} [facts] */
const commandsOf = (settings, facts) => {
  const plan = samplePlan({ quantity: 3, valueBytes: 4, payload: 'sparse', ...settings }, facts)
  return strategyOf(plan)
    .steps()
    .map((step) => {
      const batch = batchOf(step, { first: 1, count: 3 }, { cluster: false, values })
      return Array.from({ length: batch.count }, (_, i) =>
        plainCommand(batch.args(i), values)
          .map((arg) => scriptNames.get(String(arg)) ?? arg)
          .join(' '),
      )
    })
}

const setex = [1, 2, 3].map((n) => `SETEX item:${n} 3 ${n}000`)
const zadd = (/** @type {string} */ set, /** @type {string[]} */ ...members) =>
  `ZADD ${set} ${members.map((member) => `${epochMs} ${member}`).join(' ')}`
const ids = ['item:1', 'item:2', 'item:3']

/** @type {{ name: string, settings: Partial<Settings>, facts?: Partial<Facts>, commands: string[][] }[]} */
const samples = [
  {
    name: 'sorted-set',
    settings: {},
    commands: [
      [keep('latest-ids', rank('item:1'))],
      setex,
      [zadd('latest-ids', ...ids)],
      [purge('latest-ids')],
    ],
  },
  {
    name: 'sorted-set, each item once',
    settings: { once: true },
    commands: [
      [keep('latest-ids', rank('item:1'))],
      setex,
      [zadd('latest-ids', ...ids)],
      [purge('latest-ids', 2000)],
    ],
  },
  {
    name: 'sorted-set, cut at two members, with a prefix',
    settings: { maxMembers: 2, prefix: 'p:' },
    commands: [
      [keep('p:latest-ids', rank('p:item:1'))],
      [1, 2, 3].map((n) => `SETEX p:item:${n} 3 ${n}000`),
      [zadd('p:latest-ids', 'p:item:1'), zadd('p:latest-ids', 'p:item:2', 'p:item:3')],
      [purge('p:latest-ids')],
    ],
  },
  {
    name: 'two sorted sets, and one more with the same members',
    settings: { sortedSets: 2, extraSortedSets: 1 },
    commands: [
      [keep('latest-ids:0', rank('item:2')), keep('latest-ids:1', rank('item:1'))],
      [keep('latest-ids-extra:1', rank('item:1'))],
      setex,
      [zadd('latest-ids:1', 'item:1', 'item:3'), zadd('latest-ids:0', 'item:2')],
      [zadd('latest-ids-extra:1', ...ids)],
      [purge('latest-ids:0'), purge('latest-ids:1')],
      [purge('latest-ids-extra:1')],
    ],
  },
  {
    name: 'two sorted sets in the same slot',
    settings: { sortedSets: 2, placement: 'same-slot' },
    commands: [
      [keep('latest-ids:0{forced-slot}', rank('item:2')), keep('latest-ids:1{forced-slot}', rank('item:1'))],
      setex,
      [zadd('latest-ids:1{forced-slot}', 'item:1', 'item:3'), zadd('latest-ids:0{forced-slot}', 'item:2')],
      [purge('latest-ids:0{forced-slot}'), purge('latest-ids:1{forced-slot}')],
    ],
  },
  {
    name: 'actual-value',
    settings: { strategy: 'actual-value' },
    commands: [
      [keep('latest-ids', rank(bytes[1]))],
      [zadd('latest-ids', bytes[1], bytes[2], bytes[3])],
      [purge('latest-ids')],
    ],
  },
  {
    name: 'script-batch on one master: keys travel as arguments',
    settings: { strategy: 'script-batch' },
    commands: [
      [keep('latest-ids', rank('item:1'))],
      [`EVALSHA ${items} 1 latest-ids 3 ${epochMs} item:1 1000 item:2 2000 item:3 3000`],
      [purge('latest-ids')],
    ],
  },
  {
    name: 'script-item on one master: the key travels as an argument',
    settings: { strategy: 'script-item' },
    commands: [
      [keep('latest-ids', rank('item:1'))],
      [1, 2, 3].map((n) => `EVALSHA ${item} 1 latest-ids 3 ${epochMs} ${n}000 item:${n}`),
      [purge('latest-ids')],
    ],
  },
  {
    name: 'list',
    settings: { strategy: 'list' },
    commands: [
      [keep('latest-ids-list', 'RPUSH item:1')],
      setex,
      [`RPUSH latest-ids-list ${ids.join(' ')}`],
      ['LTRIM latest-ids-list -3 -1'],
    ],
  },
  {
    name: 'list, each item once: cut to what lives, and a tick more',
    settings: { strategy: 'list', once: true, ttlS: 5, chunks: 3 },
    commands: [
      [keep('latest-ids-list', 'RPUSH item:1')],
      [1, 2, 3].map((n) => `SETEX item:${n} 5 ${n}000`),
      [`RPUSH latest-ids-list ${ids.join(' ')}`],
      ['LTRIM latest-ids-list -16 -1'],
    ],
  },
  {
    name: 'list-hll',
    settings: { strategy: 'list-hll' },
    commands: [
      [keep(`latest-ids-count:${minute}`, 'PFADD')],
      [keep('latest-ids-list', 'RPUSH item:1')],
      setex,
      [`RPUSH latest-ids-list ${ids.join(' ')}`],
      ['LTRIM latest-ids-list -3 -1'],
      [`PFADD latest-ids-count:${minute} ${ids.join(' ')}`],
    ],
  },
  {
    name: 'set',
    settings: { strategy: 'set' },
    commands: [
      [keep(`latest-ids:${minute}`, 'SADD item:1')],
      setex,
      [`SADD latest-ids:${minute} ${ids.join(' ')}`],
    ],
  },
  {
    name: 'hash',
    settings: { strategy: 'hash' },
    commands: [
      [keep('latest-ids', rank('latest-hash:1'))],
      [1, 2, 3].map((n) => `EVALSHA ${hash} 1 latest-hash:${n} 3 ${n}000`),
      [zadd('latest-ids', 'latest-hash:1', 'latest-hash:2', 'latest-hash:3')],
      [purge('latest-ids')],
    ],
  },
  {
    name: 'stream',
    settings: { strategy: 'stream' },
    commands: [
      [keep('latest-stream', 'XADD MAXLEN 0 * id  value ')],
      [1, 2, 3].map((n) => `XADD latest-stream MAXLEN ~ 3 * id item:${n} value ${n}000`),
    ],
  },
  {
    name: 'hash-ttl with HSETEX',
    settings: { strategy: 'hash-ttl' },
    facts: { variant: 'HSETEX' },
    commands: [['HSETEX latest-fields:0 EX 3 FIELDS 3 item:1 1000 item:2 2000 item:3 3000']],
  },
  {
    name: 'hash-ttl with HEXPIRE',
    settings: { strategy: 'hash-ttl' },
    facts: { variant: 'HEXPIRE' },
    commands: [[`EVALSHA ${fields} 1 latest-fields:0 3 180 item:1 1000 item:2 2000 item:3 3000`]],
  },
]

for (const { name, settings, facts, commands } of samples) {
  test(`${name}: its commands`, () => {
    assert.deepEqual(commandsOf(settings, facts), commands)
  })
}

for (const { strategy, sha } of /** @type {const} */ ([
  { strategy: 'script-batch', sha: items },
  { strategy: 'script-item', sha: item },
])) {
  test(`${strategy} on three masters: every key in KEYS, all with the tag of their set`, () => {
    const facts = { masters: 3, cluster: true }
    const calls = commandsOf({ strategy, sortedSets: 2, placement: 'spread' }, facts)[1]
    assert.equal(calls.length, strategy === 'script-item' ? 3 : 2)
    for (const call of calls) {
      const [name, script, keys, set, ...rest] = call.split(' ')
      assert.deepEqual([name, script], ['EVALSHA', sha])
      const written = rest.slice(0, Number(keys) - 1)
      const tag = set.match(/^latest-ids:[01](\{\d+\})$/)?.[1]
      assert.ok(tag, set)
      for (const key of written)
        assert.ok(/^item:[123]\{/.test(key) && key.endsWith(tag), `${key} beside ${set}`)
      assert.deepEqual(rest.slice(written.length, written.length + 2), ['3', String(epochMs)])
      assert.deepEqual(
        rest.slice(written.length + 2),
        written.map((key) => `${key[5]}000`),
      )
    }
  })
}

test('the registry, the table of options and the samples know the same strategies', () => {
  const choices = OPTIONS.find(({ name }) => name === 'strategy')?.choices ?? []
  // Models of a user, which other tests of this process have loaded, come last.
  assert.deepEqual(strategyNames().slice(0, choices.length), choices)
  assert.deepEqual(
    [...new Set(samples.map(({ settings }) => settings.strategy ?? 'sorted-set'))].sort(),
    strategyNames('ticks')
      .filter((name) => choices.includes(name))
      .sort(),
  )
})

test('what must not be sent twice says so', () => {
  const careful = strategyNames('ticks').flatMap((name) => {
    const plan = samplePlan({ strategy: /** @type {any} */ (name) }, { variant: 'HEXPIRE' })
    return strategyOf(plan)
      .steps()
      .flatMap((step) => {
        const [command] = plainCommand(
          batchOf(step, { first: 1, count: 1 }, { cluster: false, values }).args(0),
          values,
        )
        return step.repeatable === false ? [`${name} ${command}`] : []
      })
  })
  assert.deepEqual(careful.sort(), ['list RPUSH', 'list-hll RPUSH', 'stream XADD'])
})
