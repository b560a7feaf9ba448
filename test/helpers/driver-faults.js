// What must come of a fault for every driver: nothing acknowledged is lost, nothing is executed twice, every item has one
// outcome, the process goes on, and what the library can notice is over when the fault is.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { clientFaults, driverIn, playForClients } from '../../scripts/faults/clients.js'
import { hasDriver, libraryNames } from './peers.js'
import { outcomesOf } from './programs.js'
import { suiteScope } from './servers.js'
import { stageHere } from './stage-here.js'

/** @import { Outcome } from '../../scripts/faults/clients.js' */

// So few that a machine with other work keeps up.
const quantity = 100
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
    drivers.set(driver, undefined)
    await hasDriver({ skip: (reason) => drivers.set(driver, reason) }, driver)
  }
  return drivers
}

export const driversThere = (/** @type {Map<string, string | undefined>} */ drivers) =>
  [...drivers.keys()].filter((driver) => drivers.get(driver) === undefined)

/**
 * Faults of the same servers, one after the other, under the same writers.
 * @param {Record<string, (outcome: Outcome) => void>} checks by the names of the faults, in their order
 */
export const driverFaults = async (checks) => {
  const faults = Object.keys(checks).map(
    (name) => clientFaults.find((each) => each.name === name) ?? assert.fail(name),
  )
  const drivers = await driversToTest()
  describe('under the load of each driver', () => {
    let outcomes = /** @type {Outcome[]} */ ([])
    const scope = suiteScope()
    before(async () => {
      const stage = await stageHere(scope, { cluster: faults[0].cluster })
      outcomes = await playForClients(faults, driversThere(drivers), quantity, stage)
    })
    for (const { name, hangs, variants = [] } of faults)
      for (const driver of [...drivers.keys(), ...variants])
        test(`${name}: ${driver}`, { skip: drivers.get(driverIn(driver)) }, () => {
          const outcome = outcomes.find((each) => each.fault === name && each.driver === driver)
          assert.ok(outcome)
          assertAccounted(outcome)
          if (!hangs?.includes(driver)) assert.ok(outcome.goesOn, 'items are acknowledged again')
          checks[name](outcome)
        })
  })
}
