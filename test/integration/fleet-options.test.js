// What boxes of a fleet may be told: a control that speaks TLS, ticks that are spread, an interrupt that ends all.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '../helpers/command-here.js'
import { assertIdentity, assertStoppedAsOne, fleetOf, writing } from '../helpers/fleet.js'
import { at, until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'
import { columns } from '../helpers/table.js'
import { makeCertificates, startTlsServers } from '../helpers/tls-servers.js'

describe('options of a fleet', { concurrency: 2 }, () => {
  test('a control that speaks TLS: boxes, their leader and millrace fleet reach it by --ca, and not without', async (t) => {
    const certificates = makeCertificates(t)
    const [target, control] = await Promise.all([startServer(t), startTlsServers(t, certificates)])
    const env = {
      ...at(target),
      MILLRACE_CONTROL: `rediss://:${control.password}@${control.host}:${control.port}`,
    }
    const line = 'write -q 200 -t 2 --duration 5s --run tls --idle-cost never --quiet'
    const stranger = await runCommand(t, line, { env })
    assert.equal(stranger.code, 3, stranger.stderr)
    assert.match(stranger.stderr, /certificate/)
    const ca = `--ca ${certificates.ca}`
    const boxes = [1, 2].map(() => runCommand(t, `${line} ${ca}`, { env }))
    for (const { code, stderr } of await Promise.all(boxes)) {
      assert.ok(code === 0 || code === 4, stderr)
      assert.doesNotMatch(stderr, /thread ended/)
    }
    const report = await runCommand(t, `fleet report tls --json ${ca}`, { env })
    const { items } = JSON.parse(report.stdout || assert.fail(report.stderr))
    assert.deepEqual([items.offered, items.acked + items.dropped, items.absent], [1000, 1000, 0])
  })

  /** How far the items of the second of two writers are behind those of the first, in the second; null: of one there are none. @param {string[]} scored */
  const behindMs = (scored) => {
    const scores = { first: 0, second: 0 }
    for (let i = 0; i < scored.length; i += 2) {
      const which = Number(scored[i].replace('item:', '')) <= 50 ? 'first' : 'second'
      scores[which] = Math.max(scores[which], Number(scored[i + 1]))
    }
    if (scores.first === 0 || scores.second === 0) return null
    return (((scores.second - scores.first) % 1000) + 1000) % 1000
  }

  test('--stagger spreads the ticks of two boxes over the time between two ticks, and Ctrl-C with --all ends both', async (t) => {
    const fleet = await fleetOf(t)
    const { boxes } = await writing(
      fleet,
      fleet.boxHere,
      'spread',
      2,
      '-q 100 -p 1s --max-behind 5s --ttl 3 --stagger --all',
    )
    /** @type {number[]} */
    const seen = []
    // Due moments are in the scores: the median of several leaves out a tick that came late.
    await until('nine looks', async () => {
      const found = behindMs(await fleet.target.redis.zrange('latest-ids', '0', '-1', 'WITHSCORES'))
      if (found !== null) seen.push(found)
      await sleep(700)
      return seen.length === 9
    })
    boxes[0].kill('SIGINT')
    const ended = await Promise.all(boxes.map((one) => one.ended))
    for (const { code, stderr } of ended) assert.equal(code, 130, stderr)
    const { interrupted, items, fleet: found } = await fleet.result('spread')
    assert.equal(interrupted, true)
    assertIdentity(items)
    assertStoppedAsOne(ended, items)
    assert.equal(columns(found.boxes, 'state'), 'interrupted, interrupted')
    const staggered = seen.toSorted((a, b) => a - b)[4]
    assert.ok(staggered > 300 && staggered < 700, `${seen} ms`)
  })
})
