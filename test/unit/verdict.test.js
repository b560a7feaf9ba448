import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { stateWords } from '../../lib/measures/warnings.js'
import { runSections } from '../../lib/report/run-sections.js'
import { runText } from '../../lib/report/text.js'
import { resultDocument, validityOf } from '../../lib/result/document.js'
import { sampleParts } from '../helpers/sample-run.js'
import { rowsOf } from '../helpers/table.js'

/** @import { RunDocument, RunParts } from '../../lib/result/document.js' */

const sample = sampleParts()
const items = (/** @type {Partial<RunParts['items']>} */ change) => ({
  items: { ...sample.items, ...change },
})

/** The result of a good run with these changes, a path and its new value each. @param {string} changes */
const resultWith = (changes) => {
  const parts = structuredClone(sample)
  for (const change of changes.split(' ').filter(Boolean)) {
    const [, path, value] = change.match(/^([^=]+)=(.*)$/) ?? assert.fail(change)
    const names = path.split('.')
    const last = String(names.pop())
    names.reduce((/** @type {any} */ part, name) => part[name], parts)[last] = JSON.parse(value)
  }
  return resultDocument(parts)
}

// What differs from a good run, the codes that invalidate it, those of (notes), words in the messages.
const table = rowsOf(String.raw`
a good run ->  -> none
failed -> items.acked=900 items.failed=100 items.failed_by={"OOM":100} -> cause failed -> OOM \(100 items\).*maxmemory
uncertain -> items.acked=990 items.uncertain=10 items.failed_by={"CLOSED":10} -> cause uncertain -> answers were lost
dropped -> items.acked=999 items.dropped=1 -> dropped -> 1 of 1,000 items were dropped.*--window
unsettled -> items.acked=999 items.unsettled=1 -> unsettled -> had no answer
errors without items -> commands={"sent":9,"repeated":0,"errors_by":{"BUSY":2}} -> errors -> BUSY \(2 commands.*SCRIPT KILL
what was tried again, but for redirects -> commands={"sent":9,"repeated":7,"errors_by":{},"repeated_by":{"LOADING":3,"MOVED":4}} -> (repeated) -> LOADING \(3 times, tried again\).*reading its data set
a cause is reported once, by what it cost -> items.acked=900 items.failed=100 items.failed_by={"BUSY":100} commands={"sent":9,"repeated":7,"errors_by":{},"repeated_by":{"BUSY":3}} -> cause failed -> BUSY \(100 items\)
one cause too many items -> items.failed_by={"OOM":1} -> accounting cause -> internal error of Millrace, please report
an item without outcome -> items.acked=999 -> accounting -> 1,000 items were offered, but 999
rate at the limit -> rate={"nominal":1000,"achieved":990} -> none
rate below -> rate={"nominal":1000,"achieved":989} -> rate -> 98\.9 %.*stored 989 items\/s of the 1,000 asked; neither
closed pacing is not judged by rate -> rate.achieved=500 plan.pacing="closed" -> none
smooth pacing is -> rate.achieved=500 plan.pacing="smooth" -> rate
arrivals that are not even may be fewer -> rate.achieved=900 plan.schedule="uneven" plan.durationMs=2000 measured_s=1 warm_up_s=1 -> none
those that are served long after they came are too many -> rate.achieved=770 plan.schedule="uneven" plan.durationMs=2000 measured_s=1.3 warm_up_s=1 -> rate -> only 80 % of the rate
rate max -> rate={"nominal":null,"achieved":500} -> none
no tick -> rate.achieved=0 ticks.count=0 -> no-rate -> no tick was measured.*--warm-up
no rate known -> rate.achieved=null -> no-rate
client at the limit -> client={"busy_pct":90} -> none
client above -> client={"busy_pct":90.1} -> client-saturated -> add boxes
client above, ioredis -> client={"busy_pct":97} plan.driver="ioredis" -> client-saturated -> --driver socket
client above, on cores that others took -> client={"busy_pct":99.9,"thread_cpu_pct":21} -> client-contended -> 99\.9 % busy with only 21(\.0)? % of a core: other processes took the CPU
client above, with threads of its own on the cores -> client={"busy_pct":99.9,"thread_cpu_pct":55,"cpu_pct":96} -> client-saturated
client above, where the thread is not told apart -> client={"busy_pct":99.9,"cpu_pct":21} -> client-contended
client above, with nearly all of a core -> client={"busy_pct":99,"thread_cpu_pct":85} -> client-saturated
client above, of clients that have no writers -> client={"busy_pct":99,"thread_cpu_pct":85} plan={"flow":"clients","clients":{"connections":4,"pipeline":1}} -> client-saturated -> a second one on another machine, under a --prefix of its own$
too slow at an even rate, for no reason that is known -> rate.achieved=900 plan.pacing="smooth" nodes.0.address="10.0.0.1:1" -> rate -> look at the network, or raise --window$
too slow on this machine -> rate.achieved=900 plan.pacing="smooth" -> rate -> they share the cores of this machine: lower the rate, or raise --window$
too slow, with all cores of this machine busy -> rate.achieved=900 plan.pacing="smooth" client={"busy_pct":50,"machine_busy_pct":99.4} -> rate -> of the 1,000 asked; all cores of this machine were busy \(99\.4 %\): lower the rate, or take servers on another machine$
the same beside servers elsewhere -> items.acked=900 items.dropped=100 rate.achieved=900 client={"busy_pct":50,"machine_busy_pct":99.4} nodes.0.address="10.0.0.1:1" -> dropped rate -> all cores of this machine were busy \(99\.4 %\): end what else runs here
a core that is free -> rate.achieved=900 plan.pacing="smooth" client={"busy_pct":50,"machine_busy_pct":97.9} -> rate -> they share the cores
client unknown -> client={} -> (client-unmeasured)
server busy but holding -> nodes.0.engine_cpu_pct=95 -> (server-saturated) -> 127\.0\.0\.1:40001.*lower the rate
server busy and short -> nodes.0.engine_cpu_pct=99 rate.achieved=900 -> rate (server-saturated)
server busy as asked -> nodes.0.engine_cpu_pct=100 rate={"nominal":null,"achieved":900} -> none
a busy replica is not the limit -> nodes.1.engine_cpu_pct=99 nodes.3.engine_cpu_pct=99 -> none
evictions -> server.evicted=7 -> evictions -> 7 keys evicted.*maxmemory
idle cost -> server.fixed_cpu_share=0.05 -> none
much idle cost -> server.cpu_us_per_item=8.6 server.cpu_us_per_item_net=2.6 server.cpu_us_per_item_net_uncertainty=0.3 server.fixed_cpu_share=0.7 -> (idle-cost) -> 70(\.0)? % of server CPU is idle overhead.*cost 2\.60 µs ± 0\.300 µs idle excluded, 8\.60 µs idle included
much idle cost beside others -> server.cpu_us_per_item=8.6 server.cpu_us_per_item_net=null server.fixed_cpu_share=0.7 -> none
readers on replicas -> server.masters_cpu_us_per_item_net=3.14 server.foreign_calls={"command":"get","calls":8000,"calls_per_s":1500,"on":"replicas"} -> (foreign-load) -> 1,500 GET/s on the replicas; how much of the replicas' CPU is replication is not known: without it an item cost 3\.14 µs, on the masters
the same, with replication known within bounds -> server.cpu_us_per_item_net=4.95 server.foreign_calls={"command":"get","calls":8000,"calls_per_s":1500,"on":"replicas"} -> (foreign-load) -> 1,500 GET/s on the replicas; their part is left out of what an item cost, within its ±
few operations of many clients -> plan.flow="clients" plan.clients={"connections":8,"pipeline":1} items.offered=27 items.acked=27 rate={"nominal":null,"achieved":900} -> (few-operations) -> 27 operations.* 8 in flight.*29\.6 %
many operations of few clients -> plan.flow="clients" plan.clients={"connections":8,"pipeline":1} items.offered=160 items.acked=160 rate={"nominal":null,"achieved":900} -> none
share -> server.share=0.94 -> (share) -> 94 %
an application that runs our command -> server.foreign_calls={"command":"setex","calls":8000,"calls_per_s":1500,"on":"masters"} -> (foreign-load) -> others were at work: 1,500 SETEX/s on the masters; their part of the servers' CPU and network is not known
full share -> server.share=0.95 -> none
gaps -> nodes.0.gaps=3 -> (gaps) -> 3 samples missing of 127\.0\.0\.1:40001
gaps after which counters began anew -> measured_s=8 nodes.0.gaps=1 nodes.0.sampled_s=7 -> (gaps) -> leave those seconds out, and their CPU and network per item are up to 12\.5 % too low
io-threads that loop -> nodes.0.cpu_upper_bound=true -> (io-threads) -> io-threads of 127\.0\.0\.1:40001 wait in a loop.*upper bound
interrupted -> interrupted=true -> (interrupted) -> stopped by hand after 65\.0 s
given reason -> warnings=[{"code":"lease","message":"lost"}] -> lease
given note -> warnings=[{"code":"placement","message":"uneven","invalidates":false}] -> (placement) -> uneven
`)

for (const [name, changes, expected, words] of table)
  test(`verdict: ${name}`, () => {
    const { valid, warnings } = resultWith(changes)
    const reasons = warnings.flatMap(({ invalidates, code }) => (invalidates ? code : []))
    const notes = warnings.flatMap(({ invalidates, code }) => (invalidates ? [] : `(${code})`))
    assert.equal([...reasons, ...notes].join(' ') || 'none', expected)
    assert.equal(valid, reasons.length === 0)
    if (words) assert.match(warnings.map(({ message }) => message).join('\n'), new RegExp(words, 'm'))
  })

test('a saturated client or server carries the advice alone', () => {
  for (const limit of ['client={"busy_pct":99}', 'nodes.0.engine_cpu_pct=99']) {
    const { warnings } = resultWith(`rate.achieved=500 ${limit}`)
    assert.doesNotMatch(warnings.find(({ code }) => code === 'rate')?.message ?? '', /neither/)
  }
})

test('advice for a writer that fell behind is given once', () => {
  const { warnings } = resultWith('items.acked=500 items.dropped=500 rate.achieved=500')
  const told = warnings.map(({ message }) => message).join('\n')
  assert.equal(told.match(/share the cores/g)?.length, 1, told)
})

test('the first reason named is the cause, not what came of it', () => {
  const late = 'items.acked=500 items.dropped=400 items.unsettled=100 rate.achieved=500'
  for (const [changes, code, words] of rowsOf(String.raw`
client={"busy_pct":3,"stopped_ms":8012} -> client-stopped -> ^this process did not run for 8\.0 s
commands={"sent":9,"repeated":9,"errors_by":{},"repeated_by":{"CLOSED":5,"WRONGPASS":26}} -> repeated -> ^WRONGPASS \(26 times
client={"busy_pct":99,"thread_cpu_pct":20} -> client-contended -> other processes
items.unsettled=0 items.failed=100 items.failed_by={"NOAUTH":100} -> cause -> ^NOAUTH
`)) {
    const { warnings } = resultWith(`${late} ${changes}`)
    assert.equal(warnings[0].code, code)
    assert.match(warnings[0].message, new RegExp(words))
    const told = warnings.map(({ message }) => message).join('\n')
    assert.match(told, /400 of 1,000 items were dropped/)
    assert.doesNotMatch(told, /look at the network/)
  }
})

test('every cause that a server can name has advice; an invented one is told in plain text', () => {
  const causes =
    'OOM MOVED ASK TRYAGAIN CLUSTERDOWN CROSSSLOT READONLY NOSCRIPT LOADING MASTERDOWN NOREPLICAS BUSY NOAUTH WRONGPASS NOPERM MISCONF WRONGTYPE ERR CLOSED'
  const warned = (/** @type {string} */ cause) =>
    resultDocument(sampleParts(items({ acked: 999, failed: 1, failed_by: { [cause]: 1 } }))).warnings
  for (const cause of [...causes.split(' '), 'ERR unknown command', 'ERR max clients']) {
    const told = warned(cause).find((warning) => warning.cause === cause)?.message ?? ''
    assert.match(told, /; /, cause)
    assert.doesNotMatch(told, /look the word up/, cause)
  }
  assert.match(warned('X\x1b[2J')[0].message, /^X \(1 item\): look the word up/)
})

test('verdict is pure: it judges a frozen document and a document read back from its file', () => {
  const { valid, state, warnings, measures, ...measured } = resultDocument(sampleParts({ interrupted: true }))
  const readBack = JSON.parse(JSON.stringify(measured))
  assert.deepEqual(validityOf(Object.freeze(readBack)), { valid, state, warnings })
})

describe('writers that were not there', () => {
  const measured = { measured_s: 60, unknown_s: 0, before: 0 }
  const alone = { total: 8, own: 1, fewest: 1, mean: 1, absent_s: 60, steady: true, ...measured }
  const plan = { ...sample.plan, quantity: 300_000, items: 37_500, periodMs: 1000, totalAgents: 8 }
  const judged = (/** @type {Partial<RunParts>} */ change) => resultDocument(sampleParts({ plan, ...change }))
  /** @param {RunDocument} run */
  const words = ({ warnings }) => warnings.find(({ code }) => code === 'absent-writers')?.message ?? ''

  test('a run of one of eight writers is partial, and says so first', () => {
    const run = judged({ writers: alone })
    assert.deepEqual([run.valid, run.state], [false, 'partial'])
    const sentence =
      '1 of 8 writers is here: this box writes 37,500 of 300,000 items/s; add -a all to be all of them'
    assert.equal(words(run), sentence)
    const [first] = runText(run, { columns: 140 }).split('\n')
    assert.equal(first, `✗ PARTIAL  ${sentence}`)
    const page = runSections(run)
    assert.deepEqual([page.verdict.good, page.verdict.word], [false, 'Partial'])
  })

  test('a box that was late or left', () => {
    const run = judged({ writers: { ...alone, fewest: 7, mean: 7.9, absent_s: 3, steady: false } })
    assert.equal(run.state, 'partial')
    const late = /^in 3\.0 of 60\.0 measured seconds only 7 of 8 writers are here: .*; start the others$/
    assert.match(words(run), late)
  })

  test('boxes of a fleet that were not there all the time make it partial, also where no schedule says what is absent', () => {
    const boxOf = (/** @type {number} */ n, more = {}) => ({
      ...{
        box: n,
        host: 'h',
        pid: n,
        writers: [n],
        state: 'done',
        from_s: 0,
        to_s: 60,
        offered: 9,
        acked: 9,
      },
      ...{ version: '1', clock: { offset_ms: 0, uncertainty_ms: 0 }, intervals: 60, intervals_lost: 0 },
      ...more,
    })
    const judgedOf = (/** @type {readonly object[]} */ boxes, schedule = 'none', items = 0) =>
      judged(
        /** @type {any} */ ({
          plan: { ...plan, totalAgents: 2, schedule, rate: schedule === 'none' ? 'max' : null },
          durationS: 60,
          rate: { nominal: null, achieved: 1000 },
          fleet: {
            ...{ control: 'c:1', boxes, start: { clock_skew_ms: 0, loop_skew_ms: 0 } },
            absent: { items, share: 0 },
          },
        }),
      )
    const cases = /** @type {const} */ ([
      [[boxOf(1)], '1 writer never came'],
      [[boxOf(1), boxOf(2, { from_s: 30 })], 'box 2 (h, writer 2) joined at 30.0 s'],
      [
        [boxOf(1), boxOf(2, { state: 'interrupted', to_s: 10 })],
        'box 2 (h, writer 2) was stopped by hand at 10.0 s',
      ],
      [[boxOf(1), boxOf(2, { state: 'lost', to_s: 10 })], 'box 2 (h, writer 2) was lost at 10.0 s'],
    ])
    for (const [boxes, text] of cases) {
      const run = judgedOf(boxes)
      const why =
        'the rate is not that of all boxes, and no schedule says what is absent; repeat with all boxes'
      assert.deepEqual([run.state, words(run)], ['partial', `${text}: ${why}`])
    }
    // All were stopped at one moment, and one had more to drain.
    const stopped = [boxOf(1, { state: 'interrupted' }), boxOf(2, { state: 'interrupted', to_s: 59.2 })]
    assert.equal(judgedOf(stopped).state, 'valid')
    assert.equal(judgedOf([boxOf(1), boxOf(2, { from_s: 0.97 })]).state, 'valid', 'its first line came late')
    const [, , [left]] = cases
    const share =
      '100 items (10.0 %) of 60.0 s are absent, and no other box wrote them; repeat with all boxes'
    assert.equal(
      words(judgedOf(left, 'even', 100)),
      `box 2 (h, writer 2) was stopped by hand at 10.0 s: ${share}`,
    )
  })

  test('two boxes that had one number at the same time wrote its items twice', () => {
    const boxOf = (/** @type {number} */ n, /** @type {number} */ writer, more = {}) => ({
      ...{ box: n, host: 'h', pid: n, writers: [writer], state: 'done', from_s: 0, to_s: 60, offered: 9 },
      ...{ version: '1', clock: { offset_ms: 0, uncertainty_ms: 0 }, acked: 9, intervals: 60 },
      ...{ intervals_lost: 0, ...more },
    })
    const judgedOf = (/** @type {object[]} */ ...boxes) =>
      judged(
        /** @type {any} */ ({
          plan: { ...plan, totalAgents: 2 },
          durationS: 60,
          fleet: {
            ...{ control: 'c:1', boxes, start: { clock_skew_ms: 0, loop_skew_ms: 0 } },
            absent: { items: 0, share: 0 },
          },
        }),
      )
    const twice = judgedOf(boxOf(1, 1), boxOf(2, 2), boxOf(3, 2, { from_s: 15 }))
    assert.equal(twice.state, 'not-valid')
    const [{ code, message }] = twice.warnings
    assert.equal(code, 'fleet-numbers')
    assert.match(
      message,
      /^box 2 \(h, writer 2\) and box 3 \(h, writer 2\) had the same number for 45\.0 s: /,
    )
    // A box that was killed and started again took its number again.
    const again = judgedOf(
      boxOf(1, 1),
      boxOf(2, 2, { state: 'lost', to_s: 20 }),
      boxOf(3, 2, { from_s: 19.2 }),
    )
    assert.equal(again.state, 'partial')
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
  const parts = {
    ...items({ acked: 900, dropped: 100 }),
    commands: { ...sample.commands, repeated: 9, repeated_by: { CLUSTERDOWN: 9 } },
    nodes: sample.nodes.map((node) => (node === replica ? { ...node, role: 'master' } : node)),
    events: [
      { at_ms: 6100, kind: 'disconnected', text: `${first.address}: closed the connection` },
      { at_ms: 9500, kind: 'new-master', text: `${replica.address} is a master now` },
      { at_ms: 9500, kind: 'master-gone', text: `${first.address} serves no slots any more` },
    ],
  }
  const shown = runText(resultDocument(sampleParts(/** @type {any} */ (parts))), { columns: 400 })
  const [verdict] = shown.split('\n')
  assert.equal(
    verdict,
    `✗ NOT VALID  ${first.address} died at 6.1 s, ${replica.address} took over after 3.4 s`,
  )
  assert.match(shown, /cluster 2\+2/)
  const moved = { ...parts, events: parts.events.slice(1) }
  const { warnings } = resultDocument(sampleParts(/** @type {any} */ (moved)))
  assert.ok(!warnings.some(({ code }) => code === 'failover'))
})

test('a run of workers says how many jobs have an unknown fate', async () => {
  const { words } = (await import('../../lib/loads/workers/index.js')).workers
  const said = (/** @type {number} */ unknown) =>
    words.good(/** @type {any} */ ({ jobs: { account: { produced: 28_000, unknown } } }))
  assert.equal(said(0), 'every job has one place')
  assert.equal(said(279), '279 jobs of 28,000 may be done or lost, every other has one place')
  const stored = JSON.parse(readFileSync('docs/data/queue-backlog.run.json', 'utf8'))
  const headOf = (/** @type {number} */ unknown) => {
    const account = { ...stored.jobs.account, produced: 28_000, unknown }
    const run = { ...stored, valid: true, warnings: [], jobs: { ...stored.jobs, account } }
    return runText(run, { columns: 200 }).split('\n')[0]
  }
  assert.match(headOf(0), /^✓ VALID {2}queue-/)
  assert.match(headOf(279), /^✓ VALID {2}279 jobs of 28,000 may be done or lost; queue-/)
})
