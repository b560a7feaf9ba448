// A model of reads and writes at their shares on a real cluster: what is filled, sent and cleaned up.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { assertDone, at, ownFolder, runProducer, startProgram } from '../helpers/programs.js'
import { cli, startCluster } from '../helpers/servers.js'

const shop = fileURLToPath(new URL('../../docs/examples/shop.yaml', import.meta.url))

test('a mix fills a cluster, and sends its reads and writes at their shares', async (t) => {
  const { nodes, access } = await startCluster(t, { replicas: 0 })
  const servers = nodes.map((node) => ({ ...node, ...access }))
  const env = at(servers[0])
  const written = await runProducer(
    t,
    `--cluster --prefix own: --fill --model ${shop} --requests 4000 --connections 4`,
    { env },
  )
  assertDone(written)
  assert.equal(written.document.items.acked, 4000)
  const sizes = await Promise.all(servers.map((server) => cli(server, 'DBSIZE')))
  const there = sizes.reduce((sum, size) => sum + Number(size), 0)
  // 6,001 of the fill, 3 % of the commands make a session, and the plan and its lease.
  assert.ok(Math.abs(there - 6121) <= 6, `${there} keys`)
  assert.equal(await cli(servers[0], '-c', 'ZCARD', 'own:bestsellers'), '2000')
  assert.equal(await cli(servers[0], '-c', 'HLEN', 'own:cart:3:items'), '5')
  const cleaned = await startProgram(t, 'scripts/cleanup.js', '--cluster --prefix own: --yes', {
    env,
    out: false,
  }).ended
  assert.equal(cleaned.code, 0, cleaned.stderr)
  for (const server of servers) assert.equal(await cli(server, 'DBSIZE'), '0')
})

test('two sides of a comparison may be a mix', async (t) => {
  const out = ownFolder(t, 'compare')
  const { code, stderr } = await startProgram(
    t,
    'lib/cli/millrace.js',
    [
      ...['compare', `${shop} name=few connections=1`, `${shop} name=more connections=3`, '--fill'],
      ...['--rate', '200', '--seconds', '1', '--warm-up', '0', '--rounds', '2', '--out', out],
    ],
    { out: false },
  ).ended
  // Rounds on a machine that stood still are not valid.
  assert.ok([0, 4].includes(Number(code)), `${code}: ${stderr}`)
  const [name] = readdirSync(out)
  const document = JSON.parse(readFileSync(join(out, name, 'compare.json'), 'utf8'))
  assert.deepEqual(document.settings, [{ name: 'connections', baseline: ['1'], other: ['3'] }])
  assert.equal(document.rounds.length, 2)
  const turns = readFileSync(join(out, name, 'turns.ndjson'), 'utf8')
    .trim()
    .split('\n')
  assert.deepEqual(
    turns.map((line) => JSON.parse(line).legs.length),
    [1, 1, 1, 1],
  )
})

test('what a mix has no use for is one line', async (t) => {
  const cells = /^--model .*shop\.yaml: has a mix, .*; millrace replay, find and compare measure a mix$/
  const reads =
    /^--model: shop has a mix, and its reads are among its commands: .* millrace replay sends them$/
  // Before what is missing is asked for: a rate, or a server.
  for (const [line, said] of /** @type {const} */ ([
    ['plan', cells],
    ['calibrate', cells],
    ['read', reads],
  ])) {
    const { code, stderr } = await startProgram(t, 'lib/cli/millrace.js', `${line} --model ${shop}`, {
      out: false,
    }).ended
    assert.equal(code, 2)
    assert.match(stderr.trim(), said)
  }
})
