// Advice helps: a run that gets a reason is played on real servers, what the reason says to set is typed, and the run is
// repeated: it is accepted, and the reason is gone or the metric is clearly better.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { delayProxy } from '../../lib/servers/delay.js'
import { startHere } from '../helpers/here.js'
import { at } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

/** @typedef {import('../helpers/servers.js').TestServer} TestServer */
/**
 * @typedef {object} Case
 * @property {string} line command and options of the run that gets the reason
 * @property {string} [code] of the reason or note; none: it is why there is no memory per item
 * @property {RegExp} says the advice in it
 * @property {string[]} typed what is typed then, each by itself; $1 as the advice says
 * @property {boolean} [isFar] round trips of 20 ms, so that no busy machine is the limit
 * @property {string} [written] a run before, of the same keys
 * @property {(server: TestServer) => Promise<unknown>} [prepare]
 * @property {(document: any, of: any) => void} [check] instead of: the reason is gone
 */

const farMs = 20
const lookups = '--strategy lookup-get --keys 1k --fill'
const short = '--duration 2s --warm-up 500ms'

/** @type {Record<string, Case>} */
const cases = {
  'lookups in open loop: connections': {
    line: `write ${lookups} --rate 500 --connections 2 ${short}`,
    ...{ code: 'rate', says: /set (--connections \d+) or --pipeline \d+$/, typed: ['$1'], isFar: true },
  },
  'lookups in open loop: operations in flight': {
    line: `write ${lookups} --rate 500 --connections 2 ${short}`,
    ...{ code: 'rate', says: /set --connections \d+ or (--pipeline \d+)$/, typed: ['$1'], isFar: true },
  },
  'a query that takes longer than it may': {
    line: 'write --strategy query-scan --items 3000 --connections 1 --query-timeout 10ms --duration 2s',
    ...{ code: 'cause', says: /within (--query-timeout)/, typed: ['$1 60s'], isFar: true },
  },
  'writers that are not here': {
    line: 'write -q 400 -t 4 -a 1 --duration 2s --warm-up 500ms',
    ...{ code: 'absent-writers', says: /add (-a all)/, typed: ['$1'] },
  },
  'few operations beside those in flight': {
    line: `write ${lookups} --connections 200 --pipeline 20 --duration 700ms --warm-up 500ms`,
    ...{ code: 'few-operations', says: /measure for longer \((--duration)\)/, typed: ['$1 3s'], isFar: true },
    check: ({ items }, of) => assert.ok(items.acked > 2 * of.items.acked, JSON.stringify(items)),
  },
  'memory of items that die before they are written again': {
    line: 'write -q 2000 --ttl 1s --period 2s --duration 4s --warm-up 0s',
    ...{ says: /(--ttl) is shorter than (--period)/, typed: ['$1 60s', '$2 500ms'] },
  },
  'memory of new items': {
    line: 'write -q 1000 --once --ttl 2s --duration 1s --warm-up 0s',
    ...{ says: /run for longer \((--duration)\)/, typed: ['$1 4s'] },
  },
  'a consumer of what nobody writes': {
    written: 'write --strategy list -q 100 --ttl 60s --duration 1s --prefix other:',
    line: 'read --strategy list --duration 1s',
    ...{ code: 'no-items', says: /set --strategy, (--prefix)/, typed: ['$1 other:'] },
  },
  'fetches more often than they take': {
    written: 'write -q 100 --ttl 60s --duration 1s',
    line: 'read -p 10ms --duration 1s',
    ...{ code: 'overrun', says: /less often \((-p)\)/, typed: ['$1 400ms'], isFar: true },
    check: ({ fetches }, of) => assert.ok(fetches.overrun < of.fetches.overrun / 2, JSON.stringify(fetches)),
  },
  'values that are gone': {
    written: 'write -q 100 --ttl 60s --duration 1s',
    prepare: ({ redis }) => redis.del(Array.from({ length: 50 }, (_, i) => `item:${i + 1}`)),
    line: 'read --duration 1s',
    ...{ code: 'nils', says: /(--verify) shows why/, typed: ['$1'] },
    check: ({ verify }) => assert.ok(verify.missing > 0, JSON.stringify(verify)),
  },
  'values of an unknown plan': {
    written: 'write -q 100 --ttl 60s --duration 1s --seed 7 --value-size 100',
    prepare: ({ redis }) => redis.del('millrace:plan'),
    line: 'read --verify --duration 1s',
    ...{ code: 'verify-limited', says: /\(--payload, (--value-size), (--seed)\)/ },
    typed: ['$1 100 $2 7 --payload random'],
  },
  'workers of a queue that nobody fills': {
    written: 'write --strategy queue-list --rate 100 --duration 1s --prefix other:',
    line: 'read --strategy queue-list --workers 2 --duration 1s',
    ...{ code: 'no-jobs', says: /set --strategy, (--prefix)/, typed: ['$1 other:'] },
  },
  'connections of workers that are at work': {
    written: 'write --strategy queue-list --rate 200 --duration 1s',
    line: 'read --strategy queue-list --workers 1 --work sleep:300ms --reconnects 50 --duration 2s',
    ...{ code: 'reconnects', says: /lower (--reconnects)/, typed: ['$1 1'] },
  },
}

/** @param {any} document @param {Case} of */
const reasonIn = ({ warnings, server }, { code }) =>
  code
    ? warnings.find((/** @type {any} */ warning) => warning.code === code)?.message
    : (server.memory_note ?? undefined)

/** The option is replaced where the run has it already. @param {string} line @param {string} typed */
const lineWith = (line, typed) => {
  const options = typed.split(' ').filter((word) => word.startsWith('-'))
  const words = line.split(' ')
  const kept = words.filter(
    (word, i) => !options.includes(word) && !(options.includes(words[i - 1]) && !word.startsWith('-')),
  )
  return [...kept, ...typed.split(' ')].join(' ')
}

/** The reason is gone, or the rate that it is about is far higher. @param {any} document @param {any} of @param {Case} one @param {string} typed */
const assertHelps = (document, of, one, typed) => {
  if (one.check) return one.check(document, of)
  if (one.code === 'rate' && document.rate.achieved > 1.5 * of.rate.achieved) return
  assert.equal(reasonIn(document, one), undefined, `${typed} does not help`)
}

/** @param {Case} one @param {TestServer} server @param {import('node:test').TestContext} t */
const placeOf = async ({ isFar }, server, t) => {
  if (!isFar) return at(server)
  const proxy = await delayProxy({ delayMs: farMs, loseEvery: null, access: server })
  t.after(() => proxy.close())
  await proxy.measure(server)
  return at({ ...server, ...(await proxy.placeOf(server)) })
}

describe('advice that is typed is accepted, and helps', { concurrency: 2 }, () => {
  for (const [name, one] of Object.entries(cases))
    test(name, async (t) => {
      const server = await startServer(t)
      const env = await placeOf(one, server, t)
      const played = (/** @type {string} */ line) => {
        const [command, ...words] = line.split(' ')
        return startHere(t, command === 'read' ? 'read' : 'write', words, { env }).ended
      }
      /** On an empty server. @param {string} line */
      const prepared = async (line) => {
        await server.redis.flushall()
        if (one.written) await played(one.written)
        await one.prepare?.(server)
        return played(line)
      }
      const before = await prepared(one.line)
      assert.ok(before.document, before.stderr)
      const said = reasonIn(before.document, one)
      assert.ok(said, JSON.stringify(before.document.warnings))
      const advice = one.says.exec(said)
      assert.ok(advice, said)
      for (const template of one.typed) {
        const typed = template.replace(/\$(\d)/g, (/** @type {string} */ _, n) => String(advice[Number(n)]))
        const { code, document, stderr } = await prepared(lineWith(one.line, typed))
        assert.ok(code !== 2 && document, `${typed}: ${stderr}`)
        assertHelps(document, before.document, one, typed)
      }
    })
})
