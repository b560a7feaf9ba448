// `millrace choose` on local servers.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { choose } from '../../lib/answers/choose/report.js'
import { firstFault } from '../../lib/base/json-schema.js'
import { remoteBench } from '../../lib/cli/calibration.js'
import { playChoice } from '../../lib/cli/choose.js'
import { runCommand } from '../helpers/command-here.js'
import { refusedHere } from '../helpers/here.js'

const codes = { best: [0], same: [0], unclear: [98], none: [3, 4] }

test('two models with a reader beside: an answer, its page, and an exit code that says how sure it is', async (t) => {
  const line =
    'choose --rate 2k --items 500 --seconds 1 --time 30s --strategy list,stream,hash-ttl --need newest-n --weigh memory=1 --fetch-rate 5 --limit 10 --json'
  const { code, stdout, stderr, folder } = await runCommand(t, line)
  const answer = JSON.parse(stdout)
  assert.equal(firstFault(answer, choose.schema), null)
  // Beside heavy load a rate may not be sustained: then it says that.
  assert.ok(
    codes[/** @type {'best'} */ (answer.state)].includes(Number(code)),
    `${code}: ${stdout}\n${stderr}`,
  )
  assert.deepEqual(answer.excluded, [{ name: 'hash-ttl', unmet: ['newest-n'] }])
  assert.deepEqual(answer.candidates.map((/** @type {any} */ { name }) => name).sort(), ['list', 'stream'])
  // One that could not be compared says why; the best surely costs less than those that could.
  for (const { cost, why, place } of answer.candidates) {
    assert.ok(cost !== null || why !== null || answer.state === 'none', stdout)
    if (answer.state === 'best' && cost !== null && place !== 'chosen') assert.ok(cost.low > 1, stdout)
  }
  assert.equal(JSON.parse(readFileSync(join(folder, 'choose.json'), 'utf8')).state, answer.state)
  assert.ok(existsSync(join(folder, 'choose.html')))
})

test('the policy of a cache: the one that keeps what is asked for, by misses', async (t) => {
  const line =
    'choose --rate 4k --items 4k --popularity zipf:0.99 --value-size 1kB --strategy cache-aside --maxmemory 3MB --connections 8 --policy allkeys-lru,allkeys-random --duration 1s --time 80s --json'
  const { code, stdout, stderr } = await runCommand(t, line)
  const answer = JSON.parse(stdout)
  assert.equal(firstFault(answer, choose.schema), null)
  assert.ok(
    codes[/** @type {'best'} */ (answer.state)].includes(Number(code)),
    `${code}: ${stdout}\n${stderr}`,
  )
  assert.deepEqual([answer.asked.across, answer.asked.maxmemory], ['policies', '3MB'])
  // Random eviction misses about 1.15 times as much; beside heavy load it may not be told, or the rounds of one do not count.
  const [first, second] = answer.candidates
  if (answer.state === 'best' && second.cost !== null) assert.equal(first.name, 'allkeys-lru', stdout)
  if (first.metrics.misses && second.metrics.misses)
    assert.ok(first.metrics.misses.value > 3 && second.metrics.misses.value < 40, stdout)
})

test('servers that do not answer are reported once, and not for each candidate', async () => {
  const silent = await refusedHere('choose --rate 1k --strategy list,stream --url redis://127.0.0.1:1')
  assert.equal(silent.code, 3)
  assert.equal(silent.stderr.match(/nothing listens there/g)?.length, 1, silent.stderr)
})

test('an interrupt during a run is not taken for a limit of the client', async () => {
  const stop = new AbortController()
  /** @type {string[]} */
  const lines = []
  const sample = { rate: 100, items: 100, load: {}, reads: null, weigh: { memory: 1 }, seconds: 3, files: {} }
  const asked = { ...sample, budgetS: 60, effect: 0.03, seed: 1, where: null }
  const candidates = ['list', 'stream'].map((model, simplicity) => ({
    ...{ name: model, model, server: null, simplicity, gives_up: [] },
  }))
  const choice = playChoice({
    asked,
    candidates,
    stop: stop.signal,
    clock: () => performance.now(),
    say(line) {
      lines.push(line)
      // The second run has begun.
      setTimeout(() => stop.abort(), 2000)
    },
  })
  const message = 'interrupted after 1 run (round 1): an unfinished choice has no answer, so nothing is kept'
  await assert.rejects(choice, { code: 'INTERRUPTED', message })
  assert.doesNotMatch(lines.join('\n'), /limit/)
})

test('a reader on a server of others gets its address, and none of the checks that writers skip', async () => {
  const bench = await remoteBench({ url: 'redis://127.0.0.1:1', allow: ['foreign-keys'] })
  await assert.rejects(
    bench.run(
      { command: 'read', strategy: 'list', duration: '1s' },
      { signal: new AbortController().signal, onProgress: () => {} },
    ),
    /127\.0\.0\.1:1/,
  )
})
