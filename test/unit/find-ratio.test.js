import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { compareFindSchema } from '../../lib/answers/find/schema.js'
import { compareFinds } from '../../lib/cli/compare-find.js'
import { compareFindPage } from '../../lib/cli/compare-find-page.js'
import { ratioAnswer, ratioOfSearches } from '../../lib/compare/find-ratio.js'
import { sideRequests } from '../../lib/compare/request.js'

/** @param {number} middle @param {import('../../lib/compare/find-ratio.js').Searched['state']} [state] @returns {import('../../lib/compare/find-ratio.js').Searched} */
const found = (middle, state = 'found') => ({
  state,
  find: { low: middle * 0.98, middle, high: middle * 1.02 },
  sentence: '',
  folder: 'f',
})

/** @param {readonly [number, number][]} rates @returns {import('../../lib/compare/find-ratio.js').FindRound[]} */
const roundsOf = (rates) =>
  rates.map(([a, b], i) => ({ round: i + 1, first: i % 2 === 0 ? 'a' : 'b', a: found(a), b: found(b) }))

const names = { a: 'sorted-set', b: 'list' }

test('the ratio of the most likely rates has an interval over the rounds, and a machine that slows down cancels out', () => {
  const { ratio, low, high, rounds } = ratioOfSearches(
    roundsOf([
      [100_000, 131_000],
      [80_000, 104_000],
      [60_000, 77_400],
    ]),
  )
  assert.equal(rounds, 3)
  assert.ok(Math.abs(Number(ratio) - 1.3) < 0.005, `${ratio}`)
  assert.ok(Number(low) > 1.25 && Number(high) < 1.35, `${low} to ${high}`)
})

test('a rate that the client limited has no ratio, and one round no interval', () => {
  const rounds = roundsOf([
    [100, 130],
    [100, 131],
  ])
  rounds[1].b.state = 'at-least'
  const { ratio, sentence } = ratioAnswer(rounds, names, 2)
  assert.deepEqual([ratio.rounds, ratio.low], [1, null])
  assert.equal(
    sentence,
    'cannot tell: both searches found a rate in 1 of 2 rounds, and an interval takes two',
  )
  assert.equal(ratioOfSearches([]).ratio, null)
})

test('searches that were not steady count, as the interval over the rounds has what they vary by', () => {
  const rounds = roundsOf([
    [5434, 9167],
    [5893, 10_921],
    [5251, 11_688],
  ])
  for (const [i, { a, b }] of rounds.entries()) {
    a.state = 'unsteady'
    if (i > 0) b.state = 'unsteady'
  }
  const { ratio, sentence } = ratioAnswer(rounds, names, 3)
  assert.deepEqual([ratio.rounds, ratio.unsteady], [3, 5])
  assert.match(
    sentence,
    /^list sustains 1\.9\d+ times the rate of sorted-set \(95 % sure between 1\.3\d+ and 2\.7\d+; .*; 3 rounds, in which 5 of 6 searches were not steady\)$/,
  )
  rounds[0].a.find = { low: null, middle: null, high: null }
  assert.equal(ratioOfSearches(rounds).rounds, 2, 'a search without a rate has no ratio')
})

test('an interval that includes 1 shows no clear difference; the document is as its schema says', async () => {
  const unclear = ratioAnswer(
    roundsOf([
      [100_000, 104_000],
      [100_000, 97_000],
      [100_000, 101_000],
    ]),
    names,
    3,
  )
  assert.match(
    unclear.sentence,
    /^no clear difference: list sustains 1\.00\d times the rate of sorted-set \(95 % sure between 0\.9\d+ and 1\.0\d+; list 100,6\d\d, sorted-set 100,000 a second; 3 rounds\)$/,
  )
  const clear = ratioAnswer(
    roundsOf([
      [100_000, 131_000],
      [80_000, 104_000],
    ]),
    names,
    2,
  )
  assert.match(clear.sentence, /^list sustains 1\.305 times the rate of sorted-set/)
  const facts = {
    ...{ started: '', duration_s: 1, command: '', hardware: '' },
    versions: { millrace: '0', node: '20' },
  }
  const ajv = new Ajv({ allowUnionTypes: true, strictRequired: false })
  assert.ok(ajv.validate(compareFindSchema, { ...clear, ...facts }), ajv.errorsText())
  assert.ok(!ajv.validate(compareFindSchema, { ...clear, ...facts, ratio: undefined }))
  const page = await compareFindPage({ ...clear, command: 'millrace compare <a>', hardware: 'two cores' })
  for (const words of ['<strong>Different.</strong> List sustains 1.305', '1.305 times', '&lt;a&gt;'])
    assert.ok(page.includes(words), words)
  const ofModels = ratioAnswer(
    roundsOf([
      [100, 131],
      [100, 132],
    ]),
    { a: 'a.yaml', b: 'model=b.yaml' },
    2,
  )
  const named = await compareFindPage({ ...ofModels, command: '', hardware: '' })
  assert.ok(named.includes('<strong>Different.</strong> model=b.yaml sustains'), 'a name stays as it is')
  const one = ratioAnswer(roundsOf([[100_000, 104_000]]), names, 3)
  for (const [answer, words] of /** @type {const} */ ([
    [one, '<strong>Cannot tell.</strong> Both searches found a rate in 1 of 3 rounds'],
    [unclear, '<strong>No clear difference.</strong> List sustains 1.00'],
  ])) {
    const undecided = await compareFindPage({ ...answer, command: '', hardware: '' })
    assert.ok(undecided.includes(words), words)
  }
})

test('what does not go together with --find is refused before a search', async () => {
  const slo = 'latency.p99<20ms'
  const load = /** @type {import('../../lib/experiments/schema.js').Options} */ ({})
  for (const [given, values, more, words] of /** @type {const} */ ([
    [['list', 'set', 'stream'], { slo }, load, /^--find compares two sides, not 3$/],
    [['list', 'set'], {}, load, /^--slo is missing/],
    [['list', 'set'], { slo, 'until-sure': true }, load, /^--until-sure does not go together with --find$/],
    [['list', 'set'], { slo, resume: true }, load, /^--resume does not go together with --find$/],
    [
      ['list', 'set config.appendonly=yes'],
      { slo },
      load,
      /config\. and millrace= do not go together with --find$/,
    ],
    [['list', 'set'], { slo }, { rate: '5k' }, /^unknown option --rate/],
    [['list', 'set'], { slo, within: '9..1' }, load, /^--within 9\.\.1: must be two rates/],
  ]))
    await assert.rejects(
      compareFinds({
        values: { find: true, seed: 1, out: 'nowhere', ...values },
        sides: sideRequests(given),
        common: { load: more, where: {} },
        given,
        env: {},
        say: assert.fail,
        interrupts: () => assert.fail('a search began'),
      }),
      (/** @type {Error} */ { message }) => words.test(message) || assert.fail(message),
    )
})

test('the line of a comparison that repeats it has its target, its seed and its load, and no password', async (t) => {
  const out = await mkdtemp(join(tmpdir(), 'find-ratio-'))
  t.after(() => rm(out, { recursive: true }))
  const given = ['list', 'set value-size=1kB']
  const url = 'redis://me:secret@10.0.0.3:6379'
  await compareFinds({
    values: {
      find: true,
      seed: 7,
      out,
      slo: 'latency.p99<20ms',
      time: 60_000,
      within: '1k..9k',
      json: false,
    },
    sides: sideRequests(given),
    common: { load: { items: '5k' }, where: { url, cluster: true } },
    given,
    env: {},
    say: assert.fail,
    interrupts: () => AbortSignal.abort(),
  })
  const [run] = await readdir(out)
  const { command } = JSON.parse(await readFile(join(out, run, 'compare.json'), 'utf8'))
  for (const words of [
    '--seed 7',
    '--items 5k',
    '--within 1k..9k',
    '10.0.0.3:6379',
    '--cluster',
    "'set value-size=1kB'",
  ])
    assert.ok(command.includes(words), `${words} in ${command}`)
  assert.ok(!command.includes('secret'), command)
})
