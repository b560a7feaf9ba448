// Files of results that are not what they are called: the file, and what is wrong in it.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { faultIn } from '../../lib/base/json-schema.js'
import { resultDocument } from '../../lib/result/document.js'
import { CONSUMER, readExperiment, readRecord, readRunDocument, VERIFIABLE } from '../../lib/result/record.js'
import { contradictionIn } from '../../lib/run/check-written.js'
import { auditVerdict } from '../../scripts/audit.js'
import { ownFolder } from '../helpers/programs.js'
import { sampleExperiment, sampleRecord } from '../helpers/sample-record.js'
import { sampleParts } from '../helpers/sample-run.js'

/** A folder with these files is no result. @param {string} what @param {Record<string, string>} files @param {(folder: string) => unknown} read @param {RegExp} words */
const refuses = (what, files, read, words) =>
  test(what, async (t) => {
    const own = ownFolder(t, 'broken')
    for (const [name, text] of Object.entries(files)) writeFileSync(join(own, name), text)
    await assert.rejects(async () => read(own), { name: 'OptionError', message: words })
  })

const whole = resultDocument(sampleParts())

describe('run.json', () => {
  const written = { complete: true, agents: [], not_acked: [null] }
  for (const [what, change, words] of /** @type {[string, object, RegExp][]} */ ([
    ['an empty node', { nodes: [null] }, /run\.json is not the result of a run: 'nodes\.0' must be object$/],
    ['a node without an address', { nodes: [{}] }, /'nodes\.0\.address' is missing$/],
    ['an event without text', { events: [{ at_ms: 1, kind: 'x' }] }, /'events\.0\.text' is missing$/],
    ['an odd plan', { plan: {} }, /'plan\.strategy' is missing$/],
    ['a plan without agents', { plan: { ...whole.plan, agents: null } }, /'plan\.agents' must be array$/],
    ['a plan without chunks', { plan: { ...whole.plan, chunks: 0 } }, /'plan\.chunks' must be >= 1$/],
    ['a plan of no strategy', { plan: { ...whole.plan, strategy: 5 } }, /'plan\.strategy' must be string$/],
    ['no outcomes', { items: {} }, /'items\.offered' is missing$/],
    ['a text for a number', { client: { busy_pct: 'x' } }, /'client\.busy_pct' must be number,null$/],
    ['odd commands', { server: { commands: 5 } }, /'server\.commands' must be object,null$/],
    ['a state that is none', { state: 5 }, /'state' must be equal to one of the allowed values: valid, /],
    ['a reason that is no text', { server: { idle: { why: 0 } } }, /'server\.idle/],
    ['a note that is no text', { server: { memory_note: 5 } }, /'server\.memory_note' must be string,null$/],
    ['calls of no command', { server: { foreign_calls: { calls: 5 } } }, /'server\.foreign_calls\.command'/],
    ['an odd latency', { latency_us: { intended: 5 } }, /'latency_us/],
    ['ranges that are none', { written }, /'written\.not_acked\.0'/],
    ['another kind', { kind: 'toString' }, /'kind' must be producer or consumer$/],
    ['no moment', { started: 'soon' }, /'started' must match pattern/],
    ['a later schema', { schema: 2 }, /run\.json: its schema is 2, and this version/],
    ['no plan', { plan: undefined }, /'plan' is missing$/],
  ]))
    refuses(what, { 'run.json': JSON.stringify({ ...whole, ...change }) }, readRunDocument, words)

  for (const [document, words] of /** @type {[unknown, RegExp][]} */ ([
    [null, /run\.json is not the result of a run$/],
    [5, /run\.json is not the result of a run$/],
    [[], /run\.json is not the result of a run$/],
    [{}, /run\.json: its schema is undefined, and this version of Millrace reads 1$/],
  ])) {
    const text = JSON.stringify(document)
    refuses(text, { 'run.json': text }, readRunDocument, words)
  }

  test('whole ones are taken, also of a later version with more in them', async (t) => {
    const own = ownFolder(t, 'whole')
    writeFileSync(join(own, 'run.json'), JSON.stringify({ ...whole, more: { of: 'it' } }))
    assert.equal((await readRunDocument(own))?.run, whole.run)
  })

  test('a consumer without its fetches', () => {
    assert.match(String(faultIn({ ...whole, kind: 'consumer' }, CONSUMER)), /^'fetches' is missing$/)
  })
})

describe('intervals.ndjson', () => {
  const [second] = sampleRecord().seconds.slice(1)
  const hdr = { ...second.latency_us?.intended, hdr: 'garbage' }
  const garbled = { ...second, latency_us: { intended: hdr, service: null } }
  for (const [what, line, words] of /** @type {[string, unknown, RegExp][]} */ ([
    ['no histogram', garbled, /intervals\.ndjson, line 2: 'latency_us\.intended\.hdr' is no histogram$/],
    ['a line that is nothing', null, /line 2, is not a second of a run: it must be object$/],
    ['no moment', {}, /line 2, is not a second of a run: 'at_ms' is missing$/],
    ['a time that runs backwards', { ...second, at_ms: 5 }, /line 2, .* of a run: it is before line 1$/],
    ['a node that is nothing', { ...second, nodes: [null] }, /line 2, .*'nodes\.0' must be object$/],
  ])) {
    const lines = [second, line].map((one) => `${JSON.stringify(one)}\n`).join('')
    refuses(what, { 'run.json': JSON.stringify(whole), 'intervals.ndjson': lines }, readRecord, words)
  }
})

describe('experiment.json', () => {
  const experiment = sampleExperiment()
  const bare = { ...experiment.rows[0], figures: { a: {} } }
  for (const [what, rows, words] of /** @type {[string, unknown, RegExp][]} */ ([
    ['no rows', undefined, /experiment\.json is not the result of an experiment: 'rows' is missing$/],
    ['rows of nothing', [null], /'rows\.0' must be object$/],
    ...['../outside', '/etc', 'javascript:alert(1)//', 'a/../../b', ''].map((name) => {
      const rows = [{ ...experiment.rows[0], runs: [name] }]
      const message = /'rows\.0\.runs\.0' must match pattern/
      return /** @type {[string, unknown, RegExp]} */ ([`a run in ${name}`, rows, message])
    }),
    ['figures without samples', [bare], /'rows\.0\.figures\.a\.samples' is missing$/],
  ]))
    refuses(what, { 'experiment.json': JSON.stringify({ ...experiment, rows }) }, readExperiment, words)
})

describe('what verify.js needs', () => {
  const seeded = { once: true, seed: 1, spacingMs: 1000, buckets: 1, taggedItems: false, ttlS: 600 }
  const writtenBy = (/** @type {number[][]} */ ...agents) => ({
    written: { complete: true, agents: agents.map(([agent, ticks]) => ({ agent, ticks })), not_acked: [] },
  })
  /** @param {Record<string, any>} [change] @param {object} [ofPlan] @returns {any} */
  const document = (change, ofPlan) => ({
    ...{ ...whole, ...writtenBy([1, 1], [2, 1]), ...change },
    plan: { ...whole.plan, ...seeded, ...ofPlan },
  })

  test('a whole one', () => {
    assert.deepEqual([faultIn(document(), VERIFIABLE), contradictionIn(document())], [null, null])
  })
  const endless = /^its ticks are of 500,000,000,000,000 items, but 1,000 were offered$/
  for (const [what, change, ofPlan, words] of /** @type {[string, object, object, RegExp][]} */ ([
    ['ticks without end', writtenBy([1, 1e12]), {}, endless],
    ['an unknown writer', writtenBy([7, 1]), {}, /^writer 7 is in the result, but not in its plan$/],
    ['an unknown strategy', {}, { strategy: 'bitmap' }, /^its strategy 'bitmap' is unknown/],
    ['more chunks than items', {}, { chunks: 1000 }, /^the items of writer 1 are not within the plan's$/],
    ['items of nobody', {}, { quantity: 10 }, /^the items of writer 1 are not within/],
  ]))
    test(what, () => assert.match(String(contradictionIn(document(change, ofPlan))), words))
  for (const [what, change, ofPlan, words] of /** @type {[string, object, object, RegExp][]} */ ([
    ['no nodes', { nodes: [] }, {}, /^'nodes' must NOT have fewer than 1 items$/],
    ['no seed', {}, { seed: undefined }, /^'plan\.seed' is missing$/],
    ['no target', { target: null }, {}, /^'target' must be object$/],
  ]))
    test(what, () => assert.match(String(faultIn(document(change, ofPlan), VERIFIABLE)), words))
})

test('an audit that could not be made fails in CI, but for a registry that has none to make', () => {
  const none = { metadata: { vulnerabilities: { high: 0, critical: 0 } } }
  const some = { metadata: { vulnerabilities: { high: 1, critical: 2 } } }
  for (const [found, inCi, code] of /** @type {[any, boolean, number][]} */ ([
    [none, true, 0],
    [some, true, 1],
    [some, false, 1],
    [null, true, 1],
    [{ error: { summary: 'ECONNREFUSED' } }, true, 1],
    [null, false, 0],
    [{ statusCode: 405 }, true, 0],
    [{ statusCode: 503 }, true, 1],
  ]))
    assert.equal(auditVerdict(found, inCi).code, code, JSON.stringify(found))
})
