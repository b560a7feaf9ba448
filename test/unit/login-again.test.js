// Logins of a connection in use: what is read without their answers, at every split of the stream, and when the next is due.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemTimers } from '../../lib/base/timers.js'
import { loginsOf } from '../../lib/servers/login-again.js'

const everyMs = 11 * 3_600_000
const access = { username: 'millrace', password: 'token 1', tls: null, loginAgainMs: everyMs }
const quoted = (/** @type {string} */ text) => `ERR Syntax error in HELLO option '${text}'`

/** The words of commands. @param {Buffer} bytes */
const wordsIn = (bytes) =>
  bytes
    .toString('latin1')
    .split(/^\*\d+\r\n/m)
    .slice(1)
    .map((text) => text.split('\r\n').filter((_, i) => i % 2 === 1))

/** @param {import('node:test').TestContext} t */
const opened = (t, random = 0.5) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const mocked = { ...systemTimers, clearTimeout: (/** @type {any} */ timer) => clearTimeout(timer) }
  let read = ''
  const written = /** @type {string[][][]} */ ([])
  const onBytes = (/** @type {Buffer} */ bytes) => {
    assert.ok(bytes.length > 0)
    read += bytes.toString('latin1')
  }
  const write = (/** @type {Buffer} */ bytes) => void written.push(wordsIn(bytes))
  const logins = loginsOf(access, onBytes, write, { random: () => random, timers: mocked })
  if (!logins) return assert.fail('no logins')
  const answersOf = ([first, , second] = written.at(-1) ?? [], answer = '+OK') =>
    `-${quoted(first[2])}\r\n${answer}\r\n-${quoted(second[2])}\r\n`
  return { logins, written, answersOf, read: () => read }
}

test('a password that does not end has no later logins', () => {
  const { loginAgainMs, ...plain } = access
  const never = () => assert.fail()
  assert.equal(loginsOf(plain, never, never), null)
})

test('each login is due before 11 hours have passed since the one before, with the token of its moment', async (t) => {
  const { logins, written, answersOf } = opened(t)
  assert.equal(logins.answers('NOPERM no'), false)
  assert.equal(logins.answers(quoted(logins.question[2])), true)
  logins.begin()
  t.mock.timers.tick(0.94 * everyMs)
  assert.equal(written.length, 0)
  t.mock.timers.tick(0.02 * everyMs)
  assert.equal(written.length, 1)
  const [[first, auth, second]] = written
  assert.deepEqual(auth, ['AUTH', 'millrace', 'token 1'])
  assert.deepEqual([first.slice(0, 2), second.slice(0, 2)], [logins.question.slice(0, 2), ['HELLO', '2']])
  assert.notEqual(first[2], second[2])
  logins.take(Buffer.from(answersOf()))
  access.password = 'token 2'
  t.mock.timers.tick(0.96 * everyMs)
  assert.deepEqual(written[1][1], ['AUTH', 'millrace', 'token 2'])
  logins.end()
  t.mock.timers.tick(2 * everyMs)
  assert.equal(written.length, 2)
})

test('a server that does not quote gets no login', (t) => {
  const { logins, written } = opened(t)
  logins.begin()
  t.mock.timers.tick(2 * everyMs)
  assert.equal(written.length, 0)
})

test('a login that is refused is tried again a minute later; one without an answer is not doubled', async (t) => {
  const { logins, written, answersOf, read } = opened(t)
  logins.answers(quoted(logins.question[2]))
  logins.begin()
  t.mock.timers.tick(everyMs)
  logins.take(Buffer.from(`+OK\r\n${answersOf(undefined, '-WRONGPASS invalid')}:1\r\n`))
  assert.equal(read(), '+OK\r\n:1\r\n')
  await new Promise((resolve) => setImmediate(resolve))
  t.mock.timers.tick(59_000)
  assert.equal(written.length, 1)
  t.mock.timers.tick(1000)
  assert.equal(written.length, 2)
  t.mock.timers.tick(everyMs)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(written.length, 2)
})

describe('answers of a login are cut out of what is read', () => {
  const load = '+OK\r\n-ERR Syntax error\r\n$5\r\nERR S\r\n'
  for (const [what, before, behind] of /** @type {const} */ ([
    ['in between', load, load],
    ['alone', '', ''],
    ['at the end', load, ''],
    ['at the beginning', '', load],
  ]))
    test(`${what}, at every split`, (t) => {
      const { logins, written, answersOf, read } = opened(t, 1)
      logins.answers(quoted(logins.question[2]))
      logins.begin()
      let expected = ''
      const length = () => (before + answersOf() + behind).length
      for (let cut = 0; ; cut++) {
        t.mock.timers.tick(everyMs)
        if (cut > length()) break
        assert.equal(written.length, cut + 1)
        const bytes = Buffer.from(before + answersOf() + behind)
        // What is read is a view of one buffer that is used again.
        const shared = Buffer.alloc(bytes.length)
        for (const part of [bytes.subarray(0, cut), bytes.subarray(cut)]) {
          if (part.length === 0) continue
          part.copy(shared)
          logins.take(shared.subarray(0, part.length))
          shared.fill('x')
        }
        expected += before + behind
        assert.equal(read(), expected, `cut at ${cut}`)
      }
    })

  test('byte by byte', (t) => {
    const { logins, answersOf, read } = opened(t)
    logins.answers(quoted(logins.question[2]))
    logins.begin()
    t.mock.timers.tick(everyMs)
    for (const byte of Buffer.from(load + answersOf() + load)) logins.take(Buffer.of(byte))
    assert.equal(read(), load + load)
  })
})
