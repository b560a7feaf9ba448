// What `npm test` runs: node scripts/test.js [test file...]
// The last lines on stdout are the summary of node's test runner; the coverage goes in front of it.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

const projectFolder = fileURLToPath(new URL('..', import.meta.url))
const testFolders = ['unit', 'contract', 'integration', 'browser']
const testTimeoutMs = 600_000 // of a file on Node 20, of a test from 22 on
const silenceLimitMs = 660_000 // a file whose tests are over but which does not end: no other limit holds there
// Most of the time they wait for seconds to pass.
const filesAtOnce = 3
const coverageFolder = join('coverage', 'v8')
const covered = ['lib/**', 'charts/**', 'producer.js', 'consumer.js', 'settings.js']
const runsElsewhere = 'lib/report/page/script.js' // in a browser

/**
 * The environment of the programs under test: no target and no option of whoever runs the tests.
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
export function testEnvironment(env) {
  const foreign = /^(REDIS|VALKEY|MILLRACE(?!_PEERS$))|^SORTED_SET_CONTAINS_ACTUAL_VALUE$|^NODE_TEST_CONTEXT$/
  const kept = Object.entries(env).filter(([name]) => !foreign.test(name))
  return { ...Object.fromEntries(kept), MILLRACE_NO_DOTENV: '1' }
}

/**
 * Cuts the closing summary off the lines of node's test runner as they pass.
 * @param {(line: string) => void} pass takes every line before the summary
 */
export function summaryHolder(pass) {
  /** @type {string[]} */
  let held = []
  return {
    /** @param {string} line */
    take(line) {
      if (/^(ℹ|#) tests \d+$/.test(stripVTControlCharacters(line))) {
        for (const earlier of held) pass(earlier) // of a runner that a test started
        held = [line]
      } else if (held.length > 0) held.push(line)
      else pass(line)
    },
    summary: () => held,
  }
}

/** @param {string[]} files */
async function testAll(files) {
  const env = testEnvironment(process.env)
  const whole = files.length === 0
  const lintPassed = !whole || stage('lint', ['@biomejs/biome/bin/biome', 'check'], env)
  const typesPassed =
    !whole ||
    (stage('types', ['typescript/bin/tsc'], env) &&
      stage('types of the page', ['typescript/bin/tsc', '-p', join('lib', 'report', 'page')], env))
  if (whole) rmSync(join(projectFolder, coverageFolder), { recursive: true, force: true })
  const started = performance.now()
  const { passed, summary } = await runTests(whole ? testFiles() : files, env, whole)
  const testsMs = performance.now() - started
  const coveragePassed = !whole || stage('coverage', coverageCommand(), env)
  tell('tests', passed, testsMs)
  for (const line of summary) print(line)
  return lintPassed && typesPassed && passed && coveragePassed
}

/**
 * @param {string} name
 * @param {string[]} command a program in node_modules and its arguments
 * @param {NodeJS.ProcessEnv} env
 */
function stage(name, [program, ...args], env) {
  const started = performance.now()
  const { status } = spawnSync(process.execPath, [join('node_modules', program), ...args], {
    cwd: projectFolder,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  tell(name, status === 0, performance.now() - started)
  return status === 0
}

/**
 * @param {string} name
 * @param {boolean} passed
 * @param {number} tookMs
 */
function tell(name, passed, tookMs) {
  print(`${passed ? 'passed' : 'FAILED'}: ${name} (${(tookMs / 1000).toFixed(1)} s)`)
}

function testFiles() {
  const folders = readdirSync(join(projectFolder, 'test')).filter((name) => testFolders.includes(name))
  const files = folders.flatMap((folder) =>
    readdirSync(join(projectFolder, 'test', folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      join('test', folder, name),
    ),
  )
  return files.filter((name) => name.endsWith('.test.js')).sort()
}

/**
 * No test is run again: one that passes only the second time is broken.
 * @param {string[]} files
 * @param {NodeJS.ProcessEnv} env
 * @param {boolean} coverage
 */
async function runTests(files, env, coverage) {
  // A private one: programs under test must not attach to servers that the user is running.
  const runtimeDir = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  const options = [
    '--test',
    `--test-concurrency=${filesAtOnce}`,
    `--test-timeout=${testTimeoutMs}`,
    '--test-reporter=spec',
  ]
  const runner = spawn(process.execPath, [...options, ...files], {
    cwd: projectFolder,
    env: {
      ...env,
      XDG_RUNTIME_DIR: runtimeDir,
      ...(coverage && { NODE_V8_COVERAGE: join(projectFolder, coverageFolder) }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => runner.once('close', resolve))
  const holder = summaryHolder(print)
  const silence = setTimeout(() => runner.kill(), silenceLimitMs)
  for await (const line of createInterface({ input: runner.stdout })) {
    silence.refresh()
    holder.take(line)
  }
  const code = await ended
  clearTimeout(silence)
  rmSync(runtimeDir, { recursive: true, force: true })
  return { passed: code === 0 && files.length > 0, summary: holder.summary() }
}

function coverageCommand() {
  return [
    ...['c8/bin/c8.js', 'report', '--temp-directory', coverageFolder, '--clean', 'false', '--all'],
    ...covered.flatMap((pattern) => ['--include', pattern]),
    ...['--exclude', runsElsewhere],
    ...['--reporter', 'text', '--reporter', 'text-summary'],
  ]
}

/** @param {string} line */
function print(line) {
  process.stdout.write(`${line}\n`)
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  process.exitCode = (await testAll(process.argv.slice(2))) ? 0 : 1
