// Every kind of page that is opened from disk: nothing on the console, light and dark by the button, no wider than its window, and
// names with markup in them are text.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { planCost } from '../../charts/plan.js'
import { choose, chooseDocument } from '../../lib/answers/choose/report.js'
import { findAnswer } from '../../lib/answers/find/answer.js'
import { judgeOf, objectivesOf } from '../../lib/answers/find/objectives.js'
import { find } from '../../lib/answers/find/report.js'
import { search } from '../../lib/answers/find/search.js'
import { adviceTable } from '../../lib/answers/profile/report.js'
import { plainData } from '../../lib/base/units.js'
import { compareDocument } from '../../lib/compare/document.js'
import { comparisonOfMany } from '../../lib/compare/many.js'
import { compare } from '../../lib/compare/report.js'
import { cellIdOf, requestedDifferences, sideRequests } from '../../lib/compare/request.js'
import { pageOf } from '../../lib/report/page/page.js'
import { pageAndCharts, pageFiles } from '../../lib/report/write-report.js'
import { fixedRounds } from '../../lib/result/rounds-plan.js'
import { openedPage, pageTest } from '../helpers/browser.js'
import { ownFolder } from '../helpers/programs.js'
import { sampleExperiment, sampleRecord } from '../helpers/sample-record.js'
import { simulatedTarget } from '../simulation/capacity.js'
import { assertTiles, tilesOn, unfold } from './tiles.js'

/** @import { Page } from 'playwright-core' */
/** @import { TestContext } from 'node:test' */

/** @typedef {(name: string) => string} Naming of what a page shows */

/** @param {Naming} named */
const chosen = (named) => {
  const measured = { rounds: 3, ratio: 1, low: 1, high: 1, verdict: null, why: null }
  const standings = /** @type {const} */ ([
    { ...measured, place: 'worse', ratio: 1.2, low: 1.1, high: 1.3, verdict: 'worse' },
    { ...measured, place: 'left' },
  ])
  const asks = { needs: [], rate: 1000, items: 1000, ttl: '60s', value_size: '128B', reads: null }
  return chooseDocument(
    {
      ...{ started: '2026-11-25T00:00:00Z', duration_s: 60 },
      ...{ command_line: named('millrace choose'), hardware: named('a box') },
      versions: { millrace: '0.1.0', node: '22', servers: [named('7.0.15')] },
      asked: { ...asks, weigh: { cpu: 1 }, across: 'models' },
      ...{ excluded: [], turnovers: { found: [], unknown: [] }, warnings: [named('a warning')] },
    },
    {
      candidates: ['list', 'stream'].map((name) => ({
        ...{ name: named(name), model: name, server: null, simplicity: 3 },
        gives_up: [named(`what ${name} gives up`)],
      })),
      decision: { state: 'best', chosen: 1, alike: [1], rounds: 3, runs: 6, standings: [...standings] },
      runs: [1, 2, 3].flatMap((round) =>
        [0, 1].map((candidate) => ({
          ...{ candidate, round, counts: true, reasons: [], achieved: 1000 },
          metrics: { cpu: 2.4 - candidate / 2 + round / 100, memory: 300 - 100 * candidate + round },
        })),
      ),
    },
  )
}

/** @param {Naming} named */
const found = (named) => {
  const slos = ['latency.p99<20ms']
  const objectives = objectivesOf(slos)
  const target = simulatedTarget('steep', 4)
  const machine = search({ min: target.min, max: target.max, seed: 4, seconds: 120, warmUp: 5, confirm: 20 })
  const judge = judgeOf(objectives)
  const timesOf = (/** @type {number} */ p99) => ({ p50: p99 / 4, p90: p99 / 2, p99, p999: p99, max: p99 })
  const seconds = /** @type {import('../../lib/run/conductor.js').SecondRecord[]} */ ([])
  let next = machine.next()
  while (!next.done) {
    const { rate, seconds: n, phase } = next.value
    const records = Array.from({ length: n }, (_, i) => {
      const { passed, achieved } = target.second(rate)
      const times = timesOf(passed ? 5000 : 80_000)
      const items = { offered: 1000, acked: 1000, failed: 0, uncertain: 0, dropped: 0, unsettled: 0, open: 0 }
      return {
        ...{ atMs: (seconds.length + i) * 1010, phase, rate, achieved, items },
        ...{ bystander_us: timesOf(900), latency_us: { intended: times, service: times } },
        client: { busy_pct: 30, thread_cpu_pct: 29, cpu_pct: 40 },
        ...{ backlog_grows: false, waited_ms: 4 },
      }
    })
    seconds.push(...records)
    next = machine.next(records.map(judge))
  }
  const lines = seconds.map(({ atMs }) => ({
    at_ms: atMs + 1000,
    nodes: [{ address: named('10.0.0.3:6379'), role: 'master', engine_cpu_pct: 97.4 }],
  }))
  const confirmation = {
    ...{ run: named('r'), latency_us: { intended: timesOf(9000) } },
    plan: { strategy: named('list'), clients: null },
  }
  const answer = findAnswer({
    ...{ answer: next.value, seconds, lines, noticed: [] },
    asked: { objectives, slos, share: 0.9, within: null },
    confirmed: { confirmation },
  })
  const whole = { ...answer, unit: 'items' }
  return plainData({ ...whole, sentence: find.sentence(whole), thresholds: [] })
}

/** @param {readonly string[]} names @param {Naming} named */
const compared = (names, named) => {
  const requests = sideRequests([...names])
  const sides = requests.map(({ id, name }) => ({ id, name: named(name) }))
  const turns = Array.from({ length: 6 }, (_, at) => {
    const round = at + 1
    const all = names.map((_, side) => {
      const cpu = 10 + side + 0.01 * round
      const figures = {
        ...{ 'server.cpu_us_per_item': cpu, 'rate.achieved': 1000, 'latency.intended.p99': 500 + cpu },
      }
      const outcome = { valid: true, reasons: [], clientLimited: false, span: null }
      const cell = cellIdOf(side)
      const leg = { row: cell, folder: `cells/${cell}/round-${round}/run`, figures, ...outcome }
      return { cell, round, factor: 1, timeline: null, legs: [leg] }
    })
    return at % 2 ? all.reverse() : all
  }).flat()
  const { comparison } = comparisonOfMany({
    ...{ sides, turns, settings: requestedDifferences(requests[0], ...requests.slice(1)), effect: 0.03 },
    ...{ thresholds: [], criticals: fixedRounds(6, sides.length).criticals },
  })
  const runsOf = (/** @type {number} */ round) =>
    turns
      .filter((turn) => turn.round === round)
      .map(({ cell, legs: [{ folder, figures }] }) => ({
        side: sides.find(({ id }) => id === cell)?.name ?? '',
        ...{ folder, figures },
      }))
  return compare.files(
    compareDocument(comparison, {
      ...{ command: named('millrace compare'), method: '6 rounds', where: named('7.0.15'), valid: true },
      rounds: [1, 2].map((round) => ({ round, runs: runsOf(round) })),
    }),
  )
}

const plain = {
  ...{ title: 'A page', question: 'What is on it?', highlights: [], facts: [], tables: [], warnings: [] },
  verdict: { good: true, neutral: true, word: 'Seen', sentence: 'a sentence' },
}
/** @param {Naming} named */
const planned = (named) => {
  const curve = [1000, 10_000, 100_000].map((rate, at) => {
    const monthly = 100 * 3 ** at
    return { rate, low: monthly * 0.9, monthly, high: monthly * 1.1, shards: 1 + at }
  })
  const models = [{ strategy: named('list'), curve }]
  const option = planCost.option({ asked: { value_bytes: 100 }, currency: '$', models })
  assert.ok(option)
  const highlights = [{ label: named('list'), text: '1.92 µs an item' }]
  return pageAndCharts('plan.html', { ...plain, highlights }, [{ ...planCost, option, wide: true }])
}

/** @param {Naming} named */
const ran = (named) => {
  const record = sampleRecord({
    run: named('r'),
    events: [{ at_ms: 4200, kind: named('failover'), text: named('a text') }],
    warnings: [{ code: 'x', message: named('a warning'), invalidates: false }],
    versions: { millrace: '0.1.0', node: '20', servers: [named('7.0.15')] },
  })
  for (const node of record.run.nodes) node.address = named(node.address)
  for (const { nodes = [] } of record.seconds) for (const node of nodes) node.address = named(node.address)
  return record
}

/** @param {Naming} named */
const experimented = (named) => {
  const { rows, ratios, ...experiment } = sampleExperiment()
  return {
    ...experiment,
    question: named(experiment.question),
    verdict: named(String(experiment.verdict)),
    rows: rows.map((row) => ({ ...row, label: named(row.label) })),
    ratios: ratios.map(({ label, numerator, denominator, ...ratio }) => ({
      ...{ ...ratio, label: named(label) },
      ...{ numerator: named(numerator), denominator: named(denominator) },
    })),
  }
}

/** That of a profile has tables only. @param {Naming} named */
const profiled = (named) => {
  const change = { value: -0.8, low: -0.9, high: -0.7 }
  const effect = { now: 111.4, other: 19.42, is_cheaper: true, change }
  const form = { rounds: 6, memory_bytes: effect, cpu_us: effect, title: 'in hashes', when: 'always' }
  const advice = [{ ...form, pattern: named('session:{uuid}') }]
  const tables = [adviceTable({ advice, silent: [], plays: 2 }).onPage()]
  return pageOf(/** @type {any} */ ({ ...plain, title: named('A page'), tables }), [], '1.0.0')
}

/** @type {Record<string, (named: Naming) => Promise<Record<string, any>>>} the first page of each is opened */
const kinds = {
  run: (named) => pageFiles(ran(named)),
  experiment: (named) =>
    pageFiles({ kind: 'experiment', experiment: experimented(named), timeline: null, pages: [] }),
  choose: (named) => choose.files(chosen(named)),
  find: (named) => find.files(found(named)),
  'compare of three': (named) => compared(['sorted-set', 'list', 'stream'], named),
  'compare of two': (named) => compared(['sorted-set', 'list'], named),
  plan: planned,
  'without charts': async (named) => ({ 'plain.html': await profiled(named) }),
}

// The verdict and the cost, or what the page answers.
/** @type {Record<string, RegExp>} */
const firstScreen = {
  run: /Valid\..*4\.81\sµs/s,
  experiment: /\w/,
  choose: /Best\..*1\.92\sµs/s,
  find: /Found\..*172,000\sitems\/s/s,
  'compare of three': /Answer\..*10\sµs/s,
  'compare of two': /Answer\..*10\sµs/s,
  plan: /Seen\..*1\.92\sµs/s,
  'without charts': /Seen\./,
}

/** @param {TestContext} t @param {string} kind @param {Naming} named */
const openedKind = async (t, kind, named) => {
  const files = await kinds[kind](named)
  const name = Object.keys(files).find((path) => path.endsWith('.html'))
  assert.ok(name)
  const file = join(ownFolder(t, 'page'), name)
  writeFileSync(file, files[name])
  const url = pathToFileURL(file).href
  const mayAsk = (/** @type {string} */ asked) => asked === url || asked.startsWith('blob:')
  return openedPage(t, url, mayAsk, { viewport: { width: 1280, height: 900 } })
}

const hostile = '<img src="http://127.0.0.1:9/x" onerror="document.title=1"><script>document.title=2</script>'

for (const kind of Object.keys(kinds)) {
  pageTest(`${kind}: markup in a name is text, in its charts and their tooltips too`, async (t) => {
    const page = await openedKind(t, kind, (name) => `${name}${hostile}`)
    await unfold(page)
    for (const chart of await page.locator('figure .chart').all()) {
      await chart.scrollIntoViewIfNeeded()
      const { width = 0, height = 0 } = (await chart.boundingBox()) ?? {}
      await chart.hover({ position: { x: width / 2, y: height / 2 } })
    }
    const seen = await page.evaluate(() => ({
      title: document.title,
      text: document.body.textContent ?? '',
      images: document.querySelectorAll('img').length,
    }))
    assert.equal(seen.images, 0)
    assert.ok(!/^[12]$/.test(seen.title), seen.title)
    assert.ok(seen.text.includes('<script>document.title=2</script>'), 'none of it is on the page')
  })

  pageTest(`${kind}: no error, light and dark, 390 and 1280 wide`, async (t) => {
    const page = await openedKind(t, kind, (name) => name)
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const first = await background()
    await page.getByRole('button', { name: 'Dark' }).click()
    assert.notEqual(await background(), first)
    await page.getByRole('button', { name: 'Light' }).click()
    assert.equal(await background(), first)
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      const { figureAt, text } = await page.evaluate(() => {
        const top = (/** @type {Element} */ one) => one.getBoundingClientRect().top + scrollY
        const figure = document.querySelector('figure')
        const above = [...document.querySelectorAll('.verdict, dl')].filter((one) => top(one) < innerHeight)
        return { figureAt: figure ? top(figure) : 0, text: above.map((one) => one.textContent).join(' ') }
      })
      assert.ok(figureAt < 900, `${width}: the first chart is at ${figureAt}`)
      assertTiles(await tilesOn(page))
      assert.match(text, firstScreen[kind], `${width} wide`)
      await unfold(page)
      // Charts follow the width of the window a moment later.
      await page
        .waitForFunction(() => document.documentElement.scrollWidth <= innerWidth, null, { timeout: 20_000 })
        .catch(() => assert.fail(`it is wider than ${width}`))
    }
  })
}
