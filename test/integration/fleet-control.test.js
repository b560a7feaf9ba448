// What a control may do to a fleet: be far away, answer nonsense, and be shared by fleets of one name.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { startCommand } from '../helpers/command-here.js'
import { assertIdentity, fleetOf, urlOf } from '../helpers/fleet.js'
import { bulk, infoText, startHostileServer } from '../helpers/hostile-server.js'
import { at, ownFolder } from '../helpers/programs.js'
import { callsOf, portOf, startServer } from '../helpers/servers.js'

/** @import { Scope } from '../helpers/servers.js' */

const line = '-q 40 -c 4 -p 200 -t 2 --duration 3s --warm-up 0'

/** Forwards to a server, each byte so much later. @param {Scope} t @param {{ host: string, port: number }} to @param {number} delayMs */
const startDistance = async (t, to, delayMs) => {
  const server = createServer((client) => {
    const upstream = connect(to.port, to.host)
    for (const [from, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      from.on('error', () => other.destroy())
      from.on('close', () => setTimeout(() => other.destroy(), delayMs))
      from.on('data', (bytes) => setTimeout(() => other.writable && other.write(bytes), delayMs))
    }
  })
  return portOf(t, server)
}

describe('the control of a fleet', { concurrency: 2 }, () => {
  test('is 300 ms away: two boxes start together and give one result', async (t) => {
    const fleet = await fleetOf(t)
    const port = await startDistance(t, fleet.control, 150)
    const env = { MILLRACE_CONTROL: urlOf({ ...fleet.control, port }) }
    const near = await fleet.boxHere(`${line} --run near`, env).ended
    assert.equal(near.code, 3, near.stderr)
    assert.match(near.stderr, /clock is known to ±\d+\.\d ms here, and ticks are 50\.0 ms apart/)
    const boxes = [1, 2].map(() => fleet.boxHere('-q 40 -c 1 -t 2 --intervals 3 --warm-up 0 --run far', env))
    const ended = await Promise.all(boxes.map((one) => one.ended))
    for (const { code, stderr } of ended) assert.ok(code === 0 || code === 4, stderr)
    const document = await fleet.result('far')
    assertIdentity(document.items)
    const { offered, acked, dropped, absent } = document.items
    assert.deepEqual([offered, acked + dropped, absent], [120, 120, 0])
    assert.equal(await callsOf(fleet.target, 'setex'), acked)
    for (const { clock } of document.fleet.boxes)
      assert.ok(Math.abs(clock.offset_ms) <= clock.uncertainty_ms + 5, JSON.stringify(clock))
  })

  test('two fleets of one name, at two targets: the second is refused', async (t) => {
    const fleet = await fleetOf(t)
    const other = await startServer(t)
    const first = fleet.boxHere(`${line} --run name`)
    await first.says(/waiting for all of 2 writers/)
    const stray = await fleet.boxHere(`${line} --run name`, at(other)).ended
    assert.equal(stray.code, 3, stray.stderr)
    assert.match(
      stray.stderr,
      /--run name writes to 127\.0\.0\.1:\d+, and this box to 127\.0\.0\.1:\d+, which is another server/,
    )
    const second = fleet.boxHere(`${line} --run name`)
    for (const { code, stderr } of await Promise.all([first.ended, second.ended]))
      assert.ok(code === 0 || code === 4, stderr)
    const { items, fleet: found } = await fleet.result('name')
    assert.deepEqual([items.absent, found.boxes.length], [0, 2])
    assert.equal(await callsOf(other, 'setex'), 0)
  })

  test('a box whose clock is three seconds off is refused; with --allow clock it starts with the others', async (t) => {
    const fleet = await fleetOf(t)
    const own = ownFolder(t, 'clock')
    const file = join(own, 'clock')
    writeFileSync(file, '3000')
    const env = {
      TEST_CLOCK_FILE: file,
      NODE_OPTIONS: `--import ${new URL('../helpers/set-clock.js', import.meta.url)}`,
    }
    const refused = await fleet.box(`${line} --run off`, env).ended
    assert.equal(refused.code, 3, refused.stderr)
    assert.match(refused.stderr, /clock .*over 1 s/)
    const boxes = [fleet.box(`${line} --run off --allow clock`, env), fleet.box(`${line} --run off`)]
    for (const { code, stderr } of await Promise.all(boxes.map((one) => one.ended)))
      assert.ok(code === 0 || code === 4, stderr)
    const { items, fleet: found } = await fleet.result('off')
    assertIdentity(items)
    assert.deepEqual([items.offered, items.absent], [40 * 15, 0])
    const offsets = found.boxes.map((/** @type {any} */ { clock }) => Math.round(clock.offset_ms / 1000) + 0)
    assert.deepEqual(offsets.sort(), [-3, 0])
  })

  /** What it answers to which command. @type {[what: string, to: RegExp, answer: string | null][]} */
  const nonsense = [
    ['a number to a join', /^EVAL/, ':1\r\n'],
    ['an empty list', /^EVAL/, '*0\r\n'],
    ['a list of lists', /^EVAL/, `*7\r\n${'*1\r\n*0\r\n'.repeat(7)}`],
    ['texts', /^EVAL/, `*7\r\n${['joined', 'x', '{', 'NaN', 'y', '', ''].map(bulk).join('')}`],
    ['null', /^EVAL/, '$-1\r\n'],
    ['no time', /^TIME$/, '+OK\r\n'],
    ['a time beyond all calendars', /^TIME$/, '*2\r\n:9007199254740991\r\n:0\r\n'],
    ['something that is not RESP', /^EVAL/, 'HTTP/1.1 200 OK\r\n\r\n'],
    ['nothing', /^EVAL/, null],
    ['INFO of nonsense', /^INFO$/, bulk('redis_version:x.y\r\n__proto__:1\r\n')],
    ['errors', /^EVAL/, '-ERR \u001b[2Jno\r\n'],
  ]
  for (const [what, to, answer] of nonsense)
    test(`answers ${what}: one line, and nothing is written`, async (t) => {
      const target = await startServer(t)
      const port = await startHostileServer(t, ([name]) => {
        if (to.test(name)) return answer
        return name === 'INFO' ? bulk(infoText({ run_id: 'b'.repeat(40) })) : undefined
      })
      const env = { ...at(target), MILLRACE_CONTROL: `redis://:hunter2@127.0.0.1:${port}` }
      const ended = await startCommand(t, `write ${line} --run nonsense --idle-cost never --quiet`, { env })
        .ended
      assert.doesNotMatch(ended.stderr, /hunter2|internal error|\u001b/)
      assert.equal(ended.code, 3, ended.stderr)
      assert.equal(await callsOf(target, 'setex'), 0)
    })
})
