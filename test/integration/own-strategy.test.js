// A strategy from a file that no module knows goes through everything: options, forecast, ownership, accounting,
// verification, text, page and cleanup.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runText } from '../../lib/report/text.js'
import { assertDone, at, runProducer, startProducer, startProgram, until } from '../helpers/programs.js'
import { cli, startServer } from '../helpers/servers.js'

const file = fileURLToPath(new URL('../data/strategies/one-hash.js', import.meta.url))

test('one file is enough for a strategy', async (t) => {
  const server = await startServer(t)
  const env = { ...at(server), NODE_OPTIONS: `--import=${file}` }
  const line = '--oh -q 500 -c 2 --prefix own:'

  const help = await startProgram(t, 'producer.js', '--help all', { env, out: false }).ended
  assert.match(help.stdout, /--oh +one hash for everything/)
  assert.match(help.stdout, /one-hash/)

  const refused = await runProducer(t, `${line} --ns 3 --duration 1s`, { env })
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /--ns: --oh keeps no sorted set/)

  const writer = startProducer(t, `${line} --ttl 1s --value-size 64`, { env, pages: true })
  await until('items of the writer', () => cli(server, 'EXISTS', 'own:latest-values').then((n) => n === '1'))
  const reader = await startProgram(t, 'consumer.js', '--prefix own: --verify --count --duration 3s', { env })
    .ended
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
  assert.equal(written.document.items.acked, written.document.items.offered)
  assert.match(written.stdout, /one-hash/)
  assert.match(readFileSync(join(written.folder, 'report.html'), 'utf8'), /one-hash/)
  assert.deepEqual(Object.keys(written.document.server.commands).sort(), ['expire', 'hset'])

  // The keys are known: another run of it is not stopped by them, and cleanup takes them out.
  assertDone(await runProducer(t, `${line} --duration 1s --value-size 64`, { env }))
  await cli(server, 'SET', 'own:latest-valuesx', 'of somebody else')
  const cleaned = await startProgram(t, 'scripts/cleanup.js', '--prefix own: --yes', { env, out: false })
    .ended
  assert.equal(await cli(server, 'KEYS', 'own:*'), 'own:latest-valuesx', cleaned.stderr)

  await cli(server, 'DEL', 'own:latest-valuesx')
  const once = await runProducer(t, '--oh -q 500 --prefix once: --once --ttl 60 --duration 1s', { env })
  assertDone(once)
  const verified = await startProgram(t, 'scripts/verify.js', once.folder, { env, out: false }).ended
  assert.equal(verified.code, 0, verified.stderr)
  assert.match(verified.stdout, /500 items acknowledged, 500 there byte by byte/)
})
