// BullMQ beside our queues, as a user starts it: every job has one place, and the table has a row of each.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { startProgram } from '../helpers/programs.js'
import { columns } from '../helpers/table.js'

const version = (() => {
  try {
    return createRequire(import.meta.url)('bullmq/package.json').version
  } catch {
    return null
  }
})()
const isMissing = version === null && !process.env.CI ? 'bullmq is not installed (npm ci)' : false
const line = '--jobs 300 --seconds 1 --workers 4 --rounds 1 --rate 50'

test('our queues and BullMQ: what the server and the client paid for a job', {
  skip: isMissing,
}, async (t) => {
  const { code, stdout, stderr } = await startProgram(t, 'scripts/queue-peers.js', line, { out: false }).ended
  assert.equal(code, 0, stderr)
  const rows = stdout
    .split('\n')
    .filter((text) => /^(queue-|BullMQ)/.test(text))
    .map((text) => text.split(/ {2,}/))
  const names = 'queue-list, queue-list --with confirm, queue-stream, queue-zset --with confirm'
  assert.equal(columns(rows, '0'), `${names}, BullMQ ${version}`)
  const commands = rows.map((cells) => Number(cells[7]))
  // BRPOP; with LMOVE an LREM besides. On a busy machine few jobs share what workers ask for while they wait.
  assert.ok(commands[0] >= 1, String(commands[0]))
  assert.ok(commands[1] >= 2, String(commands[1]))
  assert.ok(commands[4] > 15, String(commands[4]))
  // A job waits for 2 ms.
  for (const [name, , p50] of rows)
    assert.match(p50, /^([2-9]|\d{2,})(\.\d+)? ms$|^\d+(\.\d+)? s$/, `${name}: ${p50}`)
  for (const cells of rows) assert.deepEqual(cells.slice(8), ['0', '0'])
})

test('what is no number of workers is refused by name', async (t) => {
  const { code, stderr } = await startProgram(t, 'scripts/queue-peers.js', '--workers none', { out: false })
    .ended
  assert.equal(code, 2)
  assert.match(stderr, /--workers none: a whole number from 1 on/)
})
