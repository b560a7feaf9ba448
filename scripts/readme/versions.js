// docs/studies/versions.md: what each data model costs on each server version against the first, and what turns over between versions.
import { median } from 'simple-statistics'
import { bytes, micros, times } from '../../lib/base/units.js'
import { netCost } from '../../lib/measures/server.js'
import { ratioOf } from '../../lib/result/ratio.js'
import { figureOfRow, quotable } from '../../lib/result/statistics.js'
import { cpuFigureOf } from './findings.js'
import { table } from './reference.js'

/**
 * @import { ExperimentDocument } from '../../lib/result/experiment-document.js'
 * @import { TurnResult } from '../../lib/experiments/summary.js'
 *
 * @typedef {{ model: string, server: string, round: number, valid: boolean, figures: Record<string, number> }} Run
 * @typedef {{ ratio: number, low: number | null, high: number | null }} Ratio
 */

const memory = 'server.memory_bytes_per_item'

/** @param {string} cpu */
const metricsWith = (cpu) => [
  {
    name: cpu,
    title: cpu === netCost ? 'server CPU per item, idle excluded' : 'server CPU per item, idle included',
    shown: micros,
  },
  { name: memory, title: 'memory per item', shown: bytes },
  { name: 'server.net_bytes_per_item', title: 'network per item', shown: bytes },
  { name: 'latency.intended.p99', title: 'p99 from the due time', shown: micros },
]

/** @param {ExperimentDocument} document @param {readonly TurnResult[]} turns @returns {Run[]} */
const runsOf = ({ rows }, turns) => {
  const byLabel = new Map(rows.map(({ label, factors }) => [label, factors]))
  return turns.flatMap(({ round, legs }) =>
    legs.map(({ row, valid, figures }) => ({
      ...{ round, valid, figures },
      model: String(byLabel.get(row)?.case),
      server: String(byLabel.get(row)?.variant),
    })),
  )
}

// What the cell before had left was not yet free when such a run began: farther from the others than memory varies.
const disturbedBy = 0.25

/** Runs of a cell without those whose memory was disturbed. @param {readonly Run[]} runs @param {string} figure @returns {{ runs: readonly Run[], left: number }} */
const undisturbed = (runs, figure) => {
  if (figure !== memory || runs.length < 3) return { runs, left: 0 }
  const middle = median(runs.map(({ figures }) => figures[figure]))
  const kept = runs.filter(({ figures }) => Math.abs(figures[figure] / middle - 1) <= disturbedBy)
  return { runs: kept, left: runs.length - kept.length }
}

/** In the same rounds. @param {readonly Run[]} of @param {readonly Run[]} to @param {string} figure @returns {(Ratio & { left: number }) | null} */
const ratioIn = (of, to, figure) => {
  const [own, other] = [undisturbed(of, figure), undisturbed(to, figure)]
  const pairs = own.runs.flatMap((run) => {
    const beside = other.runs.find(({ round }) => round === run.round)
    const [a, b] = [run.figures[figure], beside?.figures[figure]]
    return beside && a !== undefined && b !== undefined
      ? [{ of: a, to: b, valid: run.valid && beside.valid }]
      : []
  })
  const found = ratioOf(quotable(pairs))
  return found && { ...found, left: own.left + other.left }
}

/** 0.83 (0.80 to 0.86) @param {ReturnType<typeof ratioIn>} found */
const ratioText = (found) => (found === null ? '–' : intervalText(found) + (found.left > 0 ? ' ‡' : ''))

/** @param {Ratio} found */
const intervalText = (found) =>
  found.low === null || found.high === null || found.low === found.high
    ? times(found.ratio)
    : `${times(found.ratio)} (${times(found.low)} to ${times(found.high)})`

/** Below 1 or above it, where the interval shows it. @param {Ratio | null} found */
const sideOf = (found) => {
  if (found === null || found.low === null || found.high === null) return 0
  return found.high < 1 ? -1 : found.low > 1 ? 1 : 0
}

/** @param {ExperimentDocument} document @param {readonly TurnResult[]} turns */
const known = (document, turns) => {
  const runs = runsOf(document, turns)
  const of = (/** @type {string} */ model, /** @type {string} */ server) =>
    runs.filter((run) => run.model === model && run.server === server)
  const unique = (/** @type {'model' | 'server'} */ name) => [
    ...new Set(document.rows.map(({ factors }) => String(factors[name === 'model' ? 'case' : 'variant']))),
  ]
  return { of, models: unique('model'), servers: unique('server'), cpu: cpuFigureOf(document) }
}

/** A table a metric: its value on the first server, and the others against it. @param {ExperimentDocument} document @param {readonly TurnResult[]} turns */
export const versionsTables = (document, turns) => {
  const { of, models, servers, cpu } = known(document, turns)
  return metricsWith(cpu)
    .map(({ name, title, shown }) => {
      const rows = models.map((model) => {
        const own = servers.find((server) => of(model, server).length > 0) ?? servers[0]
        const { runs, left } = undisturbed(of(model, own), name)
        const samples = quotable([...runs]).flatMap(({ figures }) => figures[name] ?? [])
        const value =
          (samples.length > 0 ? shown(Number(figureOfRow(samples).mean)) : '–') + (left > 0 ? ' ‡' : '')
        return [
          model,
          own === servers[0] ? value : `${value} (${own})`,
          ...servers
            .slice(1)
            .map((server) =>
              server === own ? '1' : ratioText(ratioIn(of(model, server), of(model, own), name)),
            ),
        ]
      })
      const [first, ...others] = servers
      return `### ${title}\n\n${table(['model', first, ...others], rows)}`
    })
    .join('\n\n')
}

/** Pairs of models of which one is cheaper on one server, and dearer on another. @param {ExperimentDocument} document @param {readonly TurnResult[]} turns */
export const versionsTurnovers = (document, turns) => {
  const { of, models, servers, cpu } = known(document, turns)
  const lines = metricsWith(cpu)
    .slice(0, 2)
    .flatMap(({ name, title }) =>
      models.flatMap((a, at) =>
        models.slice(at + 1).flatMap((b) => {
          const found = servers.map((server) => ({
            server,
            ratio: ratioIn(of(b, server), of(a, server), name),
          }))
          const [cheaper, dearer] = [-1, 1].map((side) => found.filter(({ ratio }) => sideOf(ratio) === side))
          if (cheaper.length === 0 || dearer.length === 0) return []
          const words = (/** @type {typeof found} */ list) =>
            list.map(({ server, ratio }) => `${server} (${times(Number(ratio?.ratio))})`).join(', ')
          return [`- **${b}** against ${a}, ${title}: less on ${words(cheaper)}; more on ${words(dearer)}.`]
        }),
      ),
    )
  return lines.length > 0 ? lines.join('\n') : 'No pair of models turns over.'
}
