// An experiment becomes the runs that it takes, and the order in which they are taken. Pure.
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { scaledLoad } from './options.js'
import { slug, targetOf } from './schema.js'

/**
 * @import { Experiment, Options } from './schema.js'
 * @import { TurnResult } from './summary.js'
 *
 * @typedef {object} Leg a phase as it will be run; a case without phases has one
 * @property {string} name '' without phases
 * @property {string} row the label of its row
 * @property {string} ratioName as ratios name it, without the variant
 * @property {Options} options of the writer, whole
 * @property {Options | null} consumer
 * @property {'remove-shard' | null} action
 * @property {number | null} published row of the published experiment
 *
 * @typedef {object} Place the servers that a cell needs
 * @property {boolean} cluster
 * @property {number} shards
 * @property {number} replicas
 * @property {string | null} server by its name among the peers, or its path; null: what is installed
 * @property {readonly (readonly [string, string])[]} [config] lines of its configuration beside our own
 * @property {string | null} [module] that they load, by its name among the peers
 * @property {boolean} own no other cell uses them
 *
 * @typedef {object} Cell
 * @property {string} id of its folder
 * @property {string} name
 * @property {string | null} variant
 * @property {string | null} label
 * @property {string | null} note
 * @property {number} processes of the writer
 * @property {string} [home] folder of another version of Millrace
 * @property {Place} place
 * @property {Leg[]} legs
 *
 * @typedef {{ cell: Cell, round: number }} Turn
 */

/** @param {Experiment} experiment @param {{ scale: number }} options @returns {Cell[]} */
export const cellsOf = (experiment, { scale }) => {
  const variants = experiment.variants ?? [{ name: '' }]
  return variants.flatMap((variant) =>
    experiment.cells
      .filter((cell) => !cell.variants || cell.variants.includes(variant.name))
      .map((cell) => {
        const phases = cell.phases ?? [{ name: '', consumer: cell.consumer, published: cell.published }]
        const legs = phases.map((phase) => {
          const options = {
            ...experiment.options,
            ...variant.options,
            ...cell.options,
            ...('options' in phase && phase.options),
          }
          const ratioName = cell.phases ? `${cell.name} / ${phase.name}` : cell.name
          return {
            name: phase.name,
            ratioName,
            row: variant.name ? `${ratioName} (${variant.name})` : ratioName,
            options: experiment.scaled === false ? options : scaledLoad(options, scale),
            consumer: phase.consumer ?? null,
            action: ('action' in phase && phase.action) || null,
            published: phase.published ?? null,
          }
        })
        const asked = cell.processes ?? variant.processes ?? 1
        const agents = Number(legs[0].options['total-agents'] ?? 1)
        const {
          cluster = false,
          shards = cluster ? 3 : 1,
          replicas = cluster ? 1 : 0,
        } = targetOf(experiment, cell)
        const changes = legs.some(({ action }) => action !== null)
        return {
          id: [cell.name, variant.name].filter(Boolean).map(slug).join('--'),
          name: cell.name,
          variant: variant.name || null,
          label: cell.label ?? null,
          note: cell.note ?? null,
          processes: cell.phases ? 1 : Math.min(agents, asked === 'each' ? agents : asked),
          place: {
            cluster,
            shards,
            replicas,
            server: cell.server ?? variant.server ?? null,
            module: cell.module ?? variant.module ?? null,
            config: Object.entries({ ...variant.config, ...cell.config }).map(([name, value]) => [
              name,
              String(value),
            ]),
            own: changes || cell.ownTarget === true,
          },
          legs,
        }
      }),
  )
}

/** @template T @param {readonly T[]} list @param {number} seed @param {number} round @returns {T[]} */
const shuffled = (list, seed, round) => {
  // Neighbouring seeds give similar first numbers; distant ones do not.
  const random = xoroshiro128plus(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(round + 1, 0x85ebca6b))
  const order = [...list]
  for (let i = order.length - 1; i > 0; i--) {
    const j = uniformInt(random, 0, i)
    const swapped = order[i]
    order[i] = order[j]
    order[j] = swapped
  }
  return order
}

/**
 * Rounds in shuffled, then mirrored order: a drift over two rounds changes all cells alike.
 * @param {readonly Cell[]} cells
 * @param {{ repeat: number, seed: number }} options
 * @returns {Turn[]}
 */
export const turnsOf = (cells, { repeat, seed }) =>
  Array.from({ length: repeat }, (_, round) => {
    const order = shuffled(cells, seed, round >> 1)
    return (round % 2 ? order.reverse() : order).map((cell) => ({ cell, round: round + 1 }))
  }).flat()

/**
 * The turns that are left, until there are enough.
 * @param {readonly Cell[]} cells
 * @param {{ repeat: number, seed: number, done: readonly TurnResult[], isEnough: (rounds: number) => boolean }} asked isEnough: asked after every complete round
 * @returns {Generator<Turn, void, unknown>}
 */
export function* turnsUntil(cells, { repeat, seed, done, isEnough }) {
  const known = new Set(done.map(({ cell, round }) => `${cell} ${round}`))
  const left = turnsOf(cells, { repeat, seed }).filter(({ cell, round }) => !known.has(`${cell.id} ${round}`))
  for (const [at, turn] of left.entries()) {
    const isBegin = turn.round > 1 && left[at - 1]?.round !== turn.round
    const isWhole = left.filter(({ round }) => round === turn.round).length === cells.length
    if (isBegin && isWhole && isEnough(turn.round - 1)) return
    yield turn
  }
}
