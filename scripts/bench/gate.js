// Ratios to other tools, held against those in the repository: a machine that is slower today is slower for both sides.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { OptionError } from '../../lib/base/errors.js'
import { separateOf } from '../../lib/compare/separate.js'
import { digits, median } from './room.js'

/**
 * @import { Ratio } from './room.js'
 *
 * @typedef {{ machine: string, recorded: string, ratios: Ratio[] }} Recorded
 */

const file = fileURLToPath(new URL('../../docs/data/bench.json', import.meta.url))
export const leastRounds = 3

/** @returns {Recorded} */
export const recorded = () => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new OptionError('docs/data/bench.json cannot be read: --record makes it', { cause })
  }
}

/** @param {Ratio[]} ratios @param {string} machine */
export const record = (ratios, machine) => {
  const rounded = ratios.map(({ rounds, ...rest }) => ({
    ...rest,
    rounds: rounds.map((value) => Number(value.toPrecision(4))),
  }))
  /** @type {Recorded} */
  const all = { machine, recorded: new Date().toISOString().slice(0, 10), ratios: rounded }
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`)
}

/** A ratio fell if the whole interval against the recorded rounds is worse. @param {Ratio[]} ratios */
export const fallen = (ratios) => {
  const { ratios: before, machine, recorded: day } = recorded()
  const rows = ratios.map(({ name, better, rounds }) => {
    const known = before.find((each) => each.name === name)
    const difference = known ? separateOf(known.rounds, rounds, { better }) : null
    return { name, now: median(rounds), was: known ? median(known.rounds) : null, difference }
  })
  const percent = (/** @type {number | null} */ part) => `${digits(Number(part) * 100, 1)} %`
  const lines = rows.map(({ name, now, was, difference }) => {
    if (!difference || was === null) return `${name}: ${digits(now, 3)}, not in docs/data/bench.json`
    const { verdict, low, high, change } = difference
    const words = { worse: 'FELL', better: 'rose', same: 'as before', unclear: 'no clear difference' }[
      verdict
    ]
    return `${name}: ${digits(now, 3)}, was ${digits(was, 3)}: ${words}, ${percent(change)} (${percent(low)} to ${percent(high)})`
  })
  return {
    lines: [`recorded on ${day}: ${machine}`, ...lines],
    fell: rows.some(({ difference }) => difference?.verdict === 'worse'),
  }
}
