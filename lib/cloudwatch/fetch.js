// CloudWatch's numbers of a run, read until they have settled.

import { errorOf } from '../base/errors.js'
import { endpointOf } from '../servers/address.js'
import { endpointIn } from '../servers/elasticache.js'
import { CloudWatchError, cachesOf } from './caches.js'

/**
 * @import { Cache, Wanted, Names } from './caches.js'
 * @import { RunDocument } from '../result/document.js'
 * @import { CloudWatchClient } from '@aws-sdk/client-cloudwatch'
 *
 * @typedef {object} CacheFigures
 * @property {string} id
 * @property {'node' | 'serverless'} kind
 * @property {string | null} address of the run's node, where the names show it
 * @property {'master' | 'replica' | null} role as IsMaster says
 * @property {Record<string, number>} means of each metric over the minutes; of a sum, events a minute
 * @property {Record<string, [at_ms: number, value: number][]>} points by metric; at_ms: where the minute begins, after
 *   the start of the run
 *
 * @typedef {object} CloudWatchSection run.json `cloudwatch`
 * @property {string} region
 * @property {number} period_s
 * @property {string} from
 * @property {string} to
 * @property {boolean} settled false: points were missing, or changed with the last reading
 * @property {string} read_at
 * @property {CacheFigures[]} nodes
 * @property {string[]} notes
 */

/** Regions, groups and nodes in the names of the addresses. @param {readonly string[]} addresses host:port @returns {Names} */
const namesIn = (addresses) => {
  const hosts = addresses.map((address) => endpointOf(address).host)
  const named = hosts.flatMap((host) => endpointIn(host) ?? [])
  /** @type {Map<string, string>} */
  const byId = new Map()
  hosts.forEach((host, i) => {
    const endpoint = endpointIn(host)
    if (endpoint?.kind === 'node') byId.set(endpoint.id, addresses[i])
  })
  return { hosts, region: named[0]?.region ?? null, addressOf: (id) => byId.get(id) ?? null, named }
}

// Reads CloudWatch: whole pages, one question at a time, and slower when it is throttled. Its SDK does paging and retries.

/**
 * @typedef {{ Name: string, Value: string }[]} Dimensions
 *
 * @typedef {object} Series what to fetch
 * @property {string} node the key of the answer
 * @property {Dimensions} dimensions
 * @property {readonly Metric[]} metrics
 *
 * @typedef {Map<string, Record<string, { t: number, value: number }[]>>} Points by node and metric; t is epoch ms
 */

const namespace = 'AWS/ElastiCache'
const periodS = 60
// GetMetricData takes 500 queries at most.
const queriesPerCall = 500
// The first try, and eight more when it is throttled or gets no answer.
const maxAttempts = 9

/** The SDK takes long to load and is not needed elsewhere. @param {string | undefined} region */
const openClient = async (region) => {
  // Users cannot act on its warning about a future Node version, as the version is pinned.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  const sdk = await import('@aws-sdk/client-cloudwatch')
  const options = { ...(region && { region }), maxAttempts, retryMode: 'adaptive' }
  return { sdk, client: new sdk.CloudWatchClient(options) }
}

/**
 * @param {object} needs
 * @param {CloudWatchClient} needs.client
 * @param {typeof import('@aws-sdk/client-cloudwatch')} needs.sdk
 * @param {AbortSignal} [needs.signal] ends a question that is under way
 */
export const cloudWatch = ({ client, sdk, signal: abortSignal }) => {
  return {
    /** Dimensions under which a metric is published. @param {string} metric @returns {Promise<Dimensions[]>} */
    async published(metric) {
      /** @type {Dimensions[]} */
      const found = []
      const asked = { Namespace: namespace, MetricName: metric }
      for await (const { Metrics = [] } of sdk.paginateListMetrics({ client }, asked, { abortSignal }))
        for (const { Dimensions = [] } of Metrics) found.push(/** @type {Dimensions} */ (Dimensions))
      return found
    },

    /**
     * @param {readonly Series[]} series
     * @param {{ fromMs: number, toMs: number }} window whole minutes
     * @returns {Promise<Points>}
     */
    async points(series, { fromMs, toMs }) {
      const wanted = series.flatMap(({ node, dimensions, metrics }) =>
        metrics.map((metric) => ({ node, dimensions, metric })),
      )
      /** @type {Points} */
      const points = new Map(series.map(({ node }) => [node, {}]))
      for (let first = 0; first < wanted.length; first += queriesPerCall) {
        const part = wanted.slice(first, first + queriesPerCall)
        const queries = part.map(({ dimensions, metric }, i) => ({
          Id: `q${i}`,
          MetricStat: {
            Metric: { Namespace: namespace, MetricName: metric.name, Dimensions: dimensions },
            Period: periodS,
            Stat: metric.statistic,
          },
        }))
        const asked = {
          MetricDataQueries: queries,
          StartTime: new Date(fromMs),
          EndTime: new Date(toMs),
          /** @type {'TimestampAscending'} */
          ScanBy: 'TimestampAscending',
        }
        const pages = sdk.paginateGetMetricData({ client }, asked, { abortSignal })
        for await (const { MetricDataResults = [] } of pages)
          for (const { Id = '', Timestamps = [], Values = [] } of MetricDataResults) {
            const { node, metric } = part[Number(Id.slice(1))]
            const own = points.get(node) ?? {}
            own[metric.name] = [
              ...(own[metric.name] ?? []),
              ...Timestamps.map((time, i) => ({ t: time.getTime(), value: Values[i] })),
            ]
          }
      }
      for (const own of points.values()) for (const list of Object.values(own)) list.sort((a, b) => a.t - b.t)
      return points
    },
  }
}

// The metrics of every node, and their statistics.

/** @typedef {{ name: string, statistic: 'Average' | 'Sum' | 'Maximum' | 'Minimum' }} Metric */

/** @param {Metric['statistic']} statistic @param {string[]} names @returns {Metric[]} */
const all = (statistic, names) => names.map((name) => ({ name, statistic }))

/** @type {readonly Metric[]} */
export const NODE_METRICS = Object.freeze([
  ...all('Average', ['CPUUtilization', 'EngineCPUUtilization']),
  ...all('Sum', ['NetworkBytesIn', 'NetworkBytesOut']),
  // Packets that the node's own allowances delayed or dropped, and other limits that it has reached.
  ...all('Sum', [
    'NetworkBandwidthInAllowanceExceeded',
    'NetworkBandwidthOutAllowanceExceeded',
    'NetworkPacketsPerSecondAllowanceExceeded',
    'NetworkConntrackAllowanceExceeded',
  ]),
  ...all('Minimum', ['CPUCreditBalance']),
  ...all('Maximum', ['TrafficManagementActive', 'DurabilityLag']),
  ...all('Sum', ['DurabilityBufferExceededErrorCount']),
  ...all('Average', ['CurrConnections']),
  ...all('Sum', ['NewConnections', 'Evictions', 'Reclaimed']),
  ...all('Average', ['BytesUsedForCache', 'DatabaseMemoryUsagePercentage', 'FreeableMemory', 'CurrItems']),
  ...all('Maximum', ['ReplicationLag', 'IsMaster']),
  ...all('Sum', [
    'GetTypeCmds',
    'SetTypeCmds',
    'KeyBasedCmds',
    'StringBasedCmds',
    'SortedSetBasedCmds',
    'ListBasedCmds',
    'SetBasedCmds',
    'HashBasedCmds',
    'HyperLogLogBasedCmds',
    'StreamBasedCmds',
    'EvalBasedCmds',
  ]),
])

/**
 * A serverless cache has no nodes that could be busy: it counts processing units and throttled commands instead.
 * @type {readonly Metric[]}
 */
const SERVERLESS_METRICS = Object.freeze([
  ...all('Sum', ['ElastiCacheProcessingUnits', 'ThrottledCmds', 'TotalCmdsCount']),
  ...all('Average', ['SuccessfulReadRequestLatency', 'SuccessfulWriteRequestLatency']),
  ...all('Sum', ['NetworkBytesIn', 'NetworkBytesOut', 'Evictions', 'NewConnections']),
  ...all('Average', ['CurrConnections', 'BytesUsedForCache', 'CurrItems']),
])

/** Metrics that count events. */
const SUMS = new Set(
  [...NODE_METRICS, ...SERVERLESS_METRICS].flatMap(({ name, statistic }) =>
    statistic === 'Sum' ? [name] : [],
  ),
)

/** Until these have points, the numbers have not settled; other metrics are published only where something happened. */
const EXPECTED = Object.freeze({
  node: ['CPUUtilization', 'EngineCPUUtilization'],
  serverless: ['ElastiCacheProcessingUnits'],
})

const minuteMs = 60_000

/**
 * Whole minutes within the measured time: the minutes at its ends include other time.
 * @param {{ started: string, duration_s: number, warm_up_s?: number | null }} run
 * @returns {{ fromMs: number, toMs: number, minutes: number[] } | null} null: there is none
 */
export const wholeMinutes = ({ started, duration_s: durationS, warm_up_s: warmUpS }) => {
  const beginMs = Date.parse(started)
  const fromMs = Math.ceil((beginMs + (warmUpS ?? 0) * 1000) / minuteMs) * minuteMs
  const toMs = Math.floor((beginMs + durationS * 1000) / minuteMs) * minuteMs
  if (!(toMs > fromMs)) return null
  return {
    fromMs,
    toMs,
    minutes: Array.from({ length: (toMs - fromMs) / minuteMs }, (_, i) => fromMs + i * minuteMs),
  }
}

// A point arrives a few minutes late; a point older than this will not arrive.
const finalAfterMs = 15 * 60_000
const settling = Object.freeze({ everyMs: 30_000, limitMs: 10 * 60_000 })

const serverlessNote =
  'a serverless cache has no nodes and publishes no CPU: what it used are its ElastiCacheProcessingUnits, and ThrottledCmds says whether it limited the load'

/** Why the SDK failed, in one line that says what to change. @param {unknown} error @param {string | undefined} region */
const reasonFor = (error, region) => {
  if (error instanceof CloudWatchError) return error
  const { name, message } = errorOf(error)
  const text = `${name} ${message}`
  /** @type {[RegExp, string][]} */
  const all = [
    [/region is missing/i, 'no region: give --region, or set AWS_REGION'],
    [
      /AccessDenied|not authorized|UnauthorizedOperation/i,
      'the credentials lack a right: cloudwatch:GetMetricData and cloudwatch:ListMetrics are needed',
    ],
    [
      /CredentialsProvider|could not load credentials|NoCredentials/i,
      'no credentials: set AWS_PROFILE, AWS_ACCESS_KEY_ID or a role of the machine',
    ],
    [/ExpiredToken|expired/i, 'the credentials have expired: sign in again'],
    [
      /InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch|InvalidSignature/i,
      'the credentials are not accepted: check AWS_PROFILE and the keys',
    ],
    [/ENOTFOUND|EAI_AGAIN/, `no such region${region ? ` as ${region}` : ''}: correct --region`],
    [
      /ECONNREFUSED|ETIMEDOUT|TimeoutError|ENETUNREACH/,
      'it cannot be reached from this machine: check the network',
    ],
    [
      /throttl|rate exceeded/i,
      'it throttles requests for too long; add the figures later with scripts/cloudwatch.js',
    ],
  ]
  const advice = all.find(([pattern]) => pattern.test(text))
  const [line] = message.split('\n')
  return new CloudWatchError(advice ? `${advice[1]} (${line})` : line, { cause: error })
}

/** @param {Points} points @param {Cache[]} caches @param {number[]} minutes */
const isWhole = (points, caches, minutes) =>
  caches.every(({ id, kind }) =>
    EXPECTED[kind].every((name) => (points.get(id)?.[name]?.length ?? 0) >= minutes.length),
  )

const notWaitedFor = 'its figures were not waited for; scripts/cloudwatch.js adds them later'

/**
 * The promise's value, or null as soon as the signal says so: a question that is under way may take minutes.
 * @template T
 * @param {AbortSignal | undefined} signal
 * @param {Promise<T>} promise
 * @returns {Promise<T | null>}
 */
const unlessAborted = (signal, promise) =>
  new Promise((resolve, reject) => {
    const end = () => resolve(null)
    if (signal?.aborted) end()
    signal?.addEventListener('abort', end)
    promise.then(resolve, reject).finally(() => signal?.removeEventListener('abort', end))
  })

/** @typedef {Pick<RunDocument, 'run' | 'started' | 'duration_s' | 'warm_up_s'> & { nodes: readonly { address: string }[] }} RunOfNodes */

/**
 * @typedef {object} Waiting until CloudWatch has published the points
 * @property {() => number} epochMs
 * @property {(ms: number) => Promise<unknown>} sleep
 * @property {(line: string) => void} say
 * @property {{ everyMs: number, limitMs: number }} [settling]
 * @property {AbortSignal} [signal] ends it; what was read until then is kept
 */

/**
 * Reads until every minute has its points and two readings are equal.
 * @param {object} needs
 * @param {() => Promise<Points>} needs.read
 * @param {Cache[]} needs.caches
 * @param {{ toMs: number, minutes: number[] }} needs.window
 * @param {Waiting} waiting
 */
const settled = async ({ read, caches, window }, waiting) => {
  const { epochMs, sleep, say, signal } = waiting
  const { everyMs, limitMs } = waiting.settling ?? settling
  const startMs = epochMs()
  let before = ''
  /** @type {Points | null} */
  let points = null
  for (;;) {
    const next = await unlessAborted(signal, read())
    if (next === null) break
    points = next
    const whole = isWhole(points, caches, window.minutes)
    const now = JSON.stringify([...points])
    const isFinal = epochMs() - window.toMs > finalAfterMs
    if (whole && (isFinal || now === before)) return { points, settled: true }
    if (isFinal || signal?.aborted || epochMs() - startMs + everyMs > limitMs)
      return { points, settled: false }
    if (before === '')
      say(
        `CloudWatch publishes minutes late: waiting up to ${Math.round(limitMs / 60_000)} min for its points (Ctrl-C goes without; scripts/cloudwatch.js adds them later)`,
      )
    before = now
    await sleep(everyMs)
    if (signal?.aborted) break
  }
  if (points) return { points, settled: false }
  throw new CloudWatchError(notWaitedFor)
}

/**
 * @param {Cache} cache
 * @param {Record<string, { t: number, value: number }[]>} points
 * @param {number} beginMs of the run
 * @returns {CacheFigures}
 */
const figuresOf = ({ id, kind, address }, points, beginMs) => {
  const known = Object.entries(points).filter(([, list]) => list.length > 0)
  const master = points.IsMaster?.at(-1)?.value
  // A sum may have no point in a minute without events; a minute without any point is not known yet.
  const minutes = new Set(known.flatMap(([, list]) => list.map(({ t }) => t))).size
  const meanOf = (/** @type {string} */ name, /** @type {readonly { value: number }[]} */ list) =>
    list.reduce((sum, { value }) => sum + value, 0) / (SUMS.has(name) ? minutes : list.length)
  return {
    id,
    kind,
    address,
    role: master === undefined ? null : master > 0 ? 'master' : 'replica',
    means: Object.fromEntries(known.map(([name, list]) => [name, meanOf(name, list)])),
    points: Object.fromEntries(
      known.map(([name, list]) => [name, list.map(({ t, value }) => [t - beginMs, value])]),
    ),
  }
}

/** @param {CacheFigures[]} nodes @param {number[]} minutes @param {boolean} isSettled */
const notesOf = (nodes, minutes, isSettled) => {
  const silent = nodes.filter(({ points }) => Object.keys(points).length === 0).map(({ id }) => id)
  const short = nodes.filter(({ kind, points }) =>
    EXPECTED[kind].some((name) => (points[name]?.length ?? 0) < minutes.length),
  )
  return [
    ...(nodes.some(({ kind }) => kind === 'serverless') ? [serverlessNote] : []),
    ...(silent.length > 0
      ? [`no points of ${silent.join(', ')}: wrong id or region, or not yet published`]
      : !isSettled
        ? [
            `not settled: points of ${short.map(({ id }) => id).join(', ') || 'some nodes'} are missing or still change; scripts/cloudwatch.js reads them again`,
          ]
        : []),
  ]
}

/**
 * @param {object} needs
 * @param {RunOfNodes} needs.run
 * @param {Wanted} needs.wanted
 * @param {readonly string[]} [needs.hosts] as typed: the name of an endpoint, where the nodes know only numbers
 * @param {typeof openClient} [needs.open]
 * @param {Waiting} needs.waiting
 * @returns {Promise<CloudWatchSection>}
 */
export const fetchCloudWatch = async ({ run, wanted, hosts = [], open = openClient, waiting }) => {
  const { signal } = waiting
  const window = wholeMinutes(run)
  if (!window)
    throw new CloudWatchError(
      `no whole minute lies in the measured time of ${run.run}; 2 minutes or more always have one`,
    )
  const names = namesIn([
    ...run.nodes.map((/** @type {{ address: string }} */ { address }) => address),
    ...hosts,
  ])
  const region = wanted.region ?? names.region ?? undefined
  /** @type {Awaited<ReturnType<typeof open>>['client'] | undefined} */
  let opened
  try {
    const { sdk, client } = await open(region)
    opened = client
    const api = cloudWatch({ client, sdk, signal })
    const caches = await unlessAborted(signal, cachesOf(api, wanted, names))
    if (caches === null) throw new CloudWatchError(notWaitedFor)
    const series = caches.map(({ id, kind, dimensions }) => ({
      node: id,
      dimensions,
      metrics: kind === 'serverless' ? SERVERLESS_METRICS : NODE_METRICS,
    }))
    const read = () => api.points(series, window)
    const found = await settled({ read, caches, window }, waiting)
    const beginMs = Date.parse(run.started)
    const nodes = caches.map((cache) => figuresOf(cache, found.points.get(cache.id) ?? {}, beginMs))
    return {
      region: region ?? String(await client.config.region()),
      period_s: periodS,
      from: new Date(window.fromMs).toISOString(),
      to: new Date(window.toMs).toISOString(),
      settled: found.settled,
      read_at: new Date(waiting.epochMs()).toISOString(),
      nodes,
      notes: notesOf(nodes, window.minutes, found.settled),
    }
  } catch (error) {
    throw reasonFor(error, region)
  } finally {
    opened?.destroy()
  }
}
