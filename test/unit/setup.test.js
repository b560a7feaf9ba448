import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { installCommands, isInstalled } from '../../scripts/setup.js'
import { grouped, summaryHolder, testEnvironment, testFiles } from '../../scripts/test.js'

const packageA = { version: '1.0.0', integrity: 'sha512-a' }
const foreign = { version: '2.0.0', integrity: 'sha512-f', optional: true }

/** @param {Record<string, object>} packages */
const lock = (packages) => ({ packages })

/** @type {[string, { packages: Record<string, object> }, { packages: Record<string, object> } | undefined, boolean][]} */
const locks = [
  ['the same', lock({ '': {}, 'node_modules/a': packageA }), lock({ 'node_modules/a': packageA }), true],
  ['no node_modules', lock({ 'node_modules/a': packageA }), undefined, false],
  ['only optional packages and no node_modules', lock({ 'node_modules/f': foreign }), undefined, false],
  ['a package missing', lock({ 'node_modules/a': packageA }), lock({}), false],
  [
    'another version',
    lock({ 'node_modules/a': packageA }),
    lock({ 'node_modules/a': { ...packageA, version: '1.0.1' } }),
    false,
  ],
  [
    'other contents',
    lock({ 'node_modules/a': packageA }),
    lock({ 'node_modules/a': { ...packageA, integrity: 'x' } }),
    false,
  ],
  ['made for another platform', lock({ 'node_modules/f': foreign }), lock({}), true],
]

for (const [name, wanted, installed, expected] of locks)
  test(`packages are in place: ${name}: ${expected}`, () =>
    assert.equal(isInstalled(wanted, installed), expected))

/** @type {[string, string[], { isRoot: boolean, sudo: boolean }, (string | RegExp)[]][]} */
const machines = [
  [
    'Debian as root',
    ['apt-get'],
    { isRoot: true, sudo: false },
    [/^sh -c apt-get .* install .* redis-tools$/],
  ],
  [
    'Debian with sudo',
    ['apt-get'],
    { isRoot: false, sudo: true },
    [/^sudo -n sh -c apt-get .* redis-tools$/],
  ],
  ['Debian without sudo', ['apt-get'], { isRoot: false, sudo: false }, []],
  [
    'Amazon Linux',
    ['dnf', 'yum'],
    { isRoot: true, sudo: false },
    ['dnf -qy install valkey', 'dnf -qy install redis6', 'dnf -qy install redis'],
  ],
  ['macOS', ['brew'], { isRoot: false, sudo: false }, ['brew install redis']],
  ['brew as root, which it refuses', ['brew'], { isRoot: true, sudo: false }, []],
  ['no package manager', [], { isRoot: true, sudo: false }, []],
]

for (const [name, commands, { isRoot, sudo }, expected] of machines)
  test(`a server is installed: ${name}`, () => {
    const found = installCommands({
      has: (command) => commands.includes(command),
      isRoot,
      maySudo: () => sudo,
    })
    const lines = found.map((command) => command.join(' '))
    assert.equal(lines.length, expected.length)
    for (const [i, line] of lines.entries()) {
      const wanted = expected[i]
      if (wanted instanceof RegExp) assert.match(line, wanted)
      else assert.equal(line, wanted)
    }
  })

test('set-up with all in place says nothing and touches no network', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/setup.js'], {
    encoding: 'utf8',
    env: { ...process.env, npm_execpath: '/nowhere/npm.js' }, // npm ci would fail
  })
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' })
})

test('programs under test get no target and no option from outside', () => {
  const env = testEnvironment({
    PATH: '/bin',
    CI: 'true',
    REDIS_URL: 'redis://example.invalid',
    REDIS_HOST: 'example.invalid',
    REDISCLI_AUTH: 'x',
    MILLRACE_QUANTITY: '5',
    SORTED_SET_CONTAINS_ACTUAL_VALUE: 'true',
  })
  assert.deepEqual(env, { PATH: '/bin', CI: 'true', MILLRACE_NO_DOTENV: '1', MILLRACE_IDLE_COST: 'never' })
})

test('the closing summary is held back, a summary that a test printed is not', () => {
  /** @type {string[]} */
  const passed = []
  const holder = summaryHolder((line) => passed.push(line))
  const inner = ['ℹ tests 1', 'ℹ pass 1']
  const closing = ['\u001B[34mℹ tests 2\u001B[39m', 'ℹ pass 1', 'ℹ fail 1', '', '✖ failing tests:', 'why']
  for (const line of ['✔ one', ...inner, '✖ two', ...closing]) holder.take(line)
  assert.deepEqual(passed, ['✔ one', ...inner, '✖ two'])
  assert.deepEqual(holder.summary(), closing)
})

test('each file of unit tests is in one process, alone or with others', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-groups-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
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
  const folder = mkdtempSync(join(tmpdir(), 'millrace-runner-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const write = (/** @type {string} */ name, /** @type {string} */ text) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
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
