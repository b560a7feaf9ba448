import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { modules, otherVersions, peerPath, peers, peersFolder, standIns } from '../../lib/servers/peers.js'
import { checkHash } from '../../scripts/setup-peers.js'
import { testEnvironment } from '../../scripts/test.js'
import { peer } from '../helpers/peers.js'
import { ownFolder } from '../helpers/programs.js'

const all = [...peers, ...modules, ...standIns, ...otherVersions]
const script = fileURLToPath(new URL('../../scripts/setup-peers.js', import.meta.url))

/** On a machine that has neither Python nor apt. @param {string} folder @param {string[]} args @param {NodeJS.ProcessEnv} [more] */
const setUp = (folder, args = [], more = {}) =>
  spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    env: { PATH: folder, MILLRACE_PEERS: folder, ...more },
  })

const putAll = (/** @type {string} */ folder) => {
  for (const each of all) {
    const path = peerPath(each, { MILLRACE_PEERS: folder })
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, '')
  }
}

test('the cache is outside the tree, where its user says', () => {
  assert.equal(peersFolder({ MILLRACE_PEERS: '/a' }), '/a')
  assert.equal(peersFolder({ XDG_CACHE_HOME: '/b' }), '/b/millrace/peers')
  assert.match(peersFolder({}), /\/\.cache\/millrace\/peers$/)
  assert.equal(testEnvironment({ MILLRACE_PEERS: '/a', MILLRACE_PEERSX: 'b' }).MILLRACE_PEERS, '/a')
  assert.equal(testEnvironment({ MILLRACE_PEERSX: 'b' }).MILLRACE_PEERSX, undefined)
})

test('what cannot be fetched is said in a line each: no fault at home, one in CI', (t) => {
  const folder = ownFolder(t, 'peers')
  const home = setUp(folder)
  assert.equal(home.status, 0)
  const lines = home.stderr.trim().split('\n')
  for (const { name } of all)
    assert.equal(lines.filter((line) => line.includes(`${name} is missing`)).length, 1, home.stderr)
  assert.equal(home.stdout, '')
  assert.equal(setUp(folder, [], { CI: 'true' }).status, 1)
})

test('nothing is done and nothing said when all is there', (t) => {
  const folder = ownFolder(t, 'peers')
  putAll(folder)
  const { status, stdout, stderr } = setUp(folder, [], { CI: 'true' })
  assert.deepEqual([status, stdout, stderr], [0, '', ''])
})

test('--list names every peer, its place and its version', (t) => {
  const folder = ownFolder(t, 'peers')
  const listed = (/** @type {(each: typeof all[number]) => string} */ placeOf) => {
    const lines = setUp(folder, ['--list']).stdout.trim().split('\n')
    const found = lines
    const wanted = all.map((each) => `${each.name} -> ${placeOf(each)} -> ${each.version}`)
    assert.deepEqual(found, wanted)
  }
  listed(() => 'missing')
  putAll(folder)
  listed((each) => peerPath(each, { MILLRACE_PEERS: folder }))
  assert.equal(setUp(folder, ['--lits']).status, 2)
})

test('a file with other contents is refused', (t) => {
  const file = join(ownFolder(t, 'peers'), 'file')
  writeFileSync(file, 'abc')
  checkHash(file, 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  assert.throws(() => checkHash(file, peers[0].sha256), /its sha256 is ba7816bf.*, not d5ed8af4/)
})

test('a test without its server is skipped at home and fails in CI', (t) => {
  const before = { MILLRACE_PEERS: process.env.MILLRACE_PEERS, CI: process.env.CI }
  t.after(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })
  const folder = ownFolder(t, 'peers')
  process.env.MILLRACE_PEERS = folder
  delete process.env.CI
  const skipped = /** @type {string[]} */ ([])
  const other = { skip: (/** @type {string} */ message) => skipped.push(message) }
  assert.equal(peer(other, 'redis-6.2'), undefined)
  assert.deepEqual(skipped, ['redis-6.2 is not there: npm run setup:peers fetches it'])
  process.env.CI = 'true'
  assert.throws(() => peer(other, 'redis-6.2'), /setup:peers/)
  putAll(folder)
  assert.equal(peer(other, 'redis-6.2'), peerPath(peers[0], process.env))
  assert.throws(() => peer(other, 'redis-6.3'), /no peer/)
})
