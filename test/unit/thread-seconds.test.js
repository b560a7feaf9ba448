// Seconds of several threads as those of one process.
import assert from 'node:assert/strict'
import test from 'node:test'
import { client } from '../../lib/measures/client.js'
import { foldOf } from '../../lib/measures/fold.js'
import { latency } from '../../lib/measures/latency.js'
import { series } from '../../lib/probes/latency.js'
import { besideOf, threadSeconds } from '../../lib/threads/seconds.js'

/** @param {import('node:test').TestContext} t */
const threadOf = (t) => {
  const [intended, service] = [series({ isFolded: true }), series({ isFolded: true })]
  t.after(intended.close)
  t.after(service.close)
  const seconds = threadSeconds()
  return Object.assign(seconds, {
    /** A second in which each of these was recorded. @param {number[]} times us */
    say(times) {
      for (const us of times) {
        intended.record(us)
        service.record(us / 2)
      }
      // As it comes from another thread.
      seconds.take(
        structuredClone({
          line: { latency_us: { intended: intended.endPart(), service: service.endPart() } },
        }),
      )
    },
  })
}

test('times of threads add up, second after second, as those in the text of their lines do', (t) => {
  const threads = [threadOf(t), threadOf(t)]
  const beside = besideOf(threads)
  const none = { 'latency_us.intended': null, 'latency_us.service': null }
  const source = beside.source({ second: () => none }, latency)
  const [whole, again] = [foldOf(latency.record), foldOf(latency.record)]
  t.after(whole.close)
  t.after(again.close)
  for (let second = 1; second <= 5; second++) {
    threads[0].say([100 * second, 200, 300])
    if (second !== 3) threads[1].say([1000, 50_000 * second])
    beside.add()
    const found = source.second()
    const line = {
      latency_us: { intended: found['latency_us.intended'], service: found['latency_us.service'] },
    }
    whole.add(line)
    again.add(JSON.parse(JSON.stringify(line)))
  }
  for (const path of Object.keys(latency.record)) {
    const [all, text] = [whole.sum[path], again.sum[path]]
    assert.equal(all.buckets.count(), 15 + 8)
    assert.equal(all.samples, 15 + 8)
    assert.deepEqual(all.buckets.percentiles(), text.buckets.percentiles())
    assert.equal(all.buckets.encoded(), text.buckets.encoded())
  }
  assert.equal(whole.sum['latency_us.intended'].max, 250_000)
  beside.add()
  assert.equal(source.second()['latency_us.intended'], null)
})

test('a thread that says two seconds at once adds up over time, and its level is the latest', () => {
  const threads = [threadSeconds(), threadSeconds()]
  const say = (/** @type {number} */ number, /** @type {number} */ busyS, /** @type {number} */ waiting) =>
    threads[number].take({
      line: {
        client: {
          threads: { [number + 1]: { over_s: 1, busy_s: busyS, cpu_s: busyS } },
          waiting_bytes: waiting,
        },
      },
    })
  say(0, 0.75, 100)
  say(0, 0.5, 10)
  say(1, 0.25, 1)
  const beside = besideOf(threads)
  beside.add()
  const found = beside.source({ second: () => ({}) }, client).second()
  assert.deepEqual(found['client.threads'], {
    1: { over_s: 2, busy_s: 1.25, cpu_s: 1.25 },
    2: { over_s: 1, busy_s: 0.25, cpu_s: 0.25 },
  })
  assert.equal(found['client.waiting_bytes'], 11)
})
