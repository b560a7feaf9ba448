// The writer as a user starts it: what it prints, what it leaves, how it ends.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { faultIn } from '../../lib/base/json-schema.js'
import { publishedSchemas } from '../../scripts/readme/published-schemas.js'
import { runCommand } from '../helpers/command-here.js'
import { writeHere } from '../helpers/here.js'
import { assertDone, at, linesOf, ownFolder, runProducer, startProducer, until } from '../helpers/programs.js'
import { cli, startCluster, startServer } from '../helpers/servers.js'

/** @import { Ended } from '../helpers/programs.js' */

const brief = '-q 200 -p 200 --intervals 3'

describe('the writer', { concurrency: 4 }, () => {
  describe('what it prints', { concurrency: 3 }, () => {
    test('--json: one document on stdout, of the published shape, and nothing else', async (t) => {
      const { code, stdout, document, folder } = await runCommand(
        t,
        'write -q 3000 --duration 1 --json',
        await startServer(t),
      )
      const { summary, ...printed } = JSON.parse(stdout)
      assert.deepEqual(printed, document)
      assert.ok(summary.length <= 12 && /VALID/.test(summary[0]), summary.join('\n'))
      assert.ok(stdout.startsWith('{') && stdout.endsWith('}\n'))
      assert.equal(faultIn({ summary, ...printed }, publishedSchemas['run.schema.json']), null)
      assert.deepEqual([printed.schema, printed.kind, printed.items.acked], [1, 'producer', 3000])
      assert.equal(code, printed.valid ? 0 : 4)
      assert.ok(folder.endsWith(printed.run))
    })

    test('without it: the table on stdout, the log on stderr', async (t) => {
      const ended = await runProducer(t, brief)
      const { stdout, stderr, document } = ended
      assertDone(ended)
      assert.match(stdout, /sorted-set/)
      assert.match(stdout, /\bvalid\b/i)
      const log = stderr
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).msg)
      assert.match(log[0], /^writes sorted-set: .* as published/)
      assert.match(log[1], /^started a local server on 127\.0\.0\.1:\d+ \(redis /)
      assert.ok(log.includes('the only writer: 200 items an interval'), log.join('\n'))
      assert.ok(!/local server on/.test(stdout))
      assert.match(stdout, /^ {2}report +\S+/m)
      assert.match(document.command_line, /^node producer\.js /)
    })

    test('--quiet prints the result alone, and --help no more than help', async (t) => {
      const quiet = await runCommand(t, `write ${brief} --quiet --log silent`, await startServer(t))
      assertDone(quiet)
      assert.equal(quiet.stderr, '')
      assert.match(quiet.stdout, /^. (VALID|NOT VALID) /)
      assert.equal(quiet.code, quiet.document.valid ? 0 : 4)
      const help = await runProducer(t, '--help')
      assert.equal(help.code, 0)
      assert.match(help.stdout, /--quantity/)
      assert.equal(help.folder, '')
    })
  })

  /** @param {string} folder */
  const filesIn = (folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))

  test('the password comes from .env, the environment or the command line, and is seen nowhere', async (t) => {
    const server = await startServer(t)
    const secret = server.password
    const cwd = ownFolder(t, 'dotenv')
    const url = `redis://:${secret}@${server.host}:${server.port}`
    const dotenv = (/** @type {string} */ text) => writeFileSync(join(cwd, '.env'), text)
    const everything = (/** @type {Ended} */ { stdout, stderr, folder }) =>
      [stdout, stderr, ...(folder ? filesIn(folder) : []).map((name) => readFileSync(name))]
        .map(String)
        .join('\n')

    dotenv(`REDIS_URL=${url}\nMILLRACE_QUANTITY=70\nMILLRACE_PERIOD=100\nMILLRACE_TTL=600\n`)
    const env = { MILLRACE_NO_DOTENV: '' }
    const byFile = await runProducer(t, '--intervals 3 --log trace --json', { cwd, env })
    assertDone(byFile)
    assert.deepEqual([byFile.document.plan.quantity, byFile.document.target.origin], [70, 'address'])
    assert.ok(!everything(byFile).includes(secret))
    assert.equal(await cli(server, 'ZCARD', 'latest-ids'), '70')

    const running = startProducer(t, '-q 60', { cwd, env: { ...env, MILLRACE_QUANTITY: '80' } })
    await running.says(/the only writer|all of|writer 1 of/)
    assert.ok(!readFileSync(`/proc/${running.pid}/cmdline`, 'utf8').includes(secret))
    const children = readFileSync(`/proc/${running.pid}/task/${running.pid}/children`, 'utf8')
    for (const pid of children.split(' ').filter(Boolean))
      assert.ok(!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(secret))
    await until('a second of it', () => running.intervals().length > 0)
    running.kill('SIGINT')
    assert.equal((await running.ended).document.plan.quantity, 60, 'the command line is stronger')

    const byVariable = await runProducer(t, '--intervals 3', {
      cwd,
      env: { ...env, MILLRACE_QUANTITY: '80' },
    })
    assert.equal(byVariable.document.plan.quantity, 80, 'the environment is stronger than .env')

    const wrong = await runProducer(t, brief, {
      cwd,
      env: { ...env, REDIS_URL: url.replace(secret, 'wr0ng') },
    })
    assert.equal(wrong.code, 3)
    assert.match(wrong.stderr, /wrong user or password/)
    assert.ok(!everything(wrong).includes('wr0ng') && !everything(wrong).includes(secret))
  })

  test('what a cluster refuses: scripts on several masters without --spread, and a node of it without --cluster', async (t) => {
    const { code, stderr } = await writeHere(t, `${brief} --ws --cluster --replicas 0`)
    assert.equal(code, 2)
    assert.match(stderr, /^--ws needs --spread on 3 masters[^\n]*\n$/m)
    const { nodes, access } = await startCluster(t, { shards: 1, replicas: 0 })
    const node = await writeHere(t, brief, { ...nodes[0], ...access })
    assert.deepEqual([node.code, node.stdout], [3, ''])
    assert.match(node.refusal, /^[^\n]*is part of a cluster; add --cluster[^\n]*$/)
  })

  test('the folder of a run holds run.json, and a line a second whose counts sum to it', async (t) => {
    const ended = await runCommand(t, 'write -q 500 -c 5 --duration 2 --run named', {
      env: at(await startServer(t)),
      pages: true,
    })
    const { document, folder } = ended
    assertDone(ended)
    assert.ok(folder.endsWith('/named'))
    const files = 'charts events.ndjson facts.json intervals.ndjson report.html run.json'
    assert.equal(readdirSync(folder).sort().join(' '), files)
    const lines = linesOf(join(folder, 'intervals.ndjson'))
    assert.ok(lines.length > 0)
    for (const outcome of ['offered', 'acked', 'failed', 'uncertain', 'dropped', 'unsettled']) {
      const sum = lines.reduce((total, { items }) => total + items[outcome], 0)
      assert.equal(sum, document.items[outcome], outcome)
    }
    // A second that a busy machine is late for has none.
    const rows = lines.flatMap(({ nodes }) => nodes)
    assert.ok(rows.length > 0)
    for (const { address } of rows) assert.equal(address, document.nodes[0].address)
    assert.ok(document.client.encoded_bytes > 500 * 50, 'the commands of all items, encoded before the run')
  })
})
