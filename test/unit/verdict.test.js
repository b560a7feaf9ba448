import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { stateWords } from '../../lib/measures/warnings.js'
import { runSections } from '../../lib/report/run-sections.js'
import { runText } from '../../lib/report/text.js'
import { resultDocument, validityOf } from '../../lib/result/document.js'
import { sampleParts } from '../helpers/sample-run.js'

/** @typedef {import('../../lib/result/document.js').RunParts} RunParts */

const sample = sampleParts()
const items = (/** @type {Partial<RunParts['items']>} */ change) => ({
  items: { ...sample.items, ...change },
})
const master = (/** @type {object} */ change) => ({
  nodes: sample.nodes.map((node, at) => (at === 0 ? { ...node, ...change } : node)),
})
const rate = (/** @type {number | null} */ nominal, /** @type {number | null} */ achieved) => ({
  rate: { nominal, achieved },
})

const closedLoop = (/** @type {number} */ connections, /** @type {number} */ acked) => ({
  plan: { ...sample.plan, clients: /** @type {any} */ ({ connections, pipeline: 1 }) },
  items: { ...sample.items, offered: acked, acked },
  ...rate(null, 900),
})

/** What differs from a good run, the codes that invalidate it, those of (notes), words in the messages. */
/** @type {[string, Partial<RunParts>, string, RegExp?][]} */
const table = [
  ['a good run', {}, ''],
  [
    'failed',
    items({ acked: 900, failed: 100, failed_by: { OOM: 100 } }),
    'cause failed',
    /OOM \(100 items\).*maxmemory/,
  ],
  [
    'uncertain',
    items({ acked: 990, uncertain: 10, failed_by: { CLOSED: 10 } }),
    'cause uncertain',
    /answers were lost/,
  ],
  [
    'dropped',
    items({ acked: 999, dropped: 1 }),
    'dropped',
    /1 of 1,000 items were dropped before they were sent.*--window/,
  ],
  ['unsettled', items({ acked: 999, unsettled: 1 }), 'unsettled', /had no answer/],
  [
    'errors without items',
    { commands: { sent: 9, repeated: 0, errors_by: { BUSY: 2 } } },
    'errors',
    /BUSY \(2 commands.*SCRIPT KILL/,
  ],
  [
    'what was tried again, but for redirects',
    { commands: { sent: 9, repeated: 7, errors_by: {}, repeated_by: { LOADING: 3, MOVED: 4 } } },
    '(repeated)',
    /LOADING \(3 times, tried again\).*reading its data set/,
  ],
  [
    'a cause is told once, as what it cost',
    {
      ...items({ acked: 900, failed: 100, failed_by: { BUSY: 100 } }),
      commands: { sent: 9, repeated: 7, errors_by: {}, repeated_by: { BUSY: 3 } },
    },
    'cause failed',
    /BUSY \(100 items\)/,
  ],
  [
    'one cause too many items',
    items({ failed_by: { OOM: 1 } }),
    'accounting cause',
    /internal error of Millrace, please report/,
  ],
  ['an item without outcome', items({ acked: 999 }), 'accounting', /1,000 items were offered, but 999/],
  ['rate at the limit', rate(1000, 990), ''],
  ['rate below', rate(1000, 989), 'rate', /98\.9 %.*stored 989 items\/s of the 1,000 asked; neither/],
  [
    'closed pacing is not judged by rate',
    { ...rate(1000, 500), plan: { ...sample.plan, pacing: 'closed' } },
    '',
  ],
  ['smooth pacing is', { ...rate(1000, 500), plan: { ...sample.plan, pacing: 'smooth' } }, 'rate'],
  ['rate max', rate(null, 500), ''],
  [
    'no tick',
    { ...rate(1000, 0), ticks: { ...sample.ticks, count: 0 } },
    'no-rate',
    /no tick was measured.*--warm-up/,
  ],
  ['no rate known', rate(1000, null), 'no-rate'],
  ['client at the limit', { client: { busy_pct: 90 } }, ''],
  ['client above', { client: { busy_pct: 90.1 } }, 'client-saturated', /add boxes/],
  [
    'client above, ioredis',
    { client: { busy_pct: 97 }, plan: { ...sample.plan, driver: 'ioredis' } },
    'client-saturated',
    /--driver socket/,
  ],
  [
    'client above, on cores that others took',
    { client: { busy_pct: 99.9, thread_cpu_pct: 21 } },
    'client-contended',
    /99\.9 % busy with only 21(\.0)? % of a core: other processes took the CPU/,
  ],
  [
    'client above, where the thread is not told apart',
    { client: { busy_pct: 99.9, cpu_pct: 21 } },
    'client-contended',
  ],
  [
    'client above, with nearly all of a core',
    { client: { busy_pct: 99, thread_cpu_pct: 85 } },
    'client-saturated',
  ],
  [
    'client above, of clients that have no writers',
    { client: { busy_pct: 99, thread_cpu_pct: 85 }, plan: { clients: { connections: 4, pipeline: 1 } } },
    'client-saturated',
    /a second one on another machine, under a --prefix of its own$/m,
  ],
  [
    'too slow at an even rate, for no reason that is known',
    { ...rate(1000, 900), plan: { pacing: 'smooth' } },
    'rate',
    /look at the network, or raise --window$/m,
  ],
  ['client unknown', { client: {} }, '(client-unmeasured)'],
  [
    'server busy but holding',
    master({ engine_cpu_pct: 95 }),
    '(server-saturated)',
    /127\.0\.0\.1:40001.*lower the rate/,
  ],
  [
    'server busy and short',
    { ...master({ engine_cpu_pct: 99 }), ...rate(1000, 900) },
    'rate (server-saturated)',
  ],
  ['server busy as asked', { ...master({ engine_cpu_pct: 100 }), ...rate(null, 900) }, ''],
  [
    'a busy replica is not the limit',
    { nodes: sample.nodes.map((node) => ({ ...node, engine_cpu_pct: node.role === 'replica' ? 99 : 1 })) },
    '',
  ],
  ['evictions', { server: { ...sample.server, evicted: 7 } }, 'evictions', /7 keys evicted.*maxmemory/],
  ['idle cost', { server: { ...sample.server, fixed_cpu_share: 0.05 } }, ''],
  [
    'much idle cost',
    {
      server: {
        ...sample.server,
        cpu_us_per_item: 8.6,
        cpu_us_per_item_net: 2.6,
        cpu_us_per_item_net_uncertainty: 0.3,
        fixed_cpu_share: 0.7,
      },
    },
    '(idle-cost)',
    /70(\.0)? % of what the servers used.*cost 2\.60 µs ± 0\.300 µs without it, 8\.60 µs with it/,
  ],
  [
    'few operations of many clients',
    closedLoop(8, 27),
    '(few-operations)',
    /27 operations.* 8 in flight.*29\.6 %/,
  ],
  ['many operations of few clients', closedLoop(8, 160), ''],
  ['share', { server: { ...sample.server, share: 0.94 } }, '(share)', /94 %/],
  [
    'an application that runs our command',
    { server: { ...sample.server, foreign_calls: { command: 'setex', calls: 8000 } } },
    '(foreign-load)',
    /ran 8,000 SETEX that none of this run's writers sent/,
  ],
  ['full share', { server: { ...sample.server, share: 0.95 } }, ''],
  ['gaps', master({ gaps: 3 }), '(gaps)', /3 samples missing of 127\.0\.0\.1:40001/],
  [
    'gaps after which counters began anew',
    { measured_s: 8, ...master({ gaps: 1, sampled_s: 7 }) },
    '(gaps)',
    /leave those seconds out, and their CPU and network per item are up to 12\.5 % too low/,
  ],
  [
    'io-threads that loop',
    master({ cpu_upper_bound: true }),
    '(io-threads)',
    /io-threads of 127\.0\.0\.1:40001 wait in a loop.*upper bound/,
  ],
  ['interrupted', { interrupted: true }, '(interrupted)', /stopped by hand after 65\.0 s/],
  ['given reason', { warnings: [{ code: 'lease', message: 'lost' }] }, 'lease'],
  [
    'given note',
    { warnings: [{ code: 'placement', message: 'uneven', invalidates: false }] },
    '(placement)',
    /uneven/,
  ],
]

for (const [name, change, expected, words] of table) {
  test(`verdict: ${name}`, () => {
    const { valid, warnings } = resultDocument(sampleParts(change))
    const reasons = warnings.flatMap(({ invalidates, code }) => (invalidates ? code : []))
    const notes = warnings.flatMap(({ invalidates, code }) => (invalidates ? [] : `(${code})`))
    assert.equal([...reasons, ...notes].join(' '), expected)
    assert.equal(valid, reasons.length === 0)
    if (words) assert.match(warnings.map(({ message }) => message).join('\n'), words)
  })
}

test('a saturated client or server carries the advice alone', () => {
  const limits = [{ client: { busy_pct: 99 } }, master({ engine_cpu_pct: 99 })]
  for (const limit of limits) {
    const { warnings } = resultDocument(sampleParts({ ...rate(1000, 500), ...limit }))
    assert.doesNotMatch(warnings.find(({ code }) => code === 'rate')?.message ?? '', /neither/)
  }
})

test('the first reason named is the cause, not what came of it', () => {
  const late = { ...items({ acked: 500, dropped: 400, unsettled: 100 }), ...rate(1000, 500) }
  /** @type {[Partial<RunParts>, string, RegExp][]} */
  const cases = [
    [{ client: { busy_pct: 3, stopped_ms: 8012 } }, 'client-stopped', /^this process did not run for 8\.0 s/],
    [
      { commands: { sent: 9, repeated: 9, errors_by: {}, repeated_by: { CLOSED: 5, WRONGPASS: 26 } } },
      'repeated',
      /^WRONGPASS \(26 times/,
    ],
    [{ client: { busy_pct: 99, thread_cpu_pct: 20 } }, 'client-contended', /other processes/],
    [items({ acked: 500, dropped: 400, failed: 100, failed_by: { NOAUTH: 100 } }), 'cause', /^NOAUTH/],
  ]
  for (const [change, code, words] of cases) {
    const { warnings } = resultDocument(sampleParts({ ...late, ...change }))
    assert.equal(warnings[0].code, code)
    assert.match(warnings[0].message, words)
    const told = warnings.map(({ message }) => message).join('\n')
    assert.match(told, /400 of 1,000 items were dropped/)
    assert.doesNotMatch(told, /look at the network/)
  }
})

test('every cause that a server can name has advice; an invented one is told in plain text', () => {
  const causes =
    'OOM MOVED ASK TRYAGAIN CLUSTERDOWN CROSSSLOT READONLY NOSCRIPT LOADING MASTERDOWN NOREPLICAS BUSY NOAUTH WRONGPASS NOPERM MISCONF WRONGTYPE ERR CLOSED'
  for (const cause of [...causes.split(' '), 'ERR unknown command', 'ERR max clients']) {
    const { warnings } = resultDocument(
      sampleParts(items({ acked: 999, failed: 1, failed_by: { [cause]: 1 } })),
    )
    const told = warnings.find((warning) => warning.cause === cause)
    assert.match(told?.message ?? '', /; /, cause)
    assert.doesNotMatch(told?.message ?? '', /look the word up/, cause)
  }
  const invented = resultDocument(sampleParts(items({ acked: 999, failed: 1, failed_by: { 'X\x1b[2J': 1 } })))
  assert.match(invented.warnings[0].message, /^X \(1 item\): look the word up/)
})

test('verdict is pure: it judges a frozen document and a document read back from its file', () => {
  const { valid, state, warnings, measures, ...measured } = resultDocument(sampleParts({ interrupted: true }))
  const readBack = JSON.parse(JSON.stringify(measured))
  assert.deepEqual(validityOf(Object.freeze(readBack)), { valid, state, warnings })
})

describe('writers that were not there', () => {
  const alone = {
    total: 8,
    own: 1,
    fewest: 1,
    mean: 1,
    measured_s: 60,
    absent_s: 60,
    unknown_s: 0,
    before: 0,
    steady: true,
  }
  const plan = { ...sample.plan, quantity: 300_000, items: 37_500, periodMs: 1000, totalAgents: 8 }
  const judged = (/** @type {Partial<RunParts>} */ change) => resultDocument(sampleParts({ plan, ...change }))
  /** @param {import('../../lib/result/document.js').RunDocument} run */
  const words = ({ warnings }) => warnings.find(({ code }) => code === 'absent-writers')?.message ?? ''

  test('a run of one of eight writers is partial, and says so first', () => {
    const run = judged({ writers: alone })
    assert.deepEqual([run.valid, run.state], [false, 'partial'])
    const sentence =
      '1 of 8 writers is here: this box writes 37,500 of 300,000 items/s; add -a all to be all of them'
    assert.equal(words(run), sentence)
    const [first] = runText(run, { columns: 140 }).split('\n')
    assert.equal(first, `PARTIAL: ${sentence}`)
    const page = runSections(run)
    assert.deepEqual([page.verdict.good, page.verdict.word], [false, 'Partial'])
  })

  test('a box that was late or left', () => {
    const run = judged({ writers: { ...alone, fewest: 7, mean: 7.9, absent_s: 3, steady: false } })
    assert.equal(run.state, 'partial')
    assert.match(
      words(run),
      /^in 3\.0 of 60\.0 measured seconds only 7 of 8 writers are here: .*; start the others$/,
    )
  })

  test('with another reason it is not valid, with all writers it is valid', () => {
    assert.equal(judged({ writers: alone, ...items({ acked: 999, unsettled: 1 }) }).state, 'not-valid')
    const all = judged({ writers: { ...alone, fewest: 8, absent_s: 0 } })
    assert.deepEqual([all.valid, all.state], [true, 'valid'])
    assert.equal(judged({ writers: { ...alone, fewest: null, absent_s: 0, unknown_s: 60 } }).state, 'valid')
  })

  test('results of before have no state', () => {
    assert.equal(stateWords({ valid: true }), 'valid')
    assert.equal(stateWords({ valid: false }), 'not valid')
  })
})

test('a master that died is named before what its slots refused, and its successor makes no shard more', () => {
  const [first] = sample.nodes.filter(({ role }) => role === 'master')
  const replica = sample.nodes.find(({ role, shard }) => role === 'replica' && shard === first.shard)
  assert.ok(replica)
  const event = (/** @type {number} */ ms, /** @type {string} */ kind, /** @type {string} */ text) => ({
    ...{ at_ms: ms, kind, text },
  })
  const parts = {
    ...items({ acked: 900, dropped: 100 }),
    commands: { ...sample.commands, repeated: 9, repeated_by: { CLUSTERDOWN: 9 } },
    nodes: sample.nodes.map((node) => (node === replica ? { ...node, role: 'master' } : node)),
    events: [
      event(6100, 'disconnected', `${first.address}: closed the connection`),
      event(9500, 'new-master', `${replica.address} is a master now`),
      event(9500, 'master-gone', `${first.address} serves no slots any more`),
    ],
  }
  const shown = runText(resultDocument(sampleParts(/** @type {any} */ (parts))), { columns: 400 })
  const [verdict] = shown.split('\n')
  assert.equal(verdict, `NOT VALID: ${first.address} died at 6.1 s, ${replica.address} took over after 3.4 s`)
  assert.match(shown, /cluster of 2 masters and 2 replicas/)
  const moved = { ...parts, events: parts.events.slice(1) }
  const { warnings } = resultDocument(sampleParts(/** @type {any} */ (moved)))
  assert.equal(
    warnings.some(({ code }) => code === 'failover'),
    false,
  )
})
