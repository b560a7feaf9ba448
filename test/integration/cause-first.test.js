// What held a run up is the first reason named, and not what came of it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { at, startProducer, until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

const load = '-q 100 -p 100 --max-behind 200ms --quiet'

/** @param {any} document */
const assertReason = ({ items, warnings }, /** @type {string} */ code, /** @type {RegExp} */ words) => {
  assert.ok(items.dropped > 0, JSON.stringify(items))
  assert.deepEqual([warnings[0].code, warnings[0].invalidates], [code, true], JSON.stringify(warnings))
  assert.match(warnings[0].message, words)
  for (const { message } of warnings) assert.doesNotMatch(message, /look at the network, raise/)
}

describe('the first reason named', { concurrency: true }, () => {
  test('of a process that was stopped', async (t) => {
    const server = await startServer(t)
    const writer = startProducer(t, `${load} --duration 4s`, { env: at(server) })
    await until('the first line', () => writer.intervals().length > 0)
    writer.kill('SIGSTOP')
    await sleep(1500) // this is the pause that is to be named
    writer.kill('SIGCONT')
    const { code, document } = await writer.ended
    assert.equal(code, 4)
    assertReason(document, 'client-stopped', /^this process did not run for [1-9]\.\d s/)
    assert.ok(document.client.stopped_ms >= 1400, String(document.client.stopped_ms))
  })

  test('of a run whose password was changed', async (t) => {
    const server = await startServer(t)
    const writer = startProducer(t, `${load} --duration 4s`, { env: at(server) })
    await until('the first line', () => writer.intervals().length > 0)
    const password = async (/** @type {string} */ next) => {
      await server.redis.config('SET', 'requirepass', next)
    }
    await password('another')
    await server.redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await until('items are dropped', () => writer.intervals().some(({ items }) => items.dropped > 0))
    await password(server.password)
    const { code, document } = await writer.ended
    assert.equal(code, 4)
    assertReason(document, 'repeated', /^WRONGPASS \(\d+ times?, tried again\): .*--password/)
  })
})
