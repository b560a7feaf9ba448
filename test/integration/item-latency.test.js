// The latency of items beside what a proxy in another language measures of the same ones.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startHere } from '../helpers/here.js'
import { assertDone, sumOf } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

/** @import { Scope, TestServer } from '../helpers/servers.js' */

const witnessProgram = fileURLToPath(new URL('../helpers/item-times.py', import.meta.url))
const heldMs = 500

/** @param {Scope} t @param {TestServer} server */
const startWitness = async (t, { host, port }) => {
  const child = spawn('python3', [witnessProgram, host, String(port), String(heldMs)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })
  const [first] = await once(lines, 'line')
  return {
    port: Number(first),
    /** Microseconds of every item. @returns {Promise<number[]>} */
    async end() {
      const last = once(lines, 'line')
      child.stdin.end()
      return JSON.parse((await last)[0]).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b)
    },
  }
}

const isMissing = spawnSync('python3', ['--version']).status !== 0
const skip = isMissing && !process.env.CI && 'python3 is not on PATH'

describe('an item is stored when its last command is answered', { skip, concurrency: 2 }, () => {
  for (const driver of ['socket', 'ioredis'])
    test(driver, async (t) => {
      const server = await startServer(t)
      const witness = await startWitness(t, server)
      let [pauseMs, ranMs] = [0, performance.now()]
      const timer = setInterval(() => {
        pauseMs = Math.max(pauseMs, performance.now() - ranMs)
        ranMs = performance.now()
      }, 10)
      t.after(() => clearInterval(timer))
      const line = `-q 400 -c 2 -p 2000 --intervals 2 --driver ${driver}`
      const ended = await startHere(t, 'write', line, { ...server, port: witness.port }).ended
      assertDone(ended)
      const { items, latency_us: latency } = ended.document
      const took = await witness.end()
      assert.equal(took.length, items.acked)
      assert.equal(items.acked, 800)
      for (const from of ['intended', 'service'])
        assert.equal(
          sumOf(ended.seconds, `latency_us.${from}.count`),
          took.length,
          `${from}: as many as items`,
        )
      for (const [name, share] of /** @type {const} */ ([
        ['p50', 0.5],
        ['max', 1],
      ])) {
        const known = took[Math.ceil(share * took.length) - 1]
        // The proxy is a step nearer to the server, and a busy machine makes that a long one; it may stop this process alone.
        const most = 3 * known + (name === 'max' ? pauseMs * 1000 : 0)
        const us = latency.service[name]
        assert.ok(
          us > 0.97 * known && us < most,
          `${name}: ${us} us, and ${known} by the proxy, at most ${most}`,
        )
      }
      const { SETEX, ZADD } = latency.commands
      assert.equal(SETEX.count, 800)
      assert.ok(ZADD.p50 >= heldMs * 1000, JSON.stringify(latency))
      assert.ok(latency.service.p50 >= ZADD.p50, JSON.stringify(latency))
      // The library resolves the commands of a pipeline together.
      if (driver === 'socket') assert.ok(SETEX.p50 < ZADD.p50, JSON.stringify(latency))
    })
})
