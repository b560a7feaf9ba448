// Bundles: their bytes, what their replies mean, and what becomes of them when a server refuses, cuts off or is silent.
import assert from 'node:assert/strict'
import test from 'node:test'
import { systemTimers } from '../../lib/base/timers.js'
import { bundlesFlow, isFromInside } from '../../lib/loads/bundles/flow.js'
import { bundleReplies } from '../../lib/loads/bundles/socket-carrier.js'
import { operationsOf } from '../../lib/probes/operations.js'
import { replyReader } from '../../lib/wire/values.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { scriptSha } from '../../lib/workloads/lua.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { rowsOf } from '../helpers/table.js'

/** @import { Delivery } from '../../lib/workloads/declare.js' */

test('the commands of a bundle, as bytes and as arguments', () => {
  for (const [strategy, structure, items, wanted] of rowsOf(`
    counter-pipeline -> zset -> 9 10 21 -> ZINCRBY p:counters-zset 1 counter:9, ZINCRBY p:counters-zset 1 counter:10, ZINCRBY p:counters-zset 1 counter:1
    counter-transaction -> hash -> 30 -> HINCRBY p:counters-hash counter:10 1
    counter-loop -> string -> 2 -> INCR p:{counters}:2
    counter-script -> zset -> 9 10 -> EVALSHA ${scriptSha('count-sorted-set')} 1 p:counters-zset counter:9 counter:10
    counter-script -> string -> 9 10 11 -> EVALSHA ${scriptSha('count-keys')} 3 p:{counters}:9 p:{counters}:10 p:{counters}:11
    counter-function -> hash -> 1 2 -> FCALL millrace_count_hash 1 p:counters-hash counter:1 counter:2
  `)) {
    const shape = /** @type {'zset' | 'hash' | 'string'} */ (structure)
    const keys = { quantity: 30, counters: 20, prefix: 'p:' }
    const plan = samplePlan({ strategy: strategy.trim(), structure: shape, ...keys })
    const bundle = strategyOf(plan).bundle('add')
    const numbers = items.split(' ').map(Number)
    const out = Buffer.alloc(bundle.size(numbers, numbers.length))
    const bytes = out.subarray(0, bundle.put(numbers, numbers.length, out, 0))
    const commands = bundle.commands(numbers, numbers.length)
    assert.equal(commands.map((args) => args.join(' ')).join(', '), wanted)
    const encoded = commands.map(
      (args) => `*${args.length}\r\n${args.map((arg) => `$${arg.length}\r\n${arg}\r\n`).join('')}`,
    )
    assert.equal(bytes.toString(), encoded.join(''))
  }
})

/** @param {Delivery} delivery @param {number} count @param {string} text */
const repliesOf = (delivery, count, text) => {
  const whole = () => {
    const replies = bundleReplies(delivery)
    replies.expect(count)
    const read = replyReader(replies)
    return { ...replies, read }
  }
  const known = (/** @type {ReturnType<typeof whole>} */ replies) => ({
    acked: replies.acked(),
    isWhole: replies.isWhole(),
    lines: Array.from({ length: count }, (_, i) => replies.lineOf(i)),
  })
  const once = whole()
  once.read(Buffer.from(text))
  // The same at every split of the stream.
  for (let cut = 1; cut < text.length; cut++) {
    const twice = whole()
    for (const part of [text.slice(0, cut), text.slice(cut)]) twice.read(Buffer.from(part))
    assert.deepEqual(known(twice), known(once), `cut at ${cut}`)
  }
  return known(once)
}

test('replies item by item: those that came count, the rest is not known', () => {
  const lines = [null, 'WRONGTYPE no', null, undefined]
  const found = repliesOf('pipeline', 4, '$1\r\n1\r\n-WRONGTYPE no\r\n:3\r\n')
  assert.deepEqual(found, { acked: 2, isWhole: false, lines })
})

test('behind ASK each command has an ASKING, whose reply is no item’s', () => {
  const replies = bundleReplies('pipeline')
  replies.expect(3, true)
  assert.equal(replies.expected(3), 5)
  replyReader(replies)(Buffer.from(':1\r\n+OK\r\n-ERR no\r\n+OK\r\n'))
  const lines = () => [0, 1, 2].map((i) => replies.lineOf(i))
  assert.deepEqual([replies.acked(), replies.isWhole(), lines()], [1, false, [null, 'ERR no', undefined]])
  replyReader(replies)(Buffer.from(':2\r\n'))
  assert.deepEqual([replies.acked(), replies.isWhole(), lines()], [2, true, [null, 'ERR no', null]])
})

test('one reply for all: the number, or an error that is every item’s', () => {
  assert.deepEqual(repliesOf('call', 2, ':2\r\n'), { acked: 2, isWhole: true, lines: [null, null] })
  assert.deepEqual(repliesOf('call', 2, '-NOSCRIPT no\r\n').lines, ['NOSCRIPT no', 'NOSCRIPT no'])
  assert.deepEqual(repliesOf('call', 2, ':1\r\n').acked, 0)
  assert.deepEqual(bundleReplies('call').lineOf(0), undefined)
})

test('a transaction: elements, an error among them, why nothing was executed, and MULTI refused', () => {
  const queued = '+OK\r\n+QUEUED\r\n+QUEUED\r\n'
  const some = repliesOf('transaction', 2, `${queued}*2\r\n$1\r\n1\r\n-ERR no float\r\n`)
  assert.deepEqual(some, { acked: 1, isWhole: true, lines: [null, 'ERR no float'] })
  const cut = repliesOf('transaction', 2, queued)
  assert.deepEqual(cut, { acked: 0, isWhole: false, lines: [undefined, undefined] })
  const aborted = '+OK\r\n+QUEUED\r\n-MOVED 5 h:1\r\n-EXECABORT no\r\n'
  assert.deepEqual(repliesOf('transaction', 2, aborted).lines, ['MOVED 5 h:1', 'MOVED 5 h:1'])
  const apart = '-NOPERM no\r\n:1\r\n-ERR no\r\n-ERR EXEC without MULTI\r\n'
  assert.deepEqual(repliesOf('transaction', 2, apart), { acked: 1, isWhole: true, lines: [null, 'ERR no'] })
})

test('what a reply says counts when it is whole, and not where garbage follows', () => {
  for (const [delivery, text, acked] of /** @type {[Delivery, string, number][]} */ ([
    ['pipeline', ':1\r\n$2\r\nabcd\r\n', 1],
    ['call', '$2\r\nabcd\r\n', 0],
    ['transaction', '+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:1\r\n$2\r\nabcd\r\n', 0],
  ])) {
    const replies = bundleReplies(delivery)
    replies.expect(2)
    assert.throws(() => replyReader(replies)(Buffer.from(text)), /RESP|protocol/i, delivery)
    assert.deepEqual([replies.acked(), replies.lineOf(1)], [acked, undefined], delivery)
  }
})

test('an error from inside a script is told from one before it', () => {
  for (const [line, inside] of /** @type {[string, boolean][]} */ ([
    ['WRONGTYPE Operation against a key script: 5c2, on @user_script:4.', true],
    ['ERR hash value is not an integer script: millrace_count_hash, on @user_function:8.', true],
    ['ERR Error running script (call to f_5c2): @user_script:4: WRONGTYPE', true],
    ['NOSCRIPT No matching script. Please use EVAL.', false],
    ['BUSY Redis is busy running a script. You can only call SCRIPT KILL', false],
    ['WRONGTYPE Operation against a key holding the wrong kind of value', false],
  ]))
    assert.equal(isFromInside(line), inside, line)
})

/** Timers that wait for nothing. @param {(ms: number) => void} [passed] */
const noWait = (passed = () => {}) => ({
  ...systemTimers,
  setTimeout: /** @type {any} */ (
    (
      /** @type {(...args: any[]) => void} */ then,
      /** @type {number} */ ms,
      /** @type {any[]} */ ...args
    ) => {
      passed(ms)
      return setImmediate(then, ...args)
    }
  ),
})

/**
 * A flow over a carrier that a test plays: each send is answered by the next of the plays, the last of them again and
 * again.
 * @param {((ns: number[]) => (string | null | undefined)[] | 'cut')[]} plays lines, as outcomes have them
 * @param {Partial<Parameters<typeof bundlesFlow>[0]>} [more]
 */
const playFlow = async (plays, more = {}) => {
  const sent = /** @type {number[][]} */ ([])
  const places = /** @type {string[]} */ ([])
  const loaded = /** @type {string[]} */ ([])
  const events = /** @type {string[]} */ ([])
  let lines = /** @type {(string | null | undefined)[]} */ ([])
  let nowMs = 0
  const ledger = operationsOf({ isMeasured: () => true })
  const flow = await bundlesFlow({
    plan: { bundleSize: 3, items: 7, maxBehindMs: -1 },
    key: 'k',
    commandsOf: (items) => items,
    carrier: {
      outcome: { acked: () => lines.filter((line) => line === null).length, lineOf: (i) => lines[i] },
      times: () => ({ preparing: 0, sending: 0, parsing: 0 }),
      decoder:
        ({ value }) =>
        (results) =>
          value(/** @type {any} */ (results)),
      dial: async (address, { onBytes, onClose }) => {
        const socket = { destroyed: false, writableLength: 0, destroy() {}, write: answer }
        function answer(/** @type {any} */ numbers) {
          if (Buffer.isBuffer(numbers)) return // an ASKING
          places.push(address)
          const play = plays[Math.min(sent.length, plays.length - 1)](numbers)
          sent.push(numbers)
          setImmediate(() => {
            if (play !== 'cut') return onBytes(/** @type {any} */ (play))
            socket.destroyed = true
            onClose(new Error('reset'))
          })
        }
        return /** @type {any} */ (socket)
      },
      send({ ns, count }, lane, nowMs) {
        lines = []
        const numbers = [...ns.subarray(0, count)]
        lane.push(/** @type {any} */ (numbers), 1, nowMs)
        lane.write(/** @type {any} */ (numbers))
      },
      replied(_, results) {
        lines = results
      },
    },
    target: /** @type {any} */ ({
      topology: { masters: ['h:1'], owners: null },
      refresh: async () => ({ masters: ['h:1'], owners: null }),
      follows: () => true,
      loadScripts: async (/** @type {string} */ at, /** @type {string[]} */ names) => {
        loaded.push(`${names} on ${at}`)
      },
    }),
    scripts: ['a'],
    ledger,
    latency: { record: () => {} },
    machine: {
      clock: () => nowMs,
      random: () => 0,
      timers: noWait((ms) => {
        nowMs += ms
      }),
    },
    onEvent: (kind) => events.push(kind),
    ...more,
  })
  flow.start()
  await flow.offered
  flow.close()
  assert.ok(ledger.isBalanced())
  const { whole, failedBy, repeatedBy } = ledger
  return { sent, places, loaded, events, whole, failedBy, repeatedBy }
}
const good = (/** @type {number[]} */ ns) => ns.map(() => null)

test('bundles in order, the last one shorter', async () => {
  const { sent, whole } = await playFlow([good])
  assert.deepEqual(sent, [[1, 2, 3], [4, 5, 6], [7]])
  assert.equal(whole.acked, 7)
})

test('at a rate a bundle is what is due: each operation with its own due time, what found no room in its time dropped', async () => {
  let nowMs = 0
  const latencies = /** @type {number[][]} */ ([])
  // Nine within 8 ms, of a stretch that ends then; a bundle takes 10 ms.
  const dues = [0, 1, 2, 3, 4, 5, 6, 7, 8]
  const tenMs = (/** @type {number[]} */ ns) => {
    nowMs += 10
    return good(ns)
  }
  const { sent, whole } = await playFlow([tenMs], {
    schedule: {
      due: (i) => dues[i] ?? Number.POSITIVE_INFINITY,
      isOver: (i) => i >= dues.length,
      isLeft: (elapsedMs) => elapsedMs >= 15,
    },
    plan: { bundleSize: 3, items: 2, maxBehindMs: 100 },
    latency: { record: (...times) => latencies.push(times) },
    machine: {
      clock: () => nowMs,
      random: () => 0,
      timers: noWait(() => {
        nowMs += 1
      }),
    },
  })
  assert.deepEqual(sent, [[1], [2, 3, 4]])
  assert.deepEqual([whole.offered, whole.acked, whole.dropped], [9, 4, 5])
  const dueAndSent = latencies.flatMap((times) => times.slice(0, 2))
  assert.deepEqual(dueAndSent, [0, 0, 1, 10, 2, 10, 3, 10])
})

test('what ASK leads away goes there once, and the next bundle to the owner of the slot', async () => {
  const masters = ['127.0.0.1:1', '127.0.0.1:2']
  const topology = { masters, owners: new Uint16Array(16_384).fill(1, 16_000) }
  const { sent, places, whole } = await playFlow([() => ['ASK 7629 127.0.0.1:2', null, null], good], {
    plan: { bundleSize: 3, items: 7, maxBehindMs: 60_000 },
    target: /** @type {any} */ ({ topology, refresh: async () => topology, follows: () => true }),
  })
  assert.deepEqual(sent, [[1, 2, 3], [1], [4, 5, 6], [7]])
  assert.equal(whole.acked, 7)
  assert.deepEqual(places, [masters[0], masters[1], masters[0], masters[0]])
})

test('what was refused is retried alone, before anything new', async () => {
  const { sent, whole, repeatedBy } = await playFlow([() => [null, 'LOADING no', 'LOADING no'], good])
  assert.deepEqual(sent, [[1, 2, 3], [2, 3], [4, 5, 6], [7]])
  assert.deepEqual([whole.offered, whole.acked, repeatedBy], [7, 7, { LOADING: 2 }])
})

test('a script that is not there is loaded first', async () => {
  const { loaded, whole, sent } = await playFlow([(ns) => ns.map(() => 'NOSCRIPT no'), good])
  assert.deepEqual([loaded, whole.acked, sent.length], [['a on h:1'], 7, 4])
})

test('a lost connection leaves what had no reply uncertain, and the next bundle goes over a new one', async () => {
  const { whole, events, sent, failedBy } = await playFlow([() => 'cut', good])
  assert.deepEqual([whole.uncertain, whole.acked, failedBy], [3, 4, { CLOSED: 3 }])
  assert.deepEqual(sent, [[1, 2, 3], [4, 5, 6], [7]])
  assert.deepEqual(events, ['disconnected', 'reconnected'])
})

test('an error fails its item, one from inside a script leaves it uncertain', async () => {
  const inside = 'ERR no script: 5c2, on @user_script:4.'
  const { whole, failedBy } = await playFlow([() => ['WRONGTYPE no', inside, null], good])
  assert.deepEqual([whole.acked, whole.failed, whole.uncertain], [5, 1, 1])
  assert.deepEqual(failedBy, { WRONGTYPE: 1, ERR: 1 })
})

test('what is refused again and again is given up', async () => {
  const { whole, sent, failedBy } = await playFlow([(ns) => ns.map((n) => (n === 2 ? 'BUSY no' : null))])
  assert.deepEqual([whole.acked, whole.failed, failedBy], [6, 1, { BUSY: 1 }])
  assert.equal(sent.filter(([n]) => n === 2).length, 8)
})
