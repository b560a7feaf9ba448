// Files of results that are not what they are called: the file, and what is wrong in it.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { OptionError } from '../../lib/base/errors.js'
import { faultIn } from '../../lib/base/json-schema.js'
import { resultDocument } from '../../lib/result/document.js'
import { readExperiment, readRecord, readRunDocument } from '../../lib/result/record.js'
import { CONSUMER, VERIFIABLE } from '../../lib/result/schemas.js'
import { contradictionIn } from '../../lib/run/check-written.js'
import { auditVerdict } from '../../scripts/audit.js'
import { ownFolder } from '../helpers/programs.js'
import { sampleExperiment, sampleRecord } from '../helpers/sample-record.js'
import { sampleParts } from '../helpers/sample-run.js'

const whole = resultDocument(sampleParts())

/** @param {RegExp} words @returns {(error: unknown) => boolean} */
const saying = (words) => (error) => error instanceof OptionError && words.test(error.message)

describe('run.json', () => {
  const broken = /** @type {[string, object, RegExp][]} */ ([
    [
      'a node that is nothing',
      { nodes: [null] },
      /run\.json is not the result of a run: 'nodes\.0' must be object$/,
    ],
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
    [
      'ranges that are none',
      { written: { complete: true, agents: [], not_acked: [null] } },
      /'written\.not_acked\.0'/,
    ],
    ['another kind', { kind: 'toString' }, /'kind' must be producer or consumer$/],
    ['no moment', { started: 'soon' }, /'started' must match pattern/],
  ])
  for (const [what, change, words] of broken)
    test(what, async (t) => {
      const own = ownFolder(t, 'broken')
      writeFileSync(join(own, 'run.json'), JSON.stringify({ ...whole, ...change }))
      await assert.rejects(readRunDocument(own), saying(words))
    })

  for (const [what, document, words] of /** @type {[string, unknown, RegExp][]} */ ([
    ['nothing', null, /run\.json is not the result of a run$/],
    ['a number', 5, /run\.json is not the result of a run$/],
    ['a list', [], /run\.json is not the result of a run$/],
    ['no schema', {}, /run\.json: its schema is undefined, and this version of Millrace reads 1$/],
    ['a later schema', { ...whole, schema: 2 }, /run\.json: its schema is 2, and this version/],
    ['no plan', { ...whole, plan: undefined }, /'plan' is missing$/],
  ]))
    test(what, async (t) => {
      const own = ownFolder(t, 'broken')
      writeFileSync(join(own, 'run.json'), JSON.stringify(document))
      await assert.rejects(readRunDocument(own), saying(words))
    })

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
  const lines = /** @type {[string, unknown, RegExp][]} */ ([
    [
      'a histogram that is none',
      {
        ...second,
        latency_us: { intended: { ...second.latency_us?.intended, hdr: 'garbage' }, service: null },
      },
      /intervals\.ndjson, line 2: 'latency_us\.intended\.hdr' is no histogram$/,
    ],
    ['a line that is nothing', null, /line 2, is not a second of a run: it must be object$/],
    ['no moment', {}, /line 2, is not a second of a run: 'at_ms' is missing$/],
    ['a node that is nothing', { ...second, nodes: [null] }, /line 2, .*'nodes\.0' must be object$/],
  ])
  for (const [what, line, words] of lines)
    test(what, async (t) => {
      const own = ownFolder(t, 'broken')
      writeFileSync(join(own, 'run.json'), JSON.stringify(whole))
      writeFileSync(join(own, 'intervals.ndjson'), `${JSON.stringify(second)}\n${JSON.stringify(line)}\n`)
      await assert.rejects(readRecord(own), saying(words))
    })
})

describe('experiment.json', () => {
  for (const [what, change, words] of /** @type {[string, object, RegExp][]} */ ([
    [
      'no rows',
      { rows: undefined },
      /experiment\.json is not the result of an experiment: 'rows' is missing$/,
    ],
    ['rows of nothing', { rows: [null] }, /'rows\.0' must be object$/],
    [
      'figures without samples',
      { rows: [{ ...sampleExperiment().rows[0], figures: { a: {} } }] },
      /'rows\.0\.figures\.a\.samples' is missing$/,
    ],
  ]))
    test(what, async (t) => {
      const own = ownFolder(t, 'broken')
      mkdirSync(own, { recursive: true })
      writeFileSync(join(own, 'experiment.json'), JSON.stringify({ ...sampleExperiment(), ...change }))
      await assert.rejects(readExperiment(own), saying(words))
    })
})

describe('what verify.js needs', () => {
  const plan = {
    ...whole.plan,
    ...{ once: true, seed: 1, spacingMs: 1000, buckets: 1, taggedItems: false, ttlS: 600 },
  }
  /** @param {Record<string, any>} change @param {object} [ofPlan] @returns {any} */
  const document = (change, ofPlan = {}) => ({
    ...whole,
    written: {
      complete: true,
      agents: [
        { agent: 1, ticks: 1 },
        { agent: 2, ticks: 1 },
      ],
      not_acked: [],
    },
    ...change,
    plan: { ...plan, ...ofPlan },
  })

  test('a whole one', () => {
    assert.equal(faultIn(document({}), VERIFIABLE), null)
    assert.equal(contradictionIn(document({})), null)
  })
  for (const [what, change, ofPlan, words] of /** @type {[string, object, object, RegExp][]} */ ([
    [
      'ticks without end',
      { written: { complete: true, agents: [{ agent: 1, ticks: 1e12 }], not_acked: [] } },
      {},
      /^its ticks are of 500,000,000,000,000 items, but 1,000 were offered$/,
    ],
    [
      'an unknown writer',
      { written: { complete: true, agents: [{ agent: 7, ticks: 1 }], not_acked: [] } },
      {},
      /^writer 7 is in the result, but not in its plan$/,
    ],
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
