// A model of reads and writes at their shares on a real cluster: what is filled, sent and cleaned up.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../helpers/command-here.js'
import { refusedHere, writeHere } from '../helpers/here.js'
import { assertDone, at, ownFolder, startProgram } from '../helpers/programs.js'
import { callsOf, cli, startCluster, startServer } from '../helpers/servers.js'

const shop = fileURLToPath(new URL('../../docs/examples/shop.yaml', import.meta.url))

describe('a model of shares', { concurrency: 3 }, () => {
  test('a mix fills a cluster, and sends its reads and writes at their shares', async (t) => {
    const { nodes, access } = await startCluster(t, { replicas: 0 })
    const servers = nodes.map((node) => ({ ...node, ...access }))
    const env = at(servers[0])
    const written = await writeHere(
      t,
      `--cluster --prefix own: --fill --model ${shop} --with requests=4000 --connections 4`,
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
    const cleaned = await runCommand(t, 'cleanup --cluster --prefix own: --yes', { env, out: false })
    assert.equal(cleaned.code, 0, cleaned.stderr)
    for (const server of servers) assert.equal(await cli(server, 'DBSIZE'), '0')
  })

  test('the reads of a mix alone are sent at their shares, to keys that a replay has made', async (t) => {
    const server = await startServer(t)
    const file = join(ownFolder(t, 'mix'), 'shop.yaml')
    writeFileSync(file, `${readFileSync(shop, 'utf8')}run: { rate: 1000 }\n`)
    // A process knows one model of a name: the whole mix, or its reads.
    const played = (/** @type {string} */ line) => startProgram(t, 'lib/cli/millrace.js', line, server).ended
    const play = (/** @type {string} */ more) => played(`replay ${file} --idle-cost never ${more}`)
    const made = await play('--with requests=500 --connections 4')
    assertDone(made)
    const before = await cli(server, 'DBSIZE')
    await cli(server, 'CONFIG', 'RESETSTAT')
    const read = await play('--only-reads --with requests=3000 --connections 4')
    assertDone(read)
    const stats = await cli(server, 'INFO', 'commandstats')
    const calls = Object.fromEntries(
      [...stats.matchAll(/cmdstat_(\S+?):calls=(\d+)/g)].map(([, name, n]) => [name, Number(n)]),
    )
    const reads = /** @type {const} */ ([
      ['get', 72],
      ['hgetall', 10],
      ['zrevrange', 7],
    ])
    for (const [name, part] of reads) {
      const [seen, share] = [calls[name] / 3000, part / 89]
      assert.ok(Math.abs(seen - share) < 0.02, `${name}: ${seen}, not ${share}`)
    }
    // HSET is also of the plan, which is renewed every 5 s; at its share it would be called 150 times.
    assert.ok((calls.hset ?? 0) < 50, `HSET: ${calls.hset}`)
    for (const name of ['setex', 'zincrby', 'zadd'])
      assert.equal(calls[name], undefined, `${name}: ${calls[name]}`)
    // The plan's lease may have come.
    assert.ok(Math.abs(Number(await cli(server, 'DBSIZE')) - Number(before)) <= 3)
    // As a consumer of it.
    const [gets, sets] = await Promise.all([callsOf(server, 'get'), callsOf(server, 'setex')])
    const again = await played(`read ${file} --duration 1s`)
    assertDone(again)
    assert.match(again.document.command_line, new RegExp(`^millrace read ${file} --duration 1s`))
    // 72 of 89 of them.
    const { acked } = again.document.items
    assert.ok(acked > 0 && (await callsOf(server, 'get')) - gets > 0.7 * acked)
    assert.equal(await callsOf(server, 'setex'), sets)
    const odd = await refusedHere(`read ${file} --limit 10`)
    assert.equal(odd.code, 2)
    assert.match(odd.stderr, /^--limit does not go with a workload file, .*; see millrace replay --help$/m)
    const word = await refusedHere('read hunter2')
    assert.deepEqual([word.code, word.stderr.includes('hunter2')], [2, false])
  })

  test('two sides of a comparison may be a mix', async (t) => {
    const out = ownFolder(t, 'compare')
    const { code, stderr } = await runCommand(
      t,
      [
        ...['compare', `${shop} name=few connections=1`, `${shop} name=more connections=3`, '--fill'],
        ...['--rate', '200', '--seconds', '1', '--warm-up', '0', '--rounds', '2', '--out', out],
      ],
      { out: false },
    )
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

  test('a mix without reads is one line where only reads are sent', async (t) => {
    const file = join(ownFolder(t, 'mix'), 'writes.yaml')
    writeFileSync(
      file,
      'keys: { a: { type: string, keys: 1 } }\nmix: [{ command: SET a 1, share: 1 }]\nrun: { rate: 1000 }\n',
    )
    const { code, stderr } = await refusedHere(`replay ${file} --only-reads`)
    assert.deepEqual([code, stderr.trim().split('\n').length], [2, 1], stderr)
    assert.match(stderr, /writes\.yaml:2:6: has no command that only reads/)
  })
})
