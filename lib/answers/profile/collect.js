// What servers say of themselves and of a sample of their keys, within a budget: counters each second, names by SCAN, a few
// questions about some of the keys, and what else a server can tell (readings.js), at the beginning and at the end.
import { setTimeout as sleep } from 'node:timers/promises'
import { count } from '../../base/units.js'
import { parseInfo } from '../../wire/info.js'
import { asking } from './ask.js'
import { amountsOf } from './noise.js'
import { readings } from './readings.js'
import { sampling } from './sample.js'

/**
 * @import { Info } from '../../wire/info.js'
 * @import { Master } from './ask.js'
 */

// Less sees too few keys of a server that has little to do.
const leastPerS = 10
// A server's CPU that looking may take.
const cpuShare = 0.005

/** @param {readonly Info[]} infos @param {string} field */
export const total = (infos, field) =>
  infos.reduce((sum, { fields }) => sum + (Number(fields[field]) || 0), 0)

/** What commands of these names took of the servers' CPU: ours at most. @param {readonly Info[]} begin @param {readonly Info[]} end @param {Record<string, number>} calls */
const usedUs = (begin, end, calls) => {
  let sum = 0
  for (const [i, { commands }] of end.entries())
    for (const name of Object.keys(calls))
      sum += (commands[name]?.usec ?? 0) - (begin[i].commands[name]?.usec ?? 0)
  return sum
}

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
  const infos = () =>
    Promise.all(
      masters.map(async (master) => {
        const [{ error, reply }] = await questions.ask(master, [['INFO', 'all']])
        if (error) throw error
        return parseInfo(String(reply))
      }),
    )

  const began = { bytes: questions.bytes(), commands: 0, writes: 0 }
  const begin = await infos()
  const startMs = clock()
  const perS = total(begin, 'instantaneous_ops_per_sec')
  const floor = leastPerS * masters.length
  if (perS * budget < floor)
    say?.(`the servers have ${count(perS)} commands/s: looking sends ${count(floor)}/s, more than --budget`)
  Object.assign(began, { commands: questions.count(), writes: questions.writes() })
  await others.begin(begin)
  let latest = begin
  let isDone = false
  /** Looks within what may be used until the second is over. @param {number} seconds @param {number} secondMs */
  const lookAround = async (seconds, secondMs) => {
    const theirs =
      total(latest, 'total_commands_processed') - total(begin, 'total_commands_processed') - questions.count()
    const perS = Math.max(leastPerS * masters.length, (Math.max(0, theirs) / seconds) * budget)
    const isDear = usedUs(begin, latest, questions.calls) > seconds * 1e6 * cpuShare * masters.length
    const isOver = () => stop.aborted || clock() - secondMs >= 1000
    while (!isDone && !isDear && !isOver() && questions.count() - began.commands < perS * (seconds + 1)) {
      isDone = !(await sample.step())
      // Evenly over the second.
      const wait = (1000 * 6) / perS - 1
      if (wait > 1) await sleep(Math.min(wait, 200))
    }
  }
  const series = [amountsOf(begin, 0)]
  while (!stop.aborted && clock() - startMs < durationMs) {
    const secondMs = clock()
    latest = await infos()
    const seconds = Math.max(0.001, (clock() - startMs) / 1000)
    series.push(amountsOf(latest, seconds))
    await lookAround(seconds, secondMs)
    onSecond?.(Math.round(seconds))
    const restMs = Math.min(1000 - (clock() - secondMs), durationMs - (clock() - startMs))
    if (restMs > 0) await sleep(restMs, undefined, { signal: stop }).catch(() => {})
  }
  const used = questions.count() - began.commands
  const end = await infos()
  const seconds = (clock() - startMs) / 1000
  const bytes = questions.bytes()
  const read = await others.end(end)
  return {
    begin,
    end,
    seconds,
    series,
    own: {
      calls: { ...questions.calls },
      used,
      reads: questions.writes() - began.writes,
      us: usedUs(begin, latest, questions.calls),
      in: bytes.in - began.bytes.in,
      out: bytes.out - began.bytes.out,
    },
    patterns: sample.patterns(),
    complete: sample.isComplete(),
    read,
    remarks: [...others.remarks],
    refused: [...questions.refused],
    unknown: [...questions.unknown],
  }
}

/** @typedef {Awaited<ReturnType<typeof collected>>} Collected */
