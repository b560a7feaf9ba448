// Advice that is typed: a run that gets a reason is played on real servers, what the reason says to set is typed, and the
// run is repeated: it is accepted, and the reason is gone or the metric is clearly better.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isMachineFull } from '../../lib/measures/client-limit.js'
import { delayProxy } from '../../lib/servers/delay.js'
import { startHere } from './here.js'
import { at, startProducer, until } from './programs.js'
import { startCluster, startServer } from './servers.js'
import { lineWith } from './table.js'

/**
 * @import { TestServer } from './servers.js'
 * @import { TestContext } from 'node:test'
 *
 * @typedef {object} Case
 * @property {string} line command and options of the run that gets the reason
 * @property {string} [code] of the reason or note; none: it is why there is no memory per item
 * @property {RegExp} says the advice in it
 * @property {string[]} [typed] what is typed then, each by itself; $1 as the advice says
 * @property {Record<string, (server: TestServer, played: (line: string) => Promise<unknown>) => Promise<unknown>>} [done] each by
 *   itself, as the advice says
 * @property {'server' | 'far' | 'cluster'} [on] far: round trips of 20 ms, so that no busy machine is the limit
 * @property {string} [written] a run before, of the same keys
 * @property {string} [beside] options of a writer in a process of its own, at work from a second before the run on
 * @property {(server: TestServer) => Promise<unknown>} [during] to the server, once the run has stored or read something; the run
 *   ends some seconds later
 * @property {(server: TestServer) => Promise<unknown>} [prepare]
 * @property {(document: any, of: any) => void} [check] instead of: the reason is gone
 */

const farMs = 20

/** @param {any} document @param {Case} of */
const reasonIn = ({ warnings, server }, { code }) => {
  const messageOf = (/** @type {string} */ wanted) =>
    warnings.find((/** @type {any} */ warning) => warning.code === wanted)?.message
  if (!code) return server.memory_note ?? undefined
  // What a rate needs is said once: of the items that were dropped, where some were.
  return (code === 'rate' ? messageOf('dropped') : undefined) ?? messageOf(code)
}

const lateUs = 500_000
/**
 * Other programs took the CPU, by its own report: this process or a server did not run for a while, and the run was late for
 * that. Then a rate is no measure of what the advice is about.
 * @param {any} document
 */
const isDisturbed = ({ warnings, nodes = [], latency_us: latency }) =>
  warnings.some((/** @type {any} */ { code }) => /^client-(stopped|contended|saturated)$/.test(code)) ||
  nodes.some((/** @type {any} */ { gaps }) => gaps > 0) ||
  (latency?.service?.max ?? 0) > lateUs

/** The reason is gone, or the rate that it is about is far higher. @param {import('node:test').TestContext} t @param {any} document @param {any} of @param {Case} one @param {string} typed */
const assertHelps = (t, document, of, one, typed) => {
  if (isDisturbed(document)) return t.diagnostic(`${typed} is accepted; other programs took the CPU`)
  if (one.check) return one.check(document, of)
  if (one.code === 'rate' && document.rate.achieved > 1.5 * of.rate.achieved) return
  const reason = reasonIn(document, one)
  if (reason !== undefined && isMachineFull(document.client))
    return t.diagnostic(`${typed} is accepted; all cores were busy`)
  assert.equal(reason, undefined, `${typed} does not help`)
}

/** @param {Case} one @param {TestContext} t @returns {Promise<{ server: TestServer, env: NodeJS.ProcessEnv }>} */
const placeOf = async ({ on }, t) => {
  if (on === 'cluster') {
    const { nodes, access } = await startCluster(t, { replicas: 0 })
    return { server: /** @type {any} */ (nodes[0]), env: at({ ...nodes[0], ...access }) }
  }
  const server = await startServer(t)
  if (on !== 'far') return { server, env: at(server) }
  const proxy = await delayProxy({ delayMs: farMs, loseEvery: null, access: server })
  t.after(() => proxy.close())
  await proxy.measure(server)
  return { server, env: at({ ...server, ...(await proxy.placeOf(server)) }) }
}

const hasEnded = (/** @type {import('./here.js').Run} */ run) => {
  try {
    run.assertRuns()
    return false
  } catch {
    return true
  }
}

export const adviceHelps = (/** @type {Record<string, Case>} */ cases) =>
  describe('advice that is typed is accepted, and helps', { concurrency: 3 }, () => {
    for (const [name, one] of Object.entries(cases))
      test(name, async (t) => {
        const { server, env } = await placeOf(one, t)
        const started = (/** @type {string} */ line) => {
          const [command, ...words] = line.split(' ')
          return startHere(t, command === 'read' ? 'read' : 'write', words, {
            env: words.includes('--url') ? {} : env,
          })
        }
        const ended = (/** @type {string} */ line) => started(line).ended
        /** On an empty server. @param {string} line @param {NonNullable<Case['done']>[string]} [act] */
        const played = async (line, act) => {
          // A case may have made a replica of it.
          await server.redis?.replicaof('NO', 'ONE')
          await server.redis?.flushall()
          if (one.written) await ended(one.written)
          await one.prepare?.(server)
          await act?.(server, ended)
          const beside = one.beside ? startProducer(t, one.beside, { env }) : null
          if (beside) await until('a second of the run beside', () => beside.intervals().length > 0)
          const run = started(line)
          if (one.during) {
            await until('the first second', () => run.intervals().length > 0)
            await one.during(server)
            const all = run.intervals().length + 2
            // It may end by itself.
            await until('two seconds with it', () => hasEnded(run) || run.intervals().length >= all)
            run.kill('SIGINT')
          }
          const result = await run.ended
          beside?.kill('SIGINT')
          await beside?.ended
          return result
        }
        const before = await played(one.line)
        assert.ok(before.document, before.stderr)
        const said = reasonIn(before.document, one)
        const advice = one.says.exec(said ?? '')
        if (!advice && (isDisturbed(before.document) || isMachineFull(before.document.client)))
          return t.skip('other programs took the CPU')
        assert.ok(advice, said ?? JSON.stringify([before.document.warnings, before.document.server]))
        const master = one.typed?.some((typed) => typed.includes('$master')) && (await startServer(t))
        const url = master ? `redis://:${master.password}@${master.host}:${master.port}` : ''
        for (const template of one.typed ?? []) {
          const typed = template
            .replace(/\$(\d)/g, (/** @type {string} */ _, n) => String(advice[Number(n)]))
            .replace('$master', url)
          const { code, document, stderr } = await played(lineWith(one.line, typed))
          assert.ok(code !== 2 && document, `${typed}: ${stderr}`)
          assertHelps(t, document, before.document, one, typed)
        }
        for (const [what, act] of Object.entries(one.done ?? {})) {
          const { document, stderr } = await played(one.line, act)
          assert.ok(document, `${what}: ${stderr}`)
          assertHelps(t, document, before.document, one, what)
        }
      })
  })
