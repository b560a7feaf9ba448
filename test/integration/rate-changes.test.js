// Rates that follow each other within one run, against a server that cannot do the first one: what is left of it is dropped, and
// the second one begins without a backlog.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeHere } from '../helpers/here.js'
import { limitedServer } from '../helpers/limited-server.js'
import { startServer } from '../helpers/servers.js'

const serverHz = 200
const [first, second] = [
  { hz: 1600, s: 2 },
  { hz: 50, s: 3 },
]
const rates = `--rate ${first.hz}@${first.s}s,${second.hz}@${second.s}s`

for (const [kind, options, command] of [
  ['clients', '--strategy lookup-get --connections 4', 'GET'],
  ['ticks', '--strategy sorted-set --window 2kB', 'SETEX'],
])
  test(`${kind}: what is left of a rate when it ends is dropped, and belongs to it`, async (t) => {
    const real = await startServer(t)
    await real.redis.config('SET', 'requirepass', '')
    const { port } = await limitedServer(t, { seed: 1, hz: serverHz, sd: 0, behind: real.port, command })
    const { document, seconds } = await writeHere(t, `${options} ${rates} --host 127.0.0.1 --port ${port}`)
    const { offered, acked, dropped } = document.items
    const due = first.hz * first.s + second.hz * second.s
    assert.ok(Math.abs(offered - due) <= 0.01 * due, `${offered} offered`)
    assert.equal(acked + dropped, offered, 'nothing else became of them')
    // What the servers could do while it lasted, and what was under way then.
    const most = 1.2 * serverHz * first.s
    assert.ok(acked <= most + second.hz * second.s, `${acked} acked`)
    assert.ok(dropped >= first.hz * first.s - most && dropped <= first.hz * first.s, `${dropped} dropped`)
    const at = seconds.findIndex(({ items }) => items.dropped > 0)
    const later = seconds.slice(at + 1).filter(({ items }) => items.acked > 0)
    // By its time: seconds in which a busy machine did not run have no lines. What was due in them may be dropped, too.
    assert.ok(
      at >= 0 && seconds[at].at_ms >= 1000 && later.length > 0,
      `dropped until ${seconds[at]?.at_ms} ms`,
    )
    for (const { items, latency_us: times } of later) {
      assert.ok(items.dropped === 0 || document.client.stopped_ms > 0, 'none of the second rate')
      // With the backlog of the first it would be 14 s.
      assert.ok(times.intended.p50 < 2e6, `${times.intended.p50} us`)
    }
  })
