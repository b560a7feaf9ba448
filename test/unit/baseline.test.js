import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataBytesIn } from '../../lib/probes/baseline.js'
import { storedDataIn } from '../../lib/run/stored-data.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** A server as it answers INFO and, at the same moment, CLIENT LIST. @param {Record<string, number | string>} fields @param {string[]} clients */
const targetOf = (fields, clients) => {
  const info = Object.entries({ connected_clients: clients.length, ...fields })
    .map(([name, n]) => `${name}:${n}`)
    .join('\r\n')
  const multi = {
    call: () => multi,
    exec: async () => [info, clients.join('\n'), ''].map((answer) => [null, answer]),
  }
  const target = {
    refused: new Set(),
    topology: { masters: ['a:1'] },
    info: async () => info,
    control: () => ({ multi: () => multi, call: async () => 1000 }),
  }
  return /** @type {any} */ (target)
}

/** @type {(...server: Parameters<typeof targetOf>) => Promise<number | null>} */
const serverOf = (...server) => dataBytesIn(targetOf(...server))

test('bytes of data are what is left beside the clients of the same moment', async () => {
  const fields = { used_memory: 1_000_000, used_memory_startup: 800_000, mem_clients_normal: 20_000 }
  const ours = (/** @type {number} */ omem) => `id=2 omem=${omem} tot-mem=${20_000 + omem} cmd=exec`
  assert.equal(await serverOf(fields, ['id=1 omem=0 tot-mem=30000 cmd=set', ours(0)]), 150_000)
  // Our answer waits where its buffer is small; it was not there when the server added up.
  assert.equal(await serverOf(fields, ['id=1 omem=0 tot-mem=30000 cmd=set', ours(20_504)]), 150_000)
  // That of another was.
  assert.equal(await serverOf(fields, ['id=1 omem=9000 tot-mem=39000 cmd=get', ours(0)]), 141_000)
})

test('a count of clients that is too old does not cut off what little an empty server holds', async () => {
  const fields = { used_memory: 900_000, used_memory_startup: 850_000, mem_clients_normal: 60_000 }
  assert.equal(await serverOf(fields, ['id=1 omem=0 tot-mem=40000 cmd=exec']), 10_000)
})

test('keys are those of the answer that has the bytes, and of the sampler only where there is none', async () => {
  const fields = { used_memory: 1_000_000, used_memory_startup: 800_000, db0: 'keys=1001,expires=1000' }
  const run = /** @type {any} */ ({
    strategy: strategyOf(samplePlan()),
    sampler: { lastStoredData: () => ({ dataBytes: 50_000, keys: 200 }) },
  })
  const target = targetOf(fields, [])
  assert.deepEqual(await storedDataIn(target, run, false), {
    ...{ dataBytes: 200_000, keys: 1001 },
    ...{ gathered: [1000], holderBytes: null, strange: null },
  })
  const silent = { ...target, info: () => Promise.reject(new Error('closed')) }
  const { dataBytes, keys } = await storedDataIn(silent, run, false)
  assert.deepEqual([dataBytes, keys], [50_000, 200])
})
