// The limits of a latency, as lines in its chart.
import { entryOf } from '../base/typed.js'
import { line } from './lines.js'

/**
 * @import { RunRecord } from '../result/record.js'
 * @import { Option } from './parts.js'
 */

const usOf = { us: 1, ms: 1e3, s: 1e6 }

/**
 * A line for each upper limit of these metrics.
 * @param {readonly string[]} texts as they were typed: latency.p99<20ms
 * @param {RegExp} metric
 * @param {readonly [from: number, to: number]} span of the other axis
 * @returns {Option[]}
 */
export const limitLines = (texts, metric, [from, to]) =>
  texts.flatMap((text) => {
    const [, name, relation, digits, unit] =
      /^\s*([\w.]+)\s*(<=?)\s*([\d.]+)\s*(us|ms|s)\s*$/.exec(text) ?? []
    if (name === undefined || !metric.test(name)) return []
    const us = Number(digits) * Number(entryOf(usOf, unit))
    const ends = [from, to].map((at) => [at, us])
    const style = { color: '@bad', dashed: true, width: 1, unit: 'us' }
    return line(`limit ${name.split('.').at(-1)}${relation}${digits}${unit}`, ends, style)
  })

/** Latencies over time with the limits that the run had; none without latencies. @param {RunRecord} record @param {RegExp} metric @param {Option[]} series */
export const withLimits = ({ run, seconds }, metric, series) =>
  series.length === 0
    ? series
    : [
        ...series,
        ...limitLines(
          (run.thresholds ?? []).map(({ threshold }) => threshold),
          metric,
          [0, (seconds.at(-1)?.at_ms ?? 0) / 1000],
        ),
      ]
