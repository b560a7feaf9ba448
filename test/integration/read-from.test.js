// Reads of lookups and caches from replicas: who answers, and how many answers are older than what was acknowledged. The truth about
// age is a proxy between the master and its replica, which hands everything over after a known time.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { readHere, startHere, writeHere } from '../helpers/here.js'
import { assertDone, assertNoneLost, ownFolder, until } from '../helpers/programs.js'
import { callsOf, portOf, startCluster, startServer } from '../helpers/servers.js'

/** @import { Scope } from '../helpers/servers.js' */

/** Hands bytes in both directions over, each after so long. @param {Scope} t @param {number} port @param {{ toMs?: number, fromMs?: number }} delays */
const slowly = async (t, port, { toMs = 0, fromMs = 0 }) => {
  const sockets = /** @type {Set<net.Socket>} */ (new Set())
  /** @param {net.Socket} from @param {net.Socket} to @param {number} ms */
  const pass = (from, to, ms) => {
    sockets.add(from)
    from.setNoDelay(true)
    from.on('data', (bytes) => setTimeout(() => to.destroyed || to.write(bytes), ms))
    from.on('close', () => to.destroy())
    from.on('error', () => to.destroy())
  }
  const server = net.createServer((socket) => {
    const other = net.connect(port, '127.0.0.1')
    pass(socket, other, toMs)
    pass(other, socket, fromMs)
  })
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  return portOf(t, server)
}

/** @param {Scope} t @param {{ replicationMs?: number, announcePort?: (port: number) => Promise<number> }} [how] */
const pairOf = async (t, { replicationMs = 0, announcePort } = {}) => {
  const [master, replica] = [await startServer(t), await startServer(t)]
  await replica.redis.config('SET', 'masterauth', master.password)
  await replica.redis.config('SET', 'requirepass', master.password)
  await replica.redis.auth(master.password)
  if (announcePort)
    await replica.redis.config('SET', 'replica-announce-port', String(await announcePort(replica.port)))
  const port = replicationMs > 0 ? await slowly(t, master.port, { fromMs: replicationMs }) : master.port
  await replica.redis.replicaof('127.0.0.1', port)
  await until('it follows', async () =>
    (await replica.redis.info('replication')).includes('master_link_status:up'),
  )
  await until('its master names it', async () =>
    /slave0:.*state=online/.test(await master.redis.info('replication')),
  )
  return { master, replica: { ...replica, password: master.password } }
}

test('replicas answer all reads of a cluster and no write; the CPU of both roles is known', async (t) => {
  const cluster = await startCluster(t, { shards: 1 })
  const [master, replica] = cluster.nodes.map((node) => ({ ...node, ...cluster.access }))
  const options =
    '--cluster --strategy lookup-mix --with ratio=1:4 --items 2000 --fill --read-from replica --rate 1000 --warm-up 0 --duration 2s'
  const { document, code, stderr } = await writeHere(t, options, /** @type {any} */ (master))
  assertDone({ code, document, stderr })
  const { hit, miss } = document.counts
  const calls = async (/** @type {any} */ node) =>
    Promise.all(['get', 'set'].map((name) => callsOf(node, name)))
  // A fill samples values on the master; replicas run the writes of their masters.
  const [[ofMaster, sets], [ofReplica]] = [await calls(master), await calls(replica)]
  assert.ok(hit > 1300 && miss === 0, JSON.stringify(document.counts))
  assert.equal(ofReplica, hit)
  assert.ok(
    ofMaster < 200 && sets >= 2000 + document.items.acked - hit,
    `${ofMaster} GET, ${sets} SET on the master`,
  )
  const roles = new Map(document.nodes.map((/** @type {any} */ { role, cpu_pct: pct }) => [role, pct]))
  assert.ok(Number(roles.get('replica')) > 0 && Number(roles.get('master')) > 0, JSON.stringify([...roles]))
  assert.equal(document.plan.reads, 'replica')
})

test('stale answers are as many and as old as the time of replication makes them', async (t) => {
  const delayMs = 300
  const { master } = await pairOf(t, { replicationMs: delayMs })
  // Each key is written once a second on average, at random: of its answers 1 - exp(-0.3) are stale, and more where the machine
  // is busy, since the proxy then holds them longer.
  const options =
    '--strategy lookup-mix --with ratio=1:1 --items 500 --fill --rate 1000 --arrivals poisson --read-from replica --warm-up 3s --duration 8s'
  const { document, code, stderr, stdout } = await writeHere(t, options, master)
  assertDone({ code, document, stderr })
  const { compared, stale, pct, age_ms: age } = document.stale_reads
  assert.ok(compared > 2000 && stale > 0, JSON.stringify(document.stale_reads))
  // In a pause of a busy machine answers grow older, and those that waited come in one burst.
  const lateS = document.latency_us.intended.max / 1e6
  assert.ok(pct > 22 && pct < 40 + (100 * lateS) / 5, `${pct} % of ${compared}, ${lateS} s late`)
  assert.ok(age.max > delayMs * 0.8 && age.max < delayMs * 4 + lateS * 1000, JSON.stringify(age))
  assert.match(
    stdout,
    /stale .*% of [\d,]+ answers were older than what was acknowledged,\s+by\s+at\s+least\s+p50 .* ms/,
  )
})

test('in an own mix values of SET and GET are compared, by pattern', async (t) => {
  const { master } = await pairOf(t, { replicationMs: 300 })
  const file = join(ownFolder(t, 'mix'), 'mix.yaml')
  const of = (/** @type {number[]} */ bytes) => ({ type: 'string', keys: 400, bytes })
  const command = (/** @type {string} */ line, /** @type {number} */ share) => ({ command: line, share })
  writeFileSync(
    file,
    JSON.stringify({
      title: 'two patterns',
      keys: { 'a:{id}': of([40]), 'b:{id}': of([30, 200]) },
      mix: [
        command('SET a:{live} {bytes}', 25),
        command('GET a:{live}', 25),
        command('SETEX b:{live} 600 {bytes}', 20),
        command('GET b:{live}', 20),
        // Neither a whole value nor one that is read.
        command('APPEND a:{live} x', 5),
        command('STRLEN b:{live}', 5),
      ],
    }),
  )
  const options = `--model ${file} --fill --rate 1600 --arrivals poisson --read-from replica --warm-up 3s --duration 7s`
  const { document } = await writeHere(t, options, master)
  const { items } = document
  assertNoneLost(items)
  const { compared, stale, pct, age_ms: age } = document.stale_reads
  assert.ok(compared > 2200 && stale > 0, JSON.stringify(document.stale_reads))
  // Keys of a are written once a second, of b 0.8 times: 1 - exp(-0.3) and 1 - exp(-0.24), 24.1 % of all; and less often by what
  // a busy machine drops. Its pauses make more answers stale, and older.
  const lateS = document.latency_us.intended.max / 1e6
  const most = 37 + (100 * lateS) / 4
  assert.ok(
    pct > (20 * items.acked) / items.offered && pct < most,
    `${pct} % of ${compared}, ${lateS} s late`,
  )
  assert.ok(age.max > 240 && age.max < 1200 + lateS * 1000, JSON.stringify(age))
  // The values have the sizes of the file.
  const sizes = await Promise.all([1, 2, 3, 4].map((n) => master.redis.strlen(`b:${n}`)))
  for (const size of sizes) assert.ok(size === 30 || size === 200, `${sizes}`)
})

test('the same keys read from the primary: nothing to compare', async (t) => {
  const { master, replica } = await pairOf(t)
  const options = '--strategy lookup-mix --with ratio=1:1 --items 500 --rate 500 --warm-up 0 --duration 1s'
  const { document } = await writeHere(t, options, master)
  assert.equal(document.stale_reads, undefined)
  assert.equal(await callsOf(replica, 'get'), 0)
})

test('the nearest node answers: the replica where the primary is far, the primary where the replica is', async (t) => {
  const options =
    '--strategy lookup-get --items 500 --fill --read-from nearest --rate 500 --warm-up 0 --duration 1s'
  const far = await pairOf(t, { announcePort: (port) => slowly(t, port, { toMs: 20 }) })
  const first = await writeHere(t, options, far.master)
  assertDone(first)
  assert.equal(await callsOf(far.replica, 'get'), 0)
  const near = await pairOf(t)
  const port = await slowly(t, near.master.port, { toMs: 20 })
  const second = await writeHere(t, options, { ...near.master, port })
  assertNoneLost(second.document.items)
  assert.equal(await callsOf(near.replica, 'get'), second.document.counts.hit)
})

test('when the replica dies its reads go to the primary, and nothing is lost', async (t) => {
  const { master, replica } = await pairOf(t)
  const options =
    '--strategy lookup-get --items 500 --fill --read-from replica --rate 600 --warm-up 0 --duration 10m'
  const run = startHere(t, 'write', options, master)
  await until('its second second', () => run.intervals().length > 1)
  const before = await callsOf(replica, 'get')
  process.kill(replica.pid, 'SIGKILL')
  // A busy machine takes its time until then.
  await until('its reads go to the primary', async () => (await callsOf(master, 'get')) > 600)
  run.kill('SIGINT')
  const { document } = await run.ended
  assertNoneLost(document.items)
  assert.ok(before > 300, `${before} on the replica`)
})

test('a cache that is read from a replica serves values that were invalidated: they are counted', async (t) => {
  const { master } = await pairOf(t, { replicationMs: 200 })
  const options =
    '--strategy cache-aside --with ratio=1:9 --items 150 --rate 1000 --read-from replica --warm-up 2s --duration 4s'
  const { document, stderr } = await writeHere(t, options, master)
  assertNoneLost(document.items)
  const { compared, stale, age_ms: age } = document.stale_reads
  assert.ok(stale > 50 && stale < compared, `${stale} of ${compared}: ${stderr}`)
  // A busy machine replicates later than the proxy alone makes it.
  assert.ok(age.max > 120 && age.p50 < 250, JSON.stringify(age))
})

test('consumers fetch from the nearest node too', async (t) => {
  const { master, replica } = await pairOf(t)
  const port = await slowly(t, master.port, { toMs: 20 })
  await writeHere(t, '-q 300 --intervals 2 --ttl 60s -a all --warm-up 0', master)
  const before = await callsOf(master, 'get')
  const line = '--read-from nearest --consumers 2 --duration 2s'
  const { document, stderr } = await readHere(t, line, { ...master, port })
  assert.ok(document.fetches.count >= 2, stderr)
  const [ofMaster, ofReplica] = [await callsOf(master, 'get'), await callsOf(replica, 'get')]
  assert.ok(
    ofReplica >= 600 && ofMaster - before < 100,
    `${ofMaster - before} GET on the master, ${ofReplica} on the replica`,
  )
})
