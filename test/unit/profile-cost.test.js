// What a profile costs the servers, and how its sample is taken, beside servers that are made up.
import assert from 'node:assert/strict'
import test from 'node:test'
import { asking } from '../../lib/answers/profile/ask.js'
import { budgetOf } from '../../lib/answers/profile/budget.js'
import { collected } from '../../lib/answers/profile/collect.js'
import { patternsOf } from '../../lib/answers/profile/fold.js'
import { mostAsked, sampling } from '../../lib/answers/profile/sample.js'

/**
 * A server with keys, of which each question takes so long; its clients send evenly.
 * @param {object} terms
 * @param {number} terms.perS commands of its clients
 * @param {number} [terms.cpu] of a core that these take
 * @param {number} [terms.us] of a question
 * @param {number} [terms.keys]
 * @param {(n: number, nowMs: number) => number} [terms.left] PTTL of key n
 * @param {(n: number) => boolean} [terms.isGone] it has expired, and is still there
 */
const madeUp = ({ perS, cpu = 0.1, us = 2, keys = 50_000, left = () => -1, isGone = () => false }) => {
  const startMs = performance.now()
  const asked = /** @type {Record<string, number>} */ ({})
  let questions = 0
  let reads = 0
  const info = () => {
    const s = (performance.now() - startMs) / 1000
    return [
      'redis_version:7.2.4',
      `instantaneous_ops_per_sec:${perS}`,
      `total_commands_processed:${Math.floor(s * perS) + questions}`,
      `total_reads_processed:${Math.floor(s * perS) + reads}`,
      'uptime_in_seconds:1000',
      `used_cpu_user:${(1000 + s) * cpu + (questions * us) / 1e6}`,
      'used_cpu_sys:0',
      `cmdstat_get:calls=${Math.floor(s * perS)},usec=${Math.floor(s * perS)}`,
      ...Object.entries(asked).map(([name, calls]) => `cmdstat_${name}:calls=${calls},usec=${calls * us}`),
      `db0:keys=${keys},expires=0`,
    ].join('\n')
  }
  /** @param {any[]} line */
  const answer = ([name, ...args]) => {
    if (name === 'INFO') return Buffer.from(info())
    if (name === 'SCAN') {
      const from = Number(args[0])
      const to = Math.min(keys, from + Number(args[2]))
      const names = Array.from({ length: to - from }, (_, i) => from + i).filter((n) => !isGone(n))
      return [Buffer.from(String(to === keys ? 0 : to)), names.map((n) => Buffer.from(`session:${n}`))]
    }
    if (name === 'PTTL') return left(Number(String(args[0]).split(':')[1]), performance.now() - startMs)
    if (name === 'TYPE') return 'string'
    if (name === 'STRLEN') return 100
    if (name === 'MEMORY') return 160
    return null
  }
  const client = {
    pipeline: () => {
      const lines = /** @type {any[][]} */ ([])
      return {
        callBuffer: (/** @type {any[]} */ ...line) => lines.push(line),
        exec: async () => {
          reads++
          return lines.map((line) => {
            questions++
            const called = /^(OBJECT|MEMORY|CLIENT|LATENCY)$/.test(line[0])
              ? `${line[0]}|${line[1]}`
              : line[0]
            asked[called.toLowerCase()] = (asked[called.toLowerCase()] ?? 0) + 1
            return line[0] === 'HOTKEYS'
              ? [new Error("ERR unknown command 'HOTKEYS'"), null]
              : [null, answer(line)]
          })
        },
      }
    },
  }
  const master = /** @type {any} */ ({ address: 'made-up', client })
  return {
    master,
    asked,
    counts: () => ({ questions, total: (performance.now() - startMs) * (perS / 1000) }),
  }
}

/** @param {ReturnType<typeof madeUp>} server @param {number} durationMs */
const looked = async ({ master }, durationMs) => {
  const said = /** @type {string[]} */ ([])
  const stop = new AbortController().signal
  const seen = await collected({
    ...{ masters: [master], durationMs, budget: 0.01, stop },
    say: (text) => said.push(text),
  })
  return { seen, said }
}

test('a profile sends less than its budget, with its first and last questions', async () => {
  const server = madeUp({ perS: 20_000 })
  const { seen, said } = await looked(server, 2500)
  const { questions, total } = server.counts()
  assert.ok(questions < 0.01 * total, `${questions} of ${total}`)
  assert.ok(questions > 0.001 * total, `${questions} of ${total}`)
  assert.deepEqual([said, seen.remarks], [[], []])
  // What was asked at the beginning is in no second, or the first one would be some milliseconds with all of it.
  assert.ok(seen.series[0].s > 0 && seen.series[1].s - seen.series[0].s > 0.5)
})

test('questions that take too much of the CPU are asked more rarely', async () => {
  // 0.5 % of 0.2 of a core is 1 ms a second, which two questions take: the least of 5 a second is asked.
  const dear = madeUp({ perS: 20_000, cpu: 0.2, us: 500 })
  await looked(dear, 3000)
  const cheap = madeUp({ perS: 20_000, cpu: 0.2, us: 2 })
  await looked(cheap, 3000)
  assert.ok(dear.counts().questions < 100, `${dear.counts().questions}`)
  assert.ok(cheap.counts().questions > 2 * dear.counts().questions)
})

test('a budget that cannot be kept is said, with what was used', async () => {
  const idle = madeUp({ perS: 100, cpu: 0.002, us: 100 })
  const { seen, said } = await looked(idle, 1500)
  assert.match(said.join(), /100 commands\/s: looking sends 5\/s, more than --budget/)
  assert.match(seen.remarks.join(), /looking took .* % of the servers' own CPU, more than 0.5 %/)
})

test('in virtual time, what is sent stays below 1 % of all commands at each rate that the budget can be kept at', () => {
  const [firstQuestions, lastQuestions] = [14, 20]
  /** @param {number} durationS @param {(s: number) => number} perSAt @param {number} masters */
  const shareOfRun = (durationS, perSAt, masters) => {
    let [asked, theirs] = [0, 0]
    const infos = () =>
      Array.from({ length: masters }, () => ({
        fields: {
          total_commands_processed: String((theirs + asked) / masters),
          instantaneous_ops_per_sec: String(perSAt(0) / masters),
          uptime_in_seconds: '1000',
          used_cpu_user: String(1000 + theirs / 1000),
        },
        commands: {},
      }))
    const questions = { count: () => asked, writes: () => 0, calls: {} }
    const begin = /** @type {any} */ (infos())
    const limits = budgetOf({ begin, questions: /** @type {any} */ (questions), budget: 0.01, durationS })
    asked += firstQuestions * masters
    limits.keepForEnd()
    for (let s = 0; s < durationS; s++) {
      asked += masters
      limits.note(/** @type {any} */ (infos()), s)
      while (limits.isLeft(s + 1, mostAsked)) asked += mostAsked
      theirs += perSAt(s)
    }
    asked += lastQuestions * masters
    return asked / (theirs + asked)
  }
  for (const masters of [1, 3])
    for (const durationS of [60, 600])
      for (const perS of [1000, 1500, 3000, 20_000, 200_000]) {
        const even = shareOfRun(durationS, () => perS * masters, masters)
        assert.ok(even < 0.0095, `${masters} masters, ${durationS} s, ${perS}/s: ${even}`)
        assert.ok(even > 0.004, `${masters} masters, ${durationS} s, ${perS}/s: ${even}`)
        if (perS < 1500) continue
        // A sixth less in the last fifth.
        const less = shareOfRun(durationS, (s) => perS * masters * (s < durationS * 0.8 ? 1 : 0.83), masters)
        assert.ok(less < 0.01, `${masters} masters, ${durationS} s, ${perS}/s and less: ${less}`)
      }
})

test('keys are asked for their time left soon after they were named, all keys once', async () => {
  // Each key lives for 2 s from when it is named first or anew: what waits would have less, or be gone.
  const keys = 3000
  const server = madeUp({ perS: 1, keys, left: (n, nowMs) => 2000 - ((nowMs + n * 7) % 2000) })
  const sample = sampling(asking([server.master]))
  for (let step = 0; step < 300; step++) if (!(await sample.step())) break
  const [{ of }] = sample.patterns()
  assert.equal(of.count, keys)
  assert.equal(of.facts.length, 400)
  assert.equal(of.known.size, 400)
  assert.ok(sample.isComplete())
  // After enough is known of a pattern, less is asked.
  assert.ok(server.asked.type < 100 && server.asked.pttl >= 400)
  const sorted = of.facts.map(({ leftMs }) => leftMs).sort((a, b) => a - b)
  assert.ok(Math.abs(sorted[200] - 1000) < 300, `${sorted[200]}`)
})

test('how many keys have expired and are still there is seen by the names that full pages of SCAN have', async () => {
  // The last page has 300 keys of 400.
  const server = madeUp({ perS: 1, keys: 3500, isGone: (n) => n % 5 === 0 && n < 3200 })
  const sample = sampling(asking([server.master]))
  assert.equal(sample.staleShare(), null)
  for (let step = 0; step < 30; step++) await sample.step()
  assert.ok(sample.isComplete())
  assert.equal(sample.staleShare()?.toFixed(3), '0.200')
})

test('once all names were seen, keys are asked about that were named just before', async () => {
  const pages = 8
  const asked = /** @type {{ key: number, names: number }[]} */ ([])
  const left = (/** @type {number} */ key) => {
    asked.push({ key, names: 64 * (server.asked.scan - pages) })
    return 1000
  }
  const server = madeUp({ perS: 1, keys: 400 * pages, left })
  const sample = sampling(asking([server.master]))
  for (let step = 0; step < 60; step++) await sample.step()
  const again = asked.filter(({ names }) => names > 0)
  assert.ok(again.length > 100)
  assert.deepEqual(
    again.filter(({ key, names }) => key < names - 64 || key >= names),
    [],
  )
})

test('of a few keys each is asked for once', async () => {
  const server = madeUp({ perS: 1, keys: 7 })
  const sample = sampling(asking([server.master]))
  let steps = 0
  while (await sample.step()) steps++
  assert.ok(steps < 10)
  assert.deepEqual([server.asked.scan, server.asked.type], [1, 7])
})

test('200,000 names, each a pattern of its own, take bounded memory', () => {
  const patterns = patternsOf(
    () => ({ count: 0 }),
    (into, from) => {
      into.count += from.count
    },
  )
  const letters = (/** @type {number} */ n) => n.toString(26).replace(/\d/g, (d) => 'qrstuvwxyz'[Number(d)])
  const before = process.memoryUsage().heapUsed
  for (let n = 0; n < 200_000; n++)
    patterns.of(Buffer.from(`${letters(n)}:${letters(n % 977)}/${letters(n >> 3)}${'-x'.repeat(n % 5)}`))
      .count++
  const all = patterns.all()
  assert.ok(all.length <= 2001, `${all.length}`)
  assert.equal(
    all.reduce((sum, { of }) => sum + of.count, 0),
    200_000,
  )
  // Without collecting what is garbage: a name alone takes 100 bytes.
  assert.ok(process.memoryUsage().heapUsed - before < 60e6)
})
