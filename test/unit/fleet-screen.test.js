import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fleetLine, fleetScreen } from '../../lib/report/fleet-live.js'

/** @import { Status } from '../../lib/fleet/status.js' */

const times = { p50: 3190, p90: 9000, p99: 24_000, p999: 52_000, max: 52_300 }

const box = (/** @type {Partial<Status['boxes'][number]>} */ more) =>
  /** @type {Status['boxes'][number]} */ ({
    ...{ id: 'one', pid: 1, kind: 'producer', host: 'ip-10-0-12-134.eu-central-1' },
    ...{ writers: [1], readers: [] },
    ...{ state: 'writing', silent_s: 0, achieved: 1501, p99_us: 26_000, busy_pct: 5.5, cpu_pct: 9 },
    ...{ loop_delay_ms_p99: 1, offset_ms: -0.32, uncertainty_ms: 0.1, items: null, fetches: null },
    ...more,
  })

/** @param {number} n @param {string} state */
const readerBox = (n, state = 'reading') =>
  box({ kind: 'consumer', state, writers: [], readers: [n], achieved: 12_004 })

/** @param {Partial<Status>} [more] */
const statusOf = (more) =>
  /** @type {Status} */ (
    /** @type {unknown} */ ({
      ...{ run: 'spring-test', state: 'started', stopped_by: null, refused: null, started: null },
      ...{ elapsed_s: 12, duration_s: 40, strategy: 'sorted-set', writers: 2, readers: 2, nominal: 3000 },
      ...{ leader: 'one', items: { acked: 33_000, failed: 2, unsettled: 7 } },
      fetches: { count: 88, failed: 1, overrun: 2 },
      second: {
        ...{ at_s: 12, achieved: 3015, writers: 2, latency_us: { intended: times }, bystander_us: times },
        ...{ fetches: { count: 8 }, items_per_s: 24_104, duration_us: times, freshness_us: times },
        nodes: [
          { role: 'master', engine_cpu_pct: 2.7 },
          { role: 'replica', engine_cpu_pct: 1.2 },
        ],
      },
      boxes: [box({}), box({ writers: [2], host: 'b' }), readerBox(1), readerBox(2)],
      control_bytes: { stream: 61_000 },
      ...more,
    })
  )

const manyBoxes = [
  ...Array.from({ length: 200 }, (_, i) => box({ writers: [i + 1] })),
  box({ writers: [201, 202], state: 'silent', silent_s: 128, last_s: 4 }),
  ...Array.from({ length: 12 }, (_, i) => readerBox(i + 1)),
  box({ writers: [203], state: 'lost', last_s: 10.2 }),
]

test('a screen of a fleet keeps to the columns and rows of its terminal', () => {
  const statuses = [{}, { boxes: manyBoxes }, { second: null, boxes: [] }].map(statusOf)
  for (const size of ['80x24', '120x40', '200x50', '60x16', '40x20'])
    for (const status of statuses) {
      const [columns, rows] = size.split('x').map(Number)
      const lines = fleetScreen(status, { columns, rows })
      // The cursor is in the line behind the last.
      assert.ok(lines.length < rows, `${lines.length} lines in ${rows} rows`)
      for (const line of lines) assert.ok(line.length <= columns, `${line} in ${columns} columns`)
    }
})

test('in 80 columns every line of a fleet fits, and the boxes that need a look come first', () => {
  const lines = fleetScreen(statusOf({ boxes: manyBoxes }), { columns: 80, rows: 24 })
  assert.deepEqual(lines.slice(0, 14), [
    'spring-test: sorted-set, started, 0:12 of 0:40',
    '1 of 214 boxes lost since 0:10, 1 of 214 boxes silent since 0:04: what they had',
    'to write is absent',
    'rate      3,015 of 3,000 items/s by 2 of 2 writers',
    'latency   p50 3.19 ms  p99 24.0 ms  max 52.3 ms  PING p99 24.0 ms',
    'nodes     busiest master 2.7 %  busiest replica 1.2 % of a core',
    'items     33,000 acknowledged, 2 failed',
    'reads     24,104 items/s by 12 of 2 readers, newest item 3.19 ms old',
    'fetches   88, 1 failed, 2 missed, p50 3.19 ms  p99 24.0 ms  max 52.3 ms',
    'control   61.0 kB kept there',
    '',
    'box             host                  state         items/s      p99   busy',
    'writer 201-202  ip-10-0-12…central-1  silent 128 s    1,501  26.0 ms  5.5 %',
    'writer 203      ip-10-0-12…central-1  lost            1,501  26.0 ms  5.5 %',
  ])
  assert.equal(lines.at(-1), 'and 204 more')
  assert.equal(lines.length, 23)
})

test('what was read last is not called that of no reader once all have ended', () => {
  const lines = fleetScreen(statusOf({ boxes: [readerBox(1, 'done'), readerBox(2, 'done')] }))
  assert.match(lines.join('\n'), /reads +24,104 items\/s by 2 of 2 readers/)
})

test('a line of a fleet, for a log', () => {
  const line = fleetLine(statusOf({ boxes: [box({ state: 'lost', last_s: 10.4 }), box({}), box({})] }))
  assert.equal(line, '0:12  3,015 items/s  p99 24.0 ms  2 of 2 writers  1 of 3 boxes lost since 0:10  2 lost')
})
