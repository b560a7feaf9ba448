// Without its optional packages everything runs but pictures and --cloudwatch, which say so in a line.
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ownFolder, startProgram } from '../helpers/programs.js'
import { suiteScope } from '../helpers/servers.js'

/** @import { TestContext } from 'node:test' */

const root = fileURLToPath(new URL('../../', import.meta.url))
const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
// A clone alone draws with the whole library.
const optional = Object.keys({ ...about.optionalDependencies, ...about.peerDependencies, echarts: '' })
const scopes = new Set(optional.map((name) => name.split('/')[0]))

const ofTheVersion = 'package.json settings.js producer.js consumer.js lib lua charts scripts'.split(' ')

describe('without the optional packages', { concurrency: 3 }, () => {
  const home = ownFolder(suiteScope(), 'optional')
  // As `npm ci --omit=dev --omit=optional` leaves it.
  before(() => {
    mkdirSync(join(home, 'node_modules'))
    for (const name of ofTheVersion)
      cpSync(join(root, name), join(home, name), {
        recursive: true,
        filter: (path) => !path.startsWith(join(root, 'lib/report/echarts.')),
      })
    for (const name of readdirSync(join(root, 'node_modules')))
      if (!name.startsWith('.') && !scopes.has(name))
        symlinkSync(join(root, 'node_modules', name), join(home, 'node_modules', name))
  })
  /** @param {TestContext} t @param {string} program @param {string | string[]} line */
  const ran = (t, program, line) =>
    startProgram(t, join(home, program), line, { out: false, pages: true }).ended

  test('what one option needs is an optional peer of the package, and installed in a clone', () => {
    assert.deepEqual(Object.keys(about.peerDependenciesMeta), Object.keys(about.peerDependencies))
    for (const [name, { optional: isOptional }] of Object.entries(about.peerDependenciesMeta)) {
      assert.equal(isOptional, true, name)
      assert.ok(Object.hasOwn(about.devDependencies, name), name)
    }
    assert.ok(optional.includes('@aws-sdk/client-cloudwatch'))
  })

  test('a run has its page without pictures, and a line that says so', async (t) => {
    const out = join(home, 'results')
    const run = await ran(t, 'producer.js', `-q 50 --duration 1s --out ${out} --run one`)
    // 4: this machine was too busy for the rate.
    assert.ok(run.code === 0 || run.code === 4, run.stderr)
    const lines = `${run.stdout}\n${run.stderr}`.split('\n').filter((line) => /no pictures/.test(line))
    assert.equal(lines.length, 1, run.stderr)
    assert.match(lines[0], /echarts is not installed \(npm ci adds it\)/)
    const page = readFileSync(join(out, 'one', 'report.html'), 'utf8')
    assert.match(page, /<dl class="highlights/)
    assert.doesNotMatch(page, /<figure/)
    assert.equal(existsSync(join(out, 'one', 'charts')), false)

    const report = await ran(t, 'scripts/report.js', join(out, 'one'))
    assert.equal(report.code, 0, report.stderr)
    assert.match(report.stderr, /^no pictures: echarts is not installed[^\n]*\n$/)
    assert.ok(existsSync(join(out, 'one', 'report.md')))
  })

  test('an experiment leaves out the runs of a driver that is not installed, with the line that installs it', async (t) => {
    const file = join(home, 'drivers.json')
    const cell = { name: 'reads', consumer: { driver: 'node-redis' }, variants: ['sockets'] }
    const variants = ['socket', 'iovalkey'].map((driver) => ({ name: `${driver}s`, options: { driver } }))
    const experiment = {
      id: 'drivers',
      question: 'What does a driver cost?',
      variants,
      cells: [{ name: 'writes' }, cell],
    }
    writeFileSync(file, JSON.stringify({ ...experiment, options: { quantity: 20, chunks: 2 } }))
    const times = '--seconds 1 --warm-up 0 --repeat 1'
    const out = join(home, 'out')
    const { code, stderr } = await ran(t, 'scripts/experiment.js', `run ${file} ${times} --out ${out}`)
    // 4: this machine was too busy for the rate.
    assert.ok(code === 0 || code === 4, stderr)
    for (const [run, words] of [
      ['writes (iovalkeys)', '--driver iovalkey needs optional packages: npm install iovalkey@0 '],
      ['reads (sockets)', '--driver node-redis needs optional packages: npm install redis@6 '],
    ])
      assert.ok(stderr.includes(`${run}, round 1: not run: ${words}`), stderr)
    assert.match(stderr, /writes \(sockets\), round 1: \d/)
  })

  test('--cloudwatch names what to install, before anything is begun', async (t) => {
    const out = join(home, 'none')
    const line = `-q 50 --host 127.0.0.1 --port 9 --out ${out} --cloudwatch`
    const { code, stderr } = await ran(t, 'producer.js', line)
    assert.equal(code, 2, stderr)
    assert.match(
      stderr,
      /^--cloudwatch needs optional packages: npm install @aws-sdk\/client-cloudwatch@3 \(with -g if Millrace has it\)\n$/,
    )
    assert.ok(!existsSync(out) || readdirSync(out).length === 0)
    const added = await ran(t, 'scripts/cloudwatch.js', out)
    assert.equal(added.code, 2, added.stderr)
    assert.match(added.stderr, /needs optional packages: npm install @aws-sdk\/client-cloudwatch@3 /)
  })
})
