// An experiment on many boxes: box 1 has the matrix and its results, and announces each turn on the control; every box
// plays its part of the turn's writers, as one run of the fleet.
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { MillraceError, OptionError, TargetError } from '../base/errors.js'
import { boxMs, fleetKeys, openControl } from '../fleet/control.js'
import { namesOfWriters } from '../loads/names-of-strategy.js'
import { readAs } from '../options/values.js'
import { leased } from '../run/agents.js'
import { controlPlace, meetingAt } from '../run/fleet.js'
import { disconnect } from '../servers/disconnect.js'
import { leaseKey } from '../servers/leases.js'
import { NotHere } from './experiment-servers.js'
import { NoResult } from './programs.js'

/**
 * @import { Place } from '../fleet/control.js'
 * @import { Cell, Turn } from './matrix.js'
 * @import { Values } from '../options/values.js'
 *
 * @typedef {object} Part what a box plays of a turn
 * @property {string} run of the fleet
 * @property {number} number of the box, from 1
 * @property {number} boxes
 * @property {string} control its URL
 *
 * @typedef {{ at: number, cell: string, round: number, run: string }} Announced
 * @typedef {Awaited<ReturnType<typeof joinBoxes>>} Boxes
 */

const checkEveryMs = 300
const keptMs = 24 * 3600 * 1000
const goneMs = 3 * boxMs

/** Why a cell needs a single box; null: it does not. @param {Cell} cell @param {string} strategy */
const refusal = ({ legs }, strategy) => {
  if (legs.length > 1 || legs[0].action) return 'its phases follow each other on one box'
  if (legs[0].consumer) return 'its readers are started by one box'
  return namesOfWriters(strategy).inBatches ? null : 'it has no writers that boxes could share'
}

/** @param {Cell} cell @param {string} strategy */
export const refuseOneBox = (cell, strategy) => {
  const why = refusal(cell, strategy)
  if (why) throw new NotHere(`on one box only: ${why}`)
}

/**
 * What each box of an experiment on many boxes typed.
 * @param {Values} values
 * @param {{ url?: string, caFile?: string }} control
 * @param {boolean} isOne an experiment, on a target of its own
 */
export const boxesAsked = (values, { url = '', caFile }, isOne) => {
  const { boxes, run: name, resume } = values
  if (boxes === undefined) {
    if (values.control || name)
      throw new OptionError('--control and --run need --boxes, the number of boxes that run the experiment')
    return null
  }
  const read = readAs('server', url)
  /** @type {Parameters<typeof controlPlace>[0] | undefined} */
  const control = read ? Object(read) : undefined
  if (!control || !name)
    throw new OptionError('--boxes needs --control (or MILLRACE_CONTROL) and --run, the same on every box')
  if (!isOne)
    throw new OptionError('--boxes needs one experiment, and the address of a target: --host or --url')
  if (resume) throw new OptionError('--resume and --boxes exclude each other: start again with another --run')
  return {
    placeOfControl: (/** @type {(line: string) => void} */ say) => controlPlace(control, { caFile }, say),
    url,
    run: String(name),
    boxes: Number(boxes),
  }
}

/**
 * @param {NonNullable<ReturnType<typeof boxesAsked>>} fleet
 * @param {object} fixed that all boxes must have typed
 * @param {{ say: (line: string) => void, signal: AbortSignal }} needs
 */
export const joinBoxes = async ({ placeOfControl, url, run, boxes }, fixed, { say, signal }) => {
  const place = await placeOfControl(say)
  const client = await openControl(place)
  const { head } = fleetKeys(run)
  const numbers = { prefix: head, totalAgents: boxes, readers: 'box' }
  const office = await leased(
    { target: meetingAt(place), run, say, onLost: say, signal, token: randomUUID(), lastMs: boxMs },
    numbers,
    'next',
  ).catch((error) => {
    disconnect(client)
    throw error
  })
  const [number] = office.agents
  const close = async () => {
    await office.release()
    disconnect(client)
  }
  const digest = createHash('sha1').update(JSON.stringify(fixed)).digest('hex')
  const [experimentKey, turnKey] = [`${head}experiment`, `${head}turn`]
  let at = 0
  /** @param {object} turn */
  const tell = async (turn) => {
    await client.set(turnKey, JSON.stringify(turn), 'PX', keptMs)
  }
  /** null also while the control server does not answer: the caller asks again. @param {string} key @returns {Promise<string | null>} */
  const ask = (key) => client.get(key).catch(() => null)
  const begin = async () => {
    if (number > 1) return
    if ((await client.set(experimentKey, digest, 'PX', keptMs, 'NX')) === null)
      throw new TargetError(`--run ${run} was used before; give another --run`, { code: 'RUN_ENDED' })
  }
  await begin().catch(async (error) => {
    await close()
    throw error
  })
  say(`box ${number} of ${boxes}${number > 1 ? ': plays what box 1 announces, which keeps the results' : ''}`)

  return {
    number,
    close,
    /** Box 1 plays a turn. @param {Turn} turn @returns {Promise<Part>} */
    async announce({ cell, round }) {
      at++
      const name = `${run}.${at}.${cell.id}`.slice(0, 60).replace(/[^\w.-]/g, '-')
      await tell({ at, cell: cell.id, round, run: name })
      return { run: name, number, boxes, control: url }
    },
    end: () => tell({ at: -1 }),
    /**
     * Another box waits for the next turn.
     * @returns {Promise<(Announced & { part: Part }) | null>} null: the experiment has ended
     */
    async next() {
      let seenMs = performance.now()
      for (; !signal.aborted; await sleep(checkEveryMs)) {
        const theirs = await ask(experimentKey)
        if (theirs !== null && theirs !== digest)
          throw new OptionError(
            `--run ${run}: box 1 runs another experiment, or differs in --scale, --duration, --warm-up or --boxes; give the same on every box`,
          )
        if ((await ask(leaseKey(numbers, 1))) !== null) seenMs = performance.now()
        const text = await ask(turnKey)
        const turn = /** @type {Announced | null} */ (
          theirs === null || text === null ? null : JSON.parse(text)
        )
        if (turn?.at === -1) return null
        if (turn && turn.at > at) {
          at = turn.at
          return { ...turn, part: { run: turn.run, number, boxes, control: url } }
        }
        if (performance.now() - seenMs > goneMs)
          throw new TargetError(`--run ${run}: box 1, which has the experiment, no longer answers`, {
            code: 'LEADER_GONE',
          })
      }
      return null
    },
  }
}

/**
 * Plays what box 1 announces, to its end.
 * @param {Boxes} boxes
 * @param {readonly Cell[]} cells
 * @param {(cell: Cell, part: Part) => Promise<unknown>} play
 * @param {(line: string) => void} say
 */
export const followBoxes = async (boxes, cells, play, say) => {
  for (let turn = await boxes.next(); turn; turn = await boxes.next()) {
    const { cell: id, run, part } = turn
    const cell = cells.find((one) => one.id === id)
    if (!cell) throw new OptionError(`box 1 runs the cell ${id}, which this experiment does not have`)
    await play(cell, part).catch((error) => {
      // The result of a turn is stored by box 1.
      if (!(error instanceof NoResult || error instanceof NotHere || error instanceof MillraceError))
        throw error
      say(`${run}: ${error.message}`)
    })
  }
}
