// A strategy from a file that no module knows goes through everything: options, forecast, ownership, accounting,
// verification, text, page and cleanup.

// First, as --import does it: options follow from the strategies that are there.
import '../data/strategies/one-hash.js'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runText } from '../../lib/report/text.js'
import { runCommand, startCommand } from '../helpers/command-here.js'
import { assertDone, assertNoneLost, at, until } from '../helpers/programs.js'
import { cli, startServer } from '../helpers/servers.js'

test('one file is enough for a strategy', async (t) => {
  const server = await startServer(t)
  const env = at(server)
  const line = '--oh -q 500 -c 2 --prefix own:'

  const help = await runCommand(t, 'write --help all', { env, out: false })
  assert.match(help.stdout, /--oh +one hash for everything/)
  assert.match(help.stdout, /one-hash/)

  const refused = await runCommand(t, `write ${line} --ns 3 --duration 1s`, { env })
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /--ns: --oh keeps no sorted set/)

  const writer = startCommand(t, `write ${line} --ttl 1s --value-size 64`, { env, pages: true })
  await until('items of the writer', () => cli(server, 'EXISTS', 'own:latest-values').then((n) => n === '1'))
  const reader = await runCommand(t, 'read --prefix own: --verify --count --duration 3s', { env })
  assertDone(reader)
  assert.ok(reader.document.verify.checked >= 500, reader.stderr)
  assert.equal(reader.document.verify.corrupt + reader.document.verify.missing, 0)
  assert.ok(
    reader.document.uniqueness.some(
      (/** @type {any} */ row) => row.structure === 'HLEN' && row.truth === 500,
    ),
    JSON.stringify(reader.document.uniqueness),
  )
  assert.match(runText(reader.document, { verbose: true }), /HGETALL/)

  writer.kill('SIGINT')
  const written = await writer.ended
  assert.equal(written.code, 130, written.stderr)
  // On a busy machine a tick may wait then, and is dropped.
  assertNoneLost(written.document.items)
  assert.ok(written.document.items.acked > 0)
  assert.match(written.stdout, /one-hash/)
  assert.match(readFileSync(join(written.folder, 'report.html'), 'utf8'), /one-hash/)
  assert.deepEqual(Object.keys(written.document.server.commands).sort(), ['expire', 'hset'])

  // The keys are known: another run of it is not stopped by them, and cleanup takes them out.
  assertDone(await runCommand(t, `write ${line} --duration 1s --value-size 64`, { env }))
  await cli(server, 'SET', 'own:latest-valuesx', 'of somebody else')
  const cleaned = await runCommand(t, 'cleanup --prefix own: --yes', { env, out: false })
  assert.equal(await cli(server, 'KEYS', 'own:*'), 'own:latest-valuesx', cleaned.stderr)

  await cli(server, 'DEL', 'own:latest-valuesx')
  const once = await runCommand(t, 'write --oh -q 500 --prefix once: --once --ttl 60 --duration 1s', { env })
  assertDone(once)
  const verified = await runCommand(t, `verify ${once.folder}`, { env, out: false })
  assert.equal(verified.code, 0, verified.stderr)
  assert.match(verified.stdout, /500 items acknowledged, 500 there byte by byte/)
})
