// The rate of each second, for the chart.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rate } from '../../charts/rate.js'
import { achievedRates } from '../../lib/result/achieved.js'
import { sampleRecord } from '../helpers/sample-record.js'

/**
 * A run of 1,000 items/s from lines of [at_ms, offered, acked, dropped, phase].
 * @param {Record<string, unknown>} plan
 * @param {[number, number, number, number?, string?][]} lines
 */
const recordOf = (plan, lines) => {
  const record = sampleRecord()
  Object.assign(record.run.plan, {
    flow: 'ticks',
    rate: null,
    pacing: 'open',
    items: 1000,
    ticks: null,
    ...plan,
  })
  record.run.rate.nominal = 1000
  const [line] = record.seconds
  record.seconds = lines.map(([at_ms, offered, acked, dropped = 0, phase = 'measuring'], i) => {
    const over_ms = at_ms - (lines[i - 1]?.[0] ?? 0)
    const items = { offered, acked, failed: 0, uncertain: 0, dropped, unsettled: 0 }
    return { ...line, at_ms, over_ms, phase, items, achieved: (acked * 1000) / over_ms }
  })
  return record
}

test('answers of a batch that come behind the end of a second make no dip and no spike', () => {
  const quarters = { chunks: 4, spacingMs: 250 }
  const late = recordOf(quarters, [
    [970, 1000, 1000],
    [1970, 1000, 750],
    [2970, 1000, 1250],
    [3970, 1000, 1000],
  ])
  assert.deepEqual(achievedRates(late), [1000, 1000, 1000, 1000])
  const lineLate = recordOf(quarters, [
    [970, 1000, 1000],
    [2010, 1250, 1250],
    [2970, 750, 750],
  ])
  assert.deepEqual(achievedRates(lineLate), [1000, 1000, 1000])
})

test('a batch every three seconds is a rate, not a spike in every third second', () => {
  const record = recordOf({ chunks: 1, spacingMs: 3000 }, [
    [970, 1000, 1000],
    [1970, 0, 0],
    [2970, 0, 0],
    [3970, 1000, 1000],
  ])
  assert.deepEqual(
    achievedRates(record).map((value) => value && Math.round(value)),
    [333, undefined, undefined, 333],
  )
})

test('what is behind by more than a batch, and what is dropped, is a dip; catching up is a spike', () => {
  const record = recordOf({ chunks: 4, spacingMs: 250 }, [
    [970, 1000, 1000],
    [1970, 1000, 250],
    [2970, 1000, 1750],
    [3970, 1000, 500, 500],
  ])
  assert.deepEqual(achievedRates(record), [1000, 250, 1750, 500])
})

test('without a schedule it is what was counted', () => {
  const record = recordOf({ rate: 'max', chunks: 1, spacingMs: 1000 }, [
    [970, 2000, 970],
    [1970, 2000, 3000],
  ])
  assert.deepEqual(achievedRates(record), [1000, 3000])
})

test('the target is drawn up to the end of the schedule, and no further', () => {
  const record = recordOf({ chunks: 4, spacingMs: 250, durationMs: 3000, ticks: 12 }, [
    [970, 1000, 1000],
    [1970, 1000, 1000],
    [2970, 1000, 100],
    [3970, 0, 0, 0, 'draining'],
    [4970, 0, 900, 0, 'draining'],
  ])
  const { series } = /** @type {any} */ (rate.option(record))
  const target = series.find((/** @type {any} */ { name }) => name === 'target')
  assert.deepEqual(target.data, [
    [0.97, 1000],
    [1.97, 1000],
    [2.97, 1000],
    [3, 1000],
  ])
})
