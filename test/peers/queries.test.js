// Queries by RediSearch and updates by RedisJSON, on the servers that the modules run on: held against a witness in Python.
import { describe, test } from 'node:test'
import { strategyNamed, strategyNames } from '../../lib/workloads/index.js'
import { peer } from '../helpers/peers.js'
import { compareUpdates, compareWithWitness, queryServer } from '../helpers/queries.js'

/** @import { TestContext } from 'node:test' */

const names = strategyNames('clients').filter((name) => {
  const { workload, variants } = strategyNamed(name)
  return workload === 'query' && variants !== null
})

/** @param {TestContext} t @param {string} version @param {string[]} modules */
const placeWith = (t, version, modules) => {
  const [bin, search, json] = [version, ...modules].map((one) => peer(t, one))
  if (!bin || !search || (modules.length > 1 && !json)) return null
  // The same directive twice: names of directives may be in capitals.
  return queryServer(t, { bin, config: { loadmodule: search, ...(json && { LOADMODULE: json }) } })
}

describe('modules for queries', { concurrency: 3 }, () => {
  for (const version of ['redis-8.2', 'valkey-9.1']) {
    for (const name of names)
      test(`${name} on ${version}`, async (t) => {
        const place = await placeWith(t, version, ['redisearch', 'rejson'])
        if (place) await compareWithWitness(name, place)
      })
    test(`update-json on ${version}`, async (t) => {
      const place = await placeWith(t, version, ['rejson'])
      if (place) await compareUpdates('update-json', place, 'json.set')
    })
  }
})
