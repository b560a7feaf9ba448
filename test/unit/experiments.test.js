// Experiments as data: definitions, order, ratios, and what a matrix tells when it has been stopped.
import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { experimentById, experimentIds, experimentNamed } from '../../lib/experiments/catalogue.js'
import { secondsOfAll } from '../../lib/experiments/cell-run.js'
import { emptied } from '../../lib/experiments/experiment-servers.js'
import { cellsOf, turnsOf } from '../../lib/experiments/matrix.js'
import { published, publishedFigures, trueRate } from '../../lib/experiments/published.js'
import { clientWasTheLimit } from '../../lib/experiments/runner.js'
import { experimentIn } from '../../lib/experiments/schema.js'
import { openMatrix } from '../../lib/experiments/store.js'
import { experimentDocument } from '../../lib/experiments/summary.js'
import { experimentText } from '../../lib/experiments/text.js'
import { ratioOf, standing } from '../../lib/result/ratio.js'
import { centreOf, figureOfRow } from '../../lib/result/statistics.js'
import { windowOf } from '../../lib/result/window.js'
import { ownFolder } from '../helpers/programs.js'
import { rowsOf, valuesOf } from '../helpers/table.js'

/** @typedef {import('../../lib/experiments/summary.js').TurnResult} TurnResult */

const near = (/** @type {number | null} */ found, /** @type {number} */ wanted, within = 1e-9) =>
  assert.ok(
    found !== null && Math.abs(found - wanted) <= within * Math.abs(wanted),
    `${found}, not ${wanted}`,
  )

describe('definitions', () => {
  test('all published experiments, under their ids', () => {
    assert.equal(
      experimentIds().length,
      readdirSync(new URL('../../lib/experiments/definitions', import.meta.url)).length,
    )
    const theirs = Object.keys(published().experiments)
    assert.deepEqual(experimentIds().slice(0, theirs.length), theirs)
    for (const id of experimentIds()) assert.equal(experimentById(id).id, id)
  })

  test('every published row has a cell, and every cell of one stands beside a row that there is', () => {
    for (const id of experimentIds()) {
      const rows = published().experiments[id]?.rows ?? []
      const cells = cellsOf(experimentById(id), { scale: 1 })
      const found = new Set(cells.flatMap(({ legs }) => legs.flatMap((leg) => leg.published ?? [])))
      assert.deepEqual(
        [...found].sort((a, b) => a - b),
        [...rows.keys()],
        id,
      )
    }
  })

  test('rows and folders have names of their own', () => {
    for (const id of experimentIds()) {
      const cells = cellsOf(experimentById(id), { scale: 1 })
      const rows = cells.flatMap(({ legs }) => legs.map(({ row }) => row))
      assert.equal(new Set(rows).size, rows.length, id)
      assert.equal(new Set(cells.map((cell) => cell.id)).size, cells.length, id)
    }
  })

  test('a load asks for what its published row asked', () => {
    for (const id of experimentIds()) {
      const rows = published().experiments[id]?.rows ?? []
      for (const { legs } of cellsOf(experimentById(id), { scale: 1 }))
        for (const { options, published: at } of legs) {
          const row = at === null ? {} : rows[at]
          if (!row.per_writer) continue
          assert.equal(options.quantity, row.writers * row.per_writer, `${id} ${at}`)
          assert.equal(options['total-agents'], row.writers, `${id} ${at}`)
        }
    }
  })

  test('both Lua experiments write in one chunk and in two', () => {
    for (const [id, strategy] of [
      ['lua-single', 'script-item'],
      ['lua-batch', 'script-batch'],
    ]) {
      const own = cellsOf(experimentById(id), { scale: 1 }).filter(
        ({ legs: [{ options }] }) => options.strategy === strategy && options['total-agents'] === 8,
      )
      assert.deepEqual(
        [...new Set(own.map(({ legs: [{ options }] }) => options.chunks ?? 1))].sort(),
        [1, 2],
        id,
      )
    }
  })

  test('the documented examples are experiments', () => {
    for (const name of ['value-size', 'read-while-writing', 'cut-long-commands'])
      assert.equal(experimentNamed(`test/data/experiments/${name}.json`).id, name)
  })

  const head = '{ "id": "x", "question": "q",'
  const bad = /** @type {[string, RegExp][]} */ ([
    ...rowsOf(String.raw`
{ "id": "x",\n "question": "q"\n "cells": [] } -> mine\.json, line 3: Expected ','
{ "id": "x", "question": "q" } -> line 1: the experiment needs "cells"
{ "id": "X y", "question": "q", "cells": [{ "name": "a" }] } -> id must be small letters, digits and dashes
HEAD\n"cells": [\n{ "nam": "a" }] } -> line 3: cells\[0\] needs "name"; .*line 3: cells\[0\]\.nam is not known
HEAD "cells": [{ "name": "a" },\n{ "name": "a" }] } -> line 2: cells\[1\]\.name "a" is used twice
HEAD "cells": [{ "name": "a",\n"options": {\n"quantiti": 5 } }] } -> line 3: cells\[0\]\.options\.quantiti is no option that an experiment may set
HEAD "cells": [{ "name": "a",\n"options": { "duration": 5 } }] } -> line 2: .*duration is no option
HEAD\n"options": { "chunks": "many" },\n"cells": [{ "name": "a" }] } -> line 2: options\.chunks --chunks must be a whole number
HEAD "cells": [{ "name": "a",\n"options": { "strategy": "list",\n"ns": 5 } }] } -> line 3: cells\[0\]\.options\.ns --ns: --strategy list keeps no sorted set
HEAD "cells": [{ "name": "a" }],\n"ratios": [{ "of": "a",\n"to": "b" }] } -> line 3: ratios\[0\]\.to "b" is no row; there are a
HEAD "cells": [{ "name": "a" }],\n"columns": ["master.cpu"] } -> line 2: columns\[0\] must be the name of a figure
HEAD "cells": [{ "name": "a", "variants": ["b"] }] } -> cells\[0\]\.variants\[0\] "b" is no variant
HEAD "id": "y", "cells": [{ "name": "a" }] } -> "id" is used twice in one object
HEAD "cells": [{ "name": "a" }],\n"__proto__": {} } -> line 2: __proto__ is not known
HEAD "cells": [{ "name": "a",\n"toString": 1 }] } -> line 2: cells\[0\]\.toString is not known
HEAD "target": {\n"shards": 2 }, "cells": [{ "name": "a" }] } -> line 2: target\.shards above 1 needs a cluster
HEAD "target": { "cluster": true },\n"options": { "sk": true }, "cells": [{ "name": "a" }] } -> line 2: options\.sk a script needs "spread": true on several masters
HEAD "cells": [{ "name": "a b" },\n{ "name": "A-b" }] } -> line 2: cells\[1\]\.name makes the same folder as "a b": a-b
HEAD "cells": [{ "name": "é" }] } -> cells\[0\]\.name needs a letter from a to z or a digit, for its folder
HEAD "variants": [{ "name": "x+" }, { "name": "x-" }], "cells": [{ "name": "a" }] } -> variants\[1\]\.name makes the same folder as "x\+"
HEAD "cells": [{ "name": "a", "phases": [{ "name": "p", "action": "remove-shard" }] }] } -> a shard can be removed from a cluster only
`).map(([text, message]) => [text.replace('HEAD', head), new RegExp(message)]),
    ...['allow', 'guard', 'url', 'password', 'threshold', 'cloudwatch'].map(
      (key) =>
        /** @type {[string, RegExp]} */ ([
          `${head}\n"options": { "${key}": "off" }, "cells": [{ "name": "a" }] }`,
          new RegExp(`line 2: options\\.${key} is no option that an experiment may set`),
        ]),
    ),
  ])
  for (const [text, pattern] of bad)
    test(`a complaint: ${pattern.source.slice(0, 60)}`, () =>
      assert.throws(
        () => experimentIn(text, 'mine.json'),
        (/** @type {any} */ error) => {
          assert.match(error.message, pattern)
          assert.equal(error.exitCode, 2)
          return true
        },
      ))

  test('a name that is none, with the one that was meant', () => {
    assert.throws(() => experimentNamed('shard'), /no experiment is called 'shard'; did you mean shards\?/)
    assert.throws(() => experimentNamed('./not-there.json'), /not-there\.json cannot be read \(ENOENT\)/)
  })
})

describe('the matrix', () => {
  test('quantities follow the scale, but not below what agents and chunks need', () => {
    const quantities = (/** @type {string} */ id, /** @type {number} */ scale) =>
      cellsOf(experimentById(id), { scale }).map(({ legs }) => legs[0].options.quantity)
    assert.deepEqual(quantities('chunks', 0.1), [20_000, 20_000, 20_000])
    assert.deepEqual(quantities('chunks', 0.00001), [4, 8, 16])
    assert.deepEqual(
      quantities('lua-batch', 0.1),
      quantities('lua-batch', 1),
      'its effect is in the size of a call',
    )
  })

  test('variants multiply cells; processes and servers follow', () => {
    const cells = cellsOf(experimentById('more-writers'), { scale: 1 })
    const counts = cells
      .filter(({ name }) => name === '8 x 25,000')
      .map(({ variant, processes }) => [variant, processes])
    assert.deepEqual(counts, [
      ['target rate', 8],
      ['as published', 8],
    ])
    const lua = cellsOf(experimentById('lua-batch'), { scale: 1 })
    assert.ok(
      lua.some(({ place, legs }) => place.server === 'redis-6.2' && legs[0].options.script === 'return-zero'),
    )
    assert.deepEqual(
      cellsOf(experimentById('fewer-shards'), { scale: 1 }).map(({ place }) => [place.own, place.shards]),
      [[true, 3]],
    )
  })

  test('a cell has lines of configuration and a module beside those of its variant', () => {
    const text = JSON.stringify({
      id: 'mine',
      question: 'q',
      variants: [{ name: 'v', config: { hz: 50, save: '' } }],
      cells: [
        { name: 'a', config: { hz: 10 } },
        { name: 'b', module: 'redisbloom' },
      ],
    })
    assert.throws(() => experimentIn(text, 'f'), /config\.save is no line of configuration/)
    const found = cellsOf(experimentIn(text.replace(',"save":""', ''), 'f'), { scale: 1 })
    assert.deepEqual(
      found.flatMap(({ place }) => [place.module, place.config]),
      [null, [['hz', '10']], 'redisbloom', [['hz', '50']]],
    )
  })

  test('rounds are shuffled, then mirrored; a seed gives its order again', () => {
    const cells = cellsOf(experimentById('lua-batch'), { scale: 1 })
    const order = (/** @type {number} */ seed, /** @type {number} */ round) =>
      turnsOf(cells, { repeat: 4, seed })
        .filter((turn) => turn.round === round)
        .map(({ cell }) => cell.id)
    for (const round of [1, 2, 3, 4])
      assert.deepEqual([...order(1, round)].sort(), cells.map(({ id }) => id).sort(), 'each cell once')
    assert.deepEqual(order(1, 2), order(1, 1).reverse())
    assert.deepEqual(order(1, 4), order(1, 3).reverse())
    assert.notDeepEqual(order(1, 1), order(1, 3))
    assert.notDeepEqual(order(1, 1), order(2, 1))
    assert.deepEqual(order(7, 1), order(7, 1))
    assert.notDeepEqual(
      order(1, 1),
      cells.map(({ id }) => id),
    )
  })
})

describe('ratios', () => {
  test('the mean of the ratios of each round, with its 95 % interval', () => {
    const found = ratioOf([
      { of: 2, to: 1 },
      { of: 4, to: 2 },
      { of: 20, to: 10 },
    ])
    assert.ok(found)
    for (const value of [found.ratio, found.low, found.high]) near(value, 2)
    const spread = ratioOf([
      { of: Math.exp(0.1), to: 1 },
      { of: Math.exp(0.2), to: 1 },
      { of: Math.exp(0.3), to: 1 },
    ])
    assert.ok(spread)
    near(spread.ratio, Math.exp(0.2))
    // Student's t with 2 degrees of freedom, by the standard error of 0.1, 0.2, 0.3.
    near(spread.high, Math.exp(0.2 + (4.303 * 0.1) / Math.sqrt(3)), 1e-3)
    near(spread.low, Math.exp(0.2 - (4.303 * 0.1) / Math.sqrt(3)), 1e-3)
    assert.equal(ratioOf([]), null)
    assert.equal(ratioOf([{ of: 1, to: 0 }]), null)
    const one = ratioOf([{ of: 3, to: 2 }])
    assert.deepEqual([one?.ratio, one?.low, one?.high], [1.5, null, null])
  })

  test('figures of a row: the mean, in the middle of an interval that never falls below 0', () => {
    assert.deepEqual(figureOfRow([5]), { median: 5, mean: 5, low: 5, high: 5, samples: [5] })
    const wild = figureOfRow([1, 100, 3])
    assert.equal(wild.median, 3)
    // The interval is of the mean that is printed, which is not the median.
    assert.ok(Math.abs(centreOf(wild) - 300 ** (1 / 3)) < 1e-9)
    assert.ok(wild.low > 0)
    near(Math.sqrt(wild.low * wild.high), centreOf(wild))
    assert.equal(centreOf({ median: 4, low: 3, high: 5, samples: [3, 4, 5] }), 4)
    assert.equal(figureOfRow([0, 0, 0]).high, 0)
    assert.equal(figureOfRow([4000, 4000, 4000]).low, 4000)
  })

  test('how ours stands to what was published', () => {
    const ours = (/** @type {number} */ ratio, /** @type {number} */ low, /** @type {number} */ high) => ({
      ratio,
      low,
      high,
      samples: [],
    })
    assert.equal(standing(ours(0.8, 0.78, 0.82), 0.81), 'agrees')
    assert.equal(standing(ours(0.6, 0.58, 0.62), 0.81), 'differs')
    assert.equal(standing(ours(0.7, 0.5, 0.98), 0.81), 'agrees', 'within the interval')
    assert.equal(standing(ours(0.6, 0.4, 0.9), 0.81), 'undecided', 'within an interval that holds a lot')
    assert.equal(standing(ours(1.2, 1.1, 1.3), 0.81), 'contradicts')
    assert.equal(standing(ours(1.02, 0.97, 1.07), 1.29), 'contradicts', 'no difference here')
    assert.equal(standing(ours(1.3, 1.25, 1.35), 1), 'contradicts', 'none there')
    assert.equal(standing(ours(1.01, 0.99, 1.03), 1), 'agrees')
    assert.equal(standing(ours(1, 0.31, 3.23), 0.85), 'undecided', 'it holds both')
    assert.equal(standing(ours(0.85, 0.31, 3.23), 0.85), 'undecided', 'however near')
    assert.equal(standing(ours(1, 0.6, 1.7), 1), 'undecided', 'a difference is not ruled out')
    assert.equal(standing({ ratio: 0.8, low: null, high: null, samples: [] }, 0.8), 'undecided', 'one round')
  })

  test('published figures by our names, and the rates that were true', () => {
    const { experiments } = published()
    assert.deepEqual(publishedFigures(experiments.shards.rows[0]), {
      'master.cpu_pct': 47 / 3,
      'replica.cpu_pct': 32 / 3,
      'hottest_master.cpu_pct': 25,
      'coldest_master.cpu_pct': 11,
      'rate.nominal': 200_000,
    })
    assert.equal(publishedFigures(experiments['lua-single'].rows[0])['master.cpu_pct'], 40.5)
    near(trueRate({ writers: 4, perWriter: 50_000, intervalMs: 1000 }), 111_111, 1e-3)
    near(trueRate({ writers: 8, perWriter: 25_000, intervalMs: 1000 }), 142_857, 1e-3)
  })
})

describe('a window of runs', () => {
  const startMs = Date.UTC(2026, 0, 1)
  /** @param {number[]} acked of each second @param {object} [plan] */
  const run = (acked, plan = {}) => ({
    document: {
      started: new Date(startMs).toISOString(),
      plan: { pacing: 'open', rate: null, items: 1000, chunks: 1, spacingMs: 1000, ...plan },
      rate: { nominal: 1000, achieved: 1000 },
      items: { failed_by: {} },
      client: { rss_mb_max: 10 },
      server: { commands: { setex: {} } },
      events: [{ at_ms: 2500, kind: 'phase', text: 'b' }],
      valid: true,
      warnings: [],
    },
    lines: acked.map((count, i) => ({
      at_ms: (i + 1) * 1000,
      phase: 'measuring',
      items: { offered: count, acked: count },
      client: { cpu_pct: 5, busy_pct: 10 + i, rss_mb: 10 },
      nodes: [
        {
          address: 'a:1',
          shard: 1,
          role: 'master',
          over_ms: 1000,
          cpu_pct: count / 100,
          engine_cpu_pct: count / 200,
          commands: { setex: { calls: count, usec: count } },
        },
        { address: 'a:2', shard: 1, role: 'replica', over_ms: 1000, cpu_pct: count / 200 },
      ],
    })),
  })
  const whole = (/** @type {number} */ from, /** @type {number} */ to) => ({
    fromMs: startMs + from * 1000,
    toMs: startMs + to * 1000,
  })

  test('who was absent within the window decides, not who was in the rest of the run', () => {
    const plan = { totalAgents: 3, agents: [{ agent: 1 }], quantity: 3000, periodMs: 1000 }
    const one = run([1000, 1000, 1000, 1000], plan)
    const absent = { code: 'absent-writers', message: 'at first', invalidates: true }
    const valid = {
      document: { ...one.document, valid: false, warnings: [absent] },
      lines: one.lines.map((line, i) => ({ ...line, writers: i < 1 ? 1 : 3 })),
    }
    const later = windowOf([valid], whole(1, 4))?.document
    assert.deepEqual([later?.valid, later?.state, later?.warnings], [true, 'valid', []])
    const partial = { ...valid, lines: valid.lines.map((line) => ({ ...line, writers: 2 })) }
    const found = windowOf([partial], whole(1, 4))?.document
    assert.deepEqual([found?.valid, found?.state], [false, 'partial'])
    assert.match(
      found?.warnings[0].message,
      /^2 of 3 writers are here: this box writes 1,000 of 3,000 items\/s/,
    )
  })

  test('what is counted over whole runs only stays beside what the lines make', () => {
    const one = run([1000, 1000, 1000, 1000])
    Object.assign(one.document, { ticks: { count: 4, late: 1 } })
    assert.deepEqual(windowOf([one], whole(1, 3))?.document.ticks, { count: 4, late: 1, lateness_us: null })
  })

  test('a window has no latencies of each command: they are percentiles of the whole run, which do not add up', () => {
    const one = run([1000, 1000, 1000, 1000], { flow: 'ticks' })
    const commands = { setex: { p50: 900, count: 4000 } }
    Object.assign(one.document, { latency_us: { intended: null, service: null, commands } })
    const found = windowOf([one], whole(1, 3))?.document.latency_us
    assert.deepEqual(Object.keys(found ?? {}), ['intended', 'service'])
  })

  test('the CPU of the client is that of the seconds in the window; two writers add up', () => {
    const one = run([1000, 1000, 1000, 1000])
    Object.assign(one.document.client, { cpu_s: 0.5, tape_bytes: 100, stopped_ms: 0 })
    const client = windowOf([one], whole(1, 3))?.document.client
    assert.deepEqual([client.cpu_s, client.cpu_pct, client.cpu_us_per_item], [0.1, 5, 50])
    const other = run([1000, 1000, 1000, 1000])
    Object.assign(other.document.client, { cpu_s: 0.7, tape_bytes: 300 })
    Object.assign(other.lines[2].client, { stopped_ms: 1500 })
    const both = windowOf([one, other], whole(1, 3))?.document.client
    assert.deepEqual([both.cpu_s, both.cpu_pct, both.rss_mb_max], [0.2, 10, 20])
    assert.deepEqual([both.tape_bytes, both.stopped_ms, both.cpu_us_per_item], [400, 1500, 50])
  })

  test('the seconds of writers side by side add up to their result; the nodes are one view', () => {
    const [one, other] = [run([1000, 900, 1000, 1000]), run([500, 600, 700, 800])]
    const found = windowOf([one, other], whole(1, 4)) ?? assert.fail()
    const lines = secondsOfAll(found.byRun)
    assert.deepEqual(
      lines.flatMap(({ items, client, nodes }) => [items.acked, client.rss_mb, nodes.length]),
      [1500, 20, 2, 1700, 20, 2, 1800, 20, 2],
    )
    assert.equal(found.document.items.acked, 5000)
    assert.deepEqual(
      lines.map(({ nodes: [master] }) => master.commands.setex.calls),
      [900, 1000, 1000],
    )
  })

  test('only seconds that lie wholly within', () => {
    const found = windowOf([run([1000, 2000, 1000, 1000])], { fromMs: startMs + 900, toMs: startMs + 3100 })
    assert.ok(found)
    assert.deepEqual(
      found.lines.map(({ at_ms: atMs }) => atMs),
      [1100, 2100],
    )
    assert.equal(found.document.events.length, 1)
    assert.equal(windowOf([run([1000])], { fromMs: startMs + 100, toMs: startMs + 900 }), null)
  })

  test('a burst more in the same seconds raises neither rate nor CPU', () => {
    const even = windowOf([run([1000, 1000, 1000, 1000])], whole(0, 4))?.document
    const more = windowOf([run([1000, 2000, 1000, 1000])], whole(0, 4))?.document
    for (const document of [even, more]) {
      assert.ok(document)

      near(document.rate.achieved, 1000)
      near(document.nodes[0].cpu_pct, 10)
      near(document.nodes[1].cpu_pct, 5)
      near(document.server.cpu_us_per_item, 150)
    }
    const closed = windowOf([run([1000, 2000, 1000, 1000], { pacing: 'closed' })], whole(0, 4))?.document
    near(closed?.rate.achieved, 1250)
  })

  test('the idle cost that one of the writers measured is no cost of an item in the window', () => {
    const idle = {
      cpu_pct: 3,
      uncertainty_pct: 0.3,
      probes_pct: 0,
      samples: 3,
      by_node: { 'a:1': 2, 'a:2': 1 },
    }
    const knowing = (/** @type {object} */ of) => {
      const one = run([1000, 1000, 1000])
      Object.assign(one.document.server, { idle: of })
      return one
    }
    const why = { why: 'other writers were at work' }
    const { server } = windowOf([knowing(why), knowing(idle)], whole(0, 2))?.document ?? assert.fail()
    near(server.cpu_us_per_item, 75)
    near(server.cpu_us_per_item_net, 60)
    near(server.cpu_us_per_item_net_uncertainty, 1.5)
    near(server.fixed_cpu_share, 0.2)
    const unknown = windowOf([knowing(why)], whole(0, 2))?.document.server
    assert.deepEqual([unknown?.cpu_us_per_item_net, unknown?.idle], [null, why])
  })

  test('a burst that an edge of the window cuts is part of the rate; CPU is of the work that lies in it', () => {
    /** @param {[number, number][]} counts offered and acked @param {object} [more] */
    const cut = (counts, more) => {
      const whole = run(counts.map(([, acked]) => acked))
      whole.lines.forEach((line, i) => {
        Object.assign(line.items, { offered: counts[i][0], ...more })
      })
      return whole
    }
    for (const counts of /** @type {[number, number][][]} */ ([
      [
        [1000, 500],
        [1000, 1000],
      ],
      [
        [1000, 1500],
        [1000, 1000],
      ],
      [
        [1000, 250],
        [1000, 1750],
      ],
    ])) {
      const found = windowOf([cut(counts)], whole(0, 2))?.document
      near(found?.rate.achieved, 1000)
      near(found?.nodes[0].cpu_pct, 10)
      near(found?.server.cpu_us_per_item, 150)
    }
    const lossy = windowOf(
      [
        cut(
          [
            [1000, 900],
            [1000, 900],
          ],
          { dropped: 100 },
        ),
      ],
      whole(0, 2),
    )?.document
    near(lossy?.rate.achieved, 900)
    const behind = windowOf(
      [cut(Array.from({ length: 8 }, () => /** @type {[number, number]} */ ([1000, 600])))],
      whole(0, 8),
    )?.document
    near(behind?.rate.achieved, 600)
    const both = windowOf(
      [
        cut(
          [
            [1000, 1200],
            [1000, 700],
          ],
          { dropped: 50 },
        ),
      ],
      whole(0, 2),
    )?.document
    near(both?.rate.achieved, 950)
  })

  test('writers that sleep after their batches: the rate is what their own whole turns came to', () => {
    const turns = run([1000, 0, 1000], { pacing: 'closed' })
    const found = windowOf([turns, turns], whole(0, 3))?.document
    assert.ok(found)
    near(found.rate.achieved, 2000)
    near(found.server.cpu_us_per_item, 75)
  })

  test('items of all, nodes once', () => {
    const found = windowOf([run([1000, 1000]), run([3000, 3000], { items: 3000 })], whole(0, 2))?.document
    assert.ok(found)
    assert.equal(found.items.offered, 8000)
    assert.equal(found.plan.items, 4000)
    assert.equal(found.items.acked, 8000)
    near(found.rate.achieved, 4000)
    assert.equal(found.rate.nominal, 2000)
    near(found.nodes[0].cpu_pct, 10)
    near(found.client.cpu_pct, 10)
  })
})

const experiment = experimentIn(
  JSON.stringify({
    id: 'tiny',
    question: 'Is b cheaper?',
    published: 'list',
    cells: [
      { name: 'a', published: 0 },
      { name: 'b', published: 1 },
    ],
    ratios: [{ of: 'b', to: 'a', claim: 'b takes a fifth off', why: 'the reason' }],
  }),
  'tiny.json',
)
const matrix = {
  experiment,
  cells: cellsOf(experiment, { scale: 1 }),
  repeat: 3,
  seconds: 2,
  warmUpS: 0,
  scale: 1,
  seed: 1,
  published: published().experiments.list,
}
/** @param {string} cell @param {number} round @param {number} cpu @param {Partial<TurnResult & TurnResult['legs'][0]>} [more] @returns {TurnResult} */
const turn = (cell, round, cpu, { factor = 1, valid = true, clientLimited = false, ...rest } = {}) => ({
  cell,
  round,
  factor,
  timeline: null,
  servers: ['7.0.15'],
  legs: [
    {
      row: cell,
      folder: `cells/${cell}/round-${round}/run`,
      figures: { 'master.cpu_pct': cpu, 'server.cpu_us_per_item': cpu / 10, 'bystander.p99': 900 },
      valid,
      reasons: valid ? [] : ['rate'],
      clientLimited,
      span: null,
    },
  ],
  ...rest,
})
const known = { started: '2026-01-01T00:00:00.000Z', durationS: 1, command: 'node x', millrace: '0.1.0' }

describe('what a matrix tells', () => {
  const three = [10, 11, 9]
  test('a large ratio is said in times, not in percent', () => {
    const verdictOf = (/** @type {number} */ factor) =>
      experimentDocument(
        matrix,
        [
          ...three.map((cpu, i) => turn('a', i + 1, cpu)),
          ...three.map((cpu, i) => turn('b', i + 1, cpu * factor)),
        ],
        known,
      ).verdict
    assert.match(verdictOf(1832.4), /^b: 1,832 times the CPU of the masters of a \(ratio 1,832, 95/)
    assert.match(verdictOf(2.5), /^b: 150 % more CPU of the masters than a \(ratio 2\.50, /)
    assert.match(verdictOf(0.02), /^a: 50\.0 times the CPU of the masters of b \(ratio 0\.020, /)
  })
  test('rows, columns with the bystander, and a ratio beside the published one', () => {
    const turns = [
      ...three.map((cpu, i) => turn('a', i + 1, cpu)),
      ...three.map((cpu, i) => turn('b', i + 1, cpu * 0.8)),
    ]
    const document = experimentDocument(matrix, turns, known)
    assert.deepEqual(
      document.rows.flatMap(({ label, runs, published: theirs }) => [
        label,
        runs.length,
        theirs?.['master.cpu_pct'],
      ]),
      ['a', 3, 44.5, 'b', 3, 36],
    )
    assert.ok(document.columns.some(({ name }) => name === 'bystander.p99'))
    const [ratio] = document.ratios
    near(ratio.ours.ratio, 0.8)
    near(ratio.ours.low, 0.8)
    near(ratio.published, 36 / 44.5)
    assert.equal(ratio.standing, 'agrees')
    assert.equal(ratio.contradicts, null)
    assert.match(
      document.verdict,
      /^b: 20 % less CPU of the masters than a \(ratio 0\.80, 95 % interval 0\.80 to 0\.80; published 0\.81\)\.$/,
    )
    assert.ok(!document.warnings.some(({ code }) => code === 'unfinished'))
    const text = experimentText(document, { columns: 160 })
    assert.match(text, /^a .*\[44.5 %]/m)
    for (const line of text.split('\n')) assert.ok(line.length <= 200)
  })

  test('a contradiction is told with its reason', () => {
    const turns = [
      ...three.map((cpu, i) => turn('a', i + 1, cpu)),
      ...three.map((cpu, i) => turn('b', i + 1, cpu * 1.3)),
    ]
    const { ratios, warnings } = experimentDocument(matrix, turns, known)
    assert.equal(ratios[0].standing, 'contradicts')
    assert.match(
      String(ratios[0].contradicts),
      /published 0\.81 \("b takes a fifth off"\), here 1\.30\. the reason/,
    )
    assert.ok(warnings.some(({ code }) => code === 'contradicts'))
  })

  test('without a reason of its own a contradiction has that of all published CPU', () => {
    const turns = [
      ...three.map((cpu, i) => turn('a', i + 1, cpu)),
      ...three.map((cpu, i) => turn('b', i + 1, cpu * 1.3)),
    ]
    const [{ why, ...bare }] = experiment.ratios ?? []
    const ratioWith = (/** @type {object} */ more) =>
      experimentDocument(
        { ...matrix, experiment: { ...experiment, ratios: [{ ...bare, ...more }] } },
        turns,
        known,
      ).ratios[0]
    assert.equal(ratioWith({ why }).why, 'the reason')
    assert.match(
      String(ratioWith({}).contradicts),
      /here 1\.30\. The published figures are the CPU of the host, .* at rates that the writers did not hold/,
    )
    assert.equal(ratioWith({ figure: 'bystander.p99', published: 2 }).why, null, 'that is no CPU')
    const own = {
      ...matrix,
      published: null,
      experiment: { ...experiment, ratios: [{ ...bare, published: 0.5 }] },
    }
    assert.equal(experimentDocument(own, turns, known).ratios[0].why, null, 'that is somebody else’s')
  })

  test('where nothing can be told, that is said', () => {
    const turns = [
      ...three.map((cpu, i) => turn('a', i + 1, cpu)),
      ...[5, 11, 22].map((cpu, i) => turn('b', i + 1, cpu)),
    ]
    const [ratio] = experimentDocument(matrix, turns, known).ratios
    assert.equal(ratio.standing, 'undecided')
    assert.equal(ratio.contradicts, null)
    assert.match(String(ratio.why), /nothing can be told from these rounds/)
  })

  test('a client that was the limit is marked, and only rounds at one rate make a ratio', () => {
    const turns = [
      ...three.map((cpu, i) => turn('a', i + 1, cpu / (i > 0 ? 2 : 1), { factor: i > 0 ? 0.5 : 1 })),
      ...three.map((cpu, i) => turn('b', i + 1, cpu * 0.4, { factor: 0.5 })),
    ]
    const { rows, ratios } = experimentDocument(matrix, turns, known)
    near(ratios[0].ours.ratio, 0.8)
    assert.equal(ratios[0].samples?.length, 2)
    const apart = turns.map((each) => (each.cell === 'a' ? { ...each, factor: 1 } : each))
    assert.deepEqual(experimentDocument(matrix, apart, known).ratios, [])
    assert.deepEqual(valuesOf(rows[1].marks, 'code'), ['slower'])
    const still = experimentDocument(matrix, [turn('a', 1, 10, { clientLimited: true })], known)
    assert.ok(still.rows[0].marks.some(({ code }) => code === 'client'))
  })

  test('runs that are not valid do not count where two are', () => {
    const turns = [
      turn('a', 1, 10),
      turn('a', 2, 10),
      turn('a', 3, 50, { valid: false }),
      ...three.map((_, i) => turn('b', i + 1, 10)),
    ]
    const { rows, ratios } = experimentDocument(matrix, turns, known)
    assert.deepEqual(rows[0].figures['master.cpu_pct'].samples, [10, 10])
    near(ratios[0].ours.ratio, 1)
    assert.match(rows[0].marks[0].text, /1 of 3 runs not valid \(rate\)/)
  })

  test('a row with fewer than two valid runs is warned of above the figures', () => {
    const warned = (/** @type {boolean[]} */ valid) => {
      const turns = [
        ...valid.map((is, i) => turn('a', i + 1, 10, { valid: is })),
        ...three.map((_, i) => turn('b', i + 1, 10)),
      ]
      return experimentDocument(matrix, turns, known).warnings.find(({ code }) => code === 'rows-not-valid')
    }
    assert.equal(warned([true, true, true]), undefined)
    assert.equal(warned([true, true, false]), undefined)
    const { message = '', invalidates } = warned([true, false, false]) ?? {}
    assert.match(message, /^of a row fewer than two runs are valid, .*: do not quote it$/)
    assert.equal(invalidates, true)
  })

  test('half a matrix tells what it has, and what is missing', () => {
    const skipped = {
      cell: 'b',
      round: 1,
      factor: 1,
      legs: [],
      timeline: null,
      skipped: 'redis-6.2 is not there',
    }
    const { rows, ratios, warnings, verdict } = experimentDocument(matrix, [turn('a', 1, 10), skipped], known)
    assert.deepEqual(ratios, [])
    assert.match(rows[1].marks[0].text, /not run: redis-6\.2 is not there/)
    assert.match(
      warnings.find(({ code }) => code === 'unfinished')?.message ?? '',
      /4 runs of the matrix are missing/,
    )
    assert.equal(verdict, '1 of 2 rows were measured.')
    assert.equal(experimentDocument(matrix, [], known).verdict, 'Nothing was measured.')
    const failed = ['a', 'b'].flatMap((cell) =>
      [1, 2, 3].map((round) => ({ ...skipped, cell, round, skipped: undefined, failed: 'no' })),
    )
    const empty = experimentDocument(matrix, failed, known)
    assert.ok(
      empty.warnings.some(({ code, invalidates }) => code === 'nothing' && invalidates),
      'is no answer',
    )
  })
})

describe('a matrix on disk', () => {
  const fixed = { experiment, scale: 1, seconds: 2, warmUpS: 0, repeat: 3, seed: 1, target: 'embedded' }
  const open = (/** @type {string} */ outDir, more = {}) =>
    openMatrix({ outDir, fixed, resume: true, epochMs: Date.UTC(2026, 0, 1), ...more })

  test('goes on where it was, and forgets a line that was torn', async (t) => {
    const outDir = join(ownFolder(t, 'matrix'), 'out')
    const first = await open(outDir)
    assert.equal(first.resumed, false)
    await first.add(turn('a', 1, 10))
    appendFileSync(join(first.folder, 'turns.ndjson'), '{"cell":"b","rou')
    await first.close()
    const second = await open(outDir)
    assert.equal(second.resumed, true)
    assert.equal(second.folder, first.folder)
    assert.deepEqual(
      second.turns.map(({ cell, round }) => [cell, round]),
      [['a', 1]],
    )
    await second.add(turn('b', 1, 10))
    await second.close()
    assert.equal((await open(outDir)).turns.length, 2)
  })

  test('while it runs nobody else goes on with it; a crash leaves no lock', async (t) => {
    const outDir = join(ownFolder(t, 'matrix'), 'out')
    const first = await open(outDir)
    await assert.rejects(open(outDir), /--resume: process \d+ is still running .*; wait for its end/)
    const lock = join(first.folder, 'matrix.lock')
    const owner = JSON.parse(readFileSync(lock, 'utf8'))
    writeFileSync(lock, JSON.stringify({ ...owner, ownerStarted: '1' }))
    assert.equal((await open(outDir)).folder, first.folder)
  })

  test('what is finished is taken up as it is', async (t) => {
    const outDir = join(ownFolder(t, 'matrix'), 'out')
    const first = await open(outDir)
    assert.equal(first.result, null)
    await first.add(turn('a', 1, 10))
    await first.tell(experimentDocument(matrix, first.turns, known))
    await first.finish()
    await first.close()
    const again = await open(outDir)
    assert.equal(again.folder, first.folder)
    assert.equal(again.turns.length, 1)
    assert.equal(again.result?.id, 'tiny')
    const anew = await open(outDir, { resume: false })
    assert.notEqual(anew.folder, first.folder)
  })

  test('what was another matrix is not gone on with, but what is finished is in nobody’s way', async (t) => {
    const outDir = join(ownFolder(t, 'matrix'), 'out')
    const others = { ...fixed, scale: 2 }
    const first = await open(outDir)
    await assert.rejects(
      open(outDir, { fixed: others }),
      /--resume: .* was begun with another scale; give the same, or leave out --resume/,
    )
    await first.finish()
    await first.close()
    const next = await open(outDir, { fixed: others })
    assert.equal(next.resumed, false)
    assert.equal((await open(outDir)).folder, first.folder, 'although a newer one of others was stopped')
  })

  test('the folder of a run that was cut off is emptied', async (t) => {
    const store = await open(join(ownFolder(t, 'matrix'), 'out'))
    const folder = store.folderOf('a', 1)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'left'), '')
    await store.clear('a', 1)
    assert.ok(!existsSync(folder))
    await store.tell(experimentDocument(matrix, [], known))
    assert.equal(JSON.parse(readFileSync(join(store.folder, 'experiment.json'), 'utf8')).kind, 'experiment')
  })

  test('a folder that cannot be written is told', async () => {
    await assert.rejects(
      open('/proc/none/out', { resume: false }),
      /--out \/proc\/none\/out: the folder cannot be written/,
    )
  })
})

test('a rate is lowered where the client was the limit, not where no rate was asked for', () => {
  const client = { busy_pct: 99, thread_cpu_pct: 98, cpu_pct: 99 }
  const was = (/** @type {number | null} */ nominal) =>
    clientWasTheLimit({ client, warnings: [], rate: { nominal } })
  assert.equal(was(20_000), true)
  assert.equal(was(null), false)
  assert.equal(
    clientWasTheLimit({ client: { busy_pct: 40 }, warnings: [], rate: { nominal: 20_000 } }),
    false,
  )
})

test('a server is empty when nothing is left to be freed and its memory falls no more', async () => {
  const answers = [
    [9_000_000, 500],
    [5_000_000, 0],
    [1_000_000, 0],
    [990_000, 0],
    [1_000_000, 0],
  ]
  /** @type {string[]} */
  const asked = []
  const server = {
    call: async (/** @type {string[]} */ ...words) => {
      asked.push(words.join(' '))
      if (words[0] !== 'INFO') return 'OK'
      const [used, pending] = answers.shift() ?? assert.fail()
      return `used_memory:${used}\r\nused_memory_rss:1\r\nlazyfree_pending_objects:${pending}\r\n`
    },
  }
  await emptied(server, () => 0)
  assert.deepEqual(asked, ['FLUSHALL ASYNC', 'SCRIPT FLUSH', ...Array(4).fill('INFO memory')])
  assert.equal(answers.length, 1)
})
