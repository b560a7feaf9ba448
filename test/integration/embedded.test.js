import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { TargetError } from '../../lib/base/errors.js'
import { processStart } from '../../lib/base/lock.js'
import { findEmbedded, startEmbedded } from '../../lib/servers/embedded.js'
import { findServerBinary } from '../../lib/servers/embedded-binary.js'
import {
  answering,
  baseConfig,
  freePorts,
  inServerGroup,
  spawnServer,
} from '../../lib/servers/embedded-servers.js'
import { until } from '../helpers/programs.js'
import { cli, portOf, startServer } from '../helpers/servers.js'
import { columns } from '../helpers/table.js'

/** @import { Embedded } from '../../lib/servers/embedded.js' */
/** @import { TestContext } from 'node:test' */
/** @import { ChildProcess } from 'node:child_process' */

const ownTmp = mkdtempSync(join(tmpdir(), 'millrace-test-'))
const stateDir = join(ownTmp, 'state')
const embeddedUrl = new URL('../../lib/servers/embedded.js', import.meta.url).href
const callersTmp = process.env.TMPDIR

before(() => {
  process.env.TMPDIR = ownTmp // so that whatever a test leaves behind is seen
})
after(() => {
  if (callersTmp === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = callersTmp
  rmSync(ownTmp, { recursive: true, force: true })
})

const serverFolders = () => readdirSync(ownTmp).filter((name) => name.startsWith('millrace-servers-'))

/** @param {Embedded} embedded */
const isGone = ({ nodes, dir }) =>
  nodes.every(({ pid }) => processStart(pid) === undefined) && !existsSync(dir)

/** @param {string} path */
const mode = (path) => statSync(path).mode & 0o777

/** @param {Embedded} embedded */
async function assertPrivate({ nodes, access, dir }) {
  for (const node of nodes) {
    const server = { ...node, ...access }
    assert.equal(await cli(server, 'CONFIG', 'GET', 'bind'), 'bind\n127.0.0.1')
    assert.equal(await cli(server, 'CONFIG', 'GET', 'save'), 'save')
    assert.equal(await cli(server, 'CONFIG', 'GET', 'appendonly'), 'appendonly\nno')
    assert.match(await cli({ host: node.host, port: node.port }, 'PING'), /NOAUTH/)
    if (existsSync('/proc/self'))
      assert.ok(!readFileSync(`/proc/${node.pid}/environ`, 'utf8').includes(access.password))
  }
  const commandLines = execFileSync('ps', ['-A', '-ww', '-o', 'command='], { encoding: 'utf8' })
  assert.ok(commandLines.includes(dir))
  assert.ok(!commandLines.includes(access.password))
  assert.equal(mode(dir), 0o700)
  for (const folder of readdirSync(dir)) assert.equal(mode(join(dir, folder, 'server.conf')), 0o600)
}

/**
 * A program that owns embedded servers, says so, and outlives a SIGINT.
 * @param {TestContext} t
 * @param {boolean} cluster
 * @returns {Promise<{ owner: ChildProcess, embedded: Embedded, nextLine(): Promise<string> }>}
 */
async function startOwner(t, cluster) {
  const program = `
    import { startEmbedded } from ${JSON.stringify(embeddedUrl)}
    const options = { cluster: ${cluster}, stateDir: ${JSON.stringify(stateDir)}, log: () => {} }
    const embedded = await startEmbedded(options)
    process.on('SIGINT', () => console.log('interrupted'))
    setInterval(() => {}, 1000)
    console.log(JSON.stringify(embedded))`
  const owner = spawn(process.execPath, ['--input-type=module', '-e', program], {
    detached: true, // a process group of its own, as a shell makes one
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => owner.kill('SIGKILL'))
  const lines = createInterface({ input: owner.stdout })[Symbol.asyncIterator]()
  const nextLine = async () => (await lines.next()).value
  return { owner, embedded: JSON.parse(await nextLine()), nextLine }
}

describe('a cluster', () => {
  /** @type {Awaited<ReturnType<typeof startEmbedded>>} */
  let cluster
  /** @type {string[]} */
  const logged = []
  before(async () => {
    cluster = await startEmbedded({ cluster: true, stateDir, log: (line) => logged.push(line) })
  })
  after(() => cluster?.close())

  test('has three masters with a replica each, all ready', async () => {
    assert.equal(cluster.nodes.length, 6)
    for (const node of cluster.nodes) {
      const server = { ...node, ...cluster.access }
      assert.match(await cli(server, 'CLUSTER', 'INFO'), /cluster_state:ok\r\n.*cluster_slots_ok:16384\r\n/s)
      const replication = await cli(server, 'INFO', 'replication')
      if (node.role === 'master') assert.match(replication, /role:master\r\nconnected_slaves:1\r\n/)
      else assert.match(replication, /role:slave\r\n.*master_link_status:up\r\n/s)
    }
  })

  test('every node names the same owners, slots split evenly, distinct epochs', async () => {
    const views = await Promise.all(
      cluster.nodes.map(async (node) => {
        const lines = (await cli({ ...node, ...cluster.access }, 'CLUSTER', 'NODES')).split('\n')
        const fields = lines.map((line) => line.split(' '))
        const owned = fields
          .filter((f) => f[2].includes('master'))
          .map((f) => `${f[1].split('@')[0]} ${f[6]} ${f[8]}`)
        return owned.sort().join('\n')
      }),
    )
    const masters = cluster.nodes.filter(({ role }) => role === 'master')
    const ranges = ['0-5460', '5461-10921', '10922-16383']
    const expected = masters.map(({ host, port }, i) => `${host}:${port} ${i + 1} ${ranges[i]}`)
    assert.deepEqual([...new Set(views)], [expected.sort().join('\n')])
  })

  test('keeps to loopback, a password and private files', () => assertPrivate(cluster))

  test('says so in one line with the address', () => {
    assert.equal(logged.length, 1)
    assert.match(
      logged[0],
      new RegExp(`cluster of 3 masters and 3 replicas on ${cluster.address.replaceAll('.', '\\.')} `),
    )
  })

  test('is left with the settings of an ordinary cluster', async () => {
    for (const node of cluster.nodes) {
      const server = { ...node, ...cluster.access }
      assert.equal(await cli(server, 'CONFIG', 'GET', 'cluster-node-timeout'), 'cluster-node-timeout\n5000')
      assert.equal(
        await cli(server, 'CONFIG', 'GET', 'repl-ping-replica-period'),
        'repl-ping-replica-period\n10',
      )
    }
  })

  test('is found by its kind or by either, with all that is needed to sign in', async () => {
    const { close, ...published } = cluster
    assert.deepEqual(findEmbedded({ cluster: true, stateDir }), published)
    assert.deepEqual(findEmbedded({ stateDir }), published)
    assert.equal(findEmbedded({ cluster: false, stateDir }), null)
    assert.equal(mode(stateDir), 0o700)
    assert.equal(mode(join(stateDir, 'cluster.json')), 0o600)
  })
})

describe('a single server', () => {
  test('with replicas is private, is found until closed, and leaves nothing', async () => {
    const single = await startEmbedded({ cluster: false, replicas: 2, stateDir, log: () => {} })
    try {
      assert.equal(columns(single.nodes, 'role'), 'master, replica, replica')
      assert.deepEqual(single.endpoints, [{ host: single.nodes[0].host, port: single.nodes[0].port }])
      assert.match(
        await cli({ ...single.nodes[0], ...single.access }, 'INFO', 'replication'),
        /connected_slaves:2/,
      )
      await assertPrivate(single)
      assert.equal(findEmbedded({ cluster: false, stateDir })?.address, single.address)
    } finally {
      await single.close()
    }
    assert.ok(isGone(single))
    assert.equal(findEmbedded({ cluster: false, stateDir }), null)
    assert.deepEqual(
      readdirSync(stateDir).filter((name) => name.startsWith('single')),
      [],
    )
    await single.close()
  })

  test('leaves nothing even when its watchdog was killed before', async () => {
    const single = await startEmbedded({ cluster: false, stateDir, log: () => {} })
    const rows = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,command='], { encoding: 'utf8' }).split('\n')
    const watchdog = rows.find((row) => row.endsWith(`watchdog.sh ${single.dir}`))
    process.kill(Number.parseInt(String(watchdog), 10), 'SIGKILL')
    await single.close()
    assert.ok(isGone(single))
    assert.equal(findEmbedded({ cluster: false, stateDir }), null)
    assert.deepEqual(
      readdirSync(stateDir).filter((name) => name.startsWith('single')),
      [],
    )
  })

  test('a server that its program was killed too soon to tell of ends too; whoever only names the folder does not', {
    skip: process.platform !== 'linux',
  }, async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'millrace-servers-'))
    t.after(() => rmSync(dir, { recursive: true, force: true }))
    const [{ port }] = await freePorts(1, 'any')
    const home = join(dir, 'master-1')
    const { child, ended } = spawnServer(findServerBinary(), home, baseConfig({ port, password: 'p' }))
    t.after(() => child.kill('SIGKILL'))
    const reader = spawn('tail', ['-f', join(home, 'server.conf')], { cwd: '/', stdio: 'ignore' })
    t.after(() => reader.kill('SIGKILL'))
    const server = { host: '127.0.0.1', port, pid: Number(child.pid), ended, home }
    const redis = await answering(server, 'p', AbortSignal.timeout(20_000))
    redis.disconnect()
    execFileSync('/bin/sh', ['lib/servers/watchdog.sh', dir], { input: '' })
    await until('its end', () => child.signalCode === 'SIGKILL')
    assert.equal(existsSync(dir), false)
    assert.equal(reader.exitCode ?? reader.signalCode, null)
  })

  test('does not take the place of one that is published', async (t) => {
    const first = await startEmbedded({ cluster: false, stateDir, log: () => {} })
    t.after(() => first.close())
    const second = await startEmbedded({ cluster: false, stateDir, log: () => {} })
    assert.equal(findEmbedded({ cluster: false, stateDir })?.address, first.address)
    await second.close()
    assert.equal(findEmbedded({ cluster: false, stateDir })?.address, first.address)
  })

  test('is not published in a folder that others can look into', async (t) => {
    const open = mkdtempSync(join(ownTmp, 'open-'))
    chmodSync(open, 0o755)
    /** @type {string[]} */
    const logged = []
    const single = await startEmbedded({ cluster: false, stateDir: open, log: (line) => logged.push(line) })
    t.after(() => single.close())
    assert.match(logged[0], /cannot attach: .* is not a private folder/)
    assert.deepEqual(readdirSync(open), [])
    writeFileSync(join(open, 'single.json'), readFileSync(join(single.dir, 'master-1', 'server.conf')))
    assert.equal(findEmbedded({ stateDir: open }), null)
  })
})

describe('an owner that is killed', () => {
  for (const cluster of [false, true])
    test(`${cluster ? 'cluster' : 'single'}: servers outlive its terminal's Ctrl-C, but not a kill -9`, async (t) => {
      const { owner, embedded, nextLine } = await startOwner(t, cluster)
      process.kill(-Number(owner.pid), 'SIGINT')
      assert.equal(await nextLine(), 'interrupted')
      for (const node of embedded.nodes)
        assert.equal(await cli({ ...node, ...embedded.access }, 'PING'), 'PONG')
      assert.equal(findEmbedded({ cluster, stateDir })?.address, embedded.address)
      owner.kill('SIGKILL')
      await until('all of it is gone', () => isGone(embedded))
      assert.equal(findEmbedded({ cluster, stateDir }), null)
    })

  test('a state file whose pid belongs to another process by now is stale, and is removed', async (t) => {
    const { owner, embedded } = await startOwner(t, false)
    const file = join(stateDir, 'single.json')
    const state = JSON.parse(readFileSync(file, 'utf8'))
    owner.kill('SIGKILL')
    await until('all of it is gone', () => isGone(embedded))
    writeFileSync(file, JSON.stringify({ ...state, ownerPid: process.pid }), { mode: 0o600 })
    assert.equal(findEmbedded({ stateDir }), null)
    assert.ok(!existsSync(file))
    writeFileSync(file, '{"half', { mode: 0o600 })
    assert.equal(findEmbedded({ stateDir }), null)
    assert.ok(!existsSync(file))
  })
})

test('the server is also known by the name of its check tool, as Debian packs it', async (t) => {
  const folder = mkdtempSync(join(ownTmp, 'bin-'))
  symlinkSync(findServerBinary().file, join(folder, 'redis-check-rdb'))
  const serverBin = findServerBinary(undefined, { PATH: folder }).file
  assert.equal(serverBin, join(folder, 'redis-check-rdb'))
  const single = await startEmbedded({ cluster: false, serverBin, stateDir: null, log: () => {} })
  t.after(() => single.close())
  assert.equal(await cli({ ...single.nodes[0], ...single.access }, 'PING'), 'PONG')
})

describe('what cannot be started', () => {
  test('a server that ends at start is an error with its last words, and leaves nothing', async () => {
    const folders = serverFolders()
    const broken = join(ownTmp, 'broken-server')
    // By its check tool's name it would be that tool.
    const server = join(ownTmp, 'redis-server')
    symlinkSync(findServerBinary().file, server)
    writeFileSync(
      broken,
      `#!/bin/sh\n[ "$1" = --version ] && exec ${server} --version\nexec ${server} "$1" --no-such-setting 1\n`,
      { mode: 0o755 },
    )
    await assert.rejects(
      startEmbedded({ cluster: false, serverBin: broken, stateDir, log: () => {} }),
      (error) => error instanceof TargetError && /ended at start: .*Bad directive/.test(error.message),
    )
    assert.deepEqual(serverFolders(), folders)
  })

  /** A server that is started on a taken port first, and on a free one then. @param {TestContext} t @param {number} taken */
  const startedBeside = async (t, taken) => {
    const ports = [taken, (await freePorts(1, 'none'))[0].port]
    const { group, result } = await inServerGroup(findServerBinary(), async (group) => {
      const port = Number(ports.shift())
      const server = group.launch('server', port, baseConfig({ port, password: 'secret' }))
      const redis = await answering(server, 'secret', AbortSignal.timeout(20_000))
      redis.disconnect()
      return server
    })
    t.after(() => group.close())
    assert.equal(await cli({ ...result, password: 'secret' }, 'PING'), 'PONG')
    assert.equal(ports.length, 0)
    assert.ok(existsSync(group.dir))
  }

  test('a port that was taken in the meantime is replaced by another', async (t) => {
    await startedBeside(t, await portOf(t, createServer()))
  })

  for (const password of ['another', 'secret', ''])
    test(`a server that took the port is not taken for ours, with ${password ? `password ${password}` : 'none'}`, async (t) => {
      const other = await startServer(t)
      await other.redis.config('SET', 'requirepass', password)
      await startedBeside(t, other.port)
    })
})
