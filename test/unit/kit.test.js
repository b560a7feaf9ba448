// The kit of answers: what one declaration becomes in a text, on a page and in files.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answers } from '../../lib/answers/index.js'
import { faultIn } from '../../lib/base/json-schema.js'
import * as S from '../../lib/base/shape.js'
import { answer, answerSchema, figure, only, table, words } from '../../lib/report/kit.js'
import { valuesOf } from '../helpers/table.js'

/** @typedef {{ schema: 1, kind: 'costs', costs: { name: string, us: number | null, note: string }[] }} Costs */

/** @param {number | null} us */
const micros = (us) => (us === null ? '' : `${us} µs`)

const declared = answer({
  kind: 'costs',
  schema: answerSchema('costs', {
    costs: S.list(S.object({ name: S.text, us: S.figure, note: S.text })),
  }),
  remarksLast: true,
  verdict: (/** @type {Costs} */ { costs }) => ({
    title: 'Costs',
    question: 'What costs least?',
    word: 'Found',
    good: true,
    sentence: `${costs[0]?.name ?? 'nothing'} costs least of all that was measured`,
    short: 'the first',
  }),
  highlights: ({ costs }) => ({ least: costs[0] && micros(costs[0].us), none: false }),
  prose: () => [['A paragraph.'], ['Another.']],
  rows: ({ costs }) => ({
    ...{ both: 'of both', screen: only('text', 'of the text'), paper: only('page', 'of the page') },
    ...{ missing: null, each: costs.map(({ note }) => note) },
  }),
  tables: ({ costs }) => [
    table(
      'Costs',
      costs,
      [
        words('name', ({ name }) => name, { link: ({ name }) => name === 'list' && 'list/report.html' }),
        figure('cost', ({ us }) => us, micros, { detail: ({ note }) => note, rank: 1 }),
        words('shown', ({ note }) => note, { only: 'page' }),
      ],
      { short: costs.slice(0, 1), notes: ['A note.', only('page', 'For paper.'), false], foot: ['Below.'] },
    ),
    table('Without rows', [], [words('name', String)]),
    table('Said', [], [words('name', String)], { empty: 'There is none.' }),
    table('The rest', costs, [words('name', ({ name }) => name)], { more: true }),
    null,
  ],
  warnings: () => [
    'a remark',
    { text: 'it does not count', serious: true },
    { text: 'on the screen', only: 'text' },
  ],
})

const both = [
  { name: 'list', us: 2, note: 'short' },
  { name: 'a sorted set', us: null, note: 'long' },
]
/** @type {Costs} */
const costs = { schema: 1, kind: 'costs', costs: both }

test('a text has the answer first, then paragraphs, rows, tables and remarks', () => {
  assert.equal(
    declared.text(costs, { columns: 40, page: 'out/costs.html' }),
    `list costs least of all that was
measured

A paragraph.

Another.

both         of both
screen       of the text
each         short
each         long

COSTS
A note.
name            cost
list  2 µs (short)
Below.

SAID
There is none.

The rest: -v

! a remark
! it does not count
! on the screen

page: out/costs.html
`.replace('name            cost', 'name          cost'),
  )
  assert.match(declared.text(costs, { verbose: true }), /^THE REST\nname\nlist\na sorted set$/m)
  assert.match(declared.text(costs, { verbose: true }), /^paper {8}of the page$/m)
  assert.equal(declared.sentence(costs), 'list costs least of all that was measured')
})

test('a page has tiles, rows and tables of its own, each ordered by its values', () => {
  const { verdict, highlights, facts, tables, warnings, remarksLast } = declared.sections(costs)
  assert.deepEqual(verdict, { word: 'Found', good: true, sentence: 'the first' })
  assert.deepEqual(highlights, [{ label: 'least', text: '2 µs' }])
  assert.deepEqual(valuesOf(facts, 'label').join(' '), '  both paper each each')
  assert.deepEqual(valuesOf(tables, 'title'), ['Costs', 'Said', 'The rest'])
  const [table, said, more] = tables
  assert.equal(table.note, 'A note. For paper. Below.')
  const left = true
  assert.deepEqual(table.columns, [{ title: 'name', left }, { title: 'cost' }, { title: 'shown', left }])
  assert.deepEqual(table.rows, [
    [
      { text: 'list', link: 'list/report.html' },
      { text: '2 µs', sort: 2, detail: 'short' },
      { text: 'short' },
    ],
    [{ text: 'a sorted set' }, { text: '', sort: null, detail: 'long' }, { text: 'long' }],
  ])
  assert.deepEqual([said.note, said.rows], ['There is none.', []])
  assert.deepEqual([more.fold, more.more], ['The rest', true])
  assert.deepEqual(warnings, [
    { text: 'a remark', serious: false },
    { text: 'it does not count', serious: true },
  ])
  assert.equal(remarksLast, true)
})

test('the files are the JSON and a page; what is hostile is escaped, on the screen without control characters', async () => {
  const hostile = '<script>alert(1)</script>\u001b[31m'
  const one = { ...costs, costs: [{ name: hostile, us: 1, note: hostile }] }
  const files = await declared.files(one)
  assert.deepEqual(Object.keys(files).sort(), ['costs.html', 'costs.json'])
  assert.deepEqual(JSON.parse(files['costs.json']), one)
  assert.equal(await declared.page(one), files['costs.html'])
  assert.ok(!files['costs.html'].includes('<script>alert'))
  assert.ok(!declared.text(one).includes('\u001b'))
})

test('a table that is too narrow for its columns of rank 1 has its names in lines of their own', () => {
  const rows = [{ name: 'a name that takes all of the room', us: 12 }]
  const columns = [
    words('name', (/** @type {(typeof rows)[number]} */ { name }) => name),
    figure('cost', ({ us }) => us, micros),
    figure('again', ({ us }) => us, micros, { rank: 1 }),
    figure('least', ({ us }) => us, micros, { rank: 2 }),
  ]
  const stacked = table('', rows, columns, { stacks: true })
  assert.deepEqual(stacked.inText(60, false), [
    'name                                cost  again  least',
    'a name that takes all of the room  12 µs  12 µs  12 µs',
  ])
  const narrow = ['   cost  again  least', 'a name that takes all of the room', '  12 µs  12 µs  12 µs']
  assert.deepEqual(stacked.inText(30, false), narrow)
})

test('each answer has a name and a schema of its own, which refuses another answer', () => {
  const kinds = valuesOf(answers, 'kind')
  assert.equal(new Set(kinds).size, kinds.length)
  for (const { kind, schema } of answers)
    if (kind !== 'experiment') assert.notEqual(faultIn(costs, schema), null, kind)
  assert.equal(faultIn(costs, declared.schema), null)
})
