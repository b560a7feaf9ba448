// Which data models `millrace find` searches: every built-in one and those of docs/examples are either played at the rates of a
// search, on a real server of which no other application is reported, or refused in one line.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { OptionError, TargetError } from '../../lib/base/errors.js'
import { allStrategies, strategyNamed } from '../../lib/workloads/index.js'
import { conducted } from '../helpers/conducted.js'
import { codesIn, sumOf } from '../helpers/programs.js'
import { requested } from '../helpers/searched.js'
import { startServer } from '../helpers/servers.js'

/** @import { Step } from '../../lib/answers/find/bracket.js' */
/** @import { TestContext } from 'node:test' */

const tickItems = 100
const rates = [200, 600]

const seenFlows = new Set()
/** Without a limit the first model of each kind of load: what holds it back is not its data model. @param {{ strategy: string }} settings */
const mostFor = ({ strategy }) => {
  const { flow } = strategyNamed(strategy).play
  if (seenFlows.has(flow)) return 2000
  seenFlows.add(flow)
  return Number.POSITIVE_INFINITY
}

/** @param {number} most the rate of the first step @returns {Generator<Step, string, any[]>} */
function* scripted(most) {
  let offered = 0
  // A process that is busy may begin late.
  for (let tries = 0; offered === 0 && tries < 20; tries++) {
    const limit = yield { rate: most, seconds: 1, phase: 'limit', between: null }
    for (const { items } of limit) offered += items.offered
  }
  assert.ok(offered > 0, 'nothing was offered at any rate')
  for (const rate of rates) yield { rate, seconds: 1, phase: 'recover', between: null }
  yield { rate: rates[0], seconds: 1, phase: 'confirm', between: null }
  return 'played'
}

/** Queues cannot be searched alone, and the end of their line says what to do instead. */
const refused = /needs workers that take the jobs, which otherwise fill the queue: add --with-read workers=8$/
/** What a strategy does not run without. @type {Record<string, string[]>} */
const needed = { 'cache-hash-ttl': ['--ttl', '3s'] }
const examples = ['rate-limiter.js', 'session-store.yaml', 'shop.yaml', 'visitors.yaml']
const models = [
  ...allStrategies().map(({ name }) => name),
  ...examples.map((file) => `docs/examples/${file}`),
]

/** @param {TestContext} t @param {readonly string[]} model */
const searched = async (t, model) => {
  const { host, port, password } = await startServer(t)
  const words = [
    ...[...model, '--slo', 'latency.p99<1s', '--items', '1000'],
    ...['--host', host, '--port', String(port)],
  ]
  const { settings } = requested(words)
  const { answer, seconds, document } = await conducted(
    t,
    { ...settings, password },
    {
      machine: scripted(mostFor(settings)),
      judge: ({ items, achieved }) => ({ passed: true, items, achieved }),
    },
  )
  assert.equal(answer, 'played')
  assert.equal(document.server.foreign_calls, null)
  assert.ok(!codesIn(document).includes('foreign-load'), JSON.stringify(document.warnings))
  const offered = seconds.map(({ items }) => items.offered)
  assert.equal(sumOf(seconds, 'items.failed') + sumOf(seconds, 'items.uncertain'), 0, JSON.stringify(seconds))
  assert.ok(sumOf(seconds, 'items.acked') > 0, JSON.stringify(seconds))
  // A process that was stopped for a moment offers the rest of a step in the next second, and none early.
  const played = [...rates, rates[0]]
  const last = offered.slice(-played.length)
  const sums = (/** @type {number[]} */ numbers) =>
    numbers.map((_, i) => numbers.slice(0, i + 1).reduce((sum, n) => sum + n, 0))
  const due = sums(played)
  for (const [i, sum] of sums(last).entries())
    assert.ok(sum <= due[i] + tickItems, `${last} offered at ${played}/s`)
  assert.ok(Number(sums(last).at(-1)) >= Number(due.at(-1)) - tickItems, `${last} offered at ${played}/s`)
}

describe('every data model', { concurrency: 8 }, () => {
  for (const model of models) {
    const isRefused = model.startsWith('queue-')
    test(`${model} is ${isRefused ? 'refused in one line' : 'played at the rates of a search'}`, async (t) => {
      if (isRefused)
        return assert.throws(
          () => requested([model, '--slo', 'latency.p99<20ms']),
          (error) => error instanceof OptionError && refused.test(error.message),
        )
      try {
        await searched(t, [model, ...(needed[model] ?? [])])
      } catch (error) {
        if (error instanceof TargetError && error.code === 'UNSUPPORTED') return t.skip(error.message)
        throw error
      }
    })
  }
})
