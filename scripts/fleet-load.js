// What a fleet costs its control and its leader: simulated boxes on a real control server, whose load is made up. The
// boxes' protocol, the leader's thread and the result are those of a run.
// node scripts/fleet-load.js redis://127.0.0.1:6379 [--boxes 200] [--seconds 60] [--after 3600] [--late]
// --after: makes the result as after so many seconds; the last ones are copies.
// --late: without the leader's thread and its checkpoints: the stream is folded once, when the run has ended.
// Prints JSON: CPU of the control per box, bytes per box and second, the time and memory of the merged result, also
// after the leader was killed.
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { boxOf } from '../lib/fleet/box.js'
import { controlOf, openControl, placeOf } from '../lib/fleet/control.js'
import { storeInMemory } from '../lib/fleet/interval-store.js'
import { leadThread } from '../lib/fleet/thread.js'
import { planOf } from '../lib/loads/plan.js'
import { readSettings } from '../lib/options/read-settings.js'
import { linuxThreadCpuS } from '../lib/probes/client-health.js'
import { series } from '../lib/probes/latency.js'
import { noCounts } from '../lib/probes/ledger.js'
import { makeResult } from '../lib/run/fleet-result.js'
import { disconnect } from '../lib/servers/disconnect.js'
import { parseInfo } from '../lib/wire/info.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    boxes: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '60' },
    after: { type: 'string', default: '0' },
    late: { type: 'boolean', default: false },
  },
})
const [writers, seconds] = [Number(values.boxes), Number(values.seconds)]
const { hostname, port } = new URL(positionals[0])
const place = placeOf({ host: hostname, port: Number(port) })
const run = `load-${Date.now()}`
const client = await openControl(place)
const control = controlOf(client, run)
const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms))
const cpuS = async () => {
  const { fields } = parseInfo(await client.info('cpu'))
  return Number(fields.used_cpu_user) + Number(fields.used_cpu_sys)
}

const line = `--host h -q ${writers * 1000} -t ${writers} -p 1000 -c 10 --duration ${seconds}s --warm-up 0`
const settings = /** @type {any} */ (readSettings({ program: 'producer', argv: line.split(' '), env: {} }))
const agents = Array.from({ length: writers }, (_, i) => i + 1)
const plan = planOf(settings, { agents, masters: 1, cluster: false, variant: null })
const counts = (/** @type {number} */ n) => ({ ...noCounts(), offered: n, acked: n })

/** Latencies as a busy box has them: 1,000 recordings a second, spread over two decades. @param {ReturnType<typeof series>} into */
const record = (into) => {
  for (let i = 0; i < 100; i++) into.record(200 * Math.exp(2 * Math.random() + Math.random() ** 8 * 3), 10)
  return into.endSecond()
}
// All boxes share a few histograms, since making them is not measured.
const pool = Array.from({ length: 64 }, () => {
  const own = series()
  const ended = record(own)
  own.close()
  return ended
})
const any = () => pool[Math.floor(Math.random() * pool.length)]

/** @param {number} agent */
const boxFor = (agent) => {
  const id = randomUUID()
  let seq = 0
  const box = boxOf({
    control,
    id,
    joining: { data: randomUUID(), digest: 'load', plan: '{"durationMs":null}', writers },
    description: () =>
      JSON.stringify({
        ...{
          id,
          kind: 'producer',
          agents: [agent],
          host: `box-${agent}`,
          pid: agent,
          version: '0',
          cores: 2,
        },
        ...{ offset_ms: 0, uncertainty_ms: 0.1, ready: true },
      }),
    mayLead: true,
    store: storeInMemory(),
  })
  const sums = () => ({
    ...{
      whole: counts(seq * 1000),
      measured: counts(seq * 1000),
      agents: [{ agent, ...counts(seq * 1000) }],
    },
    ...{ failed_by: {}, errors_by: {}, repeated_by: {} },
    commands: { sent: seq * 1001, repeated: 0, acked: seq * 1000 },
    ticks: { count: seq * 10, late: 0, next: seq * 10 },
  })
  return {
    id,
    box,
    bytes: 0,
    second(/** @type {number} */ atMs) {
      seq++
      const text = JSON.stringify({
        ...{ v: 1, box: id, seq, at_ms: atMs, epoch_ms: Date.now(), phase: 'measuring' },
        ...{ items: counts(1000), achieved: 1000, latency_us: { intended: any(), service: any() } },
        ...{ bystander_us: null, lateness_us: any(), writers: 1, nodes: [], sums: sums() },
        client: {
          cpu_pct: 9.1,
          thread_cpu_pct: 6.2,
          busy_pct: 8.4,
          rss_mb: 80,
          loop_delay_ms_p99: 1,
          waiting_bytes: 0,
        },
      })
      this.bytes += text.length
      box.append(text)
      return box.beat()
    },
    end: () =>
      box.end(
        JSON.stringify({
          sums: sums(),
          ...{
            end_ms: seconds * 1000,
            interrupted: false,
            behind_ms: 0.4,
            warnings: [],
          },
          ...{ latency_us: { intended: null, service: null }, events: [], clocks: [], written: null },
        }),
      ),
  }
}

const boxes = agents.map(boxFor)
for (const { box } of boxes) await box.join()
await control.set(
  'about',
  JSON.stringify({ plan, thresholds: [], slotTable: 0, versions: { millrace: '0', node: '0', servers: [] } }),
)
const begun = await cpuS()
const threadBegun = linuxThreadCpuS()
const wholeBegun = process.cpuUsage()
const beganMs = Date.now()
await control.start(beganMs)
await boxes[0].box.beat()
const thread = values.late
  ? null
  : leadThread({ place, run, box: boxes[0].id, data: boxes[0].box.data(), boxes: writers }, (error) => {
      throw error
    })
let streamMost = 0
for (let second = 1; second <= seconds; second++) {
  await sleep(Math.max(0, beganMs + second * 1000 - Date.now()))
  // Spread over the second as many machines are.
  const spread = boxes.map(async (one, i) => {
    await sleep((i * 900) / writers)
    await one.second(second * 1000 - 30)
  })
  await Promise.all(spread)
  const { stream } = await control.bytes()
  streamMost = Math.max(streamMost, stream)
}
const usedS = (await cpuS()) - begun
const rssMb = (process.resourceUsage().maxRSS * 1024) / 1e6
const threadS = linuxThreadCpuS() - threadBegun
const { user, system } = process.cpuUsage(wholeBegun)
const overS = (Date.now() - beganMs) / 1000
const sample = (await control.seconds(-1)).at(-1)
for (let second = seconds + 1; second <= Number(values.after); second++)
  await client.rpush(
    control.keys.seconds,
    String(sample).replace(/"at_ms":\d+/, `"at_ms":${second * 1000 - 30}`),
  )
for (const one of boxes) one.end()
await Promise.all(boxes.map(({ box }) => box.beat()))
// The leader is killed: its thread is not ended in order, and its lease has to run out.
const killedMs = performance.now()
await Promise.race([thread?.end(), sleep(1)])
const heir = (boxes[1] ?? boxes[0]).id
while (!(await control.lead(heir))) await sleep(100)
const ledMs = performance.now()
const leading = setInterval(() => (boxes[1] ?? boxes[0]).box.beat().catch(() => {}), 300)
const made = await makeResult({ control, address: place.address, run, box: heir })
clearInterval(leading)
const madeMs = performance.now()
const store = await control.bytes()
const sent = boxes.reduce((sum, { bytes }) => sum + bytes, 0)
console.log(
  JSON.stringify(
    {
      boxes: writers,
      seconds,
      folded: values.late ? 'at the end' : 'each second',
      control_cpu_pct_of_a_core: (usedS / overS) * 100,
      control_cpu_us_per_box_and_second: (usedS / overS / writers) * 1e6,
      box_cpu_pct_of_a_core: (threadS / overS / writers) * 100,
      rss_mb_of_the_run: rssMb,
      leader_cpu_pct_of_a_core: ((user + system) / 1e6 / overS - threadS / overS) * 100,
      sent_bytes_per_box_and_second: sent / writers / seconds,
      stream_bytes_most: streamMost,
      stream_bytes_most_per_box: streamMost / writers,
      kept_bytes: store,
      takeover_s: (ledMs - killedMs) / 1000,
      result_s: (madeMs - ledMs) / 1000,
      after_the_leader_was_killed_s: (madeMs - killedMs) / 1000,
      rss_mb_max: (process.resourceUsage().maxRSS * 1024) / 1e6,
      items: made && 'items' in made.document ? made.document.items.acked : undefined,
      expected: writers * seconds * 1000,
    },
    null,
    2,
  ),
)
disconnect(client)
