// CloudWatch without a network: names, whole minutes, pages, throttling, and points that come late.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as sdk from '@aws-sdk/client-cloudwatch'
import { mockClient } from 'aws-sdk-client-mock'
import { endpointIn, groupOf, regionOf } from '../../lib/cloudwatch/endpoint.js'
import { fetchCloudWatch, wholeMinutes } from '../../lib/cloudwatch/fetch.js'
import { NODE_METRICS } from '../../lib/cloudwatch/metrics.js'
import { withCloudWatchRows } from '../../lib/cloudwatch/of-experiment.js'
import { experimentSections } from '../../lib/report/experiment-sections.js'
import { resultDocument } from '../../lib/result/document.js'
import { measureNamed } from '../../lib/result/measures.js'
import { sampleExperiment } from '../helpers/sample-record.js'
import { sampleParts } from '../helpers/sample-run.js'
import { valuesOf } from '../helpers/table.js'

const minute = 60_000
const beganMs = Date.UTC(2026, 10, 21, 12, 0, 10)
const run = {
  run: 'r',
  started: new Date(beganMs).toISOString(),
  duration_s: 200,
  warm_up_s: 0,
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
  assert.equal(groupOf('items-0001-002'), 'items')
  assert.equal(groupOf('my-items-001'), 'my-items')
  assert.equal(groupOf('items'), null)
})

test('minutes that lie wholly in the measured time', () => {
  const at = (/** @type {number} */ offsetS, /** @type {number} */ durationS, warmUpS = 0) =>
    wholeMinutes({
      started: new Date(Date.UTC(2026, 0, 1) + offsetS * 1000).toISOString(),
      duration_s: durationS,
      warm_up_s: warmUpS,
    })?.minutes.map((ms) => (ms - Date.UTC(2026, 0, 1)) / minute)
  assert.deepEqual(at(0, 120), [0, 1])
  assert.deepEqual(at(1, 119), [1])
  assert.deepEqual(at(10, 200), [1, 2])
  assert.deepEqual(at(10, 200, 60), [2])
  assert.equal(at(10, 100), undefined)
  assert.equal(at(0, 59), undefined)
})

/**
 * @param {(query: sdk.MetricDataQuery, call: number) => [number, number][]} pointsOf epoch and value
 * @param {{ nextToken?: string, nowMs?: number, wanted?: import('../../lib/cloudwatch/caches.js').Wanted, signal?: AbortSignal, onSleep?: () => void }} [more]
 */
const asked = (pointsOf, { nowMs = fromMs + 3 * minute, wanted = {}, signal, onSleep } = {}) => {
  const client = new sdk.CloudWatchClient({ region: 'us-east-1' })
  const mock = mockClient(client)
  /** @type {number[]} */
  const slept = []
  let epochMs = nowMs
  let calls = 0
  mock.on(sdk.GetMetricDataCommand).callsFake((/** @type {sdk.GetMetricDataCommandInput} */ input) => {
    calls++
    return {
      MetricDataResults: input.MetricDataQueries?.map((query) => {
        const points = pointsOf(query, calls)
        return {
          Id: query.Id,
          Timestamps: points.map(([t]) => new Date(t)),
          Values: points.map(([, value]) => value),
        }
      }),
    }
  })
  /** @type {string[]} */
  const said = []
  const fetched = () =>
    fetchCloudWatch({
      run,
      wanted,
      open: async () => ({ sdk, client }),
      epochMs: () => epochMs,
      sleep: async (ms) => {
        slept.push(ms)
        epochMs += ms
        onSleep?.()
      },
      say: (line) => said.push(line),
      settling: { everyMs: 30_000, limitMs: 300_000 },
      signal,
    })
  return { mock, fetched, slept, said, calls: () => calls }
}

/** @param {sdk.MetricDataQuery} query */
const nameOf = (query) => query.MetricStat?.Metric?.MetricName
/** @param {(sdk.MetricDataQuery)} query @returns {[number, number][]} */
const both = (query) =>
  nameOf(query) === 'CPUUtilization' || nameOf(query) === 'EngineCPUUtilization'
    ? [
        [fromMs, 10],
        [fromMs + minute, 20],
      ]
    : []

describe('reading', () => {
  test('what is old is read once', async () => {
    const old = asked(both, { nowMs: fromMs + 60 * minute })
    const section = await old.fetched()
    assert.equal(old.calls(), 1)
    assert.deepEqual(old.slept, [])
    assert.equal(section.settled, true)
    assert.deepEqual(section.nodes[0].points.CPUUtilization, [
      [50_000, 10],
      [110_000, 20],
    ])
    assert.equal(section.nodes[0].means.CPUUtilization, 15)
    assert.equal(section.nodes[0].address, run.nodes[0].address)
    const [{ input }] = old.mock.commandCalls(sdk.GetMetricDataCommand).map(({ args }) => args[0])
    assert.equal(input.StartTime?.getTime(), fromMs)
    assert.equal(input.EndTime?.getTime(), fromMs + 2 * minute)
    assert.equal(input.MetricDataQueries?.length, NODE_METRICS.length)
    assert.ok(input.MetricDataQueries?.every(({ MetricStat }) => MetricStat?.Period === 60))
  })

  test('points that come late, and change once more, are waited for', async () => {
    const late = asked((query, call) => {
      if (call === 1) return []
      if (call === 2) return both(query).slice(0, 1)
      return both(query).map(([t, value]) => [t, call === 3 ? value - 1 : value])
    })
    const section = await late.fetched()
    assert.equal(late.calls(), 5, 'nothing, a half, all, changed, the same')
    assert.deepEqual(late.slept, [30_000, 30_000, 30_000, 30_000])
    assert.equal(section.settled, true)
    assert.equal(section.nodes[0].means.CPUUtilization, 15)
    assert.equal(late.said.length, 1)
  })

  test('points that never come are told, and what there is is kept', async () => {
    const half = asked((query) => both(query).slice(0, 1))
    const section = await half.fetched()
    assert.equal(section.settled, false)
    assert.equal(section.nodes[0].means.CPUUtilization, 10)
    assert.match(section.notes.join(), /not settled: points of a-001 are missing/)
    assert.ok(half.slept.reduce((sum, ms) => sum + ms, 0) <= 300_000)
  })

  test('pages are put together', async () => {
    const paged = asked(both, { nowMs: fromMs + 60 * minute })
    const tokens = /** @type {(string | undefined)[]} */ ([])
    paged.mock.on(sdk.GetMetricDataCommand).callsFake(({ NextToken, MetricDataQueries }) => {
      tokens.push(NextToken)
      const queries = MetricDataQueries.filter((/** @type {any} */ query) => both(query).length > 0)
      const [at, value] = NextToken ? [fromMs, 10] : [fromMs + minute, 20]
      return {
        NextToken: NextToken ? undefined : 'more',
        MetricDataResults: queries.map((/** @type {any} */ { Id }) => ({
          Id,
          Timestamps: [new Date(at)],
          Values: [value],
        })),
      }
    })
    const section = await paged.fetched()
    assert.deepEqual(section.nodes[0].points.CPUUtilization, [
      [50_000, 10],
      [110_000, 20],
    ])
    assert.deepEqual(tokens, [undefined, 'more'])
  })

  test('an end of the waiting keeps what was read, and asks for no more', async () => {
    const end = new AbortController()
    const cut = asked((query) => both(query).slice(0, 1), { signal: end.signal, onSleep: () => end.abort() })
    const section = await cut.fetched()
    assert.equal(cut.calls(), 1)
    assert.equal(section.settled, false)
    assert.equal(section.nodes[0].means.CPUUtilization, 10)
    assert.match(section.notes.join(), /not settled/)
  })

  test('an end of the waiting does not wait for an answer that is under way', async () => {
    const end = new AbortController()
    const cut = asked(both, { signal: end.signal })
    cut.mock.on(sdk.GetMetricDataCommand).callsFake(() => {
      end.abort()
      return new Promise(() => {})
    })
    await assert.rejects(
      cut.fetched,
      /^CloudWatchError: CloudWatch: its figures were not waited for; scripts/,
    )
  })

  test('a group of many nodes is asked for in calls of 500 queries, its names in pages', async () => {
    const ids = Array.from({ length: 45 }, (_, i) => `big-${String(i + 1).padStart(4, '0')}-001`)
    const many = asked(both, { nowMs: fromMs + 60 * minute, wanted: { replicationGroup: 'big' } })
    const metrics = (/** @type {string[]} */ part) =>
      part.map((Value) => ({ Dimensions: [{ Name: 'CacheClusterId', Value }] }))
    many.mock
      .on(sdk.ListMetricsCommand)
      .callsFake(({ NextToken }) =>
        NextToken
          ? { Metrics: metrics(ids.slice(30)) }
          : { Metrics: metrics(ids.slice(0, 30)), NextToken: 'x' },
      )
    const section = await many.fetched()
    assert.deepEqual(valuesOf(section.nodes, 'id'), ids)
    assert.ok(section.nodes.every(({ means }) => means.CPUUtilization === 15))
    const sizes = many.mock
      .commandCalls(sdk.GetMetricDataCommand)
      .map(({ args }) => args[0].input.MetricDataQueries?.length ?? 0)
    assert.ok(sizes.every((size) => size <= 500))
    assert.equal(
      sizes.reduce((sum, size) => sum + size, 0),
      45 * NODE_METRICS.length,
    )
  })

  const refusals = /** @type {[string, Error, RegExp][]} */ ([
    [
      'no rights',
      Object.assign(new Error('User: x is not authorized to perform: cloudwatch:GetMetricData'), {
        name: 'AccessDeniedException',
      }),
      /lack a right: cloudwatch:GetMetricData and cloudwatch:ListMetrics are needed/,
    ],
    [
      'no such region',
      new Error('getaddrinfo ENOTFOUND monitoring.eu-west-9.amazonaws.com'),
      /correct --aws-region/,
    ],
    [
      'expired',
      Object.assign(new Error('token'), { name: 'ExpiredTokenException' }),
      /have expired: sign in again/,
    ],
    ['wrong keys', Object.assign(new Error('x'), { name: 'InvalidClientTokenId' }), /are not accepted/],
    ['no way', new Error('connect ECONNREFUSED 1.2.3.4:443'), /cannot be reached from here/],
  ])
  for (const [name, error, pattern] of refusals)
    test(`${name}: one clear line`, async () => {
      const refused = asked(both)
      refused.mock.on(sdk.GetMetricDataCommand).rejects(error)
      await assert.rejects(refused.fetched, (/** @type {Error} */ thrown) => {
        assert.match(thrown.message, /^CloudWatch: /)
        assert.match(thrown.message, pattern)
        assert.doesNotMatch(thrown.message, /\n/)
        return true
      })
    })
})

describe('figures', () => {
  /** @param {number} host @param {number} engine */
  const told = (host, engine) => {
    const [master, replica] = sampleParts().nodes
    const cache = (
      /** @type {string} */ address,
      /** @type {string | null} */ role,
      /** @type {number} */ part,
    ) => ({
      id: address,
      address,
      role,
      means: { CPUUtilization: host * part, EngineCPUUtilization: engine * part },
    })
    return {
      ...resultDocument(sampleParts()),
      cloudwatch: {
        nodes: [
          cache(master.address, null, 1),
          cache('elsewhere', 'master', 3),
          cache(replica.address, 'replica', 0.5),
        ],
      },
    }
  }
  const names = ['master.cpu_pct', 'master.engine_cpu_pct', 'replica.cpu_pct', 'replica.engine_cpu_pct'].map(
    (name) => `cloudwatch.${name}`,
  )

  test('of a run: the means of its roles, in the units of CloudWatch', () => {
    assert.deepEqual(
      names.map((name) => measureNamed(name).value(told(20, 40))),
      [40, 80, 10, 20],
    )
    assert.deepEqual(
      names.map((name) => measureNamed(name).value(resultDocument(sampleParts()))),
      [null, null, null, null],
    )
    assert.equal(measureNamed(names[0]).axis, 'CPUUtilization of the masters, % of all vCPUs')
    assert.equal(measureNamed(names[1]).axis, 'EngineCPUUtilization of the masters, % of one core')
  })

  test('of an experiment: columns of its table, over the runs of each row', () => {
    const experiment = sampleExperiment()
    const [{ runs }] = experiment.rows
    const whole = withCloudWatchRows(experiment, new Map([[runs[0], told(20, 40)]]))
    assert.deepEqual(valuesOf(whole.columns.slice(experiment.columns.length), 'name'), names)
    assert.deepEqual(whole.rows[0].figures[names[0]], {
      median: 40,
      mean: 40,
      low: 40,
      high: 40,
      samples: [40],
    })
    assert.equal(whole.rows[1].figures[names[0]], undefined)
    assert.deepEqual(withCloudWatchRows(whole, new Map([[runs[0], told(20, 40)]])), whole)
    const [table] = experimentSections(whole).tables
    assert.ok(table.columns.some(({ title }) => title === 'CPUUtilization of the masters'))
    assert.deepEqual(withCloudWatchRows(experiment, new Map()), experiment)
  })
})
