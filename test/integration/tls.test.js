// Encrypted targets, by every connection that a run opens: the load, the control, the leases and the bystander.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { runCommand } from '../helpers/command-here.js'
import { startHere, writeHere } from '../helpers/here.js'
import { assertDone, assertNoneLost, at, until, warningIn } from '../helpers/programs.js'
import { startServer, suiteScope } from '../helpers/servers.js'
import { makeCertificates, startTlsServers } from '../helpers/tls-servers.js'

/** @import { Scope } from '../helpers/servers.js' */

/** @typedef {Awaited<ReturnType<typeof startTlsServers>>} TlsServers */

const load = '-q 60 -t 2 -a all -p 200'
const short = `${load} --intervals 2`

/**
 * Writes until every connection is there: those to all masters, and the bystander's own.
 * @param {Scope} t
 * @param {string} line
 * @param {NodeJS.ProcessEnv} env
 */
const assertWhole = async (t, line, env) => {
  const running = startHere(t, 'write', `${load} ${line}`, { env })
  await until('all items are written beside the bystander', () =>
    running
      .intervals()
      .some(
        ({ items, bystander_us: pings }) =>
          items.acked > 0 && items.acked === items.offered && pings !== null,
      ),
  )
  running.kill('SIGINT')
  const { code, document, stderr } = await running.ended
  assert.equal(code, 130, stderr)
  assertNoneLost(document.items)
  assert.ok(document.bystander_us.p50 > 0)
  return { document, stderr }
}

describe('TLS', { concurrency: 3 }, () => {
  for (const shards of [undefined, 3])
    describe(shards ? 'a cluster with TLS' : 'a server with TLS', { concurrency: 1 }, () => {
      const scope = suiteScope()
      /** @type {ReturnType<typeof makeCertificates>} */
      let certificates
      /** @type {TlsServers} */
      let servers
      let env = /** @type {NodeJS.ProcessEnv} */ ({})
      before(async () => {
        certificates = makeCertificates(scope)
        servers = await startTlsServers(scope, certificates, { shards })
        env = { ...at(servers), REDIS_TLS: 'true', ...(shards && { REDIS_CLUSTER: 'true' }) }
      })

      for (const [driver, threads] of /** @type {const} */ ([
        ['socket', 1],
        ['ioredis', 1],
        ['socket', 2],
      ]))
        test(`our own authority, driver ${driver}, threads ${threads}`, async (t) => {
          const line = `--driver ${driver} --threads ${threads} --ca ${certificates.ca}`
          const { document } = await assertWhole(t, line, env)
          assert.equal(Object.keys(document.client.threads ?? {}).length, threads === 1 ? 0 : threads)
        })

      test('cleanup and a consumer', async (t) => {
        const ca = { ...env, REDIS_CA: certificates.ca }
        assertDone(await writeHere(t, `${short} --ttl 100`, { env: ca }))
        for (const driver of ['socket', 'ioredis']) {
          const reader = startHere(t, 'read', `-p 250 --driver ${driver}`, { env: ca })
          await until('fetches', () => reader.intervals().some(({ fetches }) => fetches.items >= 60))
          reader.kill('SIGINT')
          const { code, document, stderr } = await reader.ended
          assert.equal(code, 130, stderr)
          assert.equal(document.fetches.failed, 0)
        }
        const cleaned = await runCommand(t, 'cleanup --yes', { env: ca, out: false })
        assert.equal(cleaned.code, 0, cleaned.stderr)
        assert.match(cleaned.stdout, /\d\d keys removed/)
      })

      /** Until connections were opened again. @param {Scope} t @param {string} line */
      const renewedRun = async (t, line) => {
        const renewing = '--connections 4 --reconnects 10 --warm-up 0 --prefix renewed:'
        const run = startHere(t, 'write', `${line} ${renewing} --ca ${certificates.ca}`, { env })
        await until('connections opened again', () =>
          run.intervals().some(({ reconnects, items }) => items.acked > 0 && reconnects.connect_us !== null),
        )
        run.kill('SIGINT')
        return run.ended
      }

      test('connections come and go, and each is checked anew', async (t) => {
        const startMs = performance.now()
        const run = await renewedRun(t, '--strategy lookup-mix --with ratio=1:2:1 --keys 200 --rate 100')
        const passedS = (performance.now() - startMs) / 1000
        const { items, traffic } = run.document ?? assert.fail(run.stderr)
        assert.equal(items.acked + items.dropped, items.offered, run.stderr)
        assert.ok(items.acked > 0)
        const { renewed, missed, connect_us: us } = traffic.connections
        // Ten a second, for as long as a busy machine takes to the end of the run.
        assert.ok(renewed > 0 && renewed + missed <= 10 * passedS + 1, JSON.stringify(traffic.connections))
        // Each has three servers. Of those that are not open on all of them at the end, at most all four clients, some are.
        assert.ok(
          us.count >= renewed && us.count <= 3 * (renewed + missed + 4) && us.p50 > 0,
          JSON.stringify(traffic.connections),
        )
      })

      test('connections of a writer come and go, and nothing is lost', async (t) => {
        const run = await renewedRun(t, '-q 100 --strategy list --pacing smooth')
        const { items, traffic, commands } = run.document ?? assert.fail(run.stderr)
        assert.equal(items.acked + items.dropped, items.offered, run.stderr)
        assert.ok(items.acked > 0)
        assert.equal(commands.repeated, 0)
        const { renewed, connect_us: us } = traffic.connections
        assert.ok(renewed > 0 && us.count > 0 && us.p50 > 0, JSON.stringify(traffic.connections))
      })

      test('an authority that is not theirs is refused', async (t) => {
        const others = makeCertificates(t)
        for (const line of [`${short} --ca ${others.ca}`, short]) {
          const { code, stdout, refusal } = await writeHere(t, line, { env })
          assert.deepEqual([code, stdout], [3, ''])
          assert.match(refusal, /^127\.0\.0\.1:\d+: its certificate cannot be trusted; set --ca \(.+\)$/)
        }
      })

      test('--tls-insecure is said loudly, in the log and in the result', async (t) => {
        for (const driver of ['socket', 'ioredis']) {
          const line = `--tls-insecure --driver ${driver}`
          const { document, stderr } = await assertWhole(t, line, env)
          assert.match(stderr, /no certificate is checked/)
          assert.equal(warningIn(document, 'tls-insecure').invalidates, false)
        }
      })
    })

  describe('one server with TLS', { concurrency: 1 }, () => {
    test('a name that is not in the certificate is refused', async (t) => {
      const certificates = makeCertificates(t, { names: 'DNS:cache.example' })
      const servers = await startTlsServers(t, certificates)
      const env = { ...at(servers), REDIS_TLS: 'true', REDIS_CA: certificates.ca }
      for (const host of ['127.0.0.1', 'localhost']) {
        const { code, refusal } = await writeHere(t, `${short} --host ${host}`, { env })
        assert.equal(code, 3)
        assert.match(
          refusal,
          new RegExp(
            `^${host}:\\d+: its certificate is for other names; use one of them as --host \\(.+\\)$`,
          ),
        )
      }
    })

    test('a server that wants our certificate', async (t) => {
      const certificates = makeCertificates(t)
      const servers = await startTlsServers(t, certificates, { clients: true })
      const env = { ...at(servers), REDIS_TLS: 'true', REDIS_CA: certificates.ca }
      const without = await writeHere(t, short, { env })
      assert.equal(without.code, 3, without.stderr)
      assert.match(without.refusal, /the server wants a certificate of ours[;,] set --cert and --key/)
      const others = makeCertificates(t)
      const wrong = await writeHere(t, `${short} --cert ${others.cert} --key ${others.key}`, { env })
      assert.equal(wrong.code, 3, wrong.stderr)
      assert.match(wrong.refusal, /the server does not trust our certificate; correct --cert and --key/)
      for (const driver of ['socket', 'ioredis']) {
        await assertWhole(t, `--cert ${certificates.cert} --key ${certificates.key} --driver ${driver}`, env)
      }
    })

    test('TLS asked of a server without, and the other way round', async (t) => {
      const plain = await startServer(t)
      const asked = await writeHere(t, `${short} --tls`, plain)
      assert.equal(asked.code, 3, asked.stderr)
      assert.match(asked.refusal, /: no answer to TLS; leave out --tls/)
      const certificates = makeCertificates(t)
      const servers = await startTlsServers(t, certificates)
      const left = await writeHere(t, short, servers)
      assert.equal(left.code, 3, left.stderr)
      assert.match(
        left.refusal,
        /^127\.0\.0\.1:\d+: the connection was cut; if the server speaks TLS, add --tls/,
      )
    })
  })
})
