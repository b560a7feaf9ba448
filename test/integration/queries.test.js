// Queries as a user starts them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { runText } from '../../lib/report/text.js'
import { runCommand } from '../helpers/command-here.js'
import { startHere, writeHere } from '../helpers/here.js'
import { assertDone, at, codesIn, outcomesOf, until } from '../helpers/programs.js'
import { callsOf, cli, startServer, suiteServer } from '../helpers/servers.js'

/** @import { TestServer } from '../helpers/servers.js' */

const server = suiteServer()

const plain = (/** @type {string} */ text) => text.replace(/\s+/g, ' ')

test('loaded, asked, changed meanwhile, checked, and removed', async (t) => {
  const run = await writeHere(
    t,
    '--strategy query-scan-chunked --items 1000 --with scan-count=100 --connections 3 --duration 1s --with update-writers=10,update-rate=200 --max-behind 60s --prefix p:',
    server,
  )
  assertDone(run)
  const { items, queries, updates, load, plan, measures } = run.document
  assert.equal(outcomesOf(items), items.offered)
  assert.equal(queries.checked, items.acked)
  assert.equal(queries.right, queries.checked)
  assert.equal(load.keys, 1000)
  assert.ok(load.data_bytes > 250_000 && load.data_bytes < 500_000, `${load.data_bytes} bytes`)
  assert.ok(updates.acked === updates.offered && updates.acked > 0, `${updates.acked} updates`)
  // Each load and each update is a SET; so is a lease, when it is taken and when its holder begins to write.
  assert.equal(await callsOf(server, 'set'), 1000 + updates.acked + 2)
  const stored = JSON.parse(await cli(server, 'GET', 'p:doc:17'))
  assert.equal(stored.id, 17)
  const keys = (await cli(server, 'KEYS', 'p:doc:*')).split('\n').filter(Boolean)
  const texts = (await cli(server, 'MGET', ...keys)).split('\n')
  const versions = texts.reduce((sum, text) => sum + JSON.parse(text).version, 0)
  assert.equal(versions, updates.acked)
  assert.equal(plan.querying.updateWriters, 10)
  assert.ok(Math.abs(queries.selectivity - 0.01) < 0.002)
  assert.ok(queries.min_us > 0 && queries.min_us <= queries.avg_us && queries.avg_us <= queries.max_us)
  assert.equal(measures.find((/** @type {any} */ one) => one.name === 'queries.avg').value, queries.avg_us)
  assert.match(plain(run.stdout), /answers [\d,]+ checked · all right · 1(\.\d+)? % of the documents match/)
  await runCommand(t, 'cleanup --prefix p: --yes', { env: at(server), out: false })
  assert.equal(await cli(server, 'KEYS', 'p:*'), '')
})

test('a script that blocks: BUSY is an outcome, with its share', async (t) => {
  // Every script over these documents is 'slow'.
  const own = await startServer(t, { config: { 'lua-time-limit': '2' } })
  const run = await writeHere(
    t,
    '--strategy query-scan-json --items 8000 --connections 6 --duration 2s --prefix busy:',
    own,
  )
  assert.equal(run.code, 4)
  const { items, queries, measures } = run.document
  assert.ok(queries.busy > 0, JSON.stringify(queries))
  assert.equal(items.failed_by.BUSY, queries.busy)
  assert.equal(items.acked + items.failed, items.offered)
  assert.equal(queries.right, items.acked)
  // A client that was refused waits for a second.
  assert.ok(queries.busy <= 6 * (run.document.duration_s + 2), `${queries.busy} refusals`)
  const share = measures.find((/** @type {any} */ one) => one.name === 'queries.busy_pct').value
  assert.ok(Math.abs(share - (100 * queries.busy) / items.offered) < 0.01)
  assert.ok(codesIn(run.document).includes('cause'))
})

test('the CPU of a query is what the kernel counted, however long the server answers no INFO', async (t) => {
  const own = await startServer(t)
  const kernelUs = () => {
    const stat = readFileSync(`/proc/${own.pid}/stat`, 'latin1')
      .replace(/^.*\) /, '')
      .split(' ')
    return (Number(stat[11]) + Number(stat[12])) * 10_000
  }
  const used = async (/** @type {string} */ how) => {
    const line = `--strategy query-scan --items 10000 --connections 16 ${how} --warm-up 0 --prefix slow:`
    const { document } = await writeHere(t, line, own)
    return { document, kernel: kernelUs(), scripts: await callsOf(own, 'evalsha') }
  }
  // To store the documents takes more than a hundredth of it, and as much in both runs.
  const once = await used('--with requests=1')
  const { document, ...both } = await used('--duration 6s')
  const { server: costs, nodes } = document
  // All that the server does meanwhile are these scripts, all of which are measured: a second of warm-up may run slower than the rest.
  const { calls } = costs.commands.evalsha
  const cpuUs = nodes[0].cpu_pct * nodes[0].sampled_s * 10_000
  assert.ok(Math.abs(costs.cpu_us_per_item / (cpuUs / calls) - 1) < 0.01, JSON.stringify(costs))
  // The kernel's is read when nothing is under way.
  const perScriptUs = (both.kernel - 2 * once.kernel) / (both.scripts - 2 * once.scripts)
  const ratio = costs.cpu_us_per_item / perScriptUs
  assert.ok(ratio > 0.9 && ratio < 1.1, `${costs.cpu_us_per_item} us, the kernel ${perScriptUs}`)
})

test('nobody waits longer than query-timeout', async (t) => {
  // The last of four that ask at once waits for four scripts over all documents.
  const run = await writeHere(
    t,
    '--strategy query-scan --items 8000 --connections 4 --with requests=20,query-timeout=10ms --prefix late:',
    server,
  )
  assert.equal(run.code, 4)
  const { items, queries } = run.document
  assert.equal(items.offered, 20)
  assert.ok(queries.timeout > 0, JSON.stringify(items))
  assert.equal(items.failed_by.TIMEOUT, queries.timeout)
  assert.equal(queries.checked, items.acked)
})

test('documents that change behind our back make answers wrong', async (t) => {
  const asked =
    '--strategy query-scan --items 300 --with queries=1,selectivity=0.5 --connections 1 --prefix changed:'
  const run = startHere(t, 'write', `${asked} --duration 10m`, server)
  const moreQueries = async () => {
    const already = await callsOf(server, 'evalsha')
    await until('some queries', async () => (await callsOf(server, 'evalsha')) > already + 5)
  }
  await moreQueries()
  const keys = (await cli(server, 'KEYS', 'changed:doc:*')).split('\n').filter(Boolean)
  const count = Math.floor(keys.length / 2)
  assert.ok(count > 100, `${keys.length} keys`)
  await cli(server, 'DEL', ...keys.slice(0, count))
  await moreQueries()
  run.kill('SIGINT')
  const { code, document } = await run.ended
  assert.deepEqual([code, document.valid], [130, false])
  assert.ok(document.queries.partial > 0, JSON.stringify(document.queries))
  assert.ok(codesIn(document).includes('partial-answers'))
})

test('without the module a line says what to install', async (t) => {
  for (const [name, pattern] of /** @type {[string, RegExp][]} */ ([
    ['query-search', /needs FT\.SEARCH \(the module RediSearch: npm run setup:peers downloads it/],
    ['update-json', /needs JSON\.SET \(the module RedisJSON/],
    ['query-search-json', /needs FT\.SEARCH .* or JSON\.SET \(the module RedisJSON/],
  ])) {
    const { code, stderr } = await writeHere(t, `--strategy ${name} --items 100`, server)
    assert.equal(code, 3)
    assert.match(stderr, pattern)
  }
})

test('the hand-made index stays right while documents change, and leaves no index behind', async (t) => {
  const run = await writeHere(
    t,
    '--strategy query-index --items 1000 --connections 3 --with requests=300,update-writers=10,update-rate=100 --prefix i:',
    server,
  )
  assertDone(run)
  const { queries, load, updates } = run.document
  assert.equal(queries.right, 300)
  assert.ok(updates.acked > 0)
  assert.ok(load.index_bytes > 100_000 && load.index_seconds > 0, JSON.stringify(load))
  assert.match(plain(runText(run.document, { verbose: true })), /1 index built after it in/)
  assert.equal(await cli(server, 'KEYS', 'i:doc-*'), '')
  await runCommand(t, 'cleanup --prefix i: --yes', { env: at(server), out: false })
  assert.equal(await cli(server, 'KEYS', 'i:*'), '')
})
