// What every strategy must do on every server: the run ends valid, and what redis-cli finds is design.md's.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { TargetError } from '../../lib/base/errors.js'
import { noCounts } from '../../lib/probes/ledger.js'
import { plansOnTarget } from '../../lib/run/facts.js'
import { versionsOf } from '../../lib/run/run.js'
import { slotOf } from '../../lib/wire/slot.js'
import { strategyNames } from '../../lib/workloads/index.js'
import { plainPayload } from './payload.js'
import { openCli, startCluster, startServer, suiteScope } from './servers.js'
import { sharedServers } from './shared-servers.js'
import { judgedRun, openedTarget, planOn, settingsOf, writeUnattended } from './unattended.js'

export { settingsOf }

/**
 * @import { Target } from '../../lib/servers/open.js'
 * @import { Plan } from '../../lib/loads/plan.js'
 *
 * @typedef {ReturnType<typeof openCli>} Ask
 * @typedef {{ target: Target, ask: Ask, masters: Ask[], cluster: boolean }} Place masters: those of each master alone
 * @typedef {{ at: Place, plan: Plan, fromMs: number, toMs: number, ask: Ask }} Run
 */

const quantity = 60
// Six runs of less than a second share the machine: that its cores were busy says nothing about a strategy.
const ofTheMachine = new Set(['rate', 'client-saturated', 'client-contended', 'client-stopped'])
const ttlS = 100
const lingerS = 200 // what keys that gather many items live at most
const sortedSetStrategies = ['sorted-set', 'actual-value', 'script-batch', 'script-item', 'hash']
const scripted = ['script-batch', 'script-item']

// Two agents, two chunks each, every item twice, and variadic commands cut into threes. A machine with much other load drops
// nothing.
const load = `-t 2 -c 2 -p 200 --intervals 2 --ttl ${ttlS} --max-members 5 --max-behind 60s`

/** Every key of the prefix, on all masters. @param {Place} at @param {string} prefix */
const keysOn = async ({ masters }, prefix) => {
  const lists = await Promise.all(masters.map((ask) => ask([`KEYS ${prefix}*`])))
  return lists.flat(2).sort()
}

/**
 * Runs the plan and leaves what it stored for `check`; nothing of it stays.
 * @param {Place} at
 * @param {string} line
 * @param {(run: Run) => Promise<void>} check
 */
const stored = async (at, line, check) => {
  const prefix = `${line.replaceAll(/[^a-z0-9]+/g, '.')}:`
  const q = / -q /.test(line) ? '' : `-q ${quantity}`
  const settings = settingsOf(`${load} ${q} ${line} --prefix ${prefix}`, at.cluster)
  const plan = await planOn(settings, at.target, [1, 2])
  const fromMs = Date.now()
  const parts = await writeUnattended(plan, at.target)
  const { warnings, ...document } = judgedRun(parts, { versions: versionsOf(at.target) })
  const { ask } = at
  const items = 2 * settings.quantity
  try {
    const reasons = warnings.filter(({ invalidates, code }) => invalidates && !ofTheMachine.has(code))
    assert.deepEqual(reasons, [])
    assert.deepEqual(document.items, { ...noCounts(), offered: items, acked: items, failed_by: {} })
    assert.deepEqual(document.commands.errors_by, {})
    await check({ at, plan, fromMs, toMs: Date.now(), ask })
  } finally {
    const keys = await keysOn(at, prefix)
    if (keys.length > 0) await ask(keys.map((key) => `DEL ${key}`))
  }
}

// What must be there, by names of keys that are written here again.

/** Numbers of the items that are alive: all, or with --once those of both intervals. @param {Plan} plan */
const numbersOf = ({ quantity: q, once }) => Array.from({ length: once ? 2 * q : q }, (_, i) => i + 1)

/** @param {Plan} plan @param {number} j */
const setKey = ({ prefix, placement, sets }, j) => {
  if (sets.length === 1 && placement === 'plain') return `${prefix}latest-ids`
  if (placement === 'same-slot') return `${prefix}latest-ids:${j}{forced-slot}`
  // The tag is free, but for its slot.
  return placement === 'spread' ? sets[j] : `${prefix}latest-ids:${j}`
}

const itemKey = (/** @type {Plan} */ plan, /** @type {number} */ n) => {
  const { prefix, strategy, placement, sets } = plan
  const base = `${prefix}item:${n}`
  if (!scripted.includes(strategy) || placement !== 'spread') return base
  return base + /\{.*\}$/.exec(setKey(plan, n % sets.length))?.[0]
}

/** @param {number[]} ttlsMs @param {number} seconds at most */
const assertLives = (ttlsMs, seconds) => {
  for (const ms of ttlsMs) assert.ok(ms > (seconds - 60) * 1000 && ms <= seconds * 1000, `lives ${ms} ms`)
}

/** @param {Run} run @param {number} n @param {string} value */
const assertValue = ({ plan, fromMs, toMs }, n, value) => {
  const plain = plan.stamp ? value.slice(13) : value
  assert.equal(plain, plainPayload(plan)(n), `value of item ${n}`)
  assert.equal(Buffer.byteLength(value), plan.valueBytes)
  if (plan.stamp) assertScore(Number(value.slice(0, 13)), fromMs, toMs)
}

const assertScore = (/** @type {number} */ score, /** @type {number} */ fromMs, /** @type {number} */ toMs) =>
  assert.ok(score >= fromMs - 1 && score <= toMs, `${score} is not between ${fromMs} and ${toMs}`)

/** Every item under a key of its own. @param {Run} run */
const itemsStored = async (run) => {
  const { plan, ask } = run
  const numbers = numbersOf(plan)
  const keys = numbers.map((n) => itemKey(plan, n))
  const values = await ask(keys.map((key) => `GET ${key}`))
  values.forEach((value, i) => {
    assertValue(run, numbers[i], value)
  })
  assertLives(await ask(keys.map((key) => `PTTL ${key}`)), ttlS)
  return keys
}

/** @param {Run} run @param {string[]} keys @param {(n: number) => string} member @param {(n: number, j: number) => boolean} belongs */
const setsStored = async ({ ask, plan, fromMs, toMs }, keys, member, belongs) => {
  const ranked = await ask(keys.map((key) => `ZRANGE ${key} 0 -1 WITHSCORES`))
  ranked.forEach((pairs, j) => {
    const expected = numbersOf(plan).filter((n) => belongs(n, j))
    assert.ok(expected.length > 0)
    const names = pairs.map((/** @type {[string, number]} */ [name]) => name)
    assert.deepEqual(names.sort(), expected.map(member).sort(), keys[j])
    for (const [, score] of pairs) assertScore(score, fromMs, toMs)
  })
  assertLives(await ask(keys.map((key) => `PTTL ${key}`)), lingerS)
  return keys
}

/** The sorted sets, in their slots, and the further ones. @param {Run} run @param {(n: number) => string} member */
const ranksStored = async (run, member) => {
  const { plan, ask } = run
  const n = plan.sets.length
  const keys = plan.sets.map((_, j) => setKey(plan, j))
  if (run.at.cluster) {
    const slots = await ask(keys.map((key) => `CLUSTER KEYSLOT ${key}`))
    assert.deepEqual(slots, keys.map(slotOf))
  }
  keys.forEach((key, j) => {
    if (plan.placement === 'spread') {
      assert.match(key, new RegExp(`latest-ids:${j}\\{[^{}]+\\}$`))
      assert.equal(slotOf(key), Math.floor(((j + 0.5) * 16384) / n))
    }
    if (plan.placement === 'same-slot') assert.equal(slotOf(key), slotOf('forced-slot'))
  })
  const extra = plan.extraSets.map((_, j) => `${plan.prefix}latest-ids-extra:${j + 1}`)
  await setsStored(run, keys, member, (item, j) => item % n === j)
  await setsStored(run, extra, member, () => true)
  return [...keys, ...extra]
}

/** The keys of the minutes that the run touched. @param {Run} run @param {string} name */
const minuteKeys = async ({ at, plan, fromMs, toMs }, name) => {
  const prefix = `${plan.prefix}${name}:`
  const keys = await keysOn(at, prefix)
  assert.ok(keys.length > 0)
  const [first, last] = [fromMs, toMs].map((ms) => Math.floor(ms / 60_000))
  for (const minute of keys.map((key) => Number(key.slice(prefix.length))))
    assert.ok(minute >= first && minute <= last)
  return keys
}

/** The ids in the order they were sent: chunk by chunk, in each agent by agent. @param {Run} run */
const listStored = async ({ plan, ask }) => {
  const key = `${plan.prefix}latest-ids-list`
  const half = plan.quantity / 2
  const quarter = half / 2
  const order = [0, half, quarter, half + quarter].flatMap((from) =>
    Array.from({ length: quarter }, (_, i) => from + i + 1),
  )
  // Written once they all live: none is cut off, and neither is the one that made the list.
  const numbers = plan.once ? [1, ...order, ...order.map((n) => n + plan.quantity)] : order
  const [ids, ttlMs] = await ask([`LRANGE ${key} 0 -1`, `PTTL ${key}`])
  const expected = numbers.map((n) => itemKey(plan, n))
  assert.deepEqual(ids, expected)
  assertLives([ttlMs], lingerS)
  return [key]
}

/** @type {Record<string, (run: Run) => Promise<string[]>>} what is stored, checked; returns its keys */
const stores = {
  'sorted-set': async (run) =>
    (await itemsStored(run)).concat(await ranksStored(run, (n) => itemKey(run.plan, n))),
  'actual-value': (run) => ranksStored(run, plainPayload(run.plan)),
  list: async (run) => [...(await itemsStored(run)), ...(await listStored(run))],
  'list-hll': async (run) => {
    const { plan, ask } = run
    const counters = await minuteKeys(run, 'latest-ids-count')
    const counts = await ask(counters.map((key) => `PFCOUNT ${key}`))
    const items = numbersOf(plan).length
    for (const count of counts) assert.ok(count > 0 && count <= items * 1.03, `${count} of ${items}`)
    const sum = counts.reduce((total, count) => total + count, 0)
    assert.ok(sum >= items * 0.97, `${sum} of ${items}`)
    assertLives(await ask(counters.map((key) => `PTTL ${key}`)), 180)
    return [...(await stores.list(run)), ...counters]
  },
  set: async (run) => {
    const { plan, ask } = run
    const sets = await minuteKeys(run, 'latest-ids')
    const members = (await ask(sets.map((key) => `SMEMBERS ${key}`))).flat()
    const expected = numbersOf(plan).map((n) => itemKey(plan, n))
    assert.deepEqual([...new Set(members)].sort(), expected.sort())
    assertLives(await ask(sets.map((key) => `PTTL ${key}`)), 180)
    return [...(await itemsStored(run)), ...sets]
  },
  hash: async (run) => {
    const { plan, ask } = run
    const keyOf = (/** @type {number} */ n) => `${plan.prefix}latest-hash:${n}`
    const numbers = numbersOf(plan)
    const hashes = await ask(numbers.map((n) => `HGETALL ${keyOf(n)}`))
    hashes.forEach((fields, i) => {
      assert.deepEqual(Object.keys(fields), ['value'])
      assertValue(run, numbers[i], fields.value)
    })
    assertLives(await ask(numbers.map((n) => `PTTL ${keyOf(n)}`)), ttlS)
    return [...numbers.map(keyOf), ...(await ranksStored(run, keyOf))]
  },
  stream: async (run) => {
    const { plan, ask, fromMs, toMs } = run
    const key = `${plan.prefix}latest-stream`
    const [entries, ttlMs] = await ask([`XRANGE ${key} - +`, `PTTL ${key}`])
    // MAXLEN ~ takes out whole nodes of 100 entries; of items that are written once all live.
    const numbers = numbersOf(plan)
    const most = numbers.length + (plan.once ? 0 : 99)
    assert.ok(entries.length >= numbers.length && entries.length <= most, `${entries.length} entries`)
    // A part of an interval that a busy machine sends late comes after the first of the next: each item once at least.
    const ids = [...new Set(entries.map((/** @type {any} */ [, [, id]]) => id))]
    const expected = numbers.map((n) => itemKey(plan, n))
    assert.deepEqual(ids.sort(), expected.sort(), `of ${entries.length} entries`)
    for (const [at, [idName, id, valueName, value]] of entries.slice(-numbers.length)) {
      assert.deepEqual([idName, valueName], ['id', 'value'])
      assertScore(Number(at.split('-')[0]), fromMs, toMs)
      assertValue(run, Number(id.split(':').at(-1)), value)
    }
    assertLives([ttlMs], lingerS)
    return [key]
  },
}
/** @param {Run} run */
stores['hash-ttl'] = async (run) => {
  const { plan, ask } = run
  const buckets = Math.ceil(plan.quantity / 100)
  const keys = Array.from({ length: buckets }, (_, b) => `${plan.prefix}latest-fields:${b}`)
  const all = await ask(keys.map((key) => `HGETALL ${key}`))
  for (const [b, fields] of all.entries()) {
    const numbers = numbersOf(plan).filter((n) => n % buckets === b)
    assert.deepEqual(Object.keys(fields).sort(), numbers.map((n) => itemKey(plan, n)).sort())
    for (const n of numbers) assertValue(run, n, fields[itemKey(plan, n)])
    const names = numbers.map((n) => itemKey(plan, n))
    const [ttls] = await ask([`HPTTL ${keys[b]} FIELDS ${names.length} ${names.join(' ')}`])
    assertLives(ttls, ttlS)
  }
  return keys
}
stores['script-batch'] = stores['script-item'] = stores['sorted-set']

const types = /** @type {[RegExp, string][]} */ ([
  [/^item:/, 'string'],
  [/^latest-ids-count:/, 'string'],
  [/^latest-ids-list$/, 'list'],
  [/^latest-ids:\d{8}$/, 'set'],
  [/^latest-ids/, 'zset'],
  [/^latest-hash:/, 'hash'],
  [/^latest-stream$/, 'stream'],
  [/^latest-fields:\d+$/, 'hash'],
])

const checkAll = async (/** @type {Run} */ run) => {
  const { at, plan, ask } = run
  const keys = await stores[plan.strategy](run)
  assert.deepEqual(await keysOn(at, plan.prefix), keys.sort())
  const found = await ask(keys.map((key) => `TYPE ${key}`))
  const expected = keys.map((key) => types.find(([name]) => name.test(key.slice(plan.prefix.length)))?.[1])
  assert.deepEqual(found, expected)
}

/** @typedef {(cluster: boolean) => string[]} Lines options of runs, a line each */

/**
 * Scripts need --spread where there are several masters.
 * @param {(strategy: { name: string, only: string, q: string, sorted: boolean }) => string[]} more
 * @returns {Lines}
 */
const linesOf = (more) => (cluster) =>
  strategyNames('ticks')
    .filter((name) => name !== 'hash-ttl')
    .flatMap((name) => {
      const only = cluster && scripted.includes(name) ? ' --spread' : ''
      const q = name === 'stream' ? ' -q 300' : ''
      const lines = more({ name, only, q, sorted: sortedSetStrategies.includes(name) })
      return lines.map((rest) => `--strategy ${name}${rest}`.replaceAll(/ +/g, ' '))
    })

/** Each strategy by itself. */
export const plainLines = linesOf(({ only, q }) => [only + q])
/** Over several sets, each in a part of the slots. */
export const spreadLines = linesOf(({ sorted }) => (sorted ? [' --ns 4 --spread'] : []))
/** Each strategy once, over several sets where it can. */
export const acrossLines = linesOf(({ sorted, q }) => [sorted ? ' --ns 4 --spread' : q])

/** With the options that change what is stored. */
export const variantLines = linesOf(({ name, only, q, sorted }) => {
  const lines = [`${only} --once${q}`]
  if (sorted && !only) lines.push(' --ns 4', ' --ns 4 --same-slot')
  if (sorted && !scripted.includes(name)) lines.push(' --with extra-sorted-sets=2')
  if (name !== 'actual-value') lines.push(`${only} --stamp${q}`)
  return lines
})

/**
 * Opens a target on the shared servers, or on servers of that program, which end with the scope.
 * @param {{ after(fn: () => any): void }} scope
 * @param {boolean} cluster
 * @param {string} [bin]
 * @returns {Promise<Place>}
 */
const openPlace = async (scope, cluster, bin) => {
  const serverOf = async () => {
    if (bin === undefined) return sharedServers(scope, cluster)
    if (!cluster) return startServer(scope, { bin })
    const { nodes, access } = await startCluster(scope, { replicas: 0, bin })
    return { ...nodes[0], password: access.password }
  }
  const { host, port, password } = await serverOf()
  const target = await openedTarget(scope, { host, port, password }, cluster)
  const masters = target.topology.masters.map((master) => {
    const [host, port] = master.split(':')
    return openCli(scope, { host, port: Number(port), password })
  })
  return { target, ask: openCli(scope, { host, port, password }, cluster), masters, cluster }
}

/** Whether the server can give a field of a hash a lifetime, told apart from lib/run/facts.js. @param {Place} at */
const expiresFields = async ({ ask }) =>
  JSON.stringify(await ask(['COMMAND INFO HEXPIRE'])).includes('hexpire')

const hashTtlRefused = (/** @type {Place} */ at) =>
  assert.rejects(plansOnTarget(settingsOf('--strategy hash-ttl', at.cluster), at.target), (error) => {
    assert.ok(error instanceof TargetError)
    assert.equal(error.exitCode, 3)
    assert.ok(error.message.includes(`(${at.target.versions.join(', ')})`), error.message)
    assert.match(error.message, /HSETEX \(Redis 8\.0, Valkey 9\.0\) or HEXPIRE \(Redis 7\.4\)/)
    return true
  })

/**
 * Every strategy on one kind of target.
 * @param {object} options
 * @param {string} options.name
 * @param {boolean} options.cluster
 * @param {readonly string[]} options.drivers
 * @param {Lines[]} options.lines
 * @param {readonly string[]} [options.hashTtl] lines of hash-ttl, where the server has it; none: it is left out
 * @param {string} [options.bin] the server's program; the first in PATH
 * @param {string | false} [options.skip] why it is left out
 * @param {string} [options.version] that the target must name
 * @param {boolean} [options.isAlternating] half of the strategies with each of two drivers, with the other half on a cluster
 * @param {boolean} [options.variant] whether hash-ttl must work; without it the server is asked
 */
export const strategyContract = ({ name, cluster, drivers, lines, hashTtl = [], skip = false, ...of }) =>
  describe(`every strategy on ${name}`, { concurrency: 6, skip }, () => {
    const { bin, version, variant, isAlternating } = of
    /** @type {Place} */
    let at
    const scope = suiteScope()
    before(async () => {
      at = await openPlace(scope, cluster, bin)
      if (version !== undefined) assert.deepEqual(at.target.versions, [version])
    })

    /** The drivers that play a strategy; with isAlternating one here, and the other one on the other kind of place. @param {string} name */
    const driversOf = (name) =>
      isAlternating ? [drivers[(strategyNames('ticks').indexOf(name) + Number(cluster)) % 2]] : drivers
    for (const line of lines.flatMap((each) => each(cluster))) {
      for (const driver of driversOf(line.split(' ')[1]))
        test(`${line} --driver ${driver}`, () => stored(at, `${line} --driver ${driver}`, checkAll))
    }

    if (hashTtl.length === 0) return
    test('hash-ttl, or the version that is there and what is needed', async () => {
      const expires = await expiresFields(at)
      if (variant !== undefined) assert.equal(expires, variant)
      if (!expires) return hashTtlRefused(at)
      for (const driver of driversOf('hash-ttl'))
        for (const line of hashTtl)
          await stored(at, `--strategy hash-ttl -q 300 --driver ${driver}${line}`, checkAll)
    })
  })
