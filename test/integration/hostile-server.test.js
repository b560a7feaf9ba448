// A server that answers with script tags, terminal codes and nonsense: nothing of it gets through, nothing hangs.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, test } from 'node:test'
import { slotOf } from '../../lib/wire/slot.js'
import { runCommand } from '../helpers/command-here.js'
import { bulk, infoText, startHostileServer } from '../helpers/hostile-server.js'
import { outcomesOf, startProgram } from '../helpers/programs.js'

/** @import { Answer } from '../helpers/hostile-server.js' */
/** @import { TestContext } from 'node:test' */

const nasty = '\u001b[2J\u001b]0;owned\u0007\u009b31m<script>alert(1)</script>\u202e\b\b'
const line = '-q 20 -t 1 -a all -p 200 --intervals 2 --ttl 5'
// A hang, and no slow machine.
const longestMs = 120_000

/** @param {string} text */
const assertPlain = (text) => assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)

/** @param {TestContext} t @param {Answer} answer @param {string} [more] @param {boolean} [pages] */
const runAgainst = async (t, answer, more = '', pages = false) => {
  const port = await startHostileServer(t, answer)
  const startMs = performance.now()
  let peakKb = 0
  const watch = setInterval(() => {
    peakKb = Math.max(peakKb, process.memoryUsage.rss() / 1024)
  }, 50)
  const ended = await runCommand(t, `write ${line} ${more}`, {
    env: { REDIS_HOST: '127.0.0.1', REDIS_PORT: String(port), REDIS_PASSWORD: 'hunter2' },
    pages,
  })
  clearInterval(watch)
  assert.ok(performance.now() - startMs < longestMs, 'it took too long')
  // Thirty runs at once take 400 MB.
  assert.ok(peakKb < 900_000, `${peakKb} kB in memory`)
  assert.doesNotMatch(ended.stderr, /internal error of Millrace/)
  assertPlain(ended.stdout)
  assertPlain(ended.stderr)
  assert.ok(ended.stderr.length < 100_000, `${ended.stderr.length} characters of log`)
  for (const name of ended.folder ? filesUnder(ended.folder) : []) {
    const text = readFileSync(join(ended.folder, name), 'utf8')
    assertPlain(text)
    assert.doesNotMatch(text, /hunter2/)
    if (name.endsWith('.html') || name.endsWith('.svg')) assert.doesNotMatch(text, /<script>alert/)
    assert.ok(text.length < 5e6)
  }
  assert.doesNotMatch(ended.stdout + ended.stderr, /hunter2/)
  return ended
}

/** Of a process, 0 when it has ended. @param {number} pid */
const rssKbOf = (pid) => {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** @param {string} folder */
const filesUnder = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))

/** An answer to a command, of whichever connection or that of the writer. @param {string} command @param {string | null} text @returns {Answer} */
const to =
  (command, text) =>
  ([name, sub = '']) =>
    [name, `${name} ${sub.toUpperCase()}`].includes(command) ? text : undefined
/** @param {string} command @param {string | null} text @returns {Answer} */
const toWriter = (command, text) => (args, who, socket) =>
  who === 'millrace' ? to(command, text)(args, who, socket) : undefined
/** The first of them that answers. @param {Answer[]} answers @returns {Answer} */
const first =
  (...answers) =>
  (args, who, socket) => {
    for (const answer of answers) {
      const text = answer(args, who, socket)
      if (text !== undefined) return text
    }
  }
const oneKey = to('INFO', bulk(`${infoText()}db0:keys=1,expires=0\r\n`))
const found = (/** @type {string} */ key) => to('SCAN', `*2\r\n$1\r\n0\r\n*1\r\n${bulk(key)}`)
const slots = (/** @type {string} */ text) =>
  first(to('INFO', bulk(infoText({ cluster_enabled: 1 }))), to('CLUSTER SLOTS', text))
const signIn = (/** @type {string} */ text) => first(to('AUTH', text), to('HELLO', text))

/** The last line, which is no log. @param {{ stderr: string }} ended */
const refusal = ({ stderr }) => String(stderr.trim().split('\n').at(-1))

/** @type {[what: string, answer: Answer, names: RegExp, more?: string][]} */
const refused = [
  ['errors in words of its own', signIn(`-ERR ${nasty}\r\n`), /^127\.0\.0\.1:\d+: /],
  ['an error of a megabyte', signIn(`-ERR ${'x'.repeat(1e6)}\r\n`), /^127\.0\.0\.1:\d+: .{1,400}$/],
  [
    'names of replicas',
    to('INFO', bulk(infoText({ role: 'slave', master_host: nasty, master_port: 'x' }))),
    /is a replica/,
  ],
  [
    'names of keys',
    first(oneKey, found(`item:${nasty}`), to('TYPE', `+${nasty.replaceAll('\r', '')}\r\n`)),
    /--allow foreign-keys$/,
  ],
  [
    'a plan of nonsense',
    first(
      ...[oneKey, found('item:1'), to('TYPE', '+hash\r\n')],
      to(
        'HGETALL',
        `*2\r\n${bulk('x')}${bulk('{"strategy":"list","quantity":1e308,"sets":["\\u001b[2J"],"extraSets":[]}')}`,
      ),
    ),
    /--allow foreign-keys$/,
  ],
  [
    'slots with names of nodes that are none',
    slots(`*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n${bulk(nasty)}:6379\r\n`),
    /CLUSTER SLOTS makes no sense|no node reports the topology/,
    '--cluster',
  ],
  [
    'slots without end',
    slots(`*1\r\n*3\r\n:0\r\n:9007199254740991\r\n*2\r\n${bulk('127.0.0.1')}:6379\r\n`),
    /CLUSTER SLOTS makes no sense/,
    '--cluster',
  ],
  [
    'slots that are none',
    slots('*2\r\n:1\r\n*3\r\n:-5\r\n:99999999\r\n*0\r\n'),
    /CLUSTER SLOTS makes no sense|no node reports the topology/,
    '--cluster',
  ],
  [
    'slots of 3,000 masters',
    slots(
      `*3000\r\n${Array.from({ length: 3000 }, (_, i) => `*3\r\n:${i}\r\n:${i}\r\n*2\r\n${bulk(`10.0.${i >> 8}.${i & 255}`)}:6379\r\n`).join('')}`,
    ),
    /names 3000 nodes, more than 2000/,
    '--cluster',
  ],
  ['no answer to INFO', to('INFO', null), /no answer/],
  ['no answer to SCAN', first(oneKey, to('SCAN', null)), /no answer/],
  [
    'an answer of another kind to the plan',
    ([name, ...args]) => (name === 'EVAL' && args.includes('begin') ? ':1\r\n' : undefined),
    /^millrace:plan: the server does not answer as/,
  ],
  ['no answer to the leases', to('SET', null), /no answer/],
]

const strange = { redis_version: nasty, maxmemory_policy: nasty, used_memory: nasty, run_id: nasty }
const odd = { ...strange, connected_clients: '-9' }
const oddLines = [
  `slave0:ip=${nasty},port=99999,state=online`,
  `cmdstat_${nasty}:calls=x,usec=y`,
  ...['cmdstat___proto__:calls=1,usec=1', '__proto__:x', ''],
]
const absurd = Object.fromEntries(
  `used_memory 1e308,total_system_memory -1,maxmemory ${'9'.repeat(400)},connected_clients NaN,used_cpu_sys 1e300
used_cpu_user Infinity,total_net_input_bytes 9223372036854775807,total_net_output_bytes -5,evicted_keys -1e9
total_commands_processed 0x10,uptime_in_seconds ,master_repl_offset 1e40,io_threads_active 1e9,loading ,hz 0`
    .split(/[,\n]/)
    .map((field) => field.split(' ')),
)
const absurdLines = [
  ...['cmdstat_setex:calls=1e308,usec=-1', 'cmdstat_info:calls=NaN,usec=', 'db0:keys=1e18,expires=-1'],
  ...['slave0:ip=127.0.0.1,port=1e9,offset=-1,lag=NaN', 'errorstat_ERR:count=1e99', ''],
].join('\r\n')
let back = 1e6
const falling = ['used_cpu_sys', 'used_cpu_user', 'total_net_input_bytes', 'total_commands_processed']
const backwards = () => {
  back -= 1000
  return Object.fromEntries(falling.map((name) => [name, back]))
}
const manyReplicas = Array.from(
  { length: 100_000 },
  (_, i) =>
    `slave${i}:ip=10.${i >> 16}.${(i >> 8) & 255}.${i & 255},port=6379,state=online,offset=1,lag=0\r\n`,
).join('')
let nth = 0
/** @param {string} command @returns {Answer} */
const everyOther = (command) => (args, who) =>
  who === 'millrace' && args[0] === command ? (nth++ % 2 === 0 ? '+OK\r\n' : null) : undefined
/** @type {Answer} */
const early = ([name, sub], _, socket) => {
  if (name === 'CLIENT' && /setname/i.test(sub)) setTimeout(() => socket.write('+OK\r\n'.repeat(5)), 50)
  return undefined
}

/** @type {[what: string, answer: Answer][]} */
const during = [
  ['errors in words of its own', toWriter('SETEX', `-${nasty}\r\n`)],
  ['errors of 60 kB', toWriter('SETEX', `-ERR ${'<b>'.repeat(20_000)}\r\n`)],
  ['errors of a megabyte', toWriter('SETEX', `-ERR ${'x'.repeat(1e6)}\r\n`)],
  ['redirects to nowhere', toWriter('SETEX', `-MOVED 99999999 ${nasty}:x\r\n`)],
  ['more answers than commands', toWriter('ZADD', ':1\r\n'.repeat(50))],
  ['something that is not RESP', toWriter('SETEX', `HTTP/1.1 200 OK ${nasty}\r\n`)],
  ['a length without an end', toWriter('SETEX', '$99999999999999999999\r\n')],
  ['no answer', toWriter('SETEX', null)],
  ['a time that is none', to('TIME', `*2\r\n${bulk(nasty)}${bulk('x')}`)],
  ['a time beyond all calendars', to('TIME', '*2\r\n:9007199254740991\r\n:0\r\n')],
  ['no time', to('TIME', '+OK\r\n')],
  ['numbers where texts belong', to('INFO', ':5\r\n')],
  ['a list where a text belongs', to('INFO', '*1\r\n*1\r\n:1\r\n')],
  ['numbers of INFO beyond all bounds', to('INFO', bulk(`${infoText(absurd)}${absurdLines}`))],
  [
    'numbers of INFO that run backwards',
    ([name]) => (name === 'INFO' ? bulk(infoText(backwards())) : undefined),
  ],
  [
    'INFO with 100,000 replicas',
    to('INFO', bulk(`${infoText({ connected_slaves: 100_000 })}${manyReplicas}`)),
  ],
  ['an answer to every other command', everyOther('SETEX')],
  ['two answers to a command', toWriter('SETEX', '+OK\r\n+OK\r\n')],
  ['answers before questions', early],
  ['fields of INFO', to('INFO', bulk(`${infoText(odd)}${oddLines.join('\r\n')}`))],
]

// All at once keep this process so busy that a server's answer is later than the limit.
describe('a hostile server', { concurrency: 1 }, () => {
  describe('refused', { concurrency: 4 }, () => {
    for (const [what, answer, names, more] of refused)
      test(what, async (t) => {
        const ended = await runAgainst(t, answer, more)
        assert.equal(ended.code, 3, ended.stderr)
        assert.match(refusal(ended), names)
        assert.equal(ended.stdout, '')
      })

    test('cursors without an end', async (t) => {
      const ended = await runAgainst(t, first(oneKey, to('SCAN', '*2\r\n$2\r\n17\r\n*0\r\n')))
      assert.ok(ended.code !== null)
    })
  })

  for (const driver of ['socket', 'ioredis'])
    describe(`in a run, driver ${driver}`, { concurrency: true }, () => {
      for (const [what, answer] of during) {
        // What the control connections get is the same whichever driver writes.
        if (driver === 'ioredis' && /INFO|time|text belongs|texts belong/.test(what)) continue
        test(what, async (t) => {
          // A page takes as long as the rest of a run: where the server has words that could be on it.
          const pages = driver === 'socket' && /words|kB|nowhere|RESP|fields/.test(what)
          const ended = await runAgainst(t, answer, `--driver ${driver}`, pages)
          assert.ok([0, 3, 4].includes(Number(ended.code)), `${ended.code}: ${ended.stderr}`)
          if (ended.code === 3) return
          const { items } = ended.document
          assert.deepEqual([items.offered, outcomesOf(items)], [40, 40])
          if (/INFO|text|more answers|two answers|before|time/.test(what)) return
          assert.equal(ended.code, 4)
        })
      }
    })

  test('hundreds of databases are looked at by one connection after the other', async (t) => {
    const databases = Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => [`db${i}`, 'keys=1,expires=0']),
    )
    /** @type {Set<unknown>} */
    const open = new Set()
    let most = 0
    await runAgainst(t, ([name], _, socket) => {
      if (!open.has(socket)) socket.once('close', () => open.delete(socket))
      open.add(socket)
      most = Math.max(most, open.size)
      return name === 'INFO' ? bulk(infoText(databases)) : undefined
    })
    assert.ok(most < 20, `${most} connections at once`)
  })

  test('a password that the server gives back, in whatever it says, is nowhere', async (t) => {
    const quoting = "-ERR it was 'hunter2' that you said\r\n"
    const signIn = await runAgainst(t, ([name]) => (name === 'AUTH' ? quoting : undefined))
    assert.equal(signIn.code, 3)
    assert.match(signIn.stderr, /it was '\*\*\*' that you said/)
    const load = await runAgainst(
      t,
      ([name]) => (name === 'SETEX' ? quoting : undefined),
      '--json --log trace',
      true,
    )
    assert.ok(load.document.items.failed > 0)
  })
})

/** What a cluster of one node says of itself. @param {string} name @param {string} sub @param {number} port */
const ofOneNode = (name, sub, port) => {
  if (name === 'INFO') return bulk(infoText({ cluster_enabled: 1 }))
  if (name === 'CLUSTER' && /slots/i.test(sub))
    return `*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n${bulk('127.0.0.1')}:${port}\r\n${bulk('a'.repeat(40))}`
}

// Not beside the others, which keep this process busy.
describe('a hostile server that redirects to itself', { concurrency: true }, () => {
  for (const [what, command, more] of [
    ['lookups', 'GET', '--strategy lookup-get --items 100 --rate 200 --duration 1s'],
    ['jobs', 'LPUSH', '--strategy queue-list --rate 100 -a all --duration 1s'],
    ['bundles', 'ZINCRBY', '--strategy counter-pipeline --items 100'],
    ['ticks', 'SETEX', `${line} --driver socket`],
    ['ticks over ioredis', 'SETEX', `${line} --driver ioredis`],
  ])
    test(`slots that move to the server that says so: ${what} are retried with waits`, async (t) => {
      let asked = 0
      let port = 0
      port = await startHostileServer(t, ([name, sub = '', ...rest], who) => {
        const layout = ofOneNode(name, sub, port)
        if (layout) return layout
        if (name === 'ZMSCORE') return `*${rest.length}\r\n${'$-1\r\n'.repeat(rest.length)}`
        if (name !== command || who !== 'millrace') return
        asked++
        return `-MOVED ${slotOf(Buffer.from(sub))} 127.0.0.1:${port}\r\n`
      })
      const ended = await runCommand(t, `write ${more} --cluster --host 127.0.0.1:${port} --idle-cost never`)
      assert.equal(ended.code, 4, ended.stderr)
      assert.match(ended.stderr, /MOVED/)
      // Each at most a few dozen times in the five seconds until it is given up.
      assert.ok(asked > 40 && asked < 200 * 50, `${asked} ${command}`)
      t.diagnostic(`${asked} ${command}`)
    })

  test('leases that are redirected in a circle are refused in one line', async (t) => {
    let port = 0
    port = await startHostileServer(t, ([name, sub = '']) => {
      const layout = ofOneNode(name, sub, port)
      if (layout) return layout
      if (name === 'SET') return `-MOVED ${slotOf(Buffer.from(sub))} 127.0.0.1:${port}\r\n`
    })
    const ended = await runCommand(t, `write ${line} --cluster --host 127.0.0.1:${port}`)
    assert.equal(ended.code, 3, ended.stderr)
    assert.match(refusal(ended), /its nodes redirect in a circle; look at CLUSTER SLOTS of each/)
  })
})

// One after the other: what is poured out keeps this process busy.
describe('a hostile server whose replies do not end', () => {
  const value = ['a value without an end', '$536870912\r\n', 'x'.repeat(1 << 20)]
  const list = ['a list without an end', '*1000000000\r\n', '$5\r\nhello\r\n'.repeat(100_000)]
  for (const [driver, most, [what, head, part]] of /** @type {const} */ ([
    ['ioredis', 450, value],
    ['ioredis', 450, list],
    ['socket', 200, value],
  ]))
    test(`${what}: a consumer over ${driver} ends the connection, in bounded memory`, async (t) => {
      const poured = Buffer.from(part)
      const port = await startHostileServer(t, ([name], _, socket) => {
        if (name === 'ZRANGEBYSCORE') return `*1\r\n${bulk('item:1')}`
        if (name !== 'GET') return
        if (socket.listenerCount('drain') > 0) return null
        const pour = () => {
          while (socket.writable && socket.write(poured));
        }
        socket.on('drain', pour).write(head)
        pour()
        return null
      })
      const { pid, ended } = startProgram(t, 'consumer.js', `--driver ${driver} --port ${port} --duration 2s`)
      let peakKb = 0
      const watch = setInterval(() => {
        peakKb = Math.max(peakKb, rssKbOf(pid))
      }, 20)
      const { code, stderr } = await ended
      clearInterval(watch)
      assert.equal(code, 4, stderr)
      assert.match(
        stderr,
        /its reply (is longer than \d+ bytes|has more than \d+ elements|has a value of 536870912 bytes, more than \d+)/,
      )
      assert.ok(peakKb < most * 1000, `${peakKb} kB`)
      t.diagnostic(`${Math.round(peakKb / 1000)} MB at most`)
    })
})
