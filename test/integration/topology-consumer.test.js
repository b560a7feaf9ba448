// Verifying consumers, one of each driver, beside a writer while the cluster under them changes.
import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { slotCount, slotOf } from '../../lib/wire/slot.js'
import { caughtUp } from '../../scripts/faults/play.js'
import { startCommand } from '../helpers/command-here.js'
import { codesIn, sumOf, until } from '../helpers/programs.js'
import { stageHere } from '../helpers/stage-here.js'

/**
 * @import { Stage } from '../../scripts/faults/stage.js'
 * @typedef {ReturnType<typeof startCommand>} Consumer
 */

const drivers = /** @type {const} */ (['socket', 'ioredis'])
// So few that a machine with other work keeps up.
const quantity = 500
const periodMs = 1000
const frozenMs = 3000
const idsSlot = slotOf('latest-ids')

/** The place of the shard that has the ids. @param {Stage} stage */
const shardOfIds = async (stage) =>
  (await stage.masters()).findIndex(({ slots }) =>
    slots.some(([from, to]) => from <= idsSlot && idsSlot <= to),
  ) + 1

/** 150 slots, that of the ids among them, to another shard. @param {Stage} stage */
const moveSlots = async (stage) => {
  const first = Math.min(idsSlot, slotCount - 150)
  const slots = Array.from({ length: 150 }, (_, i) => first + i)
  await stage.change.move(slots, (await shardOfIds(stage)) === 1 ? 2 : 1)
}

/** @param {Stage} stage */
const replicaOfIds = async (stage) => {
  const { replica } = await stage.shard(await shardOfIds(stage))
  assert.ok(replica)
  return replica
}

/** Items of the last second that the consumer has told of. @param {Consumer} consumer */
const lastItems = (consumer) => consumer.intervals().at(-1)?.fetches.items ?? 0

/** Both read everything again, in a second that began after now. @param {Consumer[]} consumers @param {string} what */
const readAgain = (consumers, what) =>
  Promise.all(
    consumers.map((consumer) => {
      const seconds = consumer.intervals().length
      return until(`whole fetches after ${what}`, () =>
        consumer
          .intervals()
          .slice(seconds + 1)
          .some(({ fetches }) => fetches.count > 0 && fetches.items === fetches.count * quantity),
      ).catch((error) => {
        const told = consumer.intervals().slice(-3)
        throw new Error(
          `${error.message}: ${JSON.stringify(told.map(({ fetches, verify }) => ({ fetches, verify })))}`,
        )
      })
    }),
  )

/** @param {any} document @param {typeof drivers[number]} driver */
const checkDocument = (document, driver) => {
  const { fetches, verify, nodes, events, freshness_ms: age, duration_s: durationS } = document
  assert.equal(document.kind, 'consumer')
  assert.equal(document.interrupted, true)
  const { checked, corrupt, unexpected, missing, stale } = verify
  assert.deepEqual([corrupt, unexpected, missing, stale], [0, 0, 0, 0])
  assert.equal(fetches.items_p50, quantity)
  assert.ok(checked >= fetches.count * quantity * 0.5, JSON.stringify({ fetches, verify }))
  // Every deadline has been kept, was overrun, or belongs to a fetch that failed or was under way at the end.
  const deadlines = fetches.count + fetches.failed + fetches.overrun
  assert.ok(deadlines <= Math.ceil((durationS * 1000) / periodMs) + 1, JSON.stringify(fetches))
  assert.ok(fetches.overrun + fetches.failed > 0, 'a frozen replica had no effect')
  const causes = Object.entries(fetches.failed_by)
  assert.equal(sumOf(causes, '1'), fetches.failed, 'each failed fetch has a cause')
  for (const [cause] of causes) assert.match(cause, /^[A-Z]/)
  assert.equal(codesIn(document).includes('failed'), fetches.failed > 0)
  const kinds = new Set(events.map((/** @type {any} */ { kind }) => kind))
  assert.ok(kinds.has('disconnected'), [...kinds].join())
  if (driver === 'socket') assert.ok(kinds.has('servers'), [...kinds].join())
  assert.ok(nodes.length > 6, 'the nodes of the added shard have rows too')
  assert.ok(age.p50 > 0 && document.clocks.length > 0 && document.rate.achieved > 0)
  assert.ok(Object.values(document.reads).reduce((sum, { commands }) => sum + commands, 0) > checked)
}

test('consumers verify what they read while slots move, shards come and go, and replicas are frozen and lost', async (t) => {
  const stage = await stageHere(t)
  const writer = stage.startWriter(`-q ${quantity} -c 4 --ttl 60 --max-behind 60s`)
  await until('every item is there', async () => (await stage.storedItems()) >= quantity)
  const { endpoints, access } = stage.embedded
  const consumers = drivers.map((driver) =>
    startCommand(t, `read --cluster --verify -p ${periodMs} --driver ${driver}`, {
      ...endpoints[0],
      password: access.password,
    }),
  )
  for (const consumer of consumers) await until('items are read', () => lastItems(consumer) > 0)

  await moveSlots(stage)
  await readAgain(consumers, 'slots have moved')
  const { master } = await stage.addShard(150)
  await readAgain(consumers, 'a shard was added')
  const frozen = await replicaOfIds(stage)
  stage.freeze(frozen)
  await sleep(frozenMs)
  stage.thaw(frozen)
  await readAgain(consumers, 'a replica was frozen')
  await stage.removeShard(master)
  await readAgain(consumers, 'a shard was removed')
  stage.kill(await replicaOfIds(stage))
  await readAgain(consumers, 'a replica was lost')

  for (const consumer of consumers) consumer.kill('SIGINT')
  for (const [i, { ended }] of consumers.entries()) {
    const { code, document, stderr } = await ended
    assert.equal(code, 130, stderr)
    checkDocument(document, drivers[i])
  }
  await caughtUp(writer, quantity)
  const { items } = await writer.end()
  assert.equal(items.acked, items.offered)
})
