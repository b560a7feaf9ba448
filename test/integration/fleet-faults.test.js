// Boxes of one run, and what may happen to boxes: every item has one place afterwards, and the result names each fault.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runText } from '../../lib/report/text.js'
import { assertIdentity, endsApartMs, fleetOf, inState, storedByKilled, writing } from '../helpers/fleet.js'
import { linesOf, outcomesOf, sumOf, until } from '../helpers/programs.js'
import { callsOf } from '../helpers/servers.js'
import { columns } from '../helpers/table.js'

describe('faults of boxes', { concurrency: true }, () => {
  test('four boxes: one is killed, then the one that samples, one stands still, one comes late, one has a taken number', async (t) => {
    const fleet = await fleetOf(t)
    const line = '-q 400 -c 4 --max-behind 2s'
    const { boxes, status, leader, follower } = await writing(fleet, fleet.box, 'faults', 4, line)
    const first = await status()
    const boxOf = (/** @type {any} */ now, /** @type {number} */ pid) =>
      now.boxes.find((/** @type {any} */ one) => one.pid === pid)

    /** @type {number[]} */
    const killedMs = []
    follower.kill('SIGKILL')
    killedMs.push(Date.now())
    const late = fleet.boxHere(`${line} -t 4 --run faults`)
    const latePid = process.pid
    await until('its number has another box, which writes', async () => {
      late.assertRuns()
      const now = boxOf(await status(), latePid)
      return now?.state === 'writing' && now.items?.acked > 0
    })

    await until('the killed one is lost', async () => boxOf(await status(), follower.pid).state === 'lost')
    leader.kill('SIGKILL')
    killedMs.push(Date.now())
    const next = await until('another box leads', async () => {
      const now = await status()
      return now.leader && now.leader !== first.leader ? now : null
    })
    await until('it is lost', async () => boxOf(await status(), leader.pid).state === 'lost')

    const left = boxes.filter((one) => one !== follower && one !== leader)
    const [still] = left.filter(({ pid }) => boxOf(next, pid).id !== next.leader)
    const [taken] = boxOf(next, latePid).writers
    still.kill('SIGSTOP')
    const [twice] = await Promise.all([
      fleet.boxHere(`${line} -t 4 -a ${taken} --run faults`).ended,
      sleep(8000),
      until('it is shown as silent or lost', async () =>
        ['silent', 'lost'].includes(boxOf(await status(), still.pid).state),
      ),
    ])
    still.kill('SIGCONT')
    assert.equal(twice.code, 3, twice.stderr)
    assert.match(twice.stderr, /all writers are in use/)
    await until('it writes again', async () => inState(await status(), 'writing') === 3)

    assert.equal((await fleet.fleet('stop faults')).code, 0)
    for (const { code, stderr } of await Promise.all([...left, late].map(({ ended }) => ended)))
      assert.equal(code, 130, stderr)

    const document = await fleet.result('faults')
    const { items, agents, nodes, warnings, state } = document
    assert.notEqual(state, 'valid')
    const shown = runText(document, { columns: 400, verbose: true })
    const written = (items.acked / items.offered) * 100
    const [, share] = /^rate .* · ([\d.]+) % of the items of all boxes written$/m.exec(shown) ?? []
    assert.ok(Math.abs(Number(share) - written) <= 0.1, shown)
    assert.match(shown, /^fleet +5 boxes .* · 2 of 5 boxes lost since \d:\d\d/m)
    assert.doesNotMatch(shown, /run it again.*--out/)
    assertIdentity(items)
    assert.ok(items.absent > 0)
    for (const agent of agents) assert.equal(agent.offered, outcomesOf(agent) + agent.absent)
    assert.equal(sumOf(agents, 'absent'), items.absent)
    const row = (/** @type {number} */ pid) =>
      document.fleet.boxes.find((/** @type {any} */ one) => one.pid === pid)
    assert.equal(document.fleet.boxes.length, 5)
    assert.deepEqual([row(follower.pid).state, row(leader.pid).state], ['lost', 'lost'])
    const stopped = document.fleet.boxes.filter((/** @type {any} */ one) => one.stopped_ms > 7000)
    assert.equal(columns(stopped, 'pid'), String(still.pid))
    const own = row(latePid)
    assert.ok(own.from_s > 1 && own.acked > 0, JSON.stringify(own))
    assert.equal(own.state, 'interrupted')
    assert.deepEqual(own.writers, row(follower.pid).writers)
    // What the lost ones had under way is absent, and the server may have stored it.
    const calls = await callsOf(fleet.target, 'setex')
    const most =
      items.acked -
      row(follower.pid).acked -
      row(leader.pid).acked +
      document.commands.repeated +
      storedByKilled(document, killedMs, { items: 25, everyMs: 250 })
    assert.ok(calls >= items.acked && calls <= most, `${calls}, from ${items.acked} to ${most}`)
    // Samples begin and end with an answer, which a busy machine gives late.
    const sampled = linesOf(join(fleet.out, 'faults', 'intervals.ndjson')).flatMap(({ nodes: rows }) =>
      rows.filter((/** @type {any} */ node) => node.over_ms > 0),
    )
    const fromMs = Math.max(0, sampled[0].at_ms - sampled[0].over_ms)
    const measuredMs = document.measured_s * 1000
    const outsideMs = fromMs + Math.max(0, measuredMs - sampled.at(-1).at_ms)
    const gapMs = measuredMs - nodes[0].sampled_s * 1000
    const mostMs = 2000 + outsideMs + endsApartMs(document)
    assert.ok(gapMs < mostMs, `the nodes were not sampled for ${gapMs} ms`)
    const [absent] = warnings.filter((/** @type {any} */ { code }) => code === 'absent-writers')
    assert.match(absent.message, /was lost at .*was lost at .*joined at/)
    assert.ok(
      warnings.some((/** @type {any} */ { code, invalidates }) => code === 'client-stopped' && invalidates),
    )
  })

  test('the control is away at the end: a box waits a minute, and the result is made of what reached it', async (t) => {
    const fleet = await fleetOf(t)
    const { boxes, status } = await writing(fleet, fleet.boxHere, 'away', 2, '-q 100 -c 2')
    await until('some seconds reached the control', async () => ((await status()).items.acked ?? 0) > 200)
    process.kill(fleet.control.pid, 'SIGSTOP')
    await sleep(6000)
    for (const one of boxes) one.kill('SIGINT')
    for (const { code, stderr } of await Promise.all(boxes.map(({ ended }) => ended)))
      assert.equal(code, 130, stderr)
    let storedAlone = 0
    for (const { document: alone, folder } of await Promise.all(boxes.map(({ ended }) => ended))) {
      const kept = linesOf(join(folder, 'fleet.ndjson'))
      // What came after the last second, of 50 items each, is in its last word alone.
      const afterS = Math.max(0, alone.duration_s - kept.at(-1).at_ms / 1000)
      assert.ok(alone.items.acked - kept.at(-1).sums.whole.acked <= 50 * (2 + afterS))
      storedAlone += alone.items.acked
    }
    process.kill(fleet.control.pid, 'SIGCONT')
    const { items, fleet: found } = await until('it has no leader', async () =>
      fleet.result('away').catch(() => null),
    )
    assertIdentity(items)
    // A server that stands still has what was sent to it in its buffers, and takes it afterwards.
    assert.ok(items.acked > 200 && items.acked <= storedAlone, `${items.acked} of ${storedAlone}`)
    assert.equal(items.acked + items.absent, items.offered)
    assert.equal(found.boxes.length, 2)
  })

  test('a stop before the start ends every box that waits, and no run begins', async (t) => {
    const { boxHere: box, readerHere: reader, fleet } = await fleetOf(t)
    const boxes = [1, 2].map(() => box('-q 100 -t 3 --run early'))
    for (const one of boxes) await one.says(/ready, waiting for all of 3 writers/)
    const reading = reader('-p 500 --run early')
    await reading.says(/ready, waiting for 3 writers/)
    assert.equal((await fleet('stop early')).code, 0)
    for (const { code, stderr } of await Promise.all([...boxes, reading].map(({ ended }) => ended))) {
      assert.equal(code, 130, stderr)
      assert.match(stderr, /stopped by /)
    }
    const { state, started, stopped_by: by } = JSON.parse((await fleet('status early --json')).stdout)
    assert.deepEqual([state, started], ['joining', null])
    assert.ok(by)
  })

  test('Ctrl-C with --all while the control is away: that box stops alone, and the others once they hear of it', async (t) => {
    const { control, boxHere: box, status, result } = await fleetOf(t)
    const boxes = [1, 2, 3].map(() => box('-q 300 -p 1000 -c 10 -t 3 --all --run alone'))
    await until('all are writing', async () => inState(await status('alone'), 'writing') === 3)
    process.kill(control.pid, 'SIGSTOP')
    // The first waits for the control; the second is not told to wait.
    boxes[0].kill('SIGINT')
    boxes[1].kill('SIGINT')
    boxes[1].kill('SIGINT')
    const atOnceMs = performance.now()
    assert.equal((await boxes[1].ended).code, 130)
    assert.ok(performance.now() - atOnceMs < 30_000, 'a control that is away is waited for: a minute')
    await sleep(3000)
    process.kill(control.pid, 'SIGCONT')
    const ended = await Promise.all([boxes[0], boxes[2]].map((one) => one.ended))
    for (const { code, stderr } of ended) assert.equal(code, 130, stderr)
    assert.match(ended[1].stderr, /stopped by /)
    const { items, interrupted } = await result('alone')
    assert.equal(interrupted, true)
    assertIdentity(items)
    assert.ok(items.acked > 0 && items.absent > 0, JSON.stringify(items))
  })
})
