// Boxes of one run, and what may happen to boxes: every item has one place afterwards, and the result names each fault.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertIdentity, endsApartMs, fleetOf, inState, storedByKilled, writing } from '../helpers/fleet.js'
import { linesOf, outcomesOf, until } from '../helpers/programs.js'
import { callsOf } from '../helpers/servers.js'

describe('faults of boxes', { concurrency: 2 }, () => {
  test('eight boxes: one is killed, then the one that samples, one stands still, one comes late, one has a taken number', async (t) => {
    const fleet = await fleetOf(t)
    const line = '-q 800 -c 4 --max-behind 2s'
    const { boxes, status, leader, follower } = await writing(fleet, 'faults', 8, line)
    const first = await status()
    const boxOf = (/** @type {any} */ now, /** @type {number} */ pid) =>
      now.boxes.find((/** @type {any} */ one) => one.pid === pid)

    /** @type {number[]} */
    const killedMs = []
    follower.kill('SIGKILL')
    killedMs.push(Date.now())
    await until('it is lost', async () => boxOf(await status(), follower.pid).state === 'lost')
    const late = fleet.box(`${line} -t 8 --run faults`)
    await until(
      'its number has another box',
      async () => boxOf(await status(), late.pid)?.state === 'writing',
    )

    leader.kill('SIGKILL')
    killedMs.push(Date.now())
    const next = await until('another box leads', async () => {
      const now = await status()
      return now.leader && now.leader !== first.leader ? now : null
    })
    await until('it is lost', async () => boxOf(await status(), leader.pid).state === 'lost')

    const [still, other] = boxes.filter(
      (one) => ![follower, leader].includes(one) && boxOf(next, one.pid).id !== next.leader,
    )
    const [taken] = boxOf(next, other.pid).writers
    still.kill('SIGSTOP')
    const [twice] = await Promise.all([
      fleet.box(`${line} -t 8 -a ${taken} --run faults`).ended,
      sleep(10_000),
      until('it is shown as silent or lost', async () =>
        ['silent', 'lost'].includes(boxOf(await status(), still.pid).state),
      ),
    ])
    still.kill('SIGCONT')
    assert.equal(twice.code, 3, twice.stderr)
    assert.match(twice.stderr, /every writer asked for is taken/)
    await until('it writes again', async () => inState(await status(), 'writing') === 7)

    assert.equal((await fleet.fleet('stop faults')).code, 0)
    const left = [...boxes, late].filter((one) => one !== follower && one !== leader)
    for (const { code, stderr } of await Promise.all(left.map(({ ended }) => ended)))
      assert.equal(code, 130, stderr)

    const document = await fleet.result('faults')
    const { items, agents, nodes, warnings } = document
    assertIdentity(items)
    assert.ok(items.absent > 0)
    for (const agent of agents) assert.equal(agent.offered, outcomesOf(agent) + agent.absent)
    assert.equal(
      agents.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.absent, 0),
      items.absent,
    )
    const row = (/** @type {number} */ pid) =>
      document.fleet.boxes.find((/** @type {any} */ one) => one.pid === pid)
    assert.equal(document.fleet.boxes.length, 9)
    assert.deepEqual([row(follower.pid).state, row(leader.pid).state], ['lost', 'lost'])
    assert.ok(row(still.pid).stopped_ms > 9000, JSON.stringify(row(still.pid)))
    assert.ok(row(late.pid).from_s > 1)
    assert.deepEqual(row(late.pid).writers, row(follower.pid).writers)
    // What the lost ones had under way is absent, and the server may have stored it.
    const calls = await callsOf(fleet.target, 'setex')
    const most =
      items.acked -
      row(follower.pid).acked -
      row(leader.pid).acked +
      document.commands.repeated +
      storedByKilled(document, killedMs, { items: 25, everyMs: 250 })
    assert.ok(calls >= items.acked && calls <= most, `${calls}, from ${items.acked} to ${most}`)
    const gapMs = (document.measured_s - nodes[0].sampled_s) * 1000
    assert.ok(gapMs < 2000 + endsApartMs(document), `the nodes were not sampled for ${gapMs} ms`)
    const [absent] = warnings.filter((/** @type {any} */ { code }) => code === 'absent-writers')
    assert.match(absent.message, /was lost at .*was lost at .*joined at/)
    assert.ok(
      warnings.some((/** @type {any} */ { code, invalidates }) => code === 'client-stopped' && invalidates),
    )
  })

  test('the control is away at the end: a box waits a minute, and the result is made of what reached it', async (t) => {
    const fleet = await fleetOf(t)
    const { boxes, status } = await writing(fleet, 'away', 2, '-q 100 -c 2')
    await until('some seconds reached the control', async () => ((await status()).items.acked ?? 0) > 200)
    process.kill(fleet.control.pid, 'SIGSTOP')
    await sleep(6000)
    for (const one of boxes) one.kill('SIGINT')
    for (const { code, stderr } of await Promise.all(boxes.map(({ ended }) => ended)))
      assert.equal(code, 130, stderr)
    let storedAlone = 0
    for (const own of readdirSync(fleet.out)) {
      const alone = JSON.parse(readFileSync(join(fleet.out, own, 'run.json'), 'utf8'))
      const kept = linesOf(join(fleet.out, own, 'fleet.ndjson'))
      // What came after the last second is in its last word alone.
      assert.ok(alone.items.acked - kept.at(-1).sums.whole.acked <= 100)
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
    const { box, reader, fleet } = await fleetOf(t)
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

  /** Whether a process has still to be given a signal. @param {number} pid @param {number} signal */
  const isSignalPending = (pid, signal) => {
    const [, mask] = /^ShdPnd:\s+([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return (BigInt(`0x${mask}`) & (1n << BigInt(signal - 1))) !== 0n
  }

  test('Ctrl-C with --all while the control is away: that box stops alone, and the others once they hear of it', async (t) => {
    const { control, box, status, result } = await fleetOf(t)
    const boxes = [1, 2, 3].map(() => box('-q 300 -p 1000 -c 10 -t 3 --all --run alone'))
    await until('all are writing', async () => inState(await status('alone'), 'writing') === 3)
    process.kill(control.pid, 'SIGSTOP')
    // The first waits for the control; the second is not told to wait.
    boxes[0].kill('SIGINT')
    boxes[1].kill('SIGINT')
    // Two signals at once may arrive as one.
    await until('it has the first one', () => !isSignalPending(boxes[1].pid, constants.signals.SIGINT))
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
