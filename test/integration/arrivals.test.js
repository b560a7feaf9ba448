// When commands of Poisson arrivals come, as the server saw them: one by one, or in batches, as docs/reference/traffic.md says.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startHere } from '../helpers/here.js'
import { until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

const binMs = 50

const binsApart = 10

/**
 * The variance of counts a bin as a part of their mean: 1 of a Poisson process, n where n come at once. Of each half second; the
 * middle one, since what waits for a busy machine comes together.
 * @param {number[]} times ms
 */
const dispersionOf = (times) => {
  const counts = /** @type {number[]} */ ([])
  for (const ms of times) {
    const bin = Math.floor((ms - times[0]) / binMs)
    counts[bin] = (counts[bin] ?? 0) + 1
  }
  const found = Array.from({ length: Math.floor((counts.length - 1) / binsApart) }, (_, i) => {
    const bins = Array.from({ length: binsApart }, (_, bin) => counts[i * binsApart + bin] ?? 0)
    const mean = bins.reduce((sum, n) => sum + n, 0) / bins.length
    return bins.reduce((sum, n) => sum + (n - mean) ** 2, 0) / (bins.length - 1) / mean
  })
  return found.sort((a, b) => a - b)[Math.floor(found.length / 2)]
}

describe('poisson arrivals by MONITOR', { concurrency: 3 }, () => {
  // Of ten bins the median is 0.93 of what it is of many.
  for (const [line, command, least, most] of /** @type {[string, string, number, number][]} */ ([
    ['--rate 200', 'setex', 0.6, 3],
    ['--rate 2000', 'setex', 6, 17],
    ['--strategy lookup-get --rate 400', 'get', 0.6, 3],
  ]))
    test(`${line}: counts of ${binMs} ms vary by ${least} to ${most} times their mean`, async (t) => {
      const server = await startServer(t)
      const monitor = await server.redis.monitor()
      t.after(() => monitor.disconnect())
      const times = /** @type {number[]} */ ([])
      monitor.on('monitor', (seconds, [name]) => {
        if (name.toLowerCase() === command) times.push(Number(seconds) * 1000)
      })
      const options = `${line} --arrivals poisson --duration 8s --warm-up 0s --ttl 600`
      const { document } = await startHere(t, 'write', options, server).ended
      await until('all that was stored', () => times.length >= document.items.acked)
      const dispersion = dispersionOf(times)
      t.diagnostic(`${dispersion.toFixed(2)} of ${times.length}`)
      assert.ok(dispersion > least, `${dispersion}`)
      // Where they are sent long after they are due, it is the machine that brings them together.
      const lateUs = document.ticks.lateness_us.p99
      assert.ok(dispersion < most || lateUs > 200 * binMs, `${dispersion}, sent ${lateUs} us late`)
    })
})
