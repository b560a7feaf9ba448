import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { performance } from 'node:perf_hooks'
import test from 'node:test'
import { promisify } from 'node:util'
import { systemTimers } from '../../lib/base/timers.js'
import { bystanderProbe } from '../../lib/probes/bystander.js'
import { addressOf } from '../../lib/servers/address.js'
import { dial } from '../../lib/servers/dial.js'
import { until } from '../helpers/programs.js'
import { frozenDuring, startServer } from '../helpers/servers.js'

/** @import { TestServer } from '../helpers/servers.js' */
/** @import { TestContext } from 'node:test' */

const clock = () => performance.now()
// One PING at a random moment of each 20 ms.
const longestGapMs = 42

/**
 * A bystander that has had its first answers, and what it recorded.
 * @param {TestContext} t
 * @param {TestServer[]} servers they share a password
 * @param {typeof dial} [dialWith]
 * @param {(ms: number) => void} [sleep]
 */
const watching = async (t, servers, dialWith = dial, sleep = undefined) => {
  /** @type {{ address: string, ms: number, dueMs: number }[]} */
  const pings = []
  const probe = bystanderProbe({
    masters: () => servers,
    dial: dialWith,
    access: { password: servers[0].password },
    clock,
    sleep,
    record: (address, latencyUs) => {
      const ms = latencyUs / 1000
      pings.push({ address, ms, dueMs: clock() - ms })
    },
  })
  t.after(probe.stop)
  probe.start()
  await until('ten answers', () => pings.length >= 10)
  const [first] = pings
  pings.length = 0
  return { first, pings, worstMs: () => Math.max(...pings.map(({ ms }) => ms)), stop: probe.stop }
}

const clients = async (/** @type {TestServer} */ { redis }) =>
  String(await redis.client('LIST'))
    .trim()
    .split('\n')
/** The longest time in which this process did not come to its timers. @param {TestContext} t */
const pauses = (t) => {
  let lastMs = clock()
  let longestMs = 0
  const look = () => {
    longestMs = Math.max(longestMs, clock() - lastMs)
    lastMs = clock()
  }
  const timer = setInterval(look, 5)
  t.after(() => clearInterval(timer))
  return () => {
    look()
    return longestMs
  }
}
/** How a test is called where the thread sleeps between PINGs. @param {unknown} sleep */
const inSleep = (sleep) => (sleep ? ', in a sleep too' : '')
const own = async (/** @type {TestServer} */ server) =>
  (await clients(server)).find((line) => line.includes('name=millrace-bystander'))

test('an uncut ZADD of 300,000 members is measured as redis-cli --latency does', async (t) => {
  const server = await startServer(t)
  let command = '*600002\r\n$4\r\nZADD\r\n$10\r\nlatest-ids\r\n'
  for (let i = 0; i < 300_000; i++) command += `$13\r\n${1_700_000_000_000 + i}\r\n$6\r\n${100_000 + i}\r\n`
  const zadd = Buffer.from(command)
  let answered = false
  const onBytes = () => {
    answered = true
  }
  const socket = await dial(server, { password: server.password }, { onBytes, onClose: () => {} })
  t.after(() => socket.destroy())

  const { pings, worstMs } = await watching(t, [server])
  const args = ['-h', server.host, '-p', String(server.port), '--raw', '--latency', '-i', '8']
  const witness = promisify(execFile)('redis-cli', args, {
    env: { ...process.env, REDISCLI_AUTH: server.password },
  })
  await until('redis-cli pings', async () =>
    (await clients(server)).some((line) => / name= .* cmd=ping /.test(line)),
  )
  pings.length = 0
  const longestPauseMs = pauses(t)
  socket.write(zadd)
  await until('ZADD is answered', () => answered)
  const endMs = clock()
  await until('a PING after it', () => pings.some(({ dueMs }) => dueMs > endMs))
  const ownMs = longestPauseMs()
  // A stall that comes after the witness has ended is none of it.
  const worst = worstMs()
  const { stdout } = await witness
  assert.equal(await server.redis.zcard('latest-ids'), 300_000)
  const witnessMs = Number(stdout.trim().split(' ')[1])
  const stats = String(await server.redis.info('commandstats'))
  const serverMs = Number(/cmdstat_zadd:calls=1,usec=(\d+)/.exec(stats)?.[1]) / 1000
  const said = `worst ${worst} ms, redis-cli ${witnessMs} ms, the server ${serverMs} ms, a pause here ${ownMs} ms`
  t.diagnostic(said)
  assert.ok(witnessMs > 30, `redis-cli waited for nothing: ${stdout}`)
  // Where one of the two processes had to wait for the processor, it waited for that as well.
  assert.ok(worst > Math.min(witnessMs, serverMs) / 2 && worst < witnessMs * 2 + ownMs, said)
})

for (const sleep of [undefined, systemTimers.sleep])
  test(`every PING that is due in a stall waits for its end${inSleep(sleep)}`, async (t) => {
    const server = await startServer(t, { config: { 'enable-debug-command': 'local' } })
    const { pings } = await watching(t, [server], dial, sleep)
    const longestPauseMs = pauses(t)
    const startMs = clock()
    await server.redis.call('DEBUG', 'SLEEP', '0.3')
    const endMs = clock()
    // A server that stalls again before it answers those that waited answers this one after them.
    await server.redis.ping()
    const overMs = clock()
    await until('a PING after it', () => pings.some(({ dueMs }) => dueMs > overMs))
    const ownMs = longestPauseMs()
    const during = pings.filter(({ dueMs }) => dueMs >= startMs && dueMs < endMs)
    const worstMs = Math.max(...during.map(({ ms }) => ms))
    const stalls = during.filter(({ ms }) => ms >= 20).length
    const said = `worst ${worstMs} ms, ${stalls} above 20 ms, in ${overMs - startMs} ms; a pause here ${ownMs} ms`
    t.diagnostic(said)
    // The end of the stall is seen with the answer to it, or at the latest after a pause of this process.
    assert.ok(worstMs >= 300 - longestGapMs && worstMs < overMs - startMs + ownMs + 20, said)
    assert.ok(stalls >= 13 && stalls <= (endMs - startMs) / 20 + 2, said)
  })

for (const sleep of [undefined, systemTimers.sleep])
  test(`an outage is measured to its end, and no PING of it is lost${inSleep(sleep)}`, async (t) => {
    const server = await startServer(t)
    const { pings, worstMs, stop } = await watching(t, [server], dial, sleep)
    const startMs = clock()
    const before = await own(server)
    await server.redis.config('SET', 'port', '0')
    await server.redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    const killedMs = clock()
    await until('300 ms', () => clock() - killedMs > 300)
    await server.redis.config('SET', 'port', String(server.port))
    await until('PINGs of the outage', () => pings.length > 0 && worstMs() >= 300 - longestGapMs)
    const after = await own(server)
    assert.ok(after && after.split(' ')[0] !== before?.split(' ')[0], 'it is a new connection')
    const endMs = clock()
    await until('a PING after it', () => pings.some(({ dueMs }) => dueMs > endMs))
    const answeredMeanwhile = pings.filter(({ dueMs }) => dueMs >= startMs && dueMs < endMs).length
    const due = (endMs - startMs) / 20
    stop()
    t.diagnostic(`worst ${worstMs()} ms, ${answeredMeanwhile} of ${due} PINGs`)
    assert.ok(Math.abs(answeredMeanwhile - due) <= 3, `${answeredMeanwhile} of ${due} PINGs`)
    await until('it has left', async () => !(await own(server)))
  })

test('it follows the masters: what waits for one that is none any more ends there', async (t) => {
  const [one, other] = await Promise.all([startServer(t), startServer(t)])
  await other.redis.config('SET', 'requirepass', one.password)
  const servers = [one]
  let sent = 0
  /** @type {typeof dial} */
  const counted = async (...needs) => {
    const socket = await dial(...needs)
    const write = socket.write.bind(socket)
    socket.write = (/** @type {any[]} */ ...args) => {
      sent++
      return write(.../** @type {[string]} */ (args))
    }
    return socket
  }
  const { pings } = await watching(t, servers, counted)
  await frozenDuring(one, async () => {
    const before = sent
    await until('five PINGs are sent', () => sent >= before + 5)
    servers[0] = other
    await until('an answer of the other', () => pings.some(({ address }) => address === addressOf(other)))
    const waited = pings.filter(({ address, ms }) => address === addressOf(one) && ms >= 20)
    assert.ok(waited.length > 0, 'the requests that hung at the frozen master count')
  })
})

test('a thread of its own sleeps while every PING is answered, and a master that stalls holds up none to another', async (t) => {
  const [one, other] = await Promise.all([startServer(t), startServer(t)])
  await other.redis.config('SET', 'requirepass', one.password)
  let slept = 0
  const { pings } = await watching(t, [one, other], dial, (ms) => {
    slept++
    systemTimers.sleep?.(ms)
  })
  const ofOther = () => pings.filter(({ address }) => address === addressOf(other)).length
  pings.length = 0
  slept = 0
  // After a stop of the machine PINGs come at once, without sleeps.
  await until('50 PINGs to one of them, and sleeps', () => ofOther() >= 50 && slept > 10)
  t.diagnostic(`${slept} sleeps in ${ofOther()} PINGs to each`)
  await frozenDuring(one, async () => {
    await until('its answers end', () => pings.at(-1)?.address === addressOf(other))
    await until('the next PINGs', () => pings.slice(-3).every(({ address }) => address === addressOf(other)))
    slept = 0
    pings.length = 0
    const startMs = clock()
    await until('20 PINGs to the other', () => ofOther() >= 20)
    const tookMs = clock() - startMs
    t.diagnostic(`20 PINGs in ${tookMs} ms, ${slept} sleeps`)
    assert.equal(slept, 0)
    // One that waits for a look each second would take twenty of them.
    assert.ok(tookMs < 4000, `${tookMs} ms`)
  })
})

test('nothing is due before a master was reached', async (t) => {
  const server = await startServer(t)
  await server.redis.config('SET', 'port', '0')
  let refused = 0
  /** @type {typeof dial} */
  const counted = (...needs) =>
    dial(...needs).catch((error) => {
      refused++
      throw error
    })
  let openMs = Number.POSITIVE_INFINITY
  const open = until('three refusals', () => refused >= 3).then(() => {
    openMs = clock()
    return server.redis.config('SET', 'port', String(server.port))
  })
  const [{ first }] = await Promise.all([watching(t, [server], counted), open])
  assert.ok(first.dueMs >= openMs, `the first was due ${openMs - first.dueMs} ms before the server was there`)
})
