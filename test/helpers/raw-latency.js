// Loaded into a program before its own code: when it ends, the file that TEST_SAMPLES_FILE names has every latency that
// the program recorded, as [fromDueUs, serviceUs, items], besides what the program makes of it.
import { writeFileSync } from 'node:fs'
import { register } from 'node:module'
import * as latency from '../../lib/probes/latency.js'

export * from '../../lib/probes/latency.js'

register('./redirect.js', {
  parentURL: import.meta.url,
  data: { from: new URL('../../lib/probes/latency.js', import.meta.url).href, to: import.meta.url },
})

export const latencyOf = () => {
  const own = latency.latencyOf()
  const samples = /** @type {number[][]} */ ([])
  process.once('exit', () => writeFileSync(String(process.env.TEST_SAMPLES_FILE), JSON.stringify(samples)))
  return {
    ...own,
    /** @type {typeof own.record} */
    record(dueMs, sentMs, nowMs, items) {
      samples.push([(nowMs - dueMs) * 1000, (nowMs - sentMs) * 1000, items])
      own.record(dueMs, sentMs, nowMs, items)
    },
  }
}
