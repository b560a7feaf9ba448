// Login by IAM: a door before a real server checks tokens with a signature of its own. Connections that live long: doors cut those
// that have not logged in for 8 s, as ElastiCache does after 12 hours. Programs that log in every second instead of every 11 hours
// lose none.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '../helpers/command-here.js'
import { openIamDoor, openIamDoors } from '../helpers/iam-door.js'
import {
  assertNoneLost,
  documentIn,
  ownFolder,
  startProducer,
  startProgram,
  until,
} from '../helpers/programs.js'
import { startCluster, startServer, suiteScope } from '../helpers/servers.js'
import { rowsOf } from '../helpers/table.js'
import { makeCertificates } from '../helpers/tls-servers.js'

const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const about = { user: 'millrace', cache: 'my-cache', secret, goodForS: 900, cutAfterS: 8 }
const often = new URL('../helpers/log-in-often.js', import.meta.url).href
/** Nothing of a token or the credentials is in what it wrote. @param {{ stdout: string, stderr: string, document: any }} ended */
const assertNoSecret = ({ stdout, stderr, document }) =>
  assert.doesNotMatch(stdout + stderr + JSON.stringify(document), /X-Amz-Signature=[^*]|AKIDEXAMPLE|wJalr/)
// Connections that libraries have for themselves, which no command of a load takes.
const unused = /^(ioredis-cluster\(subscriber\)|glide_management_connection)/

// One after the other: a core has enough to do with the logins of one.
describe('login by IAM', () => {
  const scope = suiteScope()
  /** @type {ReturnType<typeof makeCertificates>} */
  let certificates
  /** @type {Awaited<ReturnType<typeof startServer>>} */
  let server
  before(async () => {
    certificates = makeCertificates(scope)
    server = await startServer(scope)
  })

  /** @param {number} port @returns {NodeJS.ProcessEnv} */
  const usualEnv = (port) => ({
    ...{ REDIS_HOST: '127.0.0.1', REDIS_PORT: String(port), REDIS_TLS: 'true', REDIS_CA: certificates.ca },
    ...{ REDIS_IAM: 'millrace@my-cache', AWS_REGION: 'eu-west-1', AWS_EC2_METADATA_DISABLED: 'true' },
    ...{ AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: secret },
  })
  const envOf = (/** @type {number} */ port) => ({ ...usualEnv(port), NODE_OPTIONS: `--import=${often}` })
  const doorTo = async (/** @type {import('node:test').TestContext} */ t) => {
    const door = await openIamDoor(t, server, certificates, about)
    return { door, env: envOf(door.port) }
  }
  const short = '-q 60 -t 2 -a all -p 200 --duration 11s --idle-cost never --ttl 100'

  // The driver on sockets is that of the writers below, and ioredis is iovalkey by another name.
  for (const driver of ['iovalkey', 'node-redis', 'valkey-glide'])
    test(`driver ${driver}`, async (t) => {
      const { door, env } = await doorTo(t)
      const line = `${short} --prefix ${driver}. --driver ${driver}`
      const ended = await startProducer(t, line, { env }).ended
      const { code, document, stderr } = ended
      assert.ok(code === 0 || code === 4, stderr)
      assertNoneLost(document.items)
      assertNoSecret(ended)
      assert.deepEqual(door.seen.cut, [])
      assert.ok(door.seen.again >= door.seen.let, JSON.stringify(door.seen))
      assert.equal(door.seen.refused, 0)
    })

  for (const driver of ['socket', 'ioredis', 'node-redis', 'valkey-glide'])
    test(`a cluster behind doors: driver ${driver}`, async (t) => {
      const cluster = await startCluster(t, { shards: 3, replicas: 0 })
      const doors = await openIamDoors(t, cluster, certificates, about)
      const env = { ...envOf(doors.port), REDIS_CLUSTER: 'true' }
      const line = `${short} --ns 10 --spread --prefix ${driver}. --driver ${driver}`
      const ended = await startProducer(t, line, { env }).ended
      const { code, document, stderr } = ended
      assert.ok(code === 0 || code === 4, stderr)
      assertNoneLost(document.items)
      assertNoSecret(ended)
      assert.equal(document.nodes.length, 3)
      for (const { seen } of doors.doors) assert.ok(seen.again > 0, JSON.stringify(seen))
      assert.deepEqual(
        doors.cut().filter((name) => !unused.test(name)),
        [],
      )
    })

  test('a fleet whose control is another cache: boxes, their leader, its page, and what watches them', async (t) => {
    const { door, env: target } = await doorTo(t)
    const control = await openIamDoor(t, await startServer(t), certificates, { ...about, cache: 'meeting' })
    const MILLRACE_CONTROL = `rediss://127.0.0.1:${control.port}?iam=millrace@meeting`
    const env = { ...target, MILLRACE_CONTROL }
    const out = ownFolder(t, 'fleet')
    const line = '-q 60 -t 2 -p 200 --duration 11s --idle-cost never --ttl 100 --run far --dashboard'
    const boxes = [1, 2].map(() => startProducer(t, line, { env, out }))
    const [url] = await boxes[0].says(/http:\/\/\S+/)
    const ended = await Promise.all(boxes.map((one) => one.ended))
    for (const { code, stderr } of ended) assert.ok(code === 0 || code === 4, stderr)
    const { items, fleet } = documentIn(join(out, 'far', 'run.json'))
    assert.equal(fleet.boxes.length, 2)
    assert.deepEqual([items.offered, items.acked + items.dropped], [3300, 3300])
    // To make a report may take longer than the door waits.
    const cut = [...door.seen.cut, ...control.seen.cut]
    const asked = startProgram(t, 'lib/cli/millrace.js', `fleet report far --ca ${certificates.ca} --json`, {
      env,
    })
    const report = await asked.ended
    assert.ok(report.code === 0 || report.code === 4, `exit ${report.code}: ${report.stderr}`)
    assert.equal(JSON.parse(report.stdout).run, 'far')
    assert.deepEqual(cut, [])
    // Each box has connections for its beats and its numbers, one of them a leader, and each a page.
    assert.ok(control.seen.again > 20, JSON.stringify(control.seen))
    assert.equal(control.seen.refused, 0)
    assert.doesNotMatch(
      JSON.stringify([url, report, ...ended.map(({ stdout, stderr }) => stdout + stderr)]),
      /X-Amz-Signature=[^*]|AKIDEXAMPLE|wJalr/,
    )
  })

  /** One line, without a secret. @param {import('node:test').TestContext} t @param {string} line @param {NodeJS.ProcessEnv} env @param {string} says */
  const assertRefused = async (t, line, env, says) => {
    // The packages of AWS read the environment of their process.
    const earlier = Object.keys(env).map((name) => [name, process.env[name]])
    t.after(() => {
      for (const [name, value] of /** @type {[string, string | undefined][]} */ (earlier))
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
    })
    Object.assign(process.env, env)
    const { code, stderr } = await runCommand(t, line, { env, out: false })
    assert.ok(code === 2 || code === 3, `exit ${code}: ${stderr}`)
    assert.match(stderr, /^[^\n]+\n$/)
    assert.match(stderr, new RegExp(says))
    assert.doesNotMatch(stderr, /X-Amz-Signature=[^*]|wJalr/)
  }

  for (const [what, url, says] of rowsOf(String.raw`
no TLS -> redis://127.0.0.1:1?iam=millrace@meeting -> --control: \?iam= needs rediss:
a password too -> rediss://default:secret@127.0.0.1:1?iam=millrace -> --control: \?iam= takes the place of a user and a password
no cache -> rediss://127.0.0.1:1?iam=millrace -> --control: 127\.0\.0\.1 does not name its cache; .* as \?iam=millrace@CACHE
another cache -> rediss://127.0.0.1:PORT?iam=millrace@other -> --control 127\.0\.0\.1:\d+: the token was refused; correct its user, the region
`))
    test(`a control with ${what}: one line`, async (t) => {
      const door = await openIamDoor(t, server, certificates, about)
      const line = `fleet status --ca ${certificates.ca} --control ${url.replace('PORT', String(door.port))}`
      await assertRefused(t, line, usualEnv(door.port), says)
    })

  test('readers, workers in processes, their writers, lookups and threads', async (t) => {
    const { door, env } = await doorTo(t)
    const read = startProducer(t, `${short.replace('11s', '16s')} --prefix read.`, { env })
    const queue = '--strategy queue-list --rate 40 --duration 16s --idle-cost never --prefix queue.'
    const writers = [read, startProducer(t, queue, { env })]
    await until('items', () => writers.every((one) => one.intervals().some(({ items }) => items.acked > 0)))
    const all = [
      ...writers,
      startProducer(t, `${short} --threads 2 --prefix threads.`, { env }),
      startProducer(
        t,
        '--strategy lookup-mix --items 200 --fill --rate 40 --connections 5 --duration 11s --idle-cost never --prefix lookup.',
        { env },
      ),
    ]
    const readers = [
      startProgram(t, 'consumer.js', '-p 250 --prefix read. --duration 7s', { env }),
      startProgram(
        t,
        'consumer.js',
        '--strategy queue-list --prefix queue. --workers 4 --with processes=2 --work 5ms --duration 8s',
        { env },
      ),
    ]
    for (const { ended } of all) {
      const { code, document, stderr } = await ended
      assert.ok(code === 0 || code === 4, stderr)
      assertNoneLost(document.items)
    }
    const [fetched, worked] = await Promise.all(readers.map(({ ended }) => ended))
    assert.ok(fetched.document.fetches.items > 0, fetched.stderr)
    assert.ok(worked.document.jobs.done > 100, worked.stderr)
    assert.deepEqual(door.seen.cut, [])
    assert.ok(door.seen.again > 20, JSON.stringify(door.seen))
  })

  test('connections that are cut log in with later tokens, and nothing is lost', async (t) => {
    const door = await openIamDoor(t, server, certificates, { ...about, goodForS: 15, cutAfterS: undefined })
    const env = usualEnv(door.port)
    const line = '-q 60 -t 2 -a all -p 200 --duration 10m --idle-cost never --ttl 100 --prefix cut.'
    const running = startProducer(t, line, { env })
    const reader = startProgram(t, 'consumer.js', '-p 250 --prefix cut. --duration 20s', { env })
    const queue = '--strategy queue-list --rate 40 --duration 10m --idle-cost never --prefix cut-queue.'
    const producer = startProducer(t, queue, { env })
    await until('items of the queue', () => producer.intervals().some(({ items }) => items.acked > 0))
    const work =
      '--strategy queue-list --prefix cut-queue. --workers 4 --with processes=2 --work 5ms --duration 22s'
    const workers = startProgram(t, 'consumer.js', work, { env })
    await until('items', () => running.intervals().some(({ items }) => items.acked > 0))
    // The first tokens are too old by then.
    await sleep(17_000)
    const before = door.seen.let
    door.cut()
    // On a busy machine logins take seconds.
    await until('they came back', () => door.seen.let > before + 2)
    const read = await reader.ended
    const worked = await workers.ended
    running.kill('SIGINT')
    producer.kill('SIGINT')
    const { document, stderr } = await running.ended
    await producer.ended
    // What these workers compute takes long beside other load.
    assert.ok(worked.document.jobs.done > 100, `${worked.document.jobs.done} jobs: ${worked.stderr}`)
    assert.doesNotMatch(worked.stderr, /WRONGPASS|token was refused/)
    const { offered, acked, failed, uncertain, dropped } = document.items
    assert.equal(failed, 0, stderr)
    assert.equal(acked + uncertain + dropped, offered, stderr)
    assert.ok(acked > offered * 0.9, stderr)
    assert.ok(read.document.fetches.items > 0, read.stderr)
  })

  for (const [what, wrong, says] of rowsOf(`
another secret -> {"AWS_SECRET_ACCESS_KEY":"${'x'.repeat(40)}"} -> the token was refused; correct --iam,
another cache -> {"REDIS_IAM":"millrace@other"} -> the token was refused; correct --iam,
no region -> {"AWS_REGION":""} -> --iam: 127.0.0.1 does not name its region; set AWS_REGION
no credentials -> {"AWS_ACCESS_KEY_ID":"","AWS_SECRET_ACCESS_KEY":"","HOME":"/nonexistent"} -> --iam millrace: no AWS credentials .
`))
    test(`${what}: one line`, async (t) => {
      const door = await openIamDoor(t, server, certificates, about)
      const env = { ...usualEnv(door.port), ...JSON.parse(wrong) }
      await assertRefused(t, `write ${short}`, env, says)
    })
})
