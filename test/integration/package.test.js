// What a user installs: the package that npm makes of this folder, in an empty one.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { commands } from '../../lib/cli/commands.js'
import { runPictures } from '../../lib/report/charts.js'
import { svgOf } from '../../lib/report/draw.js'
import { withOwnNames } from '../../scripts/readme/picture-file.js'
import { testEnvironment } from '../../scripts/test.js'
import { peer } from '../helpers/peers.js'
import { oddIn, ownFolder } from '../helpers/programs.js'
import { sampleRecord } from '../helpers/sample-record.js'
import { suiteScope } from '../helpers/servers.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const limitMs = 300_000
const mostBytes = 45e6
// npm could not reach its registry, and its cache lacks a package.
const isOffline = (/** @type {string} */ log) =>
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTCACHED|ENETUNREACH/.test(log)

/** What a folder takes of the disk. @param {string} folder */
const bytesIn = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => 512 * lstatSync(join(folder, name)).blocks)
    .reduce((sum, bytes) => sum + bytes, 0)

const home = ownFolder(suiteScope(), 'package')
/** @param {string} program @param {string[]} args */
const run = (program, args, cwd = home) =>
  spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    timeout: limitMs,
    env: {
      ...testEnvironment(process.env),
      ...{ XDG_RUNTIME_DIR: home, NODE_V8_COVERAGE: undefined, NO_COLOR: '1' },
    },
  })
/** @type {string} */
let archive

before(() => {
  const packed = run('npm', ['pack', '--silent', '--pack-destination', home], root)
  assert.equal(packed.status, 0, packed.stderr)
  archive = readdirSync(home).find((name) => name.endsWith('.tgz')) ?? assert.fail('no package')
})

test('npm install of the package in an empty folder', (t) => {
  const options = '--prefer-offline --no-audit --no-fund --prefix'.split(' ')
  const installed = run('npm', ['install', ...options, home, join(home, archive)])
  if (installed.status !== 0 && isOffline(installed.stderr) && !process.env.CI)
    return t.skip('the packages that it needs cannot be fetched')
  assert.equal(installed.status, 0, installed.stderr)

  const folder = join(home, 'node_modules/millrace')
  const bytes = bytesIn(join(home, 'node_modules'))
  assert.ok(bytes < mostBytes, `${bytes} bytes`)
  for (const name of ['@aws-sdk', '@smithy', 'echarts'])
    assert.equal(existsSync(join(home, 'node_modules', name)), false, name)
  // Its part of the chart library draws what the whole draws.
  const by = join(folder, 'lib/report/echarts.min.cjs')
  for (const picture of runPictures(sampleRecord()))
    assert.equal(withOwnNames(svgOf(picture, { by })), withOwnNames(svgOf(picture)), picture.name)
  const millrace = (/** @type {string} */ line) =>
    run(join(home, 'node_modules/.bin/millrace'), line.split(' '))
  // Each module is there, with all that it imports.
  const list = pathToFileURL(join(folder, 'lib/cli/commands.js'))
  const script = `import { commandNamed } from '${list}'
    for (const name of process.argv.slice(1)) console.log(JSON.stringify((await commandNamed(name)).about.does))`
  const names = Object.keys(commands)
  const loaded = run(process.execPath, ['--input-type=module', '-e', script, ...names])
  assert.equal(loaded.status, 0, loaded.stderr)
  assert.equal(loaded.stdout.trim().split('\n').length, names.length)
  assert.match(millrace('write --help').stdout, /^Usage: millrace write /m)
  const written = millrace('write -q 500 --duration 2 --stamp --run first --json --log warn')
  assert.ok([0, 4].includes(Number(written.status)), written.stderr)
  assert.deepEqual(oddIn(JSON.parse(written.stdout)), [])
  assert.ok(existsSync(join(home, 'results/first/report.html')))
  const dry = millrace('write -f results/first --dry-run')
  assert.equal(dry.status, 0, dry.stderr)
  assert.match(dry.stdout, /SETEX item:1 3 <128 B>/)
  assert.match(millrace('report results/first --out pages').stdout, /files in pages; report\.html/)
  for (const end of ['.svg', '-dark.png']) assert.ok(existsSync(join(home, `pages/charts/cpu${end}`)), end)
  assert.match(readFileSync(join(home, 'pages/report.html'), 'utf8'), /<figure[\s\S]* id="echarts">/)
  // What one option needs is not installed with it, but said.
  const missing = millrace('write --host 127.0.0.1 --port 9 --cloudwatch')
  assert.equal(missing.status, 2, missing.stderr)
  assert.match(missing.stderr, /^--cloudwatch needs optional packages: npm install @aws-sdk\/\S+@3 [^\n]*\n$/)
  assert.match(millrace('experiment list').stdout, /^sorted-set|^list /m)
})

test('publint and attw find nothing in the package', (t) => {
  const publint = peer(t, 'publint')
  const attw = publint && peer(t, 'attw')
  if (!attw) return
  const linted = run(publint, ['run', '--strict', `./${archive}`])
  assert.equal(linted.status, 0, linted.stdout)
  assert.match(linted.stdout, /All good!/)
  // There is no CommonJS side.
  const typed = run(attw, ['--profile', 'esm-only', '--format', 'json', `./${archive}`])
  assert.equal(typed.status, 0, `${typed.stdout.slice(0, 4000)}${typed.stderr}`)
  assert.equal(JSON.parse(typed.stdout).analysis.packageName, 'millrace')
})
