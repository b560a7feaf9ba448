// Memory per item as an independent connection finds it, where every byte that is no item's would show.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { watchServer } from '../../scripts/check/witness.js'
import { at, startProducer } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

for (const driver of ['socket', 'ioredis'])
  test(`a thousand items, ${driver}: connections that were just opened are no data`, async (t) => {
    const server = await startServer(t)
    const witness = watchServer(server)
    t.after(() => witness.stop())
    const before = await witness.data()
    const writer = startProducer(
      t,
      `-q 1000 -c 4 --strategy list --driver ${driver} --duration 3s --ttl 600 --idle-cost never --quiet`,
      { env: at(server) },
    )
    const { document } = await writer.ended
    const perItem = ((await witness.data()) - before) / 1000
    const reported = document.server.memory_bytes_per_item
    t.diagnostic(`${reported} B an item, outside ${perItem} B`)
    assert.ok(Math.abs(reported / perItem - 1) < 0.05, `${reported} B an item, outside ${perItem} B`)
  })
