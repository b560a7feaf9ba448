// docs/examples/container: the image is built, and is run as it is, on a base that has Node and no shell.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { testEnvironment } from '../../scripts/test.js'
import { peer } from '../helpers/peers.js'
import { oddIn, ownFolder } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

/** @import { SpawnSyncOptions } from 'node:child_process' */

const root = fileURLToPath(new URL('../..', import.meta.url))
const mostBytes = 120e6

/** @param {string} program @param {string[]} args @param {SpawnSyncOptions} [more] */
const ran = (program, args, more) => {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    timeout: 400_000,
    maxBuffer: 64e6,
    env: { ...testEnvironment(process.env), NODE_V8_COVERAGE: undefined },
    ...more,
    encoding: 'utf8',
  })
  return { status, stdout: String(stdout).trim(), stderr: `${error ?? ''}${stderr}` }
}

/** @param {string} program @param {string[]} args @param {SpawnSyncOptions} [more] */
const worked = (program, args, more) => {
  const { status, stdout, stderr } = ran(program, args, more)
  assert.equal(status, 0, `${program} ${args.join(' ')}: ${stderr}${stdout.slice(-4000)}`)
  return stdout
}

/** A program of this machine with the libraries that it loads, in a folder that becomes a root. @param {string} to @param {string} path */
const addProgram = (to, path) => {
  const libraries = worked('ldd', [path]).match(/(?<=\s)\/\S+/g) ?? []
  for (const file of [path, ...libraries]) {
    const place = join(to, file)
    mkdirSync(dirname(place), { recursive: true })
    cpSync(file, place, { dereference: true })
  }
}

/** What a base of the image has: Node. @param {string} folder */
const nodeRoot = (folder) => {
  mkdirSync(join(folder, 'tmp'), { recursive: true })
  // As every root has them: /bin and /lib are those of /usr.
  for (const name of ['bin', 'lib', 'lib64']) {
    mkdirSync(join(folder, 'usr', name), { recursive: true })
    symlinkSync(`usr/${name}`, join(folder, name))
  }
  addProgram(folder, process.execPath)
  if (process.execPath !== '/usr/bin/node') symlinkSync(process.execPath, join(folder, 'usr/bin/node'))
  // Debian's own Node has some of its modules there.
  if (existsSync('/usr/share/nodejs'))
    cpSync('/usr/share/nodejs', join(folder, 'usr/share/nodejs'), { recursive: true })
  return folder
}

/** What builds it has npm and a shell besides. @param {string} folder */
const npmRoot = (folder) => {
  nodeRoot(folder)
  for (const path of ['/bin/sh', '/usr/bin/env', '/bin/mkdir']) addProgram(folder, path)
  const npm = join(worked('npm', ['root', '--global']), 'npm')
  cpSync(npm, join(folder, 'usr/lib/node_modules/npm'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'usr/bin/npm'))
  const own = process.env.NODE_EXTRA_CA_CERTS
  if (own) cpSync(own, join(folder, 'certificates.pem'), { dereference: true })
  return folder
}

test('the image: built, below 120 MB beside Node, run without root and without a shell', async (t) => {
  if (process.getuid?.() !== 0 || spawnSync('buildah', ['--version']).status !== 0) {
    const message = 'building needs buildah, and root: apt-get install buildah'
    assert.notEqual(process.env.CI, 'true', message)
    return t.skip(message)
  }
  const home = ownFolder(t, 'container')
  const { host, port, password } = await startServer(t)
  const storage = ['--root', join(home, 'layers'), '--runroot', join(home, 'run'), '--storage-driver', 'vfs']
  const buildah = (/** @type {string[]} */ ...args) => worked('buildah', [...storage, ...args])
  const imageOf = (/** @type {string} */ name, /** @type {string} */ folder, /** @type {string[]} */ env) => {
    const container = buildah('from', 'scratch')
    buildah('add', '--quiet', container, folder, '/')
    buildah('config', ...env.flatMap((one) => ['--env', one]), container)
    buildah('commit', '--quiet', '--rm', container, `localhost/${name}`)
  }
  imageOf('node', nodeRoot(join(home, 'node')), ['PATH=/usr/bin'])
  imageOf('npm', npmRoot(join(home, 'npm')), [
    'PATH=/usr/bin',
    'npm_config_prefer_offline=true',
    'NODE_EXTRA_CA_CERTS=/certificates.pem',
  ])
  const context = join(home, 'context')
  cpSync(join(root, 'docs/examples/container'), context, { recursive: true })
  worked('npm', ['pack', '--silent', '--pack-destination', context], { cwd: root })
  // The cache of npm spares it most of what it would fetch.
  const cache = worked('npm', ['config', 'get', 'cache'])
  mkdirSync(cache, { recursive: true })
  const bases = ['BUILD=localhost/npm', 'BASE=localhost/node'].flatMap((one) => ['--build-arg', one])
  const build = ['build', '--isolation', 'chroot', '--pull=never', '--volume', `${cache}:/root/.npm`]
  const built = ran('buildah', [...storage, ...build, ...bases, '-t', 'localhost/millrace', context])
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENOTCACHED/.test(built.stderr) && !process.env.CI)
    return t.skip('the packages that it needs cannot be fetched')
  assert.equal(built.status, 0, built.stderr)

  const { OCIv1 } = JSON.parse(buildah('inspect', '--type', 'image', 'localhost/millrace'))
  const { User, Entrypoint } = OCIv1.config
  assert.match(User, /^[1-9]\d+:[1-9]\d+$/)
  const container = buildah('from', '--pull-never', 'localhost/millrace')
  const place = buildah('mount', container)
  const sizeOf = (/** @type {string} */ folder) => Number(worked('du', ['-sk', folder]).split('\t')[0]) * 1024
  const bytes = sizeOf(place) - sizeOf(join(home, 'node'))
  assert.ok(bytes > 20e6 && bytes < mostBytes, `${bytes} bytes`)
  assert.deepEqual(readdirSync(join(place, 'usr/bin')), readdirSync(join(home, 'node/usr/bin')), 'no shell')

  const line = ['write', '--host', host, '--port', String(port), '-q', '300', '--duration', '2s']
  const run = ['run', '--isolation', 'chroot', '--env', `REDIS_PASSWORD=${password}`, container, '--']
  const words = [...storage, ...run, ...Entrypoint, ...line, '--run', 'one', '--json']
  const { status, stdout, stderr } = ran('buildah', words)
  assert.match(stdout, /^\{/, `${status}: ${stderr}`)
  assert.deepEqual(oddIn(JSON.parse(stdout)), [])
  assert.ok(existsSync(join(place, 'results/one/report.html')), stderr)
})

test('hadolint finds nothing in the Dockerfile', (t) => {
  const hadolint = peer(t, 'hadolint')
  if (!hadolint) return
  const { status, stdout, stderr } = ran(hadolint, [join(root, 'docs/examples/container/Dockerfile')])
  assert.equal(status, 0, stdout + stderr)
})
