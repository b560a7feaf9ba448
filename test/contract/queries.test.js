// Every way to answer queries, over 1,000 documents on a real server: a witness in another language finds the same answers,
// and a way that is broken on purpose is caught.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { register, strategyNamed, strategyNames } from '../../lib/workloads/index.js'
import { codesIn } from '../helpers/programs.js'
import { compareWithWitness, queryServer } from '../helpers/queries.js'
import { suiteScope } from '../helpers/servers.js'

// Those that need a module are in test/peers.
const names = strategyNames('clients').filter((name) => {
  const { workload, variants } = strategyNamed(name)
  return workload === 'query' && variants === null
})

/** @type {Awaited<ReturnType<typeof queryServer>>} */
let place
const scope = suiteScope()
before(async () => {
  // Scripts that look at all keys would hold up others on a server that is shared.
  place = await queryServer(scope)
})

describe('the same answers as a witness in Python', () => {
  for (const name of names) test(name, () => compareWithWitness(name, place))
})

describe('a way that is broken on purpose is caught', () => {
  /** With another argument at that place. @param {string} name @param {number} at @param {any} argument */
  const judgedWith = async (name, at, argument) => {
    const right = strategyNamed('query-scan')
    /** @param {Parameters<typeof right.operations>} of */
    const operations = (...of) => {
      const { query, ...others } = right.operations(...of)
      return {
        ...others,
        query: query.map((command) => ({ ...command, args: command.args.with(at, argument) })),
      }
    }
    register({ ...right, name, title: 'broken', operations })
    const asked = '--strategy query-scan --items 1000 --with selectivity=0.1,requests=20'
    const document = await place.judged(`${asked} --prefix ${name}:`, name)
    await place.clear()
    return document
  }

  test('sorted the wrong way round', async () => {
    const { queries, valid, ...document } = await judgedWith('broken-sort', 7, 1)
    assert.deepEqual([queries.right, queries.wrong, queries.partial], [0, 20, 0])
    assert.equal(valid, false)
    assert.ok(codesIn(document).includes('wrong-answers'))
    assert.equal(queries.examples[0].verdict, 'wrong')
  })

  test('cut short', async () => {
    const { queries, valid, ...document } = await judgedWith('broken-cut', 9, 7)
    assert.deepEqual([queries.right, queries.wrong, queries.partial], [0, 0, 20])
    assert.equal(valid, false)
    assert.ok(codesIn(document).includes('partial-answers'))
  })

  test('another filter', async () => {
    const { queries, valid } = await judgedWith('broken-filter', 3, 'pending')
    assert.equal(valid, false)
    assert.ok(queries.wrong + queries.partial >= 10, JSON.stringify(queries))
  })
})
