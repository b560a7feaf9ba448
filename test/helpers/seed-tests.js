// Seeds of the simulated cluster as tests, a part of them each.
import assert from 'node:assert/strict'
import test from 'node:test'
import './in-background.js'
import { failureOf } from '../simulation/seeds.js'

/** @import { Simulated } from '../simulation/seeds.js' */

const part = 50

/** @param {Simulated} name @param {number} from @param {number} to */
export const seedTests = (name, from, to) => {
  for (let first = from; first <= to; first += part) {
    const last = Math.min(to, first + part - 1)
    test(`${name}: every item is accounted for, whatever breaks: seeds ${first} to ${last}`, async () => {
      for (let seed = first; seed <= last; seed++) assert.equal(await failureOf(name, seed), null)
    })
  }
}
