// CloudWatch without a network: names, whole minutes, pages, throttling, and points that come late.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as sdk from '@aws-sdk/client-cloudwatch'
import { mockClient } from 'aws-sdk-client-mock'
import { fetchCloudWatch, NODE_METRICS, wholeMinutes } from '../../lib/cloudwatch/fetch.js'
import { withCloudWatchRows } from '../../lib/cloudwatch/of-experiment.js'
import { briefOf } from '../../lib/report/brief.js'
import { experiment as kit } from '../../lib/report/experiment.js'
import { resultDocument } from '../../lib/result/document.js'
import { measureNamed } from '../../lib/result/metrics.js'
import { endpointIn, groupOf, regionOf } from '../../lib/servers/elasticache.js'
import { sampleExperiment } from '../helpers/sample-record.js'
import { sampleParts } from '../helpers/sample-run.js'
import { rowsOf, valuesOf } from '../helpers/table.js'

/** @import { Wanted } from '../../lib/cloudwatch/caches.js' */

const minute = 60_000
const run = {
  ...{ run: 'r', duration_s: 200, warm_up_s: 0 },
  started: new Date(Date.UTC(2026, 10, 21, 12, 0, 10)).toISOString(),
  nodes: [{ address: 'a-001.x1y2z3.0001.use1.cache.amazonaws.com:6379' }],
}
const fromMs = Date.UTC(2026, 10, 21, 12, 1)

test('names of endpoints', () => {
  const table = /** @type {[string, string, string, string][]} */ ([
    ['items-001.abc123.0001.use1.cache.amazonaws.com', 'us-east-1', 'node', 'items-001'],
    ['items-0001-002.items.abc123.euc1.cache.amazonaws.com', 'eu-central-1', 'node', 'items-0001-002'],
    ['items.abc123.0001.apne1.cache.amazonaws.com', 'ap-northeast-1', 'node', 'items'],
    ['master.items.abc123.usw2.cache.amazonaws.com', 'us-west-2', 'group', 'items'],
    ['replica.items.abc123.usw2.cache.amazonaws.com', 'us-west-2', 'group', 'items'],
    ['items.abc123.ng.0001.usw2.cache.amazonaws.com', 'us-west-2', 'group', 'items'],
    ['items-ro.abc123.ng.0001.usw2.cache.amazonaws.com', 'us-west-2', 'group', 'items'],
    ['clustercfg.items.abc123.apse2.cache.amazonaws.com', 'ap-southeast-2', 'group', 'items'],
    ['items.abc123.clustercfg.sae1.cache.amazonaws.com', 'sa-east-1', 'group', 'items'],
    ['my-items-ab12cd.serverless.eun1.cache.amazonaws.com', 'eu-north-1', 'serverless', 'my-items'],
    ['clustercfg.items.abc123.cnnw1.cache.amazonaws.com.cn', 'cn-northwest-1', 'group', 'items'],
  ])
  for (const [host, region, kind, id] of table) assert.deepEqual(endpointIn(host), { region, kind, id }, host)
  for (const host of ['10.0.0.1', 'cache.example.com', 'items.abc123.0001.moon1.cache.amazonaws.com', '::1'])
    assert.equal(endpointIn(host), null, host)
  assert.equal(regionOf('mec1'), 'me-central-1')
  const ids = ['items-0001-002', 'items-0500-001', 'my-items-001', 'feed-2024-001', 'items']
  assert.deepEqual(ids.map(groupOf), ['items', 'items', 'my-items', 'feed-2024', null])
})

test('minutes that lie wholly in the measured time', () => {
  const beganMs = Date.UTC(2026, 0, 1)
  for (const [offsetS, durationS, warmUpS, minutes] of /** @type {[number, number, number, number[]?][]} */ ([
    [0, 120, 0, [0, 1]],
    [1, 119, 0, [1]],
    [10, 200, 0, [1, 2]],
    [10, 200, 60, [2]],
    [10, 100, 0],
    [0, 59, 0],
  ])) {
    const started = new Date(beganMs + offsetS * 1000).toISOString()
    const whole = wholeMinutes({ started, duration_s: durationS, warm_up_s: warmUpS })
    const found = whole?.minutes.map((ms) => (ms - beganMs) / minute)
    assert.deepEqual(found, minutes)
  }
})

/** @typedef {[number, number][]} Points epoch and value */
const answerOf = (/** @type {string | undefined} */ id, /** @type {Points} */ points) => ({
  Id: id,
  Timestamps: points.map(([t]) => new Date(t)),
  Values: points.map(([, value]) => value),
})
/**
 * @param {(query: sdk.MetricDataQuery, call: number) => Points} pointsOf
 * @param {{ nextToken?: string, nowMs?: number, wanted?: Wanted, signal?: AbortSignal, onSleep?: () => void }} [more]
 */
const asked = (pointsOf, { nowMs = fromMs + 3 * minute, wanted = {}, signal, onSleep } = {}) => {
  const client = new sdk.CloudWatchClient({ region: 'us-east-1' })
  const mock = mockClient(client)
  const slept = /** @type {number[]} */ ([])
  let epochMs = nowMs
  let calls = 0
  mock.on(sdk.GetMetricDataCommand).callsFake((/** @type {sdk.GetMetricDataCommandInput} */ input) => {
    calls++
    const { MetricDataQueries: queries } = input
    return { MetricDataResults: queries?.map((one) => answerOf(one.Id, pointsOf(one, calls))) }
  })
  const said = /** @type {string[]} */ ([])
  const fetched = () =>
    fetchCloudWatch({
      run,
      wanted,
      open: async () => ({ sdk, client }),
      waiting: {
        ...{ signal, settling: { everyMs: 30_000, limitMs: 300_000 } },
        epochMs: () => epochMs,
        sleep: async (ms) => {
          slept.push(ms)
          epochMs += ms
          onSleep?.()
        },
        say: (line) => said.push(line),
      },
    })
  return { mock, fetched, slept, said, calls: () => calls }
}

/** @param {sdk.MetricDataQuery} query @returns {Points} */
const both = ({ MetricStat }) =>
  /^(Engine)?CPUUtilization$/.test(MetricStat?.Metric?.MetricName ?? '')
    ? [10, 20].map((value, at) => [fromMs + at * minute, value])
    : []
const firstHalf = (/** @type {sdk.MetricDataQuery} */ query) => both(query).slice(0, 1)
const longAfter = { nowMs: fromMs + 60 * minute }
/** @param {Awaited<ReturnType<ReturnType<typeof asked>['fetched']>>} section */
const found = ({ settled, nodes: [{ means, points }] }) => {
  return { settled, mean: means.CPUUtilization, points: points.CPUUtilization }
}
const whole = { settled: true, mean: 15, points: [10, 20].map((value, at) => [50_000 + at * minute, value]) }

describe('reading', () => {
  test('what is old is read once', async () => {
    const old = asked(both, longAfter)
    const section = await old.fetched()
    assert.deepEqual([old.calls(), old.slept, found(section)], [1, [], whole])
    assert.equal(section.nodes[0].address, run.nodes[0].address)
    const [{ args }] = old.mock.commandCalls(sdk.GetMetricDataCommand)
    const { StartTime, EndTime, MetricDataQueries = [] } = args[0].input
    assert.deepEqual([StartTime, EndTime], [new Date(fromMs), new Date(fromMs + 2 * minute)])
    assert.equal(MetricDataQueries.length, NODE_METRICS.length)
    assert.ok(MetricDataQueries.every(({ MetricStat }) => MetricStat?.Period === 60))
  })

  test('a sum that is published in one minute alone is spread over all of them', async () => {
    const once = asked((query) => {
      const throttled = query.MetricStat?.Metric?.MetricName === 'NetworkConntrackAllowanceExceeded'
      return throttled ? [[fromMs + minute, 600]] : both(query)
    }, longAfter)
    const [{ means, points }] = (await once.fetched()).nodes
    assert.deepEqual(points.NetworkConntrackAllowanceExceeded, [[110_000, 600]])
    assert.deepEqual([means.NetworkConntrackAllowanceExceeded, means.CPUUtilization], [300, 15])
  })

  test('points that come late, and change once more, are waited for', async () => {
    const late = asked((query, call) => {
      if (call === 1) return []
      if (call === 2) return firstHalf(query)
      return both(query).map(([t, value]) => [t, call === 3 ? value - 1 : value])
    })
    assert.deepEqual(found(await late.fetched()), whole)
    assert.equal(late.calls(), 5, 'nothing, a half, all, changed, the same')
    assert.deepEqual(late.slept, [30_000, 30_000, 30_000, 30_000])
    assert.equal(late.said.length, 1)
  })

  test('points that never come are told, and what there is is kept', async () => {
    const half = asked(firstHalf)
    const section = await half.fetched()
    assert.deepEqual([section.settled, section.nodes[0].means.CPUUtilization], [false, 10])
    assert.match(section.notes.join(), /not settled: points of a-001 are missing/)
    assert.ok(half.slept.reduce((sum, ms) => sum + ms, 0) <= 300_000)
  })

  test('pages are put together', async () => {
    const paged = asked(both, longAfter)
    const tokens = /** @type {(string | undefined)[]} */ ([])
    paged.mock.on(sdk.GetMetricDataCommand).callsFake(({ NextToken, MetricDataQueries }) => {
      tokens.push(NextToken)
      const queries = MetricDataQueries.filter((/** @type {any} */ query) => both(query).length > 0)
      const point = both(queries[0])[NextToken ? 0 : 1]
      const results = queries.map((/** @type {any} */ { Id }) => answerOf(Id, [point]))
      return { NextToken: NextToken ? undefined : 'more', MetricDataResults: results }
    })
    assert.deepEqual(found(await paged.fetched()).points, whole.points)
    assert.deepEqual(tokens, [undefined, 'more'])
  })

  test('an end of the waiting keeps what was read, and asks for no more', async () => {
    const end = new AbortController()
    const cut = asked(firstHalf, { signal: end.signal, onSleep: () => end.abort() })
    const section = await cut.fetched()
    assert.deepEqual([cut.calls(), section.settled, section.nodes[0].means.CPUUtilization], [1, false, 10])
    assert.match(section.notes.join(), /not settled/)
  })

  test('an end of the waiting does not wait for an answer that is under way', async () => {
    const end = new AbortController()
    const cut = asked(both, { signal: end.signal })
    cut.mock.on(sdk.GetMetricDataCommand).callsFake(() => {
      end.abort()
      return new Promise(() => {})
    })
    const message = /^CloudWatchError: CloudWatch: its figures were not waited for; scripts/
    await assert.rejects(cut.fetched, message)
  })

  test('a group of many nodes is asked for in calls of 500 queries, its names in pages', async () => {
    const ids = Array.from({ length: 45 }, (_, i) => `big-${String(i + 1).padStart(4, '0')}-001`)
    const many = asked(both, { ...longAfter, wanted: { replicationGroup: 'big' } })
    const metrics = ids.map((Value) => ({ Dimensions: [{ Name: 'CacheClusterId', Value }] }))
    many.mock
      .on(sdk.ListMetricsCommand)
      .callsFake(({ NextToken }) =>
        NextToken ? { Metrics: metrics.slice(30) } : { Metrics: metrics.slice(0, 30), NextToken: 'x' },
      )
    const section = await many.fetched()
    assert.deepEqual(valuesOf(section.nodes, 'id'), ids)
    assert.ok(section.nodes.every(({ means }) => means.CPUUtilization === 15))
    const calls = many.mock.commandCalls(sdk.GetMetricDataCommand)
    const queries = calls.map(({ args }) => args[0].input.MetricDataQueries ?? [])
    assert.ok(queries.every(({ length }) => length <= 500))
    assert.equal(queries.flat().length, 45 * NODE_METRICS.length)
  })

  for (const [name, sdkName, message, words] of rowsOf(`
no rights -> AccessDeniedException -> User: x is not authorized to perform: cloudwatch:GetMetricData -> lack a right: cloudwatch:GetMetricData and cloudwatch:ListMetrics are needed
no such region -> Error -> getaddrinfo ENOTFOUND monitoring.eu-west-9.amazonaws.com -> correct --region
expired -> ExpiredTokenException -> token -> have expired: sign in again
wrong keys -> InvalidClientTokenId -> x -> are not accepted
no way -> Error -> connect ECONNREFUSED 1.2.3.4:443 -> cannot be reached from this machine
`))
    test(`${name}: one clear line`, async () => {
      const refused = asked(both)
      refused.mock.on(sdk.GetMetricDataCommand).rejects(Object.assign(new Error(message), { name: sdkName }))
      const line = new RegExp(`^CloudWatch: [^\\n]*${words}[^\\n]*$`)
      await assert.rejects(refused.fetched, { message: line })
    })
})

describe('figures', () => {
  const told = (/** @type {number} */ host, /** @type {number} */ engine) => {
    const [master, replica] = sampleParts().nodes
    /** @param {string} address @param {string | null} role @param {number} part of the CPU */
    const cache = (address, role, part) => {
      const means = { CPUUtilization: host * part, EngineCPUUtilization: engine * part }
      return { id: address, address, role, means }
    }
    const others = [cache('elsewhere', 'master', 3), cache(replica.address, 'replica', 0.5)]
    const cloudwatch = { nodes: [cache(master.address, null, 1), ...others] }
    return { ...resultDocument(sampleParts()), cloudwatch }
  }
  const figures = ['master.cpu_pct', 'master.engine_cpu_pct', 'replica.cpu_pct', 'replica.engine_cpu_pct']
  const names = figures.map((name) => `cloudwatch.${name}`)

  test('of a run: the means of its roles, in the units of CloudWatch', () => {
    const valuesIn = (/** @type {any} */ result) => names.map((name) => measureNamed(name).value(result))
    assert.deepEqual(valuesIn(told(20, 40)), [40, 80, 10, 20])
    assert.deepEqual(valuesIn(resultDocument(sampleParts())), [null, null, null, null])
    assert.equal(measureNamed(names[0]).axis, 'CPUUtilization of the masters, % of all vCPUs')
    assert.equal(measureNamed(names[1]).axis, 'EngineCPUUtilization of the masters, % of one core')
  })

  test('of an experiment: columns of its table, over the runs of each row', () => {
    const experiment = sampleExperiment()
    const [{ runs }] = experiment.rows
    const whole = withCloudWatchRows(experiment, new Map([[runs[0], told(20, 40)]]))
    assert.deepEqual(valuesOf(whole.columns.slice(experiment.columns.length), 'name'), names)
    const figure = { median: 40, mean: 40, low: 40, high: 40, samples: [40] }
    const found = whole.rows.map(({ figures }) => figures[names[0]])
    assert.deepEqual(found, [figure, undefined])
    assert.deepEqual(withCloudWatchRows(whole, new Map([[runs[0], told(20, 40)]])), whole)
    const [table] = kit.sections(whole).tables
    assert.ok(table.columns.some(({ title }) => title === 'CPUUtilization of the masters'))
    assert.deepEqual(withCloudWatchRows(experiment, new Map()), experiment)
  })
})

describe('the limits of a node', () => {
  const figures = (/** @type {Record<string, number[]>} */ values) => {
    const each = (/** @type {(list: number[]) => unknown} */ of) =>
      Object.fromEntries(Object.entries(values).map(([name, list]) => [name, of(list)]))
    const means = each((list) => list.reduce((a, b) => a + b, 0) / list.length)
    const points = each((list) => list.map((value, i) => [i * 60_000, value]))
    return { id: 'items-001', kind: 'node', address: null, role: 'master', means, points }
  }
  /** @param {Record<string, number[]>} values @param {object} [client] */
  const brief = (values, client = {}) => {
    const cloudwatch = { nodes: [figures(values)] }
    const parts = sampleParts()
    const document = resultDocument({ ...parts, client: { ...parts.client, ...client } })
    const run = { ...document, valid: true, warnings: [], cloudwatch }
    const { head, rows } = briefOf(/** @type {any} */ (run), { shown: () => '', why: () => '' })
    return { head: head.text, bottleneck: rows.find(({ label }) => label === 'bottleneck')?.text ?? '' }
  }

  for (const [name, values, words] of rowsOf(`
NetworkBandwidthOutAllowanceExceeded -> 0 2400 -> the network of items-001 was the limit (1,200 packets a minute over its bandwidth)
NetworkPacketsPerSecondAllowanceExceeded -> 70 70 -> the network of items-001 was the limit (70 packets a minute over its packet rate)
NetworkConntrackAllowanceExceeded -> 3 3 -> the network of items-001 was the limit (3 packets a minute over its connections)
ThrottledCmds -> 5 5 -> items-001 throttled 5 commands a minute
TrafficManagementActive -> 0 1 -> items-001 held back traffic
DurabilityBufferExceededErrorCount -> 4 4 -> items-001 refused 4 writes a minute: its durable log was behind
CPUCreditBalance -> 12 0.4 -> the CPU credits of items-001 were used up
`))
    test(`${name} heads the result, and is its bottleneck`, () => {
      const { head, bottleneck } = brief({ CPUUtilization: [20, 20], [name]: values.split(' ').map(Number) })
      assert.ok(head.endsWith(`; ${words}`), head)
      assert.ok(bottleneck.startsWith(words), bottleneck)
    })

  test('a full load generator is the bottleneck, whatever the nodes lacked', () => {
    const { bottleneck } = brief({ ThrottledCmds: [5, 5] }, { busy_pct: 97, thread_cpu_pct: 96 })
    assert.equal(bottleneck, 'the load generator, 97.0 % busy')
  })

  test('a node within its limits is not named', () => {
    const { head, bottleneck } = brief({
      ...{ CPUUtilization: [20, 20], CPUCreditBalance: [140, 141], TrafficManagementActive: [0, 0] },
      NetworkBandwidthInAllowanceExceeded: [0, 0],
    })
    assert.doesNotMatch(head + bottleneck, /items-001/)
  })

  for (const name of [
    'NetworkBandwidthInAllowanceExceeded',
    'NetworkPacketsPerSecondAllowanceExceeded',
    'NetworkConntrackAllowanceExceeded',
    'ThrottledCmds',
  ])
    test(`one event of ${name} in ten minutes is no limit`, () => {
      const { head, bottleneck } = brief({ [name]: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0] })
      assert.doesNotMatch(head + bottleneck, /items-001/)
    })

  test('packets over both ways of the bandwidth add up', () => {
    const both = {
      NetworkBandwidthInAllowanceExceeded: [31, 31],
      NetworkBandwidthOutAllowanceExceeded: [30, 30],
    }
    assert.match(brief(both).head, /\(61 packets a minute over its bandwidth\)$/)
  })
})
