// What held a run up is the first reason named, and not what came of it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startHere } from '../helpers/here.js'
import { faultsIn, laterSecond, startProducer, until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

/** @import { Run } from '../helpers/here.js' */
/** @import { Program } from '../helpers/programs.js' */

const load = '-q 100 -p 100 --max-behind 200ms'

/** @param {any} document */
const assertReason = ({ items, warnings }, /** @type {string} */ code, /** @type {RegExp} */ words) => {
  assert.ok(items.dropped > 0, JSON.stringify(items))
  // A machine that stands still while the test runs is a reason too, and named before.
  const [first] = code === 'client-stopped' ? warnings : faultsIn({ warnings })
  assert.deepEqual([first.code, first.invalidates], [code, true], JSON.stringify(warnings))
  assert.match(first.message, words)
  for (const { message } of warnings) assert.doesNotMatch(message, /look at the network, raise/)
}

/** It writes again, and is ended then. @param {Pick<Run, 'intervals' | 'kill' | 'ended'> | Program} writer */
const goneOn = async (writer) => {
  await laterSecond(writer, ({ items }) => items.acked > 0)
  writer.kill('SIGINT')
  const { code, document } = await writer.ended
  assert.deepEqual([code, document.valid], [130, false])
  return document
}

describe('the first reason named', { concurrency: true }, () => {
  test('of a process that was stopped', async (t) => {
    const server = await startServer(t)
    const writer = startProducer(t, `${load} --quiet`, server)
    await until('the first line', () => writer.intervals().length > 0)
    writer.kill('SIGSTOP')
    await sleep(2500) // this is the pause that is to be named
    writer.kill('SIGCONT')
    const document = await goneOn(writer)
    assertReason(document, 'client-stopped', /^this process did not run for [1-9]\.\d s/)
    assert.ok(document.client.stopped_ms >= 2400, String(document.client.stopped_ms))
  })

  test('of a run whose password was changed', async (t) => {
    const server = await startServer(t)
    const writer = startHere(t, 'write', load, server)
    await until('the first line', () => writer.intervals().length > 0)
    const password = async (/** @type {string} */ next) => {
      await server.redis.config('SET', 'requirepass', next)
    }
    await password('another')
    await server.redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    // A machine that stands still drops items too, whatever the password is.
    await until('it is refused', async () =>
      /errorstat_WRONGPASS:count=/.test(await server.redis.info('errorstats')),
    )
    await laterSecond(writer, ({ items }) => items.dropped > 0)
    await password(server.password)
    const document = await goneOn(writer)
    assertReason(document, 'repeated', /^WRONGPASS \(\d+ times?, tried again\): .*--password/)
  })
})
