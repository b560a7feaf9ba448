// The steps of a search on a fleet: the box that leads says what all play and when, and each says what it saw. On the control
// until the run's other keys are.
import { TargetError } from '../base/errors.js'

/**
 * @import { ChainableCommander } from 'ioredis'
 * @import { Control } from './control.js'
 */

const everyMs = 10
const keptMs = 24 * 3600 * 1000

const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Looks until something is there; a control that is away is asked again.
 * @template T
 * @param {object} needs
 * @param {() => Promise<T | null>} needs.read
 * @param {number} needs.withinMs
 * @param {() => boolean} needs.isOver
 * @returns {Promise<T | null>} null: not in that time, or it is over
 */
const waitedFor = async ({ read, withinMs, isOver }) => {
  const limitMs = performance.now() + withinMs
  while (performance.now() < limitMs && !isOver()) {
    const found = await read().catch(() => null)
    if (found !== null) return found
    await sleep(everyMs)
  }
  return null
}

/** @param {Control} control @param {string} box @param {() => boolean} isOver nothing is waited for any more */
export const fleetStepsOf = ({ client, keys: { head } }, box, isOver) => {
  const steps = `${head}steps`
  const answer = `${head}answer`
  const playedIn = (/** @type {number} */ n) => `${head}played:${n}`
  /** @param {string} key @param {(pipeline: ChainableCommander) => ChainableCommander} write */
  const store = (key, write) => write(client.multi()).pexpire(key, keptMs).exec()
  return {
    /** @param {object} step */
    say: (step) => store(steps, (all) => all.rpush(steps, JSON.stringify(step))),
    /** What is played as the nth. @param {number} n @param {number} withinMs @returns {Promise<any>} null: none came */
    heard: (n, withinMs) =>
      waitedFor({
        read: async () => JSON.parse((await client.lindex(steps, n)) ?? 'null'),
        withinMs,
        isOver,
      }),
    /** What this box saw. @param {number} n @param {object} played */
    report: (n, played) => store(playedIn(n), (all) => all.hset(playedIn(n), box, JSON.stringify(played))),
    /**
     * What all boxes saw.
     * @param {number} n
     * @param {number} boxes
     * @param {number} withinMs
     * @returns {Promise<any[] | null>} null: it is over
     */
    async reports(n, boxes, withinMs) {
      const all = await waitedFor({
        read: async () => {
          const found = Object.values(await client.hgetall(playedIn(n)))
          return found.length >= boxes ? found.map((text) => JSON.parse(text)) : null
        },
        withinMs,
        isOver,
      })
      if (all === null && !isOver())
        throw new TargetError(
          `the search has lost a box: of ${boxes} not all have said within ${withinMs / 1000} s what they saw`,
          { code: 'FLEET_MISSING' },
        )
      if (n > 0) await client.del(playedIn(n - 1)).catch(() => {})
      return all
    },
    /** @param {object} document */
    answered: (document) => store(answer, (all) => all.set(answer, JSON.stringify(document))),
    /** @param {number} withinMs @returns {Promise<any>} */
    answer: (withinMs) =>
      waitedFor({
        read: async () => JSON.parse((await client.get(answer)) ?? 'null'),
        withinMs,
        isOver: () => false,
      }),
  }
}
