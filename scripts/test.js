// What `npm test` runs, in two minutes on two cores, and with --rest what `npm run test:all` runs besides:
// node scripts/test.js [--rest | test file...]
// stderr has a line for each file that ended; the last lines on stdout are the summary of node's test runner.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { startSharedServers } from './test/shared-servers.js'

const projectFolder = fileURLToPath(new URL('..', import.meta.url))
const quickFolders = ['unit', 'simulation', 'contract']
const restFolders = ['seeds', 'peers', 'integration', 'browser']
const testTimeoutMs = 1_800_000 // of a file on Node 20, of a test from 22 on
const silenceLimitMs = 660_000 // a file whose tests are over but which does not end: no other limit holds there
// With four that use a core, programs under test fall behind their rates.
const filesAtOnce = 3
const unitProcesses = 6
// Several checkers type what they share each for itself: 20 s of CPU instead of 10.
const tsc = ['typescript/bin/tsc', '--singleThreaded']

/**
 * The environment of the programs under test: no target and no option of whoever runs the tests.
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
export function testEnvironment(env) {
  const foreign = /^(REDIS|VALKEY|MILLRACE(?!_PEERS$))|^SORTED_SET_CONTAINS_ACTUAL_VALUE$|^NODE_TEST_CONTEXT$/
  const kept = Object.entries(env).filter(([name]) => !foreign.test(name))
  // It takes seconds, and a run that needs it says so.
  return {
    ...Object.fromEntries(kept),
    MILLRACE_NO_DOTENV: '1',
    MILLRACE_IDLE_COST: 'never',
    MILLRACE_LOG: 'json',
  }
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

/** @param {string[]} args test files; none: the quick ones, or with --rest the others */
async function testAll(args) {
  const env = testEnvironment(process.env)
  const isRest = args[0] === '--rest'
  const whole = isRest || args.length === 0
  const files = whole ? testFiles(isRest ? restFolders : quickFolders) : args
  const started = performance.now()
  // Beside the tests, which wait now and then; what they print comes when the tests are over.
  const stages = args.length > 0 ? [] : stagesOf(env)
  const { passed, summary } = await runTests(files, env, whole)
  const tookMs = performance.now() - started
  const ended = await Promise.all(stages)
  for (const { name, text, passed, tookMs } of ended) {
    process.stdout.write(text)
    tell(name, passed, tookMs)
  }
  tell('tests', passed, tookMs)
  for (const line of summary) print(line)
  return passed && ended.every((stage) => stage.passed)
}

/** @param {NodeJS.ProcessEnv} env */
const stagesOf = (env) => [
  stage('lint', ['@biomejs/biome/bin/biome', 'check'], env),
  stage('types', tsc, env),
  stage('types of the page', [...tsc, '-p', join('lib', 'report', 'page')], env),
]

/**
 * @param {string} name
 * @param {string[]} command a program in node_modules and its arguments
 * @param {NodeJS.ProcessEnv} env
 */
async function stage(name, [program, ...args], env) {
  const started = performance.now()
  const child = spawn(process.execPath, [join('node_modules', program), ...args], { cwd: projectFolder, env })
  let text = ''
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (/** @type {string} */ part) => {
      text += part
    })
  const code = await new Promise((resolve) => child.once('close', resolve))
  return { name, text, passed: code === 0, tookMs: performance.now() - started }
}

/** @param {string} name @param {boolean} passed @param {number} tookMs */
function tell(name, passed, tookMs) {
  print(`${passed ? 'passed' : 'FAILED'}: ${name} (${(tookMs / 1000).toFixed(1)} s)`)
}

// Begun first, since one of these begun last would run alone: what takes 22 s with others beside it, of the quick ones ten
// seconds. Files that mostly wait are between those that use a core, so that both cores are busy all the time.
const longest = `
  contract/queue simulation/fleet simulation/overload contract/readers contract/strategies unit/profile-cost
  unit/plan-nodes simulation/socket unit/readme contract/queries contract/documents
  integration/find-memory integration/find-fleet integration/fleet-faults integration/iam peers/plan integration/hostile-server
  integration/cache peers/queries seeds/bundles integration/durable
  integration/advice-limits integration/read-from integration/plan integration/other-applications
  integration/plan-mix integration/find browser/pages integration/fleet integration/acl integration/threads integration/container
  integration/topology-socket integration/server-errors integration/rates integration/topology-ioredis
  seeds/overload browser/live integration/starting-boxes integration/interrupt integration/action
  integration/consumer peers/driver-faults-half-open integration/topology-consumer integration/queue-kills
  integration/replica-readers integration/experiment seeds/fleet seeds/find peers/strategies
  integration/conductor integration/find-workloads integration/how-to-add integration/late-replicas
  integration/package integration/counters integration/cloudwatch integration/compare
  integration/advice-helps integration/fleet-experiment integration/queue-limits integration/fleet-control
  integration/queue-peers integration/answer-limit integration/safe-target peers/driver-faults-failover
  integration/secrets integration/profile browser/report integration/memory integration/tls seeds/socket
  integration/kills integration/snapshot integration/own-mix integration/confirmed integration/dashboard
  integration/pacing integration/results integration/bystander-thread integration/attached integration/plan-wire
  integration/choose integration/profile-live integration/api integration/own-steps peers/libraries
  integration/queries integration/report integration/node-sampler integration/strategies integration/lookup
  peers/driver-faults-slots integration/fleet-readers integration/fleet-options integration/bad-input
  integration/accounting integration/reshard integration/reshard-managed integration/producer integration/grafana
  integration/killed-writer integration/sentinel
`
  .split(/\s+/)
  .filter(Boolean)
// They take a third of a core and less: searches and calibrations in real time, limits that are waited for.
const waiting = `
  integration/find-memory integration/fleet-faults integration/find-fleet integration/choose integration/find
  integration/plan integration/memory integration/conductor integration/fleet-experiment integration/fleet-control
  integration/late-replicas peers/queries integration/answer-limit integration/cloudwatch integration/plan-wire
`
  .split(/\s+/)
  .filter(Boolean)
const fileOf = (/** @type {string} */ name) => join('test', `${name}.test.js`)
/** The place of a file: the longest first, then by name. @param {string} file */
const placeOf = (file) => {
  const place = longest.findIndex((name) => file === fileOf(name))
  return place < 0 ? longest.length : place
}

/**
 * Files that run beside each other, by how many at once: those that wait, and seeds, which take what others leave of the CPU; and
 * all others.
 * @param {readonly string[]} files
 */
export function lanesOf(files) {
  const waits = new Set(waiting.map(fileOf))
  const isBeside = (/** @type {string} */ file) => waits.has(file) || file.startsWith(join('test', 'seeds'))
  return [
    { atOnce: filesAtOnce, files: files.filter((file) => !isBeside(file)) },
    { atOnce: 1, files: files.filter(isBeside) },
  ]
}

/** @param {string[]} folders */
export function testFiles(folders) {
  const files = folders.flatMap((folder) =>
    readdirSync(join(projectFolder, 'test', folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      join('test', folder, name),
    ),
  )
  const tests = files.filter((name) => name.endsWith('.test.js'))
  const gone = [...longest, ...waiting].find(
    (name) => folders.includes(name.split('/')[0]) && !tests.includes(fileOf(name)),
  )
  if (gone) throw new Error(`scripts/test.js: there is no ${gone}`)
  return tests.sort().sort((a, b) => placeOf(a) - placeOf(b))
}

/**
 * Files of unit tests that share a process, since most take less time than the modules they load: a file that imports them.
 * @param {string[]} files
 * @param {string} folder
 */
export function grouped(files, folder) {
  const isShort = (/** @type {string} */ file) =>
    file.startsWith(join('test', 'unit')) && placeOf(file) === longest.length
  const short = files.filter(isShort)
  const groups = Array.from({ length: unitProcesses }, (_, place) => {
    const path = join(folder, `unit-${place + 1}-of-${unitProcesses}.js`)
    const members = short.filter((_, i) => i % unitProcesses === place)
    const imports = members.map((file) => `import '${pathToFileURL(join(projectFolder, file))}'\n`)
    writeFileSync(path, imports.join(''))
    return path
  })
  return [...files.filter((file) => !isShort(file)), ...(short.length > 0 ? groups : [])]
}

/**
 * No test is run again: one that passes only the second time is broken.
 * @param {string[]} files
 * @param {NodeJS.ProcessEnv} env
 * @param {boolean} sharing servers of all files; a few files start what they need
 */
async function runTests(files, env, sharing) {
  // A private one: programs under test must not attach to servers that the user is running.
  const runtimeDir = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  const shared = sharing ? await startSharedServers() : null
  const program = join(projectFolder, 'scripts', 'test', 'runner.js')
  const lanes = lanesOf(sharing ? grouped(files, runtimeDir) : files)
  const runner = spawn(
    process.execPath,
    [
      program,
      String(testTimeoutMs),
      ...lanes.flatMap(({ atOnce, files }) => [`--at-once=${atOnce}`, ...files]),
    ],
    {
      cwd: projectFolder,
      env: { ...env, XDG_RUNTIME_DIR: runtimeDir, ...shared?.env },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const ended = new Promise((resolve) => runner.once('close', resolve))
  const holder = summaryHolder(print)
  const silence = setTimeout(() => runner.kill(), silenceLimitMs)
  for await (const line of createInterface({ input: runner.stdout })) {
    silence.refresh()
    holder.take(line)
  }
  const code = await ended
  clearTimeout(silence)
  await shared?.close()
  rmSync(runtimeDir, { recursive: true, force: true })
  return { passed: code === 0 && files.length > 0, summary: holder.summary() }
}

/** @param {string} line */
function print(line) {
  process.stdout.write(`${line}\n`)
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  process.exitCode = (await testAll(process.argv.slice(2))) ? 0 : 1
