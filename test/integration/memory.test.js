// Memory per item as an independent connection finds it, where every byte that is no item's would show.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { watchServer } from '../../scripts/check/witness.js'
import { startHere } from '../helpers/here.js'
import { until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

describe('memory of an item', { concurrency: 3 }, () => {
  for (const driver of ['socket', 'ioredis'])
    test(`a thousand items, ${driver}: connections that were just opened are no data`, async (t) => {
      const server = await startServer(t)
      const witness = watchServer(server)
      t.after(() => witness.stop())
      const before = await witness.data()
      const writer = startHere(
        t,
        'write',
        `-q 1000 -c 4 --strategy list --driver ${driver} --duration 3s --ttl 600`,
        server,
      )
      const { document } = await writer.ended
      const perItem = ((await witness.data()) - before) / 1000
      const reported = document.server.memory_bytes_per_item
      t.diagnostic(`${reported} B an item, outside ${perItem} B`)
      assert.ok(Math.abs(reported / perItem - 1) < 0.02, `${reported} B an item, outside ${perItem} B`)
    })

  test('keys that another application writes meanwhile are in no figure', async (t) => {
    const server = await startServer(t)
    const writer = startHere(t, 'write', '-q 10000 -c 10 --duration 6s --ttl 600', server)
    await until('items', () => server.redis.exists('item:1'))
    const text = 'x'.repeat(10_000)
    let n = 0
    const timer = setInterval(() => server.redis.set(`cart:${n++}`, text).catch(() => {}), 25)
    t.after(() => clearInterval(timer))
    const { server: costs } = (await writer.ended).document
    clearInterval(timer)
    assert.equal(costs.memory_bytes_per_item, null, `${costs.memory_bytes_per_item} B beside ${n} keys`)
    const [, keys] = /about ([\d,]+) keys? of/.exec(costs.memory_note) ?? []
    const counted = Number(keys?.replaceAll(',', ''))
    t.diagnostic(`${costs.memory_note}; there were ${n}`)
    assert.ok(counted > n / 2 && counted < n * 2, `${costs.memory_note}; there were ${n}`)
  })

  test('after an earlier run its items are waited for, and three boxes of a run have one figure', async (t) => {
    const server = await startServer(t)
    // On a busy machine they are not written for seconds, and with the usual lifetime some would be over at the end.
    const box = (/** @type {string} */ line) =>
      startHere(t, 'write', `-q 20000 --ttl 6s --duration 7s --strategy sorted-set ${line}`, server)
    const bytesOf = (/** @type {any} */ { document: { server: costs } }) => {
      assert.ok(costs.memory_bytes_per_item > 0, costs.memory_note)
      return costs.memory_bytes_per_item
    }
    const first = await box('').ended
    // However long it takes until the second one looks, these are still there.
    const kept = Array.from({ length: 2000 }, (_, i) => `item:${i + 1}`)
    for (const key of kept) await server.redis.setex(key, 600, 'x'.repeat(100))
    const waiting = box('--idle-cost auto')
    await waiting.says(/waiting up to 7(\.0+)? s for items of an earlier run to expire/)
    await server.redis.del(...kept)
    const second = await waiting.ended
    const [alone, again] = [first, second].map(bytesOf)
    t.diagnostic(`${alone} B an item, ${again} B after an earlier run`)
    assert.ok(Math.abs(again / alone - 1) < 0.02, `${again} B an item, ${alone} B on an empty server`)

    await server.redis.flushall()
    const boxes = []
    for (const agent of [1, 2, 3]) {
      boxes.push(box(`-t 3 -a ${agent}`))
      // None begins before the one in front of it has written.
      await boxes[0].says(/writer 1 of 3/)
      await sleep(300)
    }
    const figures = (await Promise.all(boxes.map(({ ended }) => ended))).map(bytesOf)
    t.diagnostic(`three boxes: ${figures.join(', ')} B an item`)
    // On a busy machine one ends when the items of another have begun to expire.
    for (const figure of figures)
      assert.ok(Math.abs(figure / alone - 1) < 0.08, `${figures.join(', ')} B an item, alone ${alone} B`)
  })
})
