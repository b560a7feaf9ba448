// Secrets are taken out of text and data in whatever spelling they come back, and nothing else is.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { redactor } from '../../lib/base/redact.js'
import { secretsIn } from '../../lib/cli/start.js'
import { reasonFor } from '../../lib/servers/reason.js'
import { ownFolder } from '../helpers/programs.js'
import { rowsOf } from '../helpers/table.js'

/** @param {string[]} secrets */
const knowing = (...secrets) => {
  const redact = redactor()
  redact.learn(...secrets)
  return redact
}

const canary = 'Tr0ub4dor&3%"é-\\'

for (const [what, text] of [
  ['as it is', canary],
  ['in JSON', JSON.stringify(canary)],
  ['in an address', encodeURIComponent(canary)],
  ['as a server gives it back', Buffer.from(canary).toString('latin1')],
  ['within a word', `x${canary}x`],
  ['cut off', `${canary.slice(0, 9)}...`],
  ['cut off at the end', canary.slice(0, 7)],
])
  test(`a secret ${what}`, () => {
    const said = knowing(canary).text(`ERR ${text}`)
    assert.match(said, /^ERR .?\*\*\*/)
    assert.ok(!said.includes('Tr0ub4'), said)
  })

test('a weak one is only a word of its own, and numbers and words of ours stay', () => {
  const redact = knowing('list', '1000', 'abc', 'x1')
  assert.equal(redact.text('a list, lists, a-list: 1000'), 'a ***, lists, a-***: 1000')
  const plan = { strategy: 'list', quantity: 1000 }
  const document = { plan, kind: 'list', events: [{ text: 'ERR list' }] }
  assert.deepEqual(redact.data(document), { ...document, events: [{ text: 'ERR ***' }] })
})

test('data: values, lists and names of fields', () => {
  const redact = knowing('hunter2hunter2')
  assert.deepEqual(redact.data({ 'ERR hunter2hunter2': [1, null, 'hunter2hunter2'] }), {
    'ERR ***': [1, null, '***'],
  })
})

test('with nothing to hide everything stays as it is', () => {
  const data = { a: 'b' }
  assert.equal(redactor().data(data), data)
  assert.equal(redactor().text('a'), 'a')
})

test('a password that is a word of ours hides no message, only its value', () => {
  const { text } = knowing('password')
  const advice = 'wrong user or password; correct --username'
  assert.equal(text(advice), advice)
  for (const line of ['redis://u:password@h', "no such user 'password'", '--password=password'])
    assert.match(text(line), /\*\*\*/)
  assert.equal(text('redis://u:password@h'), 'redis://u:***@h')
})

test('any text can be a secret', () => {
  for (let code = 32; code < 0x250; code++) {
    const secret = `${String.fromCharCode(code).repeat(2)}abcdefg${String.fromCharCode(code)}`
    assert.equal(knowing(secret).text(`<${secret}>`), '<***>')
  }
})

for (const [line, secret = 'hunter2'] of rowsOf(`
--password hunter2
--password=hunter2
--sentinel-password hunter2
--url redis://u:hunter2@h
--url=rediss://:hunter%202@h/1 -> hunter 2
--url redis://:a@hunter2@h -> a@hunter2
redis://u:hunter2@h
--url redis://hunter2@h
--host=u:hunter2@h
--host u:hunter2@h
-a hunter2
-ahunter2
--pass hunter2
`))
  test(`the secret of ${line}`, () => assert.ok(secretsIn(line.split(' '), {}).includes(secret)))

test('the secret of --password-file is the first line of the file, by option and by environment', (t) => {
  const folder = ownFolder(t, 'secret')
  const file = join(folder, 'password')
  writeFileSync(file, 'hunter2\nno secret\n')
  for (const [argv, env] of /** @type {[string[], NodeJS.ProcessEnv][]} */ ([
    [['--password-file', file], {}],
    [[`--password-file=${file}`], {}],
    [[], { REDIS_PASSWORD_FILE: file }],
  ]))
    assert.deepEqual(secretsIn(argv, env), ['hunter2'], JSON.stringify([argv, env]))
  assert.deepEqual(secretsIn(['--password-file', join(folder, 'none')], {}), [])
})

test('agents and paths are no secrets', () => {
  const lines =
    '--out results@2026|--out /data/@scope/x|--out=a@b|--url redis://h|-a 3|-a 2-4|-a all|-a auto|-a -q|-a|-q 5'
  for (const line of lines.split('|')) assert.deepEqual(secretsIn(line.split(' '), {}), [], line)
})

test('secrets of the environment', () => {
  const env = { REDIS_PASSWORD: 'a', REDIS_SENTINEL_PASSWORD: 'b', REDIS_URL: 'redis://u:c@h' }
  assert.deepEqual(secretsIn([], env).toSorted(), ['a', 'b', 'c', 'c'])
})

test('a server that quotes a password, however short, and however it is cut', () => {
  const error = Object.assign(new Error(`ERR ${'x'.repeat(190)} no such password ab`), { name: 'ReplyError' })
  assert.ok(!reasonFor('h:1', new Error("ERR no 'pw1'"), { password: 'pw1', tls: null }).includes('pw1'))
  assert.ok(!reasonFor('h:1', error, { password: 'x'.repeat(8), tls: null }).includes('xxxxxxxx'))
})

test('a name that was no secret yet is taken out once it is one', () => {
  const redact = redactor()
  redact.learn('first-secret')
  const data = { 'a-later-secret': 1, 'first-secret': 2, ['__proto__']: 3 }
  const named = () => Object.keys(redact.data(data))
  assert.deepEqual(named(), ['a-later-secret', '***', '__proto__'])
  redact.learn('a-later-secret')
  assert.deepEqual(named(), ['***', '__proto__'])
})
