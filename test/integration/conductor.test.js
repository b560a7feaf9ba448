// A rate that changes at the boundary of a second within one run, on a real server, by ticks and by clients: every second has
// what was due in it, and the document is about the last stretch.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settingsOfRun } from '../../lib/cli/run-options.js'
import { conductorOf } from '../../lib/run/conductor.js'
import { runOn } from '../../lib/run/run.js'
import { openTarget } from '../../lib/servers/open.js'
import { startServer } from '../helpers/servers.js'

const open = Number.POSITIVE_INFINITY
/** @type {(rate: number, seconds: number, phase: import('../../lib/answers/find/bracket.js').Phase) => import('../../lib/answers/find/bracket.js').Step} */
const step = (rate, seconds, phase) => ({ rate, seconds, phase, between: null })

/** @returns {Generator<import('../../lib/answers/find/bracket.js').Step, string, any[]>} */
function* scripted() {
  yield step(open, 1, 'limit')
  yield step(500, 1, 'measure')
  const [{ passed }] = yield step(1000, 1, 'measure')
  yield step(2000, 2, 'confirm')
  return passed ? 'passed' : 'failed'
}

/** @param {import('node:test').TestContext} t @param {Record<string, unknown>} options */
const conducted = async (t, options) => {
  const { host, port, password } = await startServer(t)
  const { settings } = settingsOfRun({ host, port, password, idleCost: 'never', ...options })
  const target = await openTarget(settings, { say: () => {}, mayStart: false, anyServer: false })
  t.after(target.close)
  /** @type {import('../../lib/result/warnings.js').Warning[]} */
  const warnings = []
  const nothing = () => {}
  const { signal } = new AbortController()
  const conductor = conductorOf({
    machine: scripted(),
    judge: ({ items, achieved }) => ({ passed: items.acked === items.offered, achieved }),
    stop: signal,
    onStep: nothing,
  })
  let answer = /** @type {string | null} */ (null)
  const document = await runOn(settings, {
    program: 'producer',
    target,
    run: 'conducted',
    observer: {
      warnings,
      say: nothing,
      warn: (warning) => warnings.push(warning),
      mayStop: async () => {},
      progress: { show: nothing, onEncoding: nothing, onReady: nothing, onEvent: nothing },
    },
    linesOf: () => ({ interval: nothing, event: nothing }),
    conductor: {
      ...conductor,
      conduct: async (run) => {
        answer = await conductor.conduct(run)
      },
    },
    settled: async () => {},
    stop: signal,
    stopNow: signal,
  })
  return { answer, seconds: conductor.seconds, document: /** @type {any} */ (document) }
}

for (const [name, options, tick] of /** @type {const} */ ([
  ['ticks', { strategy: 'list', items: 2000, rate: 20_000 }, 100],
  ['clients', { strategy: 'lookup-get', items: 500, connections: 5 }, 1],
]))
  test(`${name}: each second of a changing rate is accounted for by when it was due`, async (t) => {
    const { answer, seconds, document } = await conducted(t, options)
    assert.ok(answer === 'passed' || answer === 'failed')
    assert.deepEqual(
      seconds.map(({ rate, phase }) => [rate, phase]),
      [
        [null, 'limit'],
        [500, 'measure'],
        [1000, 'measure'],
        [2000, 'confirm'],
        [2000, 'confirm'],
      ],
    )
    const offered = seconds.map(({ items }) => items.offered)
    assert.ok(offered[0] > 500, `${offered[0]} in a closed loop`)
    for (const [i, rate] of [
      [1, 500],
      [2, 1000],
    ])
      assert.ok(Math.abs(offered[i] - rate) <= tick, `${offered[i]} offered at ${rate}/s`)
    assert.ok(Math.abs(offered[3] + offered[4] - 4000) <= 2 * tick, `${offered[3]} + ${offered[4]}`)
    for (const { items, latency_us: latency } of seconds) {
      assert.equal(items.open, 0)
      assert.ok(latency.intended && latency.service && latency.intended.p50 > 0)
    }
    // The document is about what was due since it was confirmed; its accounts are of the whole run.
    const { acked, failed, uncertain, dropped, unsettled } = document.items
    assert.equal(document.items.offered, acked + failed + uncertain + dropped + unsettled)
    assert.equal(
      document.items.offered,
      offered.reduce((sum, n) => sum + n, 0),
    )
    assert.equal(document.rate.nominal, 2000)
    assert.ok(document.measured_s >= 2 && document.measured_s < document.duration_s)
    assert.ok(document.rate.achieved <= 2000 * 1.05, `${document.rate.achieved} items/s`)
  })
