// A search on a fleet, on real servers: the box that leads decides, and every box plays each step at the same moment.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settingsOfRun } from '../../lib/cli/run-options.js'
import { conductorOf } from '../../lib/run/conductor.js'
import { searchOnFleet } from '../../lib/run/conductor-fleet.js'
import { runOn } from '../../lib/run/run.js'
import { openTarget } from '../../lib/servers/open.js'
import { assertCalls, urlOf } from '../helpers/fleet.js'
import { limitedServer, limitsOf } from '../helpers/limited-server.js'
import { sumOf } from '../helpers/programs.js'
import { searched } from '../helpers/searched.js'
import { callsOf, startServer } from '../helpers/servers.js'
import { columns } from '../helpers/table.js'

/** @import { Phase, Step } from '../../lib/answers/find/bracket.js' */
/** @import { TestContext } from 'node:test' */

/** @type {(rate: number, seconds: number, phase: Phase) => Step} */
const step = (rate, seconds, phase) => ({ rate, seconds, phase, tries: phase === 'measure', between: null })

/** @returns {Generator<Step, string, any[]>} */
function* scripted() {
  yield step(Number.POSITIVE_INFINITY, 1, 'limit')
  const tried = yield step(1000, 2, 'measure')
  yield step(2000, 1, 'confirm')
  return tried.length === 2 ? 'two seconds' : `${tried.length}`
}

const nothing = () => {}

/** A box. @param {TestContext} t @param {Record<string, unknown>} options */
const boxOf = async (t, options) => {
  const { settings } = settingsOfRun({
    ...{ strategy: 'list', items: 2000, rate: 20_000, totalAgents: 2, all: true, idleCost: 'never' },
    ...options,
  })
  const target = await openTarget(settings, { say: nothing, mayStart: false, anyServer: false })
  t.after(target.close)
  const { signal } = new AbortController()
  const conductor = conductorOf({
    machine: scripted(),
    judge: ({ achieved }) => ({ passed: true, achieved }),
    stop: signal,
    onStep: nothing,
  })
  /** @type {number[]} */
  const heard = []
  /** @type {any} */
  let found = null
  let own = /** @type {any} */ (null)
  await runOn(settings, {
    program: 'producer',
    target,
    run: 'search',
    observer: {
      ...{ warnings: [], say: nothing, warn: nothing, mayStop: async () => {} },
      progress: { show: nothing, onEncoding: nothing, onReady: nothing, onEvent: nothing },
    },
    linesOf: () => ({ interval: nothing, event: nothing }),
    conductor: {
      ...conductor,
      conduct: async (run, fleet) => {
        assert.ok(fleet)
        const boxes = searchOnFleet({ fleet, conductor, onStep: ({ rate }) => heard.push(rate) })
        found = { ...(await boxes.conduct(run)), boxes }
      },
    },
    onMerged: async (document) => {
      own = document
      if (found.isLeader) await found.boxes.steps.answered({ answer: found.answer })
      found.told = await found.boxes.steps.answer(30_000)
    },
    untilStored: async () => {},
    stop: signal,
    stopNow: signal,
  })
  return { ...found, heard, own, seconds: conductor.seconds }
}

test('two boxes play what one decides, and it sees what both did', async (t) => {
  const [target, control] = await Promise.all([startServer(t), startServer(t)])
  const { host, port, password } = target
  const options = { host, port, password, control: urlOf(control), run: 'search' }
  const both = await Promise.all([boxOf(t, options), boxOf(t, options)])
  const [leader, follower] = both[0].isLeader ? both : [both[1], both[0]]
  assert.deepEqual([leader.isLeader, follower.isLeader], [true, false])
  assert.equal(leader.answer, 'two seconds')
  assert.deepEqual(follower.told, { answer: 'two seconds' })
  assert.deepEqual(follower.heard, [Number.POSITIVE_INFINITY, 1000, 2000])
  const { seconds } = leader
  assert.equal(columns(seconds, 'rate', 'phase'), 'null limit, 1000 measure, 1000 measure, 2000 confirm')
  for (const { items, latency_us: latency } of seconds)
    assert.ok(items.acked === 0 || latency.intended.p50 > 0)
  // What is under way at the end of a second has its outcome in the next one, and in its step.
  for (const phase of ['limit', 'measure', 'confirm']) {
    const all = seconds.filter((/** @type {any} */ second) => second.phase === phase)
    const sum = (/** @type {string} */ name) => sumOf(all, `items.${name}`)
    assert.ok(sum('open') > 0 || sum('offered') === sum('acked') + sum('dropped'), JSON.stringify(all))
  }
  const offered = seconds.map((/** @type {any} */ { items }) => items.offered)
  assert.equal(sumOf(seconds, 'items.offered'), leader.own.items.offered + follower.own.items.offered)
  // A box that was stopped for a moment offers the rest of a step in the next second.
  const due = offered[1] + offered[2] + offered[3]
  assert.ok(offered[1] + offered[2] <= 2200 && Math.abs(due - 4000) <= 200, `${offered}`)
  assertCalls(await callsOf(target, 'setex'), leader.own, follower.own)
  assert.ok(leader.boxes.confirmed('latency_us.intended').p50 > 0)
})

test('the rate that two boxes find together is that of the servers, not of a box', async (t) => {
  const [real, control] = await Promise.all([startServer(t), startServer(t)])
  await real.redis.config('SET', 'requirepass', '')
  const limit = { seed: 3, hz: 400, sd: 0.01 }
  const { port } = await limitedServer(t, { ...limit, behind: real.port, command: 'PSETEX' })
  const words = [
    ...['--command', 'PSETEX item:{n} 60000 {value}', '--host', '127.0.0.1', '--port', String(port)],
    ...['--slo', 'latency.p99<250ms', '--within', '40..1600', '--time', '60s'],
    ...['--control', urlOf(control), '--run', 'together', '-t', '2'],
  ]
  const both = await Promise.all([searched(t, words, {}), searched(t, words, {})])
  const [{ code, answer }] = both
  assert.deepEqual(both[1].answer.find, answer.find)
  assert.equal(both[1].answer.sentence, answer.sentence)
  assert.ok((answer.state === 'found' && code === 0) || code === 98, `${code}: ${answer.sentence}`)
  // No second of the server answered more than that, whatever the boxes saw.
  const most = Math.max(...limitsOf(limit).subarray(0, 200))
  assert.ok(answer.find.low <= most, answer.sentence)
  assert.ok(answer.find.high >= 0.6 * limit.hz, answer.sentence)
  // A box that was stopped for a moment reads the answers of two seconds in one.
  const confirming = answer.seconds.filter((/** @type {any} */ { phase }) => phase === 'confirm')
  const answered = sumOf(confirming, 'achieved')
  assert.ok(answered <= 1.1 * most * confirming.length, `${answered} in ${confirming.length} s`)
})
