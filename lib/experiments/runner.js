// A matrix from its first turn to its last, or until it is interrupted.

import { relative } from 'node:path'
import { MillraceError } from '../base/errors.js'
import { series, slowerWhileLimited } from '../base/series.js'
import { withCloudWatchOfRuns } from '../cloudwatch/of-experiment.js'
import { clientLimit } from '../measures/client-limit.js'
import { isOfWorkers } from '../measures/index.js'
import { madeWithParents } from '../result/files.js'
import { isOfReaders, METRICS } from '../result/metrics.js'
import { runCell } from './cell-run.js'
import { NotHere } from './experiment-servers.js'
import { turnsUntil } from './matrix.js'
import { missingDriver } from './options.js'
import { NoResult } from './programs.js'
import { restMs } from './progress.js'
import { experimentDocument } from './summary.js'

/**
 * @import { ExperimentDocument } from '../result/experiment-document.js'
 * @import { Boxes } from './boxes.js'
 * @import { serverPoolOf } from './experiment-servers.js'
 * @import { Cell, Turn } from './matrix.js'
 * @import { openMatrix } from './store.js'
 * @import { Matrix, TurnResult } from './summary.js'
 * @import { RunDocument as Run } from '../result/document.js'
 * @import { Document } from '../result/metrics.js'
 *
 * @typedef {Awaited<ReturnType<typeof openMatrix>>} Store
 * @typedef {ReturnType<typeof serverPoolOf>} ServerPool
 *
 * @typedef {object} Bench where the runs are
 * @property {ServerPool} serverPool
 * @property {NodeJS.ProcessEnv} env of the programs
 * @property {Boxes | null} [boxes] of which this is the first
 *
 * @typedef {object} Rounds
 * @property {Cell[]} cells
 * @property {number} repeat rounds at most
 * @property {number} seed
 * @property {number} seconds
 * @property {number} warmUpS
 * @property {(cell: Cell) => readonly Cell[]} linked cells that run at the same rate as this one, itself among them
 * @property {(rounds: number) => boolean} isEnough asked after every complete round
 *
 * @typedef {object} Watch
 * @property {AbortSignal} signal
 * @property {() => number} clock ms
 * @property {() => Promise<void>} tell writes the document so far
 * @property {(turn: Turn, result: TurnResult, tookMs: number) => void} onTurn
 */

/**
 * What was measured, by name.
 * @param {Document} run run.json of the writer
 * @param {Document | null} reader that of the consumer, where one read
 * @returns {Record<string, number>}
 */
const figuresOf = (run, reader) =>
  Object.fromEntries(
    METRICS.flatMap(({ name, value }) => {
      const document = isOfReaders(name) || (reader?.jobs && isOfWorkers(name)) ? reader : run
      const found = document && value(document)
      return typeof found === 'number' ? [[name, found]] : []
    }),
  )

/** Whether a lower rate may help: in a closed loop and at the highest rate the client always is the limit. @param {Cell} cell */
const mayBeSlower = ({ legs }) =>
  legs.every(({ options }) => options.pacing !== 'closed' && options.rate !== 'max')

/**
 * Whether the client's own work was too much for a rate that was asked for. A lower rate does not help where other
 * processes took the CPU.
 * @param {Pick<Run, 'rate'> & { client: Parameters<typeof clientLimit>[0], warnings: readonly { code: string }[] }} document
 */
export const clientWasTheLimit = ({ client, warnings, rate }) =>
  rate?.nominal !== null &&
  (clientLimit(client) === 'saturated' || warnings.some(({ code }) => code === 'client-saturated'))

/**
 * @param {object} needs
 * @param {Matrix} needs.matrix
 * @param {Store} needs.store
 * @param {Bench} needs.bench
 * @param {Omit<Watch, 'tell'>} needs.watch
 * @param {{ command: string, millrace: string }} needs.about
 * @returns {Promise<ExperimentDocument>}
 */
export const runMatrix = async ({ matrix, store, bench, watch, about }) => {
  if (store.result) return store.result
  const { clock, signal } = watch
  const startMs = clock()
  const document = () =>
    experimentDocument(matrix, store.turns, {
      ...about,
      started: store.started,
      durationS: store.spentS + Math.round(clock() - startMs) / 1000,
    })
  const rounds = { ...matrix, linked: linkedByRatios(matrix), isEnough: () => false }
  await runTurns(rounds, store, bench, { ...watch, tell: () => store.tell(document()) })
  // The runs of earlier sittings have CloudWatch's numbers in their results.
  const final = await withCloudWatchOfRuns(store.folder, document())
  await store.tell(final)
  if (!signal.aborted) await store.finish()
  return final
}

/**
 * Cells of one ratio run at one rate, since CPU per item varies with the rate.
 * @param {Matrix} matrix
 * @returns {(cell: Cell) => readonly Cell[]}
 */
const linkedByRatios = ({ experiment, cells }) => {
  const cellOf = (/** @type {string} */ name) => name.split(' / ')[0]
  const together = (experiment.ratios ?? []).map(({ of, to }) => [cellOf(of), cellOf(to)])
  return (cell) =>
    cells.filter(
      ({ name, variant }) =>
        variant === cell.variant &&
        (name === cell.name || together.some((pair) => pair.includes(name) && pair.includes(cell.name))),
    )
}

/** @param {Awaited<ReturnType<typeof runCell>>['legs'][number]} leg @param {string} inFolder */
const resultOfLeg = ({ leg, document: run, reader, folder, span }, inFolder) => ({
  row: leg.row,
  folder: relative(inFolder, folder),
  figures: figuresOf(run, reader),
  valid: run.valid && (reader?.valid ?? true),
  reasons: [...run.warnings, ...(reader?.warnings ?? [])]
    .filter(({ invalidates }) => invalidates)
    .map(({ code }) => code),
  clientLimited: clientWasTheLimit(run) || (reader !== null && clientWasTheLimit(reader)),
  span,
})

/** The parts of the rate at which cells run, which are those of cells that are linked too. @param {Rounds} rounds @param {readonly TurnResult[]} turns of earlier sittings */
const pacesOf = ({ cells, linked }, turns) => {
  /** @type {Map<string, number>} */
  const factors = new Map()
  const of = (/** @type {Cell} */ { id }) => factors.get(id) ?? 1
  const slower = (/** @type {Cell} */ cell, /** @type {number} */ factor) => {
    for (const one of linked(cell)) factors.set(one.id, Math.min(factor, of(one)))
  }
  for (const { cell, factor } of turns) for (const one of cells) if (one.id === cell) slower(one, factor)
  return { of, slower }
}

/**
 * Plays a turn once.
 * @param {Rounds} rounds
 * @param {Store} store
 * @param {Bench} bench
 * @param {AbortSignal} signal
 */
const playerOf =
  ({ seconds, warmUpS }, store, { serverPool, env, boxes = null }, signal) =>
  /** @param {Turn} turn @param {number} factor @returns {Promise<TurnResult>} */
  async ({ cell, round }, factor) => {
    const missing = cell.legs.flatMap(({ options, consumer }) => [options, consumer]).map(missingDriver)
    for (const words of missing) if (words) throw new NotHere(words)
    const folder = store.folderOf(cell.id, round)
    await store.clear(cell.id, round)
    await madeWithParents(folder)
    const { servers, give } = await serverPool.take(cell.place, restMs(cell))
    try {
      await servers.empty()
      const { legs, timeline } = await runCell({
        cell,
        folder,
        factor,
        servers,
        env,
        signal,
        timing: { seconds, warmUpS },
        part: boxes && (await boxes.announce({ cell, round })),
      })
      return {
        cell: cell.id,
        round,
        factor,
        servers: legs[0].document.versions.servers,
        timeline: timeline && relative(store.folder, timeline),
        legs: legs.map((leg) => resultOfLeg(leg, store.folder)),
      }
    } finally {
      await give()
    }
  }

/**
 * The turns of rounds that are left, until there are enough.
 * @param {Rounds} rounds
 * @param {Store} store
 * @param {Bench} bench
 * @param {Watch} watch
 */
export const runTurns = async (rounds, store, bench, { signal, clock, tell, onTurn }) => {
  const { cells, isEnough } = rounds
  const { serverPool, boxes } = bench
  const paces = pacesOf(rounds, store.turns)
  const attempt = playerOf(rounds, store, bench, signal)
  /** @param {Turn} turn @returns {Promise<TurnResult>} */
  const take = async (turn) => {
    const { cell, round } = turn
    const without = () => ({ cell: cell.id, round, factor: paces.of(cell), legs: [], timeline: null })
    try {
      return await slowerWhileLimited({
        factor: paces.of(cell),
        play: (factor) => attempt(turn, factor),
        isLimited: ({ legs }) =>
          legs.some(({ clientLimited }) => clientLimited) && !signal.aborted && !boxes && mayBeSlower(cell),
        onSlower: (factor) => paces.slower(cell, factor),
      })
    } catch (error) {
      if (error instanceof NotHere) return { ...without(), skipped: error.message }
      if (!(error instanceof NoResult || error instanceof MillraceError)) throw error
      // Throws if no run can succeed: none is begun any more, and this one is not counted.
      if (!signal.aborted) await serverPool.check()
      // Data of a failed run on the servers would change the next one.
      if (!cell.place.own) await serverPool.drop(cell.place)
      return { ...without(), failed: error.message }
    }
  }
  let startMs = clock()
  await series({
    order: turnsUntil(cells, { ...rounds, done: store.turns, isEnough }),
    play: (turn) => {
      startMs = clock()
      return take(turn)
    },
    store: {
      add: async (turn, result) => {
        await store.add(result)
        await tell()
        onTurn(turn, result, clock() - startMs)
      },
      drop: ({ cell, round }) => store.clear(cell.id, round),
    },
    stop: signal,
  })
}
