// What docs/studies/counters.md says of the experiment in docs/data: its tables and its pictures.
import { micros } from '../../lib/base/units.js'
import { counterBundles, counterTimes, figureOf, increments, labelOf, timeOf } from '../pictures/counters.js'
import { figureText } from './findings.js'
import { table } from './reference.js'

/** @import { ExperimentDocument } from '../../lib/result/experiment-document.js' */

const ways = ['loop', 'auto-pipeline', 'pipeline', 'transaction', 'script', 'function']
const places = ['direct', '1 ms', '2 ms', '5 ms']
const sizes = [10, 100, 1000, 10_000, increments]
const parts = ['waiting', 'preparing', 'sending', 'parsing', 'other']

const shown = (/** @type {number | null} */ ms) => (ms === null ? '–' : micros(ms * 1000))

/** Time for all increments by round trip, in both numbers of them. @param {ExperimentDocument} document */
export const countersByDelay = (document) =>
  [
    table(
      ['50,992 increments', ...places.map((place) => (place === 'direct' ? 'no proxy' : place))],
      ways.map((way) => [way, ...places.map((place) => shown(timeOf(document, labelOf(way, place))))]),
    ),
    '',
    table(
      ['1 million increments', 'no proxy', '5 ms'],
      ways.slice(1).map((way) => [
        way,
        ...['direct', '5 ms'].map((place) => {
          const rate = figureOf(document, `1M, ${labelOf(way, place)}`, 'passes.increments.rate')
          return shown(rate === null ? null : 1e9 / rate)
        }),
      ]),
    ),
  ].join('\n')

/** Where the time goes without a delay. @param {ExperimentDocument} document */
export const countersParts = (document) =>
  table(
    ['way', 'time', ...parts, 'server CPU per increment'],
    ways.map((way) => {
      const label = labelOf(way, 'direct')
      const figure = (/** @type {string} */ name) => figureOf(document, label, name)
      return [
        way,
        ...['whole', ...parts].map((part) => shown(figure(`bundles.time_ms.${part}`))),
        figureText('server.cpu_us_per_item', figure('server.cpu_us_per_item') ?? undefined),
      ]
    }),
  )

/** By the size of a bundle. @param {ExperimentDocument} document */
export const countersBySize = (document) =>
  table(
    [
      'increments in a bundle',
      'pipeline at 1 ms',
      'script at 1 ms',
      'longest wait of another client, scripts',
    ],
    sizes.map((size) => {
      const n = size.toLocaleString('en')
      const wait = figureOf(document, `1M, script of ${n}, direct`, 'bystander.max')
      return [
        n,
        shown(timeOf(document, `pipeline of ${n}, 1 ms`)),
        shown(timeOf(document, `script of ${n}, 1 ms`)),
        wait === null ? '–' : micros(wait),
      ]
    }),
  )

/**
 * The size of bundles whose round trips take as long as the work of client and server; null: none of the sizes reaches it.
 * @param {ExperimentDocument} document
 * @param {string} way
 */
const balanceOf = (document, way) => {
  const shares = sizes.flatMap((size) => {
    const label = `${way} of ${size.toLocaleString('en')}, 1 ms`
    const whole = timeOf(document, label)
    const delay = figureOf(document, label, 'bundles.delay.added')
    return whole === null || delay === null
      ? []
      : [{ size, share: (Math.ceil(increments / size) * delay) / whole }]
  })
  for (const [i, { size, share }] of shares.entries()) {
    const next = shares[i + 1]
    if (next === undefined || share < 0.5 || next.share >= 0.5) continue
    const part = (share - 0.5) / (share - next.share)
    return Math.exp(Math.log(size) + part * Math.log(next.size / size))
  }
  return null
}

/** Where waiting equals work. @param {ExperimentDocument} document */
export const countersBalance = (document) => {
  const each = ['pipeline', 'script'].map((way) => {
    const size = balanceOf(document, way)
    return size === null
      ? `of no bundle of a ${way}`
      : `of ${Number(size.toPrecision(2)).toLocaleString('en')} for a ${way}`
  })
  return `The round trips of 1 ms take as long as the work of client and server in bundles ${each.join(' and ')}.`
}

/** @param {ExperimentDocument} document */
export const countersPictures = (document) => ({
  'counters-times': counterTimes(document),
  'counters-bundles': counterBundles(document),
})
