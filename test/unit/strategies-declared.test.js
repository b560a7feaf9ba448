// What each strategy puts on the wire, by the keys of the published experiments. Pure: no server has a part in it.
import assert from 'node:assert/strict'
import test from 'node:test'
import { tickValues } from '../../lib/plan/tick-values.js'
import { batchOf } from '../../lib/transport/tick-batches.js'
import { plainCommand } from '../../lib/wire/encode.js'
import { anyPlan } from '../../lib/workloads/any-plan.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { each as eachOf, family, strategy } from '../../lib/workloads/declare.js'
import { planFieldsOf } from '../../lib/workloads/fields.js'
import { allStrategies, strategyNames } from '../../lib/workloads/index.js'
import { setNames } from '../../lib/workloads/latest/parts.js'
import { inlineScript, scriptBody, scriptSha } from '../../lib/workloads/lua.js'
import { OPTIONS } from '../../settings.js'
import { builtInNames, samplePlan } from '../helpers/sample-plan.js'
import { rowsOf } from '../helpers/table.js'

/** @import { Facts } from '../../lib/loads/plan.js' */
/** @import { Settings } from '../../settings.js' */

const epochMs = 1_790_000_012_345
const values = tickValues(epochMs, 3)
const minute = Math.floor(epochMs / 60_000)
const [item, items, hash, fields] = ['item', 'items', 'hash', 'fields'].map((what) =>
  scriptSha(`store-${what}`),
)
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

const ids = ['item:1', 'item:2', 'item:3']
const each = (/** @type {(n: number) => string} */ command) => [1, 2, 3].map(command).join(' | ')
const setex = each((n) => `SETEX item:${n} 3 ${n}000`)
const zadd = (/** @type {string} */ set, /** @type {string[]} */ ...members) =>
  `ZADD ${set} ${members.map((member) => `${epochMs} ${member}`).join(' ')}`
const [kept, added] = [keep('latest-ids', rank('item:1')), zadd('latest-ids', ...ids)]
const purged = purge('latest-ids')
const [listKept, pushed] = [keep('latest-ids-list', 'RPUSH item:1'), `RPUSH latest-ids-list ${ids.join(' ')}`]
const [zero, one] = ['latest-ids:0{forced-slot}', 'latest-ids:1{forced-slot}']
const pairs = 'item:1 1000 item:2 2000 item:3 3000'
const [even, odd] = setNames('', 2, 'spread')
const tag = (/** @type {string} */ set) => set.slice(set.indexOf('{'))
const spreadKept = [even, odd].map((set, i) => keep(set, rank(`item:${2 - i}${tag(set)}`))).join(' | ')
const onThree = (/** @type {string} */ strategy) =>
  JSON.stringify({ strategy, sortedSets: 2, placement: 'spread', masters: 3, cluster: true })

// A name, settings, and a cell for each step, whose commands stand between bars.
const samples = rowsOf(`
sorted-set -> {} -> ${kept} -> ${setex} -> ${added} -> ${purged}
sorted-set, each item once -> {"once":true} -> ${kept} -> ${setex} -> ${added} -> ${purge('latest-ids', 2000)}
sorted-set, cut at two members, with a prefix -> {"maxMembers":2,"prefix":"p:"} -> ${keep('p:latest-ids', rank('p:item:1'))} -> ${setex.replaceAll('item', 'p:item')} -> ${zadd('p:latest-ids', 'p:item:1')} | ${zadd('p:latest-ids', 'p:item:2', 'p:item:3')} -> ${purge('p:latest-ids')}
two sorted sets, and one more with the same members -> {"sortedSets":2,"extraSortedSets":1} -> ${keep('latest-ids:0', rank('item:2'))} | ${keep('latest-ids:1', rank('item:1'))} -> ${keep('latest-ids-extra:1', rank('item:1'))} -> ${setex} -> ${zadd('latest-ids:1', 'item:1', 'item:3')} | ${zadd('latest-ids:0', 'item:2')} -> ${zadd('latest-ids-extra:1', ...ids)} -> ${purge('latest-ids:0')} | ${purge('latest-ids:1')} -> ${purge('latest-ids-extra:1')}
two sorted sets in the same slot -> {"sortedSets":2,"placement":"same-slot"} -> ${keep(zero, rank('item:2'))} | ${keep(one, rank('item:1'))} -> ${setex} -> ${zadd(one, 'item:1', 'item:3')} | ${zadd(zero, 'item:2')} -> ${purge(zero)} | ${purge(one)}
actual-value -> {"strategy":"actual-value"} -> ${keep('latest-ids', rank('1000'))} -> ${zadd('latest-ids', '1000', '2000', '3000')} -> ${purged}
script-batch on one master: keys travel as arguments -> {"strategy":"script-batch"} -> ${kept} -> EVALSHA ${items} 1 latest-ids 3 ${epochMs} ${pairs} -> ${purged}
script-item on one master: the key travels as an argument -> {"strategy":"script-item"} -> ${kept} -> ${each((n) => `EVALSHA ${item} 1 latest-ids 3 ${epochMs} ${n}000 item:${n}`)} -> ${purged}
list -> {"strategy":"list"} -> ${listKept} -> ${setex} -> ${pushed} -> LTRIM latest-ids-list -3 -1
list, each item once: cut to what lives, and a tick more -> {"strategy":"list","once":true,"ttlS":5,"chunks":3} -> ${listKept} -> ${each((n) => `SETEX item:${n} 5 ${n}000`)} -> ${pushed} -> LTRIM latest-ids-list -16 -1
list-hll -> {"strategy":"list-hll"} -> ${keep(`latest-ids-count:${minute}`, 'PFADD')} -> ${listKept} -> ${setex} -> ${pushed} -> LTRIM latest-ids-list -3 -1 -> PFADD latest-ids-count:${minute} ${ids.join(' ')}
set -> {"strategy":"set"} -> ${keep(`latest-ids:${minute}`, 'SADD item:1')} -> ${setex} -> SADD latest-ids:${minute} ${ids.join(' ')}
hash -> {"strategy":"hash"} -> ${keep('latest-ids', rank('latest-hash:1'))} -> ${each((n) => `EVALSHA ${hash} 1 latest-hash:${n} 3 ${n}000`)} -> ${zadd('latest-ids', 'latest-hash:1', 'latest-hash:2', 'latest-hash:3')} -> ${purged}
stream -> {"strategy":"stream"} -> ${keep('latest-stream', 'XADD MAXLEN 0 * id  value ')} -> ${each((n) => `XADD latest-stream MAXLEN ~ 3 * id item:${n} value ${n}000`)}
script-batch on three masters: every key in KEYS, all with the tag of their set -> ${onThree('script-batch')} -> ${spreadKept} -> EVALSHA ${items} 3 ${odd} item:1${tag(odd)} item:3${tag(odd)} 3 ${epochMs} 1000 3000 | EVALSHA ${items} 2 ${even} item:2${tag(even)} 3 ${epochMs} 2000 -> ${purge(even)} | ${purge(odd)}
script-item on three masters: the same -> ${onThree('script-item')} -> ${spreadKept} -> ${each((n) => `EVALSHA ${item} 2 ${n % 2 ? odd : even} item:${n}${tag(n % 2 ? odd : even)} 3 ${epochMs} ${n}000`)} -> ${purge(even)} | ${purge(odd)}
hash-ttl with HSETEX -> {"strategy":"hash-ttl","variant":"HSETEX"} -> HSETEX latest-fields:0 EX 3 FIELDS 3 ${pairs}
hash-ttl with HEXPIRE -> {"strategy":"hash-ttl","variant":"HEXPIRE"} -> EVALSHA ${fields} 1 latest-fields:0 3 180 ${pairs}
`).map(([name, terms, ...steps]) => {
  const { variant, masters = 1, cluster = false, ...settings } = JSON.parse(terms)
  const facts = { variant, masters, cluster }
  return { name, settings, facts, commands: steps.map((step) => step.split(' | ')) }
})

for (const { name, settings, facts, commands } of samples)
  test(`${name}: its commands`, () => assert.deepEqual(commandsOf(settings, facts), commands))

const choices = OPTIONS.find(({ name }) => name === 'strategy')?.choices ?? []
const builtIn = builtInNames('ticks')

test('the registry, the table of options and the samples know the same strategies', () => {
  // Models of a user, which other tests of this process have loaded, come last.
  assert.deepEqual(strategyNames().slice(0, choices.length), choices)
  const found = [...new Set(samples.map(({ settings }) => settings.strategy ?? 'sorted-set'))].sort()
  assert.deepEqual(found, builtIn.toSorted())
})

test('what must not be sent twice says so', () => {
  const careful = builtIn.flatMap((name) => {
    const plan = samplePlan({ strategy: /** @type {any} */ (name) }, { variant: 'HEXPIRE' })
    const steps = strategyOf(plan).steps()
    return steps
      .filter(({ repeatable }) => repeatable === false)
      .map((step) => {
        const { args } = batchOf(step, { first: 1, count: 1 }, { cluster: false, values })
        return `${name} ${plainCommand(args(0), values)[0]}`
      })
  })
  assert.deepEqual(careful.sort(), ['list RPUSH', 'list-hll RPUSH', 'stream XADD'])
})

/** The scripts in what is declared. @param {any} value @returns {any[]} */
const scriptsIn = (value) => {
  if (value === null || typeof value !== 'object') return []
  return typeof value.script === 'string' ? [value] : Object.values(value).flatMap(scriptsIn)
}

test('what the scripts of strategies run is declared beside them, also for workers', () => {
  const seen = new Set()
  for (const declared of allStrategies().slice(0, choices.length))
    for (const confirm of [false, true]) {
      const fields = {
        ...planFieldsOf({ ...anyPlan, ttlS: 2, ttlLeastS: 1, strategy: declared.name }),
        confirm,
      }
      const keys = declared.keys(fields)
      const said = [declared.operations(fields, keys), declared.queue?.(fields, keys)]
      // A library has several functions, of which each strategy calls one.
      for (const { script, calls } of scriptsIn(said).filter(({ called }) => !called)) {
        const run = [...scriptBody(script).matchAll(/redis\.call\('(\w+)'/g)].map(([, name]) => name)
        const unknown = run.filter((name) => !calls.includes(name))
        assert.deepEqual(unknown, [], `${declared.name}, ${script}`)
        seen.add(script)
      }
    }
  assert.ok(seen.has('queue-take-due') && seen.size > 10, [...seen].join(' '))
})

test('a mistyped field of a plan, or key, of a declaration is an error of tsc', () => {
  const play = { flow: /** @type {const} */ ('ticks'), operations: ['store'] }
  const workload = /** @type {const} */ ('latest')
  const common = { workload, name: 'mistyped', title: '', play, repeat: /** @type {const} */ ('safe') }
  const declared = strategy({
    ...common,
    keys: (t) => ({ one: family('one', 'zset', { lifetimeS: t.ttlS }) }),
    operations: (t, k) => ({
      store: [
        // @ts-expect-error: no such field
        eachOf('ZREMRANGEBYRANK', [k.one, 0, t.kep]),
        // @ts-expect-error: no such key
        eachOf('ZCARD', [k.on]),
        eachOf('ZREMRANGEBYRANK', [k.one, 0, t.kept]),
      ],
    }),
  })
  const fields = planFieldsOf({ ...anyPlan, strategy: 'list' })
  const { store } = declared.operations(fields, declared.keys(fields))
  const lacking = store.map(({ args }) => args.some((one) => one === undefined))
  assert.deepEqual(lacking, [true, true, false])
})
