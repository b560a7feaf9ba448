// --dashboard on real runs: what its stream says is what the files of the run say.
import assert from 'node:assert/strict'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDashboard } from '../../lib/cli/dashboard.js'
import { resultDocument } from '../../lib/result/document.js'
import { runCommand, startCommand } from '../helpers/command-here.js'
import { startHere } from '../helpers/here.js'
import { following } from '../helpers/live-page.js'
import { assertNoneLost, at, linesOf, until } from '../helpers/programs.js'
import { sampleParts } from '../helpers/sample-run.js'
import { portOf, startServer } from '../helpers/servers.js'
import { columns } from '../helpers/table.js'

const address = /live page: (http:\/\/127\.0\.0\.1:(\d+)\/([\w-]{22})\/)/

/** @param {ReturnType<typeof startCommand>} program */
const addressIn = async (program) => {
  const [, url, port, token] = await program.says(address)
  return { url, port: Number(port), token }
}

/** The points of a page that got these messages. @param {any[]} messages */
const pointsIn = ([whole, ...later]) => [
  ...whole.points,
  ...later.filter(({ kind }) => kind === 'second').map(({ point }) => point),
]

test('opened in the middle it has every second of the files, then the verdict', async (t) => {
  const program = startCommand(t, 'write -q 500 -c 4 --cluster --dashboard --log debug')
  const { url } = await addressIn(program)
  await program.says(/of commands prepared/)
  const early = await following(url)
  await until('three seconds', () => early.messages.filter(({ kind }) => kind === 'second').length >= 3)
  const late = await following(url)
  program.kill('SIGINT')
  const { code, document, folder, stderr } = await program.ended
  await Promise.all([early.over, late.over])
  assert.equal(code, 130, stderr)
  const lines = linesOf(join(folder, 'intervals.ndjson'))
  for (const { messages } of [early, late]) {
    const points = pointsIn(messages)
    assert.deepEqual(
      points.map(({ at_ms, items, latency_us }) => [at_ms, items.acked, latency_us.intended?.p99 ?? null]),
      lines.map(({ at_ms, items, latency_us }) => [at_ms, items.acked, latency_us.intended?.p99 ?? null]),
    )
    const last = messages.findLast(({ kind }) => kind === 'second')
    assert.equal(last.sums.acked, document.items.acked)
    assert.ok(messages.some(({ latest }) => latest?.nodes.length === 6))
    assert.equal(messages.at(-1).kind, 'end')
    assert.equal(messages.at(-1).verdict.good, document.valid)
  }
  assert.equal(late.messages[0].kind, 'whole')
  assert.ok(late.messages[0].points.length >= 3)
  assert.equal(late.messages[0].about.nominal, 500)
  assert.doesNotMatch(JSON.stringify(late.messages), /"hdr"/)
})

test('what is noticed after the last second is told before the end', async () => {
  let said = ''
  /** @type {any[]} */
  const warnings = []
  const page = await openDashboard(
    /** @type {any} */ ({ dashboard: { host: '127.0.0.1', port: 0 } }),
    /** @type {any} */ ({
      say: (/** @type {string} */ line) => {
        said = line
      },
      redact: (/** @type {any} */ data) => data,
      warnings,
    }),
  )
  const { messages, over } = await following(String(/http:\S+/.exec(said)?.[0]))
  warnings.push({ code: 'bystander-contended', message: 'noticed late' })
  await page.ended(resultDocument(sampleParts()))
  await page.close()
  await over
  assert.equal(columns(messages, 'kind', 'text'), 'whole undefined, warning noticed late, end undefined')
})

test('a reader that stops reading costs the run nothing', async (t) => {
  const server = await startServer(t)
  const program = startCommand(t, 'write -q 500 --duration 3s --dashboard', server)
  const { port, token } = await addressIn(program)
  const stalled = Array.from({ length: 8 }, () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write(`GET /${token}/events HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    socket.pause()
    return socket
  })
  t.after(() => {
    for (const socket of stalled) socket.destroy()
  })
  const { code, document, stderr } = await program.ended
  assert.ok([0, 4].includes(Number(code)), stderr)
  assertNoneLost(document.items)
})

test('a consumer has a page as well', async (t) => {
  const server = await startServer(t)
  const env = at(server)
  const writing = startHere(t, 'write', '-q 500', { env })
  await writing.says(/the only writer/)
  const program = startCommand(t, 'read --duration 3s --dashboard', { env })
  const { url } = await addressIn(program)
  const { messages, over } = await following(url)
  const { document, folder, stderr } = await program.ended
  await over
  assert.ok(document, stderr)
  const lines = linesOf(join(folder, 'intervals.ndjson'))
  assert.deepEqual(
    pointsIn(messages).map(({ at_ms, items_per_s, duration_us }) => [at_ms, items_per_s, duration_us?.p50]),
    lines.map(({ at_ms, items_per_s, duration_us }) => [at_ms, items_per_s, duration_us?.p50]),
  )
  assert.equal(messages.at(-1).kind, 'end')
})

test('a run that fails says so on its page; a taken port is one line and exit 2', async (t) => {
  const port = await portOf(t, createServer())
  const taken = await runCommand(t, `write -q 10 --duration 1s --dashboard ${port}`)
  assert.equal(taken.code, 2)
  assert.match(taken.stderr, new RegExp(`^--dashboard 127\\.0\\.0\\.1:${port}: the port is taken\n$`))

  const mute = await portOf(t, createServer())
  const program = startCommand(t, `write -q 10 --duration 60s --host 127.0.0.1 --port ${mute} --dashboard`)
  const { url } = await addressIn(program)
  const { messages, over } = await following(url)
  program.kill('SIGINT')
  await program.ended
  await over
  assert.equal(messages.at(-1).kind, 'end')
  assert.equal(messages.at(-1).verdict.good, false)
})
