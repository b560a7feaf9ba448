// A measure that would fail silently is refused when the list is made, in a line that says what to do.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as S from '../../lib/base/shape.js'
import { amount } from '../../lib/measures/fields.js'
import { counter, figure, measure, metric } from '../../lib/measures/measure.js'
import { documentFaults, faultsOf, registered } from '../../lib/measures/registry.js'
import { section } from '../../lib/measures/section.js'

/** @import { Line } from '../../lib/measures/fold.js' */
/** @import { Registered } from '../../lib/measures/registry.js' */

/** @type {Registered} */
const good = {
  name: 'lags',
  record: { 'lags.count': amount('count') },
  result: { 'lags.count': figure, lag_us: { type: 'object', properties: { max: figure } } },
  metrics: { 'lags.count': metric('lags', 'count'), 'lag.max': metric('longest lag', 'us') },
  prometheus: [counter('lags_total', 'lags', 'lags.count')],
  done: 'lags.count',
}
const record = { 'other.count': amount('count') }
const other = { name: 'other', record, result: { other: figure }, metrics: {} }

test('a list without a fault is frozen, and its own', () => {
  assert.deepEqual(faultsOf([good, other]), [])
  assert.ok(Object.isFrozen(registered([good, other], {})))
})

const [lags, prometheus] = [good.metrics['lags.count'], [counter('lags_total', 'others', 'other.count')]]
for (const [what, wrong, fault] of /** @type {[string, object, RegExp][]} */ ([
  ['a name', { name: 'lags' }, /^the name 'lags' is of 'lags' and of 'lags': give one of them another name$/],
  ['a field', { record: good.record }, /^the field of a second 'lags.count' is of 'lags' and of 'other'/],
  ['a section', { result: { lag_us: figure } }, /^the section 'lag_us' is of 'lags' and of 'other': give/],
  ['a metric', { metrics: { 'lags.count': lags } }, /^the metric 'lags.count' is of 'lags' and of 'other'/],
  [
    'a Prometheus series',
    { prometheus },
    /^the Prometheus series 'lags_total\{\}' is of 'lags' and of 'other'/,
  ],
]))
  test(`${what} that is claimed twice`, () => {
    const [found, ...more] = faultsOf([good, { ...other, ...wrong }])
    assert.match(found, fault)
    assert.deepEqual(more, [])
    const message = `lib/measures: ${found}`
    assert.throws(() => registered([good, { ...other, ...wrong }], {}), { message })
  })

test('a metric that is in no result', () => {
  const metrics = { 'other.max': metric('other', 'us') }
  assert.deepEqual(faultsOf([{ ...other, metrics }]), [
    "the metric 'other.max' of 'other' is in no result: name it as its place in run.json, or put that into 'result'",
  ])
  const section = { name: 'other', shape: S.object({ max: S.figure }) }
  const elsewhere = { ...other, name: 'one', result: {}, metrics }
  assert.deepEqual(faultsOf([elsewhere], [section]), [], 'a section has it')
})

test('a metric of boxes that read is in what they read', () => {
  const of = (/** @type {string} */ name) => ({ ...other, metricsOfBoxes: { [name]: metric('other', 'us') } })
  assert.deepEqual(faultsOf([of('readers.other')]), [])
  assert.match(faultsOf([of('readers.others')])[0], /^the metric 'readers.others' of 'other' is in no result/)
})

test('a series or a count of what is in no second', () => {
  const words = "'othr.count' of 'other' is in no second: add it to its 'record', or to what it shows"
  assert.deepEqual(faultsOf([{ ...other, done: 'othr.count' }]), [words])
  assert.deepEqual(faultsOf([{ ...other, prometheus: [counter('n', 'n', 'othr.count')] }]), [words])
})

test('a gauge that cannot be shown', () => {
  const gauge = { ...counter('others', 'others', 'other.count'), type: /** @type {const} */ ('gauge') }
  assert.deepEqual(faultsOf([{ ...other, prometheus: [{ ...gauge, by: 'name' }] }]), [
    "the series 'others' of 'other' is by 'name', which only a counter can be: make it one, or leave out 'by'",
  ])
})

const owned = (/** @type {string} */ name, /** @type {Record<string, any>} */ metrics = {}) =>
  section(name, S.object({ max: S.figure }), { metrics })

test('a section that is in a list twice', () => {
  const documents = { producer: [owned('one'), owned('one')] }
  const fault =
    "the section of run.json (producer) 'one' is of 'entry 1 of its list' and of 'entry 2 of its list': give one of them another name"
  assert.deepEqual(documentFaults(documents), [fault])
  assert.throws(() => registered([], documents), { message: `lib/measures: ${fault}` })
})

test('a metric of two sections, or of a section and a measure', () => {
  const [one, two] = ['one', 'two'].map((name) => owned(name, { 'one.max': metric(name, 'us') }))
  assert.deepEqual(faultsOf([], [one, two]), [
    "the metric 'one.max' is of 'the section one' and of 'the section two': give one of them another name",
  ])
  const claiming = { ...other, metrics: { 'one.max': metric('c', 'us') } }
  assert.match(faultsOf([claiming], [one])[0], /^the metric 'one.max' is of 'the section one' and of 'other'/)
})

test('a metric of a section that is in no result, and has no value', () => {
  assert.deepEqual(faultsOf([], [owned('one', { 'one.most': metric('a', 'us') })]), [
    "the metric 'one.most' of the section 'one' is in no result: name it as its place in run.json, or give it a 'value'",
  ])
  const read = { ...metric('a', 'us'), value: () => 1 }
  assert.deepEqual(faultsOf([], [owned('one', { 'one.most': read })]), [])
})

test('a mistyped field of a measure is an error of tsc', () => {
  const common = { name: 'mistyped', of: /** @type {const} */ (['writers']), result: {}, metrics: {} }
  const lagging = { ...common, by: /** @type {const} */ ('each'), record: { 'lags.count': amount('count') } }
  const declared = measure({
    ...lagging,
    open: () => ({ second: () => ({ 'lags.count': 1 }) }),
    // @ts-expect-error: no such field
    summary: ({ window }) => ({ 'lags.count': window['lags.count'], max: window['lags.max'] }),
  })
  const taken = measure({
    ...lagging,
    // @ts-expect-error: no such field
    record: { 'lags.counted': amount('count') },
    open: () => ({ second: () => ({ 'lags.count': 1 }) }),
    summary: () => ({}),
  })
  const window = { 'lags.count': 3 }
  const sums = { window, whole: window, facts: {}, plan: {}, stored: 0 }
  assert.deepEqual(declared.summary(sums), { 'lags.count': 3, max: undefined })
  assert.deepEqual(taken.summary({ ...sums, window: {}, whole: {} }), {})
})

test('a line of seconds has the fields that measures record, and no others', () => {
  /** @type {Line} */
  const line = { at_ms: 1000, fetches: { count: 1 } }
  // @ts-expect-error: no such field
  assert.equal(line.fetchs ?? line.fetches.count, 1)
})
