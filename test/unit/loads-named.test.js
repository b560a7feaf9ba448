// Which kind of load a run has is asked in the folder of that kind and in the list: everything else goes through
// lib/loads/names.js and the object of the kind. Modules that ask all the same are here with a reason; their numbers may only fall.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LOADS } from '../../lib/loads/index.js'
import { modulesIn, sourceOf } from '../helpers/sources.js'
import { rowsOf } from '../helpers/table.js'

const kinds = Object.keys(LOADS).join('|')
const asked = new RegExp(
  [
    String.raw`\b(?:flow|kind|load)\b(?:\(\w*\))? [!=]== '(?:${kinds})'`,
    String.raw`\b(?:sending|querying)\??\.\w+`,
    String.raw`\bplan\??\.(?:clients|queue)\b`,
    String.raw`\b(?:strategyNames|strategyFlow)\('(?:${kinds})'\)`,
    String.raw`\bLOADS\.\w+`,
  ].join('|'),
  'g',
)

/** How often a module asks. @type {Record<string, [times: number, reason: string]>} */
const allowed = {
  'lib/loads/rhythm.js': [2, 'how long passes and all other writing kinds take is one sentence'],
  'lib/loads/writer-reasons.js': [2, 'reads the connections that the names of a kind say it keeps busy'],
  'lib/probes/memory-cost.js': [1, 'a queue that was drained holds no memory of its jobs'],
  'lib/options/conflicts.js': [2, 'help lists what a strategy takes, by the flow of its writers'],
  'lib/probes/costs.js': [1, 'reads the connections of a plan, if it has some; the kinds import it'],
  'lib/measures/queries.js': [2, 'updates beside queries are judged by their rate in the plan'],
  'lib/measures/latency.js': [1, 'the times of commands are those of batches; the kinds import it'],
  'lib/run/run.js': [2, 'readers claim leases, and workers do not; workers have no run of many boxes'],
  'lib/run/cache-curve.js': [3, 'the curve plays the requests of the connections of a plan, if it has some'],
  'lib/cli/dry-run.js': [1, 'what a worker sends is no fetch'],
  'lib/answers/find/answer.js': [2, 'what readers beside a search did, and the connections of a plan'],
  'lib/workloads/bound-strategy.js': [1, 'a strategy of passes names replies otherwise at a rate'],
  'lib/workloads/counters/strategies.js': [1, 'what counters come to is known after whole passes'],
  'lib/workloads/queue/fields.js': [1, 'the fields of a plan that its own strategy reads'],
  'lib/workloads/lookup/fields.js': [1, 'the fields of a plan that its own strategy reads'],
  'lib/workloads/cache/fields.js': [1, 'the fields of a plan that its own strategy reads'],
}

/** @param {string} text */
const timesIn = (text) => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*/gm, '').match(asked)?.length ?? 0

test('no module outside the folder of a kind of load asks for it, but those with a reason', () => {
  const modules = modulesIn('lib', 'charts').filter(
    (path) => !new RegExp(`^lib/loads/(?:${kinds})/`).test(path),
  )
  const times = modules.map((path) => [path, timesIn(sourceOf(path))])
  const found = Object.fromEntries(times.filter(([, times]) => Number(times) > 0))
  const known = Object.entries(allowed).map(([path, [times]]) => [path, times])
  assert.deepEqual(found, Object.fromEntries(known))
})

test('a question is found', () => {
  for (const [line, times] of rowsOf(`
if (plan.flow === 'workers') return -> 1
const { unit } = namesOfKind(plan) -> 0
if (run.plan.sending?.delivery) return -> 1
  // plan.flow === 'workers' -> 0
`))
    assert.equal(timesIn(line), Number(times), line)
})
