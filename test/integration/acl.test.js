// The rights that docs/reference/safety.md names are enough, for every strategy, and no more than these.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, describe, test } from 'node:test'
import { Redis } from 'ioredis'
import { anyPlan } from '../../lib/workloads/any-plan.js'
import { planFieldsOf } from '../../lib/workloads/fields.js'
import { allStrategies } from '../../lib/workloads/index.js'
import { userOf } from '../../lib/workloads/rights.js'
import { runCommand } from '../helpers/command-here.js'
import { readHere, writeHere } from '../helpers/here.js'
import { assertDone, assertNoneLost, at, oddIn } from '../helpers/programs.js'
import { startCluster, startServer, suiteScope } from '../helpers/servers.js'

/** @import { TestContext } from 'node:test' */
/** @import { Declaration } from '../../lib/workloads/declare.js' */

const page = readFileSync(new URL('../../docs/reference/safety.md', import.meta.url), 'utf8')
const line = String(/^ACL SETUSER millrace .+$/m.exec(page)?.[0])
const password = 'PASSWORD'

/** How a strategy of the workload is played for a moment. @type {Record<string, string>} */
const loads = {
  latest: '-q 40 -p 100 --intervals 2 --ttl 60',
  lookup: '--keys 100 --fill --duration 400ms --connections 2',
  cache: '--keys 100 --rate 500 --duration 400ms --connections 2 --warm-up 0',
  membership: '--items 200',
  counters: '--items 200',
  query: '--items 200 --with requests=20 --connections 2',
  documents: '--items 10 --with requests=40 --connections 4',
  queue: '-q 40 -p 100 --duration 400ms',
}
const ofTicks = allStrategies().filter(({ workload }) => workload === 'latest')
const others = allStrategies().filter(({ workload }) => workload !== 'latest')
/** Those that the server of PATH may not have; the docs list their rights apart. */
const isPlain = (/** @type {Pick<Declaration, 'variants'>} */ { variants }) => variants === null
const strategies = ofTicks.filter(isPlain).map(({ name }) => name)
const forbidden =
  'FLUSHALL|FLUSHDB|KEYS *|CONFIG GET *|SHUTDOWN|SET cart:1 x|GET cart:1|ACL LIST|CLIENT KILL TYPE normal|CLUSTER RESET|SCRIPT FLUSH|SAVE|MONITOR|REPLICAOF NO ONE'.split(
    '|',
  )

const prefixes = ['', 'p:', 'q:', 'r:']

/** @param {string} strategy @param {boolean} cluster */
const optionsOf = (strategy, cluster) =>
  `--strategy ${strategy} ${loads.latest}` + `${cluster && strategy.startsWith('script-') ? ' --spread' : ''}`

/** Four at a time, each under a prefix of its own. @template T @param {T[]} all @param {(one: T, prefix: string) => Promise<void>} work */
const atOnce = async (all, work) => {
  const rest = [...all]
  const worker = async (/** @type {string} */ prefix) => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) await work(one, prefix)
  }
  await Promise.all(prefixes.map(worker))
}

for (const cluster of [false, true])
  describe(cluster ? 'a cluster' : 'one server', () => {
    const scope = suiteScope()
    /** @type {Redis[]} */
    let admins = []
    let env = /** @type {NodeJS.ProcessEnv} */ ({})
    before(async () => {
      const place = cluster ? await startCluster(scope, { replicas: 1 }) : await startServer(scope)
      const { nodes, access } = 'nodes' in place ? place : { nodes: [place], access: place }
      admins = nodes.map(({ host, port }) => new Redis({ host, port, password: access.password }))
      for (const admin of admins) scope.after(() => admin.disconnect())
      const [name, ...args] = line.split(' ')
      for (const admin of admins) assert.equal(await admin.call(name, ...args), 'OK', line)
      env = {
        ...at({ ...nodes[0], password }),
        REDIS_USERNAME: 'millrace',
        ...(cluster && { REDIS_CLUSTER: 'true' }),
      }
    })

    test('every strategy and both drivers, and no refusal', async (t) => {
      // What a driver sends by itself does not depend on the strategy: on a cluster they take turns.
      const drivers = ['socket', 'ioredis']
      const all = strategies.flatMap((strategy, i) =>
        (cluster ? [drivers[i % 2]] : drivers).map((driver) => ({ strategy, driver })),
      )
      const patterns = prefixes
        .slice(1)
        .flatMap((own) => ['item:*', 'latest-*', 'millrace:*'].map((key) => `~${own}${key}`))
      for (const admin of admins) await admin.call('ACL', 'SETUSER', 'millrace', ...patterns)
      await atOnce(all, async ({ strategy, driver }, prefix) => {
        const options = `${optionsOf(strategy, cluster)} --driver ${driver}${prefix && ` --prefix ${prefix}`}`
        const { code, stderr, document } = await writeHere(t, options, { env })
        assertDone({ code, document, stderr: `${options}: ${stderr}` })
        assertNoneLost(document.items)
        assert.ok(document.items.acked > 0)
        assert.deepEqual(document.commands.errors_by, {})
      })
      const refusals = await Promise.all(admins.map((admin) => admin.call('ACL', 'LOG')))
      assert.deepEqual(told(refusals.flat()), [])
    })

    /** No command was refused to a reader either. @param {TestContext} t @param {string} options */
    const read = async (t, options) => {
      for (const admin of admins) await admin.call('ACL', 'LOG', 'RESET')
      const { stderr, document } = await readHere(t, options, { env })
      assert.ok(document, stderr)
      assert.deepEqual(document.fetches?.failed_by ?? {}, {})
      const refusals = await Promise.all(admins.map((admin) => admin.call('ACL', 'LOG')))
      assert.deepEqual(told(refusals.flat()), [])
      return document
    }

    // On a cluster the readers differ by the driver alone.
    for (const { name, read: reading, keys } of ofTicks.filter(isPlain))
      if (!cluster || name === 'sorted-set')
        test(`consumers of ${name}`, async (t) => {
          // Sets of several strategies have one name.
          for (const admin of admins) await admin.flushall().catch(() => {})
          assertDone(await writeHere(t, optionsOf(name, cluster), { env }))
          const fields = planFieldsOf({ ...anyPlan, strategy: name })
          const isMany = reading?.fetch(fields, keys(fields)).value?.many
          for (const mode of (reading?.modes ?? []).filter((one) => !cluster || one === 'manual')) {
            const how = mode === 'manual' ? `--count${isMany ? ' --read-with mget' : ''}` : `--mode ${mode}`
            const { fetches } = await read(t, `--duration 600ms -p 200 --verify ${how}`)
            assert.ok(fetches.count > 0)
          }
        })

    if (!cluster)
      test('every other strategy, with rights of its own alone', async (t) => {
        const [admin] = admins
        const refused = /** @type {string[]} */ ([])
        for (const declared of others.filter(isPlain)) {
          const { name, workload, queue: workers } = declared
          const load = loads[workload]
          assert.ok(
            load,
            `name in ${import.meta.filename} how a strategy of the workload ${workload} is played`,
          )
          await admin.flushall()
          await admin.call('ACL', 'SETUSER', 'millrace', 'on', '>PASSWORD', ...userOf([declared]))
          await admin.call('ACL', 'LOG', 'RESET')
          const { code, stderr, document } = await writeHere(
            t,
            `--strategy ${name} ${load} --max-behind 60s`,
            { env },
          )
          // A cache is not always warm within so short a run.
          const odd = oddIn(document ?? assert.fail(`${name}: ${code}, ${stderr}`)).filter(
            (/** @type {{ code: string }} */ { code }) => code !== 'cache-moving',
          )
          assert.deepEqual(odd, [], name)
          assert.deepEqual(document.commands?.errors_by ?? {}, {}, name)
          const log = /** @type {any[]} */ (await admin.call('ACL', 'LOG'))
          refused.push(...told(log).map((refusal) => `${name}: ${refusal}`))
          if (workers) await read(t, '--duration 600ms')
        }
        await admin.flushall()
        assert.deepEqual(refused, [])
        const [user, name, ...args] = line.split(' ')
        await admin.call(user, name, ...args)
      })

    test('cleanup', async (t) => {
      assertDone(await writeHere(t, optionsOf('sorted-set', cluster), { env }))
      const { code, stdout, stderr } = await runCommand(t, 'cleanup --yes', { env, out: false })
      assert.equal(code, 0, stderr)
      assert.match(stdout, /keys removed/)
    })

    test('and nothing besides', async () => {
      const [{ host, port }] = admins.map(({ options }) => options)
      const client = new Redis({ host, port, username: 'millrace', password })
      try {
        for (const command of forbidden) {
          const [name, ...args] = command.split(' ')
          await assert.rejects(client.call(name, ...args), /NOPERM/, command)
        }
      } finally {
        client.disconnect()
      }
    })
  })

/** What was refused to whom, without what ioredis asks for by itself. @param {any[]} log */
const told = (log) =>
  log
    .map((entry) => {
      const fields = Array.isArray(entry) ? Object.fromEntries(pairs(entry)) : entry
      return `${fields.reason} ${fields.object}`
    })
    .filter((refusal) => !/client\|setinfo/i.test(refusal))

/** @param {string[]} flat */
const pairs = (flat) => flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1]]] : []))
