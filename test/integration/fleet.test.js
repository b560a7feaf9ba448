// Boxes of a fleet as a user starts them: processes that meet on a control server and give one result.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import * as hdr from 'hdr-histogram-js'
import { eachRecorded, histogramSum, mergedPercentiles } from '../../lib/measure/latency.js'
import { runText } from '../../lib/report/text.js'
import { remadeIn } from '../../lib/result/record.js'
import {
  assertIdentity,
  assertStoppedAsOne,
  endsApartMs,
  fleetOf,
  inState,
  storedByKilled,
  urlOf,
  writing,
} from '../helpers/fleet.js'
import { assertDone, faultsIn, linesOf, ownFolder, startProgram, until } from '../helpers/programs.js'
import { callsOf, cli } from '../helpers/servers.js'

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

/** One histogram of all samples, by the library's other code: that of the programs is WASM. @param {readonly number[][]} samples @param {number} at */
const histogramOf = (samples, at) => {
  const one = hdr.build({ bitBucketSize: 64, numberOfSignificantValueDigits: 3, useWebAssembly: false })
  for (const sample of samples) one.recordValueWithCount(Math.max(1, Math.round(sample[at])), sample[2])
  return hdr.encodeIntoCompressedBase64(one)
}

test('eight boxes whose clocks differ start together and give one result of all', async (t) => {
  const { target, control, box, result, out } = await fleetOf(t)
  const own = ownFolder(t, 'boxes')
  const offsets = [0, 200, -200, 150, -150, 80, -80, 20]
  const boxes = offsets.map((ms, i) => {
    const file = join(own, `${i}.clock`)
    writeFileSync(file, String(ms))
    return box('-q 1000 -t 8 -c 20 --duration 6s --run eight', {
      TEST_CLOCK_FILE: file,
      TEST_SAMPLES_FILE: join(own, `${i}.json`),
      NODE_OPTIONS: preloaded('set-clock.js', 'raw-latency.js'),
    })
  })
  const ended = await Promise.all(boxes.map((one) => one.ended))
  for (const { code, stderr } of ended) assert.ok(code === 0 || code === 4, stderr)
  const { items, fleet: found, server, latency_us: latency, agents } = await result('eight')
  assertIdentity(items)
  // What a machine that does not get to it in time sends nowhere is dropped.
  assert.deepEqual([items.offered, items.acked + items.dropped, items.absent], [6000, 6000, 0])
  assert.equal(agents.length, 8)
  assert.equal(await callsOf(target, 'setex'), items.acked)
  assert.equal(server.commands.setex.calls, items.acked)
  assert.equal(latency.commands.SETEX.count, items.acked, 'commands have latencies of all boxes')
  assert.equal(found.boxes.length, 8)
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
  assert.ok(latency.intended.count > 500, `${latency.intended.count} samples`)
  const seconds = linesOf(join(out, 'eight', 'intervals.ndjson'))
  assert.equal(
    seconds.reduce((sum, { items: own }) => sum + own.acked, 0),
    items.acked,
  )
  // It is made of its seconds and facts, and so it is made again, byte for byte; so is that of a box.
  for (const folder of [join(out, 'eight'), ended[0].folder]) {
    const path = join(folder, 'run.json')
    const text = readFileSync(path, 'utf8')
    rmSync(path)
    assert.equal(await remadeIn(folder), true)
    assert.equal(readFileSync(path, 'utf8'), text)
  }
  assert.ok(seconds.filter(({ nodes }) => nodes.length > 0).length >= 3, 'the leader samples the nodes')

  /** @type {number[][]} */
  const samples = offsets.flatMap((_, i) => JSON.parse(readFileSync(join(own, `${i}.json`), 'utf8')))
  const { sums } = JSON.parse(await cli(control, 'GET', 'millrace:fleet:eight:checkpoint'))
  for (const [at, name] of /** @type {const} */ ([
    [0, 'intended'],
    [1, 'service'],
  ])) {
    const all = histogramOf(samples, at)
    const buckets = bucketsOf(all)
    assert.ok(buckets.length > 100, `${buckets.length} buckets`)
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

describe('boxes of a fleet', { concurrency: 3 }, () => {
  test('what a fleet refuses: its target as control, another plan, an end that was, boxes that never come', async (t) => {
    const { target, box, result } = await fleetOf(t)
    const short = '-q 100 --duration 2s'
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

    const again = await box(`${short} -t 2 --run pair`, {}, ownFolder(t, 'another')).ended
    assert.equal(again.code, 3)
    assert.match(again.stderr, /--run pair has ended/)

    const alone = await box(`${short} -t 3 --run alone --join-within 3s`).ended
    assert.equal(alone.code, 3)
    assert.match(
      alone.stderr,
      /after 3 s \(--join-within\) 1 writer of 3 is ready, and writers 2-3 are missing/,
    )

    const partial = await box(`${short} -t 2 --run some --join-within 3s --partial`).ended
    assert.equal(partial.code, 4, partial.stderr)
    const some = await result('some')
    const { state, items, warnings } = some
    assert.deepEqual(
      faultsIn(some).map((/** @type {any} */ { code }) => code),
      ['absent-writers'],
    )
    // Not valid: this machine was too busy besides.
    const reasons = warnings.filter((/** @type {any} */ { invalidates }) => invalidates)
    assert.equal(state, reasons.length === 1 ? 'partial' : 'not-valid')
    assertIdentity(items)
    assert.deepEqual([items.offered, items.acked, items.absent], [200, 100, 100])
    const [absent] = faultsIn(some)
    assert.match(absent.message, /1 writer never came: 100 items \(50\.0 %\)/)
  })

  test('the rights that docs/fleet.md names are enough on the control', async (t) => {
    const { control, box, fleet, result, env } = await fleetOf(t)
    const page = readFileSync(new URL('../../docs/fleet.md', import.meta.url), 'utf8')
    const [, rights] = /^ +ACL (SETUSER millrace on >secret .*)$/m.exec(page) ?? assert.fail('no ACL line')
    assert.equal(await cli(control, 'ACL', ...rights.split(' ')), 'OK')
    env.MILLRACE_CONTROL = `redis://millrace:secret@${control.host}:${control.port}`
    const boxes = [1, 2].map(() => box('-q 200 -t 2 --duration 4s --run rights'))
    await until('a status', async () => (await fleet('status rights --json')).code === 0)
    for (const { code, stderr } of await Promise.all(boxes.map(({ ended }) => ended)))
      assert.ok(code === 0 || code === 4, stderr)
    const { items } = await result('rights')
    assert.deepEqual([items.offered, items.acked, items.absent], [800, 800, 0])
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
      const { box, fleet, status, result } = await fleetOf(t)
      const boxes = [1, 2].map(() => box('-q 100 -p 1000 -c 10 -t 2 --all --run long'))
      await until('two boxes are writing', async () => inState(await status('long'), 'writing') === 2)
      if (by === 'fleet stop') assert.match((await fleet('stop long')).stdout, /stop together in 2 s/)
      else boxes[0].kill('SIGINT')
      const ended = await Promise.all(boxes.map((one) => one.ended))
      assert.deepEqual(
        ended.map(({ code }) => code),
        [130, 130],
      )
      const { interrupted, items } = await result('long')
      assert.equal(interrupted, true)
      assertIdentity(items)
      t.diagnostic(`${items.absent} of ${items.offered} absent`)
      assert.ok(items.offered > 100, `${items.offered} offered`)
      assertStoppedAsOne(ended, items)
      const late = await fleet('stop long')
      assert.match(late.stderr, /long has ended already/)
    })

  for (const who of /** @type {const} */ (['follower', 'leader']))
    test(`a box is killed that is the ${who}: the others go on, and its items are absent`, async (t) => {
      const fleet = await fleetOf(t)
      const started = await writing(fleet, 'kill', 3, '-q 300 -p 100 --duration 15s --warm-up 0')
      const { boxes } = started
      const killed = started[who]
      killed.kill('SIGKILL')
      const killedMs = Date.now()
      const ended = await Promise.all(boxes.filter((one) => one !== killed).map((one) => one.ended))
      for (const { code, stderr } of ended) {
        assert.equal(code, 4, stderr)
        assert.match(stderr, /1 of 3 boxes lost since 0:\d\d/)
      }
      const document = await fleet.result('kill')
      const shown = runText(document, { columns: 400 })
      const written = (document.items.acked / document.items.offered) * 100
      const [, share] = /^rate .* · ([\d.]+) % of the items of all boxes written$/m.exec(shown) ?? []
      assert.ok(Math.abs(Number(share) - written) <= 0.1, shown)
      assert.match(shown, /^fleet +3 boxes .* · 1 of 3 boxes lost since 0:\d\d/m)
      assert.doesNotMatch(shown, /run it again.*--out/)
      const { items, fleet: found, warnings, server } = document
      assertIdentity(items)
      assert.equal(items.offered, 300 * 150)
      const [lost, ...more] = found.boxes.filter((/** @type {any} */ one) => one.state === 'lost')
      assert.deepEqual([lost.pid, more.length], [killed.pid, 0])
      // Beside load a box may have dropped some before it was killed: those are accounted for.
      const [own] = document.agents.filter((/** @type {any} */ { agent }) => lost.writers.includes(agent))
      assert.equal(own.acked, lost.acked)
      assert.equal(items.absent, 100 * 150 - own.acked - own.failed - own.uncertain - own.dropped)
      assert.ok(
        warnings.some(
          (/** @type {any} */ { code, message }) => code === 'absent-writers' && /was lost at/.test(message),
        ),
      )
      const calls = await callsOf(fleet.target, 'setex')
      const most =
        items.acked - lost.acked + storedByKilled(document, [killedMs], { items: 100, everyMs: 100 })
      assert.ok(calls >= items.acked && calls <= most, `${calls}, from ${items.acked} to ${most}`)
      // The window of the nodes has no gap, since another box went on with it. It begins with the first answer, and ends
      // with the first box that ends.
      const sampled = linesOf(join(fleet.out, 'kill', 'intervals.ndjson')).flatMap(({ nodes }) =>
        nodes.filter((/** @type {any} */ node) => node.over_ms > 0),
      )
      const fromMs = Math.max(0, sampled[0].at_ms - sampled[0].over_ms)
      const missed = calls - server.commands.setex.calls
      const before = 300 * (1 + Math.floor(fromMs / 100))
      assert.ok(missed >= 0 && missed <= before + endsApartMs(document), `${missed} of ${calls}`)
    })

  test('a box is started again, and takes its number at the next tick', async (t) => {
    const fleet = await fleetOf(t)
    const { boxes, follower } = await writing(fleet, 'again', 2, '-q 200 -p 100 --duration 25s --warm-up 0')
    follower.kill('SIGKILL')
    const again = fleet.box('-q 200 -p 100 --duration 25s --warm-up 0 -t 2 --run again')
    const ended = await Promise.all(
      [again, ...boxes.filter((one) => one !== follower)].map((one) => one.ended),
    )
    for (const { code, stderr } of ended) assert.equal(code, 4, stderr)
    const { items, fleet: found, state } = await fleet.result('again')
    assertIdentity(items)
    assert.equal(items.offered, 200 * 250)
    assert.equal(found.boxes.length, 3)
    const [late] = found.boxes.filter((/** @type {any} */ one) => one.pid === again.pid)
    assert.equal(late.state, 'done')
    assert.ok(late.from_s > 1 && late.acked > 0, JSON.stringify(late))
    assert.notEqual(state, 'valid')
  })

  test('the control is away for a while, and comes back without its data: nothing is missing, nothing counts twice', async (t) => {
    const fleet = await fleetOf(t)
    const { boxes } = await writing(fleet, 'away', 2, '-q 200 -p 100 --duration 45s --warm-up 0')
    const watching = startProgram(t, 'lib/cli/millrace.js', 'fleet watch away', {
      env: fleet.env,
      out: false,
    })
    await until('its first line', () => watching.stdout())
    process.kill(fleet.control.pid, 'SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, 6000))
    process.kill(fleet.control.pid, 'SIGCONT')
    await until(
      'the control has everything',
      async () => (await fleet.fleet('status away --json')).code === 0,
    )
    await fleet.control.restart(15_000)
    const ended = await Promise.all(boxes.map((one) => one.ended))
    for (const { code, stderr } of ended) assert.ok(code === 0 || code === 4, stderr)
    const watched = await watching.ended
    assert.equal(watched.code, ended[0].code, watched.stderr)
    assert.match(watched.stdout, /the control has not answered for \d+ s\n(.*\n)*0:\d\d .* 2 of 2 writers\n/)
    const { items, fleet: found, server } = await fleet.result('away')
    assertIdentity(items)
    assert.deepEqual([items.offered, items.acked, items.absent], [9000 * 10, 9000 * 10, 0])
    assert.equal(await callsOf(fleet.target, 'setex'), items.acked)
    // A box that stands still for a second has none of it.
    const kept = readdirSync(fleet.out).map((own) => linesOf(join(fleet.out, own, 'fleet.ndjson')).length)
    const counts = found.boxes.map((/** @type {any} */ { intervals }) => intervals)
    assert.deepEqual(counts.sort(), kept.filter((n) => n > 0).sort())
    for (const { intervals_lost: lost } of found.boxes) assert.equal(lost, 0)
    const seconds = linesOf(join(fleet.out, 'away', 'intervals.ndjson'))
    assert.equal(
      seconds.reduce((sum, { items: own }) => sum + own.acked, 0),
      items.acked,
    )
    assert.ok(server.commands.setex.calls > 0)
  })

  test('a box that stands still is named, and one of two with the same number is refused', async (t) => {
    const fleet = await fleetOf(t)
    const { boxes, follower } = await writing(
      fleet,
      'still',
      2,
      '-q 200 -p 100 --duration 45s --warm-up 0 --max-behind 1s',
    )
    const twice = fleet.box('-q 200 -p 100 --duration 45s --warm-up 0 --max-behind 1s -t 2 -a 1 --run still')
    const refused = await twice.ended
    assert.equal(refused.code, 3)
    assert.match(refused.stderr, /every writer asked for is taken/)
    follower.kill('SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, 8000))
    follower.kill('SIGCONT')
    const ended = await Promise.all(boxes.map((one) => one.ended))
    for (const { code, stderr } of ended) assert.equal(code, 4, stderr)
    const { items, fleet: found, warnings } = await fleet.result('still')
    assertIdentity(items)
    const stopped = found.boxes.filter((/** @type {any} */ one) => one.stopped_ms > 7000)
    assert.deepEqual(
      stopped.map((/** @type {any} */ { pid }) => pid),
      [follower.pid],
    )
    assert.ok(
      warnings.some((/** @type {any} */ { code, invalidates }) => code === 'client-stopped' && invalidates),
    )
  })
})
