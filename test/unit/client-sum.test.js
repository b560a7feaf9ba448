import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sumOfClients } from '../../lib/measure/client-sum.js'

const client = {
  cpu_s: 1,
  cpu_pct: 50,
  rss_mb_max: 115,
  loop_delay_ms_p99: 2,
  busy_pct: 60,
  thread_cpu_pct: 40,
  stopped_ms: 0,
}
const busier = {
  cpu_s: 2,
  cpu_pct: 90,
  rss_mb_max: 159,
  loop_delay_ms_p99: 1,
  busy_pct: 95,
  thread_cpu_pct: 30,
  stopped_ms: 1200,
}
const sum = {
  cpu_s: 3,
  cpu_pct: 140,
  rss_mb_max: 274,
  loop_delay_ms_p99: 2,
  busy_pct: 95,
  thread_cpu_pct: 30,
  stopped_ms: 1200,
}

test('CPU and memory of several clients add up, delays are the longest, busy is the busiest with its own CPU', () => {
  assert.deepEqual(sumOfClients([client, busier]), sum)
  assert.deepEqual(sumOfClients([busier, client]), sum)
  assert.deepEqual(sumOfClients([client]), client)
})

test('what writers have besides is there when one of them has it', () => {
  const writers = [
    { ...client, encode_ms: 5, tape_bytes: 100, waiting_bytes_max: 7 },
    { ...busier, encode_ms: 3, tape_bytes: 200, waiting_bytes_max: 9 },
  ]
  assert.deepEqual(sumOfClients(writers), { ...sum, encode_ms: 5, tape_bytes: 300, waiting_bytes_max: 9 })
})

test('what no client knows is null, and one that knows nothing takes nothing away', () => {
  assert.deepEqual(sumOfClients([{}, client]), client)
  assert.deepEqual([...new Set(Object.values(sumOfClients([])))], [null])
})
