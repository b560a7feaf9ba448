// Boxes that read what a fleet writes: one run, one result, their reads beside the writes.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { assertIdentity, assertStoppedAsOne, fleetOf, inState } from '../helpers/fleet.js'
import { faultsIn, linesOf, sumOf, until } from '../helpers/programs.js'
import { callsOf } from '../helpers/servers.js'
import { columns } from '../helpers/table.js'

describe('boxes that read', { concurrency: 2 }, () => {
  test('two boxes write and two read: one result, whose reads are those that the server counted', async (t) => {
    const { target, control, boxHere: box, readerHere: reader, fleet, ...place } = await fleetOf(t)
    const { status: statusNow, result } = place
    const line = '-q 400 -t 2 -c 4 --run both'
    // Whichever comes first waits for the others.
    const first = reader('-t 2 -p 500 --verify --run both')
    const boxes = [box(line), box(line)]
    await until('the first reads', async () => inState(await statusNow('both'), 'reading') === 1)
    const second = reader('-t 2 -p 500 --verify --run both')
    const others = await reader('-t 2 -p 700 --verify --run both').ended
    assert.equal(others.code, 3)
    assert.match(others.stderr, /its readers read otherwise, with -p 500 \(here 700\)/)
    await until('all at work', async () => {
      second.assertRuns()
      return inState(await statusNow('both'), 'reading') === 2
    })
    const status = JSON.parse((await fleet('status both --json')).stdout)
    assert.equal(columns(status.boxes, 'writers', 'readers'), '1 , 2 ,  1,  2')
    const { stdout: screen } = await fleet('status both')
    assert.match(screen, /reads .* items\/s by 2 of 2 readers/)
    assert.equal((await fleet('stop both')).code, 0)
    const ended = await Promise.all([...boxes, first, second].map((one) => one.ended))
    for (const { code, stderr } of ended) assert.equal(code, 130, stderr)

    const document = await result('both')
    const { items, readers } = document
    assertIdentity(items)
    assert.ok(items.acked > 0)
    assertStoppedAsOne(ended.slice(0, boxes.length), items)
    assert.equal(columns(readers.boxes, 'readers', 'state'), '1 interrupted, 2 interrupted')
    // Not one of the reads is missing, and none counts twice: an id is looked up once, a value asked for once.
    // Each writer asks for leftovers of earlier runs once.
    assert.equal(await callsOf(target, 'zrangebyscore'), readers.fetches.count + readers.fetches.failed + 2)
    const asked = readers.fetches.values + readers.fetches.nils
    const gets = await callsOf(target, 'get')
    // What is missing is asked for again at its master, at most six times.
    assert.ok(gets >= asked && gets - asked <= 6 * readers.fetches.nils, `${gets} GETs, ${asked} values`)
    assert.equal(sumOf(readers.boxes, 'fetches'), readers.fetches.count)
    assert.equal(readers.fetches.duration_ms.count, readers.fetches.count)
    assert.equal(readers.rate.nominal, 4)
    const { checked, corrupt, missing, unexpected } = readers.verify
    assert.deepEqual([corrupt, missing, unexpected], [0, 0, 0])
    assert.ok(checked > 0)
    // The late one began at a whole second, and what it read is in the seconds of the run.
    assert.ok(readers.boxes.some((/** @type {any} */ one) => one.from_s >= 1 && one.from_s % 1 === 0))
    const lines = linesOf(join(boxes[0].out, 'both', 'intervals.ndjson'))
    for (const path of ['fetches.count', 'duration_us.count'])
      assert.equal(sumOf(lines, path), readers.fetches.count)
    assert.equal(sumOf(lines, 'items.acked'), items.acked)
    const medians = [first, second].map(({ out }) => {
      const own = readdirSync(out).find((name) => name.startsWith('both.')) ?? assert.fail('no such folder')
      return JSON.parse(readFileSync(join(out, own, 'run.json'), 'utf8')).fetches.items_p50
    })
    const median = readers.fetches.items_p50
    assert.ok(median >= Math.min(...medians) && median <= Math.max(...medians), `${median} of ${medians}`)
    assert.ok(document.warnings.some((/** @type {any} */ { code }) => code === 'reads-included'))
    assert.equal(document.server.foreign_calls?.by ?? 'consumers', 'consumers')
    const odd = faultsIn(document).filter(
      (/** @type {any} */ { code }) => !/^(absent-writers$|read-(client|overrun|too-few))/.test(code),
    )
    assert.deepEqual(odd, [])
    const rows = [...readers.boxes, ...document.fleet.boxes]
    assert.equal(await callsOf(control, 'xadd'), sumOf(rows, 'intervals'))
  })

  test('a reader is killed: its reads until then count, and the run is partial; one without a run is refused', async (t) => {
    const { boxHere: box, reader, readerHere, fleet, status, result } = await fleetOf(t)
    const early = readerHere('-p 500 --run lost --join-within 1s')
    const refused = await early.ended
    assert.equal(refused.code, 3)
    assert.match(refused.stderr, /no writer has begun it on .* after 1 s \(--join-within\)/)

    const line = '-q 200 -t 1 -c 4 --run lost'
    const writer = box(line)
    const readers = [reader('-t 2 -p 500 --run lost'), reader('-t 2 -p 500 --run lost')]
    const pid = await until('both read', async () => {
      const { boxes } = await status('lost')
      const at = boxes.filter((/** @type {any} */ { state }) => state === 'reading')
      return at.length === 2 && at.every((/** @type {any} */ { fetches }) => fetches.count > 1)
        ? at[0].pid
        : null
    })
    const killed = readers.find((one) => one.pid === pid)
    killed?.kill('SIGKILL')
    await until('it is lost', async () => inState(await status('lost'), 'lost') === 1)
    // The other one ends with the last writer, which is interrupted here.
    await fleet('stop lost')
    const { code, stderr } = await writer.ended
    assert.equal(code, 130, stderr)
    const document = await result('lost')
    assertIdentity(document.items)
    assert.equal(document.items.absent, 0)
    const [lost] = document.readers.boxes.filter((/** @type {any} */ { state }) => state === 'lost')
    assert.equal(lost.pid, pid)
    assert.ok(lost.fetches > 1)
    assert.ok(
      document.warnings.some(
        (/** @type {any} */ { code: why, message }) =>
          why === 'absent-readers' && /was lost at/.test(message),
      ),
    )
  })
})
