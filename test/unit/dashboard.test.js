import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect } from 'node:net'
import { hostname } from 'node:os'
import { test } from 'node:test'
import { bucketOf, countIn, exceededBy, lowerEndOf, mergedBuckets } from '../../lib/base/buckets.js'
import { dashboardFiles, dashboardService, isOwnHost } from '../../lib/dashboard/service.js'
import { historyOf, mergedPoints, pointOf, stateOf } from '../../lib/dashboard/state.js'
import { bucketsIn, mergedPercentiles, series } from '../../lib/probes/latency.js'
import { until } from '../helpers/programs.js'

/** @import { TestContext } from 'node:test' */
/** @import { Limits } from '../../lib/dashboard/service.js' */
/** @import { RequestOptions } from 'node:http' */

/** A second's histogram of these. @param {number[]} us */
const recorded = (us) => {
  const one = series()
  for (const value of us) one.record(value)
  const found = one.endSecond()
  one.close()
  return found ?? assert.fail()
}

/** @param {number} second @param {Record<string, any>} [more] @returns {any} */
const lineOf = (second, more = {}) => ({
  ...{ at_ms: second * 1000, phase: 'measuring', achieved: 490, client: { cpu_pct: 10, busy_pct: 12 } },
  items: { offered: 500, acked: 490, failed: 0, uncertain: 0, dropped: 10, unsettled: 0 },
  nodes: [{ ...master, over_ms: 1000, engine_cpu_pct: second % 2 ? 10 : 30, commands: { get: {} } }],
  ...more,
})
const master = { address: 'a:1', shard: 1, role: 'master' }
const asSent = (/** @type {any} */ document) => JSON.parse(JSON.stringify(document))

test('a bucket holds what is between its ends, and is 4.5 % wide', () => {
  for (const us of [1, 2, 3, 17, 1000, 1024, 65_537, 1e6, 3e9]) {
    const at = bucketOf(us)
    assert.ok(lowerEndOf(at) <= us * (1 + 1e-9) && us < lowerEndOf(at + 1), String(us))
    assert.ok(lowerEndOf(at + 1) / lowerEndOf(at) < 1.045)
  }
})

test('percentiles of merged buckets are those of all samples, at most 4.5 % higher', () => {
  let seed = 7
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const seconds = Array.from({ length: 30 }, () =>
    recorded(Array.from({ length: 400 }, () => Math.round(80 * Math.exp(6 * random() ** 3)))),
  )
  const buckets = mergedBuckets(seconds.map(({ hdr }) => bucketsIn(hdr)))
  const truth = mergedPercentiles(seconds.map(({ hdr }) => hdr))
  assert.ok(truth)
  assert.equal(countIn(buckets), 30 * 400)
  const { p50, p90, p99, p999 } = truth
  for (const [beyond, us] of Object.entries({ 2: p50, 10: p90, 100: p99, 1000: p999 })) {
    const found = exceededBy(buckets, Number(beyond), truth.max)
    assert.ok(found >= us * 0.998 && found <= us * 1.046, `1 in ${beyond}: ${found} beside ${us}`)
  }
})

test('merged seconds: counts are summed, rates weighted by time, percentiles never averaged', () => {
  const fast = recorded(Array.from({ length: 99 }, () => 100))
  const slow = recorded([90_000])
  const a = pointOf(lineOf(1, { latency_us: { intended: fast, service: fast } }), 0)
  const b = pointOf(lineOf(4, { achieved: 90, latency_us: { intended: slow, service: slow } }), 1000)
  const merged = mergedPoints(a, b)
  assert.deepEqual([merged.over_ms, merged.items?.acked, merged.achieved], [4000, 980, (490 + 3 * 90) / 4])
  const { p50 = 0, max, samples } = merged.latency_us?.intended ?? {}
  assert.ok(p50 < 105)
  assert.deepEqual([max, samples, merged.nodes[0].engine_cpu_pct], [90_000, 100, 20])
})

test('points that are merged: what one lacks the other has, and what other boxes did comes later', () => {
  const gap = { ...master, gap: 'silent' }
  const seen = pointOf(lineOf(1), 0)
  const silent = pointOf(lineOf(2, { nodes: [gap], achieved: null }), 1000)
  for (const merged of [mergedPoints(seen, silent), mergedPoints(silent, seen)]) {
    assert.equal(merged.achieved, 490)
    assert.deepEqual(asSent(merged.nodes), asSent(seen.nodes))
  }
  assert.deepEqual(asSent(mergedPoints(silent, silent).nodes), [gap])
  const history = historyOf()
  history.add(seen)
  history.add(pointOf(lineOf(2), 1000))
  const { at, count, point } = history.addLate(pointOf(lineOf(2, { at_ms: 1990, achieved: 10 }), 990))
  assert.deepEqual([at, count, point.at_ms, point.over_ms, point.achieved], [1, 1, 2000, 1000, 500])
  assert.deepEqual([point.items?.acked, point.nodes[0].engine_cpu_pct], [980, 30])
})

test('three hours have as many points as one, the last two minutes as they came, and nothing is lost', () => {
  const history = historyOf()
  for (let second = 1; second <= 10_800; second++) {
    history.add(pointOf(lineOf(second), (second - 1) * 1000))
    assert.ok(history.points.length <= 600)
  }
  const { points } = history
  assert.equal(points.length, 600)
  const acked = points.reduce((sum, { items }) => sum + (items?.acked ?? 0), 0)
  assert.equal(acked, 10_800 * 490)
  assert.ok(points.slice(-120).every(({ over_ms: ms }) => ms === 1000))
  const older = points.slice(0, -120).map(({ over_ms: ms }) => ms)
  assert.ok(Math.max(...older) <= 4 * Math.min(...older), `${Math.min(...older)} to ${Math.max(...older)}`)
  // Each begins where the one before ends.
  points.reduce((end, { at_ms: at, over_ms: over }) => {
    assert.equal(at - over, end)
    return at
  }, 0)
})

test('what the page gets is complete in the middle, follows second by second, and stops growing', () => {
  const state = stateOf({ limit: 60, recent: 20 })
  const latencies = recorded(Array.from({ length: 200 }, (_, at) => 100 + at))
  const line = (/** @type {number} */ second) =>
    lineOf(second, { latency_us: { intended: latencies, service: latencies }, bystander_us: latencies })
  state.about({ ...about, nominal: 500 })
  let page = /** @type {any} */ (null)
  let sizeAt300 = 0
  for (let second = 1; second <= 400; second++) {
    const { point, merged } = asSent(state.second(line(second)))
    state.event({ at_ms: second, kind: 'slots', text: `event ${second}` })
    if (second === 50) page = asSent(state.all())
    else if (page) {
      page.points.push(point)
      if (merged) page.points.splice(merged.at, merged.count, merged.point)
    }
    if (second === 300) sizeAt300 = JSON.stringify(state.all()).length
  }
  const now = asSent(state.all())
  assert.deepEqual(page.points, now.points)
  assert.ok(JSON.stringify(now).length < sizeAt300 * 1.05)
  assert.deepEqual([now.sums.acked, now.whole.rate, now.whole.cpuUs], [400 * 490, 490, null])
  assert.deepEqual([now.events.length, now.earlierEvents], [200, 200])
  assert.ok(!JSON.stringify(now).includes('hdr'), 'histograms stay in their files')
  assert.deepEqual(now.boxes, [{ name: 'box-1', cpu_pct: 10, busy_pct: 12 }])
})

/** About the bytes that data takes on a heap. @param {unknown} data @returns {number} */
const bytesOf = (data) => {
  if (ArrayBuffer.isView(data)) return 100 + data.byteLength
  if (Array.isArray(data)) return data.reduce((sum, one) => sum + 8 + bytesOf(one), 32)
  if (typeof data !== 'object' || data === null) return 8
  return Object.values(data).reduce((sum, one) => sum + 8 + bytesOf(one), 32)
}

test('the memory of forty minutes is that of twenty, and four megabytes at most', () => {
  const wide = recorded(Array.from({ length: 600 }, (_, at) => 50 * 1.01 ** at))
  const times = { latency_us: { intended: wide, service: wide }, bystander_us: wide, lateness_us: wide }
  const second = pointOf(lineOf(1, times), 0)
  const history = historyOf()
  const seen = [20, 40].map((minutes) => {
    while ((history.points.at(-1)?.at_ms ?? 0) < minutes * 60_000) {
      const fromMs = history.points.at(-1)?.at_ms ?? 0
      history.add({ ...second, at_ms: fromMs + 1000, over_ms: 1000 })
    }
    return bytesOf(history.points)
  })
  const [twenty, forty] = seen
  assert.ok(forty < 4e6 && forty < twenty * 1.05, `${twenty} bytes, then ${forty}`)
})

const about = {
  ...{ run: 'r', kind: /** @type {const} */ ('producer'), title: 'Writes list · r', question: 'list' },
  ...{ plan: {}, nominal: null, totalMs: null, warmUpS: 0, box: 'box-1' },
}

test('a name that another page gave this machine is no host of ours', () => {
  for (const host of ['127.0.0.1:8080', 'localhost:9', '[::1]:80', '10.0.0.7', `${hostname()}:1`])
    assert.ok(isOwnHost(host, '127.0.0.1'), host)
  const others = ['evil.example', 'localhost.evil.example:80', '127.0.0.1.evil.example', '[evil]:1']
  for (const host of [undefined, '', ...others]) assert.ok(!isOwnHost(host, '127.0.0.1'), String(host))
  assert.ok(isOwnHost('box.internal:80', 'box.internal'))
})

test('only the modules of the page are served, and none that a browser cannot load', () => {
  const files = dashboardFiles()
  const paths = [...files.keys()]
  assert.ok(paths.includes('') && paths.includes('charts/heat-map.js') && paths.includes('lib/base/units.js'))
  for (const path of paths) assert.match(path, /^(?:(?:charts|lib)\/[\w/-]+\.js|style\.css|echarts\.js)?$/)
  assert.ok(!paths.some((path) => /\/(?:measure|cli|run)\/|hdr/.test(path)), paths.join(' '))
  for (const [path, { type, text }] of files)
    if (type.startsWith('text/javascript') && path !== 'echarts.js')
      assert.doesNotMatch(text, /^(?:import|export|}) (?:[^'"]*?from )?'[^.]/m, path)
})

/** @param {TestContext} t @param {Partial<Limits>} [limits] @param {() => object} [whole] */
const served = async (t, limits, whole = () => ({ kind: 'whole' })) => {
  const service = await dashboardService({ listener: { host: '127.0.0.1', port: 0 }, whole, limits })
  t.after(service.close)
  return service
}

/** @param {number} port @param {string} path @param {RequestOptions} [more] */
const asked = (port, path, more = {}) =>
  new Promise(
    (/** @type {(answer: { status?: number, headers: any, text: string }) => void} */ resolve, reject) => {
      request({ host: '127.0.0.1', port, path, ...more }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part) => (text += part))
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }))
      })
        .once('error', reject)
        .end()
    },
  )

test('it can be read only, by the token, under its own name', async (t) => {
  const { port, token } = await served(t)
  assert.match(token, /^[\w-]{22}$/)
  const page = await asked(port, `/${token}/`)
  assert.equal(page.status, 200)
  assert.match(page.text, /<h1 id="title">/)
  assert.match(page.headers['content-security-policy'], /default-src 'none'/)
  assert.equal(page.headers['referrer-policy'], 'no-referrer')
  const wrong = ['', 'events', `${token.slice(1)}x/`, token, `${token.toUpperCase()}/events`, '/']
  const files = ['package.json', '../package.json', 'lib/cli/run.js', '%2e%2e/settings.js', 'events/x']
  for (const path of [...wrong, ...files.map((file) => `${token}/${file}`)])
    assert.equal((await asked(port, `/${path}`)).status, 404, path)
  const elsewhere = await asked(port, `/${token}/`, { headers: { host: 'evil.example' } })
  assert.equal(elsewhere.status, 403)
  assert.doesNotMatch(elsewhere.text, /<h1/)
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    assert.equal((await asked(port, `/${token}/`, { method })).status, 405, method)
})

/** A page that follows the run. @param {TestContext} t @param {Awaited<ReturnType<typeof served>>} service */
const follow = (t, { port, token }, onText = (/** @type {string} */ _text) => {}) => {
  const reading = request({ host: '127.0.0.1', port, path: `/${token}/events` }, (response) =>
    response.setEncoding('utf8').on('data', onText),
  )
  reading.on('error', () => {}).end()
  t.after(() => reading.destroy())
}

test('a reader that stops reading is cut off; the others miss nothing', async (t) => {
  const service = await served(t, { stalledMs: 300 })
  const stalled = connect(service.port, '127.0.0.1').on('error', () => {})
  t.after(() => stalled.destroy())
  stalled.write(`GET /${service.token}/events HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  stalled.pause()
  let frames = 0
  follow(t, service, (text) => (frames += text.split('"kind":"second"').length - 1))
  await until('both are there', () => service.viewers() === 2)
  const filler = 'x'.repeat(200_000)
  let sent = 0
  await until('it is cut off', () => {
    service.send({ kind: 'second', filler })
    sent++
    return service.cut() === 1
  })
  assert.equal(service.viewers(), 1)
  await until('all frames', () => frames === sent)
})

test('more pages than there may be are refused', async (t) => {
  const service = await served(t, { viewers: 1 })
  follow(t, service)
  await until('it is there', () => service.viewers() === 1)
  assert.equal((await asked(service.port, `/${service.token}/events`)).status, 503)
})

test('a thousand connections that ask nothing: a page that is open misses nothing, and then others open again', async (t) => {
  const service = await served(t, { askMs: 400 })
  let frames = 0
  follow(t, service, (text) => (frames += text.split('"kind":"second"').length - 1))
  await until('it is there', () => service.viewers() === 1)
  const sockets = Array.from({ length: 1000 }, () =>
    connect(service.port, '127.0.0.1')
      .on('error', () => {})
      .resume(),
  )
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  let sent = 0
  let closed = 0
  for (const socket of sockets) socket.once('close', () => closed++)
  await until('all were closed', () => {
    service.send({ kind: 'second' })
    sent++
    return closed === sockets.length
  })
  await until('all frames', () => frames === sent)
  assert.equal((await asked(service.port, `/${service.token}/`)).status, 200)
  assert.equal(service.viewers(), 1)
})

test('a second that a box sends later is added to its moment, and to the sums', () => {
  const state = stateOf()
  state.about({ ...about, nominal: 980 })
  const latency = (/** @type {number[]} */ ...us) => ({ intended: recorded(us), service: null })
  for (let second = 1; second <= 10; second++)
    state.second(lineOf(second, { latency_us: latency(100, 200, 300) }))
  const late = lineOf(4, { latency_us: latency(9000), nodes: [], boxes: [{ name: 'a' }] })
  const { point: added, merged } = /** @type {any} */ (state.second(late))
  const { at, count, point } = merged
  assert.deepEqual([added, at, count], [null, 3, 1])
  assert.deepEqual([point.at_ms, point.over_ms, point.items.acked, point.achieved], [4000, 1000, 980, 980])
  const { max, samples } = point.latency_us.intended
  assert.deepEqual([max, samples, point.nodes.length], [9000, 4, 1])
  const now = /** @type {any} */ (state.all())
  assert.deepEqual([now.points.length, now.latest.at_ms], [10, 10_000])
  assert.deepEqual([now.sums.acked, now.whole.rate], [11 * 490, 11 * 49])
  assert.deepEqual(now.boxes, [{ name: 'a' }])
})

test('the tables stay as they are when the run drains for a moment', () => {
  const state = stateOf()
  state.about(about)
  const drained = { at_ms: 2050, phase: 'draining', achieved: 0, client: { cpu_pct: 27, busy_pct: 26 } }
  const shown = () => {
    const { latest, boxes, points } = asSent(state.all())
    return [latest.at_ms, latest.nodes[0].engine_cpu_pct, boxes[0].cpu_pct, points.length]
  }
  state.second(lineOf(1))
  state.second(lineOf(2))
  state.second(lineOf(2, { ...drained, nodes: [{ ...master, over_ms: 50, engine_cpu_pct: 90 }] }))
  assert.deepEqual(shown(), [2000, 30, 10, 3])
  state.second(lineOf(3))
  assert.deepEqual(shown(), [3000, 10, 10, 4])
  // A run that is over before its first second is shown as it is.
  const short = stateOf()
  short.about(about)
  short.second(lineOf(0, { ...drained, at_ms: 50 }))
  assert.equal(short.all().boxes[0].cpu_pct, 27)
})

test('what an item costs the servers so far: CPU of all nodes by what was done, in measured seconds', () => {
  const state = stateOf()
  state.about(about)
  const node = (/** @type {number | null} */ cpu_s) => ({ ...lineOf(1).nodes?.[0], cpu_s })
  state.second({ ...lineOf(1), nodes: [node(0.1), node(0.147)] })
  assert.equal(Number(state.all().whole.cpuUs?.toFixed(3)), Number(((0.247 * 1e6) / 490).toFixed(3)))
  state.second({ ...lineOf(2), phase: 'warm-up', nodes: [node(9)] })
  state.second({ ...lineOf(3), nodes: [node(0.1), node(null)] })
  assert.equal(Number(state.all().whole.cpuUs?.toFixed(3)), Number(((0.247 * 1e6) / 490).toFixed(3)))
})
