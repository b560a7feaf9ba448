// Boxes that share the requests of one cache.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertIdentity, fleetOf, writing } from '../helpers/fleet.js'
import { until, warningIn } from '../helpers/programs.js'
import { callsOf, cli } from '../helpers/servers.js'

/** A count of INFO. @param {Parameters<typeof cli>[0]} server @param {string} name */
const infoOf = async (server, name) =>
  Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(await cli(server, 'INFO', 'stats'))?.[1])

test('three boxes of a cache: one result, of the hits that the server counts, and the curve of all their requests', async (t) => {
  const { target, boxHere, result } = await fleetOf(t)
  await cli(target, 'CONFIG', 'SET', 'maxmemory', '5mb', 'maxmemory-policy', 'allkeys-lru')
  // A fill leaves some room; the misses of a second need more.
  const line =
    '--strategy cache-aside --keys 20k --popularity zipf:0.99 --value-size 1000 --connections 8 --pipeline 8 --fill'
  const boxes = Array.from({ length: 3 }, () =>
    boxHere(`${line} --rate 3000 --duration 6s --warm-up 2s -t 3 --run caches`),
  )
  const ended = await Promise.all(boxes.map((one) => one.ended))
  for (const { code, stderr } of ended) assert.ok(code === 0 || code === 4, stderr)
  const { items, counts, cache, agents, fleet, miss_curve: curve, plan } = await result('caches')
  assertIdentity(items)
  // The whole rate, of which each box has a third.
  assert.equal(plan.nominalHz, 3000)
  assert.equal(items.offered, 18_000)
  assert.deepEqual(
    agents.map((/** @type {any} */ { agent, offered }) => [agent, offered]),
    [1, 2, 3].map((agent) => [agent, 6000]),
  )
  assert.equal(fleet.boxes.length, 3)
  assert.equal(counts.hit + counts.miss, items.acked)
  const [hits, misses] = [await infoOf(target, 'keyspace_hits'), await infoOf(target, 'keyspace_misses')]
  const byUs = (100 * counts.hit) / (counts.hit + counts.miss)
  const byServer = (100 * hits) / (hits + misses)
  assert.ok(Math.abs(byUs - byServer) < 0.1, `${byUs} %, by INFO ${byServer} %`)
  // A busy machine may have no two answers of INFO within the seconds that are measured.
  assert.ok(
    cache.info_hit_pct === null || Math.abs(cache.hit_pct - cache.info_hit_pct) < 0.5,
    `${cache.hit_pct}, ${cache.info_hit_pct} %`,
  )
  const evicted = await infoOf(target, 'evicted_keys')
  assert.ok(
    evicted > 0 && (cache.evicted_per_s === null || cache.evicted_per_s > 0),
    `${evicted}, ${JSON.stringify(cache)}`,
  )
  // One box filled; what is asked for besides is of the fills.
  const filled = (await callsOf(target, 'set')) - counts.miss
  assert.ok(filled > 1000 && filled < 10_000, `${filled} keys`)
  assert.ok(Math.abs(curve.predicted_pct - cache.hit_pct) < 1.5, `${curve.predicted_pct}, ${cache.hit_pct}`)
  assert.equal(cache.deciles.length, 10)
})

test('boxes of a cache that are killed, first one and then the one that samples and filled: it is said which, and the hits are those of INFO', async (t) => {
  const fleet = await fleetOf(t)
  const { target } = fleet
  await cli(target, 'CONFIG', 'SET', 'maxmemory', '5mb', 'maxmemory-policy', 'allkeys-lru')
  const { boxes, follower, leader, status } = await writing(
    fleet,
    fleet.box,
    'killed',
    4,
    '--strategy cache-aside --keys 20k --popularity zipf:0.99 --value-size 1000 --connections 4 --fill --rate 2000 --warm-up 2s',
  )
  const stateOf = async (/** @type {number} */ pid) =>
    (await status()).boxes.find((/** @type {any} */ one) => one.pid === pid)?.state
  await sleep(3000)
  /** @type {Map<number, number>} */
  const killedMs = new Map()
  for (const box of [follower, leader]) {
    box.kill('SIGKILL')
    killedMs.set(box.pid, Date.now())
    await until('it is lost', async () => (await stateOf(box.pid)) === 'lost')
  }
  await sleep(2000)
  assert.equal((await fleet.fleet('stop killed')).code, 0)
  const left = boxes.filter((one) => one !== follower && one !== leader)
  for (const { code, stderr } of await Promise.all(left.map(({ ended }) => ended)))
    assert.equal(code, 130, stderr)

  const document = await fleet.result('killed')
  const { items, counts, cache, warnings, miss_curve: curve } = document
  assertIdentity(items)
  // Of the lost ones what was due in the whole run is offered.
  const due = 2000 * document.duration_s
  assert.ok(Math.abs(items.offered - due) < 0.1 * due, `${items.offered} of ${due}`)
  assert.ok(items.absent > 1000, `${items.absent} absent`)
  const lost = document.fleet.boxes.filter((/** @type {any} */ one) => one.state === 'lost')
  assert.deepEqual(lost.map((/** @type {any} */ { pid }) => pid).sort(), [follower.pid, leader.pid].sort())
  const { message } = warningIn({ warnings }, 'absent-writers')
  for (const { box, to_s: toS } of lost)
    assert.match(message, new RegExp(`box ${box} \\([^)]+\\) was lost at ${toS.toFixed(1)} s`))
  // What a lost box had under way at its last word is in one count and not yet in the other.
  const asked = counts.hit + counts.miss
  assert.ok(Math.abs(asked - items.acked) < 20, `${asked} of ${items.acked}`)
  const [hits, misses] = [await infoOf(target, 'keyspace_hits'), await infoOf(target, 'keyspace_misses')]
  // What a lost box had asked for since its last word is in INFO alone: seconds of it where the machine is busy.
  const untold = hits + misses - asked
  assert.ok(
    hits >= counts.hit && misses >= counts.miss,
    `${hits} and ${misses} by INFO, ${JSON.stringify(counts)}`,
  )
  const untoldS = lost.reduce((/** @type {number} */ sum, /** @type {any} */ { pid, to_s: toS }) => {
    const killedS = (Number(killedMs.get(pid)) - Date.parse(document.started)) / 1000
    return sum + Math.max(0, killedS - toS)
  }, 0)
  assert.ok(untold < 500 * untoldS + 200, `${untold} of ${untoldS} s`)
  const within = 0.5 + (100 * untold) / asked
  assert.ok(
    Math.abs(cache.hit_pct - cache.info_hit_pct) < within,
    `${cache.hit_pct}, ${cache.info_hit_pct} %, within ${within}`,
  )
  // Which requests came is not known.
  assert.equal(curve, undefined)
})
