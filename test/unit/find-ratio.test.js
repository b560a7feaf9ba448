import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { compareFinds } from '../../lib/cli/compare-find.js'
import { compareFind } from '../../lib/cli/compare-find-report.js'
import { ratioAnswer, ratioOfSearches } from '../../lib/compare/find-ratio.js'
import { sideRequests } from '../../lib/compare/request.js'
import { ownFolder } from '../helpers/programs.js'

/** @import { FindRound, Searched } from '../../lib/compare/find-ratio.js' */

/** @param {number} middle @returns {Searched} */
const found = (middle) => ({
  ...{ state: 'found', sentence: '', folder: 'f' },
  find: { low: middle * 0.98, middle, high: middle * 1.02 },
})

/** Rounds with the rates of a and b: '100 130, 100 131'. @param {string} rates @returns {FindRound[]} */
const roundsOf = (rates) =>
  rates.split(', ').map((pair, i) => {
    const [a, b] = pair.split(' ').map((rate) => found(Number(rate)))
    return { round: i + 1, first: i % 2 === 0 ? 'a' : 'b', a, b }
  })

const names = { a: 'sorted-set', b: 'list' }

test('the ratio of the most likely rates has an interval over the rounds, and a machine that slows down cancels out', () => {
  const { ratio, low, high, rounds } = ratioOfSearches(roundsOf('100000 131000, 80000 104000, 60000 77400'))
  assert.equal(rounds, 3)
  assert.ok(Math.abs(Number(ratio) - 1.3) < 0.005, `${ratio}`)
  assert.ok(Number(low) > 1.25 && Number(high) < 1.35, `${low} to ${high}`)
})

test('a rate that the client limited has no ratio, and one round no interval', () => {
  const rounds = roundsOf('100 130, 100 131')
  rounds[1].b.state = 'at-least'
  const { ratio, sentence } = ratioAnswer(rounds, names, 2)
  assert.deepEqual([ratio.rounds, ratio.low], [1, null])
  const expected = 'cannot tell: both searches found a rate in 1 of 2 rounds, and an interval takes two'
  assert.equal(sentence, expected)
  assert.equal(ratioOfSearches([]).ratio, null)
})

test('searches that were not steady count, as the interval over the rounds has what they vary by', () => {
  const rounds = roundsOf('5434 9167, 5893 10921, 5251 11688')
  for (const [i, { a, b }] of rounds.entries()) {
    a.state = 'unsteady'
    if (i > 0) b.state = 'unsteady'
  }
  const { ratio, sentence } = ratioAnswer(rounds, names, 3)
  assert.deepEqual([ratio.rounds, ratio.unsteady], [3, 5])
  const expected =
    /^list sustains 1\.9\d+ times the rate of sorted-set \(95 % sure between 1\.3\d+ and 2\.7\d+; .*; 3 rounds, in which 5 of 6 searches were not steady\)$/
  assert.match(sentence, expected)
  rounds[0].a.find = { low: null, middle: null, high: null }
  assert.equal(ratioOfSearches(rounds).rounds, 2, 'a search without a rate has no ratio')
})

test('an interval that includes 1 shows no clear difference; the document is as its schema says', async () => {
  const unclear = ratioAnswer(roundsOf('100000 104000, 100000 97000, 100000 101000'), names, 3)
  const expected =
    /^no clear difference: list sustains 1\.00\d times the rate of sorted-set \(95 % sure between 0\.9\d+ and 1\.0\d+; list 100,6\d\d, sorted-set 100,000 a second; 3 rounds\)$/
  assert.match(unclear.sentence, expected)
  const clear = ratioAnswer(roundsOf('100000 131000, 80000 104000'), names, 2)
  assert.match(clear.sentence, /^list sustains 1\.305 times the rate of sorted-set/)
  const about = { started: '', duration_s: 1, command: '', hardware: '' }
  const facts = { ...about, versions: { millrace: '0', node: '20' } }
  const ajv = new Ajv({ allowUnionTypes: true, strictRequired: false })
  assert.ok(ajv.validate(compareFind.schema, { ...clear, ...facts }), ajv.errorsText())
  assert.ok(!ajv.validate(compareFind.schema, { ...clear, ...facts, ratio: undefined }))
  const shown = async (/** @type {typeof clear} */ answer, /** @type {string[]} */ ...words) => {
    const page = (
      await compareFind.files({ ...answer, command: 'millrace compare <a>', hardware: 'two cores' })
    )['compare.html']
    for (const one of words) assert.ok(page.includes(one), one)
  }
  await shown(clear, '<strong>Different.</strong> List sustains 1.305', '1.305 times', '&lt;a&gt;')
  await shown(unclear, '<strong>No clear difference.</strong> List sustains 1.00')
  const ofModels = ratioAnswer(roundsOf('100 131, 100 132'), { a: 'a.yaml', b: 'model=b.yaml' }, 2)
  // A name stays as it is.
  await shown(ofModels, '<strong>Different.</strong> model=b.yaml sustains')
  const one = ratioAnswer(roundsOf('100000 104000'), names, 3)
  await shown(one, '<strong>Cannot tell.</strong> Both searches found a rate in 1 of 3 rounds')
})

/** @param {string[]} given @param {any} values @param {{ load?: any, where?: any }} common @param {() => AbortSignal} interrupts */
const compared = (given, values, { load = {}, where = {} }, interrupts) => {
  const asked = { find: true, seed: 1, out: 'nowhere', ...values }
  const sides = sideRequests(given)
  const about = { env: {}, say: assert.fail, interrupts }
  return compareFinds({ values: asked, sides, common: { load, where }, given, ...about })
}

test('what does not go together with --find is refused before a search', async () => {
  const slo = 'latency.p99<20ms'
  for (const [given, values, load, message] of /** @type {[string, any, any, RegExp][]} */ ([
    ['list,set,stream', { slo }, {}, /^--find compares two sides, not 3$/],
    ['list,set', {}, {}, /^--slo is missing/],
    ['list,set', { slo, 'until-sure': true }, {}, /^--until-sure does not go together with --find$/],
    ['list,set', { slo, resume: true }, {}, /^--resume does not go together with --find$/],
    ['list,set config.appendonly=yes', { slo }, {}, /config\. and millrace= do not go together with --find$/],
    ['list,set', { slo }, { rate: '5k' }, /^unknown option --rate/],
    ['list,set', { slo, within: '9..1' }, {}, /^--within 9\.\.1: must be two rates/],
  ])) {
    const begun = () => assert.fail('a search began')
    await assert.rejects(compared(given.split(','), values, { load }, begun), { message })
  }
})

test('the line of a comparison that repeats it has its target, its seed and its load, and no password', async (t) => {
  const out = ownFolder(t, 'find-ratio')
  const common = { load: { items: '5k' }, where: { url: 'redis://me:secret@10.0.0.3:6379', cluster: true } }
  const values = { seed: 7, out, slo: 'latency.p99<20ms', time: 60_000, within: '1k..9k', json: false }
  await compared(['list', 'set value-size=1kB'], values, common, () => AbortSignal.abort())
  const [run] = readdirSync(out)
  const { command } = JSON.parse(readFileSync(join(out, run, 'compare.json'), 'utf8'))
  const parts = "--seed 7;--items 5k;--within 1k..9k;10.0.0.3:6379;--cluster;'set value-size=1kB'"
  for (const words of parts.split(';')) assert.ok(command.includes(words), `${words} in ${command}`)
  assert.ok(!command.includes('secret'), command)
})
