// Advice helps: a load is played in virtual time against servers that are far away, what its reasons say to set is set, and it is
// played again: the reason is gone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mean } from '../../lib/base/sums.js'
import { reconnects } from '../../lib/measures/reconnects.js'
import { resultDocument, validityOf } from '../../lib/result/document.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { sampleParts } from '../helpers/sample-run.js'
import { play } from './play.js'
import { playClients } from './play-clients.js'

const farMs = 20

const p50 = (/** @type {number[]} */ times) => times.toSorted((a, b) => a - b)[times.length >> 1]

/** Reasons and notes by their code. @param {any} ledger @param {any} plan @param {object} rate @param {number[]} serviceMs */
const reasonsOf = ({ measured }, plan, rate, serviceMs) => {
  const parts = sampleParts()
  const { plan: usual, items, latency_us: latency } = parts
  const document = resultDocument({
    ...parts,
    plan: { ...usual, ...plan },
    items: { ...items, ...measured },
    rate: /** @type {any} */ (rate),
    latency_us: {
      ...latency,
      service: { ...latency.service, p50: p50(serviceMs) * 1000, mean: mean(serviceMs) * 1000 },
    },
  })
  return new Map(validityOf(document).warnings.map(({ code, message }) => [code, message]))
}

/** @typedef {NonNullable<Parameters<typeof playClients>[0]['given']>} Given */

/** @type {Omit<Given, 'clients'> & { warmUpMs: number }} */
const lookups = {
  ...{ cluster: false, masters: 1, spares: 0, serviceMs: 0.02, farMs, strategy: 'lookup-get', pipeline: 1 },
  ...{ repeatable: true, maxBehindMs: 300, valueBytes: 8, rateHz: 300, arrivals: 'constant', warmUpMs: 800 },
  ...{ isCutShort: false, oddEvery: 0, reconnectHz: null },
}
const lastsMs = 3800

const played = async (/** @type {Partial<Given>} */ change) => {
  const given = { ...lookups, ...change }
  const { ledger, recorded, reconnects } = await playClients({ seed: 1, keep: [], given })
  const achieved = (ledger.measured.acked * 1000) / (lastsMs - given.warmUpMs)
  const plan = { flow: 'clients', clients: { connections: given.clients, pipeline: given.pipeline } }
  const rate = { nominal: given.rateHz, achieved }
  return { reasons: reasonsOf(ledger, plan, rate, recorded.serviceMs), reconnects, rate }
}

test('lookups below their rate: the number of connections, or in flight, that is said', async () => {
  for (const pipeline of [1, 3]) {
    const few = await played({ clients: 2, pipeline })
    const [, number, deep] =
      /set --connections (\d+) or --pipeline (\d+)$/.exec(few.reasons.get('dropped') ?? '') ?? []
    // It is said once.
    assert.ok(few.rate.achieved < 200 && !few.reasons.get('rate')?.includes('--connections'))
    for (const change of [
      { clients: Number(number), pipeline },
      { clients: 2, pipeline: Number(deep) },
    ]) {
      const enough = await played(change)
      assert.deepEqual([enough.reasons.has('rate'), enough.reasons.has('dropped')], [false, false])
      const words = `${JSON.stringify(change)} is far more than 300/s need`
      assert.ok(change.clients * change.pipeline < 24, words)
    }
  }
})

test('few operations beside those in flight: a longer run', async () => {
  const loop = { clients: 5, pipeline: 30, rateHz: null }
  const short = await played({ ...loop, warmUpMs: 3750 })
  assert.match(short.reasons.get('few-operations') ?? '', /measure for longer \(--duration\)/)
  assert.equal((await played(loop)).reasons.has('few-operations'), false)
})

test('connections that are renewed too often: fewer a second, or more of them', async () => {
  const warned = async (/** @type {Partial<Given>} */ change) => {
    const { reconnects: counts } = await played({ rateHz: 100, ...change })
    const run = /** @type {any} */ ({ load: () => ({ reconnects: () => counts }) })
    const measure = /** @type {any} */ (await reconnects.open?.(run))
    measure.second()
    return measure.warnings()[0]?.message ?? ''
  }
  const often = { clients: 2, reconnectHz: 60 }
  assert.match(await warned(often), /lower --reconnects or raise --connections$/)
  assert.equal(await warned({ ...often, reconnectHz: 2 }), '')
  assert.equal(await warned({ ...often, clients: 40 }), '')
})

const written = async (/** @type {Partial<Parameters<typeof samplePlan>[0]>} */ settings) => {
  const usual = { valueBytes: 1000, durationMs: 2000, maxBehindMs: 400, windowBytes: 2_000_000 }
  const plan = samplePlan({ ...usual, ...settings })
  const { ledger, recorded } = await play({
    ...{ seed: 1, keep: [] },
    given: {
      ...{ plan, name: 'sorted-set', cluster: false, masters: 1, spares: 0, serviceMs: 0.02, farMs },
      ...{ faults: [], isCutShort: false, faultsToMs: 0, reconnectHz: null, portionItems: 4096 },
    },
  })
  const rate = { nominal: plan.nominalHz, achieved: ledger.whole.acked / 2 }
  const { quantity, periodMs } = plan
  return reasonsOf({ measured: ledger.whole }, { quantity, periodMs }, rate, recorded.serviceMs)
}

for (const [pacing, pace] of /** @type {const} */ ([
  ['batches', { quantity: 600, periodMs: 200 }],
  ['an even rate', { quantity: 3000, chunks: 100 }],
]))
  test(`${pacing} below their rate: a larger window`, async () => {
    const small = await written({ ...pace, windowBytes: 2000 })
    assert.match(small.get('dropped') ?? '', /raise --window/)
    assert.doesNotMatch(small.get('rate') ?? '', /--window/)
    assert.deepEqual(await written(pace), new Map())
  })

test('items that are due again before they are stored: more of them at the same rate, as many as is said', async () => {
  const often = await written({ quantity: 30, periodMs: 10 })
  const said = /set -q (\d+) at the same rate \(--period (\d+)ms\)/
  const [words, quantity, periodMs] = said.exec(often.get('dropped') ?? '') ?? []
  assert.ok(words && !often.get('rate')?.includes(words))
  assert.ok(Number(quantity) < 300, `${quantity} items are far more than 3,000/s need`)
  assert.deepEqual(await written({ quantity: Number(quantity), periodMs: Number(periodMs) }), new Map())
})
