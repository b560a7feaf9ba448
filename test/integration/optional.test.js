// Without the optional packages everything runs but pictures and --otlp, and says so in a line.
import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startChild } from '../../lib/child.js'
import { testEnvironment } from '../../scripts/test.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const { optionalDependencies, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const optional = Object.keys(optionalDependencies)

/** This version as `npm ci --omit=optional` leaves it. */
const withoutOptional = () => {
  const home = mkdtempSync(join(tmpdir(), 'millrace-optional-'))
  mkdirSync(join(home, 'node_modules'), { recursive: true })
  for (const name of [
    'package.json',
    'settings.js',
    'producer.js',
    'consumer.js',
    'lib',
    'lua',
    'charts',
    'scripts',
  ])
    cpSync(join(root, name), join(home, name), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (
      name.startsWith('.') ||
      name === '@opentelemetry' ||
      optional.some((each) => each.split('/')[0] === name)
    )
      continue
    symlinkSync(join(root, 'node_modules', name), join(home, 'node_modules', name))
  }
  return home
}

/** @param {string} home @param {string[]} words @returns {Promise<{ code: number | null, stdout: string, stderr: string }>} */
const ran = (home, words) =>
  new Promise((resolve, reject) => {
    const [program, ...args] = words
    const child = startChild(join(home, program), args, {
      env: testEnvironment(process.env),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const texts = { stdout: '', stderr: '' }
    for (const stream of /** @type {const} */ (['stdout', 'stderr']))
      child[stream].setEncoding('utf8').on('data', (part) => {
        texts[stream] += part
      })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...texts }))
  })

describe('without the optional packages', () => {
  /** @type {string} */
  let home
  before(() => {
    home = withoutOptional()
  })
  after(() => rmSync(home, { recursive: true, force: true }))

  test('what draws pictures and what speaks OTLP is optional, CloudWatch is not', () => {
    assert.ok(['echarts', '@resvg/resvg-js'].every((name) => optional.includes(name)))
    assert.ok(optional.some((name) => name.startsWith('@opentelemetry/')))
    assert.ok(Object.hasOwn(dependencies, '@aws-sdk/client-cloudwatch'))
  })

  test('a run has its page without pictures, and a line that says so', async () => {
    const out = join(home, 'results')
    const run = await ran(home, ['producer.js', '-q', '50', '--duration', '1s', '--out', out, '--run', 'one'])
    // 4: this machine was too busy for the rate.
    assert.ok(run.code === 0 || run.code === 4, run.stderr)
    const lines = `${run.stdout}\n${run.stderr}`.split('\n').filter((line) => /no pictures/.test(line))
    assert.equal(lines.length, 1, run.stderr)
    assert.match(lines[0], /echarts is not installed, which is optional/)
    const page = readFileSync(join(out, 'one', 'report.html'), 'utf8')
    assert.match(page, /<dl class="highlights/)
    assert.doesNotMatch(page, /<figure/)
    assert.equal(existsSync(join(out, 'one', 'charts')), false)

    const report = await ran(home, ['scripts/report.js', join(out, 'one')])
    assert.equal(report.code, 0, report.stderr)
    assert.match(report.stderr, /^no pictures: echarts and @resvg\/resvg-js are not installed[^\n]*\n$/)
    assert.ok(existsSync(join(out, 'one', 'report.md')))
  })

  test('--otlp and --chart name what is missing', async () => {
    const otlp = await ran(home, [
      'producer.js',
      '-q',
      '50',
      '--duration',
      '1s',
      '--otlp',
      'http://127.0.0.1:9',
    ])
    assert.equal(otlp.code, 2, otlp.stderr)
    assert.match(
      otlp.stderr,
      /^--otlp http:\/\/127\.0\.0\.1:9: the optional packages @opentelemetry\/\* are not/,
    )
  })
})
