// What docs/studies/membership.md says of the sweep in docs/data: its table, bytes per element and per structure fitted from it, and
// its pair of pictures.
import { linearRegression } from 'simple-statistics'
import { membershipMemory, membershipRates, pointsOf, structures } from '../pictures/membership.js'
import { table } from './reference.js'

/**
 * @import { ExperimentDocument } from '../../lib/result/experiment-document.js'
 * @import { Point } from '../pictures/membership.js'
 */

const memory = 'passes.memory_bytes_per_item'
const idBytes = 32
/** Ids of the sweep in docs/data. */
const sweepIds = 1_000_000

/** Elements up to which a structure of text is compact on Redis 7.0; 0: never. @type {Readonly<Record<string, number>>} */
const compactUpTo = { hash: 512, set: 0, zset: 128 }
/** @type {Readonly<Record<string, { element: string, alone: string }>>} */
const published = {
  hash: { element: '70', alone: '37' },
  set: { element: '70', alone: '194' },
  zset: { element: '122', alone: '37' },
}

/** Partitions that ids fall into, of 2^bits. @param {number} bits */
const used = (bits) => 2 ** bits * -Math.expm1(-sweepIds / 2 ** bits)

/** Bytes beside the id: of an element, and of a structure that is shared by few. @param {Point[]} points */
const fitOf = (points) => {
  const { m, b } = linearRegression(points.map(([bits, bytes]) => [used(bits) / sweepIds, bytes - idBytes]))
  return { element: b, structure: m }
}

const shown = (/** @type {number | undefined} */ bytes) => (bytes === undefined ? '–' : bytes.toFixed(0))

/** Bytes per id of every cell. @param {ExperimentDocument} document */
export const membershipSweep = (document) => {
  const columns = structures.map((one) => new Map(pointsOf(document, one, memory)))
  const idsEach = (/** @type {number} */ bits) => sweepIds / 2 ** bits
  const rest = document.rows.filter(({ label }) => !/ 2\^\d+$/.test(label))
  return [
    table(
      ['partitions', 'ids in each', ...structures.map(({ name }) => name)],
      [...columns[0].keys()].map((bits) => [
        `2^${bits}`,
        idsEach(bits) < 0.5 ? 'under 1' : Math.round(idsEach(bits)).toLocaleString('en'),
        ...columns.map((column) => column.get(bits)?.toFixed(1) ?? '–'),
      ]),
    ),
    '',
    table(
      ['other', 'bytes per id', 'false positives'],
      rest.map(({ label, figures }) => {
        const share = figures['passes.false_positives']?.median
        return [
          label,
          figures[memory]?.median.toFixed(2) ?? '–',
          share === undefined ? '–' : `${(share * 100).toPrecision(2)} %`,
        ]
      }),
    ),
  ].join('\n')
}

/** @param {ExperimentDocument} document */
export const membershipFit = (document) => {
  const flat = document.rows.find(({ label }) => label === 'flat')?.figures[memory]?.mean
  const rows = structures.map((one) => {
    const points = pointsOf(document, one, memory)
    const isCompact = (/** @type {Point} */ [bits]) => sweepIds / 2 ** bits <= compactUpTo[one.rows]
    const large = points.filter(([bits]) => bits <= 4).map(([, bytes]) => bytes - idBytes)
    const fit = fitOf(points.filter((point) => compactUpTo[one.rows] === 0 || isCompact(point)))
    const alone = points.find(([bits]) => bits === 24)?.[1]
    return [
      one.name,
      shown(large.reduce((sum, bytes) => sum + bytes, 0) / large.length),
      published[one.rows].element,
      compactUpTo[one.rows] > 0 ? shown(fit.element) : '–',
      shown(fit.structure),
      shown(alone && alone - idBytes),
      published[one.rows].alone,
    ]
  })
  return [
    table(
      [
        'bytes beside the id',
        'an element, large',
        'published',
        'an element, compact',
        'a structure',
        'an id alone in one',
        'published',
      ],
      [['flat key', shown(flat && flat - idBytes), '63', '–', '–', '–', '–'], ...rows],
    ),
  ].join('\n')
}

/** @param {ExperimentDocument} document */
export const membershipPictures = (document) => ({
  'membership-memory': membershipMemory(document, sweepIds),
  'membership-rates': membershipRates(document, sweepIds),
})
