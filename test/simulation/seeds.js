// Plays seeds one after the other; of one that fails it finds the fewest faults that still break it.
import { describeFault } from './faults.js'
import { play } from './play.js'
import { brokenIn } from './properties.js'

/**
 * @typedef {object} Driver
 * @property {string} name
 * @property {(options: import('../../lib/transport/socket.js').DriverOptions) => Promise<any>} open
 */

/**
 * @param {Driver} driver
 * @param {number} seed
 * @param {number[]} [keep] which of its faults
 */
export const playSeed = async (driver, seed, keep) => {
  try {
    const played = await play({ seed, keep, openDriver: driver.open })
    return { broken: brokenIn(played), faults: played.faults, items: played.ledger.whole }
  } catch (error) {
    return { broken: [/** @type {Error} */ (error).stack ?? String(error)], faults: null, items: null }
  }
}

/**
 * Faults are left out one by one as long as something still breaks.
 * @param {Driver} driver
 * @param {number} seed
 * @param {number} count of its faults
 */
const shrunk = async (driver, seed, count) => {
  let keep = Array.from({ length: count }, (_, i) => i)
  for (const fault of [...keep]) {
    const fewer = keep.filter((each) => each !== fault)
    if ((await playSeed(driver, seed, fewer)).broken.length > 0) keep = fewer
  }
  return keep
}

const mostFaults = 6

/**
 * What a failing seed breaks, and the line that plays it again; null when nothing breaks.
 * @param {Driver} driver
 * @param {number} seed
 */
export const failureOf = async (driver, seed) => {
  const first = await playSeed(driver, seed)
  if (first.broken.length === 0) return null
  const keep = await shrunk(driver, seed, first.faults?.length ?? mostFaults)
  const { broken, faults } = await playSeed(driver, seed, keep)
  return [
    `play it again: node scripts/simulate.js --driver ${driver.name} --seed ${seed} --faults ${keep.join(',') || 'none'}`,
    ...(faults ?? []).map((fault) => `  ${describeFault(fault)}`),
    ...broken.map((line) => `  broken: ${line}`),
  ].join('\n')
}
