import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { liveBlock, liveLine, liveView, sparkline } from '../../lib/report/live.js'
import { rowsOf, valuesOf } from '../helpers/table.js'

/** @import { Snapshot } from '../../lib/probes/seconds.js' */

/** @param {Partial<Snapshot>} [change] @returns {Snapshot} */
const snapshot = (change) => ({
  ...{ elapsedMs: 42_000, totalMs: 60_000, phase: 'measuring', nominalRate: 300_000 },
  achievedRate: 299_987.4,
  ...{ p50Us: 8123, p99Us: 31_890, masterCpuPct: 51.2, replicaCpuPct: 33.1 },
  lost: { failed: 0, uncertain: 0, dropped: 0, errors: 0 },
  ...change,
})
const losing = { lost: { failed: 36_000, uncertain: 500, dropped: 200_000, errors: 12 } }

/** @type {Record<string, Partial<Snapshot>>} */
const changes = {
  ...{ none: {}, losing, 'an error': { lost: { errors: 1 } } },
  'warm-up': { phase: 'warm-up', elapsedMs: 3000, achievedRate: 9870 },
  'no nodes': { masterCpuPct: undefined, replicaCpuPct: null },
  'no end': { totalMs: null, elapsedMs: 3_723_000, nominalRate: null, replicaCpuPct: null },
  nothing: { achievedRate: null, p50Us: null, p99Us: null, masterCpuPct: null, replicaCpuPct: null },
}
for (const [name, change, columns, line] of rowsOf(`
wide -> none -> 120 -> 0:42, 0:18 left  measuring  299,987 of 300,000 items/s  p50 8.12 ms  p99 31.9 ms  master  51 %  replica  33 %  none lost
80 columns -> none -> 80 -> 0:42, 0:18 left  299,987 of 300,000 items/s  p99 31.9 ms  cpu   51/33 %
losing at 80 -> losing -> 80 -> 0:42, 0:18 left  299,987 of 300,000/s  p99 31.9 ms  cpu   51/33 %  236,500 lost
losing, wide -> losing -> 140 -> 0:42, 0:18 left  measuring  299,987 of 300,000 items/s  p99 31.9 ms  cpu   51/33 %  36,000 failed, 500 uncertain, 200,000 dropped, 12 errors
losing, narrow -> losing -> 40 -> 299,987 of 300,000 items/s  236,500 lost
errors only -> an error -> 60 -> 0:42, 0:18 left  299,987 of 300,000/s  p99 31.9 ms  1 error
warm-up -> warm-up -> 60 -> 0:03, 0:57 left  warm-up    9,870 of 300,000/s  p99 31.9 ms
a box of a fleet that does not sample the nodes -> no nodes -> 120 -> 0:42, 0:18 left  measuring  299,987 of 300,000 items/s  p50 8.12 ms  p99 31.9 ms  none lost
no end, no rate asked, no replica -> no end -> 80 -> 1:02:03  measuring    299,987 items/s  p50 8.12 ms  p99 31.9 ms  master  51 %
nothing measured -> nothing -> 80 -> 0:42, 0:18 left        – of 300,000 items/s  p50       –  p99       –  cpu   – %
`))
  test(`the live line: ${name}`, () =>
    assert.equal(liveLine(snapshot(changes[change]), Number(columns)), line))

test('the live line fits any width, and colour does not widen it', () => {
  for (let columns = 1; columns <= 160; columns++) {
    for (const change of [{}, losing, { phase: /** @type {const} */ ('draining') }]) {
      const line = liveLine(snapshot(change), columns)
      assert.ok(line.length <= columns, line)
      assert.equal(stripVTControlCharacters(liveLine(snapshot(change), columns, true)), line)
    }
  }
})

/** A terminal that keeps what is written to it. @param {number} columns */
const terminal = (columns) => {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { columns, isTTY: true })
  const written = () => String(stream.read() ?? '')
  return { stream: /** @type {any} */ (stream), written }
}
const silent = () => assert.fail('a terminal needs no log line')
const course = { rates: [299_987.4], p99s: [31_890] }
const blockOf = (/** @type {Snapshot} */ seen, /** @type {number} */ columns) =>
  liveBlock(seen, course, columns).join('\n')

test('on a terminal six lines at most stay in place, and are taken away at the end', () => {
  const { stream, written } = terminal(80)
  const view = liveView({ stream, log: silent })
  view.update(snapshot())
  const drawn = written()
  assert.equal(drawn, blockOf(snapshot(), 79))
  assert.deepEqual(drawn.split('\n'), [
    '  rate      299,987 of 300,000 items/s           █',
    '  latency   p50 8.12 ms  p99 31.9 ms             █',
    '  CPU       busiest master 51.2 % of a core, replica 33.1 %',
    '  lost      none',
    '  time      0:42, 0:18 left',
  ])
  view.done()
  assert.equal(written(), `\x1b[${drawn.split('\n').length - 1}A\r\x1b[J`)
  view.done()
  stream.emit('resize')
  assert.equal(written(), '')
  assert.equal(stream.listenerCount('resize'), 0)
})

test('the lines are drawn at most four times a second', async () => {
  const { stream, written } = terminal(80)
  const view = liveView({ stream, log: silent })
  for (let at = 0; at < 50; at++) view.update(snapshot({ elapsedMs: 42_000 + at * 1000 }))
  assert.equal(written(), blockOf(snapshot(), 79))
  while (!written().includes('1:31')) await new Promise((resolve) => setTimeout(resolve, 10))
  view.done()
})

test('a narrower terminal has broken the lines: all their rows are cleared, and one line is left', () => {
  const { stream, written } = terminal(100)
  const view = liveView({ stream, log: silent })
  view.update(snapshot())
  const lines = written().split('\n')
  const rows = lines.reduce((sum, line) => sum + Math.ceil(line.length / 30), 0)
  stream.columns = 30
  stream.emit('resize')
  assert.equal(written(), `\x1b[${rows - 1}A\r\x1b[J${liveLine(snapshot(), 29)}`)
})

test('what is written above the lines leaves them below', async () => {
  const { stream, written } = terminal(80)
  const view = liveView({ stream, log: silent })
  view.above(() => stream.write('first\n'))
  assert.equal(written(), 'first\n')
  view.update(snapshot())
  const drawn = written()
  view.above(() => stream.write('by hand\n'))
  let all = ''
  while (!all.endsWith(drawn)) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    all += written()
  }
  assert.equal(all, `\x1b[4A\r\x1b[Jby hand\n${drawn}`)
  view.done()
})

test('what is lost is red, a bar a second is behind the rate, and no line is wider than asked', () => {
  const rates = Array.from({ length: 30 }, (_, at) => (at === 3 ? null : at * 1000))
  for (let columns = 20; columns < 120; columns += 7) {
    for (const color of [false, true]) {
      const lines = liveBlock(snapshot(losing), { rates, p99s: rates }, columns, color)
      for (const line of lines) assert.ok(stripVTControlCharacters(line).length <= columns, line)
      const isRed = lines.some((line) => line.includes('\x1b[31m'))
      assert.equal(isRed, color)
    }
  }
  assert.equal(sparkline([0, 500, null, 1000]), '▁▅ █')
  assert.equal(sparkline([null]), ' ')
})

test('the live line of a consumer', () => {
  const reading = { done: 8, unit: 'fetches', ageUs: 532_000, checked: null }
  const seen = snapshot({ nominalRate: null, reading })
  const expected =
    '0:42, 0:18 left    299,987 items/s     8 fetches  fetch p50 8.12 ms  p99 31.9 ms  age  532 ms  master  51 %  replica  33 %  on time'
  assert.equal(liveLine(seen, 160), expected)
  assert.match(liveLine({ ...seen, reading: { ...reading, checked: 9000 } }, 160), /9,000 right$/)
  assert.match(liveLine({ ...seen, lost: { wrong: 3, missed: 0 } }, 80), /3 wrong$/)
})

test('without a terminal there is a log line every ten seconds', () => {
  const stream = /** @type {any} */ (new PassThrough({ encoding: 'utf8' }))
  const logged = /** @type {Record<string, unknown>[]} */ ([])
  const view = liveView({ stream, log: (fields) => logged.push(fields) })
  for (let ms = 500; ms < 35_000; ms += 1003) view.update(snapshot({ elapsedMs: ms }))
  assert.deepEqual(valuesOf(logged, 'elapsed_s'), [11, 21, 31])
  assert.deepEqual(logged[0], {
    ...{ elapsed_s: 11, phase: 'measuring', nominal: 300_000, achieved: 299_987.4, p50_us: 8123 },
    ...{ p99_us: 31_890 },
    ...{ master_cpu_pct: 51.2, replica_cpu_pct: 33.1, failed: 0, uncertain: 0, dropped: 0, errors: 0 },
  })
  const lines = /** @type {string[]} */ ([])
  const plain = liveView({ stream, log: (_, line) => lines.push(line) })
  plain.update(snapshot({ elapsedMs: 12_000 }))
  assert.deepEqual(lines, [liveLine(snapshot({ elapsedMs: 12_000 }), 160)])
  view.above(() => stream.write('as it comes\n'))
  view.done()
  assert.equal(String(stream.read()), 'as it comes\n')
})
