// Single questions beside what is read, through the same driver.

/**
 * @import { ReadDriver } from '../transport/read-driver.js'
 * @import { ValueCommand } from '../workloads/declare.js'
 */

const nothing = () => {}

/** One reply as a number; null: no number came. @param {ReadDriver} driver */
export const numberFrom = (driver) => async (/** @type {string[]} */ args) => {
  let found = /** @type {number | null} */ (null)
  const sink = {
    open: nothing,
    bulk: nothing,
    nil: nothing,
    error: nothing,
    number: (/** @type {number} */ n) => {
      found = n
    },
  }
  await driver.ask(args, args[1], sink, 0).catch(nothing)
  return found
}

/** The value of an id on its master, or null. @param {ReadDriver} driver @param {ValueCommand} command */
export const masterReader =
  (driver, command) =>
  async (/** @type {string} */ id, /** @type {(value: Buffer | null) => void} */ sink) => {
    await driver.askMaster([command.name, id, ...command.after], id, {
      open: nothing,
      number: nothing,
      error: nothing,
      bulk: (bytes, from, to) => sink(bytes.subarray(from, to)),
      nil: () => sink(null),
    })
  }
