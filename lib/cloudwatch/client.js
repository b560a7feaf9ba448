// CloudWatch asked politely: whole pages, one question at a time, and slower when it says so.

/**
 * @import { CloudWatchClient } from '@aws-sdk/client-cloudwatch'
 *
 * @import { Metric } from './metrics.js'
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
const throttledAttempts = 8
const throttled = /throttl|rate exceeded|too ?many ?requests|LimitExceeded|SlowDown/i

/** @param {unknown} error */
const isThrottled = (error) => {
  const { name = '', message = '', $metadata } = /** @type {any} */ (error)
  return throttled.test(`${name} ${message}`) || $metadata?.httpStatusCode === 429
}

/**
 * @param {object} needs
 * @param {CloudWatchClient} needs.client
 * @param {typeof import('@aws-sdk/client-cloudwatch')} needs.sdk
 * @param {(ms: number) => Promise<unknown>} needs.sleep
 * @param {() => number} needs.random
 * @param {AbortSignal} [needs.signal] ends a question that is under way
 */
export const cloudWatch = ({ client, sdk, sleep, random, signal }) => {
  /** @template T @param {() => Promise<T>} ask @returns {Promise<T>} */
  const politely = async (ask) => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await ask()
      } catch (error) {
        if (!isThrottled(error) || attempt === throttledAttempts) throw error
        await sleep(Math.min(30_000, 500 * 2 ** attempt) * (0.5 + random() / 2))
      }
    }
  }
  /** @param {any} command @returns {Promise<any>} */
  const send = (command) => politely(() => client.send(command, { abortSignal: signal }))

  return {
    /**
     * Dimensions under which a metric is published.
     * @param {string} metric
     * @returns {Promise<Dimensions[]>}
     */
    async published(metric) {
      /** @type {Dimensions[]} */
      const found = []
      let token
      do {
        const page = await send(
          new sdk.ListMetricsCommand({ Namespace: namespace, MetricName: metric, NextToken: token }),
        )
        for (const { Dimensions = [] } of page.Metrics ?? []) found.push(Dimensions)
        token = page.NextToken
      } while (token)
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
        let token
        do {
          const page = await send(
            new sdk.GetMetricDataCommand({
              MetricDataQueries: queries,
              StartTime: new Date(fromMs),
              EndTime: new Date(toMs),
              ScanBy: 'TimestampAscending',
              NextToken: token,
            }),
          )
          for (const { Id = '', Timestamps = [], Values = [] } of page.MetricDataResults ?? []) {
            const { node, metric } = part[Number(Id.slice(1))]
            const own = points.get(node) ?? {}
            own[metric.name] = [
              ...(own[metric.name] ?? []),
              ...Timestamps.map((/** @type {Date} */ time, /** @type {number} */ i) => ({
                t: time.getTime(),
                value: Values[i],
              })),
            ]
          }
          token = page.NextToken
        } while (token)
      }
      for (const own of points.values()) for (const list of Object.values(own)) list.sort((a, b) => a.t - b.t)
      return points
    },
  }
}
