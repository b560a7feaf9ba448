// The rate of each second, for the chart.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rate } from '../../charts/rate.js'
import { achievedRates } from '../../lib/result/achieved.js'
import { sampleRecord } from '../helpers/sample-record.js'
import { rowsOf } from '../helpers/table.js'

/** A run of 1,000 items/s from lines of at_ms, offered, acked, dropped and phase. @param {Record<string, unknown>} plan @param {string} text */
const recordOf = (plan, text) => {
  const record = sampleRecord()
  const ofAll = { flow: 'ticks', rate: null, pacing: 'open', schedule: 'even', items: 1000, ticks: null }
  Object.assign(record.run.plan, { ...ofAll, ...plan })
  record.run.rate.nominal = 1000
  const [line] = record.seconds
  let fromMs = 0
  record.seconds = text.split(' | ').map((words) => {
    const [at_ms, offered, acked, dropped = 0] = (words.match(/\d+/g) ?? []).map(Number)
    const over_ms = at_ms - fromMs
    fromMs = at_ms
    const phase = words.includes('draining') ? 'draining' : 'measuring'
    const items = { offered, acked, failed: 0, uncertain: 0, dropped, unsettled: 0 }
    return { ...line, at_ms, over_ms, phase, items, achieved: (acked * 1000) / over_ms }
  })
  return record
}
const quarters = { chunks: 4, spacingMs: 250 }
/** @type {Record<string, Record<string, unknown>>} */
const plans = {
  ...{ quarters, 'every third': { chunks: 1, spacingMs: 3000 } },
  fastest: { rate: 'max', schedule: 'none', chunks: 1, spacingMs: 1000 },
}

for (const [name, plan, lines, rates] of rowsOf(`
answers of a batch that come behind the end of a second make no dip and no spike -> quarters -> 970 1000 1000 | 1970 1000 750 | 2970 1000 1250 | 3970 1000 1000 -> 1000 1000 1000 1000
nor does a second whose own line is late -> quarters -> 970 1000 1000 | 2010 1250 1250 | 2970 750 750 -> 1000 1000 1000
a batch every three seconds is a rate, not a spike in every third second -> every third -> 970 1000 1000 | 1970 0 0 | 2970 0 0 | 3970 1000 1000 -> 333 - - 333
what is behind by more than a batch, and what is dropped, is a dip; catching up is a spike -> quarters -> 970 1000 1000 | 1970 1000 250 | 2970 1000 1750 | 3970 1000 500 500 -> 1000 250 1750 500
without a schedule it is what was counted -> fastest -> 970 2000 970 | 1970 2000 3000 -> 1000 3000
`))
  test(name, () => {
    const found = achievedRates(recordOf(plans[plan], lines)).map((value) =>
      value ? Math.round(value) : '-',
    )
    assert.equal(found.join(' '), rates)
  })

test('the target is drawn up to the end of the schedule, and no further', () => {
  const seconds = '970 1000 1000 | 1970 1000 1000 | 2970 1000 100 | 3970 0 0 draining | 4970 0 900 draining'
  const record = recordOf({ ...quarters, durationMs: 3000, ticks: 12 }, seconds)
  const { series } = /** @type {any} */ (rate.option(record))
  const target = series.find((/** @type {any} */ { name }) => name === 'target')
  assert.equal(target.data.join(' '), '0.97,1000 1.97,1000 2.97,1000 3,1000')
})
