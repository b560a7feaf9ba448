// What clients in open loop can do at most, and the options that would do: by Little's law, from the mean service time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inFlightWords } from '../../lib/loads/clients/in-flight.js'
import { rowsOf } from '../helpers/table.js'

/** @param {Record<string, unknown>} changed of the plan @param {number} achieved @param {number | null} [meanUs] */
const wordsOf = ({ strategy = 'lookup-get', querying = null, ...clients }, achieved, meanUs = 100) =>
  inFlightWords({
    plan: /** @type {any} */ ({
      ...{ clients: { connections: 2, pipeline: 1, ...clients }, nominalHz: 150_000 },
      ...{ strategy, querying },
    }),
    achieved,
    meanUs,
  })

const found = /(.*) operations\/s at a mean service time of (.*?)(: set .*|; take .*)$/
for (const [what, clients, achieved, meanUs, can, set] of rowsOf(`
all connections in use -> {} -> 20000 -> 100 -> 2 connections can do no more than 20,000 -> : set --connections 20 or --pipeline 10
several in flight on each -> {"pipeline":10} -> 100000 -> 200 -> 2 connections, 10 operations in flight on each, can do no more than 100,000 -> : set --connections 4 or --pipeline 20
connections that wait for the client between two operations -> {} -> 15000 -> 100 -> 2 connections can do no more than 15,000 -> : set --connections 26 or --pipeline 13
more than the option takes -> {"connections":100} -> 1000 -> 100000 -> 100 connections can do no more than 1,000 -> : set --pipeline 195
queries, one at a time on each -> {"querying":{}} -> 20000 -> 100 -> 2 connections can do no more than 20,000 -> : set --connections 20
updates of documents that no number of connections can do -> {"strategy":"update-json"} -> 2 -> 1000000 -> 2 connections can do no more than 2 -> ; take a lower rate
most connections idle -> {} -> 5000 -> 100
the rate is sustained -> {} -> 149000 -> 13
nothing was answered -> {} -> 20000 -> null
`))
  test(what, () => {
    const words = wordsOf(JSON.parse(clients), Number(achieved), JSON.parse(meanUs))
    const said = found.exec(words)
    assert.deepEqual([said?.[1], said?.[3]], [can, set])
  })
