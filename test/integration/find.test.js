// `millrace find` as a user starts it on a terminal.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { testEnvironment } from '../../scripts/test.js'
import { ownFolder, until } from '../helpers/programs.js'

const program = fileURLToPath(new URL('../../lib/cli/millrace.js', import.meta.url))

/** On a terminal, as script(1) gives it one. @param {import('node:test').TestContext} t @param {string} line @param {string} answer */
const asked = async (t, line, answer) => {
  const child = spawn('script', ['-qec', `node ${program} find ${line}`, '/dev/null'], {
    env: { ...testEnvironment(process.env), XDG_RUNTIME_DIR: ownFolder(t, answer) },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  let seen = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    seen += text
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  await until('the question', () => seen.includes('Type yes to go on: '))
  child.stdin.write(`${answer}\r`)
  return { code: await ended, seen }
}

test('on a terminal the user confirms that servers which are not local are overloaded', async (t) => {
  // Nobody answers there.
  const silent = createServer((socket) => socket.destroy())
  await new Promise((resolve) => silent.listen(0, () => resolve(undefined)))
  t.after(() => silent.close())
  const { port } = /** @type {import('node:net').AddressInfo} */ (silent.address())
  const line = `list --slo "latency.p99<20ms" --host 0.0.0.0 --port ${port} --out ${ownFolder(t, 'out')}`
  const [refused, allowed] = await Promise.all([asked(t, line, 'no'), asked(t, line, 'yes')])
  assert.equal(refused.code, 2, refused.seen)
  assert.match(refused.seen, /0\.0\.0\.0 is not local:\s+give --within MIN\.\.MAX, which it never exceeds/)
  // It goes on, and finds no server there.
  assert.equal(allowed.code, 3, allowed.seen)
})
