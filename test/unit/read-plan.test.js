import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chosenPlan, readPlanOf } from '../../lib/loads/fetches/plan.js'
import { announcedFault, announcedIn, announcedWords } from '../../lib/plan/announcement.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { announcedPlan, builtInNames, samplePlan, settingsOf } from '../helpers/sample-plan.js'
import { rowsOf } from '../helpers/table.js'

/** @import { AnnouncedPlan } from '../../lib/plan/announcement.js' */

const nowMs = 1_790_000_000_000

/** @param {Parameters<typeof samplePlan>[0]} [settings] @param {number} [agoMs] @param {boolean} [ended] */
const announced = (settings, agoMs = 0, ended = false) =>
  announcedPlan(settings, { startedMs: nowMs - agoMs - 1000, renewedMs: nowMs - agoMs, ended })
const isLive = (/** @type {AnnouncedPlan} */ { ended, renewedMs }) => !ended && nowMs - renewedMs < 12_000
/** @param {string} line @param {ReturnType<typeof announced>[]} announcements @param {NodeJS.ProcessEnv} [env] */
const choose = (line, announcements, env) =>
  chosenPlan(settingsOf(line, 'consumer', env), announcements, isLive)

test('an announcement survives its text, and other texts are none', () => {
  const whole = announced({ sortedSets: 3, strategy: 'hash' })
  assert.deepEqual(announcedIn(JSON.stringify(whole)), whole)
  for (const text of ['', '{', 'null', '[]', '{}', '"x"']) assert.equal(announcedIn(text), null, text)
  for (const change of [{ ttlS: '3' }, { sets: 'x' }, { sets: [5] }, { payload: 'other' }, { ended: 1 }])
    assert.equal(announcedIn(JSON.stringify({ ...whole, ...change })), null)
})

test('why an announcement of another version cannot be read by', () => {
  const whole = announced()
  const fault = (/** @type {object} */ change) => announcedFault(JSON.stringify({ ...whole, ...change }))
  assert.equal(fault({}), null)
  for (const [change, words] of /** @type {[object, RegExp][]} */ ([
    [{ strategy: 'bitmap', version: '9.0' }, /^the plan of Millrace 9\.0 there is of the strategy 'bitmap',/],
    [{ strategy: 'constructor' }, /of the strategy 'constructor'/],
    [{ quantity: 1e15 }, /says quantity 1000000000000000, which no option gives$/],
    [{ quantity: -5.5 }, /says quantity -5\.5/],
    [{ ttlS: 1e300 }, /says ttlS 1e\+300/],
    [{ valueBytes: 1e12 }, /says valueBytes/],
    [{ sets: [] }, /says sets \[\]/],
    [{ sets: Array(100_000).fill('latest-ids') }, /says sets \["latest-ids/],
    [{ renewedMs: null }, /says renewedMs null/],
  ])) {
    assert.match(String(fault(change)), words)
    assert.equal(announcedIn(JSON.stringify({ ...whole, ...change })), null)
  }
  for (const text of ['', 'null', '{}', '[]', '{"strategy":"list"}'])
    assert.equal(announcedFault(text), null, text)
})

test('every plan that the options allow can be read', () => {
  for (const line of [
    '-q 100M -t 10000 --ttl 8760h --value-size 512MB --seed 4294967295 -p 24h',
    '-q 1 --ttl 1s --value-size 1B -p 1ms --seed 0',
    '-q 20000 --ns 16384 --spread --with extra-sorted-sets=100 --pacing smooth -p 24h',
  ]) {
    const text = JSON.stringify(announced(settingsOf(line)))
    assert.equal(announcedFault(text), null, line)
    assert.ok(announcedIn(text), line)
  }
})

test('no plan: the options decide', () => assert.equal(choose('', []), null))

test('the one that is written, whatever stood there before', () => {
  const live = announced()
  const [ended, silent] = [announced({ strategy: 'list' }, 0, true), announced({ strategy: 'set' }, 60_000)]
  assert.equal(choose('', [ended, live, silent]), live)
})

test('of plans that have ended the last one', () => {
  const [last, first] = [announced({ seed: 2 }, 1000, true), announced({}, 2000, true)]
  assert.equal(choose('', [last, first]), last)
})

test('several at a time are named, and the strategy tells', () => {
  const [one, other] = [announced(), announced({ strategy: 'list' })]
  assert.throws(() => choose('', [one, other]), {
    exitCode: 2,
    message:
      /several plans are written under no prefix: sorted-set of 100 items; list of 100 items. Name one with --strategy/,
  })
  assert.equal(choose('--sl', [one, other]), other)
  assert.throws(() => choose('', [announced(), announced({ quantity: 50 })]), /Name one with --items/)
  assert.equal(choose('-q 50', [announced(), announced({ quantity: 50 })])?.quantity, 50)
})

for (const [line, words] of rowsOf(String.raw`
--sl -> --sl contradicts what is written under no prefix: sorted-set of 100 items\. Leave it out
--strategy hash -> --strategy hash contradicts
-q 5 -> --quantity 5 contradicts .* \(--items 100\)
--ttl 9 -> --ttl 9 contradicts .* \(--ttl 3\)
--seed 2 -> --seed 2 contradicts
--stamp -> --stamp contradicts .* \(without --stamp\)
--ns 4 -> --ns 4 contradicts .* \(--sets 1\)
--spread -> --spread contradicts .* \(--with placement=hash\)
--payload zero -> --payload zero contradicts
`))
  test(`a mismatch is explained: ${line}`, () => {
    const message = new RegExp(`^${words}`)
    assert.throws(() => choose(line, [announced()]), { name: 'OptionError', exitCode: 2, message })
  })

test('a variable that contradicts is named as such', () => {
  const expected = /^OptionError: MILLRACE_QUANTITY=7 contradicts/
  assert.throws(() => choose('', [announced()], { MILLRACE_QUANTITY: '7' }), expected)
})

test('what agrees is no mismatch, and defaults contradict nothing', () => {
  const only = announced({ quantity: 77, ttlS: 60, sortedSets: 2 })
  for (const line of ['', '-q 77', '--ttl 60s --ns 2', '-p 250 -t 3'])
    assert.equal(choose(line, [only]), only)
})

const facts = { agents: [1], cluster: false, masters: 1, fetchScript: 'f' }

test('the plan of an announcement, and of the options alone', () => {
  const planBy = (
    /** @type {string} */ line,
    /** @type {ReturnType<typeof announced> | null} */ plan = null,
  ) => {
    const { source, ttlS, periodMs, writePeriodMs, limit, sets, ...of } = readPlanOf(
      settingsOf(line, 'consumer'),
      {
        ...{ ...facts, announced: plan },
      },
    )
    return {
      terms: [source, ttlS, periodMs, writePeriodMs, limit],
      sets,
      knows: [of.knowsBytes, of.knowsItems],
    }
  }
  assert.deepEqual(planBy('-p 250 --limit 5', announced({ ttlS: 9, sortedSets: 2 })), {
    terms: ['target', 9, 250, 1000, 5],
    sets: ['latest-ids:0', 'latest-ids:1'],
    knows: [true, true],
  })
  const { terms, ...alone } = planBy('--prefix p: --ns 2 --ttl 5')
  assert.deepEqual([terms[0], terms[1], terms[3]], ['options', 5, null])
  assert.deepEqual(alone, { sets: ['p:latest-ids:0', 'p:latest-ids:1'], knows: [false, false] })
  assert.deepEqual(planBy('--value-size 64 -q 5').knows, [true, true])
})

/** @type {[line: string, change: Partial<typeof facts>, pattern: RegExp][]} */
const impossible = [
  ['--mode script', { cluster: true, masters: 3 }, /^OptionError: --mode script on 3 masters/],
  ['--mode script --ns 2', { cluster: true }, /--mode script with 2 sorted sets in a cluster/],
  ['--mode script --sl', {}, /--mode script reads sorted sets .* strategy list use --mode manual/],
  ['--read-with mget --strategy hash', {}, /--read-with mget: the values of strategy hash/],
  ['--read-with mget --strategy stream', {}, /--read-with mget: the values of strategy stream/],
  [
    '--no-values --strategy stream',
    {},
    /^OptionError: --no-values: what strategy stream is .* leave it out$/,
  ],
]
for (const [line, change, pattern] of impossible)
  test(`impossible: ${line} ${JSON.stringify(change)}`, () => {
    const known = { ...facts, ...change, announced: null }
    assert.throws(() => readPlanOf(settingsOf(line, 'consumer'), known), pattern)
  })

test('--no-values is refused where a reader cannot do without them, by options and by plan, and only there', () => {
  for (const strategy of builtInNames('ticks')) {
    const plan = () =>
      readPlanOf(settingsOf('--no-values', 'consumer'), { ...facts, announced: announced({ strategy }) })
    const full = readPlanOf(settingsOf('', 'consumer'), { ...facts, announced: announced({ strategy }) })
    if (strategyOf(full).reader().value) assert.equal(plan().values, false)
    else assert.throws(plan, { exitCode: 2, message: new RegExp(`^--no-values: .*strategy ${strategy} .*$`) })
  }
})

test('a plan in words', () => {
  assert.equal(
    announcedWords(announced({ quantity: 12_000, totalAgents: 4, sortedSets: 2, once: true }, 0, true)),
    'sorted-set of 12,000 items, 4 writers, 2 sorted sets, each item once, ended',
  )
})
