// One rate: what run.json has agrees with what intervals.ndjson has of the same seconds, whatever kind of load it was and
// whether the servers kept up; and what is sent is stored.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { runCommand } from '../helpers/command-here.js'
import { linesOf } from '../helpers/programs.js'
import { callsOf, startServer } from '../helpers/servers.js'

const lookups = '--strategy lookup-get --keys 1000 --fill'
const over = '--rate 500k --max-behind 500ms'
// Of what is begun at once some is answered in part.
const portion = 20_000

/** @type {[name: string, line: string, tick: number, isOver?: boolean][]} tick: items of one, or of what is begun of it */
const loads = [
  ['batches within the limit', '-q 1000 -c 10', 100],
  ['batches above it', '-q 1M -c 10', 100_000, true],
  ['an even rate above it', '-q 20000 --rate 5M', 5000, true],
  ['an even rate above that of ioredis', '-q 2000 --rate 600k --driver ioredis', 2000, true],
  ['a batch of seconds', '-q 200k -c 1 --pipeline 1', 100_000, true],
  ['a batch of seconds for ioredis', '-q 200k -c 1 --driver ioredis', 100_000, true],
  ['--rate max', '-q 20000 --rate max', 20_000],
  ['--pacing closed', '-q 10000 -c 4 --pacing closed', 2500],
  [
    '--pacing closed with sleeps that are not a part of a second',
    '-q 10000 -c 1 -p 700 --pacing closed',
    10_000,
  ],
  ['clients in a closed loop', lookups, 1],
  ['clients above the limit', `${lookups} ${over}`, 1, true],
  ['jobs above the limit', `--strategy queue-list ${over}`, 1, true],
]

describe('rate.achieved is that of the intervals', () => {
  for (const [name, line, tick, isOver] of loads)
    test(name, async (t) => {
      const server = await startServer(t)
      const options = '--warm-up 1 --duration 2 --no-report --guard off --allow memory,foreign-keys'
      const { code, document, folder, stderr } = await runCommand(t, `write ${line} ${options}`, server)
      assert.ok(document, stderr)
      const { items, rate, measured_s: measuredS } = document
      const lines = linesOf(join(folder, 'intervals.ndjson'))
      const warmUp = lines.filter(({ phase }) => phase === 'warm-up')
      const ackedIn = (/** @type {any[]} */ of) => of.reduce((sum, { items: own }) => sum + own.acked, 0)
      const acked = ackedIn(lines.filter(({ phase }) => phase !== 'warm-up'))
      const stored = rate.achieved * measuredS
      // A busy machine writes a line late, and what was due before it is stored behind it.
      if (warmUp.length) {
        const lateS = Math.abs(1 - warmUp.at(-1).at_ms / 1000)
        const waited = isOver || !rate.nominal ? 0 : Math.max(0, rate.nominal - ackedIn(warmUp))
        const allowed = tick + 0.02 * acked + lateS * rate.achieved + waited
        assert.ok(Math.abs(stored - acked) <= allowed, `${stored} items, and ${acked} by the intervals`)
      } else t.diagnostic('the process had no CPU in its warm-up')
      if (isOver) assert.ok(items.dropped > 0, JSON.stringify(items))
      const rows = lines.flatMap(({ phase, nodes }) => (phase === 'warm-up' ? [] : nodes))
      // A server that did not answer in time is known for several seconds together, later.
      if (isOver && tick > 1 && warmUp.length > 0 && rows.every(({ commands }) => commands)) {
        // What the servers ran in the same seconds, and not when a batch ended that had begun before them.
        const ran = rows.reduce((sum, { commands }) => sum + (commands.setex?.calls ?? 0), 0)
        const cpuUs = rows.reduce((sum, { cpu_s: cpuS }) => sum + 1e6 * cpuS, 0)
        assert.ok(Math.abs(stored - ran) < 0.15 * ran + portion, `${stored} items, and ${ran} SETEX`)
        const { cpu_us_per_item: each, foreign_calls: foreign } = document.server
        // Where INFO came so late that SETEX of this run look like those of others, less than all divide the CPU.
        const [least, most] = [(each * (foreign ? stored : ran)) / cpuUs, (each * ran) / cpuUs]
        const isTrue = least < 1.01 && most > 0.99
        // Of servers that hardly ran, most is a part.
        assert.ok(isTrue || ran < portion, `${each} us each, ${cpuUs} of ${ran}, stored ${stored}`)
      }
      // An item is sent with all of its commands or not at all.
      if (tick > 1) {
        const beyond = (await callsOf(server, 'setex')) - items.acked
        assert.ok(
          beyond >= 0 && beyond <= items.unsettled,
          `${beyond} SETEX more than ${JSON.stringify(items)}`,
        )
      }
      const { plan, warnings } = document
      if (name.startsWith('an even rate')) {
        assert.equal(code, 4, stderr)
        assert.ok(items.dropped > items.acked)
        assert.equal(items.acked + items.dropped, items.offered, 'no tick is half stored')
        const [{ message }] = warnings.filter((/** @type {any} */ { code: of }) => of === 'rate')
        const [told, asked] = /the servers stored ([0-9,]+) items\/s of the ([0-9,]+) asked/
          .exec(message)
          ?.slice(1)
          .map((text) => Number(text.replaceAll(',', ''))) ?? [0, 0]
        assert.ok(Math.abs(told / rate.achieved - 1) < 0.01, `${message}: ${rate.achieved}`)
        assert.ok(Math.abs(asked / (line.includes('5M') ? 5e6 : 6e5) - 1) < 0.01, message)
      }
      if (name.startsWith('a batch'))
        assert.ok(
          lines.some(({ items: own }) => own.acked % plan.quantity > 0),
          'a part of a batch is stored',
        )
    })
})
