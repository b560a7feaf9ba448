// Reports, limits and live figures, as a user asks for them.
import assert from 'node:assert/strict'
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { runCommand, startCommand } from '../helpers/command-here.js'
import { assertDone, at, oddIn, ownFolder, until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'
import { columns } from '../helpers/table.js'

/**
 * A port that is free now; the listener that found it stays until the test lets it go. It is below those that the system
 * gives to others meanwhile.
 */
const takenPort = async () => {
  for (;;) {
    const server = createServer()
    const port = 15_000 + Math.floor(Math.random() * 5000)
    const isFree = await new Promise((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (isFree) return { port, free: () => new Promise((resolve) => server.close(resolve)) }
  }
}

/** The value of a metric whose line begins so. @param {string} text @param {RegExp} pattern */
const metric = (text, pattern) => {
  const line = text.split('\n').find((candidate) => pattern.test(candidate))
  return line === undefined ? null : Number(line.slice(line.lastIndexOf(' ')))
}

describe('reports and limits of runs', { concurrency: 3 }, () => {
  test('a run leaves a page and its charts; limits are in the result, and one that fails ends with 99', async (t) => {
    const line =
      'write -q 500 --duration 2s --threshold latency.intended.p50<10s --threshold items.failed<=0,server.cpu_us_per_item<1us'
    const { code, document, folder, stdout, stderr } = await runCommand(t, line, {
      env: at(await startServer(t)),
      pages: true,
    })
    // A machine that is too busy for the rate makes the run not valid, which is said first.
    assert.equal(code, document.valid ? 99 : 4, stderr)
    assert.deepEqual(oddIn(document), [])
    assert.equal(
      columns(document.thresholds, 'name', 'passed'),
      'latency.intended.p50 true, items.failed true, server.cpu_us_per_item false',
    )
    assert.match(stdout, /^✗ FAILED {2}server\.cpu_us_per_item is \d/m)
    assert.match(readFileSync(join(folder, 'report.html'), 'utf8'), /<h2>Thresholds<\/h2>/)
    assert.ok(readdirSync(join(folder, 'charts')).includes('cpu.svg'))
  })

  test('kept limits end with 0, and --no-report leaves only the data', async (t) => {
    const line = 'write -q 500 --duration 1s --no-report --threshold items.failed<=0'
    const ended = await runCommand(t, line, { env: at(await startServer(t)), pages: true })
    assertDone(ended)
    assert.deepEqual(readdirSync(ended.folder).sort(), [
      'events.ndjson',
      'facts.json',
      'intervals.ndjson',
      'run.json',
    ])
  })

  test('Prometheus finds counters, histograms and nodes on loopback alone, and they go on counting', async (t) => {
    const { port, free } = await takenPort()
    await free()
    const line = `write -q 1000 --duration 30s --warm-up 0 --no-report --metrics ${port}`
    const program = startCommand(t, line, await startServer(t))
    const ask = async (path = '/metrics') => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => null)
      return (
        answer && {
          status: answer.status,
          type: answer.headers.get('content-type'),
          text: await answer.text(),
        }
      )
    }
    const acked = /^millrace_items_total\{outcome="acked"/
    // A server that answers a question too late has its figures in a later second.
    const engine = /^millrace_node_engine_cpu_ratio\{node="127\.0\.0\.1:\d+",shard="1",role="master"/
    const first = await until('items and nodes on the metrics', async () => {
      const found = await ask()
      return found && (metric(found.text, acked) ?? 0) > 0 && metric(found.text, engine) !== null
        ? found
        : null
    })
    assert.match(first.type ?? '', /^text\/plain/)
    const { text } = first
    assert.equal(metric(text, /^millrace_rate_nominal/), 1000)
    assert.ok((metric(text, engine) ?? -1) >= 0, text)
    const count = metric(text, /^millrace_latency_seconds_count\{from="intended"/) ?? 0
    assert.ok(count > 0)
    const buckets = [
      ...text.matchAll(/^millrace_latency_seconds_bucket\{le="[^"]+",from="intended".*\} (\d+)$/gm),
    ].map(([, n]) => Number(n))
    assert.ok(buckets.length > 10 && buckets.every((n, at) => at === 0 || n >= buckets[at - 1]))
    assert.equal(buckets.at(-1), count)
    const sum = metric(text, /^millrace_latency_seconds_sum\{from="intended"/) ?? 0
    assert.ok(sum > 0 && sum / count < 10)
    await until(
      'more items on the metrics',
      async () => (metric((await ask())?.text ?? '', acked) ?? 0) > (metric(text, acked) ?? 0),
    )
    assert.equal((await ask('/other'))?.status, 404)
    assert.equal((await ask('//'))?.status, 404)
    program.kill('SIGINT')
    const { code, stderr } = await program.ended
    assert.equal(code, 130, stderr)
  })

  test('a taken port is one line and exit 2', async (t) => {
    const { port, free } = await takenPort()
    t.after(free)
    const { code, stderr } = await runCommand(t, `write -q 10 --duration 1s --metrics ${port}`)
    assert.equal(code, 2)
    assert.match(stderr, new RegExp(`^--metrics 127\\.0\\.0\\.1:${port}: the port is taken\n$`))
  })

  test('millrace report and diff work on what a run left', async (t) => {
    const { document, folder, stderr } = await runCommand(
      t,
      'write -q 500 --duration 2s --no-report',
      await startServer(t),
    )
    assert.notEqual(folder, '', stderr)
    // Of a machine that was too busy for the rate.
    const although = document.valid ? '' : ' --invalid'
    const out = ownFolder(t, 'report')
    const millrace = (/** @type {string} */ line) => runCommand(t, line, { out: false })

    const made = await millrace(`report ${folder} --out ${out}`)
    assert.equal(made.code, 0, made.stderr)
    assert.match(made.stdout, /^\d+ files in .*report\.html \d+ kB\n$/)
    for (const name of ['report.html', 'report.md', 'report.txt', 'nodes.csv', 'charts/cpu.png'])
      assert.ok(existsSync(join(out, name)), name)

    const again = join(out, 'again')
    cpSync(folder, again, { recursive: true })
    const same = await millrace(`diff ${folder} ${again}${although}`)
    assert.equal(same.code, 0, same.stderr)
    assert.match(same.stdout, /^differs in +nothing: all settings are the same$/m)
    assert.match(same.stdout, /server\.cpu_us_per_item .*one run a side/)
    assert.equal(same.stderr, '')
    const three = await millrace(`diff ${folder} ${again} ${folder}${although}`)
    assert.match(three.stderr, /^each of the 3 runs is a side of its own; to compare series, put -- between/)

    const slower = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))
    slower.server.cpu_us_per_item *= 2
    writeFileSync(join(again, 'run.json'), JSON.stringify(slower))
    const limits = '--threshold server.cpu_us_per_item<+50% --threshold items.failed<=0'
    const worse = await millrace(`diff ${folder} ${again} ${limits} --json${although}`)
    assert.equal(worse.code, 99)
    const [{ thresholds }] = JSON.parse(worse.stdout)
    assert.equal(columns(thresholds, 'outcome'), 'failed, passed')
  })
})
