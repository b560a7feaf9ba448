// Boxes of a fleet as a user starts them: processes that meet on a control server and give one result.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import * as hdr from 'hdr-histogram-js'
import { eachRecorded, histogramSum, mergedPercentiles } from '../../lib/probes/latency.js'
import { remadeIn } from '../../lib/result/record.js'
import { startCommand } from '../helpers/command-here.js'
import {
  assertCalls,
  assertIdentity,
  assertStoppedAsOne,
  fleetOf,
  inState,
  urlOf,
  writing,
} from '../helpers/fleet.js'
import { areSampled, assertDone, linesOf, oddIn, ownFolder, sumOf, until } from '../helpers/programs.js'
import { callsOf, cli } from '../helpers/servers.js'
import { columns } from '../helpers/table.js'

/** A program with these modules loaded before its own code. @param {string[]} helpers */
const preloaded = (...helpers) =>
  helpers.map((name) => `--import ${new URL(`../helpers/${name}`, import.meta.url)}`).join(' ')

/** Every value of a histogram with how often it was recorded. @param {string} encoded */
const bucketsOf = (encoded) => {
  /** @type {[us: number, n: number][]} */
  const found = []
  eachRecorded(encoded, (us, n) => found.push([us, n]))
  return found
}

/** One histogram of all samples, by the library's other code: that of the programs is their own. @param {readonly number[][]} samples @param {number} at */
const histogramOf = (samples, at) => {
  const one = hdr.build({ bitBucketSize: 64, numberOfSignificantValueDigits: 3, useWebAssembly: false })
  for (const sample of samples) one.recordValueWithCount(Math.max(1, Math.round(sample[at])), sample[2])
  return hdr.encodeIntoCompressedBase64(one)
}

describe('boxes of a fleet', { concurrency: 6 }, () => {
  test('boxes whose clocks differ start together and give one result of all', async (t) => {
    const { target, control, box, result, out } = await fleetOf(t)
    const own = ownFolder(t, 'boxes')
    const offsets = [0, 200, -150]
    const boxes = offsets.map((ms, i) => {
      const file = join(own, `${i}.clock`)
      writeFileSync(file, String(ms))
      return box('-q 600 -t 3 -c 20 --duration 4s --run clocks', {
        TEST_CLOCK_FILE: file,
        TEST_SAMPLES_FILE: join(own, `${i}.json`),
        NODE_OPTIONS: preloaded('set-clock.js', 'raw-latency.js'),
      })
    })
    const ended = await Promise.all(boxes.map((one) => one.ended))
    for (const { code, stderr } of ended) assert.ok(code === 0 || code === 4, stderr)
    const document = await result('clocks')
    const { items, fleet: found, server, latency_us: latency, agents } = document
    assertIdentity(items)
    // What a machine that does not get to it in time sends nowhere is dropped.
    assert.deepEqual([items.offered, items.acked + items.dropped, items.absent], [2400, 2400, 0])
    assert.equal(agents.length, 3)
    assertCalls(await callsOf(target, 'setex'), document)
    // A leader whose INFO was not answered in time has not all seconds of the server.
    const sampled = areSampled(linesOf(join(out, 'clocks', 'intervals.ndjson')))
    if (sampled) assertCalls(server.commands.setex.calls, document)
    assert.equal(latency.commands.SETEX.count, items.acked, 'commands have latencies of all boxes')
    assert.equal(found.boxes.length, 3)
    // The control's clock is this machine's.
    const known = found.boxes
      .map((/** @type {any} */ { clock }) => ({ ms: -clock.offset_ms, within: 40 + clock.uncertainty_ms }))
      .toSorted((/** @type {{ ms: number }} */ one, /** @type {{ ms: number }} */ other) => one.ms - other.ms)
    for (const [i, ms] of offsets.toSorted((a, b) => a - b).entries())
      assert.ok(Math.abs(known[i].ms - ms) < known[i].within, JSON.stringify(known))
    // A box that knows the clock worse than to a quarter of its ticks does not begin.
    const uncertain = found.boxes.map((/** @type {any} */ { clock }) => clock.uncertainty_ms)
    assert.ok(Math.max(...uncertain) <= 12.5, `±${uncertain} ms`)
    const [worst, next] = uncertain.toSorted((/** @type {number} */ a, /** @type {number} */ b) => b - a)
    const skew = found.start.clock_skew_ms
    // Each of them is rounded in the result.
    assert.ok(Math.abs(skew - worst - next) < 1e-4, `${skew} of ${worst} and ${next}`)
    assert.ok(latency.intended.count > 100, `${latency.intended.count} samples`)
    const seconds = linesOf(join(out, 'clocks', 'intervals.ndjson'))
    assert.equal(sumOf(seconds, 'items.acked'), items.acked)
    // It is made of its seconds and facts, and so it is made again, byte for byte; so is that of a box.
    for (const folder of [join(out, 'clocks'), ended[0].folder]) {
      const path = join(folder, 'run.json')
      const text = readFileSync(path, 'utf8')
      rmSync(path)
      assert.equal(await remadeIn(folder), true)
      assert.equal(readFileSync(path, 'utf8'), text)
    }
    assert.ok(
      seconds.some(({ nodes }) => nodes.length > 0),
      'the leader samples the nodes',
    )

    /** @type {number[][]} */
    const samples = offsets.flatMap((_, i) => JSON.parse(readFileSync(join(own, `${i}.json`), 'utf8')))
    const { sums } = JSON.parse(await cli(control, 'GET', 'millrace:fleet:clocks:checkpoint'))
    for (const [at, name] of /** @type {const} */ ([
      [0, 'intended'],
      [1, 'service'],
    ])) {
      const all = histogramOf(samples, at)
      const buckets = bucketsOf(all)
      assert.ok(buckets.length > 30, `${buckets.length} buckets`)
      const bySecond = histogramSum()
      for (const { latency_us: second } of seconds) if (second[name]) bySecond.add(second[name].hdr)
      assert.deepEqual(bucketsOf(sums[`latency_us.${name}`].hdr), buckets)
      assert.deepEqual(bucketsOf(String(bySecond.encoded())), buckets)
      bySecond.close()
      const longest = Math.max(...samples.map((sample) => sample[at]))
      assert.ok(Math.abs(latency[name].max - longest) <= longest / 1000, `${latency[name].max} of ${longest}`)
      const { mean, ...times } = mergedPercentiles([all]) ?? assert.fail('no latencies')
      // The highest is the one that was measured, and its bucket ends above it.
      const { max } = latency[name]
      const cut = Object.fromEntries(Object.entries(times).map(([of, us]) => [of, Math.min(us, max)]))
      const known = { ...cut, ...(name === 'service' && { mean }), count: samples.length }
      assert.deepEqual(latency[name], known)
      t.diagnostic(`${name}: ${samples.length} samples in ${buckets.length} buckets`)
    }
  })

  test('what a fleet refuses: its target as control, another plan, an end that was, boxes that never come', async (t) => {
    const { target, boxHere: box, result } = await fleetOf(t)
    const short = '-q 100 --duration 2s'
    // On a busy machine a box takes seconds until it is ready.
    const missing = box(`${short} -t 3 --run alone --prefix alone: --join-within 15s`)
    const absentees = box(`${short} -t 2 --run some --prefix some: --join-within 15s --partial`)
    const same = await box(`${short} --run same --control ${urlOf(target)}`).ended
    assert.equal(same.code, 3)
    assert.match(same.stderr, /--control .* is .*, a server of the target/)

    const first = box(`${short} -t 2 --run pair`)
    await first.says(/ready, waiting for all of 2 writers/)
    const other = await box(`-q 200 --duration 2s -t 2 --run pair`).ended
    assert.equal(other.code, 3)
    assert.match(other.stderr, /the boxes of this run write another plan, with -q 100 \(here 200\)/)
    const second = box(`${short} -t 2 --run pair`)
    const [one, two] = [await first.ended, await second.ended]
    const document = await result('pair')
    for (const ended of [one, two]) assertDone({ ...ended, document })

    const again = await box(`${short} -t 2 --run pair`).ended
    assert.equal(again.code, 3)
    assert.match(again.stderr, /--run pair has ended/)

    const alone = await missing.ended
    assert.equal(alone.code, 3)
    assert.match(
      alone.stderr,
      /after 15 s \(--join-within\) 1 writer of 3 is ready, and writers 2-3 are missing/,
    )

    const partial = await absentees.ended
    assert.equal(partial.code, 4, partial.stderr)
    const some = await result('some')
    const { state, items, warnings } = some
    // A machine that is too busy drops some besides.
    const [absent, ...more] = oddIn(some)
    assert.deepEqual([absent.code, more], ['absent-writers', []])
    // Not valid: this machine was too busy besides.
    const reasons = warnings.filter((/** @type {any} */ { invalidates }) => invalidates)
    assert.equal(state, reasons.length === 1 ? 'partial' : 'not-valid')
    assertIdentity(items)
    assert.deepEqual([items.offered, items.acked + items.dropped, items.absent], [200, 100, 100])
    assert.match(absent.message, /1 writer never came: 100 items \(50\.0 %\)/)
  })

  test('the rights that docs/fleet.md names are enough on the control', async (t) => {
    const { control, boxHere: box, fleet, env } = await fleetOf(t)
    const page = readFileSync(new URL('../../docs/fleet.md', import.meta.url), 'utf8')
    const [, rights] = /^ +ACL (SETUSER millrace on >secret .*)$/m.exec(page) ?? assert.fail('no ACL line')
    assert.equal(await cli(control, 'ACL', ...rights.split(' ')), 'OK')
    env.MILLRACE_CONTROL = `redis://millrace:secret@${control.host}:${control.port}`
    const boxes = [1, 2].map(() => box('-q 200 -t 2 --duration 4s --run rights'))
    await until('a status', async () => (await fleet('status rights --json')).code === 0)
    for (const { code, stderr } of await Promise.all(boxes.map(({ ended }) => ended)))
      assert.ok(code === 0 || code === 4, stderr)
    const report = await startCommand(t, 'fleet report rights --json', { env }).ended
    const { items } = JSON.parse(report.stdout || assert.fail(report.stderr))
    assert.deepEqual([items.offered, items.acked + items.dropped, items.absent], [800, 800, 0])
    assert.match((await fleet('stop rights')).stderr, /ended/)
    // Clients introduce themselves; a server before 7.2 has no such command, and nothing depends on it.
    const log = await cli(control, 'ACL', 'LOG')
    const refused = [...log.matchAll(/^object\n(.*)$/gm)].map(([, what]) => what)
    assert.deepEqual(
      refused.filter((what) => what !== 'client|setinfo' && what !== 'client'),
      [],
      log,
    )
  })

  for (const by of ['fleet stop', 'Ctrl-C with --all'])
    test(`${by} ends every box at one moment, and the run has a result`, async (t) => {
      const { boxHere: box, fleet, status, result } = await fleetOf(t)
      const boxes = [1, 2].map(() => box('-q 100 -p 1000 -c 10 -t 2 --all --run long'))
      await until('two boxes are writing', async () => inState(await status('long'), 'writing') === 2)
      if (by === 'fleet stop') assert.match((await fleet('stop long')).stdout, /stop together in 2 s/)
      else boxes[0].kill('SIGINT')
      const ended = await Promise.all(boxes.map((one) => one.ended))
      assert.equal(columns(ended, 'code'), '130, 130')
      const { interrupted, items } = await result('long')
      assert.equal(interrupted, true)
      assertIdentity(items)
      t.diagnostic(`${items.absent} of ${items.offered} absent`)
      assert.ok(items.offered > 100, `${items.offered} offered`)
      assertStoppedAsOne(ended, items)
      const late = await fleet('stop long')
      assert.match(late.stderr, /long has ended already/)
    })

  test('the control is away for a while, and comes back without its data: nothing is missing, nothing counts twice', async (t) => {
    const fleet = await fleetOf(t)
    const { boxes } = await writing(
      fleet,
      fleet.boxHere,
      'away',
      2,
      '-q 20 -p 100 --duration 30s --warm-up 0',
    )
    const watching = startCommand(t, 'fleet watch away', { env: fleet.env, out: false })
    await until('its first line', () => watching.stdout())
    process.kill(fleet.control.pid, 'SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, 6000))
    process.kill(fleet.control.pid, 'SIGCONT')
    await until(
      'the control has everything',
      async () => (await fleet.fleet('status away --json')).code === 0,
    )
    await fleet.control.restart(8000)
    const ended = await Promise.all(boxes.map((one) => one.ended))
    for (const { code, stderr } of ended) assert.ok(code === 0 || code === 4, stderr)
    const watched = await watching.ended
    assert.equal(watched.code, ended[0].code, watched.stderr)
    // What a busy machine drops stands behind the writers.
    assert.match(
      watched.stdout,
      /the control has not answered for \d+ s\n(.*\n)*0:\d\d .* 2 of 2 writers( +\d+ lost)?\n/,
    )
    const document = await fleet.result('away')
    const { items, fleet: found, server } = document
    assertIdentity(items)
    assert.deepEqual([items.offered, items.acked + items.dropped, items.absent], [20 * 300, 20 * 300, 0])
    assertCalls(await callsOf(fleet.target, 'setex'), document)
    // A box that stands still for a second has none of it.
    const folders = boxes.flatMap(({ out }) => readdirSync(out).map((own) => join(out, own)))
    const kept = folders.map((own) => linesOf(join(own, 'fleet.ndjson')).length)
    const counts = found.boxes.map((/** @type {any} */ { intervals }) => intervals)
    assert.deepEqual(counts.sort(), kept.filter((n) => n > 0).sort())
    for (const { intervals_lost: lost } of found.boxes) assert.equal(lost, 0)
    const seconds = linesOf(join(boxes[0].out, 'away', 'intervals.ndjson'))
    assert.equal(sumOf(seconds, 'items.acked'), items.acked)
    assert.ok(server.commands.setex.calls > 0)
  })
})
