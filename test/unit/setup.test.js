import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { installCommands, isInstalled } from '../../scripts/setup.js'
import { grouped, summaryHolder, testEnvironment, testFiles } from '../../scripts/test.js'
import { ownFolder } from '../helpers/programs.js'
import { rowsOf } from '../helpers/table.js'

const packageA = { version: '1.0.0', integrity: 'sha512-a' }
const foreign = { version: '2.0.0', integrity: 'sha512-f', optional: true }
const lockOfA = { packages: { 'node_modules/a': packageA } }
const lockOfForeign = { packages: { 'node_modules/f': foreign } }
const lockWith = (/** @type {object} */ change) => ({
  packages: { 'node_modules/a': { ...packageA, ...change } },
})
const empty = { packages: {} }

/** @type {[string, { packages: Record<string, object> }, { packages: Record<string, object> } | undefined, boolean][]} */
const locks = [
  ['the same', { packages: { '': {}, ...lockOfA.packages } }, lockOfA, true],
  ['no node_modules', lockOfA, undefined, false],
  ['only optional packages and no node_modules', lockOfForeign, undefined, false],
  ['a package missing', lockOfA, empty, false],
  ['another version', lockOfA, lockWith({ version: '1.0.1' }), false],
  ['other contents', lockOfA, lockWith({ integrity: 'x' }), false],
  ['made for another platform', lockOfForeign, empty, true],
]

for (const [name, wanted, installed, expected] of locks)
  test(`packages are in place: ${name}: ${expected}`, () =>
    assert.equal(isInstalled(wanted, installed), expected))

// A machine, its package managers, who asks, and the commands that install a server, as patterns.
for (const [name, has, who, expected = ''] of rowsOf(`
Debian as root -> apt-get -> root -> sh -c apt-get .* install .* redis-tools
Debian with sudo -> apt-get -> sudo -> sudo -n sh -c apt-get .* redis-tools
Debian without sudo -> apt-get -> user
Amazon Linux -> dnf yum -> root -> dnf -qy install valkey | dnf -qy install redis6 | dnf -qy install redis
macOS -> brew -> user -> brew install redis
brew as root, which it refuses -> brew -> root
no package manager -> none -> root
`))
  test(`a server is installed: ${name}`, () => {
    const found = installCommands({
      has: (command) => has.split(' ').includes(command),
      isRoot: who === 'root',
      maySudo: () => who === 'sudo',
    })
    const wanted = expected.split(' | ').filter(Boolean)
    assert.equal(found.length, wanted.length)
    for (const [i, command] of found.entries()) assert.match(command.join(' '), new RegExp(`^${wanted[i]}$`))
  })

test('set-up with all in place says nothing and touches no network', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/setup.js'], {
    encoding: 'utf8',
    env: { ...process.env, npm_execpath: '/nowhere/npm.js' }, // npm ci would fail
  })
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' })
})

test('programs under test get no target and no option from outside', () => {
  const target = { REDIS_URL: 'redis://example.invalid', REDIS_HOST: 'example.invalid', REDISCLI_AUTH: 'x' }
  const options = { MILLRACE_QUANTITY: '5', SORTED_SET_CONTAINS_ACTUAL_VALUE: 'true' }
  const ours = { MILLRACE_NO_DOTENV: '1', MILLRACE_IDLE_COST: 'never', MILLRACE_LOG: 'json' }
  const outside = { PATH: '/bin', CI: 'true' }
  assert.deepEqual(testEnvironment({ ...outside, ...target, ...options }), { ...outside, ...ours })
})

test('the closing summary is held back, a summary that a test printed is not', () => {
  const passed = /** @type {string[]} */ ([])
  const holder = summaryHolder((line) => passed.push(line))
  const inner = ['ℹ tests 1', 'ℹ pass 1']
  const closing = ['\u001B[34mℹ tests 2\u001B[39m', 'ℹ pass 1', 'ℹ fail 1', '', '✖ failing tests:', 'why']
  for (const line of ['✔ one', ...inner, '✖ two', ...closing]) holder.take(line)
  assert.deepEqual(passed, ['✔ one', ...inner, '✖ two'])
  assert.deepEqual(holder.summary(), closing)
})

test('each file of unit tests is in one process, alone or with others', (t) => {
  const folder = ownFolder(t, 'groups')
  const files = testFiles(['unit'])
  const run = grouped(files, folder).flatMap((file) =>
    file.startsWith(folder)
      ? [...readFileSync(file, 'utf8').matchAll(/^import '.*\/(test\/unit\/.*)'$/gm)].map(([, name]) => name)
      : [file],
  )
  assert.ok(files.length > 100)
  assert.deepEqual(run.sort(), files.sort())
})

test('no test is run again, and a failure that a helper declares is one', (t) => {
  const folder = ownFolder(t, 'runner')
  const write = (/** @type {string} */ name, /** @type {string} */ text) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const again = join(folder, 'again')
  write(
    'helper.js',
    "exports.failing = () => require('node:test')('declared in a helper', () => { throw new Error('always') })",
  )
  const files = [
    write(
      'first.test.js',
      `const { existsSync, writeFileSync } = require('node:fs')
       require('node:test')('fails the first time', () => {
         if (existsSync('${folder}/seen')) writeFileSync('${again}', '')
         else { writeFileSync('${folder}/seen', ''); throw new Error('first') }
       })`,
    ),
    write('second.test.js', "require('./helper.js').failing()"),
  ]
  const runner = fileURLToPath(new URL('../../scripts/test.js', import.meta.url))
  const { status, stdout } = spawnSync(process.execPath, [runner, ...files], {
    encoding: 'utf8',
    env: testEnvironment(process.env),
  })
  assert.equal(status, 1, stdout)
  assert.match(stdout, /fail 2$/m)
  assert.ok(!existsSync(again))
})
