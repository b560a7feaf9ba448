// The fetches of consumers: how many there were and what they brought, and four times of each that was whole: all of it, its
// ids, its values, and how old the newest item is that it found, by the clock of the server that it was read from. A line
// has us, run.json ms. An item that is younger than now has no known age, and is counted apart.
import { exactly, pair } from '../base/typed.js'
import { asPercent, bytes, count, facts, micros, rate, several } from '../base/units.js'
import { amount, counts, latest, length, namedFields, timesField, timesOfEach, worst } from './fields.js'
import { sectionOf } from './fold.js'
import {
  counter,
  figure,
  histogram,
  measure,
  metric,
  per,
  percentileMetrics,
  percentiles,
  percentilesIn,
  ranked,
  timesLine,
  timesText,
} from './measure.js'

/**
 * @import { Fetched } from '../loads/fetches/fetch.js'
 * @import { Reading } from './measure.js'
 * @import { Run } from './section.js'
 */

// What a clock may be off without being worth a word; below it an age is 0.
const aheadMs = 100
const counted = exactly(['count', 'failed', 'overrun', 'items', 'values', 'nils', 'bytes', 'duplicates'])
const named = exactly(['duration', 'ids', 'values'])
const titles = { duration: 'fetch', ids: 'ids of a fetch', values: 'values of a fetch' }
const times4 = { ...percentiles, type: 'object' }

export const fetches = measure({
  name: 'fetches',
  needed: ['fetches', 'freshness_ms'],
  of: ['readers'],
  record: {
    ...namedFields('fetches', counted, amount('count')),
    ...timesOfEach(named),
    freshness_us: timesField(),
    'future.fetches': amount('count'),
    'future.max_ms': worst('ms'),
    // For the last fetch; and for all, whose mean is in run.json.
    numbers: latest(),
    'reading.numbers': counts(),
    'reading.failed_by': counts(),
    // How many fetches had so many items: exact, and few different ones.
    'reading.sizes': counts(),
    'reading.over_s': length(),
  },
  by: 'each',

  async open({ clock, plan }) {
    const { series } = await import('../probes/latency.js')
    const [duration, ids, values, ages] = [series(), series(), series(), series()]
    let sums = noSums()
    let fromMs = clock()
    const failed = (/** @type {string} */ cause) => {
      sums.fetches.failed++
      plus(sums.failed_by, cause, 1)
    }
    return {
      failed,
      /** @param {number} deadlines */
      overrun(deadlines) {
        sums.fetches.overrun += deadlines
      },
      /** @param {Fetched} fetched */
      fetched(fetched) {
        // A fetch fails once, by its most frequent cause.
        const [worstCause] = Object.entries(fetched.failedBy).sort(([, a], [, b]) => b - a)
        if (worstCause) return failed(worstCause[0])
        const { fetches: all, numbers, sizes } = sums
        all.count++
        all.items += fetched.ids
        for (const name of exactly(['values', 'nils', 'bytes', 'duplicates'])) all[name] += fetched[name]
        plus(sizes, String(fetched.ids), 1)
        duration.record(fetched.durationMs * 1000)
        ids.record(fetched.idsMs * 1000)
        if (plan.values) values.record(fetched.valuesMs * 1000)
        for (const [name, n] of Object.entries(fetched.numbers)) {
          numbers[name] ??= { sum: 0, count: 0 }
          numbers[name].sum += n
          numbers[name].count++
        }
        sums.last = fetched.numbers
        const { ageMs } = fetched
        if (ageMs === null) return
        if (ageMs >= -aheadMs) return ages.record(Math.max(0, ageMs) * 1000)
        sums.future.fetches++
        sums.future.max_ms = Math.max(sums.future.max_ms, -ageMs)
      },
      startRun() {
        fromMs = clock()
      },
      second() {
        const { fetches: all, last, numbers, failed_by, sizes, future } = sums
        const nowMs = clock()
        const found = {
          ...Object.fromEntries(counted.map((name) => [`fetches.${name}`, all[name]])),
          duration_us: duration.endSecond(),
          ids_us: ids.endSecond(),
          values_us: values.endSecond(),
          freshness_us: ages.endSecond(),
          ...(last && { numbers: last, 'reading.numbers': numbers, 'reading.sizes': sizes }),
          ...(all.failed > 0 && { 'reading.failed_by': failed_by }),
          ...(future.fetches > 0 && { 'future.fetches': future.fetches, 'future.max_ms': future.max_ms }),
          'reading.over_s': (nowMs - fromMs) / 1000,
        }
        sums = noSums()
        fromMs = nowMs
        return found
      },
      close() {
        for (const each of [duration, ids, values, ages]) each.close()
      },
    }
  },
  show: ({ 'fetches.items': items, 'reading.over_s': overS }) =>
    items === undefined ? {} : { items_per_s: per(items, overS) },
  shown: { items_per_s: figure },

  summary({ window, plan, overS = 0 }) {
    const { over_s: _, numbers, failed_by, sizes } = sectionOf(window, 'reading')
    const [all, future] = [sectionOf(window, 'fetches'), sectionOf(window, 'future')]
    return {
      fetches: {
        ...Object.fromEntries(counted.map((name) => [name, all[name] ?? 0])),
        failed_by: failed_by ?? {},
        items_p50: ranked(sizes ?? {})(0.5),
        ...Object.fromEntries(named.map((name) => [`${name}_ms`, percentilesIn(window[`${name}_us`], 1000)])),
        numbers: Object.fromEntries(
          Object.entries(numbers ?? {}).map(([name, { sum, count }]) => [
            name,
            { mean: sum / count, last: window.numbers[name] },
          ]),
        ),
        ...(future.fetches > 0 && { from_future: future }),
      },
      rate: {
        nominal:
          plan.pacing === 'closed'
            ? null
            : per((plan.agents?.length ?? 0) * plan.consumers, plan.periodMs, 1000),
        achieved: per(all.count ?? 0, overS),
        items: per(all.items ?? 0, overS),
        value_bytes: per(all.bytes ?? 0, overS),
      },
      freshness_ms: percentilesIn(window.freshness_us, 1000),
    }
  },
  result: {
    fetches: {
      type: 'object',
      properties: {
        ...Object.fromEntries([...counted, 'items_p50'].map((name) => [name, figure])),
        failed_by: { type: 'object', additionalProperties: { type: 'number' } },
        ...Object.fromEntries(named.map((name) => [`${name}_ms`, times4])),
        numbers: { type: 'object', additionalProperties: { type: 'object' } },
      },
      required: ['count', 'failed_by', ...named.map((name) => `${name}_ms`), 'numbers'],
    },
    freshness_ms: times4,
  },
  metrics: {
    'fetches.count': metric('fetches', 'count', 'neither'),
    'fetches.failed': metric('fetches failed', 'count'),
    'fetches.overrun': metric('fetches missed', 'count'),
    'fetches.items_p50': metric('items of a fetch', 'count', 'neither'),
    ...Object.assign(
      {},
      ...named.map((name) => percentileMetrics(`fetches.${name}_ms`, titles[name], undefined, 'ms')),
    ),
    'rate.items': metric('items read', 'rate', 'more'),
    'rate.value_bytes': metric('bytes read a second', 'bytes', 'more'),
    ...percentileMetrics('freshness_ms', 'age of the newest item', undefined, 'ms'),
  },
  metricsOfBoxes: {
    'readers.rate.items': metric('items read by all boxes', 'rate', 'more'),
    'readers.fetches.failed': metric('fetches of all boxes that failed', 'count'),
    ...percentileMetrics('readers.fetches.duration_ms', 'fetch of all boxes', undefined, 'ms'),
    ...percentileMetrics(
      'readers.freshness_ms',
      'age of the newest item, all boxes',
      ['p50', 'p99', 'max'],
      'ms',
    ),
  },
  highlights: ['rate.items', 'fetches.duration_ms.p50', 'fetches.duration_ms.p99', 'freshness_ms.p50'],
  compared: ['fetches.duration_ms.p50', 'rate.items'],
  live({ fetches: counted, freshness_us: age }, sofar) {
    const { failed, overrun } = sectionOf(sofar, 'fetches')
    return {
      lost: { failed, missed: overrun },
      reading: { done: counted?.count ?? 0, unit: 'fetches', ageUs: age?.p50 ?? null },
    }
  },
  done: 'fetches.items',
  prometheus: [
    ...Object.entries({ whole: 'count', failed: 'failed', overrun: 'overrun' }).map(([outcome, name]) =>
      counter(
        'fetches_total',
        'fetches of a consumer: whole, failed, and those that could not start on time',
        `fetches.${name}`,
        { outcome },
      ),
    ),
    ...['items', 'values', 'nils', 'duplicates'].map((outcome) =>
      counter(
        'read_total',
        'what fetches brought: items, values, ids without a value, ids twice',
        `fetches.${outcome}`,
        { outcome },
      ),
    ),
    counter('read_bytes_total', 'bytes of values', 'fetches.bytes'),
    ...Object.entries({ whole: 'duration', ids: 'ids', values: 'values', age: 'freshness' }).map(
      ([part, name]) =>
        histogram(
          'fetch_seconds',
          'of a whole fetch, its ids, its values, and the age of the newest item',
          `${name}_us`,
          { part },
        ),
    ),
  ],
  times: [
    { name: 'a whole fetch', path: 'fetches.duration_ms', unit: 'ms' },
    { name: 'its ids', path: 'fetches.ids_ms', unit: 'ms' },
    { name: 'its values', path: 'fetches.values_ms', unit: 'ms' },
    { name: 'age of the newest item', path: 'freshness_ms', unit: 'ms' },
  ],
  answers: {
    brief: ({ fetches: found, freshness_ms: age, boxes }) =>
      found
        ? [
            { label: 'fetches', text: briefWords(found) },
            { label: boxes ? 'fetch time' : 'latency', text: timesLine(found.duration_ms, 1000) },
            {
              label: 'newest item',
              text: age?.p50 == null ? '' : `${micros(age.p50 * 1000)} old when it is read (median)`,
            },
          ]
        : [],
    rate: rateRow,
    found: (run) => ({
      label: 'fetches',
      text: `${wordsOf(run.fetches)}${run.live ? `, ${rate(run.live.share * 100)} % of the items that are alive by the plan` : ''}`,
    }),
    reads({ fetches: found, freshness_ms: age, plan, boxes }) {
      const whole = timesText(found.duration_ms, 1000, ['p50', 'p90', 'p99', 'max'])
      const ids = `ids p50 ${micros((found.ids_ms?.p50 ?? 0) * 1000)}`
      const values =
        plan.values && found.values_ms?.p50 != null
          ? `, values p50 ${micros(found.values_ms.p50 * 1000)}`
          : ''
      const old = timesText(age, 1000)
      return [
        // Beside writers, the latency is theirs.
        {
          label: boxes ? 'fetch time' : 'latency',
          text: whole && `${whole} for a whole fetch (${ids}${values})`,
        },
        { label: 'freshness', text: old && `the newest item is ${old} old when its id is read` },
      ]
    },
    details: (run) => [{ label: 'fetches', text: wordsOf(run.fetches) }, rateRow(run)],
  },
})

/** @param {Run} run */
function rateRow({ rate: { nominal, achieved, items, value_bytes: valueBytes } }) {
  const reached = nominal && typeof achieved === 'number' ? asPercent(Math.min(1, achieved / nominal)) : null
  const text = facts([
    `${rate(achieved)} fetches/s${reached ? `, ${reached} of the target rate` : ''}`,
    `${rate(items)} items/s`,
    `${bytes(valueBytes)}/s of values`,
  ])
  return { label: 'rate', text }
}

/** What was read, and what was wrong of it. @param {Run} found its part of run.json */
function briefWords(found) {
  return [
    `${count(found.count)} complete`,
    ...(found.items_p50 === null ? [] : [`${count(found.items_p50)} items each`]),
    ...[
      ['failed', found.failed],
      ['missed', found.overrun],
      ['without a value', found.nils],
    ].flatMap(([name, n]) => (n > 0 ? [`${count(n)} ${name}`] : [])),
  ].join(', ')
}

/** @param {Run} found its part of run.json */
function wordsOf(found) {
  return facts([
    `${count(found.count)} whole`,
    found.failed > 0 && `${count(found.failed)} failed`,
    `${count(found.overrun)} missed`,
    found.items_p50 !== null && `${count(found.items_p50)} items at the median`,
    found.nils > 0 && `${count(found.nils)} ids without a value`,
    found.duplicates > 0 && `${count(found.duplicates)} ids twice`,
    ...Object.keys(found.numbers).map(
      (name) => `${name.replaceAll('_', ' ')} ${count(found.numbers[name].last)}`,
    ),
  ])
}

/** What is counted within a second. */
function noSums() {
  return {
    fetches: { count: 0, failed: 0, overrun: 0, items: 0, values: 0, nils: 0, bytes: 0, duplicates: 0 },
    /** @type {Record<string, { sum: number, count: number }>} */
    numbers: {},
    /** @type {Record<string, number>} */
    failed_by: {},
    /** @type {Record<string, number>} */
    sizes: {},
    future: { fetches: 0, max_ms: 0 },
    /** @type {Record<string, number> | null} */
    last: null,
  }
}

/** @param {Record<string, number>} sums @param {string} name @param {number} n */
function plus(sums, name, n) {
  sums[name] = (sums[name] ?? 0) + n
}

/** @type {Reading} */
export const reading = {
  second: ['fetches', 'items_per_s', 'duration_us', 'freshness_us'],
  screen({ fetches: all, second }, who) {
    const { duration_us: time, items_per_s: read, freshness_us: age } = second ?? {}
    const lost = ['failed', 'overrun'].flatMap((name) =>
      all[name] > 0 ? [`${count(all[name])} ${name === 'overrun' ? 'missed' : name}`] : [],
    )
    return [
      `reads     ${rate(read)} items/s by ${who}, newest item ${micros(age?.p50)} old`,
      `fetches   ${[count(all.count ?? 0), ...lost].join(', ')}, p50 ${micros(time?.p50)}  p99 ${micros(time?.p99)}  max ${micros(time?.max)}`,
    ]
  },
  last: ({ items_per_s: hz = null, duration_us: time }) => ({ achieved: hz, p99_us: time?.p99 ?? null }),
  lost: ({ failed = 0, overrun = 0 }) => ({ 'fetches failed': failed, 'fetches missed': overrun }),
  box({ fetches: { count: done, items } }, end, spanS) {
    const { p50 = null, p99 = null } = end?.duration_ms ?? {}
    return {
      fetches: done,
      items,
      items_per_s: spanS > 0 ? items / spanS : null,
      duration_ms: { p50, p99 },
    }
  },
  columns: [
    { title: 'fetches', cell: ({ fetches: done }) => [count(done), done] },
    { title: 'items/s', cell: ({ items_per_s: hz }) => [hz == null ? '–' : count(Math.round(hz)), hz] },
    ...['p50', 'p99'].map((title) => ({
      title,
      cell(/** @type {Run} */ { duration_ms: time }) {
        const ms = time?.[title] ?? null
        return pair(micros(ms === null ? null : ms * 1000), ms)
      },
    })),
  ],
  note: 'The time is that of whole fetches.',
  did: ({ fetches: { count: done } }) => several(done ?? 0, 'fetch').replace('fetchs', 'fetches'),
  brief: ({ rate: { achieved }, fetches: { duration_ms: time, overrun, failed } }) =>
    `${rate(achieved)} fetches/s, p50 ${micros(time.p50 * 1000)}, p99 ${micros(time.p99 * 1000)}; ${overrun} missed, ${failed} failed`,
}
