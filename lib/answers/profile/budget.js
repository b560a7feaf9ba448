// The budget of a profile: a share of the servers' commands, and of their CPU. Pure.
import { asPercent } from '../../base/units.js'

/**
 * @import { Info } from '../../wire/info.js'
 * @import { Asking } from './collect.js'
 */

// Fewer commands a second would see too few keys of a server with little load.
const leastPerS = 5
// Share of the servers' own CPU that a profile may take: 0.5 % at a budget of 1 %.
const cpuPart = 0.5
// This part of the budget is not used, as the load may decrease.
const kept = 0.1
// Questions to a master at the end beyond those of the beginning.
const endQuestions = 6
// Shorter times do not show a rate.
const leastS = 0.5

/** @param {readonly Info[]} infos @param {string} field */
export const total = (infos, field) =>
  infos.reduce((sum, { fields }) => sum + (Number(fields[field]) || 0), 0)

/** @param {readonly Info[]} infos */
const cpuUs = (infos) => (total(infos, 'used_cpu_user') + total(infos, 'used_cpu_sys')) * 1e6

/**
 * An upper limit of the server CPU that our questions took: commands of these names, and our part by bytes read of the CPU
 * outside commands.
 * @param {readonly Info[]} begin
 * @param {readonly Info[]} end
 * @param {Record<string, number>} calls
 * @param {number} writes
 */
const usedUs = (begin, end, calls, writes) => {
  let [ours, all] = [0, 0]
  for (const [i, { commands }] of end.entries())
    for (const [name, { usec }] of Object.entries(commands)) {
      const took = usec - (begin[i].commands[name]?.usec ?? 0)
      all += took
      if (Object.hasOwn(calls, name)) ours += took
    }
  const reads = total(end, 'total_reads_processed') - total(begin, 'total_reads_processed')
  return ours + Math.max(0, cpuUs(end) - cpuUs(begin) - all) * Math.min(1, writes / Math.max(1, reads))
}

/** @param {{ begin: readonly Info[], questions: Asking, budget: number, durationS: number }} needs */
export const budgetOf = ({ begin, questions, budget, durationS }) => {
  const floor = leastPerS * begin.length
  const cpuShare = budget * cpuPart
  const before = { commands: questions.count(), writes: questions.writes() }
  const used = () => questions.count() - before.commands
  const ourUs = (/** @type {readonly Info[]} */ infos) =>
    usedUs(begin, infos, questions.calls, questions.writes() - before.writes)
  // At first, the servers' own rates, and the CPU since they started.
  const uptimeS = Math.max(1, total(begin, 'uptime_in_seconds') / begin.length)
  let theirs = { perS: total(begin, 'instantaneous_ops_per_sec'), cpuUs: cpuUs(begin) / uptimeS }
  let latest = begin
  let latestUsed = 0
  let reserve = 0
  /** Whether the questions took more of the servers' CPU than allowed until then. @param {number} seconds */
  const isDear = (seconds) =>
    ourUs(latest) * Math.max(1, used() / Math.max(1, latestUsed)) > theirs.cpuUs * cpuShare * seconds
  const budgetPerS = () => Math.max(0, theirs.perS) * budget * (1 - kept)
  return {
    floor,
    isEnough: theirs.perS * budget >= floor,
    used,
    isDear,
    perS: () => Math.max(floor, budgetPerS()),
    /** Reserves questions for the end: those of the beginning, and more. */
    keepForEnd: () => {
      reserve = used() + endQuestions * begin.length
    },
    /** @param {readonly Info[]} infos @param {number} s since the beginning */
    note: (infos, s) => {
      latest = infos
      latestUsed = used()
      const commands = total(infos, 'total_commands_processed') - total(begin, 'total_commands_processed')
      if (s > leastS) theirs = { perS: (commands - used()) / s, cpuUs: (cpuUs(infos) - cpuUs(begin)) / s }
    },
    /** How many more questions may be asked. @param {number} untilS @param {number} most */
    isLeft: (untilS, most) => {
      const s = Math.min(untilS, durationS)
      return used() < floor * s || (used() + most <= budgetPerS() * s - reserve && !isDear(s))
    },
    /** The usage until now, by counters read a moment later. */
    cost: () => {
      const [asked, writes, calls] = [used(), questions.writes() - before.writes, { ...questions.calls }]
      return (/** @type {readonly Info[]} */ end) => {
        const us = usedUs(begin, end, calls, writes)
        const cpu = us / Math.max(1, cpuUs(end) - cpuUs(begin))
        const said = `profiling used ${asPercent(cpu)} of the servers' own CPU, more than ${asPercent(cpuShare)}: with so little load, fewer questions would see nothing; a longer --duration takes a smaller share`
        return { used: asked, reads: writes, us, cpu, remarks: cpu > cpuShare ? [said] : [] }
      }
    },
  }
}
