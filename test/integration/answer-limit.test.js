// What a client library neither answers nor rejects is given up after answerLimit of --driver-option, by writers and readers.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { stageOf } from '../../scripts/faults/stage.js'
import { wayTo } from '../../scripts/faults/way.js'
import { outcomesOf } from '../helpers/programs.js'

/** @import { TestContext } from 'node:test' */

const kept = '--guard off --allow memory --idle-cost never --no-report'
const limited = '--driver ioredis --driver-option answerLimit=1000'

/** @param {TestContext} t */
const stageWithWay = async (t) => {
  const stage = await stageOf({ cluster: false })
  const way = await wayTo(stage.embedded.endpoints[0])
  t.after(async () => {
    await way.close()
    await stage.close()
  })
  return { stage, way }
}

describe('a client library that does not answer', { concurrency: 2 }, () => {
  test('writers: a command without an answer is uncertain, and new ones go on', async (t) => {
    const { stage, way } = await stageWithWay(t)
    const writer = stage.startWriter(`-q 100 -t 1 -c 10 --once ${kept} ${limited}`, way)
    t.after(writer.kill)
    const some = (/** @type {(items: any) => boolean} */ holds) => async () =>
      writer.intervals().some(({ items }) => holds(items))
    await stage.until(
      'it writes',
      some(({ acked }) => acked > 0),
    )
    way.forget()
    await stage.until(
      'commands are given up',
      some(({ uncertain }) => uncertain > 0),
    )
    const { items } = await writer.end()
    assert.ok(items.failed_by.UNANSWERED > 0, JSON.stringify(items.failed_by))
    assert.equal(items.failed, 0)
    assert.equal(outcomesOf(items), items.offered)
  })

  test('readers: a fetch without an answer has failed, and new ones go on', async (t) => {
    const { stage, way } = await stageWithWay(t)
    const control = stage.control(stage.servers[0])
    const writer = stage.startWriter(`-q 100 -t 1 -c 10 --ttl 600 ${kept}`)
    t.after(writer.kill)
    await stage.until('all is written', async () => (await control.zcard('latest-ids')) >= 100)
    const reader = stage.startReader(`-p 500 --duration 15s ${limited}`, 'reader', way)
    t.after(() => reader.kill('SIGKILL'))
    await stage.until('it reads', async () =>
      /cmdstat_get:calls=\d{3}/.test(await control.info('commandstats')),
    )
    way.forget()
    await reader.ended
    const { fetches } = JSON.parse(reader.text())
    assert.ok(fetches.failed_by.UNANSWERED > 0, JSON.stringify(fetches.failed_by))
    assert.ok(fetches.count > 0)
  })
})
