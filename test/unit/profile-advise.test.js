// Advice beside a server that is made up: it is silent where nothing surely costs less.
import assert from 'node:assert/strict'
import test from 'node:test'
import { advised } from '../../lib/answers/profile/advise.js'
import { adviceTable } from '../../lib/answers/profile/report.js'

/**
 * A server on which commands take memory and CPU by their names, which differ from play to play.
 * @param {Record<string, { bytes: number, us: number }>} costs
 * @param {number} noise
 */
const madeUp = (costs, noise) => {
  let [memory, cpuUs, plays] = [0, 0, 0]
  // Up, down, and neither: what is the same on average.
  const factor = () => 1 + noise * [1, -1, 0.5, -0.5, 0.2, -0.2, 0.7][plays % 7]
  return /** @type {any} */ ({
    flushall: async () => {
      plays++
      memory = 0
    },
    config: async () => 'OK',
    info: async () => `used_memory:${memory}\r\nused_cpu_user:${cpuUs / 1e6}\r\nused_cpu_sys:0\r\n`,
    pipeline: () => ({
      call: (/** @type {string} */ name) => {
        const { bytes, us } = costs[name] ?? { bytes: 0, us: 1 }
        memory += bytes * factor()
        cpuUs += us * factor()
      },
      exec: async () => [],
    }),
  })
}

const about = (/** @type {number} */ value) => ({ value, low: value, high: value })
const patterns = /** @type {any} */ ([
  {
    ...{ pattern: 'p:{n}', name_bytes: 10, type: 'string', expiring: 0, left_s: { most: null } },
    ...{ encodings: {}, keys: about(5000), memory_of_key: null, memory_bytes: about(1e6), size: about(12) },
  },
])

/** @param {Record<string, { bytes: number, us: number }>} costs @param {number} noise */
const adviceOn = (costs, noise) =>
  advised({ patterns }, { client: madeUp(costs, noise), stop: new AbortController().signal })

const same = { SET: { bytes: 100, us: 2 }, HSET: { bytes: 100, us: 2 } }

test('a form whose interval includes no gain is not shown', async () => {
  const found = await adviceOn(same, 0.2)
  assert.deepEqual(found.advice, [])
  assert.deepEqual(found.silent, [{ pattern: 'p:{n}', title: 'in hashes of 100 each' }])
  const { rows, note } = adviceTable(found).onPage()
  assert.deepEqual(rows, [])
  assert.match(String(note), /^Nothing that was played surely costs less\. Without a sure gain: 1 of 1/)
  // Nor where it seems to gain, and may not.
  const little = await adviceOn({ ...same, HSET: { bytes: 97, us: 1.9 } }, 0.4)
  assert.deepEqual(little.advice, [])
})

test('a form that surely gains in one is shown, with what it loses in the other', async () => {
  const { advice, silent } = await adviceOn({ ...same, HSET: { bytes: 40, us: 4 } }, 0.05)
  assert.deepEqual(silent, [])
  const [{ memory_bytes: memory, cpu_us: cpu }] = advice
  assert.ok(memory.is_cheaper && memory.change.high < -0.4)
  assert.ok(!cpu.is_cheaper && cpu.change.low > 0)
  const { rows } = adviceTable({ advice, silent, plays: 1 }).onPage()
  assert.match(rows[0][3].text, /in hashes/)
  assert.match(String(rows[0][3].detail), /^if readers/)
})
