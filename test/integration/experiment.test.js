// The runner as a user starts it: a tiny matrix, killed and gone on with, phases with readers, and Ctrl-C.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { runCommand, startCommand } from '../helpers/command-here.js'
import { assertNoneLost, linesOf, oddIn, ownFolder, startProgram, sumOf, until } from '../helpers/programs.js'
import { columns } from '../helpers/table.js'

// Other versions of the server are looked for there.
process.env.MILLRACE_PEERS = join(import.meta.dirname, 'no-peers')

/** @import { TestContext } from 'node:test' */

const tiny = {
  id: 'tiny',
  question: 'Is a list cheaper?',
  options: { 'total-agents': 2, quantity: 100_000 },
  cells: [
    { name: 'sorted set', processes: 'each' },
    { name: 'list', options: { strategy: 'list' } },
    { name: 'elsewhere', server: 'redis-6.2' },
  ],
  ratios: [{ of: 'list', to: 'sorted set' }],
}

const phased = {
  id: 'phased',
  question: 'What do readers cost?',
  target: { cluster: true, shards: 2, replicas: 1 },
  options: { quantity: 100_000 },
  cells: [
    {
      name: 'readers',
      phases: [
        { name: 'none' },
        { name: 'two', consumer: { consumers: 2 } },
        { name: 'fewer', action: 'remove-shard' },
      ],
    },
  ],
  ratios: [{ of: 'readers / two', to: 'readers / none', figure: 'replica.cpu_pct' }],
}

/** @param {TestContext} t @param {object} experiment */
const room = (t, experiment) => {
  const own = ownFolder(t, 'experiment')
  const file = join(own, 'mine.json')
  writeFileSync(file, JSON.stringify(experiment, null, 2))
  const out = join(own, 'out')
  const line = ['run', file, ...'--scale 0.01 --seconds 3 --warm-up 0 --repeat 2'.split(' ')]
  const start = (/** @type {string[]} */ ...more) =>
    startCommand(t, ['experiment', ...line, ...more], { env: { XDG_RUNTIME_DIR: own }, out })
  /** As a program, which can be killed. */
  const startKilled = () => startProgram(t, 'scripts/experiment.js', line, { out })
  const folder = () => join(out, existsSync(out) ? (readdirSync(out)[0] ?? '') : '')
  const document = () => JSON.parse(readFileSync(join(folder(), 'experiment.json'), 'utf8'))
  const turns = () => linesOf(join(folder(), 'turns.ndjson'))
  return { start, startKilled, out, folder, document, turns }
}

describe('scripts/experiment.js', { concurrency: true }, () => {
  test('--dry-run says what it would run, and how long', async (t) => {
    const { start, out } = room(t, tiny)
    const { code, stdout, stderr } = await start('--dry-run').ended
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^tiny: 3 cells, 2 rounds\nabout \d[^\n]* s in all\n$/)
    assert.equal(existsSync(out), false)
  })

  test('a matrix that was killed goes on where it was', async (t) => {
    const { start, startKilled, out, folder, document, turns } = room(t, tiny)
    const killed = startKilled()
    const measured = () => turns().filter(({ legs }) => legs.length > 0).length
    await until('two runs are done', () => measured() >= 2)
    killed.kill('SIGKILL')
    await killed.ended
    const before = turns()
    assert.ok(document().warnings.some((/** @type {any} */ { code }) => code === 'unfinished'))

    const { code, stdout, stderr } = await start('--resume').ended
    assert.match(stderr, /tiny: .* continues after [2-5] runs/)
    assert.match(stderr, /\[6\/6\] tiny: .* 0 s left/)
    assert.equal(readdirSync(out).length, 1)
    assert.deepEqual(turns().slice(0, before.length), before)
    const all = turns().map(({ cell, round }) => `${cell}/${round}`)
    assert.equal(all.length, 6)
    assert.equal(new Set(all).size, 6)

    const { rows, ratios, warnings } = document()
    const counts = rows.map((/** @type {any} */ { label, runs }) => `${label} ${runs.length}`)
    assert.equal(counts.join(', '), 'sorted set 2, list 2, elsewhere 0')
    assert.match(
      rows[2].marks[0].text,
      /not run: redis-6\.2 is not installed: npm run setup:peers downloads it/,
    )
    assert.ok(!warnings.some((/** @type {any} */ { code }) => code === 'unfinished'))
    let isAnyValid = false
    for (const row of rows.slice(0, 2)) {
      /** @type {number[]} */
      const rates = []
      for (const name of ['master.cpu_pct', 'bystander.p99', 'server.cpu_us_per_item'])
        assert.ok(row.figures[name].median > 0, `${row.label} ${name}`)
      for (const run of row.runs) {
        const stored = JSON.parse(readFileSync(join(folder(), run, 'run.json'), 'utf8'))
        assert.equal(stored.rate.nominal, 1000)
        assert.deepEqual(oddIn(stored), [])
        isAnyValid ||= stored.valid
        rates.push(stored.rate.achieved)
        const lines = linesOf(join(folder(), run, 'intervals.ndjson'))
        assert.equal(sumOf(lines, 'items.acked'), stored.items.acked, `${run}: seconds of all writers`)
      }
      assert.equal(row.figures['rate.achieved'].median, (rates[0] + rates[1]) / 2, row.label)
    }
    // A machine that is too busy for all of them leaves none that is valid.
    assert.equal(code, isAnyValid ? 0 : 4, stderr)
    assert.equal(ratios[0].samples.length, 2)
    assert.match(stdout, /^list \/ sorted set +CPU of the masters +\S+ \(/m)
    assert.ok(existsSync(join(folder(), 'report.html')))

    const result = readFileSync(join(folder(), 'experiment.json'), 'utf8')
    const again = await start('--resume').ended
    assert.equal(again.code, code, again.stderr)
    assert.match(again.stderr, /tiny: .* has finished its 6 runs/)
    assert.doesNotMatch(again.stderr, /round/)
    assert.match(again.stdout, /^list \/ sorted set +CPU of the masters +\S+ \(/m)
    assert.equal(readdirSync(out).length, 1)
    assert.equal(readFileSync(join(folder(), 'experiment.json'), 'utf8'), result)
  })

  test('an experiment of which nothing could be measured is not valid', async (t) => {
    const { start, document } = room(t, {
      ...tiny,
      cells: [{ name: 'elsewhere', server: 'redis-6.2' }],
      ratios: [],
    })
    // Another server than the target is not asked.
    const { code, stderr } = await start('--host', '127.0.0.1', '--port', '1').ended
    assert.equal(code, 4, stderr)
    assert.equal(document().verdict, 'Nothing was measured.')
  })

  test('a target that does not answer ends the matrix with its first run, which is not counted', async (t) => {
    const { start, turns } = room(t, {
      id: 'mine',
      question: 'q',
      options: { quantity: 100 },
      cells: [{ name: 'a' }, { name: 'b' }],
    })
    const { code, stderr } = await start('--host', '127.0.0.1', '--port', '1').ended
    assert.equal(code, 3, stderr)
    assert.match(
      stderr,
      /\n127\.0\.0\.1:1: nothing listens there; correct the address \(--url, or --host and --port\)[^\n]*\n$/,
    )
    assert.deepEqual(turns(), [])
  })

  test('phases of one continuous run: readers come, a shard goes; Ctrl-C ends it with what there is', async (t) => {
    const { start, document, turns, folder } = room(t, phased)
    const running = start()
    await until('the first run is done', () => {
      running.assertRuns()
      return turns().length >= 1
    })
    running.kill('SIGINT')
    const { code, stderr } = await running.ended
    assert.equal(code, 130, stderr)
    const { rows, phases, timeline, warnings } = document()
    assert.ok(warnings.some((/** @type {any} */ { code }) => code === 'unfinished'))
    const [none, two, fewer] = rows
    assert.equal(two.label, 'readers / two')
    assert.ok(two.figures['fetches.duration_ms.p50'].median > 0)
    assert.equal(none.figures['fetches.duration_ms.p50'], undefined)
    assert.ok(fewer.figures['rate.achieved'].median > 0)
    assert.equal(columns(phases, 'label'), columns(rows, 'label'))
    for (const [i, { from_ms: from, to_ms: to }] of phases.entries()) {
      assert.ok(to - from >= 1500, `phase ${i} from ${from} to ${to}`)
      if (i > 0) assert.ok(from >= phases[i - 1].to_ms - 300)
    }
    const line = join(folder(), timeline)
    const { events, items } = JSON.parse(readFileSync(join(line, 'run.json'), 'utf8'))
    const marks = events.filter((/** @type {any} */ { kind }) => kind === 'phase' || kind === 'topology')
    assert.equal(columns(marks.slice(0, 3), 'text'), 'none, two, fewer')
    assert.ok(marks.some((/** @type {any} */ { text }) => /removed: \d+ slots/.test(text)))
    // No item was lost while a shard was removed.
    assertNoneLost(items)
    assert.ok(linesOf(join(line, 'intervals.ndjson')).length >= 5)
  })

  test('a server that nobody knows is no server that is missing', async (t) => {
    const cells = [{ name: 'a', server: 'redis-9.9' }]
    const { start, out } = room(t, { id: 'mine', question: 'q', cells })
    const { code, stderr } = await start().ended
    assert.equal(code, 2, stderr)
    assert.match(stderr, /mine, "a": server must be one of redis-6\.2, .*, not 'redis-9\.9'/)
    assert.ok(!existsSync(out))
  })

  test('list and show', async (t) => {
    const run = (/** @type {string[]} */ ...args) => runCommand(t, ['experiment', ...args], { out: false })
    const definitions = readdirSync(new URL('../../lib/experiments/definitions', import.meta.url))
    assert.equal((await run('list')).stdout.trim().split('\n').length, definitions.length)
    assert.equal(JSON.parse((await run('show', 'list')).stdout).id, 'list')
  })
})
