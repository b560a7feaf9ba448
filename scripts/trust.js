#!/usr/bin/env node
// Whether the cost that a run prints is true, by plays whose truth is known from outside:
//   grid   another application beside the run: the printed cost is within its ± of what the scheduler counted for the same load
//          alone, just before and just after it, or it is absent with a reason
//   alone  runs without others: no alarm
//   pairs  the same run twice: the difference is within both ± together
// A file keeps what was played; the same line goes on from there.
import { fork } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startEmbedded } from '../lib/servers/embedded.js'
import { seeded } from '../test/helpers/random.js'
import { ended, schedulerSeconds, started, truthOf } from './check/scheduled.js'

const usage = `Usage: node scripts/trust.js grid|alone|pairs --to FILE [options]

  --to FILE     one line a play; those that it has are not played again
  --seed N      order of the plays (1)
  --minutes N   begins no further play after so long (20)
  --plays N     of alone (40)
  --part K/N    every Nth play of grid and pairs from the Kth, for processes side by side
  -h, --help    this text`

/**
 * @import { Seen } from './check/scheduled.js'
 * @typedef {Awaited<ReturnType<typeof startEmbedded>>} Servers
 * @typedef {{ kind: string, hz: number, pipeline?: number, on?: 'replicas', when?: 'before' | 'ends' | 'begins' }} Foreign
 * @typedef {{ id: string, cluster: boolean, quantity: number, foreign: Foreign | null, consumers?: number }} Cell
 */

/** @param {string} kind @param {number[]} rates @param {Partial<Foreign>} [more] @returns {Foreign[]} */
const each = (kind, rates, more) => rates.map((hz) => ({ kind, hz, ...more }))

/** @type {(Foreign | null)[]} */
const besideServer = [
  ...[null, null, null],
  ...each('get', [100, 500, 1500, 5000, 10_000]),
  ...each('hget', [100, 300, 1500, 5000]),
  ...each('ping', [100, 500, 5000, 10_000]),
  ...each('mget', [300]),
  ...each('get', [2000, 10_000], { pipeline: 20 }),
  ...each('info', [20]),
  ...each('monitor', [0]),
  ...each('publish', [20, 100]),
  ...each('large', [20, 100]),
  ...each('connect', [20, 100]),
  ...each('get', [500, 3000], { when: 'before' }),
  ...each('ping', [1000], { when: 'before' }),
  ...each('get', [1500], { when: 'ends' }),
  ...each('ping', [3000], { when: 'ends' }),
  ...each('hget', [1500], { when: 'begins' }),
]
/** @type {(Foreign | null)[]} */
const besideCluster = [
  ...[null, null],
  ...each('get', [300, 3000], { on: 'replicas' }),
  ...each('get', [3000], { on: 'replicas', pipeline: 20 }),
  ...each('ping', [1000], { on: 'replicas' }),
  ...each('connect', [50], { on: 'replicas' }),
  ...each('get', [300, 3000]),
  ...each('hget', [500], { when: 'begins' }),
  ...each('get', [500], { when: 'before' }),
  ...each('get', [1500], { when: 'ends', on: 'replicas' }),
]

/** @param {Foreign | null} foreign */
const nameOf = (foreign) =>
  foreign === null
    ? 'alone'
    : [`${foreign.hz} ${foreign.kind}`, foreign.pipeline && `P${foreign.pipeline}`, foreign.on, foreign.when]
        .filter(Boolean)
        .join(' ')

/** @type {Cell[]} */
const cells = [
  ...besideServer.map((foreign) => ({ cluster: false, quantity: 20_000, foreign })),
  ...besideCluster.map((foreign) => ({ cluster: true, quantity: 6000, foreign })),
  ...[1, 2].map((consumers) => ({ cluster: false, quantity: 20_000, foreign: null, consumers })),
  ...[1, 2].map((consumers) => ({ cluster: true, quantity: 6000, foreign: null, consumers })),
].map((cell, at) => ({
  id: `${at + 1} ${cell.cluster ? '3+3' : 'server'} ${'consumers' in cell ? `${cell.consumers} consumers` : nameOf(cell.foreign)}`,
  ...cell,
}))

const quiet = { stateDir: null, log: () => {} }

/** @param {boolean} cluster @param {(servers: Servers) => Promise<void>} play */
const withServers = async (cluster, play) => {
  const servers = await startEmbedded({ cluster, ...quiet })
  try {
    await play(servers)
  } finally {
    await servers.close()
  }
}

/** @param {Servers} servers @param {Foreign} foreign */
const besideIt = ({ nodes, access }, foreign) => {
  const role = foreign.on === 'replicas' ? 'replica' : 'master'
  const addresses = nodes.filter((node) => node.role === role).map(({ host, port }) => `${host}:${port}`)
  const file = fileURLToPath(new URL('./check/foreign.js', import.meta.url))
  const known = { ...foreign, addresses, password: access.password }
  return fork(file, [JSON.stringify(known)], { stdio: 'ignore' })
}

/**
 * One run, and what the scheduler counted for its servers meanwhile.
 * @param {Servers} servers
 * @param {{ quantity: number, seconds: number, warmUp?: number, foreign?: Foreign | null, consumers?: number }} how
 * @returns {Promise<Seen>}
 */
const played = async (servers, { quantity, seconds, warmUp = 2, foreign = null, consumers = 0 }) => {
  const out = mkdtempSync(join(tmpdir(), 'millrace-trust-'))
  const watch = schedulerSeconds(servers.nodes.map(({ pid }) => pid))
  const line = `-q ${quantity} -c 10 -a all --warm-up ${warmUp}s --duration ${warmUp + seconds}s --allow foreign-keys --log debug --out ${out}`
  const run = started('producer.js', line, servers)
  const others = /** @type {{ kill(): unknown }[]} */ ([])
  try {
    const when = foreign?.when
    if (foreign && when !== 'begins') others.push(besideIt(servers, foreign))
    for (let n = 0; n < consumers; n++)
      others.push(started('consumer.js', `-p 500 --duration 60s --out ${join(out, `c${n}`)}`, servers).child)
    await run.says(/the only writer|another writer/)
    if (when === 'before') await run.says(/commands prepared/).then(() => others[0]?.kill())
    await run.says(/commands prepared/)
    await sleep((warmUp + seconds / 2) * 1000)
    if (foreign && when === 'begins') others.push(besideIt(servers, foreign))
    if (when === 'ends') others[0]?.kill()
    await run.ended
  } finally {
    for (const one of others) one.kill()
    run.child.kill()
    watch.stop()
  }
  const [folder] = readdirSync(out).filter((name) => !/^c\d$/.test(name))
  const document = JSON.parse(readFileSync(join(out, folder, 'run.json'), 'utf8'))
  rmSync(out, { recursive: true, force: true })
  return ended(document, watch.points)
}

/** @param {Cell} cell @param {Seen} seen @param {Seen[]} alone */
const judged = ({ id, foreign, consumers }, seen, alone) => {
  const { truth, range } = truthOf(alone)
  const { net, within, why } = seen
  const isAlone = foreign === null && !consumers
  const right =
    net === null ? why !== '' && !isAlone : Math.abs(net - truth) <= Math.hypot(within ?? 0, range / 2)
  return {
    id,
    right,
    isAlone,
    alarm: isAlone && seen.why !== '',
    net,
    within,
    why,
    truth,
    range,
    gross: seen.gross,
  }
}

/** @param {string} file @returns {any[]} */
const linesIn = (file) =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : []

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    to: { type: 'string' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '20' },
    plays: { type: 'string', default: '40' },
    part: { type: 'string', default: '1/1' },
    help: { type: 'boolean', short: 'h' },
  },
})
const [what] = positionals
if (values.help || !values.to || !['grid', 'alone', 'pairs'].includes(what)) {
  console.log(usage)
  process.exit(values.help ? 0 : 2)
}
const { to } = values
const untilMs = performance.now() + Number(values.minutes) * 60_000
const [part, parts] = values.part.split('/').map(Number)
const isOurs = (/** @type {unknown} */ _, /** @type {number} */ at) => at % parts === part - 1
const isTime = () => performance.now() < untilMs
const random = seeded(Number(values.seed))
const done = () => linesIn(to).filter((line) => line.what === what)
const keep = (/** @type {object} */ line) => {
  appendFileSync(to, `${JSON.stringify({ what, ...line })}\n`)
  console.log(JSON.stringify(line))
}

const grid = async () => {
  for (const cluster of [false, true]) {
    const left = random
      .shuffled(cells.filter((cell) => cell.cluster === cluster))
      .filter(isOurs)
      .filter(({ id }) => !done().some((line) => line.id === id))
    if (left.length === 0 || !isTime()) continue
    await withServers(cluster, async (servers) => {
      const { quantity } = left[0]
      let before = await played(servers, { quantity, seconds: 8 })
      for (const cell of left) {
        if (!isTime()) return
        const seen = await played(servers, { ...cell, seconds: 8 })
        const after = await played(servers, { quantity, seconds: 8 })
        for (const one of [before, after]) if (one.why) console.log(`alarm alone: ${one.why}`)
        keep({ ...judged(cell, seen, [before, after]), alarms: [before, after].map(({ why }) => why) })
        before = after
      }
    })
  }
  const all = done()
  for (const line of all.filter(({ right }) => !right))
    console.log(`WRONG ${line.id}: ${figuresOf(line).join(', ')} ${line.why}`)
  console.log(
    `${all.filter(({ right }) => right).length} of ${all.length} cells right (${cells.length} planned)`,
  )
}

/** @param {any} line */
const figuresOf = ({ net, within, truth }) => [net, within, truth].map((n) => n?.toFixed(2) ?? 'none')

const alone = async () => {
  const left = Number(values.plays) - done().length
  for (const cluster of [false, true]) {
    const count = Math.ceil(left / 2)
    if (count <= 0 || !isTime()) continue
    await withServers(cluster, async (servers) => {
      for (let n = 0; n < count && isTime(); n++) {
        const quantity = random.pick([1000, 5000, 20_000])
        const seen = await played(servers, { quantity, seconds: 8, warmUp: 0 })
        keep({ id: `${cluster ? '3+3' : 'server'} ${quantity}`, ...seen })
      }
    })
  }
  const all = done()
  const alarms = all.filter(({ why }) => why !== '')
  console.log(
    `${all.length} runs alone, ${alarms.length} with an alarm${alarms.map(({ id, why }) => `\n  ${id}: ${why}`).join('')}`,
  )
}

const pairs = async () => {
  const plans = random.shuffled(
    [false, true].flatMap((cluster) =>
      [2000, 20_000, 100_000].flatMap((quantity) =>
        [10, 10, 10, 10, 10, 10, 30].map((seconds, at) => ({
          ...{ id: `${cluster ? '3+3' : 'server'} ${quantity} ${seconds} s ${at + 1}`, cluster, quantity },
          seconds,
        })),
      ),
    ),
  )
  for (const plan of plans.filter(isOurs)) {
    if (!isTime() || done().some(({ id }) => id === plan.id)) continue
    await withServers(plan.cluster, async (servers) => {
      const first = await played(servers, plan)
      const second = await played(servers, plan)
      const off = (/** @type {'net' | 'gross'} */ name, /** @type {'within' | 'grossWithin'} */ within) =>
        Math.abs(Number(first[name]) - Number(second[name])) /
        (Number(first[within]) + Number(second[within]))
      const isKnown = first.net !== null && second.net !== null
      keep({
        id: plan.id,
        net: isKnown ? off('net', 'within') : null,
        gross: off('gross', 'grossWithin'),
        runs: [first, second],
      })
    })
  }
  for (const name of /** @type {const} */ (['net', 'gross'])) {
    const shares = done()
      .flatMap((line) => (line[name] === null ? [] : [line[name]]))
      .sort((a, b) => a - b)
    const inside = shares.filter((part) => part <= 1).length
    const at95 = shares[Math.ceil(shares.length * 0.95) - 1]
    console.log(
      `${name}: ${inside} of ${shares.length} pairs inside; the 95th percentile is ${at95?.toFixed(2)} of both ± together`,
    )
  }
}

await { grid, alone, pairs }[/** @type {'grid' | 'alone' | 'pairs'} */ (what)]()
