import assert from 'node:assert/strict'
import test from 'node:test'
import { socketDriver } from '../../lib/drivers/socket.js'
import { failureOf } from './seeds.js'

const driver = { name: 'socket', open: socketDriver }
const part = 50

for (let first = 1; first <= 200; first += part) {
  test(`every item is accounted for, in order, whatever breaks: seeds ${first} to ${first + part - 1}`, async () => {
    for (let seed = first; seed < first + part; seed++) assert.equal(await failureOf(driver, seed), null)
  })
}
