// What must come of a fault for every driver: nothing acknowledged is lost, nothing is executed twice, every item has one
// outcome, the process goes on, and what the library can notice is over when the fault is.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { clientFaults, driverIn, playForClients } from '../../scripts/faults/clients.js'
import { hasDriver, libraryNames } from './peers.js'
import { outcomesOf } from './programs.js'

/** @import { Outcome } from '../../scripts/faults/clients.js' */

// So few that a machine with other work keeps up.
const quantity = 200
/** @param {Outcome} outcome */
const assertAccounted = ({ items, acked, lost, twice, unknown, crashed, code }) => {
  assert.equal(crashed, false)
  assert.equal(code, 130)
  assert.ok(items.acked > 0)
  assert.equal(outcomesOf(items), items.offered)
  assert.equal(acked, items.acked, 'items that are not acknowledged are the ranges of the result')
  assert.equal(lost, 0, 'acknowledged items that the servers do not have')
  assert.equal(twice, 0, 'items that were written twice')
  assert.equal(unknown, 0, 'items in the servers that the run does not know of')
}

/** Why a driver is left out; undefined: its library is there. @returns {Promise<Map<string, string | undefined>>} */
export const driversToTest = async () => {
  const drivers = new Map()
  for (const driver of ['socket', ...libraryNames]) {
    /** @type {string[]} */
    const reasons = []
    await hasDriver({ skip: (reason) => reasons.push(reason) }, driver)
    drivers.set(driver, reasons[0])
  }
  return drivers
}

/** @param {Map<string, string | undefined>} drivers */
export const driversThere = (drivers) =>
  [...drivers.keys()].filter((driver) => drivers.get(driver) === undefined)

/** @param {string} name of the fault @param {(outcome: Outcome) => void} more */
export const driverFaults = async (name, more) => {
  const fault = clientFaults.find((each) => each.name === name)
  assert.ok(fault, name)
  const drivers = await driversToTest()
  describe(name, () => {
    /** @type {Outcome[]} */
    let outcomes = []
    before(async () => {
      outcomes = await playForClients(fault, driversThere(drivers), { quantity })
    })
    for (const driver of [...drivers.keys(), ...(fault.variants ?? [])])
      test(driver, { skip: drivers.get(driverIn(driver)) }, () => {
        const outcome = outcomes.find((each) => each.driver === driver)
        assert.ok(outcome)
        assertAccounted(outcome)
        if (!fault.hangs?.includes(driver)) assert.ok(outcome.goesOn, 'items are acknowledged again')
        more(outcome)
      })
  })
}
