// A matrix from its first turn to its last, or until it is interrupted.
import { relative } from 'node:path'
import { MillraceError } from '../base/errors.js'
import { withCloudWatchOfRuns } from '../cloudwatch/of-experiment.js'
import { clientLimit } from '../measures/client-limit.js'
import { madeWithParents } from '../result/files.js'
import { runCell } from './cell-run.js'
import { restMs } from './duration.js'
import { NotHere } from './experiment-servers.js'
import { figuresOf } from './figures.js'
import { turnsOf } from './matrix.js'
import { missingDriver } from './options.js'
import { NoResult } from './programs.js'
import { experimentDocument } from './summary.js'

/**
 * @import { ExperimentDocument } from '../result/experiment-document.js'
 * @import { Boxes } from './boxes.js'
 * @import { serverPoolOf } from './experiment-servers.js'
 * @import { Cell, Turn } from './matrix.js'
 * @import { openMatrix } from './store.js'
 * @import { Matrix, TurnResult } from './summary.js'
 *
 * @typedef {Awaited<ReturnType<typeof openMatrix>>} Store
 * @typedef {ReturnType<typeof serverPoolOf>} ServerPool
 */

const slowerBy = 0.6
const slowerAttempts = 3

/** Whether a lower rate may help: in a closed loop and at the highest rate the client always is the limit. @param {Cell} cell */
const mayBeSlower = ({ legs }) =>
  legs.every(({ options }) => options.pacing !== 'closed' && options.rate !== 'max')

/**
 * Whether the client's own work was too much for a rate that was asked for. A lower rate does not help where other
 * processes took the CPU.
 * @param {Record<string, any>} document
 */
export const clientWasTheLimit = ({ client, warnings, rate }) =>
  rate?.nominal !== null &&
  (clientLimit(client) === 'saturated' ||
    warnings.some((/** @type {{ code: string }} */ { code }) => code === 'client-saturated'))

/**
 * @param {object} needs
 * @param {Matrix} needs.matrix
 * @param {Store} needs.store
 * @param {ServerPool} needs.serverPool
 * @param {NodeJS.ProcessEnv} needs.env of the programs
 * @param {AbortSignal} needs.signal
 * @param {string} needs.command
 * @param {string} needs.millrace
 * @param {() => number} needs.clock ms
 * @param {(turn: Turn, result: TurnResult, tookMs: number) => void} needs.onTurn
 * @param {Boxes | null} [needs.boxes] of which this is the first
 * @returns {Promise<ExperimentDocument>}
 */
export const runMatrix = async ({ matrix, store, command, millrace, clock, ...needs }) => {
  if (store.result) return store.result
  const startMs = clock()
  const document = () =>
    experimentDocument(matrix, store.turns, {
      started: store.started,
      durationS: store.spentS + Math.round(clock() - startMs) / 1000,
      command,
      millrace,
    })
  await runTurns({
    ...needs,
    ...matrix,
    store,
    clock,
    linked: linkedByRatios(matrix),
    isEnough: () => false,
    tell: () => store.tell(document()),
  })
  // The runs of earlier sittings have CloudWatch's numbers in their results.
  const final = await withCloudWatchOfRuns(store.folder, document())
  await store.tell(final)
  if (!needs.signal.aborted) await store.finish()
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

/**
 * The turns of a matrix that are left, until there are enough.
 * @param {object} needs
 * @param {Cell[]} needs.cells
 * @param {number} needs.repeat rounds at most
 * @param {number} needs.seed
 * @param {number} needs.seconds
 * @param {number} needs.warmUpS
 * @param {Store} needs.store
 * @param {ServerPool} needs.serverPool
 * @param {NodeJS.ProcessEnv} needs.env of the programs
 * @param {AbortSignal} needs.signal
 * @param {() => number} needs.clock ms
 * @param {(cell: Cell) => readonly Cell[]} needs.linked cells that run at the same rate as this one, itself among them
 * @param {(rounds: number) => boolean} needs.isEnough asked after every complete round
 * @param {() => Promise<void>} needs.tell writes the document so far
 * @param {(turn: Turn, result: TurnResult, tookMs: number) => void} needs.onTurn
 * @param {Boxes | null} [needs.boxes] of which this is the first
 */
export const runTurns = async ({
  cells,
  repeat,
  seed,
  seconds,
  warmUpS,
  store,
  serverPool,
  env,
  signal,
  clock,
  linked,
  isEnough,
  tell,
  onTurn,
  boxes = null,
}) => {
  /** @type {Map<string, number>} */
  const factors = new Map()
  for (const { cell, factor } of store.turns)
    for (const { id } of cells.filter((each) => each.id === cell).flatMap(linked))
      factors.set(id, Math.min(factor, factors.get(id) ?? 1))
  const isDone = (/** @type {Turn} */ { cell, round }) =>
    store.turns.some((turn) => turn.cell === cell.id && turn.round === round)

  /** @param {Turn} turn @param {number} factor @returns {Promise<TurnResult>} */
  const attempt = async ({ cell, round }, factor) => {
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
        timing: { seconds, warmUpS },
        factor,
        servers,
        env,
        signal,
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

  /** @param {Turn} turn @returns {Promise<TurnResult>} */
  const take = async (turn) => {
    const { cell, round } = turn
    const nothing = { cell: cell.id, round, factor: factors.get(cell.id) ?? 1, legs: [], timeline: null }
    try {
      for (let left = slowerAttempts; ; left--) {
        const factor = factors.get(cell.id) ?? 1
        const result = await attempt(turn, factor)
        const limited = result.legs.some(({ clientLimited }) => clientLimited)
        if (!limited || left === 0 || signal.aborted || boxes || !mayBeSlower(cell)) return result
        for (const { id } of linked(cell)) factors.set(id, Math.min(factor * slowerBy, factors.get(id) ?? 1))
      }
    } catch (error) {
      if (error instanceof NotHere) return { ...nothing, skipped: error.message }
      if (!(error instanceof NoResult || error instanceof MillraceError)) throw error
      // Throws if no run can succeed: none is begun any more, and this one is not counted.
      if (!signal.aborted) await serverPool.check()
      // Data of a failed run on the servers would change the next one.
      if (!cell.place.own) await serverPool.drop(cell.place)
      return { ...nothing, failed: error.message }
    }
  }

  const left = turnsOf(cells, { repeat, seed }).filter((turn) => !isDone(turn))
  for (const [at, turn] of left.entries()) {
    if (signal.aborted) break
    const isWholeRound = left.filter(({ round }) => round === turn.round).length === cells.length
    if (isWholeRound && turn.round > 1 && left[at - 1]?.round !== turn.round && isEnough(turn.round - 1))
      break
    const turnMs = clock()
    const result = await take(turn)
    // An interrupted turn is not kept.
    if (signal.aborted && !result.skipped) {
      await store.clear(turn.cell.id, turn.round)
      break
    }
    await store.add(result)
    await tell()
    onTurn(turn, result, clock() - turnMs)
  }
}
