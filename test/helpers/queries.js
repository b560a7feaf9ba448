// Plays queries on a real server, keeps their answers, and has a witness in Python look at them.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { machineWith } from '../../lib/base/timers.js'
import { fillKeys } from '../../lib/loads/clients/fill.js'
import { clientsFlow } from '../../lib/loads/clients/flow.js'
import { operationsOf } from '../../lib/probes/operations.js'
import { versionsOf } from '../../lib/run/run.js'
import { eachOnce } from '../../lib/traffic/items.js'
import { noTally } from '../../lib/wire/decode.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { strategyNamed } from '../../lib/workloads/index.js'
import { callsOf, startServer } from './servers.js'
import { judgedRun, openedTarget, planOn, settingsOf, writeUnattended } from './unattended.js'

/** @import { Plan } from '../../lib/loads/plan.js' */
/** @import { Target } from '../../lib/servers/open.js' */
/** @import { Scope } from './servers.js' */

/**
 * @import { FieldsBy } from '../../lib/workloads/fields.js'
 */
/** @typedef {{ status: string, min: number, max: number, sort: string, offset: number, limit: number, ids: string[] }} Asked */

/** Every query of a plan once, over documents that are loaded and indexed for it. @param {Plan} plan @param {Target} target @returns {Promise<Asked[]>} */
const askedOnce = async (plan, target) => {
  const strategy = strategyOf(plan)
  const { query, sortBy, pageOffset, pageSize } = /** @type {FieldsBy['query']} */ (strategy.planFields)
  const answers = /** @type {Asked[]} */ ([])
  const stop = new AbortController().signal
  const clock = () => performance.now()
  await fillKeys({ plan, strategy, target, clock, stop, say: () => {}, onEvent: () => {} })
  const flow = await clientsFlow({
    plan: { clients: 2, pipeline: 1, cluster: false, maxBehindMs: 60_000 },
    operations: strategy.clientOperations(),
    pick: () => 0,
    draw: eachOnce(Number(strategy.answers()?.verifier().queries)),
    ...{ schedule: null, target, tally: noTally(), machine: machineWith(clock) },
    ledger: operationsOf({ isMeasured: () => true }),
    ...{ latency: { record: () => {} }, onSent: () => {}, onEvent: () => {} },
    onDone: ({ n, multiStep }) => {
      const { status, min, max } = query(n)
      const ids = multiStep.answer().map(String)
      answers.push({ status, min, max, sort: sortBy, offset: pageOffset, limit: pageSize, ids })
    },
  })
  flow.start()
  await flow.offered
  await flow.settle(60_000, stop)
  flow.close()
  return answers
}

/**
 * What the witness in Python says of them.
 * @param {{ host: string, port: number, password: string }} server
 * @param {string} prefix
 * @param {Asked[]} answers
 * @returns {Promise<{ documents: number, queries: number, wrong: number[], quoted: number, unicode: number, without_price: number, without_rating: number, updates: number }>}
 */
export const witnessed = async ({ host, port, password }, prefix, answers) => {
  const script = fileURLToPath(new URL('query-witness.py', import.meta.url))
  const env = { ...process.env, REDISCLI_AUTH: password }
  const run = promisify(execFile)('python3', [script, host, String(port), prefix], { env })
  run.child.stdin?.end(answers.map((one) => `${JSON.stringify(one)}\n`).join(''))
  return JSON.parse((await run).stdout)
}

/** A server on which queries are run and judged. @param {Scope} scope @param {Parameters<typeof startServer>[1]} [options] */
export const queryServer = async (scope, options) => {
  const server = await startServer(scope, options)
  const target = await openedTarget(scope, server)
  /** @param {string} line @param {string} [name] of a strategy that no option names */
  const planFor = async (line, name) => {
    const settings = settingsOf(line)
    return planOn({ ...settings, strategy: name ?? settings.strategy }, target)
  }
  return {
    server,
    target,
    planFor,
    /** run.json @param {string} line @param {string} [name] @returns {Promise<any>} */
    async judged(line, name) {
      const parts = await writeUnattended(await planFor(line, name), target)
      return judgedRun(parts, { versions: versionsOf(target), target: { kind: 'server', origin: 'address' } })
    },
    clear: () => server.redis.flushall(),
  }
}

const documents = 1000
const queries = 16

/** Every answer of a strategy is that of the witness, whatever is asked. @param {string} name @param {Awaited<ReturnType<typeof queryServer>>} place */
export const compareWithWitness = async (name, { server, target, planFor, judged, clear }) => {
  const prefix = `${name}:`
  const indexed = Boolean(strategyNamed(name).fill?.indexing)
  const base = `--strategy ${name} --items ${documents} --prefix ${prefix} --with queries=${queries}`
  for (const when of indexed ? ['before', 'after'] : [null]) {
    const line = `${base} --connections 2 --with requests=${queries}${when ? `,index-when=${when}` : ''}`
    const { queries: told, load } = await judged(line)
    assert.equal(told.right, queries, JSON.stringify(told))
    assert.equal(load.index_when, when ?? undefined)
    if (when === 'after') assert.ok(load.index_bytes > 50_000, `${load.index_bytes} bytes`)
  }
  const asked = [
    '--with selectivity=0.0001,sort=created-desc',
    '--with selectivity=0.5,sort=rating,page-size=25,page-offset=30',
    '--with selectivity=0.1,sort=rating-desc,page-size=1000',
  ]
  const answers = /** @type {Asked[]} */ ([])
  for (const more of asked) answers.push(...(await askedOnce(await planFor(`${base} ${more}`), target)))
  // Of the same documents: each line of options has loaded them again. Wrong ones are 16 a line, in its order.
  const found = await witnessed(server, prefix, answers)
  assert.deepEqual([found.documents, found.queries, found.wrong], [documents, queries * asked.length, []])
  assert.ok(found.quoted > 100 && found.unicode > 100, 'quotes and unicode')
  assert.ok(found.without_price > 5 && found.without_rating > 50, 'fields that are missing')
  await clear()
}

/**
 * What a strategy says of its updates is what the witness finds in the documents, and what the server was asked.
 * @param {string} name
 * @param {Awaited<ReturnType<typeof queryServer>>} place
 * @param {string} writes the command that changes a document
 */
export const compareUpdates = async (name, { server, judged, clear }, writes) => {
  for (const items of [3, 1000]) {
    const updates = items === 3 ? 900 : 2000
    const prefix = `${name}:${items}:`
    const callsBefore = await callsOf(server, writes)
    const line = `--strategy ${name} --items ${items} --connections 10 --with requests=${updates} --prefix ${prefix}`
    const { documents, load, warnings } = await judged(line)
    const { survived, lost, may_lose: mayLose, conflicts } = documents
    const reasons = warnings.filter(
      (/** @type {any} */ { code, invalidates }) => invalidates && /updates|documents/.test(code),
    )
    assert.deepEqual(reasons, [])
    assert.deepEqual([documents.updates, documents.uncertain, load.keys], [updates, 0, items])
    assert.equal(survived + lost, updates)
    const found = await witnessed(server, prefix, [])
    assert.deepEqual([found.documents, found.updates], [items, survived])
    // A transaction that is not executed runs none of its commands.
    assert.equal((await callsOf(server, writes)) - callsBefore, items + updates)
    if (!mayLose) assert.equal(lost, 0)
    if (mayLose && items === 3) assert.ok(lost > updates / 10, `${lost} lost`)
    if (conflicts > 0) assert.equal(name, 'update-watch')
    await clear()
  }
}
