// Collects a profile within a budget: counters each second, names by SCAN, a few questions about some of the keys, and other
// reports of a server (readings.js) at the beginning and at the end.
import { setTimeout as sleep } from 'node:timers/promises'
import { count } from '../../base/units.js'
import { parseInfo } from '../../wire/info.js'
import { asking } from './ask.js'
import { budgetOf, total } from './budget.js'
import { amountsOf } from './noise.js'
import { readings } from './readings.js'
import { mostAsked, sampling } from './sample.js'

/**
 * @import { Info } from '../../wire/info.js'
 * @import { Master } from './ask.js'
 */

// If INFO alone exceeds the budget, it is asked less often: this many times, or once in this time.
const fewestInfos = 10
const longestInfoMs = 10_000

/** What changes in a second; servers before 7.0 take one section at a time. @param {Info} info @returns {string[]} */
const changing = ({ fields }) =>
  Number.parseInt(fields.redis_version, 10) >= 7 ? ['stats', 'cpu', 'commandstats', 'keyspace'] : ['all']

/**
 * @param {object} needs
 * @param {readonly Master[]} needs.masters
 * @param {number} needs.durationMs
 * @param {number} needs.budget share of the server's commands
 * @param {AbortSignal} needs.stop
 * @param {(text: string) => void} [needs.say]
 * @param {(seconds: number) => void} [needs.onSecond]
 * @param {() => number} [needs.clock]
 */
export const collected = async ({
  masters,
  durationMs,
  budget,
  stop,
  say,
  onSecond,
  clock = () => performance.now(),
}) => {
  const questions = asking(masters)
  const sample = sampling(questions)
  const others = readings(questions, { durationMs })
  const infos = (/** @type {string[]} */ ...sections) =>
    Promise.all(
      masters.map(async (master) => {
        const [{ error, reply }] = await questions.ask(master, [['INFO', ...sections]])
        if (error) throw error
        return parseInfo(String(reply))
      }),
    )
  const waited = (/** @type {number} */ ms) => sleep(ms, undefined, { signal: stop }).catch(() => {})

  const bytesBefore = questions.bytes()
  const begin = await infos('all')
  const startMs = clock()
  const limits = budgetOf({ begin, questions, budget, durationS: durationMs / 1000 })
  if (!limits.isEnough)
    say?.(
      `the servers have ${count(total(begin, 'instantaneous_ops_per_sec'))} commands/s: looking sends ${count(limits.floor)}/s, more than --share`,
    )
  await others.begin(begin)
  limits.keepForEnd()
  const series = [amountsOf(begin, 0)]
  let isDone = false
  /** Asks questions within the budget until the second is over. @param {number} seconds @param {number} secondMs */
  const lookAround = async (seconds, secondMs) => {
    const isOver = () => stop.aborted || clock() - secondMs >= 1000
    while (!isDone && !isOver() && limits.isLeft(seconds + 1, mostAsked)) {
      const before = limits.used()
      isDone = !(await sample.step())
      // Evenly over the second.
      const wait = (1000 * (limits.used() - before)) / limits.perS() - 1
      if (wait > 1) await waited(Math.min(wait, 1000 - (clock() - secondMs)))
    }
  }
  const rarely = Math.min(longestInfoMs, durationMs / fewestInfos) / 1000
  for (let latestS = 0; !stop.aborted && clock() - startMs < durationMs; ) {
    const secondMs = clock()
    const seconds = (secondMs - startMs) / 1000
    if (seconds - latestS >= rarely || !limits.isDear(seconds)) {
      const latest = await infos(...changing(begin[0]))
      latestS = (clock() - startMs) / 1000
      limits.note(latest, latestS)
      // The first second does not include the questions of the beginning.
      if (latestS < 0.5) series.length = 0
      series.push(amountsOf(latest, latestS))
    }
    await lookAround(seconds, secondMs)
    onSecond?.(Math.round(seconds))
    const restMs = Math.min(1000 - (clock() - secondMs), durationMs - (clock() - startMs))
    if (restMs > 0) await waited(restMs)
  }
  const read = await others.end(begin)
  const [calls, cost] = [{ ...questions.calls }, limits.cost()]
  const end = await infos('all')
  const seconds = (clock() - startMs) / 1000
  const bytes = questions.bytes()
  const { remarks, ...own } = cost(end)
  return {
    begin,
    end,
    seconds,
    series,
    own: { ...own, calls, in: bytes.in - bytesBefore.in, out: bytes.out - bytesBefore.out },
    patterns: sample.patterns(),
    complete: sample.isComplete(),
    stale: sample.staleShare(),
    read,
    remarks: [...others.remarks, ...remarks],
    refused: [...questions.refused],
    unknown: [...questions.unknown],
  }
}

/** @typedef {Awaited<ReturnType<typeof collected>>} Collected */
