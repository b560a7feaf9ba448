// The runs of a search for memory, played by a stand-in: what a run that says nothing of its memory does to the search.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { searched, startOf, warningsOf } from '../../lib/cli/find-memory.js'
import { findOptions, loadOptions, memoryRequest } from '../../lib/cli/find-options.js'
import { typedLine } from '../../lib/options/command-line.js'
import { settingsOf } from '../../lib/options/read-settings.js'

const options = [...findOptions, ...loadOptions]
const line = 'cache-aside --keys 2k --popularity zipf:0.99 --rate 1k --over memory --slo'

const requested = (slo = 'hit_rate>80%') => {
  const typed = typedLine([...line.split(' '), slo], options)
  const settings = settingsOf(typed, options, { env: {}, takesWords: true })
  return memoryRequest({ settings, typed, env: {}, dotenvText: '' })
}

/** A run whose hits rise with the memory. @param {number} memory @param {object} [more] */
const runWith = (memory, more = {}) => {
  const hit = 40 + memory / 1e5
  const cache = {
    ...{ hit_pct: hit, hit_pct_low: hit - 1, hit_pct_high: hit + 1, source_per_s: 10, evicted_per_s: 5 },
    ...{ memory_bytes: memory, data_bytes: memory - 2e6, is_moving: false },
  }
  return /** @type {any} */ ({
    ...{ cache, latency_us: null, measured_s: 10, warnings: [], miss_curve: null },
    ...{ rate: { achieved: 1000 }, items: {}, ...more },
  })
}

/** To draw the requests takes a second. */
const known = async () => ({ whole: 2e6, start: 2.5e6 })

/** @param {object} third what the third run has besides */
const search = async (third) => {
  let runs = 0
  const found = await searched(
    requested(),
    new AbortController().signal,
    () => {},
    async (_, { memory }) => runWith(memory, ++runs === 3 ? third : {}),
    known,
  )
  return { ...found, played: runs }
}

test('the first run has room for the buffers of its connections', async () => {
  const { settings, checks } = requested()
  const points = [{ memory_bytes: 3e6, lru_pct: 85, policy_pct: 84 }]
  const drawn = async () => /** @type {any} */ ({ points, footprint_bytes: 5e6 })
  const startWith = async (/** @type {object} */ more) => {
    const request = { settings: { ...settings, ...more }, checks }
    return (await startOf(request, new AbortController().signal, drawn))?.start
  }
  assert.equal(await startWith({}), 5e6 + 50 * 4e4)
  assert.equal(await startWith({ connections: 10 }), 5e6 + 10 * 4e4)
})

test('a limit of latency is met where most requests need not wait for the source, and is what binds', async () => {
  const enough = 70
  const limit = 'latency.p90<30ms'
  const { found, runs, trials } = await searched(
    requested(limit),
    new AbortController().signal,
    () => {},
    async (_, { memory }) => {
      const { cache } = runWith(memory)
      return runWith(memory, { latency_us: { intended: { p90: cache.hit_pct > enough ? 900 : 60_000 } } })
    },
    known,
  )
  assert.deepEqual([found?.state, found?.binds, found?.confirmed], ['found', limit, true])
  const least = 1e5 * (enough - 40)
  const { low, high } = found?.find ?? assert.fail('nothing found')
  assert.ok(Number(low) <= least && least <= Number(high), JSON.stringify(found))
  assert.equal(runs.length, trials.length)
  for (const { hit_pct: hits, passed } of trials) assert.equal(passed, hits > enough)
})

for (const [code, message] of [
  ['cache-limit', 'maxmemory of a server changed while it was measured'],
  ['cache-swap', 'the machine swaps'],
])
  test(`a run with ${code} ends the search, and is its reason`, async () => {
    const { found, fault, played } = await search({ warnings: [{ code, message, invalidates: true }] })
    assert.deepEqual([found, played], [null, 3])
    assert.deepEqual([fault?.code, fault?.message], [code, message])
  })

test('a run that came to less than the rate ends the search; one that missed little of it does not', async () => {
  const slow = [{ code: 'rate', message: 'only 700 of 1,000 items/s', invalidates: true }]
  const ended = await search({ warnings: slow, rate: { achieved: 700 } })
  assert.equal(ended.fault?.code, 'rate')
  const { found, fault } = await search({ warnings: slow, rate: { achieved: 950 } })
  assert.deepEqual([found?.state, fault ?? null], ['found', null])
})

test('hits that move within the interval of the answer are no remark; those that move by more are one', async () => {
  const points = Array.from({ length: 8 }, (_, i) => {
    const memory = 2e6 + i * 4e5
    return { memory_bytes: memory, policy_pct: 40 + memory / 1e5, lru_pct: 0 }
  })
  const curve = { points, ceiling_pct: 99, footprint_bytes: 5e6 }
  /** @param {number} perMin points */
  const remarks = async (perMin) => {
    const play = async (/** @type {any} */ _, /** @type {{ memory: number }} */ { memory }) => {
      const { cache } = runWith(memory)
      const hit_pct = cache.hit_pct + Math.sin(memory)
      const moving = { hit_pct, is_moving: true, drift_points_per_min: perMin }
      return runWith(memory, { cache: { ...cache, ...moving }, miss_curve: curve })
    }
    const search = await searched(
      requested('hit_rate>70%'),
      new AbortController().signal,
      () => {},
      play,
      known,
    )
    const { low = 0, high = 0 } = search.found?.find ?? {}
    assert.ok(high > low, JSON.stringify(search.found))
    return { codes: warningsOf(search).map(({ code }) => code), width: (high - low) / 1e5 }
  }
  const { codes, width } = await remarks(0.1)
  assert.deepEqual(codes, [])
  // The runs measure ten seconds.
  assert.deepEqual((await remarks(width * 6 * 1.2)).codes, ['cache-moving'])
  assert.deepEqual((await remarks(width * 6 * 0.8)).codes, [])
})
