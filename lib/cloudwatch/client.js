// Reads CloudWatch: whole pages, one question at a time, and slower when it is throttled. Its SDK does paging and retries.

/**
 * @import { CloudWatchClient } from '@aws-sdk/client-cloudwatch'
 *
 * @import { Metric } from './fetch.js'
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
export const periodS = 60
// GetMetricData takes 500 queries at most.
const queriesPerCall = 500
// The first try, and eight more when it is throttled or gets no answer.
const maxAttempts = 9

/** The SDK takes long to load and is not needed elsewhere. @param {string | undefined} region */
export const openClient = async (region) => {
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
