// How long the client's engine collected garbage, in seconds of the process that sends: a pause of it is part of every latency.
import { micros, percent } from '../base/units.js'
import { amount, worst } from './fields.js'
import { counter, figure, measure, metric, per } from './measure.js'

export const collection = measure({
  name: 'collection',
  of: ['writers', 'readers', 'workers', 'processes'],
  // Each thread collects for itself: their times are added, and so are the seconds that they are a part of.
  record: { 'client.gc_s': amount('s'), 'client.gc_over_s': amount('s'), 'client.gc_ms_max': worst('ms') },
  by: 'each',

  async open({ clock }) {
    const { PerformanceObserver } = await import('node:perf_hooks')
    let ms = 0
    let longestMs = 0
    let fromMs = clock()
    const add = (/** @type {readonly { duration: number }[]} */ entries) => {
      for (const { duration } of entries) {
        ms += duration
        longestMs = Math.max(longestMs, duration)
      }
    }
    const observer = new PerformanceObserver((list) => add(list.getEntries()))
    observer.observe({ entryTypes: ['gc'] })
    const takeSecond = () => {
      add(observer.takeRecords())
      const nowMs = clock()
      const second = {
        'client.gc_s': ms / 1000,
        'client.gc_over_s': (nowMs - fromMs) / 1000,
        'client.gc_ms_max': longestMs,
      }
      fromMs = nowMs
      ms = 0
      longestMs = 0
      return second
    }
    return { startRun: takeSecond, second: takeSecond, close: () => observer.disconnect() }
  },

  summary: ({ window }) => ({
    'client.gc_s': window['client.gc_s'],
    'client.gc_pct': per(window['client.gc_s'], window['client.gc_over_s'], 100),
    'client.gc_ms_max': window['client.gc_ms_max'] ?? null,
  }),
  result: { 'client.gc_s': figure, 'client.gc_pct': figure, 'client.gc_ms_max': figure },
  metrics: {
    'client.gc_s': metric('client garbage collection', 's'),
    'client.gc_pct': metric('time in garbage collection', 'pct'),
    'client.gc_ms_max': metric('longest pause of garbage collection', 'ms'),
  },
  prometheus: [
    counter('client_gc_seconds_total', 'garbage collection of the process that sends', 'client.gc_s'),
  ],
  fact: ({ client }) => ({
    label: 'collection',
    texts: [
      typeof client?.gc_pct === 'number' &&
        `garbage collection ${percent(client.gc_pct)} of the time${typeof client.gc_ms_max === 'number' ? `, ${micros(client.gc_ms_max * 1000)} at most` : ''}`,
    ],
  }),
})
