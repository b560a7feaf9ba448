// What a user of the servers must be allowed to do for strategies, read off their declarations: an ACL of keys and commands.
import { exactly } from '../base/typed.js'
import { anyPlan } from './any-plan.js'
import { strategyOf } from './bound-strategy.js'
import { familiesOf, headOf } from './derive.js'
import { planFieldsOf } from './fields.js'

/** @import { Declaration } from './declare.js' */

// What every run does: connections, the cluster's map, the time, samples, leases, plans, preflight checks and cleanup.
const ofEveryRun = (
  'ping info select asking readonly time client|setname client|list multi exec command|info cluster|slots cluster|nodes ' +
  'cluster|info scan dbsize type pttl pexpire expire memory|usage set get getrange mget del unlink hset hdel hget hgetall hlen ' +
  'eval evalsha script|load'
).split(' ')

/** By the type of a key: how items that are fetched are counted, and what has expired is taken out. @type {Readonly<Record<string, readonly string[]>>} */
const ofKeys = Object.freeze({
  zset: ['zcard', 'zcount', 'zrem', 'zrangebyscore', 'zremrangebyscore'],
  set: ['scard'],
  list: ['llen'],
  hash: ['hlen'],
  stream: ['xlen'],
})

// Jobs that were done are bits of a string; the functions of a library are loaded, and removed after the run.

/** What changes a strategy's keys and commands. */
const choices = Object.freeze([
  { taggedItems: false, placement: exactly('plain'), sets: [''] },
  { taggedItems: false, placement: exactly('same-slot'), sets: ['', ''] },
  { taggedItems: true, placement: exactly('spread'), sets: ['', ''] },
])

/** Names that begin alike are one pattern: latest-*. @param {string} head */
const patternOf = (head) => {
  const [start] = /^(\{\w+\}|\w+)[-:]/.exec(head) ?? []
  return start ? `${start}*` : head
}

/** @param {Declaration} declared */
export const rightsOf = (declared) => {
  /** @type {Set<string>} */
  const keys = new Set()
  /** @type {Set<string>} */
  const commands = new Set()
  for (const choice of choices)
    for (const variant of [null, ...Object.keys(declared.variants ?? {})]) {
      const plan = { ...anyPlan, ...choice, ttlS: 2, variant, strategy: declared.name }
      const { runCommands, consumerCommands, declared: own } = strategyOf(plan)
      const fields = planFieldsOf(plan)
      const k = own.keys(fields)
      const families = familiesOf(k)
      for (const family of families) keys.add(patternOf(headOf(family)))
      const asked = [...(own.check?.items(fields, k) ?? []), ...(own.read?.counters(fields, k) ?? [])]
      const found = [
        ...runCommands,
        ...consumerCommands.all,
        ...asked.map(({ name }) => name.toLowerCase()),
        ...(own.queue ? ['setrange'] : []),
        ...(own.passes ? ['object|encoding'] : []),
        ...(own.play?.caches ? ['config|get'] : []),
        ...(runCommands.has('fcall') ? ['function|load', 'function|delete'] : []),
        ...(own.read ? families : []).flatMap(({ type }) => ofKeys[type] ?? []),
      ]
      for (const name of found) if (name !== '') commands.add(name)
    }
  return { keys: [...keys], commands: [...commands].filter((name) => !ofEveryRun.includes(name)) }
}

/** The rights of all of them together. @param {readonly Declaration[]} declared */
export const rightsOfAll = (declared) => {
  const all = declared.map(rightsOf)
  return {
    keys: [...new Set(all.flatMap(({ keys }) => keys))],
    commands: [...new Set(all.flatMap(({ commands }) => commands))].sort(),
  }
}

/** As ACL SETUSER takes them. @param {{ keys: readonly string[], commands: readonly string[] }} rights @param {string} [prefix] */
export const aclWords = ({ keys, commands }, prefix = '') => [
  ...keys.map((key) => `~${prefix}${key}`),
  ...commands.map((name) => `+${name}`),
]

/** The words of a user that plays the strategies of `declared`, but for its name and password. @param {readonly Declaration[]} declared */
export const userOf = (declared) => {
  const { keys, commands } = rightsOfAll(declared)
  return [
    'resetchannels',
    'resetkeys',
    ...aclWords({ keys: [...keys, 'millrace:*'], commands: [] }),
    '-@all',
    ...aclWords({ keys: [], commands: [...ofEveryRun, ...commands] }),
  ]
}
