// A profile of a cluster with TLS, by the user of docs/profile.md, whose keyspace is hostile: 100,000 names, some of bytes
// that are no text, a value of 512 MB, and keys that go while they are looked at.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cluster } from 'ioredis'
import { runCommand } from '../helpers/command-here.js'
import { at, ownFolder, startProgram, until } from '../helpers/programs.js'
import { suiteScope } from '../helpers/servers.js'
import { makeCertificates, startTlsServers } from '../helpers/tls-servers.js'

/** @import { TestContext } from 'node:test' */

/** @typedef {Awaited<ReturnType<typeof startTlsServers>>} TlsServers */

const page = readFileSync(new URL('../../docs/profile.md', import.meta.url), 'utf8')
const userLines = [...page.matchAll(/^ACL (SETUSER .*)$/gm)].map(([, line]) => line.split(' '))
const password = 'a-profile-password'
const names = 100_000
const namesAPage = 400
const hugeBytes = 2 ** 29
const hostileNames = [
  '\x1b[31mred:\0\xff\x9b2J',
  '\x1b]0;title\x07:1',
  'café:\xc3',
  '<script>alert(1)</script>:1',
]

describe('a cluster of three masters and three replicas, with TLS and an ACL user', () => {
  const scope = suiteScope()
  /** @type {TlsServers} */
  let servers
  /** @type {Cluster} */
  let cluster
  let env = /** @type {NodeJS.ProcessEnv} */ ({})
  let isOver = false

  before(async () => {
    const certificates = makeCertificates(scope)
    servers = await startTlsServers(scope, certificates, { shards: 3, replicas: 1 })
    // Lines of newer commands are for servers that have them.
    for (const { redis } of servers.members)
      for (const line of userLines)
        await redis.call('ACL', ...line.map((word) => word.replace('PASSWORD', password))).catch((error) => {
          assert.match(String(error), /Unknown command or category name in ACL/)
        })
    env = { ...at(servers), REDIS_USERNAME: 'millrace-profile', REDIS_PASSWORD: password, REDIS_TLS: 'true' }
    Object.assign(env, { REDIS_CA: certificates.ca, REDIS_CLUSTER: 'true' })
    const { host, port } = servers
    cluster = new Cluster([{ host, port }], {
      redisOptions: { password: servers.password, tls: { ca: readFileSync(certificates.ca) } },
    })
    scope.after(() => cluster.disconnect())
    scope.after(() => {
      isOver = true
    })
    for (let from = 0; from < names; from += 2000)
      await Promise.all(
        Array.from({ length: 2000 }, (_, i) => cluster.set(`cart:${from + i}:items`, 'TOP-SECRET-VALUE')),
      )
    for (const name of hostileNames) await cluster.set(Buffer.from(name, 'latin1'), 'TOP-SECRET-VALUE')
    await cluster.setrange('huge', hugeBytes - 1, 'x')
    // Keys that are gone a moment after they were named.
    void (async () => {
      for (let n = 0; !isOver; n++) {
        await cluster.set(`flit:${n % 3000}`, 'x', 'PX', 1 + (n % 40)).catch(() => {})
        if (n % 3 === 0) await cluster.del(`flit:${(n * 7) % 3000}`).catch(() => {})
        if (n % 10 === 0) await sleep(5)
      }
    })()
  })

  /** The sum of a number in what all nodes answer to INFO. @param {string} section @param {RegExp} number */
  const sumOf = async (section, number) => {
    const infos = await Promise.all(servers.members.map(({ redis }) => redis.info(section)))
    return infos.reduce((sum, text) => sum + Number(number.exec(text)?.[1] ?? 0), 0)
  }
  const outputBytes = () => sumOf('stats', /total_net_output_bytes:(\d+)/)
  /** Seconds since the large value was looked at. */
  const idleS = async () => Number(await cluster.object('IDLETIME', 'huge'))

  test('Ctrl-C ends it at once with what it has; nothing is refused, and no value is read', async (t) => {
    const bytesBefore = await outputBytes()
    await until('nothing has asked about the large value', async () => (await idleS()) > 2)
    const out = ownFolder(t, 'profile')
    const line = `profile --out ${out} --duration 10m --share 50%`
    const fromMs = performance.now()
    const program = startProgram(t, 'lib/cli/millrace.js', line, { env, out: false })
    const runs = async (/** @type {Promise<boolean>} */ isSo) => {
      program.assertRuns()
      return isSo
    }
    // However late a busy machine looks.
    const isAsked = async () => (await idleS()) < (performance.now() - fromMs) / 1000
    await until('its size', () => runs(isAsked()))
    await until('names', () =>
      runs(sumOf('commandstats', /cmdstat_scan:calls=(\d+)/).then((scans) => scans >= names / namesAPage)),
    )
    // What was named last is looked at, before it asks for the counters again.
    let asked = 0
    const infosOfOthers = async () =>
      (await sumOf('commandstats', /cmdstat_info:calls=(\d+)/)) - servers.members.length * asked++
    const infos = await infosOfOthers()
    await until('its next second', () => runs(infosOfOthers().then((now) => now > infos)))
    const status = readFileSync(`/proc/${program.pid}/status`, 'utf8')
    const mostKb = Number(/VmHWM:\s*(\d+)/.exec(status)?.[1])
    const interruptedMs = performance.now()
    program.kill('SIGINT')
    const { code, stdout, stderr } = await program.ended
    const tookMs = performance.now() - interruptedMs
    assert.equal(code, 130, stderr)
    assert.ok(tookMs < 60_000, `${tookMs} ms`)
    const [folder] = readdirSync(out)
    const files = Object.fromEntries(
      readdirSync(join(out, folder)).map((file) => [file, readFileSync(join(out, folder, file), 'utf8')]),
    )
    assert.deepEqual(Object.keys(files).sort(), ['profile.html', 'profile.json', 'workload.yaml'])
    const profile = JSON.parse(files['profile.json'])
    assert.equal(profile.interrupted, true)
    assert.deepEqual(profile.refused, [])
    assert.deepEqual([profile.server.masters, profile.server.replicas], [3, 3])
    assert.equal(profile.server.replica_addresses.length, 3)
    assert.ok(profile.keys > names && profile.names_seen > 0.9 * names, `${profile.names_seen}`)
    const of = (/** @type {string} */ pattern) =>
      profile.patterns.find((/** @type {any} */ one) => one.pattern === pattern)
    const carts = of('cart:{n}:items')
    assert.ok(Math.abs(carts.keys.value / names - 1) < 0.05, JSON.stringify(carts.keys))
    // The name alone, its length and its memory.
    assert.deepEqual([of('huge').type, of('huge').size.value], ['string', hugeBytes])
    assert.ok((await outputBytes()) - bytesBefore < hugeBytes / 4)
    assert.ok(mostKb < 600_000, `${mostKb} kB`)
    assert.match(stdout, /^INTERRUPTED: /m)
    for (const text of [stdout, stderr, ...Object.values(files)]) {
      assert.doesNotMatch(text, /TOP-SECRET/)
      assert.ok(!/[\0-\x08\x0b-\x1f\x7f-\x9f]/.test(text.replaceAll('\r', '')))
    }
    assert.doesNotMatch(files['profile.html'], /<script>alert/)
    assert.doesNotMatch(JSON.stringify(profile.patterns), /\\u00|é/)
  })

  test('keys that go while they are looked at are no error, and JSON alone is on stdout', async (t) => {
    const line = 'profile --duration 4s --share 50% --json --anonymous'
    const { code, stdout, stderr } = await runCommand(t, line, { env })
    assert.equal(code, 0, stderr)
    const profile = JSON.parse(stdout)
    assert.deepEqual(profile.refused, [])
    assert.equal(profile.interrupted, false)
    assert.doesNotMatch(stdout, /cart|flit|huge|127\.0\.0\.1/)
    assert.ok(profile.commands.some((/** @type {any} */ { name }) => name === 'set'))
    // What it asked is not among what the application sent.
    assert.ok(!profile.commands.some((/** @type {any} */ { name }) => name === 'strlen' || name === 'pttl'))
  })
})
