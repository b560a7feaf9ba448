// Experiments as data: definitions, order, ratios, and what a matrix tells when it has been stopped.
import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { boxesAsked } from '../../lib/experiments/boxes.js'
import { experimentById, experimentIds, experimentNamed } from '../../lib/experiments/catalogue.js'
import { secondsOfAll } from '../../lib/experiments/cell-run.js'
import { emptied } from '../../lib/experiments/experiment-servers.js'
import { cellsOf, turnsOf } from '../../lib/experiments/matrix.js'
import { published, publishedFigures, trueRate } from '../../lib/experiments/published.js'
import { clientWasTheLimit } from '../../lib/experiments/runner.js'
import { experimentIn } from '../../lib/experiments/schema.js'
import { openMatrix } from '../../lib/experiments/store.js'
import { experimentDocument } from '../../lib/experiments/summary.js'
import { experiment as kit } from '../../lib/report/experiment.js'
import { ratioOf, standing } from '../../lib/result/ratio.js'
import { centreOf, figureOfRow } from '../../lib/result/statistics.js'
import { windowOf } from '../../lib/result/window.js'
import { ownFolder } from '../helpers/programs.js'
import { rowsOf, valuesOf } from '../helpers/table.js'

/** @import { TurnResult } from '../../lib/experiments/summary.js' */
/** @import { TestContext } from 'node:test' */

/** One number or each of several. @param {any} found @param {number | number[]} wanted */
const near = (found, wanted, within = 1e-9) => {
  for (const [i, want] of [wanted].flat().entries()) {
    const value = [found].flat()[i]
    assert.ok(value !== null && Math.abs(value - want) <= within * Math.abs(want), `${value}, not ${want}`)
  }
}
const cellsNamed = (/** @type {string} */ id, scale = 1) => cellsOf(experimentById(id), { scale })

describe('definitions', () => {
  test('each has its id, a cell for every published row and load, and names of its own', () => {
    const ids = experimentIds()
    const files = readdirSync(new URL('../../lib/experiments/definitions', import.meta.url))
    const theirs = Object.keys(published().experiments)
    assert.deepEqual([ids.length, ids.slice(0, theirs.length)], [files.length, theirs])
    for (const id of ids) {
      assert.equal(experimentById(id).id, id)
      const rows = published().experiments[id]?.rows ?? []
      const cells = cellsNamed(id)
      const legs = cells.flatMap((cell) => cell.legs)
      const found = new Set(legs.flatMap((leg) => leg.published ?? []))
      assert.deepEqual(new Set(rows.keys()), found, id)
      assert.equal(new Set(valuesOf(legs, 'row')).size, legs.length, id)
      assert.equal(new Set(valuesOf(cells, 'id')).size, cells.length, id)
      for (const { options, published: at } of legs) {
        const { writers, per_writer: each } = at === null ? {} : rows[at]
        const loads = [options.quantity, options['total-agents']]
        if (each) assert.deepEqual(loads, [writers * each, writers], `${id} ${at}`)
      }
    }
  })

  test('both Lua experiments write in one chunk and in two', () => {
    const strategies = { 'lua-single': 'script-item', 'lua-batch': 'script-batch' }
    for (const [id, strategy] of Object.entries(strategies)) {
      const chunks = cellsNamed(id).flatMap(({ legs: [{ options }] }) =>
        options.strategy === strategy && options['total-agents'] === 8 ? (options.chunks ?? 1) : [],
      )
      assert.deepEqual([...new Set(chunks)].sort(), [1, 2], id)
    }
  })

  test('the documented examples are experiments', () => {
    for (const name of ['value-size', 'read-while-writing', 'cut-long-commands'])
      assert.equal(experimentNamed(`test/data/experiments/${name}.json`).id, name)
  })

  const forbidden = ['allow', 'guard', 'url', 'password', 'threshold', 'cloudwatch']
  const head = '{ "id": "x", "question": "q",'
  const bad = /** @type {[string, RegExp][]} */ ([
    ...rowsOf(String.raw`
{ "id": "x",\n "question": "q"\n "cells": [] } -> mine\.json, line 3: Expected ','
{ "id": "x", "question": "q" } -> line 1: the experiment needs "cells"
{ "id": "X y", "question": "q", "cells": [{ "name": "a" }] } -> id must be small letters, digits and dashes
HEAD\n"cells": [\n{ "nam": "a" }] } -> line 3: cells\[0\] needs "name"; .*line 3: cells\[0\]\.nam is not a known key
HEAD "cells": [{ "name": "a" },\n{ "name": "a" }] } -> line 2: cells\[1\]\.name "a" is used twice
HEAD "cells": [{ "name": "a",\n"options": {\n"quantiti": 5 } }] } -> line 3: cells\[0\]\.options\.quantiti is not an option that an experiment can set
HEAD "cells": [{ "name": "a",\n"options": { "duration": 5 } }] } -> line 2: .*duration is not an option
HEAD\n"options": { "chunks": "many" },\n"cells": [{ "name": "a" }] } -> line 2: options\.chunks --chunks must be a whole number
HEAD "cells": [{ "name": "a",\n"options": { "strategy": "list",\n"ns": 5 } }] } -> line 3: cells\[0\]\.options\.ns --ns: --strategy list keeps no sorted set
HEAD "cells": [{ "name": "a" }],\n"ratios": [{ "of": "a",\n"to": "b" }] } -> line 3: ratios\[0\]\.to "b" is not a row; the rows are a
HEAD "cells": [{ "name": "a" }],\n"columns": ["master.cpu"] } -> line 2: columns\[0\] must be the name of a figure
HEAD "cells": [{ "name": "a", "variants": ["b"] }] } -> cells\[0\]\.variants\[0\] "b" is not a variant
HEAD "id": "y", "cells": [{ "name": "a" }] } -> "id" is used twice in one object
HEAD "cells": [{ "name": "a" }],\n"__proto__": {} } -> line 2: __proto__ is not a known key
HEAD "cells": [{ "name": "a",\n"toString": 1 }] } -> line 2: cells\[0\]\.toString is not a known key
HEAD "target": {\n"shards": 2 }, "cells": [{ "name": "a" }] } -> line 2: target\.shards above 1 needs a cluster
HEAD "target": { "cluster": true },\n"options": { "sk": true }, "cells": [{ "name": "a" }] } -> line 2: options\.sk a script needs "spread": true on several masters
HEAD "cells": [{ "name": "a b" },\n{ "name": "A-b" }] } -> line 2: cells\[1\]\.name makes the same folder as "a b": a-b
HEAD "cells": [{ "name": "é" }] } -> cells\[0\]\.name needs a letter from a to z or a digit, for its folder
HEAD "variants": [{ "name": "x+" }, { "name": "x-" }], "cells": [{ "name": "a" }] } -> variants\[1\]\.name makes the same folder as "x\+"
HEAD "cells": [{ "name": "a", "phases": [{ "name": "p", "action": "remove-shard" }] }] } -> a shard can be removed from a cluster only
`).map(([text, message]) => [text.replace('HEAD', head), new RegExp(message)]),
    ...forbidden.map((key) => [
      `${head}\n"options": { "${key}": "off" }, "cells": [{ "name": "a" }] }`,
      new RegExp(`line 2: options\\.${key} is not an option that an experiment can set`),
    ]),
  ])
  for (const [text, pattern] of bad)
    test(`a complaint: ${pattern.source.slice(0, 60)}`, () =>
      assert.throws(() => experimentIn(text, 'mine.json'), { message: pattern, exitCode: 2 }))

  test('a name that is none, with the one that was meant', () => {
    assert.throws(() => experimentNamed('shard'), /no experiment is called 'shard'; did you mean shards\?/)
    assert.throws(() => experimentNamed('./not-there.json'), /not-there\.json cannot be read \(ENOENT\)/)
  })
})

test('boxes need an address where they meet', async () => {
  const asked = { boxes: 2, run: 'spring' }
  for (const url of ['', 'nowhere at all'])
    assert.throws(() => boxesAsked(asked, { url }, true), {
      code: 'OPTION',
      message: /^--boxes needs --control/,
    })
  const found = boxesAsked(asked, { url: 'redis://127.0.0.1:7000' }, true)
  assert.equal((await found?.placeOfControl(assert.fail))?.port, 7000)
})

describe('the matrix', () => {
  test('quantities follow the scale, but not below what agents and chunks need', () => {
    const quantities = (/** @type {string} */ id, /** @type {number} */ scale) =>
      cellsNamed(id, scale).map(({ legs }) => legs[0].options.quantity)
    assert.deepEqual(quantities('chunks', 0.1), [20_000, 20_000, 20_000])
    assert.deepEqual(quantities('chunks', 0.00001), [4, 8, 16])
    const whole = quantities('lua-batch', 1)
    assert.deepEqual(quantities('lua-batch', 0.1), whole, 'its effect is in the size of a call')
  })

  test('variants multiply cells; processes and servers follow', () => {
    const writers = cellsNamed('more-writers').filter(({ name }) => name === '8 x 25,000')
    assert.deepEqual(valuesOf(writers, 'variant', 'processes'), ['target rate', 8, 'as published', 8])
    const lua = cellsNamed('lua-batch').filter(({ place }) => place.server === 'redis-6.2')
    assert.ok(lua.some(({ legs }) => legs[0].options.script === 'return-zero'))
    const places = cellsNamed('fewer-shards').map(({ place }) => place)
    assert.deepEqual(valuesOf(places, 'own', 'shards'), [true, 3])
  })

  test('a cell has lines of configuration and a module beside those of its variant', () => {
    const mine = (/** @type {object} */ config) => {
      const variants = [{ name: 'v', config: { hz: 50, ...config } }]
      const cells = [
        { name: 'a', config: { hz: 10 } },
        { name: 'b', module: 'redisbloom' },
      ]
      return experimentIn(JSON.stringify({ id: 'mine', question: 'q', variants, cells }), 'f')
    }
    assert.throws(() => mine({ save: '' }), /config\.save is not a configuration/)
    const places = cellsOf(mine({}), { scale: 1 }).map(({ place }) => place)
    const wanted = [null, [['hz', '10']], 'redisbloom', [['hz', '50']]]
    assert.deepEqual(valuesOf(places, 'module', 'config'), wanted)
  })

  test('rounds are shuffled, then mirrored; a seed gives its order again', () => {
    const cells = cellsNamed('lua-batch')
    const ids = valuesOf(cells, 'id')
    const order = (/** @type {number} */ seed, /** @type {number} */ round) =>
      turnsOf(cells, { repeat: 4, seed }).flatMap((turn) => (turn.round === round ? turn.cell.id : []))
    for (const round of [1, 2, 3, 4])
      assert.deepEqual(order(1, round).sort(), ids.toSorted(), 'each cell once')
    assert.deepEqual(order(1, 2), order(1, 1).reverse())
    assert.deepEqual(order(1, 4), order(1, 3).reverse())
    assert.deepEqual(order(7, 1), order(7, 1))
    for (const other of [order(1, 3), order(2, 1), ids]) assert.notDeepEqual(order(1, 1), other)
  })
})

describe('ratios', () => {
  test('the mean of the ratios of each round, with its 95 % interval', () => {
    const ratio = (/** @type {number[]} */ of, /** @type {number[]} */ to) => {
      const found = ratioOf(of.map((value, i) => ({ of: value, to: to[i] })))
      return found && [found.ratio, found.low, found.high]
    }
    near(ratio([2, 4, 20], [1, 2, 10]), [2, 2, 2])
    const spread = ratio([0.1, 0.2, 0.3].map(Math.exp), [1, 1, 1])
    near(spread?.[0], Math.exp(0.2))
    // Student's t with 2 degrees of freedom, by the standard error of 0.1, 0.2, 0.3.
    const half = (4.303 * 0.1) / Math.sqrt(3)
    near(spread?.slice(1), [Math.exp(0.2 - half), Math.exp(0.2 + half)], 1e-3)
    assert.deepEqual([ratio([], []), ratio([1], [0]), ratio([3], [2])], [null, null, [1.5, null, null]])
  })

  test('figures of a row: the mean, in the middle of an interval that never falls below 0', () => {
    assert.deepEqual(figureOfRow([5]), { median: 5, mean: 5, low: 5, high: 5, samples: [5] })
    const wild = figureOfRow([1, 100, 3])
    assert.equal(wild.median, 3)
    // The interval is of the mean that is printed, which is not the median.
    near(centreOf(wild), 300 ** (1 / 3))
    assert.ok(wild.low > 0)
    near(Math.sqrt(wild.low * wild.high), centreOf(wild))
    assert.equal(centreOf({ median: 4, low: 3, high: 5, samples: [3, 4, 5] }), 4)
    assert.equal(figureOfRow([0, 0, 0]).high, 0)
    assert.equal(figureOfRow([4000, 4000, 4000]).low, 4000)
  })

  test('how ours stands to what was published', () => {
    for (const [ours, theirs, wanted, why] of rowsOf(`
      0.8 0.78 0.82 -> 0.81 -> agrees -> near
      0.6 0.58 0.62 -> 0.81 -> differs -> far
      0.7 0.5 0.98 -> 0.81 -> agrees -> within the interval
      0.6 0.4 0.9 -> 0.81 -> undecided -> within an interval that holds a lot
      1.2 1.1 1.3 -> 0.81 -> contradicts -> the other way
      1.02 0.97 1.07 -> 1.29 -> contradicts -> no difference here
      1.3 1.25 1.35 -> 1 -> contradicts -> none there
      1.01 0.99 1.03 -> 1 -> agrees -> none in both
      1 0.31 3.23 -> 0.85 -> undecided -> it holds both
      0.85 0.31 3.23 -> 0.85 -> undecided -> however near
      1 0.6 1.7 -> 1 -> undecided -> a difference is not ruled out
      0.8 -> 0.8 -> undecided -> one round
    `)) {
      const [ratio, low = null, high = null] = ours.trim().split(' ').map(Number)
      assert.equal(standing({ ratio, low, high, samples: [] }, Number(theirs)), wanted, why)
    }
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
  const started = new Date(startMs).toISOString()
  const master = { address: 'a:1', shard: 1, role: 'master', over_ms: 1000 }
  const cpu = (/** @type {number} */ count) => ({ cpu_s: count / 1e4, engine_cpu_s: count / 2e4 })
  /** @param {number[]} acked of each second @param {object} [plan] @param {object} [items] of each second */
  const run = (acked, plan, items) => {
    const schedule = { flow: 'ticks', schedule: 'even', items: 1000, chunks: 1, spacingMs: 1000 }
    const server = { commands: { setex: {} } }
    const events = [{ at_ms: 2500, kind: 'phase', text: 'b' }]
    const sums = {
      rate: { nominal: 1000, achieved: 1000 },
      items: { failed_by: {} },
      client: { rss_mb_max: 10 },
    }
    const document = {
      started,
      plan: { ...schedule, ...plan },
      ...sums,
      server,
      events,
      valid: true,
      warnings: [],
    }
    const lines = acked.map((count, i) => ({
      ...{ at_ms: (i + 1) * 1000, phase: 'measuring', items: { offered: count, acked: count, ...items } },
      client: { over_s: 1, cpu_s: 0.05, thread: { busy_s: (10 + i) / 100, over_s: 1 }, rss_mb: 10 },
      nodes: [
        { ...master, ...cpu(count), commands: { setex: { calls: count, usec: count } } },
        { ...master, address: 'a:2', role: 'replica', cpu_s: count / 2e4 },
      ],
    }))
    return { document, lines }
  }
  const even = [1000, 1000, 1000, 1000]
  const within = (/** @type {any[]} */ runs, /** @type {number} */ from, /** @type {number} */ to) =>
    windowOf(runs, { fromMs: startMs + from * 1000, toMs: startMs + to * 1000 })
  /** @type {(...args: Parameters<typeof within>) => any} */
  const documentOf = (...args) => within(...args)?.document ?? assert.fail()

  test('who was absent within the window decides, not who was in the rest of the run', () => {
    const one = run(even, { totalAgents: 3, agents: [{ agent: 1 }], quantity: 3000, periodMs: 1000 })
    const absent = { code: 'absent-writers', message: 'at first', invalidates: true }
    const judged = (/** @type {number} */ first, /** @type {number} */ later) => {
      const lines = one.lines.map((line, i) => ({ ...line, writers: i < 1 ? first : later }))
      return documentOf([{ document: { ...one.document, valid: false, warnings: [absent] }, lines }], 1, 4)
    }
    const { valid, state, warnings } = judged(1, 3)
    assert.deepEqual([valid, state, warnings], [true, 'valid', []])
    const found = judged(2, 2)
    assert.deepEqual([found.valid, found.state], [false, 'partial'])
    const message = /^2 of 3 writers are here: this box writes 1,000 of 3,000 items\/s/
    assert.match(found.warnings[0].message, message)
  })

  test('what is counted over whole runs only stays beside what the lines make', () => {
    const one = run(even)
    Object.assign(one.document, { ticks: { count: 4, late: 1 } })
    assert.deepEqual(documentOf([one], 1, 3).ticks, { count: 4, late: 1, lateness_us: null })
  })

  test('a window has no latencies of each command: they are percentiles of the whole run, which do not add up', () => {
    const one = run(even, { flow: 'ticks' })
    const commands = { setex: { p50: 900, count: 4000 } }
    Object.assign(one.document, { latency_us: { intended: null, service: null, commands } })
    assert.deepEqual(Object.keys(documentOf([one], 1, 3).latency_us), ['intended', 'service'])
  })

  test('the CPU of the client is that of the seconds in the window; two writers add up', () => {
    const [one, other] = [run(even), run(even)]
    Object.assign(one.document.client, { cpu_s: 0.5, encoded_bytes: 100, stopped_ms: 0 })
    const { client } = documentOf([one], 1, 3)
    assert.deepEqual([client.cpu_s, client.cpu_pct, client.cpu_us_per_item], [0.1, 5, 50])
    Object.assign(other.document.client, { cpu_s: 0.7, encoded_bytes: 300 })
    Object.assign(other.lines[2].client, { stopped_ms: 1500 })
    const { client: both } = documentOf([one, other], 1, 3)
    assert.deepEqual([both.cpu_s, both.cpu_pct, both.rss_mb_max], [0.2, 10, 20])
    assert.deepEqual([both.encoded_bytes, both.stopped_ms, both.cpu_us_per_item], [400, 1500, 50])
  })

  test('the seconds of writers side by side add up to their result; the nodes are one view', () => {
    const found = within([run([1000, 900, 1000, 1000]), run([500, 600, 700, 800])], 1, 4) ?? assert.fail()
    const lines = secondsOfAll(found.byRun)
    const sums = lines.flatMap(({ items, client, nodes }) => [items?.acked, client?.rss_mb, nodes?.length])
    assert.deepEqual(sums, [1500, 20, 2, 1700, 20, 2, 1800, 20, 2])
    assert.equal(found.document.items.acked, 5000)
    const calls = lines.map(({ nodes }) => nodes?.[0].commands?.setex.calls)
    assert.deepEqual(calls, [900, 1000, 1000])
  })

  test('only seconds that lie wholly within', () => {
    const found = within([run([1000, 2000, 1000, 1000])], 0.9, 3.1) ?? assert.fail()
    assert.deepEqual([valuesOf(found.lines, 'at_ms'), found.document.events.length], [[1100, 2100], 1])
    assert.equal(within([run([1000])], 0.1, 0.9), null)
  })

  const measured = (/** @type {any} */ { rate, nodes, server }) => [
    rate.achieved,
    ...valuesOf([nodes[0], nodes[1]], 'cpu_pct'),
    server.cpu_us_per_item,
  ]
  test('a burst more in the same seconds raises neither rate nor CPU', () => {
    const burst = [1000, 2000, 1000, 1000]
    for (const acked of [even, burst]) near(measured(documentOf([run(acked)], 0, 4)), [1000, 10, 5, 150])
    near(documentOf([run(burst, { schedule: 'none' })], 0, 4).rate.achieved, 1250)
  })

  test('a burst that an edge of the window cuts is part of the rate; CPU is of the work that lies in it', () => {
    const cut = (/** @type {number[]} */ acked, dropped = 0) =>
      documentOf([run(acked, {}, { offered: 1000, dropped })], 0, acked.length)
    for (const first of [500, 1500]) near(measured(cut([first, 1000])), [1000, 10, 5, 150])
    near(measured(cut([250, 1750])), [1000, 10, 5, 150])
    near(cut([900, 900], 100).rate.achieved, 900)
    near(cut([1200, 700], 50).rate.achieved, 950)
    near(cut(Array(8).fill(600)).rate.achieved, 600)
  })

  test('the idle cost that one of the writers measured is no cost of an item in the window', () => {
    const pcts = { cpu_pct: 3, uncertainty_pct: 0.3, probes_pct: 0 }
    const idle = { ...pcts, samples: 3, by_node: { 'a:1': 2, 'a:2': 1 } }
    const knowing = (/** @type {object} */ of) => {
      const one = run([1000, 1000, 1000])
      Object.assign(one.document.server, { idle: of })
      return one
    }
    const why = { why: 'other writers were at work' }
    const { server } = documentOf([knowing(why), knowing(idle)], 0, 2)
    near([server.cpu_us_per_item, server.cpu_us_per_item_net], [75, 60])
    near(server.fixed_cpu_share, 0.2)
    assert.equal(server.cpu_us_per_item_net_uncertainty, null, 'two seconds show no spread')
    const { server: unknown } = documentOf([knowing(why)], 0, 2)
    assert.deepEqual([unknown.cpu_us_per_item_net, unknown.idle], [null, why])
  })

  test('writers that sleep after their batches: the rate is what their own whole turns came to', () => {
    const turns = run([1000, 0, 1000], { schedule: 'none' })
    const { rate, server } = documentOf([turns, turns], 0, 3)
    near([rate.achieved, server.cpu_us_per_item], [2000, 75])
  })

  test('items of all, nodes once', () => {
    const found = documentOf([run([1000, 1000]), run([3000, 3000], { items: 3000 })], 0, 2)
    const { items, plan, rate, nodes, client } = found
    assert.deepEqual([items.offered, items.acked, plan.items, rate.nominal], [8000, 8000, 4000, 2000])
    near([rate.achieved, nodes[0].cpu_pct, client.cpu_pct], [4000, 10, 10])
  })
})

const tiny = {
  ...{ id: 'tiny', question: 'Is b cheaper?', published: 'list' },
  cells: ['a', 'b'].map((name, at) => ({ name, published: at })),
  ratios: [{ of: 'b', to: 'a', claim: 'b takes a fifth off', why: 'the reason' }],
}
const experiment = experimentIn(JSON.stringify(tiny), 'tiny.json')
const size = { repeat: 3, seconds: 2, warmUpS: 0, scale: 1, seed: 1 }
const cells = cellsOf(experiment, { scale: 1 })
const matrix = { experiment, cells, ...size, published: published().experiments.list }
/** @param {string} cell @param {number} round @param {number} cpu @param {Partial<TurnResult & TurnResult['legs'][0]>} [more] @returns {TurnResult} */
const turn = (cell, round, cpu, { factor = 1, valid = true, clientLimited = false, ...rest } = {}) => {
  const figures = { 'master.cpu_pct': cpu, 'server.cpu_us_per_item': cpu / 10, 'bystander.p99': 900 }
  const folder = `cells/${cell}/round-${round}/run`
  const reasons = valid ? [] : ['rate']
  const legs = [{ row: cell, folder, figures, valid, reasons, clientLimited, span: null }]
  return { cell, round, factor, timeline: null, servers: ['7.0.15'], legs, ...rest }
}
const known = { started: '2026-01-01T00:00:00.000Z', durationS: 1, command: 'node x', millrace: '0.1.0' }

describe('what a matrix tells', () => {
  const three = [10, 11, 9]
  const scaled = (/** @type {number} */ factor) => three.map((cpu) => cpu * factor)
  const rounds = (/** @type {string} */ cell, /** @type {number[]} */ cpus) =>
    cpus.map((cpu, i) => turn(cell, i + 1, cpu))
  const told = (/** @type {TurnResult[]} */ turns, more = {}) =>
    experimentDocument({ ...matrix, ...more }, turns, known)
  /** Beside rounds of a: those of b. @param {number[]} cpus @param {object} [more] of the matrix */
  const besides = (cpus, more) => told([...rounds('a', three), ...rounds('b', cpus)], more)

  test('a large ratio is said in times, not in percent', () => {
    for (const [factor, verdict] of /** @type {[number, RegExp][]} */ ([
      [1832.4, /^b: 1,832 times the CPU of the masters of a \(ratio 1,832, 95/],
      [2.5, /^b: 150 % more CPU of the masters than a \(ratio 2\.50, /],
      [0.02, /^a: 50\.0 times the CPU of the masters of b \(ratio 0\.020, /],
    ]))
      assert.match(besides(scaled(factor)).verdict, verdict)
  })

  test('rows, columns with the bystander, and a ratio beside the published one', () => {
    const document = besides(scaled(0.8))
    const rows = document.rows.map(
      ({ label, runs, published: theirs }) =>
        `${label}: ${runs.length} runs, published ${theirs?.['master.cpu_pct']}`,
    )
    assert.deepEqual(rows, ['a: 3 runs, published 44.5', 'b: 3 runs, published 36'])
    assert.ok(valuesOf(document.columns, 'name').includes('bystander.p99'))
    const [{ ours, published: theirs, standing, contradicts }] = document.ratios
    near([ours.ratio, ours.low, theirs], [0.8, 0.8, 36 / 44.5])
    assert.deepEqual([standing, contradicts], ['agrees', null])
    const interval = '(ratio 0.80, 95 % interval 0.80 to 0.80; published 0.81)'
    assert.equal(document.verdict, `b: 20 % less CPU of the masters than a ${interval}.`)
    assert.ok(!valuesOf(document.warnings, 'code').includes('unfinished'))
    const text = kit.text(document, { columns: 160 })
    assert.match(text, /^a .*\(44.5 %\)/m)
    for (const line of text.split('\n')) assert.ok(line.length <= 200)
  })

  test('a contradiction is told with its reason', () => {
    const { ratios, warnings } = besides(scaled(1.3))
    const [ratio] = ratios
    assert.equal(ratio.standing, 'contradicts')
    const text = /published 0\.81 \("b takes a fifth off"\), here 1\.30\. the reason/
    assert.match(String(ratio.contradicts), text)
    assert.ok(valuesOf(warnings, 'code').includes('contradicts'))
  })

  test('without a reason of its own a contradiction has that of all published CPU', () => {
    const [{ why, ...bare }] = experiment.ratios ?? []
    const ratioWith = (/** @type {object} */ of, more = {}) =>
      besides(scaled(1.3), { experiment: { ...experiment, ratios: [{ ...bare, ...of }] }, ...more }).ratios[0]
    assert.equal(ratioWith({ why }).why, 'the reason')
    const rest =
      /here 1\.30\. The published figures are the CPU of the host, .* at rates that the writers did not sustain/
    assert.match(String(ratioWith({}).contradicts), rest)
    assert.equal(ratioWith({ figure: 'bystander.p99', published: 2 }).why, null, 'that is no CPU')
    const { why: none } = ratioWith({ published: 0.5 }, { published: null })
    assert.equal(none, null, 'a published figure of one side contradicts nothing')
  })

  test('rounds without a clear difference ask for more or longer ones', () => {
    const [{ standing, contradicts, why }] = besides([5, 11, 22]).ratios
    assert.deepEqual([standing, contradicts], ['undecided', null])
    assert.match(String(why), /these rounds show no clear difference: more rounds/)
  })

  test('a client that was the limit is marked, and only rounds at one rate make a ratio', () => {
    const slower = rounds('b', scaled(0.4)).map((each) => ({ ...each, factor: 0.5 }))
    const [first, ...later] = rounds('a', [10, 5.5, 4.5])
    const { rows, ratios } = told([first, ...later.map((each) => ({ ...each, factor: 0.5 })), ...slower])
    near(ratios[0].ours.ratio, 0.8)
    assert.equal(ratios[0].samples?.length, 2)
    assert.deepEqual(told([first, ...later, ...slower]).ratios, [])
    assert.deepEqual(valuesOf(rows[1].marks, 'code'), ['slower'])
    const still = told([turn('a', 1, 10, { clientLimited: true })])
    assert.ok(valuesOf(still.rows[0].marks, 'code').includes('client'))
  })

  test('runs that are not valid do not count where two are', () => {
    const own = [turn('a', 1, 10), turn('a', 2, 10), turn('a', 3, 50, { valid: false })]
    const { rows, ratios } = told([...own, ...rounds('b', [10, 10, 10])])
    assert.deepEqual(rows[0].figures['master.cpu_pct'].samples, [10, 10])
    near(ratios[0].ours.ratio, 1)
    assert.match(rows[0].marks[0].text, /1 of 3 runs not valid \(rate\)/)
  })

  test('a row with fewer than two valid runs is warned of above the figures', () => {
    const warned = (/** @type {boolean[]} */ ...valid) => {
      const own = valid.map((is, i) => turn('a', i + 1, 10, { valid: is }))
      const { warnings } = told([...own, ...rounds('b', [10, 10, 10])])
      return warnings.find(({ code }) => code === 'rows-not-valid')
    }
    assert.deepEqual([warned(true, true, true), warned(true, true, false)], [undefined, undefined])
    const { message = '', invalidates } = warned(true, false, false) ?? {}
    assert.match(message, /^fewer than two runs of a row are valid, .*: do not quote it$/)
    assert.equal(invalidates, true)
  })

  test('half a matrix tells what it has, and what is missing', () => {
    const none = { factor: 1, legs: [], timeline: null }
    const skipped = { ...none, cell: 'b', round: 1, skipped: 'redis-6.2 is not there' }
    const { rows, ratios, warnings, verdict } = told([turn('a', 1, 10), skipped])
    assert.deepEqual(ratios, [])
    assert.match(rows[1].marks[0].text, /not run: redis-6\.2 is not there/)
    const unfinished = warnings.find(({ code }) => code === 'unfinished')
    assert.match(unfinished?.message ?? '', /4 runs of the matrix are missing/)
    assert.equal(verdict, '1 of 2 rows were measured.')
    assert.equal(told([]).verdict, 'Nothing was measured.')
    const failed = ['a', 'b'].flatMap((cell) =>
      [1, 2, 3].map((round) => ({ ...none, cell, round, failed: 'no' })),
    )
    const nothing = told(failed).warnings.find(({ code }) => code === 'nothing')
    assert.ok(nothing?.invalidates, 'is no answer')
  })
})

describe('a matrix on disk', () => {
  const fixed = { experiment, ...size, target: 'embedded' }
  const open = (/** @type {string} */ outDir, more = {}) =>
    openMatrix({ outDir, fixed, resume: true, epochMs: Date.UTC(2026, 0, 1), ...more })
  const opened = async (/** @type {TestContext} */ t) => {
    const outDir = join(ownFolder(t, 'matrix'), 'out')
    return { outDir, first: await open(outDir) }
  }

  test('goes on where it was, and forgets a line that was torn', async (t) => {
    const { outDir, first } = await opened(t)
    assert.equal(first.resumed, false)
    await first.add(turn('a', 1, 10))
    appendFileSync(join(first.folder, 'turns.ndjson'), '{"cell":"b","rou')
    await first.close()
    const second = await open(outDir)
    assert.deepEqual([second.resumed, second.folder], [true, first.folder])
    assert.deepEqual(valuesOf(second.turns, 'cell', 'round'), ['a', 1])
    await second.add(turn('b', 1, 10))
    await second.close()
    assert.equal((await open(outDir)).turns.length, 2)
  })

  test('while it runs nobody else goes on with it; a crash leaves no lock', async (t) => {
    const { outDir, first } = await opened(t)
    await assert.rejects(open(outDir), /--resume: process \d+ is still running .*; wait for its end/)
    const lock = join(first.folder, 'matrix.lock')
    const owner = JSON.parse(readFileSync(lock, 'utf8'))
    writeFileSync(lock, JSON.stringify({ ...owner, ownerStarted: '1' }))
    assert.equal((await open(outDir)).folder, first.folder)
  })

  test('what is finished is taken up as it is', async (t) => {
    const { outDir, first } = await opened(t)
    assert.equal(first.result, null)
    await first.add(turn('a', 1, 10))
    await first.tell(experimentDocument(matrix, first.turns, known))
    await first.finish()
    await first.close()
    const again = await open(outDir)
    assert.deepEqual([again.folder, again.turns.length, again.result?.id], [first.folder, 1, 'tiny'])
    const anew = await open(outDir, { resume: false })
    assert.notEqual(anew.folder, first.folder)
  })

  test('what was another matrix is not gone on with, but what is finished is in nobody’s way', async (t) => {
    const { outDir, first } = await opened(t)
    const others = { fixed: { ...fixed, scale: 2 } }
    const refusal = /--resume: .* was begun with another scale; give the same, or leave out --resume/
    await assert.rejects(open(outDir, others), refusal)
    await first.finish()
    await first.close()
    const next = await open(outDir, others)
    assert.equal(next.resumed, false)
    assert.equal((await open(outDir)).folder, first.folder, 'although a newer one of others was stopped')
  })

  test('the folder of a run that was cut off is emptied', async (t) => {
    const { first } = await opened(t)
    const folder = first.folderOf('a', 1)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'left'), '')
    await first.clear('a', 1)
    assert.ok(!existsSync(folder))
    await first.tell(experimentDocument(matrix, [], known))
    assert.equal(JSON.parse(readFileSync(join(first.folder, 'experiment.json'), 'utf8')).kind, 'experiment')
  })

  test('a folder that cannot be written is told', async () => {
    const message = /--out \/proc\/none\/out: the folder cannot be written/
    await assert.rejects(open('/proc/none/out', { resume: false }), { message })
  })
})

test('a rate is lowered where the client was the limit, not where no rate was asked for', () => {
  const limited = (/** @type {object} */ client, /** @type {number | null} */ nominal) =>
    clientWasTheLimit({ client, warnings: [], rate: { nominal } })
  const busy = { busy_pct: 99, thread_cpu_pct: 98, cpu_pct: 99 }
  const found = [limited(busy, 20_000), limited(busy, null), limited({ busy_pct: 40 }, 20_000)]
  assert.deepEqual(found, [true, false, false])
})

test('a server is empty when nothing is left to be freed and its memory falls no more', async () => {
  const answers = rowsOf('9000000 -> 500\n5000000 -> 0\n1000000 -> 0\n990000 -> 0\n1000000 -> 0')
  const asked = /** @type {string[]} */ ([])
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

test('a metric may be named in short', () => {
  const text = JSON.stringify({
    ...{ id: 'x', question: 'q', cells: [{ name: 'a' }, { name: 'b' }], columns: ['latency.p99'] },
    ratios: [{ of: 'a', to: 'b', figure: 'latency_us.max' }],
  })
  const { columns, ratios } = experimentIn(text, 'mine.json')
  assert.deepEqual([columns, ratios?.[0].figure], [['latency.intended.p99'], 'latency.intended.max'])
})
