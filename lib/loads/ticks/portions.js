// Begins a tick of all writers in this process one portion at a time: the values and the ids of the same items. A batch of
// few items is one portion.

/**
 * @import { ledgerOf } from '../../probes/ledger.js'
 * @import { Tick } from '../../transport/send-queue.js'
 * @import { Driver } from './writer.js'
 *
 * @typedef {ReturnType<typeof tickInPortions>} TickInPortions
 */

/**
 * @param {object} needs
 * @param {Tick[]} needs.ticks one a writer
 * @param {Pick<Driver, 'portionsOf' | 'carriersOf' | 'offer'>} needs.driver
 * @param {Pick<ReturnType<typeof ledgerOf>, 'seal' | 'skipPart'>} needs.ledger
 * @param {number} [needs.from] the portion that is begun first; after the last comes the first
 */
export const tickInPortions = ({ ticks, driver, ledger, from = 0 }) => {
  const counts = ticks.map((tick) => driver.portionsOf(tick).length)
  const most = Math.max(...counts)
  let begun = 0
  const place = () => (from + begun) % most

  /** @param {(tick: Tick, portion: number) => void} what is done with the next portion; true: it was the last */
  const take = (what) => {
    const at = place()
    for (const [t, tick] of ticks.entries()) if (at < counts[t]) what(tick, at)
    begun++
    if (begun < most) return false
    for (const { account } of ticks) ledger.seal(account)
    return true
  }
  const skip = (/** @type {Tick} */ tick, /** @type {number} */ portion) => {
    for (const batch of driver.carriersOf(driver.portionsOf(tick)[portion]))
      ledger.skipPart(tick.account, batch)
  }
  return {
    /** Begins the next portion; true: it was the last. */
    next: () => take(driver.offer),
    /** Begins no more of the tick. Returns the first portion that was not begun. */
    giveUp: () => {
      const at = place()
      while (!take(skip)) {}
      return at
    },
  }
}
