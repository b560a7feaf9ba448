import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { findAnswer } from '../../lib/answers/find/answer.js'
import { isClientLimited, judgeOf, objectivesOf } from '../../lib/answers/find/objectives.js'
import { find } from '../../lib/answers/find/report.js'
import { search } from '../../lib/answers/find/search.js'
import { plainData } from '../../lib/base/units.js'
import { exitCodeOfFind } from '../../lib/cli/find.js'
import { findOptions, findRequest, loadOptions } from '../../lib/cli/find-options.js'
import { typedLine } from '../../lib/options/command-line.js'
import { settingsOf } from '../../lib/options/read-settings.js'
import { rowsOf } from '../helpers/table.js'
import { simulatedTarget } from '../simulation/capacity.js'

/** @import { Line } from '../../lib/answers/find/limit.js' */
/** @import { SecondRecord } from '../../lib/run/conductor.js' */

const slos = ['latency.p99<20ms']
const objectives = objectivesOf(slos)
const none = { offered: 1000, acked: 1000, failed: 0, uncertain: 0, dropped: 0, unsettled: 0, open: 0 }
const idle = { busy_pct: 30, thread_cpu_pct: 29, cpu_pct: 40 }
const timesOf = (/** @type {number} */ p99) => ({ p50: p99 / 4, p90: p99 / 2, p99, p999: p99, max: p99 })

/** Plays a search as a run would: every second has a record. @param {string} name @param {Partial<typeof idle>} [client] */
const conduct = (name, client = {}) => {
  const target = simulatedTarget(name, 4)
  const machine = search({ min: target.min, max: target.max, seed: 4, seconds: 120, warmUp: 5, confirm: 20 })
  const seconds = /** @type {SecondRecord[]} */ ([])
  const judge = judgeOf(objectives)
  let next = machine.next()
  while (!next.done) {
    const { rate, seconds: n, phase } = next.value
    const records = Array.from({ length: n }, (_, i) => {
      const { passed, achieved } = target.second(rate)
      const times = timesOf(passed ? 5000 : 80_000)
      return {
        ...{ atMs: (seconds.length + i) * 1010, phase, rate, achieved, items: none },
        ...{ bystander_us: timesOf(900), latency_us: { intended: times, service: times } },
        ...{ client: { ...idle, ...client }, backlog_grows: false, waited_ms: 4 },
      }
    })
    seconds.push(...records)
    next = machine.next(records.map(judge))
  }
  return { answer: next.value, seconds }
}

const searches = /** @type {Map<string, ReturnType<typeof conduct>>} */ (new Map())
/** A search of the target is played once. @param {string} name */
const conducted = (name) => {
  const known = searches.get(name) ?? conduct(name)
  searches.set(name, known)
  return known
}

/** @param {ReturnType<typeof conducted>} played @param {{ asked?: object, confirmed?: object, lines?: Line[] }} [more] */
const answered = (played, more = {}) => {
  const lines = played.seconds.map(({ atMs }) => ({
    at_ms: atMs + 1000,
    nodes: [{ address: '10.0.0.3:6379', role: 'master', engine_cpu_pct: 97.4 }],
  }))
  const plan = { strategy: 'list', clients: null }
  const confirmation = { run: 'r', latency_us: { intended: timesOf(9000) }, plan }
  const found = findAnswer({
    ...{ ...played, lines, noticed: [], ...more },
    asked: { objectives, slos, share: 0.9, within: null, ...more.asked },
    confirmed: { confirmation, ...more.confirmed },
  })
  return { ...found, unit: 'items' }
}
const sentenceOf = (/** @type {string} */ name, more = {}) => find.sentence(answered(conducted(name), more))

test('an answer names the rate, its interval and the part that is the limit, and is as its schema says', async () => {
  const answer = answered(conducted('steep'))
  assert.equal(answer.state, 'found')
  const rate = String.raw`R = 17\d,\d00 items/s`
  const interval = String.raw`17\d,\d00 was sustained in \d\d of 2\d seconds; 95 % sure between 17\d,\d00 and 1[78]\d,\d00`
  const above = 'above it latency.p99<20ms fails as the main thread of 10.0.0.3:6379 is 97.4 % busy'
  assert.match(find.sentence(answer), new RegExp(`^${rate} \\(${interval}\\); ${above}$`))
  const document = plainData({ ...answer, sentence: find.sentence(answer), thresholds: [] })
  const ajv = new Ajv({ allowUnionTypes: true, strictRequired: false })
  assert.ok(ajv.validate(find.schema, JSON.parse(JSON.stringify(document))), ajv.errorsText())
  const shipped = readFileSync(new URL('../../docs/schemas/find.schema.json', import.meta.url), 'utf8')
  assert.deepEqual(JSON.parse(shipped), find.schema)
  for (const [i, second] of answer.seconds.entries()) {
    const { passed, client_limited: limited, after_pass: after, latency_us: us } = second
    assert.deepEqual([passed, limited], [us.intended?.p99 === 5000, false])
    assert.equal(after, i > 0 && answer.seconds[i - 1].passed)
  }
  const files = await find.files(document)
  assert.match(files['find.html'], /<strong>Found\.<\/strong> R = 17/)
  const drawn = ['latency', 'share', 'path'].map((name) => `charts/find-${name}.svg`)
  const pictures = Object.keys(files).filter((name) => name.endsWith('.svg'))
  assert.deepEqual(pictures, drawn)
  const ofFetches = await find.files({ ...document, unit: 'fetches' })
  for (const name of drawn) assert.match(ofFetches[name], /fetches a second/)
  for (const line of find.text(document, { columns: 80 }).split('\n')) assert.ok(line.length <= 80, line)
  const broken = { threshold: '', value: 1, passed: false }
  assert.deepEqual([exitCodeOfFind(answer, []), exitCodeOfFind(answer, [broken])], [0, 99])
})

test('a node that held packets back is the limit, after a thread that was full; else its network is none', () => {
  const cloudwatch = (/** @type {Record<string, number>} */ means) =>
    /** @type {any} */ ({ nodes: [{ id: 'items-001', means, points: {} }] })
  const over = { confirmed: { cloudwatch: cloudwatch({ NetworkBandwidthOutAllowanceExceeded: 1200 }) } }
  const held = answered(conducted('steep'), { ...over, lines: [] })
  assert.equal(held.limit?.part, 'node')
  const limit =
    /; above it latency.p99<20ms fails as the network of items-001 was the limit \(1,200 packets a minute over its bandwidth\)$/
  assert.match(find.sentence(held), limit)
  const full = answered(conducted('steep'), over)
  assert.equal(full.limit?.part, 'server')
  assert.match(
    find.sentence(full),
    /10.0.0.3:6379 is 97.4 % busy, and the network of items-001 was the limit \(1,200/,
  )
  const few = { confirmed: { cloudwatch: cloudwatch({ NetworkBandwidthOutAllowanceExceeded: 0.1 }) } }
  assert.doesNotMatch(sentenceOf('steep', few), /items-001/)
  const calm = cloudwatch({ NetworkBandwidthOutAllowanceExceeded: 0 })
  const idle = { lines: [], confirmed: { cloudwatch: calm } }
  assert.match(sentenceOf('steep', idle), /: it may be the memory bandwidth or bursts$/)
  assert.match(sentenceOf('steep', { lines: [] }), /: it may be the network, the memory bandwidth or bursts$/)
})

test('a rate that the client limited is no answer: at least that', () => {
  const busy = { busy_pct: 99, thread_cpu_pct: 98 }
  const answer = answered(conduct('steep', busy))
  assert.deepEqual([answer.state, answer.find.high, exitCodeOfFind(answer, [])], ['at-least', null, 4])
  assert.match(find.sentence(answer), /the load generator was the limit/)
  assert.ok(answer.seconds.every(({ client_limited: isLimited }) => isLimited))
  // Others took the core from it: that is no limit of this client.
  const another = { .../** @type {any} */ ({}), client: { ...busy, thread_cpu_pct: 40 } }
  assert.equal(isClientLimited(another), false)
})

test('a page names the rate that was played as confirmed, and its notes only what is drawn', () => {
  const shown = (/** @type {any} */ answer) => ({
    tiles: Object.fromEntries(find.sections(answer).highlights.map(({ label, text }) => [label, text])),
    notes: find.pictures(answer).map(({ note }) => note),
    series: find
      .pictures(answer)
      .map(({ option }) => option.series.map((/** @type {{ name: string }} */ { name }) => name)),
  })
  const never = answered(conducted('never'), { asked: { within: [1000, 600_000] } })
  // Of an answer that has more seconds than the confirmation.
  const seconds = answered(conducted('steep')).seconds
  const least = shown({ ...never, seconds, find: { ...never.find, low: 587_000 } })
  assert.deepEqual(least.tiles, { 'at least': '587,000/s', 'confirmed rate': '600,000/s' })
  assert.deepEqual(least.notes, ['From the due time. The line is the answer.', 'A point a second.'])
  assert.ok(!least.series.flat().some((name) => /capacity|band/.test(name)), `${least.series}`)
  const found = shown(answered(conducted('steep')))
  const tiles = ['at least', 'most likely', 'at most', 'confirmed rate']
  assert.deepEqual(Object.keys(found.tiles), tiles)
  assert.match(found.notes.join('\n'), /shaded band its 95 % interval.*\n.*\n.*with its 95 % band\.$/)
  assert.ok(found.series[2].includes('capacity'))
  const none = shown({ ...never, seconds, state: 'none', find: { low: null, middle: null, high: null } })
  assert.deepEqual([none.tiles, none.notes[0]], [{}, 'From the due time.'])
})

test('other outcomes have words and exit codes of their own', () => {
  const never = answered(conducted('never'), { asked: { within: [1000, 600_000] } })
  assert.match(find.sentence(never), /^at least 600,000 items\/s: the highest rate of --within/)
  const always = answered(conducted('always'))
  assert.match(find.sentence(always), /^none at or above 1,000 items\/s meets/)
  const stopped = answered({ ...conducted('always'), answer: /** @type {any} */ (null) })
  const codes = [never, always, stopped].map((answer) => exitCodeOfFind(answer, [], true))
  assert.deepEqual(codes, [0, 4, 130])
  // The client was the limit: what the servers can do is not known.
  const byClient = { state: 'at-least', limit: { part: 'client', words: 'the client' } }
  assert.equal(exitCodeOfFind(/** @type {any} */ (byClient), []), 4)
  const changed = answered(conducted('step'))
  if (changed.state === 'changed')
    assert.match(find.sentence(changed), /^the target changed: 17\d,\d00 items\/s until/)
  const confirmation = { server: { memory_bytes_per_item: 300 } }
  const unmet = objectivesOf([...slos, 'server.memory_bytes_per_item<10B'])
  const missed = sentenceOf('steep', { asked: { objectives: unmet }, confirmed: { confirmation } })
  const limit = /^none: at the highest rate whose seconds pass, server.memory_bytes_per_item<10B fails/
  assert.match(missed, limit)
})

test('limits of consumers are those of the consumers beside it, in the time of the confirmation', () => {
  const times = { p50: 1, p90: 2, p99: 3, p999: 3, max: 4 }
  const readers = {
    plan: { totalAgents: 2, consumers: 4 },
    rate: { nominal: 20, achieved: 19.9 },
    fetches: { count: 600, failed: 1, overrun: 2, duration_ms: times },
    freshness_ms: times,
  }
  const limits = objectivesOf([...slos, 'fetches.duration_ms.p99<5ms', 'fetches.failed<=0'])
  const missed = answered(conducted('steep'), { asked: { objectives: limits }, confirmed: { readers } })
  const none = /^none: at the highest rate whose seconds pass, fetches.failed<=0 fails/
  assert.match(find.sentence(missed), none)
  const line = /readers {6}8 consumers: 20 fetches\/s, p50 1\.00 ms, p99 3\.00 ms; 2 missed, 1 failed/
  assert.match(find.text(missed, { columns: 100 }), line)
  assert.match(sentenceOf('steep', { confirmed: { readers } }), /^R = /)
  // Also where the highest rate of --within is sustained, and where a limit is about what they fetched.
  const highest = answered(conducted('never'), { asked: { objectives: limits }, confirmed: { readers } })
  assert.match(find.sentence(highest), /^none: .+ fetches.failed<=0 fails$/)
  assert.deepEqual(highest.confirmed, { rate: 600_000, passed: 29, seconds: 29 })
  const items = objectivesOf([...slos, 'rate.items>5', 'freshness.p50<2s'])
  const few = { ...readers, rate: { ...readers.rate, items: 4 }, freshness_ms: { ...times, p50: null } }
  const unmet = sentenceOf('steep', { asked: { objectives: items }, confirmed: { readers: few } })
  assert.match(unmet, /, rate.items>5 fails and freshness.p50<2s was not measured, or too few times$/)
})

const requested = (/** @type {string} */ line) => {
  const options = [...findOptions, ...loadOptions]
  const typed = typedLine(line.split(' ').filter(Boolean), options)
  const settings = settingsOf(typed, findOptions, { env: {}, takesWords: true })
  return findRequest(/** @type {any} */ ({ settings, typed, env: {}, as: 'millrace find' }))
}

test('what is asked becomes terms of the search and settings of its run', () => {
  const limits = '--slo latency.p99<20ms --slo bystander.p99<2ms'
  const asked = requested(`list ${limits} --within 10k..500k --share 95% --time 2m --items 50k`)
  const { settings, within, share, seconds } = asked
  assert.deepEqual([within, share, seconds, asked.slos.length], [[10_000, 500_000], 0.95, 120, 2])
  assert.deepEqual([settings.strategy, settings.quantity, settings.pacing], ['list', 50_000, 'smooth'])
  assert.equal(requested('lookup-get --slo latency.p99<2ms').settings.quantity, 100_000)
  const jobs = requested('queue-list --slo latency.p99<2s --with-read workers=2')
  assert.equal(jobs.settings.maxQueue, 1000)
})

test('options of a workload go with it, however it is named', () => {
  const slo = '--slo latency.p99<2ms'
  for (const line of [`lookup-get --fill ${slo}`, `--strategy lookup-get --fill ${slo}`])
    assert.equal(requested(line).settings.fill, 'keys')
  assert.equal(requested(`--model docs/examples/shop.yaml --fill ${slo}`).settings.fill, 'keys')
})

test('keys that commands read are written before a search, where nothing else is asked for', () => {
  const fillOf = (/** @type {string} */ line) => requested(`${line} --slo latency.p99<2ms`).settings.fill
  for (const read of ['lookup-get', 'lookup-mix', '--model docs/examples/shop.yaml'])
    assert.deepEqual([fillOf(read), fillOf(`${read} --fill none`)], ['keys', 'none'], read)
  for (const written of ['lookup-set', 'sorted-set', '--model docs/examples/session-store.yaml'])
    assert.equal(fillOf(written), 'none', written)
})

test('fetches are searched with the settings of consumers', () => {
  const slo = '--slo latency.p99<20ms'
  const { isOfFetches, settings } = requested(`list --read consumers=7,limit=100 --seed 5 ${slo}`)
  const { strategy, consumers, seed } = /** @type {any} */ (settings)
  assert.deepEqual([isOfFetches, strategy, consumers, seed], [true, 'list', 7, 5])
  for (const [line, why] of Object.entries({
    'x=1': /--read: unknown option --x/,
    'consumers=2,fetch-rate=5': /--read: fetch-rate: the search decides/,
    'consumers=2 --with-read consumers=1': /--read does not go with --with-read/,
    'consumers=2 --control redis://h --run r': /--read does not go with --control/,
    'consumers=2 --slo bystander.p99<1ms': /other clients are not measured/,
    'consumers=2 lookup-get': /--read: lookup-get has no items/,
  }))
    assert.throws(() => requested(`--read ${line} ${slo}`), why)
})

test('what cannot be searched is refused in one line', () => {
  for (const [line, words] of rowsOf(String.raw`
list -> ^--slo is missing
list --slo latency.p99<20parsec -> ^--slo latency.+is not measured in parsec
list --slo latency.p99<20 -> ^--slo latency.p99<20: the limit has no unit: write latency.p99<20ms$
list --slo latency.p98<20ms -> ^--slo
list --slo server.memory_bytes_per_item<1kB -> ^--slo .+this is not measured each second
list SLO --within 500k..10k -> ^--within 500k\.\.10k: must be two rates
list SLO --within 10k -> ^--within 10k: must be two rates
list SLO --share 30% -> ^--share 30%: must be from 50% to 99%
list SLO --threshold find.top>1 -> ^--threshold find\.top>1: must be an end of the answer
list --password pass word SLO -> ^unexpected word .+ after --password \(not shown
list --strategy set SLO -> ^unexpected word on the command line \(not shown
queue-list SLO -> ^millrace find queue-list needs workers .*: add --with-read workers=8$
list SLO --rate 5k -> ^--rate belongs to --over memory
list SLO --time 10s -> ^--time must be
list SLO -t 2 -> ^-t needs --control
list SLO FLEET --with-read limit=5 -> ^--with-read does not go with --control
list SLO FLEET --slo client.cpu_pct<50% -> only limits that each second has
lookup-get SLO FLEET -> has no writers \(-t\) that boxes could share
list SLO --control redis://h --host i -> needs --run, the same on every box
list SLO --with-read consumers=0 -> ^--with-read: --consumers must be
list SLO --with-read host=h -> ^--with-read: unknown option --host
list SLO --with-read fetch-rate=5@3s -> ^--with-read: .+ fetch at one rate
lookup-get SLO --with-read limit=5 -> ^--with-read: lookup-get has no items
list SLO --slo fetches.failed<=0 -> ^--slo fetches.+: there are no readers; add --with-read
`)) {
    const typed = line
      .replace('SLO', '--slo latency.p99<2ms')
      .replace('FLEET', '--control redis://h --host i --run r')
    assert.throws(() => requested(typed), { message: new RegExp(words) }, typed)
  }
})

test('where the backlog grows above the answer, the sentence names no limit as failed', () => {
  const { answer, seconds } = conducted('steep')
  const low = { intended: timesOf(5000), service: timesOf(5000) }
  const growing = seconds.map((second) =>
    second.latency_us.intended?.p99 === 80_000 ? { ...second, backlog_grows: true, latency_us: low } : second,
  )
  const sentence = find.sentence(answered({ answer, seconds: growing }))
  assert.match(sentence, /; above it the backlog grows as the main thread/)
})

test('where the capacity drifts, an answer says what a command cost while a main thread was full', () => {
  const drifting = conducted('drift 30/10')
  /** @param {ReturnType<typeof conducted>} played @param {(i: number) => number} costUs @param {number} [pct] */
  const said = (played, costUs, pct = 97) => {
    const lines = played.seconds.map(({ atMs }, i) => {
      const cpu = { engine_cpu_pct: pct, engine_cpu_s: pct / 100, calls: (pct * 1e4) / costUs(i) }
      return { at_ms: atMs + 1000, nodes: [{ address: '10.0.0.3:6379', role: 'master', ...cpu }] }
    })
    const { warnings } = answered(played, { lines })
    return warnings.find(({ code }) => code === 'server-speed')?.message
  }
  const uneven = (/** @type {number} */ i) => (i % 2 ? 115 : 180)
  const [slow = '', ...none] = [
    said(drifting, uneven),
    said(drifting, () => 115),
    said(drifting, uneven, 50),
    said(conducted('steep'), uneven),
  ]
  const cost =
    /^while a main thread was full, a command cost it 115 µs to 180 µs of CPU: the servers were slower at times/
  assert.match(slow, cost)
  assert.deepEqual(none, [undefined, undefined, undefined], 'even costs, an idle thread, no drift')
})
