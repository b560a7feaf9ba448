// What `npm start` and `npm test` need, put in place by npm's hooks. It runs before node_modules exists, so it
// imports nothing that does. Silent and offline when all is there.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ExitCode, TargetError } from '../lib/base/errors.js'
import { findServerBinary } from '../lib/servers/embedded-binary.js'

/** @typedef {{ packages: Record<string, { version?: string, integrity?: string, optional?: boolean }> }} Lock */

const projectFolder = fileURLToPath(new URL('..', import.meta.url))

/**
 * True when what npm noted down in node_modules is what the lock file asks for.
 * @param {Lock} wanted package-lock.json
 * @param {Lock | undefined} installed node_modules/.package-lock.json
 */
export function isInstalled(wanted, installed) {
  return Object.entries(wanted.packages).every(([path, { version, integrity, optional }]) => {
    if (path === '') return true
    const found = installed?.packages[path]
    if (!found) return optional === true && installed !== undefined // made for another platform
    return found.version === version && found.integrity === integrity
  })
}

/**
 * The commands that install a server with this machine's package manager, to be tried in order until one
 * succeeds; empty when there is none or it is not permitted.
 * @param {{ has: (command: string) => boolean, isRoot: boolean, maySudo: () => boolean }} machine
 * @returns {string[][]}
 */
export function installCommands({ has, isRoot, maySudo }) {
  if (has('brew') && !isRoot) return [['brew', 'install', 'redis']]
  const commands = systemCommands(has)
  if (commands.length === 0 || isRoot) return commands
  return maySudo() ? commands.map((command) => ['sudo', '-n', ...command]) : []
}

/** @param {(command: string) => boolean} has @returns {string[][]} */
function systemCommands(has) {
  // redis-tools holds the server program too (as redis-check-rdb) and, other than redis-server, starts no service.
  const apt =
    'apt-get -q -o DPkg::Lock::Timeout=60 update && ' +
    'DEBIAN_FRONTEND=noninteractive apt-get -qy -o DPkg::Lock::Timeout=60 install --no-install-recommends redis-tools'
  if (has('apt-get')) return [['sh', '-c', apt]]
  const rpm = ['dnf', 'yum'].find(has)
  return rpm ? ['valkey', 'redis6', 'redis'].map((name) => [rpm, '-qy', 'install', name]) : []
}

function setUp() {
  if (
    !isInstalled(
      lockFile('package-lock.json') ?? { packages: {} },
      lockFile('node_modules/.package-lock.json'),
    )
  ) {
    say('installing the packages of package-lock.json (npm ci)')
    if (!runs(npm('ci', '--include=dev', '--no-audit', '--no-fund'))) return ExitCode.fault
  }
  return setUpServer()
}

function setUpServer() {
  try {
    findServerBinary()
    return ExitCode.done
  } catch (error) {
    if (!(error instanceof TargetError)) throw error
    const commands = installCommands({
      has: (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0,
      isRoot: process.getuid?.() === 0,
      maySudo: () => spawnSync('sudo', ['-n', 'true']).status === 0,
    })
    if (commands.length > 0) say('installing a Redis server with the package manager')
    if (!commands.some(runs)) return refuse(error)
  }
  try {
    findServerBinary()
    return ExitCode.done
  } catch (error) {
    return refuse(/** @type {Error} */ (error))
  }
}

/** @param {Error} error */
function refuse(error) {
  say(error.message)
  return ExitCode.target
}

/** @param {string} path @returns {Lock | undefined} */
function lockFile(path) {
  const file = `${projectFolder}/${path}`
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

/** The npm that runs this hook, else the one in PATH. @param {...string} args */
function npm(...args) {
  const running = process.env.npm_execpath
  return running?.endsWith('.js') ? [process.execPath, running, ...args] : ['npm', ...args]
}

/** Runs a command with its words on stderr: stdout belongs to the program that comes next. @param {string[]} command */
function runs([program, ...args]) {
  return spawnSync(program, args, { cwd: projectFolder, stdio: ['ignore', 2, 2] }).status === 0
}

/** @param {string} line */
function say(line) {
  process.stderr.write(`set-up: ${line}\n`)
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  process.exitCode = setUp()
