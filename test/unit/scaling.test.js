// The law of workers: fitted to what is known, and what it says of rates.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { needWords, scaling, scalingAnswer } from '../../lib/answers/scale.js'
import { faultIn } from '../../lib/base/json-schema.js'
import { fitOf, lawOf, rateOf, workersFor } from '../../lib/base/scalability.js'
import { queueBacklog, queueRates, sweepsOf } from '../../scripts/pictures/queues.js'
import { ownFolder } from '../helpers/programs.js'
import { seeded } from '../helpers/random.js'
import { valuesOf } from '../helpers/table.js'

const near = (/** @type {number} */ found, /** @type {number} */ expected, /** @type {number} */ part) =>
  assert.ok(Math.abs(found - expected) <= part * Math.abs(expected), `${found} is not ${expected}`)

describe('a fit', () => {
  const law = { lambda: 450, sigma: 0.03, kappa: 0.0004 }
  const counts = [1, 2, 4, 8, 16, 32, 64]
  const points = (/** @type {(workers: number) => number} */ of, list = counts) =>
    list.map((workers) => ({ workers, rate: of(workers) }))

  test('finds a law again that points follow exactly, and its knee', () => {
    const fit = fitOf(points((workers) => rateOf(law, workers)))
    near(fit.law.lambda, 450, 1e-6)
    near(fit.law.sigma, 0.03, 1e-6)
    near(fit.law.kappa, 0.0004, 1e-6)
    // By the definition: no other number of workers does more.
    const knee = Math.round(Number(fit.knee))
    for (const n of [knee - 2, knee + 2]) assert.ok(rateOf(law, n) < rateOf(law, knee))
    assert.equal(fit.name, 'usl')
    assert.ok(fit.r2 > 0.999999 && fit.worst < 1e-6)
  })

  test('with noise its intervals hold the truth', () => {
    const { next } = seeded(5)
    let held = 0
    for (let round = 0; round < 20; round++) {
      const noisy = (/** @type {number} */ n) =>
        rateOf(law, n) * (1 + 0.05 * (next() + next() + next() - 1.5))
      const { intervals, r2 } = fitOf(points(noisy, [...counts, ...counts, ...counts]))
      if (intervals.lambda[0] <= 450 && intervals.lambda[1] >= 450) held++
      assert.ok(r2 > 0.97)
    }
    assert.ok(held >= 15, `${held} of 20 intervals`)
  })

  test("Amdahl's law and a straight line have no knee", () => {
    const amdahl = fitOf(points((workers) => rateOf({ lambda: 100, sigma: 0.1, kappa: 0 }, workers)))
    assert.equal(amdahl.name, 'amdahl')
    assert.equal(amdahl.knee, null)
    near(Number(amdahl.limit), 1000, 1e-6)
    const line = fitOf(points((workers) => 70 * workers))
    assert.equal(line.limit, null)
    // More than in proportion is no negative share.
    const { sigma, kappa } = lawOf(points((workers) => 70 * workers ** 1.1))
    assert.deepEqual([sigma, kappa], [0, 0])
  })
})

test('workers that a rate needs, on as few boxes as will do', () => {
  const law = { lambda: 600, sigma: 0.01, kappa: 0 }
  assert.deepEqual(workersFor(law, 600, 8), { workers: 1, boxes: 1, each: 1 })
  const one = workersFor(law, 4400, 8)
  assert.deepEqual(one, { workers: 8, boxes: 1, each: 8 })
  assert.ok(rateOf(law, 7) < 4400 && rateOf(law, 8) >= 4400)
  const many = workersFor(law, 30_000, 8)
  assert.equal(many.workers, many.boxes * many.each)
  assert.ok(many.boxes * rateOf(law, many.each) >= 30_000)
  assert.ok((many.boxes - 1) * rateOf(law, 8) < 30_000)
  // Beyond the knee a box does less.
  assert.equal(workersFor({ lambda: 600, sigma: 0, kappa: 0.01 }, 1e6, 64).each, 10)
  const [few, most] = [
    { rate: 5000, workers: 9, boxes: 1 },
    { rate: 30_000, workers: 54, boxes: 7 },
  ]
  const words = needWords(/** @type {any} */ ({ needs: [few, most] }))
  assert.equal(words, 'at 5,000/s you need 9 workers of this kind; at 30,000/s 54 on 7 such boxes')
})

test('finished runs become sweeps; what says nothing is left out by name', async (t) => {
  const folder = join(ownFolder(t, 'scaling'), 'runs')
  /** @param {string} name @param {number} workers @param {number} achieved @param {object[]} warnings */
  const store = (name, workers, achieved, warnings = []) => {
    const percentiles = { p50: 1, p90: 1, p99: 5000, p999: null, max: 1 }
    const work = { workers, processes: 1, take: 10, kind: 'sleep', us: 2000, confirm: false }
    const run = {
      ...{ schema: 1, kind: 'consumer', run: name, started: '2026-11-23T10:00:00.000Z', duration_s: 5 },
      ...{ valid: true, plan: { flow: 'workers', strategy: 'queue-stream', work } },
      ...{ versions: { millrace: '0', node: '20', servers: [] }, rate: { nominal: null, achieved } },
      ...{ client: {}, nodes: [], events: [], warnings, commands: { refused_by: {}, lost_replies: {} } },
      jobs: { taken: 1, done: 1, duplicates: 0, promise: 'at-least-once', account: null },
      latency_us: { intended: percentiles, service: percentiles },
      ...{ workers: { count: workers, busy_share: 0.9 }, server: { cpu_us_per_job: 20 } },
    }
    mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, name, 'run.json'), JSON.stringify(run))
  }
  const asked = { rates: [5000, 30_000], boxWorkers: 8 }
  await assert.rejects(scalingAnswer([folder], asked), /there is no such folder/)
  store('a', 1, 400)
  store('b', 4, 1600)
  const expected = /no sweep of workers .*: a law needs runs with 3 different/
  await assert.rejects(scalingAnswer([folder], asked), expected)
  store('c', 8, 3200)
  store('d', 16, 10, [{ code: 'starved', message: 'idle', invalidates: false }])
  const answer = await scalingAnswer([folder], asked)
  assert.equal(answer.sweeps.length, 1)
  assert.equal(answer.sweeps[0].label, 'queue-stream, take 10, sleep 2 ms')
  assert.deepEqual(valuesOf(answer.sweeps[0].needs, 'workers', 'boxes'), [14, 2, 80, 10])
  assert.equal(faultIn(JSON.parse(JSON.stringify(answer)), scaling.schema), null)
  const text = scaling.text(answer).replaceAll(/\s+/g, ' ')
  assert.match(text, /at 5,000\/s you need 14 workers of this kind on 2 such boxes; at 30,000\/s 80 on 10/)
  assert.match(text, /in proportion to the workers: one worker 400 jobs\/s/)
  assert.match(text, /left out: .*had nothing to do/)
})

describe('pictures of queues', () => {
  const rowsOf = (/** @type {number} */ most) =>
    [1, 2, 4, 8, 16]
      .filter((n) => n <= most)
      .flatMap((workers) =>
        [1, 10].map((take) => ({
          label: `${workers} worker${workers === 1 ? '' : 's'}, take ${take} / sleep 2 ms`,
          figures: {
            'rate.achieved': { median: rateOf({ lambda: 400, sigma: 0.05, kappa: 0.001 * take }, workers) },
          },
        })),
      )
  const documentOf = (/** @type {number} */ most) => /** @type {any} */ ({ rows: rowsOf(most) })

  test('the laws of what differs in the number of workers alone, and where each has its knee', () => {
    const sweeps = sweepsOf(documentOf(16))
    const found = sweeps.flatMap(({ label, points }) => [label, points.length])
    assert.deepEqual(found, ['take 1, sleep 2 ms', 5, 'take 10, sleep 2 ms', 5])
    near(Number(sweeps[1].fit?.knee), Math.sqrt(0.95 / 0.01), 1e-3)
    const knees = queueRates(documentOf(16))?.option.series.flatMap(
      (/** @type {any} */ { markLine }) => markLine?.data ?? [],
    )
    // That of one job a take lies beyond the picture.
    const shown = knees.map((/** @type {any} */ { xAxis }) => Math.round(xAxis * 10) / 10)
    assert.deepEqual(shown, [9.7])
  })

  test('without enough rows, and without a second stage, there is less to draw', () => {
    assert.equal(queueRates(documentOf(4)), null)
    const seconds = [1000, 2000].map((at_ms) => ({ at_ms, backlog: at_ms / 10, between: 5 }))
    const names = (/** @type {any} */ run) =>
      queueBacklog(run).option.series.map((/** @type {any} */ { name }) => name)
    assert.deepEqual(names({ seconds }), ['waiting', 'between filters and outputs'])
    assert.deepEqual(names({ seconds: seconds.map(({ between: _, ...rest }) => rest) }), ['waiting'])
  })
})
