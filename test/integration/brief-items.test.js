// Memory of items that live for two seconds: they are counted before the run takes its last second, in which many of them die.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startProducer, until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

const histogramBytes = 24_688 // of a command that was run, from 7.0 on
const field = (/** @type {string} */ info, /** @type {string} */ name) =>
  Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1])

test('what an item of two seconds takes is what used_memory, DBSIZE and MEMORY USAGE of the ids say', async (t) => {
  const server = await startServer(t)
  const { redis } = server
  const look = async () => {
    const answers = await redis
      .multi()
      .info('everything')
      .call('CLIENT', 'LIST')
      .dbsize()
      .zcard('latest-ids')
      .call('MEMORY', 'USAGE', 'latest-ids', 'SAMPLES', '1000')
      .exec()
    const [info, clients, keys, ids, idBytes] = (answers ?? []).map(([, answer]) => answer)
    const sizes = [...String(clients).matchAll(/ tot-mem=(\d+)/g)].map(([, n]) => Number(n))
    const ofClients = sizes.reduce((sum, n) => sum + n, 0)
    const histograms = String(info).match(/^latency_percentiles/gm)?.length ?? 0
    const bytes = field(String(info), 'used_memory') - ofClients - histograms * histogramBytes
    return { bytes, keys: Number(keys), ids: Number(ids), idBytes: Number(idBytes) }
  }
  const empty = await look()
  const [, ours] = / addr=(\S+)/.exec(String(await redis.call('CLIENT', 'INFO'))) ?? []
  const monitor = await redis.monitor()
  /** What the run asks, by name. @type {string[]} */
  const asked = []
  let isShown = false
  monitor.on('monitor', (_, [name], source) => {
    if (source === ours) isShown ||= name.toLowerCase() === 'echo'
    else asked.push(name.toLowerCase())
  })
  const ended = startProducer(
    t,
    '-q 10000 -c 10 --strategy sorted-set --once --ttl 2 --duration 6s --idle-cost never --quiet',
    server,
  ).ended
  /** @type {Awaited<ReturnType<typeof look>>[]} */
  const seen = []
  const over = ended.then(() => true)
  while (!(await Promise.race([over, sleep(50, false)]))) seen.push(await look())
  const { document, stderr } = await ended
  // What was asked until now is shown before this.
  await redis.echo('over')
  await until('all that was asked', () => isShown)
  monitor.disconnect()
  assert.ok(document?.server.memory_bytes_per_item > 0, stderr || document?.server.memory_note)

  const last = seen.findLastIndex(({ ids }, i) => i > 0 && ids > seen[i - 1].ids)
  const each = seen
    .slice(last)
    .filter(({ keys }) => keys > 2000)
    .map(({ bytes, keys, ids, idBytes }) => (bytes - empty.bytes - idBytes) / (keys - 2) + idBytes / ids)
  const [least, most] = [Math.min(...each), Math.max(...each)]
  const reported = document.server.memory_bytes_per_item
  t.diagnostic(
    `${reported} B an item; outside ${each[0].toFixed()} when the last was written, ${least.toFixed()} to ${most.toFixed()} until the run was over`,
  )
  assert.ok(reported > 0.97 * least && reported < 1.03 * most, `${reported} B, ${least} to ${most} outside`)
  // Tables stay as large as they were while their keys die: what is counted later shows too much.
  assert.ok(asked.lastIndexOf('memory') < asked.lastIndexOf('info'), 'the last second came before the items')
})
