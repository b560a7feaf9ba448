// A search on a fleet: every box plays each step at the same moment, and the leading box decides by the results of all.
import { TargetError } from '../base/errors.js'
import { client, usesOf } from '../measures/client.js'
import { amount, counts, worst } from '../measures/fields.js'
import { put, secondOfSources, sectionOf } from '../measures/fold.js'
import { recordOf, TIMES_BY_DUE } from '../measures/index.js'
import { mergedPercentiles } from '../probes/latency.js'
import { percentilesOf } from './conductor.js'

/**
 * @import { Step } from '../answers/find/bracket.js'
 * @import { Member } from '../fleet/member.js'
 * @import { Conducted, conductorOf, Played, SecondRecord } from './conductor.js'
 */

// A step begins this long after it is decided, so that every box has heard of it.
const leadMs = 150
// Before the confirmation the counters of the servers are read.
const confirmLeadMs = 1500
// A box reports a step after its last second, when all is answered; the leader waits for at most this long.
const reportMs = 15_000
// The leader computes its fit between two steps; the others wait for at most this long.
const nextMs = 60_000

const ofClients = recordOf([client])
const ofSeconds = { items: counts(), achieved: amount('count'), waited_ms: worst('ms') }

/** @param {readonly Played[]} all the same second on every box @returns {SecondRecord} */
export const secondOfFleet = (all) => {
  const seconds = all.map(({ second }) => second)
  const [first] = seconds
  const [clients, added] = [secondOfSources(), secondOfSources()]
  for (const played of all) {
    clients.add(played, ofClients)
    added.add(played.second, ofSeconds)
  }
  const merged = {
    ...first,
    ...added.sum,
    latency_us: { intended: null, service: null },
    client: usesOf(sectionOf(clients.sum, 'client')),
    backlog_grows: seconds.some((second) => second.backlog_grows),
  }
  for (const path of TIMES_BY_DUE) {
    put(merged, path, percentilesOf(mergedPercentiles(all.flatMap(({ hdr }) => hdr[path] ?? []))))
  }
  return merged
}

const lostBox = () =>
  new TargetError('a box ended before the search: start it again, with all boxes', { code: 'FLEET_MISSING' })

/**
 * The part of this box in a search: it leads, or plays the steps that it hears of.
 * @template Answer
 * @param {object} needs
 * @param {Member} needs.fleet
 * @param {ReturnType<typeof conductorOf<Answer>>} needs.conductor
 * @param {(step: Step) => void} needs.onStep
 */
export const searchOnFleet = ({ fleet, conductor, onStep }) => {
  const { player } = conductor
  const steps = fleetStepsOf(fleet.control, fleet.id, player.isOver)
  /** Seconds of the confirmation, of all boxes. @type {Played[]} */
  const confirming = []

  /** @param {Conducted} run @param {number} boxes */
  const leading = (run, boxes) => {
    let n = 0
    return conductor.conduct(run, async (own, step) => {
      const atMs = own.writing.elapsed() + (step.phase === 'confirm' ? confirmLeadMs : leadMs)
      // JSON has no infinity: null is 'as fast as possible'.
      await steps.say({ ...step, rate: Number.isFinite(step.rate) ? step.rate : null, atMs })
      await steps.report(n, await player.play(own, step, atMs))
      const all = await steps.reports(n++, boxes, reportMs)
      if (all === null) return []
      if (all.some(({ length }) => length < step.seconds)) throw lostBox()
      if (step.phase === 'confirm') confirming.push(...all.flat())
      return all[0].map((/** @type {unknown} */ _, /** @type {number} */ i) =>
        secondOfFleet(all.map((played) => played[i])),
      )
    })
  }

  /** @param {Conducted} run */
  const following = async (run) => {
    player.begin(run)
    try {
      for (let n = 0; !player.isOver(); n++) {
        const heard = await steps.heard(n, nextMs)
        if (heard === null || heard.isOver) return
        const { atMs, ...step } = { ...heard, rate: heard.rate ?? Number.POSITIVE_INFINITY }
        onStep(step)
        await steps.report(n, await player.play(run, step, atMs))
      }
    } finally {
      player.end(run)
    }
  }

  return {
    steps,
    /** Percentiles of all boxes over the confirmation. @param {string} path */
    confirmed: (path) => mergedPercentiles(confirming.flatMap(({ hdr }) => hdr[path] ?? [])),
    /** @param {Conducted} run @returns {Promise<{ isLeader: boolean, answer: Answer | null }>} */
    async conduct(run) {
      if (!fleet.leads()) {
        await following(run)
        return { isLeader: false, answer: null }
      }
      // Boxes that read beside a search play no steps.
      const boxes = (await fleet.live()).live.filter(({ kind }) => kind === 'producer').length
      try {
        return { isLeader: true, answer: await leading(run, boxes) }
      } finally {
        await steps.say({ isOver: true }).catch(() => {})
      }
    },
  }
}

// The steps of a search on a fleet: the box that leads says what all play and when, and each says what it saw. On the control
// until the run's other keys are.
/**
 * @import { ChainableCommander } from 'ioredis'
 * @import { Control } from '../fleet/control.js'
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
const fleetStepsOf = ({ client, keys: { head } }, box, isOver) => {
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
