// run.json is a function of what lies beside it: made again from facts.json and intervals.ndjson it is the same, byte for
// byte, of every kind of load; and a run that was killed has a result of the seconds it wrote.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { at as partAt, put } from '../../lib/measures/fold.js'
import { factsOf, ofWriters } from '../../lib/measures/index.js'
import { readRecord, remadeIn } from '../../lib/result/record.js'
import { windowOf } from '../../lib/result/window.js'
import { runCommand, startCommand } from '../helpers/command-here.js'
import { linesOf, startProducer, sumOf, until } from '../helpers/programs.js'
import { suiteServer } from '../helpers/servers.js'

/** @import { TestServer } from '../helpers/servers.js' */

const common = '--idle-cost never --allow foreign-keys'

describe('a result made again', { concurrency: 4 }, () => {
  const server = suiteServer()
  const start = (/** @type {any} */ t, /** @type {string} */ line) => startCommand(t, line, server)

  /** @param {{ folder: string, stderr: string }} ended */
  const assertSame = async ({ folder, stderr }) => {
    const path = join(folder, 'run.json')
    assert.ok(existsSync(path), stderr)
    const text = readFileSync(path, 'utf8')
    rmSync(path)
    assert.equal(await remadeIn(folder), true)
    assert.equal(readFileSync(path, 'utf8'), text)
    return { document: JSON.parse(text), lines: linesOf(join(folder, 'intervals.ndjson')) }
  }

  /** Equal but for the seventh digit. @param {any} found @param {any} wanted @param {string} where */
  const assertClose = (found, wanted, where) => {
    if (typeof wanted === 'number')
      assert.ok(Math.abs(found - wanted) <= 1e-6 * Math.abs(wanted), `${where}: ${found}, not ${wanted}`)
    else if (typeof wanted !== 'object' || wanted === null) assert.equal(found, wanted, where)
    else {
      assert.deepEqual(Object.keys(found ?? {}).sort(), Object.keys(wanted).sort(), where)
      for (const [name, part] of Object.entries(wanted)) assertClose(found[name], part, `${where}.${name}`)
    }
  }

  /**
   * A window of a run as an experiment stores it, made again from the lines stored with it: of its document no more is
   * taken than what is known of whole runs.
   * @param {{ document: any, lines: any[] }} run
   */
  const assertWindow = ({ document, lines }) => {
    const startMs = Date.parse(document.started)
    const window = { fromMs: startMs - 400, toMs: startMs + lines.at(-1).at_ms }
    const stored = JSON.parse(JSON.stringify(windowOf([{ document, lines }], window)))
    const known = structuredClone(stored)
    for (const path of ofWriters.flatMap(({ result }) => Object.keys(result)))
      if (partAt(known.document, path) !== null && !(path in factsOf())) put(known.document, path, null)
    known.document.rate.achieved = null
    known.document.items = { failed_by: stored.document.items.failed_by }
    known.document.nodes = []
    const again = JSON.parse(JSON.stringify(windowOf([known], window)))
    assertClose(again, stored, 'window')
    const { items, client, latency_us: times, nodes } = stored.document
    assert.ok(items.acked > 0 && client.cpu_s > 0 && times.intended.p50 > 0 && nodes[0].cpu_pct > 0)
  }

  /** As a disk that was full from then on leaves it: with the facts of the beginning. @param {string} folder */
  const cutOff = async (folder) => {
    const facts = JSON.parse(readFileSync(join(folder, 'facts.json'), 'utf8'))
    const { kind, run, versions, target, plan, startedEpochMs, jobs } = facts.parts
    const parts = {
      kind,
      run,
      versions,
      target,
      plan,
      warnings: [],
      startedEpochMs,
      ...(jobs && { jobs: { promise: jobs.promise } }),
    }
    writeFileSync(join(folder, 'facts.json'), JSON.stringify({ ...facts, sums: null, parts }))
    rmSync(join(folder, 'run.json'))
    assert.equal(await remadeIn(folder), true)
    assert.equal((await readRecord(folder)).kind, 'run')
    return JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))
  }

  /** As a kill before the first line leaves it. @param {string} folder */
  const assertWithoutSeconds = async (folder) => {
    truncateSync(join(folder, 'intervals.ndjson'), 0)
    const { valid, warnings, duration_s: lasted } = await cutOff(folder)
    assert.deepEqual([valid, lasted, warnings.length, warnings[0].code], [false, 0, 1, 'killed'])
    assert.match(warnings[0].message, /killed before its first second/)
  }

  const kinds = {
    ticks: '--rate 500 --duration 2500ms --warm-up 500ms --threshold latency.intended.max<60s',
    clients:
      '--strategy lookup-get --keys 300 --fill --connections 4 --rate 400 --duration 2s --reconnects 20',
    bundles: '--strategy counter-pipeline',
    passes: '--strategy membership-set --items 500 --connections 2',
    jobs: '--strategy queue-list --rate 200 --duration 2s',
  }
  for (const [kind, line] of Object.entries(kinds))
    test(`of ${kind}, byte for byte`, async (t) => {
      const ended = await start(t, `write ${line} ${common} --prefix ${kind}:`).ended
      const { document, lines } = await assertSame(ended)
      // The others are over within a second, which may be none of the measured ones.
      if (['ticks', 'clients', 'jobs'].includes(kind)) assertWindow({ document, lines })
      // A sum of the seconds is what the run says of itself: the last one, however short, is among them.
      const sum = lines.reduce((total, { client }) => total + client.cpu_s, 0)
      if (kind !== 'ticks') assert.ok(Math.abs(sum / document.client.cpu_s - 1) < 1e-5)
      await assertWithoutSeconds(ended.folder)
    })

  test('of fetches, byte for byte, while the writers are killed: their result ends with their last whole second', async (t) => {
    const writer = startProducer(t, `--rate 400 ${common} --prefix f:`, server)
    await until('a second of the writers', () => writer.intervals().length > 0)
    const read = await start(t, 'read -p 100 --duration 1s --prefix f: --verify').ended
    const { lines: reads } = await assertSame(read)
    const cut = await cutOff(read.folder)
    const whole = reads.reduce((sum, { fetches }) => sum + fetches.count, 0)
    assert.deepEqual([cut.fetches.count, cut.valid, cut.warnings[0].code], [whole, false, 'killed'])
    assert.ok(cut.fetches.duration_ms.p50 > 0 && cut.client.cpu_s > 0 && cut.rate.achieved > 0)
    await assertWithoutSeconds(read.folder)
    const running = join(writer.out, /** @type {string} */ (writer.intervals()[0].run))
    await assert.rejects(remadeIn(running), /is writing this result/)
    // Of these the last is cut.
    await until('two seconds with numbers of the server', () => {
      const seen = writer.intervals().findIndex(({ nodes }) => nodes[0]?.cpu_pct > 0)
      return seen >= 0 && writer.intervals().length > seen + 2
    })
    writer.kill('SIGKILL')
    const { folder } = await writer.ended
    assert.equal(existsSync(join(folder, 'run.json')), false)
    // And a part of its last line is missing.
    const path = join(folder, 'intervals.ndjson')
    truncateSync(path, readFileSync(path).length - 20)
    const report = await runCommand(t, ['report', folder], { out: false })
    assert.equal(report.code, 4, report.stderr)
    const document = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))
    const lines = linesOf(path)
    const acked = lines.reduce((sum, { items }) => sum + items.acked, 0)
    assert.deepEqual([document.items.acked, document.valid, document.interrupted], [acked, false, true])
    assert.equal(document.duration_s, lines.at(-1).at_ms / 1000)
    assert.ok(document.rate.achieved > 0 && document.latency_us.intended.p50 > 0 && document.client.cpu_s > 0)
    assert.ok(document.nodes.length === 1 && document.server.cpu_us_per_item > 0)
    assert.match(readFileSync(join(folder, 'report.txt'), 'utf8'), /ended by a kill/)
    assert.ok(existsSync(join(folder, 'report.html')))
  })

  test('of workers, byte for byte; one whose disk was full has a result of its seconds', async (t) => {
    const queue = start(t, `write --strategy queue-list --rate 300 ${common} --prefix w:`)
    await until('a second of jobs', () => queue.intervals().length > 0)
    const { folder, stderr } = await start(t, 'read --workers 2 --with processes=2 --duration 1s --prefix w:')
      .ended
    const { lines, document } = await assertSame({ folder, stderr })
    // The processes of workers have their part beside the seconds of the one that started them.
    const own = lines.reduce((total, { client }) => total + client.cpu_s, 0)
    assert.ok(document.client.cpu_s > own && document.client.cpu_us_per_item > 0)
    queue.kill('SIGINT')
    await queue.ended
    const cut = await cutOff(folder)
    assert.equal(cut.jobs.done, sumOf(lines, 'jobs.done'))
    assert.deepEqual([cut.valid, cut.warnings[0].code], [false, 'killed'])
    assert.ok(cut.waiting_us.p50 > 0 && cut.take_us.max > 0 && cut.jobs.taken >= cut.jobs.done)
    await assertWithoutSeconds(folder)
  })
})
