// What a profile costs the servers, and how its sample is taken, beside servers that are made up.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { budgetOf } from '../../lib/answers/profile/budget.js'
import { asking, collected, mostAsked, sampling } from '../../lib/answers/profile/collect.js'
import { countedPatterns, lettersOf } from '../helpers/patterns.js'

/**
 * A server with keys, of which each question takes so long; its clients send evenly.
 * @param {object} terms
 * @param {number} [terms.perS] commands of its clients
 * @param {number} [terms.cpu] of a core that these take
 * @param {number} [terms.us] of a question
 * @param {number} [terms.keys]
 * @param {(n: number, nowMs: number) => number} [terms.left] PTTL of key n
 * @param {(n: number) => boolean} [terms.isGone] it has expired, and is still there
 */
const madeUp = ({ perS = 1, cpu = 0.1, us = 2, keys = 50_000, left = () => -1, isGone = () => false }) => {
  const startMs = performance.now()
  const asked = /** @type {Record<string, number>} */ ({})
  let questions = 0
  let reads = 0
  const info = () => {
    const s = (performance.now() - startMs) / 1000
    const theirs = Math.floor(s * perS)
    const calls = Object.entries({ get: theirs, ...asked })
    return `redis_version:7.2.4
instantaneous_ops_per_sec:${perS}
total_commands_processed:${theirs + questions}
total_reads_processed:${theirs + reads}
uptime_in_seconds:1000
used_cpu_user:${(1000 + s) * cpu + (questions * us) / 1e6}
used_cpu_sys:0
${calls.map(([name, n]) => `cmdstat_${name}:calls=${n},usec=${n * (name === 'get' ? 1 : us)}`).join('\n')}
db0:keys=${keys},expires=0`
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
    return /** @type {any} */ ({ TYPE: 'string', STRLEN: 100, MEMORY: 160 })[name] ?? null
  }
  const pipeline = () => {
    const lines = /** @type {any[][]} */ ([])
    const exec = async () => {
      reads++
      return lines.map((line) => {
        questions++
        const words = /^(OBJECT|MEMORY|CLIENT|LATENCY)$/.test(line[0]) ? line.slice(0, 2) : line.slice(0, 1)
        const called = words.join('|').toLowerCase()
        asked[called] = (asked[called] ?? 0) + 1
        if (line[0] === 'HOTKEYS') return [new Error("ERR unknown command 'HOTKEYS'"), null]
        return [null, answer(line)]
      })
    }
    return { callBuffer: (/** @type {any[]} */ ...line) => lines.push(line), exec }
  }
  const counts = () => ({ questions, total: (performance.now() - startMs) * (perS / 1000) })
  return { master: /** @type {any} */ ({ address: 'made-up', client: { pipeline } }), asked, counts }
}

/** What a profile of so many ms sees. @param {number} durationMs @param {Parameters<typeof madeUp>[0]} terms */
const looked = async (durationMs, terms) => {
  const server = madeUp(terms)
  const said = /** @type {string[]} */ ([])
  const limits = { durationMs, budget: 0.01, stop: new AbortController().signal }
  const seen = await collected({ masters: [server.master], ...limits, say: (text) => said.push(text) })
  return { seen, said, ...server.counts() }
}

/** A sample of that many steps; fewer if it ends before. @param {number} most @param {ReturnType<typeof madeUp>} server */
const sampled = async (most, server) => {
  const sample = sampling(asking([server.master]))
  let steps = 0
  while (steps < most && (await sample.step())) steps++
  return { sample, steps }
}

describe('in real time', { concurrency: true }, () => {
  test('a profile sends less than its budget, with its first and last questions', async () => {
    const { seen, said, questions, total } = await looked(2500, { perS: 20_000 })
    assert.ok(questions < 0.01 * total && questions > 0.001 * total, `${questions} of ${total}`)
    assert.deepEqual([said, seen.remarks], [[], []])
    // What was asked at the beginning is in no second, or the first one would be some milliseconds with all of it.
    assert.ok(seen.series[0].s > 0 && seen.series[1].s - seen.series[0].s > 0.5)
  })

  test('questions that take too much of the CPU are asked more rarely', async () => {
    // 0.5 % of 0.2 of a core is 1 ms a second, which two questions take: the least of 5 a second is asked.
    const costs = [500, 2].map((us) => looked(3000, { perS: 20_000, cpu: 0.2, us }))
    const [dear, cheap] = await Promise.all(costs)
    assert.ok(dear.questions < 100 && cheap.questions > 2 * dear.questions, `${dear.questions}`)
  })

  test('a budget that cannot be kept is said, with what was used', async () => {
    const { seen, said } = await looked(1500, { perS: 100, cpu: 0.002, us: 100 })
    assert.match(said.join(), /100 commands\/s: looking sends 5\/s, more than --share/)
    assert.match(seen.remarks.join(), /profiling used .* % of the servers' own CPU, more than 0.5 %/)
  })
})

test('in virtual time, what is sent stays below 1 % of all commands at each rate that the budget can be kept at', () => {
  const [firstQuestions, lastQuestions] = [14, 20]
  /** @param {number} durationS @param {(s: number) => number} perSAt @param {number} masters */
  const shareOfRun = (durationS, perSAt, masters) => {
    let [asked, theirs] = [0, 0]
    const infos = () => {
      const fields = {
        total_commands_processed: String((theirs + asked) / masters),
        instantaneous_ops_per_sec: String(perSAt(0) / masters),
        ...{ uptime_in_seconds: '1000', used_cpu_user: String(1000 + theirs / 1000) },
      }
      return /** @type {any[]} */ (Array(masters).fill({ fields, commands: {} }))
    }
    const questions = /** @type {any} */ ({ count: () => asked, writes: () => 0, calls: {} })
    const limits = budgetOf({ begin: infos(), questions, budget: 0.01, durationS })
    asked += firstQuestions * masters
    limits.keepForEnd()
    for (let s = 0; s < durationS; s++) {
      asked += masters
      limits.note(infos(), s)
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
        assert.ok(even < 0.0095 && even > 0.004, `${masters} masters, ${durationS} s, ${perS}/s: ${even}`)
        if (perS < 1500) continue
        // A sixth less in the last fifth.
        const less = shareOfRun(durationS, (s) => perS * masters * (s < durationS * 0.8 ? 1 : 0.83), masters)
        assert.ok(less < 0.01, `${masters} masters, ${durationS} s, ${perS}/s and less: ${less}`)
      }
})

test('keys are asked for their time left soon after they were named, all keys once', async () => {
  // Each key lives for 2 s from when it is named first or anew: what waits would have less, or be gone.
  const server = madeUp({ keys: 3000, left: (n, nowMs) => 2000 - ((nowMs + n * 7) % 2000) })
  const { sample } = await sampled(300, server)
  const [{ data }] = sample.patterns()
  assert.deepEqual([data.count, data.facts.length, data.endings.size], [3000, 400, 400])
  assert.ok(sample.isComplete())
  // After enough is known of a pattern, less is asked.
  assert.ok(server.asked.type < 100 && server.asked.pttl >= 400)
  const sorted = data.facts.map(({ leftMs }) => leftMs).sort((a, b) => a - b)
  assert.ok(Math.abs(sorted[200] - 1000) < 300, `${sorted[200]}`)
})

test('how many keys have expired and are still there is seen by the names that full pages of SCAN have', async () => {
  // The last page has 300 keys of 400.
  const server = madeUp({ keys: 3500, isGone: (n) => n % 5 === 0 && n < 3200 })
  assert.equal((await sampled(0, server)).sample.staleShare(), null)
  const { sample } = await sampled(30, server)
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
  const server = madeUp({ keys: 400 * pages, left })
  await sampled(60, server)
  const again = asked.filter(({ names }) => names > 0)
  assert.ok(again.length > 100)
  assert.ok(again.every(({ key, names }) => key >= names - 64 && key < names))
})

test('of a few keys each is asked for once', async () => {
  const server = madeUp({ keys: 7 })
  assert.ok((await sampled(10, server)).steps < 10)
  assert.deepEqual([server.asked.scan, server.asked.type], [1, 7])
})

test('200,000 names, each a pattern of its own, take bounded memory', () => {
  const patterns = countedPatterns()
  const before = process.memoryUsage().heapUsed
  for (let n = 0; n < 200_000; n++) {
    const name = `${lettersOf(n)}:${lettersOf(n % 977)}/${lettersOf(n >> 3)}${'-x'.repeat(n % 5)}`
    patterns.dataOf(Buffer.from(name)).count++
  }
  const counts = patterns.all().map(({ data }) => data.count)
  assert.ok(counts.length <= 2001, `${counts.length}`)
  const sum = counts.reduce((all, n) => all + n, 0)
  assert.equal(sum, 200_000)
  // Without collecting what is garbage: a name alone takes 100 bytes.
  assert.ok(process.memoryUsage().heapUsed - before < 60e6)
})
